"""What an FMU file carries, how it is written, and where it runs."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import textwrap
import zipfile
from importlib.util import find_spec
from pathlib import Path

import fmpy
import numpy as np
import pytest
from fmpy.validation import validate_fmu

from fmu.client import Direct, satellite
from mbdy.engine import CompilerError, ModelError, NoCompilerNote, loads, ports
from mbdy.engine.core.build import Compiler, compiler
from mbdy.fmu import ExportError, export_fmu
from mbdy.fmu.export import platforms_of
from mbdy.fmu.native.platforms import ALL, OLDEST_GLIBC, glibc_needed, host
from mbdy.fmu.python import front
from mbdy.fmu.python.kind import FLAVOURS, PARTS, SLAVE
from mbdy.fmu.python.slave.contents import core_name

VERSIONS = ("2.0", "3.0")
LIBRARIES = {"2.0": ("linux64/{}.so", "win64/{}.dll"), "3.0": ("x86_64-linux/{}.so", "x86_64-windows/{}.dll")}
VIRTUAL_TOLERANCE = 1e-12
"""Between the compiled core and CasADi's virtual machine: the same arithmetic, other rounding in libm."""


@pytest.fixture
def without_compiler(monkeypatch):
    monkeypatch.setenv("MBDY_CC", "none")
    compiler.cache_clear()
    yield
    compiler.cache_clear()


@pytest.mark.parametrize("fmi", VERSIONS)
def test_contents(fmus, model, fmi):
    with zipfile.ZipFile(fmus[fmi]) as opened:
        names = opened.namelist()
        slave = opened.read("resources/slavemodule.txt").decode()
        table = json.loads(opened.read("resources/ports.json"))
        toml = opened.read("resources/model.toml").decode()
    assert names[0] == "modelDescription.xml"
    assert {f"resources/{n}" for n in (core_name(), f"{slave}_parts/binding.py", f"{slave}.py")} <= set(names)
    assert {f"resources/{slave}_parts/{part}" for part in PARTS} <= set(names)
    assert {"documentation/index.html", *(f"binaries/{name.format(slave)}" for name in LIBRARIES[fmi])} <= set(names)
    assert not [name for name in names if name.startswith("sources/")]
    assert slave.startswith("mbdy_two_panel_satellite_")
    assert ports(loads(toml)) == ports(model)
    assert [row["name"] for row in table["scalars"] if row["vector"] == "p"] == list(ports(model).parameter_names)


@pytest.mark.parametrize("fmi", VERSIONS)
def test_fmpy_finds_no_problem(fmus, fmi):
    assert validate_fmu(str(fmus[fmi])) == []


def test_all_files_of_the_slave_go_along():
    assert {path.name for path in SLAVE.glob("*.py")} == {*PARTS, "__init__.py", "fmi2.py", "fmi3.py"}


def test_the_name_follows_all_that_the_fmu_does(tmp_path, fmu):
    def guid(file: Path) -> str:
        return fmpy.read_model_description(file).guid

    variants = [
        export_fmu(satellite(), tmp_path / "same.fmu"),
        export_fmu(satellite(), tmp_path / "version.fmu", fmi="3.0"),
        export_fmu(satellite(), tmp_path / "step.fmu", step=2e-3),
        export_fmu(satellite(), tmp_path / "integrator.fmu", integrator="euler-cromer"),
        export_fmu(satellite(mass=12.5), tmp_path / "mass.fmu"),
    ]
    guids = [guid(file) for file in (fmu, *variants)]
    assert guids[0] == guids[1]
    assert len(set(guids)) == 5


@pytest.mark.parametrize("fmi", VERSIONS)
def test_equal_exports_are_equal_files(tmp_path, monkeypatch, fmi):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    first, second = (export_fmu(satellite(), tmp_path / name, fmi=fmi).read_bytes() for name in ("a.fmu", "b.fmu"))
    assert first == second
    assert fmpy.read_model_description(tmp_path / "a.fmu").generationDateAndTime == "2023-11-14T22:13:20Z"


