"""Inertia as people have it: six entries by name, and about other points than the mass centre."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mbdy.engine.model.arrays import NEGATIVE_MOMENT, Matrix3, Vector3, mirrored
from mbdy.engine.model.faults import Findings, RefusalError, nearest, shown
from mbdy.engine.model.rotations import cross_matrix
from mbdy.engine.model.units import quantity

MOMENTS, PRODUCTS = ("xx", "yy", "zz"), ("xy", "xz", "yz")
READINGS = {"tensor": 1.0, "integrals": -1.0}
"""What ``products`` may say, and the sign that makes such a product an entry of the tensor."""
ABOUT = ("com", "origin", "joint")
"""What an inertia may be about: the mass centre, the body's origin, the place of its joint."""
FLOAT_ROUNDING = 2.0**-50


def rows_of_entries(table: Mapping[str, Any], path: str, findings: Findings) -> list[list[float]]:
    """The 3x3 tensor [kg.m2] of a ``table`` found at ``path``: ``xx``, ``yy``, ``zz``, products ``xy``, ``xz``, ``yz``
    (0 unless given), and ``products``: ``"tensor"`` for entries of the tensor, ``"integrals"`` for integrals of x y dm,
    which have the other sign. Faults go to ``findings``, products that are not zero without ``products`` among them."""
    known = (*MOMENTS, *PRODUCTS, "products")
    for key in table:
        if key not in known:
            findings.refuse(f"{path}.{key}", "unknown key", nearest(key, known))
    for key in MOMENTS:
        if key not in table:
            findings.refuse(
                f"{path}.{key}", "is missing", "give xx, yy and zz in kg.m2, and products that are not zero"
            )
    entries = {
        key: findings.attempt(f"{path}.{key}", quantity, table[key], "kg.m2", instead=0.0)
        for key in (*MOMENTS, *PRODUCTS)
        if key in table
    }
    reading = table.get("products")
    if reading is not None and not (isinstance(reading, str) and reading in READINGS):
        findings.refuse(f"{path}.products", f'must be "tensor" or "integrals", got {shown(reading)}', _REMEDY)
    elif reading is None and (product := next((key for key in PRODUCTS if entries.get(key)), "")):
        message = f"{entries[product]:g} can be read two ways, of opposite sign"
        findings.refuse(f"{path}.{product}", message, _REMEDY)
    sign = READINGS.get(str(reading), 1.0)
    xx, yy, zz = (entries.get(key, 0.0) for key in MOMENTS)
    xy, xz, yz = (sign * entries.get(key, 0.0) + 0.0 for key in PRODUCTS)
    return [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]


_REMEDY = 'say products = "tensor" for entries of the tensor (-integral of x y dm), or products = "integrals" for these'


def spelled_inertia(value: object) -> object:
    """``value``, or the rows of a table of entries. Raises `RefusalError` for its first fault."""
    if not isinstance(value, Mapping):
        return value
    findings = Findings()
    rows = rows_of_entries(value, "", findings)
    for fault in findings.faults:
        raise RefusalError(fault.message, fault.remedy, fault.path)
    return rows


def about_what(value: object) -> str:
    """One of `ABOUT`. Raises `RefusalError`."""
    if not isinstance(value, str) or value not in ABOUT:
        raise RefusalError(f"must be one of {', '.join(ABOUT)}, got {shown(value)}", 'the mass centre is "com"')
    return value


def about_mass_centre(tensor: Matrix3, about: str, mass: float, com: Vector3, joint_place: Vector3) -> Matrix3:
    """A ``tensor`` [kg.m2] that is ``about`` one of `ABOUT`, about the mass centre ``com`` [m, body axes] (Steiner).

    Raises `RefusalError` where less than nothing is left.
    """
    if about == "com":
        return tensor
    arm = cross_matrix(np.array(com) - (np.array(joint_place) if about == "joint" else 0.0))
    share = -mass * arm @ arm
    left = np.array(tensor) - share
    scale = float(np.max(np.abs(tensor)))
    left[np.abs(left) <= FLOAT_ROUNDING * max(scale, float(np.max(np.abs(share))))] = 0.0
    moments, axes = np.linalg.eigh(left)
    if moments[0] < -NEGATIVE_MOMENT * scale:
        message = f"leaves a principal moment of {moments[0]:.6g} kg.m2 about the mass centre"
        whence = "its joint" if about == "joint" else "the origin"
        remedy = f"the mass alone has {np.trace(share) / 2:.6g} kg.m2 about {whence}; is it about the mass centre?"
        raise RefusalError(message, remedy)
    if moments[0] < 0.0:
        left = axes @ np.diag(np.maximum(moments, 0.0)) @ axes.T
    x, y, z = ((float(row[0]), float(row[1]), float(row[2])) for row in (left + left.T) / 2)
    return mirrored((x, y, z))
