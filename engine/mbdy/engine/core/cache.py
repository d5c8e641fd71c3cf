"""The folder in which compiled cores are kept: where it is, whether it can be trusted, how large it may grow."""

from __future__ import annotations

import atexit
import mmap
import os
import shutil
import stat
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import platformdirs

from mbdy.engine.model.faults import MbdyWarning

CACHE_VARIABLE, LIMIT_VARIABLE = "MBDY_CACHE", "MBDY_CACHE_LIMIT"
LIMIT = 2048
"""[MiB] The folder may grow to, where ``MBDY_CACHE_LIMIT`` says nothing else."""
SPARE = 64
"""[MiB] A disk with less room keeps nothing."""
MIB = 2**20
BUILD = "build-"
"""How folders begin in which a compiler is at work."""
ABANDONED = 86_400.0
"""[s] After so long no compiler is at work any more."""
HOUR = 3_600.0
LAST = ".tidied"
"""The file whose hour says when the folder was looked at."""


class NoCacheNote(MbdyWarning):
    """Said where compiled cores cannot be kept as asked."""


def cache_folder() -> Path:
    """Where compiled cores are kept; where that cannot be, a folder of this process that goes with it."""
    return _usable(wanted_folder())


def wanted_folder() -> Path:
    """The folder that ``MBDY_CACHE`` names, or one in the user's cache folder."""
    chosen = os.environ.get(CACHE_VARIABLE)
    return Path(chosen) if chosen else Path(platformdirs.user_cache_dir("mbdy", appauthor=False)) / "cores"


def limit() -> int:
    """[bytes] How large the folder may grow; a limit that is no number is told and not used."""
    text = os.environ.get(LIMIT_VARIABLE, "").strip()
    try:
        return int(float(text or LIMIT) * MIB)
    except (ValueError, OverflowError):
        warnings.warn(f"{LIMIT_VARIABLE}={text} is no number of MiB: {LIMIT} it is", NoCacheNote, stacklevel=2)
        return LIMIT * MIB


def kept() -> dict[Path, os.stat_result]:
    """The files that are kept."""
    return dict(_files(wanted_folder()))


def clear() -> int:
    """Removes all that is kept and all that interrupted builds left; returns the bytes that this frees."""
    folder, freed = wanted_folder(), 0
    for path, about in _files(folder):
        with suppress(OSError):
            path.unlink()
            freed += about.st_size
    for path in folder.glob(f"{BUILD}*"):
        shutil.rmtree(path, ignore_errors=True)
    return freed


def tidy(folder: Path) -> None:
    """`trim`, once an hour at most: looking at all files takes a while."""
    last = folder / LAST
    with suppress(OSError):
        if time.time() - last.stat().st_mtime < HOUR:
            return
    with suppress(OSError):
        last.touch()
    trim(folder)


def trim(folder: Path) -> None:
    """Removes what interrupted builds left, and what was used longest ago until the rest is within the limit.

    What was used within the hour stays: somebody may be about to load it.
    """
    now = time.time()
    for path in folder.glob(f"{BUILD}*"):
        with suppress(OSError):
            if now - path.stat().st_mtime > ABANDONED:
                shutil.rmtree(path, ignore_errors=True)
    most, files = limit(), sorted(_files(folder), key=lambda entry: entry[1].st_mtime)
    size = sum(about.st_size for _, about in files)
    for path, about in files:
        if size <= most or now - about.st_mtime < HOUR:
            break
        with suppress(OSError):
            path.unlink()
            size -= about.st_size


def _files(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    with suppress(FileNotFoundError):
        for path in folder.iterdir():
            with suppress(OSError):  # another process may remove it
                if path.is_file() and path.name != LAST:
                    yield path, path.stat()


@cache
def _usable(wanted: Path) -> Path:
    why_not = _objection(wanted)
    if not why_not:
        return wanted
    warnings.warn(
        f"compiled cores cannot be kept in {wanted} ({why_not}): they are built anew each time; name a folder for them "
        f"in {CACHE_VARIABLE}",
        NoCacheNote,
        stacklevel=2,
    )
    folder = Path(tempfile.mkdtemp(prefix="mbdy-cores-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _objection(folder: Path) -> str:
    """Why cores cannot be kept in ``folder``, or loaded from it without another user having a hand in them."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"\0")
            file.flush()
            if os.name == "posix":
                mmap.mmap(file.fileno(), 1, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC).close()
        about = folder.stat()
        if shutil.disk_usage(folder).free < SPARE * MIB:
            return f"less than {SPARE} MiB are free there"
    except OSError as fault:
        return fault.strerror or str(fault)
    if os.name == "posix" and about.st_uid not in (0, os.getuid()):
        return "it is another user's"
    if os.name == "posix" and about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "other users can write to it; chmod go-w makes it yours alone"
    return ""
