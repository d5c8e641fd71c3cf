"""Hostile files for every reader: each is taken or refused by name, in bounded time and memory; nothing crashes."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fuzz.readers import READERS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux, whose limits of memory these need")
ROOT = Path(__file__).resolve().parents[2]
OTHERS = ("nastran",)
"""Readers that need a package that is no dependency."""
OURS = tuple(name for name in READERS if name not in OTHERS)


def attacked(names: tuple[str, ...], count: int, seed: int, folder: Path) -> None:
    """A process reads ``count`` hostile files of each of ``names``, and lives."""
    if set(names) & set(OTHERS) and importlib.util.find_spec("pyNastran") is None:
        pytest.skip("pyNastran is not there")
    roots = [ROOT / part for part in ("engine", "blocks", "fmu_src", "app", "tests")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, roots)), "OPENBLAS_NUM_THREADS": "1"}
    end = subprocess.run(
        [sys.executable, "-m", "fuzz.readers", str(count), str(seed), str(folder), *names],
        check=False, capture_output=True, text=True, timeout=3600, env=environment, cwd=folder,
    )  # fmt: skip
    assert end.returncode == 0, f"ended with {end.returncode}:\n{end.stderr[-4000:]}"
    for name, ends in json.loads(end.stdout).items():
        assert sum(ends.values()) == count, name
        assert ends["refused"] > count / 2, name


def test_some_hostile_files_are_taken_or_refused_by_name(tmp_path: Path) -> None:
    attacked(OURS, 60, 3, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_hostile_files_are_taken_or_refused_by_name(name: str, tmp_path: Path) -> None:
    attacked((name,), 500, 1, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("name", READERS)
def test_many_hostile_files(name: str, tmp_path: Path) -> None:
    attacked((name,), 10_000, 2, tmp_path)
