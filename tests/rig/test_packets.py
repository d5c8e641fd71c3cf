"""Packets that must not act: counted by what is wrong with them, and nothing moves or stops."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuzz.rig import attacked
from fuzz.test_door import sanitized
from mbdy.blocks import VariableError
from mbdy.blocks.rig import Bias, Rig
from mbdy.engine import Model, OptionError, load
from mbdy.engine.core.cache import cache_folder
from rig.client import HEAD, SharedClient, UdpClient

SATELLITE = Path(__file__).resolve().parents[2] / "examples/quickstart/satellite.toml"
KEY = b"a key of this test"
Attack = Callable[[UdpClient, np.ndarray], bytes]


def _other(**fields: int) -> Attack:
    return lambda client, u: client.packet(u, **fields)


def _odd(value: float) -> Attack:
    return lambda client, u: client.packet(np.where(np.arange(len(u)) == 0, value, u))


def _flipped(client: UdpClient, u: np.ndarray) -> bytes:
    data = bytearray(client.packet(u))
    data[HEAD.size] ^= 1
    return bytes(data)


ATTACKS: dict[str, tuple[str, Attack]] = {
    "nothing": ("truncated", lambda client, u: b""),
    "header cut off": ("truncated", lambda client, u: client.packet(u)[:63]),
    "doubles cut off": ("truncated", lambda client, u: client.packet(u)[:-33]),
    "seal cut off": ("truncated", lambda client, u: client.packet(u)[:-1]),
    "too long": ("malformed", lambda client, u: client.packet(u) + b"\0"),
    "other magic": ("malformed", _other(magic=1)),
    "other version": ("malformed", _other(version=2)),
    "outputs": ("malformed", _other(kind=2)),
    "unknown kind": ("malformed", _other(kind=9)),
    "other count": ("malformed", _other(count=3)),
    "huge count": ("malformed", _other(count=0xFFFFFFFF)),
    "not a number": ("malformed", _odd(np.nan)),
    "infinity": ("malformed", _odd(-np.inf)),
    "no such fault": ("malformed", lambda client, u: client.packet([5.0, 1.0], kind=3)),
    "another model's": ("other_layout", _other(layout=7)),
    "flipped": ("forged", _flipped),
    "without a key's seal": ("forged", lambda client, u: client.packet(u)[:-32] + bytes(32)),
    "repeated": ("replayed", lambda client, u: client.packet(u, sequence=3)),
    "long ago": ("replayed", lambda client, u: client.packet(u, sequence=0)),
    "another controller's": ("other_session", _other(session=12345)),
    "answer of before": ("late", lambda client, u: client.packet(u, answers=client.last.sequence - 1)),
    "answer of an earlier run": ("late", lambda client, u: client.packet(u, answers=5)),
    "answer of what was not sent": ("late", lambda client, u: client.packet(u, answers=client.last.sequence + 1)),
}


@pytest.fixture(scope="module")
def model() -> Model:
    return load(SATELLITE)


def test_packets_that_must_not_act_are_counted_and_do_not(model: Model) -> None:
    with Rig(
        model, rate="1 kHz", keeper="lockstep", udp="127.0.0.1:0", key=KEY, allow="127.0.0.1", watchdog="1 min"
    ) as rig:
        address = rig.address
        assert address is not None
        client, stranger = (
            UdpClient(rig.layout, address, key=KEY),
            UdpClient(rig.layout, address, key=KEY, at="127.0.0.2"),
        )
        u = rig.plant.inputs.values.copy()
        rig.start()
        client.greet()
        for _ in range(100):
            before = client.step(u)
        for name, (counter, attack) in ATTACKS.items():
            counters = rig.counters
            client.send(attack(client, u + 1.0))
            after = client.step(u)
            wanted = counters | {counter: counters[counter] + 1}
            for moved in ("acted", "cycles", "sent"):
                wanted[moved] += 1
            assert rig.counters | {"sent": 0} == wanted | {"sent": 0}, name
            assert after.sequence == before.sequence + 1, name
            before = after
        counters = rig.counters
        stranger.send(client.packet(u))
        client.step(u)
        assert rig.counters["foreign"] == counters["foreign"] + 1
        assert rig.counters["acted"] == counters["acted"] + 1
        for one in (client, stranger):
            one.close()


def test_packets_that_were_overtaken_do_not_act(model: Model) -> None:
    with Rig(model, rate="1 kHz", keeper="lockstep", udp="127.0.0.1:0") as rig:
        assert rig.address
        client = UdpClient(rig.layout, rig.address)
        rig.start()
        client.greet()
        overtaken = client.packet(rig.plant.inputs.values)
        client.step(rig.plant.inputs.values)
        client.send(overtaken)
        client.step(rig.plant.inputs.values)
        client.send(overtaken)
        client.step(rig.plant.inputs.values)
        assert (rig.counters["reordered"], rig.counters["replayed"]) == (1, 1)
        client.close()


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        ({"udp": "0.0.0.0:0"}, "allow"),
        ({"udp": "somewhere"}, "127.0.0.1:5001"),
        ({"udp": "127.0.0.1:70000"}, "127.0.0.1:5001"),
        ({"udp": "127.0.0.1:0", "allow": ["10.0.0.0/40"]}, "192.168.0.0/24"),
        ({"shared": "a/b"}, "letters"),
        ({"keeper": "lockstep"}, "give udp or shared"),
        ({"keeper": "clock"}, "choose one of"),
        ({"policy": "never"}, "choose one of"),
        ({"key": b"1234567"}, "8 to"),
        ({"factor": 0.0}, "positive"),
        ({"rate": "2 MHz"}, "1 us"),
        ({"rate": "1 ms"}, "Hz"),
        ({"udp": "127.0.0.1:0", "allow": ["127.0.0.1:65536"]}, "allow: "),
        ({"shared": 5}, "shared: .* 1 to 200"),
        ({"record": "x" * 201}, "record: .* 1 to 200"),
        ({"watchdog": 1e-12}, "watchdog: 1 ns"),
        ({"watchdog": 1e30}, "watchdog: 1 ns"),
        ({"grace": 2**64}, "grace: .* from 0 to 10000"),
        ({"priority": 100}, "priority: .* from 1 to 99"),
        ({"keeper": "lockstep", "shared": "mbdy-test-none", "priority": 0}, "priority: .* from 1 to 99"),
        ({"faults": [Bias("bus.omega", scale=1e200)]}, "1e[+]100"),
        ({"faults": [Bias("bus.omega", resolution=1e-300)]}, "1e-100"),
    ],
)
def test_what_cannot_be_is_refused_with_a_remedy(model: Model, options: dict[str, object], remedy: str) -> None:
    with pytest.raises(OptionError, match=remedy):
        Rig(model, **{"rate": 1000, **options})  # type: ignore[arg-type]


def test_calls_that_cannot_be_are_refused_with_a_remedy(model: Model) -> None:
    for value in ([0.0, np.nan, 0.0], [0.0, 0.0, np.inf]):
        with pytest.raises(VariableError, match=r"safe: .*bus.torque.*finite"):
            Rig(model, rate=1000, safe={"bus.torque": value})
    with Rig(model, rate=1000) as rig:
        with pytest.raises(OptionError, match="keeper='tick'"):
            rig.tick()
        with pytest.raises(OptionError, match="offset: "):
            rig.discipline("1 kg")


def _no_attack_acted(found: dict[str, Any], count: int) -> None:
    assert found["acted"] == found["steps"] == found["cycles"]
    assert sum(found["refused"].values()) == found["attacks"] >= count
    assert all(found["refused"].values()), found


def test_no_attack_of_many_acts() -> None:
    _no_attack_acted(attacked(3000, 1, SATELLITE), 3000)


@pytest.mark.slow
def test_sanitizers_find_nothing_in_attacks(tmp_path: Path) -> None:
    count, folder = 100_000, cache_folder()
    end = subprocess.run(
        [sys.executable, "-m", "fuzz.rig", str(count), "2", str(SATELLITE)],
        check=False, capture_output=True, text=True, timeout=1800, env=os.environ | sanitized(folder), cwd=tmp_path,
    )  # fmt: skip
    assert end.returncode == 0, end.stderr[-6000:]
    _no_attack_acted(json.loads(end.stdout), count)


def ticked(rig: Rig) -> None:
    """One tick, and the cycle that it makes: packets that come from now on are for the next."""
    cycles = rig.counters["cycles"]
    rig.tick()
    while rig.counters["cycles"] == cycles:
        time.sleep(1e-4)


def test_nobody_who_greets_takes_the_place_of_a_controller(model: Model) -> None:
    with Rig(model, rate="1 kHz", keeper="tick", udp="127.0.0.1:0", watchdog="1 min") as rig:
        assert rig.address
        client, *others = (UdpClient(rig.layout, rig.address) for _ in range(12))
        rig.start()
        ticked(rig)
        client.send(client.packet(rig.plant.inputs.values, answers=0))
        ticked(rig)
        client.receive()
        for one in others:  # before it acts, too
            one.send(one.packet(rig.plant.inputs.values, answers=0))
        client.send(client.packet(rig.plant.inputs.values))
        ticked(rig)
        client.receive()
        assert rig.counters["acted"] == 1
        for _ in range(2):
            for one in others:
                one.send(one.packet(rig.plant.inputs.values, answers=0))
            client.latest(0.05)
            cycles = rig.counters["cycles"]
            ticked(rig)
            outputs = client.receive()
            assert outputs
            assert round(1000 * outputs.time) == cycles + 1
        for one in (client, *others):
            one.close()


def test_what_others_write_into_shared_memory_moves_nothing(model: Model) -> None:
    name = "mbdy-test-written"
    with Rig(model, rate="1 kHz", keeper="lockstep", shared=name, record=f"{name}-ring") as rig:
        client = SharedClient(rig.layout, name)
        ring = np.memmap(Path("/dev/shm") / f"{name}-ring", np.uint32, "r+")
        rig.start()
        client.greet()
        for value in (0, 0xFFFFFFFF, 0x80000000):
            client.words[[0, 1, 2, 3, 5, 6, 7]] = value  # all of the head but ticks
            ring[:8] = value  # width and capacity too
            acted, cycles = rig.counters["acted"], rig.counters["cycles"]
            box = client.inputs // 4
            client.words[box + 1], client.words[box] = value, int(client.words[box]) + 2
            client.step(rig.plant.inputs.values)
            assert (rig.counters["acted"], rig.counters["cycles"]) == (acted + 1, cycles + 1)
        client.close()
