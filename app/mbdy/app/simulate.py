"""``mbdy simulate``: run a model file; a table of its outputs, a report, a summary."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mbdy.app.common import (
    PAGES,
    RequestError,
    complain,
    counted,
    guarded,
    load_model,
    note,
    quoted,
    said_warnings,
    say,
    seconds,
    show_json,
    status_of,
    terminal,
)
from mbdy.app.options import (
    INTEGRATOR,
    INTEGRATOR_OPTION,
    METHODS,
    STEP,
    STEP_OPTION,
    TOLERANCE_OPTION,
    IntegratorName,
    ModelFile,
)
from mbdy.app.output_files import file_name, input_file, output_file, read_for, target
from mbdy.app.progress import Tell, busy

if TYPE_CHECKING:
    from mbdy.app.assignments import Assignment
    from mbdy.blocks import Condition, InputTable, Plant, Run, SimulationError
    from mbdy.engine import Model
    from mbdy.engine.model.contents import SourceFile

MOST_STEPS = 1e16
"""Internal steps of a run; years of work."""
MOST_LINES = 24
"""Rates, and positions, that a summary lists."""
ADAPTIVE = {method.name: method.adaptive for method in METHODS}
"""Whether an integrator chooses its steps."""
TABLES = (".csv", ".tsv")
"""How tables are usually called."""


@dataclass(frozen=True, slots=True)
class RunSettings:
    """What a run was asked for, times in s."""

    until: float
    every: float
    step: float | None
    """None: as long as the tolerance allows."""
    integrator: str
    tolerance: float | None
    inputs: Path | None
    linear: bool
    usual: bool
    """Whether nobody said ``every``."""

    @staticmethod
    def of(
        before: Mapping[str, Any],
        until: str,
        every: str | None,
        step: str | None,
        integrator: IntegratorName | None,
        tolerance: str | None,
        resume: Path | None,
        inputs: Path | None,
        *,
        linear: bool,
    ) -> RunSettings:
        """What the options ask for; what they leave out is as in the run ``before`` of the state in ``resume``."""
        from mbdy.blocks.grids import usual_period

        end, begin = seconds(until, "--until"), before.get("time", 0.0)
        if not end > begin:
            raise RequestError(f"--until: {resume} stands at {begin:g} s; give a later end than {end:g} s")
        method = integrator.value if integrator else before.get("integrator", INTEGRATOR.value)
        adaptive = ADAPTIVE[method]
        alike = adaptive == ADAPTIVE[before.get("integrator", method)]
        usual = None if adaptive else float(STEP)
        internal = seconds(step, "--step") if step is not None else before.get("step", usual) if alike else usual
        if internal and not (end - begin) / internal < MOST_STEPS:
            said = f"{end:g} s in steps of {internal:g} s"
            raise RequestError(f"--until: {said} would never end; give a shorter --until or a longer --step")
        asked = seconds(every, "--every") if every is not None else before.get("every")
        return RunSettings(
            until=end,
            every=asked or max(internal or 0.0, usual_period(end - begin)),
            step=internal,
            integrator=method,
            tolerance=_tolerance(method, tolerance, before) if adaptive or tolerance else None,
            inputs=inputs,
            linear=linear or before.get("interpolation") == "linear",
            usual=asked is None,
        )

    def words(
        self, assignments: Sequence[Assignment], table: InputTable | None, resumed: SourceFile | None
    ) -> dict[str, str]:
        """The settings for a report's reader, with the ``table`` of inputs and the state that were read."""
        said = {"until": f"{self.until:g} s", "recorded every": f"{self.every:g} s"}
        said |= {"internal step": f"{self.step:g} s" if self.step else "by tolerance", "integrator": self.integrator}
        said |= {"tolerance": f"{self.tolerance:g}"} if self.tolerance else {}
        if table and table.source:
            between = "linear between rows" if self.linear else "held between rows"
            said["inputs"] = f"{table.source.path}, {between}, SHA-256 {table.source.sha256}"
        if resumed:
            said["resumed from"] = f"{resumed.path}, SHA-256 {resumed.sha256}"
        if assignments:
            said["set"] = "\n".join(one.text for one in assignments)
        return said


def _tolerance(integrator: str, text: str | None, before: Mapping[str, Any]) -> float | None:
    """The tolerance that is asked for, or that of the run ``before``."""
    from mbdy.blocks.strides import tolerance_of
    from mbdy.engine.model.faults import OptionError

    try:
        return tolerance_of(integrator, before.get("tolerance") if text is None else float(text))
    except ValueError as fault:
        raise RequestError(
            f"--{fault}" if isinstance(fault, OptionError) else f"--tolerance {text}: give a number"
        ) from None


