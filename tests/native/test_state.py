"""Saved states of a native FMU: complete, the same in another process, refused where they do not belong."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fmu.client import client_of, satellite
from mbdy.fmu import export_fmu


def shake(client, steps: int = 2) -> np.ndarray:
    rows = []
    for i in range(steps):
        client["panel.joint.torque"] = 0.3 + 0.1 * i
        client.step(0.0137)
        rows.append(client.outputs())
    return np.array(rows)


def test_the_same_steps_again_give_the_same_bits(opened):
    client = opened().initialize()
    client["panel.joint.locked"] = True
    client["panel.mass"] = 15.0
    client.step(0.01)
    state, time = client.saved(), client.time
    first = shake(client)
    client["panel.joint.locked"] = False
    client["panel.mass"] = 11.0
    client.step(0.2)
    client.restore(state)
    client.time = time
    np.testing.assert_array_equal(shake(client), first)
    assert client["system.initial.mass"] == pytest.approx(516.0)
    client.free(state)


def test_a_state_of_each_phase_is_that_phase(opened):
    client = opened()
    client["panel.joint.angle"] = 0.25
    instantiated = client.saved()
    client.enter()
    initializing = client.saved()
    client.fmu.exitInitializationMode()
    first = shake(client)
    for state, way in ((instantiated, client.initialize), (initializing, client.fmu.exitInitializationMode)):
        client.restore(state)
        way()
        client.time = 0.0
        np.testing.assert_array_equal(shake(client), first)
        client.free(state)


OTHER_PROCESS = """
import sys
import numpy as np
from fmu.client import client_of
from native.test_state import shake
from pathlib import Path
fmu, folder, state, begin, out = sys.argv[1:]
client = client_of(Path(fmu), Path(folder))
restored = client.from_bytes(Path(state).read_bytes())
client.restore(restored)
client.time = float(begin)
np.save(out, shake(client))
"""


def test_restored_in_another_process(opened, natives, fmi, tmp_path):
    client = opened().initialize()
    client["boom.joint.stiffness[1]"] = 250.0
    shake(client, 5)
    state = client.saved()
    (tmp_path / "state").write_bytes(client.to_bytes(state))
    begin = client.time
    wanted = shake(client, 4)[:2]
    arguments = [natives[fmi], tmp_path / "other", tmp_path / "state", repr(begin), tmp_path / "out.npy"]
    paths = [str(Path(path).absolute()) for path in ("engine", "blocks", "fmu_src", "app", "tests")]
    code = f"import sys; sys.path[:0] = {paths!r}\n{OTHER_PROCESS}"
    subprocess.run([sys.executable, "-c", code, *map(str, arguments)], check=True, timeout=120)
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), wanted)
    client.free(state)


@pytest.fixture(scope="module")
def heavier(tmp_path_factory):
    """The same structure with another number: another model."""
    folder = tmp_path_factory.mktemp("heavier")
    return {
        fmi: export_fmu(satellite(mass=13.0), folder / f"heavier{fmi[0]}.fmu", fmi=fmi, kind="native")
        for fmi in ("2.0", "3.0")
    }


def test_of_another_model_is_refused_with_a_message(opened, heavier, fmi, tmp_path):
    client, other = opened().initialize(), opened(heavier[fmi]).initialize()
    before = client.outputs()
    data = other.to_bytes(other.saved())
    with pytest.raises(Exception):  # noqa: B017, PT011 - FMPy's own type differs between versions
        client.from_bytes(data)
    assert "another model or version" in client.last
    with pytest.raises(Exception):  # noqa: B017, PT011
        client.restore(other.saved())
    assert "another model or version" in client.last
    np.testing.assert_array_equal(client.outputs(), before)
    client.step(0.01)


@pytest.mark.parametrize("damage", ["short", "long", "flipped", "text", "empty"])
def test_damaged_bytes_are_refused_with_a_message(opened, damage):
    client = opened().initialize()
    data = bytearray(client.to_bytes(client.saved()))
    before = client.outputs()
    data = {
        "short": data[:-8], "long": data + bytes(8), "flipped": data[:-20] + bytes([data[-20] ^ 4]) + data[-19:],
        "text": b"no state" * (len(data) // 8), "empty": b"",
    }[damage]  # fmt: skip
    with pytest.raises(Exception):  # noqa: B017, PT011
        client.from_bytes(bytes(data))
    assert "state" in client.last
    np.testing.assert_array_equal(client.outputs(), before)


def test_of_model_exchange_does_not_go_into_co_simulation(opened, exchanged):
    client, other = opened().initialize(), exchanged().initialize()
    with pytest.raises(Exception):  # noqa: B017, PT011
        client.from_bytes(other.to_bytes(other.saved()))
    assert "model exchange" in client.last


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


def test_instances_are_independent(opened, fmi):
    """Two of one FMU, their calls interleaved, as each would alone."""
    clients = [opened(), opened()]
    alone = []
    for k, client in enumerate(clients):
        client["panel.mass"] = 10.0 + k
        client.initialize()
        alone.append(shake(client, 6))
        client.reset()
        client["panel.mass"] = 10.0 + k
        client.initialize()
    together = [[], []]
    for i in range(6):
        for k, client in enumerate(clients):
            client["panel.joint.torque"] = 0.3 + 0.1 * i
            client.step(0.0137)
            together[k].append(client.outputs())
    np.testing.assert_array_equal(np.array(together), np.array(alone))


def test_lies_in_any_folder_and_needs_it_no_more(natives, fmi, tmp_path):
    """No resource is read: the name of the folder means nothing, and it may go."""
    folder = tmp_path / "a {b} %20 ä 'c'"
    client = client_of(natives[fmi], folder).initialize()
    shutil.rmtree(folder / "resources")
    client.step()
    client.fmu.freeInstance()
