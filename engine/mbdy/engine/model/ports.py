"""Every variable of a system, once: name, unit, start, place in the core's vectors, what it depends on.

The block, the FMU's modelDescription.xml, CSV headers, help and ``--json`` all read this table. Vectors of the
core: ``s`` (start values), ``x`` (states), ``u`` (inputs), ``p`` (parameters), ``y`` (outputs). ``s`` has the
shape of ``x``; they differ where a start value is spelled otherwise than the state (a wheel starts by its
speed, unless its momentum is given, and has its momentum as state; an ``attitude`` root starts by its origin and has
the mass centre as state).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from typing import Literal

from mbdy.engine.model.display import html_table
from mbdy.engine.model.faults import RefusalError, UnknownNameError, shown
from mbdy.engine.model.owners import SYSTEM, Owner, Quantity, joint_of, name_of, rate_of, wheels_of
from mbdy.engine.model.patterns import LEFT_OUT, matches
from mbdy.engine.model.profiles import points_of
from mbdy.engine.model.scale import scales
from mbdy.engine.model.signal_variables import signal_variables
from mbdy.engine.model.system import IDENTITY, Body, Model
from mbdy.engine.model.variables import Causality, Variable, inputs, outputs, parameters

CONSTRAINED = ("prescribed", "locked", "acceleration", "reaction")
CONSTRAINED_MOTION = 'motion = "switchable" (or "prescribed", for .acceleration and .reaction)'
"""Variables of joints that a degree of freedom with free motion does not have, and what gives it them."""

NOWHERE = -1
"""The offset of what has no place in its vector."""


@dataclass(frozen=True, slots=True)
class StatePart:
    """Elements of the start vector ``s`` that one variable has, a ``quantity`` of its ``owner``, and ``size`` of them.

    ``integrated`` is the variable that is the state in their place, where it is another.
    """

    owner: Owner
    quantity: Quantity
    size: int
    integrated: tuple[Owner, Quantity] | None = None

    @property
    def name(self) -> str:
        """Name of the start value."""
        return name_of(self.owner, self.quantity)

    @property
    def state(self) -> str:
        """Name of the state."""
        return name_of(*self.integrated) if self.integrated else self.name


@dataclass(frozen=True, repr=False)
class Ports:
    """The table: ``inputs``, ``parameters``, ``outputs`` in the order of their vectors, and ``states``."""

    inputs: tuple[Variable, ...]
    parameters: tuple[Variable, ...]
    outputs: tuple[Variable, ...]
    state_names: tuple[str, ...]
    start_names: tuple[str, ...]
    quaternions: tuple[int, ...] = field(default=())
    """Places in ``x`` where a quaternion begins; the stepper keeps their norm."""
    hidden: tuple[Variable, ...] = field(default=())
    """Inputs and outputs that `PortChoice` leaves out: they have no places in ``u`` and ``y``. Inputs keep their start
    values; states and start values keep their names and places in ``x`` and ``s``."""

    def __repr__(self) -> str:
        sizes = ((self.inputs, "inputs"), (self.parameters, "parameters"), (self.outputs, "outputs"))
        return f"<Ports: {', '.join(f'{len(variables)} {what}' for variables, what in sizes)}>"

    def _repr_html_(self) -> str:
        rows = [(v.name, v.causality, v.unit, v.description) for v in self]
        return html_table(f"{self!r}".strip("<>"), ("name", "causality", "unit", "description"), rows)

    def __iter__(self) -> Iterator[Variable]:
        yield from self.inputs
        yield from self.parameters
        yield from self.outputs

    @cached_property
    def by_name(self) -> Mapping[str, Variable]:
        return {v.name: v for v in self}

    @cached_property
    def states(self) -> Mapping[str, Variable]:
        """The variables that are states, by name in the order of ``x``."""
        return self._ordered(lambda v: v.state)

    @cached_property
    def starts(self) -> Mapping[str, Variable]:
        """The variables that have start values, by name in the order of ``s``."""
        return self._ordered(lambda v: v.start_at)

    def _ordered(self, place: Callable[[Variable], int | None]) -> Mapping[str, Variable]:
        variables = (v for v in (*self.outputs, *self.hidden) if place(v) is not None)
        return {v.name: v for v in sorted(variables, key=lambda v: place(v) or 0)}

    def of(self, owner: Owner, quantity: Quantity) -> Variable | None:
        """The variable that is ``quantity`` of ``owner``; None where there is none."""
        return self.by_name.get(name_of(owner, quantity))

    @cached_property
    def by_scalar(self) -> Mapping[str, tuple[Variable, int]]:
        """Variable and element of each scalar name."""
        return {scalar: (v, k) for v in self for k, scalar in enumerate(v.scalar_names)}

    @cached_property
    def hidden_names(self) -> Mapping[str, tuple[Variable, slice]]:
        """What is left out and its elements, by the names that they would have."""
        return {
            name: (v, slice(begin, end))
            for v in self.hidden
            for name, begin, end in ((v.name, 0, v.size), *((n, k, k + 1) for k, n in enumerate(v.scalar_names)))
        }

    def find(self, name: str, *, starts: bool = False) -> tuple[Variable, slice]:
        """The variable called ``name`` and which of its elements are meant (all, or the one indexed).

        With ``starts`` start values of outputs that are left out are found too. Raises KeyError with the nearest names.
        """
        if not isinstance(name, str):
            raise UnknownNameError(f"the name of a variable is needed, got {shown(name)}")
        if variable := self.by_name.get(name):
            return variable, slice(0, variable.size)
        if entry := self.hidden_names.get(name):
            if starts and entry[0].start_at is not None:
                return entry
            raise UnknownNameError(f"no variable {name!r}: {LEFT_OUT}")
        try:
            variable, k = self.by_scalar[name]
        except KeyError:
            near = get_close_matches(name, {**self.by_name, **self.by_scalar}, n=3, cutoff=0.5)
            hint = f"; nearest: {', '.join(near)}" if near else ""
            if name.rpartition(".")[2].partition("[")[0] in CONSTRAINED:
                hint = f"; a joint has it for degrees of freedom with {CONSTRAINED_MOTION} in the model file"
            raise UnknownNameError(f"no variable {name!r}{hint}") from None
        return variable, slice(k, k + 1)

    def each_once(self, names: Iterable[str], *, starts: bool = False) -> None:
        """Raise `RefusalError` where two of ``names``, each that of a variable or an element, mean one element, and
        as `find` does."""
        meant: dict[str, str] = {}
        for name in names:
            variable, part = self.find(name, starts=starts)
            for scalar in variable.scalar_names[part]:
                if (other := meant.setdefault(scalar, name)) != name:
                    raise RefusalError(f"{scalar!r} is given twice, by {other!r} and {name!r}", "keep one of them")

    @cached_property
    def input_names(self) -> tuple[str, ...]:
        return tuple(n for v in self.inputs for n in v.scalar_names)

    @cached_property
    def output_names(self) -> tuple[str, ...]:
        return tuple(n for v in self.outputs for n in v.scalar_names)

    @cached_property
    def parameter_names(self) -> tuple[str, ...]:
        return tuple(n for v in self.parameters for n in v.scalar_names)

    @cached_property
    def start(self) -> tuple[float, ...]:
        """The vector ``s`` of the file."""
        values = [0.0] * len(self.start_names)
        for v in self.starts.values():
            if v.start_at is not None and v.start is not None:
                values[v.start_at : v.start_at + v.size] = v.start
        return tuple(values)

    def vector(self, causality: Causality) -> tuple[float, ...]:
        """Start values of all inputs or parameters, in the order of their vector."""
        variables = self.inputs if causality == "input" else self.parameters
        return tuple(value for v in variables for value in v.start or (0.0,) * v.size)

    @cached_property
    def orbit_position(self) -> slice | None:
        """Place in ``u`` of the input of the gravity gradient; None without one."""
        variable = self.of(SYSTEM, "orbit_position")
        return variable.places if variable else None

    def span(self, port: str) -> slice:
        """Places of the variables of one port (``joint_torques``, ``omega``, ...), which lie side by side."""
        members = [v for v in self if v.port == port]
        if not members:
            return slice(0, 0)
        return slice(members[0].offset, members[-1].offset + members[-1].size)


def ports(model: Model) -> Ports:
    """The port table of ``model``."""
    choice = model.port_choice
    driven = {name_of(Owner("joint", b.name), "acceleration") for b in model.bodies if points_of(b.joint)}
    chosen_inputs, hidden_inputs = _chosen(inputs(model), choice.inputs, driven)
    left_out = {v.name for v in hidden_inputs}
    states, starts = _states(model)
    nominal, every, values = scales(model), [], model.starts
    own = [*outputs(model, tuple(v.name for v in chosen_inputs))]
    for v in (*own, *signal_variables(model.chosen_outputs, own)):
        start = None
        if v.name in starts:
            start = values.get(v.name, _default_start(v))
        variable = replace(v, state=states.get(v.name), start_at=starts.get(v.name), start=start)
        if v.name in states or v.name in starts:
            variable = replace(variable, nominal=nominal.get(v.name))
        if not left_out.isdisjoint(v.dependencies):
            variable = replace(variable, dependencies=tuple(name for name in v.dependencies if name not in left_out))
        every.append(variable)
    chosen_outputs, hidden_outputs = _chosen(every, choice.outputs)
    by_name = {v.name: v for v in every}
    return Ports(
        inputs=_placed(_paired(chosen_inputs) if hidden_inputs else chosen_inputs),
        parameters=_placed(parameters(model)),
        outputs=_placed(chosen_outputs),
        state_names=tuple(n for name in states for n in by_name[name].scalar_names),
        start_names=tuple(n for name in starts for n in by_name[name].scalar_names),
        quaternions=tuple(sorted(at for name, at in states.items() if by_name[name].quantity == "attitude")),
        hidden=tuple(replace(v, offset=NOWHERE) for v in (*hidden_inputs, *hidden_outputs)),
    )


def _chosen(
    variables: Iterable[Variable], patterns: tuple[str, ...] | None, always: Collection[str] = ()
) -> tuple[list[Variable], list[Variable]]:
    """Those that some pattern means, or that are ``always`` there, all without patterns; and the others."""
    chosen, others = [], []
    for v in variables:
        kept = patterns is None or v.name in always or any(matches(v.name, pattern) for pattern in patterns)
        (chosen if kept else others).append(v)
    return chosen, others


def _paired(variables: Iterable[Variable]) -> list[Variable]:
    """Inputs with the loads of bodies that have both force and torque before those that have one alone: typed ports
    are views of evenly spaced rows."""
    paired = list(variables)
    places = [i for i, v in enumerate(paired) if v.port == "external_forces"]
    loads = Counter(paired[i].owner for i in places)
    ordered = sorted((paired[i] for i in places), key=lambda v: loads[v.owner] == 1)
    for i, v in zip(places, ordered, strict=True):
        paired[i] = v
    return paired


def whole_inputs(model: Model) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """Start values of all inputs that ``model`` could have, and where among them those lie that it has."""
    table = ports(model.whole)
    places = {name: at for at, name in enumerate(table.input_names)}
    return table.vector("input"), tuple(places[name] for name in ports(model).input_names)


def coordinates(body: Body) -> tuple[StatePart, ...]:
    """A body's position states, in the order of its ``q``."""
    if (joint := body.joint).floating:
        owner = Owner("body", body.name)
        centre: tuple[Owner, Quantity] | None = (SYSTEM, "centre_of_mass") if joint.kind == "attitude" else None
        return StatePart(owner, "position", 3, centre), StatePart(owner, "attitude", 4)
    turned = ("attitude", 4) if joint.spherical else ("angle", joint.n_rotations)
    return _jointed(body, ("displacement", joint.n_translations), turned)


