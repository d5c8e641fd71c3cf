"""Every file that a model names is listed with the hash of the bytes that were used, wherever a model is told of."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest
from scipy import sparse
from scipy.io import mmwrite

from flexible_samples import file_of_42, frame
from mbdy.engine import load
from mbdy.engine.flexible.beam import beam
from mbdy.engine.flexible.sid import write_sid
from mbdy.engine.model import contents as reading

MODEL = """
mbdy = 1
name = "of files"
[body.bus]
mass = 100
inertia = [20, 25, 30]
joint = { to = "inertial", kind = "free" }
[body.frame]
joint = { to = "bus", kind = "fixed" }
[body.frame.flex.reduce]
mass = "data/mass.npz"
stiffness = "data/stiffness.mtx"
table = "data/nodes.csv"
interface = 100
modes = 2
[body.boom]
flex.file = "data/boom.SID_FEM"
joint = { to = "bus", kind = "fixed" }
[body.particle]
mass = 20
inertia = [100, 100, 100]
flex.file = "Flex_Particle.txt"
joint = { to = "bus", kind = "fixed" }
"""
DATA = ["data/mass.npz", "data/stiffness.mtx", "data/nodes.csv", "data/boom.SID_FEM", "Flex_Particle.txt"]


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model of data in every format, beside the current folder."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "models"
    (folder / "data").mkdir(parents=True)
    M, K, places, _ = frame(4)
    sparse.save_npz(folder / "data" / "mass.npz", sparse.csr_matrix(M))
    mmwrite(folder / "data" / "stiffness.mtx", sparse.coo_matrix(K))
    rows = [f"{node},{x},{y},{z}" for node, (x, y, z) in places.items()]
    (folder / "data" / "nodes.csv").write_text("\n".join(["node,x,y,z", *rows]), encoding="utf-8")
    boom = beam(length=2.0, mass_per_length=0.5, bending_stiffness=10.0, torsional_stiffness=1.0, modes=2)
    write_sid(folder / "data" / "boom.SID_FEM", boom)
    (folder / "Flex_Particle.txt").write_text(file_of_42(), encoding="utf-8")
    (folder / "it.toml").write_text(MODEL, encoding="utf-8")
    return folder / "it.toml"


def by_name(files: Iterable[dict[str, str]]) -> list[dict[str, str]]:
    return sorted(files, key=lambda file: file["file"])


def expected(model: Path) -> list[dict[str, str]]:
    """By name."""
    files = ["it.toml", *DATA]
    return by_name({"file": n, "sha256": hashlib.sha256((model.parent / n).read_bytes()).hexdigest()} for n in files)


def test_a_file_that_is_edited_in_between_has_the_hash_of_what_was_used(model: Path, monkeypatch: pytest.MonkeyPatch):
    """Each file is broken as soon as it has been read once; the evidence is of what was used."""
    whole, before, real = load(model), expected(model), reading._read

    def read(path: str | Path, most: int) -> bytes:
        data = real(path, most)
        Path(path).write_bytes(b"edited")
        return data

    monkeypatch.setattr(reading, "_read", read)
    edited = load(model)
    assert by_name(file.facts() for file in edited.files) == before
    assert edited.files[0].path == "it.toml"
    assert edited == whole
    assert expected(model) != before


@pytest.mark.slow
def test_all_that_is_told_of_a_model_has_its_files(model: Path, mbdy):
    table = Path("inputs.csv")
    table.write_text("time,bus.torque[1]\n0,1\n", encoding="utf-8")
    files, ours = expected(model), {"file": table.name, "sha256": hashlib.sha256(table.read_bytes()).hexdigest()}
    run = ("--until", "0.01", "--step", "0.0001", "--input", table, "--report", "run.html", "--json")
    said = mbdy("simulate", model, *run)
    assert by_name(said.json["sources"][:-1]) == files
    assert said.json["sources"][-1] == ours
    assert mbdy("fmu", model, "-o", "it.fmu", "--step", "0.0001").status == 0
    assert mbdy("verify", model, "--states", 0, "--report", "it.md").status in (0, 1)
    with zipfile.ZipFile("it.fmu") as fmu:
        assert by_name(json.loads(fmu.read("resources/sources.json"))) == files
        pages = [Path("run.html").read_text(encoding="utf-8"), fmu.read("documentation/index.html").decode()]
    pages.append(Path("it.md").read_text(encoding="utf-8").replace("\\", ""))
    for page in pages:
        for file in files:
            assert file["file"] in page
            assert file["sha256"] in page
    assert ours["sha256"] in pages[0]


@pytest.mark.parametrize("name", DATA)
def test_data_are_not_written_over(name: str, model: Path, mbdy):
    data = model.parent / name
    before = data.read_bytes()
    for command in (("simulate", model, "-o"), ("verify", model, "--report")):
        link = Path("link" + (".csv" if command[0] == "simulate" else ".md"))
        link.symlink_to(data)
        said = mbdy(*command, link)
        assert said.status == 2, said.err
        assert "is named for something else already" in said.err
        assert link.is_symlink()
    assert data.read_bytes() == before


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_a_model_comes_by_standard_input(name: str, model: Path, environment):
    """Files that it names are looked for in the current folder."""
    text = MODEL.replace('"data/', f'"{model.parent.name}/data/').replace('"Flex', f'"{model.parent.name}/Flex')
    command = [sys.executable, "-m", "mbdy", "check", name, "--json"]
    done = subprocess.run(command, env=environment, input=text.encode(), capture_output=True, check=False)
    said = json.loads(done.stdout)
    assert said["ok"] is True
    assert said["sources"][0] == {"file": "/dev/stdin", "sha256": hashlib.sha256(text.encode()).hexdigest()}
    data = {file["sha256"] for file in expected(model) if file["file"] in DATA}
    assert {source["sha256"] for source in said["sources"][1:]} == data
