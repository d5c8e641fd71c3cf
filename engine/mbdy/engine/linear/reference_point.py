"""The point about which a model's equations are made linear, by names as a user gives them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mbdy.engine.linear.operating_point import Value, assigned
from mbdy.engine.model.faults import RefusalError
from mbdy.engine.model.ports import Ports

Values = Mapping[str, Value]
"""Values by the names of variables, in SI or as text with unit."""


class ReferencePoint:
    """Start values ``s`` and inputs ``u`` of a point, in the vectors of ``table``, the model file's unless ``at`` has
    others, by names that ``chosen`` (the table itself where left out) has.

    Switches are off, quaternions of length one. Raises KeyError for an unknown name and `RefusalError` for what is
    neither an input nor the start value of a state, a switch, or no finite number.
    """

    def __init__(self, table: Ports, at: Values, chosen: Ports | None = None) -> None:
        chosen = chosen or table
        for name in at:
            chosen.find(name, starts=True)
            variable, _ = table.find(name)
            if variable.port == "switches":
                raise RefusalError(f"at {name!r}: switches are off about the point of linear equations",
                                   "leave it out and set it on the plant")  # fmt: skip
            if variable.causality == "parameter":
                raise RefusalError(f"at {name!r}: a parameter, which the matrices follow as the plant has it",
                                   "leave it out and set it on the plant or in the model file")  # fmt: skip
        self.s, self.u, _ = assigned(table, chosen, at, np.zeros(len(table.start)))
        self.n_x, self.n_u = len(self.s), len(self.u)
        for place in table.quaternions:
            norm = np.linalg.norm(self.s[place : place + 4])
            if norm == 0.0:
                raise RefusalError(f"at {table.start_names[place]!r}: a quaternion must not be zero")
            self.s[place : place + 4] /= norm
        self.u[table.span("switches")] = 0.0
