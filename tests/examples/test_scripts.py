"""Each script runs from any folder and leaves its results in the folder that it is given."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = os.pathsep.join(str(ROOT / room) for room in ("engine", "blocks", "fmu_src", "app"))


@pytest.mark.parametrize(
    ("script", "until", "written"),
    [
        ("quickstart/run.py", "2", ("satellite.csv", "satellite.html")),
        ("five_body_spacecraft/run_block.py", "5", ("block.csv",)),
        ("five_body_spacecraft/run_fmu.py", "1", ("five_body.fmu", "fmu.csv")),
    ],
)
def test_script_runs(script: str, until: str, written: tuple[str, ...], tmp_path: Path):
    results = tmp_path / "results"
    command = [sys.executable, str(ROOT / "examples" / script), "--until", until, "--out", str(results)]
    environment = os.environ | {"PYTHONPATH": ROOMS}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stderr
    for name in written:
        assert (results / name).stat().st_size > 0
