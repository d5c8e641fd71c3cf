"""Exporting: options, places, names, compilers that are missing; and the Python FMU in a host of its own."""

from __future__ import annotations

import errno
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import fmpy
import pytest

from flavours import PYTHON, Flavour
from fmu.client import only, satellite
from mbdy.blocks import Plant
from mbdy.engine import CompilerError, ModelError
from mbdy.engine.core.build import compiler
from mbdy.fmu import ExportError, export_fmu
from mbdy.fmu.export import platforms_of
from mbdy.fmu.native.platforms import ALL, host
from mbdy.fmu.python.kind import SLAVE
from mbdy.fmu.python.slave.contents import library_name


def test_python_is_left_as_it_was(export):
    path, modules = list(sys.path), set(sys.modules)
    export(satellite("fresh"))
    assert sys.path == path
    assert not [name for name in set(sys.modules) - modules if name.startswith("mbdy_")]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kind": "matlab"}, "kind 'matlab': must be one of 'native'"),
        ({"fmi": "1.0"}, "fmi '1.0': must be one of '2.0', '3.0'"),
        ({"integrator": "rk5"}, "integrator 'rk5': must be one of 'rk4'"),
        ({"step": 0.0}, "step 0.0: must be > 0 s"),
        ({"step": "1 kg"}, "step '1 kg'"),
        ({"step": float("nan")}, "step nan"),
        ({"platforms": ["vax"], "kind": "native"}, "platform 'vax'"),
        ({"platforms": ["linux64"], "kind": "python"}, "only an FMU of kind 'native'"),
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
    monkeypatch.setattr("mbdy.fmu.native.kind.build", lambda *_, **__: pytest.fail("compiled"))

    def full(*_, **__):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr("mbdy.engine.model.whole_file.tempfile.NamedTemporaryFile", full)
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


@pytest.fixture(params=["none is wanted", "none is there"])
def remedy(request, monkeypatch):
    """What the error says on a machine without a C compiler."""
    if request.param == "none is wanted":
        monkeypatch.setenv("MBDY_CC", "none")
        words = r"MBDY_CC=none is set.*unset MBDY_CC"
    else:
        for name in ("MBDY_CC", "CC"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("PATH", "")
        monkeypatch.setattr("mbdy.engine.core.build.find_spec", lambda name: None)
        words = r"no C compiler found.*pip install mbdy\[native\]"
    compiler.cache_clear()
    yield words
    compiler.cache_clear()


def test_without_a_compiler(remedy, export, tmp_path):
    with pytest.raises(CompilerError, match=remedy):
        export(satellite(), "deep/s")
    assert list(tmp_path.iterdir()) == []


def test_folders_are_made_and_progress_is_told(export, tmp_path):
    told = []
    made = export(satellite(), "a/b/s", progress=lambda stage, done: told.append(done))
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
    sys.modules["mbdy"] = None
    import fmpy
    for fmu in {fmus!r}:
        result = fmpy.simulate_fmu(fmu, stop_time=0.05, output_interval=1e-3, output=["panel.joint.angle"],
                                   start_values={{"panel.mass": 20.0}})
        print("casadi" in sys.modules, repr(float(result["panel.joint.angle"][-1])))
"""


def run_elsewhere(*fmus: Path) -> subprocess.CompletedProcess[str]:
    """Runs of ``fmus`` in a Python of their own, with FMPy and without mbdy."""
    site = str(Path(fmpy.__file__).parents[1])
    code = textwrap.dedent(RUN.format(path=[site], fmus=list(map(str, fmus))))
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, timeout=300, check=False
    )


def final_angle(plant: Plant) -> float:
    plant["panel.mass"] = 20.0
    for _ in range(50):
        plant.step(1e-3)
    return float(plant["panel.joint.angle"])


@pytest.mark.parametrize("order", [("2.0",), ("3.0",), ("2.0", "3.0"), ("3.0", "2.0", "3.0")])
def test_a_host_without_mbdy(fmus, plant, order):
    """It ends well too, with both pythonfmus in it."""
    done = run_elsewhere(*(fmus(Flavour("python", fmi)) for fmi in order))
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["False", repr(final_angle(plant))] * len(order)


def changed(fmu: Path, target: Path, file: str, data: bytes | None) -> Path:
    """A copy of ``fmu`` with other ``data`` in a file, or without it."""
    with zipfile.ZipFile(fmu) as packed, zipfile.ZipFile(target, "w") as copy:
        for name in packed.namelist():
            if name != file:
                copy.writestr(name, packed.read(name))
        if data is not None:
            copy.writestr(file, data)
    return target


@only(PYTHON)
@pytest.mark.parametrize(
    ("file", "data", "words"),
    [
        (library_name(), None, f"this FMU has no library for this platform ({library_name()}): export it on such"),
        (library_name(), b"no library", library_name()),
        ("plant.h", None, "plant.h is neither in "),
    ],
)
def test_a_python_fmu_that_lacks_its_plant(fmu, tmp_path, file, data, words):
    done = run_elsewhere(changed(fmu, tmp_path / "lacking.fmu", f"resources/{file}", data))
    assert done.returncode == 1
    assert words in done.stdout + done.stderr


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


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="of Linux alone")
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
        ("win32", "AMD64", "plant-win32-x86_64.dll"), ("darwin", "arm64", "plant-darwin-aarch64.dylib"),
        ("linux", "aarch64", "plant-linux-aarch64.so"),
    ],
)  # fmt: skip
def test_names_of_the_plants_library(system, machine, name):
    assert library_name(system, machine) == name
