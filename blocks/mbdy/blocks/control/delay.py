"""A transport delay (CSSL's DELAY)."""

from __future__ import annotations

import math
from collections import deque

import numpy as np

from mbdy.blocks.control.block import CLOSE, NEVER, Array, Block, Signal, finite, forward, number
from mbdy.blocks.errors import VariableError


class Delay(Block):
    """The input of ``time`` [s] ago.

    ``initial``  what comes out until the first input has gone through.
    ``held``     the input holds from each call to the next, so that the output jumps ``time`` after each; otherwise
                 the input goes on a line between calls. Either is exact for such an input, where calls are not
                 farther apart than the delay.

    A second call at an instant replaces the input of the first. Raises `VariableError` for a time that is not positive.
    """

    ins = (Signal("signal"),)
    feedthrough = False

    def __init__(self, time: float | str, *, initial: float = 0.0, held: bool = False) -> None:
        self.time = number(self, "time", time, "s", above=0.0)
        self.initial = number(self, "initial", initial)
        self.held = self.piecewise = held
        self._past: deque[tuple[float, float]] = deque()

    def step(self, t: float, signal: float) -> float:
        """The input at ``t`` - ``time``; takes up ``signal``, that of ``t`` [s]."""
        finite(self, "signal", signal)
        past = self._past
        if forward(self, past[-1][0] if past else -math.inf, t) == 0.0:
            past.pop()
        past.append((t, signal))
        then = t - self.time + CLOSE * self.time
        while len(past) > 1 and past[1][0] <= then:
            past.popleft()
        begin, value = past[0]
        if begin > then:
            return self.initial
        if self.held or len(past) == 1:
            return value
        end, later = past[1]
        return value + (later - value) * max(t - self.time - begin, 0.0) / (end - begin)

    def next_time(self, t: float) -> float:
        """When the next of the held inputs comes out; of others, the first."""
        waiting = (begin + self.time for begin, _ in self._past if begin + self.time > t + CLOSE * self.time)
        if self.held:
            return next(waiting, NEVER)
        first = self._past[0][0] + self.time if self._past else -math.inf
        return first if first > t + CLOSE * self.time else NEVER

    def reset(self) -> None:
        self._past.clear()

    def save(self) -> Array:
        """How many inputs are on their way, then time and value of each."""
        return np.array([len(self._past), *(number for pair in self._past for number in pair)], dtype=float)

    def restore(self, memory: Array) -> None:
        count = memory[0] if np.ndim(memory) == 1 and len(memory) else -1.0
        if not (count >= 0.0 and float(count).is_integer() and len(memory) >= 1 + 2 * count):
            raise VariableError(
                f"Delay: a memory must be a vector of a count and two numbers for each, got {memory}; restore what "
                "save() of this block gave"
            )
        pairs = memory[1 : 1 + 2 * int(count)].reshape(-1, 2).tolist()
        self._past = deque((time, value) for time, value in pairs)

    def largest_memory(self, period: float) -> int:
        return 1 + 2 * (math.ceil(self.time / period) + 2)
