"""``mbdy rig``: what a run shows by its words, its page, its recording, its JSON and its exit status."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from mbdy.app.rig import rig
from mbdy.blocks.rig.baseline import BODY
from mbdy.blocks.rig.shared import SharedBlock
from mbdy.engine import OptionError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a rig needs Linux")


@pytest.fixture
def said(tmp_path, monkeypatch, capsys):
    """Exit status, stdout and stderr of ``mbdy rig`` beside a model file."""
    (tmp_path / "one.toml").write_text(BODY)
    (tmp_path / "short.key").write_text("1234567\n")
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            rig(list(words))
        return (int(end.value.code or 0), *capsys.readouterr())

    return run


RUN = ("one.toml", "--rate", "1 kHz", "--until", "100 ms", "--udp", "0")


def test_a_run_is_told_recorded_and_held_to_what_is_required(said, tmp_path):
    wanted = ("--require", "step.max < 1 s", "--require", "cycles == 100")
    status, out, err = said(*RUN, *wanted, "--record", "run.csv", "--report", "run.html")
    assert (status, "error" in err) == (0, False), err
    for line in ("100 cycles of 0.001 s", "kept: cycles == 100: 100", "wrote run.csv: 101 rows", "wrote run.html"):
        assert line in out
    assert "all requirements kept" in (tmp_path / "run.html").read_text()
    rows = np.loadtxt(tmp_path / "run.csv", delimiter=",", skiprows=1)
    assert np.allclose(rows[:, 0], 1e-3 * np.arange(101), atol=1e-12)
    assert json.loads((tmp_path / "run.csv.json").read_text())["units"]["one.omega[1]"] == "rad/s"


def test_what_is_not_kept_is_told_and_is_an_exit_status(said):
    status, out, _ = said(*RUN, "--require", "cycles < 100", "--require", "trip.max < 1 s", "--json")
    answer = json.loads(out)
    assert (status, answer["ok"]) == (1, False)
    assert answer["error"] == "not kept: cycles < 100: 100; not kept: trip.max < 1 s: none"
    assert [one["met"] for one in answer["requirements"]] == [False, False]
    assert answer["counters"]["cycles"] == 100


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((*RUN, "--require", "stap.max < 1 s"), "stap"),
        ((*RUN, "--report", "run.txt"), ".html"),
        ((*RUN, "--record", "run.xls"), ".parquet"),
        ((*RUN, "--record", "one.toml"), "one.toml"),
        ((*RUN, "--fault", "freze one.omega"), "lose-wheel"),
        ((*RUN, "--fault", "freeze"), "write freeze OUTPUT"),
        ((*RUN, "--fault", "freeze one.omega from=1s"), "at=..."),
        ((*RUN, "--fault", "freeze one.omege at=0"), "one.omega"),
        ((*RUN, "--fault", "bias one.omega scale=big at=0"), "scale"),
        ((*RUN, "--fault", "freeze one.omega at=2s until=1s"), "Freeze"),
        ((*RUN, "--fault", "freeze one.omega at=-1"), "before the plant's time"),
        ((*RUN, "--fault", "force one.torque at=0.1"), "lacks value=..."),
        ((*RUN, "--key", "."), "cannot be read"),
        ((*RUN, "--key", "short.key"), "has 7 bytes, 8 are the least"),
        ((*RUN, "--bind", "127.0.0.1", "--udp", "127.0.0.1:0"), "--bind"),
        (("doctor", "--measure", "nan"), "--measure"),
        (("doctor", "--require", "wake.max < 1 s"), "--measure"),
        (("bridge", "one.toml", "--udp", "nowhere"), "--udp"),
    ],
)
def test_what_cannot_be_is_told_before_the_clock(words, told, said):
    status, _, err = said(*words)
    assert (status, told in err) == (2, True), err


def test_a_machine_is_measured_and_held_to_it(said):
    status, out, _ = said("doctor", "--measure", "100 ms", "--require", "wake.p50 > 0 s", "--json")
    answer = json.loads(out)
    assert (status, answer["baseline"]["counters"]["cycles"]) == (0, 100)
    assert answer["findings"]


def test_faults_on_purpose_are_told_as_they_begin_and_end(said):
    faults = ("--fault", "bias one.omega[1] bias=0.5 at='20 ms' until=0.05", "--fault", "freeze one.omega at=0.03")
    status, out, _ = said(*RUN, *faults, "--json")
    events = json.loads(out)["events"]
    assert status == 0
    assert [(one["time"], one["on"]) for one in events] == [(0.02, True), (0.03, True), (0.05, False)]


TORQUED = BODY.replace("inputs = []", 'inputs = ["one.torque"]')


def test_a_fault_of_the_plant_and_of_the_recording_leave_all_that_was_measured(said, tmp_path):
    (tmp_path / "torqued.toml").write_text(TORQUED)
    (tmp_path / "full.csv").symlink_to("/dev/full")
    wild = ("--fault", "force one.torque value=1e308 at=0.02")
    status, out, _ = said(
        "torqued.toml",
        *RUN[1:],
        *wild,
        "--record",
        "full.csv",
        "--require",
        "cycles > 9",
        "--report",
        "a.html",
        "--json",
    )
    answer = json.loads(out)
    assert (status, answer["ok"], answer["end"], answer["requirements"][0]["met"]) == (1, False, "fault", True)
    assert answer["counters"]["cycles"] >= 20
    for told in ("at 0.02", "full.csv: the recorder ended early", "No space left"):
        assert told in answer["error"]
    assert "ended: fault" in (tmp_path / "a.html").read_text()
    assert not [*Path("/dev/shm").glob(f"mbdy-{os.getpid()}*")]


def test_a_run_that_its_policy_stopped_is_no_success(said):
    status, _, err = said("one.toml", "--rate", "300 kHz", "--policy", "stop", "--until", "20", "--udp", "0")
    assert (status, "--policy stop" in err) == (1, True), err


def test_what_did_not_come_about_is_told(said):
    never = ("--fault", "freeze one.omega at=1s", "--fault", "bias one.omega")
    left = Path("/dev/shm/mbdy-999999999")
    left.write_bytes(b"")
    status, out, err = said(
        "one.toml", "--until", "0.0205", "--udp", "127.0.0.1:0", *never, "--record", "a.csv", "--json"
    )
    told = " ".join(json.loads(out)["warnings"])
    assert status == 0, out + err
    assert "the run ends at 0.02 s" in told
    assert told.count("never began") == 2
    assert "only a packet" in err
    assert not left.exists()


def test_shared_memory_that_a_limit_forbids_is_told_and_leaves_no_name():
    import resource

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 10, limits[1]))
    try:
        with pytest.raises(OptionError, match="ulimit -f"):
            SharedBlock("record", "mbdy-test-limit", 1 << 20)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not Path("/dev/shm/mbdy-test-limit").exists()
