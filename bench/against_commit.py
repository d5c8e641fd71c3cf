"""One step of RK4 of this tree against that of an earlier commit, in turn: five-body vehicle and Table 2's systems."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from timing import Asked, Row, ratio, times_of

ROOT = Path(__file__).resolve().parent.parent
ROOTS = "engine", "blocks", "fmu_src", "app", "examples/two_arm_platform"
STEPS = """
import sys, time, warnings
warnings.simplefilter("ignore")
import two_arms
from mbdy.engine import load
from mbdy.blocks import Plant
case = sys.argv[1]
model = load("examples/five_body_spacecraft/five_body.toml") if case == "0" else two_arms.system(int(case))
plant = Plant(model, step=1e-4)
for line in sys.stdin:
    count = int(line)
    plant.reset()
    plant.run(1, 1e-4, pick=())
    begin = time.process_time()
    plant.run(1, count * 1e-4, pick=())
    print((time.process_time() - begin) / count, flush=True)
"""
"""Answers a count of steps with seconds a step, without outputs; only what earlier commits have too."""


def against(commit: str, cases: Sequence[int], rounds: int) -> list[Row]:
    """How many times longer a step took at ``commit``, of the vehicle (case 0) and of cases of Table 2."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="mbdy-earlier-") as folder:
        earlier = Path(folder) / "tree"
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", earlier, commit], cwd=ROOT, check=True)
        try:
            for case in cases:
                with _steps(ROOT, case) as now, _steps(earlier, case) as then:
                    times = times_of({"now": now, "then": then}, rounds)
                what, wanted = (f"case {case} of Table 2", ">= 1.4") if case else ("five-body vehicle", ">= 1.7")
                rows.append((f"{what}: {min(times['now']) * 1e6:.1f} µs", ratio(times, "then", "now"), wanted))
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", earlier], cwd=ROOT, check=True)
    return rows


def _steps(tree: Path, case: int) -> Asked:
    paths = os.pathsep.join(str(tree / root) for root in ROOTS)
    return Asked.started([sys.executable, "-c", STEPS, str(case)], cwd=tree, environment={"PYTHONPATH": paths})
