"""`Sampled`: a block called at a period, its output held between: a digital controller, a sensor with a rate."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mbdy.blocks.control.block import CLOSE, NEVER, Array, Block, forward, number, remembered


class Sampled(Block):
    """``block`` called at 0, ``period`` [s], 2 ``period``, ... with the inputs of these instants.

    Between them its output is held and inputs do nothing. A call that comes later than an instant is taken for it:
    step at the instants, `next_time` tells them. Raises `VariableError` for a period that is not positive.
    """

    piecewise = True

    def __init__(self, block: Block, period: float) -> None:
        self.block = block
        self.period = number(self, "period", period, above=0.0)
        self.ins, self.outs, self.feedthrough = block.ins, block.outs, block.feedthrough
        self.reset()

    def step(self, t: float, *inputs: Any) -> Any:
        """The output of the last sample, that of ``t`` [s] if it is one."""
        forward(self, self._time, t)
        place = math.floor(t / self.period + CLOSE)
        if place > self._place:
            self._output[:] = np.ravel(self.block.step(t, *inputs))
            self._place = place
        self._time = t
        return float(self._output[0]) if len(self._output) == 1 else self._output.copy()

    def reset(self) -> None:
        self.block.reset()
        self._time = self._place = -math.inf
        self._output = np.zeros(sum(signal.size for signal in self.outs))

    def save(self) -> Array:
        return np.concatenate([[self._time, self._place], self._output, self.block.save()])

    def restore(self, memory: Array) -> None:
        end = 2 + len(self._output)
        self._time, self._place, *output = remembered(self, memory[:end], end)
        self._output[:] = output
        self.block.restore(memory[end:])

    @property
    def level(self) -> float:
        return self.block.level

    def next_time(self, t: float) -> float:
        """The next sample."""
        return (math.floor(t / self.period + CLOSE) + 1) * self.period if math.isfinite(t) else NEVER

    def largest_memory(self, period: float) -> int:
        return 2 + len(self._output) + self.block.largest_memory(max(period, self.period))
