"""Spellings of a rotation - a sequence of angles, a quaternion, a matrix - as a unit quaternion w, x, y, z.

A joint's ``frame`` maps joint-frame components to parent components.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mbdy.engine.model.arrays import IDENTITY, Quaternion, Vector3, listed
from mbdy.engine.model.faults import Findings, RefusalError, nearest, shown, warn
from mbdy.engine.model.rotations import rotation
from mbdy.engine.model.units import odd_angle, quantity

UNIT_NORM = 1e-14
"""A quaternion whose norm is this near to one stays as it is, bit for bit."""
NEAR_UNIT = 1e-6
"""A norm this near to one is rounding of a file's decimals, seven digits or more, and not worth a warning."""
NO_DIRECTION = 1e-9
"""A quaternion shorter than this is taken for zero."""
ORTHOGONALITY = 1e-6
"""How far a rotation matrix in the file may be from an orthogonal one, entry by entry of RᵀR − 1."""

_FRAME_KEYS = ("sequence", "angles", "quaternion", "rotation_vector")
_EXAMPLE = 'give { sequence = "zyx", angles = ["90 deg", 0, 0] }, { quaternion = [1, 0, 0, 0] } or a 3x3 matrix'


def frame(value: object) -> Quaternion:
    """`frame_of` any rows and tables, or of four numbers in a row, a quaternion. Raises `RefusalError` for the first
    fault; warns of a quaternion that is scaled."""
    entries = listed(value)
    if isinstance(entries, dict):
        entries = {key: listed(entry) for key, entry in entries.items()}
    elif isinstance(entries, list) and len(entries) == 4:
        entries = {"quaternion": entries}
    findings = Findings()
    quaternion = frame_of(entries, "", findings)
    for fault in findings.faults:
        raise RefusalError(fault.message, fault.remedy, fault.path)
    for remark in findings.warnings:
        warn(f"frame{remark}")
    return quaternion


def frame_of(value: object, path: str, findings: Findings) -> Quaternion:
    """The unit quaternion that a joint's ``frame`` means; identity where it has faults, in ``findings``."""
    before = len(findings.faults)
    if isinstance(value, list):
        rows = [_numbers(row, 3, "1", f"{path}[{i + 1}]", findings) for i, row in enumerate(value)]
        if len(rows) != 3:
            findings.refuse(path, f"must have three rows, got {len(rows)}", _EXAMPLE)
        if len(findings.faults) == before:
            return findings.attempt(path, from_matrix, rows, instead=IDENTITY)
    elif isinstance(value, dict):
        return _from_table(value, path, findings)
    else:
        findings.refuse(path, f"must be a table or a 3x3 matrix, got {shown(value)}", _EXAMPLE)
    return IDENTITY


def unit_quaternion(values: tuple[float, ...]) -> tuple[Quaternion, float]:
    """Four numbers scaled to norm 1, and their norm. Raises `RefusalError` where they are zero."""
    w, x, y, z = values
    norm = math.hypot(w, x, y, z)
    if norm < NO_DIRECTION:
        raise RefusalError("a zero quaternion is no attitude", "no rotation is [1, 0, 0, 0]; the scalar comes first")
    if abs(norm - 1.0) <= UNIT_NORM:
        return (w, x, y, z), norm
    return (w / norm, x / norm, y / norm, z / norm), norm


def from_sequence(sequence: str, angles: list[float]) -> Quaternion:
    """Rotations [rad] about the axes that ``sequence`` names (``"zyx"``), each following those made."""
    turned = IDENTITY
    for letter, angle in zip(sequence, angles, strict=True):
        half = [0.0, 0.0, 0.0]
        half["xyz".index(letter)] = math.sin(angle / 2)
        turned = product(turned, (math.cos(angle / 2), half[0], half[1], half[2]))
    return unit_quaternion(turned)[0]


def from_matrix(rows: list[list[float]]) -> Quaternion:
    """The quaternion with w >= 0 of a rotation matrix. Raises `RefusalError` for what is no rotation."""
    matrix = np.array(rows)
    error = float(np.max(np.abs(matrix.T @ matrix - np.eye(3)))) if np.max(np.abs(matrix)) < 2 else math.inf
    if error > ORTHOGONALITY:
        remedy = "its columns must have length 1 and right angles between them; give more digits or use a sequence"
        raise RefusalError(f"is not a rotation matrix: its columns miss orthogonality by {error:.2g}", remedy)
    if np.linalg.det(matrix) < 0:
        raise RefusalError(
            "is a reflection, its determinant is -1", "turn the sign of one axis to make it right-handed"
        )
    (a, b, c), (d, e, f), (g, h, i) = rows
    # Four times each product of two components of the quaternion; the largest one's row is the sharpest.
    products = (
        (1 + a + e + i, h - f, c - g, d - b),
        (h - f, 1 + a - e - i, b + d, c + g),
        (c - g, b + d, 1 - a + e - i, f + h),
        (d - b, c + g, f + h, 1 - a - e + i),
    )
    best = max(range(4), key=lambda k: products[k][k])
    w, x, y, z = products[best]
    sign = -1.0 if w < 0 else 1.0
    return unit_quaternion((sign * w, sign * x, sign * y, sign * z))[0]


def product(p: Quaternion, q: Quaternion) -> Quaternion:
    """The quaternion of the rotation ``q`` followed, in fixed axes, by ``p``."""
    a, b, c, d = p
    w, x, y, z = q
    return (
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    )


