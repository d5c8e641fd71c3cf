"""Controllers of the two rigs: ``make_controller()`` gives an ``f(t, y) -> {name: value}`` for air_bearing.toml.

``make_table_controller()`` gives one for air_table.toml.

**The platform** is levelled, and turned to a heading of zero, by its wheels: quaternion feedback as in a satellite. The
torque on the platform is ``-stiffness * 2 * (vector part of the attitude quaternion) - damping * omega``, axis by axis,
and each wheel gets the opposite. Gravity adds ``mass * g * d`` to the stiffness about horizontal axes, d being the mass
centre's depth below the ball's centre. A rig with its mass centre above lacks as much and would topple; so the
controller gives that much more, for a rig of either kind. Wheels can only store momentum: gravity's torque has to come
to zero in the end, and it does where the mass centre is straight below or above the ball's. A rig that is out of
balance sideways runs its wheels up for ever.

**The vehicle on the table** is held at the origin by fans and turned to zero by its wheel.

Try: a BANDWIDTH of 0.1, a TORQUE of 0.05, ``com = [0.0001, 0, -0.0008]`` in the model: 0.1 mm out of balance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import cos, sin

WHEELS = "xyz"
INERTIA = (7.2, 6.8, 10.4)  # kg.m2, of the platform about x, y, z
GRAVITY = (0.75, 0.75, 0.0)  # N.m/rad: mass * g * d, d = 0.8 mm
BANDWIDTH = 0.25  # rad/s
RATIO = 1.0
TORQUE = 0.2  # N.m, most that a wheel's motor gives
SAMPLE = 0.02  # s

VEHICLE_MASS, VEHICLE_INERTIA = 14.0, 0.32  # kg, kg.m2 about z
FORCE = 0.4  # N, most that the fans give along an axis of the vehicle
TABLE_BANDWIDTH = 0.3  # rad/s

Outputs = Mapping[str, Sequence[float] | float]
Controller = Callable[[float, Outputs], dict[str, object]]


def make_controller() -> Controller:
    """A controller that levels the platform and turns it to a heading of zero."""
    stiffness = [J * BANDWIDTH**2 + gravity for J, gravity in zip(INERTIA, GRAVITY, strict=True)]
    damping = [2 * RATIO * J * BANDWIDTH for J in INERTIA]

    def control(t: float, y: Outputs) -> dict[str, object]:
        w, *turned = y["platform.attitude"]
        shorter = 1.0 if w >= 0 else -1.0  # q and -q are the same attitude
        rates = y["platform.omega"]
        torques = [-stiffness[i] * 2 * shorter * turned[i] - damping[i] * rates[i] for i in range(3)]
        return {f"platform.{wheel}.torque": -limited(torques[i], TORQUE) for i, wheel in enumerate(WHEELS)}

    return control


def make_table_controller() -> Controller:
    """A controller that brings the vehicle to the origin of the table and turns it to zero."""

    def control(t: float, y: Outputs) -> dict[str, object]:
        position, velocity = y["vehicle.joint.displacement"], y["vehicle.joint.velocity"]
        angle, rate = y["vehicle.joint.angle"], y["vehicle.joint.rate"]
        along = [spring(VEHICLE_MASS, x, v) for x, v in zip(position, velocity, strict=True)]
        c, s = cos(angle), sin(angle)
        ahead, aside = c * along[0] + s * along[1], c * along[1] - s * along[0]  # axes of the vehicle
        torque = limited(spring(VEHICLE_INERTIA, angle, rate), TORQUE)
        return {"vehicle.force": [limited(ahead, FORCE), limited(aside, FORCE), 0.0], "vehicle.z.torque": -torque}

    return control


def spring(inertia: float, place: float, speed: float) -> float:
    """What brings ``place`` to zero without overshoot: a spring and a damper of ``TABLE_BANDWIDTH``."""
    return -inertia * TABLE_BANDWIDTH * (TABLE_BANDWIDTH * place + 2 * speed)


def limited(value: float, limit: float) -> float:
    """``value``, between plus and minus ``limit``."""
    return max(-limit, min(limit, value))
