"""The gravity gradient among what acts on the bodies of all formulations: the one place for it.

A particle at ``rho`` from the system's mass centre feels ``F rho`` per unit of mass, ``F = mu/R^3 (3 e e^T - 1)``,
``R e`` being the orbit position of that mass centre (P. C. Hughes, Spacecraft Attitude Dynamics, 1986, ch. 8). Sums
over a body follow from its mass and its first and second moments, integrals of y and of y y^T over the mass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mbdy.engine.verification.formulations.flexible import STEP, Numbers, first_moment, mass_matrix, moment_slope
from mbdy.engine.verification.formulations.kinematics import Columns, kinematics
from mbdy.engine.verification.formulations.values import Array, Part, cross


def attracted(columns: Columns, parts: Sequence[Part], orbit_position: Array, mu: float) -> list[Part]:
    """``parts`` of a system with one floating root, with what the gradient does at their mass centres and on modes."""
    frames = kinematics(columns, parts).bodies
    distance = np.linalg.norm(orbit_position)
    e, masses = orbit_position / distance, np.array([part.constants.mass for part in parts])
    field = mu / distance**3 * (3.0 * np.outer(e, e) - np.eye(3))
    moments = [at.C @ _moments(part, part.motion.eta)[0] for at, part in zip(frames, parts, strict=True)]
    centre = sum(m * at.r + moment for m, at, moment in zip(masses, frames, moments, strict=True)) / masses.sum()
    return [
        _pulled(part, at.C.T @ field @ at.C, at.C.T @ (at.r - centre)) for at, part in zip(frames, parts, strict=True)
    ]


def _pulled(part: Part, field: Array, arm: Array) -> Part:
    """``part`` with the gradient; its ``field`` (3, 3) and the ``arm`` to its origin are in body axes."""
    mass, modes, eta = part.constants.mass, part.constants.modes, part.motion.eta
    first, second = _moments(part, eta)
    force, twisted = field @ (mass * arm + first), second @ field
    torque = cross(first, field @ arm)
    torque += np.array([twisted[i, j] - twisted[j, i] for i, j in ((1, 2), (2, 0), (0, 1))])
    at_centre = torque - cross(first, force) / mass if mass else torque
    forces, torques, modal = part.given.forces.copy(), part.given.torques.copy(), part.given.modal.copy()
    forces[0] += force
    torques[0] += at_centre
    if modes:
        modal += _slope(part, field, arm) - moment_slope(modes, eta).T @ force / mass  # spread as the mass is
    return replace(part, given=replace(part.given, forces=forces, torques=torques, modal=modal))


def _slope(part: Part, field: Array, arm: Array) -> Array:
    """Derivatives by eta of the integral of ``y.F (arm + y/2)`` over the mass."""
    slopes = np.zeros(len(part.motion.eta))
    for k in range(len(slopes)):
        ahead = part.motion.eta.astype(np.complex128)
        ahead[k] += 1j * STEP
        first, second = _moments(part, ahead)
        slopes[k] = np.imag(first @ field @ arm + 0.5 * np.sum(field * second)) / STEP
    return slopes


def _moments(part: Part, eta: Numbers) -> tuple[Numbers, Numbers]:
    """First (3) and second (3, 3) moment of a body about its origin, deformed by ``eta``."""
    constants = part.constants
    inertia = mass_matrix(constants.mass, constants.com, constants.inertia, constants.modes, eta)[:3, :3]
    first = first_moment(constants.mass, constants.com, constants.modes, eta)
    return first, 0.5 * np.trace(inertia) * np.eye(3) - inertia
