"""Memory that processes share, by a name under /dev/shm."""

from __future__ import annotations

import ctypes
import mmap
import os
import re
from pathlib import Path

from mbdy.engine.model.faults import OptionError, shown

FOLDER = Path("/dev/shm")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,199}")


class SharedBlock:
    """``size`` zeroed bytes at ``address``; with a ``name``, other processes of this user open /dev/shm/NAME.

    A block that a rig has left behind is replaced. Raises `OptionError` for a name that no file can have or one in use.
    """

    def __init__(self, what: str, name: str | None, size: int) -> None:
        self.path = self._file = None
        self._process = os.getpid()
        if name is None:
            self._map = mmap.mmap(-1, size)
        else:
            if not (isinstance(name, str) and NAME.fullmatch(name)):
                raise OptionError(
                    f"{what}: a name of 1 to 200 letters, digits, '_', '.' and '-' is needed, got {shown(name)}"
                )
            self.path = FOLDER / name
            self._file = self._made(what, self.path)
            try:
                os.ftruncate(self._file, size)
            except OSError as fault:
                self.close()
                raise OptionError(
                    f"{what}: no {size} bytes of shared memory: {fault.strerror}; raise the limit of ulimit -f"
                ) from None
            self._map = mmap.mmap(self._file, size)
        self._view = ctypes.c_char.from_buffer(self._map)
        self.address = ctypes.addressof(self._view)

    @staticmethod
    def _made(what: str, path: Path) -> int:
        import fcntl  # which Windows has not: layouts and headers are for all systems

        if not taken_away(path):
            raise OptionError(f"{what}: {path} is another rig's that runs; take another name")
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return file

    def close(self) -> None:
        """Takes the name away; processes that have the block open keep it, forked ones leave its name."""
        if self.path is not None and self._file is not None:
            if os.getpid() == self._process:
                self.path.unlink(missing_ok=True)
            os.close(self._file)
            self.path = None


def taken_away(path: Path) -> bool:
    """Removes a block that was left behind, if one is there; False where a rig holds it, in another container too."""
    import fcntl

    try:
        file = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink()
    except BlockingIOError:
        return False
    finally:
        os.close(file)
    return True
