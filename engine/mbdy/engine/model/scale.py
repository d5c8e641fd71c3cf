"""How large the states of a model typically are: what solvers scale their tolerances by (FMI's nominal values)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from mbdy.engine.model.owners import SYSTEM, Owner, Quantity, joint_of, name_of, rate_of, wheels_of
from mbdy.engine.model.system import INERTIAL, Body, Model
from mbdy.engine.model.topology import tree

WHEEL_SPEED = 100.0
"""[rad/s] What a wheel's speed is measured by: about 1000 rpm."""


def scales(model: Model) -> Mapping[str, float]:
    """By name of a state or start value what it is measured by, to two digits, where that is not 1.

    Lengths are the model's own: a floating root's position is measured by how far the model reaches, a displacement of
    a joint by the body that it moves, either by its start where that is more; speeds by as much in a second. Rates are
    measured by 1 rad/s or their start where that is more; a mode by the amplitude that moves the material of its body
    as far as the body is large, its rate by that at the mode's own frequency.
    """
    rounded = {name: float(f"{value:.2g}") for name, value in _scales(model)}
    return {name: value for name, value in rounded.items() if value not in (0.0, 1.0)}


def extent(body: Body) -> float:
    """[m] How far a body reaches from its origin: its mass centre and radius of gyration, its nodes."""
    moments = sum(body.inertia[i][i] for i in range(3))
    gyration = math.sqrt(moments / (2.0 * body.mass)) if body.mass > 0.0 and moments > 0.0 else 0.0
    return max(math.hypot(*body.com) + gyration, *(math.hypot(*node.at) for node in body.nodes.values()), 0.0)


def energy_scale(model: Model) -> float:
    """[J] What changes of the energy are measured by: all masses moved as far as the model reaches in a second."""
    return float(f"{sum(part.mass for part in (*model.bodies, *model.tanks)) * _reach(model) ** 2:.2g}") or 1.0


def _reach(model: Model) -> float:
    """[m] How far the model reaches from its roots, whatever its joints do; 1 where it is a point."""
    begins: dict[str, float] = {}
    for i in tree(model).outward:
        body, joint = model.bodies[i], model.bodies[i].joint
        if joint.to == INERTIAL:
            begins[body.name] = 0.0
            continue
        node = model.body(joint.to).nodes.get(joint.node)  # None also in a file that is yet to be refused for it
        begins[body.name] = begins[joint.to] + math.hypot(*joint.at) + (math.hypot(*node.at) if node else 0.0)
    return max((begins[body.name] + extent(body) for body in model.bodies), default=0.0) or 1.0


def _scales(model: Model) -> Iterator[tuple[str, float]]:
    reach, starts = _reach(model), model.starts

    def least(value: float, owner: Owner, quantity: Quantity) -> float:
        return max(value, math.hypot(*starts.get(name_of(owner, quantity), ())))

    for tank in model.tanks:
        yield name_of(Owner("tank", tank.name), "mass"), least(tank.mass, Owner("tank", tank.name), "mass")
    for body in model.bodies:
        own, joint = Owner("body", body.name), joint_of(body)
        if body.joint.floating:
            position, velocity = least(reach, own, "position"), least(reach, own, "velocity")
            yield name_of(own, "position"), position
            yield name_of(own, "velocity"), velocity
            if body.joint.kind == "attitude":
                yield name_of(SYSTEM, "centre_of_mass"), position
                yield name_of(SYSTEM, "centre_of_mass_velocity"), velocity
        for quantity, value in (("displacement", extent(body) or reach), ("velocity", extent(body) or reach),
                                (rate_of(body), WHEEL_SPEED if body.rotor else 1.0), ("omega", 1.0)):  # fmt: skip
            yield name_of(joint, quantity), least(value, joint, quantity)
        yield name_of(own, "omega"), least(1.0, own, "omega")
        for wheel in wheels_of(body):
            speed = least(WHEEL_SPEED, wheel, "speed")
            yield name_of(wheel, "speed"), speed
            yield name_of(wheel, "momentum"), least(speed * body.wheels[wheel.part].inertia, wheel, "momentum")
        yield from _modes(body, extent(body) or reach)


def _modes(body: Body, size: float) -> Iterator[tuple[str, float]]:
    """Of all modes of a body alike, as the least of them is."""
    owner, flex = Owner("modes", body.name), body.flex
    pairs = [(flex.mass[i][i], flex.stiffness[i][i]) for i in range(body.modes)] if flex else []
    amplitudes = [size * math.sqrt(body.mass / mass) for mass, _ in pairs if mass > 0.0 < body.mass]
    if amplitudes and len(amplitudes) == len(pairs):
        frequencies = [math.sqrt(max(stiffness, 0.0) / mass) for mass, stiffness in pairs]
        yield name_of(owner, "displacement"), min(amplitudes)
        yield (
            name_of(owner, "rate"),
            min(a * w for a, w in zip(amplitudes, frequencies, strict=True)) or min(amplitudes),
        )
