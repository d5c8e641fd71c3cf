"""Native FMUs ill-treated: every function of FMI in any order, with any values, under tools that see what goes wrong.

c/drive.c makes the calls and has what must hold after each; c/real.c loads the very library that importers load.
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from flavours import QUICK_NATIVE
from fmu.client import only, satellite
from fmu.flexible_systems import docking
from mbdy.engine import Model
from mbdy.engine.core.build import FLAGS, compiler, shared_library
from mbdy.fmu import export_fmu

HERE = Path(__file__).parent / "c"
SEES_MEMORY = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer")
SEES_RACES = ("-fsanitize=thread",)
FUNCTIONS = {"2.0": 44, "3.0": 75}
NEVER = re.compile("Cancel|Get(Integer|String|)Status|ScheduledExecution|Dependencies|ConfigurationMode|ModelPartition")
"""Functions that never answer OK: nothing of the kind is there."""
MANY = 100_000
REAL_STEPS = 0.02
"""Of all calls: steps that were made, else too few instances lived to be stepped."""
RESIDENT = 1 << 18
"""Bytes that the process may grow by in 4000 instances and 40 loads, of its own; an instance has about 30 KiB."""

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="Linux, whose kernel and linker these need"), only(QUICK_NATIVE),
]  # fmt: skip


def small() -> Model:
    """The satellite without its boom: a lock, a wheel, a quaternion."""
    return replace(satellite("small"), bodies=satellite().bodies[:2])


@dataclass(frozen=True)
class Native:
    """An exported FMU's sources by name, the folder that they lie in, and its library."""

    fmi: str
    sources: dict[str, str]
    folder: Path
    library: Path


def native(model: Model, fmi: str, folder: Path) -> Native:
    with zipfile.ZipFile(export_fmu(model, folder / "it.fmu", fmi=fmi, kind="native")) as packed:
        packed.extractall(folder)
    (library,) = folder.glob("binaries/*/*.so")
    sources = {file.name: file.read_text(encoding="utf-8") for file in (folder / "sources").glob("*.[ch]")}
    (folder / "sources" / "sizes.h").write_text(sizes(sources["table.c"], fmi), encoding="utf-8")
    return Native(fmi, sources, folder / "sources", library)


def sizes(table: str, fmi: str) -> str:
    """sizes.h: what the programs' arrays are as large as, out of the FMU's table.c."""
    found = dict(re.findall(r"\.(n_(?:x|u|p|y|impulses)) = (\d+),", table))
    told = {"FMI_VERSION": fmi[0], **{name.upper(): number for name, number in found.items()}}
    return "".join(f"#define {name} {number}\n" for name, number in told.items())


@pytest.fixture
def fmu(fmi: str, tmp_path: Path) -> Native:
    return native(small(), fmi, tmp_path / "fmu")