@pytest.mark.parametrize("fmi", VERSIONS)
def test_python_is_left_as_it_was(tmp_path, fmi):
    path, modules = list(sys.path), set(sys.modules)
    export_fmu(satellite("fresh"), tmp_path / "fresh.fmu", fmi=fmi)
    assert sys.path == path
    assert not [name for name in set(sys.modules) - modules if name.startswith("mbdy_")]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kind": "matlab"}, "kind 'matlab': must be one of 'python'"),
        ({"fmi": "1.0"}, "fmi '1.0': must be one of '2.0', '3.0'"),
        ({"integrator": "rk5"}, "integrator 'rk5': must be one of 'rk4'"),
        ({"step": 0.0}, "step 0.0: must be > 0 s"),
        ({"step": "1 kg"}, "step '1 kg'"),
        ({"step": float("nan")}, "step nan"),
    ],
)
def test_options_that_cannot_be(tmp_path, options, words):
    with pytest.raises(ExportError) as caught:
        export_fmu(satellite(), tmp_path / "s.fmu", **options)
    assert words in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_name_with_half_a_character(tmp_path):
    with pytest.raises(ExportError, match="holds half a character at 4"):
        export_fmu(satellite("sat\ud800"), tmp_path / "s.fmu")
    assert list(tmp_path.iterdir()) == []


def test_a_model_made_in_python_that_breaks_a_rule(tmp_path):
    with pytest.raises(ModelError, match="mass"):
        export_fmu(satellite(mass=-1.0), tmp_path / "s.fmu")
    assert list(tmp_path.iterdir()) == []


def test_places_that_cannot_be(tmp_path):
    (tmp_path / "folder.fmu").mkdir()
    (tmp_path / "file").write_text("")
    for place, words in (
        ("satellite.zip", "ends in .fmu, e.g."), ("folder.fmu", "is a folder"), ("file/s.fmu", "is no folder"),
        ("file/deep/s.fmu", "s.fmu' cannot be written"), (f"{'x' * 300}.fmu", "cannot be written: File name too long"),
        (".", "is a folder"),
    ):  # fmt: skip
        with pytest.raises(ExportError, match=words):
            export_fmu(satellite(), tmp_path / place)


def test_the_longest_name_will_do(tmp_path):
    assert export_fmu(satellite(), tmp_path / f"{'x' * 251}.fmu").exists()


def test_a_place_that_cannot_be_is_found_before_anything_is_compiled(tmp_path, monkeypatch):
    monkeypatch.setattr("mbdy.fmu.export.compiled_equations", lambda *_, **__: pytest.fail("compiled"))

    def full(*_, **__):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr("mbdy.fmu.export.tempfile.NamedTemporaryFile", full)
    with pytest.raises(ExportError, match=r"deep/s\.fmu' cannot be written: Read-only file system"):
        export_fmu(satellite(), tmp_path / "so" / "deep" / "s.fmu")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("win64", ["win64"]), ("win64, linux64", ["win64", "linux64"]), (["x86_64-darwin"], ["darwin64"]),
        (["linux64,win64", "linux64"], ["linux64", "win64"]), ("all", [one.name for one in ALL]), ((), [host().name]),
    ],
)  # fmt: skip
def test_platforms_are_named_one_by_one_or_with_commas(names, expected):
    assert [one.name for one in platforms_of(names, "native")] == expected


@pytest.mark.parametrize(("names", "odd"), [("all,vax", "'vax'"), ("", "''"), (["win64,"], "''")])
def test_a_platform_that_is_none(names, odd):
    with pytest.raises(ExportError, match=f"platform {odd}: must be one of linux64"):
        platforms_of(names, "native")
    with pytest.raises(ExportError, match=r"only an FMU of kind 'native'.*--kind native"):
        platforms_of(names, "python")


def test_missing_compilers_are_found_before_anything_is_built(tmp_path, monkeypatch):
    monkeypatch.setattr("mbdy.fmu.native.platforms.find_spec", lambda name: None)
    monkeypatch.setattr("mbdy.fmu.native.kind.build", lambda *_, **__: pytest.fail("built"))
    with pytest.raises(CompilerError, match=r"win64, .*darwin-arm64 are made with ziglang.*pip install mbdy\[native\]"):
        export_fmu(satellite(), tmp_path / "deep" / "s.fmu", kind="native", platforms="all")
    assert list(tmp_path.iterdir()) == []


