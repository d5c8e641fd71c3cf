"""Springs as force elements: along the line between their ends, and bushings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import casadi as ca
from casadi import SX

from mbdy.engine.model import pieces
from mbdy.engine.model.springs import COINCIDENT, Spring
from mbdy.engine.order_n import spatial
from mbdy.engine.order_n.elements import Efforts, Element, Relative, kept

NEVER = -1e300
"""Elongation and tension that a spring never has."""
ALWAYS = 1e9
"""[m] Elongation up to which a spring is slack that never pulls."""
SMALL = 0.25
"""[rad2] Square of turns up to which 1/t^2 - cot(t/2)/2t is a series."""
SERIES = (1 / 12, 1 / 720, 1 / 30240, 1 / 1209600, 1 / 47900160, 691 / 1307674368000, 1 / 74724249600)
"""Its coefficients, |B_2n|/(2n)!; the first left out is below rounding there."""


@dataclass(frozen=True)
class Line(Element):
    """A spring along the line between its ends, of how many ``points`` its table has; of one that only pulls further
    constants are the elongation above which it is ``taut`` and the ``least`` tension."""

    points: int = 0
    tension_only: bool = False

    @property
    def law(self) -> str:
        return f"line{self.points or ''}{'slack' if self.tension_only else ''}"

    @property
    def framed(self) -> str:
        return ""

    @property
    def inputs(self) -> tuple[str, ...]:
        return ("actuation",)

    @property
    def numbers(self) -> tuple[tuple[str, int], ...]:
        elastic = (("stiffness", 1), ("preload", 1), ("cubic_stiffness", 1))
        return (("damping", 1), ("length", 1), *((("table", 2 * self.points),) if self.points else elastic))

    @property
    def derived(self) -> tuple[tuple[str, int], ...]:
        return (("taut", 1), ("least", 1)) if self.tension_only else ()

    def prepared(self, k: dict[str, SX]) -> Mapping[str, SX]:
        made = {"length": kept(k["length"] >= 0, k["length"])}
        if self.points:
            made["table"] = _increasing(k["table"], self.tension_only)
        if self.tension_only:
            made |= {"least": SX(0), **_slack(k)}
        return made

    def efforts(self, k: dict[str, SX], of: Relative, inputs: dict[str, SX]) -> Efforts:
        square = ca.dot(of.d, of.d)
        apart = square > COINCIDENT**2
        distance = ca.sqrt(ca.if_else(apart, square, 1))
        direction, length = ca.if_else(apart, of.d / distance, 0), ca.if_else(apart, distance, 0)
        rate = ca.dot(direction, of.v)
        elongation, resistance = length - k["length"], k["damping"]
        if self.tension_only:
            at_rest, energy = _stored(k, ca.fmax(elongation, k["taut"]))
            energy -= _stored(k, ca.if_else(k["taut"] > NEVER, k["taut"], 0))[1]  # none while slack
            damping = ca.if_else(elongation > k["taut"], resistance * rate, 0)
            tension = ca.fmax(at_rest + damping + inputs["actuation"], k["least"])
        else:
            at_rest, energy = _stored(k, elongation)
            tension = at_rest + resistance * rate + inputs["actuation"]
        # Where the ends meet what has no direction is lost, and what has is smooth there: a spring without free length.
        d = SX.sym("d")
        beyond = COINCIDENT if self.points else 0  # a corner of its table there: no distance is below it
        slope = ca.substitute(ca.gradient(_stored(k, d)[0], d), d, beyond - k["length"])
        meeting = ca.if_else(apart, 0, -(slope * of.d + resistance * of.v))
        power = -(tension - at_rest) * rate - ca.if_else(apart, 0, resistance * ca.dot(of.v, of.v))
        outputs = {"length": length, "rate": rate, "tension": tension}
        return Efforts(meeting - tension * direction, None, power, energy, outputs)

    @property
    def switches(self) -> tuple[str, ...]:
        return (*(["taut"] if self.tension_only else []), *(f"table_{i + 1}" for i in range(self.points)))

    def indicators(self, k: dict[str, SX], outputs: Mapping[str, SX]) -> list[SX]:
        elongation = outputs["length"] - k["length"]
        kinks = [k["taut"]] if self.tension_only else []
        kinks += [place for place, _ in _pairs(k["table"])] if self.points else []
        return [elongation - place for place in kinks]

    @property
    def steepens(self) -> bool:
        return self.tension_only or self.points > 0

    def steepest(self, k: dict[str, SX]) -> Mapping[str, SX | float]:
        """Never slack, in the steepest piece of its table, and as stiff across as along, with no free length whose
        pressure would turn it away."""
        changed: dict[str, SX | float] = {"length": 0.0, **dict.fromkeys(dict(self.derived), NEVER)}
        if not self.points:
            return changed | {"preload": 0.0}
        drawn = pieces.steepest(_pairs(k["table"]))
        return changed | {"table": ca.vertcat(*(number for point in drawn for number in point))}


@dataclass(frozen=True)
class Bushing(Element):
    """Six springs and dampers on the place of b and the rotation vector of its frame, in the axes of a's frame."""

    @property
    def law(self) -> str:
        return "bushing"

    @property
    def framed(self) -> str:
        return "ab"

    @property
    def numbers(self) -> tuple[tuple[str, int], ...]:
        return (("stiffness", 6), ("damping", 6), ("length", 6), ("preload", 6))

    def efforts(self, k: dict[str, SX], of: Relative, inputs: dict[str, SX]) -> Efforts:
        A, B = (C @ ca.reshape(k[f"frame_{end}"], 3, 3) for end, C in (("a", of.A), ("b", of.B)))
        place, theta = A.T @ of.d, spatial.rotation_vector(*spatial.quaternion_of(A.T @ B))
        inverse = _inverse_jacobian(theta)
        coordinates = ca.vertcat(place, theta)
        rates = ca.vertcat(A.T @ (of.v - ca.cross(of.omega_a, of.d)), inverse @ (A.T @ (of.omega_b - of.omega_a)))
        stretch = coordinates - k["length"]
        damping = k["damping"] * rates
        effort = k["preload"] + k["stiffness"] * stretch + damping
        energy = ca.dot(stretch, k["preload"] + k["stiffness"] * stretch / 2)
        outputs = {"length": coordinates, "effort": effort}
        return Efforts(-A @ effort[:3], -A @ (inverse.T @ effort[3:]), -ca.dot(damping, rates), energy, outputs)


