"""Frequent slips in TOML, and what would be right: values as other languages, or people, write them."""

from __future__ import annotations

import re
from collections.abc import Callable

SHORT = 100
"""Letters of what is a slip, not something else."""
_UNIT = r"([^\W\d_][\w/*^·.²³°]*|[°%][\w]*)"
_NUMBER = r"(?<![\"'\w.])(?<!\d )([+-]?)[ \t]*(?=[.\d])(\d*)(?:(\.)(\d*))?(?:[eEdD]([+-]?\d+))?"
_WORDS = {
    "true": "true", "yes": "true", "on": "true", "false": "false", "no": "false", "off": "false", "nan": "nan",
    "inf": "inf", "infinity": "inf",
}  # fmt: skip
_BACKSLASH = "in double quotes a backslash is written twice; single quotes take it as it is"
_NOTHING = ("none", "null", "nil")


def _number(match: re.Match[str]) -> str:
    sign, whole, point, part, power, unit = match.groups()
    number = f"{sign}{whole.lstrip('0') or '0'}{f'.{part or 0}' if point else ''}{f'e{power}' if power else ''}"
    if unit:
        return f'a value with its unit is text: write "{number} {unit}"'
    return "" if number == match[0].strip() else f"write {number}"


def _decimal_comma(match: re.Match[str]) -> str:
    number, unit = f"{match[1]}.{match[2]}", match[3]
    return "a decimal point is needed: write " + (f'"{number} {unit}"' if unit else number)


def _word(match: re.Match[str]) -> str:
    word = match[1]
    if word.lower() in _NOTHING:
        return "leave the key out where it has no value"
    return f"write {_WORDS[word.lower()]}" if word.lower() in _WORDS else f'text stands in quotes: write "{word}"'


_SLIPS: tuple[tuple[str, str, Callable[[re.Match[str]], str]], ...] = (
    ("", r"(?<==)[ \t]*([+-]?\d+),(\d+)[ \t]*" + f"{_UNIT}?", _decimal_comma),
    ("", r"\d[ \t]*/[ \t]*\d+", lambda _: "quotients are not worked out: write the number"),
    ("", _NUMBER + r"[ \t]*" + f"{_UNIT}?", _number),
    ("Invalid value", r"(?<=[=\[,])[ \t]*([^\W\d][\w./-]*)", _word),
    ("Invalid value", r"=[ \t]*(?:#.*)?$", lambda _: "give the key a value, or leave it out"),
    ("", r"^[ \t]*(?://|;|%|--)", lambda _: "a comment begins with #"),
    ("Expected '='", r"[\w.-]+[ \t]*:?", lambda _: "write = between a key and its value"),
    ("", r",[ \t]*\}", lambda _: "take out the comma before the }"),
    ("Illegal character '\\n'", "", lambda _: "a text ends on its line, with the quote that it begins with"),
    ("Unterminated string", "", lambda _: "a text ends with the quote that it begins with"),
    ("Unclosed inline table", "", lambda _: "a table in braces stands on one line, its values apart by commas"),
    ("Unclosed array", "", lambda _: "a list ends with ], its values apart by commas"),
    ("Expected ']'", "", lambda _: "the name of a table stands in brackets, such as [body.bus]"),
    ("hex value", "", lambda _: _BACKSLASH),
    ("Unescaped '\\'", "", lambda _: _BACKSLASH),
    ("twice", "", lambda _: "a table stands once in a file: put the two together"),
    ("Cannot overwrite", "", lambda _: "a key stands once in its table: take one out"),
    ("", "", lambda _: "see https://toml.io for the syntax"),
)
"""A part of `tomllib`'s error, what stands where it is (anything, if empty), and the remedy, empty for no slip."""


def remedy(text: str, error: str) -> str:
    """What to do about an ``error`` of `tomllib` in the ``text`` of a file."""
    place = re.search(r"line (\d+), column (\d+)", error)
    line, column = (text.split("\n")[int(place[1]) - 1], int(place[2])) if place else ("", 0)
    return next(
        told
        for part, pattern, right in _SLIPS if part in error
        for match in re.finditer(pattern, line)
        if not pattern or (len(match[0]) < SHORT and match.start() < column <= match.end() + 1)
        if (told := right(match))
    )  # fmt: skip
