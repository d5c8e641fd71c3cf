"""FMUs of kind ``python``: the slave with its model, built by pythonfmu (FMI 2.0) or pythonfmu3 (FMI 3.0)."""

from __future__ import annotations

import json
import sys
import tempfile
import uuid
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pythonfmu
import pythonfmu3

from mbdy.engine.core import binding
from mbdy.engine.files.read import dumps
from mbdy.engine.model.system import Model
from mbdy.engine.order_n.equations import Equations
from mbdy.fmu.package import Package, Settings, digest, identifier
from mbdy.fmu.pages.documentation import page
from mbdy.fmu.pages.terminals import terminal_files
from mbdy.fmu.python.front import HERE, LIBRARY, front
from mbdy.fmu.python.slave.contents import core_name
from mbdy.fmu.table import Array, Scalar, arrays

SLAVE = HERE / "slave"
PARTS = ("clock.py", "contents.py", "faults.py", "host.py", "instance.py", "plant.py", "state.py")
"""Files of the slave that both versions of FMI share."""
SOURCES = "extra/org.pypi.pythonfmu3/"
"""Where pythonfmu3's sources go: ``sources`` is for what an importer of FMI 3 can build."""


@dataclass(frozen=True, kw_only=True)
class Flavour:
    """What differs between pythonfmu and pythonfmu3.

    ``shell`` is the file with the class that it calls, ``platform`` its folder for Linux in ``binaries``, ``door`` the
    source of the library that goes before its own, ``behind``.
    """

    build: Callable[..., Path]
    shell: Path
    platform: str
    door: Path
    behind: Path

    def front(self) -> bytes | None:
        """The library before pythonfmu's for Linux on x86-64; None where it cannot be made here."""
        return front(self.door, self.behind)


def _flavour(fmi: str, package: Any, platform: str) -> Flavour:
    return Flavour(
        build=package.FmuBuilder.build_FMU,
        shell=SLAVE / f"fmi{fmi}.py",
        platform=platform,
        door=HERE / f"front_fmi{fmi}.c",
        behind=Path(package.__file__).parent / "resources" / "binaries" / platform / "libpythonfmu-export.so",
    )


FLAVOURS: Mapping[str, Flavour] = {
    "2.0": _flavour("2", pythonfmu, "linux64"),
    "3.0": _flavour("3", pythonfmu3, "x86_64-linux"),
}


def package(
    model: Model, made: Equations, table: Sequence[Scalar], library: Path | None, settings: Settings
) -> Package:
    """All files of an FMU of ``model`` but its modelDescription.xml.

    ``table``    rows by value reference, in FMI 3.0 with the time.
    ``library``  the compiled core; None where there is no compiler.
    """
    flavour, variables = FLAVOURS[settings.fmi], arrays(table, scalars=settings.flat)
    resources = {
        "model.toml": dumps(model).encode(),
        "ports.json": _ports(model, made, table, variables, settings).encode(),
    }
    if library is not None:
        resources[core_name()] = library.read_bytes()
    code = {
        ".py": flavour.shell.read_bytes(),
        "_parts/__init__.py": (SLAVE / "__init__.py").read_bytes(),
        "_parts/binding.py": Path(binding.__file__).read_bytes(),
        **{f"_parts/{name}": (SLAVE / name).read_bytes() for name in PARTS},
    }
    door = flavour.front()
    mark = digest({**resources, **code, "door": door or b""})
    name = identifier(model.name, mark)
    files = {f"resources/{file}": data for file, data in resources.items()}
    files |= {f"resources/{name}{file}": data for file, data in code.items()}
    manual = page(model, table, settings.step, settings.integrator, fmi=settings.fmi, kind="python", flat=settings.flat)
    files["documentation/index.html"] = manual.encode()
    files |= terminal_files(model, variables, settings.fmi)
    files |= dict(_built(flavour, name, files, door))
    return Package(name, str(uuid.UUID(bytes=mark[:16])), files)


def _ports(
    model: Model, made: Equations, table: Sequence[Scalar], variables: Sequence[Array], settings: Settings
) -> str:
    """What the slave reads of the model."""
    described = {
        "version": settings.version, "name": model.name, "step": settings.step, "integrator": settings.integrator,
        "states": made.ports.state_names, "quaternions": made.ports.quaternions, "rows": made.row_names,
        "arrays": [(array.value_reference, array.size) for array in variables if array.size > 1],
        "scalars": [row.slave_row() for row in table],
    }  # fmt: skip
    return json.dumps(described, ensure_ascii=False, indent=1)


def _built(flavour: Flavour, name: str, own: Mapping[str, bytes], door: bytes | None) -> Iterator[tuple[str, bytes]]:
    """What pythonfmu adds to ``own`` files, its Linux library behind ``door`` where we have one.

    It builds an FMU around the class that it calls; Python's path and modules are left as they were.
    """
    library = f"binaries/{flavour.platform}/{name}.so"
    with tempfile.TemporaryDirectory(prefix="mbdy-fmu-") as folder:
        script = Path(folder) / f"{name}.py"
        script.write_bytes(own[f"resources/{name}.py"])
        path, bytecode = list(sys.path), sys.dont_write_bytecode
        sys.dont_write_bytecode = True
        try:
            built = flavour.build(script, Path(folder) / "built")
        finally:
            sys.path[:], sys.dont_write_bytecode = path, bytecode
            sys.modules.pop(name, None)
        with zipfile.ZipFile(built) as opened:
            for file in opened.namelist():
                if file == library and door is not None:
                    yield library, door
                    yield f"binaries/{flavour.platform}/{LIBRARY}", opened.read(file)
                elif file.startswith("sources/"):
                    yield file.replace("sources/", SOURCES, 1), opened.read(file)
                elif file != "modelDescription.xml" and file not in own:
                    yield file, opened.read(file)
