"""Rigs on air: a pendulum's frequency, levelling with the mass centre below and above, a vehicle on a table."""

from __future__ import annotations

import sys
from math import sqrt
from pathlib import Path

import numpy as np
import pytest

from mbdy.blocks import Plant, simulate
from mbdy.engine import Model, load

FOLDER = Path(__file__).parents[2] / "examples" / "air_bearing"
FREQUENCY_TOLERANCE = 1e-9  # relative: crossings are found to a few nanoseconds in two minutes
MOMENTUM_TOLERANCE = 1e-10  # N.m.s, of 0.4 N.m.s that the wheels take


@pytest.fixture(scope="module")
def script(example):
    return example("air_bearing", "run")


@pytest.fixture(scope="module")
def platform() -> Model:
    return load(FOLDER / "air_bearing.toml")


@pytest.fixture(scope="module")
def table() -> Model:
    return load(FOLDER / "air_table.toml")


@pytest.mark.parametrize("axis", [0, 1])
def test_it_swings_like_a_pendulum(axis: int, script, platform: Model):
    measured = script.measured_frequency(script.swing(platform, axis), axis)
    assert measured == pytest.approx(script.pendulum_frequency(platform, axis), rel=FREQUENCY_TOLERANCE)


def test_it_topples_with_its_mass_centre_above(platform: Model):
    """Small at first: the tilt grows as cosh(rate t), with the pendulum's frequency for a rate."""
    plant = Plant(platform, step=0.01)
    plant["platform.com[3]"] = depth = -platform.body("platform").com[2]
    plant["platform.joint.attitude"] = [1.0, 5e-7, 0, 0]  # norm 1 to 1e-13
    run = simulate(plant, until=10.0, every=0.1)
    body = platform.body("platform")
    moved = body.inertia[0][0] - body.wheels["x"].inertia + body.mass * depth**2
    rate = sqrt(body.mass * 9.81 * depth / moved)
    np.testing.assert_allclose(2 * run["platform.attitude[2]"], 1e-6 * np.cosh(rate * run.time), rtol=1e-9)


@pytest.mark.parametrize("above", [False, True])
def test_the_controller_levels_it(above: bool, script, platform: Model):
    run = script.level(platform, until=60.0, above=above)
    assert np.degrees(script.tilts(run)[0]) == pytest.approx(5)
    assert np.degrees(script.headings(run)[0]) == pytest.approx(20)
    assert np.degrees(script.tilts(run)[-1]) < 1e-3
    assert np.degrees(np.abs(script.headings(run)[-1])) < 0.01
    pivot = np.array(platform.body("platform").joint.at)
    upright = script.vertical_momentum(run, pivot)  # gravity has no torque about the vertical
    np.testing.assert_allclose(upright, upright[0], rtol=0, atol=MOMENTUM_TOLERANCE)
    assert np.abs(run["platform.z.momentum"]).max() > 0.1


def test_the_bearing_carries_the_weight(script, platform: Model, table: Model):
    run = script.level(platform, until=60.0)
    weight = platform.body("platform").mass * 9.81
    np.testing.assert_allclose(run["platform.joint.load"][-1][3:], [0, 0, weight], rtol=0, atol=1e-2)  # tilt
    vehicle = table.body("vehicle")
    load_at_start = Plant(table)["vehicle.joint.load"]
    assert load_at_start[5] == pytest.approx(vehicle.mass * 9.81, rel=1e-14)
    # Moments of the load about the origin: the mass centre stands beside it.
    wanted = np.cross(vehicle.com, [0, 0, vehicle.mass * 9.81])
    np.testing.assert_allclose(load_at_start[:2], wanted[:2], rtol=0, atol=0.01)  # and the turn's own forces


def test_the_vehicle_comes_to_rest_at_the_origin(script, table: Model):
    run = script.slide(table, until=60.0)
    assert np.abs(run["vehicle.joint.displacement"][-1]).max() < 1e-4
    assert abs(run["vehicle.joint.angle"][-1]) < 1e-5
    # Left alone it goes on as it is: nothing on a level table pushes.
    free = simulate(table, until=20.0, every=1.0, step=0.01)
    np.testing.assert_allclose(free["system.momentum"], free["system.momentum"][:1].repeat(21, axis=0), atol=1e-11)
    assert np.ptp(free["system.energy"]) < 1e-12


def test_script_runs_from_any_folder(script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["run.py", "--until", "2", "--out", "results"])
    script.main()
    for name in ("platform.csv", "above.csv", "table.csv", "platform.html"):
        assert (tmp_path / "results" / name).stat().st_size > 0
    assert "about x: 0.322036592 rad/s, pendulum 0.322036592 rad/s" in capsys.readouterr().out
