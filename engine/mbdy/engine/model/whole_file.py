"""Files that are written whole: beside their place, and moved there when all is in them; and streams, which are not."""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, Any

from mbdy.engine.model.faults import OptionError, RefusalError, WriteError, shown

PART = ".mbdy-"
"""How the names of files begin that are not whole yet."""
STANDARD_OUTPUT = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
"""Names of what this process says, on every system."""


@contextmanager
def whole_file(path: str | os.PathLike[str], *, binary: bool = False, keep: bool = False) -> Iterator[IO[Any]]:
    """A file to write, UTF-8 or ``binary``, that is at ``path`` once the block has ended well.

    Until then, and after any fault, ``path`` is as it was. Links are followed, to a file that is not there yet too, and
    keep pointing to it; a stream (`is_stream`) is written straight. ``keep``: a fault leaves PATH.part, which one
    process alone writes (not on Windows).

    Raises as `writing`.
    """
    kind: dict[str, Any] = {"mode": "wb"} if binary else {"mode": "w", "encoding": "utf-8", "newline": "\n"}
    part: Path | None = None
    with writing(path):
        try:
            if is_stream(path):
                with _stream(path, kind) as straight:
                    yield straight
                return
            target = Path(os.path.realpath(path))
            if keep:
                part = Path(f"{target}.part")
                handle = _alone(part)
            else:
                handle, name = tempfile.mkstemp(dir=target.parent, prefix=PART, suffix=".part")
                part = Path(name)
            with os.fdopen(handle, **kind) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            part.chmod(stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o666 & ~_umask())
            part.replace(target)
        finally:
            if part and not keep:
                part.unlink(missing_ok=True)


def _alone(part: Path) -> int:
    """An empty file, open and locked; OSError where another process writes it."""
    import fcntl

    handle = os.open(part, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not (part.exists() and os.path.samestat(os.fstat(handle), part.stat())):
            raise BlockingIOError  # it has just been moved into place
    except BlockingIOError:
        os.close(handle)
        raise OSError(errno.EBUSY, "another process writes it; take another name", str(part)) from None
    os.ftruncate(handle, 0)
    return handle


@contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Within the block what the system says against writing ``path`` is a `WriteError` that names it.

    Raises `OptionError` for what is no path.
    """
    file_path(path)
    try:
        yield
    except WriteError:
        raise
    except OSError as fault:
        kind = type(fault)
        fits = WriteError if kind is OSError else type(WriteError.__name__, (WriteError, kind), {})
        own = fault.filename is None or Path(fault.filename).name.startswith(PART)
        raise fits(fault.errno, fault.strerror or str(fault), str(path) if own else str(fault.filename)) from None


def file_path(path: object) -> str:
    """``path`` as text. Raises `OptionError` for what is none: numbers, which `open` takes for open files, too."""
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else path
    if not isinstance(text, str) or "\0" in text:
        raise OptionError(f"path: the path of a file is needed, got {shown(path)}")
    return text


def same(path: Path, other: Path) -> bool:
    """Also by another name of the same file: a link, or other letters where a system does not tell them apart."""
    if path.exists() and other.exists():
        return path.samefile(other)
    return os.path.realpath(path).casefold() == os.path.realpath(other).casefold()


def not_over(path: str | os.PathLike[str], sources: Iterable[str | os.PathLike[str]]) -> None:
    """Refuses to write over a file that was read for a model, with `RefusalError`."""
    path = file_path(path)
    if any(same(Path(path), Path(source)) for source in sources):
        raise RefusalError(f"{path} was read for this model and would be written over", "give another file name")


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether what is written to ``path`` goes on at once: into standard output, a pipe, a device."""
    if Path(path).as_posix() in STANDARD_OUTPUT:
        return True
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def probe(path: str | os.PathLike[str]) -> None:
    """See that `whole_file` can write at ``path``, whose folder is made; else nothing is left there.

    Raises OSError: a folder or file that cannot be written, a name that is too long, links in a circle.
    """
    if is_stream(path):
        return
    with suppress(FileNotFoundError, NotADirectoryError):
        os.stat(path)  # which refuses links in a circle
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        with target.open("ab"):
            pass
    with suppress(FileNotFoundError):
        target.lstat()  # which refuses a name that is too long
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=PART):
        pass


def _stream(path: str | os.PathLike[str], kind: dict[str, Any]) -> Any:
    """The open stream; standard output by its handle, of which nothing unwritten is left for the end of the process."""
    if Path(path).as_posix() not in STANDARD_OUTPUT:
        return open(path, **kind)
    sys.stdout.flush()
    try:
        return open(sys.stdout.fileno(), closefd=False, **kind)
    except io.UnsupportedOperation:  # it is kept in this process, as in a notebook
        return nullcontext(sys.stdout.buffer if kind["mode"] == "wb" else sys.stdout)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
