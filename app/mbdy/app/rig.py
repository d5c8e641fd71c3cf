"""``mbdy rig``: the plant of a model in real time, and what is written for those who talk to it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from mbdy.app.common import (
    PAGES,
    RUN_FAULT,
    RequestError,
    attributes,
    complain,
    counted,
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
    from mbdy.blocks.rig import RigResult
    from mbdy.blocks.rig.doctor import Symptom
    from mbdy.blocks.rig.requirement import Requirement
    from mbdy.engine import Model

RUN = "run"
"""The command that is meant where a model stands in place of a command's name."""
Require = Annotated[
    list[str] | None,
    typer.Option(
        metavar="'FIGURE < LIMIT'",
        help="What must be kept, such as 'step.p99.99 < 200 us' or 'missed == 0'; else exit status 1.",
    ),
]
Judged = list[tuple[str, bool]]
"""Requirements with what was measured, and whether each is kept."""
HEADERS = {".h": "c_header", ".hpp": "c_header", ".py": "numpy_module"}
"""Ending of a file for clients: what writes its text."""


class RigCommands(TyperGroup):
    """``mbdy rig MODEL`` runs, ``mbdy rig COMMAND`` does what the command says."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Takes the command line apart as far as the command's name."""
        named = args and (args[0] in self.commands or args[0] in ("-h", "--help"))
        return super().parse_args(ctx, args if named or not args else [RUN, *args])


