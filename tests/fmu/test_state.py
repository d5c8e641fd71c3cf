"""Saved states hold everything that the next step depends on."""

from __future__ import annotations

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


@pytest.mark.parametrize("data", [b"?", b"[1, 2]", b"\xff\x00"])
def test_bytes_that_are_no_state(opened, data):
    refused(ready(opened()), lambda fmu: fmu.deSerializeFMUstate(data))


def test_a_state_of_another_model(opened, tmp_path):
    other = opened(export_fmu(satellite("another", mass=13.0), tmp_path / "another.fmu")).initialize()
    data = other.fmu.serializeFMUstate(other.fmu.getFMUstate())
    assert "mbdy_another_" in refused(ready(opened()), lambda fmu: fmu.deSerializeFMUstate(data))


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
