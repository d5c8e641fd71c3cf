"""The command line: every command under its name."""

from __future__ import annotations

import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, cast

import typer
from typer.core import TyperGroup

from mbdy.app.cache import cache
from mbdy.app.check import check
from mbdy.app.common import (
    RUN_FAULT,
    TERMINATED,
    answer,
    complain,
    end_on_terminate,
    show_json,
    tolerant_streams,
    version,
)
from mbdy.app.demo import demo
from mbdy.app.fmu import fmu
from mbdy.app.linearize import linearize
from mbdy.app.new import new
from mbdy.app.rig import rig
from mbdy.app.simulate import simulate
from mbdy.app.ssp import ssp
from mbdy.app.verify import verify


class Commands(TyperGroup):
    """All commands, whose command lines that cannot be taken are told to machines too."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Takes the words of the whole command line apart as far as the command's name."""
        ctx.meta[WORDS] = tuple(args)
        with _told_to_machines(ctx.meta[WORDS]):
            for word in args:
                if "\0" in word:
                    raise typer.BadParameter(f"{word[:60]!r} has a zero byte, which no name of a file has")
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Runs the command."""
        with _told_to_machines(ctx.meta[WORDS]):
            return super().invoke(ctx)


WORDS = "mbdy.words"
"""Where the context has the words of the command line."""
USAGE = cast("type[Exception]", typer.BadParameter.__bases__[0])
"""What the parser raises for command lines."""


@contextmanager
def _told_to_machines(words: Sequence[str]) -> Iterator[None]:
    try:
        yield
    except USAGE as fault:
        if "--json" in words:
            error = fault.format_message()  # type: ignore[attr-defined]
            show_json({"ok": False, "error": error, "faults": (), "warnings": []})
        raise


app = typer.Typer(
    name="mbdy",
    cls=Commands,
    help="Dynamics of hinge-connected bodies: from a model file to a simulation or an FMU.",
    epilog="Begin with: mbdy demo, or mbdy new mysat",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
EXAMPLES = {
    new: "mbdy new mysat",
    check: "mbdy check satellite.toml",
    simulate: "mbdy simulate satellite.toml --until 60 --every 0.1 --set 'bus.omega[1]=2 deg/s' -o run.csv "
    "--report run.html",
    fmu: "mbdy fmu satellite.toml -o satellite.fmu",
    ssp: "mbdy ssp satellite.toml --controller controller.fmu -o system.ssp",
    linearize: "mbdy linearize satellite.toml --inputs bus.torque --outputs bus.attitude,bus.omega --modes -o lin.npz",
    verify: "mbdy verify satellite.toml --report evidence.md",
    demo: "mbdy demo --folder first-run",
    cache: "mbdy cache --clear",
}
"""The commands in the order of the help, each with the example that its help shows."""

for command, example in EXAMPLES.items():
    app.command(epilog=f"Example: {example}")(command)
app.add_typer(rig, name="rig", help="Run the plant of a model in real time, for hardware and controllers to meet it.")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mbdy {version()}")
        raise typer.Exit


@app.callback()
def options(
    show: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Dynamics of hinge-connected bodies: from a model file to a simulation or an FMU."""


def main() -> None:
    """Run the command that the command line asks for; exit status as `docs/commands.md` has them."""
    tolerant_streams()
    end_on_terminate()
    try:
        app(prog_name="mbdy")
    except SystemExit as end:  # before and after a command every interrupt is Ctrl-C to Typer
        raise SystemExit(TERMINATED if answer.terminated else end.code) from None
    except Exception as fault:  # which nobody foresaw: not a word of it is lost, and none of it is a wall of text
        with tempfile.NamedTemporaryFile("w", prefix="mbdy-fault-", suffix=".txt", delete=False) as kept:
            kept.write(f"mbdy {version()}: {sys.argv}\n{traceback.format_exc()}")
        error = f"a fault of mbdy itself, {type(fault).__name__}: {fault}; please report it with {kept.name}"
        complain(error)
        if "--json" in sys.argv:
            show_json({"ok": False, "error": error, "faults": (), "warnings": []})
        sys.exit(RUN_FAULT)
