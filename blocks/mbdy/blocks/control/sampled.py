"""`Sampled`: a block called at a period, its output held between: a digital controller, a sensor with a rate."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mbdy.blocks.control.block import CLOSE, NEVER, Array, Block, forward, number, remembered


class Sampled(Block):
    """``block`` called at 0, ``period`` [s], 2 ``period``, ... with the inputs of these instants.

    Between them its output is held and inputs do nothing. Instants are counted: a caller whose clock is a sum of its
    steps skips none, however many it has summed. A call that comes later than an instant is taken for it: step at the
    instants, `next_time` tells them. Raises `VariableError` for a period that is not positive.
    """

    piecewise = True

    def __init__(self, block: Block, period: float | str) -> None:
        self.block = block
        self.period: float = number(self, "period", period, "s", above=0.0)
        self.ins, self.outs, self.feedthrough = block.ins, block.outs, block.feedthrough
        self.reset()

    def step(self, t: float, *inputs: Any) -> Any:
        """The output of the last sample, that of ``t`` [s] if it is one."""
        forward(self, self._time, t)
        place = self._latest(t)
        if place > self._place:
            instant = place * self.period
            at = instant if abs(t - instant) <= self._slack(t) else t
            self._output[:] = np.ravel(self.block.step(at, *inputs))
            self._place = place
        self._time, self._calls = t, self._calls + 1
        return float(self._output[0]) if len(self._output) == 1 else self._output.copy()

    def reset(self) -> None:
        self.block.reset()
        self._time = self._place = -math.inf
        self._calls = 0.0
        self._output = np.zeros(sum(signal.size for signal in self.outs))

    def save(self) -> Array:
        return np.concatenate([self._clock, self._output, self.block.save()])

    def restore(self, memory: Array) -> None:
        end = len(self._clock) + len(self._output)
        self._time, self._place, self._calls, *output = remembered(self, memory[:end], end)
        self._output[:] = output
        self.block.restore(memory[end:])

    @property
    def level(self) -> float:
        return self.block.level

    def next_time(self, t: float) -> float:
        """The next sample."""
        return (self._latest(t) + 1) * self.period if math.isfinite(t) else NEVER

    def largest_memory(self, period: float) -> int:
        return len(self._clock) + len(self._output) + self.block.largest_memory(max(period, self.period))

    @property
    def _clock(self) -> list[float]:
        return [self._time, self._place, self._calls]

    def _latest(self, t: float) -> int:
        """The number of the last instant up to ``t`` [s]."""
        return math.floor((t + self._slack(t)) / self.period)

    def _slack(self, t: float) -> float:
        """[s] How far before an instant ``t`` is still that instant: each sum of steps may have rounded once."""
        return CLOSE * self.period + self._calls * math.ulp(t)