rig = typer.Typer(
    cls=RigCommands,
    epilog="mbdy rig MODEL runs the plant; its options: mbdy rig run --help",
    no_args_is_help=True,
    add_completion=False,
)


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
    udp: Annotated[
        str, typer.Option(metavar="PORT | ADDRESS:PORT", help="Where packets by UDP come in; port 0 takes a free one.")
    ] = "5001",
    bind: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Address to listen at; this machine alone if left out.")
    ] = None,
    shared: Annotated[
        str | None, typer.Option(metavar="NAME", help="Packets by shared memory /dev/shm/NAME instead of UDP.")
    ] = None,
    allow: Annotated[
        list[str] | None, typer.Option(metavar="ADDRESS", help="Who may send, e.g. 192.168.0.7 or 192.168.0.0/24.")
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option("--key", metavar="FILE", help="File whose bytes (8 or more) seal each packet.", parser=input_file),
    ] = None,
    watchdog: Annotated[
        str, typer.Option(help="Time without inputs after which the safe ones act, or none.")
    ] = "100 ms",
    safe: Annotated[str, typer.Option(help="Safe inputs: hold or zero.")] = "hold",
    grace: Annotated[int, typer.Option(help="By how many outputs inputs may answer too late.")] = 0,
    fault: Annotated[
        list[str] | None,
        typer.Option(
            metavar="'KIND NAME at=TIME until=TIME'",
            help="A fault on purpose, such as 'freeze bus.omega at=1s until=2s' or 'jam panel.joint at=3'.",
        ),
    ] = None,
    record: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="A row for each cycle, to a file in .csv or .parquet; another NAME is a ring /dev/shm/NAME of records "
            "that a process of yours drains.",
        ),
    ] = None,
    require: Require = None,
    report: Annotated[
        Path | None, typer.Option(metavar="PAGE.html", help="Page of what the run has shown.", parser=output_file)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Say it as JSON.")] = False,
) -> None:
    """Run the plant of MODEL in real time (what is meant by mbdy rig MODEL).

    Exit status 1 where a requirement is not kept, the plant or the recording fails, or --policy stop ends the run; what
    was measured is told and written all the same.
    """
    if header:
        for path in header:
            target(path, "--header", sources=(model,))
        loaded = load_model(model)
        layout = _write_headers(loaded, header)
        if as_json:
            show_json({"ok": True, "layout": layout, "headers": header, "warnings": said_warnings})
        return
    from mbdy.app.rig_faults import fault as said
    from mbdy.app.rig_live import shown_live
    from mbdy.app.rig_ring import recorded, ring_name
    from mbdy.blocks.rig import Rig
    from mbdy.blocks.rig.requirement import judge
    from mbdy.engine import MbdyError

    asked, faults = _asked(require), [said(text) for text in fault or ()]
    if report:
        if report.suffix.lower() not in PAGES:
            raise RequestError(f"--report {report}: the page is HTML; give a name that ends in {' or '.join(PAGES)}")
        target(report, "--report", sources=(model,))
    end = seconds(until, "--until") if until is not None else None
    chosen: dict[str, Any] = {"keeper": keeper, "policy": policy, "safe": safe}
    chosen |= {"udp": _listens(udp, bind)} if shared is None else {"shared": shared}
    file = Path(record) if record and Path(record).suffix else None
    ring = ring_name() if file else record
    loaded = load_model(model)
    if file:
        target(file, "--record", sources=(model, *read_for(loaded)))
    made = Rig(
        loaded, rate=_rate(rate), step=seconds(step, "--step") if step else float(STEP),
        integrator=(integrator or INTEGRATOR).value, factor=factor, allow=allow or (),
        key=_sealing(key), watchdog=None if watchdog == "none" else seconds(watchdog, "--watchdog"),
        grace=grace, faults=faults, record=ring, **chosen,
    )  # fmt: skip
    if end is not None and abs(math.remainder(end, made.period)) > 1e-6 * made.period:
        last = made.period * (end // made.period)
        warnings.warn(f"--until {until}: lies between two ticks, the run ends at {last:.9g} s", stacklevel=2)
    for one in faults:
        if one.at is None:
            note(f"{one}: has no at=, so only a packet sets it on")
    wrong: list[str] = []
    with made, recorded(made, ring, file, wrong) as recorder:
        note(f"waits for packets: {made.where}")
        try:
            with shown_live(made):
                result = made.run(end)
        except MbdyError as failure:
            result = made.result
            if result.end != "fault":
                raise
            wrong.append(str(failure))
    if result.end == "late":
        wrong.append(f"--policy stop: the cycle to {result.time:.9g} s missed the next tick")
    for one in faults:
        if all(event.fault != one for event in result.events):
            warnings.warn(f"{one}: never began; the run ended at {result.time:.9g} s", stacklevel=2)
    judged = judge(asked, result.histograms, result.counters)
    words, facts = result.report(), {**result.facts(), "record": file, "report": report}
    if recorder and recorder.rows:
        facts |= attributes(recorder, "rows")
        words += f"\nwrote {file}: {counted(recorder.rows, 'row')}"
    if report:
        settings = {"model": f"{model}, SHA-256 {made.layout.model}", "rate": rate, **chosen}
        _write_page(report, loaded, result, {name: str(value) for name, value in settings.items()}, judged)
        words += f"\nwrote {report}"
    _answer(words, facts, judged, wrong, as_json=as_json)


def _asked(texts: list[str] | None) -> list[Requirement]:
    """The requirements that ``texts`` say."""
    from mbdy.app.rig_page import COUNTERS, TIMES
    from mbdy.blocks.rig.requirement import Requirement

    return [Requirement.of(text, TIMES, COUNTERS) for text in texts or ()]


def _answer(words: str, facts: dict[str, Any], judged: Judged, wrong: list[str], *, as_json: bool) -> None:
    """Say what a run has shown, what was required and what is ``wrong``, and end with the exit status of that."""
    wrong = [*wrong, *(f"not kept: {text}" for text, met in judged if not met)]
    if as_json:
        kept = [{"said": text, "met": met} for text, met in judged]
        error = {"error": "; ".join(wrong)} if wrong else {}
        show_json({"ok": not wrong, **error, **facts, "requirements": kept, "warnings": said_warnings})
    else:
        for line in [*words.splitlines(), *(f"kept: {text}" for text, met in judged if met)]:
            say(line)
        for line in wrong:
            complain(line)
    if wrong:
        raise typer.Exit(RUN_FAULT)


def _write_page(path: Path, model: Model, result: RigResult, settings: dict[str, str], judged: Judged) -> None:
    from mbdy.app.rig_page import rig_page
    from mbdy.engine.model.whole_file import whole_file

    target(path, "--report", sources=read_for(model))
    with whole_file(path) as file:
        file.write(rig_page(model.name, result, settings, judged))


def _listens(udp: str, bind: str | None) -> str:
    if ":" not in udp:
        return f"{bind or '127.0.0.1'}:{udp}"
    if bind is not None:
        raise RequestError(f"--bind {bind}: --udp {udp} has an address already; give one of them")
    return udp


def _sealing(path: Path | None) -> bytes | None:
    """The key in the file at ``path``, without the line's end that editors leave there."""
    from mbdy.blocks.rig.rig import LEAST_KEY, LONGEST_KEY

    if path is None:
        return None
    try:
        with path.open("rb") as file:
            key = file.read(LONGEST_KEY + len(b"\r\n")).removesuffix(b"\n").removesuffix(b"\r")
    except OSError as fault:
        raise RequestError(f"--key {path}: cannot be read: {fault.strerror}") from None
    if len(key) < LEAST_KEY:
        raise RequestError(
            f"--key {path}: has {counted(len(key), 'byte')}, {LEAST_KEY} are the least; such as of "
            f"head -c 32 /dev/urandom | base64 > {path}"
        )
    return key


def _rate(text: str) -> float:
    from mbdy.engine.model.units import quantity

    try:
        return quantity(text, "Hz", bare=True)
    except ValueError as fault:
        raise RequestError(f"--rate: {fault}") from None


@rig.command(epilog="Example: mbdy rig doctor --measure 60s --require 'wake.p99.9 < 200 us'")
@guarded
def doctor(
    measure: Annotated[
        str | None, typer.Option(metavar="TIME", help="Run the loop for so long, with one body as its plant.")
    ] = None,
    rate: Annotated[str, typer.Option(help="Ticks in a second of what is measured.")] = "1 kHz",
    require: Require = None,
    as_json: Annotated[bool, typer.Option("--json", help="Say it as JSON.")] = False,
) -> None:
    """Tell what makes cycles late on this machine, and the remedy of each; with --measure what it is worth.

    Exit status 1 where something makes late cycles at 1 kHz likely, or, with --require, where that is not kept.
    """
    from mbdy.blocks.rig.doctor import examine
    from mbdy.blocks.rig.requirement import judge

    asked = _asked(require)
    if asked and not measure:
        raise RequestError("--require: is of what --measure TIME measures; give that too")
    pace, duration = _rate(rate), seconds(measure, "--measure") if measure else None
    findings = examine()
    if not as_json:
        _show_findings(findings)
    words, judged = "", []
    facts: dict[str, Any] = {"findings": [attributes(f, "name", "verdict", "found", "remedy") for f in findings]}
    if duration:
        from mbdy.blocks.rig.baseline import baseline

        result = baseline(rate=pace, duration=duration)
        words, facts["baseline"] = result.report(), result.facts()
        judged = judge(asked, result.histograms, result.counters)
    poor = [f.name for f in findings if f.verdict == "poor"]
    verdict = [f"late cycles are likely here: {', '.join(poor)}"] if poor and not asked else []
    _answer(words, facts, judged, verdict, as_json=as_json)


def _show_findings(findings: Sequence[Symptom]) -> None:
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


@rig.command(epilog="Example: mbdy rig bridge satellite.toml --outputs tcp://*:5556")
@guarded
def bridge(
    model: ModelFile,
    udp: Annotated[str, typer.Option(metavar="ADDRESS:PORT", help="Where the rig of MODEL is.")] = "127.0.0.1:5001",
    outputs: Annotated[str, typer.Option(help="Where its packets are published (PUB).")] = "tcp://127.0.0.1:5556",
    inputs: Annotated[str, typer.Option(help="Where packets to it come from (PULL).")] = "tcp://127.0.0.1:5557",
    key: Annotated[
        Path | None, typer.Option("--key", metavar="FILE", help="The rig's, if it has one.", parser=input_file)
    ] = None,
) -> None:
    """Pass a rig's packets on over ZeroMQ until Ctrl-C."""
    from mbdy.blocks.rig.layout import PacketLayout
    from mbdy.blocks.rig.peers import address
    from mbdy.blocks.rig.zeromq import ZeroMQBridge

    host, port = address("--udp", udp)
    layout = PacketLayout.of(load_model(model))
    sealed = _sealing(key) or b""
    with ZeroMQBridge(layout, (str(host), port), outputs=outputs, inputs=inputs, key=sealed) as between:
        say(f"outputs at {between.endpoints[0]}, inputs at {between.endpoints[1]}")
        with suppress(KeyboardInterrupt):
            between.run()
        say(f"passed {counted(between.passed['outputs'], 'output')}, {counted(between.passed['inputs'], 'input')}")
