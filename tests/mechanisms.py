"""Closed mechanisms that are known from elsewhere: Andrews' squeezer, Bricard's, four-bars, legs between two plates.

All start closed to rounding. Planar ones lie in the plane x, y of their root's frame, hinges along z.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import acos, atan2, cos, hypot, pi, sin, sqrt

import numpy as np

from mbdy.engine.flexible.beam import beam
from mbdy.engine.model.system import IDENTITY, INERTIAL, Body, Joint, Loop, Model, Node, Quaternion, Side, Vector3
from oracles.dense_kane import axis_rotation, quaternion_rotation, unit
from oracles.drawing import vector
from systems import diagonal, floating

Z: Vector3 = (0.0, 0.0, 1.0)
PIN = (1, 2, 4, 5, 6)
GRAVITY = 9.81


def hinge(to: str, axis: Sequence[float] = Z, at: Sequence[float] = (0.0, 0.0, 0.0), **more) -> Joint:
    return Joint(to=to, kind="revolute", rotations=(vector(axis),), at=vector(at), **more)


def rod(name: str, joint: Joint, end: Sequence[float], mass: float) -> Body:
    """A slender uniform rod from its origin to ``end`` [m]."""
    along = np.array(end, dtype=float)
    inertia = mass / 12 * (along @ along * np.eye(3) - np.outer(along, along))
    rows = tuple(vector(row) for row in inertia)
    return Body(name=name, joint=joint, mass=mass, com=vector(along / 2), inertia=(rows[0], rows[1], rows[2]))


def turned(axis: Sequence[float], angle: float) -> Quaternion:
    x, y, z = unit(np.array(axis, dtype=float)) * sin(angle / 2)
    return cos(angle / 2), float(x), float(y), float(z)


def quaternion(rotation: np.ndarray) -> Quaternion:
    """w, x, y, z of a rotation matrix."""
    R = rotation
    products = np.array([
        [1 + R[0, 0] + R[1, 1] + R[2, 2], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]],
        [R[2, 1] - R[1, 2], 1 + R[0, 0] - R[1, 1] - R[2, 2], R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]],
        [R[0, 2] - R[2, 0], R[0, 1] + R[1, 0], 1 - R[0, 0] + R[1, 1] - R[2, 2], R[1, 2] + R[2, 1]],
        [R[1, 0] - R[0, 1], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], 1 - R[0, 0] - R[1, 1] + R[2, 2]],
    ])  # fmt: skip
    w, x, y, z = unit(products[np.argmax(np.diag(products))]).tolist()
    return w, x, y, z


def placed(model: Model) -> Mapping[str, tuple[np.ndarray, np.ndarray]]:
    """Rotation (body to inertial components) and origin [m] of each rigid body at the model's start."""
    found = {INERTIAL: (np.eye(3), np.zeros(3))}
    for body in model.bodies:
        joint, (R, p) = body.joint, found[body.joint.to]
        stem = body.name if joint.floating else f"{body.name}.joint"
        slides = model.initial.get(f"{stem}.{'position' if joint.floating else 'displacement'}", (0.0, 0.0, 0.0))
        angles = model.initial.get(f"{stem}.angle", (0.0, 0.0, 0.0))
        frame = R @ quaternion_rotation(np.array(joint.frame))
        p = p + R @ np.array(joint.at)
        for axis, slide in zip(joint.translations, slides, strict=False):
            p = p + frame @ unit(np.array(axis)) * slide
        for axis, angle in zip(joint.rotations, angles, strict=False):
            frame = frame @ axis_rotation(unit(np.array(axis)), angle)
        if joint.spherical:
            frame = frame @ quaternion_rotation(np.array(model.initial.get(f"{stem}.attitude", IDENTITY)))
        found[body.name] = frame, p
    return found


def closed(model: Model, name: str, a: Side, to: str, **loop) -> Loop:
    """The loop between ``a`` (no node) and the place of body ``to`` that it touches at the model's start."""
    places = placed(model)
    (R_a, p_a), (R_b, p_b) = places[a.body], places[to]
    frame = R_b.T @ R_a @ quaternion_rotation(np.array(a.frame))
    at = R_b.T @ (p_a + R_a @ np.array(a.at) - p_b)
    return Loop(name=name, a=a, b=Side(body=to, at=vector(at), frame=quaternion(frame)), **loop)


# Andrews' squeezer

