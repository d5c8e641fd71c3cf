"""Numbers and motions of a joint's degrees of freedom, as a model file or Python gives them, in SI."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np

from mbdy.engine.model.arrays import Quaternion, Vector3, listed
from mbdy.engine.model.faults import Findings, RefusalError, nearest, shown
from mbdy.engine.model.fields import Axes
from mbdy.engine.model.frames import frame_of, rotation_vector, turned, warn_of_angles
from mbdy.engine.model.law import AT_ONCE, JointValue
from mbdy.engine.model.laws import JOINT_VALUES, LAWS
from mbdy.engine.model.limits import PARALLEL
from mbdy.engine.model.parts import taking
from mbdy.engine.model.profiles import PROFILES
from mbdy.engine.model.units import odd_angle, quantity, real

if TYPE_CHECKING:
    from mbdy.engine.model.system import Joint

Motion = Literal["free", "prescribed", "switchable"]
MOTIONS: tuple[str, ...] = get_args(Motion)
_PLACE = {"at", "frame", "at_b", "frame_b"}
_POINTS = {name for name, value in JOINT_VALUES.items() if value.points} | {"slew"}
_EFFORT = {*JOINT_VALUES, "motion", "rotor_axis"} - _POINTS
VALUES = (*JOINT_VALUES, "motion")
KEYS: Mapping[str, set[str]] = {
    "fixed": _PLACE,
    "revolute": _PLACE | _EFFORT | _POINTS | {"axis", "axes_in"},
    "prismatic": _PLACE | _EFFORT | _POINTS | {"axis", "axes_in"},
    "cylindrical": _PLACE | _EFFORT | {"axis", "axes_in"},
    "universal": _PLACE | _EFFORT | {"axes", "axes_in"},
    "gimbal": _PLACE | _EFFORT | {"axes", "sequence", "axes_in"},
    "spherical": _PLACE | _EFFORT,
    "planar": _PLACE | _EFFORT | {"axis", "axes", "axes_in"},
    "free": {"motion"},
    "attitude": {"motion"},
    "general": _PLACE | _EFFORT | _POINTS | {"translation", "rotation", "axes_in"},
}
"""What each kind takes in a file besides ``to`` and ``kind``."""


def joint_values(joint: Joint, given: Mapping[str, Any], path: str, findings: Findings) -> dict[str, Any]:
    """The values of laws and the motion that are ``given`` of ``joint``, each one entry or a list, as its fields.

    Faults, and warnings of what a file may have meant otherwise, go to ``findings``.
    """
    values: dict[str, Any] = {}
    for name, value in JOINT_VALUES.items():
        if name in given:
            read = _points if value.points else _values
            values[name] = read(joint, value, given[name], f"{path}.{value.key}", findings)
    if joint.spherical:
        _sprung(joint, values, path, findings)
    for name, value in JOINT_VALUES.items():
        if value.passive and any(number < 0 for number in values.get(name, ())):
            what = "feeds energy in" if value.speeds else "pushes away from where it is at rest"
            findings.warn(f"{path}.{value.key}", f"is negative and {what}", "make sure that it is meant")
    if "motion" in given and joint.kind != "fixed":
        values["motion"] = _motion(joint, given["motion"], f"{path}.motion", findings)
    followed = [name for name in PROFILES if values.get(name)]
    if len(followed) > 1:
        findings.refuse(f"{path}.{followed[1]}", f"is given beside '{followed[0]}'", "keep one of them")
        del values[followed[1]]
    if followed and "prescribed" not in values.setdefault("motion", ("prescribed",)):
        message = f"is {values['motion'][0]!r}, and the joint follows a {followed[0]}"
        findings.refuse(f"{path}.motion", message, 'give motion = "prescribed", or leave it out')
        values["motion"] = ("prescribed",)
    return _lawful(values, path, findings)


def along_body(joint: Joint, values: Mapping[str, Any], frame_b: Quaternion) -> dict[str, Any]:
    """``values`` of ``joint``, rotation vectors turned by ``frame_b`` from its frame to one along the body's axes."""
    turn, n = turned(frame_b), joint.n_coordinates
    ball = [name for name, value in JOINT_VALUES.items() if value.turns and not value.parameter and joint.spherical]
    sprung = {name: numbers for name in ball if len(numbers := values.get(name, ())) > n}
    return {**values, **{name: numbers[:n] + turn(numbers[n:]) for name, numbers in sprung.items()}}


def rotor_axes(joint: Joint, given: object, path: str, findings: Findings) -> tuple[Vector3, ...]:
    """The axes on the carrying body of the rotors at ``joint`` that are ``given``: one for each coordinate, or for all.

    None where there are faults, which go to ``findings``.
    """
    place, entries = f"{path}.rotor_axis", listed(given)
    if isinstance(entries, list) and entries and not any(isinstance(entry, list) for entry in entries):
        entries = [entries]
    if not entries:
        return ()
    before, remedy = len(findings.faults), _how_many(joint).replace("value", "axis")
    axes = findings.attempt(place, taking(Axes), entries)
    if not joint.rotor_inertia and not findings.faulty(f"{path}.rotor_inertia"):
        findings.refuse(place, "is missing 'rotor_inertia' beside it", "give the rotor's spin inertia in kg.m2 too")
    elif joint.to == "inertial":
        message = "is of a rotor in inertial space, which it does not turn"
        findings.refuse(place, message, "remove it; the joint feels rotor_inertia without")
    elif axes and len(axes) not in (1, joint.n_coordinates):
        findings.refuse(place, f"has {len(axes)} axes for {_freedoms(joint)}", remedy)
    if len(findings.faults) > before:
        return ()
    return axes if len(axes) == joint.n_coordinates else axes * joint.n_coordinates


