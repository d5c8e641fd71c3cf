"""Gears: linear relations of joints' coordinates, and what of a joint they can take."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mbdy.engine.model.arrays import listed
from mbdy.engine.model.faults import Findings, RefusalError, nearest, shown
from mbdy.engine.model.fields import Switch, TimeConstant
from mbdy.engine.model.parts import Part, kept, part, taking, text, value
from mbdy.engine.model.units import Number, quantity

if TYPE_CHECKING:
    from mbdy.engine.model.system import Body

COORDINATE = re.compile(r"(\w+)\.joint(?:\[(\d{1,3})\])?")
TIES = "two of them or more must not be zero"
TERMS = 'give two or more, e.g. terms = [["wheel.joint", 1], ["pinion.joint", -4]]'


@part()
class Gear(Part):
    """A linear relation of coordinates: the sum of ``terms``, each a factor times a coordinate, is ``offset``.

    ``terms``          pairs of a coordinate and its factor: ``"arm.joint"``, or where a joint has several degrees of
                       freedom ``"arm.joint[2]"``, which counts all of them, translations first. The sum has the unit
                       of the first one's coordinate [rad, m], and so has ``offset``.
    ``time_constant``  [s], ``closed`` and ``switchable`` as of a `Loop`.
    """

    name: str = value(converter=text)
    terms: tuple[tuple[str, float], ...] = value(converter=kept)
    offset: float = value(converter=taking(Number), default=0.0)
    time_constant: float = value(converter=taking(TimeConstant), default=0.1)
    closed: bool = value(converter=taking(Switch), default=True)
    switchable: bool = value(converter=taking(Switch), default=False)

    def _agree(self, findings: Findings) -> None:
        pairs = findings.attempt("Gear.terms", listed, self.terms)
        if not isinstance(pairs, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
            return findings.refuse(
                "Gear.terms", f"must be pairs of a coordinate and a factor, got {shown(pairs)}", TERMS
            )
        terms = []
        for k, (coordinate, factor) in enumerate(pairs):
            name = findings.attempt(f"Gear.terms[{k + 1}][1]", text, coordinate)
            terms.append((name, findings.attempt(f"Gear.terms[{k + 1}][2]", quantity, factor, "1")))
        object.__setattr__(self, "terms", tuple(terms))
        if not findings.faults and holds_nothing([factor for _, factor in terms]):
            findings.refuse("Gear.terms", f"their factors: {TIES}", TERMS)
        if not (self.closed or self.switchable):
            findings.refuse("Gear.switchable", "must be true of a gear that starts open", "or let it start closed")
        return None

    @property
    def size(self) -> int:
        """Number of its scalar constraints."""
        return 1


def holds_nothing(factors: Sequence[float]) -> bool:
    """Whether several ``factors`` tie no coordinate to another."""
    return len(factors) > 1 and sum(factor != 0.0 for factor in factors) < 2


@dataclass(frozen=True, slots=True)
class Freedom:
    """A degree of freedom of the joint of a ``body``, the ``place`` among all of them from 0, with its own coordinate;
    whether it ``turns``, and whether its motion is always ``prescribed``."""

    body: str
    place: int
    turns: bool
    prescribed: bool

    @property
    def unit(self) -> str:
        """Of its coordinate."""
        return "rad" if self.turns else "m"


def freedom_of(name: str, bodies: Mapping[str, Body]) -> Freedom:
    """The degree of freedom that a gear calls ``name``. Raises `RefusalError` where there is none with a coordinate."""
    match = COORDINATE.fullmatch(name)
    if match is None:
        body = name.partition(".")[0]
        remedy = f'write "{body if body in bodies else "NAME"}.joint", and "...joint[2]" for the second of several'
        raise RefusalError(f"{name!r} names no joint's degree of freedom", remedy)
    if match[1] not in bodies:
        raise RefusalError(f"there is no body {match[1]!r}", nearest(match[1], bodies))
    joint, whose = bodies[match[1]].joint, f"the joint of {match[1]!r}"
    if joint.floating or not joint.n_u:
        remedy = "gears hold angles and displacements of joints; name another"
        raise RefusalError(f"{whose} is {joint.kind} and has no angle or displacement", remedy)
    if match[2] is None and joint.n_u > 1:
        remedy = f'write "{match[1]}.joint[1]" to "{match[1]}.joint[{joint.n_u}]", translations first'
        raise RefusalError(f"{whose} has {joint.n_u} degrees of freedom", remedy)
    place = int(match[2] or 1) - 1
    if not 0 <= place < joint.n_u:
        raise RefusalError(f"{whose} has no degree of freedom {match[2]}", f"it has {joint.n_u}, counted from 1")
    if place >= joint.n_coordinates:
        raise RefusalError(f"{whose} turns by a quaternion and has no angle", "use a gimbal or a revolute joint")
    return Freedom(match[1], place, place >= joint.n_translations, joint.motion[place] == "prescribed")


def check_gear(gear: Gear, path: str, bodies: Mapping[str, Body], findings: Findings) -> None:
    """Refuse terms of ``gear`` whose coordinates do not exist, or that hold nothing."""
    before = len(findings.faults)
    freedoms = [
        findings.attempt(f"{path}.terms[{k + 1}][1]", freedom_of, name, bodies)
        for k, (name, _) in enumerate(gear.terms)
    ]
    if len(findings.faults) > before:
        return
    if len(gear.terms) < 2:
        findings.refuse(f"{path}.terms", f"has {len(gear.terms)} coordinates", TERMS)
    places = [(freedom.body, freedom.place) for freedom in freedoms]
    for k, freedom in enumerate(places):
        if freedom in places[:k]:
            findings.refuse(f"{path}.terms[{k + 1}]", f"names {gear.terms[k][0]!r} twice", "put the two together")
    if all(freedom.prescribed for freedom in freedoms):
        findings.refuse(f"{path}.terms", "the motion of all its joints is prescribed", "free one, or remove the gear")
