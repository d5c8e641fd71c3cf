"""Four CMGs slew a satellite: momentum is kept, the steering law knows the pyramid, a singularity is passed."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from mbdy.blocks import Plant, Run
from mbdy.engine import Model, ModelWarning, load

FOLDER = Path(__file__).parents[2] / "examples" / "four_cmg"
UNTIL = 40.0  # s
MOMENTUM_TOLERANCE = 1e-9  # relative; RK4 at 4 ms leaves 2e-10
PYRAMID_TOLERANCE = 1e-12  # relative


@pytest.fixture(scope="module")
def script(example):
    return example("four_cmg", "run")


@pytest.fixture(scope="module")
def controls(example):
    return example("four_cmg", "controller")


@pytest.fixture(scope="module")
def model(script) -> Model:
    return script.satellite()


@pytest.fixture(scope="module")
def run(script, model: Model) -> Run:
    return script.slew(model, until=UNTIL)


def rotation(q: np.ndarray) -> np.ndarray:
    """Body components to inertial ones."""
    w, vector = q[0], q[1:]
    cross = np.cross(np.eye(3), vector)
    return np.eye(3) + 2 * (w * cross + cross @ cross)


def test_only_the_inertias_of_42_are_warned_of():
    with pytest.warns(ModelWarning) as told:
        load(FOLDER / "four_cmg.toml")
    assert len(told) == 4
    assert all("triangle inequality" in str(warning.message) for warning in told)


def test_the_steering_law_knows_the_pyramid(controls, model: Model):
    """At rest, the satellite's angular momentum is that of its rotors, at any gimbal angles."""
    plant, steering = Plant(model), controls.Steering()
    plant["bus.omega"] = [0, 0, 0]
    for angles in np.random.default_rng(1).uniform(-3, 3, (5, 4)):
        for cmg, angle in zip(controls.CMGS, angles, strict=True):
            plant[f"{cmg}.joint.angle"] = angle
        wanted = rotation(plant["bus.attitude"]) @ steering.momentum(angles) * controls.MOMENTUM
        np.testing.assert_allclose(plant["system.angular_momentum"], wanted, atol=PYRAMID_TOLERANCE * controls.MOMENTUM)
        h = 1e-6
        sides = [(steering.momentum(angles + h * e) - steering.momentum(angles - h * e)) / (2 * h) for e in np.eye(4)]
        np.testing.assert_allclose(steering.jacobian(angles), np.transpose(sides), atol=1e-9)


def test_momentum_is_kept(run: Run, script):
    assert script.momentum_drift(run) < MOMENTUM_TOLERANCE
    for cmg in script.CMGS:
        np.testing.assert_allclose(run[f"{cmg}.rotor.momentum"], run[f"{cmg}.rotor.momentum"][0], rtol=1e-15)


def test_it_slews_by_150_degrees_and_the_rotors_take_the_momentum(run: Run, script, controls):
    errors = np.degrees(script.attitude_errors(run))
    assert errors[0] == pytest.approx(150)
    assert errors[run.time > 20].max() < 0.1
    assert errors[-1] < 1e-4
    assert np.abs(run["bus.omega"][-1]).max() < 1e-7
    carried = controls.Steering().momentum(script.gimbals(run, "angle")[-1]) * controls.MOMENTUM
    kept = rotation(run["bus.attitude"][-1]) @ carried
    # Rotors start at 750 rad/s relative to a bus that turns at 0.005 rad/s: 75 N.m.s within 5e-4.
    np.testing.assert_allclose(kept, run["system.angular_momentum"][0], rtol=0, atol=1e-3)


def test_drives_keep_their_limits_and_the_pyramid_its_shape(run: Run, script, controls):
    assert np.abs(script.gimbals(run, "rate")).max() < controls.MAX_GIMBAL_RATE
    values = script.singular_values(run)
    assert values[0] == pytest.approx(np.sqrt(4 / 3), rel=1e-3)  # 54.74 degrees make torque alike in all directions
    assert values.min() == pytest.approx(0.184, abs=0.01)


def test_a_faster_slew_passes_a_singularity(script, controls, model: Model):
    run = script.slew(model, until=UNTIL, max_rate=np.radians(27))
    assert script.singular_values(run).min() < 0.02
    assert np.degrees(script.attitude_errors(run))[-1] < 1e-3
    assert np.abs(script.gimbals(run, "rate")).max() < 1.01 * controls.MAX_GIMBAL_RATE
    assert script.momentum_drift(run) < MOMENTUM_TOLERANCE


def test_the_robust_inverse_is_gentle_at_a_singularity(controls):
    """s / (s^2 + l) in place of 1 / s for a singular value s: at most 1 / 2 sqrt(l)."""
    steering = controls.Steering()
    angles = np.radians([0, 89.99, 0, -89.99])  # the outer pair has given all that it can along y
    assert steering.smallest_singular_value(angles) < 1e-3
    along_y = np.array([0.0, 1.0, 0.0])
    assert np.linalg.norm(np.linalg.pinv(steering.jacobian(angles)) @ along_y) > 1000
    worst = max(np.linalg.norm(steering.rates(t, angles, along_y)) for t in np.linspace(0, 4, 50))
    assert worst < 1.1 / (2 * np.sqrt(controls.ROBUSTNESS))


def test_script_runs_from_any_folder(script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["run.py", "--until", "2", "--out", "results"])
    script.main()
    for name in ("four_cmg.csv", "four_cmg.html"):
        assert (tmp_path / "results" / name).stat().st_size > 0
    assert "smallest singular value" in capsys.readouterr().out
