"""Warnings where a model moves faster than an integrator follows in its steps."""

from __future__ import annotations

from mbdy.blocks.fast_loop import tell_of_fast_loops
from mbdy.blocks.fast_mode import tell_of_fast_modes
from mbdy.engine import Model


def tell_of_what_is_too_fast(model: Model, step: float, integrator: str, stacklevel: int = 3) -> None:
    """Warn of modes (`FastModeWarning`) and loops (`FastLoopWarning`) too fast for steps of ``step`` [s]."""
    tell_of_fast_modes(model, step, integrator, stacklevel + 1)
    tell_of_fast_loops(model, step, stacklevel + 1)
