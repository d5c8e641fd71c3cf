"""Warnings where a model moves faster than an integrator follows in its steps."""

from __future__ import annotations

import math

from mbdy.engine.core.integrators import INTEGRATORS
from mbdy.engine.model.faults import MbdyWarning


class FastMotionWarning(MbdyWarning):
    """Something moves faster than the integrator follows in its steps: runs blow up."""


class FastModeWarning(FastMotionWarning):
    """A mode of a flexible body does."""


class FastLoopWarning(FastMotionWarning):
    """The time constant of a loop is too short for the internal step."""


def longest_step(frequency: float, integrator: str = "rk4") -> float:
    """[s] The longest internal step in which ``integrator`` follows the angular ``frequency`` [rad/s]; rounded down to
    three figures, infinite where any does."""
    limit = INTEGRATORS[integrator].stability
    if limit is None or frequency <= 0:
        return math.inf
    step = limit / frequency
    unit = 10.0 ** (math.floor(math.log10(step)) - 2)
    return float(f"{math.floor(step / unit * (1 + 1e-12)) * unit:.3g}")
