"""`Plant`: a system of bodies as a stepping block with typed ports (what MBDY and MRATE were to CSSL III).

A shell over the plant in C: names, units and NumPy views are here, all rules and all words of faults are there.
"""

from __future__ import annotations

import ctypes
import hashlib
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from os import PathLike
from threading import get_ident
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbdy.blocks.errors import StateError, StepError, ThreadError, VariableError
from mbdy.blocks.grids import seconds
from mbdy.blocks.plant.library import CONSTANTS, compiled_plant
from mbdy.blocks.plant.second_opinion import second_opinion
from mbdy.blocks.plant.state_file import StateFile, facts_of, read_state, warn_of_steps, write_state
from mbdy.blocks.plant.table import PlantModel, first_references
from mbdy.blocks.plant.typed import Inputs, OutputLayout, Outputs, inputs
from mbdy.blocks.singular import watch
from mbdy.blocks.strides import Crossing, tolerance_of
from mbdy.blocks.too_fast import FastLoopWarning, FastModeWarning, FastMotionWarning
from mbdy.engine import (
    Dynamics,
    Model,
    ModelWarning,
    Ports,
    RefusalError,
    StartMovedWarning,
    equations_of,
)
from mbdy.engine.assembly.start import open_loop
from mbdy.engine.core.binding import Owned
from mbdy.engine.core.integrators import INTEGRATORS, STEP
from mbdy.engine.files.rules import ruled
from mbdy.engine.model.display import html_table
from mbdy.engine.model.faults import OptionError, shown
from mbdy.engine.model.owners import name_of
from mbdy.engine.model.units import real
from mbdy.engine.model.values import array_of, chosen, values_of, whole
from mbdy.engine.model.whole_file import not_over
from mbdy.engine.verification.formulations import ORDER_N

Array = NDArray[np.float64]
Interpolation = Literal["held", "linear", "quadratic"]
ORDERS = {name: CONSTANTS[f"MBDY_{name.upper()}"] for name in ("held", "linear", "quadratic")}
"""How inputs go over a communication step."""
OK, WARNING = CONSTANTS["PLANT_OK"], CONSTANTS["PLANT_WARNING"]
FAULTS = {CONSTANTS[f"MBDY_{name}"]: fault for name, fault in
          (("FAILED", StateError), ("TORN", StateError), ("BAD_OUTPUT", StateError), ("OPPOSED", StateError),
           ("STUCK", StateError), ("CHATTERS", StateError), ("BAD_STEP", StepError))}  # fmt: skip
"""What a fault is raised as; `VariableError` for all others."""
WARNINGS = {CONSTANTS[f"MBDY_{name}"]: warning for name, warning in
            (("START_MOVED", StartMovedWarning), ("DOUBTFUL", ModelWarning), ("FAST_MOTION", FastMotionWarning),
             ("FAST_MODE", FastModeWarning), ("FAST_LOOP", FastLoopWarning))}  # fmt: skip
