"""Characteristics without memory: a limiter and a dead space (CSSL's BOUND and DEAD)."""

from __future__ import annotations

import math

from mbdy.blocks.control.block import Signal, Static, number
from mbdy.blocks.errors import VariableError


class Limiter(Static):
    """The input kept between ``low`` and ``high``, None for no limit; `VariableError` for a high below the low."""

    ins = (Signal("signal"),)

    def __init__(self, low: float | None, high: float | None) -> None:
        self.low, self.high = limits(self, low, high)

    def value(self, t: float, signal: float) -> float:
        """The limited ``signal``; the time does nothing."""
        return min(max(signal, self.low), self.high)


class DeadSpace(Static):
    """0 between ``low`` and ``high``, outside how far the input is beyond the nearer of them. None for no limit.

    Raises `VariableError` for a high below the low.
    """

    ins = (Signal("signal"),)

    def __init__(self, low: float | None, high: float | None) -> None:
        self.low, self.high = limits(self, low, high)

    def value(self, t: float, signal: float) -> float:
        """What of ``signal`` is outside; the time does nothing."""
        return signal - min(max(signal, self.low), self.high)


def limits(block: object, low: float | None, high: float | None) -> tuple[float, float]:
    """Two limits of which either may be left out; `VariableError` where they are in the wrong order."""
    least = -math.inf if low is None else number(block, "low", low)
    most = math.inf if high is None else number(block, "high", high)
    if most < least:
        raise VariableError(f"{type(block).__name__}: high must not be below low, got {most} below {least}")
    return least, most
