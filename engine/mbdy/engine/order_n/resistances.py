"""Where the constants and speeds of laws lie that may be too steep for a step (`mbdy.engine.order_n.efforts.lags`)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mbdy.engine.order_n.constants import constant_fields
from mbdy.engine.order_n.layout import Layout


@dataclass(frozen=True)
class Resistances:
    """Arrays of model.h's ``mbdy_model`` by their names: places in ``k`` of the steps of bodies; and of each degree of
    freedom of such joints the place in ``x`` of its speed, in ``k`` of its yielding inertia and of what pushes it."""

    steps: tuple[int, ...] = ()
    resisted: tuple[int, ...] = ()
    yielding: tuple[int, ...] = ()
    pushes: tuple[int, ...] = ()
    senses: tuple[int, ...] = ()
    """In ``k``, of degrees of freedom with friction that sticks (`mbdy.engine.order_n.holding`)."""


def resistances(layout: Layout) -> Resistances:
    """Those of a model with this ``layout``."""

    def places(field: str) -> Iterable[int]:
        for kind, at in zip(layout.structures, layout.constants, strict=True):
            piece = constant_fields(kind).places(field)
            yield from range(at.start + piece.start, at.start + piece.stop)

    resisted = (
        place
        for kind, speeds in zip(layout.structures, layout.speeds, strict=True)
        for place in range(speeds.start, speeds.start + kind.resistances)
    )
    own = (tuple(places(field)) for field in ("yielding", "push", "sense"))
    return Resistances(tuple(places("step")), tuple(resisted), *own)