def test_a_native_fmu_without_a_compiler(without_compiler, tmp_path):
    with pytest.raises(CompilerError, match=r"MBDY_CC=none is set.*unset MBDY_CC"):
        export_fmu(satellite(), tmp_path / "deep" / "s.fmu", kind="native")
    assert list(tmp_path.iterdir()) == []


def test_folders_are_made_and_progress_is_told(tmp_path):
    told = []
    made = export_fmu(satellite(), tmp_path / "a" / "b" / "s.fmu", progress=lambda stage, done: told.append(done))
    assert made == tmp_path / "a" / "b" / "s.fmu"
    assert told == sorted(told)
    assert (told[0], told[-1]) == (0.0, 1.0)


def test_an_export_that_fails_leaves_the_file_before(tmp_path, monkeypatch):
    file = export_fmu(satellite(), tmp_path / "s.fmu")
    before = file.read_bytes()

    def broken(*_, **__):
        raise RuntimeError("no description")

    monkeypatch.setattr("mbdy.fmu.export.description", broken)
    for target in (file, tmp_path / "so" / "deep" / "s.fmu"):
        with pytest.raises(RuntimeError, match="no description"):
            export_fmu(satellite(mass=1.0), target)
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


RUN = """
    import sys
    sys.path[:0] = {path!r}
    if {blocked!r}:
        sys.modules["mbdy"] = None
    import fmpy
    for fmu in {fmus!r}:
        result = fmpy.simulate_fmu(fmu, stop_time=0.05, output_interval=1e-3, output=["panel.joint.angle"],
                                   start_values={{"panel.mass": 20.0}})
        print("casadi" in sys.modules, repr(float(result["panel.joint.angle"][-1])))
"""


def run_elsewhere(*fmus: Path, blocked: bool) -> subprocess.CompletedProcess[str]:
    """Runs of ``fmus`` in a Python of their own: with FMPy, and with mbdy or without."""
    site = str(Path(fmpy.__file__).parents[1])
    path = [site] if blocked else [site, *(p for p in sys.path if Path(p, "mbdy").is_dir())]
    code = textwrap.dedent(RUN.format(path=path, blocked=blocked, fmus=list(map(str, fmus))))
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, timeout=300, check=False
    )


def final_angle(model) -> float:
    direct = Direct(model)
    direct["panel.mass"] = 20.0
    direct.restart()
    for _ in range(50):
        direct.step()
    return direct.outputs()[direct.ports.by_name["panel.joint.angle"].offset]


