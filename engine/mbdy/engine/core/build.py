"""C into shared libraries: the compiler, and objects and libraries kept by content so that each is built once.

Objects are kept apart from the libraries made of them: a kernel of the equations is compiled once for all models that
have it. Both lie in the user's cache folder (or the folder that the environment variable ``MBDY_CACHE`` names) under
the hash of all that makes them: sources, flags and compiler.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

from mbdy.engine.core.cache import BUILD, cache_folder, tidy
from mbdy.engine.model.faults import MbdyError

FLAGS = ("-std=c11", "-fPIC", "-ffp-contract=off", "-fvisibility=hidden", "-fno-math-errno")
"""What every C file of a model is compiled with; the same for a core and a native FMU, so that they share objects."""
LINK = () if os.name == "nt" else ("-lm",)
COMPILER_VARIABLE = "MBDY_CC"
NONE = "none"
"""What ``MBDY_CC`` says where no compiler is to be used."""
ENVIRONMENT = {"SOURCE_DATE_EPOCH": "0", "MACOSX_DEPLOYMENT_TARGET": "11.0"}
"""No hour of the build in libraries, so that equal sources give equal files; and older Macs may load them."""
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
    suffix: str = "",
    progress: Progress | None = None,
) -> Path:
    """The shared library of C ``files`` by name, kept under the hash of all that makes it, or built.

    ``flags``     for compiling; -O2 goes before them.
    ``link``      for linking, after the objects.
    ``suffix``    of the library's name, with the dot; that of this machine where empty.
    ``progress``  called as objects are compiled, and before they are linked.

    Safe beside other processes doing the same; what is damaged is built again. Raises `CompilerError`.
    """
    told: Progress = progress or (lambda stage, done: None)
    names = sorted((name for name in files if name.endswith(".c")), key=lambda name: (-len(files[name]), name))
    objects = [_object(name, files, cc, flags) for name in names]
    inputs = [f"../{made.file}" for made in objects]
    library = _Build(cc, ("-shared", *inputs, *link), {}, suffix or _suffix())
    if library.whole():
        return library.target
    steps = len(names) + 1
    told(f"compiling {', '.join(names)}", 0.0)
    with ThreadPoolExecutor(os.cpu_count()) as pool, _Compilers() as compilers:
        made = pool.map(lambda one: one.kept(compilers), objects)
        for done, (name, _) in enumerate(zip(names, made, strict=True), start=1):
            told(f"compiled {name}", done / steps)
        told("linking", len(names) / steps)
        library.kept(compilers)
    tidy(library.target.parent)
    return library.target


def _object(name: str, files: Mapping[str, str], cc: Compiler, flags: Sequence[str]) -> _Build:
    return _Build(cc, ("-O2", *flags, "-c", name), _read(name, files), ".o")


def _read(name: str, files: Mapping[str, str]) -> dict[str, str]:
    """A C file and those of ``files`` that it includes, directly or not; its object depends on nothing else of them."""
    found, waiting = {name: files[name]}, [name]
    while waiting:
        for header in INCLUDED.findall(files[waiting.pop()]):
            if header in files and header not in found:
                found[header] = files[header]
                waiting.append(header)
    return found


class _Compilers:
    """Compilers at work in threads; where the block that waits for them is ended on its way, so are they."""

    def __init__(self) -> None:
        self._lock, self._ended = Lock(), False
        self._at_work: set[subprocess.Popen[str]] = set()

    def __enter__(self) -> _Compilers:
        return self

    def __exit__(self, fault: object, *_: object) -> None:
        with self._lock:
            self._ended = fault is not None
            for one in self._at_work if self._ended else ():
                _end(one)

    def run(self, command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
        """Runs ``command`` in ``folder``; `CompilerError` where it is too late to begin."""
        apart: dict[str, Any] = {} if os.name == "nt" else {"process_group": 0}  # a driver's children end with it
        with self._lock:
            if self._ended:
                raise CompilerError("ended before it began")
            one = subprocess.Popen(
                command, cwd=folder, env=os.environ | ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True, errors="replace", **apart,
            )  # fmt: skip
            self._at_work.add(one)
        with one:
            out, err = one.communicate()
        with self._lock:
            self._at_work.discard(one)
        return subprocess.CompletedProcess(command, one.returncode, out, err)


def _end(process: subprocess.Popen[str]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if os.name == "nt":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)


@dataclass(frozen=True)
class _Build:
    """One run of a compiler: what it is told but for the output, the files it reads there, and what it makes.

    It runs in a folder of its own inside the cache folder, so that what is kept lies at ``../``.
    """

    cc: Compiler
    arguments: tuple[str, ...]
    files: Mapping[str, str]
    suffix: str

    @cached_property
    def file(self) -> str:
        """The name of what it makes, which says all that makes it."""
        digest = hashlib.sha256()
        told = (*self.cc.command, self.cc.version, platform.machine(), sys.platform, self.suffix, *self.arguments)
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
        """Whether it is made and as it was made: loading part of a library would end the process."""
        try:
            whole = _seal(self.target).read_text(encoding="ascii") == _sha256(self.target)
            if whole:
                self._touch()
            return whole
        except (OSError, UnicodeDecodeError):
            return False

    def _touch(self) -> None:
        """Says that it is used: the cache drops what was used longest ago."""
        with suppress(OSError):
            for file in (self.target, _seal(self.target)):
                os.utime(file)

    def kept(self, compilers: _Compilers) -> Path:
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

    def _run(self, built: Path, compilers: _Compilers) -> None:
        command = [*self.cc.command, "-o", built.name, *self.arguments]
        done = compilers.run(command, built.parent)
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


def _seal(target: Path) -> Path:
    return target.with_suffix(".sha256")


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _suffix() -> str:
    return {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
