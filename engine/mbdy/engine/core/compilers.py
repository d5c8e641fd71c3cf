"""Compilers at work beside each other, ended where nobody waits for them any more."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any


class Compilers:
    """Compilers at work in threads; where the block that waits for them is ended on its way, so are they."""

    def __init__(self) -> None:
        self._lock, self._ended = Lock(), False
        self._at_work: set[subprocess.Popen[str]] = set()

    def __enter__(self) -> Compilers:
        return self

    def __exit__(self, fault: object, *_: object) -> None:
        with self._lock:
            self._ended = fault is not None
            for one in self._at_work if self._ended else ():
                _end(one)

    def run(
        self, command: Sequence[str], folder: Path, variables: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """Runs ``command`` in ``folder`` with ``variables`` of the environment; CancelledError where it is too late."""
        apart: dict[str, Any] = {} if os.name == "nt" else {"process_group": 0}  # a driver's children end with it
        with self._lock:
            if self._ended:
                raise CancelledError
            one = subprocess.Popen(
                command, cwd=folder, env=os.environ | variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True, errors="replace", **apart,
            )  # fmt: skip
            self._at_work.add(one)
        with one:
            out, err = one.communicate()
        with self._lock:
            self._at_work.discard(one)
        return subprocess.CompletedProcess(command, one.returncode, out, err)


def _end(process: subprocess.Popen[str]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if os.name == "nt":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
