"""`mbdy linearize`: its tables, its files, its JSON, its notes and its exit statuses."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from mbdy.engine.linear.linearization import Linearization

SPRUNG = """
mbdy = 1
name = "sprung"
[system]
gravity = [0, 0, -9.81]
[body.beam]
mass = 2
com = [0.5, 0, 0]
inertia = [0.01, 0.2, 0.2]
joint = { to = "inertial", kind = "revolute", axis = [0, 1, 0], stiffness = 20 }
"""


@pytest.fixture
def beam(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A beam on a spring, in the current folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "beam.toml"
    path.write_text(SPRUNG, encoding="utf-8")
    return path


def test_sizes_notes_and_a_table_of_modes(mbdy, beam):
    said = mbdy(
        "linearize", beam, "--modes", "--set", "beam.joint.stiffness=63 N*m/rad", "--set", "system.gravity[3]=0"
    )
    assert said.status == 0, said.err
    assert "sprung: 2 states" in said.out
    assert re.search(r"9\.48683298 .*1\.50988.* 0\.000000 ", said.out)  # sqrt(63 / 0.7)
    assert "beam.joint.rate 1, beam.joint.angle 0.11" in said.out
    assert "no steady motion" not in said.err
    assert "-o lin.npz" in said.err
    assert "no steady motion: beam.joint.rate changes by" in mbdy("linearize", beam).err


def test_trim_finds_rest_first(mbdy, beam):
    said = mbdy("linearize", beam, "--trim", "--json").json
    assert said["ok"] is True
    angle = said["state_values"][said["state_names"].index("beam.joint.angle")]
    assert 20 * angle == pytest.approx(9.81 * np.cos(angle))
    assert said["notes"] == []
    held = mbdy("linearize", beam, "--at", "beam.joint.angle=0.3", "--trim", "--free", "beam.*", "--hold",
                "beam.joint.angle,beam.force,beam.torque", "--json").json  # fmt: skip
    assert held["state_values"][0] == 0.3


@pytest.mark.parametrize("ending", ["npz", "mat", "json"])
def test_files_hold_what_was_asked_for(ending, mbdy, satellite):
    path = Path("out") / f"lin.{ending}"
    said = mbdy("linearize", satellite, "--inputs", "bus.torque", "--outputs", "bus.attitude,bus.omega", "-o", path)
    assert said.status == 0, said.err
    assert f"wrote {path}" in said.out
    read = Linearization.load(path)
    assert read.inputs == ("bus.torque[1]", "bus.torque[2]", "bus.torque[3]")
    assert read.outputs[0] == "bus.attitude.error[1]"
    assert read.D.shape == (6, 3)


def test_json_has_matrices_and_modes(mbdy, beam):
    told = mbdy("linearize", beam, "--inputs", "beam.joint.torque", "--outputs", "*.angle", "--json").json
    assert np.shape(told["A"]) == (2, 2)
    assert told["M"] == [[pytest.approx(0.7)]]
    assert told["modes"][0]["frequency"] == pytest.approx(told["fastest"])
    assert set(told["modes"][0]["shape"]) == {"beam.joint.angle", "beam.joint.rate"}
    assert any("no steady motion" in remark for remark in told["notes"])


def test_a_motion_too_fast_for_the_step_is_noted(mbdy, beam):
    said = mbdy("linearize", beam, "--set", "beam.joint.damping=3000")
    assert said.status == 0
    assert "RK4 grows in steps of 0.001 s, which should stay below 0.00065 s" in said.err
    assert "RK4 grows" not in mbdy("linearize", beam, "--set", "beam.joint.damping=3000", "--step", "0.1 ms").err


def test_friction_which_steps_take_implicitly_is_not_noted(mbdy, beam):
    beam.write_text(SPRUNG.replace("stiffness = 20", "stiffness = 20, friction = 3"), encoding="utf-8")
    said = mbdy("linearize", beam, "--json")
    assert said.json["fastest"] > 4000.0  # 3 N.m below 1e-3 rad/s on 0.7 kg.m2
    for more in ((), ("--trim", "--set", "beam.joint.friction_rate=1e-4")):
        said = mbdy("linearize", beam, *more)
        assert (said.status, "RK4 grows" in said.err) == (0, False)
    assert "has 4286 1/s: RK4 grows" in mbdy("linearize", beam, "--set", "beam.joint.damping=3000").err


def test_a_decay_has_no_damping_ratio(mbdy, beam):
    said = mbdy("linearize", beam, "--set", "beam.joint.damping=3000", "--modes")
    assert re.search(r"4285\.\S+ .*  - .*-4285", said.out)


def test_what_has_no_modes_says_so(mbdy, tmp_path):
    rock = tmp_path / "rock.toml"
    text = 'mbdy = 1\n[body.rock]\nmass = 1\ninertia = [1, 1, 1]\njoint = { to = "inertial", kind = "fixed" }\n'
    rock.write_text(text, encoding="utf-8")
    assert "no modes\n" in mbdy("linearize", rock, "--modes").out
    free = tmp_path / "free.toml"
    free.write_text(text.replace("fixed", "free"), encoding="utf-8")
    assert "no modes but rigid-body motion" in mbdy("linearize", free, "--modes").out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--inputs", "beam.joint.torq"), "nearest: beam.joint.torque"),
        (("--outputs", "nothing"), "no output matches 'nothing'"),
        (("--set", "beam.joint.angle"), "--set beam.joint.angle: give NAME=VALUE"),
        (("--at", "beam.joint.angel=30"), "--at beam.joint.angel=30: no variable"),
        (("--free", "beam.joint.angle"), "add --trim"),
        (("--trim", "--free", "nothing"), "no state or input matches"),
        (("-o", "lin.csv"), "must end in .npz, .mat, .json"),
        (("--step", "-1"), "must be > 0 s"),
    ],
)
def test_bad_input_is_exit_status_two(words, said, mbdy, beam):
    done = mbdy("linearize", beam, *words)
    assert done.status == 2
    assert said in done.err


def test_no_steady_motion_is_exit_status_one(mbdy, beam):
    words = ("linearize", beam, "--set", "beam.joint.stiffness=0", "--trim", "--free", "beam.joint.rest")
    said = mbdy(*words)
    assert said.status == 1
    assert "no steady motion found: beam.joint.rate changes by" in said.err
    told = mbdy(*words, "--json")
    assert told.status == 1
    assert told.json["ok"] is False
    assert "no steady motion found" in told.json["error"]


def test_what_trim_has_moved_is_told(beam: Path, mbdy):
    said = mbdy("linearize", beam, "--at", "beam.joint.angle=0.3", "--trim")
    assert re.search(r"trim moved beam\.joint\.angle = [-\d.e]+", said.out)
