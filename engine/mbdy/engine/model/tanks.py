"""Propellant tanks as frozen data: where the propellant lies in its body, and the nozzles that it leaves through."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from math import pi
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator

from mbdy.engine.model.arrays import ZERO3, Matrix3, Rows, Vector3, listed, symmetric_tensor
from mbdy.engine.model.faults import Findings, PartError, RefusalError, nearest, path_of, shown
from mbdy.engine.model.fields import Axis, BodyMass, Lengths
from mbdy.engine.model.parts import Part, numbers, part, taking, text, value
from mbdy.engine.model.units import quantity

if TYPE_CHECKING:
    from mbdy.engine.model.system import Body

Z: Vector3 = (0.0, 0.0, 1.0)
ROW = 10
"""Numbers in a row of a table: mass, mass centre, inertia."""
ROUNDED = 1e-9
"""Part of what a tank holds that rounding of decimals may put in besides."""
REMEDIES: Mapping[str, str] = {
    "body": 'name the body that carries the tank, e.g. body = "bus"',
    "mass": 'give the propellant at the start, e.g. mass = "90 kg"',
    "nozzle": 'name a node of the body, e.g. nozzle = "engine"',
    "exhaust_velocity": 'give it, e.g. exhaust_velocity = "2200 m/s"',
}
SIZES: Mapping[str, tuple[str, ...]] = {"sphere": ("radius",), "cylinder": ("radius", "length"), "point": ()}
"""What is needed to say how large a tank of each shape is."""


def _above(unit: str) -> Any:
    def check(given: object) -> float:
        number = quantity(given, unit)
        if number <= 0.0:
            raise RefusalError(f"must be > 0 {unit}, got {number}")
        return number

    return taking(Annotated[float, BeforeValidator(check)])


def _optional(unit: str) -> Callable[[Any], float | None]:
    convert = _above(unit)
    return lambda given: None if given is None else convert(given)


def _one_or_several(convert: Callable[[Any], Any], depth: int = 0) -> Callable[[Any], tuple[Any, ...]]:
    """A converter of one value, which is a list of lists ``depth`` deep, or of several in a list."""

    def check(given: object) -> tuple[Any, ...]:
        entries, inner = listed(given), listed(given)
        for _ in range(depth):
            inner = inner[0] if isinstance(inner, list) and inner else None
        return tuple(map(convert, entries if isinstance(inner, list) else [given]))

    return check


@part()
class Tank(Part):
    """Propellant in a rigid body, beside the body's own mass, that leaves through nozzles.

    ``body``              that carries it; ``mass`` [kg] of propellant at the start.
    ``shape``             ``"sphere"``, ``"cylinder"`` or ``"point"``, its middle ``at`` [m] from the body's origin,
                          with its ``radius`` [m] and (of a cylinder, along ``axis``) ``length`` [m].
    ``density``           [kg/m3] of a liquid that lies at the tank's end opposite to ``axis`` [-], with a plane
                          surface; None where the propellant fills the tank evenly, however little there is.
    ``table``             rows of mass [kg], mass centre [m] (3) and inertia [kg.m2] about it (xx, yy, zz, xy, xz, yz of
                          the tensor), body axes, in the place of a shape; linear between the rows and beyond the last.
    ``nozzle``            nodes of the body, one or several, which the propellant leaves through.
    ``thrust_axis``       [-] body axes, one for each nozzle: along it the nozzle pushes the body.
    ``exhaust_velocity``  [m/s] one for each nozzle, against the body there.
    """

    name: str = value(converter=text)
    body: str = value(converter=text)
    mass: float = value(converter=taking(BodyMass))
    nozzle: tuple[str, ...] = value(converter=_one_or_several(text))
    exhaust_velocity: tuple[float, ...] = value(converter=_one_or_several(_above("m/s")))
    thrust_axis: tuple[Vector3, ...] = value(converter=_one_or_several(taking(Axis), 1), default=(Z,))
    shape: str = value(converter=text, default="")
    at: Vector3 = value(converter=taking(Lengths), default=ZERO3)
    radius: float | None = value(converter=_optional("m"), default=None)
    length: float | None = value(converter=_optional("m"), default=None)
    axis: Vector3 = value(converter=taking(Axis), default=Z)
    density: float | None = value(converter=_optional("kg/m3"), default=None)
    table: Rows = value(converter=numbers, default=())

    def _agree(self, findings: Findings) -> None:
        count = len(self.nozzle)
        if not count or len(set(self.nozzle)) < count:
            findings.refuse("Tank.nozzle", f"must name nodes, each once, got {shown(list(self.nozzle))}")
        for key in ("exhaust_velocity", "thrust_axis"):
            entries = getattr(self, key)
            if len(entries) not in (1, count):
                findings.refuse(
                    f"Tank.{key}", f"{count} are needed, got {len(entries)}", "give one, or one for each nozzle"
                )
            elif len(entries) < count:
                object.__setattr__(self, key, entries * count)
        if bool(self.shape) == bool(self.table):
            remedy = f'give one of them, e.g. shape = "sphere" (or {", ".join(sorted(SIZES))})'
            findings.refuse("Tank.shape", "either a shape or a table is needed", remedy)
        elif self.table:
            self._tabled(findings)
        elif self.shape not in SIZES:
            findings.refuse("Tank.shape", f"unknown shape {self.shape!r}", nearest(self.shape, SIZES))
        else:
            self._shaped(findings)

    def _shaped(self, findings: Findings) -> None:
        for key in ("radius", "length"):
            if (getattr(self, key) is not None) != (key in SIZES[self.shape]):
                fault = "is missing" if key in SIZES[self.shape] else f"a {self.shape} has none"
                findings.refuse(f"Tank.{key}", fault, "give it in m" if fault == "is missing" else "remove it")
        if self.shape == "point" and self.density is not None:
            findings.refuse("Tank.density", "a point has none", "remove it")
        if not findings.faults:
            self.check_mass(self.mass, "Tank.mass", findings)

    def _tabled(self, findings: Findings) -> None:
        for key in ("radius", "length", "density"):
            if getattr(self, key) is not None:
                findings.refuse(f"Tank.{key}", "is for shapes, and there is a table", "remove it")
        rows = self.table
        if any(len(row) != ROW for row in rows):
            return findings.refuse("Tank.table", f"rows of {ROW} numbers are needed: mass, com (3), inertia (6)")
        masses = [row[0] for row in rows]
        if masses[0] < 0.0 or any(b <= a for a, b in pairwise(masses)) or masses[-1] == 0.0:
            return findings.refuse("Tank.table", f"masses must rise from >= 0 kg, got {shown(masses)}")
        for i in range(len(rows)):
            findings.attempt(f"Tank.table[{i + 1}]", symmetric_tensor, self.inertia(i))
        if masses[0] > 0.0:
            object.__setattr__(self, "table", ((0.0, *rows[0][1:4], *(0.0,) * 6), *rows))
        return self.check_mass(self.mass, "Tank.mass", findings)

    def inertia(self, row: int) -> Matrix3:
        """[kg.m2] Tensor of a row of the table."""
        xx, yy, zz, xy, xz, yz = self.table[row][4:]
        return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))

    def check_mass(self, mass: float, path: str, findings: Findings) -> None:
        """Refuse a ``mass`` [kg], given at ``path``, that cannot be in the tank."""
        if mass < 0.0:
            findings.refuse(path, f"must be >= 0 kg, got {mass}", "an empty tank has 0 kg")
        elif mass > self.capacity * (1.0 + ROUNDED):
            if self.table:
                findings.refuse(path, f"is {mass} kg, and the table ends at {self.capacity:.6g} kg", "add a row")
            else:
                message = f"is {mass} kg, and the tank holds {self.capacity:.6g} kg"
                findings.refuse(path, message, "check sizes, density and units")

    @property
    def capacity(self) -> float:
        """[kg] How much it can hold; infinite where nothing says it."""
        if self.table:
            return self.table[-1][0]
        if self.density is None or self.radius is None:
            return float("inf")
        return self.density * volume(self.radius, self.length)


def volume(radius: Any, length: Any = None) -> Any:
    """[m3] Of a sphere, or of a cylinder with a ``length``."""
    return pi * radius**2 * (4.0 / 3.0 * radius if length is None else length)


def check_masses(
    tanks: Iterable[Tank], table: str, starts: Mapping[str, tuple[float, ...]], findings: Findings
) -> None:
    """Refuse what the ``table`` of ``starts`` has of propellant that cannot be in the tanks."""
    for tank in tanks:
        name = path_of(("tank", tank.name, "mass"))
        for mass in starts.get(name, ()):
            tank.check_mass(mass, f"{table}.{name}", findings)


def tank_of(name: str, table: Any, bodies: Mapping[str, Body], unread: set[str], findings: Findings) -> Tank | None:
    """The tank that the ``table`` ``[tank.NAME]`` says; None where there are faults, which go to ``findings``.

    ``unread`` are bodies of the file that could not be read.
    """
    given, before = table.model_dump(), len(findings.faults)
    if missing := [key for key in ("body", "mass", "nozzle", "exhaust_velocity") if given.get(key) is None]:
        for key in missing:
            findings.refuse(path_of(("tank", name, key)), "is missing", REMEDIES[key])
        return None
    try:
        tank = Tank(name=name, **{key: entry for key, entry in given.items() if entry is not None})
    except PartError as error:
        stem = path_of(("tank", name))
        for fault in error.faults:
            findings.refuse(fault.path.replace("Tank", stem, 1), fault.message, fault.remedy)
        return None
    check_tank(tank, bodies, unread, findings)
    return None if len(findings.faults) > before or findings.faulty(path_of(("tank", name))) else tank


def check_tank(tank: Tank, bodies: Mapping[str, Body], unread: set[str] | frozenset[str], findings: Findings) -> None:
    """Refuse a tank on a body that is not there or bends, and nozzles that are none of its nodes."""
    from mbdy.engine.model.tree_rules import check_name

    path = path_of(("tank", tank.name))
    check_name(tank.name, path, findings)
    body = bodies.get(tank.body)
    if body is None:
        if tank.body not in unread:
            findings.refuse(f"{path}.body", f"there is no body '{tank.body}'", nearest(tank.body, bodies))
        return
    if body.flex:
        remedy = f"put it on a rigid body that is fixed to a node of {body.name}"
        findings.refuse(f"{path}.body", f"body '{body.name}' is flexible, and a tank sits on a rigid one", remedy)
    for nozzle in tank.nozzle:
        if nozzle not in body.nodes and tank.body not in unread:
            known = (
                nearest(nozzle, body.nodes) if body.nodes else f"add [{path_of(('body', body.name, 'node', nozzle))}]"
            )
            findings.refuse(f"{path}.nozzle", f"body '{body.name}' has no node '{nozzle}'", known)
