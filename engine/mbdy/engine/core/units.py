"""What one run of the compiler takes: our own C in a few units, kernels of equations in batches.

To start a compiler and have it read the headers takes longer than most kernels do, so files go to it together, as if
they stood in one (docs/decisions/0016-units.md).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath

KERNEL = re.compile(r"\bmbdy_k[0-9a-f]{16}\b")
KERNEL_FILE = re.compile(r"(mbdy_k[0-9a-f]{16})\.c")
FULL = 65_536
"""Characters of kernels in a batch: a tenth of a second for a compiler."""


@dataclass(frozen=True)
class TranslationUnit:
    """C files that are compiled as one, in this order; names that only one of them has stand in one of them alone.

    ``level``  of optimisation.
    """

    files: tuple[str, ...]
    level: str = "-O2"

    def text(self, symbols: Mapping[str, str]) -> str:
        """One C file of them, with ``symbols`` in the place of names of kernels."""
        named = (f"#define {name} {symbol}\n" for name, symbol in symbols.items())
        return "".join((*named, *(f'#include "{file}"\n' for file in self.files)))


@dataclass(frozen=True)
class Batch:
    """Kernels by name that are compiled together.

    In its object each has a name of that batch's own, so that objects with a kernel in common go into one library.
    """

    kernels: tuple[str, ...]

    @cached_property
    def symbols(self) -> dict[str, str]:
        """What each kernel is called in the object."""
        return {kernel: symbol(kernel, self.mark) for kernel in self.kernels}

    @cached_property
    def mark(self) -> str:
        """Eight digits that its kernels' names, and so their contents, determine."""
        return hashlib.sha256(" ".join(self.kernels).encode()).hexdigest()[:8]

    @property
    def unit(self) -> TranslationUnit:
        return TranslationUnit(tuple(map(file_of, self.kernels)))


def symbol(kernel: str, mark: str) -> str:
    """What a kernel is called in the object of the batch with that mark."""
    return f"{kernel}_{mark}"


def file_of(kernel: str) -> str:
    """The C file of a kernel."""
    return f"{kernel}.c"


def kernel_in(file: str) -> str:
    """The kernel that a C file has; empty where it has something else."""
    found = KERNEL_FILE.fullmatch(file)
    return found[1] if found else ""


def c_files(files: Iterable[str]) -> tuple[str, ...]:
    """Those that are no headers."""
    return tuple(name for name in files if PurePath(name).suffix == ".c")


def own_units(files: Sequence[str], units: Sequence[TranslationUnit]) -> list[TranslationUnit]:
    """The units of C ``files`` that are no kernels: ``units`` of those that are there, each of the others alone."""
    there = [TranslationUnit(tuple(name for name in unit.files if name in files), unit.level) for unit in units]
    taken = {name for unit in there for name in unit.files}
    alone = (name for name in c_files(files) if name not in taken and not kernel_in(name))
    return [*(unit for unit in there if unit.files), *(TranslationUnit((name,)) for name in alone)]


def batches(files: Mapping[str, str]) -> list[Batch]:
    """The kernels among ``files`` in batches: a new one where one is full, and where kernels of another C file begin,
    so that models share what they have in common."""
    made: list[list[str]] = [[]]
    size = 0
    for name in c_files(files):
        kernel = kernel_in(name)
        if (not kernel or size + len(files[name]) > FULL) and made[-1]:
            made.append([])
            size = 0
        if kernel:
            made[-1].append(kernel)
            size += len(files[name])
    return [Batch(tuple(kernels)) for kernels in made if kernels]


def missing_batches(files: Mapping[str, str], kept: Mapping[str, object]) -> list[Batch]:
    """Batches with the kernels among ``files`` that are not ``kept``: those of `batches` of which most is missing, and
    others of what is missing besides."""
    whole, rest = [], {}
    for batch in batches(files):
        missing = [kernel for kernel in batch.kernels if kernel not in kept]
        if 2 * len(missing) > len(batch.kernels):
            whole.append(batch)
        else:
            rest |= {file_of(kernel): files[file_of(kernel)] for kernel in missing}
    return whole + batches(rest)
