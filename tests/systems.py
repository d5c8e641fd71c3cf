"""Small systems that several tests share."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mbdy.engine import Body, Joint, Model
from oracles.drawing import XYZ


def floating(kind: str = "free") -> Joint:
    return Joint(to="inertial", kind=kind, translations=XYZ, spherical=True)


def diagonal(a: float, b: float, c: float):
    return ((a, 0.0, 0.0), (0.0, b, 0.0), (0.0, 0.0, c))


def free_body(*, omega=(0.3, -0.2, 0.5)) -> Model:
    """One asymmetric body in free space."""
    body = Body(name="top", mass=3.0, inertia=diagonal(1.0, 2.0, 2.5), joint=floating())
    return Model(name="top", bodies=(body,), initial={"top.omega": tuple(omega)})


def chain(n: int, *, seed: int = 1, kind: str = "free") -> Model:
    """A free bus with ``n`` hinged bodies in a row, axes of any direction, no springs."""
    rng = np.random.default_rng(seed)
    bodies = [Body(name="bus", mass=50.0, inertia=diagonal(20.0, 24.0, 30.0), joint=floating(kind))]
    initial = {"bus.omega": tuple(rng.uniform(-0.3, 0.3, 3).tolist()), "bus.velocity": (0.1, -0.2, 0.05)}
    for k in range(1, n + 1):
        axis, at, com = (tuple((rng.normal(size=3) * scale).tolist()) for scale in (1.0, 0.3, 0.2))
        joint = Joint(to=bodies[-1].name, kind="revolute", rotations=(axis,), at=at)
        name = f"link{k}"
        bodies.append(Body(name=name, mass=5.0, com=com, inertia=diagonal(1.0, 1.3, 1.6), joint=joint))
        initial[f"{name}.joint.rate"] = (float(rng.uniform(-0.5, 0.5)),)
        initial[f"{name}.joint.angle"] = (float(rng.uniform(-0.5, 0.5)),)
    return Model(name=f"chain of {n}", bodies=tuple(bodies), initial=initial)


def star(n: int, *, seed: int = 2) -> Model:
    """A free bus that carries ``n`` hinged bodies."""
    model = chain(n, seed=seed)
    bodies = [model.bodies[0]]
    bodies += [replace(b, joint=replace(b.joint, to="bus")) for b in model.bodies[1:]]
    return replace(model, name=f"star of {n}", bodies=tuple(bodies), initial=dict(model.initial))


SPRING = """
mbdy = 1
[system]
gravity = [0, -9.81, 0]
[body.a]
mass = 1
com = [0.1, 0, 0]
inertia = [0.01, 0.01, 0.01]
[body.a.joint]
to = "inertial"
kind = "revolute"
axis = [0, 0, 1]
stiffness = 3
damping = 0.05
motion = "switchable"
[initial]
a.joint.angle = 0.3
a.joint.rate = 2
"""
"""A pendulum on a spring with a damper, whose joint can be locked or prescribed."""

SIGHTED = """
mbdy = 1
[body.bus]
mass = 50
inertia = [9, 7, 11]
joint = { to = "inertial", kind = "free" }
node.tracker = { at = [1, 0.2, 0.1] }
[body.dish]
mass = 2
com = [0.4, 0, 0]
inertia = [0.1, 0.2, 0.3]
joint = { to = "bus", kind = "universal", axes = [[0, 0, 1], [0, 1, 0]], at = [0.5, 0, 0] }
[output.pointing]
kind = "euler"
of = "dish"
sequence = "zyx"
[output.mount]
kind = "relative_attitude"
of = "dish"
to = "bus.tracker"
[output.line]
kind = "relative_position"
of = "dish"
to = "bus.tracker"
axes = "dish"
[output.away]
kind = "norm"
of = "output.line"
[output.turning]
kind = "sum"
terms = [["dish.joint.rate[1]", 1], ["dish.joint.rate[2]", -0.5]]
[initial]
bus.omega = [0.02, 0.3, 0.05]
dish.joint.angle = [0.3, -0.2]
"""
"""A craft with a dish on two hinges, and outputs of one's choosing."""
