"""A core and its model as a program, built by other compilers for other machines: the same bits after 1000 steps."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib.util import find_spec
from math import isfinite
from pathlib import Path

import pytest

from mbdy.engine import Model, equations, load
from mbdy.engine.core.build import FLAGS, compiler
from mbdy.engine.core.library import sources
from mechanisms import four_bar

ROOT = Path(__file__).resolve().parents[2]
STEPS = 1000
ARM = """
mbdy = 1
name = "arm"
[body.hub]
mass = 2.0
inertia = [0.3, 0.3, 0.5]
joint = { to = "inertial", kind = "revolute", axis = [0, 0, 1], friction = 2, stop_lower = -0.3, stop_stiffness = 4000 }
[body.arm]
joint = { to = "hub", kind = "fixed" }
[body.arm.flex.beam]
length = 2.0
mass_per_length = 0.5
bending_stiffness = 200.0
modes = [1, 1]
[body.hand]
mass = 0.8
inertia = [0.02, 0.03, 0.04]
joint = { to = "arm.tip", kind = "spherical" }
[initial]
hub.joint.rate = -0.5
arm.flex.displacement = [0.02, -0.01]
hand.joint.omega = [0.3, -0.2, 0.9]
"""
PROGRAM = """#include <stdio.h>
#include "core.h"
static const double p[] = {%s}, u[] = {%s}, s[] = {%s};
static void set(mbdy_core *core, int vector, const double *from) {
    for (int i = 0; i < mbdy_size(core, vector); i++) mbdy_vector(core, vector)[i] = from[i];
}
static void show(mbdy_core *core, int vector) {
    for (int i = 0; i < mbdy_size(core, vector); i++) printf("%%a ", mbdy_vector(core, vector)[i]);
}
int main(void) {
    mbdy_core *core = mbdy_new(mbdy_this(), 0, 0);
    set(core, MBDY_P, p), set(core, MBDY_U, u), set(core, MBDY_S, s);
    int status = mbdy_prepare(core) | mbdy_start(core);
    for (int i = 0; i < %d; i++) status |= mbdy_advance(core, 2e-3, 1e-3, MBDY_HELD);
    status |= mbdy_outputs(core, 0, 0, 0);
    show(core, MBDY_X), show(core, MBDY_Y);
    printf("%%d\\n", status);
    return 0;
}
"""


def listed(values: Iterable[float]) -> str:
    return ", ".join(map(repr, values))


def program(model: Model) -> dict[str, str]:
    made = equations(model)
    of = made.ports.vector
    text = PROGRAM % (listed(of("parameter")), listed(of("input")), listed(made.ports.start), STEPS)
    return sources(made) | {"main.c": text}


def said(
    files: Mapping[str, str], folder: Path, command: tuple[str, ...], run: tuple[str, ...], suffix: str
) -> list[float]:
    """States, outputs and the status."""
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    built = folder / f"program{suffix}"
    flags = [flag for flag in FLAGS if flag != "-fPIC"]
    names = [name for name in files if name.endswith(".c")]
    subprocess.run([*command, *flags, *names, "-o", built, "-lm"], cwd=folder, check=True, capture_output=True)
    text = subprocess.run([*run, built], check=True, capture_output=True, text=True).stdout
    return [float.fromhex(word) for word in text.split()]


ZIG = (sys.executable, "-m", "ziglang", "cc", "-O2")
OTHERS = {
    "not optimised": ((*compiler().command, "-O0"), (), ""),
    "all features": ((*compiler().command, "-O3", "-march=native"), (), ""),
    "clang": ((*ZIG, "-target", "x86_64-linux-musl"), (), ""),
    "aarch64": ((*ZIG, "-target", "aarch64-linux-musl"), ("qemu-aarch64",), ""),
    "Windows": ((*ZIG, "-target", "x86_64-windows-gnu"), ("wine64",), ".exe"),
}


@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore:.*triangle inequality:mbdy.engine.ModelWarning", "ignore:.*massless body:mbdy.engine.ModelWarning"
)
@pytest.mark.skipif(sys.platform != "linux" or not find_spec("ziglang"), reason="programs of Linux by ziglang")
@pytest.mark.parametrize("name", ["five", "arm", "loop"])
def test_bits_are_the_same_with_every_compiler_and_machine(name, tmp_path):
    models = {
        "five": lambda: load(ROOT / "examples/five_body_spacecraft/five_body.toml"),
        "arm": lambda: load(tmp_path / "arm.toml"),
        "loop": lambda: replace(four_bar(rate=2.0), gravity=(0.0, -9.81, 0.0)),
    }
    (tmp_path / "arm.toml").write_text(ARM)
    files = program(models[name]())
    expected = said(files, tmp_path, (*compiler().command, "-O2"), (), "")
    assert expected[-1] == 0
    assert all(map(isfinite, expected))
    tried = {other: way for other, way in OTHERS.items() if not way[1] or shutil.which(way[1][0])}
    for other, way in tried.items():
        assert said(files, tmp_path, *way) == expected, other
