"""The platforms that a native FMU has binaries for, and how each binary is built.

This machine's own is built by its C compiler, as the `Plant`'s core is, so that both give the same bits; the others by
ziglang, whose clang compiles for them all. A binary needs nothing but its platform's C library: on Linux a glibc of
2016 (`OLDEST_GLIBC`), on Windows the universal C runtime (part of Windows 10), on a Mac macOS 11.
"""

from __future__ import annotations

import platform
import re
import struct
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from mbdy.blocks.plant.library import UNITS
from mbdy.engine.core.build import FLAGS, Compiler, NoCompilerError, Progress, compiler, shared_library
from mbdy.engine.model.faults import MbdyWarning, RefusalError
from mbdy.fmu.versions import VERSIONS, Version

OLDEST_GLIBC = (2, 24)
"""Of August 2016: what a binary for Linux may need."""
ELF, MACH = ("-s", "-Wl,-Bsymbolic", "-Wl,--build-id=none", "-lm"), ("-Wl,-S", "-Wl,-x")
NAMED = "-Wl,-install_name,@rpath/mbdy.dylib"
"""A name inside the file that does not say where it was built."""


class NewGlibcNote(MbdyWarning):
    """Said where this machine's compiler makes a binary that older machines cannot load."""


@dataclass(frozen=True)
class Platform:
    """One kind of machine.

    ``name``    as typed for ``--platform``, in the way of FMI 2.
    ``tuple``   FMI 3's name, and that of the folder of its binaries.
    ``fmi2``    the folder in FMI 2.
    ``target``  ziglang's name, with the oldest system that is served.
    ``suffix``  of a shared library's name, with the dot.
    ``link``    flags for linking: no names of hidden functions, own functions first, nothing that differs from one
                build to the next.
    """

    name: str
    tuple: str
    fmi2: str
    target: str
    suffix: str
    link: tuple[str, ...]

    def folder(self, version: Version) -> str:
        """The folder of its binaries in an FMU."""
        return self.tuple if version.tuples else self.fmi2


ALL = (
    Platform("linux64", "x86_64-linux", "linux64", "x86_64-linux-gnu.2.17", ".so", ELF),
    Platform("win64", "x86_64-windows", "win64", "x86_64-windows-gnu", ".dll", ("-s", "-static-libgcc")),
    Platform("darwin64", "x86_64-darwin", "darwin64", "x86_64-macos.11.0", ".dylib", (*MACH, NAMED)),
    Platform("linux-aarch64", "aarch64-linux", "aarch64-linux", "aarch64-linux-gnu.2.17", ".so", ELF),
    Platform("darwin-arm64", "aarch64-darwin", "darwin64", "aarch64-macos.11.0", ".dylib", (*MACH, NAMED)),
)
"""Every platform, the commonest first. FMI 2 has one folder for all Macs; its file holds both."""
SYSTEMS = {"linux": "linux", "win32": "windows", "darwin": "darwin"}
MACHINES = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}


def named(text: str) -> Platform:
    """The platform of a name, our own or FMI 3's; ValueError where there is none."""
    for known in ALL:
        if text in (known.name, known.tuple):
            return known
    names = ", ".join(f"{known.name} ({known.tuple})" for known in ALL)
    raise RefusalError(f"platform {text!r}: must be one of {names}")


def host() -> Platform:
    """This machine's platform; ValueError where FMUs of ours have no binaries for it."""
    return named(_this_machine())


def this_machine() -> str:
    """Our name of this machine's platform, FMI 3's where we have none."""
    return next((one.name for one in ALL if one.tuple == _this_machine()), _this_machine())


def _this_machine() -> str:
    """FMI 3's name of this machine's platform."""
    system, machine = SYSTEMS.get(sys.platform, sys.platform), platform.machine().lower()
    return f"{MACHINES.get(machine, machine)}-{system}"


def require(wanted: Sequence[Platform]) -> None:
    """Raises `NoCompilerError` where a compiler for one of ``wanted`` is missing, before any is built."""
    others = [one for one in wanted if one.tuple != _this_machine()]
    if others and not find_spec("ziglang"):
        names = ", ".join(one.name for one in others)
        raise NoCompilerError(
            f"binaries for {names} are made with ziglang here, which is not installed: `pip install mbdy[native]`"
        )
    if len(others) < len(wanted):
        compiler()


