"""`simulate`: run a plant from zero to an end time, under a controller or a table of inputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from os import PathLike

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbdy.blocks.conditions import Condition, Conditions
from mbdy.blocks.control_loop import Controller, ControllerError, ControlLoop
from mbdy.blocks.errors import StateError, StepError, VariableError
from mbdy.blocks.grids import (
    even_step,
    grid,
    marks,
    merged,
    multiples,
    refined,
    resolution,
    seconds,
    steps_between,
    uniform,
    usual_period,
)
from mbdy.blocks.plant import Interpolation, Plant
from mbdy.blocks.prescribed import Prescribed
from mbdy.blocks.profiles import Profile
from mbdy.blocks.run import Run, selected
from mbdy.blocks.signals import Signals
from mbdy.blocks.singular import tell_of_angles
from mbdy.blocks.strides import Crossing
from mbdy.blocks.table import InputTable, input_table
from mbdy.engine import Model
from mbdy.engine.core.integrators import STEP
from mbdy.engine.model.contents import readable
from mbdy.engine.model.faults import MbdyError, OptionError, shown
from mbdy.engine.verification.formulations import ORDER_N

Array = NDArray[np.float64]
Progress = Callable[[float], None]
ROWS_AT_ONCE = 2000
STEPS_AT_ONCE = 20_000
"""Internal steps in one call of the core: between calls progress is told and an interruption heard."""


class SimulationError(MbdyError):
    """A run that a fault ended early; ``run`` holds what was recorded until then, ``__cause__`` the fault."""

    def __init__(self, message: str, run: Run) -> None:
        super().__init__(message)
        self.run = run


def simulate(
    model: Model | Plant | str | PathLike[str],
    *,
    until: float | str,
    every: float | str | None = None,
    controller: Controller | None = None,
    sample: float | str | None = None,
    inputs: str | PathLike[str] | Mapping[str, ArrayLike] | InputTable | None = None,
    linear: bool = False,
    profiles: Mapping[str, Profile] | None = None,
    conditions: Sequence[Condition] = (),
    outputs: Iterable[str] | None = None,
    record: Iterable[str] = (),
    step: float | str | None = None,
    integrator: str = "rk4",
    tolerance: float | None = None,
    formulation: str = ORDER_N,
    progress: bool | Progress = False,
) -> Run:
    """Outputs from time 0 to ``until`` [s] inclusive, recorded ``every`` [s].

    ``every``       a round period that gives 500 rows or more, but no less than the internal step, where left out.
    ``model``       a `Model`, a model file's path, or a `Plant` as it stands (its own step, integrator and formulation
                    then hold, its inputs and state are left at the end of the run).
    ``controller``  ``f(t, y) -> {name: value}``, called at 0, ``sample`` [s] (default: the internal step), twice
                    that, ... and at no other instant, wherever the run ends; the inputs it gives are held until the
                    next call. None changes nothing; a function that never gives anything else is told so
                    (`NoCommandWarning`), one that gives ``{}`` only looks on. What it gives under names that begin
                    with ``log.`` is recorded as a signal of its own: ``{"log.pointing_error [deg]": 0.3}``.
    ``inputs``      a CSV file or a mapping with ``time`` and inputs by name, held between rows, or with ``linear``
                    going on a line from row to row.
    ``profiles``    motions of prescribed degrees of freedom by joint, ``{"panel.joint": CosineSlew(...)}`` or, of one
                    of several, ``"yoke.joint[2]"``, exact at every stage of the integrator. Their starts are set,
                    switchable ones are switched to prescribed. A `Plant` needs quadratic inputs for them.
    ``conditions``  what acts by itself, each a `Condition`: a lock at an angle, a parameter at a speed, at the instant
                    located to 1e-9 s of the integrator's motion. ``run.crossings`` tells when.
    ``outputs``     names or patterns (``"bus.*"``) to record; all by default.
    ``record``      names or patterns of inputs to record too (``"bus.x.torque"``, ``"*.torque"``): what controller,
                    table or profile has them at, each row's from its instant on.
    ``step``, ``integrator``, ``tolerance``  as `Plant` has them. Rows lie within steps of ``"dopri5"``, on
                    a polynomial; samples, rows of a table and corners of profiles are ends of steps, and profiles
                    are followed in steps of 1 ms.
    ``formulation`` whose equations are stepped, see `Plant`: ``"kane"`` for a second opinion on a whole trajectory.
    ``progress``    True for a progress bar, or a function that is given the fraction done.

    Raises `StepError` or `VariableError` for bad arguments and `SimulationError`, with the run so far, for a fault on
    the way.
    """
    wanted: Interpolation = "quadratic" if profiles else "linear" if linear else "held"
    plant = model if isinstance(model, Plant) else Plant(
        model, step=step, integrator=integrator, tolerance=tolerance, interpolation=wanted, formulation=formulation,
    )  # fmt: skip
    if (profiles or linear or inputs is not None) and plant.interpolation != wanted:
        raise OptionError(f'{wanted} inputs need a plant made with interpolation="{wanted}"')
    if not (controller is None or callable(controller)):
        raise OptionError(f"controller: a function f(t, y) is needed, got {shown(controller)}")
    if controller is None and sample is not None:
        raise OptionError("sample is the period of a controller, and there is none")
    until = seconds("until", until)
    usual = STEP if plant.adaptive else plant.internal_step
    every = seconds("every", max(usual, usual_period(until)) if every is None else every)
    if sample is None and controller is not None and plant.adaptive:
        raise OptionError(f"sample: {plant.integrator} chooses its steps; give the controller's period")
    sample = seconds("sample", usual if sample is None else sample)
    close = resolution(until, every, sample)
    instants = grid("every", every, until, close)
    samples = np.zeros(1) if controller is None else multiples("sample", sample, until, close)
    table = None if inputs is None else input_table(inputs, plant.ports, linear=linear)
    prescribed = Prescribed(plant, profiles) if profiles else None
    rows = (np.zeros(0) if table is None else table.time, np.zeros(0) if prescribed is None else prescribed.breaks)
    times = merged(close, instants, samples, *(row[row < until - close] for row in rows))
    schedule = _Schedule(times, marks(times, instants, close), marks(times, samples, close), table, close, prescribed)
    if conditions and profiles:
        raise OptionError("conditions: act between held or linear inputs, and profiles are of second degree; give one")
    watch = Conditions(plant, conditions, schedule.taken) if conditions else None
    if watch is not None and not plant.adaptive:
        schedule = schedule.refined(plant.internal_step)
    if prescribed is not None:
        schedule = schedule.refined(min(plant.internal_step, usual))
    picked = np.array(selected(plant.output_names, outputs, plant.ports.hidden_names), dtype=np.intc)
    recorder = Recorder(plant, picked, len(instants), inputs=record, table=table)
    if prescribed is not None:
        prescribed.begin(schedule.times, close)
    loop = (
        None
        if controller is None
        else ControlLoop(
            plant, controller, schedule.taken if watch is None else {**schedule.taken, **watch.taken}, recorder.signals
        )
    )
    with reported(progress) as tell, ended_by_faults(plant, recorder):
        if loop is None and watch is None and uniform(times, close) and plant.interpolation != "quadratic":
            _run_rows(plant, schedule, even_step(times, every, close), recorder, tell)
        else:
            steps = steps_between(schedule.times, close, every, sample)
            _run_steps(plant, schedule, steps, loop, watch, recorder, tell)
    if prescribed is not None:
        prescribed.end()
    if loop is not None:
        loop.end()
    run = recorder.run(complete=True)
    tell_of_angles(plant.model, run)
    return run


class Recorder:
    """Rows recorded so far, in one block made at the begin.

    An impulse belongs to one step: a row has the sum of those since the row before.
    """

    def __init__(
        self, plant: Plant, picked: NDArray[np.intc], rows: int, *,
        inputs: Iterable[str] = (), table: InputTable | None = None,
    ) -> None:  # fmt: skip
        self.plant, self.picked = plant, picked
        self.sources = (*plant.model.files, *([table.source] if table and table.source else ()))
        self.taken = np.array(selected(plant.input_names, inputs, plant.ports.hidden_names, what="input"), dtype=int)
        self.signals = Signals(rows)
        columns = len(picked) + len(self.taken)
        try:
            self.time = np.zeros(rows)
            self.values = np.zeros((rows, len(picked)))
            self.commands = np.zeros((rows, len(self.taken)))
        except MemoryError:
            room = f"{rows:,} rows of {columns} outputs take {readable(8 * rows * columns)}"
            raise VariableError(f"{room}, more memory than there is; record fewer outputs, or less often") from None
        self.count, self._strides, self._begin = 0, plant.strides, plant.time
        self.crossings: list[Crossing] = []
        span = plant.ports.span("impulses")
        self._impulses = np.flatnonzero((picked >= span.start) & (picked < span.stop))
        self._latched = np.zeros(self._impulses.size)

    def stepped(self, values: Array) -> None:
        """Take up the impulses of a step from its outputs (n_y), and what has switched in it."""
        self.crossings += self.plant.crossings
        if self._impulses.size:
            self._latched += values[self.picked[self._impulses]]

    def add(self, time: float, values: Array) -> None:
        """Record the outputs (n_y) of an instant."""
        self.time[self.count] = time
        self.values[self.count] = values[self.picked]
        self.values[self.count, self._impulses] = self._latched
        self._latched[:] = 0.0
        self.commands[self.count] = self.plant.inputs.values[self.taken]
        self.signals.add(self.count)
        self.count += 1

    def add_rows(self, times: Array, values: Array, recorded: NDArray[np.bool_], inputs: Array | None) -> None:
        """Record those of many steps' picked outputs that are ``recorded``, with the ``inputs`` (n, n_u) of their
        instants; those set now where None."""
        kept = values[recorded]
        self.crossings += self.plant.crossings
        if self._impulses.size:
            sums = self._latched + np.cumsum(values[:, self._impulses], axis=0)
            kept[:, self._impulses] = np.diff(sums[recorded], axis=0, prepend=0.0)
            self._latched = sums[-1] - (sums[recorded][-1] if len(kept) else 0.0) if len(sums) else self._latched
        rows = slice(self.count, self.count + len(kept))
        self.time[rows], self.values[rows] = times[recorded], kept
        now = self.plant.inputs.values if inputs is None else inputs[recorded]
        self.commands[rows] = now[..., self.taken]
        self.count += len(kept)

    def run(self, *, complete: bool) -> Run:
        names = [self.plant.output_names[i] for i in self.picked]
        names += [self.plant.input_names[i] for i in self.taken]
        ports, title, signals = self.plant.ports, self.plant.model.name, self.signals.variables
        names += [name for variable in signals for name in variable.scalar_names]
        values = self.values[: self.count]
        if self.taken.size or signals:
            values = np.hstack([values, self.commands[: self.count], self.signals.values(self.count)])
        accepted, rejected = (now - then for now, then in zip(self.plant.strides, self._strides, strict=True))
        return Run(
            title, ports, tuple(names), self.time[: self.count], values, complete, signals, self.sources,
            (accepted, rejected) if self.plant.adaptive else None, 
            tuple(replace(one, time=one.time - self._begin) for one in self.crossings),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Schedule:
    """All instants of a run: which are recorded, which sampled, and the table whose rows they take."""

    times: Array
    recorded: NDArray[np.bool_]
    sampled: NDArray[np.bool_]
    table: InputTable | None
    close: float
    prescribed: Prescribed | None = None

    def __post_init__(self) -> None:
        profiles = {} if self.prescribed is None else self.prescribed.taken
        for name in () if self.table is None else self.table.names:
            if name in profiles:
                raise VariableError(f"inputs: {name!r} is a column, and {profiles[name]} sets it; keep one of them")

    def refined(self, step: float) -> _Schedule:
        """The same with instants between, so that no step is longer than ``step`` [s]."""
        times, places = refined(self.times, step)
        recorded, sampled = np.zeros((2, len(times)), dtype=bool)
        recorded[places], sampled[places] = self.recorded, self.sampled
        return replace(self, times=times, recorded=recorded, sampled=sampled)

    @property
    def taken(self) -> Mapping[str, str]:
        """Inputs that a controller cannot give, and what gives them."""
        columns = dict.fromkeys(() if self.table is None else self.table.names, "the table of inputs")
        return columns if self.prescribed is None else columns | self.prescribed.taken

    def given(self) -> Array | None:
        """The table's values at each instant."""
        return None if self.table is None else self.table.at(self.times, self.close)


