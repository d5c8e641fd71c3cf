"""Spellings of joints: each kind of the file as one general joint.

| kind | translations | rotations |
|---|---|---|
| fixed | | |
| revolute | | `axis` |
| prismatic | `axis` | |
| cylindrical | `axis` | `axis` |
| universal | | two `axes` |
| gimbal | | three `axes`, or those that `sequence` names |
| spherical | | spherical |
| planar | two in the plane, or `axes` | its normal `axis`, z unless given |
| free, attitude | x, y, z | spherical |
| none | `translation` | `rotation` |

In-plane axes of a planar joint: x, y about a normal z; y, z about x; z, x about y. About any other normal the
first is the coordinate axis that follows (x, y, z, x) the normal's largest component, made perpendicular to
the normal; the second completes the right-handed triad first, second, normal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from mbdy.engine.files.tables import JointTable
from mbdy.engine.model.faults import Findings, RefusalError, nearest, shown
from mbdy.engine.model.frames import axes_frame, frame_of, sequence_fault, warn_of_angles
from mbdy.engine.model.joint_values import KEYS, VALUES, along_body, independent, joint_values, refuse_key, rotor_axes
from mbdy.engine.model.laws.sticking import spread
from mbdy.engine.model.limits import PARALLEL
from mbdy.engine.model.parts import place_of
from mbdy.engine.model.profiles import slew_points
from mbdy.engine.model.rotations import across
from mbdy.engine.model.system import IDENTITY, Joint, Vector3, X, Y, Z

UNIT_AXES: Mapping[str, Vector3] = {"x": X, "y": Y, "z": Z}

AXIS_KEYS = ("axis", "axes", "sequence", "translation", "rotation")


def joint_of(table: JointTable, path: str, findings: Findings) -> Joint | None:
    """The joint that ``table``, found at ``path``, spells; None where its axes are not known.

    Faults go to ``findings``; where there are any, what is returned is only good for finding more of them.
    """
    kind = _kind(table, path, findings)
    if kind is None:
        return None
    unknown_axes = any(findings.faulty(f"{path}.{key}") for key in AXIS_KEYS)
    for key in sorted(table.model_fields_set - {"to", "kind"} - KEYS[kind]):
        refuse_key(kind, key, path, findings)
    if unknown_axes:
        return None
    try:
        translations, rotations, spherical = _axes(table, kind)
        sliding, turning = "translation", "rotation" if kind == "general" else _axes_key(table, kind)
        if kind == "planar":
            sliding, turning = "axes", "axis"
        axes = {f"{path}.{sliding}": translations, f"{path}.{turning}": rotations}
        if not independent(axes, findings):
            translations, rotations = ((X, Y, Z)[: len(axes)] for axes in (translations, rotations))
    except RefusalError as refusal:
        findings.refuse(f"{path}.{_axes_key(table, kind)}", refusal.message, refusal.remedy)
        return None
    to, node = place_of(table.to)
    places: dict[str, Any] = {key: getattr(table, key) for key in ("at", "at_b") if key in KEYS[kind]}
    for key in ("frame", "frame_b"):
        if key in KEYS[kind] and (given := getattr(table, key)) is not None:
            places[key] = frame_of(given, f"{path}.{key}", findings)
            warn_of_angles(given, f"{path}.{key}", findings)
    if table.axes_in is not None:
        places["axes_in"] = findings.attempt(f"{path}.axes_in", axes_frame, table.axes_in, instead="joint")
    joint = Joint(
        to=to, node=node, kind=kind, translations=translations, rotations=rotations, spherical=spherical, **places
    )
    known = [name for name in VALUES if name in KEYS[kind]]
    given = {name: value for name in known if (value := getattr(table, name, None)) is not None}
    given = spread(given, path, findings)
    if table.slew is not None and "slew" in KEYS[kind]:
        if "smooth_profile" in given:
            findings.refuse(f"{path}.slew", "is given beside 'smooth_profile'", "keep one of them")
        elif joint.n_coordinates != 1:
            findings.refuse(f"{path}.slew", "needs a joint with exactly one distance or angle", "give it to such a one")
        elif points := slew_points(joint, table.slew, f"{path}.slew", findings):
            given["smooth_profile"] = points
    values = along_body(joint, joint_values(joint, given, path, findings), places.get("frame_b", IDENTITY))
    if kind == "attitude":
        _refuse_driven(values.get("motion", ()), given.get("motion"), path, findings)
    made = replace(joint, **values)
    if table.rotor_axis is None or "rotor_axis" not in KEYS[kind]:
        return made
    return replace(made, rotor_axis=rotor_axes(made, table.rotor_axis, path, findings))


def _refuse_driven(motions: Sequence[str], given: object, path: str, findings: Findings) -> None:
    for k, motion in enumerate(motions):
        if motion != "free":
            place = f"{path}.motion[{k + 1}]" if isinstance(given, list) else f"{path}.motion"
            message = "a joint of kind attitude can only move freely"
            return findings.refuse(place, message, 'remove it, or use kind = "free"')
    return None


def _kind(table: JointTable, path: str, findings: Findings) -> str | None:
    general = table.model_fields_set & {"translation", "rotation"}
    if table.kind is None and not general:
        if not any(findings.faulty(f"{path}.{key}") for key in ("kind", "translation", "rotation")):
            remedy = f"give one of {', '.join(k for k in KEYS if k != 'general')}, or translation and rotation"
            findings.refuse(f"{path}.kind", "is missing", remedy)
        return None
    kind = table.kind or "general"
    if kind not in KEYS:
        findings.refuse(f"{path}.kind", f"unknown kind of joint '{kind}'", nearest(kind, KEYS))
        return None
    return kind


def _axes_key(table: JointTable, kind: str) -> str:
    """The key that a fault of a joint's axes names."""
    if kind == "general":
        return "translation" if table.rotation is None or len(table.translation or ()) > 3 else "rotation"
    if kind in ("universal", "gimbal"):
        return "sequence" if table.sequence is not None else "axes"
    if kind == "planar" and table.axes is not None:
        return "axes"
    return "axis"


