"""How fast the modes of flexible bodies swing in the whole system, for the step that follows them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from mbdy.engine.assembly.kinematics import Mechanism
from mbdy.engine.files.inertia import mass_matrix
from mbdy.engine.model.system import Model

ROUNDING = 1e-13
"""Eigenvalues below this, relative to the largest size of one, are zero."""


class FastestMode(NamedTuple):
    """The ``body`` and the number ``mode``, from 1, that swings most at the angular ``frequency`` [rad/s]."""

    body: str
    mode: int
    frequency: float


def fastest_mode(model: Model) -> FastestMode | None:
    """The fastest free vibration of ``model`` at its start in which modes take part; None without flexible
    bodies, or where no stiffness holds their modes.

    Springs of joints and loops are left out, and so is damping; modes are taken about zero. It is the largest
    eigenvalue of modal stiffness against the mass matrix of all joints and modes.
    """
    if not any(body.flex for body in model.bodies):
        return None
    mechanism = Mechanism(model)
    places = mechanism.frames(mechanism.start(model), mechanism.tree.outward)
    n = len(mechanism.names)
    mass, stiffness = np.zeros((n, n)), np.zeros((n, n))
    for i, body in enumerate(model.bodies):
        own = np.eye(n)[mechanism.modes[i]]
        place = places[i]
        motion = np.vstack([place.axes.T @ place.turning, place.axes.T @ place.moving, own])
        mass += motion.T @ mass_matrix(body) @ motion
        if body.flex:
            stiffness += own.T @ np.array(body.flex.stiffness) @ own
    free = ~np.array(mechanism.prescribed, dtype=bool)
    values, vectors = eigh(stiffness[np.ix_(free, free)], mass[np.ix_(free, free)])
    if not values.size or values[-1] <= ROUNDING * np.abs(values).max():
        return None
    whole = np.zeros(n)
    whole[free] = vectors[:, -1]
    energy = {i: whole[modes] @ stiffness[modes, modes] @ whole[modes] for i, modes in enumerate(mechanism.modes)}
    i = max((i for i, body in enumerate(model.bodies) if body.flex), key=energy.__getitem__)
    share = np.abs(whole[mechanism.modes[i]] * (stiffness @ whole)[mechanism.modes[i]])
    return FastestMode(model.bodies[i].name, int(np.argmax(share)) + 1, float(np.sqrt(values[-1])))
