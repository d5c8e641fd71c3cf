"""Bad values are told by name, by whatever needs them too, change nothing and can be mended."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from fmpy.fmi1 import FMICallException

from flavours import NATIVE
from fmu.client import CATEGORIES, DISCARD, ERROR, WARNING, answers, needs_front, only, satellite
from mbdy.blocks import VariableError
from mbdy.engine import Model

pytestmark = needs_front


def stepped(opened) -> tuple:
    """Two instances after a step; the second is not to be ill-treated."""
    clients = opened().initialize(), opened().initialize()
    for one in clients:
        one.step()
    return clients


def go_on_alike(*clients) -> None:
    for one in clients:
        one.step()
    np.testing.assert_array_equal(clients[0].outputs(), clients[1].outputs())


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("name", ["panel.joint.torque", "system.gravity[2]", "panel.inertia[1,2]", "bus.mass"])
def test_a_value_that_is_not_finite(opened, plant, name, value):
    client, clean = stepped(opened)
    before, good = client.outputs(), client[name]
    words = f"'{name}': must be finite, got {value}"
    for call in (lambda: client.__setitem__(name, value), client.step, client.outputs):
        with answers(client, DISCARD, words):
            call()
    with pytest.raises(VariableError) as caught:
        plant[name] = value
    assert str(caught.value) == client.last
    client[name] = good
    np.testing.assert_array_equal(client.outputs(), before)
    go_on_alike(client, clean)


@pytest.mark.parametrize("name", ["panel.mass", "bus.x.inertia"])
def test_a_parameter_below_its_minimum(opened, name):
    client, clean = stepped(opened)
    good, words = client[name], f"parameter '{name}': must be >= 0, got -1"
    for call in (lambda: client.__setitem__(name, -1.0), client.step):
        with answers(client, DISCARD, words):
            call()
    client[name] = good
    go_on_alike(client, clean)
    with answers(client, DISCARD, words):
        client[name] = -1.0
    client.reset()
    client.initialize().step()


def test_an_axis_of_zero(opened):
    client = opened().initialize()
    client["panel.joint.axis[2]"] = 0.0
    with answers(client, DISCARD, "parameter 'panel.joint.axis': must not be zero, got [0, 0, 0]"):
        client.step()
    client["panel.joint.axis[1]"] = 1.0
    client.step()


def test_an_inertia_that_no_body_has(opened):
    client = opened()
    client["panel.inertia[1,1]"] = -3.0
    client.enter()
    with answers(client, ERROR, "parameter 'panel.inertia': must have no negative principal moment"):
        client.fmu.exitInitializationMode()
    client["panel.inertia[1,1]"] = 9.8
    client.fmu.exitInitializationMode()
    client.step()


def with_laws() -> Model:
    """The satellite with friction and stops at its panel."""
    model = satellite("with laws")
    bus, panel, boom = model.bodies
    joint = replace(
        panel.joint, friction=(0.1,), friction_rate=(0.01,),
        stop_stiffness=(100.0,), stop_lower=(-1.0,), stop_upper=(1.0,), stop_damping=(1.0,),
    )  # fmt: skip
    return replace(model, bodies=(bus, replace(panel, joint=joint), boom))


def test_parameters_of_laws_that_cannot_be(opened, export):
    client = opened(export(with_laws())).initialize()
    for name, bad, rule in (
        ("panel.joint.friction_rate", 0.0, "must be > 0, got 0"),
        ("panel.joint.stop_lower", 2.0, "must be below 'panel.joint.stop_upper', got 2"),
    ):
        good = client[name]
        client[name] = bad
        with answers(client, DISCARD, f"parameter '{name}': {rule}"):
            client.step()
        client[name] = good
        client.step()


def test_a_start_value_that_is_not_finite(opened):
    client, words = opened(), "start value 'panel.joint.angle': must be finite, got nan"
    with answers(client, DISCARD, words):
        client["panel.joint.angle"] = math.nan
    client.enter()
    with answers(client, DISCARD, words):
        client.outputs()
    with answers(client, ERROR, words):
        client.fmu.exitInitializationMode()
    client["panel.joint.angle"] = 0.25
    client.fmu.exitInitializationMode()
    client.step()
    assert client["panel.joint.angle"] == pytest.approx(0.25, abs=1e-3)


def test_a_quaternion_of_zeros(opened):
    client = opened()
    client.set([f"bus.attitude[{k}]" for k in (1, 2, 3, 4)], [0.0] * 4)
    client.enter()
    with answers(client, ERROR, "start value 'bus.attitude': a quaternion must not be zero"):
        client.fmu.exitInitializationMode()
    client["bus.attitude[3]"] = 2.0
    client.fmu.exitInitializationMode()
    assert client["bus.attitude[3]"] == 1.0
    client.step()


def test_a_state_set_too_late(opened):
    client, clean = stepped(opened)
    with answers(client, ERROR, "'panel.joint.angle' not set", "before the first step only", "reset"):
        client["panel.joint.angle"] = 2.0
    go_on_alike(client, clean)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("system.energy", "it is an output and has no start value"),
        ("system.initial.mass", "it is calculated from the model and has no start value"),
    ],
)
def test_what_cannot_be_set(opened, name, words):
    client = opened()
    with answers(client, ERROR, f"'{name}' not set: {words}"):
        client[name] = 2.0
    client.initialize().step()


def test_outputs_that_are_not_finite_are_refused(opened):
    client, clean = stepped(opened)
    before, good = client.outputs(), client["panel.joint.torque"]
    client["panel.joint.torque"], client["bus.torque[1]"] = 1e308, -1e308
    for _ in range(2):
        with answers(client, DISCARD, "no finite number follows for '", "input 'panel.joint.torque' is 1e+308"):
            client.outputs()
    assert (client["panel.joint.torque"], client["bus.torque[1]"]) == (1e308, -1e308)
    client["panel.joint.torque"], client["bus.torque[1]"] = good, 0.0
    np.testing.assert_array_equal(client.outputs(), before)
    go_on_alike(client, clean)


@pytest.mark.parametrize("size", [0.0, -1e-3, math.nan, math.inf, 1e7, 1e10])
def test_a_step_that_is_no_step(opened, size):
    client, clean = stepped(opened)
    words = "communication step size: must be positive, finite and at most 1e9 internal steps"
    with answers(client, DISCARD, words, f"got {size:g} s"):
        client.step(size)
    client.time = clean.time
    go_on_alike(client, clean)


@pytest.mark.parametrize(
    ("name", "value", "size"), [("panel.joint.torque", 1e200, 0.1), ("bus.torque[1]", 1e300, 10.0)]
)
def test_a_state_that_leaves_the_numbers_is_given_back(opened, name, value, size):
    client, clean = stepped(opened)
    before, good = client.outputs(), client[name]
    client[name] = value
    with answers(client, DISCARD, "left the finite numbers", "the state is as it was"):
        client.step(size)
    client[name] = good
    np.testing.assert_array_equal(client.outputs(), before)
    go_on_alike(client, clean)
    client.reset()
    client.initialize().step()


def test_an_inertia_that_no_body_has_is_told_once_and_used(opened):
    client = opened()
    client["panel.inertia[1,1]"] = 30.0  # beside 0.4 and 10.1
    client.initialize()
    client.step()
    told = client.said[-1]
    assert told[:2] == (WARNING, CATEGORIES[WARNING])
    assert "'panel.inertia': principal moments 0.4, 10.1, 30 kg.m2 break the triangle inequality" in told[2]
    client["panel.mass"] = 13.0
    client.step()
    client["panel.inertia[1,1]"] = 9.8
    client.step()
    assert client.said == [told]
    client["panel.inertia[3,3]"] = 11.0
    client.step()
    assert "break the triangle inequality" in client.last
    assert len(client.said) == 2


def test_nothing_is_said_in_a_good_run(opened):
    client = opened(logging=True).initialize()
    for _ in range(5):
        client.step()
    client.fmu.terminate()
    assert client.said == []


@only(NATIVE)
def test_log_categories(opened):
    client = opened()
    with answers(client, ERROR, "'logNothing'", "logStatusError"):
        client.fmu.setDebugLogging(True, ["logNothing"])
    client.fmu.setDebugLogging(True, ["logEvents"])
    client.initialize()
    with pytest.raises(FMICallException):
        client.get_reals([10**6])
    assert len(client.said) == 1
    client.fmu.setDebugLogging(False, [])
    with answers(client, ERROR):
        client.get_reals([10**6])
