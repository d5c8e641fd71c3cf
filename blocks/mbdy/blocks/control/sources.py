"""Signals of time: a step, a ramp, a train of pulses (CSSL's STEP, RAMP and PULSE)."""

from __future__ import annotations

import math

from mbdy.blocks.control.block import CLOSE, NEVER, Static, number


class StepSignal(Static):
    """``height`` from ``start`` [s] on, 0 before. Raises `VariableError` for a number that is not finite."""

    piecewise = True
    feedthrough = False

    def __init__(self, start: float | str = 0.0, height: float = 1.0) -> None:
        self.start, self.height = number(self, "start", start, "s"), number(self, "height", height)

    def value(self, t: float) -> float:
        """The signal at ``t`` [s]."""
        return self.height if t >= self.start else 0.0

    def next_time(self, t: float) -> float:
        return self.start if t < self.start else NEVER


class RampSignal(Static):
    """``slope`` (t - ``start``) from ``start`` [s] on, 0 before; it stays from ``end`` [s] on, if there is one.

    Raises `VariableError` for a number that is not finite or an end before the start.
    """

    feedthrough = False

    def __init__(self, slope: float = 1.0, start: float | str = 0.0, end: float | str | None = None) -> None:
        self.slope, self.start = number(self, "slope", slope), number(self, "start", start, "s")
        self.end = NEVER if end is None else number(self, "end", end, "s", least=self.start)

    def value(self, t: float) -> float:
        """The signal at ``t`` [s]."""
        return self.slope * (min(max(t, self.start), self.end) - self.start)

    def next_time(self, t: float) -> float:
        """Its corners."""
        return self.start if t < self.start else self.end if t < self.end else NEVER


class PulseTrain(Static):
    """``height`` for ``width`` [s] at ``start`` [s] and every ``period`` [s] after it, 0 elsewhere.

    Raises `VariableError` for a number that is not finite, a period or width that is not positive, or a width above
    the period.
    """

    piecewise = True
    feedthrough = False

    def __init__(
        self, period: float | str, width: float | str, *, start: float | str = 0.0, height: float = 1.0
    ) -> None:
        self.period = number(self, "period", period, "s", above=0.0)
        self.width = number(self, "width", width, "s", above=0.0)
        number(self, "period (beside a width)", self.period, least=self.width)
        self.start, self.height = number(self, "start", start, "s"), number(self, "height", height)

    def value(self, t: float) -> float:
        """The signal at ``t`` [s]."""
        place = self._place(t)
        on = place >= 0 and t < self.start + place * self.period + self.width - CLOSE * self.period
        return self.height if on else 0.0

    def next_time(self, t: float) -> float:
        """Its edges."""
        place = self._place(t)
        if place < 0:
            return self.start
        fall = self.start + place * self.period + self.width
        return fall if t < fall - CLOSE * self.period else self.start + (place + 1) * self.period

    def _place(self, t: float) -> int:
        """Which pulse began last; negative for none."""
        return math.floor((t - self.start) / self.period + CLOSE)
