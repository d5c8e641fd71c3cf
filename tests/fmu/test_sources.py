"""Sources of two FMUs in one program: every name that links has a prefix of its FMU's own."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import fmpy
import pytest

from flavours import one_by_one
from fmu.client import described, only
from mbdy.blocks import Plant
from mbdy.engine.core.build import FLAGS, compiler
from mbdy.fmu import export_fmu
from systems import free_body

TWO = Path(__file__).parent / "c" / "two.c"
RATE = "top.omega[1]"


def ran(*command: object, **options) -> str:
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True, **options).stdout


def not_of(prefixes: Sequence[str], objects: Sequence[Path]) -> list[str]:
    """Names that objects show with none of ``prefixes``."""
    lines = [line.split() for line in ran("nm", "-g", "--defined-only", *objects).splitlines()]
    names = [parts[2] for parts in lines if len(parts) == 3]
    assert len(names) > 100
    return [name for name in names if not name.startswith(tuple(prefixes))]


@pytest.mark.slow
@only([one for one in one_by_one() if one.kind == "native"])
def test_sources_of_two_fmus_link_and_run_in_one_program(flavour, tmp_path):
    cc = (*compiler().command, *FLAGS)
    prefixes, objects, asked, rates = [], [], [], []
    for rate, which in ((0.3, "-DFIRST"), (-0.8, "-DOTHER")):
        model = replace(free_body(omega=(rate, -0.2, 0.5)), name=f"body at {rate}")
        fmu = export_fmu(model, tmp_path / f"{rate}.fmu", **flavour.options)
        one, sources = described(fmu), Path(fmpy.extract(fmu, tmp_path / str(rate))) / "sources"
        prefixes.append(f"{one.coSimulation.modelIdentifier}_")
        prefix = f"-DFMI{flavour.fmi[0]}_FUNCTION_PREFIX={prefixes[-1]}"
        ran(*cc, prefix, "-c", *sources.glob("*.c"), cwd=sources)
        objects += sources.glob("*.o")
        ran(*cc, prefix, which, f"-I{sources}", "-c", TWO, "-o", tmp_path / f"{rate}.o")
        asked += [one.guid, *(v.valueReference for v in one.modelVariables if v.name == RATE)]
        plant = Plant(model)
        for _ in range(50):
            plant.step(0.01)
        rates.append(plant[RATE])
    if shutil.which("nm"):
        assert not_of(prefixes, objects) == []
    ran(*cc, *objects, *tmp_path.glob("*.o"), "-o", tmp_path / "two", "-lm")
    assert list(map(float, ran(tmp_path / "two", *asked).split())) == pytest.approx(rates, rel=1e-12)


CROSS = ("aarch64-linux-musl", "arm-linux-musleabihf", "x86_64-windows-gnu")
"""Targets of a cross compiler, one of them of 32 bits."""
STRICT = ("-std=c99", "-pedantic-errors", "-ffp-contract=off")


def extracted(fmi: str, folder: Path) -> Path:
    fmu = export_fmu(free_body(), folder / "body.fmu", fmi=fmi, kind="native")
    return Path(fmpy.extract(fmu, folder / "body")) / "sources"


@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_sources_are_c99_to_the_letter(fmi, tmp_path):
    sources = extracted(fmi, tmp_path)
    ran(*compiler().command, *STRICT, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", *sources.glob("*.c"), cwd=sources)


@pytest.mark.slow
@pytest.mark.parametrize("target", CROSS)
def test_a_compiler_for_another_machine_builds_the_sources(target, tmp_path):
    pytest.importorskip("ziglang")
    sources = extracted("2.0", tmp_path)
    built = tmp_path / "library"
    cc = (sys.executable, "-m", "ziglang", "cc", "-target", target)
    ran(*cc, *STRICT, "-O1", "-shared", *sources.glob("*.c"), "-lm", "-o", built, cwd=sources)
    assert built.stat().st_size > 10_000
