"""The point about which a model's equations are made linear, by names as a user gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mbdy.engine.ports import Ports

Values = Mapping[str, float | Sequence[float]]
"""Values by the names of variables, SI."""


class ReferencePoint:
    """Start values ``s`` and inputs ``u`` of a point, the model file's unless ``at`` has others.

    Switches are off, quaternions of length one. Raises KeyError for an unknown name and ValueError for what is neither
    an input nor the start value of a state, or not finite.
    """

    def __init__(self, table: Ports, at: Values) -> None:
        self.s, self.u = np.array(table.start), np.array(table.vector("input"))
        self.n_x, self.n_u = len(self.s), len(self.u)
        for name, value in at.items():
            variable, part = table.find(name)
            given = np.atleast_1d(np.asarray(value, dtype=float))
            if given.shape != (part.stop - part.start,) or not np.isfinite(given).all():
                raise ValueError(f"at {name!r}: {part.stop - part.start} finite numbers are needed, got {value!r}")
            if variable.causality == "input":
                vector, begin = self.u, variable.offset
            elif variable.start_at is not None:
                vector, begin = self.s, variable.start_at
            else:
                raise ValueError(f"at {name!r}: neither an input nor a start value of a state")
            vector[begin + part.start : begin + part.stop] = given
        for place in table.quaternions:
            norm = np.linalg.norm(self.s[place : place + 4])
            if norm == 0.0:
                raise ValueError(f"at {table.start_names[place]!r}: a quaternion must not be zero")
            self.s[place : place + 4] /= norm
        self.u[table.span("switches")] = 0.0
