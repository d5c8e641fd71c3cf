"""What the commands share: words to the terminal, JSON to machines, faults to exit statuses."""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import shutil
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from mbdy.engine import Fault, Model

RUN_FAULT = 1
"""Exit status: the run went wrong (a fault on the way, an interruption)."""
BAD_INPUT = 2
"""Exit status: a file, an option or a value that cannot be taken."""
INTERRUPTED, TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM
"""Exit status: ended by Ctrl-C, or by SIGTERM, as a shell has them."""

PAGES = (".html", ".htm")
"""How pages are usually called."""
PIPE_WIDTH = 120
"""Columns of tables where no terminal says how wide it is."""
FRACTION = re.compile(r"\s*([\d.]+)\s*/\s*([\d.]+)\s*([^\d\s]*)\s*")

P = ParamSpec("P")


class Terminated(KeyboardInterrupt):
    """SIGTERM: ends what runs as Ctrl-C does, so that nothing is lost."""


class RequestError(Exception):
    """Something a person asked for that cannot be done as asked; the message says what would be right."""


@dataclass(frozen=True)
class Diagnosis:
    """What to say about an exception: exit ``status``, ``lines`` for a person and ``faults`` for a machine."""

    status: int
    lines: tuple[str, ...]
    faults: tuple[dict[str, str], ...] = ()


@dataclass(slots=True)
class Answer:
    """How the running command answers: ``as_json``; with ``data`` on stdout as in a file, and all else on stderr; and
    whether it was ``terminated`` by SIGTERM."""

    as_json: bool = False
    data: bool = False
    terminated: bool = False


answer = Answer()
said_warnings: list[str] = []
"""Warnings told since the running command began."""


