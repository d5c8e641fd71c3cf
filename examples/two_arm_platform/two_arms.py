"""Two plates on three legs, two arms and the object they hold: the sixteen configurations of Ghosh and Quiocho.

T. K. Ghosh and L. J. Quiocho, "Development and evaluation of an Order-N formulation for multi-flexible body space
systems" (ECMS 2013), Figure 1 and Table 2. Order and kinds of joints, splitting of booms and loops are theirs; the
dimensions are ours, near those of the space station's manipulator. README.md says which freedoms make up their counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import cos, pi, sin

from mbdy.engine.flexible.beam import beam
from mbdy.engine.model.system import INERTIAL, Body, Joint, Loop, Matrix3, Model, Node, Quaternion, Side, Vector3

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
BOOM_LENGTH, BOOM_MASS, BOOM_RADIUS = 7.0, 280.0, 0.5  # m, kg, m (a light mast, its mass that far from its axis)
BENDING_STIFFNESS, DAMPING_RATIO = 3e6, 0.005  # N.m2, -
LINK_LENGTH, LINK_RADIUS, LINK_MASS = 0.4, 0.4, 60.0  # m, m, kg
PLATE_RADIUS, PLATE_THICKNESS = 3.0, 0.3  # m
BASE_MASS, TOP_MASS = 2000.0, 500.0  # kg
OBJECT_HEIGHT, OBJECT_MASS = 2.0, 300.0  # m, kg
FLAP_LENGTH, FLAP_MASS = 2.0, 40.0  # m, kg
LEG_RADIUS, ARM_RADIUS = 2.5, 1.5  # m, from the plates' axis
KNEE = pi / 4  # rad, of a boom from the plates' axis
LEGS, ARMS = (0.0, 2 * pi / 3, 4 * pi / 3), (pi / 2, 3 * pi / 2)  # rad, round the plates' axis


@dataclass(frozen=True)
class Configuration:
    """One line of Table 2: ``model`` 1 to 4 (Table 1), flexible booms or rigid ones, closed loops or open ones.

    ``joints`` of each leg and arm, halves of each boom, and whether there are arms.
    """

    number: int
    joints: int
    halves: int
    arms: bool
    flexible: bool
    closed: bool
    model: int

    @property
    def text(self) -> str:
        return f"{'flexible' if self.flexible else 'rigid'}, model {self.model}, {'closed' if self.closed else 'open'}"


def configuration(number: int) -> Configuration:
    """The configuration of a line of Table 2, 1 to 16.

    Raises ValueError for any other number.
    """
    if number not in range(1, 17):
        raise ValueError(f"configuration {number}: Table 2 has the numbers 1 to 16")
    block, model = divmod(number - 1, 4)
    joints, halves, arms = ((6, 1, False), (6, 2, False), (7, 2, False), (7, 2, True))[model]
    return Configuration(number, joints, halves, arms, block % 2 == 1, block >= 2, model + 1)


def system(number: int) -> Model:
    """Configuration ``number`` of Table 2 at rest, its loops closed to rounding.

    Base plate ``base`` (floating), legs ``leg1`` to ``leg3``, plate ``top`` on leg 1; with arms also ``arm1`` and
    ``arm2``, the ``object`` on arm 1 and a ``flap`` hinged to it. Loops ``leg2``, ``leg3`` and ``arm2`` are welds.
    Bodies of a limb: ``_roll``, ``_yaw``, ``_boom1`` (``_boom1b`` its outer half), ``_boom2``, ``_wrist_pitch`` with
    seven joints, ``_wrist_yaw``, ``_wrist_roll``.
    """
    given = configuration(number)
    edge = PLATE_THICKNESS / 2
    bodies = [Body(
        name="base", mass=BASE_MASS, inertia=disc(BASE_MASS, PLATE_RADIUS, PLATE_THICKNESS),
        joint=Joint(to=INERTIAL, kind="free", translations=(X, Y, Z), spherical=True),
    )]  # fmt: skip
    initial: dict[str, tuple[float, ...]] = {}
    loops: list[Loop] = []
    for i, turn in enumerate(LEGS, start=1):
        limb = Limb(f"leg{i}", given, turn)
        bodies += limb.bodies("base", around(turn, LEG_RADIUS, edge))
        initial |= limb.initial
        if i == 1:
            first = around(turn, LEG_RADIUS + limb.shift, -edge)
            top = disc(TOP_MASS, PLATE_RADIUS, PLATE_THICKNESS)
            bodies.append(limb.carrying("top", TOP_MASS, top, minus(first)))
        elif given.closed:
            at = plus(around(turn, LEG_RADIUS + limb.shift, -edge), minus(first))
            loops.append(limb.closing("top", at))
    if given.arms:
        for i, turn in enumerate(ARMS, start=1):
            limb = Limb(f"arm{i}", given, turn)
            bodies += limb.bodies("top", plus(around(turn, ARM_RADIUS, edge), minus(first)))
            initial |= limb.initial
            held = around(turn, ARM_RADIUS + limb.shift, -OBJECT_HEIGHT / 2)
            if i == 1:
                grip, inertia = held, disc(OBJECT_MASS, ARM_RADIUS, OBJECT_HEIGHT)
                bodies += [limb.carrying("object", OBJECT_MASS, inertia, minus(held)), flap(minus(held))]
            elif given.closed:
                loops.append(limb.closing("object", plus(held, minus(grip))))
    name = f"two-arm platform {number}: {given.text}"
    return Model(name=name, bodies=tuple(bodies), initial=initial, loops=tuple(loops))


@dataclass(frozen=True)
class Limb:
    """A leg or an arm at an angle ``turn`` [rad] round the plates' axis; its links point along their x axes.

    It rises along the axis, bends outward at its first pitch joint and back at its elbow. Axes are roll x, yaw z,
    pitch y: at the start up, inward and round the axis.
    """

    name: str
    given: Configuration
    turn: float

    @property
    def leaning(self) -> float:
        """[rad] Angle by which its last link leans inward."""
        return 0.0 if self.given.joints == 7 else KNEE

    @property
    def shift(self) -> float:
        """[m] By how much it ends farther from the plates' axis than it begins."""
        return -2 * LINK_LENGTH * sin(self.leaning)

    @property
    def initial(self) -> dict[str, tuple[float, ...]]:
        angles = {"boom1": KNEE, "boom2": -2 * KNEE, "wrist_pitch": KNEE}
        if self.given.joints == 6:
            angles.pop("wrist_pitch")
        return {f"{self.name}_{part}.joint.angle": (angle,) for part, angle in angles.items()}

    def bodies(self, to: str, at: Vector3) -> Iterator[Body]:
        """Its links from ``at`` on the plate ``to``, whose axis is z."""
        place: dict = {"to": to, "at": at, "frame": product(about(Z, self.turn), about(Y, -pi / 2))}
        parts = [("roll", X), ("yaw", Z), ("boom1", Y), ("boom2", Y)]
        parts += [("wrist_pitch", Y)] * (self.given.joints == 7) + [("wrist_yaw", Z), ("wrist_roll", X)]
        for part, axis in parts:
            name = f"{self.name}_{part}"
            joint = Joint(kind="revolute", rotations=(axis,), **place)
            if not part.startswith("boom"):
                yield Body(name=name, joint=joint, **link())
                place = {"to": name, "at": (LINK_LENGTH, 0.0, 0.0)}
                continue
            length, mass = BOOM_LENGTH / self.given.halves, BOOM_MASS / self.given.halves
            for half in "ab"[: self.given.halves]:
                own = name if half == "a" else f"{name}b"
                yield boom(own, joint, length, mass, flexible=self.given.flexible)
                place = {"to": own, "node": "tip"} if self.given.flexible else {"to": own, "at": (length, 0.0, 0.0)}
                joint = Joint(kind="fixed", **place)

    def carrying(self, name: str, mass: float, inertia: Matrix3, com: Vector3) -> Body:
        """A body held rigidly at its end, with axes along those of the plates and its origin there."""
        frame = about(Y, pi / 2 + self.leaning)
        turned = product(frame, about(Z, -self.turn))
        joint = Joint(to=f"{self.name}_wrist_roll", kind="fixed", at=(LINK_LENGTH, 0.0, 0.0), frame=turned)
        return Body(name=name, mass=mass, inertia=inertia, com=com, joint=joint, nodes={"centre": Node(at=com)})

    def closing(self, to: str, at: Vector3) -> Loop:
        """The weld of its end to ``at`` on the body ``to``, whose axes are along the plates'."""
        end = Side(body=f"{self.name}_wrist_roll", at=(LINK_LENGTH, 0.0, 0.0))
        frame = product(about(Z, self.turn), about(Y, -pi / 2 - self.leaning))
        return Loop(name=self.name, a=end, b=Side(body=to, at=at, frame=frame), kind="weld", rows=(1, 2, 3, 4, 5, 6))


