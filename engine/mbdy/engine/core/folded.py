"""Tables of whole numbers as C has them: folded, for rows that follow from those before (folded.h)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

PER_LINE = 16
"""Numbers, where a line of C could be too long for a compiler."""


def folded(name: str, tables: Iterable[tuple[int, ArrayLike]]) -> str:
    """C's array ``name`` of ``tables``, each a width and rows of that, one after the other; one of no width ends it."""
    lines = [
        line for width, rows in tables for line in _folded(np.asarray(rows, dtype=np.int64).reshape(-1, width))
    ]  # fmt: skip
    return "\n".join([f"static const int {name}[] = {{", *lines, "0, 0};"])


def listed(items: Iterable[object]) -> str:
    """``items`` in C, of an array that may be empty."""
    texts = [*map(str, items)] or ["0"]
    return ",\n".join(", ".join(texts[n : n + PER_LINE]) for n in range(0, len(texts), PER_LINE))


def _folded(table: NDArray[np.int64]) -> Iterator[str]:
    steps = np.diff(table, axis=0, prepend=0)
    other = np.ones(len(steps), dtype=bool)
    other[1:] = (steps[1:] != steps[:-1]).any(axis=1)
    begins = np.flatnonzero(other)
    counts = np.diff(begins, append=len(steps))
    yield f"{table.shape[1]},"
    yield from (f"{', '.join(map(str, row))}," for row in np.column_stack([counts, steps[begins]]).tolist())
    yield "0,"
