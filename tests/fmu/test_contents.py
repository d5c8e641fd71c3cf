"""What is in an FMU: sources that a target's compiler can build, clean C, libraries that show FMI's functions alone."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import fmpy
import numpy as np
import pytest
from fmpy.validation import validate_fmu

from flavours import NATIVE, PYTHON
from fmu.client import client_of, front_of, only, satellite
from mbdy.engine import loads, ports
from mbdy.engine.core.build import FLAGS, Compiler, compiler
from mbdy.fmu import export_fmu
from mbdy.fmu.native.kind import HERE
from mbdy.fmu.native.platforms import OLDEST_GLIBC, glibc_needed, this_machine
from mbdy.fmu.python import front
from mbdy.fmu.python.kind import FLAVOURS, PARTS, SLAVE
from mbdy.fmu.python.slave.contents import library_name
from systems import chain

STRICT = ("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wpedantic", "-Werror")
SCHEDULES = {"model.c", "changes.c", "gradients.c"}
"""Generated from CasADi's graphs; all other files are ours."""
LIBRARIES = {"2.0": ("linux64/{}.so", "win64/{}.dll"), "3.0": ("x86_64-linux/{}.so", "x86_64-windows/{}.dll")}
FUNCTIONS = {"2.0": 44, "3.0": 75}
needs_nm = pytest.mark.skipif(shutil.which("nm") is None, reason="no nm")


@pytest.fixture
def unpacked(fmu, tmp_path) -> Path:
    return Path(fmpy.extract(fmu, tmp_path / "unpacked"))


def names_in(fmu: Path) -> set[str]:
    with zipfile.ZipFile(fmu) as packed:
        return set(packed.namelist())


def test_fmpy_finds_no_problem(fmu):
    assert validate_fmu(str(fmu)) == []


def test_has_what_people_look_at(fmu, model, fmi, flavour):
    names = names_in(fmu)
    assert {"documentation/index.html", "resources/model.toml", "terminalsAndIcons/terminalsAndIcons.xml"} <= names
    assert {"terminalsAndIcons/icon.png", "terminalsAndIcons/icon.svg"} <= names
    assert ("sources/buildDescription.xml" in names) == (fmi == "3.0" and flavour in NATIVE)
    with zipfile.ZipFile(fmu) as packed:
        assert packed.namelist()[0] == "modelDescription.xml"
        assert ports(loads(packed.read("resources/model.toml").decode())) == ports(model)


@only(PYTHON)
def test_a_python_fmu_has_its_slave_and_the_plant(fmu, fmi, flavour):
    names = names_in(fmu)
    with zipfile.ZipFile(fmu) as packed:
        slave = packed.read("resources/slavemodule.txt").decode()
    assert slave.startswith("mbdy_two_panel_satellite_")
    assert {f"resources/{n}" for n in (library_name(), "plant.h", f"{slave}_parts/binding.py", f"{slave}.py")} <= names
    assert {f"resources/{slave}_parts/{part}" for part in (*PARTS, "__init__.py")} <= names
    assert {f"binaries/{name.format(slave)}" for name in LIBRARIES[fmi]} <= names
    assert not [name for name in names if name.startswith("sources/")]
    assert {name for name in names if name.startswith("resources/") and name.endswith((".json", ".c"))} == set()


def test_all_files_of_the_slave_go_along():
    assert {path.name for path in SLAVE.glob("*.py")} == {*PARTS, "__init__.py", "fmi2.py", "fmi3.py"}


@only(PYTHON)
def test_the_front_is_clean_c(tmp_path, fmi):
    flags = [*STRICT, "-shared", '-DBEHIND_HASH="0"']
    command = [*compiler().command, *front.FLAGS, *flags, "-o", tmp_path / "front.so", FLAVOURS[fmi].door]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def sources_of(folder: Path, fmi: str) -> list[str]:
    """The files that an importer is told to compile."""
    if fmi == "2.0":
        root = ElementTree.parse(folder / "modelDescription.xml").getroot()
        return [file.attrib["name"] for file in root.findall("CoSimulation/SourceFiles/File")]
    root = ElementTree.parse(folder / "sources" / "buildDescription.xml").getroot()
    first = root.find("BuildConfiguration")
    assert first is not None
    return [file.attrib["name"] for file in first.findall("SourceFileSet/SourceFile")]


