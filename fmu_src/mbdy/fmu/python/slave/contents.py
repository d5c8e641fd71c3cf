"""What an FMU carries, read once in a process: the plant's library."""

from __future__ import annotations

import importlib
import os
import platform
import shutil
import sys
import sysconfig
import tempfile
from types import SimpleNamespace
from typing import Any

HEADER = "plant.h"


class Contents:
    """The plant's library of the FMU unpacked around ``folder``: its ``functions``, and its ``constants`` by name."""

    def __init__(self, folder: str) -> None:
        self.binding: Any = importlib.import_module(f"{__package__}.binding")
        with open(os.path.join(folder, HEADER), encoding="utf-8") as file:
            header = file.read()
        self.constants: dict[str, int] = self.binding.constants(header)
        name = library_name()
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            raise RuntimeError(f"this FMU has no library for this platform ({name}): export it on such a machine")
        self.functions = self._loaded(path, header)

    def _loaded(self, path: str, header: str) -> SimpleNamespace:
        """The library at ``path``, loaded from a copy: the client may delete or overwrite its own at any time."""
        folder = tempfile.mkdtemp(prefix="mbdy-plant-")
        try:
            return self.binding.library(shutil.copy(path, folder), (header,))
        except OSError:  # a temporary folder from which nothing may be run
            return self.binding.library(path, (header,))
        finally:
            shutil.rmtree(folder, ignore_errors=True)  # on Windows the loaded copy stays


def library_name(system: str | None = None, machine: str | None = None) -> str:
    """File name of the plant's library for a platform (this one by default), such as ``plant-linux-x86_64.so``."""
    system = system or ("linux" if sys.platform.startswith("linux") else sys.platform)
    machine = (machine or platform.machine()).lower()
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(machine, machine)
    if system == "win32" and sysconfig.get_platform() == "win32":  # 32-bit Python on 64-bit Windows
        machine = "x86"
    suffix = {"win32": ".dll", "darwin": ".dylib"}.get(system, ".so")
    return f"plant-{system}-{machine}{suffix}"


_read: list[Contents] = []


def contents(resources: str) -> Contents:
    """What the FMU unpacked in ``resources`` carries; later calls need its files no more."""
    if not _read:
        here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        folder = next((f for f in (resources, here) if os.path.exists(os.path.join(f, HEADER))), None)
        if folder is None:
            raise RuntimeError(f"{HEADER} is neither in {resources!r} nor in {here!r}: unpack the whole FMU")
        _read.append(Contents(folder))
    return _read[0]
