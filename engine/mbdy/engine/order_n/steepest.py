"""A system with its laws of effort where they are steepest, for a look at how fast it can become."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import casadi as ca
from casadi import MX, SX

from mbdy.engine.model.bearing import BEARING, BEARING_LAWS
from mbdy.engine.model.laws import JOINT_VALUES, laws_of
from mbdy.engine.model.owners import element, joint_of
from mbdy.engine.model.ports import Ports
from mbdy.engine.model.system import Body, Model
from mbdy.engine.order_n.constants import Structure, constant_fields
from mbdy.engine.order_n.element_kinds import structure_of
from mbdy.engine.order_n.elements import steepest as steepest_element
from mbdy.engine.order_n.kernels import Kernels, kernel
from mbdy.engine.order_n.layout import Layout


def steepest(layout: Layout, model: Model) -> ca.Function | None:
    """``mbdy_model_steepest``: constants ``k`` to those with which all laws are as steep as they can be at the state of
    now; those that steps take implicitly do nothing. None where nothing has laws that this changes."""
    elements = [(structure_of(part), at) for part, at in zip(model.elements, layout.elements, strict=True)]
    elements = [(kind, at) for kind, at in elements if kind.steepens]
    if not (elements or any(_changed(kind) for kind in layout.structures)):
        return None
    k, kernels = MX.sym("k", layout.n_k), Kernels()
    pieces, end = [], 0
    for kind, at in zip(layout.structures, layout.constants, strict=True):
        pieces.append(kernels.call(steepest_body, kind, k=k[at, 0])["steep"] if _changed(kind) else k[at, 0])
        end = at.stop
    for kind, at in elements:
        pieces += [k[end : at.start, 0], kernels.call(steepest_element, kind, k=k[at, 0])["steep"]]
        end = at.stop
    return ca.Function("mbdy_model_steepest", [k], [ca.vertcat(*pieces, k[end:, 0])], ["k"], ["steep"])


def _changed(kind: Structure) -> bool:
    return any(kind.bearings) or (not kind.floating and any(law.steepest for law in laws_of(kind.laws)))


def steepest_body(kind: Structure) -> ca.Function:
    """Kernel: the same of one body."""
    fields = constant_fields(kind)
    vector = SX.sym("k", fields.size)
    k, steep = fields.split(vector), SX(vector)
    for law in () if kind.floating else laws_of(kind.laws):
        dofs = kind.form.n_u if law.of_rates else kind.form.n_axes
        for i in range(dofs if law.steepest else 0):
            assert law.steepest
            for name, value in law.steepest(law.numbers({**k, "stretch": SX(dofs, 1)}, i)).items():
                at, of_points = fields.places(name).start, JOINT_VALUES[name].points
                places = slice(at, at + 2 * len(value)) if of_points else slice(at + i, at + i + 1)
                steep[places] = ca.vertcat(*(number for point in value for number in point)) if of_points else value
    for law in BEARING_LAWS:
        for name, value in law.steepest({}).items() if law.steepest else ():
            at = fields.places("bearings").start + list(BEARING).index(name)
            for i in range(sum(kind.bearings)):
                steep[at + i * len(BEARING)] = value
    return kernel("steepest", {"k": vector}, {"steep": steep})


@dataclass(frozen=True)
class Strengths:
    """What makes a system fast: places in ``p`` of numbers that do, the group of each, and the name of each group, a
    parameter or ``BODY: mode K``."""

    places: tuple[int, ...] = ()
    groups: tuple[int, ...] = ()
    names: tuple[str, ...] = ()


def strengths(model: Model, ports: Ports) -> Strengths:
    """Those of ``model``: stiffnesses, dampings and what else laws of effort scale with, of bearings and modes too."""
    groups: dict[str, list[int]] = {}
    for body in model.bodies:
        for name, place in _strengths(body, ports):
            groups.setdefault(name, []).append(place)
    for part in model.elements:
        for value, one in part.values.items():
            variable = ports.by_name.get(f"{element(part)}.{value}")
            if variable is None:  # a key that is not the name of its parameter makes nothing fast
                continue
            for place in one.strengths(range(variable.places.start, variable.places.stop)):
                name = variable.name if one.points else variable.scalar_names[place - variable.offset]
                groups.setdefault(name, []).append(place)
    pairs = [(place, group) for group, places in enumerate(groups.values()) for place in places]
    return Strengths(tuple(place for place, _ in pairs), tuple(group for _, group in pairs), tuple(groups))


def _strengths(body: Body, ports: Ports) -> Iterator[tuple[str, int]]:
    stems = [] if body.joint.floating else [(str(joint_of(body)), JOINT_VALUES)]
    stems += [(f"{body.name}.{wheel}", BEARING) for wheel, rotor in body.wheels.items() if rotor.bearing]
    for stem, values in stems:
        for value in values.values():
            variable = ports.by_name.get(f"{stem}.{value.key}")
            if variable and variable.causality == "parameter":
                scalars = range(variable.places.start, variable.places.stop)
                for place in value.strengths(scalars):
                    name = variable.name if value.points else variable.scalar_names[place - variable.offset]
                    yield name, place
    for what in ("stiffness", "damping") if body.flex else ():
        variable = ports.by_name[f"{body.name}.flex.{what}"]
        diagonal: Collection[int] = range(body.modes)
        if variable.size > body.modes:  # an upper triangle, row by row
            diagonal = [i * body.modes - i * (i - 1) // 2 for i in diagonal]
        for mode, entry in enumerate(diagonal, start=1):
            yield f"{body.name}: mode {mode}", variable.offset + entry
