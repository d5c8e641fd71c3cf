"""A table's inputs at instants between two that lie in one piece of it."""

from __future__ import annotations

import numpy as np

from mbdy.blocks.plant import Plant
from mbdy.blocks.table import InputTable


class TabledInputs:
    """Sets the inputs of ``plant`` that a ``table`` has; nothing where it is None."""

    def __init__(self, plant: Plant, table: InputTable | None, close: float) -> None:
        self.plant, self.table, self.close = plant, table, close
        names = () if table is None else table.names
        self.taken = dict.fromkeys(names, "the table of inputs")
        columns = np.array([plant.input_names.index(name) for name in names], dtype=np.intp)
        line = np.zeros(len(names), dtype=bool) if table is None or not table.linear else ~np.array(table.switches)
        self._on_line, self._held = columns[line], columns[~line]
        self._line = line
        self.between(0.0, 1.0)

    @property
    def any_held(self) -> bool:
        return bool(len(self._held))

    def between(self, begin: float, end: float) -> None:
        """The next instants lie from ``begin`` to ``end`` [s], between which the table has no row."""
        self._begin, self._end = begin, end
        if self.table is not None:
            rows = self.table.at(np.array([begin, end]), self.close)
            (self._value, later), (self._first, self._last) = rows[:, self._line], rows[:, ~self._line]
            self._change = later - self._value

    def ahead(self, t: float) -> None:
        """Set those that go on lines to their values at ``t`` [s], the end of a step to come."""
        if len(self._on_line):
            part = (t - self._begin) / (self._end - self._begin)
            self.plant.inputs.values[self._on_line] = self._value + part * self._change

    def arrived(self, t: float) -> None:
        """Set those that are held to their values from ``t`` [s] on."""
        if self.any_held:
            self.plant.inputs.values[self._held] = self._last if t >= self._end else self._first
