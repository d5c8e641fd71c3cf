"""C libraries of ours through ctypes, as their headers declare them; nothing here but the standard library.

A library shows one function, ``mbdy_door``, that gives the others by name. Their types and the numbers of their
enumerations are read from the headers, where they stand once. FMUs carry a copy of this file.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ENUMERATION = re.compile(r"\benum\s+\w*\s*\{([^}]*)\}")
FUNCTION = re.compile(r"^(?!typedef|static|#)([a-z][\w ]*?[ *]+)(\w+)\(([^()]*)\);", re.MULTILINE)
TYPES: Mapping[str, Any] = {
    "int": ctypes.c_int, "unsigned": ctypes.c_uint, "double": ctypes.c_double, "size_t": ctypes.c_size_t, "void": None,
}  # fmt: skip
"""Types that are passed by value; all else are addresses, but for texts that come back."""


@cache
def constants(header: str) -> Mapping[str, int]:
    """The enumerators in the text of a header."""
    numbers: dict[str, int] = {}
    for body in ENUMERATION.findall(_plain(header)):
        last = -1
        for name, _, value in (entry.strip().partition("=") for entry in body.split(",") if entry.strip()):
            last = int(value, 0) if value.strip() else last + 1
            numbers[name.strip()] = last
    return numbers


def library(path: str | Path, headers: Iterable[str]) -> SimpleNamespace:
    """The functions that the library at ``path`` has of those declared in the texts of ``headers``.

    OSError where it does not load.
    """
    loaded = ctypes.CDLL(str(path))
    door = loaded.mbdy_door
    door.argtypes, door.restype = [ctypes.c_char_p], ctypes.c_void_p
    shown = SimpleNamespace(loaded=loaded)
    for header in headers:
        for result, name, parameters in FUNCTION.findall(_plain(header)):
            if address := door(name.encode()):
                types = [] if parameters.strip() == "void" else [_type(part) for part in parameters.split(",")]
                returned = ctypes.c_char_p if result.split() == ["const", "char", "*"] else _type(f"{result} it")
                setattr(shown, name, ctypes.CFUNCTYPE(returned, *types)(address))
    return shown


@cache
def _plain(header: str) -> str:
    """A header without comments, and each declaration on one line."""
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    return re.sub(r"([,(])\s*\n\s*", r"\1 ", text)


def _type(declared: str) -> Any:
    """What a parameter, declared with its name, is to ctypes."""
    words = [word for word in declared.split() if word != "const"]
    if "*" in declared or "[" in declared or words[0] not in TYPES:
        return ctypes.c_void_p
    return TYPES[words[0]]


class Owned:
    """Memory of a C object at ``handle``, freed by ``free`` when nothing looks into it any more."""

    def __init__(self, handle: int | None, free: Any) -> None:
        if not handle:
            raise MemoryError("no memory for a plant")
        self.handle, self._free = handle, free

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            self._free(self.handle)

    def doubles(self, address: int | None, size: int) -> ctypes.Array[ctypes.c_double]:
        """``size`` doubles at ``address`` in this memory, which they keep."""
        shared = (ctypes.c_double * size).from_address(address) if address else (ctypes.c_double * size)()
        shared.owner = self  # pyright: ignore[reportAttributeAccessIssue]
        return shared


def texts(names: Iterable[str]) -> ctypes.Array[ctypes.c_char_p]:
    """``names`` as C has a list of them."""
    encoded = [name.encode() for name in names]
    return (ctypes.c_char_p * max(1, len(encoded)))(*encoded)