def _axes(table: JointTable, kind: str) -> tuple[tuple[Vector3, ...], tuple[Vector3, ...], bool]:
    """Translations, rotations and whether it is spherical. Raises `RefusalError`."""
    if kind in ("free", "attitude"):
        return (X, Y, Z), (), True
    if kind == "spherical":
        return (), (), True
    if kind == "fixed":
        return (), (), False
    if kind == "general":
        spherical = table.rotation == "spherical"
        turning = () if spherical or table.rotation is None else cast("tuple[Vector3, ...]", table.rotation)
        return table.translation or (), turning, spherical
    if kind in ("universal", "gimbal"):
        return (), _successive(table, kind), False
    if kind == "planar":
        normal = table.axis or Z
        return across(normal) if table.axes is None else _in_plane(table.axes, normal), (normal,), False
    if table.axis is None:
        raise RefusalError("is missing", f"a {kind} joint needs a direction in the joint frame, e.g. axis = [0, 0, 1]")
    sliding = (table.axis,) if kind != "revolute" else ()
    return sliding, (table.axis,) if kind != "prismatic" else (), False


def _in_plane(axes: tuple[Vector3, ...], normal: Vector3) -> tuple[Vector3, ...]:
    """The two ``axes`` of a planar joint. Raises `RefusalError`."""
    level = [abs(np.dot(axis, normal)) < PARALLEL * np.linalg.norm(axis) * np.linalg.norm(normal) for axis in axes]
    if len(axes) != 2 or not all(level):
        raise RefusalError("must be two directions across the normal 'axis'", "or leave 'axes' out")
    return axes


def _successive(table: JointTable, kind: str) -> tuple[Vector3, ...]:
    count = 2 if kind == "universal" else 3
    if kind == "gimbal" and table.sequence is not None:
        if table.axes is not None:
            raise RefusalError("has both 'sequence' and 'axes'", "keep one of them")
        fault = sequence_fault(table.sequence)
        if fault or len(table.sequence) != 3:
            fault = fault or f"must have three letters, got {shown(table.sequence)}"
            raise RefusalError(fault, 'for example sequence = "zyx"')
        return tuple(UNIT_AXES[letter] for letter in table.sequence)
    example = "[[1, 0, 0], [0, 1, 0]]" if count == 2 else "[[0, 0, 1], [0, 1, 0], [1, 0, 0]]"
    if table.axes is None:
        either = ", or a sequence" if kind == "gimbal" else ""
        raise RefusalError("is missing", f"a {kind} joint needs {count} axes, e.g. axes = {example}{either}")
    if len(table.axes) != count:
        raise RefusalError(f"a {kind} joint has {count} axes, got {len(table.axes)}", f"for example axes = {example}")
    return table.axes