@guarded
def simulate(
    model: ModelFile,
    until: Annotated[str, typer.Option(help="End of the run, in s or with a unit ('2 min').")] = "60",
    every: Annotated[str | None, typer.Option(help="Time between recorded rows; about 500 rows if left out.")] = None,
    step: Annotated[str | None, STEP_OPTION] = None,
    integrator: Annotated[IntegratorName | None, INTEGRATOR_OPTION] = None,
    tolerance: Annotated[str | None, TOLERANCE_OPTION] = None,
    assign: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Any input, parameter or start value; as often as needed."),
    ] = None,
    when: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OUTPUT > VALUE: NAME=VALUE",
            help="What acts by itself once an output passes a value (> or <), several NAME=VALUE with ;.",
        ),
    ] = None,
    inputs: Annotated[
        Path | None,
        typer.Option(
            "--input", metavar="FILE.csv", help="Inputs over time: a column 'time' and inputs.", parser=input_file
        ),
    ] = None,
    linear: Annotated[
        bool, typer.Option("--linear", help="Inputs of --input go on a line from row to row instead of staying.")
    ] = False,
    outputs: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Outputs to write, e.g. 'bus.*' or 'bus.omega,panel.joint.angle'."),
    ] = None,
    record: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Inputs to write and plot beside the outputs, e.g. 'bus.*.torque'."),
    ] = None,
    csv: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="RUN.csv", help="File for outputs; - is stdout.", parser=output_file),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="RUN.html", help="File for a report with plots; - is stdout.", parser=output_file),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Go on from a state that --save-state wrote, to --until, in its steps unless told otherwise.",
            parser=input_file,
        ),
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option(
            "--save-state", metavar="FILE", help="File for the state at the end of the run.", parser=output_file
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Say the summary as JSON, in SI units.")] = False,
) -> None:
    """Run a model from time 0 and write its outputs as a CSV file, a report, or both."""
    if linear and inputs is None:
        raise RequestError("--linear: says how to read an input table; give one with --input FILE.csv")
    asked = ((csv, "-o", (model, inputs, resume)), (report, "--report", (model, inputs, resume, csv)))
    for path, option, others in (*asked, (state, "--save-state", (model, inputs, csv, report))):
        if path:
            file_name(_suited(path, option), option, sources=others)
    loaded = load_model(model)
    for path, option in ((csv, "-o"), (report, "--report"), (state, "--save-state")):
        if path:
            file_name(path, option, sources=read_for(loaded))
    from mbdy.app.assignments import assigned, conditions
    from mbdy.blocks.grids import shifted
    from mbdy.engine.model.contents import recorded, source_files

    with recorded():
        before: Mapping[str, Any] = {}
        if resume:
            from mbdy.blocks.plant.state_file import read_state

            before = read_state(resume).facts
        settings = RunSettings.of(before, until, every, step, integrator, tolerance, resume, inputs, linear=linear)
        plant = _plant(loaded, settings, before, resume)
        resumed = source_files(resume.parent) if resume else ()
    begin = plant.time
    brought = _brought(plant) if resume else {}
    assignments = assigned(plant, assign or [])
    acting = conditions(when or [], plant.ports)
    values = {name: value for one in assignments for name, value in zip(one.scalars, one.values, strict=True)}
    table = _table(plant, settings, values)
    given = table.names if table else ()
    values = {name: value for name, value in brought.items() if name not in given} | values
    for path, option in ((csv, "-o"), (report, "--report"), (state, "--save-state")):
        if path:
            target(path, option)
    patterns = _parts(outputs) if outputs else None
    wanted = _parts(record or [])
    with busy("simulating") as tell:
        run, fault = _run(plant, settings, table and table.since(begin), acting, patterns, wanted, tell)
    if begin:
        crossings = tuple(replace(one, time=one.time + begin) for one in run.crossings)
        run = replace(run, time=shifted(run.time, begin, settings.every), crossings=crossings)
    sources = [*loaded.files, *resumed, *([table.source] if table and table.source else [])]
    done = Done(run, loaded, settings, values | _sizes(table), sources, fault)
    if csv:
        done.keep("csv", csv, lambda path: _picked(run, patterns, wanted).to_csv(path))
    if report:
        from mbdy.app.report import report as write

        words, warned = (
            settings.words(assignments, table, *(resumed or (None,))) | done.strides,
            [*said_warnings, *done.faults],
        )
        done.keep(
            "report",
            report,
            lambda path: write(run, loaded, path, settings=words, warnings=warned, values=values, acting=done.acting),
        )
    if state:
        done.keep("state", state, partial(plant.save_state, every=None if settings.usual else settings.every))
    _tell(done, as_json=as_json)
    if done.faults:
        raise typer.Exit(status_of(fault.__cause__ if fault else None))


