"""What a system is: bodies, joints, wheels, nodes, loops and the start of a run, as frozen data in SI units.

Frames and symbols are those of Stoneking's Order-N memo as far as they go: N is inertial; body ``j`` has
frame ``B_j`` whose origin is the outboard point of its inboard joint.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, make_dataclass, replace
from functools import cached_property, partial
from math import isfinite
from types import MappingProxyType
from typing import Any

from mbdy.engine.model.arrays import IDENTITY, ZERO3, Matrix3, Quaternion, Rows, Vector3, listed
from mbdy.engine.model.bearing import BEARING
from mbdy.engine.model.contacts import Contact
from mbdy.engine.model.contents import SourceFile
from mbdy.engine.model.display import html_table, table_of_names
from mbdy.engine.model.faults import Findings, UnknownNameError, nearest, shown
from mbdy.engine.model.fields import (
    Accelerations,
    Angle,
    Axes,
    Axis,
    BodyInertia,
    BodyMass,
    Distance,
    DynamicImbalance,
    GravitationalParameter,
    InertiaAbout,
    Lengths,
    SpinInertia,
    StaticImbalance,
    Switch,
    TimeConstant,
    bearing_number,
)
from mbdy.engine.model.frames import axes_frame, frame, inverse, product, turned
from mbdy.engine.model.gear import Freedom, Gear, freedom_of
from mbdy.engine.model.harmonics import Harmonics, harmonics
from mbdy.engine.model.inertia_spellings import about_mass_centre
from mbdy.engine.model.joint_values import (
    KEYS,
    VALUES,
    Motion,
    along_body,
    independent,
    joint_values,
    refuse_key,
    rotor_axes,
)
from mbdy.engine.model.laws import JOINT_VALUES, LAWS
from mbdy.engine.model.laws.sticking import TABLE, spread
from mbdy.engine.model.parts import Part, an, kept, named, names, numbers, part, several, starts, taking, text, value
from mbdy.engine.model.profiles import start_rates
from mbdy.engine.model.side import Side
from mbdy.engine.model.signals import ChosenOutput
from mbdy.engine.model.springs import Spring
from mbdy.engine.model.tanks import Tank, check_masses
from mbdy.engine.model.units import real

INERTIAL = "inertial"
Acting = Spring | Contact
"""What acts between two places by a force of its own."""
HELD_AT_ORIGIN = (
    "is off the origin of a flexible body, whose modes leave the place of its joint there",
    "take the joint's place as origin of its modal data, where a source has the key 'origin'",
)
"""What is said of a flexible body that its joint holds elsewhere, and the remedy."""

X: Vector3 = (1.0, 0.0, 0.0)
Y: Vector3 = (0.0, 1.0, 0.0)
Z: Vector3 = (0.0, 0.0, 1.0)

# Fields that follow from laws of effort, which a type checker cannot know: Any lets it take them as they come.
_fields: Any = partial(make_dataclass, bases=(Part,), frozen=True, slots=True, kw_only=True)
JointValues: Any = _fields("JointValues", [(name, tuple, ()) for name in JOINT_VALUES])
BearingValues: Any = _fields(
    "BearingValues",
    [(name, float, value(converter=taking(bearing_number(one)), default=one.default)) for name, one in BEARING.items()],
)


@part()
class Joint(JointValues):
    """One general joint: a placement in the parent, up to 3 translations, then up to 3 rotations.

    ``to``            name of the parent body, or ``"inertial"``.
    ``node``          node of the parent that the joint sits on, which a flexible parent moves; empty: its origin.
    ``kind``          the spelling it came from (``"revolute"``, ``"free"``, ...; ``"general"`` without one).
                      Only ``"free"`` and ``"attitude"`` mean more than their axes: they name a floating root.
    ``translations``  axes [-] in the joint frame, each of any length but zero (a direction).
    ``rotations``     axes [-], successive axes following the rotations already made; empty when ``spherical``.
    ``spherical``     three rotational degrees of freedom by quaternion; speeds are the relative angular
                      velocity in outboard axes.
    ``at``            [m] joint's place from the parent's origin (or node), parent's (or node's) axes.
    ``frame``         quaternion w, x, y, z: joint-frame components to the parent's (or node's).
    ``at_b``          [m] joint's place from the body's own origin, body axes; zero of a flexible body.
    ``frame_b``       joint-frame components to the body's at zero; the joint frame that is kept is along the body's
                      axes then, so that it reads identity, and ``frame`` and axes are in that.
    ``axes_in``       ``"parent"`` where axes are given in the parent's axes; they are kept in the ``"joint"`` frame.
    ``motion``        one for each degree of freedom, translations first.
    ``rotor_axis``    axes [-] of the rotors of its coordinates, in the parent's (or node's) axes, of which it is the
                      carrying body; empty where their own spin is no matter.

    The other fields are the values of `mbdy.engine.model.laws` (``stiffness``, ``friction``, ...), one for each
    coordinate or degree of freedom (three of a spherical rotation that has a spring), or a table over the only
    coordinate as pairs of that [m, rad] and a value; those of a law that the joint does not have are empty. A
    mapping as ``friction`` has ``coulomb``, ``breakaway`` and ``viscous``.
    """

    to: str = value(converter=text)
    kind: str = value(converter=text, default="general")
    translations: tuple[Vector3, ...] = value(converter=taking(Axes), default=())
    rotations: tuple[Vector3, ...] = value(converter=taking(Axes), default=())
    spherical: bool = value(converter=taking(Switch), default=False)
    at: Vector3 = value(converter=taking(Lengths), default=ZERO3)
    frame_b: Quaternion = value(converter=frame, default=IDENTITY)
    frame: Quaternion = value(converter=frame, default=IDENTITY)
    motion: tuple[Motion, ...] = value(converter=kept, default=())
    node: str = value(converter=text, default="")
    at_b: Vector3 = value(converter=taking(Lengths), default=ZERO3)
    axes_in: str = value(converter=axes_frame, default="joint")
    rotor_axis: tuple[Vector3, ...] = value(converter=kept, default=())

    def _agree(self, findings: Findings) -> None:
        for name, entries in spread({TABLE: self.friction}, "Joint", findings).items():
            if name != TABLE:
                object.__setattr__(self, name, entries)
                object.__setattr__(self, TABLE, ())
        if self.kind not in KEYS:
            return findings.refuse("Joint.kind", f"unknown kind of joint {self.kind!r}", nearest(self.kind, KEYS))
        if not (self.axes or self.spherical) and (self.floating or self.kind == "spherical"):
            object.__setattr__(self, "translations", (X, Y, Z) if self.floating else ())
            object.__setattr__(self, "spherical", True)
        if not independent({"Joint.translations": self.translations, "Joint.rotations": self.rotations}, findings):
            return None
        for key, origin in (("at", ZERO3), ("frame", IDENTITY), ("at_b", ZERO3), ("frame_b", IDENTITY)):
            if key not in KEYS[self.kind] and getattr(self, key) != origin:
                refuse_key(self.kind, key, "Joint", findings)
        frame_b = self.frame_b
        self._in_body_axes()
        given = self._given(findings)
        values = along_body(self, joint_values(self, given, "Joint", findings), frame_b)
        for name, entries in (dict.fromkeys(given, ()) | values).items():
            object.__setattr__(self, name, entries)
        if not findings.faults:
            self._fill_laws(findings)
            given = findings.attempt("Joint.rotor_axis", listed, self.rotor_axis)
            if given and "rotor_axis" not in KEYS[self.kind]:
                refuse_key(self.kind, "rotor_axis", "Joint", findings)
            elif not findings.faults:
                object.__setattr__(self, "rotor_axis", rotor_axes(self, given, "Joint", findings))
        return None

    def _in_body_axes(self) -> None:
        """The joint frame turned to the body's axes at zero, with its axes from wherever they were given."""
        if self.axes_in == "parent":
            self._turn_axes(turned(inverse(self.frame)))
        if self.frame_b != IDENTITY:
            self._turn_axes(turned(self.frame_b))
            object.__setattr__(self, "frame", product(self.frame, inverse(self.frame_b)))
        object.__setattr__(self, "frame_b", IDENTITY)
        object.__setattr__(self, "axes_in", "joint")

    def _turn_axes(self, turn: Callable[[Vector3], Vector3]) -> None:
        for name in ("translations", "rotations"):
            object.__setattr__(self, name, tuple(map(turn, getattr(self, name))))

    def _given(self, findings: Findings) -> dict[str, Any]:
        """The values that were given, each one entry or a list, as far as there may be so many."""
        given: dict[str, Any] = {}
        for name in VALUES:
            entries = findings.attempt(f"Joint.{name}", listed, getattr(self, name), instead=[])
            if isinstance(entries, list) and not entries:
                continue
            wanted = self._counts(name)
            if name not in KEYS[self.kind]:
                if _any(entries):
                    refuse_key(self.kind, name, "Joint", findings)
            elif isinstance(entries, list) and wanted and len(entries) not in (*wanted, self.n_u):
                remedy = "give one value for all, or one each"
                findings.refuse(f"Joint.{name}", f"{wanted[-1]} values are needed, got {len(entries)}", remedy)
            else:
                given[name] = entries
        return given

    def _counts(self, name: str) -> tuple[int, ...]:
        """How many values of that ``name`` there can be, those of a spherical rotation with a spring first; none of a
        table."""
        one = JOINT_VALUES.get(name)
        if one is None or one.speeds:
            return (self.n_u,)
        if one.points:
            return ()
        return (self.n_u, self.n_coordinates) if one.turns else (self.n_coordinates,)

    def _fill_laws(self, findings: Findings) -> None:
        """Defaults where nothing was given."""
        for law in LAWS:
            first = law.values[0].name
            present = law.always or getattr(self, first)
            for one in law.values:
                if present and not one.points and one.default is not None and not getattr(self, one.name):
                    count = self._counts(one.name)[0 if self.ball_spring else -1]
                    object.__setattr__(self, one.name, (one.default,) * count)
                elif getattr(self, one.name) and not present:
                    findings.refuse(f"Joint.{one.name}", f"has no sense without {first}", f"give {first} too")
        if not self.motion:
            object.__setattr__(self, "motion", ("free",) * self.n_u)

    @property
    def laws(self) -> tuple[str, ...]:
        """The laws of effort that this joint has besides spring and damper."""
        return tuple(law.name for law in LAWS if not law.always and getattr(self, law.values[0].name))

    @property
    def floating(self) -> bool:
        """Whether this is a floating root (``free`` or ``attitude``)."""
        return self.kind in ("free", "attitude")

    @property
    def ball_spring(self) -> bool:
        """Whether its spherical rotation has a spring."""
        return self.spherical and len(self.stiffness) > self.n_coordinates

    @property
    def offset(self) -> bool:
        """Whether it holds its body elsewhere than at the origin."""
        return self.at_b != ZERO3

    @property
    def n_translations(self) -> int:
        return len(self.translations)

    @property
    def n_rotations(self) -> int:
        """Rotational degrees of freedom."""
        return 3 if self.spherical else len(self.rotations)

    @property
    def n_coordinates(self) -> int:
        """Coordinates that are a distance or an angle (all but a spherical joint's quaternion)."""
        return len(self.translations) + len(self.rotations)

    @property
    def n_q(self) -> int:
        """Position states: distances, then angles or one quaternion."""
        return self.n_translations + (4 if self.spherical else len(self.rotations))

    @property
    def n_u(self) -> int:
        """Degrees of freedom."""
        return self.n_translations + self.n_rotations

    @property
    def axes(self) -> tuple[Vector3, ...]:
        """Axes of the coordinates, translations first."""
        return self.translations + self.rotations


