"""``[contact.NAME]`` of a model file: read to a `Contact`, and written back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from mbdy.engine.files.sides import apart, joined, sides_of, taken
from mbdy.engine.files.tables import ContactTable
from mbdy.engine.model.contacts import CONTACT_VALUES, SHAPES, Contact, Surface
from mbdy.engine.model.faults import Findings, path_of
from mbdy.engine.model.system import Body

SHAPE_KEYS = tuple(each.name for each in fields(Surface))  # type: ignore[arg-type]


def contact_of(
    name: str, table: ContactTable, bodies: Mapping[str, Body], unread: set[str], findings: Findings
) -> Contact | None:
    """The contact that ``table`` says, as `mbdy.engine.files.springs.spring_of` does for springs."""
    path, before = path_of(("contact", name)), len(findings.faults)
    sides, sound = sides_of(name, table, path, bodies, unread, findings)
    shapes = {key: _shape(getattr(table, key), f"{path}.{key}", findings) for key in ("shape_a", "shape_b")}
    given = {key: value for key in (*CONTACT_VALUES, "exponent") if (value := getattr(table, key)) is not None}
    if "stiffness" not in given:
        findings.refuse(f"{path}.stiffness", "is missing", "give it in N/m^exponent, e.g. stiffness = 1e5")
    if len(findings.faults) > before:
        return None
    contact = taken(path, findings, Contact, name=name, a=sides[0], b=sides[1], **shapes, **given)
    return contact if contact and sound and apart(contact, path, bodies, findings) else None


def _shape(given: Any, path: str, findings: Findings) -> Surface | None:
    if not isinstance(given, dict) or "kind" not in given:
        remedy = f'give one of {", ".join(SHAPES)}, e.g. {{ kind = "sphere", radius = "5 cm" }}'
        findings.refuse(path, "is missing" if given is None else "must be a table with its kind", remedy)
        return None
    for key in given.keys() - {*SHAPE_KEYS}:
        findings.refuse(f"{path}.{key}", "unknown key", f"known: {', '.join(SHAPE_KEYS)}")
    return taken(path, findings, Surface, **{key: given[key] for key in SHAPE_KEYS if key in given})


def spelled(contact: Contact) -> dict[str, Any]:
    """The keys of the file that say ``contact``."""
    numbers = {name: getattr(contact, name) for name in ("stiffness", "exponent", *CONTACT_VALUES)}
    shapes = {
        key: {name: number for name in SHAPE_KEYS if (number := getattr(shape, name)) is not None}
        for key, shape in (("shape_a", contact.shape_a), ("shape_b", contact.shape_b))
    }
    return joined(contact) | numbers | shapes