@pytest.mark.slow
@only(NATIVE)
def test_the_sources_build_the_same_fmu(fmu, unpacked, fmi, opened):
    """As an importer does it: the listed files alone, in their folder, by its own compiler's plain flags."""
    client = opened().initialize()
    library = next((unpacked / "binaries").glob("*/*"))
    library.unlink()
    command = [*compiler().command, "-std=c11", "-O1", "-fPIC", "-shared", "-ffp-contract=off", "-o", str(library)]
    subprocess.run(
        [*command, *sources_of(unpacked, fmi)], cwd=unpacked / "sources", check=True
    )  # libm comes with hosts
    rebuilt = client_of(fmu, unpacked).initialize()
    for one in (client, rebuilt):
        one["panel.joint.torque"] = 0.5
        one.step(0.3)
    np.testing.assert_allclose(rebuilt.outputs(), client.outputs(), rtol=1e-12, atol=1e-14)
    rebuilt.fmu.freeInstance()


@pytest.mark.slow
@only(NATIVE)
def test_sources_are_clean_c(unpacked, fmi):
    listed = sources_of(unpacked, fmi)
    assert {file.name for file in (unpacked / "sources").glob("*.c")} == set(listed)
    own = [name for name in listed if name not in SCHEDULES]
    assert {f"fmi{fmi[0]}.c", "plant.c", "core.c", "table.c", "variables.c"} <= set(own)
    for name in own:
        command = [*compiler().command, *FLAGS, *STRICT, "-O1", "-c", name, "-o", "o.o"]
        subprocess.run(command, cwd=unpacked / "sources", check=True)


@only(NATIVE)
def test_headers_are_the_standards(unpacked, fmi):
    for header in (HERE / "headers").glob(f"fmi{fmi[0]}*.h"):
        text = header.read_text(encoding="utf-8")
        assert "Redistribution and use in source and binary forms" in text
        assert (unpacked / "sources" / header.name).read_text(encoding="utf-8") == text


def shown_by(library: Path) -> set[str]:
    """Names that a library gives to whoever loads it."""
    said = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1] for line in said.splitlines()}


@needs_nm
@only(NATIVE)
def test_a_native_library_shows_fmis_functions_and_no_others(unpacked, fmi):
    (library,) = (unpacked / "binaries").glob("*/*.so")
    header = (HERE / "headers" / f"fmi{fmi[0]}Functions.h").read_text(encoding="utf-8")
    wanted = {word for word in header.replace("(", " ").replace(")", " ").split() if word.startswith(f"fmi{fmi[0]}")}
    assert shown_by(library) <= wanted
    assert len(shown_by(library)) == FUNCTIONS[fmi]


@needs_nm
@only(PYTHON)
def test_libraries_of_a_python_fmu_show_no_more_than_is_called(unpacked, flavour):
    assert shown_by(unpacked / "resources" / library_name()) == {"mbdy_door"}
    if front_of(flavour) is None:
        pytest.skip("no library of ours in front of pythonfmu's")
    (library,) = (one for one in (unpacked / "binaries").glob("*/mbdy_*.so"))
    assert {name for name in shown_by(library) if not name.startswith(f"fmi{flavour.fmi[0]}")} == {"mbdy_call"}


def test_equal_models_give_equal_files(export, fmi, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    one, two = (export(satellite(), name) for name in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()
    assert fmpy.read_model_description(one).generationDateAndTime == "2023-11-14T22:13:20Z"


def test_the_token_follows_all_that_the_fmu_does(fmu, export):
    variants = [
        fmu,
        export(satellite(), "same"),
        export(satellite(), "step", step="2 ms"),
        export(satellite(), "integrator", integrator="euler-cromer"),
        export(satellite(mass=12.5), "mass"),
        export(satellite("another"), "name"),
    ]
    tokens = [fmpy.read_model_description(file).guid for file in variants]
    assert tokens[0] == tokens[1]
    assert len(set(tokens)) == len(variants) - 1
    names = [fmpy.read_model_description(file).coSimulation.modelIdentifier for file in variants]
    assert len(set(names)) == len(variants) - 1


def test_the_token_follows_kind_and_version(fmus):
    tokens = [fmpy.read_model_description(fmus(one)).guid for one in (*PYTHON, *NATIVE)]
    assert len(set(tokens)) == len(tokens)


@pytest.mark.slow
@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_an_fmu_of_500_bodies_is_small(fmi, tmp_path):
    assert export_fmu(chain(500), tmp_path / "large.fmu", fmi=fmi).stat().st_size < 1.5 * 2**20


@pytest.mark.skipif(find_spec("ziglang") is None or this_machine() != "linux64", reason="ziglang on Linux on x86-64")
@pytest.mark.slow
@only(PYTHON)
def test_ziglang_makes_the_front_for_every_glibc(monkeypatch, flavour):
    ziglang = Compiler((sys.executable, "-m", "ziglang", "cc", "-mcpu=baseline"), "ziglang")
    monkeypatch.setattr(front, "compiler", lambda: ziglang)
    made = front_of(flavour)
    assert made
    assert b"libdl.so.2" in made
    assert glibc_needed(made) <= OLDEST_GLIBC
