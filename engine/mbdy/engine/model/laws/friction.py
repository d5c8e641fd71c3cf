"""Coulomb friction, smoothed: ``-F tanh(rate / friction_rate)``; bearings of wheels have it too."""

from __future__ import annotations

from typing import Any

from mbdy.engine.model.law import JointValue, Law, Numbers

NEARLY_AT_REST = 1e-6
"""Part of ``friction_rate`` below which tanh is its argument."""


def effort(k: Numbers, q: Any, rate: Any) -> Any:
    import casadi as ca

    return -k["friction"] * ca.tanh(rate / k["friction_rate"])


def resistance(k: Numbers, rate: Any) -> Any:
    import casadi as ca

    share = ca.fmax(ca.fabs(rate / k["friction_rate"]), NEARLY_AT_REST)
    return k["friction"] / k["friction_rate"] * ca.tanh(share) / share


LAW = Law(
    name="friction",
    words="friction",
    rank=3,
    values=(
        JointValue(
            "friction", "N", "N.m", "Coulomb friction", speeds=True, default=None, minimum=0.0, strength=True
        ),
        JointValue(
            "friction_rate", "m/s", "rad/s", "Rate at which 76 % of the Coulomb friction acts", speeds=True,
            default=1e-3, minimum=0.0, above=True,
        ),
    ),
    effort=effort,
    slow="friction_rate",
    resistance=resistance,
    steepest=lambda k: {"friction": 0.0},
)  # fmt: skip
