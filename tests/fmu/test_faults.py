"""Bad values and calls are told by name, change nothing and can be mended."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from fmpy.fmi1 import FMICallException

from mbdy.fmu.front import front

DISCARD, ERROR = 2, 3

needs_front = pytest.mark.skipif(front() is None, reason="no C compiler, or another platform: pythonfmu answers OK")


def discarded(client, size: float = 1e-3) -> str:
    """The message of a step that must be discarded and leave time and outputs alone."""
    client.said.clear()
    with pytest.raises(FMICallException) as caught:
        client.step(size)
    assert caught.value.status == DISCARD
    assert client.said[-1][:2] == (DISCARD, "logStatusDiscard")
    return client.last


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("name", ["panel.joint.torque", "system.gravity[2]", "panel.inertia[1,2]", "bus.mass"])
def test_a_value_that_is_not_finite(opened, name, value):
    client, clean = opened().initialize(), opened().initialize()
    for one in (client, clean):
        one.step()
    before, good = client.outputs(), client[name]
    client[name] = value
    said = discarded(client)
    assert repr(name) in said
    assert repr(value) in said
    assert "finite" in said or "at least" in said
    np.testing.assert_array_equal(client.outputs(), before)
    client[name] = good
    for one in (client, clean):
        one.step()
    np.testing.assert_array_equal(client.outputs(), clean.outputs())


def test_a_negative_mass(opened):
    client = opened().initialize()
    client["panel.mass"] = -2.0
    assert "parameter 'panel.mass' is -2.0: set it to at least 0.0" in discarded(client)
    client["panel.mass"] = 3.0
    client.step()


def test_an_axis_of_zero(opened):
    client = opened().initialize()
    client["panel.joint.axis[2]"] = 0.0
    said = discarded(client)
    assert "axis" in said
    assert "'panel.joint.axis[2]' = 0.0" in said
    client["panel.joint.axis[1]"] = 1.0
    client.step()


def test_a_start_value_that_is_not_finite(opened):
    client = opened()
    client["panel.joint.angle"] = math.nan
    client.initialize()
    assert "start value 'panel.joint.angle' is nan" in client.last
    assert "'panel.joint.angle'" in discarded(client)
    client["panel.joint.angle"] = 0.25
    client.step()
    assert client["panel.joint.angle"] == pytest.approx(0.25, abs=1e-3)


def test_a_quaternion_of_zeros(opened):
    client = opened()
    client["bus.attitude[1]"] = 0.0
    client.initialize()
    assert "start value 'bus.attitude' is a quaternion of zeros" in client.last
    client["bus.attitude[3]"] = 2.0
    client.step()
    assert client["bus.attitude[3]"] == pytest.approx(1.0, abs=1e-4)


@contextmanager
def refused() -> Iterator[None]:
    """A call that gets or sets a value and answers *error*."""
    with pytest.raises(FMICallException) as caught:
        yield
    assert caught.value.status == ERROR


@needs_front
def test_a_state_set_too_late(opened):
    client = opened().initialize()
    before = client.outputs()
    with refused():
        client["panel.joint.angle"] = 2.0
    assert "'panel.joint.angle' not set to 2.0" in client.last
    assert "reset" in client.last
    np.testing.assert_array_equal(client.outputs(), before)
    client.step()


@needs_front
def test_an_output_that_has_no_start(opened):
    client = opened()
    with refused():
        client["system.energy"] = 2.0
    assert "'system.energy' is an output" in client.last


@needs_front
def test_a_value_reference_that_does_not_exist(opened):
    client = opened().initialize()
    with refused():
        client.fmu.getReal([100_000])
    assert "value reference" in client.last
    with refused():
        client.fmu.setReal([100_000], [1.0])
    assert "no value reference 100000" in client.last
    client["panel.joint.torque"] = 0.1  # a refusal is of one call
    client.step()


@pytest.mark.parametrize("size", [0.0, -1e-3, math.nan, math.inf])
def test_a_step_that_is_no_step(opened, size):
    client = opened().initialize()
    assert "step size" in discarded(client, size)


def test_a_step_of_too_many(opened):
    assert "1e9 internal steps" in discarded(opened().initialize(), 1e7)


def test_time_that_jumps(opened):
    client = opened().initialize(start=5.0)
    client.step()
    client.time = 5.0
    assert "backwards from 5.001 s" in discarded(client)
    client.time = 5.1
    assert "ahead from 5.001 s" in discarded(client)
    client.time = 5.001 + 1e-13
    client.step()


def test_the_stop_time(opened):
    client = opened().initialize(stop=0.003)
    client.step(0.002)
    assert "past the stop time 0.003 s" in discarded(client, 0.0011)
    client.step(0.001 * (1 + 1e-12))


def test_a_state_that_leaves_the_finite_numbers(opened):
    client = opened().initialize()
    client.step()
    before = client.outputs()
    client["panel.joint.torque"] = 1e200
    said = discarded(client, 0.1)
    assert "left the finite numbers" in said
    client["panel.joint.torque"] = 0.0
    np.testing.assert_array_equal(client.outputs(), before)
    client.step()


def test_messages_are_clean_in_a_good_run(opened):
    client = opened(logging=True).initialize()
    for _ in range(5):
        client.step()
    client.fmu.terminate()
    assert client.said == []
