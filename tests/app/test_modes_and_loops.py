"""Flexible bodies and closed loops, as commands show them."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from mbdy.app.panels import sections
from mbdy.app.totals import totals
from mbdy.blocks import Plant, simulate
from mbdy.engine import load

BOOM = """
mbdy = 1
name = "boom"
[body.bus]
mass = 80
inertia = [10, 12, 15]
joint = { to = "inertial", kind = "free" }
[body.bus.wheel.x]
axis = [1, 0, 0]
inertia = 0.01
[body.boom]
joint = { to = "bus", kind = "fixed", at = [0.4, 0, 0] }
flex.beam = { length = 6, mass_per_length = 0.3, bending_stiffness = 400, modes = [2, 1] }
[body.sensor]
mass = 1.5
inertia = [0.01, 0.01, 0.01]
joint = { to = "boom.tip", kind = "fixed" }
[initial]
boom.flex.displacement = [0.3, 0.1, 0.2]
"""
FOUR_BAR = """
mbdy = 1
name = "four-bar"
[body.crank]
mass = 1
inertia = [0.01, 0.1, 0.1]
joint = { to = "inertial", kind = "revolute", axis = [0, 0, 1] }
[body.coupler]
mass = 2
inertia = [0.01, 0.7, 0.7]
joint = { to = "crank", kind = "revolute", axis = [0, 0, 1], at = [1, 0, 0] }
node.end = { at = [2, 0, 0] }
[body.rocker]
mass = 1.5
inertia = [0.01, 0.3, 0.3]
joint = { to = "inertial", kind = "revolute", axis = [0, 0, 1], at = [2.5, 0, 0] }
node.tip = { at = [1.5, 0, 0] }
[loop.closure]
a = "coupler.end"
b = "rocker.tip"
kind = "pin"
axis = [0, 0, 1]
[initial]
crank.joint.angle = "60 deg"
crank.joint.rate = 1
"""


@pytest.fixture
def boom(tmp_path: Path) -> Path:
    (tmp_path / "boom.toml").write_text(BOOM)
    return tmp_path / "boom.toml"


@pytest.fixture
def four_bar(tmp_path: Path) -> Path:
    (tmp_path / "four_bar.toml").write_text(FOUR_BAR)
    return tmp_path / "four_bar.toml"


def test_check_shows_modes_and_the_fastest_one(boom: Path, mbdy):
    said = mbdy("check", boom)
    assert (said.status, said.err) == (0, "")
    for part in (
        "1.8 kg; 3 modes; node tip",
        "fixed, on boom.tip",
        "degrees of freedom  6, and 1 wheel and 3 modes",
        "boom: 3 modes from 0.5676 to 3.557 Hz",
        "most of it mode 2 of boom; rk4 follows it in steps of",
        "no faults",
    ):
        assert part in said.out
    assert "loop" not in said.out
    found = mbdy("check", boom, "--json").json
    (flexible,) = found["flexible"]
    bare = 3.516015 / (2 * math.pi) * math.sqrt(400 / (0.3 * 6**4))
    assert flexible["frequencies"][:2] == pytest.approx([bare, bare], rel=1e-6)
    fastest = found["fastest_mode"]
    assert (fastest["body"], fastest["mode"]) == ("boom", 2)
    assert fastest["step"] * fastest["frequency"] * 2 * math.pi == pytest.approx(2.8, rel=0.01)
    assert (found["loops"], found["assembly"]) == ([], None)
    assert [body["modes"] for body in found["bodies"]] == [0, 3, 0]
    assert [body["node"] for body in found["bodies"]] == ["", "", "tip"]


def test_check_warns_of_a_mode_that_the_usual_step_does_not_follow(boom: Path, mbdy):
    boom.write_text(BOOM.replace("400", "4e9"))
    said = mbdy("check", boom)
    assert said.status == 0
    assert "warning: boom: mode 2 swings at" in said.err
    assert "rosenbrock" in said.err
    assert "1 warning" in said.out
    (warning,) = mbdy("check", boom, "--json").json["warnings"]
    assert "needs steps of" in warning


def test_totals_are_those_of_the_deformed_system(boom: Path):
    model = load(boom)
    plant = Plant(model)
    y = plant.outputs()
    found = totals(model, y)
    np.testing.assert_allclose(found.centre, y["system.centre_of_mass"], atol=1e-12)
    plant["bus.omega"] = [0.1, -0.2, 0.3]
    spinning = plant.outputs()
    np.testing.assert_allclose(
        found.inertia @ [0.1, -0.2, 0.3], np.array(spinning["system.angular_momentum"]), atol=1e-10
    )


def test_check_shows_loops_and_what_they_leave(four_bar: Path, mbdy):
    said = mbdy("check", four_bar)
    assert (said.status, said.err) == (0, "")
    for part in (
        "closure: coupler.end to rocker.tip, pin, rows 1, 2, 4, 5, 6",
        "5 in all, 2 of them independent, 3 repeat others",
        "left by loops       1 degree of freedom",
        "rocker.joint.angle by up to",
        "speeds by up to",
    ):
        assert part in said.out
    found = mbdy("check", four_bar, "--json").json
    (loop,) = found["loops"]
    assert (loop["kind"], loop["a"], loop["b"]) == ("pin", "coupler.end", "rocker.tip")
    assert (loop["rows"], loop["distance"]) == ([1, 2, 4, 5, 6], None)
    assembly = found["assembly"]
    assert [assembly[key] for key in ("rows", "rank", "redundant", "degrees_of_freedom")] == [5, 2, 3, 1]
    assert assembly["moved"]["angle"] == pytest.approx(1.64, abs=0.01)
    assert assembly["moved"]["angle_of"] == "rocker.joint.angle"


def test_check_shows_rods_and_loops_that_open(four_bar: Path, mbdy):
    rod = 'kind = "distance"\ndistance = 1.2\nclosed = false\nswitchable = true'
    four_bar.write_text(FOUR_BAR.replace('kind = "pin"\naxis = [0, 0, 1]\n[initial]', f"{rod}\n[initial]"))
    said = mbdy("check", four_bar)
    assert "distance, 1.2 m, switchable, open at the start" in said.out
    assert "0 in all, 0 of them independent" in said.out
    assert "closing moved       nothing" in said.out


def test_reports_plot_modes_by_number_and_loops(boom: Path, four_bar: Path):
    run = simulate(boom, until=0.2, every=0.01)
    (modes,) = [section for section in sections(run) if section.heading == "Modes"]
    displacement, energy = modes.panels
    assert [name for name, _ in displacement.lines] == ["mode 1", "mode 2", "mode 3"]
    np.testing.assert_array_equal(displacement.lines[1][1], run["boom.flex.displacement"][:, 1])
    assert energy.title == "boom.flex.strain_energy"
    run = simulate(four_bar, until=0.2, every=0.01)
    found = {section.heading: section for section in sections(run)}
    assert "Modes" not in found
    panels = found["Loops"].panels
    assert [panel.unit for panel in panels] == ["N", "N.m", "rad", "m", "rad/s", "m/s"]
    assert [name for name, _ in panels[3].lines] == ["[3]", "[4]", "[5]"]


def test_a_loop_to_inertial_is_named_as_what_acts(tmp_path: Path, mbdy):
    file = tmp_path / "tied.toml"
    file.write_text(
        'mbdy = 1\n[body.a]\nmass = 1\ninertia = [1, 1, 1]\njoint = { to = "inertial", kind = "free" }\n'
        '[loop.string]\na = "inertial"\nb = "a"\nkind = "distance"\ndistance = 2\n'
        "[initial]\na.position = [2, 0, 0]\na.velocity = [0, 1, 0]\n"
    )
    said = mbdy("simulate", file, "--until", "0.5")
    assert said.status == 0
    assert "a loop to inertial acts" in said.out


def test_the_evidence_page_has_the_forces_of_loops(four_bar: Path, tmp_path: Path, mbdy):
    said = mbdy("verify", four_bar, "--states", "2", "--report", tmp_path / "evidence.md")
    assert said.status == 0, said.err
    assert "loop 'closure' closes the tree of joints" in said.out
    page = (tmp_path / "evidence.md").read_text()
    rows = [line for line in page.splitlines() if "forces of loops |" in line]
    assert [row.split(":")[0] for row in rows] == ["| lagrange", "| kamman", "| penrose"]
    assert all(row.endswith("| yes |") for row in rows)


def test_exports_tell_of_fast_modes_too(boom: Path, tmp_path: Path, mbdy):
    said = mbdy("fmu", boom, "--step", "1", "-o", tmp_path / "boom.fmu", "--json")
    assert said.status == 0
    assert any("boom: mode 2" in warning for warning in said.json["warnings"])
