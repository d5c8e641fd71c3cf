"""What a system is: bodies, joints, wheels, nodes, loops and the start of a run, as frozen data in SI units.

Frames and symbols are those of Stoneking's Order-N memo as far as they go: N is inertial; body ``j`` has
frame ``B_j`` whose origin is the outboard point of its inboard joint.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, make_dataclass, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, Literal

from mbdy.engine.model.bearing import BEARING
from mbdy.engine.model.contents import SourceFile
from mbdy.engine.model.display import html_table, table_of_names
from mbdy.engine.model.faults import RefusalError, UnknownNameError
from mbdy.engine.model.laws import JOINT_VALUES, LAWS

Vector3 = tuple[float, float, float]
Matrix3 = tuple[Vector3, Vector3, Vector3]
Quaternion = tuple[float, float, float, float]
Rows = tuple[tuple[float, ...], ...]
"""A matrix as a tuple of its rows."""
Motion = Literal["free", "prescribed", "switchable"]

INERTIAL = "inertial"

IDENTITY: Quaternion = (1.0, 0.0, 0.0, 0.0)
ZERO3: Vector3 = (0.0, 0.0, 0.0)

# Fields that follow from laws of effort, which a type checker cannot know: Any lets it take them as they come.
_fields: Any = partial(make_dataclass, frozen=True, slots=True, kw_only=True)
JointValues: Any = _fields("JointValues", [(name, tuple, ()) for name in JOINT_VALUES])
BearingValues: Any = _fields("BearingValues", [(name, float, value.default) for name, value in BEARING.items()])


@dataclass(frozen=True, slots=True, kw_only=True)
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
    ``motion``        one for each degree of freedom, translations first.

    The other fields are the values of `mbdy.engine.model.laws` (``stiffness``, ``friction``, ...), one for each
    coordinate or degree of freedom, or a table over the only coordinate as pairs of that [m, rad] and a value; those of
    a law that the joint does not have are empty.
    """

    to: str
    kind: str = "general"
    translations: tuple[Vector3, ...] = ()
    rotations: tuple[Vector3, ...] = ()
    spherical: bool = False
    at: Vector3 = ZERO3
    frame: Quaternion = IDENTITY
    motion: tuple[Motion, ...] = ()
    node: str = ""

    def __post_init__(self) -> None:
        self._fill("motion", self.n_u, "free")
        for law in LAWS:
            first = law.values[0].name
            for value in law.values:
                if value.points:
                    self._check_points(value.name)
                elif law.always or getattr(self, first):
                    self._fill(value.name, self.n_u if value.speeds else self.n_coordinates, value.default)
                elif getattr(self, value.name):
                    raise RefusalError(f"joint {value.name}: has no sense without {first}")

    def _fill(self, name: str, count: int, default: float | str | None) -> None:
        value = getattr(self, name)
        if not value and default is not None:
            object.__setattr__(self, name, (default,) * count)
        elif len(value) != count:
            raise RefusalError(f"joint {name}: {count} values are needed, got {len(value)}")

    def _check_points(self, name: str) -> None:
        points = getattr(self, name)
        if points and (self.floating or self.n_coordinates != 1):
            raise RefusalError(f"joint {name}: needs exactly one coordinate, the joint has {self.n_coordinates}")
        if len(points) == 1 or any(len(point) != 2 for point in points):
            raise RefusalError(f"joint {name}: two points or more are needed, each a pair of numbers")

    @property
    def laws(self) -> tuple[str, ...]:
        """The laws of effort that this joint has besides spring and damper."""
        return tuple(law.name for law in LAWS if not law.always and getattr(self, law.values[0].name))

    @property
    def floating(self) -> bool:
        """Whether this is a floating root (``free`` or ``attitude``)."""
        return self.kind in ("free", "attitude")

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Wheel(BearingValues):
    """A rotor in a body that already includes its mass and inertia.

    ``axis`` [-] body axes, any length but zero; ``inertia`` [kg.m2] spin inertia. Its bearing (`BEARING`) has viscous
    ``damping`` [N.m.s/rad] and Coulomb ``friction`` [N.m], smoothed below ``friction_rate`` [rad/s].
    """

    axis: Vector3
    inertia: float

    @property
    def bearing(self) -> bool:
        """Whether its bearing takes any torque; one that does not is not compiled in."""
        return self.damping != 0 or self.friction != 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A point of a body where forces enter, motion is read, joints and loops sit: ``at`` [m] from the body's origin.

    On a flexible body it moves and turns with the modes ``eta``: by ``shape`` (6 rows of m, the first three turning,
    the last three moving it) times eta, and by ``1/2 eta' bend eta`` [m] for each of x, y, z (``bend``: m x m each),
    the foreshortening that lets loads stiffen the body. All in body axes; empty is zero.
    """

    at: Vector3
    shape: Rows = ()
    bend: tuple[Rows, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Flex:
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

    mass: Rows
    stiffness: Rows
    damping: Rows
    coupling: Rows
    inertia_first: tuple[Matrix3, ...] = ()
    inertia_second: tuple[tuple[Matrix3, ...], ...] = ()
    gyroscopic: tuple[tuple[Vector3, ...], ...] = ()
    moment_second: tuple[Rows, ...] = ()

    def __post_init__(self) -> None:
        m = self.modes
        sizes = {"mass": m, "stiffness": m, "damping": m, "coupling": 6}
        for name, rows in sizes.items():
            value = getattr(self, name)
            if len(value) != rows or any(len(row) != m for row in value):
                raise RefusalError(f"flex {name}: a matrix ({rows}, {m}) is needed")
        for name, size in (("inertia_first", m), ("inertia_second", m), ("gyroscopic", m), ("moment_second", 3)):
            if len(getattr(self, name)) not in (0, size):
                raise RefusalError(f"flex {name}: {size} entries are needed, got {len(getattr(self, name))}")

    @property
    def modes(self) -> int:
        """Number of modes."""
        return len(self.mass)


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A body: ``mass`` [kg], ``com`` [m] from its origin and ``inertia`` [kg.m2] about it, body axes, undeformed.

    It is flexible with ``flex``.
    """

    name: str
    joint: Joint
    mass: float
    com: Vector3 = ZERO3
    inertia: Matrix3 = (ZERO3, ZERO3, ZERO3)
    wheels: Mapping[str, Wheel] = field(default_factory=dict)
    nodes: Mapping[str, Node] = field(default_factory=dict)
    flex: Flex | None = None

    @property
    def modes(self) -> int:
        """Number of its modes; 0 for a rigid body."""
        return self.flex.modes if self.flex else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One side of a loop: a place on a body, or in inertial space.

    ``body`` is its name or ``"inertial"``; ``node`` one of its nodes, empty for its origin; ``at`` [m] from there, in
    the axes of the node (which turn with the modes of a flexible body); ``frame`` quaternion w, x, y, z: components in
    the loop frame of this side to those in the node's axes.
    """

    body: str
    node: str = ""
    at: Vector3 = ZERO3
    frame: Quaternion = IDENTITY


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """A constraint between two places, each with a loop frame: ``rows`` of six relative motions are held at zero.

    ``rows``           1, 2, 3: turning of b against a about x, y, z of a's loop frame; 4, 5, 6: moving along them.
                       One turning row k holds the axis k+1 of a and the axis k+2 of b at a right angle (1, 2, 3 in a
                       circle); two leave a hinge about the third axis, which is common to both sides.
    ``distance``       [m] between the places instead of rows, for a massless rod with ball joints.
    ``kind``           the spelling that it came from.
    ``time_constant``  [s] within which errors of closure decay by a factor of e (Baumgarte's gains 2/T and 1/T2).
    ``closed``         whether it is closed at the start; ``switchable`` whether it can be opened and closed.
    """

    name: str
    a: Side
    b: Side
    rows: tuple[int, ...] = ()
    distance: float | None = None
    kind: str = "rows"
    time_constant: float = 0.1
    closed: bool = True
    switchable: bool = False

    def __post_init__(self) -> None:
        if (self.distance is None) == (not self.rows):
            raise RefusalError(f"loop {self.name}: either rows or a distance is needed")
        if not (self.closed or self.switchable):
            raise RefusalError(f"loop {self.name}: one that starts open must be switchable")
        if tuple(sorted(set(self.rows))) != tuple(self.rows) or not set(self.rows) <= {1, 2, 3, 4, 5, 6}:
            raise RefusalError(f"loop {self.name}: rows must be increasing numbers from 1 to 6, got {self.rows}")

    @property
    def size(self) -> int:
        """Number of its scalar constraints."""
        return len(self.rows) or 1


@dataclass(frozen=True, slots=True, kw_only=True)
class GravityGradient:
    """Gravity that differs over the system: start values of that (`mbdy.engine.order_n.gravity_gradient`).

    ``orbit_position`` [m] leads from the attracting centre to the system's mass centre, inertial axes;
    ``gravitational_parameter`` [m3/s2] is that centre's, the Earth's unless given.
    """

    orbit_position: Vector3 = (7e6, 0.0, 0.0)
    gravitational_parameter: float = 3.986004418e14


@dataclass(frozen=True, slots=True, kw_only=True)
class PortChoice:
    """Which inputs and outputs a system has, as names or patterns (``"*.joint.torque"``); None: all of them.

    An input that is left out keeps its start value, and a state whose output is left out its start value's name.
    """

    inputs: tuple[str, ...] | None = None
    outputs: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True, repr=False)
class Model:
    """A system of bodies in the order of its file, with gravity [m/s2] and the start of a run.

    ``initial`` holds start values in SI by the names of `mbdy.engine.model.ports` without index
    (``bus.omega``, ``panel.joint.angle``, ``bus.x.speed``), which closing loops keeps; ``guess`` others, from which it
    begins and which it may move. What is in neither starts at zero or identity.
    ``gravity_gradient`` is for systems with one root, a floating one; it costs nothing where it is None.
    ``source`` is the file it came from, for messages; ``files`` are all that were read for it. ``loops`` close the tree
    of joints. ``port_choice`` says which inputs and outputs there are.
    """

    name: str
    bodies: tuple[Body, ...]
    gravity: Vector3 = ZERO3
    initial: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    gravity_gradient: GravityGradient | None = None
    source: str = ""
    files: tuple[SourceFile, ...] = field(default=(), compare=False)
    loops: tuple[Loop, ...] = ()
    port_choice: PortChoice = PortChoice()
    guess: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "initial", MappingProxyType(dict(self.initial)))
        object.__setattr__(self, "guess", MappingProxyType(dict(self.guess)))

    def __repr__(self) -> str:
        loops = f", {len(self.loops)} loops" if self.loops else ""
        return f"<Model {self.name!r}: {len(self.bodies)} bodies{loops}; {table_of_names(list(self.index))}>"

    def _repr_html_(self) -> str:
        rows = [(b.name, f"{b.mass:.6g}", f"{b.joint.kind} to {b.joint.to}") for b in self.bodies]
        return html_table(f"Model {self.name!r}", ("body", "mass [kg]", "joint"), rows)

    def __getstate__(self) -> dict[str, object]:
        """What pickle and copy keep: a read-only mapping is neither pickled nor copied as it is."""
        return {**self.__dict__, "initial": dict(self.initial), "guess": dict(self.guess)}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

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
    def whole(self) -> Model:
        """The model with all its inputs and outputs."""
        return self if self.port_choice == PortChoice() else replace(self, port_choice=PortChoice())

    def body(self, name: str) -> Body:
        """The body called ``name``; KeyError names those that exist."""
        try:
            return self.bodies[self.index[name]]
        except KeyError:
            raise UnknownNameError(f"no body {name!r}; bodies are {', '.join(self.index)}") from None
