"""`PlantBatch`: many runs of one structure of system, stepped together, each with its own numbers.

A shell over the batch in C (batch.h), as `Plant` is one over the plant.
"""

from __future__ import annotations

import ctypes
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from os import PathLike
from threading import get_ident
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbdy.blocks.batch.library import CONSTANTS, compiled_batch, lanes_of
from mbdy.blocks.control_loop import asked, judge
from mbdy.blocks.errors import StateError, StepError, ThreadError, VariableError
from mbdy.blocks.grids import grid, marks, merged, multiples, resolution, seconds, steps_between, uniform, usual_period
from mbdy.blocks.plant.block import FAULTS, OK, ORDERS, WARNING, WARNINGS, Logger
from mbdy.blocks.plant.table import PlantModel, first_references
from mbdy.blocks.plant.typed import OutputLayout
from mbdy.blocks.run import selected
from mbdy.blocks.strides import refuse_strides
from mbdy.engine import Dynamics, Model, Ports, RefusalError, equations_of
from mbdy.engine.core.binding import Owned
from mbdy.engine.core.integrators import INTEGRATORS
from mbdy.engine.files.rules import ruled
from mbdy.engine.model.faults import MbdyWarning, UnknownNameError, shown
from mbdy.engine.model.values import array_of, chosen, values_of, whole
from mbdy.engine.model.variables import Variable

Array = NDArray[np.float64]
Fault = VariableError | StepError | StateError


class BatchOutputs:
    """Outputs of all runs at one instant: ``y["bus.omega"]`` is (n, 3), or (n) of one element.

    ``time`` [s]; ``values`` (n, number of ``names``). Those of runs that have failed are NaN.
    """

    def __init__(self, layout: OutputLayout, time: float, values: Array) -> None:
        self._layout, self.time, self.values, self.names = layout, time, values, layout.names

    def __getitem__(self, name: str) -> Array:
        if name not in self._layout.places:
            self._layout.find(name)  # raises with the nearest names, unless the name is no output
            raise UnknownNameError(f"{name!r} is not an output")
        return self.values[:, self._layout.places[name]]

    def keys(self) -> tuple[str, ...]:
        """The outputs by name, without index."""
        return self._layout.variables

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._layout.places

    def __repr__(self) -> str:
        return f"<BatchOutputs of {len(self.values)} runs at {self.time:g} s>"


@dataclass(frozen=True, slots=True)
class BatchRun:
    """Outputs of all runs over time: ``time`` (rows) [s], ``values`` (n, rows, number of ``names``) in SI.

    ``run["bus.omega"]`` is (n, rows, 3), ``run["bus.omega[2]"]`` (n, rows). Of a run that failed what comes after is
    NaN, and ``faults`` has why; None for the others.
    """

    names: tuple[str, ...]
    time: Array
    values: Array
    faults: tuple[Fault | None, ...]
    ports: Ports

    def __getitem__(self, name: str) -> Array:
        if name in self.names:
            return self.values[:, :, self.names.index(name)]
        variable, _ = self.ports.find(name)  # raises with the nearest names
        if any(scalar not in self.names for scalar in variable.scalar_names):
            raise UnknownNameError(f"{name!r} was not recorded")
        return self.values[:, :, [self.names.index(scalar) for scalar in variable.scalar_names]]

    def keys(self) -> tuple[str, ...]:
        """What is recorded: variables, and elements of those that are not recorded whole."""
        kept = set(self.names)
        whole = {n: v.name for v in self.ports.outputs if kept.issuperset(v.scalar_names) for n in v.scalar_names}
        return tuple(dict.fromkeys(whole.get(name, name) for name in self.names))

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __contains__(self, name: object) -> bool:
        return name in self.names or name in self.keys()


Controller = Callable[[float, BatchOutputs], Mapping[str, Any] | None]


