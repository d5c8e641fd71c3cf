"""Random systems for tests: trees of bodies with every kind of joint and root, and random states and inputs.

Numbers are physically sensible and kept away from singular configurations, so that a relative agreement of
1e-10 between two formulations is meaningful: the coefficient matrix, scaled to a unit diagonal, has a
condition number below `CONDITION` at every state drawn here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from mbdy.engine.model.ports import ports
from mbdy.engine.model.system import (
    INERTIAL,
    Body,
    GravityGradient,
    Joint,
    Matrix3,
    Model,
    Motion,
    Node,
    Vector3,
    Wheel,
)
from oracles.dense_kane import axis_rotation, coefficients, quaternion_rotation, unit
from oracles.drawing import XYZ, any_axis, any_quaternion, any_vector, generator, numbers, symmetric, vector

Root = Literal["free", "attitude", "fixed", "joint", "several"]
ROOTS: tuple[Root, ...] = get_args(Root)

CONDITION = 1e5
"""Largest condition number of the scaled coefficient matrix: times round-off it is below 1e-10."""
SLANT = 0.35
"""Smallest volume (sine, for two) spanned by the axes of one joint: 0 is a gimbal singularity."""

KINDS = (
    "fixed",
    "revolute",
    "prismatic",
    "cylindrical",
    "universal",
    "gimbal",
    "spherical",
    "planar",
    "general",
)
KIND_WEIGHTS = (0.1, 0.22, 0.12, 0.09, 0.1, 0.09, 0.1, 0.06, 0.12)


def random_model(
    seed: int | np.random.Generator,
    n_bodies: int | None = None,
    *,
    roots: Sequence[Root] = ROOTS,
    kinds: Sequence[str] = KINDS,
    wheels: bool = True,
    nodes: bool = True,
    springs: bool = True,
    motion: bool = True,
    floating_motion: bool = True,
    massless: bool = True,
    gradient: bool = False,
) -> Model:
    """A random model of ``n_bodies`` (default: 2 to 12) bodies in shuffled order.

    ``roots`` and ``kinds`` limit the choice of roots and joints; ``motion`` allows prescribed and switchable
    degrees of freedom (``floating_motion``: those of floating roots, rotations only for ``attitude``);
    ``massless`` allows bodies without mass or inertia between others; ``gradient`` gives the system a gravity gradient
    and limits ``roots`` to floating ones.
    """
    rng = generator(seed)
    if gradient:
        roots = [root for root in roots if root in ("free", "attitude")]
    count = int(rng.integers(2, 13)) if n_bodies is None else n_bodies
    while True:
        bodies = _tree(rng, count, roots[rng.integers(len(roots))], kinds, motion, floating_motion)
        if any(b.joint.n_u for b in bodies):
            break
    bodies = [_dressed(rng, b, wheels=wheels, nodes=nodes, springs=springs) for b in bodies]
    bodies = _seated(rng.spawn(1)[0], bodies)
    if massless:
        bodies = _thinned(rng, bodies)
    gravity = (0.0, 0.0, 0.0) if rng.random() < 0.4 else any_vector(rng, 6.0)
    model = Model(name="random", bodies=tuple(bodies[i] for i in rng.permutation(count)), gravity=gravity)
    return replace(model, gravity_gradient=_gradient(rng)) if gradient else model


def hinged_model(rng: np.random.Generator, n_bodies: int | None = None) -> Model:
    """A random model of the kind that TR 32-1592 is about: hinges, crossed hinges and welds below a floating body."""
    kinds = ("fixed", "revolute", "universal", "gimbal")
    return random_model(rng, n_bodies, roots=("free", "attitude"), kinds=kinds, wheels=False, floating_motion=False)


def _tree(
    rng: np.random.Generator,
    count: int,
    root: Root,
    kinds: Sequence[str],
    motion: bool,
    floating_motion: bool,
) -> list[Body]:
    """Bare bodies from base to tips."""
    n_roots = 1 if root != "several" else int(rng.integers(2, 4))
    labels = [f"{chr(97 + int(k) % 26)}{k}" for k in rng.permutation(count)]
    bodies: list[Body] = []
    for i, name in enumerate(labels):
        if i < n_roots:
            sort = rng.choice(["free", "fixed", "joint", "joint"]) if root == "several" else root
            if sort in ("free", "attitude"):
                joint = Joint(to=INERTIAL, kind=str(sort), translations=XYZ, spherical=True)
            else:
                joint = random_joint(rng, INERTIAL, kinds=("fixed",) if sort == "fixed" else _moving(kinds))
        else:
            # Mostly near the last bodies, so that chains are long and branches still come.
            parent = labels[int(max(0, i - 1 - rng.geometric(0.5) + 1))]
            joint = random_joint(rng, parent, kinds=kinds)
        if motion and joint.n_u and rng.random() < 0.4 and (floating_motion or not joint.floating):
            chosen: list[Motion] = [
                ("free", "prescribed", "switchable")[int(rng.integers(3))] for _ in range(joint.n_u)
            ]
            if joint.kind == "attitude":
                chosen[:3] = ["free"] * 3
            joint = replace(joint, motion=tuple(chosen))
        bodies.append(Body(name=name, joint=joint, mass=0.0))
    return bodies


def _moving(kinds: Sequence[str]) -> tuple[str, ...]:
    return tuple(k for k in kinds if k != "fixed") or ("revolute",)


def random_joint(rng: np.random.Generator, to: str, *, kinds: Sequence[str] = KINDS) -> Joint:
    """A joint of one of ``kinds`` with random axes of any length and a random placement."""
    weights = np.array([KIND_WEIGHTS[KINDS.index(k)] for k in kinds])
    kind = str(rng.choice(list(kinds), p=weights / weights.sum()))
    translations: tuple[Vector3, ...] = ()
    rotations: tuple[Vector3, ...] = ()
    spherical = kind == "spherical"
    if kind in ("revolute", "cylindrical"):
        rotations = (any_axis(rng),)
    if kind == "cylindrical":
        translations = rotations
    elif kind == "prismatic":
        translations = (any_axis(rng),)
    elif kind == "universal":
        rotations = _turning_axes(rng, 2)
    elif kind == "gimbal":
        rotations = _turning_axes(rng, 3)
    elif kind == "planar":
        translations, rotations = XYZ[:2], XYZ[2:]
    elif kind == "general":
        while not (translations or rotations or spherical):
            translations = _sliding_axes(rng, int(rng.integers(4)))
            turns = int(rng.integers(5))
            spherical = turns == 4
            rotations = () if spherical else _turning_axes(rng, turns)
    return Joint(
        to=to,
        kind=kind,
        translations=translations,
        rotations=rotations,
        spherical=spherical,
        at=any_vector(rng, 0.8),
        frame=any_quaternion(rng) if rng.random() < 0.8 else (1.0, 0.0, 0.0, 0.0),
    )


def _dressed(rng: np.random.Generator, body: Body, *, wheels: bool, nodes: bool, springs: bool) -> Body:
    """The body with mass, springs, dampers, wheels and nodes."""
    joint = body.joint
    if springs and not joint.floating and joint.n_u and rng.random() < 0.5:
        joint = replace(
            joint,
            stiffness=numbers(rng.uniform(0.0, 30.0, joint.n_coordinates)),
            rest=numbers(rng.uniform(-0.5, 0.5, joint.n_coordinates)),
            damping=numbers(rng.uniform(0.0, 3.0, joint.n_u)),
        )
    mass = float(np.exp(rng.uniform(np.log(1.0), np.log(15.0))))
    turned = quaternion_rotation(np.array(any_quaternion(rng)))
    spread = turned @ np.diag(rng.uniform(0.03, 0.4, 3)) @ turned.T
    inertia = mass * (np.trace(spread) * np.eye(3) - spread)
    body = replace(body, joint=joint, mass=mass, com=any_vector(rng, 0.6), inertia=symmetric(inertia))
    if nodes and rng.random() < 0.4:
        body = replace(body, nodes={f"n{k}": Node(at=any_vector(rng, 1.0)) for k in range(rng.integers(1, 3))})
    if wheels and rng.random() < 0.35:
        body = replace(body, wheels=_wheels(rng, inertia))
    return body


def _seated(rng: np.random.Generator, bodies: list[Body]) -> list[Body]:
    """The bodies with some joints on nodes of their parents."""
    nodes = {body.name: ["", *body.nodes] for body in bodies} | {INERTIAL: [""]}
    joints = (replace(body.joint, node=str(rng.choice(nodes[body.joint.to]))) for body in bodies)
    return [replace(body, joint=joint) for body, joint in zip(bodies, joints, strict=True)]


def _wheels(rng: np.random.Generator, inertia: np.ndarray) -> dict[str, Wheel]:
    """Up to three wheels that leave the body's own inertia positive definite."""
    found = {}
    for k in range(int(rng.integers(1, 4))):
        axis = any_axis(rng)
        a = unit(np.array(axis))
        spin = float(rng.uniform(0.05, 0.5) / (a @ np.linalg.solve(inertia, a)))
        inertia = inertia - spin * np.outer(a, a)
        found[f"w{k}"] = Wheel(axis=axis, inertia=spin)
    return found


