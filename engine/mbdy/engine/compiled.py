"""A model's equations as a shared library: CasADi's C and our stepper, built once and kept by content.

The library depends on the structure of the model alone. It lies in the user's cache folder (or the folder that
the environment variable ``MBDY_CACHE`` names) under the hash of its sources, flags and compiler.
"""

from __future__ import annotations

import atexit
import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path

import casadi as ca
import platformdirs

from mbdy.engine.core import binding
from mbdy.engine.equations import Equations, equations
from mbdy.engine.formulations import ORDER_N, Derivatives
from mbdy.engine.formulations import formulation as chosen
from mbdy.engine.model import Model
from mbdy.engine.virtual import VirtualCore

CORE = Path(__file__).parent / "core"
FLAGS = ("-std=c11", "-fPIC", "-shared", "-ffp-contract=off", "-fvisibility=hidden", "-fno-math-errno")
LONG = 1_500_000
"""Characters of generated C (some 150 bodies) from which -O1 is asked for: as fast to within a tenth, while the time
that -O2 takes grows faster than the code (500 bodies: one minute against four)."""
COMPILER_VARIABLE = "MBDY_CC"
CACHE_VARIABLE = "MBDY_CACHE"


class NoCompilerNote(UserWarning):
    """Said once where steps run in CasADi's virtual machine because no C compiler was found."""


class NoCacheNote(UserWarning):
    """Said once where compiled cores cannot be kept."""


class CompilerError(Exception):
    """The C compiler refused the sources; the message has its command and first words."""


@dataclass(frozen=True)
class Compiler:
    """A command that compiles C, and what it says of its version."""

    command: tuple[str, ...]
    version: str


@cache
def compiler() -> Compiler | None:
    """The C compiler: ``MBDY_CC`` (``none`` for none), ``CC``, cc, gcc, clang, or ziglang; None without one.

    Raises `CompilerError` where ``MBDY_CC`` names none.
    """
    chosen = os.environ.get(COMPILER_VARIABLE, "")
    if chosen == "none":
        return None
    for command in [tuple(chosen.split())] if chosen else _candidates():
        try:
            said = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=60, check=True)
        except (OSError, subprocess.SubprocessError):
            continue
        return Compiler(command, said.stdout.strip())
    if chosen:
        raise CompilerError(f"{COMPILER_VARIABLE}={chosen}: is no C compiler that answers --version; name one, or none")
    return None


def _candidates() -> list[tuple[str, ...]]:
    named = [os.environ.get("CC", ""), "cc", "gcc", "clang"]
    found = [tuple(name.split()) for name in named if name and shutil.which(name.split()[0])]
    if find_spec("ziglang"):
        found.append((sys.executable, "-m", "ziglang", "cc"))
    return found


@dataclass(frozen=True)
class Compiled:
    """A model's equations, ready to run: `core` makes any number of independent plants.

    ``library`` is the shared library's path, None where CasADi's virtual machine runs the steps. ``derivatives`` are
    those of another formulation, which only the virtual machine's steps can take.
    """

    equations: Equations
    library: Path | None
    derivatives: Derivatives | None = None

    @cached_property
    def _loaded(self) -> ctypes.CDLL:
        return binding.load(str(self.library))

    def core(self) -> binding.Core | VirtualCore:
        """A new plant of this core, its vectors all zero."""
        return VirtualCore(self.equations, self.derivatives) if self.library is None else binding.Core(self._loaded)


def compiled(model: Model, *, virtual: bool = False, formulation: str = ORDER_N) -> Compiled:
    """The equations of ``model`` in C, built if no earlier build is kept; ``virtual`` asks for none.

    ``formulation`` other than ``"order-n"`` names a second opinion whose derivatives are stepped instead, without C;
    raises ValueError for an unknown one and `UncoveredError` where ``model`` is not of its domain.

    Warns with `NoCompilerNote` where no compiler exists; raises `CompilerError` where one fails.
    """
    if formulation != ORDER_N:
        return Compiled(equations(model), None, chosen(formulation).derivatives(model))
    made = equations(model)
    if virtual:
        return Compiled(made, None)
    cc = compiler()
    if cc is None:
        warnings.warn(
            "no C compiler found (cc, gcc, clang or ziglang): the steps run in CasADi's virtual machine, slower but "
            "with the same results; `pip install mbdy[native]` brings a compiler",
            NoCompilerNote,
            stacklevel=2,
        )
        return Compiled(made, None)
    files = sources(made)
    flags = (*FLAGS, "-O1" if len(files["model.c"]) > LONG else "-O2")
    return Compiled(made, shared_library(files, cc, flags, () if os.name == "nt" else ("-lm",)))


