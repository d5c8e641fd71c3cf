"""A kick stage that burns out: jet damping's closed form, Tsiolkovsky, momentum of stage and exhaust."""

from __future__ import annotations

import numpy as np
import pytest

from mbdy.blocks import Run


@pytest.fixture(scope="module")
def script(example):
    return example("spinning_kick", "run")


@pytest.fixture(scope="module")
def run(script) -> Run:
    return script.burn()


def test_jet_damping_leaves_what_its_closed_form_says(script, run: Run):
    wobble = np.linalg.norm(run["stage.omega"][:, :2], axis=1)
    assert wobble / wobble[0] == pytest.approx(script.nutation_left(run["tank.motor.mass"]), abs=1e-8)


def test_velocity_is_tsiolkovskys_but_for_the_nutation_and_the_motor_is_empty(script, run: Run):
    gained = np.linalg.norm(run["system.centre_of_mass_velocity"][-1])
    assert 0.9999 < gained / (script.EXHAUST * np.log(550 / 300)) < 1.0
    assert (run["tank.motor.mass"][-1], run["tank.motor.thrust"][-1]) == (0.0, 0.0)
    assert abs(run["system.work_error"][-1]) < 1e-10 * run["system.energy"][-1]


@pytest.mark.parametrize("aside", [0.0, 0.002])
def test_momentum_of_stage_and_exhaust_stays(script, aside: float):
    run = script.burn(aside=aside, until=20.0)
    lost = run["system.momentum"][-1] + script.exhaust_momentum(run) - run["system.momentum"][0]
    assert np.abs(lost).max() < 1e-9 * np.linalg.norm(run["system.momentum"][-1])
