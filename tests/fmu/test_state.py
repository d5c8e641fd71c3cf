"""Saved states hold everything that the next step depends on."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from fmpy.fmi1 import FMICallException

from fmu.client import satellite
from mbdy.fmu import export_fmu


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
    saved, time = client.fmu.getFMUstate(), client.time
    first = two_steps(client)
    client["panel.mass"] = 1.0
    client.fmu.setFMUstate(saved)
    client.time = time
    assert client["panel.mass"] == 17.0
    np.testing.assert_array_equal(two_steps(client), first)
    client.fmu.freeFMUstate(saved)


def test_same_bits_in_another_instance_from_bytes(opened):
    client = ready(opened())
    saved = client.fmu.getFMUstate()
    data, time = client.fmu.serializeFMUstate(saved), client.time
    first = two_steps(client)
    other = opened()
    other.fmu.setFMUstate(other.fmu.deSerializeFMUstate(data))
    other.time = time
    np.testing.assert_array_equal(two_steps(other), first)


def test_a_state_from_before_initialization_and_with_a_fault(opened):
    client = opened()
    client["panel.joint.angle"], client["bus.mass"] = 0.7, math.nan
    data = client.fmu.serializeFMUstate(client.fmu.getFMUstate())
    other = opened()
    other.fmu.setFMUstate(other.fmu.deSerializeFMUstate(data))
    other.initialize()
    assert "parameter 'bus.mass' is nan" in other.last
    other["bus.mass"] = 500.0
    other.step()
    assert other["panel.joint.angle"] == pytest.approx(0.7, abs=1e-4)


@pytest.mark.parametrize("data", [b"?", b"[1, 2]", b"\xff\x00", b"[" * 100_000, b'{"of": "\\ud800"}', b"null"])
def test_bytes_that_are_no_state(opened, data):
    refused(ready(opened()), lambda fmu: fmu.deSerializeFMUstate(data))


def test_a_state_of_another_model(opened, tmp_path):
    other = opened(export_fmu(satellite("another", mass=13.0), tmp_path / "another.fmu")).initialize()
    data = other.fmu.serializeFMUstate(other.fmu.getFMUstate())
    assert "mbdy_another_" in refused(ready(opened()), lambda fmu: fmu.deSerializeFMUstate(data))


def without(key: str):
    return lambda state: state.pop(key)


def changed(**entries):
    return lambda state: state.update(entries)


def element(vector: str, value):
    return lambda state: state[vector].__setitem__(0, value)


@pytest.mark.parametrize(
    "damage",
    [
        *(without(key) for key in ("x", "s", "u", "p", "y", "time", "stop", "phase", "started", "stale")),
        changed(more=1), changed(x=[]), changed(p=[1.0]), changed(y={}), changed(u=None), changed(s="s"),
        element("x", "0.0"), element("x", None), element("x", math.nan), element("x", math.inf), element("x", True),
        element("u", [0.0]), element("p", 10**400), element("y", math.nan),
        changed(stale=[1]), changed(stale=[0, 0, 0]), changed(stale=None), changed(stale=[False, True, False]),
        changed(time="soon"), changed(time=math.nan), changed(stop=math.nan), changed(stop=[]),
        changed(phase="elsewhere"), changed(phase=[]), changed(phase="instantiated"), changed(started=1),
        lambda state: state.update(p=[-1.0] * len(state["p"])), lambda state: state.update(x=[0.0] * len(state["x"])),
        element("p", math.nan),
    ],
)  # fmt: skip
def test_a_damaged_state(opened, damage):
    client, clean = ready(opened()), ready(opened())
    state = json.loads(client.fmu.serializeFMUstate(client.fmu.getFMUstate()))
    assert state["stale"] == [False] * 3
    damage(state)
    data = json.dumps(state).encode()
    assert "a damaged state was set" in refused(client, lambda fmu: fmu.deSerializeFMUstate(data))
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
    state = client.fmu.serializeFMUstate(client.fmu.getFMUstate())
    client.step()
    assert client["panel.joint.impulse"] == 0.0
    other = opened()
    for one in (client, other):
        one.fmu.setFMUstate(one.fmu.deSerializeFMUstate(state))
        assert one["panel.joint.impulse"] == impulse
        one["bus.torque[1]"] = 1.0  # outputs are evaluated anew
        assert one["panel.joint.impulse"] == impulse


def test_a_state_brings_a_terminated_instance_back(opened):
    client = ready(opened())
    saved = client.fmu.getFMUstate()
    client.fmu.terminate()
    client.fmu.setFMUstate(saved)
    client.step()


def refused(client, made) -> str:
    """The message about a foreign state: steps are discarded until a good one comes, nothing else changes."""
    own, before = client.fmu.getFMUstate(), client.outputs()
    client.fmu.setFMUstate(made(client.fmu))
    with pytest.raises(FMICallException):
        client.step()
    said = client.last
    assert "set one of its own" in said
    np.testing.assert_array_equal(client.outputs(), before)
    client.fmu.setFMUstate(own)
    client.step()
    return said