ANDREWS_TORQUE = 0.033
"""[N.m] Constant torque on the crank: the input ``k1.joint.torque``."""
ANDREWS_ANGLES = ("beta", "theta", "gamma", "phi", "delta", "omega", "epsilon")
ANDREWS_START = (
    -0.06171389001427645, 0.0, 0.45527981916307037, 0.22266839016588588, 0.48736497954384256, -0.22266839016588588,
    1.2305474445498212,
)  # fmt: skip
ANDREWS_ACCELERATIONS = (14222.443919954114, -10666.832939965585)
"""[rad/s2] Of beta and theta at the start."""
ANDREWS_END = (
    15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948, 0.5244099658805303,
    0.5347301163226948, 1.048080741042263,
)  # fmt: skip
"""[rad] Angles at 0.03 s, and their rates:"""
ANDREWS_END_RATES = (
    1139.920302151208, -1424.379294994111, 11.03291221937134, 19.29337464421385, 0.5735699284790808,
    -19.29337464421385, 0.3231791658026955,
)  # fmt: skip
A, B, C = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)
SPRING, SPRING_LENGTH = 4530.0, 0.07785
D_X, D_Y = 0.02, -0.018  # of D in k3, from B


def andrews() -> Model:
    """Andrews' squeezer: seven bodies in a plane, three of them meet in the point E; 1 degree of freedom.

    F. Mazzia, C. Magherini, Test set for initial value problem solvers (2008), problem "andrews"; IFToMM benchmark
    A03. Angles are the test set's (`andrews_angles`). Its spring from the fixed point C to D of the third body is a
    branch of the tree: a massless strut hinged at C, and the body on it by a sprung slide and a hinge at D; its own
    hinge at B is a loop then. Run it with `ANDREWS_TORQUE`.
    """
    u, ub, ua, e, ea = 0.04, 0.00449, 0.01228, 0.02, 0.01421
    parts = {
        "k1": (0.04325, 2.194e-6, (0.00092, 0.0), hinge(INERTIAL)),
        "k2": (0.00365, 4.41e-7, (-0.0115, 0.0), hinge("k1", at=(0.007, 0, 0))),
        "strut": (0.0, 0.0, (0.0, 0.0), hinge(INERTIAL, at=(*C, 0))),
        "k3": (0.02373, 5.255e-6, (0.01043 - D_X, -0.01874 - D_Y), Joint(
            to="strut", translations=((1.0, 0.0, 0.0),), rotations=(Z,), stiffness=(SPRING, 0.0),
            rest=(SPRING_LENGTH, 0.0),
        )),
        "k5": (0.0705, 1.169e-5, (0.02308, 0.00916), hinge(INERTIAL, at=(*A, 0))),
        "k4": (0.00706, 5.667e-7, (0.0, ea - e), hinge("k5", at=(0.04, 0, 0))),
        "k7": (0.05498, 1.912e-5, (-ub, -ua), hinge(INERTIAL, at=(*A, 0))),
        "k6": (0.00706, 5.667e-7, (0.02 - 0.01421, 0.0), hinge("k7", at=(0, -u, 0))),
    }  # fmt: skip
    bodies = [
        Body(name=name, joint=joint, mass=mass, com=(*com, 0.0), inertia=diagonal(0.0, 0.0, inertia))
        for name, (mass, inertia, com, joint) in parts.items()
    ]
    planar = {"rows": (4, 5), "time_constant": 1e-3}
    E = Side(body="k2", at=(-0.028, 0.0, 0.0))
    loops = (
        Loop(name="b", a=Side(body=INERTIAL, at=(*B, 0.0)), b=Side(body="k3", at=(-D_X, -D_Y, 0.0)), **planar),
        Loop(name="e3", a=E, b=Side(body="k3", at=(-D_X, -0.035 - D_Y, 0.0)), **planar),
        Loop(name="e4", a=E, b=Side(body="k4", at=(0.0, -e, 0.0)), **planar),
        Loop(name="e6", a=E, b=Side(body="k6", at=(0.02, 0.0, 0.0)), **planar),
    )
    beta, theta, gamma, phi, delta, omega, epsilon = ANDREWS_START
    x, y = (b + d for b, d in zip(B, axis_rotation(np.array(Z), gamma)[:2, :2] @ (D_X, D_Y), strict=True))
    strut = atan2(y - C[1], x - C[0])
    initial = {
        "k1.joint.angle": (beta,), "k2.joint.angle": (theta,), "strut.joint.angle": (strut,),
        "k3.joint.displacement": (hypot(x - C[0], y - C[1]),), "k3.joint.angle": (gamma - strut,),
        "k4.joint.angle": (phi,), "k5.joint.angle": (delta,), "k6.joint.angle": (omega,), "k7.joint.angle": (epsilon,),
    }  # fmt: skip
    return Model(name="Andrews' squeezer", bodies=tuple(bodies), loops=loops, initial=initial)


