"""What docs/clients.md shows of clients that may be missing, and its C program; tests/docs runs the rest."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from contextlib import chdir
from importlib import import_module
from pathlib import Path

import fmpy
import pytest

from clients.cases import EXAMPLES, QUICKSTART
from mbdy.blocks import Plant
from mbdy.engine.core.build import compiler

PAGE = Path(__file__).parents[2] / "docs" / "clients.md"
TEXT = PAGE.read_text(encoding="utf-8")
CLIENTS = ("libcosimpy", "fmuloader", "pathsim_fmi", "cofmupy")
HEADERS = Path(fmpy.__file__).parent / "c-code"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the FMUs that the page begins with."""
    folder = tmp_path_factory.mktemp("page")
    shutil.copytree(EXAMPLES / "quickstart", folder / "examples" / "quickstart")
    with chdir(folder):
        exec(blocks("python")[0], {})
    return folder


@pytest.fixture
def fmus(exports: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same as the current folder."""
    monkeypatch.chdir(exports)


@pytest.mark.usefixtures("fmus")
@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_runs_as_shown(client: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    pytest.importorskip(client)
    (block,) = (block for block in blocks("py") if f"from {client}" in block)
    if client == "cofmupy":  # the page says that it wants another FMPy than this environment has
        monkeypatch.setattr("cofmupy.coordinator.DefaultMaster", import_module("clients.cofmupy_side").Master)
    exec(compile(block, str(PAGE), "exec"), {"__name__": "page"})
    shown = capsys.readouterr().out.split()[-1].strip("[]")
    assert 0 < abs(float(shown)) < 0.1


@pytest.mark.usefixtures("fmus")
@pytest.mark.skipif(sys.platform == "win32", reason="the page's program opens libraries as Linux and macOS do")
def test_the_c_program(tmp_path: Path):
    (source,) = blocks("c")
    (tmp_path / "host.c").write_text(source, encoding="utf-8")
    strict = ("-Wall", "-Wextra", "-Werror")
    command = [*compiler().command, *strict, "host.c", f"-I{HEADERS}", "-o", "host", "-ldl"]
    subprocess.run(command, check=True, timeout=120, cwd=tmp_path)
    unpacked = Path(fmpy.extract("satellite.fmu"))
    description = fmpy.read_model_description(unpacked)
    place = {v.name: str(v.valueReference) for v in description.modelVariables}
    library = f"{description.coSimulation.modelIdentifier}{fmpy.sharedLibraryExtension}"
    ran = subprocess.run(
        [
            str(tmp_path / "host"), str(unpacked / "binaries" / fmpy.platform / library), description.guid,
            place["bus.omega[1]"], place["bus.torque[1]"],
        ],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    plant = Plant(QUICKSTART.model)
    for _ in range(100):
        plant["bus.torque[1]"] = -80 * plant["bus.omega[1]"]
        plant.step(0.02)
    assert float(ran.stdout) == pytest.approx(plant["bus.omega[1]"], rel=1e-12)
