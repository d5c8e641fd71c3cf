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
    note,
    said_warnings,
    say,
    seconds,
    show_json,
    terminal,
)
from mbdy.app.options import INTEGRATOR, INTEGRATOR_OPTION, STEP, STEP_OPTION, IntegratorName, ModelFile
from mbdy.app.output_files import input_file, output_file, read_for, target

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


@rig.command(RUN, epilog="Example: mbdy rig satellite.toml --rate 1kHz --until 60")
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
    rate: Annotated[str, typer.Option(help="Ticks in a second of the plant, in Hz or with a unit.")] = "1 kHz",
    until: Annotated[
        str | None, typer.Option(help="End of the run, in s or with a unit; until Ctrl-C if left out.")
    ] = None,
    step: Annotated[str | None, STEP_OPTION] = None,
    integrator: Annotated[IntegratorName | None, INTEGRATOR_OPTION] = None,
    keeper: Annotated[str, typer.Option(help="Of the time: wall, lockstep (a packet is the tick) or tick.")] = "wall",
    factor: Annotated[float, typer.Option(help="How much faster than the clock the plant's time goes.")] = 1.0,
    policy: Annotated[str, typer.Option(help="For late cycles: hold, skip, catch-up or stop.")] = "catch-up",
    udp: Annotated[int, typer.Option(help="UDP port for packets.")] = 5001,
    bind: Annotated[str, typer.Option(help="Address to listen at; this machine alone if left out.")] = "127.0.0.1",
    shared: Annotated[
        str | None, typer.Option(metavar="NAME", help="Packets by shared memory /dev/shm/NAME instead of UDP.")
    ] = None,
    allow: Annotated[
        list[str] | None, typer.Option(metavar="ADDRESS", help="Who may send, e.g. 192.168.0.7 or 192.168.0.0/24.")
    ] = None,
    key: Annotated[
        Path | None, typer.Option("--key", metavar="FILE", help="File whose bytes seal each packet.", parser=input_file)
    ] = None,
    watchdog: Annotated[
        str, typer.Option(help="Time without inputs after which the safe ones act, or none.")
    ] = "100 ms",
    safe: Annotated[str, typer.Option(help="Safe inputs: hold or zero.")] = "hold",
    grace: Annotated[int, typer.Option(help="By how many outputs inputs may answer too late.")] = 0,
    record: Annotated[
        str | None, typer.Option(metavar="NAME", help="Ring of records /dev/shm/NAME that another process drains.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Say it as JSON.")] = False,
) -> None:
    """Run the plant of MODEL in real time (what is meant by mbdy rig MODEL)."""
    if header:
        for path in header:
            target(path, "--header", sources=(model,))
        loaded = load_model(model)
        layout = _write_headers(loaded, header)
        if as_json:
            show_json({"ok": True, "layout": layout, "headers": header, "warnings": said_warnings})
        return
    from mbdy.blocks.rig import Rig

    end = seconds(until, "--until") if until is not None else None
    chosen: dict[str, Any] = {"keeper": keeper, "policy": policy, "safe": safe}
    chosen |= {"udp": f"{bind}:{udp}"} if shared is None else {"shared": shared}
    with Rig(
        load_model(model), rate=_rate(rate), step=seconds(step, "--step") if step else float(STEP),
        integrator=(integrator or INTEGRATOR).value, factor=factor, allow=allow or (),
        key=key.read_bytes() if key else None, watchdog=None if watchdog == "none" else seconds(watchdog, "--watchdog"),
        grace=grace, record=record, **chosen,
    ) as made:  # fmt: skip
        note(f"waits for packets: {made.where}")
        result = made.run(end)
    if as_json:
        show_json({"ok": True, **result.facts(), "warnings": said_warnings})
    else:
        for line in result.report().splitlines():
            say(line)


def _rate(text: str) -> float:
    from mbdy.engine.model.units import quantity

    try:
        return quantity(text, "Hz", bare=True)
    except ValueError as fault:
        raise RequestError(f"--rate: {fault}") from None


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
