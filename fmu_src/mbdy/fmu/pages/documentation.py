"""documentation/index.html of an FMU: what it is, how it is used, its tree as a drawing, and tables of its ports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from mbdy.engine.model.gear import Gear
from mbdy.engine.model.owners import constraint, element
from mbdy.engine.model.system import Acting, Body, Loop, Model, Side
from mbdy.engine.model.text import html
from mbdy.fmu.pages.drawing import drawing
from mbdy.fmu.table import Scalar

STYLE = (
    "body{font:15px/1.45 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:#1d2733}"
    "table{border-collapse:collapse;width:100%;font-size:14px}th,td{text-align:left;padding:.2rem .8rem .2rem 0;"
    "border-bottom:1px solid #ddd;vertical-align:top}code,pre{font-size:.95em}pre{background:#f5f7f9;padding:.7rem;"
    "overflow-x:auto}h2{margin-top:2rem}.drawing{overflow:auto;max-height:44rem}"
    ".facts td:first-child{white-space:nowrap}"
)
DRAWN = 200
"""Bodies that a drawing can have to be of use: more are in the table alone."""
HIDDEN = ("Start values and states that are no outputs", "They are set until initialization ends.")
TITLES: Mapping[str, tuple[str, str]] = {
    "u": ("Inputs", ""),
    "p": ("Parameters", "Can be set at any time; what follows from them is made anew."),
    "y": ("Outputs", "Start values of states are set under these names, until initialization ends."),
    "c": ("Calculated parameters", "Values of outputs at the end of initialization."),
    "x": HIDDEN,
    "s": HIDDEN,
    "dx": ("Derivatives of the states", "For solvers of model exchange, in the order of the states."),
    "z": ("Event indicators", "For solvers of model exchange: an event is where one falls below zero."),
    "t": ("Time", ""),
}
"""By the vector that variables are in."""
KINDS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "python": (
        ("Interface", "co-simulation; inputs are held over a communication step"),
        ("Needs", "a host that runs in Python, such as FMPy"),
    ),
    "native": (
        (
            "Interface",
            "co-simulation and model exchange; over a communication step inputs are held, or go on lines where the "
            "importer sets their derivatives",
        ),
        (
            "Needs",
            "nothing: libraries are in <code>binaries/</code>, what to compile others from in <code>sources/</code>",
        ),
    ),
}
ARRAYS: Mapping[bool, str] = {
    False: "arrays: what has elements of one unit is one variable; tables give their number",
    True: "scalars: each element is a variable of its own",
}
"""By whether all is scalar."""


def page(
    model: Model,
    table: Sequence[Scalar],
    step: float,
    integrator: str,
    *,
    fmi: str = "2.0",
    kind: str = "python",
    flat: bool = True,
) -> str:
    """The page as HTML text; ``step`` [s] is the internal step, ``flat`` says that there are no arrays."""
    title = html(model.name)
    lines = [
        "<!DOCTYPE html>", f'<html lang="en"><head><meta charset="utf-8"><title>{title}</title>',
        f"<style>{STYLE}</style></head><body>", f"<h1>{title}</h1>",
        *_facts(model, step, integrator, fmi, kind, flat),
        "<h2>Bodies and joints</h2>",
        *(_drawn(model) if len(model.bodies) <= DRAWN else ()),
        *_table(("body", "joint", "on", "mass", "modes", "wheels", "nodes"), map(_body, model.bodies)),
        *_loops(model.loops),
        *_gears(model.gears),
        *_elements(model.elements),
        "<h2>Use</h2>", *_use(table, step, kind),
    ]  # fmt: skip
    for (heading, remark), rows in groupby(table, key=lambda row: TITLES[row.vector]):
        lines += [f"<h2>{heading}</h2>", f"<p>{remark}</p>" if remark else ""]
        lines += _table(("variable", "unit", "display unit", "range", "start", ""), _rows(list(rows), flat))
    return "\n".join([*filter(None, lines), "</body></html>", ""])


def _code(text: str) -> str:
    return f"<code>{html(text)}</code>"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A table of cells that are HTML already."""
    yield f"<table><tr>{''.join(f'<th>{head}</th>' for head in heads)}</tr>"
    yield from (f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    yield "</table>"


def _drawn(model: Model) -> tuple[str, str]:
    """The tree as a drawing, and how it is read."""
    return (
        "<p>From inertial space at the left; ◎ wheels, • nodes, ∿ modes; loops are dashed. A joint's second line says "
        "how it can be held.</p>",
        f'<div class="drawing">{drawing(model)}</div>',
    )


def _facts(model: Model, step: float, integrator: str, fmi: str, kind: str, flat: bool) -> Iterator[str]:
    facts = [
        ("System", f"{len(model.bodies)} {'body' if len(model.bodies) == 1 else 'bodies'}, dynamics by mbdy"),
        ("Format", f"FMI {html(fmi)}, {html(kind)}"),
        *KINDS[kind],
        ("Variables", ARRAYS[flat]),
        ("Internal step", f"at most {step!r} s, all equal in a communication step; integrator {html(integrator)}"),
        ("Units", "SI; angles in rad; quaternions are w, x, y, z"),
        *(("Read from", f"{html(file.path)}, SHA-256 <code>{file.sha256}</code>") for file in model.files),
    ]  # fmt: skip
    yield '<table class="facts">'
    yield from (f"<tr><td>{what}</td><td>{text}</td></tr>" for what, text in facts)
    yield "</table>"


def _body(body: Body) -> tuple[str, ...]:
    wheels, nodes = (", ".join(map(_code, names)) for names in (body.wheels, body.nodes))
    to = _place(body.joint.to, body.joint.node)
    modes = str(body.modes or "")
    return (_code(body.name), html(body.joint.kind), to, f"{body.mass:.6g} kg", modes, wheels, nodes)


def _place(body: str, node: str) -> str:
    return _code(f"{body}.{node}" if node else body)


def _loops(loops: Sequence[Loop]) -> Iterator[str]:
    if not loops:
        return
    yield "<h2>Loops</h2>"
    yield (
        "<p>Start values are guesses: loops that are closed at the start move states to where they close. In "
        "co-simulation small errors of closure are taken out at the end of each step; in model exchange they decay "
        "with the loop's time constant, so give it one that is not zero.</p>"
    )
    yield from _table(("loop", "kind", "a", "b", "constraints", "at the start", ""), map(_loop, loops))


def _elements(elements: Sequence[Acting]) -> Iterator[str]:
    if elements:
        yield "<h2>Springs and contacts</h2>"
        ends = ([_place(side.body, side.node) for side in (part.a, part.b)] for part in elements)
        rows = ((_code(str(element(part))), *both) for part, both in zip(elements, ends, strict=True))
        yield from _table(("name", "a", "b"), rows)


def _loop(loop: Loop) -> tuple[str, ...]:
    def end(side: Side) -> str:
        return _place(side.body, side.node)

    ends = end(loop.a), end(loop.b)
    return (_code(loop.name), html(loop.kind), *ends, str(loop.size), *_switching(loop))


def _gears(gears: Sequence[Gear]) -> Iterator[str]:
    if not gears:
        return
    yield "<h2>Gears</h2>"
    yield "<p>The sum of factors times coordinates of joints is the offset. Starts and errors are as of loops.</p>"
    yield from _table(("gear", "sum", "offset", "at the start", ""), map(_gear, gears))


def _gear(gear: Gear) -> tuple[str, ...]:
    terms = " + ".join(f"{factor:.6g} {_code(name)}" for name, factor in gear.terms)
    return (_code(gear.name), terms, f"{gear.offset:.6g}", *_switching(gear))


def _switching(of: Loop | Gear) -> tuple[str, str]:
    """How it starts, and what closes it."""
    switch = _code(f"{constraint(of)}.closed") + " opens and closes it" if of.switchable else ""
    return "closed" if of.closed else "open", switch


def _use(table: Sequence[Scalar], step: float, kind: str) -> Iterator[str]:
    """How to run it under FMPy, with the names of this model."""
    output = next((row for row in table if row.causality == "output" and row.array is None), None)
    parameter = next(row for row in table if row.causality == "parameter" and row.array is None)
    wanted = f', output=["{output.name}"]' if output else ""
    lines = [
        "import fmpy",
        "",
        "result = fmpy.simulate_fmu(",
        f'    "model.fmu", stop_time=10, output_interval={10 * step:.6g}{wanted},',
        f'    start_values={{"{parameter.name}": {parameter.start!r}}},',
        ")",
    ]
    yield f"<pre>{html(chr(10).join(lines))}</pre>"
    if kind == "native":
        yield "<p>With <code>fmi_type='ModelExchange'</code> a solver of FMPy integrates the states.</p>"


def _rows(rows: Sequence[Scalar], flat: bool) -> Iterator[tuple[str, ...]]:
    """One line for each variable: elements that share name and description stand together."""
    for _, some in groupby(rows, key=lambda row: (row.owner, row.quantity, row.vector)):
        elements = list(some)
        first = elements[0]
        units = dict.fromkeys("Boolean" if row.boolean else row.unit for row in elements)
        shown = dict.fromkeys(row.display_unit for row in elements if row.display_unit)
        start = "" if first.start is None else ", ".join(f"{row.start:.6g}" for row in elements)
        yield (
            _name(elements, flat),
            html(", ".join(units)), html(", ".join(shown)), _range(first), start, html(first.description),
        )  # fmt: skip


def _name(elements: Sequence[Scalar], flat: bool) -> str:
    first, last = elements[0], elements[-1]
    if first.array and not flat:
        return f"{_code(first.array)}, {len(elements)} elements"
    return _code(first.name) + (f" … {_code(last.label)}" if last is not first else "")


def _range(row: Scalar) -> str:
    if row.minimum is None and row.maximum is None:
        return ""
    if row.maximum is None:
        return f"≥ {row.minimum:.6g}"
    return f"≤ {row.maximum:.6g}" if row.minimum is None else f"{row.minimum:.6g} … {row.maximum:.6g}"
