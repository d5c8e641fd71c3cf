"""An operating point of a model: states, inputs and parameters at an instant, given by names as a person has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from mbdy.engine.assembly.start import closed_state, given_starts, prepared, refuse_idle, senses_at, started, tell_moves
from mbdy.engine.model.display import table_of_names
from mbdy.engine.model.faults import OptionError, RefusalError, UnknownNameError, shown
from mbdy.engine.model.laws import sticks
from mbdy.engine.model.owners import name_of
from mbdy.engine.model.ports import Ports, ports, speeds, whole_inputs
from mbdy.engine.model.system import Model
from mbdy.engine.model.values import values_of
from mbdy.engine.model.variables import Variable
from mbdy.engine.order_n.equations import Equations
from mbdy.engine.order_n.holding import RESULTS

DRIVEN = RESULTS.index("driven")
Array = NDArray[np.float64]
Value = float | str | bool | Sequence[float | str | bool] | Array


@runtime_checkable
class Running(Protocol):
    """A model as it runs, such as a `mbdy.blocks.Plant`: its state, and its inputs and parameters by name."""

    @property
    def state(self) -> Array: ...

    @property
    def state_names(self) -> tuple[str, ...]: ...

    def __getitem__(self, name: str, /) -> Any: ...


@dataclass(frozen=True, eq=False, repr=False)
class OperatingPoint:
    """States ``x`` (n_x), inputs ``u`` (n_u) and parameters ``p`` (n_p), in the order of the vectors of ``ports``.

    Where friction sticks, ``senses`` with which it acts there, and speeds that it has ``held``, by name.
    """

    ports: Ports
    x: Array
    u: Array
    p: Array
    senses: tuple[float, ...] = ()
    held: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<OperatingPoint: {len(self.x)} states; {table_of_names(self.ports.state_names)}>"

    def __getitem__(self, name: str) -> Any:
        """Value of a state, an input or a parameter by name; an array for several elements. Raises KeyError."""
        variable, part = self.ports.find(name)
        if variable.causality == "output":
            if variable.state is None:
                raise UnknownNameError(f"{name!r} is an output that is no state; an operating point does not have it")
            vector, begin = self.x, variable.state
        else:
            vector, begin = (self.u if variable.causality == "input" else self.p), variable.offset
        values = vector[begin + part.start : begin + part.stop]
        return float(values[0]) if values.size == 1 else values.copy()


At = Mapping[str, Value] | OperatingPoint | Running | None
"""Ways to say an operating point: values by name (the rest as in the model file), one that is known, or what runs."""


def operating_point(model: Model, equations: Equations, at: At = None) -> OperatingPoint:
    """The operating point ``at`` of ``model``; ``equations`` are those of all its inputs and outputs (`Model.whole`).

    A mapping has start values as in ``[initial]``, inputs and parameters by name, or one element of them
    (``"bus.omega[3]"``), in SI or as text with unit; the rest is as in the model file. Quaternions are scaled to norm
    1, and joints that are locked stop as they do in a run. Loops are closed as at the start of a run: start values of
    the file's ``[initial]`` and of a mapping stay, unless they contradict the loops (`StartMovedWarning`). Raises
    `RefusalError` for what cannot be taken, and with loops, or friction that sticks, `CompilerError` without a C
    compiler.
    """
    point = _operating_point(model, equations, at)
    if equations.holding is None:
        return point
    senses, states = senses_at(equations, point.x, point.u, point.p), equations.ports.states
    parts = (part for body in model.bodies if sticks(body.joint.laws) for part in speeds(body))
    names = (name for part in parts for name in states[part.state].scalar_names)
    driven = np.array(equations.holding(point.x, point.u, _constants(equations, point.p))[DRIVEN]).ravel()
    held = (name for name, sense, drive in zip(names, senses, driven, strict=True) if abs(sense) != 1.0 and not drive)
    return replace(point, senses=senses, held=tuple(held))


def _operating_point(model: Model, equations: Equations, at: At) -> OperatingPoint:
    table = equations.ports
    if isinstance(at, OperatingPoint):
        x, u, p = at.x.copy(), at.u.copy(), at.p.copy()
        _same_system(table.state_names + table.input_names + table.parameter_names,
                     at.ports.state_names + at.ports.input_names + at.ports.parameter_names)  # fmt: skip
    elif at is None or isinstance(at, Mapping):
        stays = given_starts(model, table)
        s, u, p = assigned(table, ports(model), at or {}, stays)
        _scale_quaternions(table, s)
        if model.constraints:
            core = started(equations, s, stays, u, p)
            tell_moves(core, stacklevel=4)
            core.latch()
            return OperatingPoint(table, core.x.copy(), u, p)
        x = np.array(equations.start(s, _constants(equations, p))).ravel()
    elif not isinstance(at, Running):
        raise OptionError(f"at: values by name, an OperatingPoint or a Plant is needed, got {shown(at)}")
    else:
        _same_system(table.state_names, at.state_names)
        x = np.array(at.state, dtype=float)
        p = _read(at, [v.name for v in table.parameters])
        starts, places = whole_inputs(model)
        u = np.array(starts)
        u[list(places)] = _read(at, [v.name for v in ports(model).inputs])
    _scale_quaternions(table, x)
    if model.constraints:
        core = prepared(equations, u, p)
        closed_state(core, x)
        core.latch()
        return OperatingPoint(table, core.x.copy(), u, p)
    k = _constants(equations, p)
    refuse_idle(equations, x, u, p)
    if any(u[lock] and x[speed] for lock, speed in equations.locks):
        assert equations.latch is not None
        x = np.array(equations.latch(x, u, k)[0]).ravel()
    return OperatingPoint(table, x, u, p)


def _constants(equations: Equations, p: Array) -> Array:
    k = np.array(equations.prepare(p)).ravel()
    if not np.isfinite(k).all():
        prepared(equations, np.zeros(len(equations.ports.input_names)), p)  # which refuses them
    return k


def _same_system(names: tuple[str, ...], others: tuple[str, ...]) -> None:
    if names != others:
        raise RefusalError("the operating point is of a system with other variables", "give one of this model")


def assigned(table: Ports, chosen: Ports, at: Mapping[str, Value], stays: Array) -> tuple[Array, Array, Array]:
    """Start values, inputs and parameters of the model file with those of ``at``, names of ``chosen``, in their places
    in the vectors of ``table``. Start values that ``at`` has become 1 in ``stays`` (n_x)."""
    s, u, p = (np.array(v, dtype=float) for v in (table.start, table.vector("input"), table.vector("parameter")))
    chosen.each_once(at, starts=True)
    for name, value in at.items():
        variable, part = table.find(name)
        numbers = _numbers(name, value, variable, part)
        if variable.start_at is not None:
            vector, begin = s, variable.start_at
            stays[begin + part.start : begin + part.stop] = 1.0
        else:
            vector, begin = (u if variable.causality == "input" else p), variable.offset
        vector[begin + part.start : begin + part.stop] = numbers
    return s, u, p


def _numbers(name: str, value: Value, variable: Variable, part: slice) -> list[float]:
    """``value`` of the elements ``part`` of ``variable`` in SI, where an operating point may have it under ``name``.

    Raises `RefusalError` for an output without start value, a wrong count, what is no finite number of that unit.
    """
    if variable.causality == "output" and variable.start_at is None:
        if variable.owner.kind == "wheel" and variable.quantity in (pair := ("speed", "momentum")):
            other = pair[variable.quantity == "speed"]
            remedy = f"give its {other}, {name_of(variable.owner, other)}"
            raise RefusalError(f"{name!r} is the {variable.quantity} of a wheel that starts by its {other}", remedy)
        raise RefusalError(f"{name!r} is an output without a start value", "give start values, inputs, parameters")
    numbers = values_of(name, variable, part, value)
    if not np.isfinite(numbers).all():
        raise RefusalError(f"{name!r}: finite numbers are needed, got {shown(value)}")
    return numbers


def _scale_quaternions(table: Ports, x: Array) -> None:
    for at in table.quaternions:
        norm = float(np.linalg.norm(x[at : at + 4]))
        if not norm > 0.0:
            (name,) = (v.name for v in table.starts.values() if v.start_at == at)
            raise RefusalError(f"{name!r}: a zero quaternion is no attitude", "no rotation is [1, 0, 0, 0]")
        x[at : at + 4] /= norm


def _read(running: Running, names: list[str]) -> Array:
    parts = [np.atleast_1d(np.asarray(running[name], dtype=float)) for name in names]
    return np.concatenate(parts) if parts else np.zeros(0)