def andrews_angles(values: Mapping[str, np.ndarray | float], what: str = "angle") -> np.ndarray:
    """The test set's seven angles, or with ``what="rate"`` their rates, from joint values by name."""
    turns = [values[f"{name}.joint.{what}"] for name in ("k1", "k2", "strut", "k4", "k5", "k6", "k7")]
    turns[2] = turns[2] + values[f"k3.joint.{what}"]
    return np.stack([np.squeeze(turn) for turn in turns], axis=-1)


# Bricard's mechanism

BRICARD_POINTS = np.array([[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1]], dtype=float)
"""[m] The hinges P0 to P5 at the start: corners of a cube."""


def bricard() -> Model:
    """Bricard's mechanism: five rods and the ground in a ring of six hinges, each across both its rods; 1 freedom.

    IFToMM benchmark A04 (M. Gonzalez, lim.ii.udc.es/mbsbenchmark): rods of 1 m and 1 kg, here slender, along edges of
    a cube, at rest; gravity 9.81 m/s2 along -y. Five hinges are the tree's, the sixth closes it: one row of its five is
    redundant. All odd hinges turn alike, and all even ones (`bricard_even`).
    """
    P = BRICARD_POINTS
    bodies = []
    for i in range(5):
        start = P[i] - P[i - 1] if i else P[0]
        bodies.append(
            rod(f"rod{i + 1}", hinge(f"rod{i}" if i else INERTIAL, _bricard_axis(i), start), P[i + 1] - P[i], 1.0)
        )
    model = Model(name="Bricard", bodies=tuple(bodies), gravity=(0.0, -GRAVITY, 0.0))
    last = Side(body="rod5", at=vector(P[5] - P[4]), frame=turned((0, 1, 0), pi / 2))  # z along the hinge, which is x
    return replace(model, loops=(closed(model, "ring", last, INERTIAL, kind="pin", rows=PIN),))


def _bricard_axis(hinge: int) -> np.ndarray:
    P = BRICARD_POINTS
    return np.cross(P[hinge] - P[hinge - 1], P[hinge + 1] - P[hinge])


def bricard_even(odd: complex) -> complex:
    """Angle [rad] of the hinges 2 and 4 with ``odd`` at the hinges 1, 3 and 5: sines have their product for a sum."""
    return np.arcsin(np.sin(odd) / (np.sin(odd) - 1))


def bricard_rate(odd: float) -> float:
    """Size of the rate [rad/s] of the odd hinges where they have the angle ``odd``, by the energy from rest at zero."""
    step = 1e-30
    points = [np.zeros(3, dtype=complex)]
    turn = np.eye(3, dtype=complex)
    for i in range(5):
        angle = odd + 1j * step
        turn = turn @ axis_rotation(_bricard_axis(i), angle if i % 2 == 0 else bricard_even(angle))
        points.append(points[-1] + turn @ (BRICARD_POINTS[i + 1] - BRICARD_POINTS[i]))
    moved = [point.imag / step for point in points]
    inertia = sum(a @ a + a @ b + b @ b for a, b in pairwise(moved)) / 3
    fallen = sum((a + b)[1] / 2 for a, b in pairwise(BRICARD_POINTS)) - sum(
        (a + b)[1].real / 2 for a, b in pairwise(points)
    )
    return sqrt(max(0.0, 2 * GRAVITY * fallen / inertia))


# Four-bars

GROUND, CRANK, COUPLER, ROCKER = 0.7, 0.3, 0.8, 0.6
"""[m] Links of a crank and rocker, of 1 kg/m."""


def four_bar_angles(crank: float, rate: float = 0.0) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """Joint angles and rates of crank, coupler (on the crank) and rocker (on the ground), from the crank's."""
    tip = CRANK * np.array([cos(crank), sin(crank)])
    gap = np.array([GROUND, 0.0]) - tip
    reach = float(np.hypot(*gap))
    coupler = atan2(gap[1], gap[0]) + acos((COUPLER**2 + reach**2 - ROCKER**2) / (2 * COUPLER * reach))
    end = tip + COUPLER * np.array([cos(coupler), sin(coupler)])
    rocker = atan2(end[1], end[0] - GROUND)
    across = [length * np.array([-sin(a), cos(a)]) for length, a in ((COUPLER, coupler), (ROCKER, rocker))]
    speeds = np.linalg.solve(np.column_stack([across[0], -across[1]]), -rate * np.array([-tip[1], tip[0]]))
    return (crank, coupler - crank, rocker), (rate, float(speeds[0]) - rate, float(speeds[1]))


