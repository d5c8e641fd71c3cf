"""Bad values and calls are told by name, change nothing and can be mended."""

from __future__ import annotations

import ctypes
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from fmpy.fmi1 import FMICallException

from fmu.client import ERROR, needs_front, refused, satellite
from mbdy.engine import Model
from mbdy.fmu import export_fmu

pytestmark = pytest.mark.parametrize("fmi", ["2.0", "3.0"])

WARNING, DISCARD = 1, 2

REAL = {"2.0": "Real", "3.0": "Float64"}
"""What a version of FMI calls the type of most variables."""
OTHERS = {
    "2.0": {"Integer": 1, "String": "one"},
    "3.0": {
        "Float32": 1.0, "Int8": 1, "UInt8": 1, "Int16": 1, "UInt16": 1, "Int32": 1, "UInt32": 1, "Int64": 1,
        "UInt64": 1, "String": "one",
    },
}  # fmt: skip
"""Types that no variable has, with a value of each."""


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
        client.get_reals([100_000])
    assert "value reference" in client.last
    with refused():
        client.set_reals([100_000], [1.0])
    assert "no value reference 100000" in client.last
    client["panel.joint.torque"] = 0.1  # a refusal is of one call
    client.step()


@needs_front
@pytest.mark.parametrize("place", [2**32 - 1, 2**32 - 20, 2**31])
def test_value_references_that_pythonfmu_passes_as_negative(opened, place):
    client = opened().initialize()
    for call in (
        lambda: client.get_reals([place]), lambda: client.fmu.getBoolean([place]),
        lambda: client.set_reals([place], [1.0]), lambda: client.fmu.setBoolean([place], [True]),
    ):  # fmt: skip
        with refused():
            call()
        assert f"no value reference {place}: they end at" in client.last
    client.step()


@needs_front
@pytest.mark.parametrize("name", ["panel.mass", "panel.joint.locked", "system.energy", None])
def test_types_that_no_variable_has(opened, name, fmi):
    client, clean = opened().initialize(), opened().initialize()
    vr = [client.place.get(name, 100_000)]
    words = f"'{name}' is of type {'Boolean' if name == 'panel.joint.locked' else REAL[fmi]}: "
    for sort, value in OTHERS[fmi].items():
        said = f"{words}it can be neither set nor read as {sort if fmi == '2.0' else 'another type'}"
        for call, arguments in ((f"get{sort}", (vr,)), (f"set{sort}", (vr, [value]))):
            with refused():
                getattr(client.fmu, call)(*arguments)
            assert (said if name else "no value reference") in client.last
    for one in (client, clean):
        one.step()
    np.testing.assert_array_equal(client.outputs(), clean.outputs())


@needs_front
@pytest.mark.parametrize("text", [b"\xff\xfe", None])
def test_a_text_that_is_none(opened, text, fmi):
    client = opened().initialize()
    places, texts, n = (ctypes.c_uint * 2)(0, 1), (ctypes.c_char_p * 2)(text, text), ctypes.c_size_t(2)
    call = getattr(client.fmu.dll, f"fmi{fmi[0]}SetString")
    assert call(ctypes.c_void_p(client.fmu.component), places, n, texts, *([n] if fmi == "3.0" else [])) == ERROR
    client.step()


@needs_front
def test_real_and_boolean_are_not_mixed(opened, fmi):
    client = opened().initialize()
    lock, mass = client.place["panel.joint.locked"], client.place["panel.mass"]
    for call, words in (
        (lambda: client.set_reals([lock], [0.5]), "'panel.joint.locked' is of type Boolean"),
        (lambda: client.get_reals([mass, lock]), "'panel.joint.locked' is of type Boolean"),
        (lambda: client.fmu.setBoolean([mass], [True]), f"'panel.mass' is of type {REAL[fmi]}"),
        (lambda: client.fmu.getBoolean([mass]), f"'panel.mass' is of type {REAL[fmi]}"),
    ):
        with refused():
            call()
        assert words in client.last
    assert (client["panel.mass"], client.fmu.getBoolean([lock])) == (12.0, [False])
    client.step()