@pytest.mark.parametrize("order", [("2.0",), ("3.0",), ("2.0", "3.0"), ("3.0", "2.0", "3.0")])
def test_a_host_without_mbdy(fmus, model, order):
    """It ends well too, with both pythonfmus in it."""
    done = run_elsewhere(*(fmus[fmi] for fmi in order), blocked=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["False", repr(float(final_angle(model)))] * len(order)


def without_core(fmu: Path, target: Path) -> Path:
    """A copy of ``fmu`` as if it had been exported on another platform."""
    with zipfile.ZipFile(fmu) as opened, zipfile.ZipFile(target, "w") as copy:
        for name in opened.namelist():
            if name != f"resources/{core_name()}":
                copy.writestr(name, opened.read(name))
    return target


@pytest.mark.parametrize("fmi", VERSIONS)
def test_another_platform_falls_back_on_an_installed_mbdy(fmus, tmp_path, model, fmi):
    done = run_elsewhere(without_core(fmus[fmi], tmp_path / "elsewhere.fmu"), blocked=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[:2] == ["True", repr(float(final_angle(model)))]


@pytest.mark.parametrize("fmi", VERSIONS)
def test_another_platform_without_mbdy_says_what_to_install(fmus, tmp_path, fmi):
    done = run_elsewhere(without_core(fmus[fmi], tmp_path / "elsewhere.fmu"), blocked=True)
    assert done.returncode == 1
    assert "pip install mbdy" in done.stdout + done.stderr
    assert core_name() in done.stdout + done.stderr


@pytest.mark.parametrize("fmi", VERSIONS)
def test_a_core_that_does_not_load(fmus, tmp_path, fmi):
    broken = tmp_path / "broken.fmu"
    without_core(fmus[fmi], broken)
    with zipfile.ZipFile(broken, "a") as opened:
        opened.writestr(f"resources/{core_name()}", b"no library")
    done = run_elsewhere(broken, blocked=True)
    assert done.returncode == 1
    assert "does not load here" in done.stdout + done.stderr


@pytest.mark.parametrize("fmi", VERSIONS)
def test_without_a_compiler(without_compiler, tmp_path, opened, fmi):
    model = satellite("made without a compiler")
    with pytest.warns(NoCompilerNote, match="MBDY_CC=none is set.*needs mbdy where it runs.*unset MBDY_CC"):
        fmu = export_fmu(model, tmp_path / "virtual.fmu", fmi=fmi)
    with zipfile.ZipFile(fmu) as packed:
        assert not [name for name in packed.namelist() if name.startswith("resources/core-")]
    with pytest.warns(NoCompilerNote):
        client = opened(fmu)
    client.initialize()
    compiler.cache_clear()
    os.environ.pop("MBDY_CC")
    direct = Direct(model)
    for _ in range(5):
        client["panel.joint.torque"] = direct["panel.joint.torque"] = 0.3
        client.step()
        direct.step()
    np.testing.assert_allclose(client.outputs(), direct.outputs(), rtol=VIRTUAL_TOLERANCE, atol=VIRTUAL_TOLERANCE)


PROCESS_END = """
    import _ctypes, ctypes, sys
    sys.path.insert(0, {slave!r})
    import host
    held = ctypes.CDLL({library!r})
    host.end_in_order({library!r})
    host.end_in_order({library!r})
    host.end_in_order({library!r} + "-that-is-not-there")
    _ctypes.dlclose(held._handle)
    print("alive", flush=True)
"""
LIBRARY_THAT_ENDS = """
    #include <unistd.h>
    void finalizePythonInterpreter(void) { (void)!write(1, "let go\\n", 7); }
    __attribute__((destructor)) static void end(void) { (void)!write(1, "end\\n", 4); }
"""


@pytest.mark.skipif(compiler() is None or not sys.platform.startswith("linux"), reason="no C compiler for Linux")
def test_without_our_library_the_slave_has_pythonfmu_let_go_in_time(tmp_path):
    """pythonfmu 0.7 and pythonfmu3 0.3 may abort their host where their own destructor comes first."""
    (tmp_path / "ends.c").write_text(textwrap.dedent(LIBRARY_THAT_ENDS))
    library = tmp_path / "ends.so"
    subprocess.run([*compiler().command, "-fPIC", "-shared", "-o", str(library), str(tmp_path / "ends.c")], check=True)
    code = textwrap.dedent(PROCESS_END.format(slave=str(SLAVE), library=str(library)))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "alive\nlet go\nend\n"), done.stderr


@pytest.mark.parametrize(
    ("system", "machine", "name"),
    [
        ("win32", "AMD64", "core-win32-x86_64.dll"), ("darwin", "arm64", "core-darwin-aarch64.dylib"),
        ("linux", "aarch64", "core-linux-aarch64.so"),
    ],
)  # fmt: skip
def test_names_of_cores(system, machine, name):
    assert core_name(system, machine) == name


@pytest.mark.skipif(compiler() is None, reason="no C compiler")
@pytest.mark.parametrize("fmi", VERSIONS)
def test_our_c_compiles_without_a_warning(tmp_path, fmi):
    flags = ["-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror", "-shared", '-DBEHIND_HASH="0"']
    source, made = str(FLAVOURS[fmi].door), str(tmp_path / "front.so")
    command = [*compiler().command, *front.FLAGS, *flags, "-o", made, source]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(find_spec("ziglang") is None or host().name != "linux64", reason="ziglang on Linux on x86-64")
@pytest.mark.parametrize("fmi", VERSIONS)
def test_ziglang_makes_our_library_for_every_glibc(monkeypatch, fmi):
    ziglang = Compiler((sys.executable, "-m", "ziglang", "cc", "-mcpu=baseline"), "ziglang")
    monkeypatch.setattr(front, "compiler", lambda: ziglang)
    made = FLAVOURS[fmi].front()
    assert made
    assert b"libdl.so.2" in made
    assert glibc_needed(made) <= OLDEST_GLIBC
