"""Whether the modal data of a body can be true: no motion of it and of its modes has negative energy."""

from __future__ import annotations

import math

import numpy as np

from mbdy.engine.model.faults import RefusalError
from mbdy.engine.model.rotations import cross_matrix
from mbdy.engine.model.system import Flex, Matrix3, Vector3

SKEW = 1e-9
"""How far a matrix may be from symmetric, beside its largest entry."""
NEGATIVE = 1e-9
"""How far below zero an eigenvalue may be, beside the largest."""


def check_matrices(flex: Flex) -> None:
    """Raises ValueError where mass, stiffness or damping are not symmetric, or a direction of them is negative."""
    for name, strict in (("mass", True), ("stiffness", False), ("damping", False)):
        matrix = np.array(getattr(flex, name))
        if not np.all(np.isfinite(matrix)):
            raise RefusalError(f"flex {name}: all entries must be finite numbers")
        skew, size = abs(matrix - matrix.T), abs(matrix).max()
        if skew.max() > SKEW * size:
            i, j = (int(k) for k in np.unravel_index(skew.argmax(), skew.shape))
            raise RefusalError(
                f"flex {name}: must be symmetric, got {matrix[i, j]:g} in row {i + 1} column {j + 1} "
                f"and {matrix[j, i]:g} across"
            )
        scale = np.sqrt(np.where(np.diag(matrix) > 0, np.diag(matrix), 1.0))
        values, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
        if values[0] < -NEGATIVE or (strict and values[0] <= NEGATIVE):
            mode = int(abs(vectors[:, 0]).argmax()) + 1
            wanted = "positive definite" if strict else "positive semidefinite"
            raise RefusalError(f"flex {name}: must be {wanted}; it is not where mode {mode} moves")


def check_body(mass: float, com: Vector3, inertia: Matrix3, flex: Flex, slack: float = 1e-6) -> None:
    """Whether the body's whole mass matrix ``[[M_rr, M_rf], [M_rf', M_ff]]`` of 6 + m rows, undeformed, can be true.

    ``mass`` [kg], ``com`` [m] from the origin, ``inertia`` [kg.m2] about the mass centre. No motion has a negative
    kinetic energy: what a mode's coupling says of the mass that it moves must not be more than its modal mass, but for
    ``slack`` of it. Raises ValueError naming the mode that goes too far.
    """
    check_matrices(flex)
    arm = cross_matrix(np.array(com))
    about = np.array(inertia) - mass * arm @ arm
    rigid = np.block([[about, mass * arm], [-mass * arm, mass * np.eye(3)]])
    modes, coupling = np.array(flex.mass), np.array(flex.coupling)
    values, vectors = np.linalg.eigh(rigid)
    moved = values > 1e-12 * np.where(abs(vectors[:3]).max(axis=0) > 0, np.trace(about), mass)
    moved &= values > 1e-14 * values.max()
    still = vectors[:, ~moved].T @ coupling
    scale = np.sqrt(np.diag(modes))
    size = math.sqrt(max(values.max(), 0.0))
    if still.size and abs(still / scale).max() > slack * size:
        mode = int(abs(still / scale).max(axis=0).argmax()) + 1
        raise RefusalError(f"flex coupling: mode {mode} moves the body where it has neither mass nor inertia")
    whitened = vectors[:, moved].T @ coupling / np.sqrt(values[moved])[:, None]
    left = (modes - whitened.T @ whitened) / np.outer(scale, scale)
    values, vectors = np.linalg.eigh(left)
    if values[0] < -slack:
        mode = int(abs(vectors[:, 0]).argmax()) + 1
        raise RefusalError(
            f"flex coupling: mode {mode} moves more mass than it has (with the body's mass, com and inertia, its modal "
            f"mass leaves {values[0]:.3g} of itself); check the units and axes of coupling, and the body's inertia"
        )
