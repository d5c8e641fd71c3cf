"""The compiled core and its promises: no allocation, clean C, one build."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
import warnings
from collections import Counter

import casadi as ca
import numpy as np
import pytest

from mbdy.blocks import Plant
from mbdy.engine import CompilerError, NoCacheNote, compiled, equations
from mbdy.engine.core.build import FLAGS, LINK, Compiler, compiler, shared_library
from mbdy.engine.core.cache import kept as kept_files
from mbdy.engine.core.library import sources, standing_alone
from mbdy.engine.core.schedule import schedule
from mbdy.engine.core.units import kernel_in
from systems import chain, star

SHOWN = '__attribute__((visibility("default")))'
TEN_YEARS_AGO = (2, 24)
"""The glibc of August 2016."""
TWO_COMPILERS = 1e-12
"""Of the same operations; libm and contraction may differ in the last bit, in fifty steps."""


@pytest.mark.parametrize("interpolation", ["held", "linear"])
def test_rows_at_once_equal_single_steps(interpolation):
    one, many = (Plant(chain(2), interpolation=interpolation) for _ in range(2))
    table = np.random.default_rng(4).normal(size=(6, len(one.input_names)))
    rows, fault = many.run(5, 0.01, inputs=table, pick=range(len(one.output_names)))
    assert fault is None
    one.inputs.values[:] = table[0]
    one.jump()
    for i in range(5):
        if interpolation == "linear":
            one.inputs.values[:] = table[i + 1]
        one.step(0.01)
        one.inputs.values[:] = table[i + 1]
        one.jump()
        np.testing.assert_array_equal(rows[i], one.outputs().values)


def test_one_core_serves_every_value_of_the_parameters():
    one, other = chain(3, seed=5), chain(3, seed=6)
    assert compiled(one).library == compiled(other).library
    plant, fresh = Plant(one), Plant(other)
    for name in plant.parameter_names:
        plant[name] = fresh[name]
    for name in set(plant.ports.start_names):
        plant[name] = fresh[name]
    np.testing.assert_array_equal(plant.step(0.1).values, fresh.step(0.1).values)


def test_a_build_is_kept_by_its_content(tmp_path, monkeypatch):
    monkeypatch.setenv("MBDY_CACHE", str(tmp_path / "a folder with spaces ü"))
    first = compiled(chain(1)).library
    made = first.stat().st_ino
    assert compiled(chain(1)).library == first
    assert first.stat().st_ino == made
    assert compiled(star(3)).library != first
    kernels = {file for model in (chain(1), star(3)) for file in sources(equations(model)) if kernel_in(file)}
    suffixes = Counter(p.suffix for p in kept_files())
    assert suffixes[".in"] == len(kernels) > suffixes[".o"]
    assert suffixes[first.suffix] == 2
    assert suffixes[".sha256"] == suffixes[".o"] + 2


@pytest.mark.parametrize("damage", [b"", b"no library", None])
def test_a_damaged_library_is_built_again(tmp_path, monkeypatch, damage):
    monkeypatch.setenv("MBDY_CACHE", str(tmp_path))
    library = compiled(chain(1)).library
    whole = library.read_bytes()
    library.write_bytes(whole[:20000] if damage is None else damage)
    assert compiled(chain(1)).library == library
    assert library.stat().st_size == len(whole)
    Plant(chain(1)).step(0.01)


@pytest.mark.parametrize(("files", "left"), [("*.o", 20), ("*.in", 38)])
def test_what_is_damaged_of_what_a_library_is_made_of_is_made_again(tmp_path, monkeypatch, files, left):
    monkeypatch.setenv("MBDY_CACHE", str(tmp_path))
    library = compiled(chain(1)).library
    whole = library.read_bytes()
    library.unlink()
    for built in tmp_path.glob(files):
        built.write_bytes(built.read_bytes()[:left])
    assert compiled(chain(1)).library.read_bytes() == whole


@pytest.fixture
def told(tmp_path, monkeypatch):
    """A compiler, and a function that lists what it was told since the last time, compiling and linking."""
    log, script = tmp_path / "log", tmp_path / "telling-cc"
    script.write_text(f'#!/bin/sh\necho "$@" >> "{log}"\nexec cc "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("MBDY_CACHE", str(tmp_path / "cache"))

    def lines() -> list[str]:
        said = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return sorted(said)

    return Compiler((str(script),), "1"), lines


needs_cc = pytest.mark.skipif(shutil.which("cc") is None or os.name == "nt", reason="no cc and sh on this machine")


@needs_cc
def test_an_object_serves_every_library_that_holds_it(told):
    cc, lines = told
    files = {
        "long.c": "#include <math.h>\ndouble f(double x) { return sin(x); }\n",
        "short.c": '#include "sizes.h"\nint g(void) { return SIZE; }\n',
        "other.c": '#include "other.h"\nint h(void) { return OTHER; }\n',
        "sizes.h": '  # include "size.h"\n',
        "size.h": "#define SIZE 1\n",
        "other.h": "#define OTHER 1\n",
    }
    done: list[float] = []
    first = shared_library(files, cc, FLAGS, LINK, progress=lambda stage, at: done.append(at))
    assert done == sorted(done) == [0.0, *done[1:]]
    assert len(lines()) == 4
    assert shared_library(files, cc, FLAGS, LINK) == first
    assert lines() == []
    other = shared_library(files | {"size.h": "#define SIZE 2\n"}, cc, FLAGS, LINK)
    assert [line.rpartition("-c ")[2] for line in lines() if " -c " in line] == ["short.c"]
    assert shared_library(files, cc, FLAGS, (*LINK, "-s")) not in (first, other)
    assert ["-shared" in line for line in lines()] == [True]
    shared_library(files, cc, ("-DNEW", *FLAGS), LINK)
    assert len(lines()) == 4


@needs_cc
def test_a_model_takes_few_compilers_and_one_of_known_kinds_next_to_none(told, monkeypatch):
    cc, lines = told
    monkeypatch.setattr("mbdy.blocks.plant.library.compiler", lambda: cc)
    assert sum(map(bool, map(kernel_in, sources(equations(chain(3, seed=1)))))) > 20
    plant = Plant(chain(3, seed=1))
    assert len(lines()) <= 15
    assert Plant(chain(3, seed=2)).compiled.library == plant.compiled.library
    assert lines() == []
    more = Plant(chain(4, seed=1))
    assert [line.rpartition("-c ")[2] for line in lines() if " -c " in line] == ["table.c", "together.c"]
    assert more.compiled.library != plant.compiled.library


def kernels_that_give(*numbers: int) -> dict[str, str]:
    """C files: kernels that give these numbers, and a function that gives their sum."""
    names = {f"mbdy_k{number:016x}": number for number in numbers}
    declared = " ".join(f"int {name}(void);" for name in names)
    total = f"{declared} {SHOWN} int total(void) {{ return {' + '.join(f'{name}()' for name in names)}; }}\n"
    each = {f"{name}.c": f"int {name}(void) {{ return {number}; }}\n" for name, number in names.items()}
    return {"model.c": total, **each}


@needs_cc
def test_kernels_come_from_wherever_they_are_kept_but_for_what_is_repeatable(told, tmp_path, monkeypatch):
    cc, lines = told
    files = kernels_that_give(1, 2, 3, 4)
    one = shared_library(files, cc, FLAGS, LINK, repeatable=True).read_bytes()
    monkeypatch.setenv("MBDY_CACHE", str(tmp_path / "other"))
    for some in (1, 7), (2, 8, 9), (3, 9):
        assert ctypes.CDLL(str(shared_library(kernels_that_give(*some), cc, FLAGS, LINK))).total() == sum(some)
    lines()
    assert ctypes.CDLL(str(shared_library(kernels_that_give(1, 2, 3, 9), cc, FLAGS, LINK))).total() == 15
    assert len(lines()) == 2
    assert shared_library(files, cc, FLAGS, LINK, repeatable=True).read_bytes() == one


@needs_cc
@pytest.mark.skipif(sys.platform != "linux", reason="versions of functions are glibc's")
def test_a_library_loads_on_machines_of_ten_years_ago(tmp_path, monkeypatch):
    monkeypatch.setenv("MBDY_CACHE", str(tmp_path))
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    newer = [ca.exp(x), ca.log(x), x**y, ca.hypot(x, y), ca.tanh(x), ca.log1p(x), ca.sin(x), ca.cos(x)]
    f = ca.Function("f", [x, y], [ca.vertcat(*newer)])
    shown = f"""#include "schedule.h"
        extern const mbdy_schedule f;
        {SHOWN} void play(const double **arg, double **res, double *w) {{
            mbdy_unfold(&f);
            mbdy_play(&f, arg, res, w);
        }}
        {SHOWN} int work(void) {{ return f.work; }}"""
    library = shared_library({**standing_alone(schedule(f)), "shown.c": shown}, compiler(), FLAGS, LINK)
    versions = re.findall(rb"GLIBC_(\d+)[.](\d+)", library.read_bytes())
    assert versions
    assert max(tuple(map(int, version)) for version in versions) <= TEN_YEARS_AGO
    double, own = ctypes.POINTER(ctypes.c_double), (ctypes.c_double * len(newer))()
    for at in (0.3, 2.5), (1e-9, 3.0), (700.0, -0.1):
        given = [ctypes.pointer(ctypes.c_double(value)) for value in at]
        loaded = ctypes.CDLL(str(library))
        work = (ctypes.c_double * loaded.work())()
        loaded.play((double * 2)(*given), (double * 1)(ctypes.cast(own, double)), work)
        np.testing.assert_allclose(own, f(*at).full().ravel(), rtol=1e-15)


def test_a_cache_that_cannot_be_is_said(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MBDY_CACHE", str(tmp_path / "file" / "cores"))
    with pytest.warns(NoCacheNote, match="MBDY_CACHE"):
        plant = Plant(chain(1))
    plant.step(0.01)


def test_without_a_compiler_the_error_names_the_extra(monkeypatch, tmp_path):
    """As on a machine with no cc and without ziglang."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("MBDY_CC", raising=False)
    monkeypatch.setitem(sys.modules, "ziglang", None)
    module = sys.modules["mbdy.engine.core.build"]
    module.compiler.cache_clear()
    try:
        with pytest.raises(CompilerError, match=r"pip install mbdy\[native\]"):
            Plant(chain(1))
    finally:
        monkeypatch.undo()
        module.compiler.cache_clear()


