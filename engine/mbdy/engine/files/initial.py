"""The start of a run: ``[initial]`` and ``[guess]`` of a file, by the names of `mbdy.engine.model.ports`, in SI."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from mbdy.engine.files.frames import normalized
from mbdy.engine.files.tables import FileTable
from mbdy.engine.model.faults import Findings, nearest, shown
from mbdy.engine.model.ports import ports
from mbdy.engine.model.system import Body, Model
from mbdy.engine.model.units import odd_angle, quantity
from mbdy.engine.model.variables import Variable

STARTS = ("initial", "guess")
"""The tables of start values: those that are kept, and those that closing loops may move."""


def starts_of(
    file: FileTable, bodies: tuple[Body, ...], unread: Collection[str], findings: Findings
) -> tuple[dict[str, tuple[float, ...]], ...]:
    """Start values by name from the tables `STARTS`, in which ``bus.omega = ...`` is ``{bus: {omega: ...}}``.

    ``unread`` are bodies of the file that are not among ``bodies``; their names are passed over unjudged.
    """
    variables: Mapping[str, Variable] | None = None
    starts: dict[str, dict[str, tuple[float, ...]]] = {table: {} for table in STARTS}
    entries = [(table, *leaf) for table in STARTS for leaf in _leaves(getattr(file, table))]
    for table, name, value in entries:
        path = f"{table}.{name}"
        if variables is None:
            variables = ports(Model(name="", bodies=bodies)).starts
        if name in starts[table]:
            findings.refuse(path, "is given twice", "keep one of them")
        elif name in starts["initial"]:
            findings.refuse(path, "is in [initial] too, where it is kept", "keep one of them")
        elif name in variables:
            starts[table][name] = _start(variables[name], value, path, findings)
        elif name.partition(".")[0] not in unread:
            findings.refuse(path, "is no start value of this system", _nearest(name, bodies, variables))
    return tuple(starts.values())


def _leaves(table: Mapping[str, Any], stem: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        name = f"{stem}.{key}" if stem else key
        if isinstance(value, dict):
            yield from _leaves(value, name)
        else:
            yield name, value


def _nearest(name: str, bodies: tuple[Body, ...], variables: Mapping[str, Variable]) -> str:
    """A remedy: the nearest body where there is none of this name, the body's own names otherwise."""
    if name.partition("[")[0] in variables:
        return f"set all of it, {name.partition('[')[0]} = [...]"
    stem = name.partition(".")[0]
    names = [body.name for body in bodies]
    if stem not in names:
        return f"there is no body '{stem}': {nearest(stem, names)}"
    siblings = [v for v in variables if v.startswith(f"{stem}.")]
    return nearest(name, siblings) if siblings else f"body '{stem}' has no states; remove it"


def _start(variable: Variable, value: object, path: str, findings: Findings) -> tuple[float, ...]:
    size = variable.size
    entries = value if isinstance(value, list) else [value]
    if len(entries) != size:
        got = f"{len(entries)} entries" if isinstance(value, list) else shown(value)
        findings.refuse(path, f"must be a list of {size} numbers, got {got}", f"give {size} in brackets")
        return (0.0,) * size
    before, numbers = len(findings.faults), []
    for k, (entry, unit) in enumerate(zip(entries, variable.units, strict=True)):
        place = f"{path}[{k + 1}]" if isinstance(value, list) else path
        numbers.append(findings.attempt(place, quantity, entry, unit, instead=0.0))
        if odd := odd_angle(entry, unit):
            findings.warn(place, odd.message, odd.remedy)
    if variable.quantity == "attitude" and len(findings.faults) == before:
        return normalized(tuple(numbers), path, findings, "a quaternion")
    return tuple(numbers)