"""What is warned of, by its topic."""
Logger = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that a `Plant` is at an instant [s], made by `Plant.save`; for a plant of the same structure."""

    time: float
    interpolation: str
    variables: tuple[str, ...] = field(repr=False)
    dynamics: Dynamics | None
    data: bytes = field(repr=False)


class Plant:
    """A system of bodies that steps: inputs in, rates and attitudes out.

    ``model``        a `Model`, or the path of a model file.
    ``step``         [s] longest internal step, a number or a text with unit (``"1 ms"``, which it is where None). A
                     communication step H is covered by ``ceil(H/step - 1e-9)`` equal internal ones.
    ``integrator``   ``"rk4"``, ``"euler-cromer"`` (semi-implicit, speeds first) or ``"rosenbrock"`` (linearly implicit,
                     order 4, L-stable: for springs, modes and stops much faster than the step); or ``"dopri5"``, which
                     chooses its steps by ``tolerance``, none longer than ``step`` where that is given.
    ``tolerance``    of such an integrator: the error of a step in each state, relative to the state's size and its
                     nominal size together; 1e-9 where None.
    ``interpolation`` ``"held"``: inputs stay over a communication step; ``"linear"``: they go on a line from their
                     values at its begin to the values set now, which are those of its end (`jump` for a jump);
                     ``"quadratic"``: on the parabola through their values at its begin, those of `middle` and those
                     set now.
    ``dynamics``     `Linear` or `PartlyLinear` equations of the same variables; the full ones where None.
    ``formulation``  whose equations are stepped: ``"order-n"``, or one of the independent ones in NumPy (``"kane"``,
                     ``"jpl"``, ``"huston"``; for loops and flexible bodies ``"lagrange"``, ``"kamman"``, ``"penrose"``)
                     for second opinions, much slower. Outputs and latches are always Order-N's.

    ``plant.crossings`` are the laws that switched in the last step or run of an integrator that chooses its steps, each
    `Crossing` located to 1e-9 s where the tolerance allows.

    Inputs, parameters and start values are set by name, ``plant["panel.joint.torque"] = 0.2`` (SI, or a text with
    unit), inputs also through ``plant.inputs`` (views, no copies). ``step`` returns `Outputs`. Loops are closed at the
    start: start values that the file gives or that were set stay, the others are found; given ones that contradict the
    loops are moved and told, with `StartMovedWarning`. What the integrator does not follow in its steps, at the start
    and after parameters were set, is warned of by the name of what makes it so fast, with a
    `mbdy.blocks.FastMotionWarning`.
    Raises ValueError for a bad step, integrator or formulation, or one that does not cover the model; `ModelError` for
    a bad file; `CompilerError` without a C compiler.
    """

    def __init__(
        self,
        model: Model | str | PathLike[str],
        *,
        step: float | str | None = None,
        integrator: str = "rk4",
        tolerance: float | None = None,
        interpolation: Interpolation = "held",
        formulation: str = ORDER_N,
        dynamics: Dynamics | None = None,
    ) -> None:
        self.model = ruled(model)
        self.integrator = chosen("integrator", integrator, INTEGRATORS)
        self.adaptive = INTEGRATORS[integrator].adaptive
        usual = math.inf if self.adaptive else STEP
        self.internal_step = usual if step is None else seconds("step", step)
        self.tolerance = tolerance_of(integrator, tolerance)
        self.interpolation = chosen("interpolation", interpolation, ORDERS)
        self.formulation = formulation
        self.dynamics = dynamics
        equations = equations_of(self.model, dynamics)
        self.ports: Ports = equations.ports
        self._opinion = second_opinion(self.model, equations, formulation, integrator, dynamics)
        implicit = INTEGRATORS[integrator].implicit
        self.compiled = compiled_plant(equations, implicit=implicit, located=self.adaptive)
        switching = equations.switching if self.adaptive else None
        flows = [v for v in self.ports.inputs if v.port == "flows" for _ in range(v.size)] if self.adaptive else []
        self._switches = (*switching.names, *switching.holds) if switching else ()
        self._switches += tuple(name_of(v.owner, "empty") for v in flows)
        self.crossings: tuple[Crossing, ...] = ()
        self._order = ORDERS[interpolation]
        self._make()
        self._layout = OutputLayout(self.ports)
        self.inputs: Inputs = inputs(self.ports, self._u_end if self._order else self._u)
        self._watch, self._axes_set = watch(self.model, self.ports), False
        try:
            self.reset()
        except VariableError as fault:
            if self._functions.plant_fault(self._handle) == CONSTANTS["MBDY_UNCLOSED"]:
                raise open_loop(self.model, str(fault)) from None
            raise

    def _make(self) -> None:
        """The plant in C and views of its vectors."""
        functions = self._functions = self.compiled.functions
        self._messages = messages = []
        self._logger = Logger(
            lambda _, status, category, text: messages.append((status, text.decode(errors="replace"), self._topic()))
        )
        self._own = PlantModel(
            self.compiled, self.model.standing, token=self._token, step=self.internal_step, integrator=self.integrator
        )
        manner = CONSTANTS["PLANT_REFUSES"] | (CONSTANTS["PLANT_AHEAD"] if self._order else 0)
        opinion = self._opinion.address if self._opinion else None
        handle = functions.plant_new(
            functions.mbdy_this(), ctypes.addressof(self._own), opinion, manner, self._logger, None
        )
        self._memory = Owned(handle, functions.plant_free)
        if self.tolerance is not None:
            functions.plant_tolerate(handle, self.tolerance)
        self._thread: int | None = get_ident()
        self._s, self._x, self._u, self._u_mid, self._u_end, self._p, self._y = (
            self._vector(which, len(names))
            for which, names in (
                ("S", self.ports.state_names), ("X", self.ports.state_names), ("U", self.ports.input_names),
                ("U_MID", self.ports.input_names), ("U_END", self.ports.input_names),
                ("P", self.ports.parameter_names), ("Y", self.ports.output_names),
            )
        )  # fmt: skip
        self._clock = self._memory.doubles(functions.plant_clock(handle), 1)
        self._first = first_references(self.ports)
        self._advance = functions.plant_advance

    @property
    def _handle(self) -> int | None:
        """The plant in C, for the thread that made it: calls from two at once would meet inside."""
        if get_ident() != self._thread:
            if self._thread is None:
                raise ThreadError(f"the plant of {self.model.name!r} is in use by a rig: wait until its run has ended")
            raise ThreadError(
                f"the plant of {self.model.name!r} was made in thread {self._thread} and is called in {get_ident()}: "
                "use it where it was made, or make one for each thread"
            )
        return self._memory.handle

    def _lend(self) -> Callable[[], None]:
        """Lent to another thread: all other calls are refused until what this returns is called."""
        assert self._handle
        owner, self._thread = self._thread, None
        return lambda: setattr(self, "_thread", owner)

    def _vector(self, name: str, size: int) -> Array:
        address = self._functions.plant_vector(self._handle, CONSTANTS[f"MBDY_{name}"])
        return np.ctypeslib.as_array(self._memory.doubles(address, size))

    @property
    def time(self) -> float:
        """[s] since the start; sums of steps are compensated, so a million of 1 ms are 1000 s."""
        return self._clock[0]

    def _crossed(self, begin: float) -> tuple[Crossing, ...]:
        """Those of the last call, which went on from ``begin`` [s]."""
        count = ctypes.c_int(0)
        address = self._functions.plant_events(self._handle, ctypes.byref(count))
        numbers = [*self._memory.doubles(address, 3 * count.value)] if count.value else []
        threes = zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True)
        return tuple(Crossing(begin + at, self._switches[int(row)], sense > 0) for at, row, sense in threes)

    @property
    def strides(self) -> tuple[int, int]:
        """How many steps an integrator that chooses them has taken since the start, accepted and rejected."""
        accepted, rejected, _ = self._strides()
        return int(accepted), int(rejected)

    @property
    def next_step(self) -> float:
        """[s] How far a step may go from here so that it likely is one internal step."""
        return min(self.internal_step, self._strides()[2] or STEP)

    def _strides(self) -> tuple[float, float, float]:
        counts = (ctypes.c_double * 3)()
        self._functions.plant_strides(self._handle, counts)
        return counts[0], counts[1], counts[2]

    @property
    def middle(self) -> Inputs:
        """Quadratic inputs: their values at the middle of the next step, to be set beside those of its end.

        Switches in it do nothing. After a step it has the inputs of the step's end. Raises ValueError for a plant
        whose inputs are held or linear.
        """
        if self.interpolation != "quadratic":
            raise OptionError(f'{self.interpolation} inputs have no middle; it takes interpolation="quadratic"')
        return inputs(self.ports, self._u_mid)

    @property
    def state(self) -> Array:
        """The states x (n_x), a copy, in the order of `state_names`; what is set goes on from there at once.

        Raises `VariableError` for another shape, or a number that is not finite.
        """
        self._settle()
        return self._x.copy()

    @state.setter
    def state(self, x: ArrayLike) -> None:
        self._settle()
        states = self._checked(x, self._x, "states")
        self._heed(self._functions.plant_set_states(self._handle, states.ctypes.data, states.size))

    @property
    def state_names(self) -> tuple[str, ...]:
        return self.ports.state_names

    @property
    def input_names(self) -> tuple[str, ...]:
        return self.ports.input_names

    @property
    def output_names(self) -> tuple[str, ...]:
        return self.ports.output_names

    @property
    def parameter_names(self) -> tuple[str, ...]:
        return self.ports.parameter_names

    def reset(self) -> None:
        """Back to time zero, and to the start values and inputs of the file; parameters stay as they were set."""
        self._functions.plant_rewind(self._handle)
        if self._watch is not None:
            self._watch.forget()
        self._settle()

    def __getitem__(self, name: str) -> Any:
        """Value of any input, parameter or output now; an array for several elements."""
        variable, part = self.ports.find(name)
        if variable.causality == "output":
            return self.outputs()[name]
        vector = self._p if variable.causality == "parameter" else self.inputs.values
        values = vector[variable.offset + part.start : variable.offset + part.stop]
        return float(values[0]) if part.stop - part.start == 1 else values.copy()

    def __repr__(self) -> str:
        return f"<Plant {self.model.name!r}, {len(self._x)} states, at {self.time} s>"

    def _repr_html_(self) -> str:
        rows = [(name, f"{value:.9g}") for name, value in zip(self.state_names, self.state.tolist(), strict=True)]
        return html_table(f"{self!r}".strip("<>"), ("state", "value"), rows)

    def __reduce__(self) -> tuple[object, ...]:
        """Copies and pickles are plants of their own, at the same instant."""
        step = None if math.isinf(self.internal_step) else self.internal_step
        options = {"step": step, "integrator": self.integrator, "tolerance": self.tolerance}
        options |= {"interpolation": self.interpolation, "formulation": self.formulation, "dynamics": self.dynamics}
        return _restored, (type(self), self.model, options, self.save())

    def __setitem__(self, name: str, value: object) -> None:
        """Set an input, a parameter, or (before the first step) a start value; see `VariableError`.

        Numbers of any type, SI or a text with unit, in any row of them; one for all degrees of freedom of a joint;
        three moments or three rows of an inertia.
        """
        variable, part = self.ports.find(name, starts=True)
        try:
            values = values_of(name, variable, part, value)
        except RefusalError as refusal:
            raise VariableError(f"{refusal}; nothing was changed") from None
        first = self._first[variable.name] + part.start
        refs = (ctypes.c_uint * len(values))(*range(first, first + len(values)))
        numbers = (ctypes.c_double * len(values))(*values)
        status = self._functions.plant_set(self._handle, refs, len(values), numbers, len(values), int(variable.boolean))
        self._heed(status)
        if self._watch is not None and variable.causality != "input":
            self._axes_set = True
            if not self.time:
                self._watch.forget()

    def step(self, H: float | str) -> Outputs:
        """Advance by the communication step ``H`` [s], a number or a text with unit; outputs are those of its end.

        Raises `VariableError` for an input that is not finite, `StepError` for a bad H, `StateError` where the
        equations fail; the plant is then as before.
        """
        if self._watch is not None and (self._watch.fresh or self._axes_set):
            self._look()
        if type(H) is not float:
            H = seconds("communication step", H)
        begin = self._clock[0]
        status = self._advance(self._handle, H, self._order)
        if self._switches:
            self.crossings = self._crossed(begin)
        if status or self._messages:
            self._heed(status)
        if self._watch is not None:
            self._watch.look(self.time, self._x)
        return Outputs(self._layout, self._clock[0], self._y.copy())

    def run(
        self, rows: int, H: float, *, inputs: Array | None = None, pick: ArrayLike
    ) -> tuple[Array, Exception | None]:
        """``rows`` communication steps of ``H`` [s] in one call of the core.

        ``inputs`` (rows + 1, n_u) has the inputs of each instant, the first of now; they stay as set where None.
        Returns the outputs at places ``pick`` after each step (steps done, n) with the inputs of that instant, and
        the fault that ended the run early, if any. Raises ValueError for a plant with quadratic inputs.
        """
        if self.interpolation == "quadratic":
            raise OptionError("run: goes with held or linear inputs; call step for each communication step instead")
        rows, H = whole("rows", rows), seconds("communication step", H)
        given = np.asarray(pick)
        if given.size and not (given.dtype.kind in "iu" and given.min() >= 0 and given.max() < len(self._y)):
            raise VariableError(f"pick: places of outputs go from 0 to {len(self._y) - 1}, got {shown(pick)}")
        self._settle()
        places = np.ascontiguousarray(given.ravel(), dtype=np.intc)
        wanted = places.size
        if self._watch is not None and self._watch.blind and rows > 1:
            return self._run_watched(rows, H, inputs, places)
        if self._watch is not None:
            places = np.concatenate([places, self._watch.picks], dtype=np.intc)
            if self._watch.fresh or self._axes_set:
                self._look()
        out = np.empty((rows, places.size))
        table = None
        if inputs is not None:
            table = self._checked(inputs, np.empty((rows + 1, len(self._u))), "inputs")
        done, begin, status, self.crossings = 0, self.time, OK, ()
        while done < rows and status == OK:  # more than once where a call has had strides enough
            part = ctypes.c_int(0)
            status = self._functions.plant_run(
                self._handle, rows - done, H, self._order, None if table is None else table[done:].ctypes.data,
                places.ctypes.data, places.size, out[done:].ctypes.data, ctypes.byref(part),
            )  # fmt: skip
            if self._switches:
                self.crossings += self._crossed(begin + done * H)
            done += part.value
        if done and self._watch is not None and self._watch.blind:
            self._watch.look(self.time, self._x)
        elif done and self._watch is not None:
            times = begin + H * np.arange(1, done + 1, dtype=np.float64)
            self._watch.rows(times, out[:done, wanted:])
        fault = None
        try:
            self._heed(status)
        except (VariableError, StepError, StateError) as raised:
            fault = raised
        return out[:done, :wanted], fault

    def _run_watched(
        self, rows: int, H: float, inputs: Array | None, pick: NDArray[np.intc]
    ) -> tuple[Array, Exception | None]:
        """`run` row by row, for a watch that sees angles in the state alone."""
        out, crossings = np.empty((rows, pick.size)), ()
        for row in range(rows):
            outputs, fault = self.run(1, H, inputs=None if inputs is None else inputs[row : row + 2], pick=pick)
            crossings = self.crossings = crossings + self.crossings
            if fault:
                return out[:row], fault
            out[row] = outputs[0]
        return out, None

    def jump(self) -> None:
        """With linear or quadratic inputs: let them take the values set now at this instant, without a way to them."""
        if self._order:
            self._functions.plant_jump(self._handle)

    def derivatives(self, t: float, x: ArrayLike, u: ArrayLike | None = None) -> Array:
        """``x'`` (n_x) at time ``t`` [s] (which profiles of joints follow alone), states ``x`` (n_x) and inputs
        ``u`` (n_u; those set now where None): the dynamic entry that MRATE was to CSSL III. Changes nothing.

        Friction that sticks holds what is at rest in ``x`` and needs no more than it has, and acts against all else.
        """
        time, dx = self._instant(t), np.empty(len(self._x))
        states, given = self._checked(x, self._x, "states"), self._given(u)
        evaluate = self._functions.plant_derivatives_at
        self._heed(evaluate(self._handle, time, states.ctypes.data, given.ctypes.data, dx.ctypes.data))
        return dx

    def outputs(self, t: float | None = None, x: ArrayLike | None = None, u: ArrayLike | None = None) -> Outputs:
        """Outputs at time ``t`` [s], states ``x`` and inputs ``u`` (those of now where None). Changes nothing.

        Raises `VariableError` for values that cannot be used, `StateError` where an output is not finite.
        """
        time, y = self.time if t is None else self._instant(t), np.empty(len(self._y))
        states = None if x is None else self._checked(x, self._x, "states")
        given = self._given(u)
        at = None if states is None else states.ctypes.data
        self._heed(self._functions.plant_outputs_at(self._handle, time, at, given.ctypes.data, y.ctypes.data))
        return Outputs(self._layout, time, y)

    def save(self) -> Snapshot:
        """Everything the plant is now, to come back to with `restore`."""
        self._settle()
        data = ctypes.create_string_buffer(self._functions.plant_state_size(self._handle))
        self._heed(self._functions.plant_save(self._handle, data, len(data)))
        return Snapshot(self.time, self.interpolation, self._variables, self.dynamics, data.raw)

    def restore(self, snapshot: Snapshot) -> None:
        """Back to a saved instant; the same steps give the same bits again."""
        if not isinstance(snapshot, Snapshot):
            raise VariableError(f"snapshot: what save() gave is needed, got {shown(snapshot)}")
        if snapshot.variables != self._variables:
            raise VariableError("the snapshot is of a system with other variables; restore it in a plant of its model")
        if snapshot.interpolation != self.interpolation:
            raise VariableError(
                f"the snapshot is of a plant with {snapshot.interpolation} inputs, this has {self.interpolation} ones"
            )
        if snapshot.dynamics != self.dynamics:
            raise VariableError(
                f"the snapshot is of a plant with dynamics {snapshot.dynamics}, this has {self.dynamics}: its state is "
                "another's; set start values instead"
            )
        self._put(snapshot.data)

    def save_state(self, path: str | PathLike[str], *, every: float | None = None) -> None:
        """Write everything the plant is now to a file, to come back to with `restore_state`, in another process too.

        States, parameters, start values, inputs, time, latches and the sum of work; beside them, for whoever goes on,
        step, integrator, formulation and ``every``, the period of the run's rows [s].
        Raises `RefusalError` for a file that the model was read from.
        """
        not_over(path, (source.place for source in self.model.files))
        alike = facts_of(self.model, interpolation=self.interpolation, dynamics=self.dynamics)
        facts = {"name": self.model.name, "time": self.time, **alike, **self._steps, "every": every}
        write_state(path, StateFile(facts, self.save().data))

    def restore_state(self, path: str | PathLike[str]) -> None:
        """Back to what `save_state` wrote, of a plant of the same model; the same steps give the same bits again.

        Step, integrator and formulation stay the plant's; where they are others, a `ResumedWarning` tells.
        Raises `VariableError` for a file that is damaged, holds no state, or one of another model or sort of inputs;
        the plant is then as before.
        """
        alike = facts_of(self.model, interpolation=self.interpolation, dynamics=self.dynamics)
        state = read_state(path, alike)
        try:
            self._put(state.data)
        except VariableError as fault:
            raise VariableError(f"{path}: {fault}") from None
        warn_of_steps(path, state.facts, self._steps, stacklevel=2)

    def _put(self, data: bytes) -> None:
        """Take up a state that the plant in C saved."""
        self._heed(self._functions.plant_restore(self._handle, data, len(data)))
        if self._watch is not None:
            self._watch.forget()

    @property
    def _steps(self) -> dict[str, Any]:
        """How it steps, of which its states know nothing."""
        step = None if math.isinf(self.internal_step) else self.internal_step
        known = {"step": step, "integrator": self.integrator, "formulation": self.formulation}
        return known | ({"tolerance": self.tolerance} if self.adaptive else {})

    @property
    def _variables(self) -> tuple[str, ...]:
        return self.ports.state_names + self.ports.input_names + self.ports.parameter_names

    @property
    def _token(self) -> str:
        """What the plant in C tells its saved states by."""
        return hashlib.sha256(repr((self._variables, self.interpolation)).encode()).hexdigest()[:40]

    def _settle(self) -> None:
        """Constants, and before the first step the state, follow what was set."""
        self._heed(self._functions.plant_settle_constants(self._handle))

    def _topic(self) -> int:
        return self._functions.plant_topic(self._handle)

    def _heed(self, status: int, stacklevel: int = 3) -> None:
        """Raise what a status means; warn of what the plant in C warned of."""
        if self._opinion is not None and self._opinion.fault is not None:
            fault, self._opinion.fault = self._opinion.fault, None
            self._messages.clear()
            raise fault
        messages = list(self._messages)
        self._messages.clear()
        for level, text, topic in messages:
            if level == WARNING:
                warnings.warn(text, WARNINGS[topic], stacklevel=stacklevel)
        if status > WARNING:
            raise FAULTS.get(self._functions.plant_fault(self._handle), VariableError)(messages[-1][1])

    def _look(self) -> None:
        """Have the watch look at where the plant starts from."""
        self._settle()
        assert self._watch is not None
        self._watch.parameters(self._p)
        self._axes_set = False
        self._watch.look(self.time, self._x)

    def _given(self, u: ArrayLike | None) -> Array:
        return self.inputs.values if u is None else self._checked(u, self._u, "inputs")

    @staticmethod
    def _instant(t: object) -> float:
        time = real(t)
        if time is None:
            raise VariableError(f"time: must be a number of seconds, got {shown(t)}; states and inputs follow it")
        return time

    @staticmethod
    def _checked(values: ArrayLike, like: Array, what: str) -> Array:
        try:
            array = array_of(what, values)
        except RefusalError as refusal:
            raise VariableError(str(refusal)) from None
        if array.shape != like.shape:
            raise VariableError(f"{what}: values of shape {like.shape} are needed, got {array.shape}")
        return array


def _restored(kind: type[Plant], model: Model, options: dict[str, Any], snapshot: Snapshot) -> Plant:
    plant = kind.__new__(kind)
    Plant.__init__(plant, model, **options)
    plant.restore(snapshot)
    return plant
