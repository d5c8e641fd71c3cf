"""The start of a run: ``[initial]`` and ``[guess]`` of a file, by the names of `mbdy.engine.model.ports`, in SI."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any

from mbdy.engine.files.tables import FileTable
from mbdy.engine.model.faults import Findings
from mbdy.engine.model.ports import ports
from mbdy.engine.model.profiles import start_rates
from mbdy.engine.model.starts import respelled, start_of
from mbdy.engine.model.system import Body, Draft
from mbdy.engine.model.tanks import Tank, check_masses
from mbdy.engine.model.variables import Variable

STARTS = ("initial", "guess")
"""The tables of start values: those that are kept, and those that closing loops may move."""


def starts_of(
    file: FileTable,
    bodies: tuple[Body, ...],
    tanks: tuple[Tank, ...],
    unread: Set[str],
    findings: Findings,
) -> tuple[dict[str, tuple[float, ...]], ...]:
    """Start values by name from the tables `STARTS`, in which ``bus.omega = ...`` is ``{bus: {omega: ...}}``.

    ``unread`` are bodies of the file that are not among ``bodies``, wheels that they lack (``"bus.x"``), and ``"tank"``
    where a tank is not among ``tanks``; their names are passed over unjudged.
    """
    variables: Mapping[str, Variable] | None = None
    starts: dict[str, dict[str, tuple[float, ...]]] = {table: {} for table in STARTS}
    entries = [(table, *leaf) for table in STARTS for leaf in _leaves(getattr(file, table))]
    for table, written, given in entries:
        path = f"{table}.{written}"
        if variables is None:
            asked: dict[str, tuple[float, ...]] = dict.fromkeys((name for _, name, _ in entries), ())
            variables = ports(Draft(name="", bodies=bodies, tanks=tanks, initial=asked)).starts
        name, value = respelled(written, given, variables)
        if name in starts[table]:
            findings.refuse(path, "is given twice", "keep one of them")
        elif name in starts["initial"]:
            findings.refuse(path, "is in [initial] too, where it is kept", "keep one of them")
        elif name in variables or unread.isdisjoint((name.partition(".")[0], name.rpartition(".")[0])):
            start = start_of(name, value, path, [body.name for body in bodies], variables, findings)
            starts[table] |= {} if start is None else {name: start}
    for table, given in starts.items():
        check_masses(tanks, table, given, findings)
    start_rates(bodies, starts, findings)
    return tuple(starts.values())


def _leaves(table: Mapping[str, Any], stem: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        name = f"{stem}.{key}" if stem else key
        if isinstance(value, dict) and not (stem and key == "attitude"):
            yield from _leaves(value, name)
        else:
            yield name, value
