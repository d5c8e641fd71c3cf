"""`Plant`: a system of bodies as a stepping block with typed ports (what MBDY and MRATE were to CSSL III)."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbdy.blocks.errors import StepError, VariableError
from mbdy.blocks.faults import Faults
from mbdy.blocks.grids import positive
from mbdy.blocks.set_starts import closed_starts, tell_of_moves
from mbdy.blocks.singular import watch
from mbdy.blocks.too_fast import tell_of_what_is_too_fast
from mbdy.blocks.typed import Inputs, OutputLayout, Outputs, inputs
from mbdy.engine import Compiled, Model, Ports, Variable, compiled, keep_rules, load
from mbdy.engine.core.binding import (
    IMPLICIT,
    INTEGRATORS,
    OK,
    ORDERS,
)
from mbdy.engine.linear.choice import Dynamics
from mbdy.engine.model.units import quantity
from mbdy.engine.verification.formulations import ORDER_N

Array = NDArray[np.float64]
Interpolation = Literal["held", "linear", "quadratic"]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that a `Plant` is at an instant, made by `Plant.save`; for a plant of the same structure."""

    time: float
    lost: float
    begun: bool
    interpolation: str
    variables: tuple[str, ...]
    dynamics: Dynamics | None
    vectors: tuple[Array, ...]


