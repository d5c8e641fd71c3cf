"""The rig in C: one library for all plants, which it reaches by their functions."""

from __future__ import annotations

import ctypes
import re
import sys
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from mbdy.blocks.plant.library import CONSTANTS as PLANT_CONSTANTS
from mbdy.blocks.plant.library import text_of as plant_text
from mbdy.engine.core import library as core
from mbdy.engine.core.binding import constants, library
from mbdy.engine.core.build import FLAGS, LINK, compiler, shared_library
from mbdy.engine.model.faults import OptionError

FOLDER = Path(__file__).parent
FILES = (
    "packet.h", "rig.h", "rig_inside.h", "seal.h", "seal.c", "wire.c", "transport.c", "keeper.c", "counts.c",
    "on_purpose.c", "rig.c", "rig_door.c",
)  # fmt: skip
HEADER = (FOLDER / "rig.h").read_text(encoding="utf-8")
CONSTANTS = {**PLANT_CONSTANTS, **constants((FOLDER / "packet.h").read_text(encoding="utf-8")), **constants(HEADER)}
"""What the headers' enumerators stand for."""
TYPES = {"double": ctypes.c_double, "int64_t": ctypes.c_int64, "uint64_t": ctypes.c_uint64, "char": ctypes.c_char}


def rig_functions() -> SimpleNamespace:
    """The rig's functions, built if no earlier build is kept.

    Raises `OptionError` where the system is not Linux, `CompilerError` where there is no compiler.
    """
    if sys.platform != "linux" or sys.byteorder != "little":
        raise OptionError("a rig needs Linux on a little-endian machine: its clock, futexes and kernel's receive times")
    files = {name: core.text_of(name) for name in core.FILES if name.endswith(".h")}
    files |= {name: plant_text(name) for name in ("plant.h", "partial.h")}
    files |= {name: (FOLDER / name).read_text(encoding="utf-8") for name in FILES}
    return library(shared_library(files, compiler(), FLAGS, LINK), [HEADER])


@cache
def structure(name: str) -> Any:
    """``struct name`` of ``rig.h`` as ctypes has it."""
    plain = re.sub(r"/\*.*?\*/", "", HEADER, flags=re.DOTALL)
    body = re.search(rf"struct {name} \{{(.*?)\n\}};", plain, re.DOTALL)
    assert body
    fields = []
    for declared in body[1].split(";"):
        words = re.fullmatch(r"\s*(?:const )?(struct )?(?:unsigned )?(\w+) (.*)", declared, re.DOTALL)
        for one in words[3].split(",") if words else ():
            stars, field, size = re.fullmatch(r"\s*(\*?)(\w+)(?:\[(\w+)\])?\s*", one).groups()  # type: ignore[union-attr]
            kind = ctypes.c_void_p if stars else structure(words[2]) if words[1] else TYPES[words[2]]  # type: ignore[index]
            fields.append((field, kind * CONSTANTS[size] if size else kind))
    return type(name, (ctypes.Structure,), {"_fields_": fields})
