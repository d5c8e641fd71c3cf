"""The report's platform slew and jet controller: ``make_controller()`` gives an ``f(t, y) -> {name: value}``.

Each axis of the bus has a celestial sensor, a gyro and a pair of jets (JPL TR 32-1592, Figs. 5 and 6): the jets
fire while sensor angle plus rate feedback lie outside a dead band. Besides, the controller turns the television
platform by moving the rest angles of its two hinge springs.

It reads ``bus.attitude`` and ``bus.omega`` only, as sequences of floats, so that it drives a block (`run_block.py`) and
an FMU (`run_fmu.py`) alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import atan2

DEAD_BAND = 0.005  # rad, θ_DB
RATE_GAIN = 2.0  # s, τ_R
MINIMUM_ON = 0.020  # s, TM: shortest pulse of a jet
JET_TORQUES = (0.23, 0.21, 0.31)  # N.m, L1 to L3

DEGREES_PER_RADIAN = 57.2957795  # RD as the report prints it
SLEW_RATE = 0.01745329  # rad/s, SLRAT as the report prints it
SLEW_END = 50.0  # s
YOKE_START = 218 / DEGREES_PER_RADIAN
PLATFORM_START = -30 / DEGREES_PER_RADIAN

ROUNDING = 1e-9  # s: sums of samples are not exact


@dataclass(frozen=True)
class Pulse:
    """One firing of a jet pair: ``axis`` 1 to 3, ``sign`` of its torque, begin and end [s] (``end`` None: still on)."""

    axis: int
    sign: int
    begin: float
    end: float | None = None


class SwitchingAmplifier:
    """The report's SWAMP: on with the sign of its input outside the dead band, off inside it, never on for less
    than the minimum time."""

    def __init__(self) -> None:
        self.sign = 0
        self.since = 0.0

    def __call__(self, t: float, error: float) -> int:
        """The sign of the torque at time ``t`` [s] for an ``error`` [rad]."""
        if self.sign and t - self.since >= MINIMUM_ON - ROUNDING and error * self.sign < DEAD_BAND:
            self.sign = 0
        if not self.sign and abs(error) > DEAD_BAND:
            self.sign = 1 if error > 0 else -1
            self.since = t
        return self.sign


class SpacecraftController:
    """Jets on three axes of the bus and the platform's command ramps; ``jets=False`` leaves the jets cold.

    ``sample`` [s] is how long its answers are held: the platform follows the ramp's mean over that time.
    ``pulses`` lists what the jets did.
    """

    def __init__(self, *, jets: bool = True, sample: float = 1e-3) -> None:
        self.jets = jets
        self.sample = sample
        self.pulses: list[Pulse] = []
        self._amplifiers = [SwitchingAmplifier() for _ in JET_TORQUES]

    def __call__(self, t: float, y: Mapping[str, Sequence[float]]) -> dict[str, object]:
        """Inputs of the spacecraft from ``t`` [s] on, given its outputs at ``t``."""
        yoke, platform = platform_command(t + self.sample / 2)
        given: dict[str, object] = {"yoke.joint.rest": yoke, "platform.joint.rest": platform}
        if self.jets:
            given["bus.torque"] = self.torques(t, map(float, y["bus.attitude"]), map(float, y["bus.omega"]))
        return given

    def torques(self, t: float, attitude, omega) -> tuple[float, ...]:
        """Jet torques [N.m] on the bus, its own axes."""
        torques = []
        measured = zip(sensor_angles(*attitude), omega, self._amplifiers, JET_TORQUES, strict=True)
        for axis, (angle, rate, amplifier, torque) in enumerate(measured, start=1):
            before = amplifier.sign
            after = amplifier(t, -angle - RATE_GAIN * rate)
            if after != before:
                self._note(axis, before, after, t)
            torques.append(torque * after)
        return tuple(torques)

    def first_pulses(self) -> tuple[float | None, ...]:
        """When each axis fired first [s]; None for one that did not."""
        return tuple(next((p.begin for p in self.pulses if p.axis == axis), None) for axis in (1, 2, 3))

    def _note(self, axis: int, before: int, after: int, t: float) -> None:
        if before:
            at = max(i for i, p in enumerate(self.pulses) if p.axis == axis)
            self.pulses[at] = Pulse(axis, before, self.pulses[at].begin, t)
        if after:
            self.pulses.append(Pulse(axis, after, t))


def sensor_angles(w: float, x: float, y: float, z: float) -> tuple[float, float, float]:
    """θ1, θ2, θ3 [rad] of the celestial sensors, from the attitude quaternion of the bus.

    ``n`` and ``l`` are the inertial Z and X axes in bus axes (the report's N and L).
    """
    n1, n2, n3 = 2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z
    l1, l2 = w * w + x * x - y * y - z * z, 2 * (x * y - w * z)
    return atan2(n2, n3), atan2(-n1, n3), atan2(-l2, l1)


def platform_command(t: float) -> tuple[float, float]:
    """Commanded hinge angles [rad] of yoke and platform: 1 deg/s on both axes for 50 s."""
    turned = SLEW_RATE * min(t, SLEW_END)
    return YOKE_START - turned, PLATFORM_START + turned


def make_controller() -> SpacecraftController:
    """A fresh controller for one run."""
    return SpacecraftController()
