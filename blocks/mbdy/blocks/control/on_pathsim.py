"""Blocks and plants as blocks of PathSim; `to_pathsim` makes them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from pathsim.blocks import Block as PathSimBlock
from pathsim.blocks import DynamicalSystem
from pathsim.events import Event, Schedule

from mbdy.blocks.control.block import Array, Block
from mbdy.blocks.control.chosen import Chosen, scalar_names, split
from mbdy.blocks.plant import Plant

LOCATED = 1e-9
"""[s] How near a switch an adaptive solver has to come; PathSim's own tolerance is one of the input."""


def _places(names: Iterable[str]) -> dict[str, int]:
    return {name: place for place, name in enumerate(names)}


class PlantBlock(DynamicalSystem):
    """A plant whose states the diagram's solver integrates."""

    def __init__(self, plant: Plant, inputs: Iterable[str], outputs: Iterable[str] | None) -> None:
        self.chosen = chosen = Chosen.of(plant, inputs, outputs)
        self.input_port_labels = _places(chosen.input_names)
        self.output_port_labels = _places(chosen.output_names)
        count = len(chosen.columns)
        start: Any = plant.state
        super().__init__(
            func_dyn=lambda x, u, t: chosen.derivatives(t, x, u[:count]),
            func_alg=lambda x, u, t: chosen.outputs(t, x, u[:count]),
            initial_value=start,
        )

    def __len__(self) -> int:
        return int(self._active and self.chosen.feedthrough)


class SteppingBlock(PathSimBlock):
    """A block that is looked at within a step of the solver, and steps at its end and at its own events."""

    linearizable = False

    def __init__(self, block: Block) -> None:
        self.block = block
        self.input_port_labels = _places(scalar_names(block.ins))
        self.output_port_labels = _places(scalar_names(block.outs))
        super().__init__()
        self._time = 0.0
        if math.isfinite(block.next_time(0.0)) or block.piecewise:
            self.events = [_TimeEvent(self), _GuardEvent(self)]
        self._source()

    def __len__(self) -> Literal[0, 1]:
        return 1 if self._active and self.block.feedthrough and not self.block.piecewise else 0

    def update(self, t: float) -> None:
        """Outputs within a step; those that only switch are held, so that the solver sees no jump."""
        if not self.block.piecewise:
            self._put(self.block.look(t, *self._given()))

    def sample(self, t: float, dt: float) -> None:
        """The end of a step of the solver."""
        self.commit(t)

    def commit(self, t: float) -> None:
        """Let the block step to ``t`` [s]."""
        self._time = max(t, self._time)
        self._put(self.block.step(self._time, *self._given()))

    def due(self) -> float:
        """When the block switches by itself next [s]."""
        return self.block.next_time(self._time)

    def guard(self, t: float) -> float:
        """Above zero where the block would switch on its inputs; a switch in time is the other event's."""
        if t >= self.due() - LOCATED or t < self._time:
            return -math.inf
        self.block.look(t, *self._given())
        return self.block.guard

    def reset(self) -> None:
        super().reset()
        self.block.reset()
        self._time = 0.0
        self._source()

    def _given(self) -> list[float | Array]:
        return split(self.block.ins, self.inputs.to_array())

    def _put(self, output: float | Array) -> None:
        self.outputs.update_from_array(np.atleast_1d(output))

    def _source(self) -> None:
        if not self.block.ins:
            self._put(self.block.look(0.0))


class _TimeEvent(Schedule):
    """A block's own next instant."""

    def __init__(self, owner: SteppingBlock) -> None:
        super().__init__(func_act=owner.commit)
        self._owner = owner

    def _next(self) -> Any:
        return self._owner.due()

    def detect(self, t: float) -> Any:
        if math.isinf(self._next()):
            return False, False, 1.0
        return super().detect(t)

    def estimate(self, t: float) -> float | None:
        left = self._next() - t
        return None if math.isinf(left) else left


class _GuardEvent(Event):
    """Where a block's guard passes zero; close by time, not by the guard's own size."""

    def __init__(self, owner: SteppingBlock) -> None:
        super().__init__(func_evt=owner.guard, func_act=owner.commit)

    def detect(self, t: float) -> Any:
        before, begin = self._history
        now = self.func_evt(t) if self.func_evt else -math.inf
        if before is None or not now > 0.0:
            return False, False, 1.0
        if not before <= 0.0:
            return True, True, 0.0
        ratio = -before / (now - before) if math.isfinite(before) else 0.5
        close = (1.0 - ratio) * (t - begin) <= LOCATED
        return True, close, float(ratio)
