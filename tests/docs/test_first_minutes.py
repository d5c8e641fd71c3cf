"""The ways of the README to the demo, each in a fresh copy of the tree and from nothing."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench" / "first_minutes.py"
LARGEST = {"make": 900, "pip": 900, "uv": 2000}
"""[MB] Environment and what the demo makes; uv's has the tests' and the linters' packages too."""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="by a POSIX shell")
@pytest.mark.parametrize("way", LARGEST)
def test_the_demo_from_nothing(way: str):
    said = subprocess.run([sys.executable, BENCH, way], stdout=subprocess.PIPE, text=True, check=True).stdout
    figures = re.fullmatch(rf"{way}: \d+ s, (\d+) MB\n", said)
    assert figures, said
    assert int(figures[1]) < LARGEST[way]
