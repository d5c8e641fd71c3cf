"""Blocks and plants as input/output systems of python-control; `to_control` makes them."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

import control
import numpy as np

from mbdy.blocks.control.block import Array, Block, Static, number
from mbdy.blocks.control.chosen import Chosen, scalar_names, split
from mbdy.blocks.control.integrator import Integrator
from mbdy.blocks.control.sampled import Sampled
from mbdy.blocks.plant import Plant
from mbdy.engine.model.faults import OptionError

Parameters = dict[str, Any]


class ControlSystem(control.NonlinearIOSystem):
    """A system of python-control; ``start`` (n) has the states that it begins with, to be given as ``X0``."""

    start: Array

    def __init__(self, update: Any, output: Any, *, start: Array, **described: Any) -> None:
        super().__init__(update, output, **described)
        self.start = start


def of_plant(
    plant: Plant, period: float | None, inputs: Iterable[str], outputs: Iterable[str] | None, name: str | None
) -> ControlSystem:
    """A plant in continuous time, or stepped by a ``period`` [s] with its inputs held."""
    chosen = Chosen.of(plant, inputs, outputs)
    described = {
        "inputs": _spelled(chosen.input_names), "outputs": _spelled(chosen.output_names),
        "states": _spelled(plant.state_names), "name": name or _spelled([plant.model.name])[0],
    }  # fmt: skip

    def output(t: float, x: Array, u: Array, parameters: Parameters) -> Array:
        return chosen.outputs(t, x, u)

    if period is None:

        def slope(t: float, x: Array, u: Array, parameters: Parameters) -> Array:
            return chosen.derivatives(t, x, u)

        return ControlSystem(slope, output, start=plant.state, **described)
    period = number("to_control", "period", period, "s", above=0.0)
    own = copy.copy(plant)
    saved = own.save()

    def stepped(t: float, x: Array, u: Array, parameters: Parameters) -> Array:
        own.restore(saved)
        own.state = x
        own.inputs.values[:] = chosen.inputs(u)
        own.jump()
        own.step(period)
        return own.state

    return ControlSystem(stepped, output, start=plant.state, dt=period, **described)


def of_block(block: Block, period: float | None, name: str | None) -> ControlSystem:
    """A block in continuous time, or one stepped by a ``period`` [s]; sampled ones have a period of their own."""
    described = {
        "inputs": _spelled(scalar_names(block.ins)), "outputs": _spelled(scalar_names(block.outs)),
        "name": name or type(block).__name__,
    }  # fmt: skip
    if period is not None:
        period = number("to_control", "period", period, "s", above=0.0)
    if isinstance(block, Sampled):
        if period is not None and period != block.period:
            raise OptionError(f"to_control: the block is sampled every {block.period} s, got period {period} s")
        return _stepped(block.block, block.period, described)
    if period is not None:
        return _stepped(block, period, described)
    if isinstance(block, Integrator):
        return ControlSystem(
            lambda t, x, u, parameters: np.array([block.derivative(x[0], u[0])]),
            lambda t, x, u, parameters: np.clip(x, block.low, block.high),  # a solver's step ends beyond a limit
            start=np.array([block.initial]), states=["integral"], **described,
        )  # fmt: skip
    if not isinstance(block, Static):
        raise OptionError(
            f"to_control: {type(block).__name__} has a memory, which no system in continuous time of python-control "
            "can have; give a period, to step it in discrete time"
        )

    def output(t: float, x: Array, u: Array, parameters: Parameters) -> Array:
        return np.atleast_1d(block.value(t, *split(block.ins, u)))

    return ControlSystem(None, output, start=np.empty(0), **described)


def _stepped(block: Block, period: float, described: dict[str, Any]) -> ControlSystem:
    """A block in discrete time: its memory is the state, so that python-control can begin anywhere."""
    own = copy.deepcopy(block)
    own.reset()
    size = own.largest_memory(period)

    def memory() -> Array:
        x = np.zeros(size)
        saved = own.save()
        x[: len(saved)] = saved
        return x

    def update(t: float, x: Array, u: Array, parameters: Parameters) -> Array:
        own.restore(x)
        own.step(t, *split(own.ins, u))
        return memory()

    def output(t: float, x: Array, u: Array, parameters: Parameters) -> Array:
        own.restore(x)
        return np.atleast_1d(own.look(t, *split(own.ins, u)))

    states = [f"memory[{k + 1}]" for k in range(size)]
    return ControlSystem(update if size else None, output, start=memory(), dt=period, states=states, **described)


def _spelled(names: Iterable[str]) -> list[str]:
    """Names as python-control takes them."""
    return [name.replace(".", "_").replace(" ", "_") for name in names]