def four_bar(
    *, crank: float = 1.0, rate: float = 0.0, driven: bool = False, gravity: Vector3 = (0.0, 0.0, 0.0),
    frame: Quaternion = IDENTITY, rows: tuple[int, ...] = PIN, time_constant: float = 0.1,
) -> Model:  # fmt: skip
    """A planar crank and rocker, closed with a pin unless other ``rows``: three of a pin's five are redundant.

    Rods of 1 kg/m (`CRANK`, `COUPLER`, `ROCKER` on `GROUND`). ``crank`` [rad] and ``rate`` [rad/s] start it,
    ``driven``: its acceleration is prescribed; ``frame`` turns the plane.
    """
    motion = ("prescribed",) if driven else ("free",)
    ground = quaternion_rotation(np.array(frame)) @ (GROUND, 0, 0)
    bodies = (
        rod("crank", hinge(INERTIAL, frame=frame, motion=motion), (CRANK, 0, 0), CRANK),
        rod("coupler", hinge("crank", at=(CRANK, 0, 0)), (COUPLER, 0, 0), COUPLER),
        rod("rocker", hinge(INERTIAL, at=ground, frame=frame), (ROCKER, 0, 0), ROCKER),
    )
    angles, rates = four_bar_angles(crank, rate)
    initial = {f"{body.name}.joint.angle": (angle,) for body, angle in zip(bodies, angles, strict=True)}
    initial |= {f"{body.name}.joint.rate": (speed,) for body, speed in zip(bodies, rates, strict=True)}
    model = Model(name="four-bar", bodies=bodies, gravity=gravity, initial=initial)
    a, b = Side(body="coupler", at=(COUPLER, 0.0, 0.0)), Side(body="rocker", at=(ROCKER, 0.0, 0.0))
    kind = "pin" if rows == PIN else "rows"
    return replace(model, loops=(Loop(name="pin", a=a, b=b, rows=rows, kind=kind, time_constant=time_constant),))


def n_four_bars(n: int = 40, *, speed: float = 1.0, rows: tuple[int, ...] = (4, 5)) -> Model:
    """``n`` four-bars side by side: 2 n + 1 rods of 1 m and 1 kg, upright under gravity 9.81 m/s2; 1 freedom.

    IFToMM benchmark A02 (M. Gonzalez, lim.ii.udc.es/mbsbenchmark). Pillar k stands at x = k on a hinge, carries the
    bar to the next pillar's top, and ``speed`` [m/s] along x is that of all tops at the start. It moves as one
    pendulum (`n_four_bars_acceleration`); with all rods level it has n + 1 freedoms.
    """
    bodies, loops, initial = [], [], {}
    for k in range(n + 1):
        bodies.append(rod(f"pillar{k}", hinge(INERTIAL, at=(k, 0, 0)), (0, 1, 0), 1.0))
        initial[f"pillar{k}.joint.rate"] = (-speed,)
    for k in range(n):
        bodies.append(rod(f"bar{k}", hinge(f"pillar{k}", at=(0, 1, 0)), (1, 0, 0), 1.0))
        initial[f"bar{k}.joint.rate"] = (speed,)
        a, b = Side(body=f"bar{k}", at=(1.0, 0.0, 0.0)), Side(body=f"pillar{k + 1}", at=(0.0, 1.0, 0.0))
        loops.append(Loop(name=f"top{k + 1}", a=a, b=b, rows=rows))
    gravity = (0.0, -GRAVITY, 0.0)
    return Model(name=f"{n} four-bars", bodies=tuple(bodies), loops=tuple(loops), gravity=gravity, initial=initial)


def n_four_bars_acceleration(n: int, angle: float) -> float:
    """[rad/s2] Of the pillars ``angle`` [rad] from upright, on the branch where they stay parallel."""
    return GRAVITY * (n + (n + 1) / 2) / (n + (n + 1) / 3) * sin(angle)


# Legs between two plates