def _thinned(rng: np.random.Generator, bodies: list[Body]) -> list[Body]:
    """Takes mass or inertia from some bodies that carry others, while every motion still meets inertia."""
    parents = {b.joint.to for b in bodies}
    for i, body in enumerate(bodies):
        if body.name not in parents or body.wheels or rng.random() > 0.2:
            continue
        zero: Matrix3 = ((0.0, 0.0, 0.0),) * 3
        sort = rng.integers(3)
        thin = replace(
            body,
            mass=body.mass if sort == 0 else 0.0,
            inertia=body.inertia if sort == 1 else zero,
        )
        tried = [*bodies[:i], thin, *bodies[i + 1 :]]
        if sum(b.mass for b in tried) > 0.0:
            model = Model(name="tried", bodies=tuple(tried))
            states = [_drawn(rng, model) for _ in range(3)]
            if all(condition(model, x) < 0.1 * CONDITION for x in states):
                bodies = tried
    return bodies


def revalued(seed: int | np.random.Generator, model: Model) -> Model:
    """The same structure with other numbers: every parameter moves but the directions of joints' axes."""
    rng = generator(seed)

    def scaled(values: Sequence[float]) -> tuple[float, ...]:
        return numbers(np.array(values) * rng.uniform(0.7, 1.3, len(values)))

    def stretched(axis: Sequence[float]) -> Vector3:
        return vector(np.array(axis) * rng.uniform(0.5, 2.0))

    bodies = []
    for body in model.bodies:
        joint, factor = body.joint, float(rng.uniform(0.8, 1.2))
        if not joint.floating:
            joint = replace(
                joint,
                at=vector(np.array(joint.at) + rng.uniform(-0.2, 0.2, 3)),
                frame=any_quaternion(rng),
                translations=tuple(map(stretched, joint.translations)),
                rotations=tuple(map(stretched, joint.rotations)),
                stiffness=scaled(joint.stiffness),
                damping=scaled(joint.damping),
                rest=scaled(joint.rest),
            )
        bodies.append(
            replace(
                body,
                joint=joint,
                mass=body.mass * factor,
                inertia=symmetric(factor * np.array(body.inertia)),
                com=vector(np.array(body.com) + rng.uniform(-0.1, 0.1, 3)),
                wheels={n: Wheel(axis=stretched(w.axis), inertia=w.inertia * factor) for n, w in body.wheels.items()},
                nodes={n: Node(at=any_vector(rng, 1.0)) for n in body.nodes},
            )
        )
    gradient = model.gravity_gradient and _gradient(rng)
    return replace(model, bodies=tuple(bodies), gravity_gradient=gradient)


