"""What acts on the bodies of all formulations: laws of joints and wheels, and the resultant of external forces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from mbdy.engine.model.laws.stops import STOP_SOFTNESS
from mbdy.engine.verification.formulations.flexible import first_moment, node_motion
from mbdy.engine.verification.formulations.values import Array, Part, cross_matrix

Values = Mapping[str, Array]
"""The parameters of a joint's laws by name."""


SMALL_TURN = 1e-4
"""[rad] Rotation vectors below are so small that their second powers are enough."""


def coulomb(friction: Array, rate: Array, friction_rate: Array) -> Array:
    """Smoothed Coulomb friction, in joints and in bearings."""
    return -friction * np.tanh(rate / friction_rate)


def stops(k: Values, q: Array, rate: Array) -> Array:
    """Stiffness and damper of a stop come up with the depth beyond it."""
    effort = np.zeros(len(q))
    for beyond, inward in ((k["stop_lower"] - q, 1.0), (q - k["stop_upper"], -1.0)):
        depth = np.maximum(beyond, 0.0)
        push = k["stop_stiffness"] * depth - inward * k["stop_damping"] * rate[: len(q)]
        effort += inward * depth / (depth + STOP_SOFTNESS) * np.maximum(push, 0.0)
    return effort


JOINT_LAWS: dict[str, Callable[[Values, Array, Array, Array], Array]] = {
    "stiffness": lambda k, q, rate, rest: -k["stiffness"][: len(q)] * (q - rest),
    "damping": lambda k, q, rate, rest: -k["damping"] * rate,
    "cubic_stiffness": lambda k, q, rate, rest: -k["cubic_stiffness"] * (q - rest) ** 3,
    "friction": lambda k, q, rate, rest: coulomb(k["friction"], rate, k["friction_rate"]),
    "coulomb": lambda k, q, rate, rest: -k["sense"] * (abs(k["sense"]) <= 1) * k["coulomb"] - k["viscous"] * rate,
    "stop_stiffness": lambda k, q, rate, rest: stops(k, q, rate),
    "harness": lambda k, q, rate, rest: np.interp(q, k["harness"][::2], k["harness"][1::2]),
}
"""The one place for laws of joints: the effort of each from parameters, coordinates (n), rates (n_u) and rests (n), by
the parameter that brings it. Those of rates alone have one for each degree of freedom, others for each coordinate, of
which a spherical rotation has none. Where friction sticks its ``sense`` is among the parameters."""


def joint_efforts(part: Part) -> Array:
    """Effort (n_u) [N, N.m] that acts on each degree of freedom of a joint; a floating root has none but the input."""
    motion, values = part.motion, {**part.constants.efforts, "sense": part.given.senses}
    n = motion.joint.n_coordinates
    effort, q, rest = part.given.effort.copy(), motion.q[:n], part.given.rest
    for name, law in JOINT_LAWS.items():
        if name in values:
            each = law(values, q, motion.u, rest[:n])
            effort[: len(each)] += each
    if motion.joint.ball_spring:
        effort[motion.joint.n_translations :] += ball_torque(values["stiffness"][n:], motion.turns, rest[n:])
    return effort


def ball_torque(stiffness: Array, turns: Array, rest: Array) -> Array:
    """Torque (3), outboard axes, of the spring of a spherical rotation with quaternion ``turns``: ``J^T torque`` is the
    gradient of its energy by the rotation vector away from ``rest``, J mapping rates of that to angular velocities."""
    from scipy.spatial.transform import Rotation

    away = Rotation.from_rotvec(rest).inv() * Rotation.from_quat(turns[[1, 2, 3, 0]])
    e = away.as_rotvec()
    angle, E = float(np.linalg.norm(e)), cross_matrix(e)
    if angle < SMALL_TURN:
        J = np.eye(3) - E / 2 + E @ E / 6
    else:
        J = np.eye(3) - (1 - np.cos(angle)) / angle**2 * E + (angle - np.sin(angle)) / angle**3 * E @ E
    return np.linalg.solve(J.T, -stiffness * e)


@dataclass(frozen=True)
class Rotor:
    """A rotor at a joint: degree of freedom ``place``, ``inertia`` [kg.m2] about its ``axis`` (3), axes of what the
    joint sits on, None where that is no matter; it turns ``ratio`` times as fast as the joint."""

    place: int
    inertia: float
    ratio: float
    axis: Array | None


def rotors(part: Part) -> list[Rotor]:
    """The rotors at a body's joint."""
    values, axes = part.constants.efforts, part.constants.rotors
    pairs = zip(values.get("rotor_inertia", ()), values.get("gear_ratio", ()), strict=True)
    return [Rotor(i, J, n, axes[i] if len(axes) else None) for i, (J, n) in enumerate(pairs)]


def wheel_torques(part: Part, omega: Array) -> Array:
    """Torque (n) [N.m] of a body, which turns with ``omega`` (3) [rad/s, its axes], on each of its wheels about its
    axis.

    The one place for laws of wheels: motor, and a bearing's damper and smoothed Coulomb friction at the speed between
    them.
    """
    constants = part.constants
    speeds = part.motion.h / constants.spins - constants.spin_axes @ omega
    damping, friction, rate = constants.bearings.T
    return part.given.motors - damping * speeds + coulomb(friction, speeds, rate)


def resultant(part: Part) -> tuple[Array, Array]:
    """External force, and torque about the mass centre, of all that acts at the mass centre and nodes; body axes."""
    forces, torques = part.given.forces.copy(), part.given.torques.copy()
    constants, eta = part.constants, part.motion.eta
    places = constants.nodes
    if modes := constants.modes:
        motions = [node_motion(modes, i, eta) for i in range(len(places))]
        places = places + np.array([moved for moved, *_ in motions]).reshape(-1, 3)
        for i, (_, _, turned, _) in enumerate(motions, start=1):
            forces[i], torques[i] = turned @ forces[i], turned @ torques[i]
    arms = places - mass_centre(part)
    return forces.sum(axis=0), torques.sum(axis=0) + np.cross(arms, forces[1:]).sum(axis=0)


def mass_centre(part: Part) -> Array:
    """Mass centre (3) [m] of a body, deformed as it is, from its origin; body axes."""
    constants = part.constants
    if constants.modes is None:
        return constants.com
    return first_moment(constants.mass, constants.com, constants.modes, part.motion.eta) / constants.mass
