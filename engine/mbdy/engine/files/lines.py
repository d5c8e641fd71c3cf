"""Lines of a model file by the path of what stands there, for its faults: `tomllib` gives values without their places.

The text is TOML that `tomllib` has taken, so that a scan of keys, brackets and quotes is enough.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from mbdy.engine.model.faults import Fault, path_of

Steps = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[\s,]|#[^\n]*)*")
_TEXT = re.compile(r"'''.*?'''+|\"\"\"(?:\\.|.)*?\"\"\"+|'[^'\n]*'|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
_PLAIN = re.compile(r"[^\s,\]}#]+(?: \d[^\s,\]}#]*)?")
_KEY = re.compile(r"[ \t]*(?:([A-Za-z0-9_-]+)|(" + _TEXT.pattern + r"))[ \t]*(\.|=|\])?", re.DOTALL)


def with_lines(faults: Sequence[Fault], text: str) -> list[Fault]:
    """``faults`` found in the file of this ``text``, in the order of its lines: each has that of its path, or of what
    is nearest to it; those of the whole file come first."""
    lines = lines_of(text)
    placed = [replace(fault, line=_nearest(fault.path, lines)) for fault in faults]
    return sorted(placed, key=lambda fault: fault.line or 0)


def with_lines_of(source: str, faults: Sequence[Fault]) -> list[Fault]:
    """``faults`` of a model from the file ``source``, as `with_lines` has them if that file can still be read."""
    try:
        return with_lines(faults, Path(source).read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, LookupError, AssertionError):  # no file, or no model file any more
        return list(faults)


def lines_of(text: str) -> dict[str, int]:
    """The line, from 1, of each key, table and entry of a list of ``text``, by path (``body.bus.com[1]``)."""
    return _Scan(text).lines


def _nearest(path: str, lines: dict[str, int]) -> int | None:
    """The line of ``path``, or of the innermost of what holds it."""
    while path and path not in lines:
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return lines.get(path)


class _Scan:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.lines: dict[str, int] = {}
        self._begins = [0, *(match.end() for match in re.finditer("\n", text))]
        table: Steps = ()
        while not self._ended():
            if self.text[self.at] == "[":
                self.at += 1 + self.text.startswith("[[", self.at)
                table = self._key(())
                self.at = self.text.index("]", self.at - 1) + 1
                self.at += self.text.startswith("]", self.at)
            else:
                self._pair(table)

    def _ended(self) -> bool:
        """Past blanks, commas and comments; whether nothing is left."""
        match = _BLANK.match(self.text, self.at)
        assert match
        self.at = match.end()
        return self.at >= len(self.text)

    def _mark(self, path: Steps) -> None:
        self.lines.setdefault(path_of(path), bisect_right(self._begins, self.at))

    def _key(self, path: Steps) -> Steps:
        """``path`` with the names of a dotted key; all that it passes stand on this line."""
        more = True
        while more:
            match = _KEY.match(self.text, self.at)
            assert match
            bare, quoted, after = match.groups()
            path = (*path, bare or tomllib.loads(f"key = {quoted}")["key"])
            self._mark(path)
            self.at, more = match.end(), after == "."
        return path

    def _pair(self, table: Steps) -> None:
        path = self._key(table)
        self._value(path)

    def _value(self, path: Steps) -> None:
        self._ended()
        opened = self.text[self.at]
        if opened in "[{":
            self.at += 1
            count = 0
            while not self._ended() and self.text[self.at] not in "]}":
                if opened == "{":
                    self._pair(path)
                else:
                    self._mark((*path, count))
                    self._value((*path, count))
                    count += 1
            self.at += 1
            return
        match = _TEXT.match(self.text, self.at) or _PLAIN.match(self.text, self.at)
        self.at = match.end() if match else len(self.text)
