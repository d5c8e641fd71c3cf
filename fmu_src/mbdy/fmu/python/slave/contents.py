"""What an FMU carries, read once in a process: the table of ports and a source of plants."""

from __future__ import annotations

import importlib
import json
import os
import platform
import shutil
import sys
import sysconfig
import tempfile
import warnings
from typing import Any


class Contents:
    """The table of value references and the compiled core of the FMU unpacked around ``folder``.

    A value reference is a row of ``ports.json``; ``sizes`` holds those that stand for an array of FMI 3, whose other
    rows are ``elements``, with their array's reference.
    """

    def __init__(self, folder: str) -> None:
        with open(os.path.join(folder, "ports.json"), encoding="utf-8") as file:
            self.ports: dict[str, Any] = json.load(file)
        scalars: list[dict[str, Any]] = self.ports["scalars"]
        rows = {vector: [row for row in scalars if row["vector"] == vector] for vector in ("u", "p", "y", "c")}
        starts = {vr: row["start_at"] for vr, row in enumerate(scalars) if row["start_at"] is not None}
        states = [scalars[vr] for vr in sorted(starts, key=lambda vr: starts[vr])]
        self.names = [row["name"] for row in scalars]
        self.inputs, self.parameters = len(rows["u"]), len(rows["p"])
        self.outputs_at = self.inputs + self.parameters
        self.calculated_at = self.outputs_at + len(rows["y"])
        self.calculated = [row["place"] for row in rows["c"]]
        self.starts = starts
        self.hidden = {vr: row["place"] for vr, row in enumerate(scalars) if row["vector"] == "s"}
        self.start_names = [row["name"] for row in states]
        self.values = {
            vector: [row["start"] for row in some]
            for vector, some in (("u", rows["u"]), ("p", rows["p"]), ("s", states))
        }
        self.sizes: dict[int, int] = dict(self.ports["arrays"])
        self.elements = {vr + k: vr for vr, size in self.sizes.items() for k in range(1, size)}
        self.booleans = frozenset(vr for vr, row in enumerate(scalars) if row["boolean"])
        self.reals = frozenset(range(len(scalars))) - self.booleans - self.elements.keys()
        self.limits = [
            (row["place"], row["minimum"], row["maximum"])
            for row in rows["p"]
            if row["minimum"] is not None or row["maximum"] is not None
        ]
        self.binding = importlib.import_module(f"{__package__}.binding")
        self._library, missing = self._load(folder)
        self._installed: Any = None if self._library else self._from_installed_mbdy(folder, missing)

    def core(self) -> Any:
        """A new plant, its vectors all zero."""
        return self.binding.Core(self._library) if self._library else self._installed.core()

    def _load(self, folder: str) -> tuple[Any, str]:
        """The compiled core for this platform, or None and why there is none."""
        name = core_name()
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            return None, f"this FMU carries no compiled core for this platform ({name})"
        try:
            return _loaded(self.binding, path), ""
        except OSError as error:
            return None, f"the compiled core {name} does not load here ({error})"

    def _from_installed_mbdy(self, folder: str, missing: str) -> Any:
        try:
            from mbdy.engine import compiled, loads
        except ImportError as error:
            raise RuntimeError(
                f"{missing} and mbdy is not installed in this Python ({sys.executable}): `pip install mbdy`, or "
                "export the FMU on a machine of this platform"
            ) from error
        with open(os.path.join(folder, "model.toml"), encoding="utf-8") as file:
            text = file.read()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is odd about the model was told at its export
            model = loads(text)
        made = compiled(model, implicit=self.ports["integrator"] in self.binding.IMPLICIT)
        table = made.equations.ports
        if [*table.input_names, *table.parameter_names, *table.output_names] != self.names[: self.calculated_at]:
            raise RuntimeError(
                f"{missing} and the installed mbdy makes other variables of this model than mbdy "
                f"{self.ports['version']}, which made the FMU: `pip install mbdy=={self.ports['version']}`"
            )
        return made


def core_name(system: str | None = None, machine: str | None = None) -> str:
    """File name of the compiled core for a platform (this one by default), such as ``core-linux-x86_64.so``."""
    system = system or ("linux" if sys.platform.startswith("linux") else sys.platform)
    machine = (machine or platform.machine()).lower()
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(machine, machine)
    if system == "win32" and sysconfig.get_platform() == "win32":  # 32-bit Python on 64-bit Windows
        machine = "x86"
    suffix = {"win32": ".dll", "darwin": ".dylib"}.get(system, ".so")
    return f"core-{system}-{machine}{suffix}"


def _loaded(binding: Any, path: str) -> Any:
    """The library at ``path``, loaded from a copy: the client may delete or overwrite its own at any time."""
    folder = tempfile.mkdtemp(prefix="mbdy-core-")
    try:
        return binding.load(shutil.copy(path, folder))
    except OSError:  # a temporary folder from which nothing may be run
        return binding.load(path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # on Windows the loaded copy stays


_read: list[Contents] = []


def contents(resources: str) -> Contents:
    """What the FMU unpacked in ``resources`` carries; later calls need its files no more."""
    if not _read:
        here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        folder = next((f for f in (resources, here) if os.path.exists(os.path.join(f, "ports.json"))), None)
        if folder is None:
            raise RuntimeError(f"ports.json is neither in {resources!r} nor in {here!r}: unpack the whole FMU")
        _read.append(Contents(folder))
    return _read[0]
