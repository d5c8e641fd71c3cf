"""Vectors, matrices and quaternions: as anyone gives them, and as tuples that a model keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbdy.engine.model.faults import RefusalError
from mbdy.engine.model.limits import MOST_DEPTH

Vector3 = tuple[float, float, float]
Matrix3 = tuple[Vector3, Vector3, Vector3]
Quaternion = tuple[float, float, float, float]
Rows = tuple[tuple[float, ...], ...]
"""A matrix as a tuple of its rows."""

IDENTITY: Quaternion = (1.0, 0.0, 0.0, 0.0)
ZERO3: Vector3 = (0.0, 0.0, 0.0)
ASYMMETRY = 1e-9
"""Largest difference of mirrored entries, relative to the largest entry, that rounding explains."""
NEGATIVE_MOMENT = 1e-9
"""Largest negative principal moment, relative to the largest entry, that rounding of the entries explains."""


def listed(value: object, depth: int = 0) -> Any:
    """``value`` as one entry, or as a list of entries or lists of them, from sequences and arrays of any library.

    Raises `RefusalError` for an array with masked values, and for lists in each other without end (``depth`` counts).
    """
    if depth > MOST_DEPTH:
        raise RefusalError(f"has lists nested more than {MOST_DEPTH} deep", "give one in a row, or rows of them")
    if type(value) in (float, int, str):
        return value
    if isinstance(value, np.ma.MaskedArray):
        raise RefusalError("must be real numbers, got masked values", "fill them first, e.g. with .filled(0.0)")
    if isinstance(value, np.ndarray):
        return value.tolist() if value.ndim and value.dtype.kind in "fiubU" else _rows(value)
    if isinstance(value, str | bytes | bytearray | np.generic):
        return value
    if isinstance(value, Sequence):
        return [listed(entry, depth + 1) for entry in value]
    if hasattr(value, "__array__") and (array := np.asarray(value)).ndim:
        return listed(array)
    return value


def _rows(array: NDArray[Any]) -> Any:
    """The entries of an array of any objects, each as it is."""
    return [listed(entry) for entry in array] if array.ndim else array[()]


def symmetric_tensor(tensor: Matrix3) -> Matrix3:
    """`mirrored`, which raises `RefusalError` for a negative principal moment too."""
    scale = max(abs(entry) for row in tensor for entry in row)
    even = mirrored(tensor)
    least = float(np.linalg.eigvalsh(np.array(tensor) / scale)[0]) * scale if scale else 0.0
    if least < -NEGATIVE_MOMENT * scale:
        remedy = "check the signs and that it is taken about the mass centre; moments must be >= 0 kg.m2"
        raise RefusalError(f"has a negative principal moment, {least:.6g} kg.m2", remedy)
    return even


def mirrored(tensor: Matrix3) -> Matrix3:
    """``tensor`` with mirrored products made equal. Raises `RefusalError` for more than rounding."""
    scale = max(abs(entry) for row in tensor for entry in row)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        if abs(tensor[i][j] - tensor[j][i]) > ASYMMETRY * scale:
            message = f"must be symmetric, but entry [{i + 1},{j + 1}] is {tensor[i][j]} and [{j + 1},{i + 1}] is "
            raise RefusalError(f"{message}{tensor[j][i]}", "make the two equal, or give the three principal moments")
    matrix = np.array(tensor)
    x, y, z = np.where(matrix == matrix.T, matrix, matrix / 2 + matrix.T / 2).tolist()  # halves of tiny ones round
    return (tuple(x), tuple(y), tuple(z))
