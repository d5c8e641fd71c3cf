"""The quickstart comes to rest, bends its panels visibly, and its numbers agree with its comments."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mbdy.blocks import simulate
from mbdy.engine import load

MODEL = Path(__file__).parents[2] / "examples" / "quickstart" / "satellite.toml"


INERTIA_TOLERANCE = 0.02  # the controller's numbers leave out that the bus has its mass centre 5 cm off the hinge line


def test_it_turns_and_settles_within_a_minute(example):
    script = example("quickstart", "run")
    run = simulate(load(MODEL), until=60, every=0.1, controller=script.make_controller(), sample=script.SAMPLE)
    errors = np.degrees(script.attitude_errors(run))
    panel = np.degrees(run["right_panel.joint.angle"])
    assert 40 < errors[0] < 50
    assert errors[run.time > 55].max() < 0.1
    assert 2 < np.abs(panel).max() < 4
    assert np.abs(panel[-1]) < 0.01
    assert np.degrees(np.abs(run["bus.omega"][-1])).max() < 0.01


def test_the_controller_knows_the_inertia_of_the_satellite(example):
    model, wanted = load(MODEL), np.zeros(3)
    for body in model.bodies:
        arm = np.array(body.joint.at) + np.array(body.com)
        wanted += np.diag(body.inertia) + body.mass * (arm @ arm - arm**2)
    np.testing.assert_allclose(example("quickstart", "controller").INERTIA, wanted, rtol=INERTIA_TOLERANCE)
