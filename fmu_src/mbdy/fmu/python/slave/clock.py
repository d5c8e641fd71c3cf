"""The times of a run: where it is, where it must end, and which steps can be made from there."""

from __future__ import annotations

import math

TIME_TOLERANCE = 1e-9
"""How far a caller's time may be off, of the time and of the step: sums of a million steps are this exact."""
ULPS = 4.0
"""Rounding in the difference of two of the caller's times; a step this near to whole internal steps is made of them."""


class Clock:
    """Time and stop time [s], None where the client gave none; ``h`` is the internal step [s]."""

    def __init__(self, h: float) -> None:
        self.h = h
        self.time: float | None = None
        self.stop: float | None = None

    def begin(self, start: float, stop: float | None) -> str:
        """Sets the times of a run. What forbids them, or nothing."""
        if not math.isfinite(start):
            return f"the start time is {start!r} s: it must be finite"
        if stop is not None and not stop >= start:
            return f"the stop time is {stop!r} s: it must not be before the start time {start!r} s"
        self.time, self.stop = float(start), None if stop is None else float(stop)
        return ""

    def wrong(self, current_time: float, step_size: float) -> str:
        """What forbids a step of ``step_size`` [s] from ``current_time`` [s], or nothing."""
        if not 0.0 < step_size < math.inf:
            return f"the step size is {step_size!r} s: it must be positive and finite"
        if not math.isfinite(current_time):
            return f"the time is {current_time!r} s: it must be finite"
        slack = TIME_TOLERANCE * (max(1.0, abs(current_time)) + step_size)
        if self.time is not None and abs(current_time - self.time) > slack:
            way = "backwards" if current_time < self.time else "ahead"
            return f"the time goes {way} from {self.time!r} s: step from there, or set a saved FMU state or reset"
        if self.stop is not None and current_time + step_size > self.stop + slack:
            return f"the step of {step_size!r} s goes past the stop time {self.stop!r} s of the experiment"
        return ""

    def whole(self, current_time: float, step_size: float) -> float:
        """The step's length without the rounding of the caller's clock, where it is of whole internal steps."""
        whole = round(step_size / self.h) * self.h
        near = abs(whole - step_size) <= ULPS * math.ulp(abs(current_time) + step_size)
        return whole if whole and near else step_size
