"""What variables a model has: the name, units, meaning, start value and dependencies of each, by causality.

`mbdy.engine.model.ports` gives them their places in the core's vectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from mbdy.engine.model.bearing import BEARING
from mbdy.engine.model.laws import laws_of
from mbdy.engine.model.system import Body, Loop, Model, Rows

Causality = Literal["input", "output", "parameter"]

XYZ = ("[1]", "[2]", "[3]")
SYMMETRIC = tuple(f"[{i},{j}]" for i in (1, 2, 3) for j in (1, 2, 3) if i <= j)
UPPER = tuple((i, j) for i in range(3) for j in range(3) if i <= j)

ORBIT_POSITION = "system.orbit_position"
"""Input of models with a gravity gradient; it must not be zero."""
GRAVITATIONAL_PARAMETER = "system.gravitational_parameter"
"""Parameter of models with a gravity gradient."""
# Unit of the file and the FMU -> the unit a person would rather read (FMI display units).
DISPLAY_UNITS: Mapping[str, str] = {"rad": "deg", "rad/s": "deg/s"}
WHEEL_DISPLAY_UNIT = "rpm"


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """One variable, scalar or array, as every interface shows it.

    ``units`` has one unit for each element, ``labels`` their index suffixes (``("",)`` for a scalar); ``offset`` is
    the place of the first in vector ``u``, ``p`` or ``y`` (by causality) and ``state`` that in ``x``, ``start_at``
    that in ``s``, where it has one. ``dependencies`` names the inputs that act on an output at the same instant.
    """

    name: str
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
    def size(self) -> int:
        return len(self.labels)

    @property
    def unit(self) -> str:
        """The unit of its elements, ``"mixed"`` where metres and radians stand side by side."""
        return self.units[0] if len(set(self.units)) == 1 else "mixed"

    @property
    def display_units(self) -> tuple[str | None, ...]:
        """The unit a person would rather read, for each element (None: its own)."""
        if self.name.endswith(".speed"):
            return (WHEEL_DISPLAY_UNIT,) * self.size
        return tuple(DISPLAY_UNITS.get(unit) for unit in self.units)

    @property
    def scalar_names(self) -> tuple[str, ...]:
        """``bus.omega[1]``, ``bus.omega[2]``, ...; the bare name of a scalar."""
        return tuple(self.name + label for label in self.labels)

    @property
    def places(self) -> slice:
        """Its elements in the vector of its causality."""
        return slice(self.offset, self.offset + self.size)


def _labels(count: int) -> tuple[str, ...]:
    return ("",) if count == 1 else tuple(f"[{k + 1}]" for k in range(count))


def switched(motion: tuple[str, ...]) -> tuple[int, ...]:
    """The degrees of freedom that have switches, of those with these motions."""
    return tuple(i for i, how in enumerate(motion) if how == "switchable")


def switch_labels(body: Body) -> tuple[str, ...]:
    """Labels of a joint's switches: they count all its degrees of freedom, and only switchable ones have some."""
    every = _labels(body.joint.n_u)
    return tuple(every[i] for i in switched(body.joint.motion))


def _per_dof(body: Body, translation: str, rotation: str, *, coordinates: bool = False) -> tuple[str, ...]:
    """A unit for each degree of freedom (or each coordinate) of a body's joint, translations first."""
    joint = body.joint
    turning = len(joint.rotations) if coordinates else joint.n_rotations
    return (translation,) * joint.n_translations + (rotation,) * turning


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


def loop_units(loop: Loop, turning: str, moving: str) -> tuple[str, ...]:
    """A unit for each row of a loop."""
    return tuple(turning if row <= 3 else moving for row in loop.rows) or (moving,)


def _variable(causality: Causality, name: str, units: tuple[str, ...], text: str, port: str, **more: Any) -> Variable:
    more.setdefault("labels", _labels(len(units)))
    return Variable(name=name, causality=causality, units=units, description=text, port=port, **more)