@part()
class Wheel(BearingValues):
    """A rotor in a body that already includes its mass and inertia.

    ``axis`` [-] body axes, any length but zero; ``inertia`` [kg.m2] spin inertia. Its bearing (`BEARING`) has viscous
    ``damping`` [N.m.s/rad] and Coulomb ``friction`` [N.m], smoothed below ``friction_rate`` [rad/s].

    With ``angle`` its angle is a state. ``static_imbalance`` [kg.m] is its mass times the distance of its mass centre
    from the axis, ``dynamic_imbalance`` [kg.m2] its product of inertia of axis and radius about its centre ``at`` [m,
    from the body's origin]; the phases [rad] say where, from the first axis of `mbdy.engine.model.rotations.across`.
    ``mass`` [kg] of the rotor is of no influence. ``harmonics`` are those of its disturbance.
    """

    axis: Vector3 = value(converter=taking(Axis))
    inertia: float = value(converter=taking(SpinInertia))
    angle: bool = value(converter=taking(Switch), default=False)
    at: Vector3 = value(converter=taking(Lengths), default=ZERO3)
    mass: float | None = value(converter=taking(BodyMass | None), default=None)
    static_imbalance: float = value(converter=taking(StaticImbalance), default=0.0)
    static_phase: float = value(converter=taking(Angle), default=0.0)
    dynamic_imbalance: float = value(converter=taking(DynamicImbalance), default=0.0)
    dynamic_phase: float = value(converter=taking(Angle), default=0.0)
    harmonics: Harmonics = value(converter=harmonics, default=())

    @property
    def explicit(self) -> bool:
        """Whether its angle counts, so that it is a body of its own (`mbdy.engine.model.rotors`)."""
        return bool(self.angle or self.static_imbalance or self.dynamic_imbalance or self.harmonics)

    @property
    def bearing(self) -> bool:
        """Whether its bearing takes any torque; one that does not is not compiled in."""
        return self.damping != 0 or self.friction != 0


