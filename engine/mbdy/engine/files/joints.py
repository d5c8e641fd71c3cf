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
| planar | two in the plane | its normal `axis`, z unless given |
| free, attitude | x, y, z | spherical |
| none | `translation` | `rotation` |

In-plane axes of a planar joint: x, y about a normal z; y, z about x; z, x about y. About any other normal the
first is the coordinate axis that follows (x, y, z, x) the normal's largest component, made perpendicular to
the normal; the second completes the right-handed triad first, second, normal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, cast, get_args

import numpy as np

from mbdy.engine.files.frames import frame_of, sequence_fault
from mbdy.engine.files.tables import JointTable
from mbdy.engine.model.faults import Findings, RefusalError, nearest, shown
from mbdy.engine.model.law import JointValue
from mbdy.engine.model.laws import JOINT_VALUES, LAWS
from mbdy.engine.model.limits import PARALLEL
from mbdy.engine.model.system import IDENTITY, Joint, Motion, Vector3
from mbdy.engine.model.units import odd_angle, quantity

X: Vector3 = (1.0, 0.0, 0.0)
Y: Vector3 = (0.0, 1.0, 0.0)
Z: Vector3 = (0.0, 0.0, 1.0)
UNIT_AXES: Mapping[str, Vector3] = {"x": X, "y": Y, "z": Z}

MOTIONS: tuple[str, ...] = get_args(Motion)
_PLACE = {"at", "frame"}
_POINTS = {name for name, value in JOINT_VALUES.items() if value.points}
_EFFORT = {*JOINT_VALUES, "motion"} - _POINTS
KEYS: Mapping[str, set[str]] = {
    "fixed": _PLACE,
    "revolute": _PLACE | _EFFORT | _POINTS | {"axis"},
    "prismatic": _PLACE | _EFFORT | _POINTS | {"axis"},
    "cylindrical": _PLACE | _EFFORT | {"axis"},
    "universal": _PLACE | _EFFORT | {"axes"},
    "gimbal": _PLACE | _EFFORT | {"axes", "sequence"},
    "spherical": _PLACE | _EFFORT,
    "planar": _PLACE | _EFFORT | {"axis"},
    "free": {"motion"},
    "attitude": {"motion"},
    "general": _PLACE | _EFFORT | _POINTS | {"translation", "rotation"},
}
"""What each kind takes besides ``to`` and ``kind``."""
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
        takes = ", ".join(sorted(KEYS[kind]))
        findings.refuse(f"{path}.{key}", f"a joint of kind {kind} takes no '{key}'", f"remove it; it takes {takes}")
    if unknown_axes:
        return None
    try:
        translations, rotations, spherical = _axes(table, kind)
        _independent(translations, rotations, f"{path}.{_axes_key(table, kind)}", findings)
    except RefusalError as refusal:
        findings.refuse(f"{path}.{_axes_key(table, kind)}", refusal.message, refusal.remedy)
        return None
    to, node = place_of(table.to)
    placed = table.frame is not None and "frame" in KEYS[kind]
    joint = Joint(
        to=to, node=node, kind=kind, translations=translations, rotations=rotations, spherical=spherical, at=table.at,
        frame=frame_of(table.frame, f"{path}.frame", findings) if placed else IDENTITY,
    )  # fmt: skip
    if joint.frame != IDENTITY:
        _warn_of_angles(table.frame, f"{path}.frame", findings)
    return _with_values(joint, table, path, findings)


def place_of(text: str) -> tuple[str, str]:
    """The body and the node, empty for its origin, that ``text`` names (``"boom.tip"``, ``"boom"``)."""
    body, _, node = text.partition(".")
    return (body, node) if node else (text, "")


def plane_axes(normal: Vector3) -> tuple[Vector3, Vector3]:
    """Two unit axes that make a right-handed triad with ``normal`` (not zero), as the module says."""
    n = np.array(normal) / np.max(np.abs(normal))
    n = n / np.linalg.norm(n)
    first = np.eye(3)[(int(np.argmax(np.abs(n))) + 1) % 3]
    first = first - (first @ n) * n
    first = first / np.linalg.norm(first)
    second = np.cross(n, first)
    return _vector(first), _vector(second)


