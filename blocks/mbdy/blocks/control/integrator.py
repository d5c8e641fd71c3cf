"""An integrator with an initial condition and limits (CSSL's INTEG and LIMINT)."""

from __future__ import annotations

import math

import numpy as np

from mbdy.blocks.control.block import Array, Block, Signal, finite, forward, number, remembered
from mbdy.blocks.control.bounds import limits
from mbdy.blocks.errors import VariableError


class Integrator(Block):
    """The integral of the input from the first call on.

    ``initial``      where it begins.
    ``low``, ``high``  limits: at one of them it rests until the input turns back. None for no limit.
    ``held``         the input holds from each call to the next, as a switching amplifier's output does; otherwise it
                     goes on a line between calls. Either is exact for such an input, limits included.

    Raises `VariableError` for a number that is not finite, limits in the wrong order or an initial value outside.
    """

    ins = (Signal("rate"),)

    def __init__(
        self, initial: float = 0.0, *, low: float | None = None, high: float | None = None, held: bool = False
    ) -> None:
        self.initial = number(self, "initial", initial)
        self.low, self.high = limits(self, low, high)
        if not self.low <= self.initial <= self.high:
            raise VariableError(f"Integrator: initial must be between {self.low} and {self.high}, got {initial}")
        self.held = held
        self.feedthrough = not held
        self.reset()

    def step(self, t: float, rate: float) -> float:
        """The integral to ``t`` [s], where the input is ``rate``."""
        since = forward(self, self._time, t)
        finite(self, "rate", rate)
        if math.isfinite(since):
            before, after = self._rate, self._rate if self.held else rate
            turn = before / (before - after) if before * after < 0.0 else 1.0
            middle = 0.0 if turn < 1.0 else after
            self._value = self._limited(self._value + 0.5 * (before + middle) * turn * since)
            if turn < 1.0:  # the rest has the other sign, so that each part goes one way and limits act at its end
                self._value = self._limited(self._value + 0.5 * after * (1.0 - turn) * since)
        self._time, self._rate = t, rate
        return self._value

    def derivative(self, value: float, rate: float) -> float:
        """The rate of an integral that stands at ``value``: 0 where it would leave the limits."""
        return 0.0 if (value >= self.high and rate > 0.0) or (value <= self.low and rate < 0.0) else rate

    def reset(self) -> None:
        self._time, self._rate, self._value = -math.inf, 0.0, self.initial

    def save(self) -> Array:
        return np.array([self._time, self._rate, self._value])

    def restore(self, memory: Array) -> None:
        self._time, self._rate, self._value = remembered(self, memory, 3)

    def _limited(self, value: float) -> float:
        return min(max(value, self.low), self.high)
