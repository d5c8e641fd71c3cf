"""The plant in C with one model's equations, as a shared library."""

from __future__ import annotations

from pathlib import Path

from mbdy.engine.core.binding import constants
from mbdy.engine.core.build import FLAGS, LINK, compiler, shared_library
from mbdy.engine.core.library import HEADER as CORE_HEADER
from mbdy.engine.core.library import UNITS as CORE_UNITS
from mbdy.engine.core.library import Compiled, sources
from mbdy.engine.core.units import TranslationUnit, c_files
from mbdy.engine.order_n.equations import Equations

FOLDER = Path(__file__).parent
FILES = ("plant.h", "partial.h", "plant.c", "values.c", "steps.c", "state.c", "partial.c", "closing_partial.c")
DOOR = "door.c"
UNITS = (*CORE_UNITS, TranslationUnit(c_files(FILES), "-Og"))
"""What is compiled together."""
HEADERS = (CORE_HEADER, (FOLDER / "plant.h").read_text(encoding="utf-8"))
CONSTANTS = {name: number for header in HEADERS for name, number in constants(header).items()}
"""What the headers' enumerators stand for."""


def plant_sources() -> dict[str, str]:
    """The plant's C files by name, the same for all models, but for what shows its functions."""
    return {name: text_of(name) for name in FILES}


def text_of(file: str) -> str:
    """The text of a C file of the plant."""
    return (FOLDER / file).read_text(encoding="utf-8")


def compiled_plant(equations: Equations, *, implicit: bool = False, located: bool = False) -> Compiled:
    """The plant with ``equations``, built if no earlier build is kept.

    ``implicit`` asks for linearly implicit integrators too, ``located`` for those that look where laws switch. Raises
    `CompilerError` where there is no compiler or it fails.
    """
    files = sources(equations, implicit=implicit, located=located) | plant_sources() | {DOOR: text_of(DOOR)}
    return Compiled(equations, shared_library(files, compiler(), FLAGS, LINK, units=UNITS), implicit, HEADERS)
