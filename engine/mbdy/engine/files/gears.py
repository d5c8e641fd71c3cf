"""Spellings of gears: ``terms`` with their sum, or a ``driver``, a ``follower`` and their ``ratio``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mbdy.engine.files.tables import GearTable
from mbdy.engine.model.faults import Findings, path_of, shown
from mbdy.engine.model.fields import TimeConstant
from mbdy.engine.model.gear import COORDINATE, TERMS, TIES, Freedom, Gear, check_gear, freedom_of, holds_nothing
from mbdy.engine.model.parts import taking
from mbdy.engine.model.system import Body
from mbdy.engine.model.tree_rules import check_name
from mbdy.engine.model.units import odd_angle, quantity

TIME_CONSTANT = 0.1
"""[s] Where the file gives none."""
PAIR = ("driver", "follower", "ratio")


def gear_of(
    name: str, table: GearTable, bodies: Mapping[str, Body], unread: set[str], findings: Findings
) -> Gear | None:
    """The gear that ``table`` spells; None where there are faults, which go to ``findings``.

    ``unread`` are bodies of the file that could not be read; a gear on them is passed over.
    """
    path, before = path_of(("gear", name)), len(findings.faults)
    sound = not findings.faulty(path)
    check_name(name, path, findings)
    constant = TIME_CONSTANT
    if table.time_constant is not None:
        constant = findings.attempt(f"{path}.time_constant", taking(TimeConstant), table.time_constant)
    if not table.closed and not table.switchable and not findings.faulty(f"{path}.switchable"):
        remedy = "add switchable = true, or remove the gear"
        findings.refuse(f"{path}.closed", "is false, and nothing can ever close the gear", remedy)
    spelled = _pair(table, path, findings) if set(PAIR) & table.model_fields_set else _terms(table, path, findings)
    if any(
        isinstance(one, str) and (match := COORDINATE.fullmatch(one)) and match[1] in unread for _, one, _ in spelled
    ):
        return None
    freedoms = [findings.attempt(place, freedom_of, one, bodies) for place, one, _ in spelled]
    if len(findings.faults) > before or not sound:
        return None
    factors = [
        findings.attempt(place, _factor, factor, sign, freedom, freedoms)
        for (_, _, (place, factor, sign)), freedom in zip(spelled, freedoms, strict=True)
    ]
    offset = findings.attempt(f"{path}.offset", quantity, table.offset, freedoms[0].unit)
    if odd := odd_angle(table.offset, freedoms[0].unit):
        findings.warn(f"{path}.offset", odd.message, odd.remedy)
    if len(findings.faults) == before and holds_nothing(factors):
        if table.terms is None:
            findings.refuse(f"{path}.ratio", "must not be zero", "give turns of the follower for one of the driver")
        else:
            findings.refuse(f"{path}.terms", f"their factors: {TIES}", TERMS)
    if len(findings.faults) > before:
        return None
    gear = Gear(
        name=name, terms=tuple((one, factor) for (_, one, _), factor in zip(spelled, factors, strict=True)),
        offset=offset, time_constant=constant, closed=table.closed, switchable=table.switchable,
    )  # fmt: skip
    check_gear(gear, path, bodies, findings)
    return gear if len(findings.faults) == before else None


Spelled = tuple[str, str, tuple[str, object, float]]
"""A term: where its coordinate stands and what it is called; where its factor stands, that, and its sign."""


def _pair(table: GearTable, path: str, findings: Findings) -> list[Spelled]:
    """The terms of a follower that is a ratio times its driver, and the offset more."""
    if table.terms is not None:
        findings.refuse(f"{path}.terms", f"says again what {' and '.join(PAIR)} say", "keep one of the two")
    for key, example in (("driver", '"motor.joint"'), ("follower", '"load.joint"'), ("ratio", "0.01")):
        if getattr(table, key) is None and not findings.faulty(f"{path}.{key}"):
            findings.refuse(f"{path}.{key}", "is missing", f"give it, e.g. {key} = {example}")
    place = f"{path}.ratio"
    return [
        (f"{path}.follower", table.follower or "", (place, 1.0, 1.0)),
        (f"{path}.driver", table.driver or "", (place, table.ratio, -1.0)),
    ] if table.follower and table.driver and table.ratio is not None else []  # fmt: skip


def _terms(table: GearTable, path: str, findings: Findings) -> list[Spelled]:
    pairs, place = table.terms, f"{path}.terms"
    if pairs is None:
        remedy = f"{TERMS}, or a driver, a follower and their ratio"
        findings.refuse(place, "is missing", remedy)
    elif not isinstance(pairs, list) or not pairs or not all(isinstance(p, list) and len(p) == 2 for p in pairs):
        findings.refuse(place, f"must be pairs of a coordinate and a factor, got {shown(pairs)}", TERMS)
    elif others := [k for k, (one, _) in enumerate(pairs) if not isinstance(one, str)]:
        k = others[0]
        findings.refuse(f"{place}[{k + 1}][1]", f"must be text, got {shown(pairs[k][0])}", TERMS)
    else:
        return [
            (f"{place}[{k + 1}][1]", one, (f"{place}[{k + 1}][2]", factor, 1.0))
            for k, (one, factor) in enumerate(pairs)
        ]
    return []


def _factor(factor: Any, sign: float, freedom: Freedom, freedoms: list[Freedom]) -> float:
    """A factor as a number that makes what the first coordinate has for a unit. Raises `RefusalError`."""
    wanted = freedoms[0].unit
    return sign * quantity(factor, "1" if freedom.unit == wanted else f"{wanted}/{freedom.unit}")


def spelled_gear(gear: Gear, *, turning: bool) -> dict[str, Any]:
    """The table of the file that says ``gear``, which sums angles or else distances."""
    table: dict[str, Any] = {"terms": [list(term) for term in gear.terms]}
    unit = " rad" if turning and odd_angle(gear.offset, "rad") else ""
    table |= {"offset": f"{gear.offset!r}{unit}" if unit else gear.offset} if gear.offset else {}
    table |= {} if gear.time_constant == TIME_CONSTANT else {"time_constant": gear.time_constant}
    return table | ({} if gear.closed else {"closed": False}) | ({"switchable": True} if gear.switchable else {})
