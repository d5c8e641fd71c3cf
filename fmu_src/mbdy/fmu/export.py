"""One model as one FMU file: compiled, its contents gathered, described, zipped."""

from __future__ import annotations

import os
import warnings
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from mbdy.blocks.plant import Plant
from mbdy.blocks.strides import refuse_strides
from mbdy.blocks.too_fast import FastMotionWarning
from mbdy.engine import __version__
from mbdy.engine.assembly.start import assemble
from mbdy.engine.core.build import CompilerError, Progress
from mbdy.engine.core.integrators import INTEGRATORS
from mbdy.engine.files.rules import ruled
from mbdy.engine.linear.choice import Dynamics, equations_of, ported
from mbdy.engine.model.collector import collector_still
from mbdy.engine.model.faults import MbdyError, OptionError, nearest, shown
from mbdy.engine.model.laws import sticks
from mbdy.engine.model.patterns import named_by
from mbdy.engine.model.ports import ports
from mbdy.engine.model.scale import energy_scale
from mbdy.engine.model.system import Model
from mbdy.engine.model.units import quantity
from mbdy.engine.model.variables import WORK_ERROR
from mbdy.engine.model.whole_file import probe, whole_file
from mbdy.engine.order_n.derivatives import Incidence, incidence
from mbdy.engine.order_n.equations import Equations
from mbdy.fmu.description.model_description import About, description
from mbdy.fmu.description.structure import MOST_DEPENDENCIES
from mbdy.fmu.native import kind as native_kind
from mbdy.fmu.native.platforms import ALL, Platform, host, named, require
from mbdy.fmu.package import Settings
from mbdy.fmu.python import kind as python_kind
from mbdy.fmu.table import scalars as rows
from mbdy.fmu.versions import KINDS, VERSIONS

LEVEL = 9
"""Of zlib."""


class ExportError(MbdyError, ValueError):
    """What was asked for cannot be exported; the message says what can."""


@collector_still()
def export_fmu(
    model: Model | str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    fmi: str = "2.0",
    kind: str = KINDS[0],
    step: float | str = 1e-3,
    integrator: str = "rk4",
    platforms: str | Sequence[str] = (),
    scalars: bool = False,
    dynamics: Dynamics | None = None,
    progress: Progress | None = None,
) -> Path:
    """Writes ``model`` as an FMU and returns its path.

    ``path``        ends in ``.fmu``; its folder is made, an earlier file is replaced as a whole.
    ``fmi``         the version of FMI, ``"2.0"`` or ``"3.0"``.
    ``kind``        ``"native"``: C, for any host, co-simulation and model exchange.
                    ``"python"``: made with pythonfmu or pythonfmu3, co-simulation in hosts that run in Python.
    ``step``        [s] longest internal step, or text with a unit (``"1 ms"``); also the default experiment's.
    ``integrator``  ``"rk4"``, ``"euler-cromer"`` or ``"rosenbrock"`` (for stiff systems), as for a `Plant`.
    ``platforms``   what a native FMU runs on: names of `mbdy.fmu.native.platforms` (``"linux64,win64"``, or several
                    texts) or ``"all"``; this machine's where none is named. Those of other machines are made with
                    ziglang; the first build for Windows takes one or two minutes.
    ``scalars``     no arrays in FMI 3.0 either, for importers that cannot use them.
    ``dynamics``    `mbdy.engine.Linear` or `mbdy.engine.PartlyLinear`: such equations instead of the full ones.
    ``progress``    called with what begins and the fraction done.

    Raises `ExportError` for what cannot be exported, `mbdy.engine.CompilerError` where C cannot be compiled or there is
    no compiler, `mbdy.engine.ModelError` where a model made in Python breaks a rule of model files, and OSError where
    the file cannot be written in the end. All that can be is checked before anything is compiled; an export that fails
    leaves no file and no folder. Warns with `mbdy.blocks.FastMotionWarning` as a plant does.
    """
    model = ruled(model)
    h = checked(fmi=fmi, kind=kind, step=step, integrator=integrator)
    wanted = platforms_of(platforms, kind)
    _check_name(model.name)
    settings = Settings(fmi=fmi, step=h, integrator=integrator, scalars=scalars, version=__version__)
    target = Path(path)
    with prepared(target, ".fmu"):
        files = _files(model, kind, settings, wanted, dynamics, progress or (lambda stage, done: None))
        write(target, files)
    for text, category in _too_fast(model, settings, dynamics):
        warnings.warn(text, category, stacklevel=2)
    if progress:
        progress("done", 1.0)
    return target


def _too_fast(model: Model, settings: Settings, dynamics: Dynamics | None) -> list[tuple[str, type[Warning]]]:
    """What a plant of the same settings warns of as too fast; nothing without a compiler for this machine."""
    with warnings.catch_warnings(record=True) as told, suppress(CompilerError):
        warnings.simplefilter("always")
        Plant(model, step=settings.step, integrator=settings.integrator, dynamics=dynamics)
    return [(str(one.message), one.category) for one in told if issubclass(one.category, FastMotionWarning)]


