"""The report of a run: one page of HTML with everything in it, which opens without a network."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path

import numpy as np

from mbdy.app.common import version
from mbdy.app.pages import page_of, template
from mbdy.app.panels import MOST_PANELS, Section, sections
from mbdy.app.summary import CONSERVED, SETTLED, causes, drifts, efforts, residual, settlings, work_error
from mbdy.app.tree import TreeEntry, branches, degrees_of_freedom
from mbdy.blocks import Run
from mbdy.engine import Model, RefusalError, Variable, ports
from mbdy.engine.files.read import model_from
from mbdy.engine.model.text import html
from mbdy.engine.model.whole_file import not_over, whole_file

SLUGS = str.maketrans(" ", "-")


def report(
    run: Run,
    model: Model | str | PathLike[str],
    path: str | PathLike[str],
    *,
    settings: Mapping[str, str] | None = None,
    title: str | None = None,
    warnings: Iterable[str] = (),
    values: Mapping[str, float] | None = None,
    acting: Mapping[str, str] | None = None,
) -> Path:
    """Write the report of ``run``, a run of ``model``, to ``path``; returns the path.

    ``settings``  how the run was made, for the reader.
    ``title``     of the page; the model's name if left out.
    ``warnings``  to repeat at the top.
    ``values``    inputs, parameters and start values set otherwise than in the model, in SI by scalar name.
    ``acting``    what acts on each momentum from outside, as `mbdy.app.summary.causes` says; by the model and
                  ``values`` if left out.

    Raises `RefusalError` where the run is of another model, or ``path`` is a file that the model was read from.
    """
    model = model_from(model)
    not_over(path, (source.place for source in (*model.files, *run.sources)))
    if others := run.ports.by_name.keys() - ports(model).by_name.keys():
        raise RefusalError(f"the run is not of {model.name!r}, which has no {min(others)}", "give the run's own model")
    heading = title or model.name
    with np.errstate(all="ignore"):  # a run that blew up may hold numbers whose squares do not exist
        drawn = sections(run) if len(run) else []
        panels = [panel.data(run.time) for section in drawn for panel in section.panels[:MOST_PANELS]]
    if acting is None:
        acting = causes(model, run.ports, values or {})
    body = [
        _header(run, model, heading, list(warnings), drawn, acting),
        "<main>",
        _model(run, model, settings or {}),
        *_plots(drawn),
        _tables(run, values or {}),
        "</main>",
        f"<footer>Made by mbdy {html(version())}. SI units unless stated.</footer>",
    ]
    shown = json.dumps(panels, separators=(",", ":")).replace("</", "<\\/")
    scripts = f"""<script>{_plotly()}</script>
