"""Parameters made ready for the equations: ``k = prepare(p)``, once whenever a parameter changes.

Unit axes, rotation matrices, first moments and inertias about the origins are worked out here and not in every
evaluation. `Layout` says where each body's share lies, for parameters (``p``) and constants (``k``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise

import casadi as ca
from casadi import SX

from mbdy.engine.model.bearing import BEARING
from mbdy.engine.model.laws import laws_of
from mbdy.engine.model.system import ZERO3, Body, Flex, Joint, Model, Node
from mbdy.engine.model.variables import coupled_modes
from mbdy.engine.order_n import spatial
from mbdy.engine.order_n.joints import Shape, shape
from mbdy.engine.order_n.kernels import kernel

LOOP_CONSTANTS = 2
"""Decay of its errors [1/s] and distance [m] of each loop, 0 where it has none."""
ROUNDING = 1e-9
"""Relative size of a negative principal minor that is taken for rounding, as the reader of files does."""


@dataclass(frozen=True)
class Modes:
    """What is compiled of a flexible body: its modes and how they move its nodes, as numbers.

    Only ``stiffness`` and ``damping`` are parameters; of these only whether they couple modes matters.
    """

    flex: Flex
    nodes: tuple[Node, ...]
    coupled: tuple[bool, bool]
    """Whether stiffness and damping couple modes."""
    key: int

    @property
    def count(self) -> int:
        return self.flex.modes

    def __hash__(self) -> int:
        return self.key


def modes_of(body: Body) -> Modes | None:
    """The modes of ``body``; None where it is rigid."""
    if body.flex is None:
        return None
    still = tuple(tuple(0.0 for _ in row) for row in body.flex.mass)
    flex = replace(body.flex, stiffness=still, damping=still)
    nodes = tuple(replace(node, at=ZERO3) for node in body.nodes.values())
    coupled = (coupled_modes(body.flex.stiffness), coupled_modes(body.flex.damping))
    return Modes(flex, nodes, coupled, hash((flex, nodes, coupled)))


@dataclass(frozen=True)
class Structure:
    """What is compiled of a body: two bodies of one structure share their kernels.

    ``laws`` names those of effort at its joint, ``values`` the parameters of these with their sizes; a floating root
    has none.
    """

    form: Shape
    floating: bool
    attitude: bool
    motion: tuple[str, ...]
    laws: tuple[str, ...]
    values: tuple[tuple[str, int], ...]
    bearings: tuple[bool, ...]
    nodes: int
    flex: Modes | None = None

    @property
    def modes(self) -> int:
        return self.flex.count if self.flex else 0

    @property
    def wheels(self) -> int:
        return len(self.bearings)


def structure(body: Body) -> Structure:
    """The structure of ``body``."""
    joint = body.joint
    values = () if joint.floating else tuple(_value_sizes(joint))
    bearings = tuple(wheel.bearing for wheel in body.wheels.values())
    return Structure(
        shape(joint), joint.floating, joint.kind == "attitude", joint.motion, joint.laws, values, bearings,
        len(body.nodes), modes_of(body),
    )  # fmt: skip


def _value_sizes(joint: Joint) -> Iterator[tuple[str, int]]:
    for law in laws_of(joint.laws):
        for value in law.values:
            if value.points:
                yield value.name, 2 * len(getattr(joint, value.name))
            elif value.parameter:
                yield value.name, joint.n_u if value.speeds else joint.n_coordinates


@dataclass(frozen=True)
class Fields:
    """Named pieces of one body's vector, by size."""

    sizes: tuple[tuple[str, int], ...]

    @property
    def size(self) -> int:
        return sum(size for _, size in self.sizes)

    def places(self, name: str) -> slice:
        """Where the piece called ``name`` lies."""
        names = [n for n, _ in self.sizes]
        begin = sum(size for _, size in self.sizes[: names.index(name)])
        return slice(begin, begin + dict(self.sizes)[name])

    def split(self, vector: SX) -> dict[str, SX]:
        """The pieces of ``vector`` by name."""
        return {name: vector[self.places(name), 0] for name, _ in self.sizes}


