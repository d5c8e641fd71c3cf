"""What variables springs have: as `mbdy.engine.model.variables` has them of all else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from mbdy.engine.model.owners import Owner
from mbdy.engine.model.springs import PARAMETERS, Spring

Rows = Callable[..., Iterator[Any]]
"""Makes the variables of one owner and quantity."""
FRAME = "along the axes of a's frame: translations, then the rotation vector"


def inputs(springs: Iterable[Spring], row: Rows) -> Iterator[Any]:
    for spring in springs:
        if spring.kind == "line":
            text = f"Tension that acts beside that of spring {spring.name}"
            yield from row(Owner("spring", spring.name), "actuation", ("N",), text, "spring_forces")


def parameters(springs: Iterable[Spring], row: Rows) -> Iterator[Any]:
    for spring in springs:
        owner = Owner("spring", spring.name)
        for end, side in (("a", spring.a), ("b", spring.b)):
            text = (
                f"Place of end {end} of spring {spring.name} from {side.body}{side.node and '.'}{side.node}, its axes"
            )
            yield from row(owner, f"at_{end}", ("m",) * 3, side.at, text)
        for name, one in spring.values.items():
            units, start = spring.units(one), spring.numbers(name)
            more: dict[str, Any] = {"minimum": spring.least.get(name)}
            if one.points:
                points = range(1, len(spring.table) + 1)
                units, more = units * len(points), {"labels": tuple(f"[{k},{i}]" for k in points for i in (1, 2))}
            text = f"{one.text} of spring {spring.name}"
            text += ": elongation, tension" if one.points else f", {FRAME}" if len(units) > 1 else ""
            yield from row(owner, PARAMETERS.get(name, name), units, start, text, **more)


def outputs(springs: Iterable[Spring], table: Rows) -> Iterator[Any]:
    for spring in springs:
        owner, of = Owner("spring", spring.name), f"of spring {spring.name}"
        if spring.kind == "line":
            pushed = (f"{owner}.actuation",)
            yield from table(owner, "length", ("m",), f"Distance between the ends {of}", "springs")
            yield from table(owner, "rate", ("m/s",), f"Rate of the distance between the ends {of}", "springs")
            text = f"Tension {of}, with its actuation; positive pulls the ends together"
            yield from table(owner, "tension", ("N",), text, "springs", dependencies=pushed)
            continue
        text = f"Place and turn of end b {of}, {FRAME}"
        yield from table(owner, "length", ("m",) * 3 + ("rad",) * 3, text, "springs")
        text = f"Effort {of} against these, {FRAME}; positive pulls b back"
        yield from table(owner, "effort", ("N",) * 3 + ("N.m",) * 3, text, "springs")