def speeds(body: Body) -> tuple[StatePart, ...]:
    """A body's speed states, in the order of its ``u``."""
    if (joint := body.joint).floating:
        owner = Owner("body", body.name)
        drift: tuple[Owner, Quantity] | None = (SYSTEM, "centre_of_mass_velocity") if joint.kind == "attitude" else None
        return StatePart(owner, "velocity", 3, drift), StatePart(owner, "omega", 3)
    turning = "omega" if joint.spherical else rate_of(body)
    return _jointed(body, ("velocity", joint.n_translations), (turning, joint.n_rotations))


def _jointed(body: Body, *parts: tuple[Quantity, int]) -> tuple[StatePart, ...]:
    return tuple(StatePart(joint_of(body), quantity, size) for quantity, size in parts if size)


def spins(body: Body, given: Container[str] = ()) -> tuple[StatePart, ...]:
    """The states of a body's wheels, their momenta: they start by their speeds, or by momenta that are ``given``."""
    return tuple(
        StatePart(wheel, "momentum", 1)
        if name_of(wheel, "momentum") in given
        else StatePart(wheel, "speed", 1, (wheel, "momentum"))
        for wheel in wheels_of(body)
    )


def modal(body: Body, quantity: Literal["displacement", "rate"]) -> tuple[StatePart, ...]:
    """The modal displacements or rates of a body; none of a rigid one."""
    return (StatePart(Owner("modes", body.name), quantity, body.modes),) if body.flex else ()


