"""What every control block is: named ports, `step`, a memory that can be saved, and the instants where it switches."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mbdy.blocks.errors import StepError, VariableError
from mbdy.engine.model.faults import RefusalError, shown
from mbdy.engine.model.units import quantity, real

if TYPE_CHECKING:
    from mbdy.blocks.control.sampled import Sampled

Array = NDArray[np.float64]
CLOSE = 1e-9
"""Instants nearer than this part of a block's own time (a period, a delay) are one."""
NEVER = math.inf
NOTHING: Array = np.empty(0)


@dataclass(frozen=True, slots=True)
class Signal:
    """One port of a block: its ``name``, its ``unit`` ("" where it is that of what is connected) and its ``size``."""

    name: str
    unit: str = ""
    size: int = 1

    @property
    def scalar_names(self) -> tuple[str, ...]:
        """``attitude[1]``, ``attitude[2]``, ...; the bare name where the size is one."""
        return (self.name,) if self.size == 1 else tuple(f"{self.name}[{k + 1}]" for k in range(self.size))


class Block(ABC):
    """A block steps from call to call: ``output = block.step(t, input, ...)``, with times that never go back.

    ``ins``, ``outs``  its ports, in the order of `step`'s arguments and of what it returns.
    ``feedthrough``    whether an input acts on the output at the same instant.
    ``piecewise``      whether the output only changes where the block switches, see `next_time` and ``guard``.
    ``guard``          after a step: a function of the inputs, from the memory before that step, above zero where the
                       step switched; minus infinity for blocks that no input switches. `simulate_located` looks for
                       the instant where it passes zero.
    """

    ins: tuple[Signal, ...] = ()
    outs: tuple[Signal, ...] = (Signal("out"),)
    feedthrough: bool = True
    piecewise: bool = False
    guard: float = -math.inf

    @abstractmethod
    def step(self, *args: Any, **kwargs: Any) -> Any:
        """The output at time ``t`` [s], first argument, for the inputs of that time; takes them into the memory."""

    @abstractmethod
    def reset(self) -> None:
        """Back to what it was when it was made."""

    @abstractmethod
    def save(self) -> Array:
        """The memory (n), to come back to with `restore`."""

    @abstractmethod
    def restore(self, memory: Array) -> None:
        """Back to a saved memory: the same steps give the same outputs again. Blocks here raise `VariableError` for a
        memory of another length, which is another block's."""

    @property
    def level(self) -> float:
        """The level of a switching block now; 0 for others."""
        return 0.0

    def next_time(self, t: float) -> float:
        """The first instant [s] after ``t`` at which the block switches by itself; infinity for none."""
        return NEVER

    def largest_memory(self, period: float) -> int:
        """The most numbers that its memory has where it is called every ``period`` [s]."""
        return len(self.save())

    def look(self, t: float, *inputs: Any) -> Any:
        """What `step` would give, leaving the memory as it is."""
        memory = self.save()
        try:
            return self.step(t, *inputs)
        finally:
            self.restore(memory)

    def sampled(self, period: float | str) -> Sampled:
        """The block called every ``period`` [s] only, its output held between."""
        from mbdy.blocks.control.sampled import Sampled

        return Sampled(self, period)

    def __repr__(self) -> str:
        ports = ", ".join(signal.name for signal in self.ins)
        return f"<{type(self).__name__}({ports})>"


class Static(Block):
    """A block without memory: its output is a function of time and inputs, `value`."""

    @abstractmethod
    def value(self, *args: Any, **kwargs: Any) -> Any:
        """The output at time ``t`` [s], first argument, for the inputs of that time."""

    def step(self, t: float, *inputs: Any) -> Any:
        """The output at time ``t`` [s] for ``inputs``, in the order of ``ins``."""
        return self.value(t, *inputs)

    def reset(self) -> None:
        """Nothing is kept."""

    def save(self) -> Array:
        """An empty vector."""
        return NOTHING

    def restore(self, memory: Array) -> None:
        """Nothing is kept."""
        remembered(self, memory, 0)


def number(
    block: object, name: str, value: object, unit: str = "", *, least: float = -math.inf, above: float = -math.inf
) -> float:
    """A parameter as a float, of a number of any type or, where it has a ``unit``, a text with one; `VariableError`
    names the block and the parameter that is none or out of bounds."""
    owner = block if isinstance(block, str) else type(block).__name__
    if isinstance(value, str) and not unit:
        raise VariableError(
            f"{owner}: {name} must be a number in SI, got {shown(value)}: its unit is that of the input"
        )
    parameter = real(value)
    if parameter is None or isinstance(value, str):
        try:
            parameter = quantity(value, unit)
        except RefusalError as refusal:
            raise VariableError(f"{owner}: {name} {refusal}") from None
    if not math.isfinite(parameter):
        raise VariableError(f"{owner}: {name} must be finite, got {shown(value)}")
    if parameter < least:
        raise VariableError(f"{owner}: {name} must be >= {least:g}, got {parameter}")
    if parameter <= above:
        raise VariableError(f"{owner}: {name} must be > {above:g}, got {parameter}")
    return parameter


def forward(block: Block, before: float, t: float) -> float:
    """The time [s] since the call ``before``, infinite at the first; `StepError` where ``t`` goes back."""
    since = t - before
    if not since >= 0.0:
        raise StepError(
            f"{type(block).__name__}: time must not go back, got {t} s after {before} s; call reset() for a new run, "
            "look() for a trial, and name the block in `blocks` of simulate_located"
        )
    return since


def finite(block: Block, name: str, value: float) -> float:
    """An input; `VariableError` where it is no number or not finite, which a memory would keep for ever."""
    try:
        if math.isfinite(value):
            return value
    except TypeError:
        raise VariableError(f"{type(block).__name__}: input {name!r} must be one number, got {value!r}") from None
    raise VariableError(f"{type(block).__name__}: input {name!r} must be finite, got {value}")


def remembered(block: Block, memory: Array, count: int) -> list[float]:
    """The numbers of a saved memory; `VariableError` where they are not ``count``."""
    if np.shape(memory) != (count,):
        raise VariableError(
            f"{type(block).__name__}: a memory must be a vector of {count} numbers, got one of shape "
            f"{np.shape(memory)}; restore what save() of this block gave"
        )
    return memory.tolist()
