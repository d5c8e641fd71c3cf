"""Profiles: the motion of a prescribed degree of freedom as angle, rate and acceleration over time.

Everywhere an angle is in rad, a rate in rad/s and an acceleration in rad/s2, for a translation in m, m/s and m/s2;
times are in s from the begin of a run. Times, angles and rates are numbers or texts with a unit (``"90 deg"``).
``profile.at(t)`` gives the three at time ``t``, a number or an array of them. ``profile.breaks`` are the instants where
the acceleration jumps or bends: a run begins a step at each of them, so that an integrator of order 4 keeps its order.
At a jump ``at`` gives what follows it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbdy.blocks.errors import VariableError
from mbdy.engine.model.faults import RefusalError
from mbdy.engine.model.units import quantity, real
from mbdy.engine.model.values import array_of

Array = NDArray[np.float64]
TABLE_UNITS = {"times": "s", "angles": "rad", "rates": "rad/s", "accelerations": "rad/s2", "end_rates": "rad/s"}
"""Columns of a `Table`, with the units of a rotation."""
Motion3 = tuple[Array, Array, Array]
"""Angle, rate and acceleration, each shaped like the time."""


class Profile(Protocol):
    """What `simulate` asks of a profile; write your own, or use `Triple`."""

    @property
    def breaks(self) -> Sequence[float]: ...

    def at(self, t: ArrayLike, /) -> Sequence[ArrayLike]: ...


@dataclass(frozen=True)
class Ramp:
    """A constant rate, taken up from rest at a constant acceleration.

    ``rate``     [rad/s] in the end.
    ``start``    [s] until when it rests.
    ``rise``     [s] for taking up the rate; with 0 the motion has its rate from the begin, which only a ramp that
                 starts at or before time 0 can.
    ``initial``  [rad] angle before the start.

    Raises `VariableError` for a number that is not finite, a negative rise, or a start after 0 without a rise.
    """

    rate: float
    start: float = 0.0
    rise: float = 0.0
    initial: float = 0.0

    def __post_init__(self) -> None:
        _take_up(self, rate="rad/s", start="s", rise="s", initial="rad")
        if self.rise < 0:
            raise VariableError(f"Ramp: rise must not be negative, got {self.rise} s")
        if self.rise == 0 and self.start > 0:
            raise VariableError(
                f"Ramp: no motion takes up a rate at once at {self.start} s; give rise, the time [s] that it takes"
            )

    @property
    def breaks(self) -> tuple[float, ...]:
        return (self.start, self.start + self.rise) if self.rise else ()

    def at(self, t: ArrayLike) -> Motion3:
        """Angle [rad], rate [rad/s] and acceleration [rad/s2] at ``t`` [s]."""
        time = np.asarray(t, dtype=float)
        since = time - self.start
        if not self.rise:
            return self.initial + self.rate * since, np.full_like(time, self.rate), np.zeros_like(time)
        begun, risen = time >= self.start, time >= self.start + self.rise
        part = np.clip(since / self.rise, 0.0, 1.0)
        angle = 0.5 * self.rate * self.rise * part**2 + self.rate * np.where(risen, since - self.rise, 0.0)
        acceleration = np.where(begun & ~risen, self.rate / self.rise, 0.0)
        return self.initial + angle, self.rate * part, acceleration


@dataclass(frozen=True)
class CosineSlew:
    """A slew from rest to rest whose rate is a raised cosine.

    With s = (t - start)/duration in 0..1 the rate is angle/duration (1 - cos 2 pi s), at most twice the mean, and the
    acceleration 2 pi angle/duration^2 sin 2 pi s, which begins and ends at zero: the cycloidal motion of cams
    (R. L. Norton, Design of Machinery, chapter "Cam Design").

    ``angle``     [rad] by which it turns.
    ``duration``  [s] of the slew.
    ``start``     [s] until when it rests.
    ``initial``   [rad] angle before the start.

    Raises `VariableError` for a number that is not finite or a duration that is not positive.
    """

    angle: float
    duration: float
    start: float = 0.0
    initial: float = 0.0

    def __post_init__(self) -> None:
        _take_up(self, angle="rad", duration="s", start="s", initial="rad")
        if self.duration <= 0:
            raise VariableError(f"CosineSlew: duration must be positive, got {self.duration} s")

    @property
    def breaks(self) -> tuple[float, ...]:
        return self.start, self.start + self.duration

    def at(self, t: ArrayLike) -> Motion3:
        """Angle [rad], rate [rad/s] and acceleration [rad/s2] at ``t`` [s]."""
        time = np.asarray(t, dtype=float)
        part = np.clip((time - self.start) / self.duration, 0.0, 1.0)
        moving = (time >= self.start) & (time < self.start + self.duration)
        turn, mean = 2.0 * math.pi, self.angle / self.duration
        angle = self.initial + self.angle * (part - np.sin(turn * part) / turn)
        rate = np.where(moving, mean * (1.0 - np.cos(turn * part)), 0.0)
        return angle, rate, np.where(moving, turn * mean / self.duration * np.sin(turn * part), 0.0)


@dataclass(frozen=True)
class Table:
    """A motion through the rows of a table; beyond its ends it goes on at the rate of the end.

    ``times``          [s] at least two, increasing.
    ``angles``         [rad] one for each time. Alone they are joined by the cubic spline with continuous acceleration
                       that has the rates ``end_rates`` at its ends (de Boor, A Practical Guide to Splines, chapter IV,
                       complete cubic spline).
    ``rates``          [rad/s] one for each time: cubic pieces through angles and rates; accelerations jump at rows.
    ``accelerations``  [rad/s2] one for each time, beside rates: quintic pieces through all three.
    ``end_rates``      [rad/s] first and last, where rates are left out.

    Raises `VariableError` for times that do not increase, lists of unlike lengths or numbers that are not finite.
    """

    times: Sequence[float]
    angles: Sequence[float]
    rates: Sequence[float] | None = None
    accelerations: Sequence[float] | None = None
    end_rates: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        for name, unit in TABLE_UNITS.items():
            if (given := getattr(self, name)) is not None:
                object.__setattr__(self, name, _column(name, given, unit))
        if len(self.times) < 2:
            raise VariableError(f"Table: at least two rows are needed, got {len(self.times)}")
        for name in ("angles", "rates", "accelerations"):
            given = getattr(self, name)
            if given is not None and len(given) != len(self.times):
                raise VariableError(f"Table: {len(self.times)} times need as many {name}, got {len(given)}")
        for row, (before, after) in enumerate(zip(self.times[:-1], self.times[1:], strict=True), start=2):
            if not after > before:
                raise VariableError(f"Table, row {row}: times must increase, got {after} s after {before} s")
        if self.accelerations is not None and self.rates is None:
            raise VariableError("Table: accelerations need rates beside them")
        if len(self.end_rates) != 2 or (self.rates is not None and any(self.end_rates)):
            raise VariableError("Table: end_rates are two, the first and the last, and only where rates are left out")

    @property
    def breaks(self) -> tuple[float, ...]:
        return tuple(self.times)

    @cached_property
    def _pieces(self) -> Array:
        """Coefficients (n - 1, 6) of each piece, in powers of the time since its begin."""
        steps, angles = np.diff(self.times), np.asarray(self.angles)
        rates = _spline_rates(steps, angles, self.end_rates) if self.rates is None else np.asarray(self.rates)
        pieces = np.zeros((len(steps), 6))
        pieces[:, 0], pieces[:, 1] = angles[:-1], rates[:-1]
        missing = (np.diff(angles) - rates[:-1] * steps) / steps**2
        if self.accelerations is None:
            turn = np.diff(rates) / steps
            pieces[:, 2], pieces[:, 3] = 3.0 * missing - turn, (turn - 2.0 * missing) / steps
            return pieces
        bends = np.asarray(self.accelerations)
        p = missing - 0.5 * bends[:-1]
        v = np.diff(rates) / steps - bends[:-1]
        a = np.diff(bends)
        pieces[:, 2] = 0.5 * bends[:-1]
        pieces[:, 3] = (10.0 * p - 4.0 * v + 0.5 * a) / steps
        pieces[:, 4] = (-15.0 * p + 7.0 * v - a) / steps**2
        pieces[:, 5] = (6.0 * p - 3.0 * v + 0.5 * a) / steps**3
        return pieces

    def at(self, t: ArrayLike) -> Motion3:
        """Angle [rad], rate [rad/s] and acceleration [rad/s2] at ``t`` [s]."""
        time, rows = np.asarray(t, dtype=float), np.asarray(self.times)
        piece = np.clip(np.searchsorted(rows, time, side="right") - 1, 0, len(rows) - 2)
        inside = np.clip(time, rows[0], rows[-1])
        beyond = time - inside
        outside = (time < rows[0]) | (time >= rows[-1])
        since, c = inside - rows[piece], np.moveaxis(self._pieces[piece], -1, 0)
        angle = c[0] + since * (c[1] + since * (c[2] + since * (c[3] + since * (c[4] + since * c[5]))))
        rate = c[1] + since * (2 * c[2] + since * (3 * c[3] + since * (4 * c[4] + since * 5 * c[5])))
        acceleration = 2 * c[2] + since * (6 * c[3] + since * (12 * c[4] + since * 20 * c[5]))
        return angle + rate * beyond, rate, np.where(outside, 0.0, acceleration)


@dataclass(frozen=True)
class Triple:
    """A motion as a function of your own: ``function(t) -> (angle, rate, acceleration)`` [rad, rad/s, rad/s2].

    ``breaks`` [s] are the instants where the acceleration jumps or bends, if it does. The rate must be the derivative
    of the angle and the acceleration that of the rate; a run says where they are not.
    """

    function: Callable[[float], Sequence[float]]
    breaks: Sequence[float] = field(default=())

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise VariableError(f"Triple: must be a function of time, got {self.function!r}")
        object.__setattr__(self, "breaks", _column("breaks", self.breaks, "s", "Triple"))

    def at(self, t: ArrayLike) -> Motion3:
        """Angle [rad], rate [rad/s] and acceleration [rad/s2] at ``t`` [s]."""
        time = np.asarray(t, dtype=float)
        found = np.array([self._once(one) for one in time.ravel().tolist()]).reshape(-1, 3)
        angle, rate, acceleration = (column.reshape(time.shape) for column in found.T)
        return angle, rate, acceleration

    def _once(self, t: float) -> Array:
        given = np.asarray(self.function(t), dtype=float)
        if given.shape != (3,):
            raise VariableError(f"Triple: must give (angle, rate, acceleration), got shape {given.shape} at {t} s")
        return given


def _spline_rates(steps: Array, angles: Array, ends: Sequence[float]) -> Array:
    """Rates at the rows of the cubic spline with continuous acceleration: a tridiagonal system, swept twice."""
    slopes = np.diff(angles) / steps
    count = len(angles)
    upper, rates = np.zeros(count), np.zeros(count)
    rates[0] = ends[0]
    for i in range(1, count - 1):
        h, k = steps[i - 1], steps[i]
        pivot = 2.0 * (h + k) - k * upper[i - 1]
        upper[i] = h / pivot
        rates[i] = (3.0 * (k * slopes[i - 1] + h * slopes[i]) - k * rates[i - 1]) / pivot
    rates[-1] = ends[1]
    for i in range(count - 2, 0, -1):
        rates[i] -= upper[i] * rates[i + 1]
    return rates


def _take_up(profile: Ramp | CosineSlew, **units: str) -> None:
    """Make the fields of ``profile`` floats; `VariableError` names the one that is no finite number of its unit."""
    for name, unit in units.items():
        given, kind = getattr(profile, name), type(profile).__name__
        number = None if isinstance(given, str) else real(given)
        try:
            number = quantity(given, unit) if number is None else number
        except RefusalError as refusal:
            raise VariableError(f"{kind}: {name} {refusal}") from None
        if not math.isfinite(number):
            raise VariableError(f"{kind}: {name} must be finite, got {number}")
        object.__setattr__(profile, name, number)


def _column(name: str, given: object, unit: str, kind: str = "Table") -> tuple[float, ...]:
    """A list of numbers as a tuple; `VariableError` names the row of one that is not finite."""
    try:
        array = array_of(f"{kind}: {name}", given, unit)
    except RefusalError as refusal:
        raise VariableError(str(refusal)) from None
    if array.ndim != 1:
        raise VariableError(f"{kind}: {name} must be a list of numbers, got shape {array.shape}")
    if bad := np.flatnonzero(~np.isfinite(array)).tolist():
        raise VariableError(f"{kind}, row {bad[0] + 1}: {name} must be finite, got {array[bad[0]]}")
    return tuple(array.tolist())
