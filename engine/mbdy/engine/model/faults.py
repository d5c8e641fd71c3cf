"""What is wrong with a model: faults that name their place and the remedy, and how they are gathered."""

from __future__ import annotations

import errno
import json
import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from mbdy.engine.model.text import told, visible

MOST_NAMES = 16
"""A remedy lists no more known names than this."""

OTHER_WORDS = {
    "ball": "spherical", "hinge": "revolute", "pin": "revolute", "slider": "prismatic", "slide": "prismatic",
    "weld": "fixed", "welded": "fixed", "rigid": "fixed", "6dof": "free", "floating": "free",
    "parent": "to", "type": "kind", "position": "at", "location": "at", "orientation": "frame",
    "spring": "stiffness", "damper": "damping", "cm": "com", "cog": "com", "moi": "inertia",
}  # fmt: skip
"""What other tools call kinds of joints and keys of the file, to what they are called here."""


MADE_IN_PYTHON = "<model made in Python>"
"""What stands for the file of a model that comes from none."""

WRITE_REMEDIES = {
    errno.ENOENT: "make its folder first, or check the name",
    errno.ENOTDIR: "make its folder first, or check the name",
    errno.EISDIR: "give a name in that folder",
    errno.ENOSPC: "make room and write it again",
    errno.EDQUOT: "make room and write it again",
    errno.EFBIG: "make room and write it again",
    errno.ENAMETOOLONG: "give a shorter name",
}
"""What to do about a file that cannot be written, by the system's reason."""

BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
"""A key that TOML takes without quotes."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong: its ``path`` in the file (``body.panel.mass``), what is wrong, what would be right; and the
    ``line`` of the path, or of what is nearest to it."""

    path: str
    message: str
    remedy: str = ""
    line: int | None = None

    def __str__(self) -> str:
        place = f"line {self.line}: " if self.line else ""
        place += f"{self.path}: " if self.path else ""
        return told(f"{place}{self.message}" + (f"; {self.remedy}" if self.remedy else ""))


class MbdyError(Exception):
    """What all errors of mbdy are; each is also the built-in one that fits it (ValueError, KeyError, ...)."""

    def __str__(self) -> str:
        return told(super().__str__())


class MbdyWarning(UserWarning):
    """What all warnings of mbdy are."""

    def __str__(self) -> str:
        return told(super().__str__())


class UnknownNameError(MbdyError, KeyError, IndexError):
    """A name or a place that nothing has; the message has the nearest names."""

    def __str__(self) -> str:
        return told(str(self.args[0]))


class OptionError(MbdyError, ValueError, TypeError):
    """An argument that cannot be taken, or not together with others."""


class MissingPackageError(MbdyError, ImportError):
    """A package of an extra that is not installed; the message has the extra."""


class WriteError(MbdyError, OSError):
    """A file that cannot be written; also the built-in error of the reason (FileNotFoundError, PermissionError, ...),
    with its ``errno``, ``strerror`` and ``filename``."""

    def __str__(self) -> str:
        remedy = WRITE_REMEDIES.get(self.errno or 0, "give another file name")
        return visible(f"{self.filename}: cannot be written: {self.strerror}; {remedy}")


class RefusalError(MbdyError, ValueError):
    """A value that cannot be taken: a `Fault` that does not know its path yet, but maybe its place ``at`` in it."""

    def __init__(self, message: str, remedy: str = "", at: str = "") -> None:
        super().__init__(message, remedy, at)
        self.message = message
        self.remedy = remedy
        self.at = at

    def __str__(self) -> str:
        return str(Fault("", self.message, self.remedy))


class ModelError(MbdyError):
    """A model file that cannot be taken: ``source`` is the file, ``faults`` everything found in it."""

    def __init__(self, source: str, faults: Iterable[Fault]) -> None:
        self.source = source
        self.faults = tuple(faults)
        super().__init__(source, self.faults)

    def __str__(self) -> str:
        return "\n".join(f"{visible(self.source)}: {fault}" for fault in self.faults)


class PartError(RefusalError, ModelError):
    """A part of a model made in Python with values that it cannot have; its faults name them (``Body.mass``)."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        ModelError.__init__(self, MADE_IN_PYTHON, faults)
        self.args = (self.faults,)
        self.message, self.remedy, self.at = "\n".join(map(str, self.faults)), "", ""

    def __str__(self) -> str:
        return self.message


class ModelWarning(MbdyWarning):
    """Something in a model that is taken as it stands but is worth a second look."""


def warn(text: str) -> None:
    """Warn with a `ModelWarning` where a model is made; a file that is read says where in it."""
    warnings.warn(text, ModelWarning, stacklevel=3)


@dataclass(slots=True)
class Findings:
    """Faults and warnings gathered while a model is read, so that all can be told at once."""

    faults: list[Fault] = field(default_factory=list)
    warnings: list[Fault] = field(default_factory=list)

    def refuse(self, path: str, message: str, remedy: str = "") -> None:
        """Add a fault."""
        self.faults.append(Fault(path, message, remedy))

    def warn(self, path: str, message: str, remedy: str = "") -> None:
        """Add a warning."""
        self.warnings.append(Fault(path, message, remedy))

    def attempt(self, path: str, function: Callable[..., Any], *arguments: object, instead: Any = None) -> Any:
        """``function(*arguments)``, or ``instead`` where it raises a `RefusalError`, a fault at ``path`` then."""
        try:
            return function(*arguments)
        except RefusalError as refusal:
            self.refuse(path + refusal.at, refusal.message, refusal.remedy)
            return instead

    def faulty(self, path: str) -> bool:
        """Whether a fault lies at ``path`` or inside it."""
        inside = (f"{path}.", f"{path}[")
        return any(fault.path == path or fault.path.startswith(inside) for fault in self.faults)


def nearest(name: str, known: Iterable[str]) -> str:
    """A remedy for an unknown ``name``: the nearest ``known`` one, or all of them where none is near."""
    by_lower = {k.lower(): k for k in known}
    if (word := OTHER_WORDS.get(name.lower())) in by_lower:
        return f"here it is called '{word}'"
    if near := get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6):
        return f"the nearest known is '{by_lower[near[0]]}'"
    names = list(by_lower.values())
    if not names:
        return "none is known here"
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"known: {', '.join(names[:MOST_NAMES])}{more}"


def shown(value: object) -> str:
    """``value`` as a message shows it: as in the file, and short."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "a table"
    try:
        text = " ".join(repr(value).split())
    except Exception as fault:  # an integer of too many digits, or whatever a foreign type raises
        return f"a {type(value).__name__} ({fault})"
    return text if len(text) <= 60 else text[:57] + "..."


def path_of(loc: tuple[str | int, ...]) -> str:
    """``("body", "bus", "com", 0)`` as ``body.bus.com[1]``; keys that TOML would quote are quoted."""
    path = ""
    for step in loc:
        if isinstance(step, int):
            path += f"[{step + 1}]"
        else:
            path += ("." if path else "") + (step if BARE_KEY.fullmatch(step) else json.dumps(step, ensure_ascii=False))
    return path