def sources(made: Equations) -> Mapping[str, str]:
    """The C sources of a core by file name: generated equations and sizes, and our stepper."""
    return {
        "model.c": _generated(made.functions),
        "config.h": config(made),
        "core.h": (CORE / "core.h").read_text(encoding="utf-8"),
        "core.c": (CORE / "core.c").read_text(encoding="utf-8"),
    }


@lru_cache(maxsize=32)
def _generated(functions: tuple[ca.Function, ...]) -> str:
    generator = ca.CodeGenerator("model.c", {"casadi_int": "int", "with_header": False})
    for function in functions:
        generator.add(function)
    hidden = "/* Generated by CasADi from mbdy's equations. */\n#define CASADI_SYMBOL_EXPORT\n"
    return hidden + generator.dump()


def config(made: Equations) -> str:
    """config.h: the sizes of a core's vectors and where quaternions and locks lie in them."""
    table, switches = made.ports, made.ports.span("switches")
    sizes = {
        "NX": len(table.state_names), "NQ": made.n_q, "NU": len(table.input_names),
        "NP": len(table.parameter_names), "NY": len(table.output_names), "NK": made.n_k,
        "NQUAT": len(table.quaternions), "SWITCHES": switches.start, "NSWITCHES": switches.stop - switches.start,
        "NLOCKS": len(made.locks), "IMPULSES": table.span("impulses").start,
    }  # fmt: skip
    places = {
        "QUATERNIONS": (*table.quaternions, -1),
        "LOCKS": [lock for lock, _ in made.locks],
        "LOCK_SPEEDS": [speed for _, speed in made.locks],
    }
    lines = ["/* Generated by mbdy: sizes and places of one model's core. */"]
    lines += [f"#define MBDY_{name} {size}" for name, size in sizes.items()]
    lines += [f"#define MBDY_{name} {{{', '.join(map(str, at))}}}" for name, at in places.items()]
    if orbit := table.orbit_position:
        lines.append(f"#define MBDY_ORBIT_POSITION {orbit.start}")
    return "\n".join((*lines, ""))


def cache_folder() -> Path:
    """Where compiled cores are kept; where that cannot be, a folder of this process that goes with it."""
    chosen = os.environ.get(CACHE_VARIABLE)
    wanted = Path(chosen) if chosen else Path(platformdirs.user_cache_dir("mbdy", appauthor=False)) / "cores"
    return _usable(wanted)


@cache
def _usable(wanted: Path) -> Path:
    try:
        wanted.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=wanted):
            return wanted
    except OSError as fault:
        warnings.warn(
            f"compiled cores cannot be kept in {wanted} ({fault.strerror}): they are built anew each time; name a "
            f"folder for them in {CACHE_VARIABLE}",
            NoCacheNote,
            stacklevel=2,
        )
    folder = Path(tempfile.mkdtemp(prefix="mbdy-cores-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def shared_library(files: Mapping[str, str], cc: Compiler, flags: Sequence[str], libraries: Sequence[str]) -> Path:
    """The shared library of C ``files`` by name, kept under the hash of all that makes it, or built.

    Safe beside other processes doing the same; one that is damaged is built again. Raises `CompilerError`.
    """
    digest = hashlib.sha256()
    told = (*cc.command, cc.version, platform.machine(), sys.platform, *flags, *libraries)
    for part in (*told, *(text for file in sorted(files.items()) for text in file)):
        digest.update(part.encode())
        digest.update(b"\0")
    target = cache_folder() / f"{digest.hexdigest()[:32]}{_suffix()}"
    if _whole(target):
        return target
    with tempfile.TemporaryDirectory(dir=target.parent, prefix="build-") as folder:
        for name, text in files.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        built, seal = Path(folder) / f"built{_suffix()}", Path(folder) / "seal"
        parts = [name for name in files if name.endswith(".c")]
        _compile([*cc.command, *flags, "-o", built.name, *parts, *libraries], built)
        seal.write_text(hashlib.sha256(built.read_bytes()).hexdigest(), encoding="ascii")
        built.replace(target)
        seal.replace(_seal(target))
    return target


def _whole(library: Path) -> bool:
    """Whether a library is as it was built: loading part of one would end the process."""
    try:
        return _seal(library).read_text(encoding="ascii") == hashlib.sha256(library.read_bytes()).hexdigest()
    except (OSError, UnicodeDecodeError):
        return False


def _seal(library: Path) -> Path:
    return library.with_suffix(".sha256")


def _compile(command: Sequence[str], built: Path) -> None:
    done = subprocess.run(command, cwd=built.parent, capture_output=True, text=True, check=False)
    if done.returncode or not built.exists():
        said = "\n".join(done.stderr.strip().splitlines()[:20])
        raise CompilerError(f"{' '.join(command)} failed with status {done.returncode} and made no library:\n{said}")


def _suffix() -> str:
    return {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