def three_legs(*, seed: int = 1, joints: int = 6, parallel: bool = False) -> Model:
    """A floating plate, three legs of ``joints`` hinges, and a plate that the first carries and the others weld to.

    Dimensions and angles are random. With ``parallel`` hinges (three a leg, as a rule) the plates move in one plane
    and six of the twelve rows of the welds are redundant.
    """
    rng = np.random.default_rng(seed)
    bodies = [Body(name="base", mass=20.0, inertia=diagonal(4.0, 5.0, 6.0), joint=floating())]
    initial = {"base.omega": vector(rng.uniform(-0.3, 0.3, 3)), "base.velocity": vector(rng.uniform(-0.3, 0.3, 3))}
    for leg in range(3):
        to, turn = "base", axis_rotation(np.array(Z), leg * 2 * pi / 3)
        for link in range(joints):
            name = f"leg{leg}_{link}"
            axis = Z if parallel else vector(rng.normal(size=3))
            at = turn @ (0.8, 0.0, 0.0) if to == "base" else rng.normal(size=3) * 0.4
            stiffness = (float(rng.uniform(1.0, 5.0)),)
            angle = rng.uniform(-0.5, 0.5)
            joint = hinge(to, axis, at, stiffness=stiffness, rest=(float(angle + rng.uniform(-0.2, 0.2)),))
            bodies.append(Body(
                name=name, joint=joint, mass=1.5, com=vector(rng.normal(size=3) * 0.2), inertia=diagonal(0.3, 0.4, 0.5),
            ))  # fmt: skip
            initial[f"{name}.joint.angle"] = (float(angle),)
            to = name
    fixed = Joint(to=f"leg0_{joints - 1}", kind="fixed", at=vector(rng.normal(size=3) * 0.4))
    bodies.append(Body(name="top", mass=15.0, com=(0.1, -0.2, 0.05), inertia=diagonal(3.0, 4.0, 5.0), joint=fixed))
    model = Model(name="three legs", bodies=tuple(bodies), initial=initial)
    loops = tuple(
        closed(model, f"leg{leg}", Side(body=f"leg{leg}_{joints - 1}", at=vector(rng.normal(size=3) * 0.4)), "top",
               kind="weld", rows=(1, 2, 3, 4, 5, 6))
        for leg in (1, 2)
    )  # fmt: skip
    return replace(model, loops=loops)


# Bodies that dock


def two_that_dock(kind: str = "weld", *, gap: float = 0.0, flexible: bool = False) -> Model:
    """Two free bodies whose ports meet at the start but for a ``gap`` [m]; they drift and turn against each other."""
    rows = {"weld": (1, 2, 3, 4, 5, 6), "ball": (4, 5, 6)}[kind]
    made = beam(length=1.0, mass_per_length=4.0, bending_stiffness=30.0, modes=1, polar_inertia=0.01)
    first = Body(name="chaser", mass=50.0, inertia=diagonal(9.0, 7.0, 11.0), joint=floating(),
                 nodes={"port": Node(at=(1.0, 0.0, 0.0))})  # fmt: skip
    second = Body(name="target", mass=20.0, com=(0.3, 0.0, 0.1), inertia=diagonal(3.0, 4.0, 2.0), joint=floating(),
                  nodes={"port": Node(at=(-0.5, 0.0, 0.0))})  # fmt: skip
    bodies = [first, second]
    if flexible:
        bodies.append(Body(name="boom", joint=Joint(to="target", kind="fixed", at=(0.5, 0.0, 0.0)), mass=made.mass,
                           com=made.com, inertia=made.inertia, flex=made.flex, nodes=made.nodes))  # fmt: skip
    start = {
        "chaser.velocity": (0.2, 0.0, 0.01), "chaser.omega": (0.02, 0.0, 0.05),
        "target.position": (1.5 + gap, gap, 0.0), "target.omega": (0.0, -0.03, 0.01),
    }  # fmt: skip
    dock = Loop(name="dock", a=Side(body="chaser", node="port"), b=Side(body="target", node="port"), rows=rows,
                kind=kind, closed=False, switchable=True)  # fmt: skip
    return Model(name="docking", bodies=tuple(bodies), initial=start, loops=(dock,))


FOUR_BAR_FILE = """
mbdy = 1
[body.crank]
mass = 1
com = [0.5, 0, 0]
inertia = [0.1, 0.1, 0.1]
joint = { to = "inertial", kind = "revolute", axis = [0, 0, 1] }
[body.coupler]
mass = 1
com = [1, 0, 0]
inertia = [0.1, 0.1, 0.1]
joint = { to = "crank", kind = "revolute", axis = [0, 0, 1], at = [1, 0, 0] }
node.end = { at = [2, 0, 0] }
[body.rocker]
mass = 1
com = [1, 0, 0]
inertia = [0.1, 0.1, 0.1]
joint = { to = "inertial", kind = "revolute", axis = [0, 0, 1], at = [2.5, 0, 0] }
node.tip = { at = [1.5, 0, 0] }
[loop.closure]
a = "coupler.end"
b = "rocker.tip"
kind = "pin"
axis = [0, 0, 1]
"""
"""A four-bar in a plane as a model file, its start to be found."""
