"""The small library in front of pythonfmu's (front.c), compiled once and kept with the cores.

pythonfmu 0.7 finds its files only in folders whose names survive as they are in a URI, and crashes the host
elsewhere. Only its Linux library is fronted; on Windows such folders stay out of bounds.
"""

from __future__ import annotations

import hashlib
import platform
import sys
from pathlib import Path

import pythonfmu

from mbdy.engine.compiled import compiler, shared_library

SOURCE = Path(__file__).with_name("front.c")
FLAGS = ("-std=c11", "-O2", "-fPIC", "-shared", "-fvisibility=hidden")
LIBRARY = "pythonfmu-export.so"
"""What pythonfmu's own library is called beside it."""


def behind() -> Path:
    """pythonfmu's own library for Linux on x86-64."""
    return Path(pythonfmu.__file__).parent / "resources" / "binaries" / "linux64" / "libpythonfmu-export.so"


def front() -> bytes | None:
    """The library for Linux on x86-64; None where it cannot be made here (no compiler, another platform).

    Raises `CompilerError` where the compiler refuses it.
    """
    cc = compiler()
    if cc is None or not sys.platform.startswith("linux") or platform.machine() != "x86_64":
        return None
    flags = (*FLAGS, f'-DBEHIND_HASH="{hashlib.sha256(behind().read_bytes()).hexdigest()[:16]}"')
    files = {SOURCE.name: SOURCE.read_text(encoding="utf-8")}
    return shared_library(files, cc, flags, ("-ldl",)).read_bytes()
