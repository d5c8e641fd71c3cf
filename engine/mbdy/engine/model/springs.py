"""Springs between two places of any bodies: along the line that joins them, or bushings of six stiffnesses."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, ClassVar, Literal

from mbdy.engine.model.arrays import IDENTITY, listed
from mbdy.engine.model.faults import Findings, nearest, shown
from mbdy.engine.model.fields import Switch
from mbdy.engine.model.law import JointValue
from mbdy.engine.model.parts import Part, an, part, taking, text, value
from mbdy.engine.model.side import Side
from mbdy.engine.model.units import quantity

KINDS = ("line", "bushing")
SPRING_VALUES: Mapping[str, JointValue] = {
    one.name: one
    for one in (
        JointValue("stiffness", "N/m", "N.m/rad", "Stiffness", passive=True, strength=True),
        JointValue("damping", "N.s/m", "N.m.s/rad", "Damping", passive=True, strength=True),
        JointValue("length", "m", "rad", "Free length"),
        JointValue("preload", "N", "N.m", "Tension at the free length"),
        JointValue("cubic_stiffness", "N/m3", "N.m/rad3", "Cubic stiffness", passive=True, strength=True),
        JointValue("table", "N", "N.m", "Points of the table", points=True, default=None),
    )
}
"""The numbers of springs: keys of the file, fields of `Spring` and parameters."""
PARAMETERS: Mapping[str, str] = {"length": "free_length"}
"""Names of parameters that are not those of their keys: ``length`` is an output."""
_ELASTIC = {"stiffness", "preload", "cubic_stiffness"}
COINCIDENT = 1e-9
"""[m] Ends nearer than this have no direction between them."""
TURNING = 3
"""Of the six entries of a bushing the first three are of translations, the others of rotations."""


@part()
class Spring(Part):
    """A massless spring and damper between the places ``a`` and ``b``.

    Of ``kind`` ``"line"`` it pulls the two together along the line that joins them with the tension ``preload +
    stiffness d + cubic_stiffness d^3 + damping d'``, d being their distance less ``length``; or with a ``table`` of
    pairs of d [m] and a tension [N] in the place of stiffnesses and preload, linear between its points and constant
    beyond its ends. ``tension_only``: it never pushes, and while slack does not damp.

    Of kind ``"bushing"`` it has six entries of each, translations then rotations, along the axes of a's frame: of the
    place of b and of the rotation vector of b's frame (at most half a turn). Its force acts on both bodies at b's
    place.
    """

    sort: ClassVar[Literal["spring"]] = "spring"

    name: str = value(converter=text)
    a: Side = value(converter=an(Side))
    b: Side = value(converter=an(Side))
    kind: str = value(converter=text, default="line")
    stiffness: tuple[float, ...] = ()
    damping: tuple[float, ...] = ()
    length: tuple[float, ...] = ()
    preload: tuple[float, ...] = ()
    cubic_stiffness: tuple[float, ...] = ()
    table: tuple[tuple[float, float], ...] = ()
    tension_only: bool = value(converter=taking(Switch), default=False)

    def _agree(self, findings: Findings) -> None:
        if self.kind not in KINDS:
            return findings.refuse("Spring.kind", f"unknown kind of spring {self.kind!r}", nearest(self.kind, KINDS))
        object.__setattr__(self, "table", _points(self.table, findings))
        taken = self.values
        for name, one in SPRING_VALUES.items():
            if not one.points:
                object.__setattr__(self, name, self._entries(one, name in taken, findings))
        if self.table and self.kind != "line":
            findings.refuse("Spring.table", "a bushing takes no 'table'", "use stiffness, or springs of kind 'line'")
        if self.tension_only and self.kind != "line":
            findings.refuse("Spring.tension_only", "a bushing is never slack", "use a spring of kind 'line'")
        for key, side in (("a", self.a), ("b", self.b)):
            if self.kind == "line" and side.frame != IDENTITY:
                message = "a spring along a line has no axes, but this end has a frame"
                findings.refuse(f"Spring.{key}", message, f"remove frame_{key}, or use kind = 'bushing'")
        for name, least in {} if findings.faults else self.least.items():
            entries = [force for _, force in self.table] if name == "table" else getattr(self, name)
            for entry in entries:
                if entry < least:
                    why = " of a spring that only pulls" if self.tension_only and name != "length" else ""
                    findings.refuse(f"Spring.{name}", f"must be >= {least:g}{why}, got {entry:g}", "give another value")
        return None

    def _entries(self, one: JointValue, taken: bool, findings: Findings) -> tuple[float, ...]:
        """The entries of a field in SI, zeros where nothing is given, none where the spring does not have it."""
        place, units = f"Spring.{one.name}", self.units(one)
        given = findings.attempt(place, listed, getattr(self, one.name), instead=[])
        entries = given if isinstance(given, list) else [given]
        if not taken:
            if any(entry != 0.0 for entry in entries):
                what = "with a table" if self.table else f"of kind {self.kind}"
                findings.refuse(place, f"a spring {what} takes no '{one.name}'", f"it takes {', '.join(self.values)}")
            return ()
        if entries and len(entries) != len(units):
            remedy = "translations, then rotations, along a's axes" if len(units) > 1 else "give one number"
            findings.refuse(place, f"{len(units)} values are needed, got {len(entries)}", remedy)
            return (0.0,) * len(units)
        numbers = []
        for k, (entry, unit) in enumerate(zip(entries, units, strict=False)):
            at = f"{place}[{k + 1}]" if len(units) > 1 else place
            numbers.append(findings.attempt(at, quantity, entry, unit, instead=0.0))
        return tuple(numbers) or (0.0,) * len(units)

    @property
    def values(self) -> Mapping[str, JointValue]:
        """The numbers that it has."""
        left_out = {"cubic_stiffness", "table"} if self.kind == "bushing" else _ELASTIC if self.table else {"table"}
        return {name: one for name, one in SPRING_VALUES.items() if name not in left_out}

    def units(self, one: JointValue) -> tuple[str, ...]:
        """Units of the entries of a value, of a table of a point."""
        if one.points:
            return "m", one.translation
        return (
            (one.translation,) * TURNING + (one.rotation,) * TURNING if self.kind == "bushing" else (one.translation,)
        )

    def numbers(self, name: str) -> tuple[float, ...]:
        """The entries of a value in a row."""
        entries = getattr(self, name)
        return tuple(number for point in entries for number in point) if name == "table" else entries

    @property
    def least(self) -> Mapping[str, float]:
        """The least value of entries, of a table of its tensions, where there is one."""
        names = (["length"] if self.kind == "line" else []) + (
            ["stiffness", "cubic_stiffness", "table"] if self.tension_only else []
        )
        return {name: 0.0 for name in names if name in self.values}


def _points(given: Any, findings: Findings) -> tuple[tuple[float, float], ...]:
    """The points of a table in SI, increasing; none where there are faults."""
    raw: Any = findings.attempt("Spring.table", listed, given, instead=[])
    if raw == []:
        return ()
    if not isinstance(raw, list) or len(raw) < 2 or not all(isinstance(p, list) and len(p) == 2 for p in raw):
        remedy = 'for example [["0 m", "0 N"], ["0.1 m", "25 N"]]'
        findings.refuse("Spring.table", f"must be two points or more, each a pair, got {shown(raw)}", remedy)
        return ()
    points: list[tuple[float, float]] = []
    for k, pair in enumerate(raw):
        numbers = [
            findings.attempt(f"Spring.table[{k + 1}][{i + 1}]", quantity, entry, unit, instead=0.0)
            for i, (entry, unit) in enumerate(zip(pair, ("m", "N"), strict=True))
        ]
        points.append((numbers[0], numbers[1]))
    for k, (last, point) in enumerate(pairwise(points)):
        if not findings.faults and not point[0] > last[0]:
            message = f"must be above {last[0]:.6g} m of the point before, got {point[0]:.6g} m"
            findings.refuse(f"Spring.table[{k + 2}][1]", message, "give the points in the order of their elongations")
    return tuple(points)
