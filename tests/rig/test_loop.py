"""What the loop does not do: allocate, or call the system but for clock, socket and futex; what ends it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mbdy.blocks import Plant, StateError, StepError
from mbdy.blocks.rig import Force, Rig
from mbdy.blocks.rig.library import FILES, FOLDER
from mbdy.engine import Model, OptionError, load
from mbdy.engine.core.build import compiler

SATELLITE = Path(__file__).resolve().parents[2] / "examples/quickstart/satellite.toml"
ROOT = Path(__file__).resolve().parents[2]
MAY = {"clock_nanosleep", "clock_gettime", "recvmsg", "sendto", "futex", "restart_syscall"}
COUNTS = """
#define _GNU_SOURCE
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>
void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
unsigned long allocations[65536];
static void *count(void *made) { allocations[(unsigned long)syscall(SYS_gettid) % 65536]++; return made; }
void *malloc(size_t n) { return count(__libc_malloc(n)); }
void *calloc(size_t n, size_t size) { return count(__libc_calloc(n, size)); }
void *realloc(void *old, size_t n) { return count(__libc_realloc(old, n)); }
"""
"""Counts what each thread allocates, before glibc."""
RUNS = """
import ctypes, sys, time
import numpy as np
from mbdy.blocks.rig import Force, Rig
from rig.client import UdpClient
counts = (ctypes.c_ulong * 65536).in_dll(ctypes.CDLL(None), "allocations")
with Rig(sys.argv[1], rate="1 kHz", udp="127.0.0.1:0", key=b"of a test", record="mbdy-test-allocations",
         faults=[Force("bus.torque[1]", 0.0, at=0.1, until=0.2)]) as rig:
    client = UdpClient(rig.layout, rig.address, key=b"of a test")
    rig.start(1.0)
    mark = lambda: (rig.counters["cycles"], counts[rig.thread % 65536])
    client.greet()
    first = mark()
    while rig.counters["cycles"] < 900:
        client.send(client.packet(rig.plant.inputs.values))
        client.send(b"x")
        client.latest(0.01)
    last = mark()
    rig.wait()
