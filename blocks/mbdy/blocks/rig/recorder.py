"""A process that drains a rig's ring of records into a file, CSV or Parquet, while the loop goes on.

``python -m mbdy.blocks.rig.recorder RING FILE`` is that process; what it is told by `RingRecorder` comes as JSON.
"""

from __future__ import annotations

import csv
import json
import mmap
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbdy.blocks.errors import RecordError
from mbdy.blocks.rig.layout import PacketLayout
from mbdy.blocks.rig.library import CONSTANTS
from mbdy.blocks.rig.shared import FOLDER
from mbdy.engine.model.faults import MissingPackageError, OptionError, WriteError, shown
from mbdy.engine.model.whole_file import probe, whole_file

HEAD = np.dtype(
    [
        ("written", "<u8"),
        ("unrecorded", "<u8"),
        ("width", "<u4"),
        ("capacity", "<u4"),
        ("read", "<u8"),
        ("closed", "<u8"),
    ]
)
"""``struct ring_head`` of the loop."""
HEAD_SIZE = CONSTANTS["RIG_RING_HEAD"]
MODULE = "mbdy.blocks.rig.recorder"
PAUSE = 0.02
"""[s] between two looks into the ring."""
ROWS = 4096
"""That a Parquet file has in a group."""


class RingRecorder:
    """Drains the ring called ``ring``, of a rig whose packets have ``layout``, into the file at ``path``.

    ``with RingRecorder(rig.layout, "records", "run.parquet") as recorder: rig.run(...)``. Columns: ``time``, all inputs
    and outputs under their names, ``flags`` of the packet and ``lateness`` of the cycle. Parquet has their units;
    beside a CSV file lies FILE.json with them. Afterwards ``rows`` came and ``unrecorded`` found no room.

    Raises `OptionError` for another ending than .csv or .parquet, `MissingPackageError` for Parquet without pyarrow,
    `WriteError` for a place that cannot be written; `close` a `RecordError` for a process that failed on its way, which
    leaves the rows of a CSV file in PATH.part.
    """

    def __init__(self, layout: PacketLayout, ring: str, path: str | PathLike[str]) -> None:
        self.path, self.rows, self.unrecorded = Path(path), 0, 0
        if self.path.suffix not in WRITERS:
            raise OptionError(f"record: a file that ends in {' or '.join(WRITERS)} is needed, got {shown(str(path))}")
        if self.path.suffix == ".parquet":
            _pyarrow(self.path)
        try:
            probe(self.path)
        except OSError as fault:
            raise WriteError(fault.errno, f"cannot be written: {fault.strerror}", str(path)) from None
        about = {"model": layout.name, "model_sha256": layout.model, "layout": f"{layout.key:016x}"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", MODULE, ring, str(self.path)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )  # fmt: skip
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps({"units": columns(layout), "about": about}) + "\n")
        self._process.stdin.flush()
        if self._process.stdout.readline() != "ready\n":
            self.close()

    def __enter__(self) -> RingRecorder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End it: all rows that were recorded until now are in the file. Raises `RecordError` if they are not."""
        if self._process.poll() is None:
            self._process.terminate()
        said, words = self._process.communicate()
        if self._process.returncode:
            code = self._process.returncode
            why = words.strip().splitlines()[-1:] or [f"signal {-code}" if code < 0 else f"exit status {code}"]
            part = Path(f"{os.path.realpath(self.path)}.part")
            kept = f"; rows until then are in {part.name} beside it" if part.exists() else ""
            raise RecordError(f"{self.path}: the recorder ended early: {why[0]}{kept}")
        self.rows, self.unrecorded = json.loads(said)


def columns(layout: PacketLayout) -> dict[str, str]:
    """Units of a ring's columns by name, in their order."""
    units = {"time": "s"}
    for v in (*layout.inputs, *layout.outputs):
        units |= dict(zip(v.scalar_names, v.units, strict=True))
    return {**units, "flags": "1", "lateness": "s"}


