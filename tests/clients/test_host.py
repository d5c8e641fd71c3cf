"""A simulator in C, with no Python in its process: co-simulation of native FMUs, FMI 2 and 3, also elsewhere."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import fmpy
import numpy as np
import pytest

from clients.cases import FIVE_BODY_LINEAR, LINEAR_LAWS, Case, Linear, agree, reference, references
from flavours import Flavour, flavours
from fmu import foreign
from mbdy.engine.core.build import compiler
from mbdy.fmu import export_fmu
from mbdy.fmu.native.platforms import Platform, host, named

SOURCE = Path(__file__).with_name("host.c")
HEADERS = Path(fmpy.__file__).parent / "c-code"
STRICT = ("-Wall", "-Wextra", "-Wconversion", "-Wno-sign-conversion", "-Werror")
FLAGS = ("-std=c11", "-O2", "-ffp-contract=off", *STRICT, f"-I{HEADERS}")


@pytest.fixture(scope="session")
def compiled_host(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The simulator, compiled."""
    program = tmp_path_factory.mktemp("host") / ("host.exe" if sys.platform == "win32" else "host")
    link = ["-ldl"] if sys.platform.startswith("linux") else []
    subprocess.run([*compiler().command, *FLAGS, str(SOURCE), "-o", str(program), *link], check=True, timeout=300)
    return program


def script(unpacked: Path, case: Case, platform: Platform) -> str:
    """What the host is told, see host.c."""
    description = fmpy.read_model_description(unpacked)
    version = description.fmiVersion[0]
    library = unpacked / "binaries" / (platform.fmi2 if version == "2" else platform.tuple)
    resources = unpacked / "resources"
    assert case.linear is not None
    assert description.coSimulation is not None
    lines = [
        f"library {library / description.coSimulation.modelIdentifier}{platform.suffix}",
        f"fmi {version}",
        f"token {description.guid}",
        f"resources {resources.as_uri()}" if version == "2" else f"resources {resources}/",
        f"step {case.step!r}",
        f"steps {case.steps}",
    ]
    for word, names in (("measured", case.measured), ("commanded", case.commanded), ("recorded", case.recorded)):
        lines += [f"{word} {place} {len(those)}" for place, those in grouped(description, names)]
    for place, names in grouped(description, tuple(case.starts)):
        lines.append(f"start {place} {' '.join(repr(case.starts[name]) for name in names)}")
    return "\n".join([*lines, *laws(case.linear), ""])


def grouped(description, names: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Each value reference with the names of its scalars."""
    places: dict[int, list[str]] = {}
    for name in names:
        (place,) = references(description, [name])
        places.setdefault(place, []).append(name)
    yield from places.items()


def laws(linear: Linear) -> Iterator[str]:
    for bias, gains in zip(linear.bias, linear.gains, strict=True):
        yield f"law {' '.join(map(repr, (bias, *gains)))}"


def told(unpacked: Path, case: Case, platform: Platform, folder: Path) -> Path:
    """The script as a file."""
    file = folder / "script.txt"
    file.write_text(script(unpacked, case, platform), encoding="utf-8")
    return file


def check(printed: str, case: Case) -> None:
    """Rows of time and recorded values, as the host printed them."""
    rows = np.array([list(map(float, line.split())) for line in printed.splitlines()])
    np.testing.assert_allclose(rows[:, 0], case.step * np.arange(case.steps + 1), rtol=1e-15)
    agree(rows[:, 1:], reference(case))


@pytest.mark.parametrize("case", LINEAR_LAWS, ids=str)
@pytest.mark.parametrize("flavour", flavours(kind="native"), ids=str)
def test_co_simulation(
    case: Case, flavour: Flavour, compiled_host: Path, exported: Callable[[Case, Flavour], Path], tmp_path: Path
):
    unpacked = Path(fmpy.extract(exported(case, flavour), tmp_path / "fmu"))
    command = [str(compiled_host), str(told(unpacked, case, host(), tmp_path))]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (ran.returncode, ran.stderr) == (0, "")
    check(ran.stdout, case)


@pytest.mark.slow
@pytest.mark.parametrize("flavour", flavours(kind="native", scalars=False), ids=str)
@pytest.mark.parametrize("name", ["win64", "linux-aarch64"])
def test_co_simulation_on_another_machine(name: str, flavour: Flavour, tmp_path: Path):
    platform = named(name)
    if foreign.runner(platform) is None:
        pytest.skip(f"{name}: needs wine64, or qemu-user and libc6-arm64-cross")
    fmu = export_fmu(
        FIVE_BODY_LINEAR.model, tmp_path / "plant.fmu", kind=flavour.kind, fmi=flavour.fmi, platforms=[name]
    )
    unpacked = Path(fmpy.extract(fmu, tmp_path / "fmu"))
    program = foreign.program(platform, SOURCE, tmp_path, FLAGS)
    file = told(unpacked, FIVE_BODY_LINEAR, platform, tmp_path)
    check(foreign.ran(platform, program, file, folder=tmp_path), FIVE_BODY_LINEAR)
