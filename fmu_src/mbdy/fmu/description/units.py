"""Units of ports as FMI wants them: exponents of the SI base units, and display units with their factors."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mbdy.engine.model.faults import RefusalError

BASE = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")
DERIVED: Mapping[str, Mapping[str, int]] = {
    "N": {"kg": 1, "m": 1, "s": -2},
    "J": {"kg": 1, "m": 2, "s": -2},
    "W": {"kg": 1, "m": 2, "s": -3},
    "Pa": {"kg": 1, "m": -1, "s": -2},
    "Hz": {"s": -1},
}
DISPLAY: Mapping[str, Mapping[str, float]] = {
    "rad": {"deg": 180.0 / math.pi},
    "rad/s": {"deg/s": 180.0 / math.pi, "rpm": 30.0 / math.pi},
}
"""How many of each display unit make one unit."""

_TOKEN = re.compile(r"(?P<symbol>[A-Za-z]+|1)(?P<power>-?\d+)?")


@dataclass(frozen=True)
class Unit:
    """A unit by name, the exponents of its base units in FMI's order, and its display units."""

    name: str
    exponents: Mapping[str, int]
    display: Mapping[str, float]


def unit(name: str) -> Unit:
    """The unit spelled ``name`` in FMI's way: ``kg.m2``, ``N.m.s/rad``, ``1``.

    Raises ValueError for a symbol that is no SI unit.
    """
    powers: Counter[str] = Counter()
    for part, text in enumerate(name.split("/")):
        sign = -1 if part else 1
        for factor in text.split("."):
            match = _TOKEN.fullmatch(factor)
            if match is None or (match["symbol"] not in (*BASE, *DERIVED, "1")):
                raise RefusalError(f"unit {name!r}: {factor!r} is no SI unit; write it as in 'N.m/rad' or 'kg.m2'")
            if match["symbol"] == "1":
                continue
            for base, power in DERIVED.get(match["symbol"], {match["symbol"]: 1}).items():
                powers[base] += sign * power * int(match["power"] or 1)
    return Unit(name, {base: powers[base] for base in BASE if powers[base]}, DISPLAY.get(name, {}))


def units(names: Iterable[str]) -> tuple[Unit, ...]:
    """Each unit of ``names`` once, in the order of first use; a variable without a unit has none."""
    return tuple(unit(name) for name in dict.fromkeys(names) if name)


def rate_unit(name: str) -> str:
    """Unit of the derivative of what is in ``name``: ``m/s2`` for ``m/s``, ``N.m`` for ``N.m.s``, ``1/s`` for ``1``.

    Raises ValueError for a unit that it cannot spell.
    """
    above, _, below = name.partition("/")
    factors = above.split(".")
    if "s" in factors and len(factors) > 1:
        factors.remove("s")
        return "/".join(filter(None, (".".join(factors), below)))
    rated = f"{above}/s2" if below == "s" else f"{above}/s" if not below else ""
    if not rated:
        raise RefusalError(f"unit {name!r}: its derivative's unit cannot be spelled; write it as in 'm/s' or 'N.m.s'")
    return rated