def _vector(array: np.ndarray) -> Vector3:
    x, y, z = (float(entry) + 0.0 for entry in array)  # + 0.0 turns -0.0 into 0.0
    return (x, y, z)


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
        sliding = table.translation or ()
        if max(len(sliding), len(turning)) > 3:
            raise RefusalError("has more than three axes", "give at most three translations and three rotations")
        return sliding, turning, spherical
    if kind in ("universal", "gimbal"):
        return (), _successive(table, kind), False
    if kind == "planar":
        normal = table.axis or Z
        return plane_axes(normal), (normal,), False
    if table.axis is None:
        raise RefusalError("is missing", f"a {kind} joint needs a direction in the joint frame, e.g. axis = [0, 0, 1]")
    sliding = (table.axis,) if kind != "revolute" else ()
    return sliding, (table.axis,) if kind != "prismatic" else (), False


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


def _independent(
    translations: tuple[Vector3, ...], rotations: tuple[Vector3, ...], path: str, findings: Findings
) -> None:
    """Refuse axes that give one motion twice: dependent translations, successive rotations about one axis."""
    units = [np.array(axis) / np.linalg.norm(axis) for axis in translations]
    if len(units) > 1 and np.linalg.svd(np.array(units), compute_uv=False)[-1] < PARALLEL:
        stem = path.rpartition(".")[0]
        findings.refuse(f"{stem}.translation", "its axes are not independent", "give axes that span as many directions")
    for k in range(1, len(rotations)):
        before, after = (np.array(axis) / np.linalg.norm(axis) for axis in rotations[k - 1 : k + 1])
        if np.linalg.norm(np.cross(before, after)) < PARALLEL:
            message = f"axes {k} and {k + 1} are parallel, so the two turn about one line"
            findings.refuse(path, message, "give successive axes different directions")


def _with_values(joint: Joint, table: JointTable, path: str, findings: Findings) -> Joint:
    """``joint`` with its stiffness, damping and the other numbers of the file, and its motion."""
    takes = KEYS[joint.kind]
    values: dict[str, Any] = {}
    for name, value in JOINT_VALUES.items():
        raw = getattr(table, name)
        if raw is not None and name in takes:
            read = _points if value.points else _values
            values[name] = read(joint, value, raw, f"{path}.{name}", findings)
    for name, value in JOINT_VALUES.items():
        if value.passive and any(number < 0 for number in values.get(name, ())):
            what = "feeds energy in" if value.speeds else "pushes away from where it is at rest"
            findings.warn(f"{path}.{name}", f"is negative and {what}", "make sure that it is meant")
    if table.motion is not None and joint.kind != "fixed":
        values["motion"] = _motion(joint, table.motion, f"{path}.motion", findings)
    values = _lawful(values, path, findings)
    return replace(joint, **values)


def _lawful(values: dict[str, Any], path: str, findings: Findings) -> dict[str, Any]:
    """``values`` without the laws that lack a value or have an impossible one, which are refused."""
    for law in LAWS:
        present = [value for value in law.values if value.name in values]
        if not present:
            continue
        needed = [value.name for value in law.values if value.default is None]
        missing = [name for name in needed if name not in values]
        others = ", ".join(value.name for value in present)
        for name in missing:
            message = f"is missing beside '{present[0].name}'"
            findings.refuse(f"{path}.{name}", message, f"give it too, or take out {others}")
        if law.either and not missing and not any(name in values for name in law.either):
            missing = list(law.either)
            message = f"is missing beside '{present[0].name}'"
            findings.refuse(f"{path}.{missing[0]}", message, f"give {' or '.join(law.either)}, or both")
        sound = not missing and all(values[value.name] for value in present)
        for value in present if sound else ():
            least, numbers = value.minimum, values[value.name]
            low = [n for n in numbers if least is not None and (n < least or (value.above and n == least))]
            for wrong in low[:1]:
                wanted = f"{'>' if value.above else '>='} {least:g}"
                findings.refuse(f"{path}.{value.name}", f"must be {wanted}, got {wrong}", "give another value")
                sound = False
        for value in present if sound else ():
            paired = value.below in values
            pairs = zip(values[value.name], values[value.below], strict=True) if paired else ()
            if not all(low < high for low, high in pairs):
                findings.refuse(f"{path}.{value.name}", f"must be below {value.below}", "swap the two")
                sound = False
        if not sound:
            values = {name: numbers for name, numbers in values.items() if JOINT_VALUES.get(name) not in law.values}
    return values


