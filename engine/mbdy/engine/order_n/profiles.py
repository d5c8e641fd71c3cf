"""Where the profiles of joints lie in a model's vectors, for the core that follows them (profiles.c)."""

from __future__ import annotations

from mbdy.engine.model.ports import Ports
from mbdy.engine.model.profiles import PROFILES, rate_name
from mbdy.engine.model.system import Model
from mbdy.engine.order_n.constants import constant_fields
from mbdy.engine.order_n.layout import Layout


def profiles(model: Model, ports: Ports, layout: Layout) -> tuple[tuple[int, int, int, int, int], ...]:
    """Those of ``model`` as `Equations.profiles` has them."""
    found = []
    for body, kind, at in zip(model.bodies, layout.structures, layout.constants, strict=True):
        for smooth, name in enumerate(PROFILES):
            if name in kind.laws:
                places = constant_fields(kind).places(name)
                acceleration = ports.by_name[f"{body.name}.joint.acceleration"].offset
                rate = ports.starts[rate_name(body)].start_at
                found.append((acceleration, rate, at.start + places.start, (places.stop - places.start) // 2, smooth))
    return tuple(found)
