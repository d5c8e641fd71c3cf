"""``mbdy simulate``: run a model file; a table of its outputs, a report, a summary."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mbdy.app.common import (
    RUN_FAULT,
    RequestError,
    Tell,
    busy,
    complain,
    guarded,
    load_model,
    note,
    said_warnings,
    seconds,
    show_json,
    target,
    terminal,
)

if TYPE_CHECKING:
    from mbdy.app.assignments import Assignment
    from mbdy.blocks import Plant, Run, SimulationError

RECORDS = 500
"""About how many rows a run has where nobody says how often to record."""
MOST_LINES = 24
"""Rates that a summary lists."""


class Integrator(StrEnum):
    """The core's integrators."""

    RK4 = "rk4"
    EULER_CROMER = "euler-cromer"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run was asked for, times in s."""

    until: float
    every: float
    step: float
    integrator: str
    inputs: Path | None
    linear: bool

    def words(self, assignments: Sequence[Assignment]) -> dict[str, str]:
        """The settings for a report's reader."""
        said = {"until": f"{self.until:g} s", "recorded every": f"{self.every:g} s"}
        said |= {"internal step": f"{self.step:g} s", "integrator": self.integrator}
        if self.inputs:
            said["inputs"] = f"{self.inputs.name}, {'linear between rows' if self.linear else 'held between rows'}"
        if assignments:
            said["set"] = "\n".join(one.text for one in assignments)
        return said


@guarded
def simulate(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model file (TOML).")],
    until: Annotated[str, typer.Option(help="End of the run, in s or with a unit ('2 min').")] = "60",
    every: Annotated[str | None, typer.Option(help="Time between recorded rows; about 500 rows if left out.")] = None,
    step: Annotated[str, typer.Option(help="Longest internal step, in s or with a unit ('1 ms').")] = "0.001",
    integrator: Annotated[Integrator, typer.Option(help="How a step is made.")] = Integrator.RK4,
    assign: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Any input, parameter or start value; as often as needed."),
    ] = None,
    inputs: Annotated[
        Path | None, typer.Option("--input", metavar="FILE.csv", help="Inputs over time: a column 'time' and inputs.")
    ] = None,
    linear: Annotated[
        bool, typer.Option("--linear", help="Inputs of --input go on a line from row to row instead of staying.")
    ] = False,
    outputs: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Outputs to write, e.g. 'bus.*' or 'bus.omega,panel.joint.angle'."),
    ] = None,
    csv: Annotated[Path | None, typer.Option("-o", "--output", metavar="RUN.csv", help="File for the outputs.")] = None,
    report: Annotated[Path | None, typer.Option(metavar="RUN.html", help="File for a report with plots.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Say the summary as JSON, in SI units.")] = False,
) -> None:
    """Run a model from time 0 and write its outputs as a CSV file, a report, or both."""
    if linear and inputs is None:
        raise RequestError("--linear: says how to read an input table; give one with --input FILE.csv")
    if csv:
        target(csv, "-o", sources=(model, inputs))
    if report:
        target(report, "--report", sources=(model, inputs, csv))
    loaded = load_model(model)
    from mbdy.app.assignments import assigned
    from mbdy.blocks import Plant

    end = seconds(until, "--until")
    settings = Settings(
        until=end,
        every=seconds(every, "--every") if every else usual_period(end),
        step=seconds(step, "--step"),
        integrator=integrator.value,
        inputs=inputs,
        linear=linear,
    )
    with busy("building the equations"):
        plant = Plant(
            loaded,
            step=settings.step,
            integrator=settings.integrator,
            interpolation="linear" if linear else "held",
        )
    assignments = assigned(plant, assign or [])
    patterns = [part.strip() for given in outputs for part in given.split(",")] if outputs else None
    with busy("simulating") as tell:
        run, fault = _run(plant, settings, patterns, assignments, tell)
    if csv:
        _picked(run, patterns).to_csv(csv)
    if report:
        from mbdy.app.report import report as write_report

        values = {name: value for one in assignments for name, value in zip(one.scalars, one.values, strict=True)}
        written = settings.words(assignments)
        warned = [*said_warnings, *([str(fault)] if fault else [])]
        write_report(run, loaded, report, settings=written, warnings=warned, values=values)
    _tell(run, fault, settings, csv=csv, report=report, as_json=as_json)
    if fault:
        raise typer.Exit(RUN_FAULT)