def rotor_name(body: str, wheel: str) -> str:
    """Name of the body that stands for a wheel in `explicit_rotors`."""
    return f"{body}_{wheel}_rotor"


def explicit_rotors(seed: int | np.random.Generator, model: Model) -> Model:
    """The same system with every wheel as an axisymmetric body on a revolute joint."""
    rng = generator(seed)
    bodies: list[Body] = []
    for body in model.bodies:
        mass, moment, about = body.mass, body.mass * np.array(body.com), _about_origin(body)
        for name, wheel in body.wheels.items():
            a, J = unit(np.array(wheel.axis)), wheel.inertia
            spin = np.outer(a, a)
            rotor = Body(
                name=rotor_name(body.name, name),
                joint=Joint(to=body.name, kind="revolute", rotations=(wheel.axis,), at=any_vector(rng, 0.3)),
                mass=0.1 * body.mass,
                com=vector(a * rng.uniform(-0.2, 0.2)),
                inertia=symmetric(J * spin + 0.6 * J * (np.eye(3) - spin)),
            )
            bodies.append(rotor)
            # What is left of the body when the rotor is taken out.
            place = np.array(rotor.joint.at) + np.array(rotor.com)
            mass, moment = mass - rotor.mass, moment - rotor.mass * place
            about = about - _about_origin(replace(rotor, com=vector(place)))
        centre = moment / mass if mass else np.array(body.com)
        left = replace(body, mass=mass, com=vector(centre), wheels={})
        own = about - _about_origin(replace(left, inertia=symmetric(np.zeros((3, 3)))))
        bodies.append(replace(left, inertia=symmetric(own)) if body.wheels else body)
    return replace(model, bodies=tuple(bodies))


