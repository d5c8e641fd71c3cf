"""What the slave needs of the pythonfmu around it, and what it mends of it."""

from __future__ import annotations

import _ctypes
import contextlib
import ctypes
import os
import sys
import weakref
from collections.abc import Callable
from typing import Any


class Call(ctypes.Structure):
    """What our library in front of pythonfmu's knows of the call at hand in this thread (front.h)."""

    _fields_ = (
        ("refused", ctypes.c_int),
        ("times", ctypes.c_int),
        ("values", ctypes.c_size_t),
        ("start", ctypes.c_double),
        ("stop", ctypes.c_double),
        ("makes", ctypes.c_int),
        ("logging", ctypes.c_int),
        ("token", ctypes.c_char_p),
        ("required", ctypes.c_void_p),
        ("n_required", ctypes.c_size_t),
    )


class Host:
    """The pythonfmu that runs ``slave``, and our library at the path ``library`` in front of it where there is one.

    ``status`` is pythonfmu's enumeration of FMI's statuses.
    """

    def __init__(self, slave: Any, status: Callable[[int], Any], library: str) -> None:
        self._slave, self._status = weakref.proxy(slave), status  # else an instance freed would wait for a collection
        self._call: Callable[[], Any] | None = None
        self.said = ""
        on_host_library(library, self._find)

    def _find(self, library: Any) -> None:
        self._call = ctypes.cast(library.mbdy_call, ctypes.PYFUNCTYPE(ctypes.POINTER(Call)))

    def log(self, status: int, category: str, message: str) -> None:
        """Has the client told ``message``."""
        self.said = message
        self._slave.log(message, self._status(status), category)

    def asked(self) -> Call | None:
        """How an instance is asked for; None if unknown."""
        call = self._call().contents if self._call else None
        return call if call and call.makes else None

    def refuse(self, status: int) -> None:
        """Has the call at hand answered with ``status``, which pythonfmu alone cannot."""
        if self._call:
            self._call().contents.refused = status

    def values(self, known: int) -> int:
        """How many values the call at hand asks for; ``known`` where only pythonfmu knows it."""
        return self._call().contents.values if self._call else known

    def times(self) -> tuple[float, float | None] | None:
        """Start and stop time [s] given with enterInitializationMode, which pythonfmu3 drops; None if unknown."""
        if not self._call:
            return None
        call = self._call().contents
        return (call.start, call.stop if call.times == 2 else None) if call.times else None


def on_host_library(path: str, use: Callable[[Any], object]) -> None:
    """``use`` on the library at ``path`` that the host runs, held no longer than that; nothing where it has no such."""
    try:
        library = ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_NOLOAD)
    except (OSError, AttributeError):  # Windows has no RTLD_NOLOAD
        return
    try:
        with contextlib.suppress(AttributeError):
            use(library)
    finally:
        _ctypes.dlclose(library._handle)  # else a client could not unpack the FMU into its folder again


_in_order: set[str] = set()


def end_in_order(path: str) -> None:
    """Registers pythonfmu's end as the last of what it registered itself, as front.h does where the FMU carries it.

    pythonfmu 0.7 and pythonfmu3 0.3 let go of their interpreter's state twice as a process ends, the second time of
    freed memory; done before, both find nothing. On Linux.
    """
    if path not in _in_order:
        _in_order.add(path)
        if sys.platform.startswith("linux"):
            on_host_library(path, _end_first)


def _end_first(library: ctypes.CDLL) -> None:
    end = library.finalizePythonInterpreter
    # the first of its kind never leaves a process, but a second one would, and leave a hole where its end was
    ctypes.CDLL(library._name, mode=os.RTLD_NOW | os.RTLD_NOLOAD | os.RTLD_NODELETE)
    ctypes.CDLL(None)["__cxa_atexit"](end, None, None)


def forget_path(resources: str) -> None:
    """Takes back the place on Python's path that pythonfmu gave to ``resources``: all is imported by now."""
    if resources in sys.path:
        sys.path.remove(resources)
    sys.path_importer_cache.pop(resources, None)
