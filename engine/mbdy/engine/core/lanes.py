"""Lanes: internal steps and outputs of several runs of a model at once (lanes.h), in a library of its own for each
width of the processor's vectors, chosen when it is loaded."""

from __future__ import annotations

import ctypes
import platform
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mbdy.engine.core import integrators
from mbdy.engine.core.build import FLAGS, LINK, compiler, features, shared_library
from mbdy.engine.core.library import PLAYED, UNITS, generated, table, text_of
from mbdy.engine.core.schedule import schedule
from mbdy.engine.order_n.equations import Equations

FILES = (*PLAYED, "model.h", "core.h", "inside.h", "stages.c", "lanes.h", "lanes.c")
X86 = {8: ("avx512f", "avx512dq"), 4: ("avx2",), 2: ("sse2",)}
"""By width, what the processor must have."""
BUILD = {8: ("-mavx512f", "-mavx512dq", "-mprefer-vector-width=512"), 4: ("-mavx2",), 2: ()}


def widths() -> tuple[int, ...]:
    """How many runs this processor can take at once, the most first; one is left out."""
    machine = platform.machine().lower()
    if machine in ("aarch64", "arm64"):
        return (2,)
    if machine not in ("x86_64", "amd64"):
        return ()
    has = set(features().split())
    return tuple(width for width, needed in X86.items() if width == 2 or has.issuperset(needed))


@dataclass(frozen=True)
class Lanes:
    """The lanes of a model's equations, ``width`` runs at once."""

    library: Path
    width: int

    @cached_property
    def _loaded(self) -> ctypes.CDLL:
        return ctypes.CDLL(str(self.library))

    @cached_property
    def address(self) -> int:
        """Of the ``mbdy_lanes`` in memory."""
        door = self._loaded.mbdy_door
        door.argtypes, door.restype = [ctypes.c_char_p], ctypes.c_void_p
        return ctypes.CFUNCTYPE(ctypes.c_void_p)(door(b"mbdy_these_lanes"))()


def compiled_lanes(equations: Equations, width: int) -> Lanes:
    """The lanes of ``equations``, built if no earlier build is kept. Raises `CompilerError`."""
    moving = tuple(map(schedule, equations.balance or (equations.derivatives, equations.outputs)))
    files = {name: text_of(name) for name in FILES} | integrators.sources(explicit=True)
    files |= {**generated(moving, "model.c"), "table.c": table(equations, [one.name for one in moving])}
    flags = (*FLAGS, "-O3", "-Wno-psabi", f"-DMBDY_LANES={width}", *(BUILD[width] if _is_x86() else ()))
    library = shared_library(files, compiler(), flags, LINK, units=UNITS)
    return Lanes(library, width)


def _is_x86() -> bool:
    return platform.machine().lower() in ("x86_64", "amd64")