class Plant:
    """A system of bodies that steps: inputs in, rates and attitudes out.

    ``model``        a `Model`, or the path of a model file.
    ``step``         [s] longest internal step, a number or a text with unit (``"1 ms"``). A communication step H is
                     covered by ``ceil(H/step - 1e-9)`` equal internal ones.
    ``integrator``   ``"rk4"``, ``"euler-cromer"`` (semi-implicit, speeds first) or ``"rosenbrock"`` (linearly implicit,
                     order 4, L-stable: for springs, modes and stops much faster than the step).
    ``interpolation`` ``"held"``: inputs stay over a communication step; ``"linear"``: they go on a line from their
                     values at its begin to the values set now, which are those of its end (`jump` for a jump);
                     ``"quadratic"``: on the parabola through their values at its begin, those of `middle` and those
                     set now.
    ``virtual``      run in CasADi's virtual machine though a compiler exists.
    ``dynamics``     `Linear` or `PartlyLinear` equations of the same variables; the full ones where None.
    ``formulation``  whose equations are stepped: ``"order-n"``, or ``"kane"``, ``"jpl"`` or ``"huston"``, independent
                     ones in NumPy for second opinions, much slower. Outputs and latches are always Order-N's.

    Inputs, parameters and start values are set by name, ``plant["panel.joint.torque"] = 0.2`` (SI, or a text with
    unit), inputs also through ``plant.inputs`` (views, no copies). ``step`` returns `Outputs`. A mode of a flexible
    body that the integrator does not follow in its steps is warned of, with `mbdy.blocks.FastModeWarning`.
    Raises ValueError for a bad step, integrator or formulation, or one that does not cover the model; `ModelError` for
    a bad file.
    """

    def __init__(
        self,
        model: Model | str | PathLike[str],
        *,
        step: float | str = 1e-3,
        integrator: str = "rk4",
        interpolation: Interpolation = "held",
        virtual: bool = False,
        formulation: str = ORDER_N,
        dynamics: Dynamics | None = None,
    ) -> None:
        self.model = model if isinstance(model, Model) else load(model)
        keep_rules(self.model)
        self.internal_step = _seconds(step, "step")
        self.integrator = _chosen(integrator, INTEGRATORS, "integrator")
        tell_of_what_is_too_fast(self.model, self.internal_step, self.integrator)
        self.interpolation = _chosen(interpolation, ORDERS, "interpolation")
        self.formulation = formulation
        self.dynamics = dynamics
        self.compiled: Compiled = compiled(
            self.model, virtual=virtual, formulation=formulation, dynamics=dynamics, implicit=integrator in IMPLICIT
        )
        self.ports: Ports = self.compiled.equations.ports
        core = self._core = self.compiled.core()
        self._s, self._x, self._u, self._u_mid, self._u_end, self._p, self._y = map(
            _array, (core.s, core.x, core.u, core.u_mid, core.u_end, core.p, core.y)
        )
        self._kept = (
            self._s, self._x, self._u, self._u_mid, self._u_end, self._p, _array(core.impulses),
        )  # fmt: skip
        self._order = ORDERS[interpolation]
        self._integrator_code = INTEGRATORS[integrator]
        self._layout = OutputLayout(self.ports)
        self.inputs: Inputs = inputs(self.ports, self._u_end if self._order else self._u)
        self._watch = watch(self.model, self.ports)
        self._faults = Faults(
            self.compiled.equations, core, self.inputs.values, self._u_mid, self._s, self._p, self.internal_step
        )
        self._time = self._lost = 0.0
        self._begun = False
        self._stale = True
        self._p[:] = self.ports.vector("parameter")
        self._s[:] = self.ports.start
        self._unset = self._s.copy()
        self._set: set[int] = set()
        self.reset()

    @property
    def time(self) -> float:
        """[s] since the start; sums of steps are compensated, so a million of 1 ms are 1000 s."""
        return self._time

    @property
    def middle(self) -> Inputs:
        """Quadratic inputs: their values at the middle of the next step, to be set beside those of its end.

        Switches in it do nothing. After a step it has the inputs of the step's end. Raises ValueError for a plant
        whose inputs are held or linear.
        """
        if self.interpolation != "quadratic":
            raise ValueError(f'{self.interpolation} inputs have no middle; it takes interpolation="quadratic"')
        return inputs(self.ports, self._u_mid)

    @property
    def state(self) -> Array:
        """The states x (n_x), a copy, in the order of `state_names`."""
        self._refresh()
        return self._x.copy()

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
        """Back to time zero, the start values and the inputs of the file; parameters and set starts stay."""
        self._time = self._lost = 0.0
        self._begun = False
        self._u[:] = self._u_mid[:] = self._u_end[:] = self.ports.vector("input")
        self._stale = True
        self._refresh()

    def __getitem__(self, name: str) -> Array | float:
        """Value of any input, parameter or output now; an array for several elements."""
        variable, part = self.ports.find(name)
        if variable.causality == "output":
            return self.outputs()[name]
        values = self._vector(variable)[variable.offset + part.start : variable.offset + part.stop]
        return float(values[0]) if part.stop - part.start == 1 else values.copy()

    def __repr__(self) -> str:
        return f"<Plant {self.model.name!r}, {len(self._x)} states, at {self._time} s>"

    def __reduce__(self) -> tuple[object, ...]:
        """Copies and pickles are plants of their own, at the same instant."""
        made = (self.model, self.internal_step, self.integrator, self.interpolation, self.compiled.library is None)
        return _restored, (type(self), *made, self.formulation, self.dynamics, self.save())

    def __setitem__(self, name: str, value: float | str | bool | Sequence[float | str] | Array) -> None:
        """Set an input, a parameter, or (before the first step) a start value; see `VariableError`."""
        variable, part = self.ports.find(name, starts=True)
        values = _values(name, variable, part, value)
        if variable.causality == "output":
            self._set_start(name, variable, part, values)
            return
        begin = variable.offset + part.start
        self._vector(variable)[begin : begin + len(values)] = values
        self._stale |= variable.causality == "parameter"
        if variable.port == "switches" and not self._begun and self.model.loops:
            self._u[begin : begin + len(values)] = values
            self._stale = True  # loops that are closed before the first step are closed from the start

    def step(self, H: float) -> Outputs:
        """Advance by the communication step ``H`` [s]; outputs are those of its end.

        Raises `VariableError` for an input that is not finite, `StepError` for a bad H, `StateError` where the
        equations fail; the plant is then as before.
        """
        if self._stale:
            self._refresh()
        if self._watch is not None and self._watch.fresh:
            self._watch.look(self._time, self._x)
        try:
            status = self._core.step(H, self.internal_step, self._integrator_code, self._order)
        except (TypeError, ctypes.ArgumentError):
            raise StepError(f"communication step: must be a number of seconds, got {H!r}") from None
        if status != OK:
            raise self._faults.error(status, self._time, H)
        self._begun = True
        self._advance(H)
        if self._watch is not None:
            self._watch.look(self._time, self._x)
        return Outputs(self._layout, self._time, self._y.copy())

    def run(
        self, rows: int, H: float, *, inputs: Array | None = None, pick: ArrayLike
    ) -> tuple[Array, Exception | None]:
        """``rows`` communication steps of ``H`` [s] in one call of the core.

        ``inputs`` (rows + 1, n_u) has the inputs of each instant, the first of now; they stay as set where None.
        Returns the outputs at places ``pick`` after each step (steps done, n) with the inputs of that instant, and
        the fault that ended the run early, if any. Raises ValueError for a plant with quadratic inputs.
        """
        if self.interpolation == "quadratic":
            raise ValueError("run: goes with held or linear inputs; call step for each communication step instead")
        self._refresh()
        places = np.ascontiguousarray(pick, dtype=np.intc)
        if places.size and not (places.min() >= 0 and places.max() < len(self._y)):
            raise VariableError(f"pick: places of outputs go from 0 to {len(self._y) - 1}, got {list(places)}")
        wanted = places.size
        if self._watch is not None and self._watch.blind and rows > 1:
            return self._run_watched(rows, H, inputs, places)
        if self._watch is not None:
            places = np.concatenate([places, self._watch.picks], dtype=np.intc)
            if self._watch.fresh:
                self._watch.look(self._time, self._x)
        out = np.empty((rows, places.size))
        table = None
        if inputs is not None:
            table = self._checked(inputs, np.empty((rows + 1, len(self._u))), "inputs")
        status, done = self._core.run(
            rows, H, self.internal_step, self._integrator_code, self._order,
            None if table is None else table.ctypes.data, places.ctypes.data, places.size, out.ctypes.data,
        )  # fmt: skip
        if done:
            self._begun = True
            begin = self._time
            self._advance(done * H)
            if self._watch is not None and self._watch.blind:
                self._watch.look(self._time, self._x)
            elif self._watch is not None:
                self._watch.rows(begin + H * np.arange(1, done + 1, dtype=np.float64), out[:done, wanted:])
        return out[:done, :wanted], None if status == OK else self._faults.error(status, self._time, H)

    def _run_watched(
        self, rows: int, H: float, inputs: Array | None, pick: NDArray[np.intc]
    ) -> tuple[Array, Exception | None]:
        """`run` row by row, for a watch that sees angles in the state alone."""
        out = np.empty((rows, pick.size))
        for row in range(rows):
            found, fault = self.run(1, H, inputs=None if inputs is None else inputs[row : row + 2], pick=pick)
            if fault:
                return out[:row], fault
            out[row] = found[0]
        return out, None

    def jump(self) -> None:
        """With linear or quadratic inputs: let them take the values set now at this instant, without a way to them."""
        if self._order:
            self._u[:] = self._u_mid[:] = self._u_end

    def derivatives(self, t: float, x: ArrayLike, u: ArrayLike | None = None) -> Array:
        """``x'`` (n_x) at time ``t`` [s] (the equations have no time of their own), states ``x`` (n_x) and inputs
        ``u`` (n_u; those set now where None): the dynamic entry that MRATE was to CSSL III. Changes nothing."""
        self._refresh()
        dx = np.empty(len(self._x))
        states, given = self._checked(x, self._x, "states"), self._given(u)
        self._core.derivatives(states.ctypes.data, given.ctypes.data, dx.ctypes.data)
        return dx

    def outputs(self, t: float | None = None, x: ArrayLike | None = None, u: ArrayLike | None = None) -> Outputs:
        """Outputs at time ``t`` [s], states ``x`` and inputs ``u`` (those of now where None). Changes nothing."""
        if t is not None and not isinstance(t, int | float | np.number):
            raise VariableError(
                f"time: must be a number of seconds, got {type(t).__name__}; states and inputs follow it"
            )
        self._refresh()
        y = np.empty(len(self._y))
        states = None if x is None else self._checked(x, self._x, "states")
        given = self._given(u)
        if not np.isfinite(given).all():
            raise self._faults.bad_input(int(np.flatnonzero(~np.isfinite(given))[0]), given)
        orbit = self.ports.orbit_position
        if orbit and not np.any(given[orbit]):
            raise self._faults.bad_input(orbit.start, given)
        self._core.outputs(None if states is None else states.ctypes.data, given.ctypes.data, y.ctypes.data)
        return Outputs(self._layout, self._time if t is None else t, y)

    def save(self) -> Snapshot:
        """Everything the plant is now, to come back to with `restore`."""
        self._refresh()
        vectors = tuple(v.copy() for v in self._kept)
        return Snapshot(
            self._time, self._lost, self._begun, self.interpolation, self._signature, self.dynamics, vectors
        )

    def restore(self, snapshot: Snapshot) -> None:
        """Back to a saved instant; the same steps give the same bits again."""
        if snapshot.variables != self._signature:
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
        self._time, self._lost, self._begun = snapshot.time, snapshot.lost, snapshot.begun
        for vector, saved in zip(self._kept, snapshot.vectors, strict=True):
            vector[:] = saved
        self._unset, self._set = self._s.copy(), set()
        self._prepare()
        if self._watch is not None:
            self._watch.forget()
        self._stale = False

    @property
    def _signature(self) -> tuple[str, ...]:
        return self.ports.state_names + self.ports.input_names + self.ports.parameter_names

    def _advance(self, H: float) -> None:
        """Kahan's sum: a million steps of 1 ms end at 1000 s."""
        carried = H - self._lost
        later = self._time + carried
        self._lost = (later - self._time) - carried
        self._time = later

    def _refresh(self) -> None:
        """Take over parameters and start values set since the last step."""
        if not self._stale:
            return
        self._prepare()
        if not self._begun:
            self._start()
        if self._watch is not None and not self._begun:
            self._watch.forget()
        self._stale = False

    def _start(self) -> None:
        closing = self._set and self.model.loops and self.dynamics is None
        if closing:
            places = list(self._set)
            given = self._unset.copy()
            given[places] = self._s[places]
            self._s[:] = closed_starts(self.model, self.ports, given, self._u, self._set)
        if (status := self._core.start()) != OK:
            raise self._faults.error(status, self._time)
        if closing:
            y = np.empty(len(self._y))
            self._core.outputs(None, self.inputs.values.ctypes.data, y.ctypes.data)
            tell_of_moves(self.ports, self._s, self._x, y, self._set)

    def _prepare(self) -> None:
        if (status := self._core.prepare()) != OK:
            raise self._faults.error(status, self._time)
        if self._watch is not None:
            self._watch.parameters(self._p)

    def _set_start(self, name: str, variable: Variable, part: slice, values: list[float]) -> None:
        if variable.start_at is None:
            raise VariableError(f"{name!r} is an output that has no start value; it cannot be set")
        if self._begun:
            raise VariableError(f"start value {name!r}: set it before the first step, or call reset() first")
        begin = variable.start_at + part.start
        self._s[begin : begin + len(values)] = values
        self._set.update(range(begin, begin + len(values)))
        self._stale = True

    def _vector(self, variable: Variable) -> Array:
        return self._p if variable.causality == "parameter" else self.inputs.values

    def _given(self, u: ArrayLike | None) -> Array:
        return self.inputs.values if u is None else self._checked(u, self._u, "inputs")

    @staticmethod
    def _checked(values: ArrayLike, like: Array, what: str) -> Array:
        given = np.asarray(values)
        if given.dtype.kind not in "fiub" or isinstance(values, np.ma.MaskedArray):
            raise VariableError(f"{what}: real numbers are needed, got {given.dtype}")
        array = np.ascontiguousarray(given, dtype=np.float64)
        if array.shape != like.shape:
            raise VariableError(f"{what}: values of shape {like.shape} are needed, got {array.shape}")
        return array