<script type="application/json" id="panels">{shown}</script>
<script>
{template("report.js")}</script>
"""
    page = page_of(heading, "\n".join(body), scripts)
    with whole_file(path) as file:
        file.write(page)
    return Path(path)


def _plotly() -> str:
    from plotly.offline import get_plotlyjs

    return get_plotlyjs()


def _header(
    run: Run, model: Model, heading: str, warnings: Sequence[str], drawn: Sequence[Section], acting: Mapping[str, str]
) -> str:
    end = f"{run.time[-1]:g} s" if len(run) else "nothing was recorded"
    about = f"{_count(len(model.bodies), 'body', 'bodies')}, {degrees_of_freedom(model)} degrees of freedom; "
    about += f"{_count(len(run), 'row', 'rows')} to {end}"
    parts = [f"<header><h1>{html(heading)}</h1>", f'<p class="soft">{html(about)}</p>']
    names = ["Model", *(section.heading for section in drawn), "Values"]
    parts.append("<nav>" + " ".join(f'<a href="#{_slug(name)}">{html(name)}</a>' for name in names) + "</nav>")
    if not run.complete:
        parts.append('<div class="alert fault">The run ended early; this is what was recorded until then.</div>')
    if warnings:
        lines = "".join(f"<li>{html(text)}</li>" for text in warnings)
        parts.append(f'<div class="alert"><ul>{lines}</ul></div>')
    if len(run):
        parts.append(_numbers(run, acting))
    return "\n".join([*parts, "</header>"])


def _numbers(run: Run, acting: Mapping[str, str]) -> str:
    """The figures that say whether to trust the run."""
    said = [("end of the run", f"{run.time[-1]:g} s")]
    for change in drifts(run):
        what = CONSERVED[change.name]
        absolute = f"{change.worst:.2g} {change.unit}"
        why = f"; {acting[change.name]}" if change.name in acting else ""
        if change.of_start:
            said.append((f"{what}, largest change ({absolute}){why}", change.of_start))
        else:
            said.append((f"{what}, largest change{why}", absolute))
    if (worst := residual(run)) is not None:
        said.append(("work balance, largest residual", f"{worst:.2g} W"))
    if (added := work_error(run)) is not None:
        said.append(("energy that the steps have added", f"{added:.2g} J"))
    for error in settlings(run):
        when = (
            "does not settle"
            if error.time is None
            else f"within {SETTLED:.0%} of its largest from {error.time:.4g} s on"
        )
        said.append(
            (f"{error.name.removeprefix('log.')}, largest in the last tenth; {when}", f"{error.last:.3g} {error.unit}")
        )
    said += [(f"{name}, largest", f"{largest:.3g} {unit}") for name, largest, unit in efforts(run)]
    cards = (f'<div class="card number"><b>{html(b)}</b><span>{html(a)}</span></div>' for a, b in said)
    return f'<div class="numbers">{"".join(cards)}</div>'


def _model(run: Run, model: Model, settings: Mapping[str, str]) -> str:
    trunk = "".join(map(_branch, branches(model)))
    tree = f'<ul class="tree"><li><span class="soft">inertial frame</span><ul>{trunk}</ul></li></ul>'
    rows = dict(settings)
    if model.source:
        read = "\n".join(f"{file.path}, SHA-256 {file.sha256}" for file in model.files)
        rows = {"model file": Path(model.source).name, **({"files read": read} if read else {}), **rows}
    rows["variables"] = (
        f"{len(run.ports.state_names)} states, {len(run.ports.input_names)} inputs, "
        f"{len(run.ports.output_names)} outputs, {len(run.ports.parameter_names)} parameters"
    )
    table = "".join(f'<tr><th>{html(k)}</th><td class="lines">{html(v)}</td></tr>' for k, v in rows.items())
    return (
        f'<h2 id="model">Model</h2><div class="pair"><div class="card"><h3>Bodies</h3>{tree}</div>'
        f'<div class="card"><h3>Settings of the run</h3><table>{table}</table></div></div>'
    )


def _branch(branch: TreeEntry) -> str:
    below = f"<ul>{''.join(map(_branch, branch.below))}</ul>" if branch.below else ""
    details = html("; ".join(branch.details))
    return f'<li><b>{html(branch.name)}</b> {html(branch.joint)} <span class="soft">{details}</span>{below}</li>'


def _plots(drawn: Sequence[Section]) -> Iterable[str]:
    number = 0
    for section in drawn:
        yield f'<h2 id="{_slug(section.heading)}">{html(section.heading)}</h2>'
        yield f'<p class="soft">{html(section.remark)}</p><div class="plots">'
        for panel in section.panels[:MOST_PANELS]:
            yield (
                f'<div class="card plot"><h3>{html(panel.title)}</h3><small>{html(panel.remark)}</small>'
                f'<div class="canvas" data-panel="{number}"></div></div>'
            )
            number += 1
        yield "</div>"
        if (more := len(section.panels) - MOST_PANELS) > 0:
            yield f'<p class="soft">{more} more are not drawn; record fewer outputs (--outputs) to see them.</p>'


def _tables(run: Run, values: Mapping[str, float]) -> str:
    starts = [v for v in (*run.ports.outputs, *run.ports.hidden) if v.start_at is not None]
    parts = ['<h2 id="values">Values</h2>', '<div class="card">']
    for what, variables, opened in (
        ("Parameters", run.ports.parameters, True),
        ("Start values", starts, True),
        ("Inputs at the start", run.ports.inputs, False),
    ):
        rows = "".join(_row(variable, values) for variable in variables)
        head = "<tr><th>name</th><th>value</th><th>unit</th><th></th></tr>"
        parts.append(
            f"<details{' open' if opened else ''}><summary>{what}</summary>"
            f'<div class="scroll"><table>{head}{rows}</table></div></details>'
        )
    return "\n".join([*parts, "</div>"])


def _row(variable: Variable, values: Mapping[str, float]) -> str:
    starts = variable.start or (0.0,) * variable.size
    changed = any(name in values for name in variable.scalar_names)
    shown = [values.get(name, old) for name, old in zip(variable.scalar_names, starts, strict=True)]
    text = ", ".join(f"{value:.9g}" for value in shown)
    badge = ' <span class="set">set</span>' if changed else ""
    unit = ", ".join(dict.fromkeys(variable.units))
    return (
        f'<tr><td><code>{html(variable.name)}</code></td><td class="value">{text}{badge}</td>'
        f'<td>{html(unit)}</td><td class="soft">{html(variable.description)}</td></tr>'
    )


def _slug(heading: str) -> str:
    return heading.lower().translate(SLUGS)


def _count(number: int, one: str, several: str) -> str:
    return f"{number:,} {one if number == 1 else several}"
