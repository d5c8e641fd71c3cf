"""What a latch must do, from momentum alone: nothing here uses the equations that mbdy runs.

**All hinges locked.** The satellite is one rigid body afterwards. Its momentum P and its angular momentum H about the
mass centre are those of before, so its kinetic energy is ``P.P / 2m + H.J^-1 H / 2`` with its inertia J as it stands.
Angles do not change in the instant of a latch and so neither do the springs: what is missing is lost.

**Two bodies, one hinge, motion in a plane.** With I1, I2 the inertias about the mass centres, a from the first mass
centre to the hinge, b from the hinge to the second, r = m1 m2 / (m1 + m2) and rates w1, w2, kinetic energy about the
common mass centre is ``(A w1^2 + 2 B w1 w2 + C w2^2) / 2`` with

    A = I1 + r a.a,   B = r a.b,   C = I2 + r b.b

Angular momentum is ``(A + B) w1 + (B + C) w2``, and afterwards ``J w`` with ``J = A + 2 B + C``. The difference of the
energies is

    loss = D (w2 - w1)^2 / 2,    D = (A C - B^2) / J

D is the inertia that the hinge feels; the impulse is D times the rate that it stops.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import cos, sin

import numpy as np

from mbdy.engine import Model


def hinge_inertia(model: Model, angle: float) -> float:
    """D [kg.m2] of panel.toml at a hinge ``angle`` [rad]: two bodies that move in the plane of z and x."""
    bus, panel = model.bodies
    a = np.array(panel.joint.at) - np.array(bus.com)
    x, _, z = panel.com
    b = np.array([cos(angle) * x + sin(angle) * z, 0.0, cos(angle) * z - sin(angle) * x])
    reduced = bus.mass * panel.mass / (bus.mass + panel.mass)
    A = bus.inertia[1][1] + reduced * (a @ a)
    B = reduced * (a @ b)
    C = panel.inertia[1][1] + reduced * (b @ b)
    return (A * C - B * B) / (A + 2 * B + C)


def locked_energy(model: Model, y: Mapping[str, np.ndarray]) -> float:
    """Energy [J], springs included, of the satellite once all its hinges are locked, from outputs ``y`` of before."""
    J = inertia(model, y)
    H, v = y["system.angular_momentum"], y["system.centre_of_mass_velocity"]
    kinetic = 0.5 * y["system.mass"] * (v @ v) + 0.5 * H @ np.linalg.solve(J, H)
    return float(kinetic + springs(model, y))


def inertia(model: Model, y: Mapping[str, np.ndarray]) -> np.ndarray:
    """The satellite's inertia (3 x 3) [kg.m2] about its mass centre, inertial axes, as it stands in outputs ``y``."""
    total = np.zeros((3, 3))
    for body in model.bodies:
        C = rotation(y[f"{body.name}.attitude"])
        arm = y[f"{body.name}.position"] + C @ body.com - y["system.centre_of_mass"]
        total += C @ np.array(body.inertia) @ C.T + body.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return total


def springs(model: Model, y: Mapping[str, np.ndarray]) -> float:
    """Energy [J] in the springs of the hinges."""
    hinged = [body for body in model.bodies if body.joint.to != "inertial"]
    wound = [(body.joint.stiffness[0], y[f"{body.name}.joint.angle"] - body.joint.rest[0]) for body in hinged]
    return sum(0.5 * stiffness * float(angle) ** 2 for stiffness, angle in wound)


def rotation(q: np.ndarray) -> np.ndarray:
    """Body components to inertial ones (3 x 3), of an attitude quaternion w x y z."""
    w, vector = q[0], np.asarray(q[1:])
    cross = np.cross(np.eye(3), vector)
    return np.eye(3) + 2 * (w * cross + cross @ cross)
