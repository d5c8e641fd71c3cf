"""Grids of time: the instants of records, samples and rows of a table, as one row of steps."""

from __future__ import annotations

import math
import sys

import numpy as np
from numpy.typing import NDArray

from mbdy.blocks.errors import StepError
from mbdy.engine.model.faults import RefusalError
from mbdy.engine.model.units import quantity

Array = NDArray[np.float64]
CLOSE = 1e-9
"""Instants nearer than this part of the shortest period are one."""
RECORDS = 500
"""About how many rows a run has where nobody says how often to record."""
MOST = 10**8
"""Most instants of one grid; each has a row in memory."""


def seconds(what: str, value: object) -> float:
    """``value`` [s], a number of any type or a text with unit; `StepError` unless it is positive and finite."""
    try:
        time = quantity(value, "s")
    except RefusalError as fault:
        raise StepError(f"{what}: {fault}") from None
    if not time > 0:
        raise StepError(f"{what}: must be positive and finite, got {value} s")
    return time


def usual_period(until: float) -> float:
    """A round period (1, 2 or 5 times a power of ten) that gives at least `RECORDS` rows to ``until`` [s]."""
    finest = until / RECORDS
    if finest < sys.float_info.min:
        return until
    decade = 10.0 ** math.floor(math.log10(finest))
    factor = next(f for f in (5, 2, 1) if f * decade <= finest * (1 + 1e-9))
    return float(f"{factor * decade:.6g}")


def resolution(until: float, *periods: float) -> float:
    """How near two instants [s] of a run may be and still be one: rounding, far below the shortest period."""
    return max(CLOSE * min(until, *periods), 8 * float(np.spacing(until)))


def multiples(what: str, period: float, until: float, close: float) -> Array:
    """0, period, 2 period, ... up to ``until``, which is the last itself where it is one of them."""
    if not until / period < MOST:
        raise StepError(f"{what}: {period} s up to {until} s are more than {MOST:.0e} instants; take a longer one")
    times: Array = np.arange(math.floor((until + close) / period) + 1, dtype=np.float64) * period
    if until - times[-1] <= close:
        times[-1] = until
    return times


def grid(what: str, period: float, until: float, close: float) -> Array:
    """0, period, 2 period, ... and ``until``."""
    times = multiples(what, period, until, close)
    return times if times[-1] == until else np.append(times, until)


def shifted(times: Array, begin: float, period: float) -> Array:
    """``times`` from ``begin`` on; those that are multiples of the ``period`` are the very numbers of `multiples`."""
    moved = times + begin
    counts = np.rint(moved / period)
    return np.where(np.abs(moved - counts * period) <= CLOSE * period, counts * period, moved)


def merged(close: float, *grids: Array) -> Array:
    """All instants of several grids, in order, each once."""
    times = np.sort(np.concatenate(grids))
    times = times[times >= 0]
    return times[np.append(True, np.diff(times) > close)]


def marks(times: Array, of: Array, close: float) -> NDArray[np.bool_]:
    """Which of ``times`` are of the grid ``of``."""
    at = np.clip(np.searchsorted(of, times - close), 0, len(of) - 1)
    return np.abs(of[at] - times) <= close


def uniform(times: Array, close: float) -> bool:
    """Whether all steps between ``times`` are one."""
    steps = np.diff(times)
    return bool(steps.size and np.ptp(steps) <= close)


def even_step(times: Array, period: float, close: float) -> float:
    """The step between ``times`` that are `uniform`: a whole part of the ``period``, to the bit, wherever they end."""
    mean = float(times[-1]) / (len(times) - 1)
    part = period / max(1, round(period / mean))
    return part if abs(part - mean) <= close else mean


def steps_between(times: Array, close: float, *periods: float) -> Array:
    """The steps between ``times``; those of one of the ``periods`` are it, to the bit, wherever they begin."""
    steps = np.diff(times)
    for period in periods:
        steps[np.abs(steps - period) <= close] = period
    return steps


def refined(times: Array, step: float) -> tuple[Array, NDArray[np.intp]]:
    """``times`` with equal steps of at most ``step`` between them, and the places of ``times`` in them."""
    spans = np.diff(times)
    parts = np.maximum(1, np.ceil(spans / step - 1e-9))
    if not parts.sum() < MOST:
        raise StepError(f"step: {step} s up to {times[-1]} s are more than {MOST:.0e} steps; take a longer one")
    counts = parts.astype(np.intp)
    places = np.append(0, np.cumsum(counts))
    within = np.arange(places[-1]) - np.repeat(places[:-1], counts)
    inner = np.repeat(times[:-1], counts) + within * np.repeat(spans / parts, counts)
    return np.append(inner, times[-1]), places
