"""`mbdy fmu`: the file is written, what was done is told, what cannot be is said before the work and leaves nothing."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from fmu.ssp_cases import described
from mbdy.fmu.native.platforms import this_machine


def test_fmu_is_written(satellite: Path, mbdy):
    said = mbdy("fmu", satellite, "-o", "made/sat.fmu", "--step", "2 ms", "--json")
    assert said.status == 0
    assert said.json["step"] == 0.002
    assert "modelDescription.xml" in zipfile.ZipFile("made/sat.fmu").namelist()
    assert said.json["platforms"] == [this_machine()]
    said = mbdy("fmu", satellite)
    assert said.status == 0
    assert said.out.startswith(f"wrote satellite.fmu: FMI 2.0, native for {this_machine()}, ")
    assert Path("satellite.fmu").exists()


@pytest.mark.parametrize("words", [("-o", "sat.zip"), ("--step", "0"), ("--step", "1 kg"), ("-o", "satellite.toml")])
def test_fmu_refuses(words, satellite: Path, mbdy):
    before = satellite.read_text(encoding="utf-8")
    assert mbdy("fmu", satellite, *words).status == 2
    assert satellite.read_text(encoding="utf-8") == before


def test_fmu_makes_both_kinds(satellite: Path, mbdy):
    for fmi in ("2.0", "3.0"):
        said = mbdy("fmu", satellite, "--fmi", fmi, "--scalars", "-o", "sat.fmu", "--json")
        assert said.status == 0
        assert (said.json["kind"], said.json["fmi"], said.json["scalars"]) == ("native", fmi, True)
        assert said.json["platforms"] == [this_machine()]
        assert any(name.startswith("binaries/") for name in zipfile.ZipFile("sat.fmu").namelist())
    said = mbdy("fmu", satellite, "--kind", "python", "-o", "sat.fmu")
    assert said.out.startswith("wrote sat.fmu: FMI 2.0, python (its host needs Python; --kind native does not), ")


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (("--fmi", "1.0"), "must be one of '2.0', '3.0'"),
        (("--kind", "wooden"), "must be one of 'native', 'python'"),
        (("--kind", "python", "--platform", "win64"), "only an FMU of kind 'native'"),
        (("--platform", "vax"), "win64"),
        (("--kind", "native", "--platform", "linux64,vax"), "platform 'vax': must be one of linux64"),
        (("--step", "1/60 s"), "--step: '1/60 s' is not worked out; write the number, '0.0166666666667 s'"),
        (("--step", "1/0"), "unknown unit '/0'"),
    ],
)
def test_fmu_says_what_it_cannot_make(words, answer, satellite: Path, mbdy):
    said = mbdy("fmu", satellite, *words, "-o", "deep/sat.fmu")
    assert said.status == 2
    assert answer in said.err
    assert not Path("deep").exists()
    assert words[-2] in mbdy("fmu", "--help").out


@pytest.mark.parametrize("place", [".", "/", "folder.toml"])
def test_fmu_wants_a_model_file(place: str, satellite: Path, mbdy):
    Path("folder.toml").mkdir()
    said = mbdy("fmu", place)
    assert said.status == 2
    assert f"{place}: is a folder; give the model file in it" in said.err


def test_fmu_keeps_a_model_file_of_its_own_name(satellite: Path, mbdy):
    text = satellite.read_text(encoding="utf-8")
    satellite.rename("my.fmu")
    said = mbdy("fmu", "my.fmu")
    assert said.status == 2
    assert "my.fmu: is the model file, which my.fmu would be written over; name another with -o" in said.err
    assert Path("my.fmu").read_text(encoding="utf-8") == text


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no place that nobody can write to")
@pytest.mark.parametrize("command", ["fmu", "ssp"])
def test_an_output_that_cannot_be_is_said_before_the_work(command: str, satellite: Path, mbdy, monkeypatch):
    cache = satellite.parent / "cores"
    monkeypatch.setenv("MBDY_CACHE", str(cache))
    controller = ("--controller", described(Path("controller.fmu"))) if command == "ssp" else ()
    place = f"/proc/nowhere/y.{command}"
    said = mbdy(command, satellite, *controller, "-o", place, "--kind", "native")
    assert said.status == 2
    assert f"'{place}' cannot be written: " in said.err
    assert not cache.exists() or not list(cache.iterdir())  # nothing was compiled


def test_fmu_makes_no_folder_for_a_bad_model(tmp_path: Path, monkeypatch, mbdy):
    monkeypatch.chdir(tmp_path)
    assert mbdy("fmu", "nosuch.toml", "-o", "deep/sat.fmu").status == 2
    assert not Path("deep").exists()
