"""`mbdy simulate`: what is written, what can be set, and what is left of a run that fails."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from mbdy.app.assignments import assignment
from mbdy.app.common import RequestError
from mbdy.app.simulate import usual_period
from mbdy.blocks import Plant, simulate

BLOW_UP = "left.joint.stiffness=-1e5"
"""Grows by exp(100 t): out of the finite numbers within seconds."""


def table(path: Path | str) -> tuple[list[str], np.ndarray]:
    with open(path, encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return header, np.array(rows, dtype=float)


def test_the_csv_has_every_output_from_zero_to_the_end(satellite: Path, mbdy):
    said = mbdy("simulate", satellite, "--until", "1", "--every", "0.3", "-o", "run.csv")
    assert said.status == 0
    header, rows = table("run.csv")
    assert header == ["time", *Plant(satellite).output_names]
    assert rows[:, 0].tolist() == pytest.approx([0, 0.3, 0.6, 0.9, 1.0])
    expected = simulate(satellite, until=1.0, every=0.3)
    assert (rows[:, 1:] == expected.values).all()
    assert "wrote run.csv: 5 rows" in said.out


def test_the_summary_names_rates_and_drifts(satellite: Path, mbdy):
    said = mbdy("simulate", satellite, "--until", "0.5")
    for name in ("bus.omega", "left.joint.rate", "bus.x.speed", "system.angular_momentum", "system.energy"):
        assert name in said.out
    assert "nothing was written" in said.err


def test_the_summary_for_machines(satellite: Path, mbdy):
    told = mbdy("simulate", satellite, "--until", "0.5 s", "--every", "100 ms", "-o", "run.csv", "--json").json
    header, rows = table("run.csv")
    assert told["ok"]
    assert told["complete"]
    assert told["rows"] == len(rows) == 6
    assert list(told["final"]) == header[1:]
    assert told["final"]["bus.omega[1]"] == rows[-1, 1]
    assert told["drift"]["system.angular_momentum"]["relative"] < 1e-12
    assert told["settings"] == {"until": 0.5, "every": 0.1, "step": 0.001, "integrator": "rk4"}


def test_the_outputs_can_be_chosen(satellite: Path, mbdy):
    words = ("--until", "0.1", "--outputs", "bus.omega,left.*", "--outputs", "system.energy")
    assert mbdy("simulate", satellite, *words, "-o", "run.csv").status == 0
    header, _ = table("run.csv")
    names = Plant(satellite).output_names
    assert header[1:] == [n for n in names if n.startswith(("bus.omega[", "left.")) or n == "system.energy"]
    unknown = mbdy("simulate", satellite, "--outputs", "bsu.*", "-o", "other.csv")
    assert unknown.status == 2
    assert "bsu.*" in unknown.err
    assert not Path("other.csv").exists()


@pytest.mark.parametrize(
    ("words", "name", "value"),
    [
        ("bus.torque[2]=0.2 N*m", None, None),
        ("bus.torque=[0, 0.2 N*m, 0]", None, None),
        ("bus.x.torque=5 mN*m", None, None),
        ("system.gravity=[0, 0, -9.81]", None, None),
        ("left.joint.rest=20 deg", None, None),
        ("bus.mass=510 kg", "system.mass", 526.0),
        ("left.joint.stiffness=60 N*m/rad", None, None),
        ("bus.inertia=[20, 20, 20]", None, None),
        ("bus.com[3]=5 cm", None, None),
        ("bus.omega[1]=5 deg/s", "bus.omega[1]", np.radians(5)),
        ("bus.omega=[0.1,0,0]", "bus.omega[1]", 0.1),
        ("bus.omega = [1, 2, 3] deg/s", "bus.omega[3]", np.radians(3)),
        ("left.joint.angle=-3 deg", "left.joint.angle", np.radians(-3)),
        ("bus.x.speed=600 rpm", "bus.x.speed", 20 * np.pi),
    ],
)
def test_inputs_parameters_and_starts_can_be_set(words: str, name, value, satellite: Path, mbdy):
    usual = simulate(satellite, until=0.2, every=0.1)
    assert mbdy("simulate", satellite, "--until", "0.2", "--every", "0.1", "--set", words, "-o", "run.csv").status == 0
    header, rows = table("run.csv")
    assert not np.allclose(rows[-1, 1:], usual.values[-1], rtol=1e-9, atol=1e-12)
    if name:
        assert rows[0, header.index(name)] == pytest.approx(value, rel=1e-12)


def test_values_are_read_in_the_units_of_their_variable(satellite: Path):
    ports = Plant(satellite, virtual=True).ports

    def read(text: str) -> list[float]:
        return list(assignment(text, ports).values)

    assert read("bus.inertia=[2, 3, 4]") == [2, 0, 0, 3, 0, 4]
    assert read("bus.inertia=[[2, 0.1, 0], [0.1, 3, 0.2], [0, 0.2, 4]]") == [2, 0.1, 0, 3, 0.2, 4]
    assert read("bus.inertia=[2, 0.1, 0, 3, 0.2, 4]") == [2, 0.1, 0, 3, 0.2, 4]
    assert read("bus.inertia[1,2]=0.5") == [0.5]
    assert read("bus.position=[1 km, 2, 30 cm]") == [1000, 2, 0.3]
    assert read("left.joint.rest = 1e-3") == [1e-3]


@pytest.mark.parametrize(
    ("words", "fragment"),
    [
        ("left.joint.stifness=1", "nearest: left.joint.stiffness"),
        ("left.joint.stiffness=1 kg", "number in N.m/rad"),
        ("left.joint.stiffness=", "NAME=VALUE"),
        ("left.joint.stiffness", "NAME=VALUE"),
        ("=3", "NAME=VALUE"),
        ("left.joint.stiffness=stiff", "must be a number"),
        ("left.joint.stiffness=nan", "finite"),
        ("left.joint.stiffness=[1, 2]", "one number"),
        ("bus.omega=[1, 2]", "3 values are needed"),
        ("bus.omega=[1, 2, 3", "not closed"),
        ("bus.omega=[[1], 2, 3]", "brackets"),
        ("bus.omega=1", "3 values are needed"),
        ("bus.inertia=[[1, 2, 0], [0, 1, 0], [0, 0, 1]]", "symmetric"),
        ("bus.inertia=[[1, 2], [0, 1], [0, 0]]", "three rows"),
        ("bus.mass=-3 kg", ">= 0"),
        ("system.energy=3", "no start value"),
        ("bus.attitude=[0, 0, 0, 0]", "quaternion must not be zero"),
    ],
)
def test_what_cannot_be_set(words: str, fragment: str, satellite: Path, mbdy):
    said = mbdy("simulate", satellite, "--set", words, "-o", "run.csv")
    assert said.status == 2
    assert fragment in said.err
    assert not Path("run.csv").exists()


def test_switches_can_be_set_by_words(tmp_path: Path, mbdy):
    file = tmp_path / "arm.toml"
    file.write_text(
        "mbdy = 1\n[body.arm]\nmass = 1\ninertia = [1, 1, 1]\n[body.arm.joint]\nto = 'inertial'\nkind = 'revolute'\n"
        "axis = [0, 0, 1]\nmotion = 'switchable'\n"
    )
    for word, rate in (("true", 0.0), ("1", 0.0), ("False", 0.1)):
        words = ("--until", "0.1", "--set", f"arm.joint.locked={word}", "--set", "arm.joint.torque=1")
        assert mbdy("simulate", file, *words, "--json").json["final"]["arm.joint.rate"] == pytest.approx(rate)
    assert mbdy("simulate", file, "--set", "arm.joint.locked=2").status == 2
    assert mbdy("simulate", file, "--set", "arm.joint.locked=yes").status == 2


def test_inputs_from_a_file(satellite: Path, mbdy):
    Path("torque.csv").write_text("time,bus.torque[3]\n0,0\n1,1\n", encoding="utf-8")
    words = ("simulate", satellite, "--until", "1", "--every", "0.5", "--input", "torque.csv", "-o", "run.csv")
    for linear in (False, True):
        assert mbdy(*words, *(["--linear"] if linear else [])).status == 0
        expected = simulate(satellite, until=1.0, every=0.5, inputs="torque.csv", linear=linear)
        assert (table("run.csv")[1][:, 1:] == expected.values).all()


def test_input_files_that_cannot_be_taken(satellite: Path, mbdy):
    Path("torque.csv").write_text("time,bus.torque[3]\n0,0\n1,1\n", encoding="utf-8")
    Path("bad.csv").write_text("time,bus.trque[3]\n0,0\n", encoding="utf-8")
    Path("nan.csv").write_text("time,bus.torque[3]\n0,nan\n", encoding="utf-8")
    for words, fragment in (
        (("--input", "nosuch.csv"), "nosuch.csv"),
        (("--input", "bad.csv"), "bus.torque"),
        (("--input", "nan.csv"), "finite"),
        (("--linear",), "--input"),
        (("--input", "torque.csv", "--set", "bus.torque=[0, 0, 1]"), "bus.torque[3]"),
        (("--input", "torque.csv", "-o", "torque.csv"), "torque.csv"),
    ):
        said = mbdy("simulate", satellite, *words)
        assert said.status == 2
        assert fragment in said.err


@pytest.mark.parametrize(
    ("words", "fragment"),
    [
        (("--until", "0"), "--until"),
        (("--until", "nan"), "--until"),
        (("--every", "-1"), "--every"),
        (("--step", "1 m"), "--step"),
        (("-o", "."), "folder"),
        (("-o", "satellite.toml"), "satellite.toml"),
        (("-o", "a.html", "--report", "a.html"), "--report"),
        (("-o", "satellite.toml/run.csv"), "-o"),
        (("--until", "1e12", "--every", "1e-3"), "memory"),
    ],
)
def test_options_that_cannot_be_taken(words, fragment: str, satellite: Path, mbdy):
    before = satellite.read_text(encoding="utf-8")
    said = mbdy("simulate", satellite, *words)
    assert said.status == 2
    assert fragment in said.err
    assert satellite.read_text(encoding="utf-8") == before


@pytest.mark.parametrize("as_json", [False, True])
def test_a_run_that_fails_keeps_its_rows(as_json: bool, satellite: Path, mbdy):
    words = ("--until", "60", "--every", "0.01", "--set", BLOW_UP, "-o", "run.csv", "--report", "run.html")
    said = mbdy("simulate", satellite, *words, *(["--json"] if as_json else []))
    assert said.status == 1
    assert "left the finite numbers" in said.err
    assert "run.csv and run.html" in said.err
    _, rows = table("run.csv")
    assert len(rows) > 3
    assert rows[:, 0].tolist() == pytest.approx((np.arange(len(rows)) * 0.01).tolist())
    assert "The run ended early" in Path("run.html").read_text(encoding="utf-8")
    if as_json:
        told = said.json
        assert not told["ok"]
        assert not told["complete"]
        assert told["rows"] == len(rows)
        assert "finite" in told["error"]


def test_integrators_and_steps_make_a_difference(satellite: Path, mbdy):
    ends = [
        mbdy("simulate", satellite, "--until", "1", *words, "--json").json["final"]["left.joint.angle"]
        for words in ((), ("--integrator", "euler-cromer"), ("--step", "20 ms"))
    ]
    assert len(set(ends)) == 3
    assert max(ends) - min(ends) < 1e-2


@pytest.mark.parametrize(
    ("until", "period"), [(60, 0.1), (10, 0.02), (1, 0.002), (1000, 2), (86400, 100), (0.5, 0.001)]
)
def test_the_usual_period_is_round(until: float, period: float):
    assert usual_period(until) == pytest.approx(period, rel=1e-12)


def test_an_assignment_repeats_what_was_typed(satellite: Path):
    with pytest.raises(RequestError, match=r"--set bus\.omga=1: no variable"):
        assignment("bus.omga=1", Plant(satellite, virtual=True).ports)
