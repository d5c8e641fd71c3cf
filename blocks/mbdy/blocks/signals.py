"""Signals that a controller logs: what it gives under names that begin with ``log.``, recorded beside the outputs."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from mbdy.blocks.errors import VariableError
from mbdy.engine import Variable
from mbdy.engine.model.faults import RefusalError, shown
from mbdy.engine.model.owners import Owner
from mbdy.engine.model.values import array_of

Array = NDArray[np.float64]
LOG = "log"
NAME = re.compile(r"log\.(?P<name>\w+)(\s*\[(?P<unit>[\w./*^·°%-]+)\])?")
"""A signal, with the unit of its numbers behind it: ``log.pointing_error [deg]``."""


class Signals:
    """The signals of one run of so many ``rows``: each is held from one call of the controller to the next."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._now: dict[str, Array] = {}
        self._texts: dict[str, str] = {}
        self._columns: dict[str, Array] = {}
        self._variables: dict[str, Variable] = {}

    def take(self, text: str, value: object) -> None:
        """The ``value`` of the signal called ``text`` from now on; `VariableError` names one that cannot be."""
        named = NAME.fullmatch(text)
        if named is None:
            raise VariableError(f"the controller logs {text!r}; give a name such as 'log.pointing_error [deg]'")
        name, unit = named["name"], named["unit"] or ""
        if unit.isdigit():
            raise VariableError(f"the controller logs {text!r}: elements go together, 'log.{name}': [..., ...]")
        if self._texts.setdefault(name, text) != text:
            raise VariableError(f"the controller logs {text!r} and {self._texts[name]!r}; give one name")
        try:
            numbers = array_of(f"the controller logs {text!r}", value)
        except RefusalError as refusal:
            raise VariableError(str(refusal)) from None
        known = self._variables.get(name)
        if numbers.ndim > 1 or not numbers.size or (known and known.size != numbers.size):
            wanted = f"{known.size} values are" if known else "a number, or a row of them, is"
            raise VariableError(f"the controller logs {text!r}: {wanted} needed each time, got {shown(value)}")
        if known is None:
            labels = ("",) if numbers.size == 1 else tuple(f"[{k + 1}]" for k in range(numbers.size))
            self._variables[name] = Variable(
                owner=Owner("body", LOG), quantity=name, causality="output", units=(unit,) * numbers.size,
                description="Logged by the controller", labels=labels, port=LOG,
            )  # fmt: skip
            self._columns[name] = np.full((self._rows, numbers.size), np.nan)
        self._now[name] = numbers.ravel().copy()

    def add(self, row: int) -> None:
        """Record what the signals are now; rows before a signal's first value are not a number."""
        for name, values in self._now.items():
            self._columns[name][row] = values

    @property
    def variables(self) -> tuple[Variable, ...]:
        return tuple(self._variables.values())

    def values(self, count: int) -> Array:
        """Columns of all ``variables`` in the first ``count`` rows."""
        return np.hstack([np.empty((count, 0)), *(columns[:count] for columns in self._columns.values())])
