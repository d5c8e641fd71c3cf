"""What variables a model has: the name, units, meaning, start value and dependencies of each, by causality.

`mbdy.engine.model.ports` gives them their places in the core's vectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from mbdy.engine.model import element_variables, tank_variables
from mbdy.engine.model.bearing import BEARING
from mbdy.engine.model.gear import Gear
from mbdy.engine.model.laws import laws_of, sticks
from mbdy.engine.model.owners import SYSTEM, Owner, Quantity, constraint, joint_of, name_of, points_of, wheels_of
from mbdy.engine.model.system import Body, Loop, Model, Rows, Vector3

Causality = Literal["input", "output", "parameter"]

XYZ = ("[1]", "[2]", "[3]")
SYMMETRIC = tuple(f"[{i},{j}]" for i in (1, 2, 3) for j in (1, 2, 3) if i <= j)
UPPER = tuple((i, j) for i in range(3) for j in range(3) if i <= j)

ORBIT_POSITION = name_of(SYSTEM, "orbit_position")
"""Input of models with a gravity gradient; it must not be zero."""
GRAVITATIONAL_PARAMETER = name_of(SYSTEM, "gravitational_parameter")
"""Parameter of models with a gravity gradient."""
WORK_ERROR = name_of(SYSTEM, "work_error")
"""Output that the stepper keeps: what steps add to energy."""
# Unit of the file and the FMU -> the unit a person would rather read (FMI display units).
DISPLAY_UNITS: Mapping[str, str] = {"rad": "deg", "rad/s": "deg/s"}
WHEEL_DISPLAY_UNIT = "rpm"


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """One variable, scalar or array, as every interface shows it: a ``quantity`` of its ``owner``.

    ``units`` has one unit for each element, ``labels`` their index suffixes (``("",)`` for a scalar); ``offset`` is
    the place of the first in vector ``u``, ``p`` or ``y`` (by causality) and ``state`` that in ``x``, ``start_at``
    that in ``s``, where it has one. ``dependencies`` names the inputs that act on an output at the same instant.
    """

    owner: Owner
    quantity: Quantity
    causality: Causality
    units: tuple[str, ...]
    description: str
    labels: tuple[str, ...] = ("",)
    offset: int = 0
    start: tuple[float, ...] | None = None
    state: int | None = None
    start_at: int | None = None
    boolean: bool = False
    tunable: bool = True
    dependencies: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    nominal: float | None = None
    port: str = ""

    @property
    def name(self) -> str:
        """Its name in every interface, without index."""
        return name_of(self.owner, self.quantity)

    @property
    def size(self) -> int:
        return len(self.labels)

    @property
    def unit(self) -> str:
        """The unit of its elements, ``"mixed"`` where metres and radians stand side by side."""
        return self.units[0] if len(set(self.units)) == 1 else "mixed"

    @property
    def display_units(self) -> tuple[str | None, ...]:
        """The unit a person would rather read, for each element (None: its own)."""
        if self.quantity == "speed":
            return (WHEEL_DISPLAY_UNIT,) * self.size
        return tuple(DISPLAY_UNITS.get(unit) for unit in self.units)

    @property
    def scalar_names(self) -> tuple[str, ...]:
        """``bus.omega[1]``, ``bus.omega[2]``, ...; the bare name of a scalar."""
        name = self.name
        return tuple(name + label for label in self.labels)

    @property
    def places(self) -> slice:
        """Its elements in the vector of its causality."""
        return slice(self.offset, self.offset + self.size)


def _labels(count: int) -> tuple[str, ...]:
    return ("",) if count == 1 else tuple(f"[{k + 1}]" for k in range(count))


def _axes(axes: Sequence[Vector3]) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Labels and components of directions, one after the other."""
    rows = [""] if len(axes) == 1 else [f"{k + 1}," for k in range(len(axes))]
    labels = tuple(f"[{row}{i}]" for row in rows for i in (1, 2, 3))
    return labels, tuple(component for axis in axes for component in axis)


def switched(motion: tuple[str, ...]) -> tuple[int, ...]:
    """The degrees of freedom that have switches, of those with these motions."""
    return tuple(i for i, how in enumerate(motion) if how == "switchable")


def switch_labels(body: Body) -> tuple[str, ...]:
    """Labels of a joint's switches: they count all its degrees of freedom, and only switchable ones have some."""
    every = _labels(body.joint.n_u)
    return tuple(every[i] for i in switched(body.joint.motion))


