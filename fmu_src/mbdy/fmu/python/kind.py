"""FMUs of kind ``python``: the slave with its model, built by the pythonfmu of the version of FMI."""

from __future__ import annotations

import importlib
import importlib.metadata
import sys
import tempfile
import uuid
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from mbdy.blocks.plant.library import DOOR, HEADERS, UNITS, plant_sources, text_of
from mbdy.engine.core import binding
from mbdy.engine.core.build import FLAGS, LINK, Progress, compiler, shared_library
from mbdy.engine.core.library import sources
from mbdy.engine.files.read import dumps
from mbdy.engine.model.system import Model
from mbdy.engine.order_n.equations import Equations
from mbdy.fmu.native.platforms import named
from mbdy.fmu.native.variables import FILES, Identity, tables, variables
from mbdy.fmu.package import Package, Settings, digest, identifier, source_list
from mbdy.fmu.pages.documentation import page
from mbdy.fmu.pages.terminals import terminal_files
from mbdy.fmu.python.front import HERE, LIBRARY, front
from mbdy.fmu.python.slave.contents import HEADER, library_name
from mbdy.fmu.table import Scalar, arrays
from mbdy.fmu.versions import VERSIONS, Version

SLAVE = HERE / "slave"
PARTS = ("contents.py", "host.py", "instance.py")
"""Files of the slave that both versions of FMI share."""
SOURCES = "extra/org.pypi.{builder}/"
"""Where the builder's own sources go: ``sources`` is for what an importer can build."""


@dataclass(frozen=True)
class Flavour:
    """pythonfmu for one version of FMI, which is loaded when an FMU is built."""

    version: Version

    @property
    def shell(self) -> Path:
        """The slave's file with the class that the package calls."""
        return SLAVE / f"{self.version.stem}.py"

    @property
    def door(self) -> Path:
        """The source of the library that goes before the package's own, ``behind``."""
        return HERE / f"front_{self.version.stem}.c"

    @property
    def platform(self) -> str:
        """The folder of the package's library for Linux in ``binaries``."""
        return named("linux64").folder(self.version)

    @property
    def behind(self) -> Path:
        return _installed(self.version.builder) / "resources" / "binaries" / self.platform / "libpythonfmu-export.so"

    def front(self) -> bytes | None:
        """The library before pythonfmu's for Linux on x86-64; None where it cannot be made here."""
        return front(self.door, self.behind)

    def build(self, script: Path, folder: Path) -> Path:
        """The FMU that the package builds around ``script``, in ``folder``."""
        with _as_installed(self.version.builder):
            return importlib.import_module(self.version.builder).FmuBuilder.build_FMU(script, folder)


def _installed(builder: str) -> Path:
    return Path(str(importlib.metadata.distribution(builder).locate_file(builder)))


@contextmanager
def _as_installed(builder: str) -> Iterator[None]:
    """A python FMU that has run in this process has left the bare copy of ``builder`` that it carries: not that one."""
    place, path = _installed(builder), list(sys.path)
    loaded = {name: sys.modules[name] for name in sys.modules if name.partition(".")[0] == builder}
    if builder in loaded and Path(str(loaded[builder].__file__)).parent.resolve() == place.resolve():
        yield
        return
    for name in loaded:
        del sys.modules[name]
    sys.path.insert(0, str(place.parent))
    try:
        yield
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == builder]:
            del sys.modules[name]
        sys.modules.update(loaded)
        sys.path[:] = path


FLAVOURS = {name: Flavour(version) for name, version in VERSIONS.items()}


def package(
    model: Model, equations: Equations, table: Sequence[Scalar], settings: Settings, progress: Progress
) -> Package:
    """All files of an FMU of ``model`` but its modelDescription.xml.

    ``table``     rows by value reference, with the time where the version has it.
    ``progress``  called with what begins and the fraction done.

    Raises `CompilerError` where a compiler refuses the sources or there is none.
    """
    flavour, rows = FLAVOURS[settings.fmi], arrays(table, scalars=settings.flat)
    plant = sources(equations, implicit=settings.implicit, adaptive=False) | plant_sources() | FILES
    plant[DOOR] = f"#define PLANT_TABLES\n{text_of(DOOR)}"
    nameless = Identity(token="", step=settings.step, integrator=settings.integrator)
    own = tables(rows, equations)
    plant["variables.c"] = variables(nameless, own)
    resources = {"model.toml": dumps(model).encode(), HEADER: "".join(HEADERS).encode()}
    slave = {
        ".py": flavour.shell.read_bytes(),
        "_parts/__init__.py": (SLAVE / "__init__.py").read_bytes(),
        "_parts/binding.py": Path(binding.__file__).read_bytes(),
        **{f"_parts/{name}": (SLAVE / name).read_bytes() for name in PARTS},
    }
    door = flavour.front()
    whole = {name: text.encode() for name, text in plant.items()}
    mark = digest({"": repr(settings).encode(), **resources, **whole, **slave, "door": door or b""})
    name, token = identifier(model.name, mark), str(uuid.UUID(bytes=mark[:16]))
    plant["variables.c"] = variables(replace(nameless, token=token), own)
    library = shared_library(plant, compiler(), FLAGS, LINK, units=UNITS, repeatable=True, progress=progress)
    files = {f"resources/{file}": data for file, data in resources.items()}
    files[f"resources/{library_name()}"] = library.read_bytes()
    files |= {f"resources/{name}{file}": data for file, data in slave.items()}
    manual = page(model, table, settings.step, settings.integrator, fmi=settings.fmi, kind="python", flat=settings.flat)
    files["documentation/index.html"] = manual.encode()
    files |= source_list(model)
    files |= terminal_files(model, rows, settings.fmi)
    files |= dict(_built(flavour, name, files, door))
    return Package(name, token, files)


def _built(
    flavour: Flavour, name: str, contents: Mapping[str, bytes], door: bytes | None
) -> Iterator[tuple[str, bytes]]:
    """What pythonfmu adds to ``contents`` files, its Linux library behind ``door`` where we have one.

    It builds an FMU around the class that it calls; Python's path and modules are left as they were.
    """
    library = f"binaries/{flavour.platform}/{name}.so"
    sources = SOURCES.format(builder=flavour.version.builder)
    with tempfile.TemporaryDirectory(prefix="mbdy-fmu-") as folder:
        script = Path(folder) / f"{name}.py"
        script.write_bytes(contents[f"resources/{name}.py"])
        path, bytecode, running = list(sys.path), sys.dont_write_bytecode, sys.modules.pop(name, None)
        sys.dont_write_bytecode = True
        try:
            built = flavour.build(script, Path(folder) / "built")
        finally:
            sys.path[:], sys.dont_write_bytecode = path, bytecode
            sys.modules.pop(name, None)
            if running:
                sys.modules[name] = running
        with zipfile.ZipFile(built) as opened:
            for file in opened.namelist():
                if file == library and door is not None:
                    yield library, door
                    yield f"binaries/{flavour.platform}/{LIBRARY}", opened.read(file)
                elif file.startswith("sources/"):
                    yield (file.replace("sources/", sources, 1), opened.read(file))
                elif file != "modelDescription.xml" and file not in contents:
                    yield file, opened.read(file)