def done(command: Sequence[object]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(list(map(str, command)), check=False, capture_output=True, text=True, timeout=1200)


def ran(command: Sequence[object]) -> str:
    end = done(command)
    assert (end.returncode, end.stderr) == (0, ""), end.stdout[-2000:] + end.stderr[-4000:]
    return end.stdout


def seen_by(flags: Sequence[str], folder: Path) -> None:
    """Skips where the C compiler's programs cannot be watched so."""
    source, made = folder / "empty.c", folder / "empty"
    source.write_text("int main(void) { return 0; }\n")
    if done([*compiler().command, *flags, source, "-o", made]).returncode or done([made]).returncode:
        pytest.skip(f"no {flags[0]} on this machine")


def watched(one: Native, flags: Sequence[str]) -> Native:
    """The same with a library made of the sources once more, without optimisation, which would hide faults."""
    made = shared_library(one.sources, compiler(), (*FLAGS, "-O0", "-g", *flags), ("-lm", *flags))
    return replace(one, library=made)


def program(one: Native, files: Sequence[str], folder: Path, *flags: str | Path) -> Path:
    """A program of ``files`` and the FMU's variables."""
    made = folder / Path(files[0]).stem
    told = ["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", f"-I{one.folder}", f"-I{HERE}"]
    paths = [*(HERE / file for file in files), one.folder / "variables.c", one.folder / "unfold.c"]
    ran([*compiler().command, *told, *paths, *flags, "-o", made, "-lm", "-lpthread", "-ldl"])
    return made


def driver(one: Native, folder: Path, flags: Sequence[str] = ()) -> Path:
    return program(one, ["drive.c", "arguments.c", f"drive{one.fmi[0]}.c"], folder, *flags, one.library)


def counts(said: str) -> dict[str, list[int]]:
    """Answers by function: OK, warning, discard, error."""
    lines = [line.split() for line in said.splitlines()[:-1]]
    return {name: list(map(int, numbers)) for name, *numbers in lines}


def said_calls(said: str) -> int:
    """All calls, which the driver's last line has too."""
    made = sum(map(sum, counts(said).values()))
    assert said.splitlines()[-1].startswith(f"calls {made} digest ")
    return made


def check_coverage(said: str, one: Native) -> None:
    found = counts(said)
    header = one.sources[f"fmi{one.fmi[0]}Functions.h"]
    assert set(found) == set(re.findall(rf"^#define (fmi{one.fmi[0]}\w+) +fmi\dFullName", header, re.MULTILINE))
    assert len(found) == FUNCTIONS[one.fmi]
    assert [name for name, answers in found.items() if not sum(answers)] == []
    assert [name for name, answers in found.items() if not answers[0] and not NEVER.search(name)] == []
    assert found[f"fmi{one.fmi[0]}DoStep"][0] > REAL_STEPS * sum(map(sum, found.values()))


@pytest.mark.slow
def test_sanitizers_find_nothing_in_random_calls(fmu, tmp_path):
    seen_by(SEES_MEMORY, tmp_path)
    said = ran([driver(watched(fmu, SEES_MEMORY), tmp_path, SEES_MEMORY), 1, MANY])
    check_coverage(said, fmu)
    assert said_calls(said) >= MANY


@pytest.mark.slow
def test_sanitizers_find_nothing_in_many_random_calls(fmi, tmp_path):
    seen_by(SEES_MEMORY, tmp_path)
    one = watched(native(satellite(), fmi, tmp_path / "fmu"), SEES_MEMORY)
    made = driver(one, tmp_path, SEES_MEMORY)
    for seed in range(100, 105):
        check_coverage(ran([made, seed, MANY]), one)


@pytest.mark.slow
def test_sanitizers_find_nothing_where_modes_bend_and_a_loop_closes(fmi, tmp_path):
    """On a boom with a drum at its root: modes carry nearly all of a bare boom's inertia there, and do not follow the
    parameters that are set."""
    seen_by(SEES_MEMORY, tmp_path)
    weld = docking()
    *rest, boom = weld.bodies
    drum = tuple(tuple(value + 0.2 * (i == j) for j, value in enumerate(row)) for i, row in enumerate(boom.inertia))
    sturdy = replace(weld, bodies=(*rest, replace(boom, inertia=drum)))
    one = watched(native(sturdy, fmi, tmp_path / "fmu"), SEES_MEMORY)
    made = driver(one, tmp_path, SEES_MEMORY)
    for seed in (200, 201):
        check_coverage(ran([made, seed, MANY // 2]), one)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["co-simulation", "model exchange"])
def test_nothing_is_allocated_where_a_loop_closes(fmi, kind, tmp_path):
    one = native(docking(), fmi, tmp_path / "fmu")
    said = ran(
        [program(one, ["real.c"], tmp_path), one.library, "quiet", *([kind] if kind == "model exchange" else [])]
    )
    before, after = map(int, re.findall(r"\d+", said))
    assert (before > 0, after) == (True, 0)


@pytest.mark.parametrize("calls", [3_000, pytest.param(MANY, marks=pytest.mark.slow)])
def test_valgrind_finds_nothing_in_random_calls(fmu, tmp_path, calls):
    if not shutil.which("valgrind"):
        pytest.skip("no valgrind on this machine")
    options = ["-q", "--error-exitcode=9", "--leak-check=full", "--show-leak-kinds=all", "--errors-for-leak-kinds=all"]
    said = ran(["valgrind", *options, driver(fmu, tmp_path), 2, calls])
    assert said_calls(said) >= calls


@pytest.mark.slow
def test_threads_do_not_meet(fmu, tmp_path):
    """Each answers to the bit as it does alone, which the driver compares."""
    seen_by(SEES_RACES, tmp_path)
    check_coverage(ran([driver(watched(fmu, SEES_RACES), tmp_path, SEES_RACES), 3, 12_000, 4]), fmu)


@pytest.fixture
def real(fmu: Native, tmp_path: Path) -> list[Path]:
    """The command that loads the library."""
    return [program(fmu, ["real.c"], tmp_path), fmu.library]


@pytest.mark.parametrize("kind", ["co-simulation", "model exchange"])
def test_nothing_is_allocated_and_no_system_call_made(real, kind):
    """In 10,000 steps or events with values got and set; a lock of any use would make system calls."""
    said = ran([*real, "quiet", *([kind] if kind == "model exchange" else [])])
    before, after = map(int, re.findall(r"\d+", said))
    assert before > 0
    assert after == 0


def test_the_kernel_would_have_seen_a_system_call(real):
    assert done([*real, "loud"]).returncode == -signal.SIGKILL


def test_no_lock_is_at_hand(fmu):
    """What the library takes of the C library by name has none."""
    lock = rb"\0([a-z_]*(?:lock|mutex|mtx|sem|futex|thread|cond)[a-z_]*)(?=\0)"
    library = fmu.library.read_bytes()
    assert b"\0calloc\0" in library
    assert re.findall(lock, library) == []


def test_many_instances_in_turn_and_on_threads_give_what_each_gives_alone(real):
    assert ran([*real, "many"]) == "instances 300\n"


def test_instances_and_the_library_leave_nothing(real):
    blocks, grown = map(int, re.findall(r"-?\d+", ran([*real, "reload"])))
    assert blocks == 0
    assert grown < RESIDENT