def _run_rows(plant: Plant, schedule: _Schedule, step: float, recorder: Recorder, tell: Progress) -> None:
    """Equal steps [s] without a controller: many rows in one call of the core."""
    times, recorded, rows = schedule.times, schedule.recorded, None
    if schedule.table is not None:
        rows = np.tile(plant.inputs.values, (len(times), 1))
        rows[:, _columns(plant, schedule.table)] = schedule.given()
        plant.inputs.values[:] = rows[0]
    plant.jump()
    recorder.add(0.0, plant.outputs().values)
    steps = len(times) - 1
    inside = max(1, math.ceil(step / plant.internal_step))
    at_once = max(1, min(ROWS_AT_ONCE, STEPS_AT_ONCE // inside))
    for begin in range(0, steps, at_once):
        end = min(begin + at_once, steps)
        given = None if rows is None else rows[begin : end + 1]
        before = plant.save()
        try:
            values, fault = plant.run(end - begin, step, inputs=given, pick=recorder.picked)
        except KeyboardInterrupt:  # the rows are lost, so the plant goes back to the last one that is not
            plant.restore(before)
            raise
        done = slice(begin + 1, begin + 1 + len(values))
        recorder.add_rows(times[done], values, recorded[done], None if given is None else given[1 : 1 + len(values)])
        if fault:
            raise fault
        tell(end / steps)


def _run_steps(
    plant: Plant,
    schedule: _Schedule,
    steps: Array,
    loop: ControlLoop | None,
    watch: Conditions | None,
    recorder: Recorder,
    tell: Progress,
) -> None:
    """``steps`` [s] from one instant to the next where something happens: a sample, a row of the table, a record.

    A linear plant steps towards the inputs of the step's end; switches are never on a line, so they follow it. With
    profiles it is a quadratic one, for which a line has its middle half way.
    """
    times, table, given = schedule.times, schedule.table, schedule.given()
    columns = np.array([] if table is None else _columns(plant, table), dtype=int)
    switches = np.array([] if table is None else table.switches, dtype=bool)
    prescribed = schedule.prescribed
    ahead = ~switches if table is not None and table.linear else np.zeros_like(switches)
    y = plant.outputs()
    for i, time in enumerate(times.tolist()):
        if given is not None:
            plant.inputs.values[columns[ahead]] = given[i, ahead]
            if prescribed is not None and i:
                plant.middle.values[columns[ahead]] = 0.5 * (given[i - 1, ahead] + given[i, ahead])
        if i:
            if prescribed is not None:
                prescribed.aim(i)
            if watch is None:
                y = plant.step(float(steps[i - 1]))
                recorder.stepped(y.values)
            else:
                y = watch.step(float(steps[i - 1]), recorder)
        if given is not None:
            plant.inputs.values[columns[~ahead]] = given[i, ~ahead]
        if prescribed is not None:
            prescribed.arrive(i)
        if loop is not None and schedule.sampled[i]:
            loop.take(time, y if given is None and not prescribed and i else plant.outputs())
        plant.jump()
        if watch is not None and not i:
            watch.act(plant.outputs(), recorder)
        if schedule.recorded[i]:
            recorder.add(time, plant.outputs().values)
        if not i % ROWS_AT_ONCE:
            tell(i / max(1, len(times) - 1))


def _columns(plant: Plant, table: InputTable) -> list[int]:
    return [plant.input_names.index(name) for name in table.names]


@contextmanager
def ended_by_faults(plant: Plant, recorder: Recorder) -> Iterator[None]:
    """Faults on the way as a `SimulationError` that says when, and holds what was recorded until then."""
    try:
        yield
    except (StateError, VariableError, StepError) as fault:
        raise SimulationError(f"at {plant.time:.9g} s: {fault}", recorder.run(complete=False)) from fault
    except ControllerError as fault:
        raise SimulationError(f"at {plant.time:.9g} s {fault}", recorder.run(complete=False)) from fault.__cause__
    except KeyboardInterrupt as fault:
        raise SimulationError(f"interrupted at {plant.time:.9g} s", recorder.run(complete=False)) from fault


@contextmanager
def reported(progress: bool | Progress) -> Iterator[Progress]:
    """A function that shows the fraction done: the caller's, a bar, or nothing."""
    if callable(progress):
        yield progress
    elif not isinstance(progress, bool):
        raise OptionError(f"progress: True, False or a function of the fraction done is needed, got {shown(progress)}")
    elif progress:
        from rich.progress import Progress as Bar

        with Bar(transient=True) as bar:
            task = bar.add_task("simulating", total=1.0)
            yield lambda fraction: bar.update(task, completed=fraction)
    else:
        yield lambda fraction: None
