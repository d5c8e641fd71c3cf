"""Which inputs and outputs of a plant another tool's system has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mbdy.blocks.control.block import Array, Signal
from mbdy.blocks.control.sensors import ATTITUDE
from mbdy.blocks.errors import VariableError
from mbdy.blocks.plant import Plant
from mbdy.blocks.run import selected


@dataclass(frozen=True)
class Chosen:
    """Inputs at ``columns`` of a plant, the others as they were; outputs at ``picked``; scalar names of both."""

    plant: Plant
    columns: NDArray[np.intp]
    picked: NDArray[np.intp]
    set_now: Array

    @classmethod
    def of(cls, plant: Plant, inputs: Iterable[str], outputs: Iterable[str] | None) -> Chosen:
        """Those that are named, in that order; `VariableError` or KeyError for a name that is none."""
        columns: list[int] = []
        for name in [inputs] if isinstance(inputs, str) else inputs:
            variable, part = plant.ports.find(name)
            if variable.causality != "input":
                raise VariableError(f"inputs: {name!r} is no input (causality: {variable.causality})")
            columns += range(variable.offset + part.start, variable.offset + part.stop)
        names, hidden = plant.output_names, plant.ports.hidden_names
        patterns = [None] if outputs is None else [[p] for p in ([outputs] if isinstance(outputs, str) else outputs)]
        picked = list(dict.fromkeys(i for pattern in patterns for i in selected(names, pattern, hidden)))
        return cls(plant, np.array(columns, dtype=np.intp), np.array(picked, dtype=np.intp), plant.inputs.values.copy())

    @property
    def input_names(self) -> tuple[str, ...]:
        return tuple(self.plant.input_names[i] for i in self.columns)

    @property
    def output_names(self) -> tuple[str, ...]:
        return tuple(self.plant.output_names[i] for i in self.picked)

    @property
    def feedthrough(self) -> bool:
        """Whether a chosen input acts on a chosen output at the same instant."""
        ports = self.plant.ports
        given = {ports.find(name)[0].name for name in self.input_names}
        seen = {ports.find(name)[0].name for name in self.output_names}
        return any(given & set(ports.by_name[name].dependencies) for name in seen)

    def inputs(self, given: Array) -> Array:
        """All inputs (n_u), those chosen as ``given``."""
        u = self.set_now.copy()
        u[self.columns] = given
        return u

    def derivatives(self, t: float, x: Array, given: Array) -> Array:
        return self.plant.derivatives(t, x, self.inputs(given))

    def outputs(self, t: float, x: Array, given: Array) -> Array:
        return self.plant.outputs(float(t), x, self.inputs(given)).values[self.picked]


def scalar_names(signals: Sequence[Signal]) -> list[str]:
    """Names of all elements of some ports."""
    return [name for signal in signals for name in signal.scalar_names]


def split(signals: Sequence[Signal], values: Array) -> list[float | Array]:
    """A vector of all elements as one argument a port.

    Other tools begin with zeros before they have passed the outputs on; where an attitude is wanted, that is none yet,
    and no rotation stands for it.
    """
    parts: list[float | Array] = []
    at = 0
    for signal in signals:
        part = np.array(values[at : at + signal.size], dtype=float)
        if signal == ATTITUDE and not part.any():
            part[0] = 1.0
        parts.append(float(part[0]) if signal.size == 1 else part)
        at += signal.size
    return parts
