"""Saved states hold all that the next step depends on, go into other processes, are refused where they do not belong.

Their bytes are the plant's own and mean nothing outside. pythonfmu cannot refuse bytes: a Python FMU refuses a state
when it is set.
"""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from fmpy.fmi1 import FMICallException

from flavours import NATIVE
from fmu.client import ERROR, answers, needs_front, only, satellite


def shake(client, steps: int = 2) -> np.ndarray:
    rows = []
    for i in range(steps):
        client["panel.joint.torque"] = 0.3 + 0.1 * i
        client.step(0.0137)
        rows.append(client.outputs())
    return np.array(rows)


def ready(client):
    """In the midst of a run, with what can be set before it and in it."""
    client["panel.joint.angle"] = 0.9
    client.initialize()
    client["panel.mass"] = 17.0
    client["panel.joint.locked"] = True
    client.step(0.01)
    return client


def test_the_same_steps_again_give_the_same_bits(opened):
    client = ready(opened())
    state, time = client.saved(), client.time
    first = shake(client)
    client["panel.joint.locked"] = False
    client["panel.mass"] = 11.0
    client.step(0.2)
    client.restore(state)
    client.time = time
    assert client["panel.mass"] == 17.0
    np.testing.assert_array_equal(shake(client), first)
    assert client["system.initial.mass"] == 516.0
    client.free(state)


def test_same_bits_in_another_instance_from_bytes(opened):
    client, other = ready(opened()), opened()
    data, time = client.to_bytes(client.saved()), client.time
    first = shake(client)
    other["panel.mass"] = 1.0
    other.initialize()
    other.restore(other.from_bytes(data))
    other.time = time
    np.testing.assert_array_equal(shake(other), first)
    calculated = client.names("calculatedParameter")
    np.testing.assert_array_equal(other.get(calculated), client.get(calculated))
    other.restore(other.from_bytes(opened().to_bytes(opened().saved())))
    other.initialize()
    assert (other["panel.mass"], other["system.initial.mass"]) == (12.0, 516.0)


def test_a_state_of_each_phase_is_that_phase(opened):
    client = opened()
    client["panel.joint.angle"] = 0.25
    instantiated = client.saved()
    client.enter()
    initializing = client.saved()
    client.fmu.exitInitializationMode()
    first = shake(client)
    running = client.saved()
    client.fmu.terminate()
    for state, way in ((instantiated, client.initialize), (initializing, client.fmu.exitInitializationMode)):
        client.restore(state)
        way()
        client.time = 0.0
        np.testing.assert_array_equal(shake(client), first)
        client.fmu.terminate()
        client.free(state)
    client.restore(running)
    client.step()
    client.free(running)


@needs_front
def test_a_state_with_a_fault_keeps_it(opened):
    client, other = opened(), opened()
    client["panel.joint.angle"] = 0.7
    with pytest.raises(FMICallException):
        client["bus.mass"] = math.nan
    other.restore(other.from_bytes(client.to_bytes(client.saved())))
    other.enter()
    with answers(other, ERROR, "parameter 'bus.mass': must be finite, got nan"):
        other.fmu.exitInitializationMode()
    other["bus.mass"] = 500.0
    other.fmu.exitInitializationMode()
    other.step()
    assert other["panel.joint.angle"] == pytest.approx(0.7, abs=1e-4)


def test_the_impulse_of_a_latch_is_part_of_a_state(opened):
    client, other = opened().initialize(), opened()
    client["panel.joint.torque"] = 5.0
    client.step()
    client["panel.joint.locked"] = True
    client.step()
    impulse = client["panel.joint.impulse"]
    assert impulse != 0.0
    state = client.to_bytes(client.saved())
    client.step()
    assert client["panel.joint.impulse"] == 0.0
    for one in (client, other):
        one.restore(one.from_bytes(state))
        assert one["panel.joint.impulse"] == impulse
        one["bus.torque[1]"] = 1.0  # outputs are evaluated anew
        assert one["panel.joint.impulse"] == impulse


OTHER_PROCESS = """
import sys
import numpy as np
from fmu.client import client_of
from fmu.test_state import shake
from pathlib import Path
fmu, folder, state, begin, out = sys.argv[1:]
client = client_of(Path(fmu), Path(folder))
restored = client.from_bytes(Path(state).read_bytes())
client.restore(restored)
client.time = float(begin)
np.save(out, shake(client))
"""