@part()
class Node(Part):
    """A point of a body where forces enter, motion is read, joints and loops sit: ``at`` [m] from the body's origin.

    On a flexible body it moves and turns with the modes ``eta``: by ``shape`` (6 rows of m, the first three turning,
    the last three moving it) times eta, and by ``1/2 eta' bend eta`` [m] for each of x, y, z (``bend``: m x m each),
    the foreshortening that lets loads stiffen the body. All in body axes; empty is zero.
    """

    at: Vector3 = value(converter=taking(Lengths))
    shape: Rows = value(converter=numbers, default=())
    bend: tuple[Rows, ...] = value(converter=numbers, default=())

    def _agree(self, findings: Findings) -> None:
        for name, rows in (("shape", 6), ("bend", 3)):
            entries = getattr(self, name)
            if len(entries) not in (0, rows) or len({len(entry) for entry in entries}) > 1:
                findings.refuse(f"Node.{name}", f"{rows} rows of one length are needed, got {len(entries)}")


@part()
class Flex(Part):
    """Modes of a flexible body: m displacement fields of its material about the body frame, small ones.

    A point at ``r`` (body axes, from the origin, which the modes neither move nor turn, except in a floating root)
    moves by ``phi(r) eta``, second-order terms apart. All that follows is integrated over the body's mass. Matrices are
    tuples of rows; empty is zero for all but the first three.

    ``mass``            (m, m) integral of phi_i . phi_j [kg.m2, as eta has no unit].
    ``stiffness``       (m, m) and ``damping`` (m, m): generalized forces ``-K eta - C eta'``.
    ``coupling``        (6, m) rows 1-3 integral of r x phi_j, rows 4-6 integral of phi_j (with the rigid body's
                        momenta about its origin).
    ``inertia_first``   m tensors (3, 3): change of the inertia about the origin with eta_k.
    ``inertia_second``  (m, m) of tensors (3, 3), symmetric: its second derivatives by eta_i, eta_j.
    ``gyroscopic``      (m, m) of vectors (3): integral of phi_i x phi_j, row i column j, and of r x the second
                        derivative of the displacement by eta_i, eta_j where that is not along r.
    ``moment_second``   3 of (m, m), symmetric: second derivatives of the first moment's x, y, z by eta_i, eta_j;
                        foreshortening, which makes accelerations and spin stiffen the body.

    Kinetic energy, moment and inertia are those of T. R. Kane, P. W. Likins, D. A. Levinson, Spacecraft Dynamics (1983)
    and O. Wallrapp, Standardization of flexible body modeling (1994), with all terms up to second order in eta.
    """

    mass: Rows = value(converter=numbers)
    stiffness: Rows = value(converter=numbers)
    damping: Rows = value(converter=numbers)
    coupling: Rows = value(converter=numbers)
    inertia_first: tuple[Matrix3, ...] = value(converter=numbers, default=())
    inertia_second: tuple[tuple[Matrix3, ...], ...] = value(converter=numbers, default=())
    gyroscopic: tuple[tuple[Vector3, ...], ...] = value(converter=numbers, default=())
    moment_second: tuple[Rows, ...] = value(converter=numbers, default=())

    def _agree(self, findings: Findings) -> None:
        m = self.modes
        shapes = {
            "mass": (m, m), "stiffness": (m, m), "damping": (m, m), "coupling": (6, m), "inertia_first": (m, 3, 3),
            "inertia_second": (m, m, 3, 3), "gyroscopic": (m, m, 3), "moment_second": (3, m, m),
        }  # fmt: skip
        for name, shape in shapes.items():
            entries = getattr(self, name)
            if not _shaped(entries, shape) and (entries or len(shape) == 2):
                findings.refuse(f"Flex.{name}", f"numbers of shape {shape} are needed", "with a row for each mode")

    @property
    def modes(self) -> int:
        """Number of modes."""
        return len(self.mass)


