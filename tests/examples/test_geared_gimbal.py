"""A geared gimbal: both ways to tell a motor agree, friction holds without creep, momentum and energy are kept."""

from __future__ import annotations

import numpy as np
import pytest

from mbdy.blocks import Run, simulate
from mbdy.engine import Model, load, verify

UNTIL = 5.0  # s


@pytest.fixture(scope="module")
def script(example):
    return example("geared_gimbal", "run")


@pytest.fixture(scope="module")
def model(script) -> Model:
    return load(script.MODEL)


@pytest.fixture(scope="module")
def run(script, model: Model) -> Run:
    return script.slew(model, until=UNTIL)


def test_it_points_and_friction_holds_it(script, model: Model, run: Run):
    """Off by no more than what the springs of the motors cannot turn against breakaway; nothing creeps from there."""
    for axis, off in script.left(run).items():
        assert 0 < abs(off) < script.allowed(model)[axis]
        held = run[f"{axis}.joint.angle"][run.time > 3]
        assert np.ptp(held) < 1e-12
    stands = run["motor.joint.angle"][-1] - script.RATIO * script.TARGETS["azimuth"]
    assert run["gear.azimuth.effort"][-1, 0] == pytest.approx(-script.RATIO * script.STIFFNESS * stands, rel=1e-6)


def test_what_is_kept(script, run: Run):
    assert np.abs(run["system.angular_momentum"]).max() < 1e-10
    assert np.abs(run["system.work_error"]).max() < 1e-9
    assert np.abs(run["gear.azimuth.residual"]).max() < 1e-12
    assert np.degrees(script.bus_turn(run)[-1]) == pytest.approx(2.709, abs=1e-3)


def test_a_motor_with_a_gear_is_a_rotor_at_the_joint(script, model: Model, run: Run):
    """The azimuth with its motor as a body, and with the motor told by its joint and carried by the bus."""
    pointing = script.make_controller()

    def at_the_joints(t: float, y) -> dict[str, float]:
        ratio = script.RATIO
        torques = (pointing.torque(a, ratio * y[f"{a}.joint.angle"], ratio * y[f"{a}.joint.rate"]) for a in script.AXES)
        return {f"{axis}.joint.torque": ratio * torque for axis, torque in zip(script.AXES, torques, strict=True)}

    other = simulate(
        script.with_a_rotor(model), until=2.0, every=script.EVERY, controller=at_the_joints, sample=script.SAMPLE,
        step=script.STEP,
    )  # fmt: skip
    rows = len(other)
    for name in ("azimuth.joint.angle", "dish.joint.rate", "bus.omega", "system.energy"):
        size = np.abs(run[name]).max()
        np.testing.assert_allclose(other[name], run[name][:rows], rtol=0, atol=1e-10 * size, err_msg=name)


@pytest.mark.slow
def test_second_opinions(model: Model):
    assert verify(model).agrees