def boom(name: str, joint: Joint, length: float, mass: float, *, flexible: bool) -> Body:
    """A boom of ``length`` [m] along x; a flexible one bends in two modes each in y and z and has a node ``tip``.

    The rotary inertia of its sections, which bending modes leave out, turns with its frame.
    """
    line = mass / length
    made = beam(
        length=length, mass_per_length=line, bending_stiffness=BENDING_STIFFNESS, modes=(2, 2, 0),
        damping_ratio=DAMPING_RATIO, polar_inertia=line * BOOM_RADIUS**2,
    )  # fmt: skip
    (about, _, _), (_, across, _), _ = made.inertia
    across += mass * BOOM_RADIUS**2 / 2
    inertia = ((about, 0.0, 0.0), (0.0, across, 0.0), (0.0, 0.0, across))
    body = Body(name=name, joint=joint, mass=made.mass, com=made.com, inertia=inertia)
    return replace(body, flex=made.flex, nodes=made.nodes) if flexible else body


def link() -> dict:
    """A short link along x: mass, mass centre and inertia."""
    across = LINK_MASS * (3 * LINK_RADIUS**2 + LINK_LENGTH**2) / 12
    inertia = ((LINK_MASS * LINK_RADIUS**2 / 2, 0.0, 0.0), (0.0, across, 0.0), (0.0, 0.0, across))
    return {"mass": LINK_MASS, "com": (LINK_LENGTH / 2, 0.0, 0.0), "inertia": inertia}


