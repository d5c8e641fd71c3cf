"""Start values set on a plant whose bodies form loops."""

from __future__ import annotations

import copy
import math
import warnings
from dataclasses import replace

import numpy as np
import pytest

from mbdy.blocks import Plant, StartMovedWarning
from mbdy.engine import Model, loads
from mechanisms import FOUR_BAR_FILE

FOUR_BAR = f"""{FOUR_BAR_FILE}
[initial]
crank.joint.angle = 1
crank.joint.rate = 2
"""


@pytest.fixture
def plant() -> Plant:
    return Plant(loads(FOUR_BAR))


def closed(plant: Plant) -> bool:
    y = plant.outputs()
    return max(np.abs(y["loop.closure.residual"]).max(), np.abs(y["loop.closure.residual_rate"]).max()) < 1e-11


def test_set_values_stay_and_the_others_follow(plant: Plant) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plant["crank.joint.angle"] = 1.5
        assert plant["crank.joint.angle"] == pytest.approx(1.5, abs=1e-12)
        plant["crank.joint.rate"] = 3.0
        assert plant["crank.joint.rate"] == pytest.approx(3.0, abs=1e-12)
    assert plant["crank.joint.angle"] == pytest.approx(1.5, abs=1e-12)
    assert closed(plant)
    other = Plant(loads(FOUR_BAR.replace("angle = 1", "angle = 1.5").replace("rate = 2", "rate = 3")))
    assert plant["rocker.joint.angle"] == pytest.approx(other["rocker.joint.angle"], abs=1e-11)
    assert plant["rocker.joint.rate"] == pytest.approx(other["rocker.joint.rate"], abs=1e-11)


def test_looking_and_order_make_no_difference(plant: Plant) -> None:
    plant["crank.joint.angle"] = 0.7
    assert closed(plant)
    plant["crank.joint.angle"] = 1.5
    plant["crank.joint.rate"] = 1.0
    other = Plant(plant.model)
    other["crank.joint.rate"] = 1.0
    other["crank.joint.angle"] = 1.5
    assert np.array_equal(plant.state, other.state)
    again = copy.copy(plant)
    again["crank.joint.rate"] = 0.5
    assert again["crank.joint.rate"] == pytest.approx(0.5, abs=1e-12)
    assert closed(again)


def test_values_that_contradict_the_loop_are_told(plant: Plant) -> None:
    plant["crank.joint.angle"] = 1.5
    plant["rocker.joint.angle"] = 1.5
    with pytest.warns(StartMovedWarning, match=r"'(crank|rocker)\.joint\.angle' .* from 1\.5 to") as told:
        assert closed(plant)
    assert told[0].filename == __file__


def test_lengths_that_the_file_does_not_have_close_the_loop_too(plant: Plant) -> None:
    plant["coupler.end.at"] = [2.1, 0, 0]
    for angle in (1.0, 1.5):
        plant["crank.joint.angle"] = angle
        assert closed(plant)
        assert plant["crank.joint.angle"] == pytest.approx(angle, abs=1e-12)


def test_loops_that_are_open_ask_nothing() -> None:
    model = loads(FOUR_BAR)
    opened: Model = replace(model, loops=(replace(model.loops[0], switchable=True),))
    plant = Plant(opened)
    plant["loop.closure.closed"] = False
    plant["crank.joint.angle"] = 1.5
    assert plant["rocker.joint.angle"] == 0.0
    plant["loop.closure.closed"] = True
    assert plant["rocker.joint.angle"] != 0.0
    assert plant["crank.joint.angle"] == pytest.approx(1.5, abs=1e-12)
    assert closed(plant)


def test_attitudes_and_elements() -> None:
    text = FOUR_BAR.replace('"inertial"', '"base"')
    text = text.replace(
        "[loop.closure]",
        """
[body.base]
mass = 9
inertia = [1, 1, 1]
joint = { to = "inertial", kind = "free" }
[loop.anchor]
a = "inertial"
b = "base"
at_b = [1, 0, 0]
kind = "ball"
[loop.closure]""",
    )
    plant = Plant(loads(text))
    given = np.array([-math.cos(0.3), 0.0, 0.0, math.sin(0.3)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plant["base.attitude"] = 2 * given
        found = np.asarray(plant["base.attitude"])
    assert abs(found @ given) == pytest.approx(1.0, abs=1e-12)
    plant["base.position[1]"] = -0.5
    with pytest.warns(StartMovedWarning):
        assert closed(plant)