class PlantBatch:
    """``n`` runs of one system that step together: parameters, starts and inputs differ from run to run.

    ``model``, ``step``, ``integrator``, ``dynamics`` as for a `Plant`.
    ``interpolation`` ``"held"`` or ``"linear"``, as for a `Plant`.
    ``threads``      how many; as many as there are processors to use where None.
    ``lanes``        how many runs go through one evaluation of the equations: 1, 2, 4 or 8 as the processor has them;
                     the most where None. Runs under ``"rosenbrock"`` go one by one.

    ``batch["bus.mass"] = values`` sets what a `Plant` takes, the same for all runs, or a row of it for each. A run that
    fails stays where it was, with its fault in ``faults``; the others go on. Each run has the bits that a `Plant`
    gives, whatever the lanes, the threads and its place. What a `Plant` warns of is warned of once, with the first
    run's number; singular gimbals are not looked for. Raises what a `Plant` does where the model's own numbers do not
    do, and `OptionError` for lanes that are not there.
    """

    def __init__(
        self,
        model: Model | str | PathLike[str],
        n: int,
        *,
        step: float | str = 1e-3,
        integrator: str = "rk4",
        interpolation: Literal["held", "linear"] = "held",
        dynamics: Dynamics | None = None,
        threads: int | None = None,
        lanes: int | None = None,
    ) -> None:
        self.model = ruled(model)
        self.internal_step = seconds("step", step)
        self.integrator = chosen("integrator", integrator, INTEGRATORS)
        refuse_strides(integrator, "runs of a batch go side by side in equal ones")
        self.interpolation = chosen("interpolation", interpolation, ("held", "linear"))
        self.threads = whole("threads", _processors() if threads is None else threads)
        self._n = whole("n", n, 1)
        equations = equations_of(self.model, dynamics)
        self.ports: Ports = equations.ports
        self.compiled = compiled_batch(equations, implicit=INTEGRATORS[integrator].implicit)
        self._lanes = lanes_of(equations, integrator, lanes)
        self._order = ORDERS[interpolation]
        self._layout, self._first = OutputLayout(self.ports), first_references(self.ports)
        self._messages: list[tuple[int, int, str, int]] = []
        self._make()
        self.reset()
        if self._faults[0] is not None and all(self._faults):
            raise self._faults[0]

    def _make(self) -> None:
        functions = self._functions = self.compiled.functions
        messages = self._messages

        def log(run: int | None, status: int, category: bytes, text: bytes) -> None:
            topic = functions.plant_topic(functions.batch_plant(self._memory.handle, run or 0))
            messages.append((run or 0, status, text.decode(errors="replace"), topic))

        self._logger = Logger(log)
        self._own = PlantModel(
            self.compiled, self.model.standing, token="", step=self.internal_step, integrator=self.integrator
        )
        manner = CONSTANTS["PLANT_REFUSES"] | (CONSTANTS["PLANT_AHEAD"] if self._order else 0)
        handle = functions.batch_new(
            ctypes.addressof(self._own), self._n, manner, self._logger, self._lanes.address if self._lanes else None,
            self.threads,
        )  # fmt: skip
        self._memory, self._thread = Owned(handle, functions.batch_free), get_ident()
        groups = functions.batch_groups(handle)
        ends = [groups * k // self.threads for k in range(self.threads + 1)]
        self._parts = [(a, b) for a, b in pairwise(ends) if b > a]
        self._pool = ThreadPoolExecutor(len(self._parts)) if len(self._parts) > 1 else None
        self._status = (ctypes.c_int * self._n).from_address(functions.batch_status(handle))
        self._faults: list[Fault | None] = [None] * self._n
        self._time = 0.0
        self._plants = [functions.batch_plant(handle, run) for run in range(self._n)]

    @property
    def _handle(self) -> int | None:
        """The batch in C, for the thread that made it."""
        if get_ident() != self._thread:
            raise ThreadError(
                f"the batch of {self.model.name!r} was made in thread {self._thread} and is called in {get_ident()}: "
                "use it where it was made; it has threads of its own"
            )
        return self._memory.handle

    def __len__(self) -> int:
        return self._n

    def __repr__(self) -> str:
        return f"<PlantBatch {self.model.name!r}, {self._n} runs, at {self.time} s>"

    @property
    def time(self) -> float:
        """[s] since the start, of the runs that have not failed."""
        return self._time

    @property
    def faults(self) -> tuple[Fault | None, ...]:
        """By run what ended it, None for those that go on."""
        return tuple(self._faults)

    @property
    def states(self) -> Array:
        """The states (n, n_x) in the order of ``ports.state_names``, of failed runs those before they failed."""
        self._refresh()
        return self._vector("X", len(self.ports.state_names))

    def reset(self) -> None:
        """All runs back to time zero and to the file's start values and inputs, none failed; parameters stay as set."""
        self._functions.batch_rewind(self._handle)
        self._faults[:] = [None] * self._n
        self._time = 0.0
        self._refresh()

    def __setitem__(self, name: str, value: object) -> None:
        """Set an input, a parameter or (before the first step) a start value in all runs.

        What a `Plant` takes is for all runs; else the first axis of ``value`` is of runs. Raises `VariableError` that
        names the run, and changes nothing, for a value that cannot be used.
        """
        self._set(name, value, [False] * self._n)

    def _set(self, name: str, value: object, left: list[bool]) -> None:
        """Set it, but in runs that are ``left`` as they are: those that failed, for which nobody has numbers."""
        variable, part = self.ports.find(name, starts=True)
        size = part.stop - part.start
        values = self._rows(name, variable, part, value, left)
        if any(left):
            values[left] = self[name].reshape(self._n, size)[left]
        first = self._first[variable.name] + part.start
        refs = (ctypes.c_uint * size)(*range(first, first + size))
        run = self._functions.batch_set(self._handle, refs, size, values.ctypes.data, int(variable.boolean))
        message = self._told()
        if run >= 0:
            raise VariableError(f"run {run}: {message[run]}")

    def _rows(self, name: str, variable: Variable, part: slice, value: object, left: list[bool]) -> Array:
        """A row of values in SI for each run, (n, size), anything in those that are ``left`` as they are."""
        size = part.stop - part.start
        try:
            whole_rows = (self._n, size) if size > 1 else (self._n,)
            if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.shape == whole_rows and self._n > 1:
                return np.array(value, dtype=np.float64, order="C").reshape(self._n, size)
            try:
                return np.tile(np.array(values_of(name, variable, part, value), dtype=np.float64), (self._n, 1))
            except RefusalError:
                if not hasattr(value, "__len__") or isinstance(value, str) or len(value) != self._n:  # type: ignore[arg-type]
                    raise
            rows = zip(value, left, strict=True)  # type: ignore[call-overload]
            some = [[0.0] * size if out else values_of(name, variable, part, row) for row, out in rows]
            return np.array(some, dtype=np.float64)
        except RefusalError as refusal:
            raise VariableError(
                f"{refusal}; one value for all {self._n} runs, or a row of them for each; nothing was changed"
            ) from None

    def __getitem__(self, name: str) -> Array:
        """Values of any input, parameter or output now, (n) or (n, size)."""
        variable, part = self.ports.find(name)
        if variable.causality == "output":
            return self.outputs()[name]
        ports, ahead = self.ports, "U_END" if self._order else "U"
        vector, size = ("P", len(ports.parameter_names)) if variable.causality == "parameter" else (
            ahead, len(ports.input_names))  # fmt: skip
        values = self._vector(vector, size)[:, variable.offset + part.start : variable.offset + part.stop]
        return values[:, 0] if values.shape[1] == 1 else values

    def outputs(self) -> BatchOutputs:
        """Outputs of now, NaN of runs that have failed."""
        self._refresh()
        values = self._vector("Y", len(self.ports.output_names))
        values[[fault is not None for fault in self._faults]] = np.nan
        return BatchOutputs(self._layout, self.time, values)

    def step(self, H: float | str) -> BatchOutputs:
        """Advance all runs by the communication step ``H`` [s]; outputs are those of its end."""
        values = self.run(1, seconds("communication step", H), pick=np.arange(len(self.ports.output_names)))
        return BatchOutputs(self._layout, self.time, values[:, 0])

    def run(self, rows: int, H: float | str, *, inputs: ArrayLike | None = None, pick: ArrayLike) -> Array:
        """``rows`` communication steps of ``H`` [s]: the outputs at places ``pick`` after each, (n, rows, picked).

        ``inputs`` (n, rows + 1, n_u) has those of each instant, the first of now; they stay as set where None. Raises
        `VariableError` or `StepError` for arguments that cannot be used; what fails in a run is in ``faults``.
        """
        rows, H = whole("rows", rows), seconds("communication step", H)
        places = np.asarray(pick)
        n_y = len(self.ports.output_names)
        if places.size and not (places.dtype.kind in "iu" and places.min() >= 0 and places.max() < n_y):
            raise VariableError(f"pick: places of outputs go from 0 to {n_y - 1}, got {shown(pick)}")
        places = np.ascontiguousarray(places.ravel(), dtype=np.intc)
        table = None
        if inputs is not None:
            table = array_of("inputs", inputs)
            if table.shape != (self._n, rows + 1, len(self.ports.input_names)):
                needed = (self._n, rows + 1, len(self.ports.input_names))
                raise VariableError(f"inputs: values of shape {needed} are needed, got {table.shape}")
        out = np.empty((self._n, rows, places.size))
        at = None if table is None else table.ctypes.data
        rest = (rows, H, self._order, at, places.ctypes.data, places.size, out.ctypes.data)
        handle, call = self._handle, self._functions.batch_run
        self._each(lambda part, begin, end: call(handle, begin, end, part, *rest))
        self._heed()
        alive = next((run for run, fault in enumerate(self._faults) if fault is None), None)
        if alive is not None:
            self._time = ctypes.c_double.from_address(self._functions.plant_clock(self._plants[alive])).value
        return out

    def simulate(
        self,
        until: float | str,
        *,
        every: float | str | None = None,
        sample: float | str | None = None,
        controller: Controller | None = None,
        outputs: Iterable[str] | None = None,
    ) -> BatchRun:
        """Outputs from now, time zero, to ``until`` [s] inclusive, recorded ``every`` [s]; arguments as for `simulate`.

        ``controller``  ``f(t, y) -> {name: values}`` for all runs at once: ``y`` is `BatchOutputs`, values are as
                        ``batch[name] = values`` takes them. Control blocks go in a `BlockBatch`.
        """
        if self.time:
            raise StepError(f"simulate: begins at 0 s, the batch is at {self.time} s; call reset() first")
        until = seconds("until", until)
        every = seconds("every", max(self.internal_step, usual_period(until)) if every is None else every)
        sample = seconds("sample", self.internal_step if sample is None else sample)
        close = resolution(until, every, sample)
        instants = grid("every", every, until, close)
        samples = np.zeros(0) if controller is None else multiples("sample", sample, until, close)
        picked = np.array(selected(self.ports.output_names, outputs, self.ports.hidden_names), dtype=np.intc)
        values = np.full((self._n, len(instants), len(picked)), np.nan)
        values[:, 0] = self.outputs().values[:, picked]
        if controller is None and uniform(instants, close):
            values[:, 1:] = self.run(len(instants) - 1, float(instants[1]), pick=picked)
        else:
            times = merged(close, instants, samples)
            steps = steps_between(times, close, every, sample)
            self._controlled(
                times, steps, marks(times, instants, close), marks(times, samples, close), controller, picked, values
            )
        names = tuple(self.ports.output_names[place] for place in picked)
        return BatchRun(names, instants, values, self.faults, self.ports)

    def _controlled(
        self, times: Array, steps: Array, recorded: NDArray[np.bool_], sampled: NDArray[np.bool_],
        controller: Controller | None, picked: NDArray[np.intc], values: Array,
    ) -> None:  # fmt: skip
        y, row = self.outputs(), 0
        span = self.ports.span("impulses")  # a row has the sum of those since the row before
        impulses = np.flatnonzero((picked >= span.start) & (picked < span.stop))
        latched = np.zeros((self._n, impulses.size))
        for k, begin in enumerate(times[:-1].tolist()):
            if sampled[k] and controller is not None:
                y.time = begin
                given = asked(controller, begin, y) or {}
                judge(self.ports, given, {})
                failed = [fault is not None for fault in self._faults]
                for name, value in given.items():
                    self._set(name, value, failed)
            y = self.step(float(steps[k]))
            latched += y.values[:, picked[impulses]]
            if recorded[k + 1]:
                row += 1
                values[:, row] = y.values[:, picked]
                values[:, row, impulses] = latched
                latched[:] = 0.0

    def _vector(self, name: str, size: int) -> Array:
        """A vector of the core of each run, (n, size)."""
        which, vector = CONSTANTS[f"MBDY_{name}"], self._functions.plant_vector
        rows = ((ctypes.c_double * size).from_address(vector(plant, which) or 0) for plant in self._plants)
        return np.array([np.ctypeslib.as_array(row) for row in rows]) if size else np.empty((self._n, 0))

    def _refresh(self) -> None:
        handle, call = self._handle, self._functions.batch_refresh
        self._each(lambda part, begin, end: call(handle, begin, end))
        self._heed()

    def _each(self, call: Callable[[int, int, int], object]) -> None:
        """``call(k, begin, end)`` for the groups of each thread ``k``."""
        parts = [(k, *part) for k, part in enumerate(self._parts)]
        if self._pool is None:
            call(*parts[0])
        else:
            list(self._pool.map(lambda part: call(*part), parts))

    def _told(self) -> dict[int, str]:
        """The last message of each run; what is warned of is warned of once, and how many runs it is."""
        messages = list(self._messages)
        self._messages.clear()
        told: dict[type[MbdyWarning], list[tuple[int, str]]] = {}
        for run, status, text, topic in messages:
            if status == WARNING:
                told.setdefault(WARNINGS[topic], []).append((run, text))
        for kind, some in told.items():
            run, text = min(some)
            others = len({run for run, _ in some}) - 1
            warnings.warn(f"run {run}{f' and {others} others' if others else ''}: {text}", kind, stacklevel=4)
        return {run: text for run, status, text, _ in messages if status > WARNING}

    def _heed(self) -> None:
        """Take up which runs have failed, and why."""
        last = self._told()
        for run, text in last.items():
            if self._status[run] > OK and self._faults[run] is None:
                kind = FAULTS.get(self._functions.plant_fault(self._plants[run]), VariableError)
                self._faults[run] = kind(text)


def _processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
