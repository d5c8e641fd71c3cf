"""Sensors of attitude against scipy's rotations and the report's formulas."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from mbdy.blocks import CelestialSensors, EulerAngleSensor, QuaternionSensor, SensorErrors, VariableError

ANGLE = 1e-12  # rad, away from the ends of the middle angle
SEQUENCES = ["".join(s) for s in product("xyz", repeat=3) if s[0] != s[1] and s[1] != s[2]]


def scalar_first(rotation: Rotation) -> np.ndarray:
    return np.roll(rotation.as_quat(), 1)


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_euler_angles_are_scipys(sequence: str):
    sensor = EulerAngleSensor(sequence)
    for rotation in Rotation.random(50, random_state=5):
        wanted = rotation.as_euler(sequence.upper())  # capitals: about body axes
        for sign in (1.0, -1.0):
            np.testing.assert_allclose(sensor.step(0.0, sign * scalar_first(rotation)), wanted, atol=ANGLE)


def test_at_the_end_of_the_middle_angle_the_attitude_is_right():
    rotation = Rotation.from_euler("ZYX", [0.3, 0.5 * np.pi, 0.2])
    seen = EulerAngleSensor("zyx").step(0.0, scalar_first(rotation))
    assert (Rotation.from_euler("ZYX", seen) * rotation.inv()).magnitude() < 1e-7  # rad: the square root of rounding


def test_celestial_sensors_are_the_reports():
    for rotation in Rotation.random(20, random_state=1):
        z, x = rotation.inv().apply([[0, 0, 1], [1, 0, 0]])
        wanted = np.arctan2([z[1], -z[0], -x[1]], [z[2], z[2], x[0]])
        np.testing.assert_allclose(CelestialSensors().step(0.0, scalar_first(rotation)), wanted, atol=ANGLE)
    small = np.array([1e-5, -2e-5, 3e-5])
    seen = CelestialSensors().step(0.0, scalar_first(Rotation.from_rotvec(small)))
    np.testing.assert_allclose(seen, small, atol=1e-9)


def test_bias_noise_and_digits_of_angles():
    truth = scalar_first(Rotation.from_euler("ZYX", [0.1, 0.2, 0.3]))
    biased = EulerAngleSensor(errors=SensorErrors(bias=[0.01, 0.0, -0.02])).step(0.0, truth)
    np.testing.assert_allclose(biased, [0.11, 0.2, 0.28], atol=ANGLE)
    digits = EulerAngleSensor(errors=SensorErrors(resolution=0.125)).step(0.0, truth)
    np.testing.assert_array_equal(digits, [0.125, 0.25, 0.25])
    noisy = EulerAngleSensor(errors=SensorErrors(deviation=1e-3, period=0.1, seed=4))
    seen = np.array([noisy.step(0.1 * k, truth) for k in range(4000)])
    np.testing.assert_allclose(seen.std(axis=0), 1e-3, rtol=4 / np.sqrt(8000))  # four standard errors
    np.testing.assert_array_equal(noisy.step(0.15, truth), seen[1])


def test_a_quaternion_sensor_turns_by_its_errors_about_body_axes():
    rotation = Rotation.from_euler("ZYX", [0.4, -0.2, 1.3])
    truth = scalar_first(rotation)
    np.testing.assert_array_equal(QuaternionSensor().step(0.0, truth), truth)
    bias = np.array([1e-3, -2e-3, 5e-4])
    seen = QuaternionSensor(SensorErrors(bias=bias.tolist())).step(0.0, truth)
    wanted = rotation * Rotation.from_rotvec(bias)
    np.testing.assert_allclose(seen, scalar_first(wanted) * np.sign(seen @ scalar_first(wanted)), atol=1e-15)
    assert seen @ truth > 0.9  # no flip of sign
    coarse = QuaternionSensor(SensorErrors(resolution=2.0**-10)).step(0.0, truth)
    np.testing.assert_array_equal(coarse * 1024, np.round(truth * 1024))


def test_a_sensor_with_a_rate_is_a_sampled_one():
    sensor = EulerAngleSensor("zyx").sampled(0.5)
    seen = [sensor.step(t, scalar_first(Rotation.from_euler("ZYX", [t, 0, 0])))[0] for t in (0.0, 0.3, 0.5, 0.9)]
    np.testing.assert_allclose(seen, [0.0, 0.0, 0.5, 0.5], atol=ANGLE)


@pytest.mark.parametrize("sequence", ["zzy", "xy", "abc", "ZYX"])
def test_a_wrong_sequence_is_named(sequence: str):
    with pytest.raises(VariableError, match=f"sequence must be three of x, y, z.*got '{sequence}'"):
        EulerAngleSensor(sequence)


@pytest.mark.parametrize("sensor", [EulerAngleSensor("zyx"), CelestialSensors(), QuaternionSensor()], ids=repr)
@pytest.mark.parametrize("attitude", [[1, 0, 0], [0, 0, 0, 0], [1, 0, 0, np.nan], 1.0, "wxyz", [[1, 0, 0, 0]]], ids=str)
def test_what_is_no_attitude_is_told(sensor, attitude):
    name = type(sensor).__name__
    with pytest.raises(VariableError, match=rf"{name}: attitude must be a quaternion, four finite numbers"):
        sensor.step(0.0, attitude)
