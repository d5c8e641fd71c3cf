"""A run and who holds it: interrupts, rigs that are let go of, plants that are lent, processes that are forked."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from mbdy.blocks import Plant, ThreadError
from mbdy.blocks.rig import Rig
from mbdy.engine import Model, OptionError, load

SATELLITE = Path(__file__).resolve().parents[2] / "examples/quickstart/satellite.toml"


@pytest.fixture(scope="module")
def model() -> Model:
    return load(SATELLITE)


def test_an_interrupt_ends_the_run_and_another_may_follow(model: Model) -> None:
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)  # SIGINT itself is ignored behind nohup and &
    try:
        with Rig(model, rate="5 Hz", policy="hold") as rig:
            rig.start(60.0)
            signal.setitimer(signal.ITIMER_REAL, 0.1, 0.03)  # again and again, before the cycle ends
            result = rig.wait()
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            assert result.end == "asked"
            assert rig.run(result.time + 0.4).end == "done"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def test_a_run_ends_between_two_ticks(model: Model) -> None:
    with Rig(model, rate="0.1 Hz") as rig:
        rig.start()
        rig.stop()
        assert rig.wait().counters["cycles"] == 0


def test_a_rig_that_is_let_go_of_ends(model: Model) -> None:
    name = "mbdy-test-dropped"
    rig = Rig(model, rate="1 kHz", udp="127.0.0.1:0", key=b"of a test", shared=name, record=f"{name}-ring")
    plant = rig.plant
    rig.start(60.0)
    del rig
    gc.collect()
    assert "mbdy rig" not in {one.name for one in threading.enumerate()}
    assert not list(Path("/dev/shm").glob(f"{name}*"))
    plant.step(1e-3)


def test_a_plant_that_a_rig_runs_is_refused_to_others(model: Model) -> None:
    plant = Plant(model)
    with Rig(plant, rate="1 kHz") as rig:
        rig.start()
        for use in (
            lambda: plant.step(1e-3), lambda: plant.__setitem__("bus.torque", (0, 0, 0)), plant.outputs, plant.reset,
            lambda: Rig(plant, rate="1 kHz"),
        ):  # fmt: skip
            with pytest.raises(ThreadError, match="wait until its run has ended"):
                use()
        rig.stop()
        result = rig.wait()
        assert plant.time == pytest.approx(1e-3 * result.counters["cycles"])
        plant.step(1e-3)


def test_several_wait_for_one_run(model: Model) -> None:
    found = []
    with Rig(model, rate="1 kHz") as rig:
        rig.start(0.1)
        waiting = [threading.Thread(target=lambda: found.append(rig.wait())) for _ in range(3)]
        for one in waiting:
            one.start()
        for one in waiting:
            one.join()
    assert [one.counters["cycles"] for one in found] == [100] * 3


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_process_that_was_forked_takes_nothing_away(model: Model) -> None:
    name = "mbdy-test-forked"
    with Rig(model, rate="1 kHz", shared=name) as rig:
        rig.start()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                with pytest.raises(OptionError, match="in this process"):
                    rig.wait()
                rig.close()
                status = 0
            finally:
                os._exit(status)
        end = time.monotonic() + 10
        while not (ended := os.waitpid(child, os.WNOHANG))[0] and time.monotonic() < end:
            time.sleep(0.01)
        assert ended == (child, 0)
        assert (Path("/dev/shm") / name).exists()
        cycles = rig.counters["cycles"]
        time.sleep(0.05)
        assert rig.counters["cycles"] > cycles