def usual_period(until: float) -> float:
    """A round period (1, 2 or 5 times a power of ten) that gives at least `RECORDS` rows to ``until`` [s]."""
    finest = until / RECORDS
    decade = 10.0 ** math.floor(math.log10(finest))
    factor = next(f for f in (5, 2, 1) if f * decade <= finest * (1 + 1e-9))
    return float(f"{factor * decade:.6g}")


def _run(
    plant: Plant, settings: Settings, patterns: list[str] | None, assignments: Sequence[Assignment], tell: Tell
) -> tuple[Run, SimulationError | None]:
    """The run, as far as it came, and the fault that ended it early."""
    from mbdy.app.summary import TOTALS
    from mbdy.blocks import SimulationError, input_table
    from mbdy.blocks import simulate as run_plant

    table = None
    if settings.inputs:
        table = input_table(settings.inputs, plant.ports, linear=settings.linear)
        twice = {name for one in assignments for name in one.scalars}.intersection(table.names)
        if twice:
            raise RequestError(f"--set {sorted(twice)[0]}: {settings.inputs} gives this input too; take it out of one")
    try:
        run = run_plant(
            plant,
            until=settings.until,
            every=settings.every,
            inputs=settings.inputs,
            linear=settings.linear,
            outputs=None if patterns is None else [*patterns, *TOTALS],
            progress=tell,
        )
    except SimulationError as fault:
        return fault.run, fault
    return run, None


def _picked(run: Run, patterns: list[str] | None) -> Run:
    """``run`` with the outputs that match ``patterns`` only."""
    from mbdy.blocks.run import selected

    places = selected(run.names, patterns)
    return replace(run, names=tuple(run.names[i] for i in places), values=run.values[:, places])


def _tell(
    run: Run, fault: SimulationError | None, settings: Settings, *, csv: Path | None, report: Path | None, as_json: bool
) -> None:
    """How the run went: a table for a person, the same as JSON for a machine."""
    if fault:
        complain(f"{fault}; {_kept(run, csv, report)}")
    if as_json:
        from mbdy.app.summary import facts

        asked = {"until": settings.until, "every": settings.every, "step": settings.step}
        told: dict[str, Any] = {"ok": fault is None, **({"error": str(fault)} if fault else {}), "settings": asked}
        told["settings"]["integrator"] = settings.integrator
        show_json({**told, "csv": csv, "report": report, "warnings": said_warnings, **(facts(run) if len(run) else {})})
        return
    if len(run):
        summarise(run)
    if fault:
        return
    for path in (csv, report):
        if path:
            typer.echo(f"wrote {path}" + (f": {len(run)} rows" if path == csv else ""))
    if not (csv or report):
        note("nothing was written; add -o run.csv or --report run.html to keep the run")


def _kept(run: Run, csv: Path | None, report: Path | None) -> str:
    files = " and ".join(str(path) for path in (csv, report) if path)
    if not files:
        return "nothing was kept (no -o, no --report)"
    return f"rows until then are in {files} ({len(run)})"


def summarise(run: Run) -> None:
    """Print the end of a run and its drifts."""
    from rich.table import Table

    from mbdy.app.summary import TOTALS, drift, rates

    end = f"{run.time[-1]:g} s" + ("" if run.complete else " (ended early)")
    table = Table(title=f"{run.title}: at {end}", title_justify="left")
    table.caption, table.caption_justify = "changes and residual: the largest of the run", "left"
    table.add_column("", overflow="fold")
    table.add_column("value", justify="right")
    table.add_column("unit")
    lines = list(rates(run))
    for name, unit, values in lines[:MOST_LINES]:
        table.add_row(name, "  ".join(f"{value:9.4g}" for value in values), unit)
    if len(lines) > MOST_LINES:
        table.add_row(f"... {len(lines) - MOST_LINES} more", "", "")
    table.add_section()
    for name in TOTALS[:3]:
        change = drift(run, name)
        relative = "" if change.relative is None else f" ({change.relative:.1g} of start)"
        table.add_row(f"{name} change", f"{change.worst:.2g}{relative}", change.unit)
    residual = float(abs(run[TOTALS[3]]).max())
    table.add_row("system.work_residual", f"{residual:.2g}", "W")
    terminal().print(table)
