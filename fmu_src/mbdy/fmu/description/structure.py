"""The element ModelStructure: which variables are unknowns, and what each depends on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from xml.etree.ElementTree import Element, SubElement

from mbdy.engine.model.owners import Owner, Quantity
from mbdy.fmu.description.variables import initially
from mbdy.fmu.table import Array, Scalar
from mbdy.fmu.versions import Version

MOST_DEPENDENCIES = 2_000_000
"""Entries in ModelStructure (some 15 MB) beyond which long ``dependencies`` are left out, which means all."""
SPEEDS: Mapping[Quantity, Quantity] = {
    "displacement": "velocity", "angle": "rate", "position": "velocity", "centre_of_mass": "centre_of_mass_velocity",
}  # fmt: skip
"""The speed that is a coordinate's derivative."""

Key = tuple[Owner, Quantity, str]
"""What a scalar is of, and its index."""

Unknown = tuple[Array, tuple[int, ...] | None]
"""A variable with the variables that it depends on, by what refers to them in the file; None for all."""


def model_structure(version: Version, variables: Sequence[Array]) -> Element:
    """ModelStructure of ``variables``.

    With derivatives among them the states are known beside the inputs; without, it is of a co-simulation.
    """
    node, shift = Element("ModelStructure"), int(version.index)  # an index counts from 1
    known = _Known(variables, shift)
    outputs = [(v, known.of_output(v)) for v in variables if v.first.causality == "output"]
    derivatives = [(v, known.of_derivative(v)) for v in variables if v.first.vector == "dx"]
    spelled = sum(len(on or ()) for _, on in outputs + derivatives) <= MOST_DEPENDENCIES
    indicators: list[Unknown] = [(v, None) for v in variables if v.first.vector == "z"]
    initial: list[Unknown] = [
        (v, None) for v in variables if initially(v.first) in ("calculated", "approx") and v.first.vector != "z"
    ]

    def attributes(unknown: Unknown) -> dict[str, str]:
        v, on = unknown
        reference = {"index" if shift else "valueReference": str(v.value_reference + shift)}
        listed = on is not None and (spelled or len(on) <= 1)
        return {**reference, "dependencies": _text(on)} if on is not None and listed else reference

    for tag, unknowns in zip(version.unknowns, (outputs, derivatives, initial, indicators), strict=False):
        parent = SubElement(node, tag) if version.unknown and unknowns else node
        for unknown in unknowns:
            SubElement(parent, version.unknown or tag, attributes(unknown))
    return node


@cache
def _text(references: tuple[int, ...]) -> str:
    return " ".join(map(str, references))


class _Known:
    """Inputs and states of a list of variables, by what refers to them in the file."""

    def __init__(self, variables: Sequence[Array], shift: int) -> None:
        self.inputs = {
            v.value_reference + k: v.value_reference + shift
            for v in variables if v.first.causality == "input" for k in range(v.size)
        }  # fmt: skip
        differentiated = any(v.first.vector == "dx" for v in variables)
        states = [v for v in variables if v.first.state is not None] if differentiated else []
        self.states = {_key(row): v.value_reference + shift for v in states for row in v.rows}
        self.places = {row.state: v.value_reference + shift for v in states for row in v.rows}
        self.combined: dict[object, tuple[int, ...]] = {}  # whole lists are shared by many unknowns

    def of_output(self, v: Array) -> tuple[int, ...]:
        """A state depends on itself, another output on the states and inputs in its equation."""
        if v.first.state is not None and self.states:
            return (self.states[_key(v.first)],)
        return self._in_equations(v)

    def _in_equations(self, v: Array) -> tuple[int, ...]:
        """All states where it is not known which."""
        rows = tuple({(row.states, row.dependencies): None for row in v.rows})
        if rows not in self.combined:
            states = {at for of, _ in rows for at in (self.places if of is None else of)}
            on = {self.inputs[vr] for _, inputs in rows for vr in inputs}
            self.combined[rows] = tuple(sorted(on | {self.places[at] for at in states if self.places}))
        return self.combined[rows]

    def of_derivative(self, v: Array) -> tuple[int, ...] | None:
        """What is in its equation; without one a coordinate's is what moves it, any other's all that is known."""
        if v.first.states is not None:
            return self._in_equations(v)
        keys = [key for row in v.rows for key in _movers(row)]
        return tuple(sorted({self.states[key] for key in keys})) if keys else None


def _key(row: Scalar) -> Key:
    return row.owner, row.quantity, row.label


def _movers(derivative: Scalar) -> Iterator[Key]:
    """The states that alone move the coordinate whose derivative this is; none for what is no coordinate."""
    owner, quantity, label = _key(derivative)
    if quantity == "attitude":
        for k in (1, 2, 3, 4):
            yield owner, "attitude", f"[{k}]"
        for k in (1, 2, 3):
            yield owner, "omega", f"[{k}]"
    elif owner.kind == "modes" and quantity == "displacement":
        yield owner, "rate", label
    elif owner.kind == "wheel" and quantity == "angle":
        yield owner, "speed", label
    elif owner.kind != "modes" and quantity in SPEEDS:
        yield owner, SPEEDS[quantity], label
