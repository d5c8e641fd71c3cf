"""What happens by itself once an output passes a threshold: the instant located, inputs and parameters set there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mbdy.blocks.control.crossing import crossing
from mbdy.blocks.errors import StateError, VariableError
from mbdy.blocks.plant import Plant
from mbdy.blocks.plant.typed import Outputs
from mbdy.blocks.strides import Crossing
from mbdy.engine.model.faults import OptionError, RefusalError, UnknownNameError, shown
from mbdy.engine.model.units import quantity

if TYPE_CHECKING:
    from mbdy.blocks.simulate import Recorder

Array = NDArray[np.float64]
INSTANT = 1e-11
"""[s] How near an instant is found."""
MOST = 1000
"""Times that conditions act within one step of a run; more are chatter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """``set`` (inputs and parameters by name, as ``plant[name] = value``) acts at the instant at which the ``output``,
    one number, comes ``above`` a threshold or ``below`` one; at the begin of a run where it is so then.

    ``above``, ``below``  one of them: a number in SI, or a text with unit.
    ``repeated``          whether it acts again after it has ceased to hold; else once in a run.
    """

    output: str
    set: Mapping[str, object]
    above: float | str | None = None
    below: float | str | None = None
    repeated: bool = False

    def __post_init__(self) -> None:
        if (self.above is None) == (self.below is None):
            raise OptionError(f"condition of {self.output!r}: give one of above and below")
        if not self.set:
            raise OptionError(f"condition {self}: sets nothing; give set={{name: value}}")

    def __str__(self) -> str:
        return f"{self.output} " + (f"above {self.above}" if self.below is None else f"below {self.below}")


class _Waiting:
    """A condition in a run: its threshold as a margin, and whether it waits to act."""

    def __init__(self, plant: Plant, condition: Condition) -> None:
        self.condition, self.waits = condition, True
        try:
            variable, part = plant.ports.find(condition.output)
            if variable.causality != "output" or part.stop - part.start != 1:
                raise UnknownNameError("it needs the name of one output that is one number")
            unit, given = variable.units[part][0], condition.above if condition.below is None else condition.below
            self.limit = quantity(given, unit)
        except (KeyError, RefusalError) as fault:
            raise OptionError(f"condition {condition}: {fault.args[0]}") from None
        self.place = variable.offset + part.start
        inputs = [plant.ports.find(name) for name in condition.set]
        of_inputs = [(v, at) for v, at in inputs if v.causality == "input"]
        self.sets = [place for v, at in of_inputs for place in range(v.offset + at.start, v.offset + at.stop)]
        self.sense = 1.0 if condition.below is None else -1.0

    def margin(self, values: Array) -> float:
        """Above zero where it holds, of outputs (n_y)."""
        return self.sense * (float(values[self.place]) - self.limit)


class Conditions:
    """The ``conditions`` of one run of a ``plant``; what ``taken`` gives, a name each, they cannot set."""

    def __init__(self, plant: Plant, conditions: Sequence[Condition], taken: Mapping[str, str]) -> None:
        for one in conditions:
            if not isinstance(one, Condition):
                raise OptionError(f"conditions: a sequence of Condition is needed, got {shown(one)} in it")
        self.plant = plant
        self._waiting = [_Waiting(plant, one) for one in conditions]
        self.taken: dict[str, str] = {}
        for one in conditions:
            for scalar in (name for given in one.set for name in _scalars(plant, one, given)):
                if by := taken.get(scalar):
                    raise VariableError(f"condition {one}: {by} gives {scalar!r} too; keep one of them")
                self.taken[scalar] = "a condition"

    def act(self, y: Outputs, recorder: Recorder) -> list[int]:
        """Set what those set that wait and hold, with the outputs ``y``, inputs with a jump; the places of these. Those
        that have ceased to hold wait again."""
        acting = [one for one in self._waiting if one.waits and one.margin(y.values) > 0.0]
        for one in self._waiting:
            one.waits = one.waits or (one.condition.repeated and one.margin(y.values) <= 0.0)
        for one in acting:
            one.waits = False
            for name, value in one.condition.set.items():
                self.plant[name] = value
        if acting:
            self.plant.jump()
        recorder.crossings += [Crossing(self.plant.time, str(one.condition), True) for one in acting]
        return [place for one in acting for place in one.sets]

    def step(self, H: float, recorder: Recorder) -> Outputs:
        """As `Plant.step` with ``H`` [s], with what acts on the way, all told to the ``recorder``."""
        plant, left, count = self.plant, H, 0
        end = plant.inputs.values.copy()
        while True:
            begin = plant._u.copy()
            part = min(left, plant.next_step) if plant.adaptive else left
            part = left if left - part < INSTANT else part
            before = plant.save()
            y = self._go(part, part / left, begin, end)
            if self._margin(y) > 0.0:

                def margin(t: float, before: object = before, left: float = left, begin: Array = begin) -> float:
                    plant.restore(before)  # type: ignore[arg-type]
                    return self._margin(self._go(t, t / left, begin, end) if t else plant.outputs())

                part = max(crossing(margin, 0.0, part, INSTANT), INSTANT)
                plant.restore(before)
                y = self._go(part, min(1.0, part / left), begin, end)
            recorder.stepped(y.values)
            left, known = left - part, len(recorder.crossings)
            sets = self.act(y, recorder)
            if len(recorder.crossings) > known:
                count, y = count + 1, plant.outputs()
                end[sets] = plant.inputs.values[sets]
                if count > MOST:
                    what = recorder.crossings[-1].name
                    raise StateError(f"condition {what}: acts more than {MOST} times within {H} s; let it act once")
            if left <= 0.0:
                return y
            plant.inputs.values[:] = end

    def _go(self, part: float, share: float, begin: Array, end: Array) -> Outputs:
        """A step of ``part`` [s], that ``share`` of the way to inputs at its end."""
        if self.plant.interpolation == "linear":
            on_line = end if share == 1.0 else begin + share * (end - begin)
            switches = self.plant.ports.span("switches")
            on_line[switches] = end[switches]
            self.plant.inputs.values[:] = on_line
        return self.plant.step(part)

    def _margin(self, y: Outputs) -> float:
        """The largest of those that wait."""
        return max((one.margin(y.values) for one in self._waiting if one.waits), default=-1.0)


def _scalars(plant: Plant, condition: Condition, name: str) -> tuple[str, ...]:
    try:
        variable, part = plant.ports.find(name)
    except KeyError as fault:
        raise OptionError(f"condition {condition}: sets {fault.args[0]}") from None
    if variable.causality == "output":
        raise OptionError(f"condition {condition}: sets {name!r}, which is an output; it can set inputs and parameters")
    return variable.scalar_names[part]
