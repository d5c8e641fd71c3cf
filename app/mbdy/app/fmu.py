"""``mbdy fmu``: a model file as an FMU."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mbdy.app.common import (
    RequestError,
    busy,
    file_name,
    guarded,
    load_model,
    said_warnings,
    seconds,
    show_json,
    target,
)
from mbdy.app.simulate import Integrator

FMI, KIND = "2.0", "python"
"""The version of the Functional Mock-up Interface, and what an FMU is made of."""


@guarded
def fmu(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model file (TOML).")],
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="F.fmu", help="Else MODEL.fmu.")] = None,
    fmi: Annotated[str, typer.Option(metavar=FMI, help="Version of the interface; this version makes 2.0.")] = FMI,
    kind: Annotated[
        str, typer.Option(metavar=KIND, help="What it is made of; this version's run in hosts with Python.")
    ] = KIND,
    step: Annotated[str, typer.Option(help="Longest internal step, in s or with a unit ('1 ms').")] = "0.001",
    integrator: Annotated[Integrator, typer.Option(help="How a step is made.")] = Integrator.RK4,
    as_json: Annotated[bool, typer.Option("--json", help="Say what was done as JSON.")] = False,
) -> None:
    """Export a model as an FMU for co-simulation."""
    if fmi != FMI:
        raise RequestError(f"--fmi {fmi}: this version makes FMI {FMI} only; leave --fmi out")
    if kind != KIND:
        raise RequestError(f"--kind {kind}: this version makes FMUs of kind {KIND} only; leave --kind out")
    path = file_name(output or Path(model.with_suffix(".fmu").name), "-o", sources=(model,))
    loaded = load_model(model)
    internal = seconds(step, "--step")
    target(path, "-o")
    from mbdy.fmu import export_fmu

    with busy("exporting") as tell:
        written = export_fmu(
            loaded,
            path,
            fmi=fmi,
            kind=kind,
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
                "fmi": fmi,
                "kind": kind,
                "step": internal,
                "integrator": integrator.value,
                "warnings": said_warnings,
            }
        )
    else:
        typer.echo(f"wrote {written}: FMI {fmi}, {kind}, {max(1, size // 1024)} KiB")