def _about_origin(body: Body) -> np.ndarray:
    """Inertia about the body's origin."""
    c = np.array(body.com)
    return np.array(body.inertia) + body.mass * (c @ c * np.eye(3) - np.outer(c, c))


def condition(model: Model, x: np.ndarray) -> float:
    """Condition number of the coefficient matrix scaled to a unit diagonal; infinite where it is singular."""
    COEF = coefficients(model, x)
    diagonal = np.diag(COEF)
    if diagonal.min() <= 0.0:
        return np.inf
    scaled = COEF / np.sqrt(np.outer(diagonal, diagonal))
    low, high = np.linalg.eigvalsh(scaled)[[0, -1]]
    return high / low if low > 0.0 else np.inf


def random_state(seed: int | np.random.Generator, model: Model) -> np.ndarray:
    """A state with unit quaternions, away from singular configurations.

    Raises RuntimeError where none is found in 200 draws.
    """
    rng = generator(seed)
    for _ in range(200):
        x = _drawn(rng, model)
        if condition(model, x) < CONDITION:
            return x
    raise RuntimeError("no well-conditioned state found")


def _drawn(rng: np.random.Generator, model: Model) -> np.ndarray:
    table = ports(model)
    x = rng.uniform(-1.0, 1.0, len(table.state_names))
    for at in table.quaternions:
        x[at : at + 4] = any_quaternion(rng)
    for body in model.bodies:
        angles = table.by_name.get(f"{body.name}.joint.angle")
        if angles is not None and angles.state is not None:
            x[angles.state : angles.state + angles.size] = _angles(rng, body.joint.rotations)
        for name, wheel in body.wheels.items():
            at = table.by_name[f"{body.name}.{name}.momentum"].state
            if at is not None:
                x[at] *= 20.0 * wheel.inertia
    return x


def random_inputs(seed: int | np.random.Generator, model: Model) -> np.ndarray:
    """Inputs of order one; Booleans are 0 or 1."""
    rng = generator(seed)
    table = ports(model)
    u = rng.uniform(-3.0, 3.0, len(table.input_names))
    for v in table.inputs:
        if v.boolean:
            u[v.places] = rng.integers(0, 2, v.size)
        elif v.name.endswith(".rest"):
            u[v.places] = rng.uniform(-0.5, 0.5, v.size)
    if gradient := model.gravity_gradient:
        u[table.by_name["system.orbit_position"].places] = _orbit_position(rng, gradient.gravitational_parameter)
    return u


def _gradient(rng: np.random.Generator) -> GravityGradient:
    """Around a centre between the mass of a pebble and that of the Earth."""
    mu = float(np.exp(rng.uniform(0.0, 34.0)))
    return GravityGradient(orbit_position=_orbit_position(rng, mu), gravitational_parameter=mu)


def _orbit_position(rng: np.random.Generator, mu: float) -> Vector3:
    """Where ``mu/R^3`` is of order one, as all else is."""
    return vector(unit(rng.normal(size=3)) * np.cbrt(mu / rng.uniform(0.3, 3.0)))


def _angles(rng: np.random.Generator, axes: tuple[Vector3, ...]) -> np.ndarray:
    while True:
        angles = rng.uniform(-np.pi, np.pi, len(axes))
        if _span(axes, angles) > SLANT:
            return angles


def _span(axes: Sequence[Vector3], angles: np.ndarray) -> float:
    """Volume (or sine) spanned by the directions of successive rotation axes."""
    rotation, directions = np.eye(3), []
    for axis, angle in zip(axes, angles, strict=True):
        directions.append(rotation @ unit(np.array(axis)))
        rotation = rotation @ axis_rotation(unit(np.array(axis)), angle)
    gram = np.array([[a @ b for b in directions] for a in directions])
    return float(np.sqrt(max(np.linalg.det(gram), 0.0))) if directions else 1.0


def _turning_axes(rng: np.random.Generator, count: int) -> tuple[Vector3, ...]:
    while True:
        axes = tuple(any_axis(rng) for _ in range(count))
        grid = np.linspace(-np.pi, np.pi, 25)
        angles = np.stack([0 * grid, grid, 0 * grid], 1)[:, :count]
        if max(_span(axes, a) for a in angles) > 0.6:
            return axes


def _sliding_axes(rng: np.random.Generator, count: int) -> tuple[Vector3, ...]:
    while True:
        axes = tuple(any_axis(rng) for _ in range(count))
        if _span(axes, np.zeros(count)) > SLANT:
            return axes
