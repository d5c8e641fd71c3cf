"""One model as one FMU file: compiled, its contents gathered, described, zipped."""

from __future__ import annotations

import os
import tempfile
import warnings
import zipfile
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path

from mbdy.engine.building import Progress
from mbdy.engine.compiled import Compiled, NoCompilerNote, compiled
from mbdy.engine.core import binding
from mbdy.engine.dynamics import Dynamics, equations_of
from mbdy.engine.equations import Equations
from mbdy.engine.model import Model
from mbdy.engine.rules import keep_rules
from mbdy.engine.units import quantity
from mbdy.fmu.description.model_description import About, description
from mbdy.fmu.native import kind as native_kind
from mbdy.fmu.native.platforms import ALL, Platform, host, named
from mbdy.fmu.package import Settings
from mbdy.fmu.python import kind as python_kind
from mbdy.fmu.table import scalars as rows

VERSIONS, KINDS = ("2.0", "3.0"), ("python", "native")


class ExportError(ValueError):
    """What was asked for cannot be exported; the message says what can."""


def export_fmu(
    model: Model,
    path: str | os.PathLike[str],
    *,
    fmi: str = "2.0",
    kind: str = "python",
    step: float | str = 1e-3,
    integrator: str = "rk4",
    platforms: Sequence[str] = (),
    scalars: bool = False,
    dynamics: Dynamics | None = None,
    progress: Progress | None = None,
) -> Path:
    """Writes ``model`` as an FMU and returns its path.

    ``path``        ends in ``.fmu``; its folder is made, an earlier file is replaced as a whole.
    ``fmi``         ``"2.0"`` or ``"3.0"``.
    ``kind``        ``"python"``: made with pythonfmu or pythonfmu3, co-simulation in hosts that run in Python.
                    ``"native"``: C, for any host, co-simulation and model exchange.
    ``step``        [s] longest internal step, or text with a unit (``"1 ms"``); also the default experiment's.
    ``integrator``  ``"rk4"`` or ``"euler-cromer"``.
    ``platforms``   what a native FMU runs on: names of `mbdy.fmu.native.platforms` or ``"all"``; this machine's where
                    none is named. Those of other machines are made with ziglang.
    ``scalars``     no arrays in FMI 3.0 either, for importers that cannot use them.
    ``dynamics``    `mbdy.engine.Linear` or `mbdy.engine.PartlyLinear`: such equations instead of the full ones.
    ``progress``    called with what begins and the fraction done.

    Without a C compiler an FMU of kind python is written all the same but needs mbdy where it runs; a `NoCompilerNote`
    warns. Raises `ExportError` for what cannot be exported, `mbdy.engine.CompilerError` where C cannot be compiled,
    `mbdy.engine.ModelError` where a model made in Python breaks a rule of model files, and OSError where the file
    cannot be written.
    """
    told: Progress = progress or (lambda stage, done: None)
    h = _checked(fmi, kind, step, integrator)
    wanted = _platforms(platforms, kind)
    _check_name(model.name)
    keep_rules(model)
    target = _target(path)
    settings = Settings(fmi=fmi, step=h, integrator=integrator, scalars=scalars, version=version())
    made = _equations(model, dynamics)
    if kind == "native":
        table = rows(made.ports, derivatives=True, independent=fmi == "3.0")
        packed = native_kind.package(model, made, table, settings, wanted, lambda stage, done: told(stage, 0.9 * done))
    else:
        told("compiling the equations", 0.0)
        core = _compiled(model, dynamics)
        told("gathering the contents", 0.6)
        table = rows(core.equations.ports, independent=fmi == "3.0")
        packed = python_kind.package(model, core.equations.ports, table, core.library, settings)
    told("writing the FMU", 0.9)
    about = About(
        name=model.name,
        description=f"{model.name}: {len(model.bodies)} bodies, dynamics by mbdy",
        guid=packed.guid,
        tool=f"mbdy {settings.version}",
        step=h,
    )
    described = description(
        about, table, identifier=packed.identifier, fmi=fmi, kind=kind, sources=packed.sources, scalars=scalars
    )
    _write(target, {"modelDescription.xml": described, **dict(sorted(packed.files.items()))})
    told("done", 1.0)
    return target


def _equations(model: Model, dynamics: Dynamics | None) -> Equations:
    try:
        return equations_of(model, dynamics)
    except (ValueError, KeyError) as error:
        raise ExportError(f"dynamics: {error.args[0]}") from None


def _platforms(names: Sequence[str], kind: str) -> tuple[Platform, ...]:
    if kind != "native":
        if names:
            raise ExportError(f"platforms={list(names)!r}: only an FMU of kind 'native' is made for other platforms")
        return ()
    try:
        return ALL if "all" in names else tuple(dict.fromkeys(map(named, names))) or (host(),)
    except ValueError as error:
        raise ExportError(str(error)) from None


def _compiled(model: Model, dynamics: Dynamics | None) -> Compiled:
    """The compiled model; without a compiler a warning that says what that means for an FMU."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoCompilerNote)
        made = compiled(model, dynamics=dynamics)
    if made.library is None and dynamics is not None:
        raise ExportError(f"dynamics={dynamics!r}: such an FMU of kind 'python' needs a C compiler at its export")
    if made.library is None:
        warnings.warn(
            "no C compiler found (cc, gcc, clang or ziglang): the FMU carries no compiled core, so it needs mbdy where "
            "it runs and is slower there, and pythonfmu may crash its host where the FMU is unpacked into a folder "
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
    if fmi not in VERSIONS:
        raise ExportError(f"fmi={fmi!r}: must be one of {', '.join(map(repr, VERSIONS))}")
    if kind not in KINDS:
        raise ExportError(f"kind={kind!r}: must be one of {', '.join(map(repr, KINDS))}")
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


def _write(target: Path, entries: Mapping[str, bytes]) -> None:
    """``entries``, by their paths, as a zip file at ``target``, all or nothing; equal entries give equal files."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.stem}-", suffix=".part")
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
            for entry, data in entries.items():
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
