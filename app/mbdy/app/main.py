"""The command line: every command under its name."""

from __future__ import annotations

from typing import Annotated

import typer

from mbdy.app.cache import cache
from mbdy.app.check import check
from mbdy.app.common import TERMINATED, answer, end_on_terminate, tolerant_streams, version
from mbdy.app.demo import demo
from mbdy.app.fmu import fmu
from mbdy.app.linearize import linearize
from mbdy.app.new import new
from mbdy.app.simulate import simulate
from mbdy.app.ssp import ssp
from mbdy.app.verify import verify

app = typer.Typer(
    name="mbdy",
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
