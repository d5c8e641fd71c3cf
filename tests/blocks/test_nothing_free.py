"""Systems that cannot move on their own: a base on the ground, a crank and a four-bar that are driven."""

from __future__ import annotations

import numpy as np
import pytest

from mbdy.blocks import LinearPlant, Plant, simulate
from mbdy.engine import linearize, loads, trim, verify
from mbdy.engine.model.variables import WORK_ERROR

BASE = """
mbdy = 1
[system]
gravity = [0, -9.81, 0]
[body.base]
mass = 2
inertia = [1, 1, 1]
joint = { to = "inertial", kind = "fixed" }
"""
CRANK = """
[body.crank]
mass = 1
com = [0.5, 0, 0]
inertia = [0.01, 0.0833, 0.0833]
joint = { to = "base", kind = "revolute", axis = [0, 0, 1], motion = "prescribed" }
"""
LINKAGE = """
[body.coupler]
mass = 1.5
com = [0.75, 0, 0]
inertia = [0.01, 0.28, 0.28]
joint = { to = "crank", kind = "revolute", axis = [0, 0, 1], at = [1, 0, 0] }
node.end = { at = [1.5, 0, 0] }
[body.rocker]
mass = 1.5
com = [0.75, 0, 0]
inertia = [0.01, 0.28, 0.28]
joint = { to = "base", kind = "revolute", axis = [0, 0, 1], at = [1.8, 0, 0] }
node.tip = { at = [1.5, 0, 0] }
[loop.c]
a = "coupler.end"
b = "rocker.tip"
kind = "pin"
axis = [0, 0, 1]
[initial]
crank.joint.angle = 1.0
"""
TEXTS = {"base": BASE, "crank": BASE + CRANK, "linkage": BASE + CRANK + LINKAGE}


@pytest.mark.parametrize("name", TEXTS)
def test_what_cannot_move_is_run_linearized_trimmed_and_verified(name: str) -> None:
    model = loads(TEXTS[name])
    lin = linearize(model)
    assert lin.A.shape == (0, 0)
    assert lin.B.shape == (0, len(lin.inputs))
    assert lin.C.shape == (len(lin.outputs), 0)
    assert np.isfinite(lin.D).all()
    assert (lin.modes(), lin.eigenvalues().size) == ((), 0)
    assert lin.to_control().nstates == 0
    assert trim(model)["system.gravity"] == pytest.approx([0, -9.81, 0])
    run = simulate(model, until=0.2, every=0.1)
    assert (run["system.energy"] == run["system.energy"][0]).all()
    assert verify(model, states=3).agrees
    if not model.loops:
        linear, full = (dict(plant.step(0.1)) for plant in (LinearPlant(model), Plant(model)))
        assert full.keys() - linear.keys() == {WORK_ERROR}
        for name, value in linear.items():
            np.testing.assert_allclose(value, full[name], atol=1e-12, err_msg=name)


@pytest.mark.parametrize("name", ["crank", "linkage"])
def test_the_reaction_feels_a_prescribed_acceleration(name: str) -> None:
    """Against two Plants, 1 rad/s2 apart: what D says of the driven crank's torque."""
    model = loads(TEXTS[name])
    lin = linearize(model, inputs=["crank.joint.acceleration"], outputs=["crank.joint.reaction"])
    reactions = []
    for acceleration in (0.0, 1.0):
        plant = Plant(model)
        plant["crank.joint.acceleration"] = acceleration
        reactions.append(float(np.ravel(plant["crank.joint.reaction"])[0]))
    assert lin.D.item() == pytest.approx(reactions[1] - reactions[0], rel=1e-12)
