"""Who keeps the time: paces beside a monitor, policies for late cycles, ticks from outside, other clocks."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mbdy.blocks import Plant
from mbdy.blocks.rig import Rig, RigResult
from mbdy.blocks.rig.rig import clock
from mbdy.engine import Model, load
from rig.client import HELD, LATE, STOPPED, WATCHDOG, Outputs, UdpClient

SATELLITE = Path(__file__).resolve().parents[2] / "examples/quickstart/satellite.toml"
UDP: dict[str, Any] = {"udp": "127.0.0.1:0"}
GREET_EVERY = 1.0
"""[s] A monitor that is silent for long is told nothing more."""


@pytest.fixture(scope="module")
def model() -> Model:
    return load(SATELLITE)


def monitored(rig: Rig, until: float) -> tuple[RigResult, list[Outputs]]:
    """A run, and all packets that a listener got of it."""
    assert rig.address
    client = UdpClient(rig.layout, rig.address)
    rig.start(until)
    client.greet()
    greeted = time.monotonic()
    while client.last and not client.last.flags & STOPPED:
        if time.monotonic() - greeted > GREET_EVERY:
            client.send(client.packet(rig.plant.inputs.values, answers=0))
            greeted = time.monotonic()
        if client.receive(1.0) is None and rig.result.end != "running":
            break
    client.close()
    return rig.wait(), client.heard


@pytest.mark.parametrize(
    ("seconds", "load_of", "options"),
    [
        pytest.param(1.5, 0, {}, id="short"),
        pytest.param(20.0, 0, {}, id="paced", marks=pytest.mark.slow),
        pytest.param(10.0, 2, {"priority": None}, id="under load", marks=pytest.mark.slow),
        pytest.param(600.0, 0, {}, id="ten minutes", marks=pytest.mark.soak),
    ],
)
def test_no_step_is_lost_and_a_monitor_counts_the_same_late_cycles(
    model: Model, seconds: float, load_of: int, options: dict[str, Any]
) -> None:
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(load_of)]
    with Rig(model, rate="1 kHz", **UDP, **options) as rig:
        result, heard = monitored(rig, seconds)
    for one in others:
        one.kill()
        one.wait()
    steps = round(seconds * 1000)
    assert result.counters["cycles"] == steps
    assert result.counters["skipped"] == 0
    assert result.histograms["step"].count == steps
    assert result.time == pytest.approx(seconds, rel=1e-12)
    if heard[-1].flags & STOPPED:  # a monitor that the system left waiting may have lost some, the last among them
        assert heard[-1].time == pytest.approx(seconds, rel=1e-12)
    cycle = np.array([round(1000 * one.time) for one in heard])
    behind = 1e-9 * (np.array([one.sent for one in heard]) - result.began) - 1e-3 * cycle
    late = np.array([bool(one.flags & LATE) for one in heard])
    assert behind[1:].min() >= 0.0
    assert behind[len(behind) // 2 :].min() < 1e-3  # no drift: the clock is met again and again
    gaps = np.diff(cycle)
    assert gaps.min() == 1  # each once, in order
    if gaps.max() == 1:  # the monitor has missed none
        assert late.sum() == result.counters["missed"]
    near = 1e-4  # [s] between the loop's look at the clock and the packet's stamp
    assert (behind[late] > 1e-3 - 1e-9).all()
    assert (behind[~late] < 1e-3 + near).mean() > 0.99
    print(result.report())


def test_a_paced_controller_that_keeps_up_gives_the_bits_of_a_plant(model: Model) -> None:
    steps = 300
    with Rig(model, rate="200 Hz", **UDP) as rig:
        assert rig.address
        client = UdpClient(rig.layout, rig.address)
        torque = rig.plant.ports.by_name["bus.torque"].offset
        u = rig.plant.inputs.values.copy()
        rig.start(steps / 200)
        heard = [client.greet()]
        while not heard[-1].flags & STOPPED:
            u[torque] = 1e-3 * heard[-1].time
            client.send(client.packet(u))
            heard.append(client.receive() or heard[-1])
        result = rig.wait()
        client.close()
    assert result.counters["acted"] + result.counters["late"] >= len(heard) - 2
    answered = {one.time: one for one in heard}
    plant, commanded = Plant(model), 0.0
    for k in range(steps):
        after = answered.get((k + 1) * rig.period)
        assert after is not None or k + 1 < steps
        if after is not None and not after.flags & HELD:
            commanded = 1e-3 * (k * rig.period)
        plant.inputs.values[torque] = commanded
        y = plant.step(rig.period)
        if after is not None:
            np.testing.assert_array_equal(after.values, y.values)


POLICIES = {
    "catch-up": (5, 0, 4, "asked"),
    "skip": (5, 4, 1, "asked"),
    "hold": (1, 4, 1, "asked"),
    "stop": (1, 0, 1, "late"),
}
"""Of five ticks at once: cycles, skipped ticks, late cycles, the end."""


def _cycled(rig: Rig, cycles: int) -> int:
    for _ in range(400):
        if rig.counters["cycles"] >= cycles:
            break
        time.sleep(0.005)
    return rig.counters["cycles"]


def test_a_count_of_ticks_that_goes_back_begins_anew(model: Model) -> None:
    name = "mbdy-test-ticks"
    with Rig(model, rate="1 kHz", keeper="tick", shared=name) as rig:
        ticks = np.memmap(Path("/dev/shm") / name, np.uint32, "r+")[4:5]
        rig.start()
        for count in (5, 2):
            ticks[0] = count
            assert _cycled(rig, 5) == 5
            time.sleep(0.3)  # several looks of the loop
        assert rig.counters["cycles"] == 5
        rig.tick(3)
        assert _cycled(rig, 8) == 8


def test_answers_of_any_age_that_act_are_timed(model: Model) -> None:
    with Rig(model, rate="1 kHz", keeper="tick", grace=1000, **UDP) as rig:
        assert rig.address
        client = UdpClient(rig.layout, rig.address)
        u = rig.plant.inputs.values.copy()
        rig.start()
        client.send(client.packet(u, answers=0))
        while (first := client.receive(0.05)) is None:
            rig.tick()
        rig.tick(400)
        assert _cycled(rig, rig.counters["cycles"] + 300) >= 300
        client.send(client.packet(u, answers=first.sequence))
        for _ in range(400):
            if rig.counters["acted"]:
                break
            rig.tick()
            time.sleep(0.005)
        client.close()
        assert (rig.counters["acted"], rig.histograms["trip"].count) == (1, 1)


def test_a_slow_rig_is_warm_in_time_and_can_be_ended(model: Model) -> None:
    with Rig(model, rate="10 mHz") as rig:  # 200 steps of 100 s are too many
        rig.start()
        rig.stop()
        assert rig.wait().end == "asked"


@pytest.mark.parametrize("policy", POLICIES)
def test_policies_for_late_cycles(model: Model, policy: Any) -> None:
    cycles, skipped, late, end = POLICIES[policy]
    with Rig(model, rate="1 kHz", keeper="tick", policy=policy) as rig:
        rig.start()
        rig.tick(5)
        for _ in range(200):
            time.sleep(0.005)
            if rig.counters["cycles"] >= cycles and (end == "asked" or rig.result.end == end):
                break
        rig.stop()
        result = rig.wait()
    counters = result.counters
    assert (counters["cycles"], counters["skipped"], counters["late_cycles"], result.end) == (
        cycles,
        skipped,
        late,
        end,
    )
    plant = Plant(model)
    for _ in range(cycles):
        y = plant.step(1e-3)
    np.testing.assert_array_equal(rig.plant.outputs().values, y.values)
    assert rig.plant.time == plant.time


@pytest.mark.parametrize("policy", ["hold", "skip", "catch-up"])
def test_cycles_that_are_longer_than_the_period_are_told(model: Model, policy: Any) -> None:
    with Rig(model, rate="20 kHz", factor=20, step="1 us", policy=policy, priority=None) as rig:  # 50 steps in 2.5 us
        result = rig.run(0.02)
    assert result.counters["missed"] > 0
    assert result.counters["cycles"] == 400
    assert (result.counters["skipped"] > 0) == (policy != "catch-up")
    assert "not ready in time" in result.report()


def test_the_period_follows_another_clock(model: Model) -> None:
    fast, seconds = 2e-3, 1.5
    with Rig(model, rate="1 kHz", **UDP) as rig:
        assert rig.address
        client = UdpClient(rig.layout, rig.address)
        rig.start(seconds)
        first = client.greet()
        offsets = []
        for k in range(1, 10**6):
            one = client.receive()
            if one is None or one.flags & STOPPED:
                break
            theirs = 1e-9 * (one.sent - first.sent) * (1 + fast) + first.time
            offsets.append(theirs - one.time)
            if k % 20 == 0:
                rig.discipline(float(np.median(offsets[-5:])))
        rig.wait()
        client.close()
    assert abs(np.median(offsets[-50:])) < 0.1 * fast * seconds


@pytest.mark.parametrize("offset", [1e300, -1e10])
def test_a_wild_offset_is_forgotten_with_the_next(model: Model, offset: float) -> None:
    with Rig(model, rate="1 kHz", priority=None) as rig:
        rig.start()
        for value in (offset, 0.0):
            rig.discipline(value)
            time.sleep(0.05)
            trim = int(rig._view.trim)  # [ns]
            assert trim == (0 if value == 0.0 else -10_000 if value > 0 else 10_000)


def test_periods_that_are_no_whole_nanoseconds_do_not_drift(model: Model) -> None:
    whole, part = clock(Fraction(1, 21000))
    lost = Fraction(1, 21000) - (whole + Fraction(part, 1 << 64)) / 10**9
    assert 0 <= lost * 10**9 < Fraction(1, 10**9)  # [s] in 1e9 steps
    with Rig(model, rate="3 kHz", factor=7, priority=None) as rig:
        result = rig.run(0.5)
    assert result.counters["cycles"] == 1500


def test_controllers_are_killed_and_come_back(model: Model) -> None:
    watchdog, rate, torque = 0.02, 1000, "bus.torque[1]"
    fds = len(os.listdir("/proc/self/fd"))
    with Rig(model, rate=rate, watchdog=watchdog, safe="zero", **UDP) as rig:
        assert rig.address
        place = rig.plant.input_names.index(torque)
        u = rig.plant.inputs.values.copy()
        u[place] = 0.01
        rig.start()
        for life in range(20):
            client = UdpClient(rig.layout, rig.address)
            acted, end = rig.counters["acted"], time.monotonic() + 5
            client.greet()
            while rig.counters["acted"] < acted + 5 and time.monotonic() < end:
                client.send(client.packet(u))
                client.receive(0.01)
            while client.last and not client.last.flags & WATCHDOG and time.monotonic() < end:
                client.receive()
            assert client.last is not None
            assert client.last.flags & WATCHDOG
            acted_at = [one.time for one in client.heard if not one.flags & HELD][-1]
            assert client.last.time - acted_at == pytest.approx(watchdog), life
            client.close()
        rig.stop()
        result = rig.wait()
        assert result.counters["watchdog"] >= 20
        assert rig.plant[torque] == 0.0
        assert result.counters["acted"] >= 100
        threads = threading.active_count()
    assert threading.active_count() <= threads
    assert len(os.listdir("/proc/self/fd")) <= fds
