"""The ring of records that ``mbdy rig --record`` makes for itself, and what drains it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mbdy.blocks.rig import Rig
    from mbdy.blocks.rig.recorder import RingRecorder

RING = "mbdy-"
"""How the ring of a process begins, before the process's number."""


def ring_name() -> str:
    """The ring of this process; those that processes of this user have left behind (they were killed) are removed."""
    from mbdy.blocks.rig.shared import FOLDER, taken_away

    for path in FOLDER.glob(f"{RING}*"):
        number = path.name.removeprefix(RING)
        if number.isdecimal() and not _alive(int(number)):
            with suppress(OSError):
                if path.lstat().st_uid == os.getuid() and not path.is_symlink():
                    taken_away(path)
    return f"{RING}{os.getpid()}"


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


@contextmanager
def recorded(made: Rig, ring: str | None, file: Path | None, wrong: list[str]) -> Iterator[RingRecorder | None]:
    """What drains the ``ring`` of a rig into a ``file`` while the block runs, if any; ``wrong`` gets its fault."""
    if not ring or not file:
        yield None
        return
    from mbdy.blocks.rig.recorder import RecordError, RingRecorder

    recorder = RingRecorder(made.layout, ring, file)
    try:
        yield recorder
    finally:
        try:
            recorder.close()
        except RecordError as fault:
            wrong.append(str(fault))
