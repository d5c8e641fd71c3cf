"""``mbdy fmu``: a model file as an FMU."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from mbdy.app.common import busy, guarded, load_model, said_warnings, seconds, show_json, target
from mbdy.app.simulate import Integrator


class Fmi(StrEnum):
    """Versions of the Functional Mock-up Interface."""

    TWO = "2.0"
    THREE = "3.0"


class Kind(StrEnum):
    """What an FMU is made of."""

    PYTHON = "python"
    NATIVE = "native"


@guarded
def fmu(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model file (TOML).")],
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="F.fmu", help="Else MODEL.fmu.")] = None,
    fmi: Annotated[Fmi, typer.Option(help="Version of the interface.")] = Fmi.TWO,
    kind: Annotated[Kind, typer.Option(help="python: runs in a host with Python; native: C alone.")] = Kind.PYTHON,
    step: Annotated[str, typer.Option(help="Longest internal step, in s or with a unit ('1 ms').")] = "0.001",
    integrator: Annotated[Integrator, typer.Option(help="How a step is made.")] = Integrator.RK4,
    as_json: Annotated[bool, typer.Option("--json", help="Say what was done as JSON.")] = False,
) -> None:
    """Export a model as an FMU for co-simulation."""
    path = target(output or Path(model.with_suffix(".fmu").name), "-o", sources=(model,))
    loaded = load_model(model)
    internal = seconds(step, "--step")
    from mbdy.fmu import export_fmu

    with busy("exporting") as tell:
        written = export_fmu(
            loaded,
            path,
            fmi=fmi.value,
            kind=kind.value,
            step=internal,
            integrator=integrator.value,
            progress=lambda stage, done: tell(done),
        )
    size = written.stat().st_size
    if as_json:
        show_json(
            {
                "ok": True,
                "file": written,
                "bytes": size,
                "fmi": fmi.value,
                "kind": kind.value,
                "step": internal,
                "integrator": integrator.value,
                "warnings": said_warnings,
            }
        )
    else:
        typer.echo(f"wrote {written}: FMI {fmi.value}, {kind.value}, {max(1, size // 1024)} KiB")
