"""The small libraries in front of pythonfmu's and pythonfmu3's (front.h), compiled once and kept with the cores.

pythonfmu 0.7 finds its files only in folders whose names survive as they are in a URI, and crashes the host
elsewhere; pythonfmu3 0.3 drops the times of a run. Only their Linux libraries are fronted; on Windows such folders
stay out of bounds.
"""

from __future__ import annotations

import hashlib
import platform
import sys
from pathlib import Path

from mbdy.engine.core.build import Compiler, compiler, shared_library
from mbdy.fmu.native.platforms import named

HERE = Path(__file__).parent
HEADER = HERE / "front.h"
FLAGS = ("-std=c11", "-fPIC", "-fvisibility=hidden")
LINK = ("-Wl,--no-as-needed", "-l:libdl.so.2")
"""By the library's own name: from glibc 2.34 on ``-ldl`` names an empty archive, and older hosts need the library."""
LIBRARY = "pythonfmu-export.so"
"""What pythonfmu's own library is called beside ours."""


def front(source: Path, behind: Path) -> bytes | None:
    """The library for Linux on x86-64 from the C file ``source``, to stand before the one at ``behind``.

    None where it cannot be made here (another platform). Raises `CompilerError` where the compiler
    refuses it.
    """
    if not sys.platform.startswith("linux") or platform.machine() != "x86_64":
        return None
    cc, link = compiler(), LINK
    if "ziglang" in cc.command:  # it knows functions under the version of the glibc it is asked for, no .so.2
        cc, link = Compiler((*cc.command, "-target", named("linux64").target), cc.version), ("-ldl",)
    flags = (*FLAGS, f'-DBEHIND_HASH="{hashlib.sha256(behind.read_bytes()).hexdigest()[:16]}"')
    files = {file.name: file.read_text(encoding="utf-8") for file in (HEADER, source)}
    return shared_library(files, cc, flags, link).read_bytes()