class Done:
    """A run of a model as far as it came: what went wrong with it, and the files that keep it.

    ``inputs`` are the sizes that inputs reach, by scalar name, where they are not those of the model; ``sources`` the
    files that it was made of.
    """

    def __init__(
        self,
        run: Run,
        model: Model,
        settings: RunSettings,
        inputs: Mapping[str, float],
        sources: Sequence[SourceFile],
        fault: Exception | None,
    ) -> None:
        from mbdy.app.summary import causes

        self.sources = sources
        self.run, self.model, self.settings, self.fault = run, model, settings, str(fault or "")
        self.acting = causes(model, run.ports, inputs)
        self.kept: dict[str, Path] = {}
        self.lost: list[str] = []

    @property
    def faults(self) -> list[str]:
        """The fault of the run, then files that could not be written."""
        return [*([self.fault] if self.fault else []), *self.lost]

    def keep(self, sort: str, path: Path, write: Callable[[Path], object]) -> None:
        """Write a file; one that fails does not take the others with it."""
        try:
            write(path)
            self.kept[sort] = path
        except OSError as fault:
            self.lost.append(f"{path}: {fault.strerror or fault}")

    @property
    def strides(self) -> dict[str, str]:
        """The steps that the integrator chose, where it did, and what switched, in words."""
        said = {}
        if self.run.strides is not None:
            accepted, rejected = self.run.strides
            said["steps"] = f"{accepted} accepted, {rejected} rejected"
        first = [f"{one.name} {'begins' if one.rising else 'ends'} at {one.time:.9g} s" for one in self.run.crossings]
        more = [f"... {len(first) - MOST_LINES} more"] if len(first) > MOST_LINES else []
        return said | ({"switches": "\n".join(first[:MOST_LINES] + more)} if first else {})

    @property
    def where(self) -> str:
        """Where the rows of a run that ended early are."""
        rows = [str(path) for sort, path in self.kept.items() if sort != "state"]
        state = f"the state is in {self.kept['state']}" if "state" in self.kept else ""
        if not rows:
            return state or "nothing was kept" + ("" if self.lost else " (no -o, no --report)")
        files, last = " and ".join(rows), self.run.time[-1] if len(self.run) else 0.0
        kept = f"rows up to {last:.9g} s are in {files} ({counted(len(self.run), 'row')})"
        return f"{kept}; {state}" if state else kept


def _plant(model: Model, settings: RunSettings, before: Mapping[str, Any], resume: Path | None) -> Plant:
    """The plant that runs, as the state in ``resume`` has it, whose facts are ``before``."""
    from mbdy.blocks import Plant

    linear = "linear" if settings.linear else "held"
    with busy("building the equations"):
        plant = Plant(
            model,
            step=settings.step,
            integrator=settings.integrator,
            tolerance=settings.tolerance,
            interpolation=linear,
        )
    if resume:
        plant.restore_state(resume)
        if (rows := before["every"] or settings.every) != settings.every:
            said = f"is of a run with rows every {rows:g} s, not {settings.every:g} s"
            note(f"note: {resume} {said}: with loops or friction bits will not be those of a run that is not cut")
    return plant


def _suited(path: Path, option: str) -> Path:
    """``path``, unless its name is that of a file of the other sort."""
    suffix = path.suffix.lower()
    if option == "-o" and suffix in PAGES:
        raise RequestError(f"-o {path}: the outputs are written as CSV; give -o run.csv, or --report {quoted(path)}")
    if option == "--report" and suffix not in ("", *PAGES):
        other = f", or -o {quoted(path)}" if suffix in TABLES else ""
        raise RequestError(f"--report {path}: a report is an HTML page; give --report run.html{other}")
    return path


def _table(plant: Plant, settings: RunSettings, values: Mapping[str, float]) -> InputTable | None:
    """The inputs of ``--input``; refuses those that ``--set`` gives too."""
    if not settings.inputs:
        return None
    from mbdy.blocks import input_table

    table = input_table(settings.inputs, plant.ports, linear=settings.linear)
    if twice := sorted(values.keys() & set(table.names)):
        raise RequestError(f"--set {twice[0]}: {settings.inputs} gives this input too; take it out of one")
    return table


def _brought(plant: Plant) -> dict[str, float]:
    """Inputs and parameters, by scalar name, that a resumed state has otherwise than the model."""
    table = plant.ports
    usual = (
        zip(table.input_names, table.vector("input"), strict=True),
        zip(table.parameter_names, table.vector("parameter"), strict=True),
    )
    return {name: now for kind in usual for name, value in kind if (now := float(plant[name])) != value}


