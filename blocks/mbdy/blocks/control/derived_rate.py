"""Derived-rate feedback of a switching amplifier: its own output, lagged, in place of a gyro."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mbdy.blocks.control.block import number


@dataclass(frozen=True, slots=True)
class DerivedRate:
    """A first-order lag from the amplifier's level (-1, 0, 1) to what is taken from its input.

    While jets fire at a constant torque, a vehicle's rate grows as the lag's output begins to: the feedback stands in
    for the measured rate (pseudo-rate; Bryson, Control of Spacecraft and Aircraft, section 14).

    ``gain``       [unit of the amplifier's input] what it tends to while the amplifier is on.
    ``charge``     [s] time constant while it is on.
    ``discharge``  [s] time constant while it is off; that of ``charge`` where None.

    Raises `VariableError` for a number that is not finite or a time constant that is not positive.
    """

    gain: float
    charge: float
    discharge: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "gain", number(self, "gain", self.gain))
        for name in ("charge", "discharge") if self.discharge is not None else ("charge",):
            object.__setattr__(self, name, number(self, name, getattr(self, name), "s", above=0.0))

    def after(self, value: float, level: float, since: float) -> float:
        """The lag's output ``since`` [s] after it was ``value``, the level held; exact."""
        constant = self.charge if level or self.discharge is None else self.discharge
        target = self.gain * level
        return target + (value - target) * math.exp(-since / constant)
