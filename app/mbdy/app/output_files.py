"""Files that commands write: where they go, what they must not be, and standard output in their place."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mbdy.app.common import RequestError, answer

if TYPE_CHECKING:
    from mbdy.engine import Model

STREAM = "-"
"""How a person names standard input and standard output."""


def output_file(text: str) -> Path:
    """The path of an option that names a file to write."""
    return Path("/dev/stdout" if text == STREAM else text)


def input_file(text: str) -> Path:
    """The path of an argument that names a file to read."""
    return Path("/dev/stdin" if text == STREAM else text)


def read_for(model: Model) -> list[Path]:
    """The files that were read for ``model``."""
    return [Path(source.place) for source in model.files]


def written(model: Path, output: Path | None, ending: str, *, sources: Iterable[Path | None] = ()) -> Path:
    """The file that a command writes: ``output``, or that of the model's name with ``ending`` in the current folder."""
    from mbdy.engine.model.whole_file import same

    path = output or Path(model.with_suffix(ending).name)
    if output is None and same(path, model):
        raise RequestError(f"{model}: is the model file, which {path} would be written over; name another with -o")
    return file_name(path, "-o", sources=(model, *sources))


def file_name(path: Path, option: str, *, sources: Iterable[Path | None] = ()) -> Path:
    """``path`` as the name of a file of its own, not a folder and none of ``sources``; nothing is made.

    Where it is standard output, all else that the command says goes to stderr from now on.
    """
    from mbdy.engine.model.whole_file import STANDARD_OUTPUT, same

    if os.path.isdir(path):
        raise RequestError(f"{option}: {path} is a folder; give a file name")
    if any(source is not None and same(path, source) for source in sources):
        raise RequestError(f"{option}: {path} is named for something else already; give another file name")
    if path.as_posix() in STANDARD_OUTPUT:
        if answer.as_json:
            raise RequestError(f"{option}: {path} has the answer of --json; give a file name")
        answer.data = True
    return path


def target(path: Path, option: str, *, sources: Iterable[Path | None] = ()) -> Path:
    """``path`` as a file that can be written, before the work begins whose fruit it takes; makes its folder."""
    from mbdy.engine.model.whole_file import probe

    file_name(path, option, sources=sources)
    try:
        probe(path)
    except OSError as fault:
        raise RequestError(f"{option}: {path} cannot be written: {fault.strerror or fault}") from None
    return path


@contextmanager
def filled(path: Path, ending: str) -> Iterator[Path]:
    """Where to write what goes to ``path``: there, or for a stream in a file with this ``ending``, sent when whole."""
    from mbdy.engine.model.whole_file import is_stream, whole_file

    if not is_stream(path):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="mbdy-") as folder:
        part = Path(folder) / f"output{ending}"
        yield part
        with whole_file(path, binary=True) as stream, part.open("rb") as file:
            shutil.copyfileobj(file, stream)