def test_a_compiler_that_is_none_is_named(monkeypatch):
    module = sys.modules["mbdy.engine.core.build"]
    monkeypatch.setenv("MBDY_CC", "/nowhere/cc")
    module.compiler.cache_clear()
    try:
        with pytest.raises(CompilerError, match="MBDY_CC=/nowhere/cc"):
            Plant(chain(1))
    finally:
        monkeypatch.undo()
        module.compiler.cache_clear()


def test_a_failing_compiler_is_named(tmp_path, monkeypatch):
    broken = tmp_path / "broken-cc"
    broken.write_text('#!/bin/sh\n[ "$1" = --version ] && exit 0\necho no such luck >&2\nexit 3\n')
    broken.chmod(0o755)
    module = sys.modules["mbdy.engine.core.build"]
    monkeypatch.setenv("MBDY_CC", str(broken))
    monkeypatch.setenv("MBDY_CACHE", str(tmp_path / "cache"))
    module.compiler.cache_clear()
    try:
        with pytest.raises(CompilerError, match=r"broken-cc.*status 3(.|\n)*no such luck"):
            compiled(chain(1))
        assert list((tmp_path / "cache").iterdir()) == []
    finally:
        monkeypatch.undo()
        module.compiler.cache_clear()


def _sources(folder, model, implicit):
    for name, text in sources(compiled(model).equations, implicit=implicit).items():
        (folder / name).write_text(text)


