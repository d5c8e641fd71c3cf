"""Harmonics of a wheel's disturbance: forces and torques that grow with the square of its speed.

A row ``h, C, phase`` of a sort is ``C W^2`` at the wheel's centre, W its speed against the body: a radial force or
torque at ``h angle + phase`` from the wheel's first radial axis (`mbdy.engine.model.rotations.across`), or a force
``C W^2 sin(h angle + phase)`` along the axis (R. A. Masterson, D. W. Miller, R. L. Grogan, Development and validation
of reaction wheel disturbance models: empirical model, J. Sound Vib. 249 (2002)).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mbdy.engine.model.arrays import listed
from mbdy.engine.model.faults import RefusalError, nearest, shown
from mbdy.engine.model.units import quantity

SORTS: Mapping[str, str] = {"radial_force": "kg.m", "axial_force": "kg.m", "radial_torque": "kg.m2"}
"""Sorts with the unit of their coefficients."""
Harmonics = tuple[tuple[str, float, float, float], ...]
"""Sort, h, C and phase [rad] of each."""
EXAMPLE = "give rows of h, C and maybe a phase, e.g. { radial_force = [[1, 4e-8], [2, 1e-8]] }"


def harmonics(given: object) -> Harmonics:
    """Rows by sort, or of radial forces alone, or what this has made. Raises `RefusalError`."""
    if isinstance(given, tuple) and all(isinstance(row, tuple) and row[:1] and row[0] in SORTS for row in given):
        return given  # pyright: ignore[reportReturnType]
    tables = given if isinstance(given, Mapping) else {"radial_force": given}
    return tuple(row for sort, rows in tables.items() for row in _rows(sort, rows))


def by_sort(rows: Harmonics) -> dict[str, list[list[float]]]:
    """As a file has them."""
    return {sort: [list(row) for of, *row in rows if of == sort] for sort in dict.fromkeys(of for of, *_ in rows)}


def _rows(sort: object, rows: object) -> Iterator[tuple[str, float, float, float]]:
    if sort not in SORTS:
        raise RefusalError(f"unknown sort of harmonics {shown(sort)}", nearest(str(sort), SORTS))
    entries = listed(rows)
    if not isinstance(entries, list) or not all(isinstance(row, list) and len(row) in (2, 3) for row in entries):
        raise RefusalError(f"must be rows of numbers, got {shown(rows)}", EXAMPLE)
    for h, size, *phase in entries:
        yield str(sort), quantity(h, "1"), quantity(size, SORTS[str(sort)]), quantity(phase[0], "rad") if phase else 0.0
