"""`simulate`: run a plant from zero to an end time, under a controller or a table of inputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbdy.blocks.errors import StateError, StepError, VariableError
from mbdy.blocks.plant import Plant
from mbdy.blocks.run import Run, selected
from mbdy.blocks.table import CLOSE, InputTable, input_table
from mbdy.blocks.typed import Outputs
from mbdy.engine import Model

Array = NDArray[np.float64]
Controller = Callable[[float, Outputs], Mapping[str, object] | None]
Progress = Callable[[float], None]
ROWS_AT_ONCE = 2000
STEPS_AT_ONCE = 20_000
"""Internal steps in one call of the core: between calls progress is told and an interruption heard."""


class SimulationError(Exception):
    """A run that a fault ended early; ``run`` holds what was recorded until then, ``__cause__`` the fault."""

    def __init__(self, message: str, run: Run) -> None:
        super().__init__(message)
        self.run = run


def simulate(
    model: Model | Plant | str | PathLike[str],
    *,
    until: float,
    every: float | None = None,
    controller: Controller | None = None,
    sample: float | None = None,
    inputs: str | PathLike[str] | Mapping[str, ArrayLike] | None = None,
    linear: bool = False,
    outputs: Iterable[str] | None = None,
    step: float | str = 1e-3,
    integrator: str = "rk4",
    virtual: bool = False,
    progress: bool | Progress = False,
) -> Run:
    """Outputs from time 0 to ``until`` [s] inclusive, recorded ``every`` [s] (default: the internal step).

    ``model``       a `Model`, a model file's path, or a `Plant` as it stands (its own step and integrator then hold,
                    its inputs and state are left at the end of the run).
    ``controller``  ``f(t, y) -> {name: value}``, called every ``sample`` [s] (default: the internal step); the inputs
                    it gives are held until the next call. None changes nothing.
    ``inputs``      a CSV file or a mapping with ``time`` and inputs by name, held between rows, or with ``linear``
                    going on a line from row to row.
    ``outputs``     names or patterns (``"bus.*"``) to record; all by default.
    ``progress``    True for a progress bar, or a function that is given the fraction done.

    Raises `StepError` or `VariableError` for bad arguments and `SimulationError`, with the run so far, for a fault on
    the way.
    """
    plant = model if isinstance(model, Plant) else Plant(
        model, step=step, integrator=integrator, interpolation="linear" if linear else "held", virtual=virtual
    )  # fmt: skip
    if linear and plant.interpolation != "linear":
        raise ValueError('linear inputs need a plant made with interpolation="linear"')
    _positive("until", until)
    record = _grid("every", plant.internal_step if every is None else every, until)
    table = None if inputs is None else input_table(inputs, plant.ports, linear=linear)
    if controller is not None:
        samples = _grid("sample", plant.internal_step if sample is None else sample, until)
    elif sample is not None:
        raise ValueError("sample is the period of a controller, and there is none")
    else:
        samples = np.zeros(1)
    times = _merged(record, samples, np.array([]) if table is None else table.time[table.time < until])
    picked = np.array(selected(plant.output_names, outputs), dtype=np.intc)
    recorder = _Recorder(plant, picked, len(record))
    with _reported(progress) as tell:
        try:
            if controller is None and _uniform(times):
                _run_rows(plant, times, record, table, recorder, tell)
            else:
                _run_steps(plant, times, record, samples, table, controller, recorder, tell)
        except (StateError, VariableError, StepError) as fault:
            raise SimulationError(f"at {plant.time:.9g} s: {fault}", recorder.run(complete=False)) from fault
        except Exception as fault:
            said = f"at {plant.time:.9g} s the controller failed: {type(fault).__name__}: {fault}"
            raise SimulationError(said, recorder.run(complete=False)) from fault
        except KeyboardInterrupt as fault:
            raise SimulationError(f"interrupted at {plant.time:.9g} s", recorder.run(complete=False)) from fault
    return recorder.run(complete=True)


class _Recorder:
    """Rows recorded so far, in one block made at the begin."""

    def __init__(self, plant: Plant, picked: NDArray[np.intc], rows: int) -> None:
        self.plant, self.picked = plant, picked
        self.time = np.zeros(rows)
        self.values = np.zeros((rows, len(picked)))
        self.count = 0

    def add(self, time: float, values: Array) -> None:
        self.time[self.count] = time
        self.values[self.count] = values[self.picked]
        self.count += 1

    def add_rows(self, times: Array, values: Array) -> None:
        rows = slice(self.count, self.count + len(times))
        self.time[rows], self.values[rows] = times, values
        self.count += len(times)

    def run(self, *, complete: bool) -> Run:
        names = tuple(self.plant.output_names[i] for i in self.picked)
        ports, title = self.plant.ports, self.plant.model.name
        return Run(title, ports, names, self.time[: self.count], self.values[: self.count], complete)


def _run_rows(plant: Plant, times, record, table: InputTable | None, recorder: _Recorder, tell: Progress) -> None:
    """Equal steps without a controller: many rows in one call of the core."""
    given = None
    if table is not None:
        given = np.tile(plant.inputs.values, (len(times), 1))
        given[:, _columns(plant, table)] = table.at(times)
        plant.inputs.values[:] = given[0]
        plant.jump()
    recorder.add(0.0, plant.outputs().values)
    recorded = _marks(times, record)
    steps = len(times) - 1
    inside = math.ceil(times[-1] / steps / plant.internal_step)
    at_once = max(1, min(ROWS_AT_ONCE, STEPS_AT_ONCE // inside))
    for begin in range(0, steps, at_once):
        end = min(begin + at_once, steps)
        rows = None if given is None else given[begin : end + 1]
        values, fault = plant.run(end - begin, times[-1] / steps, inputs=rows, pick=recorder.picked)
        done = slice(begin + 1, begin + 1 + len(values))
        recorder.add_rows(times[done][recorded[done]], values[recorded[done]])
        if fault:
            raise fault
        tell(end / steps)


def _run_steps(plant: Plant, times, record, samples, table, controller, recorder: _Recorder, tell: Progress) -> None:
    """Steps from one instant to the next where something happens: a sample, a row of the table, a record."""
    columns = [] if table is None else _columns(plant, table)
    given = None if table is None else table.at(times)
    sampled, recorded = _marks(times, samples), _marks(times, record)
    linear = plant.interpolation == "linear"
    y = plant.outputs()
    for i, time in enumerate(times.tolist()):
        if i and not linear:
            y = plant.step(time - times[i - 1])
        if given is not None:
            plant.inputs.values[columns] = given[i]
        if i and linear:
            y = plant.step(time - times[i - 1])
        if controller is not None and sampled[i]:
            _command(plant, controller(time, y if given is None else plant.outputs()))
        plant.jump()
        if recorded[i]:
            recorder.add(time, plant.outputs().values)
        if not i % ROWS_AT_ONCE:
            tell(i / max(1, len(times) - 1))


def _command(plant: Plant, given: Mapping[str, object] | None) -> None:
    """Set what a controller gives: inputs, or parameters; nothing where it gives None."""
    for name, value in (given or {}).items():
        try:
            variable, _ = plant.ports.find(name)
        except KeyError as fault:
            raise VariableError(f"the controller gives {fault.args[0]}") from None
        if variable.causality == "output":
            raise VariableError(f"the controller gives {name!r}, which is an output; it can set inputs and parameters")
        plant[name] = value  # type: ignore[assignment]


def _columns(plant: Plant, table: InputTable) -> list[int]:
    return [plant.input_names.index(name) for name in table.names]


def _positive(what: str, value: float) -> None:
    if not (math.isfinite(value) and value > 0):
        raise StepError(f"{what}: must be positive and finite, got {value} s")


def _grid(what: str, period: float, until: float) -> Array:
    """0, period, 2 period, ... and ``until``."""
    _positive(what, period)
    whole = math.floor(until / period + CLOSE)
    times: Array = np.arange(whole + 1, dtype=np.float64) * period
    if until - times[-1] > CLOSE * max(1.0, until):
        return np.append(times, until)
    times[-1] = until
    return times


def _merged(*grids: Array) -> Array:
    """All instants of several grids, in order, each once."""
    times = np.sort(np.concatenate(grids))
    times = times[times >= 0]
    return times[np.append(True, np.diff(times) > CLOSE)]


def _marks(times: Array, grid: Array) -> NDArray[np.bool_]:
    """Which of ``times`` are of ``grid``."""
    at = np.clip(np.searchsorted(grid, times - CLOSE), 0, len(grid) - 1)
    return np.abs(grid[at] - times) <= CLOSE


def _uniform(times: Array) -> bool:
    steps = np.diff(times)
    return bool(steps.size and np.ptp(steps) <= CLOSE * steps[0])


@contextmanager
def _reported(progress: bool | Progress) -> Iterator[Progress]:
    """A function that shows the fraction done: the caller's, a bar, or nothing."""
    if callable(progress):
        yield progress
    elif progress:
        from rich.progress import Progress as Bar

        with Bar(transient=True) as bar:
            task = bar.add_task("simulating", total=1.0)
            yield lambda fraction: bar.update(task, completed=fraction)
    else:
        yield lambda fraction: None