def build(
    wanted: Platform, files: Mapping[str, str], *, defines: Sequence[str] = (), progress: Progress | None = None
) -> Path:
    """The shared library of C ``files`` by name for one platform, built if no earlier build is kept.

    ``defines``   flags of the preprocessor (``"-DMBDY_INSIDE"``) for all files.
    ``progress``  called with what begins and the fraction done. The first build for a platform makes that platform's
                  C library too: some ten seconds, for Windows one or two minutes.

    Raises `CompilerError` where the compiler refuses them or is missing. Warns with `NewGlibcNote` where the binary
    needs a newer glibc than `OLDEST_GLIBC` and ziglang, which has old ones, is not there to make another.
    """
    require([wanted])
    if wanted.tuple != _this_machine():
        return _built(wanted, files, _cross(wanted), defines, progress)
    library = _built(wanted, files, compiler(), defines, progress)
    if wanted.suffix != ".so" or (needed := glibc_needed(library.read_bytes())) <= OLDEST_GLIBC:
        return library
    if find_spec("ziglang"):
        return _built(wanted, files, _cross(wanted), defines, progress)
    warnings.warn(
        f"the binary for {wanted.name} needs a glibc of version {needed[0]}.{needed[1]}, as this machine has, and does "
        "not load on older ones; `pip install mbdy[native]` brings a compiler whose binaries do",
        NewGlibcNote,
        stacklevel=2,
    )
    return library


def _built(
    wanted: Platform, files: Mapping[str, str], cc: Compiler, defines: Sequence[str], progress: Progress | None
) -> Path:
    flags = (*FLAGS, *defines)
    return shared_library(
        files, cc, flags, wanted.link, units=UNITS, suffix=wanted.suffix, repeatable=True, progress=progress
    )


def _cross(wanted: Platform) -> Compiler:
    """ziglang's compiler for a platform; `require` says whether it is there."""
    command = (sys.executable, "-m", "ziglang", "cc", "-target", wanted.target)
    return Compiler(command, f"ziglang {metadata.version('ziglang')}")


def glibc_needed(library: bytes) -> tuple[int, int]:
    """The newest version of glibc whose functions an ELF file names; (0, 0) where it names none."""
    versions = re.findall(rb"\0GLIBC_(\d+)\.(\d+)", library)
    return max(((int(major), int(minor)) for major, minor in versions), default=(0, 0))


def binaries(built: Mapping[Platform, Path], identifier: str, fmi: str) -> dict[str, bytes]:
    """The files of an FMU's folder ``binaries`` by their path in it, for the version ``fmi``.

    FMI 2.0.5 names 64-bit x86 ``linux64`` and calls Linux on ARM by FMI 3's name, but FMPy and FMI Library look into
    ``linux64`` there too: so without a binary for x86 the one for ARM lies in both folders.
    """
    data = {one: path.read_bytes() for one, path in built.items()}
    if VERSIONS[fmi].tuples:
        return {f"{one.tuple}/{identifier}{one.suffix}": content for one, content in data.items()}
    arm, x86 = named("linux-aarch64"), named("linux64")
    files = {f"{one.fmi2}/{identifier}{one.suffix}": content for one, content in data.items()}
    if arm in data and x86 not in data:
        files[f"{x86.fmi2}/{identifier}{x86.suffix}"] = data[arm]
    macs = [data[one] for one in ALL if one in data and one.fmi2 == "darwin64"]
    if len(macs) > 1:
        files[f"darwin64/{identifier}.dylib"] = universal(macs)
    return files


ALIGNMENT = 14
"""Of a file inside a universal one, as a power of two: a page of the Mac with the larger pages."""


def universal(thin: Sequence[bytes]) -> bytes:
    """One Mach-O file for several processors of ``thin`` ones, 64 bits each (Apple's <mach-o/fat.h>, big-endian)."""
    page = 1 << ALIGNMENT
    heads, body, at = [struct.pack(">II", 0xCAFEBABE, len(thin))], b"", page
    for one in thin:
        processor, kind = struct.unpack_from("<II", one, 4)
        heads.append(struct.pack(">IIIII", processor, kind, at, len(one), ALIGNMENT))
        body += one + bytes(-len(one) % page)
        at = page + len(body)
    return b"".join(heads).ljust(page, b"\0") + body
