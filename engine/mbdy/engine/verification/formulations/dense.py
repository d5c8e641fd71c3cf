"""Dense symmetric equations of which some unknowns are known: rows and columns struck out, the rest solved."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def condition(coefficients: Array, fixed: NDArray[np.bool_]) -> float:
    """Condition number of the free rows and columns of a symmetric matrix, scaled to a unit diagonal."""
    free = np.flatnonzero(~fixed)
    if not free.size:
        return 1.0
    kept = coefficients[np.ix_(free, free)]
    size = np.sqrt(np.diag(kept))
    if not (np.all(np.isfinite(kept)) and np.all(size > 0.0)):
        return np.inf
    return float(np.linalg.cond(kept / np.outer(size, size)))


def solved(coefficients: Array, right: Array, fixed: NDArray[np.bool_], known: Array) -> Array:
    """``y`` of ``coefficients @ y = right`` with ``y = known`` where ``fixed``, those rows and columns struck out.

    What remains is scaled to a unit diagonal first. Not a number where it is singular.
    """
    free = np.flatnonzero(~fixed)
    y = np.where(fixed, known, 0.0)
    if not free.size:
        return y
    kept = coefficients[np.ix_(free, free)]
    size = np.sqrt(np.abs(np.diag(kept)))
    size[size == 0.0] = 1.0
    rest = right[free] - coefficients[free] @ y
    try:
        y[free] = np.linalg.solve(kept / np.outer(size, size), rest / size) / size
    except np.linalg.LinAlgError:
        y[free] = np.nan
    return y
