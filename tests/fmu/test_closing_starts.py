"""Starts and closings of an FMU that a model file has words for: guesses, and axes that nothing says how to turn."""

from __future__ import annotations

import math

import numpy as np
import pytest

from flavours import Flavour
from fmu.client import DISCARD, answers, only
from mbdy.blocks import Plant
from mbdy.engine import loads

SLIDER = """
mbdy = 1
[body.l1]
mass = 1
com = [0.25, 0, 0]
inertia = [0.01, 0.02, 0.02]
joint = { to = "inertial", kind = "revolute", axis = [0, 0, 1] }
[body.l2]
mass = 1
com = [0.25, 0, 0]
inertia = [0.01, 0.02, 0.02]
joint = { to = "l1", kind = "revolute", axis = [0, 0, 1], at = [0.5, 0, 0] }
node.e = { at = [0.5, 0, 0] }
[body.sl]
mass = 1
inertia = [0.1, 0.1, 0.1]
joint = { to = "inertial", kind = "prismatic", axis = [1, 0, 0] }
[loop.p]
a = "l2.e"
b = "sl"
kind = "pin"
axis = [0, 0, 1]
[initial]
sl.joint.displacement = 0.4
[guess]
l1.joint.angle = -1
l2.joint.angle = 2
"""
NATIVE_2, NATIVE_3 = Flavour("native", "2.0"), pytest.param(Flavour("native", "3.0"), marks=pytest.mark.slow)
ANGLES = ["l1.joint.angle", "l2.joint.angle", "sl.joint.displacement"]
PINNED = """
mbdy = 1
[body.a]
mass = 300
inertia = [60, 80, 90]
joint = { to = "inertial", kind = "free" }
[body.b]
mass = 500
inertia = [150, 160, 120]
joint = { to = "inertial", kind = "free" }
[loop.dock]
a = "a"
at_a = [1, 0, 0]
b = "b"
at_b = [-1.2, 0, 0]
kind = "pin"
axis = [0, 0, 1]
closed = false
switchable = true
[initial]
b.position = [2.2, 0, 0]
b.attitude = [0, 1, 0, 0]
"""


@only([Flavour("python", "2.0"), NATIVE_2, NATIVE_3])
def test_a_guess_is_what_closing_begins_from(opened, export) -> None:
    """What is given stays to the bit, also where it is set; a guess that is set is given."""
    client, model = opened(export(loads(SLIDER))), loads(SLIDER)
    approximate = {v.name for v in client.description.modelVariables if v.initial == "approx"}
    assert {*ANGLES} <= approximate
    client.enter()
    for displacement in (0.4, 0.6):
        half = math.acos(displacement)
        client["sl.joint.displacement"] = displacement
        np.testing.assert_allclose(client.get(ANGLES), [-half, 2 * half, displacement], atol=1e-10)
        assert client[ANGLES[2]] == displacement
    client["sl.joint.displacement"] = 0.4
    plant = Plant(model)
    np.testing.assert_array_equal(client.get(ANGLES), [float(plant[name]) for name in ANGLES])
    client["l1.joint.angle"], client["l2.joint.angle"] = math.acos(0.3), -2 * math.acos(0.3)
    client["sl.joint.displacement"] = 0.3
    np.testing.assert_allclose(client.get(ANGLES), [math.acos(0.3), -2 * math.acos(0.3), 0.3], atol=1e-10)
    client.fmu.exitInitializationMode()
    client.step()


@only([NATIVE_2, NATIVE_3])
def test_opposed_axes_are_refused_in_model_exchange(exchanged, export) -> None:
    """By name at an event, after which the loop can be left open; not at the start, which moves, and not near them."""
    path = export(loads(PINNED))
    client = exchanged(path)
    client.enter()
    client["loop.dock.closed"] = True
    client.fmu.exitInitializationMode()  # a start moves as far as it must
    assert np.abs(client.get([f"loop.dock.residual[{k}]" for k in range(1, 6)])).max() < 1e-9
    client = exchanged(path).initialize()
    client.event()
    states = client.states()
    client["loop.dock.closed"] = True
    with answers(client, DISCARD, "loop.dock", "opposed"):
        client.event()
    client["loop.dock.closed"] = False
    client.event()
    np.testing.assert_array_equal(client.states(), states)
    x, at = states.copy(), Plant(loads(PINNED)).state_names.index("b.attitude[1]")
    x[at : at + 2] = math.sin(1e-3), math.cos(1e-3)
    client.fmu.enterContinuousTimeMode()
    client.set_states(x)
    client.fmu.enterEventMode()
    client["loop.dock.closed"] = True
    client.event()
    assert np.isfinite(client.rates()).all()
