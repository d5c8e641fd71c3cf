"""Where a generated body lies in the axes of its body frame, and checks of what its size is given by."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mbdy.engine.model.faults import RefusalError
from mbdy.engine.model.limits import MOST_MODES

CIRCLE = {"x": "xyz", "y": "yzx", "z": "zxy"}
UNIT = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def axes_of(axis: str | Sequence[float], normal: Sequence[float] | None, second: int) -> np.ndarray:
    """Components in the generator's axes to those in body axes (3, 3).

    ``axis`` is the generator's x axis in body axes: ``"x"``, ``"y"`` or ``"z"``, the other two following in a circle,
    or a vector of any length; ``normal`` then is its axis number ``second`` (1 for y, 2 for z), made square to it.
    Raises ValueError where they do not span a plane.
    """
    if isinstance(axis, str):
        if axis not in CIRCLE:
            raise RefusalError(f"axis: must be 'x', 'y', 'z' or three numbers, got {axis!r}")
        if normal is None:
            return np.array([UNIT[name] for name in CIRCLE[axis]]).T
        axis = UNIT[axis]
    along = np.array(axis, dtype=float)
    if normal is None:
        raise RefusalError("normal: is needed with an axis of three numbers; give a vector across the axis")
    across = np.array(normal, dtype=float)
    if along.shape != (3,) or across.shape != (3,) or not np.all(np.isfinite([along, across])):
        raise RefusalError(f"axis and normal: must be three finite numbers each, got {list(axis)} and {list(normal)}")
    length = np.linalg.norm(along)
    if length == 0:
        raise RefusalError("axis: must not be zero")
    along /= length
    across = across - along * (along @ across)
    height = np.linalg.norm(across)
    if height <= 1e-6 * np.linalg.norm(normal):
        raise RefusalError(f"normal: must not lie along the axis, got {list(normal)}")
    across /= height
    columns = [along, across, np.cross(along, across)] if second == 1 else [along, np.cross(across, along), across]
    return np.array(columns).T


def positive(**values: float) -> None:
    """Raises ValueError naming the value that is not above zero."""
    for name, value in values.items():
        if not (math.isfinite(value) and value > 0):
            raise RefusalError(f"{name}: must be above zero, got {value}")


def not_negative(**values: float) -> None:
    """Raises ValueError naming the value that is below zero."""
    for name, value in values.items():
        if not (math.isfinite(value) and value >= 0):
            raise RefusalError(f"{name}: must not be negative, got {value}")


def counts_of(modes: Sequence[int], size: int) -> list[int]:
    """How many modes of each kind: whole numbers, those left out are zero."""
    counts = list(modes)
    if len(counts) > size or any(isinstance(n, bool) or not isinstance(n, int) or n < 0 for n in counts):
        raise RefusalError(f"modes: up to {size} whole numbers from 0 are needed, got {modes}")
    if sum(counts) > MOST_MODES:
        raise RefusalError(f"modes: {sum(counts)} are more than a body can have, {MOST_MODES}")
    return counts + [0] * (size - len(counts))


def dampings(frequencies: np.ndarray, ratio: float | Sequence[float]) -> np.ndarray:
    """``2 zeta omega`` on the diagonal (m, m) for angular frequencies [rad/s] of mass-normalized modes."""
    m = len(frequencies)
    ratios = np.full(m, float(ratio)) if isinstance(ratio, int | float) else np.array(ratio, dtype=float)
    if ratios.shape != (m,):
        raise RefusalError(f"damping_ratio: one number or one for each of {m} modes is needed, got {len(ratios)}")
    for k, zeta in enumerate(ratios):
        if not (math.isfinite(zeta) and zeta >= 0):
            raise RefusalError(f"damping_ratio: must not be negative, got {zeta} for mode {k + 1}")
    return np.diag(2 * ratios * frequencies)
