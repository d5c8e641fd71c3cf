"""Which output of one FMU drives which input of the other: by equal names, or as told."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from graphlib import CycleError, TopologicalSorter

from mbdy.fmu.export import ExportError
from mbdy.fmu.ssp.parts import Component, conversion

PLANT, CONTROLLER = "plant", "controller"
"""Names of the components in the system."""
MOST_NAMED = 6
"""A message names no more variables than this."""


@dataclass(frozen=True)
class End:
    """A variable of a component."""

    part: Component
    name: str

    def __str__(self) -> str:
        return f"{self.part.name}.{self.name}"


@dataclass(frozen=True)
class Connection:
    """``source`` drives ``target``, whose value is ``factor`` times the source's plus ``offset``.

    The units are those of the two ends; an end without one has that of the other.
    """

    source: End
    target: End
    source_unit: str
    target_unit: str
    factor: float = 1.0
    offset: float = 0.0

    @property
    def converts(self) -> bool:
        return (self.factor, self.offset) != (1.0, 0.0)


def links(
    plant: Component, controller: Component, requests: Iterable[tuple[str, str]]
) -> tuple[tuple[Connection, ...], list[str]]:
    """The connections, and remarks that a person should read.

    ``requests``  pairs ``("controller.out", "plant.in")``; what stands in one is not connected by its name. A name
                  without its index stands for all elements.

    Raises `ExportError` for what cannot be connected.
    """
    pairs: dict[End, End] = {}  # by what is driven
    for source, target in requests:
        for one, other in _elements(_end(source, plant, controller), _end(target, plant, controller)):
            _check_told(one, other)
            if other in pairs:
                raise ExportError(f"{other}: driven by {pairs[other]} and by {one}; leave one of them out")
            pairs[other] = one
    pairs |= _by_name(plant, controller, {*pairs, *pairs.values()})
    remarks = _open_ends(plant, controller, {*pairs, *pairs.values()})
    connections = tuple(_link(source, target) for target, source in pairs.items())
    remarks += _on_units(connections)
    if cycle := _algebraic_loop(plant, controller, connections):
        remarks.append(
            f"algebraic loop: {' -> '.join(cycle)} act on each other at the same instant; simulators that exchange "
            "values once a step let them act one step late"
        )
    return connections, remarks


def _by_name(plant: Component, controller: Component, taken: set[End]) -> dict[End, End]:
    """What drives what because they have one name; what is ``taken`` already stays out."""
    pairs: dict[End, End] = {}
    for one, other in ((plant, controller), (controller, plant)):
        outputs = {*one.names("output")}
        for name in other.names("input"):
            if name in outputs and taken.isdisjoint((End(one, name), End(other, name))):
                pairs[End(other, name)] = End(one, name)
    return pairs


def _end(text: str, plant: Component, controller: Component) -> End:
    part_name, _, name = text.partition(".")
    for part in (plant, controller):
        if part.name == part_name and name:
            return End(part, name)
    raise ExportError(f"{text!r}: must be a variable of the plant or the controller, as in '{PLANT}.bus.torque[1]'")


def _elements(source: End, target: End) -> list[tuple[End, End]]:
    """The two themselves, or their elements where both are vectors."""
    some, others = _indexed(source), _indexed(target)
    if source.name in source.part.variables or target.name in target.part.variables or not some or not others:
        return [(source, target)]
    if len(some) != len(others):
        raise ExportError(f"{source} has {len(some)} elements, {target} has {len(others)}: connect them one by one")
    return list(zip(some, others, strict=True))


def _indexed(end: End) -> list[End]:
    return [End(end.part, name) for name in end.part.variables if name.rpartition("[")[0] == end.name]


def _check_told(source: End, target: End) -> None:
    for end, causality in ((source, "output"), (target, "input")):
        variable = end.part.variables.get(end.name)
        if variable is None:
            raise ExportError(f"{end}: {end.part.label} has no such variable{_near(end.name, end.part, causality)}")
        if variable.causality != causality:
            raise ExportError(
                f"{end}: is {_article(variable.causality)}, must be {_article(causality)}"
                f"{_near(end.name, end.part, causality)}; give OUTPUT=INPUT"
            )
    if source.part is target.part:
        raise ExportError(f"{source} and {target}: both are of the {source.part.name}; connect it with the other")


def _article(causality: str) -> str:
    return f"an {causality}" if causality[0] in "aeiou" else f"a {causality}"


def _near(name: str, part: Component, causality: str) -> str:
    """Names that may have been meant, as the end of a message."""
    known = part.names(causality)
    near = get_close_matches(name, known, n=3, cutoff=0.6)
    if near:
        return f"; near: {', '.join(near)}"
    return f"; its {causality}s: {_listed(known)}" if known else f"; it has no {causality}s"


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _open_ends(plant: Component, controller: Component, connected: set[End]) -> list[str]:
    """Remarks on what of the controller stays unconnected; all of its inputs, or all of its outputs, may not."""
    remarks: list[str] = []
    for causality, opposite in (("input", "output"), ("output", "input")):
        names = controller.names(causality)
        used = {end.name for end in connected if end.part is controller}
        left = [name for name in names if name not in used]
        for name in left[: MOST_NAMED if used.intersection(names) else 1]:
            shape = f"{CONTROLLER}.{name}={PLANT}.IN" if causality == "output" else f"{PLANT}.OUT={CONTROLLER}.{name}"
            text = (
                f"{controller.label}: {causality} {name!r} is no {opposite} of the plant"
                f"{_near(name, plant, opposite)}; rename it or connect it: --connect '{shape}'"
            )
            if not used.intersection(names):
                raise ExportError(f"{text} (no {causality} of the controller has a counterpart)")
            remarks.append(f"{text} (it stays unconnected)")
        if len(left) > MOST_NAMED:
            remarks.append(f"{controller.label}: {len(left) - MOST_NAMED} more {causality}s stay unconnected")
    return remarks


def _link(source: End, target: End) -> Connection:
    """The connection of two variables of one type and one quantity."""
    kinds = [end.part.variables[end.name].type for end in (source, target)]
    if kinds[0] != kinds[1]:
        raise ExportError(f"{source} is {kinds[0]}, {target} is {kinds[1]}; connect variables of one type")
    source_unit, target_unit = source.part.unit(source.name), target.part.unit(target.name)
    if source_unit == target_unit or not source_unit or not target_unit:
        return Connection(source, target, source_unit or target_unit, target_unit or source_unit)
    for end, unit in ((source, source_unit), (target, target_unit)):
        if unit not in end.part.units:
            raise ExportError(
                f"{end}: its unit {unit!r} has no base units in {end.part.label}, so nothing converts it; define it or "
                f"give the variable the unit of the other side"
            )
    factors = conversion(source.part.units[source_unit], target.part.units[target_unit])
    if factors is None:
        raise ExportError(
            f"{source} is in {source_unit}, {target} in {target_unit}: these are different quantities; connect others, "
            "or mend the unit in the FMU that is wrong"
        )
    return Connection(source, target, source_unit, target_unit, *factors)


def _on_units(connections: tuple[Connection, ...]) -> list[str]:
    """Remarks on connections that convert, and on those whose unit is a guess."""
    remarks = []
    if converted := [link for link in connections if link.converts]:
        some = _listed([f"{x.source} in {x.source_unit} to {x.target} in {x.target_unit}" for x in converted])
        remarks.append(
            f"{some}: converted by a linear transformation; some simulators, FMPy's among them, leave these out"
        )
    ends = ((end, link.source_unit) for link in connections for end in (link.source, link.target))
    if guessed := [f"{end} in {unit}" for end, unit in ends if unit and not end.part.unit(end.name)]:
        remarks.append(f"variables without a unit are taken to be in that of the other side: {_listed(guessed)}")
    return remarks


def _algebraic_loop(plant: Component, controller: Component, connections: tuple[Connection, ...]) -> list[str]:
    """Variables that act on each other in a circle at the same instant; none as a rule."""
    acts: dict[str, set[str]] = {}
    for link in connections:
        acts.setdefault(str(link.target), set()).add(str(link.source))
    for part in (plant, controller):
        driven = [str(link.target) for link in connections if link.target.part is part]
        used = {link.source.name for link in connections if link.source.part is part}
        for unknown in part.description.outputs:
            name = unknown.variable.name if unknown.variable else None
            if name in used:
                on = unknown.dependencies
                causes = driven if on is None else [f"{part.name}.{v.name}" for v in on]
                acts[f"{part.name}.{name}"] = set(causes).intersection(driven)
    try:
        TopologicalSorter(acts).prepare()
    except CycleError as fault:
        return list(fault.args[1])
    return []
