"""Arguments and options that several commands have, with what they take from tables of lower rooms.

Such a table is read where it stands, without its room: importing that takes as long as many a command.
"""

from __future__ import annotations

import runpy
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from mbdy.app.output_files import input_file


def table(room: str, file: str, name: str) -> Any:
    """The table ``name`` in a ``file`` of a ``room`` (``"mbdy.engine"``) that imports nothing of mbdy."""
    spec = find_spec(room)
    assert spec
    assert spec.origin
    place = Path(spec.origin).parent / file
    if not place.is_file():
        raise SystemExit("mbdy: its files must lie in folders, not in an archive: install it with pip")
    return runpy.run_path(str(place))[name]


METHODS = table("mbdy.engine", "core/integrators.py", "METHODS")
TOLERANCE = f"{table('mbdy.engine', 'core/integrators.py', 'TOLERANCE'):g}"
KINDS = table("mbdy.fmu", "versions.py", "KINDS")


class IntegratorName(StrEnum):
    """The core's integrators."""

    vars().update({method.symbol.upper(): method.name for method in METHODS})


INTEGRATOR, STEP = next(iter(IntegratorName)), "0.001"
"""Unless told otherwise."""

ModelFile = Annotated[
    Path,
    typer.Argument(metavar="MODEL", help="Model file (TOML), or - for standard input.", parser=input_file),
]
STEP_OPTION = typer.Option(help="Longest internal step, in s or with a unit ('1 ms').", show_default=STEP)
INTEGRATOR_OPTION = typer.Option(
    help=f"How a step is made: {'; '.join(f'{method.name}, {method.help}' for method in METHODS)}.",
    show_default=INTEGRATOR,
)
TOLERANCE_OPTION = typer.Option(
    help=f"Of {' or '.join(method.name for method in METHODS if method.adaptive)}: error of a step, of states.",
    show_default=TOLERANCE,
)
Step = Annotated[str, STEP_OPTION]
Integrator = Annotated[IntegratorName, INTEGRATOR_OPTION]
Platforms = Annotated[
    list[str] | None,
    typer.Option(
        "--platform",
        metavar="NAME",
        help="A platform that a native FMU runs on, else this one: linux64, win64, darwin64, linux-aarch64, "
        "darwin-arm64, or all; several with commas or by repeating it. Others than this machine's are made with "
        "ziglang; the first build for Windows takes one or two minutes.",
    ),
]
