"""The evidence page of a verification: what was verified, with what, and the figures, as Markdown, HTML or JSON."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from mbdy.app.common import PAGES, as_json, version
from mbdy.app.pages import (
    Bars,
    Bullets,
    Code,
    Foreign,
    Grid,
    Heading,
    Line,
    PageBlock,
    Paragraph,
    Strong,
    html_page,
    markdown,
)
from mbdy.engine import Model, Verification
from mbdy.engine.model.contents import SourceFile
from mbdy.engine.model.whole_file import whole_file
from mbdy.engine.verification.result import Finding

_COMPARED = """\
Largest difference of a derivative of a state from Order-N's, relative to that derivative's largest value
of all states with the same laws of effort. All laws of the file are at work where none is named; every
state is compared again without any, and with each one alone. Each formulation is written from its own
source and shares only the model, its tree and the reading of its numbers with the others; those of the
family of """
_ONE_OPINION = """ share their matrices too and count as one. Forces and torques of closed loops are
relative to the largest of their kind."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The ``files`` that were read, that of the model first, the ``versions`` at work and the ``time`` (UTC)."""

    files: tuple[SourceFile, ...]
    versions: tuple[tuple[str, str], ...]
    time: str

    def facts(self) -> dict[str, Any]:
        """The same as plain data."""
        sources = [file.facts() for file in self.files]
        return {**sources[0], "sources": sources, "versions": dict(self.versions), "time": self.time}


def origin(model: Model) -> Origin:
    """The origin of a verification of ``model``, which came from a file, made now."""
    versions = [("mbdy", version()), *((name, metadata.version(name)) for name in ("casadi", "numpy"))]
    versions += [("Python", platform.python_version()), ("platform", platform.platform())]
    return Origin(model.files, tuple(versions), datetime.now(UTC).isoformat(timespec="seconds"))


def write(verification: Verification, source: Origin, path: Path) -> None:
    """Write the page to ``path``: as its name ends, JSON, HTML or Markdown."""
    suffix = path.suffix.lower()
    if suffix == ".json":
        text = as_json({**source.facts(), **verification.to_dict()})
    elif suffix in PAGES:
        foot = f"Made by mbdy {dict(source.versions)['mbdy']}, {source.time}."
        text = html_page(f"Verification of {verification.model}", evidence(verification, source), foot)
    else:
        text = markdown(evidence(verification, source))
    with whole_file(path) as file:
        file.write(text)


def evidence(verification: Verification, source: Origin) -> list[PageBlock]:
    """What the page has."""
    return [
        Heading(("Verification of ", Foreign(verification.model)), 1),
        Paragraph((Strong(f"{_outcome(verification)}."), f" {verification.verdict}.")),
        Heading("What was verified"),
        Grid(("what", "value"), _subject(verification, source)),
        Heading("Formulations against Order-N"),
        Paragraph((_COMPARED, Code("lagrange"), _ONE_OPINION)),
        *_bars("Disagreements", verification, ((item.name, item.found) for item in verification.comparisons)),
        Grid(("formulation", "source", "disagreement", "where", "agrees"), _formulations(verification)),
        *_outside(verification),
        Heading("Laws of mechanics"),
        Paragraph(
            "What is left of a law at the accelerations of Order-N, relative to the sum of the sizes of its terms.\n"
            "Momenta are differentiated exactly along the motion. Work and energy: rate of kinetic energy less the\n"
            "power of all forces."
        ),
        *_bars("Residuals of the laws", verification, ((item.title, item.found) for item in verification.residuals)),
        Grid(("law", "residual", "where", "holds"), _laws(verification)),
        Heading("Coverage"),
        Paragraph(
            "Compared: the derivatives of all states (accelerations, rates of coordinates and quaternions, torques on\n"
            "wheels, modal accelerations) at the states above; forces and torques of closed loops; work and energy;\n"
            "linear and angular momentum."
        ),
        Paragraph(
            "Not compared: start values and how they close loops, what a latch does and its impulses, outputs such as\n"
            "loads, reactions and energy, and integration over time. The tests of mbdy itself cover those; this page\n"
            "says nothing of them."
        ),
    ]


def _outcome(verification: Verification) -> str:
    if not verification.state_variables:
        return "Nothing compared"
    return "Agreement" if verification.agrees else "DISAGREEMENT"


def _subject(verification: Verification, source: Origin) -> list[tuple[Line, ...]]:
    model, *data = source.files
    rows: list[tuple[Line, ...]] = [
        ("model file", Foreign(model.path)),
        ("SHA-256 of the file", model.sha256),
        *(("data file", (Foreign(file.path), f", SHA-256 {file.sha256}")) for file in data),
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


def _formulations(verification: Verification) -> list[tuple[Line, ...]]:
    rows: list[tuple[Line, ...]] = []
    for item in verification.comparisons:
        label = f"{item.name}: {item.title}"
        if item.found is None:
            rows.append((label, item.source, "not covered" if item.uncovered else "not compared", "", ""))
            continue
        where = ("derivative of ", Code(item.variable), f", {_where(item.found)}") if item.variable else ""
        rows.append((label, item.source, f"{item.found.figure:.2e}", where, _yes(item.found.agrees)))
        if item.forces:
            where = (Code(item.force), f", {_where(item.forces)}") if item.force else ""
            label = f"{item.name}: forces of loops"
            rows.append((label, "", f"{item.forces.figure:.2e}", where, _yes(item.forces.agrees)))
    return rows


def _outside(verification: Verification) -> list[PageBlock]:
    blocks: list[PageBlock] = []
    for item in verification.comparisons:
        if item.uncovered:
            blocks += [Paragraph(("Outside the domain of ", Code(item.name), ":")), Bullets(item.uncovered)]
    return blocks


def _laws(verification: Verification) -> list[tuple[Line, ...]]:
    rows: list[tuple[Line, ...]] = []
    for item in verification.residuals:
        if item.found is None:
            rows.append((item.title, "no statement" if item.inapplicable else "not compared", item.inapplicable, ""))
        else:
            rows.append((item.title, f"{item.found.figure:.2e}", _where(item.found), _yes(item.agrees)))
    return rows


def _where(finding: Finding) -> str:
    return ", ".join(filter(None, (f"state {finding.state}", finding.laws)))


def _yes(agrees: bool) -> Line:
    return "yes" if agrees else Strong("NO")


def _bars(title: str, verification: Verification, found: Iterable[tuple[str, Finding | None]]) -> list[PageBlock]:
    """A plot of what was found, beside the tolerance."""
    figures = [(name, finding.figure, finding.agrees) for name, finding in found if finding]
    return [Bars(title, figures, verification.tolerance)] if figures else []
