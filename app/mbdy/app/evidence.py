"""The evidence page of a verification: what was verified, with what, and the figures, as Markdown or HTML."""

from __future__ import annotations

import hashlib
import platform
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from importlib import metadata
from pathlib import Path
from typing import Any

from mbdy.app.common import version
from mbdy.engine import Verification
from mbdy.engine.model.whole_file import whole_file
from mbdy.engine.verification.result import Finding


@dataclass(frozen=True, slots=True)
class Origin:
    """The model file by ``name`` and ``sha256`` of its bytes, the ``versions`` at work and the ``time`` (UTC)."""

    name: str
    sha256: str
    versions: tuple[tuple[str, str], ...]
    time: str

    def facts(self) -> dict[str, Any]:
        """The same as plain data."""
        return {"file": self.name, "sha256": self.sha256, "versions": dict(self.versions), "time": self.time}


def origin(path: Path) -> Origin:
    """The origin of a verification of the model file at ``path``, made now."""
    versions = [("mbdy", version()), *((name, metadata.version(name)) for name in ("casadi", "numpy"))]
    versions += [("Python", platform.python_version()), ("platform", platform.platform())]
    return Origin(
        path.name,
        hashlib.sha256(path.read_bytes()).hexdigest(),
        tuple(versions),
        datetime.now(UTC).isoformat(timespec="seconds"),
    )


def write(verification: Verification, source: Origin, path: Path) -> None:
    """Write the page to ``path``: HTML where its name ends so, Markdown otherwise."""
    text = evidence(verification, source)
    if path.suffix.lower() in (".html", ".htm"):
        text = _PAGE.format(title=escape(f"Verification of {verification.model}"), text=escape(text))
    with whole_file(path) as file:
        file.write(text)


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<style>pre {{ max-width: 75em; margin: 2em auto; white-space: pre-wrap; font-size: 14px; line-height: 1.5 }}</style>
</head>
<body>
<pre>
{text}</pre>
</body>
</html>
"""


def evidence(verification: Verification, source: Origin) -> str:
    """The page as Markdown."""
    return "\n".join(
        [
            f"# Verification of {literal(verification.model)}",
            "",
            f"**{_outcome(verification)}.** {verification.verdict}.",
            "",
            "## What was verified",
            "",
            *_table(("what", "value"), _subject(verification, source)),
            "",
            "## Formulations against Order-N",
            "",
            "Largest difference of a derivative of a state from Order-N's, relative to that derivative's largest value",
            "of all states with the same laws of effort. All laws of the file are at work where none is named; every",
            "state is compared again without any, and with each one alone. Each formulation is written from its own",
            "source and shares only the model, its tree and the reading of its numbers with the others; those of the",
            "family of `lagrange` share their matrices too and count as one. Forces and torques of closed loops are",
            "relative to the largest of their kind.",
            "",
            *_table(("formulation", "source", "disagreement", "where", "agrees"), _formulations(verification)),
            *_outside(verification),
            "",
            "## Laws of mechanics",
            "",
            "What is left of a law at the accelerations of Order-N, relative to the sum of the sizes of its terms.",
            "Momenta are differentiated exactly along the motion. Work and energy: rate of kinetic energy less the",
            "power of all forces.",
            "",
            *_table(("law", "residual", "where", "holds"), _laws(verification)),
            "",
            "## Coverage",
            "",
            "Compared: the derivatives of all states (accelerations, rates of coordinates and quaternions, torques on",
            "wheels, modal accelerations) at the states above; forces and torques of closed loops; work and energy;",
            "linear and angular momentum.",
            "",
            "Not compared: start values and how they close loops, what a latch does and its impulses, outputs such as",
            "loads, reactions and energy, and integration over time. The tests of mbdy itself cover those; this page",
            "says nothing of them.",
            "",
        ]
    )


def _outcome(verification: Verification) -> str:
    if not verification.state_variables:
        return "Nothing compared"
    return "Agreement" if verification.agrees else "DISAGREEMENT"


def _subject(verification: Verification, source: Origin) -> list[tuple[str, ...]]:
    rows = [
        ("model file", literal(source.name)),
        ("SHA-256 of the file", source.sha256),
        ("bodies", str(verification.bodies)),
        ("degrees of freedom", str(verification.degrees_of_freedom)),
        (
            "states",
            f"the start of the file (state 0) and {verification.states} random ones, with random inputs and switches",
        ),
        ("seed", str(verification.seed)),
        (
            "tolerance",
            f"{verification.tolerance:g}, relative, to condition numbers of {verification.condition:g}; beyond in "
            "proportion",
        ),
        (
            "largest condition number",
            f"{verification.worst_condition:.3g} (coefficient matrix scaled to a unit diagonal)",
        ),
    ]
    if verification.singular:
        rows.append(("left out, singular", ", ".join(f"state {state}" for state in verification.singular)))
    return [*rows, *(("version of " + name if name != "platform" else name, said) for name, said in source.versions),
            ("made", source.time)]  # fmt: skip


def _formulations(verification: Verification) -> list[tuple[str, ...]]:
    rows = []
    for item in verification.comparisons:
        label = f"{item.name}: {item.title}"
        if item.found is None:
            rows.append((label, item.source, "not covered" if item.uncovered else "not compared", "", ""))
            continue
        where = f"derivative of `{item.variable}`, {_where(item.found)}" if item.variable else ""
        rows.append((label, item.source, f"{item.found.figure:.2e}", where, _yes(item.found.agrees)))
        if item.forces:
            where = f"`{item.force}`, {_where(item.forces)}" if item.force else ""
            label = f"{item.name}: forces of loops"
            rows.append((label, "", f"{item.forces.figure:.2e}", where, _yes(item.forces.agrees)))
    return rows


def _outside(verification: Verification) -> list[str]:
    lines = []
    for item in verification.comparisons:
        if item.uncovered:
            lines += [
                "",
                f"Outside the domain of `{item.name}`:",
                "",
                *(f"- {sentence}" for sentence in item.uncovered),
            ]
    return lines


def _laws(verification: Verification) -> list[tuple[str, ...]]:
    rows = []
    for item in verification.residuals:
        if item.found is None:
            rows.append((item.title, "no statement" if item.inapplicable else "not compared", item.inapplicable, ""))
        else:
            rows.append((item.title, f"{item.found.figure:.2e}", _where(item.found), _yes(item.agrees)))
    return rows


def _where(finding: Finding) -> str:
    return ", ".join(filter(None, (f"state {finding.state}", finding.laws)))


def literal(text: str) -> str:
    """``text`` on one line of Markdown in which no character marks anything up.

    A vertical bar stays as it is: it has a meaning in tables only, which escape it themselves.
    """
    return re.sub(r"([\\`*_\[\]<>&#~$!])", r"\\\1", " ".join(text.split()))


def _yes(agrees: bool) -> str:
    return "yes" if agrees else "**NO**"


def _table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    cells = [header, tuple("---" for _ in header), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in cells]
