"""``mbdy verify``: a model's equations against independent formulations, for the file of a verification engineer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mbdy.app.common import (
    PAGES,
    RUN_FAULT,
    RequestError,
    complain,
    guarded,
    load_model,
    note,
    said_warnings,
    say,
    show_json,
    terminal,
)
from mbdy.app.options import ModelFile
from mbdy.app.output_files import file_name, output_file, read_for, target
from mbdy.app.progress import busy

if TYPE_CHECKING:
    from mbdy.engine import Verification

ENDINGS = (".md", ".markdown", *PAGES, ".json", "")
"""Of the evidence page's name."""


@guarded
def verify(
    model: ModelFile,
    states: Annotated[int, typer.Option(min=0, help="Random states, beside the start of the file.")] = 20,
    seed: Annotated[int, typer.Option(min=0, help="Of the random states; the same seed gives the same ones.")] = 0,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="EVIDENCE.md",
            help="File for the evidence page: Markdown, HTML or JSON by its name; - is stdout.",
            parser=output_file,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Say it as JSON.")] = False,
) -> None:
    """Compare the equations with independent formulations and the laws of mechanics, at random states.

    Exit status 0 where all that covers the model agrees, 1 where something does not, 2 for a model with faults.
    """
    if report:
        if report.suffix.lower() not in ENDINGS:
            known = f"Markdown, HTML or JSON; give a name that ends in {', '.join(filter(None, ENDINGS))}"
            raise RequestError(f"--report {report}: the evidence page is {known}")
        target(report, "--report", sources=(model,))
    loaded = load_model(model)
    if report:
        file_name(report, "--report", sources=read_for(loaded))
    from mbdy.app.evidence import origin, write
    from mbdy.engine import verify as verified

    with busy("verifying") as tell:
        verification = verified(loaded, states=states, seed=seed, progress=tell)
    source = origin(loaded)
    if report:
        write(verification, source, report)
    if as_json:
        fault = {} if verification.agrees else {"error": verification.verdict}
        result = {"ok": verification.agrees, **fault, **source.facts(), **verification.to_dict()}
        show_json({**result, "report": report, "warnings": said_warnings})
    else:
        _show(verification)
        if report:
            say(f"wrote {report}")
        else:
            note("add --report evidence.md to keep the evidence")
    if not verification.agrees:
        if not as_json:
            complain(verification.verdict)
        raise typer.Exit(RUN_FAULT)


def _show(verification: Verification) -> None:
    from rich.table import Table

    table = Table(title=verification.heading, title_justify="left")
    table.add_column("")
    table.add_column("largest", justify="right", no_wrap=True)
    table.add_column("where", overflow="fold")
    for row in verification.rows():
        if row[0] == verification.residuals[0].title:
            table.add_section()
        table.add_row(*row)
    terminal().print(table)
    if verification.agrees:
        say(verification.verdict)
