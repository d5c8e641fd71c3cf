"""Faults on purpose as a command line has them: ``freeze bus.omega at=1s until=2s``."""

from __future__ import annotations

import re
import shlex
from dataclasses import MISSING, fields

from mbdy.app.common import RequestError
from mbdy.blocks import rig
from mbdy.blocks.rig import RigFault

KINDS = {
    re.sub(r"(?<!^)([A-Z])", r"-\1", name).lower(): kind
    for name in rig.__all__
    if isinstance(kind := getattr(rig, name), type) and issubclass(kind, RigFault) and kind is not RigFault
}
"""Kinds of fault by name: ``freeze``, ``drop-packets``, ..."""


def fault(text: str) -> RigFault:
    """The fault that ``text`` says: its kind, what it is of, and the rest as ``key=value``. Raises `RequestError`."""
    try:
        name, *words = shlex.split(text)
        kind = KINDS[name]
    except (ValueError, KeyError):
        raise RequestError(f"--fault {text!r}: begin with one of {', '.join(KINDS)}") from None
    keys = [f.name for f in fields(kind) if f.init]
    of = next(key for key in keys if key not in ("at", "until"))
    given = {key: value for key, sign, value in (word.partition("=") for word in words[1:]) if sign}
    unknown = [word for word in words[1:] if word.partition("=")[0] not in keys or "=" not in word]
    if not words or unknown:
        known = ", ".join(f"{key}=..." for key in keys if key != of)
        raise RequestError(f"--fault {text!r}: write {name} {of.upper()}, then any of {known}")
    missing = [f"{f.name}=..." for f in fields(kind) if f.default is MISSING and f.name not in (of, *given)]
    if missing:
        raise RequestError(f"--fault {text!r}: lacks {', '.join(missing)}")
    return kind(**{of: words[0]}, **{key: _number(value) for key, value in given.items()})


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
