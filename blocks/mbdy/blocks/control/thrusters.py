"""A pair of jets that turns a body about an axis."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mbdy.blocks.control.block import Array, Block, Signal, finite, forward, number, remembered
from mbdy.blocks.errors import VariableError


class ThrusterPair(Block):
    """Jets for both senses about an axis: a torque with the sign of their command.

    ``torque``  [N.m] while they fire: twice force times lever arm for two jets that make a couple.
    ``axis``    (3) in body axes, of any length.

    The command is a switching amplifier's level, held between calls. ``impulse`` [N.m.s] and ``firings`` count what
    they have done. Raises `VariableError` for a negative torque or a zero axis.
    """

    ins = (Signal("level", "1"),)
    outs = (Signal("torque", "N.m", 3),)

    def __init__(self, torque: float | str, axis: Sequence[float]) -> None:
        self.torque = number(self, "torque", torque, "N.m", least=0.0)
        direction = [number(self, "axis", one) for one in axis]
        length = math.hypot(*direction)
        if len(direction) != 3 or length == 0.0:
            raise VariableError(f"ThrusterPair: axis must be three numbers, not all zero, got {list(axis)}")
        self.axis: Array = np.array(direction) / length
        self.reset()

    def step(self, t: float, level: float) -> Array:
        """Torque (3) [N.m] on the body in its axes from ``t`` [s] on."""
        since = forward(self, self._time, t)
        finite(self, "level", level)
        if self._level:
            self.impulse += abs(self._level) * self.torque * since
        self.firings += bool(level) and level != self._level
        self._time, self._level = t, level
        return self.torque * level * self.axis

    def reset(self) -> None:
        self._time, self._level = -math.inf, 0.0
        self.impulse, self.firings = 0.0, 0

    def save(self) -> Array:
        return np.array([self._time, self._level, self.impulse, self.firings])

    def restore(self, memory: Array) -> None:
        self._time, self._level, self.impulse, firings = remembered(self, memory, 4)
        self.firings = int(firings)
