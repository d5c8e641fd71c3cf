"""Errors that closed loops allow: a basis of the constraints' tangent space, in some of the errors themselves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mbdy.engine.linear.error_coordinates import ErrorCoordinates, fixed
from mbdy.engine.linear.jacobians import Slopes
from mbdy.engine.linear.operating_point import OperatingPoint
from mbdy.engine.linear.steady import closed_rows
from mbdy.engine.model.system import Model

Array = NDArray[np.float64]

RANK = 1e-9
"""Singular values below this part of the largest belong to redundant rows."""
FOREMOST = 1e3
"""Gain that prescribed coordinates may have on others more than free ones, and are kept."""


def tangent(model: Model, point: OperatingPoint, slopes: Slopes, errors: ErrorCoordinates) -> tuple[list[int], Array]:
    """The errors (places, r of n) that determine all others under the closed loops, and all from them (n, r).

    ``e = basis @ e[kept]`` for all errors e that closed loops and their rates allow to first order. The basis changes
    along a motion; the places do not, so that ``e[kept]`` follows ``A[kept] @ basis`` without its rate. Without loops
    it is the identity. Coordinates are kept with their speeds, those that the others follow with the least gain, but
    prescribed ones first: these follow no other.
    """
    n = len(errors.names)
    if not model.constraints:
        return list(range(n)), np.eye(n)
    rows = closed_rows(model, point, "residual") + closed_rows(model, point, "residual_rate")
    changes = slopes.of_outputs(point, errors.R, np.zeros((len(point.u), n)))[rows]
    space = _null_space(changes)
    first = list(errors.coordinates or ())
    picked: list[int] = []
    if len(first) == len(errors.speeds):
        prescribed = [fixed(model.bodies[j], point)[i] for j, i in errors.degrees_of_freedom]
        weights = np.where([*prescribed, *[False] * len(errors.modes)], FOREMOST, 1.0)
        allowed = _null_space(changes[: len(rows) // 2, first]) * weights[:, None]
        if allowed.shape[1]:
            order = _foremost(allowed)
            picked = [*(first[i] for i in order), *(errors.speeds[i] for i in order)]
        picked += [*errors.momenta, *errors.masses]
    if len(picked) != space.shape[1] or (picked and np.linalg.cond(space[picked]) > 1.0 / RANK):
        picked = _foremost(space)
    kept = sorted(picked)
    return kept, space @ np.linalg.inv(space[kept]) if kept else np.zeros((n, 0))


def _foremost(space: Array) -> list[int]:
    """As many rows of a basis as it has columns, chosen one after the other as the farthest from those before."""
    from scipy.linalg import qr

    _, order = qr(space.T, mode="r", pivoting=True)  # pyright: ignore[reportAssignmentType]
    return [int(i) for i in order[: space.shape[1]]]


def _null_space(rows: Array) -> Array:
    _, sizes, directions = np.linalg.svd(rows)
    rank = int(np.sum(sizes > RANK * max(1.0, float(sizes.max(initial=0.0)))))
    return directions[rank:].T