@needs_cc
@pytest.mark.parametrize("implicit", [False, True])
def test_our_c_compiles_without_a_warning(tmp_path, implicit):
    _sources(tmp_path, chain(1), implicit)
    command = ["cc", "-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror", "-c", "core.c"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


COUNTING_MAIN = r"""
#include <stdio.h>
#include <stddef.h>
#include "core.h"
static int allocations;
void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__real_realloc(void *, size_t);
void *__wrap_malloc(size_t n) { allocations++; return __real_malloc(n); }
void *__wrap_calloc(size_t n, size_t m) { allocations++; return __real_calloc(n, m); }
void *__wrap_realloc(void *p, size_t n) { allocations++; return __real_realloc(p, n); }
int main(void) {
    const mbdy_model *model = mbdy_this();
    mbdy_core *cores[] = {mbdy_new(model, 0, NULL), mbdy_new(model, 1, NULL), mbdy_new(model, 2, NULL)};
    int before = allocations, done = 0, pick[] = {0};
    double out[10];
    for (int c = 0; c < INTEGRATORS; c++) {
        mbdy_core *core = cores[c];
        double *s = mbdy_vector(core, MBDY_S), *p = mbdy_vector(core, MBDY_P);
        PARAMETERS
        if (mbdy_prepare(core) || mbdy_start(core)) return 2;
        for (int i = 0; i < 100; i++)
            if (mbdy_advance(core, 0.01, 0.001, i % 3)) return 3;
        if (mbdy_run(core, 10, 0.01, 0.001, 0, NULL, pick, 1, out, &done) || done != 10) return 4;
        if (mbdy_run(core, 1, 0.01, 0.001, 2, NULL, pick, 1, out, &done) != MBDY_BAD_STEP || done) return 5;
        if (mbdy_advance(core, 0.01, 0.001, 3) != MBDY_BAD_STEP) return 6;
    }
    for (int c = 0; c < 3; c++) mbdy_free(cores[c]);
    printf("%d %d", before, allocations - before);
    return 0;
}
"""


@needs_cc
@pytest.mark.skipif(sys.platform != "linux", reason="the linker's --wrap is GNU's")
@pytest.mark.parametrize("implicit", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_nothing_is_allocated_after_initialisation(tmp_path, implicit):
    model = chain(2)
    _sources(tmp_path, model, implicit)
    table = compiled(model).equations.ports
    lines = [f"p[{i}] = {value!r};" for i, value in enumerate(table.vector("parameter"))]
    lines += [f"s[{i}] = {value!r};" for i, value in enumerate(table.start)]
    (tmp_path / "main.c").write_text(COUNTING_MAIN.replace("PARAMETERS", "\n        ".join(lines)))
    wraps = [f"-Wl,--wrap={name}" for name in ("malloc", "calloc", "realloc")]
    command = [
        "cc",
        "-O1",
        "-fsanitize=undefined",
        f"-DINTEGRATORS={3 if implicit else 2}",
        "main.c",
        *(path.name for path in tmp_path.glob("*.c") if path.name != "main.c"),
        *wraps,
        "-lm",
        "-o",
        "main",
    ]
    subprocess.run(command, cwd=tmp_path, check=True)
    said = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True)
    before, after = said.stdout.split()
    assert int(before) > 0
    assert int(after) == 0
    assert said.stderr == ""


@pytest.mark.slow
def test_ziglang_builds_a_core_that_agrees(tmp_path):
    script = (
        "import numpy as np; from mbdy.blocks import Plant; from systems import chain; "
        "p = Plant(chain(2)); assert p.compiled.library; "
        "np.save('y.npy', [p.step(0.01).values for _ in range(50)])"
    )
    environment = os.environ | {
        "MBDY_CC": f"{sys.executable} -m ziglang cc", "MBDY_CACHE": str(tmp_path / "cache"),
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
    }  # fmt: skip
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=environment, check=True)
    plant = Plant(chain(2))
    own = [plant.step(0.01).values for _ in range(50)]
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), own, rtol=TWO_COMPILERS, atol=TWO_COMPILERS)


def test_views_outlive_their_plant():
    plant = Plant(chain(1))
    view = plant.inputs.values
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        del plant
    view[:] = 1.0
    assert view.sum() == len(view)
