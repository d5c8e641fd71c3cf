"""Two motor loops for gimbal.toml: ``make_controller()`` gives an ``f(t, y) -> {name: value}``.

Each motor's torque is a spring and a damper between its own angle, n times that of the axis which it turns, and the
wanted one, cut at what the motor can give. There is no integral part: where friction holds an axis that the spring can
no longer turn, it stands, off by no more than breakaway / (n^2 stiffness).
"""

from __future__ import annotations

from collections.abc import Mapping
from math import radians

SAMPLE = 0.01  # s, the controller's period
RATIO = 100.0
TARGETS = {"azimuth": radians(60), "dish": radians(-25)}  # rad
STIFFNESS, DAMPING = 0.08, 0.011  # N.m/rad, N.m.s/rad, at the motor
MOST = 0.25  # N.m


class PointingController:
    """Turns both axes to ``targets`` [rad] and holds them there."""

    def __init__(self, targets: Mapping[str, float] = TARGETS) -> None:
        self.targets = targets

    def torque(self, axis: str, angle: float, rate: float) -> float:
        """Of the motor [N.m] of an axis, of which the motor tells ``angle`` and ``rate``."""
        wanted = STIFFNESS * (self.targets[axis] * RATIO - angle) - DAMPING * rate
        return min(max(wanted, -MOST), MOST)

    def __call__(self, t: float, y: Mapping[str, float]) -> dict[str, float]:
        """Torques from ``t`` [s] on: of the azimuth's motor itself, and of the elevation's at the joint it turns."""
        azimuth = self.torque("azimuth", y["motor.joint.angle"], y["motor.joint.rate"])
        elevation = self.torque("dish", RATIO * y["dish.joint.angle"], RATIO * y["dish.joint.rate"])
        return {"motor.joint.torque": azimuth, "dish.joint.torque": RATIO * elevation}


def make_controller(targets: Mapping[str, float] = TARGETS) -> PointingController:
    """A fresh controller for one run."""
    return PointingController(targets)
