"""What is in a native FMU: sources that a target's compiler can build, clean C, nothing shown but FMI's functions."""

from __future__ import annotations

import shutil
import subprocess
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import fmpy
import numpy as np
import pytest

from fmu.client import client_of
from mbdy.engine.core.build import FLAGS, compiler
from mbdy.fmu import ExportError, export_fmu
from mbdy.fmu.native.kind import HERE, RUNTIME

STRICT = ("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wpedantic", "-Werror")

needs_compiler = pytest.mark.skipif(compiler() is None, reason="no C compiler")


def sources_of(folder: Path, fmi: str) -> list[str]:
    if fmi == "2.0":
        root = ElementTree.parse(folder / "modelDescription.xml").getroot()
        return [file.attrib["name"] for file in root.findall("CoSimulation/SourceFiles/File")]
    root = ElementTree.parse(folder / "sources" / "buildDescription.xml").getroot()
    first = root.find("BuildConfiguration")
    assert first is not None
    return [file.attrib["name"] for file in first.findall("SourceFileSet/SourceFile")]


@pytest.fixture
def unpacked(natives, fmi, tmp_path) -> Path:
    return Path(fmpy.extract(natives[fmi], tmp_path / "unpacked"))


@needs_compiler
def test_the_sources_build_the_same_fmu(natives, unpacked, fmi, opened):
    """As an importer does it: the listed files alone, in their folder, by its own compiler's plain flags."""
    client = opened().initialize()
    library = next((unpacked / "binaries").glob("*/*"))
    library.unlink()
    cc = compiler()
    assert cc is not None
    command = [*cc.command, "-std=c11", "-O1", "-fPIC", "-shared", "-ffp-contract=off", "-o", str(library)]
    subprocess.run(
        [*command, *sources_of(unpacked, fmi)], cwd=unpacked / "sources", check=True
    )  # libm comes with hosts
    rebuilt = client_of(natives[fmi], unpacked).initialize()
    for one in (client, rebuilt):
        one["panel.joint.torque"] = 0.5
        one.step(0.3)
    np.testing.assert_allclose(rebuilt.outputs(), client.outputs(), rtol=1e-12, atol=1e-14)
    rebuilt.fmu.freeInstance()


@needs_compiler
def test_the_runtime_is_clean_c(unpacked, fmi):
    cc = compiler()
    assert cc is not None
    own = [f"fmi{fmi[0]}.c", *(name for name in RUNTIME if name.endswith(".c")), "tables.c", "core.c"]
    for name in own:
        subprocess.run(
            [*cc.command, *FLAGS, *STRICT, "-O1", "-c", name, "-o", "o.o"], cwd=unpacked / "sources", check=True
        )


def test_the_runtimes_headers_are_the_standards(unpacked, fmi):
    for header in (HERE / "headers").glob(f"fmi{fmi[0]}*.h"):
        text = header.read_text(encoding="utf-8")
        assert "Redistribution and use in source and binary forms" in text
        assert (unpacked / "sources" / header.name).read_text(encoding="utf-8") == text


@pytest.mark.skipif(shutil.which("nm") is None, reason="no nm")
def test_shows_fmis_functions_and_no_others(unpacked, fmi):
    library = next((unpacked / "binaries").glob("*/*.so"))
    said = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    shown = {line.split()[-1] for line in said.splitlines()}
    header = (HERE / "headers" / f"fmi{fmi[0]}Functions.h").read_text(encoding="utf-8")
    wanted = {word for word in header.replace("(", " ").replace(")", " ").split() if word.startswith(f"fmi{fmi[0]}")}
    assert shown <= wanted
    assert len(shown) == (44 if fmi == "2.0" else 75)


def test_has_what_people_look_at(natives, fmi):
    with zipfile.ZipFile(natives[fmi]) as opened:
        names = set(opened.namelist())
    assert {"documentation/index.html", "resources/model.toml", "terminalsAndIcons/terminalsAndIcons.xml"} <= names
    assert {"terminalsAndIcons/icon.png", "terminalsAndIcons/icon.svg", "sources/core.c", "sources/tables.c"} <= names
    assert ("sources/buildDescription.xml" in names) == (fmi == "3.0")


def test_equal_models_give_equal_files(natives, model, fmi, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    one, two = (
        export_fmu(model, tmp_path / name / "a.fmu", fmi=fmi, kind="native").read_bytes() for name in ("one", "two")
    )
    assert one == two
    other = export_fmu(model, tmp_path / "c.fmu", fmi=fmi, kind="native", step="2 ms")
    tokens = {fmpy.read_model_description(file).guid for file in (natives[fmi], other)}
    assert len(tokens) == 2


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"platforms": ["vax"]}, "vax"),
        ({"platforms": ["linux64"], "kind": "python"}, "native"),
        ({"kind": "wooden"}, "'python', 'native'"),
        ({"fmi": "1.0"}, "'2.0', '3.0'"),
    ],
)
def test_what_cannot_be_exported(model, tmp_path, asked, said):
    with pytest.raises(ExportError, match=said):
        export_fmu(model, tmp_path / "a.fmu", **{"kind": "native", **asked})
    assert not (tmp_path / "a.fmu").exists()


@pytest.mark.parametrize("fmi", ["3.0"])
def test_scalars_instead_of_arrays(model, opened, tmp_path):
    flat = opened(export_fmu(model, tmp_path / "flat.fmu", fmi="3.0", kind="native", scalars=True)).initialize()
    arrays = opened().initialize()
    assert all(v.shape in ((), None) for v in flat.description.modelVariables)
    for client in (flat, arrays):
        client["bus.torque[2]"] = 0.4
        client.step(0.1)
    np.testing.assert_array_equal(flat.outputs(), arrays.outputs())
