"""`mbdy ssp`: the package is written, what was done is told, mistakes are told in plain words."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from fmpy.ssp.ssd import read_ssd

from fmu.ssp_cases import DRIVEN, SENSED, described
from mbdy.fmu.native.platforms import this_machine


@pytest.fixture
def controller(satellite: Path) -> Path:
    """A controller's FMU beside the model, in the current folder."""
    return described(Path("controller.fmu"))


def test_ssp_is_written(satellite: Path, controller: Path, mbdy):
    said = mbdy("ssp", satellite, "--controller", controller, "-o", "made/sat.ssp", "--step", "2 ms", "--json")
    assert said.status == 0, said.err
    assert said.json["step"] == 0.002
    assert said.json["warnings"] == []
    made = {pair["to"]: pair["from"] for pair in said.json["connections"]}
    assert made == {f"controller.{n}": f"plant.{n}" for n in SENSED} | {f"plant.{n}": f"controller.{n}" for n in DRIVEN}
    system = read_ssd("made/sat.ssp").system
    assert system is not None
    assert said.json["outputs"] == [connector.name for connector in system.connectors]


def test_ssp_says_what_it_wrote(satellite: Path, controller: Path, mbdy):
    said = mbdy("ssp", satellite, "--controller", controller)
    assert said.status == 0
    assert said.out.startswith("wrote satellite.ssp: plant and controller, 6 connections, ")
    assert not said.err


def test_ssp_connects_and_shows_as_told(satellite: Path, controller: Path, mbdy):
    words = ("--connect", "controller.bus.torque = plant.left.torque", "--outputs", "bus.omega,system.mass", "--json")
    said = mbdy("ssp", satellite, "--controller", controller, *words)
    assert said.status == 0
    assert {"from": "controller.bus.torque[1]", "to": "plant.left.torque[1]"} in said.json["connections"]
    assert said.json["outputs"] == [*SENSED, "system.mass"]
    assert mbdy("ssp", satellite, "--controller", controller, "--outputs", "none", "--json").json["outputs"] == []


def test_ssp_warns_of_what_stays_open(satellite: Path, mbdy):
    described(Path("controller.fmu"), inputs={**SENSED, "goal": "1"})
    said = mbdy("ssp", satellite, "--controller", "controller.fmu", "--json")
    assert said.status == 0
    assert "controller.fmu: input 'goal' is no output of the plant" in said.json["warnings"][0]
    assert said.err.startswith("warning: ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--controller", "nosuch.fmu"), "nosuch.fmu: no such file"),
        (("--controller", "satellite.toml"), "satellite.toml: is no FMU"),
        (("--controller", "controller.fmu", "--connect", "x"), "--connect 'x': must be OUTPUT=INPUT"),
        (("--controller", "controller.fmu", "--connect", "controller.t=plant.bus.torque[1]"),
         "controller.t: controller.fmu has no such variable"),
        (("--controller", "controller.fmu", "--outputs", "bus.omga"), "no output matches 'bus.omga'"),
        (("--controller", "controller.fmu", "-o", "sat.zip"), "the file's name ends in .ssp"),
        (("--controller", "controller.fmu", "-o", "controller.fmu"), "named for something else already"),
        (("--controller", "controller.fmu", "--step", "0"), "--step: must be > 0 s"),
        (("--controller", "controller.fmu", "--kind", "wooden"), "kind 'wooden': must be one of 'native', 'python'"),
        (("--controller", "controller.fmu", "--kind", "python", "--platform", "win64"), "only an FMU of kind 'native'"),
        (("--controller", "controller.fmu", "--kind", "native", "--platform", "vax"), "platform 'vax'"),
    ],
)  # fmt: skip
def test_ssp_refuses(words, said, satellite: Path, controller: Path, mbdy):
    answer = mbdy("ssp", satellite, "-o", "deep/satellite.ssp", *words)
    assert answer.status == 2
    assert said in answer.err
    assert not Path("deep").exists()


def test_ssp_wants_a_model_file(satellite: Path, controller: Path, mbdy):
    assert ".: is a folder; give the model file in it" in mbdy("ssp", ".", "--controller", controller).err
    assert "/: is a folder" in mbdy("ssp", "/", "--controller", controller).err


def test_ssp_takes_a_native_plant_for_named_platforms(satellite: Path, controller: Path, mbdy):
    words = ("--kind", "native", "--platform", this_machine(), "-o", "sat.ssp")
    assert mbdy("ssp", satellite, "--controller", controller, *words).status == 0
    with zipfile.ZipFile("sat.ssp") as package:
        package.extract("resources/plant.fmu")
    with zipfile.ZipFile("resources/plant.fmu") as plant:
        assert any(name.startswith("binaries/") for name in plant.namelist())
        assert "sources/plant.c" in plant.namelist()


def test_help_shows_an_example(mbdy):
    assert "mbdy ssp satellite.toml --controller controller.fmu -o system.ssp" in " ".join(
        mbdy("ssp", "-h").out.split()
    )