def constant_fields(kind: Structure) -> Fields:
    """One body's constants: what `prepare_body` gives and the kernels read.

    ``inertia`` is about the body's origin, less the spin inertia of its wheels (equations.md, "Wheels").
    """
    form = kind.form
    return Fields((
        ("mass", 1), ("moment", 3), ("inertia", 6), ("com", 3),
        ("R0", 9), ("at", 3), ("axes", 3 * form.n_axes), ("frame", 4), *kind.values,
        ("spin", kind.wheels), ("spin_axes", 3 * kind.wheels), ("bearings", len(BEARING) * sum(kind.bearings)),
        ("nodes", 3 * kind.nodes), *modal_fields(kind),
    ))  # fmt: skip


def modal_fields(kind: Structure) -> tuple[tuple[str, int], ...]:
    """The numbers of a flexible body that are parameters: its stiffness and damping, diagonals where they can be."""
    if kind.flex is None:
        return ()
    m = kind.flex.count
    sizes = [m * (m + 1) // 2 if coupled else m for coupled in kind.flex.coupled]
    return (("flex_stiffness", sizes[0]), ("flex_damping", sizes[1]))


def parameter_fields(kind: Structure) -> Fields:
    """One body's parameters, in the order of `parameter_names`."""
    form = kind.form
    sizes = [("mass", 1), ("com", 3), ("inertia", 6)]
    if not kind.floating:
        sizes += [("at", 3), ("frame", 4), ("axis", 3 * form.n_axes), *kind.values]
    bearings = ("bearings", len(BEARING) * sum(kind.bearings))
    sizes += [("wheels", 4 * kind.wheels), bearings, ("nodes", 3 * kind.nodes)]
    return Fields((*sizes, *modal_fields(kind)))


def parameter_names(body: Body) -> list[str]:
    """The variables whose values, side by side, are the body's `parameter_fields`."""
    names = [f"{body.name}.{part}" for part in ("mass", "com", "inertia")]
    if not body.joint.floating:
        values = (name for name, _ in structure(body).values)
        names += [f"{body.name}.joint.{part}" for part in ("at", "frame", "axis", *values)]
    for wheel in body.wheels:
        names += [f"{body.name}.{wheel}.inertia", f"{body.name}.{wheel}.axis"]
    for wheel, rotor in body.wheels.items():
        names += [f"{body.name}.{wheel}.{part}" for part in BEARING] if rotor.bearing else []
    names += [f"{body.name}.{node}.at" for node in body.nodes]
    return names + ([f"{body.name}.flex.stiffness", f"{body.name}.flex.damping"] if body.flex else [])


def prepare_body(kind: Structure) -> ca.Function:
    """Kernel: one body's parameters to its constants; not finite where no body can have such parameters."""
    fields = parameter_fields(kind)
    vector = SX.sym("p", fields.size)
    p = fields.split(vector)
    form = kind.form
    mass, com = p["mass"], p["com"]
    moment = mass * com
    tensor = spatial.symmetric(p["inertia"], 3)
    about_com = tensor
    if kind.floating:
        R0, at, frame = SX.eye(3), SX(3, 1), SX([1, 0, 0, 0])
        axes = [SX.eye(3)[:, i] for i in range(3)]
    else:
        frame = p["frame"] / ca.norm_2(p["frame"])
        R0, at = spatial.rotation_matrix(frame), p["at"]
        axes = [_unit(p["axis"][3 * i : 3 * i + 3]) for i in range(form.n_axes)]
    spins = [p["wheels"][4 * i] for i in range(kind.wheels)]
    spin_axes = [_unit(p["wheels"][4 * i + 1 : 4 * i + 4]) for i in range(kind.wheels)]
    for J, a in zip(spins, spin_axes, strict=True):
        about_com = about_com - J * a @ a.T
    about_origin = about_com + mass * (ca.dot(com, com) * SX.eye(3) - com @ com.T)
    constants = {
        "mass": ca.if_else(ca.logic_and(_possible(mass, spins, about_com, tensor), _lawful(kind, p)), mass, math.nan),
        "moment": moment, "inertia": spatial.upper(about_origin), "com": com,
        "R0": ca.vec(ca.densify(R0)), "at": at, "axes": ca.vertcat(*axes), "frame": frame,
        "spin": ca.vertcat(*spins), "spin_axes": ca.vertcat(*spin_axes), "nodes": p["nodes"],
    }  # fmt: skip
    pieces = []
    for name, size in constant_fields(kind).sizes:
        if size:
            pieces.append(ca.densify(constants[name] if name in constants else p[name]))
    return kernel("prepare_body", {"p": vector}, {"k": ca.vertcat(*pieces)})


def _possible(mass: SX, spins: list[SX], inertia: SX, whole: SX) -> SX:
    """Whether mass and spin inertias are not negative, and neither is the ``inertia`` left of the ``whole`` without
    its wheels.

    A symmetric matrix has no negative eigenvalue if and only if no principal minor is negative.
    """
    size = ca.fabs(whole[0, 0]) + ca.fabs(whole[1, 1]) + ca.fabs(whole[2, 2])
    minors = [(inertia[i, i], size) for i in range(3)]
    pairs = ((0, 1), (0, 2), (1, 2))
    minors += [(inertia[i, i] * inertia[j, j] - inertia[i, j] ** 2, size**2) for i, j in pairs]
    minors += [(ca.det(inertia), size**3)]
    possible = mass >= 0
    for spin in spins:
        possible = ca.logic_and(possible, spin > 0)
    for minor, scale in minors:
        possible = ca.logic_and(possible, minor >= -ROUNDING * scale)
    return possible


def _lawful(kind: Structure, p: dict[str, SX]) -> SX:
    """Whether the numbers of laws, of bearings too, are above or below what they must be, and points in their order."""
    values = [(value, p[value.name]) for law in laws_of(kind.laws) for value in law.values if value.name in p]
    values += zip([*BEARING.values()] * sum(kind.bearings), ca.vertsplit(p["bearings"]), strict=True)
    conditions = []
    for value, vector in values:
        entries = ca.vertsplit(vector)
        if value.above and value.minimum is not None:
            conditions += [entry > value.minimum for entry in entries]
        if value.below:
            conditions += [low < high for low, high in zip(entries, ca.vertsplit(p[value.below]), strict=True)]
        if value.points:
            conditions += [low < high for low, high in pairwise(entries[::2])]
    return reduce(ca.logic_and, conditions, SX(1))


def _unit(axis: SX) -> SX:
    return axis / ca.norm_2(axis)


@dataclass(frozen=True)
class Layout:
    """Places of each body's parts in the core's vectors ``x``, ``u``, ``p`` and ``k``."""

    structures: tuple[Structure, ...]
    q: tuple[slice, ...]
    speeds: tuple[slice, ...]
    wheels: tuple[slice, ...]
    constants: tuple[slice, ...]
    modes: tuple[slice, ...]
    """Of modal displacements; modal rates are `n_eta` further on."""
    loops: tuple[slice, ...]
    """Of the loops' constants in ``k``."""
    n_q: int
    n_u: int
    n_eta: int
    n_x: int
    n_k: int
    """The last of ``k`` is the gravitational parameter in models with a gravity gradient."""

    def modal_rates(self, body: int) -> slice:
        """Of a body's modal rates in ``x``."""
        at = self.modes[body]
        return slice(at.start + self.n_eta, at.stop + self.n_eta)


def layout(model: Model) -> Layout:
    """The layout of ``model``: x = [q, u, eta, eta', h], each block by body in the order of the file."""
    structures = tuple(structure(b) for b in model.bodies)

    def run(start: int, sizes: list[int]) -> tuple[tuple[slice, ...], int]:
        slices = []
        for size in sizes:
            slices.append(slice(start, start + size))
            start += size
        return tuple(slices), start

    q, n_q = run(0, [b.joint.n_q for b in model.bodies])
    speeds, end = run(n_q, [b.joint.n_u for b in model.bodies])
    modes, modes_end = run(end, [b.modes for b in model.bodies])
    n_eta = modes_end - end
    wheels, n_x = run(modes_end + n_eta, [len(b.wheels) for b in model.bodies])
    constants, n_k = run(0, [constant_fields(s).size for s in structures])
    loops, n_k = run(n_k, [LOOP_CONSTANTS] * len(model.loops))
    n_k += model.gravity_gradient is not None
    return Layout(structures, q, speeds, wheels, constants, modes, loops, n_q, end - n_q, n_eta, n_x, n_k)
