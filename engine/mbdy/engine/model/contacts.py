"""Contacts between bodies: a sphere on another, on a plane or in a cone, pressed by Hunt and Crossley's law."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from mbdy.engine.model.arrays import IDENTITY
from mbdy.engine.model.faults import Findings, RefusalError, nearest
from mbdy.engine.model.law import JointValue
from mbdy.engine.model.parts import Part, an, part, text, value
from mbdy.engine.model.side import Side
from mbdy.engine.model.units import quantity

SHAPES: Mapping[str, Mapping[str, JointValue]] = {
    "sphere": {"radius": JointValue("radius", "m", "", "Radius of the sphere", minimum=0.0)},
    "plane": {},
    "cone": {
        "half_angle": JointValue(
            "half_angle", "rad", "", "Half angle of the cone", minimum=0.0, above=True, below="a right angle"
        ),
        "depth": JointValue("depth", "m", "", "Depth of the cone from its rim", minimum=0.0, above=True),
    },
}  # fmt: skip
"""Kinds of shapes with their numbers."""
CONTACT_VALUES: Mapping[str, JointValue] = {
    one.name: one
    for one in (
        JointValue("stiffness", "", "", "Stiffness", default=None, minimum=0.0, strength=True),
        JointValue("damping", "s/m", "", "Damping", minimum=0.0, strength=True),
        JointValue("friction", "1", "", "Coefficient of friction", minimum=0.0, strength=True),
        JointValue(
            "friction_rate", "m/s", "", "Rate at which 71 % of the friction acts", default=1e-2, minimum=0.0,
            above=True,
        ),
    )
}  # fmt: skip
"""The numbers of a contact: keys of the file, fields of `Contact` and parameters."""
ROUNDED = 1e-3
"""Of a sphere's radius: how far from a cone's axis the pressure on its one side gives way to that all around.

The gap is exact beyond that, and on the axis; between them it is off by at most 0.15 of that length."""
EXPONENTS = (1.0, 3.0)
"""Least and largest power of the depth that a force grows with; of spheres on elastic bodies it is 1.5."""


def _number(unit: str) -> Any:
    return lambda given: None if given is None else quantity(given, unit)


@part()
class Surface(Part):
    """The surface of a body at one side of a contact, in the axes of that side's frame.

    ``"sphere"`` of a ``radius`` [m] about its place (0: a point); ``"plane"`` through it, facing along z; ``"cone"``
    with its apex there, open along z up to ``depth`` [m], of a ``half_angle`` [rad], a thin shell.
    """

    kind: str = value(converter=text)
    radius: float | None = value(converter=_number("m"), default=None)
    half_angle: float | None = value(converter=_number("rad"), default=None)
    depth: float | None = value(converter=_number("m"), default=None)

    def _agree(self, findings: Findings) -> None:
        if self.kind not in SHAPES:
            return findings.refuse("Surface.kind", f"unknown shape {self.kind!r}", nearest(self.kind, SHAPES))
        for name in ("radius", "half_angle", "depth"):
            number, one = getattr(self, name), SHAPES[self.kind].get(name)
            if one is None and number is not None:
                findings.refuse(f"Surface.{name}", f"a {self.kind} takes no '{name}'", "remove it")
            elif one and number is None:
                findings.refuse(f"Surface.{name}", "is missing", f"give the {one.text.lower()} in {one.translation}")
            elif one and number is not None:
                _bounded(f"Surface.{name}", one, number, findings)
        if self.half_angle is not None and not self.half_angle < math.pi / 2:
            findings.refuse("Surface.half_angle", f"must be below a right angle, got {self.half_angle:g}", "give less")
        return None


@part()
class Contact(Part):
    """Where two surfaces meet, a force that parts them: with the depth ``e`` of penetration and its rate,
    ``stiffness e^exponent (1 + damping e')`` along their normal, never pulling (K. H. Hunt and F. R. E. Crossley,
    Coefficient of restitution interpreted as damping in vibroimpact, J. Applied Mechanics 42 (1975)), and across it
    Coulomb's ``friction`` times that, smoothed below ``friction_rate`` [m/s].

    One of the two shapes at least is a sphere.
    """

    sort: ClassVar[Literal["contact"]] = "contact"

    name: str = value(converter=text)
    a: Side = value(converter=an(Side))
    b: Side = value(converter=an(Side))
    shape_a: Surface = value(converter=an(Surface))
    shape_b: Surface = value(converter=an(Surface))
    stiffness: float = value(converter=lambda given: given)
    exponent: float = value(converter=_number("1"), default=1.5)
    damping: float = value(converter=_number("s/m"), default=0.0)
    friction: float = value(converter=_number("1"), default=0.0)
    friction_rate: float = value(converter=_number("m/s"), default=1e-2)

    def _agree(self, findings: Findings) -> None:
        least, largest = EXPONENTS
        if not least <= self.exponent <= largest:
            message = f"must be from {least:g} to {largest:g}, got {self.exponent:g}"
            findings.refuse("Contact.exponent", message, "1.5 is that of spheres on elastic bodies")
            return
        stiffness = findings.attempt("Contact.stiffness", self._in_si, self.stiffness, instead=0.0)
        object.__setattr__(self, "stiffness", stiffness)
        for name, one in CONTACT_VALUES.items():
            _bounded(f"Contact.{name}", one, getattr(self, name), findings)
        if "sphere" not in (self.shape_a.kind, self.shape_b.kind):
            message = f"a {self.shape_a.kind} and a {self.shape_b.kind} do not meet in a point"
            findings.refuse("Contact.shape_b", message, "let one of the two be a sphere")
        for key, side, shape in (("a", self.a, self.shape_a), ("b", self.b, self.shape_b)):
            if shape.kind == "sphere" and side.frame != IDENTITY:
                findings.refuse(f"Contact.{key}", "a sphere has no axes, but this side has a frame", "remove it")

    def _in_si(self, given: object) -> float:
        """A stiffness in N/m^exponent: text with its unit where that is a whole power."""
        if isinstance(given, str) and self.unit == "1":
            message = f"a stiffness per m^{self.exponent:g} has no unit that is read"
            raise RefusalError(message, "give it as a number in N and m")
        return quantity(given, self.unit)

    @property
    def unit(self) -> str:
        """The unit of its stiffness, 1 where that is a broken power."""
        return {1.0: "N/m", 2.0: "N/m2", 3.0: "N/m3"}.get(self.exponent, "1")

    @property
    def values(self) -> Mapping[str, JointValue]:
        """The numbers that it has, those of its shapes with the name of the side."""
        shapes = (("a", self.shape_a), ("b", self.shape_b))
        own = {f"{name}_{end}": one for end, shape in shapes for name, one in SHAPES[shape.kind].items()}
        return {**own, **CONTACT_VALUES}

    def units(self, one: JointValue) -> tuple[str, ...]:
        """The unit of a value."""
        return (one.translation or self.unit,)

    def numbers(self, name: str) -> tuple[float, ...]:
        """The entries of a value in a row."""
        stem, _, end = name.rpartition("_")
        if name in CONTACT_VALUES:
            return (getattr(self, name),)
        return (getattr(self.shape_a if end == "a" else self.shape_b, stem),)

    @property
    def least(self) -> Mapping[str, float]:
        """The least value of each."""
        return dict.fromkeys(self.values, 0.0)


def _bounded(place: str, one: JointValue, number: float, findings: Findings) -> None:
    if number < 0.0 or (one.above and number == 0.0):
        findings.refuse(place, f"must be {'>' if one.above else '>='} 0, got {number:g}", "give another value")
