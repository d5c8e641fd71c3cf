"""Three ways to solve ``M w' = f + G^T lambda``, ``G w' = gamma`` with redundant rows in G, and how well posed that is.

All work on the free speeds, scaled so that M has a unit diagonal and G its norm 1; what is known of ``w'`` moves to the
right-hand sides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbdy.engine.verification.formulations.constrained import Constrained
from mbdy.engine.verification.formulations.values import Array

RANK = 1e-6
"""Singular values of the scaled G below this part of the largest one are zero."""

LAGRANGE = "A. A. Shabana, Dynamics of Multibody Systems, floating frames of reference and Lagrange multipliers"
KAMMAN = (
    "J. W. Kamman and R. L. Huston, J. Applied Mechanics 51 (1984); W. C. Walton and E. C. Steeves, NASA TR R-326 "
    "(1969); R. L. Huston and C.-Q. Liu (2005), Eqs. 53-54"
)
PENROSE = (
    "R. L. Huston and C.-Q. Liu (2005), Eqs. 48-52, with the pseudo-inverse of R. Penrose (1955) as F. E. Udwadia and "
    "R. E. Kalaba, Proc. R. Soc. A 439 (1992)"
)


@dataclass(frozen=True)
class Scaled:
    """The equations of the free speeds: ``M`` (n, n) with unit diagonal, ``G`` (m, n) of norm 1 with their right-hand
    sides ``f`` (n) and ``gamma`` (m). Their w' is that of the model divided by ``size``, lambda that times ``norm``."""

    M: Array
    f: Array
    G: Array
    gamma: Array
    size: Array
    norm: float


def scaled(system: Constrained) -> Scaled:
    """The equations of ``system`` without what is held."""
    free = ~system.held
    known = np.where(system.held, system.known, 0.0)
    M, f = system.M[np.ix_(free, free)], system.f[free] - system.M[free] @ known
    diagonal = np.abs(np.diag(M))
    size = 1.0 / np.sqrt(np.where(diagonal == 0.0, 1.0, diagonal))
    G, gamma = system.G[:, free] * size, system.gamma - system.G @ known
    norm = float(np.linalg.norm(G, 2)) if G.any() else 1.0
    return Scaled(M * np.outer(size, size), f * size, G / norm, gamma / norm, size, norm)


def _restored(system: Constrained, of: Scaled, w_rate: NDArray[Any], multipliers: NDArray[Any]) -> tuple[Array, Array]:
    every = np.where(system.held, system.known, 0.0)
    every[~system.held] = w_rate * of.size
    return every, multipliers / of.norm


def lagrange(system: Constrained) -> tuple[Array, Array]:
    """``w'`` and multipliers of ``[M G^T; G 0] [w'; -lambda] = [f; gamma]``.

    Redundant rows are put together before by the singular vectors of G, which leaves the multipliers the least ones.
    """
    of = scaled(system)
    n = len(of.f)
    left, singular, right = np.linalg.svd(of.G, full_matrices=False)
    kept = singular > RANK
    U, G = left[:, kept], singular[kept, None] * right[kept]
    matrix = np.block([[of.M, G.T], [G, np.zeros((len(G), len(G)))]])
    solution = np.linalg.solve(matrix, np.append(of.f, U.T @ of.gamma))
    return _restored(system, of, solution[:n], -U @ solution[n:])


def kamman(system: Constrained) -> tuple[Array, Array]:
    """``C^T M C z' = C^T (f - M w0')``, ``w' = C z' + w0'``: C are the eigenvectors of ``G^T G`` with eigenvalue zero.

    The others make ``w0'``, which ``G w0' = gamma`` asks for, and the multipliers by back substitution.
    """
    of = scaled(system)
    values, vectors = np.linalg.eigh(of.G.T @ of.G)
    zero = values < RANK**2
    C, rest, squares = vectors[:, zero], vectors[:, ~zero], values[~zero]
    w0 = rest @ ((rest.T @ of.G.T @ of.gamma) / squares)
    z = np.linalg.solve(C.T @ of.M @ C, C.T @ (of.f - of.M @ w0))
    w_rate = C @ z + w0
    multipliers = of.G @ rest @ ((rest.T @ (of.M @ w_rate - of.f)) / squares)
    return _restored(system, of, w_rate, multipliers)


def penrose(system: Constrained) -> tuple[Array, Array]:
    """``w' = M^-1 (f + G^T lambda)`` with ``lambda = (G M^-1 G^T)^+ (gamma - G M^-1 f)``."""
    of = scaled(system)
    unconstrained, yielding = np.linalg.solve(of.M, np.column_stack([of.f, of.G.T])), np.zeros(0)
    a, columns = unconstrained[:, 0], unconstrained[:, 1:]
    if of.gamma.size:
        yielding = np.linalg.pinv(of.G @ columns, rcond=RANK**2, hermitian=True) @ (of.gamma - of.G @ a)
    return _restored(system, of, a + columns @ yielding, yielding)


def terms(system: Constrained) -> Array:
    """Sizes of what each of ``w'`` is a sum of: of the open system's, and of what each multiplier adds."""
    of = scaled(system)
    shares = np.linalg.solve(of.M, np.column_stack([of.f, of.G.T]))
    added = np.abs(shares[:, 1:]) @ np.abs(lagrange(system)[1] * of.norm)
    return _restored(system, of, np.abs(shares[:, 0]) + added, of.gamma)[0]


def condition(system: Constrained) -> float:
    """How well posed the equations are: the larger condition number of M and ``G M^-1 G^T``, scaled, without what is
    redundant.

    Infinite where a held speed is one that the constraints want to change.
    """
    of = scaled(system)
    if not of.f.size:
        return 1.0
    if not (np.all(np.isfinite(of.M)) and np.all(np.diag(of.M) > 0.0)) or overdetermined(system):
        return np.inf
    number = float(np.linalg.cond(of.M))
    _, singular, right = np.linalg.svd(of.G, full_matrices=False)
    if not np.any(kept := singular > RANK) or not np.isfinite(number):
        return number
    rows = singular[kept, None] * right[kept]
    return max(number, float(np.linalg.cond(rows @ np.linalg.solve(of.M, rows.T))))


def overdetermined(system: Constrained) -> bool:
    """Whether what is held leaves the loops no way to stay closed."""
    return rank_of(system.G[:, ~system.held]) < rank_of(system.G)


def rank_of(G: Array) -> int:
    """Number of independent rows."""
    singular = np.linalg.svd(G, compute_uv=False)
    return int(np.sum(singular > RANK * singular.max(initial=0.0)))
