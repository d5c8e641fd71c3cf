"""Rotations in numbers, as matrices (3, 3) that map turned components to those before."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np


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