def refuse_key(kind: str, key: str, path: str, findings: Findings) -> None:
    """Refuse a ``key`` that a joint of that ``kind`` does not take."""
    takes = ", ".join(sorted(KEYS[kind]))
    findings.refuse(f"{path}.{key}", f"a joint of kind {kind} takes no '{key}'", f"remove it; it takes {takes}")


def independent(axes: Mapping[str, tuple[Vector3, ...]], findings: Findings) -> bool:
    """Whether there are at most three translations and three rotations, and none gives the motion of another.

    ``axes`` by the path that a fault of them names, translations first: they must not depend on each other, nor
    successive rotations turn about one line.
    """
    before = len(findings.faults)
    for path, vectors in axes.items():
        if len(vectors) > 3:
            remedy = "give at most three translations and three rotations"
            findings.refuse(path, "has more than three axes", remedy)
    (path, translations), (turning, rotations) = axes.items()
    units = [np.array(axis) / np.linalg.norm(axis) for axis in translations[:3]]
    if len(units) > 1 and np.linalg.svd(np.array(units), compute_uv=False)[-1] < PARALLEL:
        findings.refuse(path, "its axes are not independent", "give axes that span as many directions")
    for k in range(1, len(rotations)):
        first, second = (np.array(axis) / np.linalg.norm(axis) for axis in rotations[k - 1 : k + 1])
        if np.linalg.norm(np.cross(first, second)) < PARALLEL:
            message = f"axes {k} and {k + 1} are parallel, so the two turn about one line"
            findings.refuse(turning, message, "give successive axes different directions")
    return len(findings.faults) == before


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
            if any(name == value.table for value in JOINT_VALUES.values() if value.name in values):
                message = f"goes with a '{name}' that is a number, and this is a table"
                findings.refuse(f"{path}.{present[0].name}", message, f"take out {others}, or give {name} as a number")
                continue
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
                findings.refuse(f"{path}.{value.key}", f"must be {wanted}, got {wrong}", "give another value")
                sound = False
            over = zip(numbers, values[value.least], strict=False) if value.least in values else ()
            for low, high in [(low, high) for low, high in over if 0.0 != low < high][:1]:
                findings.refuse(f"{path}.{value.key}", f"must be no less than {value.least}, got {low} and {high}",
                                f"leave it out for that of {value.least}")  # fmt: skip
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
    if value.turns and joint.spherical and not value.parameter and not isinstance(raw, list):
        raw = _rotation_vector(joint, raw, path, findings)
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
    if value.turns and joint.spherical:
        return tuple(numbers)
    if any(numbers[wanted:]):
        what = f"a spherical joint has no angle for a {value.name} to act on"
        remedy = "use a gimbal or a torque input" if not wanted else f"give {wanted} values, for its translations only"
        findings.refuse(path, what, remedy)
    return tuple(numbers[:wanted])


def _rotation_vector(joint: Joint, raw: object, path: str, findings: Findings) -> object:
    """The rotation vector that ``raw`` spells; one number is none, but for zero."""
    if isinstance(raw, dict) and not joint.n_translations:
        warn_of_angles(raw, path, findings)
        return list(rotation_vector(frame_of(raw, path, findings)))
    if isinstance(raw, dict | str) or real(raw):
        message = f"is a rotation vector where a joint is spherical, got {shown(raw)}"
        findings.refuse(path, message, f'give {joint.n_u} values in brackets, e.g. [..., "10 deg", 0, 0]')
        return 0
    return raw


def _sprung(joint: Joint, values: dict[str, Any], path: str, findings: Findings) -> None:
    """Leaves the three values of a spherical rotation to a spring that has some stiffness there."""
    n, stiffness = joint.n_coordinates, values.get("stiffness", ())
    sprung = any(stiffness[n:])
    for name in (name for name, value in JOINT_VALUES.items() if value.turns and name in values):
        numbers = values[name]
        if sprung:
            values[name] = numbers + (0.0,) * (joint.n_u - len(numbers))
        else:
            if any(numbers[n:]):
                findings.refuse(f"{path}.{name}", "is for a spring, and this rotation has none", "give stiffness too")
            values[name] = numbers[:n]


def _points(
    joint: Joint, value: JointValue, raw: object, path: str, findings: Findings
) -> tuple[tuple[float, float], ...]:
    """The points of a table over the only coordinate in SI, increasing; none where there are faults."""
    if joint.n_coordinates != 1:
        message = f"needs a joint with exactly one distance or angle, this one has {joint.n_coordinates}"
        findings.refuse(
            path, message, "give it to one with exactly one coordinate, or split the joint with a massless body"
        )
        return ()
    first, unit = ("m", value.translation) if joint.n_translations else ("rad", value.rotation)
    units = (value.over or first, unit)
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
        if not point[0] > value.after(last[0]):
            message = f"must be above {last[0]:.6g} {units[0]} of the point before, got {point[0]:.15g} {units[0]}"
            remedy = "give the points in the order of their first numbers"
            remedy += f", {AT_ONCE:g} s apart and more (and that part of the time)" if value.over else ""
            findings.refuse(f"{path}[{k + 2}][1]", message, remedy)
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
            return ()
    return cast("tuple[Motion, ...]", tuple(entries))


def _how_many(joint: Joint) -> str:
    return "give one value" if joint.n_u == 1 else f"give one value for all, or {joint.n_u}"


def _freedoms(joint: Joint) -> str:
    return f"{joint.n_u} degree{'s' if joint.n_u != 1 else ''} of freedom"
