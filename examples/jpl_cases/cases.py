"""The report's manoeuvres: what the platform is told, and when (its Figs. 6, 9 and 13)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vehicle import RD

SLRAT = 0.01745329  # rad/s: 1 deg/s as the report prints it
GM1I, GM2I = 218 / RD, -30 / RD  # rad, hinge angles of the platform at the start
RAMP = 6.981316  # rad/s3, slope of the prescribed accelerations; 6.981316 * 0.05**2 = SLRAT


@dataclass(frozen=True)
class Case:
    """A manoeuvre over ``until`` [s], with a row every ``every`` [s].

    ``command`` gives the commanded angles GM1C, GM2C [rad] at a time [s]; where ``acceleration`` is given, hinges 1 and
    2 are prescribed, and it gives GMDD(1), GMDD(2) [rad/s2] instead. ``kinks`` [s] are where either is not smooth.
    """

    title: str
    until: float
    every: float
    kinks: tuple[float, ...]
    command: Callable[[float], tuple[float, float]]
    acceleration: Callable[[float], tuple[float, float]] | None = None

    @property
    def PI(self) -> tuple[int, ...]:
        """Flags of prescribed hinges."""
        return (0, 0, 0, 0) if self.acceleration is None else (1, 1, 0, 0)


def ramp(t: float, begin: float) -> float:
    """CSSL III's RAMP."""
    return max(0.0, t - begin)


def slew(t: float) -> tuple[float, float]:
    """Case 1: both axes at 1 deg/s for 50 s, 218 to 168 and -30 to 20 deg."""
    turned = SLRAT * min(t, 50.0)
    return GM1I - turned, GM2I + turned


def nudge(t: float) -> tuple[float, float]:
    """Case 2: 218 to 220 deg from the start, then -30 to -25 deg from 5 s on, at 1 deg/s."""
    return GM1I + SLRAT * min(t, 2.0), GM2I + SLRAT * (ramp(t, 5.0) - ramp(t, 10.0))


def prescribed_slew(t: float) -> tuple[float, float]:
    """Case 1 with prescribed motion: triangles of acceleration over 0.1 s that reach 1 deg/s, and end it (Fig. 10)."""
    first = -ramp(t, 0.0) + 2 * ramp(t, 0.05) - ramp(t, 0.1)
    last = ramp(t, 50.0) - 2 * ramp(t, 50.05) + ramp(t, 50.1)
    return RAMP * (first + last), -RAMP * (first + last)


CASES = {
    "case1": Case("Case 1: platform slew", 60.0, 0.05, (50.0,), slew),
    "prescribed": Case(
        "Case 1 with prescribed motion", 60.0, 0.05, (0.05, 0.1, 50.0, 50.05, 50.1), slew, prescribed_slew
    ),
    "case2": Case("Case 2: small platform manoeuvre", 20.0, 0.02, (2.0, 5.0, 10.0), nudge),
}
