"""Tables of whole numbers as C has them: folded, for rows that follow from those before (folded.h)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray


def folded(name: str, tables: Iterable[tuple[int, ArrayLike]]) -> str:
    """C's array ``name`` of ``tables``, each a width and rows of that, one after the other; one of no width ends it."""
    numbers = [n for width, rows in tables for n in _folded(np.asarray(rows, dtype=np.int64).reshape(-1, width))]
    return f"static const int {name}[] = {{{listed([*numbers, 0, 0])}}};"


def listed(numbers: Sequence[int]) -> str:
    """``numbers`` in C, of an array that may be empty."""
    return ", ".join(map(str, numbers)) or "0"


def _folded(table: NDArray[np.int64]) -> list[int]:
    steps = np.diff(table, axis=0, prepend=0)
    other = np.ones(len(steps), dtype=bool)
    other[1:] = (steps[1:] != steps[:-1]).any(axis=1)
    begins = np.flatnonzero(other)
    counts = np.diff(begins, append=len(steps))
    return [table.shape[1], *np.column_stack([counts, steps[begins]]).ravel().tolist(), 0]