class Ring:
    """Rows in shared memory, that a loop writes and this process reads until SIGTERM."""

    def __init__(self, name: str) -> None:
        with open(FOLDER / name, "r+b") as file:
            memory = mmap.mmap(file.fileno(), 0)
        self._head = np.frombuffer(memory, HEAD, 1)
        width, self._capacity = int(self._head["width"][0]), int(self._head["capacity"][0])
        self._rows = np.frombuffer(memory, "<f8", width * self._capacity, HEAD_SIZE).reshape(self._capacity, width)
        self._order, self._ended = Lock(), False
        signal.signal(signal.SIGTERM, self._end)

    def _end(self, *_: object) -> None:
        self._ended = True

    @property
    def unrecorded(self) -> int:
        """Rows for which there was no room."""
        return int(self._head["unrecorded"][0])

    def blocks(self) -> Iterator[NDArray[np.float64]]:
        """Rows (n, width) as they come, until the loop has closed the ring, or this process is to end or is alone."""
        parent, last = os.getppid(), False
        while not last:
            last = bool(self._head["closed"][0]) or self._ended or os.getppid() != parent
            with self._order:  # a lock orders memory: their number is looked at before the rows
                written, read = int(self._head["written"][0]), int(self._head["read"][0])
            while read < written:
                begin = read % self._capacity
                block = self._rows[begin : begin + written - read].copy()
                read += len(block)
                self._head["read"] = read
                yield block
            if not last:
                time.sleep(PAUSE)


Write = Callable[[NDArray[np.float64]], None]


@contextmanager
def csv_file(path: Path, units: Mapping[str, str], about: Mapping[str, str]) -> Iterator[Write]:
    """What writes rows into a CSV file, with units and facts in JSON beside it."""
    with whole_file(f"{path}.json") as beside:
        json.dump({**about, "units": units}, beside, indent=1)
    with whole_file(path, keep=True) as file:
        csv.writer(file, lineterminator="\n").writerow(units)

        def write(block: NDArray[np.float64]) -> None:
            file.writelines(",".join(map(repr, row)) + "\n" for row in block.tolist())
            file.flush()  # what is killed has kept its rows

        yield write


@contextmanager
def parquet_file(path: Path, units: Mapping[str, str], about: Mapping[str, str]) -> Iterator[Write]:
    """What writes rows into a Parquet file, with the unit of each column and the facts of all."""
    pyarrow, parquet = _pyarrow(path)
    fields = [pyarrow.field(name, pyarrow.float64(), metadata={"unit": unit}) for name, unit in units.items()]
    schema = pyarrow.schema(fields, metadata=dict(about))
    waiting: list[NDArray[np.float64]] = []

    def flush() -> None:
        if waiting:
            block = np.concatenate(waiting)
            waiting.clear()
            into.write_table(pyarrow.table([np.ascontiguousarray(column) for column in block.T], schema=schema))

    def write(block: NDArray[np.float64]) -> None:
        waiting.append(block)
        if sum(map(len, waiting)) >= ROWS:
            flush()

    with whole_file(path, binary=True) as file, parquet.ParquetWriter(file, schema) as into:
        yield write
        flush()


def _pyarrow(path: Path) -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingPackageError(
            f"{path}: Parquet needs pyarrow: pip install mbdy[rig]; or name a .csv file"
        ) from None
    return pyarrow, parquet


WRITERS = {".csv": csv_file, ".parquet": parquet_file}


def main() -> None:
    """Drain the ring that the command line names; at its end, how many rows came and were lost, as JSON."""
    ring, path = Ring(sys.argv[1]), Path(sys.argv[2])
    told = json.loads(sys.stdin.readline())
    rows = 0
    with WRITERS[path.suffix](path, told["units"], told["about"]) as write:
        print("ready", flush=True)
        for block in ring.blocks():
            write(block)
            rows += len(block)
    print(json.dumps([rows, ring.unrecorded]))


if __name__ == "__main__":
    main()
