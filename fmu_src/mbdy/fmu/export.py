"""One model as one FMU file: contents gathered, named by their hash, built by pythonfmu, described, zipped."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import tempfile
import unicodedata
import uuid
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from pythonfmu import FmuBuilder

from mbdy.engine.compiled import Compiled, NoCompilerNote, compiled
from mbdy.engine.core import binding
from mbdy.engine.files import dumps
from mbdy.engine.model import Model
from mbdy.engine.ports import Ports
from mbdy.engine.rules import keep_rules
from mbdy.engine.units import quantity
from mbdy.fmu import slave
from mbdy.fmu.description import About, completed
from mbdy.fmu.documentation import page
from mbdy.fmu.front import LIBRARY, front
from mbdy.fmu.table import Scalar, scalars

Progress = Callable[[str, float], None]
HASH_DIGITS = 12
MOST_NAME = 40


class ExportError(ValueError):
    """What was asked for cannot be exported; the message says what can."""


@dataclass(frozen=True)
class Package:
    """All that goes into an FMU but its description: files by their path inside, and the name they give it."""

    identifier: str
    guid: str
    files: Mapping[str, bytes]


def export_fmu(
    model: Model,
    path: str | os.PathLike[str],
    *,
    fmi: str = "2.0",
    kind: str = "python",
    step: float | str = 1e-3,
    integrator: str = "rk4",
    progress: Progress | None = None,
) -> Path:
    """Writes ``model`` as an FMU and returns its path.

    ``path``        ends in ``.fmu``; its folder is made, an earlier file is replaced as a whole.
    ``fmi``         ``"2.0"`` (co-simulation).
    ``kind``        ``"python"``: made with pythonfmu, for hosts that run in Python.
    ``step``        [s] largest internal step, or text with a unit (``"1 ms"``); also the default experiment's.
    ``integrator``  ``"rk4"`` or ``"euler-cromer"``.
    ``progress``    called with what begins and the fraction done.

    Without a C compiler the FMU is written all the same but needs mbdy where it runs; a `NoCompilerNote` warns.
    Raises `ExportError` for what cannot be exported, `mbdy.engine.ModelError` where a model made in Python breaks a
    rule of model files, and OSError where the file cannot be written.
    """
    told: Progress = progress or (lambda stage, done: None)
    h = _checked(fmi, kind, step, integrator)
    _check_name(model.name)
    keep_rules(model)
    target = _target(path)
    told("compiling the equations", 0.0)
    made = _compiled(model)
    told("gathering the contents", 0.6)
    table = scalars(made.equations.ports)
    package = _package(model, made.equations.ports, table, made.library, h, integrator)
    told("writing the FMU", 0.8)
    about = About(
        name=model.name,
        description=f"{model.name}: {len(model.bodies)} bodies, dynamics by mbdy",
        guid=package.guid,
        tool=f"mbdy {version()}",
        step=h,
    )
    with _built(package.identifier, package.files) as built:
        _write(target, _entries(built, package, about, table))
    told("done", 1.0)
    return target


def _compiled(model: Model) -> Compiled:
    """The compiled model; without a compiler a warning that says what that means for an FMU."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoCompilerNote)
        made = compiled(model)
    if made.library is None:
        warnings.warn(
            "no C compiler found (cc, gcc, clang or ziglang): the FMU carries no compiled core, so it needs mbdy where "
            "it runs and is slower there, and pythonfmu 0.7 may crash its host where the FMU is unpacked into a folder "
            "with a name beyond plain ASCII, or twice into one folder; `pip install ziglang` brings a compiler",
            NoCompilerNote,
            stacklevel=3,
        )
    return made


def version() -> str:
    """mbdy's version; ``0`` in a source tree that was never installed."""
    try:
        return metadata.version("mbdy")
    except metadata.PackageNotFoundError:
        return "0"


def _checked(fmi: str, kind: str, step: float | str, integrator: str) -> float:
    if fmi != "2.0":
        raise ExportError(f"fmi={fmi!r}: this version makes FMI '2.0' only")
    if kind != "python":
        raise ExportError(f"kind={kind!r}: this version makes FMUs of kind 'python' only")
    if integrator not in binding.INTEGRATORS:
        raise ExportError(f"integrator={integrator!r}: must be one of {', '.join(map(repr, binding.INTEGRATORS))}")
    try:
        h = quantity(step, "s", bare=True)
    except ValueError as error:
        raise ExportError(f"step={step!r}: {error}") from error
    if h <= 0.0:
        raise ExportError(f"step={step!r}: must be > 0 s")
    return h


