"""A switching amplifier with dead zone, hysteresis and minimum on time (CSSL's SWAMP, as JPL TR 32-1592 uses it)."""

from __future__ import annotations

import math

import numpy as np

from mbdy.blocks.control.block import CLOSE, NEVER, Array, Block, Signal, finite, forward, number, remembered
from mbdy.blocks.control.derived_rate import DerivedRate
from mbdy.blocks.errors import VariableError


class SwitchingAmplifier(Block):
    """A relay with three levels, -1, 0 and 1: on with the sign of its input outside the dead zone, off inside it.

    ``dead_zone``    it goes on where the absolute input exceeds this.
    ``hysteresis``   it goes off where the input, times its level, falls below dead zone less hysteresis.
    ``minimum_on``   [s] it stays on for at least this long.
    ``derived_rate`` feedback of its own output, taken from the input.

    The report's SWAMP(TIME, TM, DB, IN) is ``SwitchingAmplifier(DB, minimum_on=TM)``. Where it goes off outside the
    zone's other side it goes on again at once, with the other sign.

    Called at samples it is late by up to one; `simulate_located` finds the instants.
    Raises `VariableError` for a number that is not finite or negative, or a hysteresis of more than twice the zone.
    """

    ins = (Signal("signal"),)
    outs = (Signal("level", "1"),)
    feedthrough = False
    piecewise = True

    def __init__(
        self,
        dead_zone: float,
        *,
        hysteresis: float = 0.0,
        minimum_on: float | str = 0.0,
        derived_rate: DerivedRate | None = None,
    ) -> None:
        self.dead_zone = number(self, "dead_zone", dead_zone, least=0.0)
        self.hysteresis = number(self, "hysteresis", hysteresis, least=0.0)
        if self.hysteresis > 2.0 * self.dead_zone:
            raise VariableError(
                f"SwitchingAmplifier: hysteresis must be <= twice the dead zone ({2 * self.dead_zone:g}), beyond which "
                f"it would stay on past the other side of the zone, got {hysteresis}"
            )
        self.minimum_on = number(self, "minimum_on", minimum_on, "s", least=0.0)
        self.derived_rate = derived_rate
        self.reset()

    def step(self, t: float, signal: float) -> float:
        """The level from ``t`` [s] on, where the input is ``signal``."""
        since = forward(self, self._time, t)
        error = finite(self, "signal", signal)
        if self.derived_rate is not None:
            self._fed_back = self.derived_rate.after(self._fed_back, self._level, since)
            error -= self._fed_back
        self._time = t
        self.guard = self._above(t, error)
        if self._level and self.guard > 0.0:
            self._level, self._until = 0.0, -math.inf
        if not self._level and abs(error) > self.dead_zone:
            self._level, self._until = math.copysign(1.0, error), t + self.minimum_on
        return self._level

    def reset(self) -> None:
        self._time = self._until = -math.inf
        self._level = self._fed_back = 0.0
        self.guard = -math.inf

    def save(self) -> Array:
        return np.array([self._time, self._until, self._level, self._fed_back])

    def restore(self, memory: Array) -> None:
        self._time, self._until, self._level, self._fed_back = remembered(self, memory, 4)

    @property
    def level(self) -> float:
        """-1, 0 or 1."""
        return self._level

    def next_time(self, t: float) -> float:
        """The end of its minimum on time."""
        return self._until if self._level and t < self._until - CLOSE * self.minimum_on else NEVER

    def _above(self, t: float, error: float) -> float:
        """Above zero where it switches: out of the zone while off, back into it while on."""
        if not self._level:
            return abs(error) - self.dead_zone
        if t < self._until - CLOSE * self.minimum_on:
            return -math.inf
        return self.dead_zone - self.hysteresis - error * self._level
