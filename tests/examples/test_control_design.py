"""The example of control design: its loop closes to the driven vehicle, and its figures are those of its README."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mbdy.engine.linear.linearization import Linearization

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "control_design"
ROOMS = os.pathsep.join(str(ROOT / room) for room in ("engine", "blocks", "fmu_src", "app"))


@pytest.fixture(scope="module")
def design(example):
    return example("control_design", "platform_loop")


def test_the_closed_loop_is_the_driven_vehicle(design):
    model = design.vehicle()
    open_plant, whole = design.plant(model), design.plant(model, driven=True)
    found, wanted = (np.sort(np.abs(v)) for v in (design.closed_loop_poles(open_plant, 1.0), whole.eigenvalues()))
    assert found[-8:] == pytest.approx(wanted[-8:], rel=1e-10)
    undriven = open_plant.eigenvalues()
    assert np.sum(np.abs(undriven) > 0.1) == 6  # the yoke turns freely


def test_the_script_gives_the_figures_of_its_readme(tmp_path: Path):
    command = [sys.executable, "-W", "error", str(FOLDER / "platform_loop.py"), "--out", str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": ROOMS}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stderr
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    for line in done.stdout.splitlines()[1:5]:
        frequency, damping = line.split()[0], float(line.split()[-1])
        assert f"| {frequency} | {damping:.4f} |" in readme
    assert "crossover 23.51 rad/s, phase margin 7.75 deg" in done.stdout
    assert (tmp_path / "platform_loop.html").stat().st_size > 0
    assert Linearization.load(tmp_path / "platform_loop.json").outputs == ("yoke.joint.angle", "yoke.joint.rate")
