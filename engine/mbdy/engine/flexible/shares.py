"""What of a finite-element model's mass each node carries, and integrals over it that its whole mass matrix lacks.

A mass matrix says how nodes move mass, not where that mass is; but rigid motions tell. A node's share is what they push
through its rows: its block alone where masses are lumped, the sum over its neighbours where the matrix is consistent. A
lump is taken as a rigid part that moves and turns with its node, as a body that hangs there would.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mbdy.engine.flexible.finite_elements import FiniteElements
from mbdy.engine.flexible.moments import ROUNDING
from mbdy.engine.model.faults import warn
from mbdy.engine.model.rotations import cross_matrix

HOLLOW, SPREAD_HOLLOW = 1e-5, 1e-3
"""Of the body's inertia: a negative moment of a lump, or of a share that consistent matrices spread over neighbours,
that is worth a word; beams that leave out the rotary inertia of bending but not of torsion have small ones everywhere.
"""
SPREAD = 0.25
"""How much of a lump's rotary inertia, beside its own block, may be spread over neighbours."""
AXIAL = ((2, 1), (0, 2), (1, 0))
"""Where a skew matrix has the components of its axial vector with a plus."""


@dataclass(frozen=True, kw_only=True)
class Shares:
    """Shares of P nodes, model axes, about each node.

    ``nodes`` their numbers; ``at`` (P, 3) [m]; ``masses`` (P) [kg]; ``moving`` and ``turning`` (P, 3) [kg.m] the first
    moment, as rotations push the node's translations and as translations push its rotations, which are one of a rigid
    part and differ at the ends of consistent matrices; ``second`` (P, 3, 3) [kg.m2] the integral of r r'; ``rows``
    (P, 6) the row of each degree of freedom, -1 where there is none; ``lumped`` (P) whether its own block is all of it.
    """

    nodes: list[int]
    at: np.ndarray
    masses: np.ndarray
    moving: np.ndarray
    turning: np.ndarray
    second: np.ndarray
    rows: np.ndarray
    lumped: np.ndarray

    @property
    def first(self) -> np.ndarray:
        """(P, 3) [kg.m] The first moment in the mean of both ways."""
        return (self.moving + self.turning) / 2

    def fields(self, basis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How modes (n, m) move and turn the nodes, (P, 3, m) each; zero where a node has no such freedom."""
        padded = np.vstack((basis, np.zeros(basis.shape[1])))
        return padded[self.rows[:, :3]], padded[self.rows[:, 3:]]


def shares_of(model: FiniteElements, start: np.ndarray) -> Shares:
    """The shares of ``model``, places from ``start`` [m].

    Of a node that lacks rotations the moment about the missing axis is such that the share has no depth along it.
    """
    nodes = list(dict.fromkeys(node for node, _ in model.order))
    rows = np.full((len(nodes), 6), -1)
    for k, node in enumerate(nodes):
        for freedom, row in model.freedoms(node).items():
            rows[k, freedom - 1] = row
    at = np.array([model.place(node) for node in nodes]) - start
    pushed = np.vstack((model.mass @ model.rigid(start), np.zeros(6)))[rows]
    pushed[:, :, :3] += pushed[:, :, 3:] @ np.array([cross_matrix(place) for place in at])
    there: Any = rows >= 0
    forces = np.einsum("pii->pi", pushed[:, :3, 3:])
    masses = forces.sum(axis=1) / np.maximum(there[:, :3].sum(axis=1), 1)
    moving, turning = -_axial(pushed[:, :3, :3], there[:, :3]), _axial(pushed[:, 3:, 3:], there[:, 3:])
    turns = there[:, 3:]
    turning = np.where(turns.any(axis=1)[:, None], turning, moving)
    about = pushed[:, 3:, :3]
    both = turns[:, :, None] & turns[:, None, :]
    about = np.where(both, (about + about.transpose(0, 2, 1)) / 2, about + about.transpose(0, 2, 1))
    missing = np.einsum("pii->p", about) / np.maximum((~turns).sum(axis=1), 1)
    about[:, range(3), range(3)] = np.where(turns, about[:, range(3), range(3)], missing[:, None])
    moments = np.einsum("pii->p", about)
    own = np.where(turns, np.append(model.mass.diagonal(), 0.0)[rows[:, 3:]], 0.0).sum(axis=1)
    return Shares(
        nodes=nodes, at=at, masses=masses, moving=moving, turning=turning, rows=rows,
        second=moments[:, None, None] / 2 * np.eye(3) - about, lumped=abs(own - moments) <= SPREAD * own,
    )  # fmt: skip


def sound_shares(shares: Shares, inertia: float) -> Shares:
    """``shares`` where what consistent matrices spread is what a rigid part can have.

    A moment along an axis is negative where the inertia about it is more than the other two together. Such a share is
    taken as a thin rod along that axis, and its inertia about it as one that spins but does not turn with the node: a
    beam whose sections have rotary inertia in torsion alone. Lumps stay as they are. Warns where what is negative
    counts beside the body's ``inertia`` [kg.m2].
    """
    whole = np.flatnonzero((shares.rows >= 0).all(axis=1))
    masses, first, lumped = shares.masses[whole], shares.first[whole], shares.lumped[whole]
    weights = np.where(masses > 0, 1 / np.where(masses > 0, masses, 1.0), 0.0)
    offset = np.einsum("p,pa,pb->pab", weights, first, first)
    values, axes = np.linalg.eigh(shares.second[whole] - offset)
    least = np.minimum(values[:, 0], 0.0)
    odd = [shares.nodes[k] for k in whole[least < -inertia * np.where(lumped, HOLLOW, SPREAD_HOLLOW)]]
    if odd:
        some = ", ".join(map(str, odd[:8])) + (" and more" if len(odd) > 8 else "")
        warn(
            f"mass: what nodes {some} carry is no rigid part: along an axis its moment is {least.min():.3g} kg.m2; "
            "principal moments of a lump must not break the triangle inequality"
        )
    rods = np.maximum(values @ np.array([[1.0, 0, 0], [1, 0, -1], [0, 0, 1]]), 0.0)
    rods = np.einsum("pac,pc,pbc->pab", axes, rods, axes) + offset
    second, hollow = shares.second.copy(), ~lumped & (least < 0)
    second[whole[hollow]] = rods[hollow]
    return replace(shares, second=second)


@dataclass(frozen=True, kw_only=True)
class Sums:
    """Of ``r phi_k'``, ``phi_k phi_l'``, ``h_kl`` and ``r h_kl'`` over shares, as `Moments` has them."""

    shape_first: np.ndarray
    shape_second: np.ndarray
    bend: np.ndarray
    bend_first: np.ndarray


def sums_of(shares: Shares, basis: np.ndarray) -> Sums:
    """Sums over ``shares`` that modes ``basis`` (n, m) carry along.

    With a node's motion ``psi``, ``theta`` a point of its share at rho is at ``x + psi eta + exp(theta eta) rho``: it
    moves by ``phi = psi + theta x rho`` and, of a lump, to second order by ``h_kl = (theta_k x (theta_l x rho) +
    theta_l x (theta_k x rho)) / 2``.
    """
    psi, theta = shares.fields(basis)
    x, mass, first, second = shares.at, shares.masses, shares.first, shares.second
    swung = _cross(theta, first)
    shape_first = (
        np.einsum("pa,pbk->kab", x, mass[:, None, None] * psi + _cross(theta, shares.turning))
        + np.einsum("pa,pbk->kab", shares.moving, psi)
        + sum(np.einsum("pa,pbk->kab", second[:, :, c], _cross(theta, np.eye(3)[c])) for c in range(3))
    )
    shape_second = (
        _pairs(mass[:, None, None] * psi, psi)
        + _pairs(psi, swung)
        + _pairs(swung, psi)
        + sum(_pairs(_cross(theta, second[:, :, c]), _cross(theta, np.eye(3)[c])) for c in range(3))
    )
    rigid = shares.lumped
    x, first, second, theta = x[rigid], first[rigid], second[rigid], theta[rigid]
    along = np.einsum("pck,pc->pk", theta, first)
    stretched = np.einsum("pac,pck->pak", second, theta)
    dots = [np.einsum("p,pck,pcl->kl", weight, theta, theta, optimize=True) for weight in first.T]
    bend = np.einsum("pbl,pk->klb", theta, along) - np.stack(dots, axis=-1)
    arms = np.einsum("pa,pb->pab", x, first) + second
    bend_first = (
        np.einsum("pa,pbl,pk->klab", x, theta, along, optimize=True)
        + _pairs(stretched, theta)
        - np.einsum("pab,pck,pcl->klab", arms, theta, theta, optimize=True)
    )
    return Sums(
        shape_first=_cleaned(shape_first),
        shape_second=_cleaned(shape_second),
        bend=_cleaned((bend + bend.transpose(1, 0, 2)) / 2),
        bend_first=_cleaned((bend_first + bend_first.transpose(1, 0, 2, 3)) / 2),
    )


def _axial(matrices: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Axial vectors (P, 3) of skew matrices (P, 3, 3) of which only the rows that are ``there`` (P, 3) are known."""
    parts = [
        (matrices[:, i, j] - matrices[:, j, i]) / np.maximum(there[:, i].astype(int) + there[:, j], 1) for i, j in AXIAL
    ]
    return np.stack(parts, axis=-1)


def _cross(fields: np.ndarray, arms: np.ndarray) -> np.ndarray:
    """``fields`` (P, 3, m) x ``arms`` (P, 3) or (3)."""
    return np.cross(fields, np.atleast_2d(arms)[..., None], axis=1)


def _pairs(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """(k, l, a, b) sum over points of ``one[a, k] other[b, l]``."""
    return np.tensordot(one, other, axes=(0, 0)).transpose(1, 3, 0, 2)


def _cleaned(values: np.ndarray) -> np.ndarray:
    """Zeros in the place of what is nothing but rounding beside the largest."""
    return np.where(abs(values) > ROUNDING * abs(values).max(initial=0.0), values, 0.0)
