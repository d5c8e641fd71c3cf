"""What acts on the bodies of all formulations: laws of joints and wheels, and the resultant of external forces."""

from __future__ import annotations

import numpy as np

from mbdy.engine.model.joint_values import HARNESS
from mbdy.engine.order_n.efforts import STOP_SOFTNESS
from mbdy.engine.verification.formulations.flexible import first_moment, node_motion
from mbdy.engine.verification.formulations.values import Array, Part


def joint_efforts(part: Part) -> Array:
    """Effort (n_u) [N, N.m] that acts on each degree of freedom of a joint; the one place for laws of joints.

    Input, damper and smoothed Coulomb friction act on speeds; springs, cubic springs and stops on coordinates, which a
    spherical rotation has none of. A floating root has no effort. Stiffness and damper of a stop come up
    with the depth beyond it. A cable harness is a table over the only coordinate.
    """
    motion, law = part.motion, part.constants.efforts
    speeds, zero = motion.u, np.zeros(1)
    effort = part.given.effort - law.get("damping", zero) * speeds
    if "friction" in law:
        effort = effort - law["friction"] * np.tanh(speeds / law["friction_rate"])
    n = 0 if motion.joint.floating else motion.joint.n_coordinates
    if n:
        stretch = motion.q[:n] - part.given.rest
        effort[:n] -= law["stiffness"] * stretch + law.get("cubic_stiffness", zero) * stretch**3
    if n and "stop_stiffness" in law:
        for beyond, inward in ((law["stop_lower"] - motion.q[:n], 1.0), (motion.q[:n] - law["stop_upper"], -1.0)):
            depth = np.maximum(beyond, 0.0)
            share = depth / (depth + STOP_SOFTNESS)
            push = law["stop_stiffness"] * depth - inward * law["stop_damping"] * speeds[:n]
            effort[:n] += inward * share * np.maximum(push, 0.0)
    if HARNESS in law:
        effort[0] += np.interp(motion.q[0], law[HARNESS][::2], law[HARNESS][1::2])
    return effort


def wheel_torques(part: Part, omega: Array) -> Array:
    """Torque (n) [N.m] of a body, which turns with ``omega`` (3) [rad/s, its axes], on each of its wheels about its
    axis.

    The one place for laws of wheels: motor, and a bearing's damper and smoothed Coulomb friction at the speed between
    them.
    """
    constants = part.constants
    speeds = part.motion.h / constants.spins - constants.spin_axes @ omega
    damping, friction, rate = constants.bearings.T
    return part.given.motors - damping * speeds - friction * np.tanh(speeds / rate)


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
