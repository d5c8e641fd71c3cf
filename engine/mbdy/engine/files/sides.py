"""Places that loops and springs of a model file join."""

from __future__ import annotations

from typing import Any

from mbdy.engine.model.faults import Findings
from mbdy.engine.model.frames import frame_of
from mbdy.engine.model.parts import place_of
from mbdy.engine.model.system import IDENTITY, Side


def side_of(end: str, table: Any, path: str, findings: Findings) -> Side:
    """One side that a table of the file says by ``a``, ``at_a`` and ``frame_a``, or those of b."""
    body, node = place_of(getattr(table, end))
    value = getattr(table, f"frame_{end}")
    frame = IDENTITY if value is None else frame_of(value, f"{path}.frame_{end}", findings)
    return Side(body=body, node=node, at=getattr(table, f"at_{end}"), frame=frame)
