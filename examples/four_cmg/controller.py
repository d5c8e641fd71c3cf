"""Attitude control by four CMGs for four_cmg.toml: ``make_controller()`` gives an ``f(t, y) -> {name: value}``.

**Wanted torque.** Quaternion feedback with a limit on the rate of the slew: the bus should turn towards its target at
``omega_wanted = -stiffness / damping * 2 * (vector part of the error quaternion)``, shortened to ``MAX_RATE`` at most,
and the torque is ``-damping * (omega - omega_wanted)``, axis by axis. Near the target that is a spring and a damper.

**Steering.** With gimbal angles d the rotors carry the momentum h(d), and gimbal rates d' change it by ``A(d) d'``:
column i of the 3 x 4 matrix A is (gimbal axis i) x (momentum i). The bus feels ``-A d' - omega x h``, so the rates must
solve ``A d' = -torque - omega x h``. There are four of them for three equations. The shortest solution is that of the
pseudo-inverse, ``A^T (A A^T)^-1``, which fails where the smallest singular value of A goes to zero: no gimbal can then
give torque in some direction. The singularity-robust inverse of Wie, Bailey and Heiberg (*Journal of Guidance, Control,
and Dynamics* 24(5), 2001) has ``A^T (A A^T + l E)^-1`` instead, with ``l`` growing near a singularity and with small,
wobbling off-diagonal elements of E that get the gimbals out of it, at the price of some torque error.

**Gimbal drives** follow an acceleration; it brings the rates to the wanted ones within ``RATE_TIME``.

Try: another TARGET; a MAX_RATE of 27 deg/s, which drives the pyramid into a singularity; a ROBUSTNESS of 0 there, which
is the plain pseudo-inverse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import cos, exp, pi, radians, sin

import numpy as np

TARGET = (1.0, 0.0, 0.0, 0.0)  # wanted attitude, quaternion w x y z, bus to inertial axes
SAMPLE = 0.02  # s, the controller's period

INERTIA = (207.0, 307.0, 377.0)  # kg.m2, whole satellite at the start, about x, y, z
BANDWIDTH = 0.6  # rad/s
RATIO = 0.9
MAX_RATE = radians(25)  # rad/s

CMGS = ("cmg_1", "cmg_2", "cmg_3", "cmg_4")
ELEVATION = radians(54.74)  # of a gimbal axis, from the xy plane
MOMENTUM = 75.0  # N.m.s, of each rotor
RATE_TIME = 0.1  # s
MAX_GIMBAL_RATE = 1.0  # rad/s
MAX_GIMBAL_ACCELERATION = 4.0  # rad/s2

ROBUSTNESS, ROBUSTNESS_FALL = 0.01, 10.0  # l = ROBUSTNESS * exp(-ROBUSTNESS_FALL * det(A A^T)), A for rotors of 1 N.m.s
WOBBLE, WOBBLE_FREQUENCY = 0.01, 0.5 * pi  # of the off-diagonal elements of E; rad/s


class Steering:
    """The pyramid: what its rotors carry at gimbal angles, and gimbal rates for a change of it. Rotors of 1 N.m.s."""

    def __init__(self) -> None:
        around = [k * pi / 2 for k in range(4)]
        self.axes = np.array([[cos(a) * cos(ELEVATION), sin(a) * cos(ELEVATION), sin(ELEVATION)] for a in around])
        self.zero = np.array([[sin(a), -cos(a), 0.0] for a in around])  # momenta at gimbal angles of zero
        self.side = np.cross(self.axes, self.zero)  # and a quarter of a turn later

    def momentum(self, angles: np.ndarray) -> np.ndarray:
        """Sum of the rotors' momenta (3) at gimbal ``angles`` (4) [rad], bus axes."""
        return np.cos(angles) @ self.zero + np.sin(angles) @ self.side

    def jacobian(self, angles: np.ndarray) -> np.ndarray:
        """A (3 x 4): the derivative of `momentum`."""
        return (np.cos(angles)[:, None] * self.side - np.sin(angles)[:, None] * self.zero).T

    def rates(self, t: float, angles: np.ndarray, change: np.ndarray) -> np.ndarray:
        """Gimbal rates (4) [rad/s] for a ``change`` (3) [1/s] of `momentum` at time ``t`` [s]: the robust inverse."""
        A = self.jacobian(angles)
        gram = A @ A.T
        e1, e2, e3 = (WOBBLE * sin(WOBBLE_FREQUENCY * t + phase) for phase in (0.0, pi / 2, pi))
        E = np.array([[1, e3, e2], [e3, 1, e1], [e2, e1, 1]])
        blunt = ROBUSTNESS * exp(-ROBUSTNESS_FALL * np.linalg.det(gram))
        return A.T @ np.linalg.solve(gram + blunt * E, change)

    def smallest_singular_value(self, angles: np.ndarray) -> float:
        """Of A: how far the gimbals are from angles at which they cannot give every torque; at best 1.155."""
        return float(np.linalg.svd(self.jacobian(angles), compute_uv=False)[-1])