def _files(
    model: Model, kind: str, settings: Settings, wanted: Sequence[Platform], dynamics: Dynamics | None, tell: Progress
) -> dict[str, bytes]:
    """All files of the FMU by their path inside, the description first."""
    fmi, scalars = settings.fmi, settings.scalars
    tell("making the equations", 0.0)
    equations = _equations(model, dynamics)
    native = kind == "native"
    asked = native and equations.balance and named_by(WORK_ERROR, model.port_choice.outputs or ())
    reactions = {v.owner.name: v for v in ports(model.whole).outputs if v.quantity == "reaction"}
    table = rows(
        ports(ported(assemble(model), dynamics)), model.standing, derivatives=native, independent=VERSIONS[fmi].time,
        incidence=_incidence(equations, None if dynamics else model), work=energy_scale(model) if asked else None,
        sticking=[reactions[b.name] for b in model.bodies if sticks(b.joint.laws)] if native else (),
    )  # fmt: skip

    def compiling(stage: str, done: float) -> None:
        tell(stage, 0.9 * done)

    if native:
        packed = native_kind.package(model, equations, table, settings, wanted, compiling)
    else:
        packed = python_kind.package(model, equations, table, settings, compiling)
    tell("writing the FMU", 0.9)
    about = About(
        name=model.name,
        description=f"{model.name}: {len(model.bodies)} bodies, dynamics by mbdy",
        guid=packed.guid,
        tool=f"mbdy {settings.version}",
        step=settings.step,
    )
    described = description(
        about, table, identifier=packed.identifier, fmi=fmi, kind=kind, sources=packed.sources, scalars=scalars
    )
    return {"modelDescription.xml": described, **dict(sorted(packed.files.items()))}


def _incidence(equations: Equations, full: Model | None) -> Incidence | None:
    """None of so large a system that it would take long and the file would not hold it."""
    states, outputs = len(equations.ports.state_names), len(equations.ports.output_names)
    return incidence(equations, full) if states * outputs <= MOST_DEPENDENCIES else None


def _equations(model: Model, dynamics: Dynamics | None) -> Equations:
    try:
        return equations_of(model, dynamics)
    except (ValueError, KeyError) as error:
        raise ExportError(f"dynamics: {error.args[0]}") from None


def platforms_of(names: str | Sequence[str], kind: str) -> tuple[Platform, ...]:
    """The platforms that an FMU of ``kind`` is compiled for, none for a python one; ``names`` as for `export_fmu`.

    Raises `ExportError` for names that cannot be, and `mbdy.engine.CompilerError` where a compiler is missing.
    """
    texts = [names] if isinstance(names, str) else names
    parts = [part.strip() for text in texts for part in text.split(",")]
    if kind != "native":
        if parts:
            raise ExportError(
                f"platform {', '.join(parts)}: only an FMU of kind 'native' is made for platforms; ask for that kind "
                "(--kind native)"
            )
        return ()
    try:
        chosen = [one for part in parts for one in (ALL if part == "all" else (named(part),))] or [host()]
    except ValueError as error:
        raise ExportError(str(error)) from None
    wanted = tuple(dict.fromkeys(chosen))
    require(wanted)
    return wanted


def checked(*, fmi: str, kind: str, step: float | str, integrator: str) -> float:
    """The step [s] of options that can be, as for `export_fmu`; raises `ExportError` for others."""
    for what, value, known in (
        ("fmi", fmi, VERSIONS), ("kind", kind, KINDS), ("integrator", integrator, INTEGRATORS),
    ):  # fmt: skip
        if not isinstance(value, str) or value not in known:
            near = f"; {nearest(value, known)}" if isinstance(value, str) else ""
            raise ExportError(f"{what} {shown(value)}: must be one of {', '.join(map(repr, known))}{near}")
    try:
        refuse_strides(integrator, "an FMU takes equal ones, so that each communication step takes as long as the last")
    except OptionError as refusal:
        raise ExportError(str(refusal)) from None
    try:
        h = quantity(step, "s", bare=True)
    except ValueError as error:
        raise ExportError(f"step {step!r}: {error}") from error
    if h <= 0.0:
        raise ExportError(f"step {step!r}: must be > 0 s")
    return h


def _check_name(name: str) -> None:
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise ExportError(
            f"the model's name {name!r} holds half a character at {error.start + 1} (a lone surrogate), which no file "
            "can: give it another"
        ) from None


@contextmanager
def prepared(target: Path, ending: str) -> Iterator[None]:
    """A place where ``target``, which has to end in ``ending``, can be written, before the work whose fruit it takes.

    Its folder is made, and goes again where the work fails. Raises `ExportError` where that cannot be.
    """
    if os.path.isdir(target):
        raise ExportError(f"{str(target)!r} is a folder: name a file in it or another place")
    if target.suffix != ending:
        better = str(target.with_suffix(ending))
        raise ExportError(f"{str(target)!r}: the file's name ends in {ending}, e.g. {better!r}")
    fresh = [folder for folder in target.parents if not os.path.exists(folder)]
    try:
        _try(target)
        yield
    except BaseException:
        for folder in fresh:
            with suppress(OSError):  # it may hold what others have put there
                folder.rmdir()
        raise


def _try(target: Path) -> None:
    """Makes the folder of ``target`` and sees that a file of its name can be written there."""
    try:
        probe(target)
    except FileExistsError:
        raise ExportError(f"{str(target.parent)!r} is no folder, so no file can be put into it") from None
    except OSError as fault:
        raise ExportError(f"{str(target)!r} cannot be written: {fault.strerror or fault}") from None


def write(target: Path, entries: Mapping[str, bytes]) -> None:
    """``entries``, by their paths, as a zip file at ``target``, all or nothing; equal entries give equal files."""
    with whole_file(target, binary=True) as file, zipfile.ZipFile(file, "w") as packed:
        for entry, data in entries.items():
            info = zipfile.ZipInfo(entry)
            info.external_attr = 0o644 << 16
            packed.writestr(info, data, zipfile.ZIP_DEFLATED, LEVEL)
