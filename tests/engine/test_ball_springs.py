"""Springs of spherical rotations: torque and energy of a rotation vector, at rest, turned far, and at every door."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.interpreted import Interpreted

from mbdy.blocks import Plant, PlantBatch
from mbdy.engine import Joint, ModelError, ModelWarning, dumps, linearize, loads, verify
from mbdy.engine.model.frames import from_rotation_vector
from mbdy.engine.model.ports import ports

BODY = (
    "mbdy = 1\n[body.b]\nmass = 2\ninertia = {inertia}\njoint = {{ to = 'inertial', kind = 'spherical', {spring} }}\n"
)


def ball(spring: str, inertia: str = "[1, 1, 1]") -> str:
    return BODY.format(spring=spring, inertia=inertia)


def quaternion(vector) -> np.ndarray:
    return np.array(from_rotation_vector(vector))


@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-3, 0.19, 0.21, 1.0, 3.0, math.pi - 1e-6])
@pytest.mark.parametrize("rest", [(0.0, 0.0, 0.0), (0.3, -0.4, 0.9), (2.0, 1.0, -1.0)])
def test_torque_is_the_gradient_of_the_energy(size, rest):
    """With unit inertia at rest, acceleration is torque: of exp(e) from exp(rest), along unit turns of the body."""
    plant = Interpreted(loads(ball(f"stiffness = [5, 7, 11], rest = {list(rest)}")))
    e = size * np.array([0.6, -0.48, 0.64])
    away = Rotation.from_rotvec(rest) * Rotation.from_rotvec(e)
    u = np.array(plant.ports.vector("input"))

    def state(turned: Rotation) -> np.ndarray:
        x, y, z, w = turned.as_quat()
        return np.array([w, x, y, z, 0, 0, 0])

    def energy(turned: Rotation) -> float:
        return plant.outputs(state(turned), u)[plant.ports.by_name["system.energy"].offset]

    assert energy(away) == pytest.approx(e @ ([5, 7, 11] * e) / 2, rel=1e-9, abs=1e-13)
    step = 1e-5 if size < 3.1 else 1e-7
    torque = plant.derivatives(state(away), u)[4:7]
    for axis in np.eye(3):
        slope = [energy(away * Rotation.from_rotvec(sign * step * axis)) for sign in (1, -1)]
        assert torque @ axis == pytest.approx((slope[1] - slope[0]) / (2 * step), rel=1e-6, abs=3e-7)


def test_linear_at_rest_is_exact():
    model = loads(ball("stiffness = [4, 18, 48], rest = [0.1, 0, 0.2]", "[1, 2, 3]"))
    linear = linearize(model, at={"b.joint.attitude": quaternion([0.1, 0, 0.2])})
    assert sorted(np.linalg.eigvals(linear.A).imag) == pytest.approx([-4, -3, -2, 2, 3, 4], abs=1e-12)
    assert np.linalg.eigvals(linear.A).real == pytest.approx(np.zeros(6), abs=1e-12)


def test_far_turns_are_harmonic_in_block_and_batch():
    """An isotropic spring turns a ball about one axis as a pendulum of its angle: 2.5 cos(t sqrt(k/J))."""
    model = loads(ball("stiffness = 9") + "[initial]\nb.joint.angle = [1.5, 2.0, 0]\n")
    assert model.initial["b.joint.attitude"] == pytest.approx(quaternion([1.5, 2.0, 0]), abs=1e-15)
    plant, batch = Plant(model, step="1 ms"), PlantBatch(model, 3, step="1 ms")
    y, rows = plant.step(2.0), batch.step(2.0)
    angle = 2.5 * math.cos(6.0)
    assert y["b.joint.attitude"] == pytest.approx(quaternion(angle * np.array([0.6, 0.8, 0])), abs=1e-10)
    assert y["b.joint.omega"] == pytest.approx(-7.5 * math.sin(6.0) * np.array([0.6, 0.8, 0]), abs=1e-9)
    assert y["system.energy"] == pytest.approx(9 * 2.5**2 / 2, rel=1e-11)
    assert y["system.work_error"] == pytest.approx(0, abs=1e-9)
    assert np.array_equal(rows["b.joint.attitude"], np.tile(y["b.joint.attitude"], (3, 1)))
    plant["b.joint.rest"] = [0.5, 0, 0]
    plant["b.joint.damping"] = 6
    plant.step(8.0)
    assert plant.outputs()["b.joint.attitude"] == pytest.approx(quaternion([0.5, 0, 0]), abs=1e-7)
    assert plant.outputs()["system.work_error"] == pytest.approx(0, abs=1e-6)


def test_through_half_a_turn_the_energy_goes_on():
    model = loads(ball("stiffness = 1") + "[initial]\nb.joint.omega = [4, 0, 0]\n")
    plant = Plant(model, step="1 ms")
    far = plant.step(1.0)
    assert far["system.energy"] == pytest.approx(8, rel=1e-3), "one step has the torque of both sides"
    assert Rotation.from_quat(far["b.joint.attitude"][[1, 2, 3, 0]]).as_rotvec()[0] < 0  # 3.3 rad is -2.9


@pytest.mark.parametrize(
    ("spring", "stiffness", "rest"),
    [
        ("stiffness = 5", (5.0, 5.0, 5.0), (0.0, 0.0, 0.0)),
        ("stiffness = [1, 2, '3 N*m/rad'], rest = ['90 deg', 0, 0]", (1.0, 2.0, 3.0), (math.pi / 2, 0.0, 0.0)),
        ("stiffness = 5, rest = { sequence = 'x', angles = '90 deg' }", (5.0, 5.0, 5.0), (math.pi / 2, 0.0, 0.0)),
        ("stiffness = 0, rest = 0", (), ()),
        ("damping = 1", (), ()),
    ],
)
def test_spellings(spring, stiffness, rest):
    model = loads(ball(spring))
    joint = model.body("b").joint
    assert (joint.stiffness, joint.rest) == (stiffness, pytest.approx(rest, abs=1e-15))
    assert loads(dumps(model)).bodies == model.bodies
    names = ports(model).by_name
    assert ("b.joint.rest" in names, "b.joint.stiffness" in names) == (bool(stiffness),) * 2
    assert (
        Joint(to="inertial", kind="spherical", stiffness=joint.stiffness or 0, rest=joint.rest or 0).rest == joint.rest
    )


@pytest.mark.parametrize(
    ("spring", "message"),
    [
        (
            "stiffness = 5, rest = '10 deg'",
            "rest: is a rotation vector where a joint is spherical, got '10 deg'",
        ),
        ("rest = [1, 0, 0]", "body.b.joint.rest: is for a spring, and this rotation has none; give stiffness too"),
        ("stiffness = [1, 2]", "stiffness: has 2 values for 3 degrees of freedom"),
        ("stiffness = '5 N/m'", "stiffness: must be a number in N.m/rad"),
        ("cubic_stiffness = 5", "a spherical joint has no angle for a cubic_stiffness to act on"),
    ],
)
def test_what_is_refused(spring, message):
    with pytest.raises(ModelError) as caught:
        loads(ball(spring))
    assert message in str(caught.value)


def test_half_a_turn_from_rest_is_told():
    with pytest.warns(ModelWarning, match=r"body\.b\.joint\.rest: starts half a turn from the rest of its spring"):
        loads(ball("stiffness = 5, rest = ['90 deg', 0, 0]") + "[initial]\nb.joint.angle = ['-90 deg', 0, 0]\n")


SYSTEM = """
mbdy = 1
[system]
gravity = [0.3, 0, -9.81]
[body.a]
mass = 10
inertia = [1, 2, 2.5]
joint = { to = "inertial", kind = "free" }
[default.body]
com = [0.1, 0.3, 0.2]
inertia = [1, 1.5, 1.2]
[default.body.joint]
to = "a"
at = [1, 0, 0]
[body.b]
mass = 2
joint = { kind = "spherical", stiffness = [5, 7, 9], damping = 1, rest = ["20 deg", 0.1, -0.3], at_b = [0, 0.1, 0] }
[body.c]
mass = 2
joint = { to = "b", translation = [[1, 0, 0]], rotation = "spherical", stiffness = 6, cubic_stiffness = [3, 0, 0, 0] }
"""


@pytest.mark.slow
def test_formulations_agree():
    assert verify(loads(SYSTEM)).agrees
