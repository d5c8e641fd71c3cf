"""Parameters made ready for the equations: ``k = prepare(p)``, once whenever a parameter changes.

Unit axes, rotation matrices, first moments and inertias about the origins are worked out here and not in every
evaluation. `mbdy.engine.order_n.layout` says where each body's share lies.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import Literal

import casadi as ca
from casadi import SX

from mbdy.engine.model.bearing import BEARING
from mbdy.engine.model.law import JointValue
from mbdy.engine.model.laws import JOINT_VALUES, laws_of, resists, sticks
from mbdy.engine.model.limits import NEGATIVE_MINOR, PARALLEL
from mbdy.engine.model.owners import joint_of
from mbdy.engine.model.system import ZERO3, Body, Flex, Joint, Node
from mbdy.engine.model.variables import coupled_modes
from mbdy.engine.order_n import spatial
from mbdy.engine.order_n.joints import Shape, shape
from mbdy.engine.order_n.kernels import kernel

LOOP_CONSTANTS = 2
"""Decay of its errors [1/s] and distance [m] of each loop, 0 where it has none."""
GEAR_CONSTANTS = 3
"""Decay of its errors [1/s], offset and scale of the row of each gear, before its factors."""
LARGEST = 1e300
"""[kg.m2] Moments of a body about its origin stay below, in the range of floats."""
LEAST = 1e-300
"""Of what is divided by."""


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

    ``offset`` says whether the joint holds it elsewhere than at its origin.
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
    offset: bool = False
    rotors: int = 0
    """Coordinates of the joint with rotors of which the axes are given."""
    frame: Literal["own", "seated", "parent", "joint", "twisted"] = "own"
    """In which axes the sweeps see it (`mbdy.engine.order_n.joint_frames`): its own (``seated`` where its parent is not
    seen in its own), its parent's, or those of its joint, which a constant turn leads to (``twisted``: two)."""

    @property
    def modes(self) -> int:
        return self.flex.count if self.flex else 0

    @property
    def wheels(self) -> int:
        return len(self.bearings)

    @property
    def turns(self) -> int:
        """By how many turns about x and z its axes follow from its parent's, where they are its joint's."""
        return {"joint": 2, "twisted": 3}.get(self.frame, 0)

    @property
    def framed(self) -> bool:
        """Whether the sweeps see it in other axes than its own."""
        return self.frame not in ("own", "seated")

    @property
    def resistances(self) -> int:
        """Degrees of freedom of the joint with laws that may be too steep for a step."""
        return self.form.n_u if not self.floating and resists(self.laws) else 0

    @property
    def rests(self) -> int:
        """Rest positions of the joint's springs."""
        return 0 if self.floating else max(self.form.n_axes, dict(self.values).get("stiffness", 0))

    @property
    def ball_spring(self) -> bool:
        """Whether the joint's spherical rotation has a spring."""
        return self.rests > self.form.n_axes

    @property
    def sticking(self) -> int:
        """Degrees of freedom of the joint with friction that sticks."""
        return self.form.n_u if not self.floating and sticks(self.laws) else 0

    @property
    def reflects(self) -> bool:
        """Whether degrees of freedom of the joint have inertias by laws."""
        return not self.floating and any(law.inertia for law in laws_of(self.laws))

    @property
    def unheld(self) -> bool:
        """Whether it moves in all six degrees of freedom, and each is free."""
        return self.floating and set(self.motion) == {"free"}

    @property
    def drifting(self) -> bool:
        """Whether it is a root with a velocity of its own, which the sweeps leave out."""
        return self.floating and not self.attitude


def structure(body: Body) -> Structure:
    """The structure of ``body``."""
    joint = body.joint
    values = () if joint.floating else tuple(_value_sizes(joint))
    bearings = tuple(wheel.bearing for wheel in body.wheels.values())
    return Structure(
        shape(joint), joint.floating, joint.kind == "attitude", joint.motion, joint.laws, values, bearings,
        len(body.nodes), modes_of(body), joint.offset, len(joint.rotor_axis),
    )  # fmt: skip


