"""``mbdy linearize``: a model about an operating point as matrices, modes and a file for control design."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mbdy.app.common import (
    RequestError,
    attributes,
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
from mbdy.app.options import ModelFile
from mbdy.app.output_files import file_name, filled, output_file, read_for, target
from mbdy.app.progress import busy

if TYPE_CHECKING:
    from mbdy.blocks import Plant
    from mbdy.engine import Linearization, Mode, Model, OperatingPoint

ENDINGS = (".npz", ".mat", ".json")
STREAMED = ".json"
"""How it goes into a stream whose name does not say how."""
MOST_SHARES = 4
"""Shares of a mode's shape that the table shows."""
SMALL_SHARE = 0.05
"""Shares below this part of the largest are not shown."""


@guarded
def linearize(
    model: ModelFile,
    assign: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Any start value, input or parameter of the operating point; as often as needed.",
        ),
    ] = None,
    at: Annotated[
        list[str] | None, typer.Option("--at", metavar="NAME=VALUE", help="The same as --set, which it comes after.")
    ] = None,
    inputs: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="Inputs, e.g. 'bus.torque,*.joint.torque'; or all.")
    ] = None,
    outputs: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="Outputs, e.g. 'bus.attitude,bus.omega'; or all.")
    ] = None,
    trim: Annotated[
        bool, typer.Option("--trim", help="First find rest or a steady spin near the values given.")
    ] = False,
    free: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="With --trim: states and inputs that may change; or all joint positions."),
    ] = None,
    hold: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="With --trim: what stays as it is given.")
    ] = None,
    modes: Annotated[bool, typer.Option("--modes", help="Show frequencies, damping ratios and shapes.")] = False,
    step: Annotated[str, typer.Option(help="Internal step that the fastest motion is held against.")] = "0.001",
    file: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="LIN.npz",
            help="File: .npz, .mat or .json; - is stdout, as JSON.",
            parser=output_file,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Say all of it as JSON, in SI units.")] = False,
) -> None:
    """Linearize a model about an operating point: A, B, C, D and M, D, G, K for control design.

    Attitudes are small rotations, three numbers. Exit status 1 where --trim finds no steady motion.
    """
    if (free or hold) and not trim:
        raise RequestError("--free, --hold: say what --trim may change; add --trim")
    from mbdy.engine.model.whole_file import is_stream

    if file and file.suffix.lower() not in ENDINGS and not is_stream(file):
        raise RequestError(f"-o: {file} must end in {', '.join(ENDINGS)}, which hold matrices with their names")
    if file:
        target(file, "-o", sources=(model,))
    internal = seconds(step, "--step")
    loaded = load_model(model)
    if file:
        file_name(file, "-o", sources=read_for(loaded))
    from mbdy.app.assignments import assigned
    from mbdy.blocks import Plant
    from mbdy.engine import linearize as linearized

    with busy("linearizing"):
        plant = Plant(loaded, step=internal)
        assigned(plant, assign or [])
        assigned(plant, at or [], "--at")
        try:
            point = _trimmed(plant, _parts(free), _parts(hold) or []) if trim else plant
            linearization = linearized(loaded, at=point, inputs=_parts(inputs), outputs=_parts(outputs))
        except KeyError as fault:
            raise RequestError(str(fault.args[0])) from None
    if file:
        with filled(file, file.suffix or STREAMED) as place:
            linearization.save(place)
    if as_json:
        show_json({"ok": True, **_facts(linearization), "file": file, "warnings": said_warnings})
        return
    _show(linearization, modes)
    if trim:
        say(f"trim moved {', '.join(_moved(plant, point)) or 'nothing'}")
    for remark in (*linearization.notes, *_steep(loaded, point, linearization, internal)):
        note(f"note: {remark}")
    if file:
        say(f"wrote {file}")
    else:
        note("add -o lin.npz (or .mat, .json) to keep the matrices")


