"""Saved states hold everything that the next step depends on."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from fmpy.fmi1 import FMICallException

from fmu.client import needs_front, satellite
from fmu.client import refused as called_off
from mbdy.fmu import export_fmu

pytestmark = pytest.mark.parametrize("fmi", ["2.0", "3.0"])


def two_steps(client) -> np.ndarray:
    client.step()
    client["bus.torque[2]"] = 3.0
    client.step(2.5e-3)
    return client.outputs()


def ready(client):
    client["panel.joint.angle"] = 0.9
    client.initialize()
    client["panel.mass"] = 17.0
    client["panel.joint.torque"] = 0.4
    client.step()
    return client


def test_same_bits_after_a_state_is_restored(opened):
    client = ready(opened())
    saved, time = client.saved(), client.time
    first = two_steps(client)
    client["panel.mass"] = 1.0
    client.restore(saved)
    client.time = time
    assert client["panel.mass"] == 17.0
    np.testing.assert_array_equal(two_steps(client), first)
    client.free(saved)


def test_same_bits_in_another_instance_from_bytes(opened):
    client = ready(opened())
    saved = client.saved()
    data, time = client.to_bytes(saved), client.time
    first = two_steps(client)
    other = opened()
    other.restore(other.from_bytes(data))
    other.time = time
    np.testing.assert_array_equal(two_steps(other), first)


def test_a_state_from_before_initialization_and_with_a_fault(opened):
    client = opened()
    client["panel.joint.angle"], client["bus.mass"] = 0.7, math.nan
    data = client.to_bytes(client.saved())
    other = opened()
    other.restore(other.from_bytes(data))
    other.initialize()
    assert "parameter 'bus.mass' is nan" in other.last
    other["bus.mass"] = 500.0
    other.step()
    assert other["panel.joint.angle"] == pytest.approx(0.7, abs=1e-4)


@pytest.mark.parametrize("data", [b"?", b"[1, 2]", b"\xff\x00", b"[" * 100_000, b'{"of": "\\ud800"}', b"null"])
def test_bytes_that_are_no_state(opened, data):
    refused(ready(opened()), lambda client: client.from_bytes(data))


def test_a_state_of_another_model(opened, tmp_path, fmi):
    other = opened(export_fmu(satellite("another", mass=13.0), tmp_path / "another.fmu", fmi=fmi)).initialize()
    data = other.to_bytes(other.saved())
    assert "mbdy_another_" in refused(ready(opened()), lambda client: client.from_bytes(data))


def without(key: str):
    return lambda state: state.pop(key)


def changed(**entries):
    return lambda state: state.update(entries)


def element(vector: str, value):
    return lambda state: state[vector].__setitem__(0, value)


@pytest.mark.parametrize(
    "damage",
    [
        *(without(key) for key in ("x", "s", "u", "p", "y", "time", "stop", "phase", "started", "stale", "initial")),
        changed(more=1), changed(x=[]), changed(p=[1.0]), changed(y={}), changed(u=None), changed(s="s"),
        element("x", "0.0"), element("x", None), element("x", math.nan), element("x", math.inf), element("x", True),
        element("u", [0.0]), element("p", 10**400), element("y", math.nan),
        changed(stale=[1]), changed(stale=[0, 0, 0]), changed(stale=None), changed(stale=[False, True, False]),
        changed(time="soon"), changed(time=math.nan), changed(stop=math.nan), changed(stop=[]),
        changed(phase="elsewhere"), changed(phase=[]), changed(phase="instantiated"), changed(started=1),
        lambda state: state.update(p=[-1.0] * len(state["p"])), lambda state: state.update(x=[0.0] * len(state["x"])),
        element("p", math.nan), element("initial", math.nan), changed(initial=[]), changed(initial="none"),
    ],
)  # fmt: skip
def test_a_damaged_state(opened, damage):
    client, clean = ready(opened()), ready(opened())
    state = json.loads(client.to_bytes(client.saved()))
    assert state["stale"] == [False] * 3
    damage(state)
    data = json.dumps(state).encode()
    assert "a damaged state was set" in refused(client, lambda client: client.from_bytes(data))
    clean.step()
    np.testing.assert_array_equal(client.outputs(), clean.outputs())


def test_the_impulse_of_a_latch_is_part_of_a_state(opened):
    client = opened().initialize()
    client["panel.joint.torque"] = 5.0
    client.step()
    client["panel.joint.locked"] = True
    client.step()
    impulse = client["panel.joint.impulse"]
    assert impulse != 0.0
    state = client.to_bytes(client.saved())
    client.step()
    assert client["panel.joint.impulse"] == 0.0
    other = opened()
    for one in (client, other):
        one.restore(one.from_bytes(state))
        assert one["panel.joint.impulse"] == impulse
        one["bus.torque[1]"] = 1.0  # outputs are evaluated anew
        assert one["panel.joint.impulse"] == impulse


def test_a_state_brings_a_terminated_instance_back(opened):
    client = ready(opened())
    saved = client.saved()
    client.fmu.terminate()
    client.restore(saved)
    client.step()


def refused(client, made) -> str:
    """The message about a foreign state: steps are discarded until a good one comes, nothing else changes."""
    own, before = client.saved(), client.outputs()
    client.restore(made(client))
    with pytest.raises(FMICallException):
        client.step()
    said = client.last
    assert "set one of its own" in said
    np.testing.assert_array_equal(client.outputs(), before)
    client.restore(own)
    client.step()
    return said


CALCULATED = {"mass": 1, "centre_of_mass": 3, "momentum": 3, "angular_momentum": 3, "energy": 1}


def initial(client) -> tuple[np.ndarray, np.ndarray]:
    """The calculated parameters, and the outputs that they are taken from."""
    names = [f"{n}[{k + 1}]" if size > 1 else n for n, size in CALCULATED.items() for k in range(size)]
    return tuple(client.get([f"system{part}.{name}" for name in names]) for part in (".initial", ""))


def test_calculated_parameters_are_outputs_as_initialization_left_them(opened):
    client = opened()
    assert client.names("calculatedParameter") == [
        f"system.initial.{n}[{k + 1}]" if size > 1 else f"system.initial.{n}"
        for n, size in CALCULATED.items() for k in range(size)
    ]  # fmt: skip
    np.testing.assert_array_equal(*initial(client))
    client["panel.mass"], client["panel.joint.angle"] = 20.0, 0.9
    client.enter()
    client["bus.omega[3]"] = 0.1
    now, outputs = initial(client)
    np.testing.assert_array_equal(now, outputs)
    assert now[0] == 524.0
    client.fmu.exitInitializationMode()
    client["panel.mass"], client["bus.force[1]"] = 30.0, 100.0
    for _ in range(3):
        client.step()
        after, outputs = initial(client)
        np.testing.assert_array_equal(after, now)
    assert outputs[0] == 534.0
    client.reset()
    np.testing.assert_array_equal(*initial(client))
    assert client["system.initial.mass"] == 516.0


def test_calculated_parameters_are_part_of_a_state(opened):
    client, other = ready(opened()), opened()
    before, _ = initial(client)
    other["panel.mass"] = 1.0
    other.initialize()
    other.restore(other.from_bytes(client.to_bytes(client.saved())))
    np.testing.assert_array_equal(initial(other)[0], before)
    fresh = other.to_bytes(opened().saved())
    other.restore(other.from_bytes(fresh))
    other.initialize()
    assert other["system.initial.mass"] == 516.0


def test_calculated_parameters_wait_for_inputs_that_are_numbers(opened):
    client = opened()
    client["bus.force[1]"] = math.nan
    client.initialize()
    client["bus.force[1]"] = 0.0
    client.step()
    assert client["system.initial.mass"] == 516.0


@needs_front
def test_calculated_parameters_cannot_be_set(opened):
    client = opened()
    with called_off():
        client["system.initial.mass"] = 2.0
    assert "'system.initial.mass' is calculated and cannot be set to 2.0" in client.last
    client.initialize().step()


@needs_front
def test_no_state_is_refused_and_a_state_is_freed_once(opened):
    client = ready(opened())
    with called_off():
        client.restore(None)
    saved = client.saved()
    for _ in range(2):
        client.free(saved)
        assert saved.value is None
    client.step()
