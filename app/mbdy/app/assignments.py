"""``--set NAME=VALUE``: inputs, parameters and start values by name, as a person types them."""

from __future__ import annotations

import tomllib
import warnings
from dataclasses import dataclass
from typing import Any

from mbdy.app.common import RequestError
from mbdy.blocks import Condition, Plant, VariableError
from mbdy.engine import Ports, Variable
from mbdy.engine.model.faults import ModelWarning, RefusalError
from mbdy.engine.model.units import odd_angle
from mbdy.engine.model.values import element, elements
from mbdy.engine.model.variables import UPPER

WHEN = "--when"
Entry = Any
"""Text of a number, or a list of entries."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """``name`` of a variable or of one of its elements, and its ``values`` in SI."""

    text: str
    name: str
    scalars: tuple[str, ...]
    values: tuple[float, ...]


def assigned(plant: Plant, texts: list[str], option: str = "--set") -> list[Assignment]:
    """Set what ``texts`` say on ``plant``; raises `RequestError` that repeats the ``option`` it is about."""
    assignments = [assignment(text, plant.ports, option) for text in texts]
    setters: dict[str, str] = {}
    for one in assignments:
        for scalar in one.scalars:
            if (before := setters.setdefault(scalar, one.text)) is not one.text:
                raise RequestError(f"{option} {one.text}: {scalar} is set by {before!r} too; keep one of them")
    for one in assignments:
        try:
            plant[one.name] = list(one.values)
        except VariableError as fault:
            raise RequestError(f"{option} {one.text}: {fault}") from None
    plant.outputs()  # refuses what the values together cannot be, such as an attitude of zeros
    return assignments


def assignment(text: str, ports: Ports, option: str = "--set") -> Assignment:
    """``"panel.joint.torque=0.2 N*m"`` read by the table ``ports``; warns of an angle that looks like degrees."""
    name, equals, value = text.partition("=")
    name, value = name.strip(), value.strip()
    if not (equals and name and value):
        raise RequestError(f"{option} {text}: give NAME=VALUE, e.g. {option} 'bus.omega[1]=5 deg/s'")
    try:
        variable, part = ports.find(name, starts=True)
        values = _values(value, name, variable, part)
    except KeyError as fault:
        raise RequestError(f"{option} {text}: {fault.args[0]}") from None
    except RefusalError as fault:
        raise RequestError(f"{option} {text}: {fault}") from None
    for remark in dict.fromkeys(values.remarks):
        warnings.warn(f"{option} {text}: {remark}", ModelWarning, stacklevel=2)
    return Assignment(text, name, variable.scalar_names[part], tuple(values.numbers))


def conditions(texts: list[str], ports: Ports) -> list[Condition]:
    """``"panel.joint.angle > 90 deg: panel.joint.locked=true; bus.torque[1]=0"``, each as what acts by itself."""
    return [_condition(text, ports) for text in texts]


def _condition(text: str, ports: Ports) -> Condition:
    asked, colon, sets = text.partition(":")
    sign = next((sign for sign in "><" if sign in asked), "")
    output, _, limit = asked.partition(sign or ">")
    if not (colon and sign and output.strip() and limit.strip()):
        example = "'panel.joint.angle > 90 deg: panel.joint.locked=true'"
        raise RequestError(f"{WHEN} {text}: give OUTPUT > VALUE: NAME=VALUE, or with <, e.g. {WHEN} {example}")
    given = [assignment(part, ports, WHEN) for part in sets.split(";")]
    value, sets_by_name = (
        _threshold(output.strip(), _unquoted(limit.strip()), ports),
        {one.name: list(one.values) for one in given},
    )
    if sign == ">":
        return Condition(output=output.strip(), above=value, set=sets_by_name)
    return Condition(output=output.strip(), below=value, set=sets_by_name)


def _threshold(output: str, limit: str, ports: Ports) -> float | str:
    """A plain number as one in SI, as `assignment` takes it, else the text; names are judged where a run begins."""
    try:
        number = float(limit)
        variable, part = ports.find(output)
    except (KeyError, ValueError):
        return limit
    if odd := odd_angle(limit, variable.units[part][0]):
        warnings.warn(f"{WHEN} {output}: {odd}", ModelWarning, stacklevel=2)
    return number


class _Read:
    """Entries as ``numbers`` in SI, and ``remarks`` on them."""

    def __init__(self) -> None:
        self.numbers: list[float] = []
        self.remarks: list[str] = []


def _values(text: str, name: str, variable: Variable, part: slice) -> _Read:
    entries = elements(variable, part, _entries(text), bare=True)
    if len(entries) != part.stop - part.start:
        raise RefusalError(_wrong_count(name, variable, part, len(entries)))
    result = _Read()
    for entry, unit in zip(entries, variable.units[part], strict=True):
        result.numbers.append(element(entry, unit, variable, bare=True))
        if odd := odd_angle(entry, unit):
            result.remarks.append(str(odd))
    return result


def _wrong_count(name: str, variable: Variable, part: slice, got: int) -> str:
    """``bus.omega has 3 elements, got 1: write 'bus.omega=[2, 0, 0] deg/s' or 'bus.omega[1]=2 deg/s'``."""
    units, shown = variable.units[part], variable.display_units[part]
    if len(units) == 1:
        return f"{name} has 1 element, got {got}: give one number"
    unit = (shown[0] or units[0]) if len(set(units)) == 1 else ""
    behind = "" if unit in ("", "1") else f" {unit}"
    first = "true" if variable.boolean else "2"
    if len(units) == len(UPPER) and variable.quantity == "inertia":
        whole = "[2, 2, 2]"
    elif variable.quantity in ("attitude", "frame"):
        whole, first = "[1, 0, 0, 0]", "1"
    else:
        whole = f"[{', '.join([first, *['false' if variable.boolean else '0'] * (len(units) - 1)])}]"
    one = variable.scalar_names[part][0]
    return f"{name} has {len(units)} elements, got {got}: write '{name}={whole}{behind}' or '{one}={first}{behind}'"


def _entries(text: str) -> Any:
    """``text``, or the table or entries of the list that it spells; a unit behind a bracket is each entry's.

    Quotes around a value, which a model file needs, may be there.
    """
    if text.startswith("{"):
        return _table(text)
    if not text.startswith("["):
        return _unquoted(text)
    inside, close, unit = text[1:].rpartition("]")
    if not close:
        raise RefusalError("a bracket is not closed", "give a list such as [0.1, 0, 0]")
    return [_entries(f"{_unquoted(entry)} {unit.strip()}".strip()) for entry in _split(inside)]


def _table(text: str) -> dict[str, Any]:
    """The table that ``text`` is, as a model file has it in braces."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError as error:
        remedy = 'write it as in a model file, \'{ sequence = "xyz", angles = ["10 deg", 0, 0] }\''
        raise RefusalError(f"is no table: {error}", remedy) from None


def _unquoted(text: str) -> str:
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1].strip() if quoted else text


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