def state_parts(model: Model) -> Iterator[StatePart]:
    """All that ``s`` and ``x`` are made of, in their order."""
    yield from (part for body in model.bodies for part in coordinates(body))
    yield from (part for body in model.bodies for part in speeds(body))
    for quantity in ("displacement", "rate"):
        yield from (part for body in model.bodies for part in modal(body, quantity))
    yield from (part for body in model.bodies for part in spins(body, model.starts))
    yield from (StatePart(Owner("tank", tank.name), "mass", 1) for tank in model.tanks)


def _states(model: Model) -> tuple[dict[str, int], dict[str, int]]:
    """Places of the states in ``x`` and of the start values in ``s``, by variable name."""
    states, starts, offset = {}, {}, 0
    for part in state_parts(model):
        starts[part.name] = states[part.state] = offset
        offset += part.size
    return states, starts


def _default_start(variable: Variable) -> tuple[float, ...]:
    if variable.start is not None:
        return variable.start
    return IDENTITY if variable.quantity == "attitude" else (0.0,) * variable.size


def _placed(variables: Iterable[Variable]) -> tuple[Variable, ...]:
    """The variables with their offsets, one after the other."""
    placed, offset = [], 0
    for v in variables:
        placed.append(replace(v, offset=offset))
        offset += v.size
    return tuple(placed)