def inputs(model: Model) -> Iterator[Variable]:
    def made(name: str, units: tuple[str, ...], text: str, port: str, **more: Any) -> Iterator[Variable]:
        if units:
            more.setdefault("start", (0.0,) * len(units))
            yield _variable("input", name, units, text, port, **more)

    for body in model.bodies:
        if not body.joint.floating:
            joint, stem = body.joint, f"{body.name}.joint"
            where = f"at the joint of {body.name} on {joint.to}"
            yield from made(f"{stem}.force", ("N",) * joint.n_translations, f"Force {where}", "joint_torques")
            yield from made(f"{stem}.torque", ("N.m",) * joint.n_rotations, f"Torque {where}", "joint_torques")
    for body in model.bodies:
        text = f"on {body.name} at its mass centre, body axes"
        yield from made(f"{body.name}.force", ("N",) * 3, f"External force {text}", "external_forces")
        yield from made(f"{body.name}.torque", ("N.m",) * 3, f"External torque {text}", "external_forces")
    for body in model.bodies:
        for node in body.nodes:
            text = f"on {body.name} at node {node}, {'node' if body.flex else 'body'} axes"
            yield from made(f"{body.name}.{node}.force", ("N",) * 3, f"External force {text}", "node_forces")
            yield from made(f"{body.name}.{node}.torque", ("N.m",) * 3, f"External torque {text}", "node_forces")
    for body in model.bodies:
        text = f"Generalized forces on the modes of {body.name}"
        yield from made(f"{body.name}.flex.force", ("N.m",) * body.modes, text, "modal_forces")
    for body in model.bodies:
        if not body.joint.floating:
            text = f"Commanded position of the spring at the joint of {body.name}"
            units = _per_dof(body, "m", "rad", coordinates=True)
            yield from made(f"{body.name}.joint.rest", units, text, "rest", start=body.joint.rest)
    for body in model.bodies:
        if any(motion != "free" for motion in body.joint.motion):
            text = f"Prescribed acceleration at the joint of {body.name}"
            units = _per_dof(body, "m/s2", "rad/s2")
            yield from made(f"{body.name}.joint.acceleration", units, text, "prescribed_accelerations")
    for sort, text in (("prescribed", "follows .acceleration"), ("locked", "is locked (wins over prescribed)")):
        for body in model.bodies:
            labels = switch_labels(body)
            if labels:
                text_ = f"Whether the joint of {body.name} {text}"
                stem = f"{body.name}.joint"
                yield from made(f"{stem}.{sort}", ("",) * len(labels), text_, "switches", labels=labels, boolean=True)
    for loop in model.loops:
        if loop.switchable:
            text = f"Whether the loop {loop.name} is closed"
            start = (float(loop.closed),)
            yield from made(f"loop.{loop.name}.closed", ("",), text, "switches", start=start, boolean=True)
    for body in model.bodies:
        for wheel in body.wheels:
            text = f"Motor torque on wheel {wheel} of {body.name}"
            yield from made(f"{body.name}.{wheel}.torque", ("N.m",), text, "wheel_torques")
    yield from made("system.gravity", ("m/s2",) * 3, "Uniform gravity, inertial axes", "gravity", start=model.gravity)
    if gradient := model.gravity_gradient:
        text = "Mass centre of the system from the attracting centre, inertial axes, for the gravity gradient"
        yield from made(ORBIT_POSITION, ("m",) * 3, text, "orbit_position", start=gradient.orbit_position)


