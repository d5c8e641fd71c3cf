"""`simulate_located`: run a plant under switching blocks, each switch at its instant instead of at the next sample."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbdy.blocks.control.block import Block
from mbdy.blocks.control.crossing import crossing
from mbdy.blocks.control.dense import DenseStep
from mbdy.blocks.control.tabled import TabledInputs
from mbdy.blocks.control_loop import Controller, ControllerError, ControlLoop
from mbdy.blocks.errors import StateError
from mbdy.blocks.grids import grid, marks, merged, resolution, seconds, usual_period
from mbdy.blocks.plant import Plant
from mbdy.blocks.plant.typed import Outputs
from mbdy.blocks.run import Run, selected
from mbdy.blocks.signals import Signals
from mbdy.blocks.simulate import Progress, Recorder, ended_by_faults, reported
from mbdy.blocks.table import InputTable, input_table
from mbdy.engine import Model
from mbdy.engine.core.integrators import STEP
from mbdy.engine.model.faults import OptionError, UnknownNameError

Array = NDArray[np.float64]
TOLERANCE = 1e-9
MOST_SWITCHES = 1000
"""More events than this within one step are chatter: a block that switches back at once for ever."""


@dataclass(frozen=True, slots=True)
class Switch:
    """A block (its place in ``blocks``) that went from level ``before`` to ``after`` at ``time`` [s]."""

    time: float
    block: int
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Pulse:
    """A time at one level other than 0: ``begin``, ``end`` [s] (None: still on at the end of the run), ``sign``."""

    begin: float
    end: float | None
    sign: float


@dataclass(frozen=True, slots=True)
class LocatedRun:
    """What `simulate_located` gives: the ``run``, all ``switches`` in their order, the number of ``blocks``."""

    run: Run
    switches: tuple[Switch, ...]
    blocks: int

    def pulses(self, block: int) -> tuple[Pulse, ...]:
        """The pulses of a block, by its place in ``blocks``; IndexError where there is none."""
        own = self._of(block)
        ends = [switch.time for switch in own[1:]] + [None]
        return tuple(Pulse(s.time, end, s.after) for s, end in zip(own, ends, strict=False) if s.after)

    def first(self, block: int) -> float | None:
        """When a block was first on [s], None for never; IndexError where there is no such block."""
        return next((switch.time for switch in self._of(block) if switch.after), None)

    def _of(self, block: int) -> list[Switch]:
        """The switches of a block."""
        if block not in range(self.blocks):
            raise UnknownNameError(
                f"block must be a place in `blocks`, which has {self.blocks}, from 0 on, got {block}"
            )
        return [switch for switch in self.switches if switch.block == block]


def simulate_located(
    model: Model | Plant | str | PathLike[str],
    *,
    until: float | str,
    controller: Controller,
    blocks: Sequence[Block] | None = None,
    every: float | str | None = None,
    inputs: str | PathLike[str] | Mapping[str, ArrayLike] | None = None,
    linear: bool = False,
    outputs: Iterable[str] | None = None,
    record: Iterable[str] = (),
    step: float | str | None = None,
    integrator: str = "rk4",
    tolerance: float | str = TOLERANCE,
    progress: bool | Progress = False,
) -> LocatedRun:
    """Outputs from time 0 to ``until`` [s], and when each block switched.

    Arguments that `simulate` has too mean the same there. ``controller`` is called at the end of each internal step
    and what it gives is held over the next; where a block within switches on the way, the step is taken again, to the
    instant of the switch. That instant is found on the plant's dense output, or by steps to it where the integrator
    chooses its steps; events in time (the end of a minimum on time, an edge of a pulse, a sample) are ends of steps.

    ``model``      a `Plant` of your own needs ``interpolation="linear"``.
    ``integrator`` as for a `Plant`. Those that choose their steps take long ones, which suits controllers that only
                   switch: give the longest ``step`` for others.
    ``blocks``     the controller's blocks that have a memory: switching amplifiers, delays, integrators ...; those of
                   its attribute ``blocks`` where None. Within a step the controller is tried and they are put back, so
                   it must keep nothing else from call to call.
    ``tolerance``  [s] of an instant's place on the dense output.

    A switch there and back within one internal step may be missed. Raises as `simulate` does; switching a thousand
    times within a step is a `StateError`.
    """
    plant = (
        model if isinstance(model, Plant) else Plant(model, step=step, integrator=integrator, interpolation="linear")
    )
    if plant.interpolation != "linear":
        raise OptionError('simulate_located needs a plant made with interpolation="linear"')
    chosen = _blocks(controller, blocks)
    until = seconds("until", until)
    usual = STEP if plant.adaptive else plant.internal_step
    every = seconds("every", max(usual, usual_period(until)) if every is None else every)
    close = resolution(until, every)
    instants = grid("every", every, until, close)
    table = None if inputs is None else input_table(inputs, plant.ports, linear=linear)
    times = instants if table is None else merged(close, instants, table.time[table.time < until - close])
    picked = np.array(selected(plant.output_names, outputs, plant.ports.hidden_names), dtype=np.intc)
    recorder = Recorder(plant, picked, len(instants), inputs=record, table=table)
    march = _March(plant, controller, chosen, table, seconds("tolerance", tolerance), close, recorder.signals)
    with reported(progress) as tell, ended_by_faults(plant, recorder):
        march.begin()
        recorder.add(0.0, plant.outputs().values)
        for time, recorded in zip(times[1:].tolist(), marks(times, instants, close)[1:], strict=True):
            march.to(time, recorder)
            if recorded:
                recorder.add(time, plant.outputs().values)
            tell(time / until)
    march.loop.end()
    return LocatedRun(recorder.run(complete=True), tuple(march.switches), len(chosen))


def _blocks(controller: Controller, blocks: Sequence[Block] | None) -> tuple[Block, ...]:
    found = getattr(controller, "blocks", None) if blocks is None else blocks
    if found is None:
        raise OptionError("blocks: name the controller's blocks that have a memory, or give it an attribute `blocks`")
    for place, block in enumerate(found):
        if not isinstance(block, Block):
            raise OptionError(f"blocks: number {place} is no block but {block!r}")
        first = next(k for k, other in enumerate(found) if other is block)
        if first != place:
            raise OptionError(f"blocks: number {place} is number {first} again, {block!r}; name each block once")
    return tuple(found)


class _March:
    """The plant on its way from event to event."""

    def __init__(
        self, plant: Plant, controller: Controller, blocks: tuple[Block, ...], table: InputTable | None,
        tolerance: float, close: float, signals: Signals,
    ) -> None:  # fmt: skip
        self.plant, self.controller, self.blocks = plant, controller, blocks
        self.tolerance, self.close, self.time = tolerance, close, 0.0
        self.window = STEP if plant.adaptive else plant.internal_step
        self.switches: list[Switch] = []
        self.table = TabledInputs(plant, table, close)
        self.loop = ControlLoop(plant, controller, self.table.taken, signals)

    def begin(self) -> None:
        """The first inputs."""
        self.table.ahead(0.0)
        self._arrive(0.0, self.plant.outputs())

    def to(self, target: float, recorder: Recorder) -> None:
        """Go on to ``target`` [s], before which the table has no row, switching on the way."""
        events, counted = 0, self.time
        self.table.between(self.time, target)
        while self.time < target:
            due = [block.next_time(self.time) for block in self.blocks]
            end = min([target, *due])
            end = target if end > target - self.close else max(end, self.time + self.close)
            internal = self.plant.next_step if self.plant.adaptive else self.plant.internal_step
            parts = max(1, math.ceil((end - self.time) / internal - 1e-9))
            after = end if parts == 1 else self.time + (end - self.time) / parts
            if self._stepped(after, recorder, [when > after + self.close for when in due]):
                events += 1
            if self.time - counted > self.window:
                events, counted = 0, self.time
            if events > MOST_SWITCHES:
                raise StateError(
                    f"the blocks switch more than {MOST_SWITCHES} times within one step of "
                    f"{self.window} s; give the amplifier hysteresis or a minimum on time"
                )

    def _stepped(self, after: float, recorder: Recorder, watched: list[bool]) -> bool:
        """A step to ``after`` [s], or to the first switch before it of a block that is ``watched``; whether it was."""
        plant, begin, known = self.plant, self.time, len(self.switches)
        before, memories = plant.save(), [block.save() for block in self.blocks]
        x_begin, u_begin = plant.state, plant.inputs.values.copy()
        self.table.ahead(after)
        u_end = plant.inputs.values.copy()
        y = plant.step(after - begin)
        self._arrive(after, y)
        located = False
        if self._guard(watched) > 0.0:
            dense = DenseStep(plant, begin, after - begin, x_begin, plant.state, u_begin, u_end)

            def outputs(t: float) -> Outputs:
                if not plant.adaptive:
                    return dense.outputs(t)
                plant.restore(before)
                self.table.ahead(t)
                return plant.step(t - begin) if t > begin else plant.outputs()

            def guard(t: float) -> float:
                self._put_back(memories)
                self._tried(t, outputs(t))
                return self._guard(watched)

            switch = max(crossing(guard, begin, after, self.tolerance), begin + self.close)
            self._put_back(memories)
            located = switch < after
            after = min(switch, after)
            del self.switches[known:]
            plant.restore(before)
            self.table.ahead(after)
            y = plant.step(after - begin)
            self._arrive(after, y)
        recorder.stepped(y.values)
        return located

    def _guard(self, watched: list[bool]) -> float:
        """The largest guard of the blocks that are watched, as the last call of the controller left them."""
        guards = (block.guard for block, counts in zip(self.blocks, watched, strict=True) if counts)
        return max(guards, default=-math.inf)

    def _tried(self, t: float, y: Outputs) -> None:
        self._forget_guards()
        try:
            self.controller(t, y)
        except Exception as fault:
            raise ControllerError(f"the controller failed: {type(fault).__name__}: {fault}") from fault

    def _forget_guards(self) -> None:
        """A block that the controller leaves out in a call switches on nothing then."""
        for block in self.blocks:
            block.guard = -math.inf

    def _put_back(self, memories: list[Array]) -> None:
        for block, memory in zip(self.blocks, memories, strict=True):
            block.restore(memory)

    def _arrive(self, t: float, y: Outputs) -> None:
        """Inputs from ``t`` [s] on, those of the controller with the outputs ``y`` there; blocks may switch."""
        self.time = t
        if self.table.any_held:
            self.table.arrived(t)
            y = self.plant.outputs()
        levels = [block.level for block in self.blocks]
        self._forget_guards()
        self.loop.take(t, y)
        for place, (block, level) in enumerate(zip(self.blocks, levels, strict=True)):
            if block.level != level:
                self.switches.append(Switch(t, place, level, block.level))
        self.plant.jump()
