"""Whose a variable is and what of it: owner and quantity, and the name that follows from the two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mbdy.engine.model.gear import Gear
from mbdy.engine.model.system import Acting, Body, Loop

OwnerKind = Literal[
    "system", "body", "joint", "wheel", "node", "modes", "loop", "gear", "output", "spring", "contact", "tank"
]

Quantity = str
"""What a variable is of its owner, the last part of its name: ``omega``, ``attitude``, ``torque``, ``mass`` and others,
among them the values of each law of effort."""


@dataclass(frozen=True, slots=True)
class Owner:
    """What a variable belongs to: ``name`` of the body, loop, gear, chosen output, spring, contact or tank (empty for
    the system), and ``part``, the wheel or the node of that body. A joint and a set of modes have the name of their
    (outboard) body."""

    kind: OwnerKind
    name: str = ""
    part: str = ""

    def __str__(self) -> str:
        """What the names of its variables begin with."""
        match self.kind:
            case "system":
                return "system"
            case "loop" | "gear" | "output" | "spring" | "contact" | "tank":
                return f"{self.kind}.{self.name}"
            case "joint":
                return f"{self.name}.joint"
            case "modes":
                return f"{self.name}.flex"
            case "wheel" | "node":
                return f"{self.name}.{self.part}"
        return self.name


SYSTEM = Owner("system")


def name_of(owner: Owner, quantity: Quantity) -> str:
    """The name of a variable; a chosen output is one by itself."""
    return str(owner) if owner.kind == "output" else f"{owner}.{quantity}"


def joint_of(body: Body) -> Owner:
    """The joint of a body; that of a rotor is a wheel of the body that carries it."""
    return Owner("wheel", body.joint.to, body.rotor) if body.rotor else Owner("joint", body.name)


def rate_of(body: Body) -> Quantity:
    """What the rate of its joint's angles is called."""
    return "speed" if body.rotor else "rate"


def points_of(body: Body) -> tuple[Owner, ...]:
    """The body itself and its nodes: where forces act and motion is seen."""
    return (Owner("body", body.name), *(Owner("node", body.name, node) for node in body.nodes))


def constraint(of: Loop | Gear) -> Owner:
    """A loop or a gear."""
    return Owner("gear" if isinstance(of, Gear) else "loop", of.name)


def element(of: Acting) -> Owner:
    """A spring or a contact."""
    return Owner(of.sort, of.name)


def wheels_of(body: Body) -> tuple[Owner, ...]:
    """The wheels of a body."""
    return tuple(Owner("wheel", body.name, wheel) for wheel in body.wheels)
