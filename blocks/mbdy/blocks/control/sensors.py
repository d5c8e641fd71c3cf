"""Sensors of attitude: a quaternion, Euler angles, and the celestial sensors of JPL TR 32-1592."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mbdy.blocks.control.block import Array, Signal, Static
from mbdy.blocks.control.sensor_errors import SensorErrors
from mbdy.blocks.errors import VariableError

ATTITUDE = Signal("attitude", "1", 4)
LETTERS = "xyz"


class _AttitudeSensor(Static):
    """``attitude`` is a unit quaternion w x y z, body to inertial axes, as the output ``BODY.attitude``.

    `VariableError` for one that is not of four finite numbers or is zero.
    """

    ins = (ATTITUDE,)
    outs = (Signal("angle", "rad", 3),)

    def __init__(self, errors: SensorErrors | None = None) -> None:
        self.errors = errors

    def _quaternion(self, attitude: Sequence[float]) -> tuple[float, ...]:
        """``attitude`` as four numbers; `VariableError` where it is none."""
        try:
            numbers = tuple(map(float, attitude))
        except (TypeError, ValueError):
            numbers = ()
        if len(numbers) != 4 or not all(map(math.isfinite, numbers)) or not any(numbers):
            raise VariableError(
                f"{type(self).__name__}: attitude must be a quaternion, four finite numbers w x y z that are not all "
                f"zero, got {attitude!r}; no rotation is [1, 0, 0, 0]"
            )
        return numbers

    def _seen(self, t: float, angles: tuple[float, float, float]) -> Array:
        """Angles (3) [rad] with the sensor's errors."""
        truth = np.array(angles)
        return truth if self.errors is None else self.errors.rounded(truth + self.errors.shift(t))


class QuaternionSensor(_AttitudeSensor):
    """A star tracker: the attitude, turned by its errors, small angles about body axes; its digits are rounded."""

    outs = (ATTITUDE,)

    def value(self, t: float, attitude: Sequence[float]) -> Array:
        """The measured quaternion (4), w x y z, for the true ``attitude`` (4)."""
        true = self._quaternion(attitude)
        if self.errors is None:
            return np.array(true)
        return self.errors.rounded(_product(true, _turn(self.errors.shift(t))))


class EulerAngleSensor(_AttitudeSensor):
    """The angles [rad] of successive rotations about body axes that lead from inertial to body axes.

    ``sequence``  three axes, each rotation following those made: ``"zyx"`` is yaw, pitch, roll. Any of the twelve.
    ``errors``    what is added to the angles.

    Angles are in -pi .. pi, the middle one in -pi/2 .. pi/2, or 0 .. pi where first and third axis are one. At the
    ends of the middle one's range first and third turn about one line and only what they do together is right.
    Source: Bernardes and Viollet, Quaternion to Euler angles conversion, PLoS ONE 17(11), 2022.
    Raises `VariableError` for another sequence.
    """

    def __init__(self, sequence: str = "zyx", errors: SensorErrors | None = None) -> None:
        super().__init__(errors)
        letters = isinstance(sequence, str) and len(sequence) == 3 and set(sequence) <= set(LETTERS)
        if not letters or sequence[0] == sequence[1] or sequence[1] == sequence[2]:
            raise VariableError(
                f"EulerAngleSensor: sequence must be three of x, y, z, no two alike in a row, got {sequence!r}"
            )
        self.sequence = sequence
        k, j, i = (LETTERS.index(letter) for letter in sequence)
        self._symmetric = i == k
        k = 3 - i - j if self._symmetric else k
        self._axes, self._sign = (i + 1, j + 1, k + 1), (i - j) * (j - k) * (k - i) // 2

    def value(self, t: float, attitude: Sequence[float]) -> Array:
        """The measured angles (3) [rad], in the order of the sequence, for the true ``attitude`` (4)."""
        i, j, k = self._axes
        true = self._quaternion(attitude)
        a, b, c, d = true[0], true[i], true[j], self._sign * true[k]
        if not self._symmetric:
            a, b, c, d = a - c, b + d, c + a, d - b
        middle = 2.0 * math.atan2(math.hypot(c, d), math.hypot(a, b))
        half_sum, half_difference = math.atan2(b, a), math.atan2(d, c)
        first, third = half_sum + half_difference, half_sum - half_difference
        if not self._symmetric:
            first, middle = self._sign * first, middle - 0.5 * math.pi
        return self._seen(t, (_wrapped(first), middle, _wrapped(third)))


class CelestialSensors(_AttitudeSensor):
    """theta_1, theta_2, theta_3 [rad] of sensors fixed to a body that see the inertial Z and X directions.

    With N and L these directions in body axes: atan2(N2, N3), atan2(-N1, N3), atan2(-L2, L1); for small turns the
    angles about the body's axes (JPL TR 32-1592, Fig. 6: THET1 to THET3).
    """

    def value(self, t: float, attitude: Sequence[float]) -> Array:
        """The measured angles (3) [rad] for the true ``attitude`` (4)."""
        w, x, y, z = self._quaternion(attitude)
        n1, n2, n3 = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w - x * x - y * y + z * z
        l1, l2 = w * w + x * x - y * y - z * z, 2.0 * (x * y - w * z)
        return self._seen(t, (math.atan2(n2, n3), math.atan2(-n1, n3), math.atan2(-l2, l1)))


def _wrapped(angle: float) -> float:
    """An angle in -pi .. pi."""
    return math.remainder(angle, 2.0 * math.pi)


def _turn(angles: Array) -> tuple[float, ...]:
    """The quaternion of a rotation by a vector (3) [rad]."""
    angle = math.hypot(*angles)
    scale = 0.5 if angle == 0.0 else math.sin(0.5 * angle) / angle
    return math.cos(0.5 * angle), *(scale * one for one in angles)


def _product(p: Sequence[float], q: Sequence[float]) -> Array:
    """The quaternion of the rotation ``q`` after ``p``, in the axes that p has led to."""
    pw, px, py, pz = p
    qw, qx, qy, qz = q
    return np.array([
        pw * qw - px * qx - py * qy - pz * qz,
        pw * qx + px * qw + py * qz - pz * qy,
        pw * qy - px * qz + py * qw + pz * qx,
        pw * qz + px * qy - py * qx + pz * qw,
    ])  # fmt: skip
