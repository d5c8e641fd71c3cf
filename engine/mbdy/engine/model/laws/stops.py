"""Stops: a penalty ``k e^2 / (e + w)`` of the depth e beyond a stop, smooth at its touch and of stiffness k soon after.

Its damper grows with the same share ``e / (e + w)``; a stop never pulls. One of the two may be left out.
"""

from __future__ import annotations

from typing import Any

from mbdy.engine.model.law import FAR, JointValue, Law, Numbers, Span

NO_STOP = 1e9
"""[m, rad] Where the stop on the other side of a one-sided one is: no coordinate comes so far."""
STOP_SOFTNESS = 1e-3
"""w [m, rad]: depth at which half of a stop's stiffness acts."""
NEAR, DEEP = 5 * STOP_SOFTNESS, 20 * STOP_SOFTNESS
"""[m, rad] Distance within a stop, and beyond it, in which its effort is looked at."""


def effort(k: Numbers, q: Any, rate: Any) -> Any:
    import casadi as ca

    total = 0.0
    for depth, inward in _depths(k, q):
        share = depth / (depth + STOP_SOFTNESS)
        push = k["stop_stiffness"] * depth - inward * k["stop_damping"] * rate
        total += inward * share * ca.fmax(push, 0)
    return total


def potential(k: Numbers, q: Any) -> Any:
    import casadi as ca

    w = STOP_SOFTNESS
    depths = (depth for depth, _ in _depths(k, q))
    return sum(k["stop_stiffness"] * (e**2 / 2 - w * e + w**2 * ca.log1p(e / w)) for e in depths)


def spans(k: Numbers) -> list[Span]:
    lower, upper = k["stop_lower"], k["stop_upper"]
    inside = min(NEAR, upper - lower)
    below = [(lower - DEEP, lower), (lower, lower + inside)] if lower > -NO_STOP else []
    above = [(upper, upper + DEEP), (upper - inside, upper)] if upper < NO_STOP else []
    return [*below[:1], *above[:1], *below[1:], *above[1:]]


def _depths(k: Numbers, q: Any) -> tuple[tuple[Any, int], tuple[Any, int]]:
    """How deep a coordinate is beyond its lower and its upper stop (0 between them), and where they push it."""
    import casadi as ca

    return (ca.fmax(k["stop_lower"] - q, 0), 1), (ca.fmax(q - k["stop_upper"], 0), -1)


LAW = Law(
    name="stops",
    words="stops",
    rank=4,
    values=(
        JointValue(
            "stop_stiffness", "N/m", "N.m/rad", "Stiffness of the stops", default=None, minimum=0.0, strength=True
        ),
        JointValue("stop_lower", "m", "rad", "Lower stop", default=-NO_STOP, below="stop_upper"),
        JointValue("stop_upper", "m", "rad", "Upper stop", default=NO_STOP),
        JointValue("stop_damping", "N.s/m", "N.m.s/rad", "Damping of the stops", minimum=0.0, strength=True),
    ),
    either=("stop_lower", "stop_upper"),
    effort=effort,
    potential=potential,
    spans=spans,
    switches=lambda k, q: [("stop_lower", k["stop_lower"] - q), ("stop_upper", q - k["stop_upper"])],
    steepest=lambda k: {"stop_lower": -2 * FAR, "stop_upper": -FAR},
)
