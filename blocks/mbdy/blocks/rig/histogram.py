"""Times that the loop has counted: a log-linear histogram (HdrHistogram's, of three figures) and its figures."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbdy.engine.model.faults import MissingPackageError

SUB, FIGURES = 1024, 3
"""Buckets between a power of two and the next; decimal figures that they keep."""


@dataclass(frozen=True)
class Histogram:
    """How often each time [ns] came: ``counts`` by bucket, how many, the ``lowest`` and ``highest``, and their ``sum``.

    Bucket ``i`` is that of the number ``i`` below 2048; above, each power of two has 1024 buckets of equal width.
    """

    counts: NDArray[np.uint64]
    lowest: int
    highest: int
    sum: float

    @property
    def count(self) -> int:
        return int(self.counts.sum())

    @property
    def mean(self) -> float:
        """[s]; not a number where nothing was counted."""
        return self.sum / self.count / 1e9 if self.count else float("nan")

    @property
    def min(self) -> float:
        """[s]"""
        return self.lowest / 1e9 if self.count else float("nan")

    @property
    def max(self) -> float:
        """[s]"""
        return self.highest / 1e9 if self.count else float("nan")

    def percentile(self, percent: float) -> float:
        """Time [s] that ``percent`` of all are at or below: to a thousandth, never too short."""
        if not self.count:
            return float("nan")
        rank = max(1, int(np.ceil(percent / 100 * self.count - 1e-9)))
        bucket = int(np.searchsorted(np.cumsum(self.counts), rank))
        return min(int(edges(len(self.counts))[1][bucket]), self.highest) / 1e9

    def above(self, time: float) -> int:
        """How many were in buckets that begin above ``time`` [s]."""
        return int(self.counts[edges(len(self.counts))[0] > 1e9 * time].sum())

    def to_hdr(self) -> Any:
        """An ``hdrh.histogram.HdrHistogram`` of the same counts [ns], to merge or to encode."""
        try:
            from hdrh.histogram import HdrHistogram
        except ImportError:
            raise MissingPackageError("to_hdr needs hdrhistogram: pip install mbdy[rig]") from None
        low, high = edges(len(self.counts))
        same = HdrHistogram(1, int(high[-1]), FIGURES)
        for bucket in np.flatnonzero(self.counts):
            same.record_value(int(low[bucket]), int(self.counts[bucket]))
        return same


def duration(seconds: float) -> str:
    """A time in three figures with the unit that suits it."""
    if seconds == 0 or math.isnan(seconds):
        return "none" if seconds else "0 s"
    size, unit = next(((s, u) for s, u in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")) if abs(seconds) >= s), (1e-9, "ns"))
    return f"{seconds / size:.3g} {unit}"


def edges(buckets: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The lowest and the highest number [ns] of each bucket."""
    index: NDArray[np.int64] = np.arange(buckets, dtype=np.int64)
    width: NDArray[np.int64] = np.left_shift(np.int64(1), np.maximum(index // SUB - 1, 0))
    low: NDArray[np.int64] = np.where(index < 2 * SUB, index, index % SUB + SUB) * width
    return low, low + width - 1
