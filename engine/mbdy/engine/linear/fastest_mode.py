"""How fast modes of flexible bodies and springs of joints swing in the whole system, for the step that follows."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular

from mbdy.engine.model.owners import name_of
from mbdy.engine.model.system import Model
from mbdy.engine.order_n.equations import Equations, equations

ROUNDING = 1e-13
"""Eigenvalues below this, relative to the largest size of one, are zero."""
NUDGE = 1e-6
"""[rad, m] Steps of differences."""
SPEEDS = {"torque": ("rate", "omega", "speed"), "force": ("velocity", "rate")}
"""Speeds along which an effort works."""
Array = np.ndarray


class FastestMode(NamedTuple):
    """The ``mode``, from 1, of the ``body`` that swings most, or where that is None its joint, and the angular
    ``frequency`` [rad/s]."""

    body: str
    mode: int | None
    frequency: float


def fastest_mode(model: Model) -> FastestMode | None:
    """The fastest free vibration of ``model`` at its start on modes and springs; None without flexible bodies, or where
    no stiffness holds anything.

    Loops and gears are open, gravity and damping left out, modes taken about zero: the largest eigenvalue of the
    stiffness times the accelerations of joints and modes under unit efforts on them.
    """
    if not any(body.flex for body in model.bodies):
        return None
    names, mobility, slopes = _elastic(equations(replace(model.whole, loops=(), gears=())))
    root = cholesky(mobility, lower=True)
    turned = -solve_triangular(root, slopes @ root, lower=True)
    values, vectors = eigh((turned + turned.T) / 2)
    if values[-1] <= ROUNDING * np.abs(values).max():
        return None
    shares = (root @ vectors[:, -1]) * solve_triangular(root.T, vectors[:, -1])
    body, mode = names[int(np.argmax(shares))]
    return FastestMode(body, mode, float(np.sqrt(values[-1])))


def _elastic(dynamics: Equations) -> tuple[list[tuple[str, int | None]], Array, Array]:
    """Joints and modes that efforts work on (m), their accelerations (m, m) by unit efforts on each, and those by unit
    displacements of each; at the start without speeds, deformation and gravity."""
    table, s = dynamics.ports, np.array(dynamics.ports.start)
    s[dynamics.n_q :] = 0.0
    k = dynamics.prepare(np.array(table.vector("parameter")))
    x, u = np.array(dynamics.start(s, k)).ravel(), np.array(table.vector("input"))
    u[table.by_name["system.gravity"].places] = 0.0
    positions = np.zeros(len(x))
    positions[: dynamics.n_q] = positions[dynamics.modal] = 1.0

    def rates(x: Array, u: Array) -> Array:
        return np.array(dynamics.derivatives(x, u, k)).ravel()

    names, efforts, speeds = [], [], []
    for v in table.inputs:
        if v.port in ("joint_torques", "modal_forces"):
            along = (table.by_name.get(name_of(v.owner, speed)) for speed in SPEEDS[v.quantity])
            begin = next(speed.state for speed in along if speed and speed.state is not None)
            names += [(v.owner.name, i + 1 if v.port == "modal_forces" else None) for i in range(v.size)]
            efforts += range(v.places.start, v.places.stop)
            speeds += range(begin, begin + v.size)
    at_rest, state, effort = rates(x, u), np.eye(len(x)), np.eye(len(u))
    ways = [NUDGE * positions * rates(x + state[speed], u) for speed in speeds]
    mobility = np.column_stack([(rates(x, u + effort[i]) - at_rest)[speeds] for i in efforts])
    slopes = np.column_stack([(rates(x + way, u) - rates(x - way, u))[speeds] for way in ways]) / (2 * NUDGE)
    moved = np.flatnonzero(np.diag(mobility) > 0.0)
    kept = np.ix_(moved, moved)
    return [names[i] for i in moved], ((mobility + mobility.T) / 2)[kept], slopes[kept]
