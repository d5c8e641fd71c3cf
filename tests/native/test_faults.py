"""What a native FMU says of what it cannot do: a status, a message that names it, the state as it was."""

from __future__ import annotations

import math

import fmpy
import fmpy.validation
import numpy as np
import pytest

from fmu.client import client_of

DISCARD, ERROR = 2, 3


def refused(call, *arguments) -> None:
    with pytest.raises(Exception):  # noqa: B017, PT011 - FMPy's own type differs between versions
        call(*arguments)


def told(client, status: int, *words: str) -> None:
    assert client.said, "nothing was said"
    assert client.said[-1][0] == status
    assert all(word in client.last for word in words), client.last


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_an_input_that_is_not_finite(opened, value):
    client = opened().initialize()
    client.step()
    before = client.outputs()
    state = client.saved()
    refused(client.__setitem__, "panel.joint.torque", value)
    told(client, DISCARD, "'panel.joint.torque'", "finite")
    refused(client.step)
    told(client, DISCARD, "'panel.joint.torque'", "finite")
    client["panel.joint.torque"] = 0.0
    np.testing.assert_array_equal(client.outputs(), before)
    client.step()
    client.free(state)


@pytest.mark.parametrize("name", ["panel.mass", "bus.x.inertia"])
def test_a_parameter_below_its_minimum(opened, name):
    client = opened().initialize()
    client.step()
    refused(client.__setitem__, name, -1.0)
    told(client, DISCARD, f"'{name}'", "-1", "at least 0")
    refused(client.step)
    told(client, DISCARD, f"'{name}'")
    client.reset()
    client.initialize()
    client.step()


def test_an_inertia_that_no_body_has(opened):
    client = opened()
    client["panel.inertia[1,1]"] = -3.0
    client.enter()
    refused(client.fmu.exitInitializationMode)
    told(client, ERROR, "'panel'", "moments")
    client["panel.inertia[1,1]"] = 9.8
    client.fmu.exitInitializationMode()
    client.step()


def test_a_start_value_too_late_an_output_and_a_quaternion_of_zeros(opened):
    client = opened()
    refused(client.__setitem__, "system.mass", 1.0)
    told(client, ERROR, "'system.mass'", "output")
    client.set([f"bus.attitude[{k}]" for k in (1, 2, 3, 4)], [0.0] * 4)
    client.enter()
    refused(client.fmu.exitInitializationMode)
    told(client, ERROR, "'bus.attitude[1]'", "quaternion")
    client["bus.attitude[1]"] = 2.0
    client.fmu.exitInitializationMode()
    assert client["bus.attitude[1]"] == 1.0
    refused(client.__setitem__, "panel.joint.angle", 0.1)
    told(client, ERROR, "'panel.joint.angle'", "reset")


def test_calls_out_of_order(opened):
    client = opened()
    for call in (client.step, client.fmu.exitInitializationMode, client.fmu.terminate):
        refused(call)
        told(client, ERROR, "the FMU is instantiated")
    client.initialize()
    refused(client.fmu.exitInitializationMode)
    told(client, ERROR, "between steps")
    client.fmu.terminate()
    refused(client.step)
    told(client, ERROR, "terminated", "reset")
    assert client["system.mass"] == pytest.approx(516.0)
    client.reset()
    client.initialize()
    client.step()


def test_a_state_that_leaves_the_numbers_is_given_back(opened):
    client = opened().initialize()
    client.step()
    before = client.outputs()
    client["bus.torque[1]"] = 1e300
    refused(client.step, 10.0)
    told(client, DISCARD, "left the finite numbers", "the state is as it was")
    client["bus.torque[1]"] = 0.0
    np.testing.assert_array_equal(client.outputs(), before)
    client.reset()
    client.initialize()
    client.step()


def test_references_and_types(opened):
    client = opened().initialize()
    refused(client.get_reals, [10**6])
    told(client, ERROR, "no value reference 1000000")
    refused(client.get_reals, [client.place["panel.joint.locked"]])
    told(client, ERROR, "'panel.joint.locked' is a Boolean")
    refused(client.fmu.setBoolean, [client.place["panel.mass"]], [True])
    told(client, ERROR, "'panel.mass' is a floating-point")


@pytest.mark.parametrize("fmi", ["3.0"])
def test_elements_and_sizes_of_arrays(opened):
    client = opened().initialize()
    refused(client.fmu.getFloat64, [client.place["bus.omega"] + 1])
    told(client, ERROR, "'bus.omega[2]', an element")
    refused(client.fmu.setFloat64, [client.place["bus.torque"]], [1.0])
    told(client, ERROR, "3 values")


def test_log_categories(opened):
    client = opened()
    refused(client.fmu.setDebugLogging, True, ["logNothing"])
    told(client, ERROR, "'logNothing'", "logStatusError")
    client.fmu.setDebugLogging(True, ["logEvents"])
    client.initialize()
    said = len(client.said)
    refused(client.get_reals, [10**6])
    assert len(client.said) == said
    client.fmu.setDebugLogging(False, [])
    refused(client.get_reals, [10**6])
    assert len(client.said) == said + 1


def test_a_latch_is_logged_as_an_event(exchanged):
    client = exchanged(logging=True).initialize()
    client["panel.joint.locked"] = True
    client.fmu.enterContinuousTimeMode()
    x = client.states() + 0.1
    client.set_states(x)
    client.fmu.enterEventMode()
    assert client.event()
    assert client.said[-1][1:] == ("logEvents", "locked joints or closed loops stopped at 0 s")


def test_a_wrong_token_makes_no_instance(natives, fmi, tmp_path, capfd):
    client = client_of(natives[fmi], tmp_path / "unpacked")
    said: list[str] = []
    made = type(client.fmu)(**{**client._names(tmp_path / "unpacked"), "guid": "{0}"})
    with pytest.raises(Exception):  # noqa: B017, PT011
        made.instantiate(**({} if fmi == "2.0" else {"logMessage": lambda *a: said.append(a[-1].decode())}))
    assert fmi == "2.0" or "'{0}' is not this FMU's" in said[-1]
    client.fmu.freeInstance()


def test_validates_and_runs_by_name(natives, fmi):
    assert fmpy.validation.validate_fmu(str(natives[fmi])) == []
    found = fmpy.simulate_fmu(natives[fmi], stop_time=0.1, output=["system.mass"])
    assert found["system.mass"][-1] == pytest.approx(516.0)


def test_in_model_exchange(exchanged):
    client = exchanged().initialize()
    client.event()
    client.fmu.enterContinuousTimeMode()
    x = client.states()
    bad = x.copy()
    bad[3] = math.nan
    refused(client.set_states, bad)
    told(client, DISCARD, "finite", "no state was changed")
    np.testing.assert_array_equal(client.states(), x)
    refused(client.__setitem__, "panel.mass", 3.0)
    told(client, ERROR, "'panel.mass'", "event mode")
    refused(client.__setitem__, "panel.joint.locked", True)
    told(client, ERROR, "'panel.joint.locked'", "event mode")
    refused(client.fmu.setTime, math.nan)
    told(client, ERROR, "time")
