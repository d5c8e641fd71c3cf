"""Hold-downs, latches and a brake: ``make_controller()`` gives an ``f(t, y) -> {name: value}`` for panel.toml.

``make_wing_controller()`` gives one for wing.toml.

A hinge is locked until the hold-downs let go. Then its spring opens it, and the first sample that finds it at its stop
or beyond locks it for good: the latch. Setting ``.joint.locked`` of a hinge that moves stops it at once, by an
inelastic impulse between its two bodies that leaves the satellite's momentum as it is. Taking the lock away leaves the
hinge at rest.

Try: a later RELEASE, a BRAKE at another time, other STOPS.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import radians

SAMPLE = 1e-3  # s: a hinge at 0.6 rad/s is latched within 0.6 mrad of its stop
RELEASE = 1.0  # s, when the hold-downs let go
STOPS = {"panel": radians(90)}  # rad, where hinges latch
WING_STOPS = {"inner": radians(90), "outer": radians(180)}
BRAKE = (2.5, 4.0)  # s, from when to when the brakes of the wing hold both of its hinges

ROUNDING = 1e-9  # s: sums of samples are not exact


@dataclass(frozen=True)
class Stopped:
    """Hinges that a lock stopped while they moved: when [s], which, and whether they are ``latched`` for good."""

    time: float
    hinges: tuple[str, ...]
    latched: bool


class Latches:
    """Locks hinges until ``release`` [s], during ``brake`` [s], and for good once they are at their ``stops`` [rad].

    ``stopped`` lists what moved when a lock was set.
    """

    def __init__(
        self, stops: Mapping[str, float], *, release: float = RELEASE, brake: tuple[float, float] | None = None
    ) -> None:
        self.stops = dict(stops)
        self.release = release
        self.brake = brake
        self.latched: set[str] = set()
        self.stopped: list[Stopped] = []
        self._held = set(stops)

    def __call__(self, t: float, y: Mapping[str, float | Sequence[float]]) -> dict[str, object]:
        """Which hinges are locked from ``t`` [s] on, given the outputs at ``t``."""
        arrived = {hinge for hinge, stop in self.stops.items() if y[f"{hinge}.joint.angle"] >= stop} - self.latched
        self.latched |= arrived
        held = set(self.stops) if self.holding(t) else self.latched.copy()
        moving = tuple(hinge for hinge in self.stops if hinge in held - self._held)
        if moving:
            self.stopped.append(Stopped(t, moving, latched=bool(arrived)))
        self._held = held
        return {f"{hinge}.joint.locked": hinge in held for hinge in self.stops}

    def holding(self, t: float) -> bool:
        """Whether hold-downs or brakes hold every hinge at ``t`` [s]."""
        if t < self.release - ROUNDING:
            return True
        return self.brake is not None and self.brake[0] - ROUNDING <= t < self.brake[1] - ROUNDING


def make_controller() -> Latches:
    """A fresh controller for one run of panel.toml."""
    return Latches(STOPS)


def make_wing_controller() -> Latches:
    """A fresh controller for one run of wing.toml."""
    return Latches(WING_STOPS, brake=BRAKE)
