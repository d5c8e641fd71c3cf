"""What every source of modal data gives: the mass properties, modes and nodes of one flexible body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from mbdy.engine.model.system import Flex, Matrix3, Node, Rows, Vector3


@dataclass(frozen=True, slots=True, kw_only=True)
class ModalBody:
    """A flexible body without name and joint, ready for `mbdy.engine.model.system.Body`.

    ``mass`` [kg]; ``com`` [m] from the origin of the body frame; ``inertia`` [kg.m2] about the mass centre; ``flex``
    the modes; ``nodes`` by name. Body axes, undeformed.
    """

    mass: float
    com: Vector3
    inertia: Matrix3
    flex: Flex
    nodes: Mapping[str, Node] = field(default_factory=dict)


def rows_of(matrix: np.ndarray) -> Rows:
    """A matrix as a tuple of its rows, with no negative zeros."""
    return tuple(tuple(float(x) + 0.0 for x in row) for row in np.asarray(matrix, dtype=float))


def matrix3_of(matrix: np.ndarray) -> Matrix3:
    """A 3x3 matrix as a tuple of its rows."""
    a, b, c = (vector_of(row) for row in matrix)
    return (a, b, c)


def vector_of(vector: np.ndarray) -> Vector3:
    """Three numbers as a tuple."""
    x, y, z = (float(x) + 0.0 for x in vector)
    return (x, y, z)


def node_of(at: np.ndarray, moving: np.ndarray, turning: np.ndarray, bend: np.ndarray | None = None) -> Node:
    """A node at ``at`` [m] from its mode shapes: ``moving`` and ``turning`` (3, m), ``bend`` (3, m, m) or None."""
    shape = rows_of(np.vstack((turning, moving)))
    return Node(at=vector_of(at), shape=shape, bend=() if bend is None else tuple(rows_of(rows) for rows in bend))
