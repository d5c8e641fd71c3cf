"""The harmonics of wheels in numbers: forces in the axes of the body that carries a wheel, turned into the rotor's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mbdy.engine.model.rotations import across
from mbdy.engine.verification.formulations.values import Part, axis_rotation, cross


def shaken(part: Part) -> Part:
    """A rotor with the forces of its harmonics among those at its mass centre."""
    axis, angle, square = part.constants.rotations[0], float(part.motion.q[0]), float(part.motion.u[0]) ** 2
    first, second = (np.array(each) for each in across(part.body.joint.rotations[0]))
    sums = {"radial_force": np.zeros(3), "axial_force": np.zeros(3), "radial_torque": np.zeros(3)}
    for sort, h, size, phase in part.body.harmonics:
        turn = h * angle + phase
        along = np.sin(turn) * axis if sort == "axial_force" else np.cos(turn) * first + np.sin(turn) * second
        sums[sort] += size * square * along
    back = axis_rotation(axis, -angle)
    force, torque = back @ (sums["radial_force"] + sums["axial_force"]), back @ sums["radial_torque"]
    forces, torques = part.given.forces.copy(), part.given.torques.copy()
    forces[0] += force
    torques[0] += torque - cross(part.constants.com, force)
    return replace(part, given=replace(part.given, forces=forces, torques=torques))
