"""A model and its controller as one package of System Structure and Parameterization (SSP 1.0).

The package holds both FMUs, what connects them and a parameter set for each; see https://ssp-standard.org.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from mbdy.blocks.run import selected
from mbdy.engine import __version__
from mbdy.engine.files.rules import ruled
from mbdy.engine.model.faults import MbdyWarning
from mbdy.engine.model.ports import ports
from mbdy.engine.model.system import Model
from mbdy.fmu.export import Progress, export_fmu, prepared, write
from mbdy.fmu.ssp.links import CONTROLLER, PLANT, End, links
from mbdy.fmu.ssp.parts import FMI, Component, defined_units, read
from mbdy.fmu.ssp.structure import (
    DefaultExperiment,
    SystemStructure,
    fmu_source,
    parameter_set,
    parameter_source,
    structure,
)
from mbdy.fmu.versions import KINDS

DESCRIPTION = "SystemStructure.ssd"
SHOWN_PORTS = ("omega", "joint_rates", "attitude", "joint_positions")
"""What the system shows of the plant: rates and attitudes."""
PLANT_SHARE = 0.9
"""Of the work, the export of the plant."""


class SystemNote(MbdyWarning):
    """Something about a system that is written as it stands but is worth a second look."""


def export_ssp(
    model: Model | str | os.PathLike[str],
    controller: str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    connect: Iterable[tuple[str, str]] = (),
    outputs: Iterable[str] | None = None,
    kind: str = KINDS[0],
    platforms: str | Sequence[str] = (),
    step: float | str = 1e-3,
    integrator: str = "rk4",
    progress: Progress | None = None,
) -> Path:
    """Writes ``model`` and a controller's FMU, connected, as an SSP package and returns its path.

    ``controller``  its FMU (FMI 2.0, co-simulation). Its inputs are connected with the plant's outputs, its outputs
                    with the plant's inputs, where names and types are equal. Units are converted where they differ.
    ``path``        ends in ``.ssp``; its folder is made, an earlier file is replaced as a whole.
    ``connect``     pairs ``("controller.out", "plant.in")`` or ``("plant.out", "controller.in")`` for variables with
                    other names; what stands in one is not connected by its name. A name without index stands for all
                    elements.
    ``outputs``     names or patterns (``"bus.*"``) of the plant's outputs that the system shows to the outside; its
                    rates and attitudes where left out. Give none, ``()``, for libcosim, which takes no such outputs.
    ``kind``, ``platforms``, ``step``, ``integrator``, ``progress``  of the plant's FMU, as for `export_fmu`.

    The components are called ``plant`` and ``controller``. A `SystemNote` warns of variables of the controller that
    stay unconnected, units that are converted or guessed and algebraic loops. Raises `ExportError` for what cannot be
    put together, `mbdy.blocks.VariableError` for a pattern that matches no output, what `export_fmu` raises, and
    OSError where the file cannot be written.
    """
    tell: Progress = progress or (lambda stage, done: None)
    model = ruled(model)
    control = read(CONTROLLER, controller)
    shown = _shown(model, outputs)
    target = Path(path)
    with prepared(target, ".ssp"), tempfile.TemporaryDirectory(prefix="mbdy-ssp-") as folder:
        fmu = export_fmu(
            model, Path(folder) / "plant.fmu", fmi=FMI, kind=kind, platforms=platforms, step=step,
            integrator=integrator, progress=lambda stage, done: tell(stage, done * PLANT_SHARE),
        )  # fmt: skip
        tell("connecting", PLANT_SHARE)
        plant = replace(read(PLANT, fmu, label="the plant"), found=_found(model))
        system, remarks = _system(model.name, plant, control, connect, shown)
        write(target, _files(system))
    for remark in remarks:
        warnings.warn(remark, SystemNote, stacklevel=2)
    tell("done", 1.0)
    return target


def _found(model: Model) -> frozenset[str]:
    """Names of the scalar start values that closing the loops of ``model`` finds."""
    starts = ports(model).starts.values() if model.constraints else ()
    return frozenset(name for v in starts if v.name not in model.initial for name in v.scalar_names)


def _shown(model: Model, patterns: Iterable[str] | None) -> list[str]:
    """Names of the scalar outputs that the system shows."""
    table = ports(model)
    if patterns is None:
        return [name for variable in table.outputs if variable.port in SHOWN_PORTS for name in variable.scalar_names]
    return [table.output_names[place] for place in selected(table.output_names, patterns, table.hidden_names)]


def _system(
    name: str, plant: Component, controller: Component, connect: Iterable[tuple[str, str]], shown: Iterable[str]
) -> tuple[SystemStructure, list[str]]:
    """The whole system, and remarks on it."""
    connections, remarks = links(plant, controller, connect)
    system = SystemStructure(
        name=name,
        tool=f"mbdy {__version__}",
        parts=(plant, controller),
        links=connections,
        exposed=tuple(End(plant, output) for output in shown),
        units=defined_units((plant, controller)),
        run=DefaultExperiment(
            stop=_experiment("stopTime", controller, plant), step=_experiment("stepSize", controller, plant)
        ),
    )
    return system, remarks


def _experiment(key: str, *parts: Component) -> float:
    """A number of the default experiment of the first part that has it; the plant's has them all."""
    values = (getattr(part.description.defaultExperiment, key, None) for part in parts)
    return next(float(value) for value in values if value is not None)


def _files(system: SystemStructure) -> dict[str, bytes]:
    """What the package holds, by the paths inside."""
    files = {DESCRIPTION: structure(system)}
    for part in system.parts:
        files[fmu_source(part)] = part.data
        values = parameter_set(part, system.tool)
        if values is not None:
            files[parameter_source(part)] = values
    return files
