"""The small library in front of pythonfmu's (front.c), compiled once and kept with the cores.

pythonfmu 0.7 finds its files only in folders whose names survive as they are in a URI, and crashes the host
elsewhere. Only its Linux library is fronted; on Windows such folders stay out of bounds.
"""

from __future__ import annotations

import hashlib
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

import pythonfmu

from mbdy.engine.compiled import CompilerError, cache_folder, compiler

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
    parts = (cc.version.encode(), " ".join((*cc.command, *flags)).encode(), SOURCE.read_bytes())
    digest = hashlib.sha256(b"\0".join(parts)).hexdigest()
    kept = cache_folder() / f"front-{digest[:32]}.so"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent, prefix="build-") as folder:
            built = Path(folder) / "front.so"
            command = [*cc.command, *flags, "-o", str(built), str(SOURCE), "-ldl"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise CompilerError(f"{' '.join(command)} failed with status {done.returncode}:\n{done.stderr[:2000]}")
            built.replace(kept)
    return kept.read_bytes()
