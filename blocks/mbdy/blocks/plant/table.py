"""The table of a plant's variables as C has it (plant.h): a row a scalar, its place the value reference."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from mbdy.blocks.plant.library import CONSTANTS
from mbdy.engine.core.binding import texts
from mbdy.engine.core.integrators import CODES
from mbdy.engine.core.library import Compiled
from mbdy.engine.core.running import Names
from mbdy.engine.model.ports import NOWHERE, Ports
from mbdy.engine.model.variables import Variable

VECTORS = {"input": "PLANT_INPUT", "parameter": "PLANT_PARAMETER", "output": "PLANT_OUTPUT"}
ROW = np.dtype(
    [
        ("name", np.uintp),
        *((name, np.intc) for name in ("vector", "boolean", "place", "size", "start_at", "state", "given")),
        *((name, np.float64) for name in ("start", "minimum", "maximum", "nominal")),
    ],
    align=True,
)
"""``struct plant_variable``."""


@dataclass(frozen=True, slots=True)
class Row:
    """One scalar, with the fields of ``struct plant_variable``."""

    name: str
    vector: int
    boolean: bool
    place: int
    start_at: int
    state: int
    given: int
    start: float
    minimum: float
    maximum: float
    nominal: float


def _listed(ports: Ports) -> list[Variable]:
    """The variables in the order of their references: those that there are, then hidden ones with a start value."""
    return [*ports, *(v for v in ports.hidden if v.start_at is not None)]


def first_references(ports: Ports) -> dict[str, int]:
    """The value reference of the first element of each variable by name."""
    sizes = [v.size for v in _listed(ports)]
    return dict(zip((v.name for v in _listed(ports)), accumulate(sizes, initial=0), strict=False))


def rows(ports: Ports, standing: Mapping[str, int]) -> Iterator[Row]:
    """Rows of all inputs, parameters and outputs, and of hidden start values; ``standing`` is `Model.standing`."""
    for v in _listed(ports):
        hidden, start = v.offset == NOWHERE, v.start or (0.0,) * v.size
        vector = CONSTANTS["PLANT_START" if hidden else VECTORS[v.causality]]
        begin = v.start_at if hidden and v.start_at is not None else v.offset
        for k, name in enumerate(v.scalar_names):
            yield Row(
                name, vector, v.boolean, begin + k,
                -1 if v.start_at is None else v.start_at + k, -1 if v.state is None else v.state + k,
                standing.get(v.name, 0), start[k], -math.inf if v.minimum is None else v.minimum,
                math.inf if v.maximum is None else v.maximum, 1.0 if v.nominal is None else v.nominal,
            )  # fmt: skip


class PlantModel(ctypes.Structure):
    """``plant_model`` of plant.h, with all that it points at."""

    _fields_ = (
        ("token", ctypes.c_char_p),
        ("step", ctypes.c_double),
        ("integrator", ctypes.c_int),
        ("n_variables", ctypes.c_int),
        ("variables", ctypes.c_void_p),
        ("names", Names),
    )

    def __init__(
        self, compiled: Compiled, standing: Mapping[str, int], *, token: str, step: float, integrator: str
    ) -> None:
        table = list(rows(compiled.equations.ports, standing))
        self._texts = texts(row.name for row in table)
        self._rows = np.zeros(len(table), ROW)
        self._rows["name"] = np.frombuffer(memoryview(self._texts).cast("B"), dtype=np.uintp)[: len(table)]
        for field in ROW.names or ():
            if field == "size":
                self._rows[field] = 1
            elif field != "name":
                self._rows[field] = [getattr(row, field) for row in table]
        self._names = Names(compiled)
        super().__init__(
            token.encode(), step, CODES[integrator], len(table), self._rows.ctypes.data, self._names,
        )  # fmt: skip
