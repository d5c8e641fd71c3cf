"""documentation/index.html of an FMU: what it is, and a table of its ports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby

from mbdy.engine.model import Model
from mbdy.fmu.table import Scalar

STYLE = (
    "body{font:15px/1.45 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.2rem .8rem .2rem 0;"
    "border-bottom:1px solid #ddd;vertical-align:top}code{font-size:.95em}"
)
TITLES = {"input": "Inputs", "parameter": "Parameters", "output": "Outputs"}


def page(model: Model, table: Sequence[Scalar], step: float, integrator: str) -> str:
    """The page as HTML text; ``step`` [s] is the internal step."""
    title = escape(model.name)
    lines = [
        "<!DOCTYPE html>", f'<html lang="en"><head><meta charset="utf-8"><title>{title}</title>',
        f"<style>{STYLE}</style></head><body>", f"<h1>{title}</h1>",
        f"<p>{len(model.bodies)} bodies; internal step at most {step!r} s, integrator {escape(integrator)}. "
        "SI units; angles in rad. Quaternions are w, x, y, z. Made by mbdy.</p>",
        "<h2>Bodies</h2>", "<table><tr><th>body</th><th>joint</th><th>on</th></tr>",
        *(f"<tr><td><code>{escape(b.name)}</code></td><td>{escape(b.joint.kind)}</td><td>{escape(b.joint.to)}</td></tr>"
          for b in model.bodies),
        "</table>",
    ]  # fmt: skip
    for causality, rows in groupby(table, key=lambda row: row.causality):
        lines += [
            f"<h2>{TITLES[causality]}</h2>",
            "<table><tr><th>variable</th><th>unit</th><th>start</th><th></th></tr>",
        ]
        lines += _rows(list(rows))
        lines.append("</table>")
    return "\n".join([*lines, "</body></html>", ""])


def _rows(rows: Sequence[Scalar]) -> Iterator[str]:
    """One line for each variable: elements that share name and description stand together."""
    for _, some in groupby(rows, key=lambda row: (row.name.split("[")[0], row.description)):
        elements = list(some)
        first, last = elements[0], elements[-1]
        name = first.name if first is last else f"{first.name} … {last.name.removeprefix(first.name.split('[')[0])}"
        unit = ", ".join(dict.fromkeys("Boolean" if row.boolean else row.unit for row in elements))
        start = "" if first.start is None else ", ".join(f"{row.start:.6g}" for row in elements)
        yield (
            f"<tr><td><code>{escape(name)}</code></td><td>{escape(unit)}</td><td>{start}</td>"
            f"<td>{escape(first.description)}</td></tr>"
        )
