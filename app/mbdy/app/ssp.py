"""``mbdy ssp``: a model file and a controller's FMU as one connected system."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mbdy.app.common import RequestError, counted, guarded, load_model, said_warnings, say, seconds, show_json
from mbdy.app.options import INTEGRATOR, KINDS, STEP, Integrator, ModelFile, Platforms, Step
from mbdy.app.output_files import filled, output_file, read_for, written
from mbdy.app.progress import busy

NONE = "none"
"""What ``--outputs`` is given to show no output."""


@guarded
def ssp(
    model: ModelFile,
    controller: Annotated[
        Path, typer.Option(metavar="C.fmu", help="The controller as an FMU (FMI 2.0, co-simulation).")
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="F.ssp", help="Else MODEL.ssp; - is stdout.", parser=output_file),
    ] = None,
    connect: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OUT=IN",
            help="Connect variables with other names: controller.x=plant.bus.torque; repeat it. Equal names are "
            "connected without it.",
        ),
    ] = None,
    outputs: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Outputs of the plant that the system shows: names or patterns ('bus.*'), or none; else rates and "
            "attitudes.",
        ),
    ] = None,
    kind: Annotated[str, typer.Option(help="What the plant's FMU is made of, as for mbdy fmu.")] = KINDS[0],
    platform: Platforms = None,
    step: Step = STEP,
    integrator: Integrator = INTEGRATOR,
    as_json: Annotated[bool, typer.Option("--json", help="Say what was done as JSON.")] = False,
) -> None:
    """Export a model and a controller, connected, as an SSP package."""
    pairs = [_pair(text) for text in connect or ()]
    patterns = [part.strip() for text in outputs for part in text.split(",")] if outputs else None
    internal = seconds(step, "--step")
    from mbdy.fmu import export_ssp
    from mbdy.fmu.export import checked, platforms_of
    from mbdy.fmu.ssp.parts import FMI

    checked(fmi=FMI, kind=kind, step=internal, integrator=integrator.value)
    wanted = [one.name for one in platforms_of(platform or (), kind)]
    loaded = load_model(model)
    path = written(model, output, ".ssp", sources=(controller, *read_for(loaded)))
    with filled(path, ".ssp") as place, busy("exporting") as tell:
        export_ssp(
            loaded,
            controller,
            place,
            connect=pairs,
            outputs=() if patterns == [NONE] else patterns,
            kind=kind,
            platforms=wanted,
            step=internal,
            integrator=integrator.value,
            progress=lambda stage, done: tell(done, stage),
        )
        from fmpy.ssp.ssd import read_ssd

        system, size = read_ssd(str(place)).system, place.stat().st_size
    assert system is not None  # a description has one
    connections = [c for c in system.connections if c.startElement and c.endElement]
    if as_json:
        show_json(
            {
                "ok": True,
                "file": path,
                "bytes": size,
                "kind": kind,
                "step": internal,
                "integrator": integrator.value,
                "connections": [
                    {"from": f"{c.startElement}.{c.startConnector}", "to": f"{c.endElement}.{c.endConnector}"}
                    for c in connections
                ],
                "outputs": [connector.name for connector in system.connectors],
                "warnings": said_warnings,
            }
        )
    else:
        parts = f"{counted(len(connections), 'connection')}, {counted(len(system.connectors), 'output')}"
        say(f"wrote {path}: plant and controller, {parts}, {max(1, size // 1024)} KiB")


def _pair(text: str) -> tuple[str, str]:
    source, sign, into = (part.strip() for part in text.partition("="))
    if not (source and sign and into):
        raise RequestError(f"--connect {text!r}: must be OUTPUT=INPUT, as in 'controller.x=plant.bus.torque[1]'")
    return source, into
