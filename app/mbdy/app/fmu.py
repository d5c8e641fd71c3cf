"""``mbdy fmu``: a model file as an FMU."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mbdy.app.common import guarded, load_model, said_warnings, say, seconds, show_json
from mbdy.app.options import INTEGRATOR, KINDS, STEP, Integrator, ModelFile, Platforms, Step, table
from mbdy.app.output_files import filled, output_file, read_for, written
from mbdy.app.progress import busy

if TYPE_CHECKING:
    from mbdy.engine import Dynamics

VERSIONS = table("mbdy.fmu", "versions.py", "VERSIONS")
"""Of the Functional Mock-up Interface."""
FMI = next(iter(VERSIONS))
"""Unless told otherwise."""
ARRAYS = " or ".join(f"FMI {name}" for name, version in VERSIONS.items() if version.arrays)


class DynamicsName(StrEnum):
    """Which equations of the model an FMU runs."""

    FULL = "full"
    LINEAR = "linear"
    FIRST_ORDER = "linear-first-order"
    PARTLY = "partly-linear"

    def dynamics(self) -> Dynamics | None:
        from mbdy.engine import Linear, PartlyLinear

        choices = {self.LINEAR: Linear(), self.FIRST_ORDER: Linear(geometry="first-order"), self.PARTLY: PartlyLinear()}
        return choices.get(self)


@guarded
def fmu(
    model: ModelFile,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="F.fmu", help="Else MODEL.fmu; - is stdout.", parser=output_file),
    ] = None,
    fmi: Annotated[str, typer.Option(metavar="|".join(VERSIONS), help="Version of the interface.")] = next(
        iter(VERSIONS)
    ),
    kind: Annotated[
        str,
        typer.Option(
            metavar="|".join(KINDS),
            help="What it is made of: native is C and runs in any host, model exchange too; python runs in hosts with "
            "Python, co-simulation only.",
        ),
    ] = KINDS[0],
    platform: Platforms = None,
    equations: Annotated[
        DynamicsName,
        typer.Option(
            "--dynamics",
            help="Full equations; linear ones about the file's start (constant matrices, or first-order geometry of "
            "external forces); or linear hinges of terminal appendages alone.",
        ),
    ] = DynamicsName.FULL,
    scalars: Annotated[
        bool, typer.Option("--scalars", help=f"No arrays in {ARRAYS}, for importers that cannot use them.")
    ] = False,
    step: Step = STEP,
    integrator: Integrator = INTEGRATOR,
    as_json: Annotated[bool, typer.Option("--json", help="Say what was done as JSON.")] = False,
) -> None:
    """Export a model as an FMU."""
    internal = seconds(step, "--step")
    from mbdy.fmu.export import checked, export_fmu, platforms_of

    checked(fmi=fmi, kind=kind, step=internal, integrator=integrator.value)
    wanted = platforms_of(platform or (), kind)
    loaded = load_model(model)
    path = written(model, output, ".fmu", sources=read_for(loaded))
    with filled(path, ".fmu") as place, busy("exporting") as tell:
        export_fmu(
            loaded,
            place,
            fmi=fmi,
            kind=kind,
            step=internal,
            integrator=integrator.value,
            platforms=[one.name for one in wanted],
            scalars=scalars,
            dynamics=equations.dynamics(),
            progress=lambda stage, done: tell(done, stage),
        )
        size, platforms = place.stat().st_size, _platforms(place, [one.name for one in wanted])
    if as_json:
        show_json(
            {
                "ok": True,
                "file": path,
                "bytes": size,
                "fmi": fmi,
                "kind": kind,
                "platforms": platforms,
                "scalars": scalars,
                "dynamics": equations.value,
                "step": internal,
                "integrator": integrator.value,
                "sources": [source.facts() for source in loaded.files],
                "warnings": said_warnings,
            }
        )
    else:
        where = f"for {', '.join(platforms)}" if kind == "native" else "(its host needs Python; --kind native does not)"
        say(f"wrote {path}: FMI {fmi}, {kind} {where}, {max(1, size // 1024)} KiB")


def _platforms(path: Path, wanted: Sequence[str]) -> Sequence[str]:
    """Names of the platforms that an FMU has the model's equations for, ``wanted`` where it is native."""
    if wanted:
        return wanted
    from mbdy.fmu.native.platforms import this_machine
    from mbdy.fmu.python.slave.contents import library_name

    with zipfile.ZipFile(path) as fmu:
        return [this_machine()] if f"resources/{library_name()}" in fmu.namelist() else []