def _trimmed(plant: Plant, free: list[str] | None, hold: list[str]) -> OperatingPoint:
    from mbdy.engine import trim

    return trim(plant.model, at=plant, free=free, hold=hold)


def _moved(plant: Plant, point: OperatingPoint | Plant) -> list[str]:
    """States and inputs that are otherwise at the ``point``, with their values there."""
    named = {*plant.ports.by_name, *plant.output_names, *plant.input_names}
    names = [name for name in (*plant.ports.state_names, *plant.input_names) if name in named]
    values = ((name, float(plant[name]), float(point[name])) for name in names)
    return [f"{name} = {now:.9g}" for name, before, now in values if abs(now - before) > 1e-9 * max(1.0, abs(before))]


def _parts(texts: list[str] | None) -> list[str] | None:
    """Patterns of an option that may be repeated, or have several with commas."""
    return [part.strip() for text in texts for part in text.split(",") if part.strip()] if texts else None


def _steep(model: Model, point: OperatingPoint | Plant, linearization: Linearization, step: float) -> list[str]:
    """A remark where the fastest motion is too fast for RK4 in such steps, of which friction is no part."""
    from mbdy.engine import fastest, linearize
    from mbdy.engine.linear.linearization import STABLE, without_friction

    rate = abs(fastest(linearization))
    if rate * step > STABLE:
        rate = abs(fastest(linearize(model, at=without_friction(model, point), inputs=(), outputs=())))
    if rate * step <= STABLE:
        return []
    return [
        f"the fastest motion has {rate:.4g} 1/s: RK4 grows in steps of {step:g} s, which should stay below "
        f"{STABLE / rate:.2g} s; look for stiff springs or strong dampers"
    ]


def _facts(linearization: Linearization) -> dict[str, Any]:
    from mbdy.engine import fastest
    from mbdy.engine.linear.storage import plain

    return {
        **plain(linearization),
        "fastest": abs(fastest(linearization)),
        "modes": [
            {
                **attributes(mode, "frequency", "damping"),
                "eigenvalue": [mode.eigenvalue.real, mode.eigenvalue.imag],
                "rigid": mode.rigid,
                "shape": {name: [share.real, share.imag] for name, share in mode.shape.items()},
            }
            for mode in linearization.modes()
        ],
    }


def _show(linearization: Linearization, modes: bool) -> None:
    from rich.table import Table

    sizes = ", ".join(counted(len(getattr(linearization, what)), what[:-1]) for what in ("states", "inputs", "outputs"))
    say(f"{linearization.name}: {sizes}")
    every = linearization.modes()
    rigid = sum(mode.rigid for mode in every)
    if rigid:
        say(f"rigid-body motion: {counted(rigid, 'zero eigenvalue')}")
    if not modes:
        return
    if rigid == len(every):
        say("no modes" if not rigid else "no modes but rigid-body motion")
        return
    table = Table(title="modes", title_justify="left")
    for heading in ("frequency [rad/s]", "[Hz]", "damping ratio"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("eigenvalue [1/s]", no_wrap=True)
    table.add_column("largest shares", overflow="fold")
    for mode in every[rigid:]:
        hertz = f"{mode.frequency / 6.283185307179586:.6g}" if mode.oscillates else ""
        damping = f"{mode.damping:z.6f}" if mode.oscillates else "-"
        table.add_row(f"{mode.frequency:.9g}", hertz, damping, _eigenvalue(mode), _shares(mode))
    terminal().print(table)


def _eigenvalue(mode: Mode) -> str:
    value = mode.eigenvalue
    return f"{value.real:.6g} ± {value.imag:.6g}i" if mode.oscillates else f"{value.real:.6g}"


def _shares(mode: Mode) -> str:
    order = sorted(mode.shape.items(), key=lambda share: -abs(share[1]))[:MOST_SHARES]
    return ", ".join(f"{name} {abs(share):.2g}" for name, share in order if abs(share) > SMALL_SHARE)