def _value_sizes(joint: Joint) -> Iterator[tuple[str, int]]:
    for law in laws_of(joint.laws):
        for value in law.values:
            if value.points:
                yield value.name, 2 * len(getattr(joint, value.name))
            elif value.parameter:
                yield value.name, len(getattr(joint, value.name))


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

    ``inertia`` is about the body's origin, less the spin inertia of its wheels (equations.md, "Wheels"). What follows
    is the stepper's (`mbdy.engine.order_n.efforts.lags`): ``step`` [s], zero but in steps, ``yielding`` inertias of the
    joint's degrees of freedom, ``push`` on these [N, N.m], zero but where it measures them; ``sense`` of the rates of
    those with friction that sticks, 0 where it holds (sticking.c); ``turning`` inertias of wheels with bearings.
    """
    form, bearings = kind.form, sum(kind.bearings)
    steps = (("step", int(kind.resistances + bearings > 0)), ("yielding", kind.resistances), ("push", kind.resistances),
             ("sense", kind.sticking))  # fmt: skip
    return Fields((
        ("mass", 1), ("moment", 3), ("inertia", 6), ("com", 3),
        ("R0", 9), ("at", 3), ("axes", 3 * form.n_axes), ("frame", 4), ("at_b", 3 * kind.offset), *kind.values,
        ("rotor_axes", 3 * kind.rotors), ("spin", kind.wheels), ("spin_axes", 3 * kind.wheels),
        ("bearings", len(BEARING) * bearings),
        ("nodes", 3 * kind.nodes), *modal_fields(kind), *steps, ("turning", bearings), *frame_fields(kind),
    ))  # fmt: skip


def frame_fields(kind: Structure) -> tuple[tuple[str, int], ...]:
    """What takes the place of a body's constants (those without ``joint_``) where frames are along joints.

    ``joint_turns`` are cosine and sine of its turn at rest, of the angle between its axis and its parent's, and of the
    first turn where it has three; ``joint_Q`` its frame, to body components.
    """
    rotors = ("joint_rotor_axes", 3 * kind.rotors)
    if kind.framed:
        axes = 3 * kind.form.n_axes if kind.frame == "parent" else 0
        return (
            ("joint_turns", 2 * kind.turns), ("joint_at", 3), ("joint_axes", axes), ("joint_moment", 3),
            ("joint_inertia", 6), ("joint_spin_axes", 3 * kind.wheels), ("joint_Q", 9), rotors,
        )  # fmt: skip
    return (("joint_at", 3), ("joint_R0", 9), rotors) if kind.frame == "seated" else ()


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
        sizes += [("at", 3), ("frame", 4), ("at_b", 3 * kind.offset), ("axis", 3 * form.n_axes), *kind.values]
        sizes += [("rotor_axis", 3 * kind.rotors), ("carrier", 6 * (kind.rotors > 0))]
    bearings = ("bearings", len(BEARING) * sum(kind.bearings))
    sizes += [("wheels", 4 * kind.wheels), bearings, ("nodes", 3 * kind.nodes)]
    return Fields((*sizes, *modal_fields(kind)))


def parameter_names(body: Body) -> list[str]:
    """The variables whose values, side by side, are the body's `parameter_fields`."""
    names = [f"{body.name}.{part}" for part in ("mass", "com", "inertia")]
    if not body.joint.floating:
        values = (JOINT_VALUES[name].key for name, _ in structure(body).values)
        places = ("at", "frame", "at_b") if body.joint.offset else ("at", "frame")
        names += [f"{joint_of(body)}.{part}" for part in (*places, "axis", *values)]
        names += [f"{joint_of(body)}.rotor_axis", f"{body.joint.to}.inertia"] if body.joint.rotor_axis else []
    for wheel in body.wheels:
        names += [f"{body.name}.{wheel}.inertia", f"{body.name}.{wheel}.axis"]
    for wheel, rotor in body.wheels.items():
        names += [f"{body.name}.{wheel}.{part}" for part in BEARING] if rotor.bearing else []
    names += [f"{body.name}.{node}.at" for node in body.nodes]
    return names + ([f"{body.name}.flex.stiffness", f"{body.name}.flex.damping"] if body.flex else [])


def prepare_body(kind: Structure) -> ca.Function:
    """Kernel: one body's parameters to its constants.

    A constant is no number where its parameter is one that no body can have; `mbdy.engine.order_n.rules` has the words.
    """
    fields = parameter_fields(kind)
    vector = SX.sym("p", fields.size)
    p = fields.split(vector)
    form = kind.form
    mass, com = p["mass"], p["com"]
    tensor = spatial.symmetric(p["inertia"], 3)
    if kind.floating:
        R0, at, frame = SX.eye(3), SX(3, 1), SX([1, 0, 0, 0])
        axes = [SX.eye(3)[:, i] for i in range(3)]
    else:
        frame = p["frame"] / ca.norm_2(p["frame"])
        R0, at = spatial.rotation_matrix(frame), p["at"]
        axes = _independent(form, [_unit(p["axis"][3 * i : 3 * i + 3]) for i in range(form.n_axes)])
    size = ca.fabs(tensor[0, 0]) + ca.fabs(tensor[1, 1]) + ca.fabs(tensor[2, 2])
    about_com, spins, spin_axes = tensor, [], []
    for i in range(kind.wheels):
        J, axis = p["wheels"][4 * i], p["wheels"][4 * i + 1 : 4 * i + 4]
        square = ca.dot(axis, axis)
        about_com = about_com - J * axis @ axis.T / ca.if_else(square > 0, square, 1)
        spins.append(_kept(ca.logic_and(J > 0, no_negative_moment(about_com, size)), J))
        spin_axes.append(_unit(axis))
    offset = mass * ca.dot(com, com)
    about_origin = about_com + offset * SX.eye(3) - mass * com @ com.T
    constants = {
        "mass": _kept(mass >= 0, mass), "moment": _kept(offset <= LARGEST, mass * com),
        "inertia": _kept(no_negative_moment(tensor, size), spatial.upper(about_origin)), "com": com,
        "rotor_axes": ca.vertcat(*_rotor_axes(kind, p)),
        "R0": ca.vec(ca.densify(R0)), "at": at, "axes": ca.vertcat(*axes), "frame": frame,
        "spin": ca.vertcat(*spins), "spin_axes": ca.vertcat(*spin_axes), "nodes": p["nodes"],
        **{value.name: _lawful(value, p) for law in laws_of(kind.laws) for value in law.values if value.name in p},
        "bearings": ca.vertcat(*(
            _lawful(value, {value.name: entry})
            for value, entry in zip([*BEARING.values()] * sum(kind.bearings), ca.vertsplit(p["bearings"]), strict=True)
        )),
        "step": SX(1, 1), "yielding": SX(kind.resistances, 1), "push": SX(kind.resistances, 1),
        "sense": SX.ones(kind.sticking, 1),
        "turning": ca.vertcat(*_turning(kind, spins, spin_axes, about_com)),
    }  # fmt: skip
    pieces = []
    for name, count in constant_fields(kind).sizes:
        if count:
            pieces.append(ca.densify(constants[name] if name in constants else p[name]))
    return kernel("prepare_body", {"p": vector}, {"k": ca.vertcat(*pieces)})


