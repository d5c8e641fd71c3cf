"""TumbleSat goes from a spin about its minor axis into a flat spin, on its own account and by the known energies."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from mbdy.blocks import Run
from mbdy.engine import ModelWarning, load

FOLDER = Path(__file__).parents[2] / "examples" / "tumblesat"
MOMENTS = (5379.62, 3798.62, 654.76)  # kg.m2, of the whole satellite: 42's numbers added up
MOMENTUM_TOLERANCE = 1e-9  # relative; RK4 at 0.1 s leaves 5e-11 over ten hours
END_TOLERANCE = 1e-8  # relative: what the transverse rates, 4e-5 of the spin, still have of the energy
LOCKED_TOLERANCE = 1e-6  # relative, of the nutation of a rigid body
PICTURE_LIMIT = 60_000  # bytes


@pytest.fixture(scope="module")
def script(example):
    return example("tumblesat", "run")


@pytest.fixture(scope="module")
def run(script) -> Run:
    return script.tumble(script.satellite())


def test_only_the_inertia_of_42_is_warned_of():
    with pytest.warns(ModelWarning) as told:
        load(FOLDER / "tumblesat.toml")
    assert [str(warning.message).count("body.bus.inertia") for warning in told] == [1]


def test_momentum_is_kept(run: Run, script):
    assert script.momentum_drift(run) < MOMENTUM_TOLERANCE
    size = np.linalg.norm(run["system.angular_momentum"][0])
    assert size == pytest.approx(np.linalg.norm(np.radians([0, 0.001, 5]) * MOMENTS), rel=1e-12)


def test_energy_falls_at_every_row(run: Run):
    assert len(run) == 3601
    assert np.all(np.diff(run["system.energy"]) < 0)


def test_it_ends_in_a_flat_spin(run: Run):
    """About the major axis the same momentum has the least energy: H^2 / 2 I."""
    size = np.linalg.norm(run["system.angular_momentum"][0])
    start, end = run["bus.omega"][0], run["bus.omega"][-1]
    assert start[2] == pytest.approx(np.radians(5))
    assert abs(end[0]) == pytest.approx(size / MOMENTS[0], rel=END_TOLERANCE)
    assert np.abs(end[1:]).max() < 1e-4 * abs(end[0])
    assert run["system.energy"][-1] == pytest.approx(size**2 / (2 * MOMENTS[0]), rel=END_TOLERANCE)


def test_locked_it_keeps_spinning_about_its_minor_axis(script):
    """A rigid body: the nutation stays as small as it was, its two amplitudes as Euler's equations have them."""
    run = script.tumble(script.satellite(), until=6000.0, locked=True)
    x, y, z = MOMENTS
    largest = np.degrees(np.abs(run["bus.omega"]).max(axis=0))
    assert largest[1] <= 0.001 * (1 + LOCKED_TOLERANCE)
    assert largest[0] <= 0.001 * np.sqrt(y * (y - z) / (x * (x - z))) * (1 + LOCKED_TOLERANCE)
    assert largest[0] > 0.0006
    np.testing.assert_allclose(run["system.energy"], run["system.energy"][0], rtol=1e-10)
    assert not run["antenna_1.joint.angle"].any()


def test_script_runs_from_any_folder(script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["run.py", "--until", "600", "--out", "results"])
    script.main()
    assert (tmp_path / "results" / "tumblesat.csv").stat().st_size > 0
    assert 0 < (tmp_path / "results" / "flat_spin.svg").stat().st_size < PICTURE_LIMIT
    assert "energy fell from row to row 60 times of 60" in capsys.readouterr().out


def test_the_picture_beside_the_script_is_the_one_that_it_draws(run: Run, script):
    """But for the last digits of its curves, in which machines may differ."""
    shown, drawn = (FOLDER / "flat_spin.svg").read_text(encoding="utf-8"), script.drawing(run)
    assert len(shown) < PICTURE_LIMIT
    frames = [[line for line in text.splitlines() if "<polyline" not in line] for text in (shown, drawn)]
    assert frames[0] == frames[1]
    assert shown.count("<polyline") == drawn.count("<polyline") == 4
