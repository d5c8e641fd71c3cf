"""What variables springs and contacts have: as `mbdy.engine.model.variables` has them of all else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from mbdy.engine.model.owners import element
from mbdy.engine.model.springs import PARAMETERS, Spring
from mbdy.engine.model.system import Acting

Rows = Callable[..., Iterator[Any]]
"""Makes the variables of one owner and quantity."""
FRAME = "along the axes of a's frame: translations, then the rotation vector"


def inputs(elements: Iterable[Acting], row: Rows) -> Iterator[Any]:
    for part in elements:
        if isinstance(part, Spring) and part.kind == "line":
            text = f"Tension that acts beside that of spring {part.name}"
            yield from row(element(part), "actuation", ("N",), text, "spring_forces")


def parameters(elements: Iterable[Acting], row: Rows) -> Iterator[Any]:
    for part in elements:
        owner, whose = element(part), f"of {part.sort} {part.name}"
        for end, side in (("a", part.a), ("b", part.b)):
            where = ".".join(filter(None, (side.body, side.node)))
            yield from row(
                owner, f"at_{end}", ("m",) * 3, side.at, f"Place of end {end} {whose} from {where}, its axes"
            )
        for name, one in part.values.items():
            units, start = part.units(one), part.numbers(name)
            more: dict[str, Any] = {"minimum": part.least.get(name)}
            if one.points:
                points = range(1, len(start) // 2 + 1)
                units, more = units * len(points), {"labels": tuple(f"[{k},{i}]" for k in points for i in (1, 2))}
            text = f"{one.text} {whose}"
            text += ": elongation, tension" if one.points else f", {FRAME}" if len(units) > 1 else ""
            yield from row(owner, PARAMETERS.get(name, name), units, start, text, **more)


def outputs(elements: Iterable[Acting], table: Rows) -> Iterator[Any]:
    for part in elements:
        owner, of = element(part), f"of {part.sort} {part.name}"
        if not isinstance(part, Spring):
            yield from table(
                owner, "gap", ("m",), f"Distance of the surfaces {of}, below zero where they press", "springs"
            )
            yield from table(owner, "normal_force", ("N",), f"Force {of} along the normal, which parts them", "springs")
            text = f"Size of the friction {of} across the normal"
            yield from table(owner, "tangential_force", ("N",), text, "springs")
        elif part.kind == "line":
            pushed = (f"{owner}.actuation",)
            yield from table(owner, "length", ("m",), f"Distance between the ends {of}", "springs")
            yield from table(owner, "rate", ("m/s",), f"Rate of the distance between the ends {of}", "springs")
            text = f"Tension {of}, with its actuation; positive pulls the ends together"
            yield from table(owner, "tension", ("N",), text, "springs", dependencies=pushed)
        else:
            text = f"Place and turn of end b {of}, {FRAME}"
            yield from table(owner, "length", ("m",) * 3 + ("rad",) * 3, text, "springs")
            text = f"Effort {of} against these, {FRAME}; positive pulls b back"
            yield from table(owner, "effort", ("N",) * 3 + ("N.m",) * 3, text, "springs")
