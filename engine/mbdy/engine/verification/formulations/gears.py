"""Gears as constraints: one row ``G`` of factors over the speeds of joints, measured by its norm.

``phi = (c . q - offset) / |c|``, ``G w = c . q' / |c|``; the generalized forces of a multiplier are ``G^T lambda``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mbdy.engine.verification.formulations.closures import Closure
from mbdy.engine.verification.formulations.kinematics import Columns
from mbdy.engine.verification.formulations.reader import Reader
from mbdy.engine.verification.formulations.values import Array, Part


def gears(reader: Reader, columns: Columns, parts: Sequence[Part], u: Array, p: Array) -> list[Closure]:
    """All gears of a model, open ones too, with its bodies as in ``parts``."""
    table, found = reader.ports, []
    for gear in reader.model.gears:
        stem = f"gear.{gear.name}"
        factors, offset, time = (
            p[table.by_name[f"{stem}.{what}"].places] for what in ("factor", "offset", "time_constant")
        )
        closed = bool(u[table.by_name[f"{stem}.closed"].offset] > 0.0) if gear.switchable else gear.closed
        norm, row, total = float(np.linalg.norm(factors)), np.zeros(columns.n), -offset[0]
        for factor, freedom in zip(factors, reader.model.freedoms(gear), strict=True):
            body = reader.model.index[freedom.body]
            row[columns.u[body].start + freedom.place] += factor
            total = total + factor * parts[body].motion.q[freedom.place]
        nothing = np.zeros((3, 1))
        found.append(Closure(
            gear, np.array([total / norm]), row[None] / norm, nothing, nothing, float(time[0]), closed,
            efforts=factors[:, None] / norm, norm=norm,
        ))  # fmt: skip
    return found
