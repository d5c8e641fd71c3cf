"""A warning where the errors of a closed loop decay faster than the steps resolve."""

from __future__ import annotations

import warnings

from mbdy.engine import Model

STEPS = 3.0
"""A time constant has at least as many internal steps: errors decay by a factor of e in it. Explicit integrators are
unstable below a third of one, and the implicit one is no longer accurate."""


class FastLoopWarning(UserWarning):
    """The time constant of a loop is too short for the internal step."""


def tell_of_fast_loops(model: Model, step: float, stacklevel: int = 3) -> None:
    """Warn with `FastLoopWarning` of loops whose time constant is shorter than a few steps of ``step`` [s]."""
    quick = [loop for loop in model.loops if 0.0 < loop.time_constant < STEPS * step]
    if quick:
        named = ", ".join(f"loop.{loop.name}.time_constant = {loop.time_constant:g} s" for loop in quick)
        longest = min(loop.time_constant for loop in quick) / STEPS
        warnings.warn(
            f"{named}: too short for internal steps of {step:g} s, in which errors of closure would grow; take steps "
            f"of {longest:.3g} s or less, or a longer time constant",
            FastLoopWarning,
            stacklevel=stacklevel,
        )
