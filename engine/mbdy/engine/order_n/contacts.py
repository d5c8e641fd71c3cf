"""Contacts as force elements: the gap between two surfaces, and what presses where it is below zero.

A gap is a function of where the sphere's centre is in the axes of the other surface, and forces along the normal act on
its gradient, so that they have a potential wherever the surfaces are. The sphere is b, or what follows is turned round.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import casadi as ca
from casadi import SX

from mbdy.engine.model.contacts import CONTACT_VALUES, ROUNDED, SHAPES, Contact
from mbdy.engine.order_n.elements import Efforts, Element, Relative, kept

LETTERS = {ord("."): "p", ord("+"): "p", ord("-"): "m"}
"""What stands for signs in names of kernels."""
NOTHING = 1e-12
"""[m] Distance from a centre or an edge that is divided by at least."""
PRESSED = 1e-3
"""[m] Depth at which a contact's steepness is looked at."""


@dataclass(frozen=True)
class Meeting(Element):
    """A contact of two kinds of shapes; ``pressed`` is 1 where it acts at any gap, as steeply as at `PRESSED`."""

    shapes: tuple[str, str]
    exponent: float

    @property
    def law(self) -> str:
        return f"{self.shapes[0]}on{self.shapes[1]}{self.exponent.hex().translate(LETTERS)}"

    @property
    def framed(self) -> str:
        return "".join(end for end, shape in zip("ab", self.shapes, strict=True) if shape != "sphere")

    @property
    def numbers(self) -> tuple[tuple[str, int], ...]:
        own = [f"{name}_{end}" for end, shape in zip("ab", self.shapes, strict=True) for name in SHAPES[shape]]
        return tuple((name, 1) for name in (*own, *CONTACT_VALUES))

    @property
    def derived(self) -> tuple[tuple[str, int], ...]:
        return (("pressed", 1),)

    def prepared(self, k: dict[str, SX]) -> Mapping[str, SX]:
        made: dict[str, SX] = {"pressed": SX(0)}
        for name, _ in self.numbers:
            stem, _, end = name.rpartition("_")
            one = CONTACT_VALUES.get(name) or SHAPES[self.shapes["ab".index(end)]][stem]
            sound = k[name] > 0 if one.above else k[name] >= 0
            made[name] = kept(ca.logic_and(sound, k[name] < ca.pi / 2) if stem == "half_angle" else sound, k[name])
        return made

    def efforts(self, k: dict[str, SX], of: Relative, inputs: dict[str, SX]) -> Efforts:
        round_a = self.shapes[1] != "sphere"  # the sphere is a: seen from b
        ends = "ba" if round_a else "ab"
        C, omega = (of.B, of.omega_b) if round_a else (of.A, of.omega_a)
        if self.framed:
            C = C @ ca.reshape(k[f"frame_{ends[0]}"], 3, 3)
        d, v = (-of.d, -of.v) if round_a else (of.d, of.v)
        place, radius = SX.sym("place", 3), k[f"radius_{ends[1]}"]
        distance = self._distance(place, {name.removesuffix(f"_{ends[0]}"): x for name, x in k.items()}, radius)
        gradient = ca.gradient(distance, place)
        seen = C.T @ d
        gap, normal = (ca.substitute(each, place, seen) for each in (distance - radius, gradient))
        rate = ca.dot(normal, C.T @ (v - ca.cross(omega, d)))
        size = ca.sqrt(ca.fmax(ca.dot(normal, normal), NOTHING))
        normal, across = C @ normal, C @ normal / size
        depth = ca.fmax(-gap, 0)
        steep = self.exponent * PRESSED ** (self.exponent - 1) * k["pressed"]
        directed = ca.dot(normal, normal) > 0  # where centres coincide nothing says which way they part: nothing acts
        at_rest = ca.if_else(directed, k["stiffness"] * (depth**self.exponent - steep * gap), 0)
        push = ca.if_else(k["pressed"], at_rest * (1 - k["damping"] * rate),
                          ca.fmax(at_rest * (1 - k["damping"] * rate), 0))  # fmt: skip
        # The surfaces meet below the sphere's centre; there they slide, and there friction acts on both.
        foot = -(radius - depth / 2) * across
        turning = (of.omega_a, of.omega_b) if round_a else (of.omega_b, of.omega_a)
        slip = v + ca.cross(turning[0], foot) - ca.cross(turning[1], d + foot)
        slip -= across * ca.dot(across, slip)
        pressing = ca.if_else(k["pressed"], k["stiffness"] * PRESSED**self.exponent, push)
        sliding = ca.if_else(k["pressed"], 0, ca.dot(slip, slip))
        rubbing = k["friction"] * pressing / ca.sqrt(sliding + k["friction_rate"] ** 2)
        drag = -rubbing * slip
        power = (push - at_rest) * rate + ca.dot(drag, slip)
        force, moment = push * normal + drag, ca.cross(foot, drag)  # on the sphere, about its centre
        energy = k["stiffness"] * depth ** (self.exponent + 1) / (self.exponent + 1)
        speed = ca.sqrt(ca.dot(slip, slip) + NOTHING**2)
        outputs = {"gap": gap, "normal_force": push, "tangential_force": rubbing * speed}
        if round_a:  # on b: the opposite, about its place
            force, moment = -force, -moment + ca.cross(d, -force)
        return Efforts(force, moment, power, energy, outputs)

    def _distance(self, place: SX, k: dict[str, SX], radius: SX) -> SX:
        """Of a sphere's centre at ``place`` from the other surface, its axes."""
        shape = self.shapes[0] if self.shapes[1] == "sphere" else self.shapes[1]
        if shape == "plane":
            return place[2]
        if shape == "sphere":
            return ca.sqrt(ca.fmax(ca.dot(place, place), NOTHING**2)) - k["radius"]
        # Nearest point of the line from apex to rim in the half plane of axis and centre; smooth across the axis.
        near = ROUNDED * radius + NOTHING
        square = place[0] ** 2 + place[1] ** 2
        blend = ca.polyval(ca.DM([3 / 8, -5 / 4, 15 / 8, 0]), square / near**2)  # even: 0, 1 and slope 1 to order two
        from_axis = ca.if_else(square < near**2, near * blend, ca.sqrt(ca.fmax(square, near**2)))
        sine, cosine = ca.sin(k["half_angle"]), ca.cos(k["half_angle"])
        along = ca.fmin(ca.fmax(from_axis * sine + place[2] * cosine, 0), k["depth"] / cosine)
        away = ca.vertcat(from_axis - along * sine, place[2] - along * cosine)
        return ca.sqrt(ca.fmax(ca.dot(away, away), NOTHING**2))

    @property
    def switches(self) -> tuple[str, ...]:
        return ("touching",)

    def indicators(self, k: dict[str, SX], outputs: Mapping[str, SX]) -> list[SX]:
        return [-outputs["gap"]]

    @property
    def steepens(self) -> bool:
        return True

    def steepest(self, k: dict[str, SX]) -> Mapping[str, SX | float]:
        return {"pressed": 1.0}


def contact_structure(contact: Contact) -> Element:
    """The structure of ``contact``, wherever its ends are."""
    return Meeting((contact.shape_a.kind, contact.shape_b.kind), contact.exponent)