def _per_dof(body: Body, translation: str, rotation: str, count: int | None = None) -> tuple[str, ...]:
    """A unit for each degree of freedom of a body's joint, or the first ``count`` of them, translations first."""
    joint = body.joint
    return ((translation,) * joint.n_translations + (rotation,) * joint.n_rotations)[:count]


def coupled_modes(matrix: Rows) -> bool:
    """Whether a matrix of modes has anything beside its diagonal."""
    return any(value for i, row in enumerate(matrix) for j, value in enumerate(row) if i != j)


def modal_entries(matrix: Rows) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Labels and values of a modal stiffness or damping: its diagonal, or upper triangle where it couples modes."""
    m = len(matrix)
    if not coupled_modes(matrix):
        return _labels(m), tuple(matrix[i][i] for i in range(m))
    places = [(i, j) for i in range(m) for j in range(i, m)]
    return tuple(f"[{i + 1},{j + 1}]" for i, j in places), tuple(matrix[i][j] for i, j in places)


def row_units(model: Model, of: Loop | Gear, turning: str, moving: str) -> tuple[str, ...]:
    """A unit for each row of a loop or gear."""
    return tuple(turning if turns else moving for turns in model.turning(of))


@dataclass(frozen=True)
class _Table:
    """Makes the variables of one causality; those without elements do not exist."""

    causality: Causality

    def __call__(
        self, owner: Owner, quantity: Quantity, units: tuple[str, ...], text: str, port: str = "parameters", **more: Any
    ) -> Iterator[Variable]:
        if units:
            more.setdefault("labels", _labels(len(units)))
            yield Variable(
                owner=owner, quantity=quantity, causality=self.causality, units=units, description=text, port=port,
                **more,
            )  # fmt: skip


def inputs(model: Model) -> Iterator[Variable]:
    table = _Table("input")

    def row(owner: Owner, quantity: Quantity, units: tuple[str, ...], text: str, port: str, **more: Any):
        more.setdefault("start", (0.0,) * len(units))
        return table(owner, quantity, units, text, port, **more)

    joints = [(joint_of(body), body, body.joint) for body in model.bodies]
    for owner, body, joint in joints:
        if not joint.floating:
            where = f"at the joint of {body.name} on {joint.to}"
            yield from row(owner, "force", ("N",) * joint.n_translations, f"Force {where}", "joint_torques")
            yield from row(owner, "torque", ("N.m",) * joint.n_rotations, f"Torque {where}", "joint_torques")
    for body in model.bodies:
        owner, text = Owner("body", body.name), f"on {body.name} at its mass centre, body axes"
        yield from row(owner, "force", ("N",) * 3, f"External force {text}", "external_forces")
        yield from row(owner, "torque", ("N.m",) * 3, f"External torque {text}", "external_forces")
    for body in model.bodies:
        for node in points_of(body)[1:]:
            text = f"on {body.name} at node {node.part}, {'node' if body.flex else 'body'} axes"
            yield from row(node, "force", ("N",) * 3, f"External force {text}", "node_forces")
            yield from row(node, "torque", ("N.m",) * 3, f"External torque {text}", "node_forces")
    for body in model.bodies:
        text = f"Generalized forces on the modes of {body.name}"
        yield from row(Owner("modes", body.name), "force", ("N.m",) * body.modes, text, "modal_forces")
    for owner, body, joint in joints:
        if not joint.floating:
            text = f"Commanded position of the spring at the joint of {body.name}"
            units = _per_dof(body, "m", "rad", len(joint.rest))
            yield from row(owner, "rest", units, text, "rest", start=joint.rest)
    for owner, body, joint in joints:
        if any(motion != "free" for motion in joint.motion):
            text = f"Prescribed acceleration at the joint of {body.name}"
            yield from row(owner, "acceleration", _per_dof(body, "m/s2", "rad/s2"), text, "prescribed_accelerations")
    switches: tuple[tuple[Quantity, str], ...] = (
        ("prescribed", "follows .acceleration"), ("locked", "is locked (wins over prescribed)"),
    )  # fmt: skip
    for quantity, what in switches:
        for owner, body, _ in joints:
            labels, text = switch_labels(body), f"Whether the joint of {body.name} {what}"
            yield from row(owner, quantity, ("",) * len(labels), text, "switches", labels=labels, boolean=True)
    for each in model.constraints:
        if each.switchable:
            owner = constraint(each)
            text = f"Whether the {owner.kind} {each.name} is closed"
            yield from row(owner, "closed", ("",), text, "switches", start=(float(each.closed),), boolean=True)
    for owner in (wheel for body in model.bodies for wheel in wheels_of(body)):
        text = f"Motor torque on wheel {owner.part} of {owner.name}"
        yield from row(owner, "torque", ("N.m",), text, "wheel_torques")
    yield from element_variables.inputs(model.elements, row)
    yield from tank_variables.inputs(model.tanks, row)
    text = "Uniform gravity, inertial axes"
    yield from row(SYSTEM, "gravity", ("m/s2",) * 3, text, "gravity", start=model.gravity)
    if gradient := model.gravity_gradient:
        text = "Mass centre of the system from the attracting centre, inertial axes, for the gravity gradient"
        start = gradient.orbit_position
        yield from row(SYSTEM, "orbit_position", ("m",) * 3, text, "orbit_position", start=start)


def parameters(model: Model) -> Iterator[Variable]:
    table = _Table("parameter")

    def row(owner: Owner, quantity: Quantity, units: tuple[str, ...], start: Iterable[float], text: str, **more: Any):
        return table(owner, quantity, units, text, start=tuple(start), **more)

    for body in model.bodies:
        name, joint, owner, jointed = body.name, body.joint, Owner("body", body.name), joint_of(body)
        yield from row(owner, "mass", ("kg",), (body.mass,), f"Mass of {name}", minimum=0.0)
        text = f"Mass centre of {name} from its origin, body axes"
        yield from row(owner, "com", ("m",) * 3, body.com, text)
        products = (body.inertia[i][j] for i, j in UPPER)
        text = f"Inertia tensor of {name} about its mass centre, body axes"
        yield from row(owner, "inertia", ("kg.m2",) * 6, products, text, labels=SYMMETRIC)
        if joint.floating:
            continue
        whence = f"node {joint.node} of {joint.to}" if joint.node else f"the origin of {joint.to}"
        text = f"Place of the joint of {name} from {whence}, parent axes"
        yield from row(jointed, "at", ("m",) * 3, joint.at, text)
        text = f"Quaternion w x y z of the joint of {name}: joint-frame components to parent components"
        yield from row(jointed, "frame", ("1",) * 4, joint.frame, text)
        if joint.offset:
            text = f"Place of the joint of {name} from the origin of {name}, its own axes"
            yield from row(jointed, "at_b", ("m",) * 3, joint.at_b, text)
        if joint.axes:
            labels, values = _axes(joint.axes)
            text = f"Axes of the joint of {name} in the joint frame, translations first"
            yield from row(jointed, "axis", ("1",) * len(labels), values, text, labels=labels)
        if joint.rotor_axis:
            labels, values = _axes(joint.rotor_axis)
            text = f"Axes of the rotors at the joint of {name}, in the axes of what carries it"
            yield from row(jointed, "rotor_axis", ("1",) * len(labels), values, text, labels=labels)
        for value in (value for law in laws_of(joint.laws) for value in law.values if value.parameter):
            start, text = getattr(joint, value.name), f"{value.text} of the joint of {name}"
            units = _per_dof(body, value.translation, value.rotation, None if value.points else len(start))
            more: dict[str, Any] = {"minimum": value.minimum}
            if value.points:
                units = (((value.over,) if value.over else _per_dof(body, "m", "rad")) + units) * len(start)
                more["labels"] = tuple(f"[{k + 1},{i}]" for k in range(len(start)) for i in (1, 2))
                text = f"{value.text} at the joint of {name}: {'time, rate' if value.over else 'coordinate, effort'}"
                start = (number for point in start for number in point)
            yield from row(jointed, value.key, units, start, text, **more)
    wheels = [(owner, body.wheels[owner.part]) for body in model.bodies for owner in wheels_of(body)]
    for owner, rotor in wheels:
        whose = f"of wheel {owner.part} of {owner.name}"
        yield from row(owner, "inertia", ("kg.m2",), (rotor.inertia,), f"Spin inertia {whose}", minimum=0.0)
        yield from row(owner, "axis", ("1",) * 3, rotor.axis, f"Spin axis {whose}, body axes")
    for owner, rotor in wheels:
        for part, value in BEARING.items() if rotor.bearing else ():
            text, start = f"{value.text} of wheel {owner.part} of {owner.name}", (getattr(rotor, part),)
            yield from row(owner, part, (value.rotation,), start, text, minimum=value.minimum)
    for body in model.bodies:
        for node in points_of(body)[1:]:
            text = f"Place of node {node.part} from the origin of {body.name}, body axes"
            yield from row(node, "at", ("m",) * 3, body.nodes[node.part].at, text)
    for body in model.bodies:
        if body.flex:
            for what, unit in (("stiffness", "N.m"), ("damping", "N.m.s")):
                labels, values = modal_entries(getattr(body.flex, what))
                owner, text = Owner("modes", body.name), f"Modal {what} of {body.name}"
                yield from row(owner, what, (unit,) * len(labels), values, text, labels=labels)
    for each in model.constraints:
        owner = constraint(each)
        text = f"Time within which errors of closure of {owner.kind} {each.name} decay"
        yield from row(owner, "time_constant", ("s",), (each.time_constant,), text, minimum=0.0)
        if isinstance(each, Gear):
            sums, *others = (freedom.unit for freedom in model.freedoms(each))
            units = ("1", *("1" if unit == sums else f"{sums}/{unit}" for unit in others))
            text = f"Factors of the coordinates that gear {each.name} sums"
            yield from row(owner, "factor", units, (factor for _, factor in each.terms), text)
            yield from row(owner, "offset", (sums,), (each.offset,), f"What the sum of gear {each.name} is")
        elif each.distance is not None:
            text = f"Distance that loop {each.name} keeps"
            yield from row(owner, "distance", ("m",), (each.distance,), text, minimum=0.0)
    yield from element_variables.parameters(model.elements, row)
    yield from tank_variables.parameters(model.tanks, row)
    if gradient := model.gravity_gradient:
        text = "Gravitational parameter of the attracting centre, for the gravity gradient"
        value = (gradient.gravitational_parameter,)
        yield from row(SYSTEM, "gravitational_parameter", ("m3/s2",), value, text, minimum=0.0)


def outputs(model: Model, everything: tuple[str, ...]) -> Iterator[Variable]:
    """Outputs by port; ``everything`` names all inputs, for what follows from accelerations."""
    table, bodies = _Table("output"), model.bodies
    for b in bodies:
        text = f"Angular velocity of {b.name} relative to inertial axes, body axes"
        yield from table(Owner("body", b.name), "omega", ("rad/s",) * 3, text, "omega")
    jointed = [(joint_of(b), b.joint, f"of the joint of {b.name}") for b in bodies if not b.joint.floating]
    for owner, joint, whose in jointed:
        yield from table(owner, "velocity", ("m/s",) * joint.n_translations, f"Speed {whose}", "joint_rates")
        text = "Relative angular velocity (outboard axes)" if joint.spherical else "Rate"
        turning = "omega" if joint.spherical else "speed" if owner.kind == "wheel" else "rate"
        yield from table(owner, turning, ("rad/s",) * joint.n_rotations, f"{text} {whose}", "joint_rates")
    for b in bodies:
        text = f"Quaternion w x y z of {b.name}: body components to inertial ones"
        yield from table(Owner("body", b.name), "attitude", ("1",) * 4, text, "attitude")
    for owner, joint, whose in jointed:
        slides = ("m",) * joint.n_translations
        yield from table(owner, "displacement", slides, f"Displacement {whose}", "joint_positions")
        yield from table(owner, "angle", ("rad",) * len(joint.rotations), f"Angle {whose}", "joint_positions")
        if joint.spherical:
            text = f"Quaternion w x y z {whose}: body to joint frame"
            yield from table(owner, "attitude", ("1",) * 4, text, "joint_positions")
    for owner in (wheel for b in bodies for wheel in wheels_of(b)):
        wheel, body = owner.part, owner.name
        yield from table(owner, "speed", ("rad/s",), f"Speed of wheel {wheel} relative to {body}", "wheels")
        yield from table(owner, "momentum", ("N.m.s",), f"Absolute spin momentum of wheel {wheel} of {body}", "wheels")
    for b in bodies:
        if b.rotor:
            text = f"Absolute spin momentum of wheel {b.rotor} of {b.joint.to}"
            yield from table(joint_of(b), "momentum", ("N.m.s",), text, "wheels")
    for b in bodies:
        if b.flex:
            owner, m = Owner("modes", b.name), b.flex.modes
            yield from table(owner, "displacement", ("1",) * m, f"Modal displacement of {b.name}", "modes")
            yield from table(owner, "rate", ("1/s",) * m, f"Modal rate of {b.name}", "modes")
            yield from table(owner, "strain_energy", ("J",), f"Strain energy in the modes of {b.name}", "modes")
            for node in points_of(b)[1:]:
                text = f"Angular velocity of node {node.part} of {b.name} relative to inertial axes, node axes"
                yield from table(node, "omega", ("rad/s",) * 3, text, "modes")
                text = f"Quaternion w x y z of node {node.part} of {b.name}: node components to inertial ones"
                yield from table(node, "attitude", ("1",) * 4, text, "modes")
    points = [(Owner("body", b.name), f"the origin of {b.name}") for b in bodies]
    nodes = [(node, b.flex) for b in bodies for node in points_of(b)[1:]]
    points += [(node, f"node {node.part} of {node.name}") for node, _ in nodes]
    for owner, what in points:
        yield from table(owner, "position", ("m",) * 3, f"Position of {what}, inertial axes", "motion")
        yield from table(owner, "velocity", ("m/s",) * 3, f"Velocity of {what}, inertial axes", "motion")
        text = f"Acceleration of {what}, inertial axes"
        yield from table(owner, "acceleration", ("m/s2",) * 3, text, "motion", dependencies=everything)
    for node, flex in nodes:
        text = f"Acceleration of node {node.part} of {node.name} less gravity, as an accelerometer feels it, "
        text += "node axes" if flex else "body axes"
        yield from table(node, "specific_force", ("m/s2",) * 3, text, "motion", dependencies=everything)
    for b in bodies:
        owner, driven = joint_of(b), any(m != "free" for m in b.joint.motion)
        if driven or sticks(b.joint.laws):
            text = f"Effort of the constraint on the joint of {b.name}"
            units = _per_dof(b, "N", "N.m")
            yield from table(owner, "reaction", units, text, "reactions", dependencies=everything)
        if driven or not b.joint.floating:
            text = f"Moment and force on {b.name} through its joint, about its origin, body axes"
            units = ("N.m",) * 3 + ("N",) * 3
            yield from table(owner, "load", units, text, "loads", dependencies=everything)
    for b in bodies:
        every = _per_dof(b, "N.s", "N.m.s")
        units = tuple(every[i] for i in switched(b.joint.motion))
        text = f"Impulse of the latch at the joint of {b.name}, where the last step locked it while it moved"
        yield from table(joint_of(b), "impulse", units, text, "impulses", labels=switch_labels(b))
    for each in model.constraints:
        if each.switchable:
            owner, units = constraint(each), row_units(model, each, "N.m.s", "N.s")
            text = f"Impulse of the closing of {owner.kind} {each.name}, where the last step closed it"
            yield from table(owner, "impulse", units, text, "impulses")
    for each in model.constraints:
        owner, units = constraint(each), row_units(model, each, "rad", "m")
        yield from table(owner, "residual", units, f"Error of closure of {owner.kind} {each.name}", "residuals")
    for each in model.constraints:
        owner, where = constraint(each), "on b at its place, axes of the loop frame of a"
        if isinstance(each, Gear):
            units = tuple("N.m" if freedom.turns else "N" for freedom in model.freedoms(each))
            text = f"Efforts of gear {each.name} at the joints, in the order of its terms"
            yield from table(owner, "effort", units, text, "loops", dependencies=everything)
        else:
            text = f"Force of loop {each.name} {where}"
            yield from table(owner, "force", ("N",) * 3, text, "loops", dependencies=everything)
            text = f"Torque of loop {each.name} {where}"
            yield from table(owner, "torque", ("N.m",) * 3, text, "loops", dependencies=everything)
        text = f"Rate of the error of closure of {owner.kind} {each.name}"
        yield from table(owner, "residual_rate", row_units(model, each, "rad/s", "m/s"), text, "loops")
    yield from element_variables.outputs(model.elements, table)
    yield from tank_variables.outputs(model.tanks, table)
    springs = tuple(name_of(owner, "rest") for owner, joint, _ in jointed if joint.rest)
    totals: tuple[tuple[Quantity, str, int, str, tuple[str, ...]], ...] = (
        ("mass", "kg", 1, "Mass of the system", ()),
        ("centre_of_mass", "m", 3, "Mass centre of the system, inertial axes", ()),
        ("centre_of_mass_velocity", "m/s", 3, "Velocity of the mass centre, inertial axes", ()),
        ("momentum", "N.s", 3, "Linear momentum, inertial axes", ()),
        ("angular_momentum", "N.m.s", 3, "Angular momentum about the mass centre, inertial axes", ()),
        ("energy", "J", 1, "Kinetic energy, springs and uniform gravity", (*springs, name_of(SYSTEM, "gravity"))),
        ("work_residual", "W", 1, "Rate of kinetic energy less the power of all forces (Huston and Liu Eq. 55)",
         everything),
        ("work_error", "J", 1, "Energy less its start, less all work and the losses of latches and closings: what the "
         "steps have added", ()),
    )  # fmt: skip
    for quantity, unit, size, text, depends in totals:
        yield from table(SYSTEM, quantity, (unit,) * size, text, "system", dependencies=depends)
