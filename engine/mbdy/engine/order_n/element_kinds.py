"""Which force element a part of a model is."""

from __future__ import annotations

from mbdy.engine.model.contacts import Contact
from mbdy.engine.model.springs import Spring
from mbdy.engine.order_n.contacts import contact_structure
from mbdy.engine.order_n.elements import Element
from mbdy.engine.order_n.springs import spring_structure


def structure_of(part: Spring | Contact) -> Element:
    """The structure of ``part``, wherever its ends are."""
    return spring_structure(part) if isinstance(part, Spring) else contact_structure(part)


def key_of(part: Spring | Contact) -> tuple[object, ...]:
    """What is compiled of ``part`` and its ends, but for numbers that are parameters."""
    return part.sort, part.name, structure_of(part), *((s.body, s.node, s.frame) for s in (part.a, part.b))
