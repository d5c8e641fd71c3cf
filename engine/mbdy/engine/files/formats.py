"""Versions of the model file's format: which are read, and what later ones read otherwise."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase

from mbdy.engine.files.lines import lines_of
from mbdy.engine.model.faults import Fault, shown

FORMAT = 1
"""The newest; files of all before it are read, and mean what they meant."""


@dataclass(frozen=True, slots=True)
class Change:
    """What ``format`` reads otherwise than the one before: keys by a pattern of their ``path`` (``body.*.mass``),
    how it reads them, and how a file says what it says now."""

    format: int
    path: str
    reading: str
    remedy: str


CHANGES: tuple[Change, ...] = ()
"""A format that changes what a key means adds a row; files of earlier ones are read as before."""


def fault_of_format(written: object) -> Fault | None:
    """What is wrong with the format that a file states."""
    if type(written) is not int or written < 1:
        message = f"must be a whole number from 1 to {FORMAT}, got {shown(written)}"
        return Fault("mbdy", message, "give the format version, mbdy = 1")
    if written > FORMAT:
        return Fault("mbdy", f"is {shown(written)}, and this mbdy reads up to {FORMAT}: update", "pip install -U mbdy")
    return None


def read_otherwise(text: str) -> list[Fault]:
    """Keys of the model file ``text`` that later formats than its own read otherwise, each with its line."""
    written = tomllib.loads(text)["mbdy"]
    return [
        Fault(path, f"mbdy = {change.format} reads this otherwise: {change.reading}", change.remedy, line)
        for path, line in lines_of(text).items()
        for change in CHANGES
        if change.format > written and fnmatchcase(path, change.path)
    ]
