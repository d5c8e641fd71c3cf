"""Wheels whose angle counts, as bodies of their own: rotors hinged to the body that carries them.

A wheel is in its body's mass, mass centre and inertia as if it were balanced: a disc of mass m and spin inertia J about
its centre ``at``. Its rotor has a first moment ``m e`` and a product of inertia besides, at angles that
turn with it. The equations of the whole see these and J, not m, so m needs not be known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from mbdy.engine.model.faults import Findings, RefusalError, path_of
from mbdy.engine.model.limits import NEGATIVE_MINOR
from mbdy.engine.model.rotations import across
from mbdy.engine.model.system import Body, Joint, Wheel
from mbdy.engine.model.tree_rules import check_part

RADIUS = 0.3
"""[m] Of the disc that stands for a rotor of unknown mass."""
SHARE, LEAST = 0.1, 10.0
"""Largest part of its body's mass that it takes then, and smallest multiple of (m e)^2/J, beyond which the axis lies
outside the disc."""
ACROSS = 0.6
"""Inertia of a rotor across its axis, of that about it; a flat disc has 0.5."""


def with_rotors(bodies: tuple[Body, ...]) -> tuple[Body, ...]:
    """``bodies``, each followed by the rotors of its wheels that are `Wheel.explicit`, which it loses."""
    return tuple(part for body in bodies for part in _parted(body))


def check_rotor_bodies(bodies: Iterable[Body], findings: Findings) -> None:
    """Refuse bodies that are called wheels of others and cannot be, and harmonics of other bodies."""
    known = {body.name: body for body in bodies}
    taken = Counter((body.joint.to, body.rotor) for body in known.values() if body.rotor)
    for body in known.values():
        for name in (name for name, wheel in body.wheels.items() if wheel.explicit and _name(body, name) in known):
            message = f"its rotor is the body {_name(body, name)!r}, and another has that name"
            findings.refuse(path_of(("body", body.name, "wheel", name)), message, "rename one")
        path, joint = path_of(("body", body.name, "rotor")), body.joint
        if not body.rotor:
            if body.harmonics:
                findings.refuse(path_of(("body", body.name, "harmonics")), "are of rotors", "give them to a wheel")
            continue
        if len(joint.rotations) != 1 or joint.translations or joint.to not in known:
            findings.refuse(path, "is for bodies with one hinge on another body", "remove it")
            continue
        carrier = known[joint.to]
        check_part(carrier.name, "wheel", body.rotor, findings)
        if body.rotor in carrier.wheels or body.rotor in carrier.nodes or taken[carrier.name, body.rotor] > 1:
            message = f"the name {body.rotor!r} is taken by a wheel or node of {carrier.name!r}"
            findings.refuse(path, message, "wheels and nodes share names; rename one")


def _parted(body: Body) -> Iterator[Body]:
    wheels = {name: wheel for name, wheel in body.wheels.items() if wheel.explicit}
    if not wheels:
        yield body
        return
    if body.flex:
        message = f"body {body.name!r} is flexible, and its wheel {next(iter(wheels))!r} has an angle or an imbalance"
        raise RefusalError(message, "give the wheel to a rigid body that is fixed to it")
    mass, com, inertia = body.mass, np.array(body.com), np.array(body.inertia)
    moment, about_origin = mass * com, inertia + _steiner(mass, com)
    rotors = []
    for name, wheel in wheels.items():
        m, at = _mass(body, name, wheel, mass), np.array(wheel.at)
        mass, moment = mass - m, moment - m * at
        about_origin -= _disc(wheel) + _steiner(m, at)
        com = moment / mass
        inertia = about_origin - _steiner(mass, com)
        if _least(inertia) < -NEGATIVE_MINOR * np.abs(about_origin).max():
            message = f"wheel {name!r} leaves {body.name!r}, which includes it, a negative principal moment of inertia"
            remedy = "check at, from the body's origin, and the body's mass, com and inertia, or give the wheel's mass"
            raise _refusal(name, "at" if at.any() else "inertia", message, remedy)
        rotors.append(_rotor(body, name, wheel, m))
    yield replace(
        body, mass=mass, com=com, inertia=inertia,
        wheels={name: wheel for name, wheel in body.wheels.items() if name not in wheels},
    )  # fmt: skip
    yield from rotors


def _mass(body: Body, name: str, wheel: Wheel, left: float) -> float:
    """The mass of a rotor, or one that it may have, of what is ``left`` of its body's."""
    if wheel.mass is not None:
        m = wheel.mass
    else:
        least = LEAST * wheel.static_imbalance**2 / wheel.inertia
        m = max(min(2 * wheel.inertia / RADIUS**2, SHARE * left), least)
    if not 0.0 < m < left:
        message = f"wheel {name!r} of {body.name!r} would have a mass of {m:.6g} kg of {left:.6g} kg"
        key, less = ("mass", "") if wheel.mass is not None else ("static_imbalance", " imbalance")
        raise _refusal(
            name, key, message, f"give the body, which includes its wheels, more mass, or the wheel less{less}"
        )
    return m