class SlewController:
    """Turns the bus to ``target`` (quaternion w x y z), at no more than ``max_rate`` [rad/s], and holds it there."""

    def __init__(self, target: Sequence[float] = TARGET, *, max_rate: float = MAX_RATE) -> None:
        self.target = target
        self.max_rate = max_rate
        self.steering = Steering()
        inertia = np.array(INERTIA)
        self.stiffness = inertia * BANDWIDTH**2
        self.damping = 2 * RATIO * inertia * BANDWIDTH

    def __call__(self, t: float, y: Mapping[str, Sequence[float]]) -> dict[str, object]:
        """Accelerations of the gimbals from ``t`` [s] on, given the satellite's outputs at ``t``."""
        angles = np.array([float(y[f"{cmg}.joint.angle"]) for cmg in CMGS])
        rates = np.array([float(y[f"{cmg}.joint.rate"]) for cmg in CMGS])
        omega = np.asarray(y["bus.omega"], dtype=float)
        torque = self.torque(y["bus.attitude"], omega) + np.cross(omega, MOMENTUM * self.steering.momentum(angles))
        wanted = shortened(self.steering.rates(t, angles, -torque / MOMENTUM), MAX_GIMBAL_RATE)
        accelerations = shortened((wanted - rates) / RATE_TIME, MAX_GIMBAL_ACCELERATION)
        return {f"{cmg}.joint.acceleration": float(a) for cmg, a in zip(CMGS, accelerations, strict=True)}

    def torque(self, attitude: Sequence[float], omega: np.ndarray) -> np.ndarray:
        """Wanted torque (3) [N.m] on the bus, its axes."""
        error = attitude_error(self.target, attitude)
        shorter = 1.0 if error[0] >= 0 else -1.0  # q and -q are the same attitude: turn the shorter way
        wanted = -self.stiffness / self.damping * 2 * shorter * error[1:]
        size = float(np.linalg.norm(wanted))
        return -self.damping * (omega - wanted * (self.max_rate / size if size > self.max_rate else 1.0))


def shortened(values: np.ndarray, limit: float) -> np.ndarray:
    """``values``, all scaled alike so that none is larger than ``limit``."""
    largest = float(np.abs(values).max())
    return values * (limit / largest) if largest > limit else values


def attitude_error(target: Sequence[float], attitude: Sequence[float]) -> np.ndarray:
    """What turns ``target`` into ``attitude``: conj(target) * attitude, in bus axes; quaternion w x y z."""
    a, b, c, d = (float(v) for v in target)
    w, x, y, z = (float(v) for v in attitude)
    return np.array([
        a * w + b * x + c * y + d * z,
        a * x - b * w - c * z + d * y,
        a * y + b * z - c * w - d * x,
        a * z - b * y + c * x - d * w,
    ])  # fmt: skip


def make_controller(target: Sequence[float] = TARGET, *, max_rate: float = MAX_RATE) -> SlewController:
    """A fresh controller for one run."""
    return SlewController(target, max_rate=max_rate)
