"""Files that are written whole: beside their place, and moved there when all is in them."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

PART = ".mbdy-"
"""How the names of files begin that are not whole yet."""


@contextmanager
def whole_file(path: str | os.PathLike[str], *, binary: bool = False) -> Iterator[IO[Any]]:
    """A file to write, UTF-8 or ``binary``, that is at ``path`` once the block has ended well.

    Until then, and after any fault, ``path`` is as it was. Links are followed, to a file that is not there yet too, and
    keep pointing to it; a pipe or device is written straight. Raises OSError, which names ``path``.
    """
    kind: dict[str, Any] = {"mode": "wb"} if binary else {"mode": "w", "encoding": "utf-8", "newline": "\n"}
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with target.open(**kind) as straight:
            yield straight
        return
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=PART, suffix=".part")
    except OSError as fault:
        raise OSError(fault.errno, fault.strerror, str(path)) from None
    part = Path(name)
    try:
        with os.fdopen(handle, **kind) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.chmod(stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o666 & ~_umask())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