def spring_structure(spring: Spring) -> Element:
    """The structure of ``spring``, wherever its ends are."""
    return Bushing() if spring.kind == "bushing" else Line(len(spring.table), spring.tension_only)


def _increasing(table: SX, tension_only: bool) -> SX:
    """The table with no numbers where its elongations do not increase, or its tensions push."""
    entries = ca.vertsplit(table)
    for i in range(0, len(entries), 2):
        if i:
            entries[i] = kept(table[i] > table[i - 2], entries[i])
        if tension_only:
            entries[i + 1] = kept(table[i + 1] >= 0, entries[i + 1])
    return ca.vertcat(*entries)


def _slack(k: dict[str, SX]) -> dict[str, SX]:
    """The elongation above which a spring that only pulls is taut: where its tension begins to rise above zero."""
    if "table" in k:
        points = _pairs(k["table"])
        taut = points[-1][0]
        for (place, _), (_, force) in reversed([*pairwise(points)]):
            taut = ca.if_else(force > 0, place, taut)
        return {"taut": ca.if_else(points[0][1] > 0, NEVER, taut)}
    linear, cubic = (kept(k[name] >= 0, k[name]) for name in ("stiffness", "cubic_stiffness"))
    preload = k["preload"]
    root = _root(linear, cubic, preload)
    free = ca.logic_and(linear == 0, cubic == 0)  # it has its preload alone, or is a damper
    taut = ca.if_else(free, ca.if_else(preload > 0, NEVER, ca.if_else(preload < 0, ALWAYS, 0)), root)
    return {
        "stiffness": linear, "cubic_stiffness": cubic, "taut": taut,
        "preload": ca.if_else(free, ca.fmax(preload, 0), preload),
    }  # fmt: skip


def _root(linear: SX, cubic: SX, constant: SX) -> SX:
    """The only real root of ``cubic x^3 + linear x + constant``, of coefficients that are not negative but for the
    last: Cardano's, and a step of Newton. The energy is even there, so its error counts squared."""
    third = ca.if_else(cubic > 0, cubic, 1)
    a, half = linear / third, constant / third / 2
    sign = ca.if_else(half < 0, -1, 1)
    u = -sign * (ca.fabs(half) + ca.sqrt(half**2 + (a / 3) ** 3)) ** (1 / 3)
    x = ca.if_else(u == 0, 0, u - a / (3 * ca.if_else(u == 0, 1, u)))
    slope = 3 * cubic * x**2 + linear
    x -= ca.if_else(slope > 0, (cubic * x**3 + linear * x + constant) / ca.if_else(slope > 0, slope, 1), 0)
    return ca.if_else(cubic > 0, x, -constant / ca.if_else(linear > 0, linear, 1))


def _pairs(table: SX) -> list[tuple[SX, SX]]:
    return [(table[i], table[i + 1]) for i in range(0, table.shape[0], 2)]


def _stored(k: dict[str, SX], d: SX) -> tuple[SX, SX]:
    """Tension at rest, and its work from the free length, at an elongation."""
    if "table" in k:
        points = _pairs(k["table"])
        tension, work = pieces.table(points, d)
        return tension, work - pieces.table(points, SX(0))[1]
    preload, linear, cubic = k["preload"], k["stiffness"], k["cubic_stiffness"]
    return preload + d * (linear + cubic * d**2), d * (preload + d * (linear / 2 + cubic / 4 * d**2))


def _inverse_jacobian(theta: SX) -> SX:
    """The matrix (3, 3) that makes theta' of the angular velocity in the axes before the turn (G. S. Chirikjian,
    Stochastic Models, Information Theory, and Lie Groups, vol. 2, 2012, Eq. 10.87)."""
    square = ca.dot(theta, theta)
    series = SX(0)
    for coefficient in reversed(SERIES):
        series = series * square + coefficient
    angle = ca.sqrt(ca.fmax(square, SMALL))
    whole = 1 / angle**2 - 1 / (2 * angle * ca.tan(angle / 2))
    T = spatial.skew(theta)
    return SX.eye(3) - T / 2 + ca.if_else(square < SMALL, series, whole) * T @ T
