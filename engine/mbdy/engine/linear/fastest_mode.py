"""How fast the modes of flexible bodies swing in the whole system, for the step that follows them."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import block_diag, cholesky, eigh

from mbdy.engine.model.system import Model
from mbdy.engine.order_n.equations import equations

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
    eigenvalue of modal stiffness times the accelerations of all modes under unit forces on them.
    """
    flexible = [body for body in model.bodies if body.flex]
    if not flexible:
        return None
    mobility = _mobility(replace(model, loops=()))
    stiffness = block_diag(*(body.flex.stiffness for body in flexible if body.flex))
    root = cholesky(mobility, lower=True)
    values, vectors = eigh(root.T @ stiffness @ root)
    if values[-1] <= ROUNDING * np.abs(values).max():
        return None
    shape = root @ vectors[:, -1]
    energy = np.split(shape * (stiffness @ shape), np.cumsum([body.modes for body in flexible])[:-1])
    body, share = max(zip(flexible, energy, strict=True), key=lambda pair: pair[1].sum())
    return FastestMode(body.name, int(np.argmax(np.abs(share))) + 1, float(np.sqrt(values[-1])))


def _mobility(model: Model) -> np.ndarray:
    """Accelerations (m, m) of all modes by unit forces on each, at the start without speeds and deformation."""
    dynamics = equations(model)
    table, s = dynamics.ports, np.array(dynamics.ports.start)
    s[dynamics.n_q :] = 0.0
    k = dynamics.prepare(np.array(table.vector("parameter")))
    x, u = dynamics.start(s, k), np.array(table.vector("input"))
    rates = slice(dynamics.modal.stop, 2 * dynamics.modal.stop - dynamics.modal.start)
    forces = [place for v in table.inputs if v.port == "modal_forces" for place in range(v.places.start, v.places.stop)]

    def accelerations(u: np.ndarray) -> np.ndarray:
        return np.array(dynamics.derivatives(x, u, k)).ravel()[rates]

    at_rest, units = accelerations(u), np.eye(len(u))[forces]
    mobility = np.column_stack([accelerations(u + unit) - at_rest for unit in units])
    return (mobility + mobility.T) / 2
