"""Which inputs and outputs a system has: ``[ports]`` of a model file."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal

from mbdy.engine.files.tables import PortsTable
from mbdy.engine.model.faults import Findings, nearest, path_of, shown
from mbdy.engine.model.patterns import matches
from mbdy.engine.model.ports import ports
from mbdy.engine.model.system import Model, PortChoice

EXAMPLE = {"input": "bus.torque", "output": "bus.omega"}
PATTERN = set("*?[")
"""Letters that make a name a pattern."""


def choice_of(table: PortsTable, model: Model, unread: Collection[str], findings: Findings) -> PortChoice:
    """The choice in ``table`` for ``model``, which has all ports; what is wrong goes to ``findings``.

    ``unread`` are bodies of the file that are not among the model's, and ``"loop"``, ``"gear"``, ``"spring"`` or
    ``"contact"`` where one is not: what may name their variables is passed over unjudged.
    """
    known = {} if table == PortsTable() else {v.name: v.causality for v in ports(model)}
    return PortChoice(
        inputs=_patterns("input", table.inputs, known, unread, findings),
        outputs=_patterns("output", table.outputs, known, unread, findings),
    )


def _patterns(
    causality: Literal["input", "output"],
    value: object,
    known: Mapping[str, str],
    unread: Collection[str],
    findings: Findings,
) -> tuple[str, ...] | None:
    """The names and patterns in ``value``; None without any list."""
    if value is None:
        return None
    path = f"ports.{causality}s"
    if not isinstance(value, list):
        remedy = f'write them in brackets, e.g. {causality}s = ["{EXAMPLE[causality]}"]; without the key there are all'
        findings.refuse(path, f"must be a list of names and patterns, got {shown(value)}", remedy)
        return None
    kept: list[str] = []
    for at, pattern in enumerate(value):
        place = path_of(("ports", f"{causality}s", at))
        if not isinstance(pattern, str):
            findings.refuse(place, f"must be text, got {shown(pattern)}", f'write "{EXAMPLE[causality]}", or a pattern')
        elif pattern in kept:
            findings.refuse(place, f"{pattern!r} is given twice", "keep one of them")
        else:
            kept.append(pattern)
            _judge(pattern, causality, place, known, unread, findings)
    return tuple(kept)


def _judge(
    pattern: str, causality: str, place: str, known: Mapping[str, str], unread: Collection[str], findings: Findings
) -> None:
    """Refuse a ``pattern`` that means no variable of that causality, or an element of one; ``known`` has the causality
    of each name."""
    names = [name for name, sort in known.items() if sort == causality]
    if "[" in pattern:
        stem = pattern.partition("[")[0]
        findings.refuse(place, f"{pattern!r} names an element, and a variable is there whole", f"write {stem!r}")
        return
    if any(matches(name, pattern) for name in names):
        return
    body = pattern.partition(".")[0]
    if unread and (body in unread or PATTERN & set(body)):
        return
    others = sorted({sort for name, sort in known.items() if matches(name, pattern)})
    if others == ["parameter"]:
        remedy = "take it out; parameters are always there"
    elif others:
        remedy = f"it is an {others[0]}; name it in ports.{others[0]}s"
    else:
        remedy = nearest(pattern, names)
    findings.refuse(place, f"{pattern!r} is no {causality} of this system", remedy)