def _check_name(name: str) -> None:
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise ExportError(
            f"the model's name {name!r} holds half a character at {error.start + 1} (a lone surrogate), which no file "
            "can: give it another"
        ) from None


def _target(path: str | os.PathLike[str]) -> Path:
    target = Path(path)
    if target.suffix != ".fmu":
        raise ExportError(f"{str(target)!r}: the file of an FMU ends in .fmu, e.g. {str(target.with_suffix('.fmu'))!r}")
    if target.is_dir():
        raise ExportError(f"{str(target)!r} is a folder: name a file in it or another place")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise ExportError(f"{str(target.parent)!r} is no folder, so no FMU can be put into it") from None
    return target


def _package(
    model: Model, ports: Ports, table: tuple[Scalar, ...], library: Path | None, step: float, integrator: str
) -> Package:
    toml = dumps(model)
    description = {
        "version": version(), "name": model.name, "step": step, "integrator": integrator,
        "states": ports.state_names, "quaternions": ports.quaternions,
        "scalars": [row.slave_row() for row in table],
    }  # fmt: skip
    resources = {
        "model.toml": toml.encode(),
        "ports.json": json.dumps(description, ensure_ascii=False, indent=1).encode(),
        "binding.py": Path(binding.__file__).read_bytes(),
    }
    if library is not None:
        resources[slave.core_name()] = library.read_bytes()
    code = Path(slave.__file__).read_bytes()
    doorway = front()
    digest = hashlib.sha256()
    for part in (
        code,
        doorway or b"",
        *(part for name, data in sorted(resources.items()) for part in (name.encode(), data)),
    ):
        digest.update(len(part).to_bytes(8))
        digest.update(part)
    identifier = f"mbdy_{_ascii(model.name)}_{digest.hexdigest()[:HASH_DIGITS]}"
    files = {f"resources/{name}": data for name, data in resources.items()}
    files[f"resources/{identifier}.py"] = code
    files["documentation/index.html"] = page(model, table, step, integrator).encode()
    if doorway is not None:
        files[f"binaries/linux64/{identifier}.so"] = doorway
    return Package(identifier, str(uuid.UUID(digest.hexdigest()[:32])), files)


def _ascii(name: str) -> str:
    """``name`` in the letters that an identifier may have."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9]+", "_", plain).strip("_")[:MOST_NAME].strip("_") or "model"


@contextmanager
def _built(identifier: str, files: Mapping[str, bytes]) -> Iterator[zipfile.ZipFile]:
    """The FMU as pythonfmu builds it around the slave; Python's path and modules are left as they were."""
    with tempfile.TemporaryDirectory(prefix="mbdy-fmu-") as folder:
        script = Path(folder) / f"{identifier}.py"
        script.write_bytes(files[f"resources/{identifier}.py"])
        path, bytecode = list(sys.path), sys.dont_write_bytecode
        sys.dont_write_bytecode = True
        try:
            built = FmuBuilder.build_FMU(script, Path(folder) / "built.fmu")
        finally:
            sys.path[:], sys.dont_write_bytecode = path, bytecode
            sys.modules.pop(identifier, None)
        with zipfile.ZipFile(built) as opened:
            yield opened


def _entries(
    built: zipfile.ZipFile, package: Package, about: About, table: tuple[Scalar, ...]
) -> Iterator[tuple[str, bytes]]:
    """Files of the finished FMU: pythonfmu's, its Linux library behind ours where we have one, and our own."""
    replaced = f"binaries/linux64/{package.identifier}.so"
    files = dict(package.files)
    for name in built.namelist():
        if name == "modelDescription.xml":
            files[name] = completed(built.read(name), about, table)
        elif name == replaced and replaced in package.files:
            files[f"binaries/linux64/{LIBRARY}"] = built.read(name)
        else:
            files.setdefault(name, built.read(name))
    first = "modelDescription.xml"
    yield first, files.pop(first)
    yield from sorted(files.items())


def _write(target: Path, entries: Iterator[tuple[str, bytes]]) -> None:
    """``entries`` as a zip file at ``target``, all or nothing; no times in it, so that equal FMUs are equal files."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.stem}-", suffix=".part")
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
            for entry, data in entries:
                info = zipfile.ZipInfo(entry)
                info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
                packed.writestr(info, data)
        part.chmod(0o666 & ~_umask())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
