"""What `mbdy.engine.model.signals` are as variables: units, labels and dependencies, and whether they can be."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from mbdy.engine.model.faults import Findings, nearest, path_of
from mbdy.engine.model.owners import Owner, name_of
from mbdy.engine.model.parts import place_of
from mbdy.engine.model.signals import ChosenOutput
from mbdy.engine.model.system import INERTIAL, Body, Model
from mbdy.engine.model.tree_rules import check_name, check_node
from mbdy.engine.model.variables import WORK_ERROR, Variable, outputs


def signal_variables(signals: Sequence[ChosenOutput], known: Sequence[Variable]) -> list[Variable]:
    """The variables of ``signals``, in their order, beside all others that are ``known``; none of what cannot be."""
    return [v for v in _Resolver(signals, known, (), Findings()).variables() if v]


def signal_name(signal: ChosenOutput) -> str:
    """The name of its variable."""
    return name_of(Owner("output", signal.name), signal.kind)


def check_signals(
    model: Model, signals: Sequence[ChosenOutput], unread: Collection[str], findings: Findings
) -> set[str]:
    """Refuse ``signals`` of places and outputs that ``model`` does not have; the names of the others.

    ``unread`` are bodies of the file that are not among the model's, and ``"loop"`` where a loop is not.
    """
    before = {fault.path for fault in findings.faults}
    bodies = {body.name: body for body in model.bodies}
    for signal in signals:
        check_name(signal.name, _path(signal), findings)
        for key, place in signal.places.items():
            if key != "axes" or place != signal.to:
                _check_place(place, f"{_path(signal)}.{key}", bodies, unread, findings)
    if not all(signal.relative for signal in signals):
        _Resolver(signals, [*outputs(model, ())], unread, findings).variables()
    faulty = {fault.path for fault in findings.faults} - before
    return {s.name for s in signals if not any(f"{path}.".startswith(f"{_path(s)}.") for path in faulty)}


def _path(signal: ChosenOutput) -> str:
    return path_of(("output", signal.name))


def _check_place(
    place: str, path: str, bodies: Mapping[str, Body], unread: Collection[str], findings: Findings
) -> None:
    body, node = place_of(place)
    if body == INERTIAL:
        if node:
            findings.refuse(path, f"inertial space has no node {node!r}", f'give "{INERTIAL}"')
    elif body in bodies:
        check_node(bodies[body], node, path, findings)
    elif body not in unread:
        findings.refuse(path, f"there is no body {body!r}", nearest(body, [*bodies, INERTIAL]))


@dataclass(frozen=True)
class _Source:
    """What a norm or a sum takes up: units and labels of the elements, and what they depend on."""

    units: tuple[str, ...]
    labels: tuple[str, ...]
    dependencies: tuple[str, ...]


class _Resolver:
    """Makes variables of signals, those first that others are of; what cannot be goes to the findings."""

    def __init__(
        self, signals: Sequence[ChosenOutput], known: Sequence[Variable], unread: Collection[str], findings: Findings
    ) -> None:
        self.signals = {signal_name(signal): signal for signal in signals}
        self.known = {v.name: v for v in known}
        self.unread, self.findings = unread, findings
        self.made: dict[str, Variable | None] = {}
        self.under_way: list[str] = []

    def variables(self) -> list[Variable | None]:
        return [self._made(name) for name in self.signals]

    def _made(self, name: str) -> Variable | None:
        if name not in self.made:
            self.under_way.append(name)
            self.made[name] = self._variable(self.signals[name])
            self.under_way.pop()
        return self.made[name]

    def _variable(self, signal: ChosenOutput) -> Variable | None:
        sort, owner = signal.sort, Owner("output", signal.name)
        if signal.relative:
            text = sort.text.format(**{name: getattr(signal, name) for name in ("of", "to", "axes", "sequence")})
            return _output(owner, signal.kind, _Source((sort.unit,) * len(sort.labels), sort.labels, ()), text)
        if signal.kind == "norm":
            source = self._source(signal.of, f"{_path(signal)}.of")
            if source is None or not self._of_one_unit(source.units, signal.of, f"{_path(signal)}.of"):
                return None
            only = _Source(source.units[:1], ("",), source.dependencies)
            return _output(owner, signal.kind, only, f"Norm of {signal.of}")
        sources = [self._source(name, f"{_path(signal)}.terms[{k + 1}]") for k, (name, _) in enumerate(signal.terms)]
        read = [source for source in sources if source]
        if len(read) < len(sources):
            return None
        first, path = read[0], f"{_path(signal)}.terms"
        for (name, _), source in zip(signal.terms, read, strict=True):
            if len(source.units) != len(first.units):
                message = f"{signal.terms[0][0]} has {len(first.units)} elements and {name} {len(source.units)}"
                self.findings.refuse(path, message, "add outputs of one size, or elements by their names")
                return None
            if source.units != first.units:
                message = f"{signal.terms[0][0]} is in {_spelled(first.units)} and {name} in {_spelled(source.units)}"
                self.findings.refuse(path, message, "add outputs of one unit")
                return None
        every = tuple(dict.fromkeys(name for source in read for name in source.dependencies))
        text = " + ".join(f"{weight:g} {name}" for name, weight in signal.terms)
        return _output(owner, signal.kind, _Source(first.units, first.labels, every), f"Sum {text}")

    def _source(self, name: str, path: str) -> _Source | None:
        """What the output called ``name``, or its element, brings; None where there is none."""
        stem = name.partition("[")[0]
        if stem in self.under_way:
            circle = " -> ".join([*self.under_way[self.under_way.index(stem) :], stem])
            self.findings.refuse(path, f"outputs of each other: {circle}", "let one of them be of something else")
            return None
        variable = self._made(stem) if stem in self.signals else self.known.get(stem)
        if variable is None:
            if stem not in self.signals and place_of(stem)[0] not in self.unread:
                self.findings.refuse(path, f"there is no output {stem!r}", nearest(stem, [*self.known, *self.signals]))
            return None
        if variable.port == "impulses" or variable.name == WORK_ERROR:
            self.findings.refuse(path, f"{name!r} is of whole steps, and not of an instant", "take another output")
            return None
        if name == stem:
            return _Source(variable.units, variable.labels, variable.dependencies)
        if name not in variable.scalar_names:
            remedy = f"there are {variable.scalar_names[0]} to {variable.scalar_names[-1]}"
            self.findings.refuse(path, f"{stem!r} has no element {name!r}", remedy)
            return None
        at = variable.scalar_names.index(name)
        return _Source(variable.units[at : at + 1], ("",), variable.dependencies)

    def _of_one_unit(self, units: tuple[str, ...], name: str, path: str) -> bool:
        if len(set(units)) > 1:
            self.findings.refuse(path, f"{name} has elements in {_spelled(units)}", "take elements of one unit")
        return len(set(units)) == 1


def _output(owner: Owner, kind: str, like: _Source, text: str) -> Variable:
    return Variable(
        owner=owner, quantity=kind, causality="output", units=like.units, description=text, labels=like.labels,
        dependencies=like.dependencies, port="signals",
    )  # fmt: skip


def _spelled(units: tuple[str, ...]) -> str:
    return ", ".join(dict.fromkeys(units))
