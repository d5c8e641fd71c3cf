"""The kernels of springs: what two places feel of each other, and the energy stored between them (equations.md).

Both places are seen from a body that carries both, or from inertial space where none does, so that nothing depends on
where that is. Forces on the two are equal and act at one point, torques are opposite: momenta close to rounding.
Efforts at rest are exact derivatives of the energy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import casadi as ca
from casadi import SX

from mbdy.engine.model.laws import harness
from mbdy.engine.model.springs import COINCIDENT, SPRING_VALUES, Spring
from mbdy.engine.order_n import spatial
from mbdy.engine.order_n.constants import Fields
from mbdy.engine.order_n.kernels import kernel, symbols

NEVER = -1e300
"""Elongation and tension that a spring never has."""
ALWAYS = 1e9
"""[m] Elongation up to which a spring is slack that never pulls."""
SMALL = 0.25
"""[rad2] Square of turns up to which 1/t^2 - cot(t/2)/2t is a series."""
SERIES = (1 / 12, 1 / 720, 1 / 30240, 1 / 1209600, 1 / 47900160, 691 / 1307674368000, 1 / 74724249600)
"""Its coefficients, |B_2n|/(2n)!; the first left out is below rounding there."""


@dataclass(frozen=True)
class SpringStructure:
    """What is compiled of a spring: how many ``points`` its table has, and whether it is seen from a, from b, or from
    elsewhere where both move (``seen``), with roots of their own (``apart``)."""

    kind: str
    points: int = 0
    seen: str = ""
    apart: bool = False

    @property
    def name(self) -> str:
        return f"{self.kind}{self.points or ''}{self.seen and 'from'}{self.seen}{'apart' if self.apart else ''}"

    @property
    def turning(self) -> bool:
        """Whether it feels turns of b against a."""
        return self.kind == "bushing"


def spring_structure(spring: Spring) -> SpringStructure:
    """The structure of ``spring``, wherever its ends are."""
    return SpringStructure(spring.kind, len(spring.table))


def spring_key(spring: Spring) -> tuple[object, ...]:
    """What is compiled of ``spring`` and its ends, but for numbers that are parameters."""
    sides = ((side.body, side.node, side.frame) for side in (spring.a, spring.b))
    return spring.name, spring_structure(spring), spring.tension_only, *sides


def spring_fields(kind: SpringStructure) -> Fields:
    """A spring's constants: where its ends are on what carries them (and the axes of these), and its numbers; of a line
    the elongation above which it is taut and the ``least`` tension."""
    if kind.turning:
        return Fields((
            ("at_a", 3), ("at_b", 3), ("frame_a", 9), ("frame_b", 9),
            ("stiffness", 6), ("damping", 6), ("length", 6), ("preload", 6),
        ))  # fmt: skip
    law = (("table", 2 * kind.points),) if kind.points else (("stiffness", 1), ("preload", 1), ("cubic_stiffness", 1))
    return Fields((("at_a", 3), ("at_b", 3), ("damping", 1), ("length", 1), *law, ("taut", 1), ("least", 1)))


def prepare_spring(kind: SpringStructure, tension_only: bool) -> ca.Function:
    """Kernel: parameters in the order of `spring_fields` to the constants; of ends ``at`` (3) are carried by ``frame``
    (9), matrices."""
    fields = spring_fields(kind)
    sizes = {name: size for name, size in fields.sizes if name not in ("taut", "least")}
    inputs = symbols(**sizes)
    k: dict[str, SX] = dict(inputs)
    if not kind.turning:
        k["length"] = _kept(k["length"] >= 0, k["length"])
        k["taut"], k["least"] = SX(NEVER), SX(0.0 if tension_only else NEVER)
        if kind.points:
            k["table"] = _increasing(k["table"], tension_only)
        if tension_only:
            k |= _slack(kind, k)
    return kernel(
        f"prepare_{kind.name}_{int(tension_only)}", inputs, {"k": ca.vertcat(*(k[n] for n, _ in fields.sizes))}
    )


def _kept(condition: SX, value: SX) -> SX:
    return ca.if_else(condition, value, math.nan)


def _increasing(table: SX, tension_only: bool) -> SX:
    """The table with no numbers where its elongations do not increase, or its tensions push."""
    entries = ca.vertsplit(table)
    for i in range(0, len(entries), 2):
        if i:
            entries[i] = _kept(table[i] > table[i - 2], entries[i])
        if tension_only:
            entries[i + 1] = _kept(table[i + 1] >= 0, entries[i + 1])
    return ca.vertcat(*entries)


def _slack(kind: SpringStructure, k: dict[str, SX]) -> dict[str, SX]:
    """The elongation above which a spring that only pulls is taut: where its tension begins to rise above zero."""
    if kind.points:
        points = _pairs(k["table"])
        taut = points[-1][0]
        for (place, _), (_, force) in reversed([*pairwise(points)]):
            taut = ca.if_else(force > 0, place, taut)
        return {"taut": ca.if_else(points[0][1] > 0, NEVER, taut)}
    linear, cubic = (_kept(k[name] >= 0, k[name]) for name in ("stiffness", "cubic_stiffness"))
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


@dataclass(frozen=True)
class Relative:
    """How b stands and moves against a, axes of what they are seen from: ``d`` (3) and its rate ``v`` (3); axes ``A``
    and ``B`` (3, 3) of the ends' bodies to these, angular velocities; ``ends`` (3) on each body, its axes."""

    d: SX
    v: SX
    A: SX
    B: SX
    omega_a: SX
    omega_b: SX
    ends: tuple[SX, SX]


