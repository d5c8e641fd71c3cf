"""``mbdy new``: a model to start from."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from mbdy.app.common import RequestError, guarded, note, program, quoted, say, show_json

TEMPLATE = "templates/satellite.toml"
TITLE = 'name = "satellite"'
"""The line of the template that says how the model is called."""


@guarded
def new(
    name: Annotated[Path, typer.Argument(metavar="NAME", help="Name of the model; may have a folder before it.")],
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Say what was done as JSON.")] = False,
) -> None:
    """Write NAME.toml: a commented small satellite with two panels, ready to check, simulate and change."""
    path = name if name.suffix == ".toml" else name.parent / f"{name.name}.toml"
    if str(name).encode(errors="replace").decode() != str(name):
        raise RequestError(f"{str(name)!r} is no UTF-8 text, which a model file is; give another name")
    if name.is_dir() or path.is_dir():
        raise RequestError(f"{name}: is a folder; give a name for the model, e.g. {name / 'satellite'}")
    if path.exists() and not force:
        raise RequestError(f"{path}: exists already; take another name, or --force to write over it")
    from mbdy.engine.model.whole_file import whole_file

    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        file.write(template(path.stem))
    if as_json:
        show_json({"ok": True, "file": path})
        return
    say(f"wrote {path}")
    mbdy, file = program(), quoted(path)
    note(f"next: {mbdy} check {file}")
    note(f"      {mbdy} simulate {file} --until 60 --every 0.1 -o run.csv --report run.html")
    note(f"      {mbdy} fmu {file} -o {quoted(f'{path.stem}.fmu')}")


def template(title: str) -> str:
    """The text of a new model called ``title``."""
    text = (files("mbdy.app") / TEMPLATE).read_text(encoding="utf-8")
    named = text.replace(TITLE, f"name = {json.dumps(title, ensure_ascii=False)}", 1)
    if not title.isprintable():
        return named
    return named.replace("NAME.toml", f"{title}.toml").replace("NAME.fmu", f"{title}.fmu")
