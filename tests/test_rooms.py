"""The rooms: imports point one way, the namespace stays open, and a wheel holds them all."""

from __future__ import annotations

import ast
import os
import runpy
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = {"engine": "engine", "blocks": "blocks", "fmu": "fmu_src", "app": "app"}
"""Rooms from the lowest to the highest, and the source root of each."""
ORDER = list(ROOMS)
LATE = {
    "control",
    "fmpy",
    "hdrh",
    "pathsim",
    "pint",
    "plotly",
    "pyarrow",
    "pythonfmu",
    "pythonfmu3",
    "rich",
    "scipy",
    "tomlkit",
    "typer",
    "xarray",
    "zmq",
}
"""Packages that some functions need and an import does not."""
ENGINE = ("model", "flexible", "files", "order_n", "core", "assembly", "linear", "verification")
"""Rooms of the engine: each imports those to its left."""
SLAVE = "slave"
"""The folder of the FMU's slave: a package of another name inside an FMU, so its files import each other relatively."""


def _imports(path: Path) -> set[str]:
    """Modules of mbdy that a file imports, by full name without ``mbdy.``."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        modules = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            if path.parent.name == SLAVE and node.level == 1:
                continue
            assert node.level == 0, f"{path}: import by full name"
            modules = [f"{node.module}.{alias.name}" for alias in node.names]
        found |= {m.removeprefix("mbdy.") for m in modules if m.startswith("mbdy.")}
    return found


@pytest.mark.parametrize("room", ORDER)
def test_imports_point_one_way(room):
    allowed = set(ORDER[: ORDER.index(room) + 1])
    files = list((ROOT / ROOMS[room] / "mbdy" / room).rglob("*.py"))
    assert files
    for path in files:
        assert {module.partition(".")[0] for module in _imports(path)} <= allowed, path


@pytest.mark.parametrize("room", ENGINE)
def test_rooms_of_the_engine_import_those_to_their_left(room):
    allowed = set(ENGINE[: ENGINE.index(room) + 1])
    files = list((ROOT / "engine/mbdy/engine" / room).rglob("*.py"))
    assert files
    found = {
        path.name: {m.split(".")[1] for m in _imports(path) if m.startswith("engine.")} - allowed for path in files
    }
    assert {name: rooms for name, rooms in found.items() if rooms} == {}


def test_the_engine_has_no_other_rooms():
    folder = ROOT / "engine/mbdy/engine"
    assert {path.parent.relative_to(folder).parts[0] for path in folder.glob("*/**/*.py")} == set(ENGINE)
    assert [path.name for path in folder.glob("*.py")] == ["__init__.py"]


def test_a_class_name_names_one_class():
    """But for second opinions, which may have the engine's."""
    house = runpy.run_path(str(ROOT / "bench/house.py"))
    assert house["repeated_classes"]() == {}


@pytest.mark.parametrize("room", ORDER)
def test_the_namespace_stays_open(room):
    root = ROOT / ROOMS[room] / "mbdy"
    assert not (root / "__init__.py").exists()
    assert (root / room / "__init__.py").exists()
    assert (root / room / "py.typed").exists()
    assert "__all__" in (root / room / "__init__.py").read_text(encoding="utf-8")


def test_the_core_binding_needs_only_the_standard_library():
    path = ROOT / "engine" / "mbdy" / "engine" / "core" / "binding.py"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    modules = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    modules |= {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    assert {m.partition(".")[0] for m in modules} <= sys.stdlib_module_names


def test_what_a_few_use_is_loaded_when_used():
    script = "import sys, mbdy.engine, mbdy.blocks, mbdy.fmu; print(*sys.modules)"
    path = os.pathsep.join(str(ROOT / root) for root in ROOMS.values())
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": path},
        check=True,
        capture_output=True,
        text=True,
    )
    loaded = {module.partition(".")[0] for module in done.stdout.split()}
    assert not loaded & LATE


@pytest.mark.slow
def test_a_wheel_holds_the_rooms_and_nothing_beside_them(tmp_path):
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)], cwd=ROOT, check=True
    )
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0] for name in names if ".dist-info/" not in name} == {"mbdy"}
    for room in ORDER:
        assert f"mbdy/{room}/py.typed" in names
    for file in ("core.c", "core.h", "integrators/rk4.c", "elementary.h", "binding.py"):
        assert f"mbdy/engine/core/{file}" in names
    for file in ("plant.c", "plant.h", "door.c"):
        assert f"mbdy/blocks/plant/{file}" in names
    for file in ("fmi2.c", "fmi3.c", "headers/fmi3Functions.h"):
        assert f"mbdy/fmu/native/{file}" in names
    for file in ("front.h", "front_fmi3.c", "slave/instance.py"):
        assert f"mbdy/fmu/python/{file}" in names
    assert "mbdy/app/examples/quickstart/satellite.toml" in names
