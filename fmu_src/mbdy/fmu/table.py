"""The port table one scalar a row: what an FMU's value references mean, for every description, slave and C table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from types import MappingProxyType
from typing import Any, Literal

from mbdy.engine.model.owners import SYSTEM, Owner, Quantity, name_of
from mbdy.engine.model.ports import Ports
from mbdy.engine.model.variables import DISPLAY_UNITS, WORK_ERROR, Variable
from mbdy.engine.order_n.derivatives import Incidence
from mbdy.fmu.description.units import rate_unit

Causality = Literal["input", "parameter", "output", "calculatedParameter", "local", "independent"]
VECTORS: Mapping[str, str] = {"input": "u", "parameter": "p", "output": "y"}
CALCULATED: Sequence[Quantity] = ("mass", "centre_of_mass", "momentum", "angular_momentum", "energy")
"""Outputs of ``system`` that are calculated parameters too, ``system.initial.X``: as initialization left them."""
TIME = "time"
NONE: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar:
    """One scalar variable, an element of a ``quantity`` of its ``owner``. Its value reference is its place in the
    table.

    The table has inputs, parameters, outputs and calculated parameters, then start values that are no outputs, and
    state derivatives and the time where it was asked for them. ``vector`` and ``place`` say where the value is: ``u``,
    ``p``, ``y``, ``x``, ``s`` as the core has them; ``c`` a calculated parameter, at its output's place in ``y``;
    ``dx`` a derivative, at its state's place in ``x``; ``z`` an event indicator; ``t`` the time. ``start_at`` is where
    the start value lies in ``s``, ``state`` which place in ``x`` it is. ``array`` names the array of FMI 3 that has it
    as an element.
    ``dependencies`` are value references of the inputs that act on an output at the same instant, or on a derivative;
    ``states`` the places in ``x`` of the states in its equation, None where that is not known. ``guess`` tells that the
    start of a state is one, from which closed loops may move it, ``standing`` what the file says of it
    (`Model.standing`). ``label`` is its index, that of its state for a derivative.
    """

    owner: Owner
    quantity: Quantity
    label: str
    name: str
    causality: Causality
    vector: str
    place: int
    unit: str
    display_unit: str | None
    description: str
    start: float | None = None
    start_at: int | None = None
    state: int | None = None
    array: str | None = None
    boolean: bool = False
    tunable: bool = False
    minimum: float | None = None
    maximum: float | None = None
    nominal: float | None = None
    dependencies: tuple[int, ...] = ()
    states: tuple[int, ...] | None = None
    guess: bool = False
    standing: int = 0


@dataclass(frozen=True, slots=True)
class Array:
    """A variable of FMI 3: one scalar, or several under the name that they share.

    Its value reference is that of its first scalar; those of the others stand for nothing then.
    """

    name: str
    value_reference: int
    rows: tuple[Scalar, ...]

    @property
    def first(self) -> Scalar:
        return self.rows[0]

    @property
    def size(self) -> int:
        return len(self.rows)


def scalars(
    ports: Ports,
    standing: Mapping[str, int] = NONE,
    *,
    derivatives: bool = False,
    independent: bool = False,
    incidence: Incidence | None = None,
    work: float | None = None,
    sticking: Sequence[Variable] = (),
) -> tuple[Scalar, ...]:
    """The rows of ``ports``, in the order of their value references.

    ``standing``     of start values that the model file gives or guesses, as `Model.standing` has it; none if left out.
    ``derivatives``  with the derivatives of all states, in the order of ``x``.
    ``independent``  with the time, as FMI 3 wants it.
    ``incidence``    what is in the equations, to tell dependencies as sparse as these are.
    ``sticking``     reactions of joints with friction that sticks, whose margins to its events are event indicators.
    ``work``         where the work of all powers is one more state, the last, its nominal value [J].
    """
    inputs = {v.name: tuple(range(v.places.start, v.places.stop)) for v in ports.inputs}
    combined: dict[tuple[str, ...], tuple[int, ...]] = {}  # whole lists are shared by many outputs

    def dependencies(variable: Variable) -> tuple[int, ...]:
        names = variable.dependencies
        if names not in combined:
            combined[names] = tuple(sorted(vr for name in names for vr in inputs[name]))
        return combined[names]

    rows = [_scalar(v, k, dependencies(v), standing.get(v.name, 0)) for v in ports for k in range(v.size)]
    if incidence:
        rows = [_depending(row, incidence.outputs) if row.vector == "y" else row for row in rows]
    outputs = [row for row in rows if row.causality == "output"]
    rows += _calculated(outputs)
    rows += [row for v in ports.hidden for row in _hidden(v, standing.get(v.name, 0), local=derivatives)]
    if any(v.owner.kind in ("loop", "gear") for v in ports.parameters):
        rows = [replace(row, guess=row.start_at is not None and row.vector != "s") for row in rows]
    if derivatives:
        states = {row.state: row for row in rows if row.state is not None}
        rates = [_derivative(states[at], at) for at in sorted(states)]
        rates = [_depending(row, incidence.derivatives) for row in rates] if incidence else rates
        if work is not None:
            power, energy = incidence.balance if incidence else (None, None)
            state, own = _work(len(states), work), energy and (*energy[0], len(states))
            rows = [replace(row, states=own, dependencies=()) if row.name == WORK_ERROR else row for row in rows]
            rows.append(state)
            rates.append(replace(_derivative(state, len(states)), unit="W"))
            if power:
                rates[-1] = replace(rates[-1], states=power[0], dependencies=power[1])
        rows += rates
        margins = (part for v in sticking for part in ((v, label) for label in v.labels))
        rows += [_margin(v.owner, label, place) for place, (v, label) in enumerate(margins)]
    if independent:
        rows.append(_time())
    return tuple(rows)


def arrays(table: Sequence[Scalar], *, scalars: bool = False) -> tuple[Array, ...]:
    """``table`` by the variables of FMI 3, arrays where it has them, or with ``scalars`` one variable a row."""
    variables: list[Array] = []
    for array, group in groupby(enumerate(table), key=lambda item: item[1].array):
        rows = list(group)
        if array is None or scalars:
            variables += [Array(row.name, vr, (row,)) for vr, row in rows]
        else:
            variables.append(Array(array, rows[0][0], tuple(row for _, row in rows)))
    return tuple(variables)


def _work(place: int, nominal: float) -> Scalar:
    return Scalar(
        owner=SYSTEM, quantity="work", label="", name=name_of(SYSTEM, "work"), causality="local", vector="x",
        place=place, unit="J", display_unit=None, state=place, nominal=nominal,
        description="Work since the start of all powers that change the energy; what there is beside it is work_error",
    )  # fmt: skip


def _depending(row: Scalar, equations: Sequence[tuple[tuple[int, ...], tuple[int, ...]]]) -> Scalar:
    """``row`` with what is in its equation; inputs are first in a table, in the order of ``u``."""
    states, inputs = equations[row.place]
    return replace(row, states=states, dependencies=inputs)


def _scalar(v: Variable, k: int, dependencies: tuple[int, ...], standing: int) -> Scalar:
    default = 0.0 if v.causality != "output" else None
    return Scalar(
        owner=v.owner, quantity=v.quantity, label=v.labels[k], name=v.name + v.labels[k], causality=v.causality,
        vector=VECTORS[v.causality], place=v.offset + k, unit=v.units[k], display_unit=v.display_units[k],
        description=v.description, start=default if v.start is None else v.start[k],
        start_at=None if v.start_at is None else v.start_at + k, state=None if v.state is None else v.state + k,
        array=v.name if _is_array(v) else None, boolean=v.boolean, tunable=v.tunable, minimum=v.minimum,
        maximum=v.maximum, nominal=v.nominal, dependencies=dependencies, standing=standing,
    )  # fmt: skip


def _hidden(v: Variable, standing: int, *, local: bool) -> Iterator[Scalar]:
    """What there is of a variable that is left out: states as ``local`` ones, and start values that no such state has
    as parameters of the start."""
    for k in range(v.size if v.causality == "output" else 0):
        row = _scalar(v, k, (), standing)
        if local and row.state is not None:
            yield replace(row, causality="local", vector="x", place=row.state)
        elif row.start_at is not None:
            text = f"{v.description}, at the start"
            yield replace(
                row, causality="parameter", vector="s", place=row.start_at, state=None, description=text, tunable=False
            )


def _is_array(v: Variable) -> bool:
    """Whether FMI 3 can have ``v`` as one array: of one dimension without gaps, in one unit."""
    return v.size > 1 and len(set(v.units)) == 1 and v.labels == tuple(f"[{k + 1}]" for k in range(v.size))


def _calculated(outputs: Sequence[Scalar]) -> Iterator[Scalar]:
    for row in outputs:
        if row.owner == SYSTEM and row.quantity in CALCULATED:
            name = f"{row.owner}.initial.{row.quantity}"
            yield _follower(
                row, name=name + row.label, causality="calculatedParameter", vector="c",
                description=f"{row.description}, when initialization ends", array=row.array and name,
            )  # fmt: skip


def _derivative(state: Scalar, place: int) -> Scalar:
    unit = rate_unit(state.unit)
    return _follower(
        state, name=f"der({state.name})", causality="local", vector="dx", place=place, unit=unit,
        display_unit=DISPLAY_UNITS.get(unit), description=f"Derivative of {state.array or state.name}",
        array=state.array and f"der({state.array})", minimum=None, maximum=None, nominal=None,
    )  # fmt: skip


def _follower(row: Scalar, **changes: Any) -> Scalar:
    """What follows from ``row``, with ``changes``: it has no start, is no state and no input acts on it at once."""
    own: dict[str, Any] = {"start": None, "start_at": None, "state": None, "guess": False, "tunable": False}
    return replace(row, **own, dependencies=(), states=None, **changes)


def _margin(owner: Owner, label: str, place: int) -> Scalar:
    quantity = "friction.margin"
    return Scalar(
        owner=owner, quantity=quantity, label=label, name=name_of(owner, quantity) + label, causality="local",
        vector="z", place=place, unit="1", display_unit=None,
        description="Margin to the next event of friction: of the effort [N, N.m] held, of the rate [m/s, rad/s] else",
    )  # fmt: skip


def _time() -> Scalar:
    return Scalar(
        owner=SYSTEM, quantity="time", label="", name=TIME, causality="independent", vector="t", place=0, unit="s",
        display_unit=None, description="Time",
    )  # fmt: skip
