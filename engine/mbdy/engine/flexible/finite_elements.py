"""A finite-element model as its mass and stiffness matrices and a table of nodes, and files to read it from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from mbdy.engine.flexible.matrices import read_matrix
from mbdy.engine.model.contents import FileError, contents, number_in, table_of
from mbdy.engine.model.faults import RefusalError

DENSE = 1500
"""Up to so many unknowns dense solvers are used, which take mass matrices with zeros and find all modes."""
SKEW = 1e-8
STRAIN = 1e-6
"""How much a rigid motion may strain the model or differ in mass by direction, beside the matrices' size."""

Freedom = tuple[int, int]
"""A node's number and one of its degrees of freedom, 1 to 3 moving along x, y, z, 4 to 6 turning about them."""


class FiniteElements:
    """Matrices and nodes of a free (not held) model, in the axes of the body frame.

    ``mass`` and ``stiffness`` (n, n), arrays or scipy sparse matrices, symmetric, SI. ``places`` node number to its
    position [m]; ``freedoms`` node and degree of freedom (1 to 6) of each row. Nodes may lack any of them.
    Raises ValueError naming the matrix or row: sizes, entries that are not finite, asymmetry, unknown nodes.
    """

    def __init__(
        self, mass: Any, stiffness: Any, places: Mapping[int, Sequence[float]], freedoms: Sequence[Freedom]
    ) -> None:
        self.size = len(freedoms)
        if not self.size:
            raise RefusalError("freedoms: there is none; give the nodes of the matrices and what they can do")
        self.mass = _checked("mass", mass, self.size)
        self.stiffness = _checked("stiffness", stiffness, self.size)
        self.order = [(int(node), int(freedom)) for node, freedom in freedoms]
        self._places = {int(node): np.array(at, dtype=float) for node, at in places.items()}
        self._rows: dict[int, dict[int, int]] = {}
        for row, (node, freedom) in enumerate(self.order):
            if node not in self._places:
                raise RefusalError(f"freedoms: row {row + 1} is of node {node}, which has no place")
            if freedom not in range(1, 7):
                raise RefusalError(f"freedoms: row {row + 1} must be of 1 to 6, got {freedom}")
            if freedom in self._rows.setdefault(node, {}):
                raise RefusalError(f"freedoms: node {node}, {freedom} is there twice")
            self._rows[node][freedom] = row

    def place(self, node: int) -> np.ndarray:
        """[m] of a node; ValueError where there is none."""
        if node not in self._places:
            some = ", ".join(str(n) for n in list(self._places)[:16])
            raise RefusalError(f"no node {node}; nodes are {some}")
        return self._places[node]

    def freedoms(self, node: int) -> dict[int, int]:
        """Row of each degree of freedom that a node has."""
        self.place(node)
        return self._rows.get(node, {})

    def rows(self, nodes: Sequence[int]) -> list[int]:
        """Rows of all degrees of freedom of ``nodes``; ValueError for a node without any."""
        for node in nodes:
            if not self.freedoms(node):
                raise RefusalError(f"node {node}: has no degree of freedom in the matrices")
        return [row for node in nodes for row in self._rows[node].values()]

    def rigid(self, start: np.ndarray) -> np.ndarray:
        """Rigid motions (n, 6): turning about x, y, z through ``start``, then moving along them."""
        motions = np.zeros((self.size, 6))
        for row, (node, freedom) in enumerate(self.order):
            if freedom > 3:
                motions[row, freedom - 4] = 1.0
            else:
                arm = self._places[node] - start
                motions[row, :3] = np.cross(np.eye(3), arm)[:, freedom - 1]
                motions[row, freedom + 2] = 1.0
        return motions

    def check_rigid(self, rigid: np.ndarray) -> np.ndarray:
        """The rigid body's 6x6 mass matrix, moment rows first; ValueError where rigid motion strains or loses mass."""
        names = [f"{how} {axis}" for how in ("turning about", "moving along") for axis in "xyz"]
        diagonal = np.sqrt(np.abs(self.stiffness.diagonal()))
        forces = self.stiffness @ rigid
        for k, name in enumerate(names):
            size = float(np.linalg.norm(diagonal)) * float(np.linalg.norm(diagonal * rigid[:, k]))
            if float(np.linalg.norm(forces[:, k])) > STRAIN * size:
                raise RefusalError(
                    f"stiffness: rigid motion ({name}) strains the model; give matrices of the free body, not held nor "
                    "grounded, and node positions in the same units and axes"
                )
        spatial = rigid.T @ (self.mass @ rigid)
        masses = np.diag(spatial)[3:]
        moments = np.array(
            [[spatial[2, 4], -spatial[1, 5]], [spatial[0, 5], -spatial[2, 3]], [spatial[1, 3], -spatial[0, 4]]]
        )
        reach = float(np.sqrt(np.trace(spatial[:3, :3]) / max(masses.max(), 1e-300)))
        skewed = abs(spatial[3:, 3:] - np.diag(masses)).max()
        if masses.min() <= 0 or np.ptp(masses) + skewed > STRAIN * masses.max():
            raise RefusalError(
                f"mass: is {masses[0]:g}, {masses[1]:g}, {masses[2]:g} kg along x, y, z; a free body has one mass: "
                "give the matrix of all degrees of freedom, those that supports take away too"
            )
        if np.ptp(moments, axis=1).max() > STRAIN * masses.max() * max(reach, 1e-300):
            raise RefusalError(
                "mass: its first moments contradict each other; node positions must be those of the matrices"
            )
        return spatial

    @cached_property
    def reach(self) -> float:
        """[m] The largest distance of a node from their mean."""
        places = np.array([self._places[node] for node in self._rows])
        return float(np.linalg.norm(places - places.mean(axis=0), axis=1).max())

    @cached_property
    def rigid_strain(self) -> float:
        """What rigid motions strain the model, by rounding of its numbers (see `strain`)."""
        middle = np.mean([self._places[node] for node in self._rows], axis=0)
        return float(abs(self.strain(self.rigid(middle))).max())

    def strain(self, motions: np.ndarray) -> np.ndarray:
        """Twice the strain energies of ``motions`` (n, k), beside those of its degrees of freedom moving one by one."""
        alone = np.einsum("nk,n,nk->k", motions, self.stiffness.diagonal(), motions)
        return np.einsum("nk,nk->k", motions, self.stiffness @ motions) / np.maximum(alone, np.finfo(float).tiny)