def _turning(kind: Structure, spins: list[SX], axes: list[SX], inertia: SX) -> list[SX]:
    """Half of the least inertia against which each bearing turns its wheel: that of rotor and free body, of which all
    bearings of the body share the latter. Zero where the body has none of its own, or modes that move with it."""
    bearings = [(J, a) for J, a, bearing in zip(spins, axes, kind.bearings, strict=True) if bearing]
    if kind.flex:
        return [SX(0)] * len(bearings)
    det, adjugate = ca.fmax(ca.det(inertia), 0), ca.adj(inertia)
    whole = (det + len(bearings) * J * ca.dot(a, adjugate @ a) for J, a in bearings)
    return [J * det / (2 * ca.fmax(size, LEAST)) for (J, _), size in zip(bearings, whole, strict=True)]


def _rotor_axes(kind: Structure, p: dict[str, SX]) -> list[SX]:
    """Unit axes of the rotors at a joint, no numbers for those with more inertia than what carries them has."""
    found: list[SX] = []
    left = spatial.symmetric(p["carrier"], 3) if kind.rotors else SX(3, 3)
    size = ca.trace(left)
    for i in range(kind.rotors):
        axis = _unit(p["rotor_axis"][3 * i : 3 * i + 3])
        left = left - p["rotor_inertia"][i] * axis @ axis.T
        found.append(_kept(no_negative_moment(left, size), axis))
    return found


def _kept(condition: SX, value: SX) -> SX:
    """``value``, or no numbers where the ``condition`` does not hold."""
    return ca.if_else(condition, value, math.nan)


def no_negative_moment(inertia: SX, size: SX) -> SX:
    """Whether no principal moment of ``inertia`` is negative but by rounding of what is ``size`` large.

    A symmetric matrix has no negative eigenvalue if and only if no principal minor is negative.
    """
    scaled = inertia / ca.if_else(size > 0, size, 1)
    minors = [scaled[i, i] for i in range(3)]
    minors += [scaled[i, i] * scaled[j, j] - scaled[i, j] ** 2 for i, j in ((0, 1), (0, 2), (1, 2))]
    return reduce(ca.logic_and, [minor >= -NEGATIVE_MINOR for minor in (*minors, ca.det(scaled))])


def _independent(form: Shape, axes: list[SX]) -> list[SX]:
    """Unit ``axes`` of a joint, no numbers for those that give a motion which those before them give."""
    kept = axes[:1]
    for i, axis in enumerate(axes[1:], start=1):
        across = ca.norm_2(ca.cross(axes[i - 1], axis))
        if i == form.translations:
            kept.append(axis)
        elif i == 2 and form.translations == 3:
            kept.append(_kept(ca.fabs(ca.det(ca.horzcat(*axes[:3]))) > PARALLEL, axis))
        else:
            kept.append(_kept(across > PARALLEL, axis))
    return kept


def _lawful(value: JointValue, p: dict[str, SX]) -> SX:
    """The numbers of a law, each kept if it is what `mbdy.engine.order_n.rules` asks of it."""
    entries = ca.vertsplit(p[value.name])
    for i, entry in enumerate(entries):
        if value.minimum is not None:
            entries[i] = _kept(entry > value.minimum if value.above else entry >= value.minimum, entry)
        if value.below:
            entries[i] = _kept(entry < p[value.below][i], entries[i])
        if value.least:
            entries[i] = _kept(ca.logic_or(entry == 0, entry >= p[value.least][i]), entries[i])
        if value.points and i % 2 == 0 and i:
            entries[i] = _kept(entry > value.after(p[value.name][i - 2]), entry)
    return ca.vertcat(*entries)


def _unit(axis: SX) -> SX:
    return axis / ca.norm_2(axis)
