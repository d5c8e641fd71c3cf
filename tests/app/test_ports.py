"""One file with ``[ports]`` through every door: block, commands, CSV, report, FMUs of both versions and kinds."""

from __future__ import annotations

import csv
from itertools import product
from pathlib import Path

import fmpy
import numpy as np
import pytest
from fmpy.validation import validate_fmu

from mbdy.blocks import Plant
from mbdy.engine import Model, load
from mbdy.fmu import export_fmu

INPUTS, OUTPUTS = ("bus.torque", "panel.joint.torque"), ("bus.omega", "panel.joint.angle")
SCALARS = ("bus.omega[1]", "bus.omega[2]", "bus.omega[3]", "panel.joint.angle")
FILE = """
mbdy = 1
name = "few ports"
[system]
gravity = [0, 0, -1]
[body.bus]
mass = 500
com = [0, 0, 0.1]
inertia = [410, 380, 300]
joint = { to = "inertial", kind = "free" }
[body.bus.wheel.x]
axis = [1, 0, 0]
inertia = 0.05
[body.panel]
mass = 12
com = [0, 1.1, 0]
inertia = [9.8, 0.4, 10.1]
joint = { to = "bus", kind = "revolute", axis = [0, 1, 0], at = [0, 0.6, 0], stiffness = 40, rest = "5 deg" }
[ports]
inputs = ["bus.torque", "*.joint.torque"]
outputs = ["bus.omega", "*.joint.angle"]
[initial]
panel.joint.rate = 0.2
bus.omega = [0, 0.01, 0]
"""
STEP, END = 0.01, 0.2
SOLVER = 1e-6
"""What FMPy's solver of model exchange may leave."""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "few.toml"
    path.write_text(FILE, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    path = tmp_path_factory.mktemp("few") / "few.toml"
    path.write_text(FILE, encoding="utf-8")
    return load(path)


def test_columns_of_a_csv_are_the_outputs(file: Path, mbdy):
    said = mbdy("simulate", file, "--until", END, "--every", STEP, "--step", STEP, "-o", "run.csv", "--set",
                "bus.torque=[1, 0, 0]", "--set", "panel.joint.rate=0.3", "--set", "bus.x.speed=1000 rpm")  # fmt: skip
    assert said.status == 0, said.err
    rows = list(csv.reader(Path("run.csv").read_text(encoding="utf-8").splitlines()))
    assert tuple(rows[0]) == ("time", *SCALARS)
    whole = Plant(load(file).whole, step=STEP)
    whole["bus.torque"], whole["panel.joint.rate"], whole["bus.x.speed"] = [1, 0, 0], 0.3, "1000 rpm"
    for _ in range(round(END / STEP)):
        y = whole.step(STEP)
    np.testing.assert_array_equal(np.array(rows[-1][1:], float), [y[name] for name in SCALARS])


def test_commands_cope_with_what_is_left_out(file: Path, mbdy):
    checked = mbdy("check", file, "--json").json
    assert (checked["counts"]["inputs"], checked["counts"]["outputs"], checked["counts"]["states"]) == (4, 4, 16)
    assert checked["totals"]["mass"] == 512
    run = mbdy("simulate", file, "--until", END, "--report", "run.html", "--json").json
    assert run["ok"] is True
    assert run["drift"] == {}
    assert "panel.joint.rate" in Path("run.html").read_text(encoding="utf-8")  # among the start values
    assert "system.energy" not in mbdy("simulate", file, "--until", END, "--outputs", "bus.*").out
    linear = mbdy("linearize", file, "--json").json
    assert (len(linear["inputs"]), len(linear["outputs"])) == (4, 4)
    assert mbdy("verify", file, "--states", "1").status == 0


@pytest.mark.parametrize(
    "words",
    [
        ("simulate", "--set", "bus.force[1]=3"),
        ("simulate", "--outputs", "bus.attitude"),
        ("linearize", "--inputs", "bus.force"),
        ("linearize", "--outputs", "bus.attitude"),
        ("linearize", "--at", "system.gravity=[0, 0, 1]"),
        ("linearize", "--trim", "--free", "bus.force"),
    ],
    ids=" ".join,
)
def test_commands_say_what_is_left_out(words, file: Path, mbdy):
    said = mbdy(words[0], file, *words[1:])
    assert said.status == 2
    assert words[-1].partition("=")[0] in said.err
    assert "[ports] of the model file leaves it out" in said.err


@pytest.mark.parametrize(("fmi", "kind"), list(product(("2.0", "3.0"), ("python", "native"))))
def test_an_fmu_has_the_ports_and_the_states(fmi: str, kind: str, model: Model, tmp_path: Path):
    path = str(export_fmu(model, tmp_path / "few.fmu", fmi=fmi, kind=kind, step=STEP))
    assert validate_fmu(path) == []
    described = {v.name: v for v in fmpy.read_model_description(path).modelVariables}

    def named(causality: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(n.partition("[")[0] for n, v in described.items() if v.causality == causality))

    assert set(named("input")) == set(INPUTS)
    assert set(named("output")) == set(OUTPUTS)
    if kind == "native":  # states are there for model exchange, wheels start by their speeds
        assert "panel.joint.rate" in named("local")
        assert {"bus.x.momentum", "der(bus.x.momentum)", "der(panel.joint.rate)"} <= set(named("local"))
        assert described["panel.joint.rate"].start == "0.2"
        assert described["panel.joint.rate"].initial == "exact"
        assert "panel.joint.rate" not in named("parameter")
    else:
        assert "panel.joint.rate" in named("parameter")
        assert not named("local")
    assert described["bus.x.speed"].variability == "fixed"
    assert "system.energy" not in described
    assert "bus.force" not in named("input")
    plant = Plant(model.whole, step=STEP)
    plant["panel.joint.rate"], plant["bus.x.speed"] = 0.3, 100.0
    for _ in range(round(END / STEP)):
        y = plant.step(STEP)
    expected = [y["bus.omega[1]"], y["bus.omega[2]"], y["bus.omega[3]"], y["panel.joint.angle"]]
    for solver in ("CoSimulation", "ModelExchange") if kind == "native" else ("CoSimulation",):
        found = fmpy.simulate_fmu(
            path, stop_time=END, step_size=STEP, output_interval=STEP, fmi_type=solver,
            start_values={"panel.joint.rate": 0.3, "bus.x.speed": 100.0},
        )  # fmt: skip
        last = np.concatenate([np.ravel(value) for value in found[-1].tolist()[1:]])
        np.testing.assert_allclose(last, expected, rtol=0, atol=SOLVER if solver == "ModelExchange" else 0.0)
