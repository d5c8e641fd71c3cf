"""The door of the plant in C under sanitizers: odd references, values, steps and saved states, damaged or made up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mbdy.engine.core.build import compiler

ROOT = Path(__file__).resolve().parents[2]


def sanitized(folder: Path) -> dict[str, str]:
    """The environment of a process that loads C under sanitizers, kept in ``folder``."""
    asked = [[*compiler().command, f"-print-file-name=lib{one}.so"] for one in ("asan", "ubsan")]
    preloaded = [subprocess.run(one, capture_output=True, text=True, check=False).stdout.strip() for one in asked]
    if not all(map(os.path.isabs, preloaded)):
        pytest.skip("no sanitizers on this machine")
    roots = [ROOT / part for part in ("engine", "blocks", "fmu_src", "app", "tests")]
    return {
        "PYTHONPATH": os.pathsep.join(map(str, roots)), "LD_PRELOAD": " ".join(preloaded), "MBDY_CACHE": str(folder),
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
    }  # fmt: skip


def attacked(count: int, seed: int, folder: Path) -> None:
    """A process attacks plants ``count`` times, and its sanitizers say nothing."""
    end = subprocess.run(
        [sys.executable, "-m", "fuzz.door", str(count), str(seed)],
        check=False, capture_output=True, text=True, timeout=3600, env=os.environ | sanitized(folder), cwd=folder,
    )  # fmt: skip
    assert end.returncode == 0, end.stderr[-6000:]
    assert "ignored" not in end.stderr, end.stderr
    assert sum(json.loads(end.stdout).values()) == count


@pytest.mark.slow
def test_sanitizers_find_nothing_in_attacks(tmp_path: Path) -> None:
    attacked(4000, 1, tmp_path)


@pytest.mark.soak
def test_sanitizers_find_nothing_in_many_attacks(tmp_path: Path) -> None:
    attacked(200_000, 2, tmp_path)
