"""C into shared libraries: the compiler, and objects and libraries kept by content so that each is built once.

Objects are kept apart from the libraries made of them, and so is which of them has a kernel of the equations: it is
compiled once, with others (units.py), for all models that have it. All lie in the user's cache folder (or the folder
that the environment variable ``MBDY_CACHE`` names) under the hash of all that makes them: sources, flags and compiler.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path

from mbdy.engine.core.cache import BUILD, cache_folder, tidy
from mbdy.engine.core.compilers import Compilers
from mbdy.engine.core.units import (
    KERNEL,
    Batch,
    TranslationUnit,
    batches,
    file_of,
    kernel_in,
    missing_batches,
    own_units,
    symbol,
)
from mbdy.engine.model.faults import MbdyError

FLAGS = (
    "-std=c11", "-fPIC", "-ffp-contract=off", "-fvisibility=hidden", "-fno-math-errno",
    "-fno-asynchronous-unwind-tables",
)  # fmt: skip
"""What every C file of a model is compiled with; the same for a core and a native FMU, so that they share objects."""
LINK = () if os.name == "nt" else ("-lm",)
COMPILER_VARIABLE = "MBDY_CC"
NONE = "none"
"""What ``MBDY_CC`` says where no compiler is to be used."""
ENVIRONMENT = {"SOURCE_DATE_EPOCH": "0", "MACOSX_DEPLOYMENT_TARGET": "11.0"}
"""No hour of the build in libraries, so that equal sources give equal files; and older Macs may load them."""
HOME = re.compile(r"([0-9a-f]{32}\.o) ([0-9a-f]{8})")
"""Where a kernel is kept: the object, and the mark of its batch."""
INCLUDED = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)

SILENT = f"it says nothing of why: is it a C compiler? name another in {COMPILER_VARIABLE}, or pip install mbdy[native]"
"""Of a compiler that fails without a word."""

Progress = Callable[[str, float], None]
"""Called with what begins and the fraction done."""


class CompilerError(MbdyError):
    """The C compiler refused the sources; the message has its command and first words."""


class NoCompilerError(CompilerError):
    """There is no C compiler; the message says what brings one."""


@dataclass(frozen=True)
class Compiler:
    """A command that compiles C, and what it says of its version."""

    command: tuple[str, ...]
    version: str


@cache
def compiler() -> Compiler:
    """The C compiler that runs models: ``MBDY_CC`` (``none`` for none), ``CC``, cc, gcc, clang, or ziglang.

    Raises `NoCompilerError`, which says what brings one, where there is none, and `CompilerError` where ``MBDY_CC``
    names none.
    """
    chosen = os.environ.get(COMPILER_VARIABLE, "").strip()
    if chosen == NONE:
        raise NoCompilerError(f"{COMPILER_VARIABLE}={NONE} is set, so no C compiler is used; unset {COMPILER_VARIABLE}")
    for command in [_words(chosen)] if chosen else _candidates():
        try:
            said = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=60, check=True)
        except (OSError, subprocess.SubprocessError):
            continue
        return Compiler(command, said.stdout.strip())
    if chosen:
        raise CompilerError(f"{COMPILER_VARIABLE}={chosen}: is no C compiler that answers --version; name one, or none")
    raise NoCompilerError("no C compiler found (cc, gcc, clang or ziglang); `pip install mbdy[native]` brings one")


def _candidates() -> list[tuple[str, ...]]:
    named = map(_words, (os.environ.get("CC", ""), "cc", "gcc", "clang"))
    found = [words for words in named if shutil.which(words[0])]
    if find_spec("ziglang"):
        # without -mcpu zig builds for this very processor, and the library may travel in an FMU
        found.append((sys.executable, "-m", "ziglang", "cc", "-mcpu=baseline"))
    return found


def _words(text: str) -> tuple[str, ...]:
    """A command as a shell takes it apart, or whole where it is a program's path, which may hold blanks.

    A path is made absolute: the compiler runs in a folder of its own.
    """
    try:
        words = [text] if shutil.which(text) else shlex.split(text, posix=os.name != "nt")  # \ is no escape there
    except ValueError:  # a quotation mark without its fellow
        words = [text]
    first, *rest = [word.strip('"') for word in words] or [""]
    return (os.path.abspath(first) if os.path.dirname(first) else first, *rest)


def shared_library(
    files: Mapping[str, str],
    cc: Compiler,
    flags: Sequence[str],
    link: Sequence[str],
    *,
    units: Sequence[TranslationUnit] = (),
    suffix: str = "",
    repeatable: bool = False,
    progress: Progress | None = None,
) -> Path:
    """The shared library of C ``files`` by name, kept under the hash of all that makes it, or built.

    ``flags``       for compiling; a level of optimisation goes before them.
    ``link``        for linking, after the objects.
    ``units``       of files that are compiled together; others but kernels are compiled one by one.
    ``suffix``      of the library's name, with the dot; that of this machine where empty.
    ``repeatable``  has the same bytes whatever is kept; others take kernels from where any model left them.
    ``progress``    called as objects are compiled, and before they are linked.

    Safe beside other processes doing the same; what is damaged is built again. Raises `CompilerError`.
    """
    told: Progress = progress or (lambda stage, done: None)
    sources = _Sources(files, cc, tuple(flags))
    own = own_units(tuple(files), units)
    keys = {kernel: sources.key(kernel) for kernel in map(kernel_in, files) if kernel}
    mark = (*(sources.object(unit).file for unit in own), *keys.values(), *("repeatable",) * repeatable)
    library = _Build(cc, ("-shared", *link), {}, suffix or _suffix(), mark=mark)
    if library.whole():
        return library.target
    homes = {} if repeatable else _homes(keys)
    missing = batches(files) if repeatable else missing_batches(files, homes)
    made = {batch: sources.batch(batch) for batch in missing}
    homes |= {kernel: _Home(one.file, batch.mark) for batch, one in made.items() for kernel in batch.kernels}
    symbols = {kernel: symbol(kernel, home.mark) for kernel, home in homes.items()}
    objects = {batch.unit: one for batch, one in made.items()}
    objects |= {unit: sources.object(unit, symbols) for unit in own}
    steps = len(objects) + 1
    told(f"compiling {sum(len(unit.files) for unit in objects)} files", 0.0)
    with ThreadPoolExecutor(os.cpu_count()) as pool, Compilers() as compilers:
        for done, unit in enumerate(pool.map(lambda of: objects[of].kept(compilers) and of, objects), start=1):
            told(f"compiled {' '.join(unit.files)}", done / steps)
        for batch, one in made.items():
            _say_where(one, {keys[kernel]: batch.mark for kernel in batch.kernels})
        told("linking", len(objects) / steps)
        inputs = dict.fromkeys((*(home.file for home in homes.values()), *(one.file for one in objects.values())))
        replace(library, inputs=tuple(f"../{file}" for file in inputs)).kept(compilers)
    tidy(library.target.parent)
    return library.target


@dataclass(frozen=True)
class _Sources:
    """C files by name, and how they are compiled."""

    files: Mapping[str, str]
    cc: Compiler
    flags: tuple[str, ...]

    def object(self, unit: TranslationUnit, symbols: Mapping[str, str] | None = None) -> _Build:
        """The object of a unit, in which kernels are called as ``symbols`` has them."""
        read = self._read(unit.files)
        named = {kernel for name in unit.files for kernel in KERNEL.findall(self.files[name])} & (symbols or {}).keys()
        name, *others = unit.files
        if others or named:
            name = "together.c"
            read[name] = unit.text({kernel: (symbols or {})[kernel] for kernel in sorted(named)})
        return _Build(self.cc, (unit.level, *self.flags, "-c", name), read, ".o")

    def batch(self, batch: Batch) -> _Build:
        return self.object(batch.unit, batch.symbols)

    def key(self, kernel: str) -> str:
        """Under which it is kept where a kernel is: the kernel and how it is compiled."""
        return f"{self.object(TranslationUnit((file_of(kernel),))).file}.in"

    def _read(self, names: Sequence[str]) -> dict[str, str]:
        """Files and those of ours that they include, directly or not; their object depends on nothing else of them."""
        found, waiting = {name: self.files[name] for name in names}, list(names)
        while waiting:
            for header in INCLUDED.findall(self.files[waiting.pop()]):
                if header in self.files and header not in found:
                    found[header] = self.files[header]
                    waiting.append(header)
        return found


@dataclass(frozen=True)
class _Home:
    """The object that has a kernel, and the mark of the batch that it was made of."""

    file: str
    mark: str


def _homes(keys: Mapping[str, str]) -> dict[str, _Home]:
    """Of those kernels, with their ``keys``, that are in objects that are kept and whole."""
    found: dict[str, _Home] = {}
    whole: dict[str, bool] = {}
    for kernel, key in keys.items():
        with suppress(OSError, UnicodeDecodeError):
            said = HOME.fullmatch((cache_folder() / key).read_text(encoding="ascii"))
            if said is None:
                continue
            file, mark = said.groups()
            os.utime(cache_folder() / key)
            if file not in whole:
                whole[file] = _whole(cache_folder() / file)
            if whole[file]:
                found[kernel] = _Home(file, mark)
    return found


def _say_where(made: _Build, marks: Mapping[str, str]) -> None:
    """Keeps for each key that its kernel is in what was made, with the mark of its batch."""
    for key, mark in marks.items():
        (cache_folder() / key).write_text(f"{made.file} {mark}", encoding="ascii")


@dataclass(frozen=True)
class _Build:
    """One run of a compiler: what it is told but for the output, the files it reads there, and what it makes.

    It runs in a folder of its own inside the cache folder, so that what is kept lies at ``../``. ``mark`` says what
    ``inputs``, objects, are made of, whatever they are called.
    """

    cc: Compiler
    arguments: tuple[str, ...]
    files: Mapping[str, str]
    suffix: str
    mark: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()

    @cached_property
    def file(self) -> str:
        """The name of what it makes, which says all that makes it."""
        digest = hashlib.sha256()
        machine = (platform.machine(), sys.platform)
        told = (*self.cc.command, self.cc.version, *machine, self.suffix, *self.arguments, *self.mark)
        if any("native" in word for word in told):
            told = (*told, features())
        for part in (*told, *(text for file in sorted(self.files.items()) for text in file)):
            digest.update(part.encode())
            digest.update(b"\0")
        return f"{digest.hexdigest()[:32]}{self.suffix}"

    @property
    def target(self) -> Path:
        return cache_folder() / self.file

    def whole(self) -> bool:
        return _whole(self.target)

    def kept(self, compilers: Compilers) -> Path:
        """What it makes, made now by one of ``compilers`` unless it is whole."""
        target = self.target
        if self.whole():
            return target
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=BUILD) as folder:
            for name, text in self.files.items():
                (Path(folder) / name).write_text(text, encoding="utf-8")
            built, seal = Path(folder) / f"built{self.suffix}", Path(folder) / "seal"
            self._run(built, compilers)
            seal.write_text(_sha256(built), encoding="ascii")
            built.replace(target)
            seal.replace(_seal(target))
        return target

    def _run(self, built: Path, compilers: Compilers) -> None:
        command = [*self.cc.command, "-o", built.name, *self.inputs, *self.arguments]
        done = compilers.run(command, built.parent, ENVIRONMENT)
        if done.returncode or not built.exists():
            said = "\n".join((done.stderr.strip() or done.stdout.strip()).splitlines()[:20])
            raise CompilerError(
                f"{' '.join(command)} failed with status {done.returncode} and made no {built.name}:\n{said or SILENT}"
            )


@cache
def features() -> str:
    """What this processor can do, for code that is built for it alone."""
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines()
        return "\n".join(sorted({line for line in lines if line.startswith(("flags", "Features", "model name"))}))
    return platform.processor()


def _whole(target: Path) -> bool:
    """Whether a file is made and as it was made: loading part of a library would end the process.

    It is used then: the cache drops what was used longest ago.
    """
    try:
        if _seal(target).read_text(encoding="ascii") != _sha256(target):
            return False
    except (OSError, UnicodeDecodeError):
        return False
    with suppress(OSError):
        for file in (target, _seal(target)):
            os.utime(file)
    return True


def _seal(target: Path) -> Path:
    return target.with_suffix(".sha256")


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _suffix() -> str:
    return {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