def guarded(command: Callable[P, None]) -> Callable[P, None]:
    """``command`` with its faults told in plain words, as JSON too if it was asked for, and as an exit status."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        said_warnings.clear()
        answer.as_json, answer.data = bool(kwargs.get("as_json")), False
        try:
            with _told_warnings():
                command(*args, **kwargs)
            return
        except KeyboardInterrupt as fault:
            diagnosis = Diagnosis(status_of(fault), ("interrupted",))
        except Exception as fault:
            foreseen = _diagnosis(fault)
            if foreseen is None:
                raise
            diagnosis = foreseen
        for line in diagnosis.lines:
            complain(line)
        if kwargs.get("as_json"):
            error = "\n".join(diagnosis.lines)
            show_json({"ok": False, "error": error, "faults": diagnosis.faults, "warnings": said_warnings})
        raise typer.Exit(diagnosis.status)

    return run


def status_of(fault: BaseException | None) -> int:
    """The exit status of a run that ``fault`` ended on its way."""
    if isinstance(fault, KeyboardInterrupt):
        return TERMINATED if isinstance(fault, Terminated) else INTERRUPTED
    return RUN_FAULT


def end_on_terminate() -> None:
    """SIGTERM raises `Terminated` from now on, and SIGHUP (a terminal that goes) where nohup has not kept it off."""

    def end(*_: object) -> None:
        answer.terminated = True
        raise Terminated

    signal.signal(signal.SIGTERM, end)
    if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, end)


def _diagnosis(fault: Exception) -> Diagnosis | None:
    """What is to be said about ``fault``; None for one that nobody foresaw."""
    if isinstance(fault, RequestError):
        return Diagnosis(BAD_INPUT, (str(fault),))
    if isinstance(fault, OSError) and not isinstance(fault, BrokenPipeError):
        gone = "the current folder: " if isinstance(fault, FileNotFoundError) else ""
        place = f"{fault.filename}: " if fault.filename else gone
        asked = isinstance(fault, FileNotFoundError | FileExistsError | PermissionError | NotADirectoryError)
        return Diagnosis(BAD_INPUT if asked else RUN_FAULT, (f"{place}{fault.strerror or fault}",))
    if isinstance(fault, MemoryError):
        return Diagnosis(BAD_INPUT, (f"there is not enough memory for this: {fault}".removesuffix(": "),))
    from mbdy.blocks import SimulationError, StateError
    from mbdy.engine import CompilerError, MbdyError, ModelError, TrimError
    from mbdy.engine.core.build import NoCompilerError

    if isinstance(fault, ModelError):
        return _bad_model(fault.source, fault.faults)
    run = isinstance(fault, SimulationError | StateError | CompilerError | TrimError)
    if isinstance(fault, MbdyError):
        return Diagnosis(RUN_FAULT if run and not isinstance(fault, NoCompilerError) else BAD_INPUT, (str(fault),))
    return None


def _bad_model(source: str, faults: tuple[Fault, ...]) -> Diagnosis:
    lines = [f"{source}: {fault}" for fault in faults]
    if len(faults) > 1:
        lines.append(f"{len(faults)} faults in {source}")
    entries = (
        {"file": source, "line": f.line, "path": f.path, "message": f.message, "remedy": f.remedy} for f in faults
    )
    return Diagnosis(BAD_INPUT, tuple(lines), tuple(entries))


@contextmanager
def _told_warnings() -> Iterator[None]:
    """Warnings of the libraries as one line each on stderr, each once."""

    def tell(message: Warning | str, *_: object, **__: object) -> None:
        text = str(message)
        if text not in said_warnings:
            said_warnings.append(text)
            warn(text)

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = tell  # type: ignore[assignment]
        yield


def load_model(path: Path) -> Model:
    """The model in the file at ``path``; raises what `guarded` tells with status 2."""
    if path.is_dir():
        raise RequestError(f"{path}: is a folder; give the model file in it")
    from mbdy.engine import load

    return load(path)


def seconds(text: str, option: str) -> float:
    """A positive time from an option: a number in s, or text with its unit."""
    from mbdy.engine.model.faults import RefusalError
    from mbdy.engine.model.units import quantity

    try:
        value = quantity(text, "s", bare=True)
    except RefusalError as fault:
        raise RequestError(f"{option}: {_quotient(text) or fault}") from None
    if not 0 < value < math.inf:
        raise RequestError(f"{option}: must be > 0 s and finite, got {text!r}")
    return value


def _quotient(text: str) -> str:
    """What to say of a time such as ``"1/60 s"``; empty for others."""
    try:
        upper, lower, unit = FRACTION.fullmatch(text).groups()  # type: ignore[union-attr]
        return f"{text!r} is not worked out; write the number, '{float(upper) / float(lower):.12g} {unit or 's'}'"
    except (AttributeError, ValueError, ZeroDivisionError):
        return ""


def attributes(thing: object, *names: str) -> dict[str, Any]:
    """What JSON has under the names that ``thing`` has it under."""
    return {name: getattr(thing, name) for name in names}


def counted(count: int, what: str) -> str:
    """``"1 row"``, ``"2 rows"``."""
    return f"{count} {what}" + ("" if count == 1 else "s")


def quoted(path: Path | str) -> str:
    """``path`` as a shell takes it."""
    text = str(path)
    if sys.platform == "win32":
        return f'"{text}"' if " " in text else text
    return shlex.quote(text)


def program() -> str:
    """What a person types to run mbdy again as it runs now: ``mbdy`` where the shell finds this one, else its path."""
    if "UV_RUN_RECURSION_DEPTH" in os.environ:  # on uv's path, not on the person's
        return "uv run mbdy"
    called, on_path = Path(sys.argv[0]), shutil.which("mbdy")
    if called.name == "__main__.py":
        python = shutil.which("python")
        here = python is not None and os.path.abspath(python) == os.path.abspath(sys.executable)
        return f"{'python' if here else quoted(sys.executable)} -m mbdy"
    script = called.stem == "mbdy" and os.path.dirname(called) and called.exists()
    if not script or (on_path and os.path.samefile(on_path, called)):
        return "mbdy"
    return quoted(called)


def terminal(*, stderr: bool = False) -> Console:
    """The terminal as rich sees it now; wide enough for tables where there is none."""
    from rich.console import Console

    console = Console(stderr=stderr or answer.data, highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = max(console.width, PIPE_WIDTH)
    return console


def complain(text: str) -> None:
    """One fault on stderr, unbroken so that it can be searched."""
    _line("error", typer.colors.RED, text)


def warn(text: str) -> None:
    """One warning on stderr."""
    _line("warning", typer.colors.YELLOW, text)


def note(text: str) -> None:
    """A remark on stderr."""
    typer.echo(_shown(text), err=True)


def say(text: str) -> None:
    """A line of an answer on stdout."""
    typer.echo(_shown(text), err=answer.data)


def _line(sort: str, colour: str, text: str) -> None:
    typer.echo(f"{typer.style(sort, fg=colour, bold=True)}: {_shown(text, lines=True)}", err=True)


def _shown(text: str, *, lines: bool = False) -> str:
    """``text`` without letters that would act on the terminal; ``lines``: there may be several, as of a compiler."""
    if text.isprintable():
        return text
    from mbdy.engine.model.text import LINES, visible

    return visible(text, LINES if lines else "")


def show_json(data: object) -> None:
    """``data`` on stdout as JSON; see `as_json`."""
    typer.echo(as_json(data))


def as_json(data: object) -> str:
    """``data`` as JSON in ASCII; numbers that JSON does not know are null."""
    return json.dumps(_plain(data), indent=2, allow_nan=False)


def _plain(data: Any) -> Any:
    if isinstance(data, dict):
        return {str(key): _plain(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_plain(value) for value in data]
    if isinstance(data, Path):
        return str(data)
    if isinstance(data, float) and not math.isfinite(data):
        return None
    return data


def version() -> str:
    """mbdy's version; ``0`` in a source tree that was never installed."""
    from importlib import metadata

    try:
        return metadata.version("mbdy")
    except metadata.PackageNotFoundError:
        return "0"


def tolerant_streams() -> None:
    """A letter that the terminal cannot show becomes a question mark, not an error."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