def _values(joint: Joint, value: JointValue, raw: object, path: str, findings: Findings) -> tuple[float, ...]:
    """One number for each degree of freedom or each coordinate, in SI."""
    units = [value.translation] * joint.n_translations + [value.rotation] * joint.n_rotations
    wanted = joint.n_u if value.speeds else joint.n_coordinates
    entries = raw if isinstance(raw, list) else [raw] * joint.n_u
    if len(entries) not in (joint.n_u, wanted):
        findings.refuse(path, f"has {len(entries)} values for {_freedoms(joint)}", _how_many(joint))
        return ()
    numbers, messages = [], set()
    for k, (entry, unit) in enumerate(zip(entries, units, strict=False)):
        place = f"{path}[{k + 1}]" if isinstance(raw, list) else path
        try:
            numbers.append(quantity(entry, unit))
            odd = odd_angle(entry, unit)
            if odd and (str(odd) not in messages or isinstance(raw, list)):
                findings.warn(place, odd.message, odd.remedy)
                messages.add(str(odd))
        except RefusalError as refusal:
            if str(refusal) not in messages or isinstance(raw, list):
                findings.refuse(place, refusal.message, refusal.remedy)
            messages.add(str(refusal))
            numbers.append(0.0)
    if any(numbers[wanted:]):
        what = f"a spherical joint has no angle for a {value.name} to act on"
        remedy = "use a gimbal or a torque input" if not wanted else f"give {wanted} values, for its translations only"
        findings.refuse(path, what, remedy)
    return tuple(numbers[:wanted])


def _points(
    joint: Joint, value: JointValue, raw: object, path: str, findings: Findings
) -> tuple[tuple[float, float], ...]:
    """The points of a table over the only coordinate in SI, increasing; none where there are faults."""
    if joint.n_coordinates != 1:
        message = f"needs a joint with exactly one distance or angle, this one has {joint.n_coordinates}"
        findings.refuse(path, message, "remove it, or split the joint with a massless body")
        return ()
    units = ("m", value.translation) if joint.n_translations else ("rad", value.rotation)
    example = f'[["-1 {units[0]}", "0.4 {units[1]}"], ["1 {units[0]}", "-0.4 {units[1]}"]]'
    if not isinstance(raw, list) or len(raw) < 2 or not all(isinstance(p, list) and len(p) == 2 for p in raw):
        findings.refuse(path, f"must be two points or more, each a pair, got {shown(raw)}", f"for example {example}")
        return ()
    points: list[tuple[float, float]] = []
    before = len(findings.faults)
    for k, point in enumerate(raw):
        numbers = []
        for i, (entry, unit) in enumerate(zip(point, units, strict=True)):
            place = f"{path}[{k + 1}][{i + 1}]"
            numbers.append(findings.attempt(place, quantity, entry, unit))
            if odd := odd_angle(entry, unit):
                findings.warn(place, odd.message, odd.remedy)
        points.append((numbers[0], numbers[1]))
    if len(findings.faults) > before:
        return ()
    for k, (last, point) in enumerate(pairwise(points)):
        if not point[0] > last[0]:
            message = f"must be above {last[0]:.6g} {units[0]} of the point before, got {point[0]:.6g} {units[0]}"
            findings.refuse(f"{path}[{k + 2}][1]", message, "give the points in the order of their first numbers")
            return ()
    return tuple(points)


def _motion(joint: Joint, raw: object, path: str, findings: Findings) -> tuple[Motion, ...]:
    entries = raw if isinstance(raw, list) else [raw] * joint.n_u
    if len(entries) != joint.n_u:
        findings.refuse(path, f"has {len(entries)} values for {_freedoms(joint)}", _how_many(joint))
        return ()
    for k, entry in enumerate(entries):
        place = f"{path}[{k + 1}]" if isinstance(raw, list) else path
        if entry not in MOTIONS:
            near = nearest(entry, MOTIONS) if isinstance(entry, str) else f"it is one of {', '.join(MOTIONS)}"
            findings.refuse(place, f"unknown motion {shown(entry)}", near)
        elif joint.kind == "attitude" and entry != "free":
            remedy = 'remove it, or use kind = "free"'
            findings.refuse(place, "a joint of kind attitude can only move freely", remedy)
        else:
            continue
        return ()
    return cast("tuple[Motion, ...]", tuple(entries))


def _warn_of_angles(frame: object, path: str, findings: Findings) -> None:
    angles = frame.get("angles") if isinstance(frame, dict) else None
    for k, angle in enumerate(angles if isinstance(angles, list) else [angles]):
        if odd := odd_angle(angle, "rad"):
            findings.warn(
                f"{path}.angles" + (f"[{k + 1}]" if isinstance(angles, list) else ""), odd.message, odd.remedy
            )


def _how_many(joint: Joint) -> str:
    return "give one value" if joint.n_u == 1 else f"give one value for all, or {joint.n_u}"


def _freedoms(joint: Joint) -> str:
    return f"{joint.n_u} degree{'s' if joint.n_u != 1 else ''} of freedom"
