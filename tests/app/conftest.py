"""Commands, in this process or in one of their own, and the model that `mbdy new` writes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from mbdy.app.main import app
from mbdy.app.new import template

ROOT = Path(__file__).parents[2]
ROOMS = ("engine", "blocks", "fmu_src", "app")
LONGEST = 300
"""[s] A command that takes longer hangs."""


@dataclass(frozen=True)
class Said:
    """What a command answered: exit ``status``, ``out`` (stdout), ``err`` (stderr)."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture(scope="session")
def mbdy() -> Callable[..., Said]:
    """``mbdy(*words)``: one command in this process; an exception that it did not foresee is the test's."""

    def run(*words: object) -> Said:
        result = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
        assert "Traceback" not in result.output
        return Said(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    """Of a process that finds mbdy in this source tree, and hears Ctrl-C where the tests run in the background."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return {**os.environ, "PYTHONPATH": os.pathsep.join(str(ROOT / room) for room in ROOMS), "PYTHONWARNINGS": "error"}


@pytest.fixture(scope="session")
def process(environment: dict[str, str]) -> Callable[..., Said]:
    """``process(*words, **variables)``: one command as ``python -m mbdy`` in a process of its own."""

    def run(*words: object, **variables: str) -> Said:
        command = [sys.executable, "-m", "mbdy", *(str(word) for word in words)]
        done = subprocess.run(
            command, capture_output=True, env={**environment, **variables}, timeout=LONGEST, check=False
        )
        out, err = (stream.decode(errors="replace") for stream in (done.stdout, done.stderr))
        assert "Traceback" not in err
        return Said(done.returncode, out, err)

    return run


@pytest.fixture
def satellite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of `mbdy new`, in the current folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "satellite.toml"
    path.write_text(template("satellite"), encoding="utf-8")
    return path
