"""Rotations in numbers, as matrices (3, 3) that map turned components to those before."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mbdy.engine.model.arrays import Vector3


def cross_matrix(v: Sequence[float] | np.ndarray) -> np.ndarray:
    """``cross_matrix(v) @ w = v x w``."""
    x, y, z = v
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def exponential(turn: np.ndarray) -> np.ndarray:
    """The rotation matrix of a rotation vector [rad]."""
    angle = math.hypot(*turn)
    skew = cross_matrix(np.asarray(turn) / (angle or 1.0))
    return np.eye(3) + math.sin(angle) * skew + 2 * math.sin(angle / 2) ** 2 * skew @ skew


def rotation(quaternion: Sequence[float] | np.ndarray) -> np.ndarray:
    """The rotation matrix of a quaternion w, x, y, z of any norm."""
    w, vector = float(quaternion[0]), np.array(quaternion[1:], dtype=float)
    skew = cross_matrix(vector)
    return np.eye(3) + 2 * (w * skew + skew @ skew) / (w * w + float(vector @ vector))


def across(normal: Sequence[float]) -> tuple[Vector3, Vector3]:
    """Two unit axes that make a right-handed triad with ``normal`` (not zero): the coordinate axis after its largest
    component (x, y, z, x), made perpendicular to it, and what follows."""
    n = np.array(normal) / np.max(np.abs(normal))
    n = n / np.linalg.norm(n)
    first = np.eye(3)[(int(np.argmax(np.abs(n))) + 1) % 3]
    first = first - (first @ n) * n
    first = first / np.linalg.norm(first)
    second = np.cross(n, first)
    return _vector(first), _vector(second)


def _vector(array: np.ndarray) -> Vector3:
    x, y, z = (float(entry) + 0.0 for entry in array)  # + 0.0 turns -0.0 into 0.0
    return (x, y, z)