def test_a_switch_between_its_values(opened):
    client = opened().initialize()
    state = json.loads(client.to_bytes(client.saved()))
    state["u"][client.place["panel.joint.locked"]] = 0.5
    client.restore(client.from_bytes(json.dumps(state).encode()))
    assert "input 'panel.joint.locked' is 0.5: set 0 or 1" in discarded(client)
    client["panel.joint.locked"] = True
    client.step()


def test_outputs_that_are_not_finite_keep_their_last_good_values(opened):
    client = opened().initialize()
    client.step()
    before = client.outputs()
    good = client["panel.joint.torque"]
    for _ in range(2):
        client["panel.joint.torque"] = 1e308
        client["bus.torque[1]"] = -1e308
        after = client.outputs()
        assert np.isfinite(after).all()
        assert (after == before).any()
    assert [status for status, *_ in client.said] == [WARNING]
    assert "keep their last good values" in client.last
    client["panel.joint.torque"], client["bus.torque[1]"] = good, 0.0
    np.testing.assert_array_equal(client.outputs(), before)
    client.step()
    assert len(client.said) == 1


def test_a_step_before_initialization_is_over(opened):
    client = opened()
    assert "the FMU is instantiated: steps come after exitInitializationMode" in discarded(client)
    client.enter()
    assert "the FMU is in initialization mode" in discarded(client)
    client["panel.joint.angle"] = 0.25
    client.fmu.exitInitializationMode()
    client.step()
    assert client["panel.joint.angle"] == pytest.approx(0.25, abs=1e-3)
    client.reset()
    client.time = 0.0
    assert "the FMU is instantiated" in discarded(client)
    client.initialize().step()


@needs_front
def test_calls_out_of_order(opened, fmi):
    client, clean = opened().initialize(), opened().initialize()
    for one in (client, clean):
        one.step()
    calls = [
        (client.fmu.enterInitializationMode, "enterInitializationMode"),
        (client.fmu.exitInitializationMode, "exitInitializationMode"),
    ]
    if fmi == "2.0":
        calls.append((lambda: client.fmu.setupExperiment(startTime=7.0, stopTime=8.0), "setupExperiment"))
    for call, name in calls:
        with refused():
            call()
        assert f"{name} changes nothing, the FMU is running" in client.last
    for one in (client, clean):
        one.step()
    np.testing.assert_array_equal(client.outputs(), clean.outputs())
    client.fmu.terminate()
    with refused():
        client.fmu.terminate()
    assert "terminate changes nothing, the FMU is terminated" in client.last
    assert "the FMU is terminated: reset it" in discarded(client)
    np.testing.assert_array_equal(client.outputs(), clean.outputs())
    client.reset()
    client.initialize().step()


@needs_front
@pytest.mark.parametrize(
    ("times", "words"),
    [
        ((math.nan, None), "the start time is nan s"), ((math.inf, None), "the start time is inf s"),
        ((1.0, 0.5), "the stop time is 0.5 s"), ((1.0, math.nan), "the stop time is nan s"),
    ],
)  # fmt: skip
def test_times_of_an_experiment_that_cannot_be(opened, times, words):
    client = opened()
    with refused():
        client.enter(*times)
    assert words in client.last
    client.initialize(start=3.0, stop=4.0).step()


def with_laws() -> Model:
    """The satellite with friction and stops at its panel."""
    model = satellite("with laws")
    bus, panel, boom = model.bodies
    joint = replace(
        panel.joint, friction=(0.1,), friction_rate=(0.01,),
        stop_stiffness=(100.0,), stop_lower=(-1.0,), stop_upper=(1.0,), stop_damping=(1.0,),
    )  # fmt: skip
    return replace(model, bodies=(bus, replace(panel, joint=joint), boom))


def test_parameters_of_laws_that_cannot_be(opened, tmp_path, fmi):
    client = opened(export_fmu(with_laws(), tmp_path / "laws.fmu", fmi=fmi)).initialize()
    for name, bad in (("panel.joint.friction_rate", 0.0), ("panel.joint.stop_lower", 2.0)):
        good = client[name]
        client[name] = bad
        said = discarded(client)
        assert "body" not in said
        assert repr(name) in said
        assert "a friction rate, stops or a harness out of order" in said
        client[name] = good
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
