"""What a controller commands: inputs and parameters that it gives by name, set at once or refused."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

from mbdy.blocks.errors import VariableError
from mbdy.blocks.plant import Plant
from mbdy.blocks.plant.typed import Outputs
from mbdy.blocks.signals import LOG, Signals
from mbdy.engine import MbdyError, MbdyWarning, Ports, RefusalError

Controller = Callable[[float, Outputs], Mapping[str, object] | None]


class ControllerError(MbdyError):
    """What a controller raised, as its cause."""


class NoCommandWarning(MbdyWarning):
    """A controller gave None at every call: was a ``return`` forgotten?"""


def asked(controller: Callable[[float, Any], Any], time: float, y: object) -> Mapping[str, object] | None:
    """What a controller gives. Raises `ControllerError` for what it raises, `VariableError` for what is no mapping."""
    try:
        given = controller(time, y)
    except Exception as fault:
        raise ControllerError(f"the controller failed: {type(fault).__name__}: {fault}") from fault
    if not isinstance(given, Mapping | None):
        raise VariableError(f"the controller gives {given!r}; it must give a mapping of names to values, or None")
    return given


def judge(ports: Ports, commands: Mapping[str, object], taken: Mapping[str, str]) -> None:
    """Raises `VariableError` for names that a controller cannot give: outputs, those twice, those that others give."""
    for name in commands:
        try:
            variable, part = ports.find(name)
        except (KeyError, TypeError) as fault:
            raise VariableError(f"the controller gives {fault.args[0]}") from None
        if variable.causality == "output":
            message = f"the controller gives {name!r}, which is an output; it can set inputs and parameters"
            raise VariableError(message)
        for scalar in variable.scalar_names[part]:
            if by := taken.get(scalar):
                raise VariableError(f"the controller gives {name!r}, which {by} gives too; keep one of them")
    try:
        ports.each_once(commands)
    except RefusalError as refusal:
        raise VariableError(f"the controller: {refusal}") from None


class ControlLoop:
    """A ``plant`` under a ``controller`` in one run, that cannot give what ``taken`` gives; what it logs goes to
    ``signals``."""

    def __init__(self, plant: Plant, controller: Controller, taken: Mapping[str, str], signals: Signals) -> None:
        self.plant, self.controller, self.taken, self.signals = plant, controller, taken, signals
        self._calls = 0
        self._silent = getattr(controller, "__name__", "") != "<lambda>"  # which gives what it says

    def take(self, time: float, y: Outputs) -> None:
        """Set what the controller gives for the outputs ``y`` at ``time`` [s]; nothing where it gives None.

        Raises `ControllerError` for what it raises, `VariableError` for names and values that cannot be set.
        """
        plant, reached = self.plant, self.plant.time
        before = plant.inputs.values.copy() if self._silent else plant.inputs.values
        given = asked(self.controller, time, y)
        if plant.time != reached:
            raise VariableError("the controller steps the plant that it controls; let it step a plant of its own")
        self._calls += 1
        self._silent &= given is None and bool((before == plant.inputs.values).all())
        for name, value in self._judged(given or {}).items():
            plant[name] = value

    def _judged(self, given: Mapping[str, object]) -> dict[str, object]:
        """What is ``given`` without signals, once its names are known to be those that a controller may give."""
        commands: dict[str, object] = {}
        for name, value in given.items():
            if isinstance(name, str) and name.startswith(f"{LOG}.") and LOG not in self.plant.model.index:
                self.signals.take(name, value)
                continue
            commands[name] = value
        judge(self.plant.ports, commands, self.taken)
        return commands

    def end(self) -> None:
        """Warn of a controller that has never given anything, and set nothing itself, though it could."""
        free = [
            variable.scalar_names[0]
            for variable in self.plant.ports.inputs
            if variable.owner.kind != "system" and self.taken.keys().isdisjoint(variable.scalar_names)
        ]
        if self._silent and self._calls > 1 and free:
            told = f"the controller gave None at each of {self._calls} calls, so it commands nothing"
            remedy = f"let it return values by name, such as {{{free[0]!r}: 0.0}}, or {{}} if it is to look on"
            warnings.warn(f"{told}: {remedy}", NoCommandWarning, stacklevel=3)