def parameters(model: Model) -> Iterator[Variable]:
    def made(name: str, units: tuple[str, ...], start: Iterable[float], text: str, **more: Any) -> Iterator[Variable]:
        if units:
            yield _variable("parameter", name, units, text, "parameters", start=tuple(start), **more)

    for body in model.bodies:
        name, joint = body.name, body.joint
        yield from made(f"{name}.mass", ("kg",), (body.mass,), f"Mass of {name}", minimum=0.0)
        text = f"Mass centre of {name} from its origin, body axes"
        yield from made(f"{name}.com", ("m",) * 3, body.com, text)
        products = (body.inertia[i][j] for i, j in UPPER)
        text = f"Inertia tensor of {name} about its mass centre, body axes"
        yield from made(f"{name}.inertia", ("kg.m2",) * 6, products, text, labels=SYMMETRIC)
        if joint.floating:
            continue
        stem = f"{name}.joint"
        text = f"Place of the joint of {name} from the origin of {joint.to}, parent axes"
        yield from made(f"{stem}.at", ("m",) * 3, joint.at, text)
        text = f"Quaternion w x y z of the joint of {name}: joint-frame components to parent components"
        yield from made(f"{stem}.frame", ("1",) * 4, joint.frame, text)
        if joint.axes:
            rows = [""] if len(joint.axes) == 1 else [f"{k + 1}," for k in range(len(joint.axes))]
            labels = tuple(f"[{row}{i}]" for row in rows for i in (1, 2, 3))
            text = f"Axes of the joint of {name} in the joint frame, translations first"
            values = (component for axis in joint.axes for component in axis)
            yield from made(f"{stem}.axis", ("1",) * len(labels), values, text, labels=labels)
        for value in (value for law in laws_of(joint.laws) for value in law.values if value.parameter):
            units = _per_dof(body, value.translation, value.rotation, coordinates=not value.speeds)
            start, text = getattr(joint, value.name), f"{value.text} of the joint of {name}"
            more: dict[str, Any] = {"minimum": value.minimum}
            if value.points:
                units = (_per_dof(body, "m", "rad", coordinates=True) + units) * len(start)
                more["labels"] = tuple(f"[{k + 1},{i}]" for k in range(len(start)) for i in (1, 2))
                text = f"{value.text} at the joint of {name}: coordinate, effort"
                start = (number for point in start for number in point)
            yield from made(f"{stem}.{value.name}", units, start, text, **more)
    for body in model.bodies:
        for wheel, rotor in body.wheels.items():
            text = f"Spin inertia of wheel {wheel} of {body.name}"
            yield from made(f"{body.name}.{wheel}.inertia", ("kg.m2",), (rotor.inertia,), text, minimum=0.0)
            text = f"Spin axis of wheel {wheel} of {body.name}, body axes"
            yield from made(f"{body.name}.{wheel}.axis", ("1",) * 3, rotor.axis, text)
    for body in model.bodies:
        for wheel, rotor in body.wheels.items():
            for part, value in BEARING.items() if rotor.bearing else ():
                text, start = f"{value.text} of wheel {wheel} of {body.name}", (getattr(rotor, part),)
                yield from made(f"{body.name}.{wheel}.{part}", (value.rotation,), start, text, minimum=value.minimum)
    for body in model.bodies:
        for node, point in body.nodes.items():
            text = f"Place of node {node} from the origin of {body.name}, body axes"
            yield from made(f"{body.name}.{node}.at", ("m",) * 3, point.at, text)
    for body in model.bodies:
        if body.flex:
            text = f"Modal stiffness of {body.name}"
            labels, values = modal_entries(body.flex.stiffness)
            yield from made(f"{body.name}.flex.stiffness", ("N.m",) * len(labels), values, text, labels=labels)
            text = f"Modal damping of {body.name}"
            labels, values = modal_entries(body.flex.damping)
            yield from made(f"{body.name}.flex.damping", ("N.m.s",) * len(labels), values, text, labels=labels)
    for loop in model.loops:
        text = f"Time within which errors of closure of loop {loop.name} decay"
        yield from made(f"loop.{loop.name}.time_constant", ("s",), (loop.time_constant,), text, minimum=0.0)
        if loop.distance is not None:
            text = f"Distance that loop {loop.name} keeps"
            yield from made(f"loop.{loop.name}.distance", ("m",), (loop.distance,), text, minimum=0.0)
    if gradient := model.gravity_gradient:
        text = "Gravitational parameter of the attracting centre, for the gravity gradient"
        value = (gradient.gravitational_parameter,)
        yield from made(GRAVITATIONAL_PARAMETER, ("m3/s2",), value, text, minimum=0.0)