@part()
class Body(Part):
    """A body: ``mass`` [kg], ``com`` [m] from its origin and ``inertia`` [kg.m2] about it, body axes, undeformed.

    It is flexible with ``flex``. An ``inertia`` that is given about the ``"origin"`` or the ``"joint"``
    (``inertia_about``) is kept about the mass centre, ``"com"``.
    """

    name: str = value(converter=text)
    joint: Joint = value(converter=an(Joint))
    mass: float = value(converter=taking(BodyMass))
    com: Vector3 = value(converter=taking(Lengths), default=ZERO3)
    inertia: Matrix3 = value(converter=taking(BodyInertia), default=(ZERO3, ZERO3, ZERO3))
    wheels: Mapping[str, Wheel] = value(converter=named(Wheel), default_factory=dict)
    nodes: Mapping[str, Node] = value(converter=named(Node), default_factory=dict)
    flex: Flex | None = value(converter=an(Flex, optional=True), default=None)
    inertia_about: str = value(converter=taking(InertiaAbout), default="com")
    harmonics: Harmonics = value(converter=harmonics, default=())
    rotor: str = value(converter=text, default="")
    """The name of the wheel that it is to the body that its joint leads to; empty: it is none."""

    def _agree(self, findings: Findings) -> None:
        given = (self.inertia, self.inertia_about, self.mass, self.com, self.joint.at_b)
        object.__setattr__(self, "inertia", findings.attempt("Body.inertia", about_mass_centre, *given))
        object.__setattr__(self, "inertia_about", "com")
        if self.flex and self.joint.offset:
            findings.refuse("Body.joint.at_b", *HELD_AT_ORIGIN)

    @property
    def modes(self) -> int:
        """Number of its modes; 0 for a rigid body."""
        return self.flex.modes if self.flex else 0


