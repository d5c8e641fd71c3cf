"""The port table one scalar a row: what an FMU's value references mean, for every description and the slave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from mbdy.engine.ports import Ports
from mbdy.engine.variables import Causality, Variable

VECTORS: Mapping[Causality, str] = {"input": "u", "parameter": "p", "output": "y"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar:
    """One scalar variable. Its value reference is its place in the table: inputs, parameters, outputs.

    ``vector`` and ``place`` say where the core has it, ``start_at`` where its start value is in ``s`` (states).
    ``dependencies`` are value references of the inputs that act on an output at the same instant.
    """

    name: str
    causality: Causality
    vector: str
    place: int
    unit: str
    display_unit: str | None
    description: str
    start: float | None
    start_at: int | None
    boolean: bool
    tunable: bool
    minimum: float | None
    maximum: float | None
    nominal: float | None
    dependencies: tuple[int, ...]

    def slave_row(self) -> dict[str, Any]:
        """The row as the slave reads it."""
        row = asdict(self)
        for key in ("description", "display_unit", "dependencies"):
            del row[key]
        return row


def scalars(ports: Ports) -> tuple[Scalar, ...]:
    """The rows of ``ports``, in the order of their value references."""
    inputs = {v.name: tuple(range(v.places.start, v.places.stop)) for v in ports.inputs}
    combined: dict[tuple[str, ...], tuple[int, ...]] = {}  # whole lists are shared by many outputs

    def dependencies(variable: Variable) -> tuple[int, ...]:
        names = variable.dependencies
        if names not in combined:
            combined[names] = tuple(sorted(vr for name in names for vr in inputs[name]))
        return combined[names]

    return tuple(_scalar(v, k, dependencies(v)) for v in ports for k in range(v.size))


def _scalar(v: Variable, k: int, dependencies: tuple[int, ...]) -> Scalar:
    default = 0.0 if v.causality != "output" else None
    return Scalar(
        name=v.scalar_names[k],
        causality=v.causality,
        vector=VECTORS[v.causality],
        place=v.offset + k,
        unit=v.units[k],
        display_unit=v.display_units[k],
        description=v.description,
        start=default if v.start is None else v.start[k],
        start_at=None if v.start_at is None else v.start_at + k,
        boolean=v.boolean,
        tunable=v.tunable,
        minimum=v.minimum,
        maximum=v.maximum,
        nominal=v.nominal,
        dependencies=dependencies,
    )
