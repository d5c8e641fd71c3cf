"""What is asked of integrators whose steps adapt to a tolerance, and where they cannot serve."""

from __future__ import annotations

from dataclasses import dataclass

from mbdy.engine.core.integrators import INTEGRATORS, TOLERANCE
from mbdy.engine.model.faults import OptionError, shown
from mbdy.engine.model.units import real

FINEST, COARSEST = 1e-14, 0.1
"""Tolerances that can be kept, and that say anything."""


@dataclass(frozen=True, slots=True)
class Crossing:
    """Something that switches at ``time`` [s]: what ``name`` says (``"panel.joint.stop_upper"``,
    ``"block.joint.sticking"``) begins where ``rising`` is True, and ends where it is not."""

    time: float
    name: str
    rising: bool


def tolerance_of(integrator: str, tolerance: object) -> float | None:
    """The tolerance of ``integrator``: the usual one where None is given, and None where its steps are equal.

    Raises `OptionError` for one that no steps keep, or given where steps are equal.
    """
    if not INTEGRATORS[integrator].adaptive:
        if tolerance is not None:
            raise OptionError(f"tolerance: {integrator} takes equal steps; give step, or integrator {_others(True)}")
        return None
    if tolerance is None:
        return TOLERANCE
    value = real(tolerance)
    if value is None or not FINEST <= value <= COARSEST:
        raise OptionError(f"tolerance: must be a number from {FINEST:g} to {COARSEST:g}, got {shown(tolerance)}")
    return value


def refuse_strides(integrator: object, where: str) -> None:
    """Raises `OptionError` for an ``integrator`` whose steps adapt: ``where`` says what takes equal steps."""
    if isinstance(integrator, str) and integrator in INTEGRATORS and INTEGRATORS[integrator].adaptive:
        raise OptionError(f"integrator: {integrator!r} chooses its steps, and {where}; take {_others(False)}")


def _others(adaptive: bool) -> str:
    return " or ".join(repr(name) for name, method in INTEGRATORS.items() if method.adaptive is adaptive)
