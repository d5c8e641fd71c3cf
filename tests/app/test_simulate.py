"""`mbdy simulate`: what is written, what can be set, and what is left of a run that fails."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from mbdy.app.assignments import assignment
from mbdy.app.common import RequestError
from mbdy.blocks import Plant, simulate
from mbdy.blocks.grids import usual_period

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
    for name in ("bus.attitude", "left.joint.angle"):
        assert name in said.out
    assert "act" not in said.out.split("changes and residual")[0].split("system.angular_momentum")[1]
    assert "nothing was written" in said.err


def test_the_summary_says_what_changes_momentum(satellite: Path, tmp_path: Path, mbdy):
    def lines(*words: object) -> list[str]:
        said = mbdy("simulate", *words, "--until", "0.1")
        assert said.status == 0
        return [line for line in said.out.splitlines() if "momentum change" in line]

    angular, linear = lines(satellite, "--set", "system.gravity[3]=-9.81")
    assert "act" not in angular
    assert "× start; gravity acts)" in linear
    angular, linear = lines(satellite, "--set", "bus.torque[1]=3 N*m")
    assert "external torques act" in angular
    assert "act" not in linear
    Path("push.csv").write_text("time,bus.thruster.force[3]\n0,0\n0.05,1\n", encoding="utf-8")
    assert all("external forces act" in line for line in lines(satellite, "--input", "push.csv"))
    arm = tmp_path / "arm.toml"
    arm.write_text(
        "mbdy = 1\n[body.arm]\nmass = 1\ninertia = [1, 1, 1]\n"
        "joint = { to = 'inertial', kind = 'revolute', axis = [0, 0, 1] }\n"
    )
    assert all("the joint to inertial acts" in line for line in lines(arm))


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
    ports = Plant(satellite).ports

    def read(text: str) -> list[float]:
        return list(assignment(text, ports).values)

    assert read("bus.inertia=[2, 3, 4]") == [2, 0, 0, 3, 0, 4]
    assert read("bus.inertia=[[2, 0.1, 0], [0.1, 3, 0.2], [0, 0.2, 4]]") == [2, 0.1, 0, 3, 0.2, 4]
    assert read("bus.inertia=[2, 0.1, 0, 3, 0.2, 4]") == [2, 0.1, 0, 3, 0.2, 4]
    rows = read("bus.inertia=[[2, 0, 0], [0.0, 3, 1e-1], [0e3, 100 g*m^2, 4]]")
    assert rows == [2, 0, 0, 3, 0.1, 4]
    assert read("bus.inertia[1,2]=0.5") == [0.5]
    assert read('bus.position=["1 km", 2, "30 cm"]') == [1000, 2, 0.3]
    assert read("bus.position=['1', 2, 3] km") == [1000, 2000, 3000]
    assert read('bus.mass="3 kg"') == [3]
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
        ("left.joint.stiffness=[1, 2]", "left.joint.stiffness has 1 element, got 2: give one number"),
        ("bus.omega=[1, 2]", "bus.omega has 3 elements, got 2"),
        ("bus.omega=[1, 2, 3", "not closed"),
        ("bus.omega=[[1], 2, 3]", "brackets"),
        ("bus.omega=2", "bus.omega has 3 elements, got 1: write 'bus.omega=[2, 0, 0] deg/s' or 'bus.omega[1]=2 deg/s'"),
        ("bus.attitude=1", "'bus.attitude=[1, 0, 0, 0]' or 'bus.attitude[1]=1'"),
        ("bus.inertia=2", "'bus.inertia=[2, 2, 2] kg.m2' or 'bus.inertia[1,1]=2 kg.m2'"),
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
    words = ("--until", "0.1", "--set", "arm.joint.torque=1", "--json")
    assert mbdy("simulate", file, *words, "--set", "arm.joint.locked=true").json["final"]["arm.joint.rate"] == 0.0
    ports = Plant(file).ports
    for value, names in ((1.0, ("true", "1", "Yes", "on")), (0.0, ("False", "0", "no", "OFF"))):
        for word in names:
            assert assignment(f"arm.joint.locked={word}", ports).values == (value,)
    assert mbdy("simulate", file, "--set", "arm.joint.locked=2").status == 2
    assert mbdy("simulate", file, "--set", "arm.joint.locked=maybe").status == 2


def test_one_value_serves_a_whole_joint_as_in_the_file(tmp_path: Path):
    file = tmp_path / "table.toml"
    file.write_text(
        "mbdy = 1\n[body.table]\nmass = 1\ninertia = [1, 1, 1]\n[body.table.joint]\nto = 'inertial'\n"
        "kind = 'planar'\nmotion = 'switchable'\n"
    )
    ports = Plant(file).ports
    for name in ("stiffness", "damping", "rest", "acceleration"):
        assert assignment(f"table.joint.{name}=2", ports).values == (2.0, 2.0, 2.0)
    for name in ("prescribed", "locked"):
        assert assignment(f"table.joint.{name}=on", ports).values == (1.0, 1.0, 1.0)
    for text, fragment in (
        ("table.joint.damping=2 N*s/m", "something else"),
        ("table.joint.force=2", "has 2 elements"),
        ("table.joint.locked=[on, off]", r"'table.joint.locked=\[true, false, false\]' or 'table.joint.locked\[1\]=tr"),
        ("table.joint.rest=[1, 2]", r"has 3 elements, got 2: write 'table.joint.rest=\[2, 0, 0\]' or"),
    ):
        with pytest.raises(RequestError, match=fragment):
            assignment(text, ports)


def test_angles_that_look_like_degrees_are_doubted(satellite: Path, mbdy):
    words = ("--until", "0.01", "--set", "left.joint.rest=30", "--set", "left.joint.angle=3", "--json")
    said = mbdy("simulate", satellite, *words, "--set", "right.joint.angle=400 deg", "--set", "bus.x.speed=100")
    assert said.status == 0
    assert said.json["warnings"] == ['--set left.joint.rest=30: 30 rad is 1719 deg; did you mean "30 deg"?']


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
        (("--until", "1e12", "--every", "1e-3"), "every"),
        (("--until", "1e308", "--every", "1e-308"), "would never end"),
        (("--until", "1e308"), "would never end"),
        (("--step", "5e-324"), "would never end"),
        (("-o", "run.html"), "-o run.csv, or --report run.html"),
        (("--report", "run.CSV"), "--report run.html, or -o run.CSV"),
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
    assert "s are in run.csv and run.html (" in said.err
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


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize(
    ("words", "kept"), [(("-o", "/dev/full", "--report", "run.html"), "run.html"),
                        (("-o", "run.csv", "--report", "/dev/full"), "run.csv")]
)  # fmt: skip
def test_a_file_that_cannot_be_written_does_not_lose_the_other(words, kept: str, satellite: Path, mbdy):
    said = mbdy("simulate", satellite, "--until", "0.1", *words)
    assert said.status == 1
    assert "error: /dev/full: No space left on device" in said.err
    assert Path(kept).stat().st_size > 100
    assert f"wrote {kept}" in said.out
    assert "system.energy" in said.out
    told = mbdy("simulate", satellite, "--until", "0.1", *words, "--json").json
    assert not told["ok"]
    assert "No space left" in told["error"]
    assert sorted(filter(None, (told["csv"], told["report"]))) == [kept]


@pytest.mark.parametrize("words", [("nosuch.toml",), ("bad.toml",), ("satellite.toml", "--set", "bus.mass=heavy")])
def test_no_folder_is_made_for_a_run_that_cannot_begin(words, satellite: Path, mbdy):
    Path("bad.toml").write_text("mbdy = 2\n", encoding="utf-8")
    assert mbdy("simulate", *words, "-o", "deep/run.csv", "--report", "down/run.html").status == 2
    assert not Path("deep").exists()
    assert not Path("down").exists()
    assert mbdy("simulate", satellite, "--until", "0.01", "-o", "deep/run.csv").status == 0
    assert Path("deep/run.csv").exists()


def test_integrators_and_steps_make_a_difference(satellite: Path, mbdy):
    ends = [
        mbdy("simulate", satellite, "--until", "1", *words, "--json").json["final"]["left.joint.angle"]
        for words in ((), ("--integrator", "euler-cromer"), ("--integrator", "rosenbrock"), ("--step", "20 ms"))
    ]
    assert len(set(ends)) == 4
    assert max(ends) - min(ends) < 1e-2


@pytest.mark.parametrize(
    ("until", "period"), [(60, 0.1), (10, 0.02), (1, 0.002), (1000, 2), (86400, 100), (0.5, 0.001), (5e-324, 5e-324)]
)
def test_the_usual_period_is_round(until: float, period: float):
    assert usual_period(until) == pytest.approx(period, rel=1e-12)


def test_an_assignment_repeats_what_was_typed(satellite: Path):
    with pytest.raises(RequestError, match=r"--set bus\.omga=1: no variable"):
        assignment("bus.omga=1", Plant(satellite).ports)


def test_a_gimbal_near_its_singularity_is_one_line_of_warning(tmp_path: Path, mbdy):
    text = (
        "mbdy = 1\n[body.head]\nmass = 1\ninertia = [1, 1, 1]\n"
        'joint = { to = "inertial", kind = "gimbal", sequence = "zyx", motion = "prescribed" }\n'
        '[initial]\nhead.joint.angle = [0, "87 deg", 0]\nhead.joint.rate = [0, "6 deg/s", 0]\n'
    )
    (tmp_path / "gimbal.toml").write_text(text, encoding="utf-8")
    said = mbdy("simulate", tmp_path / "gimbal.toml", "--until", "1", "--every", "0.1", "-o", tmp_path / "run.csv")
    assert said.status == 0
    (line,) = [line for line in said.err.splitlines() if "warning" in line]
    assert "head.joint: near its middle-angle singularity at 0.5 s, angles 0, 90, 0 deg" in line


def test_inputs_are_recorded_on_request(satellite: Path, tmp_path: Path, mbdy):
    said = mbdy("simulate", satellite, "--until", "1", "--every", "0.5", "--outputs", "bus.omega", "--record",
                "bus.torque,*.joint.torque", "--set", "bus.torque[1]=0.5", "-o", "run.csv")  # fmt: skip
    assert said.status == 0
    header, first, *_ = (tmp_path / "run.csv").read_text().splitlines()
    assert dict(zip(header.split(","), first.split(","), strict=True))["bus.torque[1]"] == "0.5"
    assert "system.energy" not in header
    said = mbdy("simulate", satellite, "--record", "bus.torqe", "-o", "run.csv")
    assert said.status == 2
    assert "no input matches 'bus.torqe'; nearest: bus.torque" in said.err


def test_what_acts_by_itself(satellite: Path, mbdy):
    when = "left.joint.angle < 0.1 rad: left.joint.torque=0; bus.torque[1]='20 mN*m'"
    said = mbdy("simulate", satellite, "--until", "2", "--set", "left.joint.torque=0.5", "--when", when, "--json")
    assert said.status == 0
    (crossing,) = said.json["crossings"]
    assert crossing["name"] == "left.joint.angle below 0.1 rad"
    assert 0 < crossing["time"] < 2
    bare = mbdy("simulate", satellite, "--until", "2", "--when", "left.joint.rate > 2e2: bus.torque[1]=0", "--when",
                "left.joint.angle < 20: left.joint.torque=0", "--json")  # fmt: skip
    assert bare.json["crossings"][0] == {"name": "left.joint.angle below 20.0", "time": 0.0, "rising": True}
    assert "20 rad is 1146 deg" in bare.err
    for wrong, told in (
        ("left.joint.angle: x=1", "give OUTPUT > VALUE"),
        ("left.joint.angel > 1: bus.torque[1]=1", "nearest"),
    ):
        said = mbdy("simulate", satellite, "--when", wrong)
        assert (said.status, told in said.err) == (2, True), said.err


def test_steps_by_a_tolerance(satellite: Path, tmp_path: Path, mbdy):
    """A run that is resumed keeps its tolerance and has the bits of the whole; both tell how many steps there were."""
    asked = ("--integrator", "dopri5", "--tolerance", "1e-7", "--every", "0.125")
    whole = mbdy("simulate", satellite, "--until", "1", *asked, "-o", "whole.csv", "--json")
    assert whole.json["settings"] == {
        "until": 1.0,
        "every": 0.125,
        "step": None,
        "integrator": "dopri5",
        "tolerance": 1e-7,
    }
    assert mbdy("simulate", satellite, "--until", "0.5", *asked, "--save-state", "half.state").status == 0
    said = mbdy(
        "simulate", satellite, "--until", "1", "--resume", "half.state", "-o", "rest.csv", "--report", "rest.html"
    )
    assert (said.status, said.err) == (0, "")
    assert "accepted, 0 rejected" in said.out
    assert "accepted, 0 rejected" in (tmp_path / "rest.html").read_text()
    rows = [(tmp_path / f"{name}.csv").read_text().splitlines() for name in ("whole", "rest")]
    assert rows[0][5:] == rows[1][1:]
    said = mbdy("simulate", satellite, "--until", "1", "--tolerance", "1e-7")
    assert (said.status, "--tolerance: rk4 takes equal steps" in said.err) == (2, True)
    said = mbdy("fmu", satellite, "-o", "s.fmu", "--integrator", "dopri5")
    assert (said.status, "'dopri5' chooses its steps" in said.err) == (2, True)


@pytest.mark.parametrize("between", [(), ("--linear",)])
def test_a_run_is_resumed_from_a_file(between, satellite: Path, tmp_path: Path, mbdy):
    (tmp_path / "in.csv").write_text("time,left.joint.torque\n0,0\n0.25,0.1\n0.75,0.3\n")
    every = ("--every", "0.125", "--set", "bus.torque[1]=0.5", "--input", "in.csv", *between)
    steps = ("--step", "4 ms", "--integrator", "euler-cromer")
    assert mbdy("simulate", satellite, "--until", "1", *every, *steps, "-o", "whole.csv").status == 0
    assert mbdy("simulate", satellite, "--until", "0.5", *every, *steps, "--save-state", "half.state").status == 0
    words = ("simulate", satellite, "--until", "1", "--resume", "half.state", "--input", "in.csv")
    said = mbdy(*words, "-o", "rest.csv", "--report", "rest.html", "--json")
    assert (said.status, said.err) == (0, "")
    assert said.json["settings"] == {"until": 1.0, "every": 0.125, "step": 0.004, "integrator": "euler-cromer"}
    assert [source["file"] for source in said.json["sources"]] == ["satellite.toml", "half.state", "in.csv"]
    assert said.json["sources"][1]["sha256"] in (tmp_path / "rest.html").read_text()
    whole, rest = (np.genfromtxt(f"{name}.csv", delimiter=",", skip_header=1) for name in ("whole", "rest"))
    np.testing.assert_allclose(rest, whole[4:], rtol=0, atol=1e-15 if between else 0.0)  # lines round on their own
    for more, told in (
        (("--step", "2 ms"), "half.state: is of a plant with step 0.004, this has step 0.002: bits will not be"),
        (("--integrator", "rk4"), "with integrator euler-cromer, this has integrator rk4"),
        (("--every", "0.5"), "half.state is of a run with rows every 0.125 s, not 0.5 s: with loops"),
    ):
        said = mbdy(*words, *more)
        assert said.status == 0
        assert told in said.err
    for words, fragment in (
        (("--until", "0.5", "--resume", "half.state"), "half.state stands at 0.5 s"),
        (("--until", "1", "--resume", "whole.csv"), "whole.csv: is no state"),
        (("--until", "1", "--resume", "half.state", "-o", "half.state"), "half.state is named for something else"),
        (("--until", "1", "--resume", "half.state", "--set", "bus.omega[1]=1"), "before the first step"),
        (("--until", "1", "--save-state", "satellite.toml"), "--save-state"),
    ):
        said = mbdy("simulate", satellite, *words)
        assert said.status == 2
        assert fragment in said.err
