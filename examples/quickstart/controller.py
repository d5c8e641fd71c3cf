"""An attitude controller for satellite.toml: ``make_controller()`` gives an ``f(t, y) -> {name: value}``.

Quaternion feedback: the torque on the bus is a spring towards the wanted attitude plus a damper on the rate,

    torque = -stiffness * 2 * (vector part of the error quaternion) - damping * omega     (axis by axis)

For a small error twice the vector part is the angle [rad], so each axis moves like a mass on a spring:

    stiffness = J * bandwidth**2                J: inertia of the whole satellite about the axis
    damping   = 2 * ratio * J * bandwidth       ratio: 1 creeps in without overshoot, 0.7 overshoots by 5 %

Keep the bandwidth well below the panels' bending (2 rad/s here), or the controller shakes them instead of
turning the satellite.
Try: another TARGET, twice the BANDWIDTH, a RATIO of 0.3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

TARGET = (1.0, 0.0, 0.0, 0.0)  # wanted attitude, quaternion w x y z, bus to inertial axes
INERTIA = (608.0, 57.4, 622.0)  # kg.m2, whole satellite about x, y, z
BANDWIDTH = 0.16  # rad/s
RATIO = 0.8

Controller = Callable[[float, Mapping[str, Sequence[float]]], dict[str, list[float]]]


def make_controller(target: Sequence[float] = TARGET, bandwidth: float = BANDWIDTH, ratio: float = RATIO) -> Controller:
    """A controller that turns the bus to ``target`` and holds it there."""
    stiffness = [J * bandwidth**2 for J in INERTIA]
    damping = [2 * ratio * J * bandwidth for J in INERTIA]

    def control(t: float, y: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
        w, *error = attitude_error(target, y["bus.attitude"])
        shorter = 1.0 if w >= 0 else -1.0  # q and -q are the same attitude: turn the shorter way
        rates = y["bus.omega"]
        return {"bus.torque": [-stiffness[i] * 2 * shorter * error[i] - damping[i] * rates[i] for i in range(3)]}

    return control


def attitude_error(target: Sequence[float], attitude: Sequence[float]) -> tuple[float, float, float, float]:
    """What turns ``target`` into ``attitude``: conj(target) * attitude, in bus axes."""
    a, b, c, d = target
    w, x, y, z = attitude
    return (
        a * w + b * x + c * y + d * z,
        a * x - b * w - c * z + d * y,
        a * y + b * z - c * w - d * x,
        a * z - b * y + c * x - d * w,
    )