def _restored(
    kind: type[Plant], model: Model, step: float, integrator: str, interpolation: Interpolation, virtual: bool,
    formulation: str, dynamics: Dynamics | None, snapshot: Snapshot,
) -> Plant:  # fmt: skip
    plant = kind.__new__(kind)
    Plant.__init__(
        plant,
        model,
        step=step,
        integrator=integrator,
        interpolation=interpolation,
        virtual=virtual,
        formulation=formulation,
        dynamics=dynamics,
    )
    plant.restore(snapshot)
    return plant


def _array(vector: ctypes.Array[ctypes.c_double] | Array) -> Array:
    """A NumPy view of a core's vector, which keeps the core's memory alive."""
    return vector if isinstance(vector, np.ndarray) else np.ctypeslib.as_array(vector)


def _seconds(value: float | str, what: str) -> float:
    return positive(what, quantity(value, "s") if isinstance(value, str) else value)


def _chosen(value: str, known, what: str) -> str:
    if value not in known:
        raise ValueError(f"{what}: {value!r} is unknown; choose one of {', '.join(known)}")
    return value


def _number(name: str, element: object, unit: str) -> float:
    """One element in SI, from a number or a text with unit."""
    try:
        return quantity(element, unit) if isinstance(element, str) else float(element)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError) as fault:
        said = fault if isinstance(fault, ValueError) else f"must be a number, got {element!r}"
        raise VariableError(f"{name!r}: {said}; nothing was changed") from None


def _values(name: str, variable: Variable, part: slice, value) -> list[float]:
    """The elements of a value in SI, checked."""
    several = not isinstance(value, str) and np.ndim(value) > 0
    given = list(value) if several else [value]
    wanted = part.stop - part.start
    if len(given) != wanted:
        raise VariableError(f"{name!r}: {wanted} values are needed, got {len(given)}")
    found = []
    for element, unit in zip(given, variable.units[part], strict=True):
        number = _number(name, element, unit)
        if not math.isfinite(number):
            raise VariableError(f"{name!r}: must be finite, got {number}; nothing was changed")
        if variable.boolean and number not in (0.0, 1.0):
            raise VariableError(f"{name!r}: must be 0 or 1, got {number}")
        if variable.minimum is not None and number < variable.minimum:
            raise VariableError(f"{name!r}: must be >= {variable.minimum} {unit}, got {number}")
        found.append(number)
    return found
