"""Finite-element models with some degrees of freedom held: whether that holds them, static and normal modes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh
from scipy.sparse import diags_array
from scipy.sparse.linalg import LinearOperator, eigsh, splu

from mbdy.engine.flexible import finite_elements
from mbdy.engine.flexible.finite_elements import FiniteElements
from mbdy.engine.model.faults import RefusalError

LOOSE = 1e-6
"""Of the model's size: nodes of an interface that lie so near a line or a point do not hold what turns about it."""
SLACK = 4.0
"""A motion that strains the model no more than so many times what rigid motions do, by rounding, strains it not."""
ROUNDING = 4e-16
"""The least strain that is no rounding, beside the matrix' diagonal."""
REMEDY = "choose a node with six degrees of freedom, or more nodes"


def check_interface(model: FiniteElements, nodes: Sequence[int]) -> None:
    """Raises ValueError where rigid motions are left when ``nodes`` hold all their degrees of freedom, or some other
    degree of freedom has no stiffness at all.
    """
    if not nodes:
        raise RefusalError("interface: a node or more are needed, got none")
    rows = model.rows(nodes)
    free = np.ones(model.size, dtype=bool)
    free[rows] = False
    if (still := np.flatnonzero(free & (model.stiffness.diagonal() == 0))).size:
        node, freedom = model.order[int(still[0])]
        raise RefusalError(
            f"stiffness: nothing holds node {node}, {freedom}; leave that degree of freedom out of the matrices"
        )
    places = np.array([model.place(node) for node in nodes])
    spread = float(np.linalg.norm(places - places.mean(axis=0), axis=1).max(initial=0.0))
    reach = spread or 1.0
    rigid = model.rigid(places.mean(axis=0))[rows]
    rigid[[model.order[row][1] <= 3 for row in rows]] /= reach
    rigid[:, 3:] *= reach
    values, motions = np.linalg.eigh(rigid.T @ rigid)
    if values[0] <= max(LOOSE, LOOSE * model.reach / reach if spread else 0.0) ** 2 * values[-1]:
        turning, moving = motions[:3, 0], motions[3:, 0]
        turns = np.linalg.norm(turning) > 1e-3
        axis = turning if turns else moving
        axis = axis / axis[abs(axis).argmax()]
        still = "turns about" if turns else "moves along"
        toward = ", ".join(f"{x:.3g}" for x in np.round(axis, 6) + 0.0)
        raise RefusalError(f"interface: does not hold the model, which still {still} [{toward}]; {REMEDY}")


def check_strained(model: FiniteElements, motions: np.ndarray, rows: Sequence[int]) -> None:
    """Raises ValueError where one of ``motions`` (rows, k), zero for all other degrees of freedom, strains nothing."""
    full = np.zeros((model.size, motions.shape[1]))
    full[rows] = motions
    loose = model.strain(full) <= max(SLACK * model.rigid_strain, ROUNDING)
    if loose.any():
        weights = full[:, loose.argmax()] ** 2 * model.stiffness.diagonal()
        node, freedom = model.order[int(weights.argmax())]
        raise RefusalError(f"interface: does not hold the model, whose node {node} still moves ({freedom}); {REMEDY}")


class Held:
    """``model`` with all degrees of freedom but ``rows`` held. Raises ValueError where that does not hold it."""

    def __init__(self, model: FiniteElements, rows: Sequence[int]) -> None:
        self._model, self._rows = model, list(rows)
        self._stiffness = model.stiffness[self._rows][:, self._rows]
        self._dense = model.size <= finite_elements.DENSE
        diagonal = self._stiffness.diagonal()
        self._scale = 1 / np.sqrt(diagonal)
        if not len(diagonal):
            return
        softest = np.random.default_rng(1).normal(size=(len(diagonal), 4))
        for _ in range(3):
            softest = self.solve(softest / self._scale[:, None])
            softest /= np.linalg.norm(softest / self._scale[:, None], axis=0)
        check_strained(model, softest, self._rows)

    @cached_property
    def _inverse(self) -> Callable[[np.ndarray], np.ndarray]:
        """Of the stiffness scaled to a diagonal of ones."""
        scaling = diags_array(self._scale)
        scaled = scaling @ self._stiffness @ scaling
        try:
            if self._dense:
                factor = cho_factor(scaled.toarray())
                return lambda loads: cho_solve(factor, loads)
            return splu(scaled.tocsc()).solve
        except (np.linalg.LinAlgError, RuntimeError):
            raise RefusalError(f"interface: does not hold the model; {REMEDY}") from None

    def solve(self, loads: np.ndarray) -> np.ndarray:
        """Static displacements (rows, k) under ``loads`` on the rows (rows, k)."""
        if not loads.size:
            return np.zeros(loads.shape)
        moved = self._scale[:, None] * self._inverse(self._scale[:, None] * loads)
        if not np.all(np.isfinite(moved)):
            raise RefusalError(f"interface: does not hold the model; {REMEDY}")
        return moved

    def slowest(self, count: int) -> np.ndarray:
        """The ``count`` slowest normal modes (rows, count), of modal mass 1."""
        mass = self._model.mass[self._rows][:, self._rows]
        size = len(self._rows)
        if self._dense or count > size // 3:
            values, vectors = eigh(
                self._scale[:, None] * mass.toarray() * self._scale,
                self._scale[:, None] * self._stiffness.toarray() * self._scale,
                subset_by_index=[size - count, size - 1],
            )
            values, vectors = values[::-1], self._scale[:, None] * vectors[:, ::-1]
        else:
            operator: Any = LinearOperator
            inverse = operator((size, size), matvec=lambda load: self.solve(load.reshape(-1, 1)).ravel())
            start = np.random.default_rng(2).normal(size=size)
            eigenvalues, vectors = eigsh(
                self._stiffness.tocsc(), k=count, M=mass.tocsc(), sigma=0.0, which="LM", OPinv=inverse, v0=start
            )
            order = np.argsort(eigenvalues)
            values, vectors = 1 / eigenvalues[order], vectors[:, order]
        if values[-1] <= 1e-14 * values[0]:
            massive = int((values > 1e-14 * values[0]).sum())
            raise RefusalError(f"modes: only {massive} normal modes have mass, {count} were asked for")
        return vectors / np.sqrt(np.einsum("nk,nk->k", vectors, mass @ vectors))
