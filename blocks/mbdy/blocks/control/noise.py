"""Seeded noise: a function of the seed and of time alone, whatever the steps that a run takes."""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np

from mbdy.blocks.control.block import CLOSE, Array, Signal, Static, number
from mbdy.blocks.errors import VariableError

DRAWN = 256
"""Periods drawn at once."""
SEEDS = 2**128
"""How many keys the generator has."""


class Noise(Static):
    """``size`` independent random numbers, drawn anew every ``period`` [s] and held between.

    The numbers of a period come from Philox, a generator that counts (Salmon et al., Parallel random numbers: as easy
    as 1, 2, 3, 2011): from the ``seed`` and the number of the period, not from how often the block was called. Other
    blocks take other seeds. A float for one number, an array (size) for several.
    """

    piecewise = True
    feedthrough = False

    def __init__(self, period: float | str, seed: int, size: int = 1) -> None:
        self.period = number(self, "period", period, "s", above=0.0)
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
            raise VariableError(f"{type(self).__name__}: seed must be a whole number >= 0, got {seed!r}")
        if seed >= SEEDS:
            raise VariableError(f"{type(self).__name__}: seed must be below 2**128, got {seed}")
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 1:
            raise VariableError(f"{type(self).__name__}: size must be a whole number >= 1, got {size!r}")
        self.seed, self.size = int(seed), int(size)
        self.outs = (Signal("out", size=self.size),)
        self._begin = -1
        self._numbers: Array = np.empty(0)

    def value(self, t: float) -> float | Array:
        """The noise at ``t`` >= 0 [s]."""
        place = math.floor(number(self, "t", t, least=0.0) / self.period + CLOSE)
        begin, within = place - place % DRAWN, place % DRAWN
        if begin != self._begin:
            bits = np.random.Philox(key=self.seed, counter=[0, begin, 0, 0])
            self._numbers = self.drawn(np.random.Generator(bits), (DRAWN, self.size))
            self._begin = begin
        return float(self._numbers[within, 0]) if self.size == 1 else self._numbers[within].copy()

    def next_time(self, t: float) -> float:
        """When the next numbers are drawn."""
        return (math.floor(t / self.period + CLOSE) + 1) * self.period

    @abstractmethod
    def drawn(self, generator: np.random.Generator, shape: tuple[int, int]) -> Array:
        """Random numbers of a shape."""


class GaussianNoise(Noise):
    """Normal numbers of ``mean`` and standard ``deviation``; as white noise of one-sided density S [1/Hz] to half the
    sampling frequency, deviation = sqrt(S / (2 period)).

    Raises `VariableError` for a negative deviation, a period that is not positive or a bad seed.
    """

    def __init__(self, deviation: float, *, period: float | str, seed: int, mean: float = 0.0, size: int = 1) -> None:
        super().__init__(period, seed, size)
        self.deviation = number(self, "deviation", deviation, least=0.0)
        self.mean = number(self, "mean", mean)

    def drawn(self, generator: np.random.Generator, shape: tuple[int, int]) -> Array:
        return self.mean + self.deviation * generator.standard_normal(shape)


class UniformNoise(Noise):
    """Numbers anywhere between ``low`` and ``high`` alike.

    Raises `VariableError` for a high below the low, a period that is not positive or a bad seed.
    """

    def __init__(self, low: float, high: float, *, period: float | str, seed: int, size: int = 1) -> None:
        super().__init__(period, seed, size)
        self.low = number(self, "low", low)
        self.high = number(self, "high", high, least=self.low)

    def drawn(self, generator: np.random.Generator, shape: tuple[int, int]) -> Array:
        return self.low + (self.high - self.low) * generator.random(shape)
