"""Norms of quaternions: kept over a long run, zero refused and any other scaled at the start."""

from __future__ import annotations

import numpy as np
import pytest

from mbdy.blocks import Plant, VariableError
from mbdy.engine import ModelError, ModelWarning, loads
from systems import free_body

NORM = 1e-12
BALL = """
mbdy = 1
[body.ball]
mass = 1
com = [0, 0.1, 0.3]
inertia = [1, 2, 2.5]
joint = {{ to = "inertial", kind = "{kind}" }}
[initial]
ball.{stem}attitude = {attitude}
"""
STEMS = {"free": "", "attitude": "", "spherical": "joint."}


def ball(kind: str, attitude: str):
    return loads(BALL.format(kind=kind, stem=STEMS[kind], attitude=attitude))


@pytest.mark.slow
@pytest.mark.parametrize(("integrator", "omega"), [("rk4", (3.0, -2.0, 5.0)), ("euler-cromer", (0.0, 0.0, 5.0))])
def test_norms_stay_one_over_a_million_steps(integrator, omega):
    """Fast turns in coarse steps: each step alone leaves the unit sphere by far more than round-off."""
    plant = Plant(free_body(omega=omega), step=0.01, integrator=integrator)
    places = [plant.output_names.index(f"top.attitude[{k}]") for k in (1, 2, 3, 4)]
    quaternions, fault = plant.run(10_000, 1.0, pick=places)
    assert fault is None
    assert np.abs(np.linalg.norm(quaternions, axis=1) - 1.0).max() < NORM


@pytest.mark.parametrize("kind", STEMS)
def test_a_zero_quaternion_is_refused_by_name(kind):
    with pytest.raises(ModelError, match=rf"initial\.ball\.{STEMS[kind]}attitude.*zero quaternion"):
        ball(kind, "[0, 0, 0, 0]")
    plant = Plant(ball(kind, "[1, 0, 0, 0]"))
    plant[f"ball.{STEMS[kind]}attitude"] = [0.0, 0.0, 0.0, 0.0]
    with pytest.raises(VariableError, match=rf"ball\.{STEMS[kind]}attitude.*zero"):
        plant.step(0.1)


@pytest.mark.parametrize("kind", STEMS)
def test_a_quaternion_of_another_norm_is_scaled_with_a_warning(kind):
    name = f"ball.{STEMS[kind]}attitude"
    with pytest.warns(ModelWarning, match=rf"{name}.*norm 5 and is scaled to 1"):
        model = ball(kind, "[3, 0, 4, 0]")
    assert model.initial[name] == pytest.approx((0.6, 0.0, 0.8, 0.0), abs=1e-15)
    assert np.asarray(Plant(model).step(0.1)[name]) == pytest.approx([0.6, 0.0, 0.8, 0.0], abs=1e-15)
