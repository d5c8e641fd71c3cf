"""``--set NAME=VALUE``: inputs, parameters and start values by name, as a person types them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mbdy.app.common import RequestError
from mbdy.blocks import Plant, VariableError
from mbdy.engine import Ports, Variable
from mbdy.engine.faults import RefusalError
from mbdy.engine.units import quantity

WORDS = {"true": 1.0, "false": 0.0}
"""What a Boolean input may be called besides 1 and 0."""
PLACES = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
"""The entries of a tensor's upper triangle in the order of its six values."""

Entry = Any
"""Text of a number, or a list of entries."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """``name`` of a variable or of one of its elements, and its ``values`` in SI."""

    text: str
    name: str
    scalars: tuple[str, ...]
    values: tuple[float, ...]


def assigned(plant: Plant, texts: list[str]) -> list[Assignment]:
    """Set what ``texts`` say on ``plant``; raises `RequestError` that repeats the option it is about."""
    made = [assignment(text, plant.ports) for text in texts]
    for one in made:
        try:
            plant[one.name] = list(one.values)
        except VariableError as fault:
            raise RequestError(f"--set {one.text}: {fault}") from None
    plant.outputs()  # refuses what the values together cannot be, such as an attitude of zeros
    return made


def assignment(text: str, ports: Ports) -> Assignment:
    """``"panel.joint.torque=0.2 N*m"`` read by the table ``ports``."""
    name, equals, value = text.partition("=")
    name, value = name.strip(), value.strip()
    if not (equals and name and value):
        raise RequestError(f"--set {text}: give NAME=VALUE, e.g. --set 'bus.omega[1]=5 deg/s'")
    try:
        variable, part = ports.find(name)
        values = _values(value, variable, part)
    except KeyError as fault:
        raise RequestError(f"--set {text}: {fault.args[0]}") from None
    except RefusalError as fault:
        raise RequestError(f"--set {text}: {fault}") from None
    return Assignment(text, name, variable.scalar_names[part], tuple(values))


def _values(text: str, variable: Variable, part: slice) -> list[float]:
    units = variable.units[part]
    read = _entries(text)
    entries = [read] if isinstance(read, str) else read
    if variable.name.endswith(".inertia") and len(units) == len(PLACES) and len(entries) == 3:
        entries = _tensor(entries)
    numbers = [entry for entry in entries if isinstance(entry, str)]
    if len(numbers) < len(entries):
        raise RefusalError("has too many brackets", "give a list such as [0.1, 0, 0]")
    if len(numbers) != len(units):
        example = f"[{', '.join(['0'] * len(units))}]" if len(units) > 1 else "one number"
        raise RefusalError(f"{len(units)} values are needed, got {len(numbers)}", f"give {example}")
    return [_number(entry, unit) for entry, unit in zip(numbers, units, strict=True)]


def _number(text: str, unit: str) -> float:
    if unit == "" and text.lower() in WORDS:
        return WORDS[text.lower()]
    return quantity(text, unit, bare=True)


def _entries(text: str) -> str | list[Entry]:
    """``text``, or the entries of the list that it spells; a unit behind a bracket is each entry's."""
    if not text.startswith("["):
        return text
    inside, close, unit = text[1:].rpartition("]")
    if not close:
        raise RefusalError("a bracket is not closed", "give a list such as [0.1, 0, 0]")
    return [_entries(f"{entry} {unit.strip()}".strip()) for entry in _split(inside)]


def _split(inside: str) -> list[str]:
    """The parts of a list between its commas, those inside brackets left alone."""
    parts, depth = [""], 0
    for letter in inside:
        depth += (letter == "[") - (letter == "]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def _tensor(entries: list[Entry]) -> list[Entry]:
    """Six entries of a tensor from its diagonal or its three rows, as the model file may have them."""
    if all(isinstance(entry, str) for entry in entries):
        x, y, z = entries
        return [x, "0", "0", y, "0", z]
    rows = [row for row in entries if isinstance(row, list) and len(row) == len(entries)]
    if len(rows) < len(entries):
        raise RefusalError("an inertia has three rows of three numbers", "or give the three principal moments")
    for i, j in PLACES:
        if rows[i][j] != rows[j][i]:
            raise RefusalError(f"entries [{i + 1},{j + 1}] and [{j + 1},{i + 1}] differ", "an inertia is symmetric")
    return [rows[i][j] for i, j in PLACES]
