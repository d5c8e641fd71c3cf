"""What a file holds, read once: its bytes, its text, the rows of its table; each fault has the file's name."""

from __future__ import annotations

import csv
import hashlib
import io
import math
import struct
import sys
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path

from mbdy.engine.model.faults import RefusalError
from mbdy.engine.model.whole_file import file_path

MOST_BYTES = 1 << 32
"""No file of data is larger, nor any array in it."""
PIECE = 1 << 20
STANDARD_INPUT = ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
"""Names of what this process is given to read, on every system."""
MOST_LETTERS, MOST_REASON = 200, 300
"""Of a column's name; of what another program's parser says."""
AGAIN = "write the file again"
BROKEN = (
    ValueError, TypeError, LookupError, ArithmeticError, AttributeError, EOFError, OSError, RuntimeError, SyntaxError,
    AssertionError, tokenize.TokenError, struct.error, zipfile.BadZipFile, zlib.error,
)  # fmt: skip
"""What parsers raise for files that are cut, damaged or something else; RecursionError is a RuntimeError."""


class FileError(RefusalError):
    """A file that cannot be taken: ``path``, ``reason``, ``remedy`` and the ``line`` where it was found."""

    def __init__(self, path: str | PathLike[str], reason: str, remedy: str = "", line: int | None = None) -> None:
        super().__init__(f"{fspath(path)}{f', line {line}' if line else ''}: {reason}", remedy)
        self.args = (path, reason, remedy, line)
        self.path, self.reason, self.line = path, reason, line


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that was read: its ``path`` as it was named, the ``sha256`` of the very bytes that were used, and the
    ``place`` where they were."""

    path: str
    sha256: str
    place: str

    def facts(self) -> dict[str, str]:
        """The same as plain data."""
        return {"file": self.path, "sha256": self.sha256}


_recorded: ContextVar[dict[str, bytes] | None] = ContextVar("recorded", default=None)


@contextmanager
def recorded() -> Iterator[None]:
    """Within the block each file is read once: who asks for its `contents` again gets the bytes of the first time.

    A block within another is part of it.
    """
    if _recorded.get() is not None:
        yield
        return
    token = _recorded.set({})
    try:
        yield
    finally:
        _recorded.reset(token)


def source_files(folder: str | PathLike[str] = "") -> tuple[SourceFile, ...]:
    """The files read since `recorded` began, in that order; those inside ``folder`` by their path from there."""
    files = []
    for place, data in (_recorded.get() or {}).items():
        inside = Path(place).is_relative_to(folder)
        path = Path(place).relative_to(folder).as_posix() if inside else place
        files.append(SourceFile(path, hashlib.sha256(data).hexdigest(), place))
    return tuple(files)


def is_standard_input(path: str | PathLike[str]) -> bool:
    """Whether ``path`` is what this process is given to read."""
    return Path(path).as_posix() in STANDARD_INPUT


def contents(path: str | PathLike[str], most: int = MOST_BYTES) -> bytes:
    """The bytes of the file at ``path``, ``most`` of them, or of standard input.

    Raises OSError, `OptionError` for what is no path, and FileError for a longer one.
    """
    known, name = _recorded.get(), file_path(path)
    if known is not None and name in known:
        return known[name]
    data = _read(path, most)
    if known is not None:
        known[name] = data
    return data


def _read(path: str | PathLike[str], most: int) -> bytes:
    parts, size = [], 0
    standard = is_standard_input(path) and hasattr(sys.stdin, "buffer")
    with nullcontext(sys.stdin.buffer) if standard else open(path, "rb") as file:
        while piece := file.read(PIECE):
            parts.append(piece)
            if (size := size + len(piece)) > most:
                raise FileError(path, f"is larger than {readable(most)}, the most that is read of such a file")
    return b"".join(parts)


def text_of(data: bytes, path: str | PathLike[str], *, foreign: bool = False) -> str:
    """``data`` of the file at ``path`` as UTF-8 text; of a ``foreign`` one other letters become question marks.

    Raises FileError naming the line where it is other text.
    """
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise FileError(path, "is UTF-16 text", "save it as UTF-8")
    try:
        return data.decode("utf-8-sig", errors="replace" if foreign else "strict")
    except UnicodeDecodeError as fault:
        line = data.count(b"\n", 0, fault.start) + 1
        reason = f"is not UTF-8 text: byte {data[fault.start]:#04x} at offset {fault.start}"
        raise FileError(path, reason, "save it as UTF-8", line) from None


def table_of(data: bytes, path: str | PathLike[str]) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The header of a CSV table and its rows, each with its line, blank ones left out.

    Raises FileError naming the line: other text than CSV, no header, a column named twice, other separators.
    """
    reader = csv.reader(io.StringIO(text_of(data, path), newline=""))
    try:
        rows = [(reader.line_num, row) for row in reader if row]
    except csv.Error as fault:
        raise FileError(path, f"is no CSV table: {fault}", line=reader.line_num) from None
    if not rows:
        raise FileError(path, "is empty", "its first line names the columns")
    line, first = rows[0]
    for sign, name in ((";", "semicolons"), ("\t", "tabs")):
        if len(first) == 1 and sign in first[0]:
            remedy = "part them by commas, and write numbers with a point"
            raise FileError(path, f"its columns are parted by {name}", remedy, line)
    header = [name.strip() for name in first]
    for name in header:
        if len(name) > MOST_LETTERS:
            raise FileError(path, f"the name of a column has {len(name)} letters", "check the commas", line)
        if header.count(name) > 1:
            raise FileError(path, f"a column is named twice: {name[:60]!r}", line=line)
    return header, rows[1:]


def number_in(text: str, place: str) -> float:
    """The finite number that ``text`` spells. Raises RefusalError, which begins with ``place``."""
    try:
        number = float(text.replace("_", "?"))
    except ValueError:
        remedy = f"write it with a point, {text.strip().replace(',', '.')}" if text.count(",") == 1 else ""
        raise RefusalError(f"{place}: {text[:60]!r} is no number", remedy) from None
    if not math.isfinite(number):
        raise RefusalError(f"{place}: must be finite, got {text.strip()}")
    return number


@contextmanager
def reading(path: str | PathLike[str], sort: str) -> Iterator[None]:
    """Faults of parsing the file at ``path``, which should hold a ``sort`` ("matrix"), as a FileError that names it."""
    try:
        yield
    except FileError:
        raise
    except MemoryError:
        raise FileError(path, f"holds a {sort} that does not fit into memory") from None
    except RefusalError as fault:
        if fault.message.startswith(fspath(path)):  # it names the file and the line already
            raise
        raise FileError(path, fault.message, fault.remedy or AGAIN) from None
    except BROKEN as fault:
        reason = " ".join(str(fault).split())[:MOST_REASON] or type(fault).__name__
        raise FileError(path, f"holds no {sort}, or not all of it: {reason}", AGAIN) from None


def readable(size: int) -> str:
    """``4294967296`` as ``4 GiB``."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            break
        size //= 1024
    return f"{size} {unit}"