def _refusal(wheel: str, key: str, message: str, remedy: str) -> RefusalError:
    return RefusalError(message, remedy, "." + path_of((wheel, key)))


def _least(inertia: np.ndarray) -> float:
    """The least principal moment; the worst where there are no numbers."""
    return float(np.linalg.eigvalsh(inertia)[0]) if np.isfinite(inertia).all() else -np.inf


def _axis(wheel: Wheel) -> np.ndarray:
    return np.array(wheel.axis) / np.linalg.norm(wheel.axis)


def _disc(wheel: Wheel) -> np.ndarray:
    """Inertia of the balanced rotor about its centre."""
    axis = _axis(wheel)
    return wheel.inertia * (ACROSS * np.eye(3) + (1 - ACROSS) * np.outer(axis, axis))


def _steiner(mass: float, at: np.ndarray) -> np.ndarray:
    return mass * (at @ at * np.eye(3) - np.outer(at, at))


def _name(body: Body, wheel: str) -> str:
    """The name of the body that is the rotor of a ``wheel`` of ``body``."""
    return f"{body.name}_{wheel}"


def _rotor(body: Body, name: str, wheel: Wheel, mass: float) -> Body:
    axis, (first, second) = _axis(wheel), across(wheel.axis)

    def radial(phase: float) -> np.ndarray:
        return np.cos(phase) * np.array(first) + np.sin(phase) * np.array(second)

    com, tilted = wheel.static_imbalance / mass * radial(wheel.static_phase), radial(wheel.dynamic_phase)
    product = wheel.dynamic_imbalance * np.outer(axis, tilted)
    inertia = _disc(wheel) - product - product.T - _steiner(mass, com)
    if _least(inertia) < -NEGATIVE_MINOR * wheel.inertia:
        most = {
            "static_imbalance": (np.sqrt(ACROSS * wheel.inertia * mass), "kg.m"),
            "dynamic_imbalance": (np.sqrt(ACROSS) * wheel.inertia, "kg.m2"),
        }
        key = next((key for key, (limit, _) in most.items() if getattr(wheel, key) > limit), "dynamic_imbalance")
        message = f"is more than wheel {name!r} of {body.name!r} can have with its spin inertia and mass"
        remedy = f"give less than {most[key][0]:.3g} {most[key][1]}, or a larger rotor"
        raise _refusal(name, key, message, remedy)
    bearing = {"damping": wheel.damping, "friction": wheel.friction, "friction_rate": wheel.friction_rate}
    kept = bearing if wheel.friction else {"damping": wheel.damping}
    joint = Joint(to=body.name, kind="revolute", rotations=(wheel.axis,), at=wheel.at, **kept)
    return Body(
        name=_name(body, name),
        joint=joint,
        mass=mass,
        com=com,
        inertia=inertia,
        rotor=name,
        harmonics=wheel.harmonics,
    )
