"""HCK: attitude by Euler parameters against closed forms, and the single rigid body against Euler's equations."""

from __future__ import annotations

import numpy as np
import pytest

from jpl_systems import five_body
from mbdy.blocks.jpl import HCK, ArgumentError

EXACT = 1e-14
NAN = float("nan")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(4)


def about(axis: int, angle: float) -> np.ndarray:
    """Direction cosines of one rotation: components before it to those in the turned axes."""
    c, s = np.cos(angle), np.sin(angle)
    i, j = [(1, 2), (2, 0), (0, 1)][axis]
    D = np.eye(3)
    D[i, i] = D[j, j] = c
    D[i, j], D[j, i] = s, -s
    return D


def test_euler_angles_are_three_successive_rotations(rng):
    for _ in range(20):
        angles = rng.uniform(-3.0, 3.0, 3)
        D = about(2, angles[2]) @ about(1, angles[1]) @ about(0, angles[0])
        np.testing.assert_allclose(HCK.MATRIX(HCK.INITL(*angles)), D, rtol=0, atol=EXACT)


def test_angles_undo_initl(rng):
    for _ in range(20):
        angles = rng.uniform(-1.0, 1.0, 3) * [np.pi, np.pi / 2, np.pi]
        np.testing.assert_allclose(HCK.ANGLES(HCK.INITL(*angles)), angles, rtol=0, atol=1e-12)


def test_angles_at_a_right_angle_of_the_second_give_the_same_attitude():
    right = np.sqrt(0.5)
    for P in ([right, 0, right, 0], [right, 0, -right, 0], [0.5, 0.5, 0.5, -0.5], [0.5, -0.5, 0.5, 0.5]):
        np.testing.assert_allclose(HCK.MATRIX(HCK.INITL(*HCK.ANGLES(P))), HCK.MATRIX(P), rtol=0, atol=1e-7)


def test_small_angles_are_angles_about_the_axes():
    np.testing.assert_allclose(HCK.INITL(1e-8, -2e-8, 3e-8), [1, 0.5e-8, -1e-8, 1.5e-8], rtol=0, atol=1e-15)


def test_inertial_to_body_and_back(rng):
    P = rng.normal(size=4)
    D, V = HCK.MATRIX(P), rng.normal(size=3)
    np.testing.assert_allclose(D @ D.T, np.eye(3), rtol=0, atol=EXACT)
    np.testing.assert_allclose(HCK.BTOI(HCK.ITOB(V, D), D), V, rtol=0, atol=EXACT)
    # a body that has turned to the left by a right angle sees ahead on its right
    D = HCK.MATRIX(HCK.INITL(0.0, 0.0, np.pi / 2))
    np.testing.assert_allclose(HCK.ITOB([1, 0, 0], D), [0, -1, 0], rtol=0, atol=EXACT)


def test_parameter_rates_are_those_of_a_steady_turn(rng):
    W = rng.normal(size=3)
    speed = np.linalg.norm(W)
    for t in (0.0, 0.3, 2.0):
        half = 0.5 * speed * t
        P = np.array([np.cos(half), *(np.sin(half) * W / speed)])
        rate = 0.5 * speed * np.array([-np.sin(half), *(np.cos(half) * W / speed)])
        np.testing.assert_allclose(HCK.PDOT(P, W), rate, rtol=0, atol=EXACT)


def test_angular_acceleration_is_euler_s(rng):
    J = np.array([[115, -14, 14], [-14, 316, -34.6], [14, -34.6, 440]])
    body = HCK(five_body()["MB"])
    for _ in range(5):
        T, W = rng.normal(size=3), rng.normal(size=3)
        np.testing.assert_allclose(body.WDOT(T, W), np.linalg.solve(J, T - np.cross(W, J @ W)), rtol=1e-12)


def test_a_free_body_keeps_its_momentum():
    """A tumbling body over some turns: RK4 on WDOT and PDOT, the momentum looked at in inertial axes."""
    J = np.diag([3.0, 2.0, 1.5])
    body = HCK([3.0, 2.0, 1.5, 0, 0, 0, 10.0])

    def rate(y: np.ndarray) -> np.ndarray:
        return np.concatenate([HCK.PDOT(y[:4], y[4:]), body.WDOT([0, 0, 0], y[4:])])

    y, h = np.array([1.0, 0, 0, 0, 0.4, 1.0, -0.3]), 0.01
    begin = HCK.BTOI(J @ y[4:], HCK.MATRIX(y[:4]))
    for _ in range(1000):
        a = rate(y)
        b = rate(y + h / 2 * a)
        c = rate(y + h / 2 * b)
        y = y + h / 6 * (a + 2 * b + 2 * c + rate(y + h * c))
    np.testing.assert_allclose(HCK.BTOI(J @ y[4:], HCK.MATRIX(y[:4])), begin, rtol=0, atol=1e-8)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: HCK([1, 2]), "MB: must be an array (7), got an array (2)"),
        (lambda: HCK.MATRIX([1, 0, 0]), "P: must be an array (4), got an array (3)"),
        (lambda: HCK.MATRIX([0, 0, 0, 0]), "P: must not be zero"),
        (lambda: HCK.INITL(0.0, float("nan"), 0.0), "THETA: must be finite, got nan"),
        (lambda: HCK.PDOT([1, 0, 0, 0], 1.0), "WO: must be an array (3), got a single number"),
        (lambda: HCK.PDOT([1, 0, 0, NAN], [0, 0, 0]), "P(4): must be finite, got nan"),
        (lambda: HCK.PDOT([1, 0, 0, 0], [0, NAN, 0]), "WO(2): must be finite, got nan"),
        (lambda: HCK.ANGLES([0, 0, 0, 0]), "P: must not be zero"),
        (lambda: HCK.ANGLES([1, NAN, 0, 0]), "P(2): must be finite, got nan"),
        (lambda: HCK.ITOB([1, 0, 0], [1, 0, 0, 0]), "D: must be an array (3,3), got an array (4)"),
        (lambda: HCK.BTOI([1, 0, 0], 2 * np.eye(3)), "D: must be the direction cosines of a rotation"),
        (lambda: HCK.ITOB([1, 0, 0], np.diag([1, 1, -1])), "D: must be the direction cosines of a rotation"),
        (lambda: HCK.BTOI([1, 0, 0], np.full((3, 3), NAN)), "D(1,1): must be finite, got nan"),
        (lambda: HCK.ITOB([1, NAN, 0], np.eye(3)), "V(2): must be finite, got nan"),
        (lambda: HCK.ITOB([1, 0], np.eye(3)), "V: must be an array (3), got an array (2)"),
    ],
)
def test_bad_arguments_are_refused(call, said: str):
    with pytest.raises(ArgumentError) as refused:
        call()
    assert said in str(refused.value)