def test_restored_in_another_process(opened, fmu, tmp_path):
    client = opened().initialize()
    client["boom.joint.stiffness[1]"] = 250.0
    shake(client, 5)
    state = client.saved()
    (tmp_path / "state").write_bytes(client.to_bytes(state))
    begin = client.time
    wanted = shake(client, 4)[:2]
    arguments = [fmu, tmp_path / "other", tmp_path / "state", repr(begin), tmp_path / "out.npy"]
    paths = [str(Path(path).absolute()) for path in ("engine", "blocks", "fmu_src", "app", "tests")]
    code = f"import sys; sys.path[:0] = {paths!r}\n{OTHER_PROCESS}"
    subprocess.run([sys.executable, "-c", code, *map(str, arguments)], check=True, timeout=120)
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), wanted)
    client.free(state)


def refused(client, data: bytes, *words: str) -> None:
    """Bytes of a state that cannot be set: nothing changes."""
    own, before = client.saved(), client.outputs()
    with answers(client, ERROR, *words):
        client.restore(client.from_bytes(data))
    np.testing.assert_array_equal(client.outputs(), before)
    client.step()
    after = client.outputs()
    client.restore(own)
    client.time -= 1e-3
    client.step()
    np.testing.assert_array_equal(client.outputs(), after)
    client.free(own)


@needs_front
def test_of_another_model_is_refused(opened, export):
    """Of the same structure, with another number: another model."""
    other = opened(export(satellite(mass=13.0))).initialize()
    refused(ready(opened()), other.to_bytes(other.saved()), "another model or version", "set one of its own")


@needs_front
@pytest.mark.parametrize("data", [b"", b"?", b"\xff\x00" * 40, b"no state" * 400, bytes(10_000)])
def test_bytes_that_are_no_state(opened, data):
    refused(ready(opened()), data, "state")


HEADER = 80
"""Bytes before the numbers: what they are, of which model, how many, and their sum."""


@needs_front
@pytest.mark.parametrize("place", [0, 8, 58, 64, 72, HEADER, HEADER + 300, -1])
def test_a_state_with_one_bit_flipped(opened, place):
    client = ready(opened())
    data = bytearray(client.to_bytes(client.saved()))
    data[place] ^= 4
    refused(client, bytes(data), "state")


@needs_front
@pytest.mark.parametrize(
    "cut", [slice(0), slice(HEADER - 1), slice(HEADER), slice(-8), slice(-1), slice(1, None), slice(8, None)]
)
def test_a_state_cut_off(opened, cut):
    client = ready(opened())
    refused(client, client.to_bytes(client.saved())[cut], "state")


@needs_front
@pytest.mark.parametrize("more", [1, 8, 100_000])
def test_a_state_that_is_too_long(opened, more):
    client = ready(opened())
    data = client.to_bytes(client.saved())
    refused(client, data + bytes(more), "the saved state is damaged")
    refused(client, data + data, "the saved state is damaged")


@needs_front
def test_no_state_is_refused_and_a_state_is_freed_once(opened):
    client = ready(opened())
    with pytest.raises(FMICallException) as caught:
        client.restore(None)
    assert caught.value.status == ERROR
    saved = client.saved()
    for _ in range(2):
        client.free(saved)
        assert saved.value is None
    client.step()


@only(NATIVE)
def test_of_model_exchange_does_not_go_into_co_simulation(opened, exchanged):
    client, other = opened().initialize(), exchanged().initialize()
    with answers(client, ERROR, "of an instance for model exchange"):
        client.from_bytes(other.to_bytes(other.saved()))
    with answers(other, ERROR, "of an instance for co-simulation"):
        other.from_bytes(client.to_bytes(client.saved()))


@only(NATIVE)
def test_in_model_exchange(exchanged):
    client = exchanged().initialize()
    client.event()
    client.fmu.enterContinuousTimeMode()
    state = client.saved()
    x, dx = client.states(), client.rates()
    client.set_states(x + 0.1)
    client.restore(state)
    np.testing.assert_array_equal(client.states(), x)
    np.testing.assert_array_equal(client.rates(), dx)
    client.free(state)
