"""Libraries for every platform: the right kind of file, nothing shown but FMI's functions, and they run."""

from __future__ import annotations

import math
import re
import shutil
from pathlib import Path

import pytest

from fmu.binary import binary, universal_parts
from fmu.foreign import program, ran, runner
from mbdy.engine.core.build import CompilerError
from mbdy.fmu.native import platforms
from mbdy.fmu.native.platforms import ALL, Platform, binaries, build, glibc_needed, host, named, universal

SOURCES = {
    "shown.c": r"""
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "inner.h"
#if defined(_WIN32)
#define SHOWN __declspec(dllexport)
#else
#define SHOWN __attribute__((visibility("default")))
#endif
SHOWN int fmiSpell(double value, char *text, size_t size) {
    double *copy = malloc(sizeof *copy);
    if (!copy) return -1;
    memcpy(copy, &value, sizeof *copy);
    int length = snprintf(text, size, "%.3f", inner(*copy));
    free(copy);
    return length;
}
SHOWN double fmiTwice(double value) { return 2.0 * value; }
""",
    "inner.c": """
#include "inner.h"
#include <math.h>
double inner(double x) { return exp(x) + log(x) + pow(x, 1.5) + sin(x) * cos(x) + tanh(x) + log1p(x) + fmod(7.0, x); }
""",
    "inner.h": "double inner(double x);\n",
}
HOST = r"""
#include <stdio.h>
#if defined(_WIN32)
#include <windows.h>
#define OPEN(path) ((void *)LoadLibraryA(path))
#define FIND(library, name) ((void *)GetProcAddress((HMODULE)library, name))
#else
#include <dlfcn.h>
#define OPEN(path) dlopen(path, RTLD_NOW | RTLD_LOCAL)
#define FIND(library, name) dlsym(library, name)
#endif
int main(int count, char **arguments) {
    void *library = count > 1 ? OPEN(arguments[1]) : NULL;
    if (!library) return 2;
    int (*spell)(double, char *, size_t) = (int (*)(double, char *, size_t))FIND(library, "fmiSpell");
    double (*twice)(double) = (double (*)(double))FIND(library, "fmiTwice");
    char text[40];
    if (!spell || !twice || spell(1.25, text, sizeof text) <= 0) return 3;
    printf("%s %g", text, twice(4.0));
    return 0;
}
"""
SYSTEMS_OWN = {
    "linux": re.compile(r"lib[cm]\.so\.6"),
    "windows": re.compile(r"kernel32\.dll|msvcrt\.dll|api-ms-win-crt-.*\.dll"),
    "darwin": re.compile(r"/usr/lib/libSystem\.B\.dylib"),
}
"""What a library may load: it is part of every system of that kind."""

each = pytest.mark.parametrize("platform", ALL, ids=lambda one: one.name)
runnable = pytest.mark.parametrize(
    "platform", [one for one in ALL if one == host() or one.suffix != ".dylib"], ids=lambda one: one.name
)
"""Those that some machine of ours runs: programs for the Mac run on a Mac alone."""


def _answer(x: float) -> str:
    inner = math.exp(x) + math.log(x) + x**1.5 + math.sin(x) * math.cos(x) + math.tanh(x) + math.log1p(x)
    return f"{inner + math.fmod(7.0, x):.3f} 8"


def test_platforms_have_our_names_and_those_of_fmi_3():
    assert [named(one.name) for one in ALL] == [named(one.tuple) for one in ALL] == list(ALL)
    assert host() in ALL
    with pytest.raises(ValueError, match=r"'solaris'.*linux64 \(x86_64-linux\), win64 .*darwin-arm64"):
        named("solaris")


@pytest.mark.slow
@each
def test_a_library_is_for_its_machine_and_shows_fmi_alone(platform: Platform):
    data = build(platform, SOURCES).read_bytes()
    found = binary(data)
    assert f"{found.machine}-{found.system}" == platform.tuple
    assert found.shows == {"fmiSpell", "fmiTwice"}
    assert [name for name in found.loads if not SYSTEMS_OWN[found.system].fullmatch(name)] == []
    assert str(Path.home()).encode() not in data
    if found.system == "linux":
        assert (0, 0) < glibc_needed(data) <= platforms.OLDEST_GLIBC


@pytest.mark.slow
@each
def test_a_build_repeats_bit_by_bit(platform: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    built = []
    for folder in ("one", "another with a longer name"):
        monkeypatch.setenv("MBDY_CACHE", str(tmp_path / folder))
        built.append(build(platform, SOURCES))
    assert built[0].name == built[1].name
    assert built[0].read_bytes() == built[1].read_bytes()


@pytest.mark.slow
@runnable
def test_a_library_runs_on_its_machine(platform: Platform, tmp_path: Path):
    if runner(platform) is None:
        pytest.skip(f"{platform.name}: needs wine64, or qemu-user and libc6-arm64-cross")
    (tmp_path / "host.c").write_text(HOST)
    library = shutil.copy(build(platform, SOURCES), tmp_path / f"library{platform.suffix}")
    made = program(platform, tmp_path / "host.c", tmp_path)
    assert ran(platform, made, library, folder=tmp_path) == _answer(1.25)


@pytest.mark.slow
def test_both_macs_share_one_file_in_fmi_2(tmp_path: Path):
    built = {one: build(one, SOURCES) for one in ALL if one.tuple.endswith("darwin")}
    thin = [path.read_bytes() for path in built.values()]
    (name, data), = binaries(built, "satellite", "2.0").items()  # fmt: skip
    assert (name, data) == ("darwin64/satellite.dylib", universal(thin))
    parts = universal_parts(data)
    assert parts == thin
    assert [binary(part).machine for part in parts] == ["x86_64", "aarch64"]


def test_folders_are_those_of_the_standards(tmp_path: Path):
    built = {}
    for one in ALL:
        built[one] = tmp_path / one.name
        built[one].write_bytes(b"\xcf\xfa\xed\xfe" + one.name.encode().ljust(20))
    assert set(binaries(built, "s", "3.0")) == {
        "x86_64-linux/s.so", "x86_64-windows/s.dll", "x86_64-darwin/s.dylib", "aarch64-linux/s.so",
        "aarch64-darwin/s.dylib",
    }  # fmt: skip
    two = binaries(built, "s", "2.0")
    assert set(two) == {"linux64/s.so", "win64/s.dll", "darwin64/s.dylib", "aarch64-linux/s.so"}
    assert two["linux64/s.so"] == built[named("linux64")].read_bytes()


def test_linux_on_arm_alone_lies_where_tools_look_for_it(tmp_path: Path):
    arm = named("linux-aarch64")
    (tmp_path / "library").write_bytes(b"for ARM")
    assert binaries({arm: tmp_path / "library"}, "s", "2.0") == {
        "aarch64-linux/s.so": b"for ARM",
        "linux64/s.so": b"for ARM",
    }


def test_another_platform_needs_ziglang(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(platforms, "find_spec", lambda name: None)
    other = next(one for one in ALL if one != host())
    with pytest.raises(CompilerError, match=rf"{other.name}.*ziglang.*pip install mbdy\[native\]"):
        build(other, SOURCES)


@pytest.mark.skipif(not host().tuple.endswith("linux"), reason="versions of functions are glibc's")
def test_a_binary_for_new_systems_alone_is_made_again_or_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(platforms, "OLDEST_GLIBC", (2, 1))
    monkeypatch.setattr(platforms, "find_spec", lambda name: None)
    with pytest.warns(platforms.NewGlibcNote, match=r"needs a glibc of version 2\.\d+.*pip install mbdy\[native\]"):
        build(host(), SOURCES)