print(*first, *last, rig.counters["acted"], sum(counts))
"""


@pytest.fixture(scope="module")
def model() -> Model:
    return load(SATELLITE)


def test_the_loop_allocates_nothing(tmp_path: Path) -> None:
    source, library = tmp_path / "counts.c", tmp_path / "counts.so"
    source.write_text(COUNTS, encoding="utf-8")
    subprocess.run([*compiler().command, "-O1", "-shared", "-fPIC", "-o", library, source], check=True)
    roots = [ROOT / part for part in ("engine", "blocks", "fmu_src", "app", "tests")]
    environment = os.environ | {"LD_PRELOAD": str(library), "PYTHONPATH": os.pathsep.join(map(str, roots))}
    said = subprocess.run(
        [sys.executable, "-c", RUNS, str(SATELLITE)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert said.returncode == 0, said.stderr
    first, before, last, after, acted, whole = map(int, said.stdout.split())
    assert last - first > 500
    assert acted > 100
    assert whole > 10_000  # the rest of the process does
    assert after == before


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("strace"), reason="no strace on this machine")
def test_the_loop_calls_clock_socket_and_futex_alone(model: Model, tmp_path: Path) -> None:
    out = tmp_path / "calls"
    with Rig(model, rate="2 kHz", udp="127.0.0.1:0", shared="mbdy-test-calls", record="mbdy-test-calls-ring") as rig:
        rig.start()
        trace = subprocess.Popen(["strace", "-c", "-o", out, "-p", str(rig.thread)], stderr=subprocess.PIPE, text=True)
        time.sleep(0.5)
        begin, end = rig.counters["cycles"], time.monotonic() + 30
        while rig.counters["cycles"] < begin + 10_000 and time.monotonic() < end:
            time.sleep(0.05)
        if trace.poll() is not None:
            assert trace.stderr
            pytest.skip(f"strace may not attach: {trace.stderr.read()}")
        trace.terminate()
        trace.communicate()
        rig.stop()
        rig.wait()
    rows = re.findall(
        r"^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?(\w+)$", out.read_text(encoding="utf-8"), re.MULTILINE
    )
    calls = {name: int(count) for count, name in rows if name != "total"}
    assert sum(calls.values()) > 10_000
    assert set(calls) <= MAY


def test_the_compiler_has_no_doubts() -> None:
    folders = [f"-I{ROOT / part}" for part in ("engine/mbdy/engine/core", "blocks/mbdy/blocks/plant")]
    doubts = ("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wno-cast-function-type", "-Werror")
    files = [FOLDER / name for name in FILES if name.endswith(".c")]
    command = [*compiler().command, "-std=c11", *doubts, *folders, "-fsyntax-only", *files]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr


def test_a_plant_that_fails_ends_the_run_in_words(model: Model) -> None:
    with Rig(model, rate="1 kHz", keeper="tick", faults=[Force("bus.torque", 1e308, at=0.01)]) as rig:
        rig.start()
        rig.tick(20)
        with pytest.raises(StateError, match=r"at 0\.01"):
            rig.wait()
        assert rig.plant.time == pytest.approx(0.01, abs=5e-3)


def test_what_is_warmed_up_on_leaves_no_trace(model: Model) -> None:
    plant, rigged = Plant(model), Plant(model)
    for one in (plant, rigged):
        one["bus.torque"] = (0.1, 0.0, 0.0)
        one.step(0.5)
    with Rig(rigged, rate="1 kHz", keeper="tick") as rig:
        rig.start(0.51)
        rig.tick(10)
        assert rig.wait().end == "done"
        for _ in range(10):
            plant.step(1e-3)
        assert rigged.save().data == plant.save().data
        with pytest.raises(StepError, match="until"):
            rig.run(0.51)
        rig.start(0.52)
        with pytest.raises(OptionError, match="goes on"):
            rig.start(0.6)
        rig.tick(10)
        assert rig.wait().counters["cycles"] == 20
        rigged.step(0.5)
        with pytest.raises(StepError, match=r"the plant stands at 1\.02 s and the rig at 0\.52 s"):
            rig.start()
    with pytest.raises(OptionError, match="closed"):
        rig.run(2.0)


def test_names_in_use_are_refused_and_those_left_behind_taken(model: Model) -> None:
    name = "mbdy-test-names"
    (Path("/dev/shm") / name).write_bytes(b"left behind")
    with Rig(model, rate=1000, shared=name), pytest.raises(OptionError, match="another rig's"):
        Rig(model, rate=1000, shared=name)
    assert not (Path("/dev/shm") / name).exists()


PLAIN = """
import os, resource, sys
from mbdy.blocks.rig import Rig
rig = Rig(sys.argv[1], rate="1 kHz")
resource.setrlimit(resource.RLIMIT_MEMLOCK, (65536, 65536))
resource.setrlimit(resource.RLIMIT_RTPRIO, (0, 0))
if os.geteuid() == 0:
    os.setuid(65534)
print(rig.run(0.05).report())
"""


def test_what_is_not_permitted_is_said_with_how_to_permit_it() -> None:
    roots = [ROOT / part for part in ("engine", "blocks", "fmu_src", "app", "tests")]
    said = subprocess.run(
        [sys.executable, "-c", PLAIN, str(SATELLITE)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, roots))}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert said.returncode == 0, said.stderr
    assert "50 cycles" in said.stdout
    assert "rtprio" in said.stdout
    assert "memlock" in said.stdout


@pytest.mark.parametrize("safe", ["hold", "zero", {"bus.torque": (0.0, 0.3, 0.0)}])
def test_safe_inputs_act_when_nobody_commands(model: Model, safe: Any) -> None:
    commanded = (0.1, 0.2, 0.3)
    wanted = {"hold": commanded, "zero": (0.0, 0.0, 0.0)}.get(safe) if isinstance(safe, str) else safe["bus.torque"]
    rigged, plant = Plant(model), Plant(model)
    for one in (rigged, plant):
        one["bus.torque"] = commanded
    with Rig(rigged, rate="1 kHz", keeper="tick", watchdog="5 ms", safe=safe) as rig:
        rig.start(0.01)
        rig.tick(10)
        assert rig.wait().counters["watchdog"] == 1
    for k in range(10):
        if k == 4:
            plant["bus.torque"] = wanted
        y = plant.step(1e-3)
    np.testing.assert_array_equal(rigged.outputs().values, y.values)
    np.testing.assert_array_equal(rigged["system.gravity"], plant["system.gravity"])