def is_turn(value: object) -> bool:
    """Whether ``value`` spells a rotation otherwise than by the four numbers of a quaternion."""
    return isinstance(value, dict) or (isinstance(value, list) and any(isinstance(row, list) for row in value))


def inverse(q: Quaternion) -> Quaternion:
    """The unit quaternion of the opposite rotation."""
    w, x, y, z = q
    return w, -x, -y, -z


def turned(q: Quaternion) -> Callable[[Vector3], Vector3]:
    """What turns a vector by the unit quaternion ``q``."""
    if q in (IDENTITY, inverse(IDENTITY)):
        return lambda vector: vector
    matrix = rotation(q)

    def turn(vector: Vector3) -> Vector3:
        x, y, z = (matrix @ vector).tolist()
        return x, y, z

    return turn


def from_rotation_vector(vector: Sequence[float]) -> Quaternion:
    """The quaternion of a rotation by the size of ``vector`` [rad] about its direction."""
    angle = math.hypot(*vector)
    share = math.sin(angle / 2) / angle if angle else 0.5
    x, y, z = (share * component for component in vector)
    return unit_quaternion((math.cos(angle / 2), x, y, z))[0]


def rotation_vector(q: Quaternion) -> Vector3:
    """The rotation vector [rad] of a unit quaternion, of half a turn at most."""
    w, x, y, z = q if q[0] >= 0 else tuple(-part for part in q)
    size = math.hypot(x, y, z)
    share = 2 * math.atan2(size, w) / size if size else 2.0
    return (share * x, share * y, share * z)


def axes_frame(value: object) -> str:
    """In which axes those of a joint are given. Raises `RefusalError`."""
    if value not in ("joint", "parent"):
        raise RefusalError(f'must be "joint" or "parent", got {shown(value)}', "left out, axes are in the joint frame")
    return str(value)


def warn_of_angles(frame: object, path: str, findings: Findings) -> None:
    """Warn of angles of a ``frame`` found at ``path`` that look like degrees."""
    for key in ("angles", "rotation_vector"):
        angles = frame.get(key) if isinstance(frame, dict) else None
        for k, angle in enumerate(angles if isinstance(angles, list) else [angles]):
            if odd := odd_angle(angle, "rad"):
                place = f"{path}.{key}" + (f"[{k + 1}]" if isinstance(angles, list) else "")
                findings.warn(place, odd.message, odd.remedy)


def sequence_fault(sequence: object) -> str:
    """What is wrong with a ``sequence`` of axes (``"zyx"``); empty where nothing is."""
    good = isinstance(sequence, str) and 1 <= len(sequence) <= 3 and set(sequence) <= set("xyz")
    return "" if good else f"must be one to three of the letters x, y, z, got {shown(sequence)}"


def _from_table(table: dict[str, Any], path: str, findings: Findings) -> Quaternion:
    before = len(findings.faults)
    for key in table:
        if key not in _FRAME_KEYS:
            findings.refuse(f"{path}.{key}", "unknown key", nearest(key, _FRAME_KEYS))
    for one, others in (("quaternion", "a quaternion"), ("rotation_vector", "a rotation vector")):
        if one in table and len(table.keys() & set(_FRAME_KEYS)) > 1:
            findings.refuse(path, f"has {others} and another spelling", "keep one of them")
            return IDENTITY
    if "rotation_vector" in table:
        vector = _numbers(table["rotation_vector"], 3, "rad", f"{path}.rotation_vector", findings)
        return from_rotation_vector(vector) if len(findings.faults) == before else IDENTITY
    if "quaternion" in table:
        values = _numbers(table["quaternion"], 4, "1", f"{path}.quaternion", findings)
        return normalized(tuple(values), f"{path}.quaternion", findings) if len(findings.faults) == before else IDENTITY
    for key in ("sequence", "angles"):
        if key not in table:
            findings.refuse(f"{path}.{key}", "is missing", _EXAMPLE)
    if "sequence" in table and (fault := sequence_fault(table["sequence"])):
        findings.refuse(f"{path}.sequence", fault, 'for example sequence = "zyx"')
    if len(findings.faults) > before:
        return IDENTITY
    entries, sequence = table["angles"], table["sequence"]
    entries = entries if isinstance(entries, list) or len(sequence) > 1 else [entries]
    angles = _numbers(entries, len(sequence), "rad", f"{path}.angles", findings)
    return from_sequence(sequence, angles) if len(findings.faults) == before else IDENTITY


def normalized(values: tuple[float, ...], path: str, findings: Findings, one: str = "one") -> Quaternion:
    """Four numbers found at ``path`` scaled to norm 1, identity where they are zero; a warning calls them ``one``."""
    quaternion, norm = findings.attempt(path, unit_quaternion, values, instead=(IDENTITY, 1.0))
    if abs(norm - 1.0) > NEAR_UNIT:
        findings.warn(path, f"has norm {norm:.9g} and is scaled to 1", f"give {one} of norm 1")
    return quaternion


def _numbers(value: object, count: int, unit: str, path: str, findings: Findings) -> list[float]:
    """``count`` numbers in ``unit`` from a list of the file."""
    if not isinstance(value, list) or len(value) != count:
        got = f"{len(value)} entries" if isinstance(value, list) else shown(value)
        findings.refuse(path, f"must be a list of {count} numbers, got {got}", f"give {count} in brackets")
        return []
    numbers = [findings.attempt(f"{path}[{k + 1}]", quantity, entry, unit) for k, entry in enumerate(value)]
    return [number for number in numbers if number is not None]
