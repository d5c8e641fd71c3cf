"""``mbdy rig``: the plant of a model in real time, and what is written for those who talk to it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from mbdy.app.common import (
    RUN_FAULT,
    RequestError,
    attributes,
    complain,
    guarded,
    load_model,
    said_warnings,
    say,
    show_json,
    terminal,
)
from mbdy.app.options import ModelFile
from mbdy.app.output_files import output_file, read_for, target

if TYPE_CHECKING:
    from mbdy.blocks.rig.doctor import Condition
    from mbdy.engine import Model

RUN = "run"
"""The command that is meant where a model stands in place of a command's name."""
HEADERS = {".h": "c_header", ".hpp": "c_header", ".py": "numpy_module"}
"""Ending of a file for clients: what writes its text."""


class RigCommands(TyperGroup):
    """``mbdy rig MODEL`` runs, ``mbdy rig COMMAND`` does what the command says."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Takes the command line apart as far as the command's name."""
        named = args and (args[0] in self.commands or args[0] in ("-h", "--help"))
        return super().parse_args(ctx, args if named or not args else [RUN, *args])


rig = typer.Typer(cls=RigCommands, no_args_is_help=True, add_completion=False)


@rig.command(RUN, epilog="Example: mbdy rig satellite.toml --header satellite.h")
@guarded
def run(
    model: ModelFile,
    header: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Write the packets' layout for a controller and stop: C for a name in .h, NumPy for one in .py.",
            parser=output_file,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Say it as JSON.")] = False,
) -> None:
    """Run the plant of MODEL in real time (what is meant by mbdy rig MODEL)."""
    if header:
        for path in header:
            target(path, "--header", sources=(model,))
        loaded = load_model(model)
        key = _write_headers(loaded, header)
        if as_json:
            show_json({"ok": True, "layout": key, "headers": header, "warnings": said_warnings})
        return
    raise RequestError("rig: give --header FILE")


@rig.command(epilog="Example: mbdy rig doctor")
@guarded
def doctor(as_json: Annotated[bool, typer.Option("--json", help="Say it as JSON.")] = False) -> None:
    """Tell what makes cycles late on this machine, and the remedy of each.

    Exit status 1 where something makes late cycles at 1 kHz likely.
    """
    from mbdy.blocks.rig.doctor import examine

    findings = examine()
    poor = [f.name for f in findings if f.verdict == "poor"]
    verdict = f"late cycles are likely here: {', '.join(poor)}" if poor else ""
    if as_json:
        fault = {"error": verdict} if poor else {}
        rows = [attributes(f, "name", "verdict", "found", "remedy") for f in findings]
        show_json({"ok": not poor, **fault, "findings": rows, "warnings": said_warnings})
    else:
        _show_findings(findings)
        if poor:
            complain(verdict)
    if poor:
        raise typer.Exit(RUN_FAULT)


def _show_findings(findings: Sequence[Condition]) -> None:
    from rich.table import Table

    table = Table("", "for real time", "found", "remedy")
    for column in table.columns:
        column.overflow = "fold"
    for finding in findings:
        table.add_row(finding.name, finding.verdict, finding.found, finding.remedy)
    terminal().print(table)


def _write_headers(model: Model, paths: list[Path]) -> str:
    """Write the layout of ``model`` to each of ``paths``; its key in hexadecimal digits."""
    from mbdy.blocks.rig import layout_text
    from mbdy.blocks.rig.layout import PacketLayout
    from mbdy.engine.model.whole_file import whole_file

    layout = PacketLayout.of(model)
    for path in paths:
        if path.suffix.lower() not in HEADERS:
            raise RequestError(f"--header {path}: give a name that ends in {' or '.join(HEADERS)}")
        target(path, "--header", sources=read_for(model))
        with whole_file(path) as file:
            file.write(getattr(layout_text, HEADERS[path.suffix.lower()])(layout))
        say(f"wrote {path}")
    return f"{layout.key:016x}"