def flap(centre: Vector3) -> Body:
    """A plate hinged to the top of the object, whose middle is at ``centre``."""
    at = plus(centre, (ARM_RADIUS, 0.0, OBJECT_HEIGHT / 2))
    own = FLAP_MASS * FLAP_LENGTH**2 / 12
    inertia = ((own, 0.0, 0.0), (0.0, own, 0.0), (0.0, 0.0, 2 * own))
    joint = Joint(to="object", kind="revolute", rotations=(Y,), at=at)
    return Body(name="flap", mass=FLAP_MASS, com=(FLAP_LENGTH / 2, 0.0, 0.0), inertia=inertia, joint=joint)


def disc(mass: float, radius: float, height: float) -> Matrix3:
    """Inertia of a cylinder about its middle, its axis z."""
    across = mass * (3 * radius**2 + height**2) / 12
    return ((across, 0.0, 0.0), (0.0, across, 0.0), (0.0, 0.0, mass * radius**2 / 2))


def around(turn: float, radius: float, height: float) -> Vector3:
    return (radius * cos(turn), radius * sin(turn), height)


def plus(a: Vector3, b: Vector3) -> Vector3:
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def minus(a: Vector3) -> Vector3:
    return (-a[0], -a[1], -a[2])


def about(axis: Vector3, angle: float) -> Quaternion:
    """The quaternion of a turn about a unit axis."""
    x, y, z = (sin(angle / 2) * part for part in axis)
    return (cos(angle / 2), x, y, z)


def product(a: Quaternion, b: Quaternion) -> Quaternion:
    """The quaternion of the turn ``a`` and then, in turned axes, ``b``."""
    (w, x, y, z), (s, i, j, k) = a, b
    return (
        w * s - x * i - y * j - z * k, w * i + x * s + y * k - z * j,
        w * j + y * s + z * i - x * k, w * k + z * s + x * j - y * i,
    )  # fmt: skip


def counts(model: Model) -> tuple[int, int, int]:
    """Degrees of freedom of the bodies' joints, modes, and both: the columns of Table 2."""
    rigid = sum(body.joint.n_u for body in model.bodies)
    modes = sum(body.modes for body in model.bodies)
    return rigid, modes, rigid + modes