@part()
class Loop(Part):
    """A constraint between two places, each with a loop frame: ``rows`` of six relative motions are held at zero.

    ``rows``           1, 2, 3: turning of b against a about x, y, z of a's loop frame; 4, 5, 6: moving along them.
                       One turning row k holds the axis k+1 of a and the axis k+2 of b at a right angle (1, 2, 3 in a
                       circle); two leave a hinge about the third axis, which is common to both sides.
    ``distance``       [m] between the places instead of rows, for a massless rod with ball joints.
    ``kind``           the spelling that it came from.
    ``time_constant``  [s] within which errors of closure decay by a factor of e (Baumgarte's gains 2/T and 1/T2).
    ``closed``         whether it is closed at the start; ``switchable`` whether it can be opened and closed.
    """

    name: str = value(converter=text)
    a: Side = value(converter=an(Side))
    b: Side = value(converter=an(Side))
    rows: tuple[int, ...] = value(converter=kept, default=())
    distance: float | None = value(converter=taking(Distance | None), default=None)
    kind: str = value(converter=text, default="rows")
    time_constant: float = value(converter=taking(TimeConstant), default=0.1)
    closed: bool = value(converter=taking(Switch), default=True)
    switchable: bool = value(converter=taking(Switch), default=False)

    def _agree(self, findings: Findings) -> None:
        rows = findings.attempt("Loop.rows", listed, self.rows)
        if not isinstance(rows, list) or not all(type(row) is int and 1 <= row <= 6 for row in rows):
            return findings.refuse("Loop.rows", f"must be numbers from 1 to 6, got {shown(self.rows)}")
        object.__setattr__(self, "rows", tuple(sorted(rows)))
        if len(set(rows)) < len(rows):
            findings.refuse("Loop.rows", f"names a row twice, got {shown(self.rows)}", "keep one of them")
        if (self.distance is None) == (not rows):
            findings.refuse("Loop.rows", "either rows or a distance is needed", f"give one of them to {self.name!r}")
        if not (self.closed or self.switchable):
            findings.refuse("Loop.switchable", "must be true of a loop that starts open", "or let it start closed")
        return None

    @property
    def size(self) -> int:
        """Number of its scalar constraints."""
        return len(self.rows) or 1

    @property
    def turning(self) -> tuple[bool, ...]:
        """By row, whether it holds a turning, or else a moving."""
        return tuple(row <= 3 for row in self.rows) or (False,)


