"""What parameters must keep for the equations to have constants, in words.

Where a parameter breaks its rule, the constant that follows from it is no number (`constants.prepare_body`), so that
the first such constant tells which parameter it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mbdy.engine.model.bearing import BEARING
from mbdy.engine.model.gear import TIES
from mbdy.engine.model.law import AT_ONCE, JointValue
from mbdy.engine.model.laws import laws_of
from mbdy.engine.model.owners import SYSTEM, Owner, element, joint_of, wheels_of
from mbdy.engine.model.ports import Ports
from mbdy.engine.model.springs import PARAMETERS
from mbdy.engine.model.system import Acting, Body, Model
from mbdy.engine.order_n.constants import Structure, constant_fields
from mbdy.engine.order_n.element_kinds import structure_of
from mbdy.engine.order_n.layout import Layout
from mbdy.engine.order_n.loop_kernels import SHORTEST
from mbdy.engine.order_n.tanks import tank_form, tank_words


@dataclass(frozen=True, slots=True)
class Rule:
    """What a parameter must be: ``size`` elements from ``place`` in ``p``, under a ``name``.

    Constants from ``constant`` on, up to the next rule's, are no numbers where it is not. Those that follow from no
    parameter alone have no name.
    """

    constant: int
    name: str = ""
    text: str = ""
    place: int = 0
    size: int = 0


def rules(model: Model, ports: Ports, at: Layout) -> tuple[Rule, ...]:
    """The rules of all parameters of ``model``, in the order of the constants."""
    found: list[Rule] = []
    for body, kind, places in zip(model.bodies, at.structures, at.constants, strict=True):
        found += sorted(_of_body(body, kind, places.start, ports), key=lambda rule: rule.constant)
    for loop, places in zip(model.loops, at.loops, strict=True):
        owner = Owner("loop", loop.name)
        found.append(_rule(ports, owner, "time_constant", places.start, "must be >= 0"))
        if loop.distance is not None:
            found.append(_rule(ports, owner, "distance", places.start + 1, f"must be >= {SHORTEST:g} m"))
    for gear, places in zip(model.gears, at.gears, strict=True):
        owner = Owner("gear", gear.name)
        found.append(_rule(ports, owner, "time_constant", places.start, "must be >= 0"))
        found.append(_rule(ports, owner, "factor", places.start + 2, TIES))
    for part, places in zip(model.elements, at.elements, strict=True):
        found += _of_element(part, places.start, ports)
    for tank, places in zip(model.tanks, at.tank_constants, strict=True):
        for name, first, size, text in tank_words(tank_form(tank)):
            place = places.start + tank_form(tank).constants.places(name).start + first
            found.append(_rule(ports, Owner("tank", tank.name), name, place, text, slice(first, first + size)))
    if model.gravity_gradient:
        found.append(_rule(ports, SYSTEM, "gravitational_parameter", at.n_k - 1, "must be >= 0"))
    return (*found, Rule(at.n_k))


def _of_body(body: Body, kind: Structure, begin: int, ports: Ports) -> Iterator[Rule]:
    fields, owner, joint = constant_fields(kind), Owner("body", body.name), joint_of(body)

    def place(name: str, element: int = 0) -> int:
        return begin + fields.places(name).start + element

    yield _rule(ports, owner, "mass", place("mass"), "must be >= 0")
    yield _rule(ports, owner, "com", place("moment"), "must be nearer: moments about it are beyond floats")
    yield _rule(
        ports, owner, "inertia", place("inertia"), "must have no negative principal moment (xx, xy, xz, yy, yz, zz)"
    )
    if not kind.floating:
        yield _rule(ports, joint, "frame", place("R0"), "must be a quaternion, not zero")
        for i in range(kind.form.n_axes):
            text = f"axis {i + 1} must neither be zero nor turn or slide as the one before" if i else "must not be zero"
            yield _rule(ports, joint, "axis", place("axes", 3 * i), text, slice(3 * i, 3 * i + 3))
        for value in (value for law in laws_of(kind.laws) for value in law.values if value.parameter):
            for i in range(fields.places(value.name).stop - fields.places(value.name).start):
                text = _words(value, f"{joint}.{value.below or f'{value.table}.{value.least}'}")
                yield _rule(ports, joint, value.key, place(value.name, i), text, slice(i, i + 1))
        for i in range(kind.rotors):
            place_of = place("rotor_axes", 3 * i)
            text = "must not be zero, nor its rotor_inertia more than its carrier, which includes it, has about it"
            yield _rule(ports, joint, "rotor_axis", place_of, text, slice(3 * i, 3 * i + 3))
    bearings = 0
    for i, (wheel, rotor) in enumerate(zip(wheels_of(body), body.wheels.values(), strict=True)):
        text = "must be > 0 kg.m2, and no more than its body, which includes its wheels, has about their axes"
        yield _rule(ports, wheel, "inertia", place("spin", i), text)
        yield _rule(ports, wheel, "axis", place("spin_axes", 3 * i), "must not be zero")
        for value in BEARING.values() if rotor.bearing else ():
            yield _rule(ports, wheel, value.name, place("bearings", bearings), _words(value))
            bearings += 1


def _of_element(part: Acting, begin: int, ports: Ports) -> Iterator[Rule]:
    fields, owner = structure_of(part).fields, element(part)
    for name, size in fields.sizes:
        if name in part.values and (name in part.least or part.values[name].points):
            for i in range(size):
                text = "must be above the elongation of the point before"
                if i % 2 or not part.values[name].points:
                    text = f"must be {'>' if part.values[name].above else '>='} 0"
                    text += f" and below {part.values[name].below}" if part.values[name].below else ""
                place = begin + fields.places(name).start + i
                yield _rule(ports, owner, PARAMETERS.get(name, name), place, text, slice(i, i + 1))


def _words(value: JointValue, other: str = "") -> str:
    if value.points:
        what = f"time of the point before by {AT_ONCE:g} s and more" if value.over else "coordinate of the point before"
        return f"must be above the {what}"
    bounds = [] if value.minimum is None else [f"must be {'>' if value.above else '>='} {value.minimum:g}"]
    bounds += [f"must be below '{other}'"] if value.below else []
    return " and ".join(bounds + ([f"must be no less than '{other}', or 0 for that"] if value.least else []))


def _rule(ports: Ports, owner: Owner, quantity: str, constant: int, text: str, part: slice | None = None) -> Rule:
    parameter = ports.by_name[f"{owner}.{quantity}"]
    whole = slice(0, parameter.size)
    part = part or whole
    size = part.stop - part.start
    name = parameter.scalar_names[part.start] if size == 1 else parameter.name
    return Rule(constant, name, text, parameter.offset + part.start, size)