def _sizes(table: InputTable | None) -> dict[str, float]:
    """The largest size of each input of ``table``."""
    return {} if table is None else dict(zip(table.names, abs(table.values).max(axis=0).tolist(), strict=True))


def _run(
    plant: Plant,
    settings: RunSettings,
    table: InputTable | None,
    conditions: Sequence[Condition],
    patterns: list[str] | None,
    record: list[str],
    tell: Tell,
) -> tuple[Run, SimulationError | None]:
    """The run, as far as it came, and the fault that ended it early."""
    from mbdy.app.summary import TOTALS
    from mbdy.blocks import SimulationError
    from mbdy.blocks import simulate as run_plant

    try:
        run = run_plant(
            plant,
            until=settings.until - plant.time,
            every=settings.every,
            inputs=table,
            linear=settings.linear,
            conditions=conditions,
            outputs=None if patterns is None else [*patterns, *plant.ports.by_name.keys() & set(TOTALS)],
            record=record,
            progress=tell,
        )
    except SimulationError as fault:
        return fault.run, fault
    return run, None


def _parts(texts: list[str]) -> list[str]:
    """Patterns, of which several may stand in one text."""
    return [part.strip() for text in texts for part in text.split(",")]


def _picked(run: Run, patterns: list[str] | None, record: list[str]) -> Run:
    """``run`` with the outputs that match ``patterns`` only, and the inputs that were asked for."""
    from mbdy.blocks.run import selected

    places = selected(run.names, None if patterns is None else [*patterns, *record], run.ports.hidden_names)
    return replace(run, names=tuple(run.names[i] for i in places), values=run.values[:, places])


def _tell(done: Done, *, as_json: bool) -> None:
    """How the run went: a table for a person, the same as JSON for a machine."""
    run, settings = done.run, done.settings
    if done.fault:
        complain(f"{done.fault}; {done.where}")
    for fault in done.lost:
        complain(fault)
    if as_json:
        from mbdy.app.summary import facts

        asked = {"until": settings.until, "every": settings.every, "step": settings.step}
        summary: dict[str, Any] = {"ok": not done.faults, **({"error": "\n".join(done.faults)} if done.faults else {})}
        summary["settings"] = {**asked, "integrator": settings.integrator}
        summary["settings"] |= {"tolerance": settings.tolerance} if settings.tolerance else {}
        summary["sources"] = [source.facts() for source in done.sources]
        files = {**dict.fromkeys(("csv", "report")), **done.kept}
        show_json({**summary, **files, "warnings": said_warnings, **(facts(run) if len(run) else {})})
        return
    if len(run):
        summarise(done)
    if done.fault:
        return
    for sort, path in done.kept.items():
        say(f"wrote {path}" + (f": {counted(len(run), 'row')}" if sort == "csv" else ""))
    if not (done.kept or done.lost):
        note("nothing was written; add -o run.csv or --report run.html to keep the run")


def summarise(done: Done) -> None:
    """Print the end of a run and its drifts."""
    from rich.table import Table

    from mbdy.app.summary import TOTALS, drifts, positions, rates, residual, work_error
    from mbdy.engine.model.text import visible

    run = done.run
    end = f"{run.time[-1]:g} s" + ("" if run.complete else " (ended early)")
    table = Table(title=f"{visible(run.title)}: at {end}", title_justify="left")
    table.caption, table.caption_justify = "changes and residual: the largest of the run", "left"
    table.add_column("", overflow="fold")
    table.add_column("value", justify="right")
    table.add_column("unit")
    for lines in (list(rates(run)), list(positions(run, done.model))):
        for name, unit, values in lines[:MOST_LINES]:
            table.add_row(name, "  ".join(f"{value:9.4g}" for value in values), unit)
        if len(lines) > MOST_LINES:
            table.add_row(f"... {len(lines) - MOST_LINES} more", "", "")
        table.add_section()
    for change in drifts(run):
        notes = "; ".join(filter(None, (change.of_start, done.acting.get(change.name))))
        table.add_row(f"{change.name} change", f"{change.worst:.2g}" + (f" ({notes})" if notes else ""), change.unit)
    if (worst := residual(run)) is not None:
        table.add_row(TOTALS[3], f"{worst:.2g}", "W")
    if (added := work_error(run)) is not None:
        table.add_row(TOTALS[4], f"{added:.2g}", "J")
    for name, value in done.strides.items():
        table.add_row(name, value, "")
    terminal().print(table)
