"""Spellings of loops: each kind of the file as rows between two loop frames.

| kind | rows | loop frames |
|---|---|---|
| weld | 1 to 6 | `frame_a`, `frame_b` |
| pin | 1, 2, 4, 5, 6 | z along `axis` |
| ball | 4, 5, 6 | `frame_a`, `frame_b` |
| slider | 1 to 5 | z along `axis` |
| universal | 3 to 6 | x of a along the first of `axes`, y of b along the second |
| distance | none | `frame_a`, `frame_b` |
| rows | `rows` | `frame_a`, `frame_b` |

Axes are in the axes that `frame_a` and `frame_b` make of those of the two places. A loop frame is turned from these by
the smallest rotation that brings its own axis there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from mbdy.engine.files.joints import UNIT_AXES
from mbdy.engine.files.rigid_loops import check_that_it_moves
from mbdy.engine.files.sides import side_of
from mbdy.engine.files.tables import LoopTable
from mbdy.engine.model.faults import Findings, nearest, path_of, shown
from mbdy.engine.model.fields import Distance, TimeConstant
from mbdy.engine.model.frames import product, unit_quaternion
from mbdy.engine.model.parts import taking
from mbdy.engine.model.system import Body, Loop, Quaternion, Vector3
from mbdy.engine.model.tree_rules import check_name, check_side

ROWS: Mapping[str, tuple[int, ...]] = {
    "weld": (1, 2, 3, 4, 5, 6),
    "pin": (1, 2, 4, 5, 6),
    "ball": (4, 5, 6),
    "slider": (1, 2, 3, 4, 5),
    "universal": (3, 4, 5, 6),
    "distance": (),
    "rows": (),
}
"""The rows of each kind; those of ``rows`` are in the file."""
_SIDES = {"a", "b", "at_a", "at_b", "frame_a", "frame_b"}
_ALL = _SIDES | {"kind", "time_constant", "closed", "switchable"}
KEYS: Mapping[str, set[str]] = {
    kind: _ALL | keys
    for kind, keys in {
        "weld": set(),
        "pin": {"axis", "axis_b"},
        "ball": set(),
        "slider": {"axis"},
        "universal": {"axes"},
        "distance": {"distance"},
        "rows": {"rows"},
    }.items()
}
"""What each kind takes."""
_LETTERS = {"pin": ("z", "z"), "slider": ("z", "z"), "universal": ("x", "y")}
TIME_CONSTANT = 0.1
"""[s] Where the file gives none."""


def loop_of(
    name: str, table: LoopTable, bodies: Mapping[str, Body], unread: set[str], findings: Findings
) -> Loop | None:
    """The loop that ``table`` spells, between two places that exist and can move against each other.

    None where there are faults, which go to ``findings``. ``unread`` are bodies of the file that could not be read; a
    loop on them is passed over.
    """
    path, before = path_of(("loop", name)), len(findings.faults)
    sound = not findings.faulty(path)
    check_name(name, path, findings)
    sides = [side_of(side, table, path, findings) for side in "ab"]
    judged = [
        check_side(side, f"{path}.{key}", key, bodies, unread, findings) for key, side in zip("ab", sides, strict=True)
    ]
    constant = TIME_CONSTANT
    if table.time_constant is not None:
        constant = findings.attempt(f"{path}.time_constant", taking(TimeConstant), table.time_constant)
    if not table.closed and not table.switchable and not findings.faulty(f"{path}.switchable"):
        remedy = "add switchable = true, or remove the loop"
        findings.refuse(f"{path}.closed", "is false, and nothing can ever close the loop", remedy)
    kind = _kind(table, path, findings)
    if kind is None:
        return None
    for key in sorted(table.model_fields_set - KEYS[kind]):
        takes = ", ".join(sorted(KEYS[kind] - _ALL)) or "none of the others"
        remedy = f"remove it; besides the keys of all loops it takes {takes}"
        findings.refuse(f"{path}.{key}", f"a loop of kind {kind} takes no '{key}'", remedy)
    axes = _axes(kind, table, path, findings)
    rows = _rows(table, path, findings) if kind == "rows" else ROWS[kind]
    distance = None
    if kind == "distance" and table.distance is None:
        findings.refuse(f"{path}.distance", "is missing", 'give the length of the rod, e.g. distance = "0.5 m"')
    elif kind == "distance":
        distance = findings.attempt(f"{path}.distance", taking(Distance), table.distance)
    if len(findings.faults) > before or not sound or not all(judged) or axes is None or constant is None:
        return None
    turned = [replace(s, frame=_turned(s.frame, letter, axis)) for s, (letter, axis) in zip(sides, axes, strict=True)]
    loop = Loop(
        name=name, a=turned[0], b=turned[1], rows=rows, distance=distance, kind=kind,
        time_constant=constant, closed=table.closed, switchable=table.switchable,
    )  # fmt: skip
    return loop if check_that_it_moves(loop, bodies, findings) else None


def spelled(loop: Loop) -> dict[str, Any]:
    """The keys of the file that say what ``loop`` holds; its kind where that has these rows."""
    kind = loop.kind if loop.kind in KEYS else "rows"
    if kind == "distance" or loop.distance is not None:
        return {"kind": "distance", "distance": loop.distance}
    if kind == "rows" or ROWS[kind] != loop.rows:
        return {"kind": "rows", "rows": loop.rows}
    axes = [UNIT_AXES[axis] for axis in _LETTERS.get(kind, ())]
    return {"kind": kind} | ({"axes": axes} if kind == "universal" else {"axis": axes[0]} if axes else {})


def _kind(table: LoopTable, path: str, findings: Findings) -> str | None:
    kind = table.kind or next((key for key in ("rows", "distance") if getattr(table, key) is not None), None)
    if kind is None:
        if not any(findings.faulty(f"{path}.{key}") for key in ("kind", "rows", "distance")):
            findings.refuse(f"{path}.kind", "is missing", f"give one of {', '.join(KEYS)}")
    elif kind not in KEYS:
        findings.refuse(f"{path}.kind", f"unknown kind of loop '{kind}'", _nearest_kind(kind))
        kind = None
    return kind


def _nearest_kind(kind: str) -> str:
    words = {"fixed": "weld", "rigid": "weld", "revolute": "pin", "hinge": "pin", "spherical": "ball",
             "prismatic": "slider", "rod": "distance", "cardan": "universal"}  # fmt: skip
    word = words.get(kind.lower())
    return f"here it is called '{word}'" if word else nearest(kind, KEYS)


def _axes(kind: str, table: LoopTable, path: str, findings: Findings) -> list[tuple[str, Vector3]] | None:
    """For each side, the axis of the loop frame that is given, and its direction; None where there are faults."""
    z = UNIT_AXES["z"]
    if kind not in _LETTERS:
        return [("z", z), ("z", z)]
    letters, key = _LETTERS[kind], "axes" if kind == "universal" else "axis"
    if findings.faulty(f"{path}.{key}"):
        return None
    if kind == "universal":
        if table.axes is None or len(table.axes) != 2:
            got = "is missing" if table.axes is None else f"must be two axes, got {len(table.axes)}"
            findings.refuse(f"{path}.axes", got, "give one on a and one on b, e.g. axes = [[1, 0, 0], [0, 1, 0]]")
            return None
        directions = table.axes
    elif table.axis is None:
        remedy = f"a loop of kind {kind} needs a direction in the axes of a, e.g. axis = [0, 0, 1]"
        findings.refuse(f"{path}.axis", "is missing", remedy)
        return None
    else:
        directions = (table.axis, table.axis_b or table.axis)
    return list(zip(letters, directions, strict=True))


def _turned(frame: Quaternion, letter: str, axis: Vector3) -> Quaternion:
    """``frame`` after the smallest rotation that brings the axis ``letter`` ("x", "y", "z") to ``axis``."""
    place = "xyz".index(letter)
    unit = np.array(axis) / np.max(np.abs(axis))
    unit /= np.linalg.norm(unit)
    start = np.eye(3)[place]
    if np.array_equal(unit, start):
        return frame
    if unit[place] < -1 + 1e-12:
        half = np.array([0.0, *np.eye(3)[(place + 1) % 3]])
    else:
        half = np.array([1.0 + unit[place], *np.cross(start, unit)])
    w, x, y, z = (half / np.linalg.norm(half)).tolist()
    return unit_quaternion(product(frame, (w, x, y, z)))[0]


def _rows(table: LoopTable, path: str, findings: Findings) -> tuple[int, ...]:
    rows, remedy = table.rows, "1, 2, 3 are turning about x, y, z of the loop frame, 4, 5, 6 moving along them"
    if rows is None:
        findings.refuse(f"{path}.rows", "is missing", f"{remedy}, e.g. rows = [4, 5, 6]")
    elif not isinstance(rows, list) or not rows or not all(type(row) is int and 1 <= row <= 6 for row in rows):
        findings.refuse(f"{path}.rows", f"must be a list of whole numbers from 1 to 6, got {shown(rows)}", remedy)
    elif len(set(rows)) != len(rows):
        findings.refuse(f"{path}.rows", f"names a row twice, got {shown(rows)}", "keep one of them")
    else:
        return tuple(sorted(rows))
    return (4,)
