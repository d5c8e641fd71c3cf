"""Places that loops, springs and contacts of a model file join."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from mbdy.engine.files.rigid_loops import seat_of
from mbdy.engine.model.faults import Findings, PartError
from mbdy.engine.model.frames import frame_of
from mbdy.engine.model.parts import Part, place_of
from mbdy.engine.model.system import IDENTITY, ZERO3, Acting, Body, Loop, Side
from mbdy.engine.model.tree_rules import check_name, check_side

AnyPart = TypeVar("AnyPart", bound=Part)


def side_of(end: str, table: Any, path: str, findings: Findings) -> Side:
    """One side that a table of the file says by ``a``, ``at_a`` and ``frame_a``, or those of b."""
    body, node = place_of(getattr(table, end))
    value = getattr(table, f"frame_{end}")
    frame = IDENTITY if value is None else frame_of(value, f"{path}.frame_{end}", findings)
    return Side(body=body, node=node, at=getattr(table, f"at_{end}"), frame=frame)


def sides_of(
    name: str, table: Any, path: str, bodies: Mapping[str, Body], unread: set[str], findings: Findings
) -> tuple[list[Side], bool]:
    """Both sides of a spring or contact, and whether all could be read and is there."""
    before, sound = len(findings.faults), not findings.faulty(path)
    check_name(name, path, findings)
    sides = [side_of(end, table, path, findings) for end in "ab"]
    judged = [
        check_side(side, f"{path}.{key}", key, bodies, unread, findings) for key, side in zip("ab", sides, strict=True)
    ]
    return sides, sound and all(judged) and len(findings.faults) == before


def taken(path: str, findings: Findings, kind: type[AnyPart], /, **given: Any) -> AnyPart | None:
    """A part of what is ``given``; None where it is refused, with faults at ``path``."""
    try:
        return kind(**given)
    except PartError as error:
        whole = len(kind.__name__)
        findings.faults += [replace(fault, path=path + fault.path[whole:]) for fault in error.faults]
        return None


def apart(part: Acting, path: str, bodies: Mapping[str, Body], findings: Findings) -> bool:
    """Whether the ends of ``part`` can move against each other; refuses one whose cannot."""
    if seat_of(part.a, bodies) != seat_of(part.b, bodies):
        return True
    message = f"a and b cannot move against each other, so the {part.sort} does nothing"
    findings.refuse(f"{path}.b", message, "let it join two bodies that move, or two nodes of a flexible one")
    return False


def joined(part: Loop | Acting) -> dict[str, Any]:
    """The keys of the file that say both sides of ``part``."""
    table: dict[str, Any] = {}
    for end, side in (("a", part.a), ("b", part.b)):
        table[end] = f"{side.body}.{side.node}" if side.node else side.body
    for end, side in (("a", part.a), ("b", part.b)):
        table |= {} if side.at == ZERO3 else {f"at_{end}": list(side.at)}
        table |= {} if side.frame == IDENTITY else {f"frame_{end}": {"quaternion": list(side.frame)}}
    return table
