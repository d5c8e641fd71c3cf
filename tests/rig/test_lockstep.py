"""A plant in real time: lock-step to the bit, packets that act and that do not, ticks, faults on purpose."""

from __future__ import annotations

import ctypes
import hashlib
import hmac
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mbdy.blocks import Plant, simulate
from mbdy.blocks.rig import Rig
from mbdy.blocks.rig.library import rig_functions
from mbdy.engine import Model, load
from rig.client import Client, SharedClient, UdpClient

SATELLITE = Path(__file__).resolve().parents[2] / "examples/quickstart/satellite.toml"
GAIN = 20.0
"""[N.m.s/rad] From the satellite's rate to the torque on it."""
UDP: dict[str, Any] = {"udp": "127.0.0.1:0"}


@pytest.fixture(scope="module")
def model() -> Model:
    return load(SATELLITE)


@contextmanager
def client_of(rig: Rig, name: str | None = None, **options: Any) -> Iterator[Client]:
    address = rig.address
    client = UdpClient(rig.layout, address, **options) if address else SharedClient(rig.layout, str(name), **options)
    try:
        yield client
    finally:
        client.close()


def law(rig: Rig) -> Callable[[np.ndarray], np.ndarray]:
    """The inputs (n_u) of a rate controller for the outputs (n_y)."""
    ports = rig.plant.ports
    torque, omega = (
        slice(v.offset, v.offset + v.size) for v in map(ports.by_name.get, ("bus.torque", "bus.omega")) if v
    )
    start = rig.plant.inputs.values.copy()

    def inputs(y: np.ndarray) -> np.ndarray:
        u = start.copy()
        u[torque] = -GAIN * y[omega]
        return u

    return inputs


def driven(rig: Rig, client: Client, steps: int) -> np.ndarray:
    """Outputs (steps + 1, n_y) of a lock-step run under the rate controller."""
    control, rig_time = law(rig), steps * rig.period
    rig.start(rig_time)
    y = client.greet()
    rows = [y.values]
    for _ in range(steps):
        y = client.step(control(y.values))
        rows.append(y.values)
    result = rig.wait()
    assert result.end == "done"
    assert result.counters["acted"] == result.counters["cycles"] == steps
    assert result.time == pytest.approx(rig_time, rel=1e-12)
    return np.array(rows)


def simulated(model: Model, steps: int, period: float) -> np.ndarray:
    """What the controller of `simulate` sees of the same run."""
    rows: list[np.ndarray] = []

    def controller(_: float, y: Any) -> dict[str, Any]:
        rows.append(y.values.copy())
        return {"bus.torque": -GAIN * y["bus.omega"]}

    end = steps * period
    simulate(model, until=end, every=end, sample=period, controller=controller)
    return np.array(rows)


@pytest.mark.parametrize(
    ("where", "steps"),
    [("udp", 1000), ("shared", 1000), *(pytest.param(by, 100_000, marks=pytest.mark.slow) for by in ("udp", "shared"))],
)
def test_lockstep_has_the_bits_of_simulate_and_of_a_plant(model: Model, where: str, steps: int) -> None:
    wanted = simulated(model, steps, 1e-3)
    name = "mbdy-test-lockstep"
    with Rig(model, rate="1 kHz", keeper="lockstep", **(UDP if where == "udp" else {"shared": name})) as rig:
        control = law(rig)
        with client_of(rig, name) as client:
            found = driven(rig, client, steps)
        np.testing.assert_array_equal(found, wanted)
    plant = Plant(model)
    y = plant.outputs()
    for row in found[: min(steps, 2000)]:
        np.testing.assert_array_equal(y.values, row)
        plant.inputs.values[:] = control(y.values)
        y = plant.step(1e-3)


@pytest.mark.parametrize("size", [0, 1, 55, 56, 63, 64, 65, 119, 120, 1000])
def test_seals_are_hmac_of_sha256(size: int) -> None:
    random = np.random.default_rng(size)
    for key in (random.bytes(n) for n in (1, 32, 64, 65, 200)):
        data, seal = random.bytes(size), ctypes.create_string_buffer(32)
        rig_functions().rig_seal(key, len(key), data, size, seal)
        assert seal.raw == hmac.new(key, data, hashlib.sha256).digest()


@pytest.mark.parametrize("where", ["udp", "shared"])
def test_a_controller_that_dies_in_lockstep_is_followed_by_another(model: Model, where: str) -> None:
    wanted, name, lives, each = simulated(model, 15, 1e-3), "mbdy-test-lives", 5, 3
    options = UDP if where == "udp" else {"shared": name}
    with Rig(model, rate="1 kHz", keeper="lockstep", watchdog="20 ms", **options) as rig:
        control, rows = law(rig), []
        rig.start(lives * each * 1e-3)
        for _ in range(lives):
            with client_of(rig, name, timeout=0.03) as client:
                y = client.greet()
                for _ in range(each):
                    rows.append(y.values)
                    y = client.step(control(y.values))
                if isinstance(client, SharedClient):
                    client.words[client.inputs // 4] |= 1  # dies while it writes
        assert rig.wait().counters["acted"] == lives * each
    np.testing.assert_array_equal([*rows, y.values], wanted)
