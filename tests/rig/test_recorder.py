"""What drains a ring of records, beside the rows that were written into it."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from mbdy.blocks.rig.layout import PacketLayout
from mbdy.blocks.rig.recorder import FOLDER, HEAD, HEAD_SIZE, RingRecorder, columns
from mbdy.engine import MbdyError, load

LAYOUT = PacketLayout.of(load(Path(__file__).parents[2] / "examples/quickstart/satellite.toml"))
NAMES = columns(LAYOUT)
CAPACITY, ROWS = 64, 500

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="shared memory of Linux")


@pytest.fixture
def ring(tmp_path):
    """A ring under a name of its own, and how rows are written into it as the loop does."""
    path = FOLDER / f"mbdy-test-{os.getpid()}-{tmp_path.name}"
    path.write_bytes(bytes(HEAD_SIZE + 8 * len(NAMES) * CAPACITY))
    head = np.memmap(path, HEAD, "r+", shape=(1,))
    rows = np.memmap(path, float, "r+", HEAD_SIZE, (CAPACITY, len(NAMES)))
    head["width"], head["capacity"] = len(NAMES), CAPACITY

    def write(row) -> None:
        while head["written"] - head["read"] >= CAPACITY:
            pass
        rows[int(head["written"][0]) % CAPACITY] = row
        head["written"] += 1

    yield path.name, head, write
    path.unlink()


def table(path) -> np.ndarray:
    if path.suffix == ".csv":
        assert path.read_text().splitlines()[0].split(",") == list(NAMES)
        said = json.loads(Path(f"{path}.json").read_text())
        assert said["units"] == NAMES
        assert said["layout"] == f"{LAYOUT.key:016x}"
        return np.loadtxt(path, delimiter=",", skiprows=1)
    parquet = pytest.importorskip("pyarrow.parquet")
    read = parquet.read_table(path)
    assert {field.name: field.metadata[b"unit"].decode() for field in read.schema} == NAMES
    assert read.schema.metadata[b"model_sha256"].decode() == LAYOUT.model
    return np.column_stack([column.to_numpy() for column in read.columns])


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_every_row_is_in_the_file_to_the_last_bit(ending, ring, tmp_path):
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    name, head, write = ring
    numbers = np.random.default_rng(3).normal(size=(ROWS, len(NAMES))) * 1e-3
    path = tmp_path / f"run.{ending}"
    with RingRecorder(LAYOUT, name, path) as recorder:
        for row in numbers:
            write(row)
        head["unrecorded"] = 7
        head["closed"] = 1
    assert (recorder.rows, recorder.unrecorded) == (ROWS, 7)
    assert (table(path) == numbers).all()


def test_what_cannot_be_recorded_is_told_before_the_run(ring, tmp_path):
    name, *_ = ring
    for path, told in ((tmp_path / "run.xls", r"\.csv or \.parquet"), (tmp_path, "ends in")):
        with pytest.raises(MbdyError, match=told):
            RingRecorder(LAYOUT, name, path)
    with pytest.raises(MbdyError, match=r"ended early: .*mbdy-no-such-ring"):
        RingRecorder(LAYOUT, "mbdy-no-such-ring", tmp_path / "run.csv")


def test_two_do_not_record_into_one_file(ring, tmp_path):
    name, head, write = ring
    with RingRecorder(LAYOUT, name, tmp_path / "run.csv") as first:
        with pytest.raises(MbdyError, match=r"run\.csv\.part.*another process writes it"):
            RingRecorder(LAYOUT, name, tmp_path / "run.csv")
        write(np.arange(len(NAMES)))
        head["closed"] = 1
    assert first.rows == 1
    assert (table(tmp_path / "run.csv") == np.arange(len(NAMES))).all()


def test_rows_of_a_recorder_that_was_killed_are_kept_and_named(ring, tmp_path):
    name, _, write = ring
    recorder = RingRecorder(LAYOUT, name, tmp_path / "run.csv")
    write(np.arange(len(NAMES)))
    part = tmp_path / "run.csv.part"
    until = time.monotonic() + 5
    while part.read_text().count("\n") < 2 and time.monotonic() < until:
        time.sleep(0.01)
    recorder._process.kill()
    with pytest.raises(MbdyError, match=r"signal 9; rows until then are in run\.csv\.part"):
        recorder.close()
    assert (np.loadtxt(part, delimiter=",", skiprows=1) == np.arange(len(NAMES))).all()