@part()
class GravityGradient(Part):
    """Gravity that differs over the system: start values of that (`mbdy.engine.order_n.gravity_gradient`).

    ``orbit_position`` [m] leads from the attracting centre to the system's mass centre, inertial axes;
    ``gravitational_parameter`` [m3/s2] is that centre's, the Earth's unless given.
    """

    orbit_position: Vector3 = value(converter=taking(Lengths), default=(7e6, 0.0, 0.0))
    gravitational_parameter: float = value(converter=taking(GravitationalParameter), default=3.986004418e14)


@part()
class PortChoice(Part):
    """Which inputs and outputs a system has, as names or patterns (``"*.joint.torque"``); None: all of them.

    An input that is left out keeps its start value, and a state whose output is left out its start value's name.
    """

    inputs: tuple[str, ...] | None = value(converter=names, default=None)
    outputs: tuple[str, ...] | None = value(converter=names, default=None)


def _bodies(given: object) -> tuple[Body, ...]:
    """Bodies, with their rotors. Raises `RefusalError`."""
    from mbdy.engine.model.rotors import with_rotors

    return with_rotors(several(Body)(given))


@part(slots=False, repr=False)
class Model(Part):
    """A system of bodies in the order of its file, with gravity [m/s2] and the start of a run.

    ``initial`` holds start values in SI by the names of `mbdy.engine.model.ports` without index
    (``bus.omega``, ``panel.joint.angle``, ``bus.x.speed``), which closing loops keeps; ``guess`` others, from which it
    begins and which it may move. What is in neither starts at zero or identity.
    ``gravity_gradient`` is for systems with one root, a floating one; it costs nothing where it is None.
    ``source`` is the file it came from, for messages; ``files`` are all that were read for it. ``loops`` close the tree
    of joints, ``gears`` tie joints to each other, ``springs`` and ``contacts`` act between places of bodies. ``tanks``
    sit in bodies.
    ``chosen_outputs`` come beside others; ``port_choice`` says which inputs and outputs there are.
    """

    name: str = value(converter=text)
    bodies: tuple[Body, ...] = value(converter=_bodies)
    gravity: Vector3 = value(converter=taking(Accelerations), default=ZERO3)
    initial: Mapping[str, tuple[float, ...]] = value(converter=starts, default_factory=dict)
    gravity_gradient: GravityGradient | None = value(converter=an(GravityGradient, optional=True), default=None)
    source: str = ""
    files: tuple[SourceFile, ...] = field(default=(), compare=False)
    loops: tuple[Loop, ...] = value(converter=several(Loop), default=())
    gears: tuple[Gear, ...] = value(converter=several(Gear), default=())
    port_choice: PortChoice = value(converter=an(PortChoice), default=PortChoice())
    springs: tuple[Spring, ...] = value(converter=several(Spring), default=())
    contacts: tuple[Contact, ...] = value(converter=several(Contact), default=())
    guess: Mapping[str, tuple[float, ...]] = value(converter=starts, default_factory=dict)
    chosen_outputs: tuple[ChosenOutput, ...] = value(converter=several(ChosenOutput), default=())
    tanks: tuple[Tank, ...] = value(converter=several(Tank), default=())

    def _agree(self, findings: Findings) -> None:
        from mbdy.engine.model.tree_rules import check_parts

        check_parts(self, findings)
        if not findings.faults:
            self._start(findings)

    def _start(self, findings: Findings) -> None:
        """Start values that were given as anyone gives them, in SI, and rates at which profiles begin."""
        self._start_in_si(findings)
        for table in ("initial", "guess"):
            check_masses(self.tanks, table, getattr(self, table), findings)
        initial = dict(self.initial)
        start_rates(self.bodies, {"initial": initial, "guess": dict(self.guess)}, findings)
        object.__setattr__(self, "initial", MappingProxyType(initial))

    def _start_in_si(self, findings: Findings) -> None:
        from mbdy.engine.model.ports import ports
        from mbdy.engine.model.starts import respelled, start_of

        angles = {f"{body.name}.joint.angle" for body in self.bodies if body.joint.spherical}
        if all(map(_in_si, self.starts.values())) and angles.isdisjoint(self.starts):
            return
        bodies = Draft(name="", bodies=self.bodies, tanks=self.tanks, initial=dict.fromkeys(self.starts, ()))
        variables = ports(bodies).starts
        for table in ("initial", "guess"):
            starts = {
                name: start_of(name, value, f"{table}.{given}", bodies.index, variables, findings)
                for given, value in getattr(self, table).items()
                for name, value in (respelled(given, value, variables),)
            }
            object.__setattr__(self, table, MappingProxyType(starts))

    def __repr__(self) -> str:
        loops = f", {len(self.loops)} loops" if self.loops else ""
        loops += f", {len(self.gears)} gears" if self.gears else ""
        return f"<Model {self.name!r}: {len(self.bodies)} bodies{loops}; {table_of_names(list(self.index))}>"

    def _repr_html_(self) -> str:
        rows = [(b.name, f"{b.mass:.6g}", f"{b.joint.kind} to {b.joint.to}") for b in self.bodies]
        return html_table(f"Model {self.name!r}", ("body", "mass [kg]", "joint"), rows)

    def __getstate__(self) -> dict[str, object]:
        """What pickle and copy keep: a read-only mapping is neither pickled nor copied as it is."""
        return {**self.__dict__, "initial": dict(self.initial), "guess": dict(self.guess)}

    def __setstate__(self, state: dict[str, object]) -> None:
        proxies = {key: MappingProxyType(state[key]) for key in ("initial", "guess")}  # pyright: ignore
        self.__dict__.update(state, **proxies)

    @property
    def standing(self) -> dict[str, int]:
        """Start values by name as GIVEN of core.h has them: 1 for those that stay, -1 for those that are guessed."""
        return {**dict.fromkeys(self.guess, -1), **dict.fromkeys(self.initial, 1)}

    @property
    def starts(self) -> Mapping[str, tuple[float, ...]]:
        """Start values by name, those that stay and those that are guessed."""
        return {**self.guess, **self.initial}

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Place of each body in ``bodies`` by name."""
        return {body.name: i for i, body in enumerate(self.bodies)}

    @property
    def elements(self) -> tuple[Acting, ...]:
        """The springs, then the contacts."""
        return (*self.springs, *self.contacts)

    @property
    def constraints(self) -> tuple[Loop | Gear, ...]:
        """What holds coordinates of the tree: its loops, then its gears."""
        return (*self.loops, *self.gears)

    def freedoms(self, gear: Gear) -> tuple[Freedom, ...]:
        """The degrees of freedom in the terms of a ``gear``."""
        bodies = {body.name: body for body in self.bodies}
        return tuple(freedom_of(name, bodies) for name, _ in gear.terms)

    def turning(self, constraint: Loop | Gear) -> tuple[bool, ...]:
        """By row of a ``constraint``, whether its error is an angle [rad], or else a distance [m]."""
        return constraint.turning if isinstance(constraint, Loop) else (self.freedoms(constraint)[0].turns,)

    @property
    def whole(self) -> Model:
        """The model with all its inputs and outputs."""
        return self if self.port_choice == PortChoice() else replace(self, port_choice=PortChoice())

    def body(self, name: str) -> Body:
        """The body called ``name``; KeyError names those that exist."""
        try:
            return self.bodies[self.index[name]]
        except KeyError:
            raise UnknownNameError(f"no body {name!r}; bodies are {', '.join(self.index)}") from None


@part(slots=False, repr=False)
class Draft(Model):
    """A model that is being read: its parts are judged by the reader, which tells all that is wrong at once."""

    def _agree(self, findings: Findings) -> None:
        pass


def _in_si(start: object) -> bool:
    return isinstance(start, tuple) and all(type(number) is float and isfinite(number) for number in start)


def _any(entries: Any) -> bool:
    """Whether some of ``entries`` is not zero."""
    return any(map(_any, entries)) if isinstance(entries, list) else real(entries) != 0.0


def _shaped(entries: Any, shape: tuple[int, ...]) -> bool:
    """Whether tuples in tuples have that shape."""
    if not shape:
        return not isinstance(entries, tuple)
    return isinstance(entries, tuple) and len(entries) == shape[0] and all(_shaped(e, shape[1:]) for e in entries)
