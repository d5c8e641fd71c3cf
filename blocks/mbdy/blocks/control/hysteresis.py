"""A hysteresis loop: backlash, as of gears with play (CSSL's HSTRSS)."""

from __future__ import annotations

import math

import numpy as np

from mbdy.blocks.control.block import Array, Block, Signal, finite, forward, number, remembered


class HysteresisLoop(Block):
    """The output rests while the input moves within a play of ``width``, and is pushed along at its ends.

    It is within width/2 of the input always; which way it came decides where. ``initial`` is the output before the
    first call. It depends on the turns of the input, not on how fast it goes between them.
    Raises `VariableError` for a width that is negative or a number that is not finite.
    """

    ins = (Signal("signal"),)

    def __init__(self, width: float, initial: float = 0.0) -> None:
        self.width = number(self, "width", width, least=0.0)
        self.initial = number(self, "initial", initial)
        self.reset()

    def step(self, t: float, signal: float) -> float:
        """The output at ``t`` [s], when the input has gone on to ``signal``."""
        forward(self, self._time, t)
        finite(self, "signal", signal)
        self._time, half = t, 0.5 * self.width
        self._value = min(max(self._value, signal - half), signal + half)
        return self._value

    def reset(self) -> None:
        self._time, self._value = -math.inf, self.initial

    def save(self) -> Array:
        return np.array([self._time, self._value])

    def restore(self, memory: Array) -> None:
        self._time, self._value = remembered(self, memory, 2)