@dataclass(frozen=True)
class Efforts:
    """``force`` (3) and ``torque`` (3) on b about its end, axes of what it is seen from; ``power`` [W] that is not
    stored, ``energy`` [J] that is, and outputs by name."""

    force: SX
    torque: SX | None
    power: SX
    energy: SX
    outputs: dict[str, SX]


def _relative(kind: SpringStructure) -> tuple[dict[str, SX], dict[str, SX], Relative]:
    """The inputs of a spring's kernels by name, its constants and what they make of the ends' motion."""
    fields = spring_fields(kind)
    vector = SX.sym("k", fields.size)
    inputs, k = {"k": vector}, fields.split(vector)
    poses = []
    for end in "ab":
        C, rho = SX.eye(3), SX(3, 1)
        if kind.seen != end:
            side = symbols(**{f"C_{end}": (3, 3), f"rho_{end}": 3})
            inputs |= side
            C, rho = side.values()
        V = SX.sym(f"V_{end}", 6)
        inputs[f"V_{end}"] = V
        at = k[f"at_{end}"]
        poses.append((C, rho + C @ at, C @ (V[3:] + ca.cross(V[:3], at)), C @ V[:3], at))
    slip = SX(3, 1)
    if kind.apart:
        inputs["slip"] = slip = SX.sym("slip", 3)
    if kind.kind == "line":
        inputs["actuation"] = SX.sym("actuation")
    (A, r_a, v_a, omega_a, at_a), (B, r_b, v_b, omega_b, at_b) = poses
    return inputs, k, Relative(r_b - r_a, v_b - v_a + slip, A, B, omega_a, omega_b, (at_a, at_b))


def pull(kind: SpringStructure) -> ca.Function:
    """Kernel: force vectors ``on_a`` and ``on_b`` (6) on what carries the ends, about its origin, its axes; ``power``
    that the energy grows by.

    ``C`` (to axes of what both are seen from), ``rho`` and ``V`` of what carries each; ``slip`` (3) the velocity of b's
    root less a's.
    """
    inputs, k, of = _relative(kind)
    efforts = LAWS[kind.kind](k, of, inputs)
    outputs = {**_wrenches(of, efforts), "power": efforts.power}
    return kernel(f"pull_{kind.name}", inputs, {name: ca.densify(value) for name, value in outputs.items()})


def see(kind: SpringStructure) -> ca.Function:
    """Kernel: the ``energy`` of a spring, its ``work`` [W] on the bodies as the sweeps see them move, and its outputs,
    names with ``_out``; inputs as those of `pull`."""
    inputs, k, of = _relative(kind)
    efforts = LAWS[kind.kind](k, of, inputs)
    on = _wrenches(of, efforts)
    work = ca.dot(on["on_a"], inputs["V_a"]) + ca.dot(on["on_b"], inputs["V_b"])
    outputs = {"energy": efforts.energy, "work": work, **efforts.outputs}
    return kernel(f"see_{kind.name}", inputs, {f"{name}_out": ca.densify(value) for name, value in outputs.items()})