def outputs(model: Model, everything: tuple[str, ...]) -> Iterator[Variable]:
    """Outputs by port; ``everything`` names all inputs, for what follows from accelerations."""

    def made(name: str, units: tuple[str, ...], text: str, port: str, **more: Any) -> Iterator[Variable]:
        if units:
            yield _variable("output", name, units, text, port, **more)

    bodies = model.bodies
    for b in bodies:
        yield from made(f"{b.name}.omega", ("rad/s",) * 3,
                        f"Angular velocity of {b.name} relative to inertial axes, body axes", "omega")  # fmt: skip
    for b in bodies:
        if not b.joint.floating:
            stem, turn = f"{b.name}.joint", "omega" if b.joint.spherical else "rate"
            yield from made(f"{stem}.velocity", ("m/s",) * b.joint.n_translations,
                            f"Speed of the joint of {b.name}", "joint_rates")  # fmt: skip
            text = "Relative angular velocity (outboard axes)" if b.joint.spherical else "Rate"
            yield from made(f"{stem}.{turn}", ("rad/s",) * b.joint.n_rotations,
                            f"{text} of the joint of {b.name}", "joint_rates")  # fmt: skip
    for b in bodies:
        yield from made(f"{b.name}.attitude", ("1",) * 4,
                        f"Quaternion w x y z of {b.name}: body components to inertial ones", "attitude")  # fmt: skip
    for b in bodies:
        if not b.joint.floating:
            stem = f"{b.name}.joint"
            yield from made(f"{stem}.displacement", ("m",) * b.joint.n_translations,
                            f"Displacement of the joint of {b.name}", "joint_positions")  # fmt: skip
            yield from made(f"{stem}.angle", ("rad",) * len(b.joint.rotations),
                            f"Angle of the joint of {b.name}", "joint_positions")  # fmt: skip
            if b.joint.spherical:
                yield from made(f"{stem}.attitude", ("1",) * 4,
                                f"Quaternion w x y z of the joint of {b.name}: body to joint frame",
                                "joint_positions")  # fmt: skip
    for b in bodies:
        for w in b.wheels:
            yield from made(f"{b.name}.{w}.speed", ("rad/s",), f"Speed of wheel {w} relative to {b.name}", "wheels")
            yield from made(f"{b.name}.{w}.momentum", ("N.m.s",),
                            f"Absolute spin momentum of wheel {w} of {b.name}", "wheels")  # fmt: skip
    for b in bodies:
        if b.flex:
            m = b.flex.modes
            yield from made(f"{b.name}.flex.displacement", ("1",) * m, f"Modal displacement of {b.name}", "modes")
            yield from made(f"{b.name}.flex.rate", ("1/s",) * m, f"Modal rate of {b.name}", "modes")
            yield from made(f"{b.name}.flex.strain_energy", ("J",), f"Strain energy in the modes of {b.name}", "modes")
            for node in b.nodes:
                text = f"Angular velocity of node {node} of {b.name} relative to inertial axes, node axes"
                yield from made(f"{b.name}.{node}.omega", ("rad/s",) * 3, text, "modes")
                text = f"Quaternion w x y z of node {node} of {b.name}: node components to inertial ones"
                yield from made(f"{b.name}.{node}.attitude", ("1",) * 4, text, "modes")
    points = [(f"{b.name}", f"the origin of {b.name}") for b in bodies]
    points += [(f"{b.name}.{node}", f"node {node} of {b.name}") for b in bodies for node in b.nodes]
    for stem, what in points:
        yield from made(f"{stem}.position", ("m",) * 3, f"Position of {what}, inertial axes", "motion")
        yield from made(f"{stem}.velocity", ("m/s",) * 3, f"Velocity of {what}, inertial axes", "motion")
        yield from made(f"{stem}.acceleration", ("m/s2",) * 3, f"Acceleration of {what}, inertial axes", "motion",
                        dependencies=everything)  # fmt: skip
    for b in bodies:
        for node in b.nodes:
            axes = "node" if b.flex else "body"
            text = f"Acceleration of node {node} of {b.name} less gravity, as an accelerometer feels it, {axes} axes"
            yield from made(f"{b.name}.{node}.specific_force", ("m/s2",) * 3, text, "motion", dependencies=everything)
    for b in bodies:
        if b.joint.floating and not any(m != "free" for m in b.joint.motion):
            continue
        stem = f"{b.name}.joint"
        if any(m != "free" for m in b.joint.motion):
            yield from made(f"{stem}.reaction", _per_dof(b, "N", "N.m"),
                            f"Effort of the constraint on the joint of {b.name}", "reactions",
                            dependencies=everything)  # fmt: skip
        yield from made(f"{stem}.load", ("N.m",) * 3 + ("N",) * 3,
                        f"Moment and force on {b.name} through its joint, about its origin, body axes", "loads",
                        dependencies=everything)  # fmt: skip
    for b in bodies:
        if labels := switch_labels(b):
            every = _per_dof(b, "N.s", "N.m.s")
            units = tuple(every[i] for i in switched(b.joint.motion))
            text = f"Impulse of the latch at the joint of {b.name}, where the last step locked it while it moved"
            yield from made(f"{b.name}.joint.impulse", units, text, "impulses", labels=labels)
    for loop in model.loops:
        if loop.switchable:
            text = f"Impulse of the closing of loop {loop.name}, where the last step closed it"
            yield from made(f"loop.{loop.name}.impulse", loop_units(loop, "N.m.s", "N.s"), text, "impulses")
    for loop in model.loops:
        text = f"Error of closure of loop {loop.name}"
        yield from made(f"loop.{loop.name}.residual", loop_units(loop, "rad", "m"), text, "residuals")
    for loop in model.loops:
        stem, where = f"loop.{loop.name}", "on b at its place, axes of the loop frame of a"
        yield from made(f"{stem}.force", ("N",) * 3, f"Force of loop {loop.name} {where}", "loops",
                        dependencies=everything)  # fmt: skip
        yield from made(f"{stem}.torque", ("N.m",) * 3, f"Torque of loop {loop.name} {where}", "loops",
                        dependencies=everything)  # fmt: skip
        text = f"Rate of the error of closure of loop {loop.name}"
        yield from made(f"{stem}.residual_rate", loop_units(loop, "rad/s", "m/s"), text, "loops")
    springs = tuple(n for n in everything if n.endswith(".rest"))
    for name, unit, text, depends in (
        ("mass", "kg", "Mass of the system", ()),
        ("centre_of_mass", "m", "Mass centre of the system, inertial axes", ()),
        ("centre_of_mass_velocity", "m/s", "Velocity of the mass centre, inertial axes", ()),
        ("momentum", "N.s", "Linear momentum, inertial axes", ()),
        ("angular_momentum", "N.m.s", "Angular momentum about the mass centre, inertial axes", ()),
        ("energy", "J", "Kinetic energy, springs and uniform gravity", (*springs, "system.gravity")),
        ("work_residual", "W", "Rate of kinetic energy less the power of all forces (Huston and Liu Eq. 55)",
         everything),
    ):  # fmt: skip
        units = (unit,) if name in ("mass", "energy", "work_residual") else (unit,) * 3
        yield from made(f"system.{name}", units, text, "system", dependencies=depends)
