"""A warning where a flexible body swings faster than an explicit integrator follows in its steps."""

from __future__ import annotations

import math
import warnings

from mbdy.engine import Model
from mbdy.engine.core.integrators import METHODS

STABLE = {method.name: method.stability for method in METHODS if method.stability is not None}
"""How far along the imaginary axis each explicit integrator is stable."""
FOLLOWERS = " or ".join(f'integrator="{method.name}"' for method in METHODS if method.stability is None)
"""Those that any step is good for."""


class FastModeWarning(UserWarning):
    """A mode of a flexible body swings faster than the integrator follows in its steps: runs blow up."""


def longest_step(frequency: float, integrator: str = "rk4") -> float:
    """[s] The longest internal step in which ``integrator`` follows the angular ``frequency`` [rad/s]; rounded down to
    three figures, infinite where any does."""
    limit = STABLE.get(integrator)
    if limit is None or frequency <= 0:
        return math.inf
    step = limit / frequency
    unit = 10.0 ** (math.floor(math.log10(step)) - 2)
    return float(f"{math.floor(step / unit * (1 + 1e-12)) * unit:.3g}")


def tell_of_fast_modes(model: Model, step: float, integrator: str, stacklevel: int = 3) -> None:
    """Warn with `FastModeWarning` where ``integrator`` does not follow the fastest mode of ``model`` in steps of
    ``step`` [s]."""
    if integrator not in STABLE or not any(body.flex for body in model.bodies):
        return
    from mbdy.engine.linear.fastest_mode import fastest_mode

    found = fastest_mode(model)
    if found is None or step * found.frequency <= STABLE[integrator]:
        return
    warnings.warn(
        f"{found.body}: mode {found.mode} swings at {found.frequency / math.tau:.4g} Hz, for which {integrator} needs "
        f"steps of {longest_step(found.frequency, integrator):g} s or less, not {step:g} s; take shorter ones, "
        f"fewer modes, or {FOLLOWERS}",
        FastModeWarning,
        stacklevel=stacklevel,
    )
