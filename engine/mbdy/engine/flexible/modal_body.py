"""What every source of modal data gives: the mass properties, modes and nodes of one flexible body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mbdy.engine.model.system import Flex, Matrix3, Node, Vector3


@dataclass(frozen=True, slots=True, kw_only=True)
class ModalBody:
    """A flexible body without name and joint, ready for `mbdy.engine.model.system.Body`.

    ``mass`` [kg]; ``com`` [m] from the origin of the body frame; ``inertia`` [kg.m2] about the mass centre; ``flex``
    the modes; ``nodes`` by name. Body axes, undeformed. ``unturned`` names nodes of which the source says how they move
    but not how they turn, and the axes about which it does not ("x, y, z").
    """

    mass: float
    com: Vector3
    inertia: Matrix3
    flex: Flex
    nodes: Mapping[str, Node] = field(default_factory=dict)
    unturned: Mapping[str, str] = field(default_factory=dict)


def tuples_of(array: np.ndarray) -> Any:
    """An array as tuples in tuples, with no negative zeros."""
    return nested(np.asarray(array, dtype=float) + 0.0)


def nested(array: np.ndarray | None) -> Any:
    """An array as tuples in tuples, to the bit; empty for None."""
    return () if array is None else _tuples(array.tolist())


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def node_of(at: np.ndarray, moving: np.ndarray, turning: np.ndarray, bend: np.ndarray | None = None) -> Node:
    """A node at ``at`` [m] from its mode shapes: ``moving`` and ``turning`` (3, m), ``bend`` (3, m, m) or None."""
    shape = tuples_of(np.vstack((turning, moving)))
    return Node(at=tuples_of(at), shape=shape, bend=() if bend is None else tuples_of(bend))


def unturned_of(nodes: Mapping[str, Node]) -> dict[str, str]:
    """Of ``nodes`` those that some mode moves and none turns, as `ModalBody.unturned` has them."""
    return {
        name: "x, y, z"
        for name, node in nodes.items()
        if any(map(any, node.shape[3:])) and not any(map(any, node.shape[:3]))
    }
