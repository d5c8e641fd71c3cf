"""Names of variables picked from a list: exact ones, those without index, and patterns such as ``bus.*``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase

from mbdy.engine.model.faults import OptionError, UnknownNameError, shown

LEFT_OUT = "[ports] of the model file leaves it out, or linear dynamics have no such output"
"""What is said of a variable that the system could have."""

_BRACKETS = str.maketrans("[]", "()")


def matches(name: str, pattern: str) -> bool:
    """Whether the scalar ``name`` is meant by ``pattern``: its own name, that without index, or a pattern."""
    bare = name.partition("[")[0]
    if "[" in pattern:  # the brackets are themselves, not a set of characters
        return fnmatchcase(name.translate(_BRACKETS), pattern.translate(_BRACKETS))
    return pattern in (name, bare) or fnmatchcase(bare, pattern)


def named_by(name: str, patterns: Iterable[str]) -> bool:
    """Whether one of ``patterns`` other than those for all means the variable ``name``."""
    return any(pattern.strip("*?.") and matches(name, pattern) for pattern in patterns)


def places(names: Sequence[str], wanted: Iterable[str], what: str, hidden: Iterable[str] = ()) -> list[int]:
    """Places in ``names`` of all that ``wanted`` means, in its order, each once.

    Raises KeyError for a pattern that matches none, with the nearest names, or saying so where it matches one of
    ``hidden``, names that the model file leaves out; ``what`` says what the names are of.
    """
    result: dict[int, None] = {}
    patterns = [wanted] if isinstance(wanted, str) else list(wanted) if isinstance(wanted, Iterable) else [wanted]
    for pattern in patterns:
        if not isinstance(pattern, str):
            raise OptionError(f"names or patterns of {what}s are needed, got {shown(wanted)}")
        indices = [i for i, name in enumerate(names) if matches(name, pattern)]
        if not indices and any(matches(name, pattern) for name in hidden):
            raise UnknownNameError(f"no {what} matches {pattern!r}: {LEFT_OUT}")
        if not indices:
            near = get_close_matches(pattern, dict.fromkeys(n.partition("[")[0] for n in names), n=3, cutoff=0.5)
            hint = f"nearest: {', '.join(near)}" if near else "use a name, or a pattern such as 'bus.*'"
            raise UnknownNameError(f"no {what} matches {pattern!r}; {hint}")
        result |= dict.fromkeys(indices)
    return list(result)