def _wrenches(of: Relative, efforts: Efforts) -> dict[str, SX]:
    on_a, on_b = (C.T @ force for C, force in ((of.A, -efforts.force), (of.B, efforts.force)))
    torque_a, torque_b = (ca.cross(at, f) for at, f in zip(of.ends, (on_a, on_b), strict=True))
    if efforts.torque is not None:  # along a line the force on a acts at either end alike
        torque_a += of.A.T @ (ca.cross(efforts.force, of.d) - efforts.torque)
        torque_b += of.B.T @ efforts.torque
    return {"on_a": ca.vertcat(torque_a, on_a), "on_b": ca.vertcat(torque_b, on_b)}


def _line(k: dict[str, SX], of: Relative, inputs: dict[str, SX]) -> Efforts:
    square = ca.dot(of.d, of.d)
    apart = square > COINCIDENT**2
    distance = ca.sqrt(ca.if_else(apart, square, 1))
    direction, length = ca.if_else(apart, of.d / distance, 0), ca.if_else(apart, distance, 0)
    rate = ca.dot(direction, of.v)
    elongation, resistance = length - k["length"], k["damping"]
    taut = elongation > k["taut"]
    at_rest, energy = _stored(k, ca.fmax(elongation, k["taut"]))
    energy -= _stored(k, ca.if_else(k["taut"] > NEVER, k["taut"], 0))[1]  # none while slack
    damping = ca.if_else(taut, resistance * rate, 0)
    tension = ca.fmax(at_rest + damping + inputs["actuation"], k["least"])
    # Where the ends meet what has no direction is lost, and what has is smooth there: a spring without free length.
    d = SX.sym("d")
    slope = ca.substitute(ca.gradient(_stored(k, d)[0], d), d, -k["length"])
    meeting = ca.if_else(apart, 0, -(slope * of.d + resistance * of.v))
    power = -(tension - at_rest) * rate - ca.if_else(apart, 0, resistance * ca.dot(of.v, of.v))
    outputs = {"length": length, "rate": rate, "tension": tension}
    return Efforts(meeting - tension * direction, None, power, energy, outputs)


def _stored(k: dict[str, SX], d: SX) -> tuple[SX, SX]:
    """Tension at rest, and its work from the free length, at an elongation."""
    if "table" in k:
        points = _pairs(k["table"])
        tension, work = harness.table(points, d)
        return tension, work - harness.table(points, SX(0))[1]
    preload, linear, cubic = k["preload"], k["stiffness"], k["cubic_stiffness"]
    return preload + d * (linear + cubic * d**2), d * (preload + d * (linear / 2 + cubic / 4 * d**2))


def _bushing(k: dict[str, SX], of: Relative, inputs: dict[str, SX]) -> Efforts:
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


LAWS = {"line": _line, "bushing": _bushing}


def steepest_spring(kind: SpringStructure) -> ca.Function:
    """Kernel: constants with which a line is as steep as it can be: never slack, in the steepest piece of its table,
    and as stiff across as along, with no free length whose pressure would turn it away."""
    fields = spring_fields(kind)
    vector = SX.sym("k", fields.size)
    steep = SX(vector)
    steep[fields.places("taut")] = steep[fields.places("least")] = NEVER
    for name in ("length", *(() if kind.points else ("preload",))):
        steep[fields.places(name)] = 0
    if kind.points:
        drawn = harness.steepest({"harness": _pairs(fields.split(vector)["table"])})["harness"]
        steep[fields.places("table")] = ca.vertcat(*(number for point in drawn for number in point))
    return kernel(f"steepest_{kind.name}", {"k": vector}, {"steep": steep})


def strengths_of(spring: Spring) -> list[tuple[str, slice]]:
    """What makes a spring fast: names of its values, and which of their elements do."""
    return [
        (name, slice(1, None, 2) if one.points else slice(None))
        for name, one in spring.values.items()
        if one.points or SPRING_VALUES[name].strength
    ]