def read_finite_elements(mass: str | Path, stiffness: str | Path, nodes: str | Path) -> FiniteElements:
    """A model from files: two matrices and a table of nodes in CSV.

    The table has the columns ``node``, ``x``, ``y``, ``z`` [m] and maybe ``freedoms``, the node's degrees of freedom in
    the order of the matrices' rows (``123456`` where it is left out). Rows of the matrices follow the table.
    """
    places: dict[int, list[float]] = {}
    freedoms: list[Freedom] = []
    header, rows = table_of(contents(nodes), nodes)
    if missing := [name for name in ("node", *"xyz") if name not in header]:
        raise FileError(nodes, f"needs the columns node, x, y, z (and maybe freedoms), has no {', '.join(missing)}")
    for line, values in rows:
        row = dict(zip(header, values, strict=False))
        try:
            if not len(header) - 1 <= len(values) <= len(header):
                raise RefusalError(f"{len(header)} values are needed, got {len(values)}", "decimals have points")
            node = number_in(row["node"], "node")
            if not node.is_integer():
                raise RefusalError(f"node: must be a whole number, got {row['node']}")
            if node in places:
                raise RefusalError(f"node: {node:.0f} is there twice")
            places[int(node)] = [number_in(row.get(axis, ""), axis) for axis in "xyz"]
            digits = (row.get("freedoms") or "").strip() or "123456"
            if not set(digits) <= set("123456"):
                raise RefusalError(f"freedoms: must be digits from 1 to 6, got {digits[:60]!r}")
            freedoms += [(int(node), int(digit)) for digit in digits]
        except RefusalError as fault:
            raise FileError(nodes, fault.message, fault.remedy, line) from None
    return FiniteElements(read_matrix(mass), read_matrix(stiffness), places, freedoms)


def _checked(name: str, matrix: Any, size: int) -> sparse.csr_array:
    """As a sparse array, symmetric to the last figure; ValueError where it is not a matrix of this size."""
    if np.iscomplexobj(matrix.data if sparse.issparse(matrix) else matrix):
        raise RefusalError(f"{name}: must be real, is complex")
    if sparse.issparse(matrix) and hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)  # what is out of bounds would be read from memory of others
    array = sparse.csr_array(matrix)
    if array.shape != (size, size):
        raise RefusalError(f"{name}: must be {size} x {size}, one row for each degree of freedom, got {array.shape}")
    if not np.all(np.isfinite(array.data)):
        raise RefusalError(f"{name}: all entries must be finite numbers")
    largest = abs(array).max() if array.nnz else 0.0
    skew = abs(array - array.T)
    if skew.nnz and skew.max() > SKEW * largest:
        raise RefusalError(f"{name}: must be symmetric, differs from its transpose by {skew.max():g} of {largest:g}")
    if array.diagonal().min() < 0:
        raise RefusalError(f"{name}: must not be negative, row {int(array.diagonal().argmin()) + 1} is on its diagonal")
    return sparse.csr_array((array + array.T) / 2)
