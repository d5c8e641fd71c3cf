"""Random systems of rigid and flexible bodies with closed loops, and states that satisfy the loops.

A flexible body is a cloud of particles whose displacements are linear and, for foreshortening, quadratic in the modal
displacements, with random fields that neither move nor turn the body's origin. Its modal data are sums over the
particles, so that they belong together as those of a real body do. Numbers are of order one, deformations some tenth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from mbdy.engine.model.frames import from_matrix
from mbdy.engine.model.ports import ports
from mbdy.engine.model.system import INERTIAL, Body, Flex, Joint, Loop, Model, Node, Side, Wheel
from mbdy.engine.verification.formulations.closing import Closing
from mbdy.engine.verification.formulations.closures import Frame
from mbdy.engine.verification.formulations.constrained import Constrained
from mbdy.engine.verification.formulations.flexible import mass_matrix, modes_of
from mbdy.engine.verification.formulations.reader import Reader
from mbdy.engine.verification.formulations.solutions import condition, rank_of
from oracles.dense_kane import axis_rotation, quaternion_rotation, unit
from oracles.drawing import any_quaternion, nested, symmetric, vector
from oracles.random_models import CONDITION, KINDS, Root, random_inputs, random_model

SORTS = ("weld", "pin", "ball", "slider", "universal", "distance", "rows")
"""Kinds of loops."""
LOOP_ROWS = {
    "weld": (1, 2, 3, 4, 5, 6),
    "pin": (1, 2, 4, 5, 6),
    "ball": (4, 5, 6),
    "slider": (1, 2, 3, 4, 5),
    "universal": (3, 4, 5, 6),
}
PARTICLES = 14
DEFORMED = 0.1
"""Modal displacements of states, modes being fields of order one on bodies of order one."""


@dataclass(frozen=True)
class Case:
    """A model, whose start are the states ``x`` (its loops are satisfied there), with inputs ``u`` and parameters, and
    the particles that its flexible bodies are made of, by name."""

    model: Model
    x: np.ndarray
    u: np.ndarray
    p: np.ndarray
    clouds: Mapping[str, Cloud] = field(default_factory=dict)


def random_flexible(
    seed: int | np.random.Generator,
    n_bodies: int | None = None,
    *,
    flexible: float = 0.6,
    loops: int = 2,
    roots: Sequence[Root] = ("free", "attitude", "fixed", "joint", "several"),
    kinds: Sequence[str] = KINDS,
    wheels: bool = True,
    motion: bool = False,
    foreshortening: bool = True,
    redundant: float = 0.3,
    gradient: bool = False,
) -> Case:
    """A random system of ``n_bodies`` (default: 3 to 10) with a well-conditioned state.

    ``flexible`` is the share of flexible bodies (one at least unless it is 0), ``loops`` the largest number of loops,
    ``redundant`` the share of loops that come twice. ``motion`` allows prescribed and switchable joints;
    ``foreshortening`` makes displacements quadratic in the modes too; ``gradient`` is that of `random_model`.
    """
    rng = np.random.default_rng(seed)
    while True:
        count = int(rng.integers(3, 11)) if n_bodies is None else n_bodies
        model = random_model(
            rng, count, roots=roots, kinds=kinds, wheels=False, motion=motion, floating_motion=False, massless=False,
            gradient=gradient,
        )  # fmt: skip
        bodies = {body.name: body for body in model.bodies}
        chosen = [name for name in bodies if rng.random() < flexible]
        if flexible and not chosen:
            chosen = [str(rng.choice(list(bodies)))]
        clouds = {}
        for name in chosen:
            bodies[name], clouds[name] = flexed(rng, bodies[name], foreshortening=foreshortening)
        if wheels:
            bodies = {name: _wheeled(rng, body) for name, body in bodies.items()}
        bodies = _noded(rng, bodies)
        case = _case(rng, replace(model, bodies=tuple(bodies.values())), loops, redundant)
        if case is not None:
            return replace(case, clouds=clouds)


def states(rng: np.random.Generator, case: Case, count: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """More states and inputs of the system of ``case``, near its own, which satisfy its loops too."""
    reader, made = Reader(case.model), []
    closing = Closing(reader, 1.0, lambda body: np.full(body.modes, DEFORMED))
    for _ in range(100 * count):
        x, u = case.x + 0.3 * (_drawn(rng, case.model) - case.x), random_inputs(rng, case.model)
        closed = closing.closed(x, u, case.p)
        if closed is not None and condition(Constrained(reader, closed, u, case.p)) < CONDITION:
            made.append((closed, u))
        if len(made) == count:
            return made
    raise RuntimeError(f"only {len(made)} of {count} well-conditioned states found")


def flexed(rng: np.random.Generator, body: Body, *, foreshortening: bool = True) -> tuple[Body, Cloud]:
    """``body`` with the mass of a cloud of particles, 1 to 4 modes and one or two nodes; the cloud."""
    cloud = random_cloud(rng, body.mass, np.array(body.com), foreshortening=foreshortening)
    m = cloud.modes
    factor = np.linalg.cholesky(cloud.mass_of_modes)
    turned = np.linalg.qr(rng.normal(size=(m, m)))[0] if rng.random() < 0.5 else np.eye(m)
    stiffness = factor @ turned @ np.diag(rng.uniform(2.0, 8.0, m) ** 2) @ turned.T @ factor.T
    if rng.random() < 0.5:
        stiffness = np.diag(np.diag(stiffness))
    places = rng.uniform(-0.8, 0.8, (int(rng.integers(1, 3)), 3))
    return cloud.body(body, stiffness, rng.uniform(0.0, 0.05) * stiffness, places), cloud


def random_cloud(rng: np.random.Generator, mass: float, centre: np.ndarray, *, foreshortening: bool = True) -> Cloud:
    """Particles about ``centre`` in random fields of order one."""
    m = int(rng.integers(1, 5))
    masses = mass * rng.dirichlet(np.full(PARTICLES, 3.0))
    r = rng.uniform(-0.7, 0.7, (PARTICLES, 3)) + centre
    shape = Field(rng.normal(size=(3, m, 3, 3)))
    h = rng.normal(size=(3, m, m, 3, 3)) * (0.5 if foreshortening else 0.0)
    return Cloud(masses, r, shape, Field((h + h.transpose(0, 2, 1, 3, 4)).reshape(3, m * m, 3, 3)))


@dataclass(frozen=True)
class Cloud:
    """``masses`` (n) of particles at ``r`` (n, 3); a particle moves by ``shape eta + 1/2 eta' bend eta`` (m; m x m)."""

    masses: np.ndarray
    r: np.ndarray
    shape: Field
    bend: Field

    @property
    def modes(self) -> int:
        return self.shape.coefficients.shape[1]

    @property
    def phi(self) -> np.ndarray:
        """(n, 3, m)"""
        return np.array([self.shape.at(each) for each in self.r])

    @property
    def bent(self) -> np.ndarray:
        """(n, 3, m, m)"""
        return np.array([self.bend.at(each).reshape(3, self.modes, self.modes) for each in self.r])

    @property
    def mass_of_modes(self) -> np.ndarray:
        return np.einsum("p,pai,paj->ij", self.masses, self.phi, self.phi)

    def body(self, body: Body, stiffness: np.ndarray, damping: np.ndarray, places: np.ndarray) -> Body:
        """``body`` with the numbers of this cloud, and nodes ``n0``, ... at ``places``."""
        masses, r, phi, bent, modes = self.masses, self.r, self.phi, self.bent, range(self.modes)
        com = masses @ r / masses.sum()
        turning = np.einsum("p,pam->am", masses, np.cross(r[:, :, None], phi, axis=1))
        second = [
            [_spread(masses, phi[:, :, i], phi[:, :, j]) + _spread(masses, r, bent[:, :, i, j]) for j in modes]
            for i in modes
        ]
        gyroscopic = [[vector(masses @ np.cross(phi[:, :, i], phi[:, :, j])) for j in modes] for i in modes]
        flex = Flex(
            mass=nested(self.mass_of_modes),
            stiffness=nested(0.5 * (stiffness + stiffness.T)),
            damping=nested(0.5 * (damping + damping.T)),
            coupling=nested(np.concatenate([turning, np.einsum("p,pam->am", masses, phi)])),
            inertia_first=tuple(symmetric(_spread(masses, r, phi[:, :, k])) for k in modes),
            inertia_second=tuple(tuple(map(symmetric, row)) for row in second),
            gyroscopic=tuple(map(tuple, gyroscopic)),
            moment_second=tuple(map(nested, np.einsum("p,paij->aij", masses, bent))) if bent.any() else (),
        )
        inertia = 0.5 * _spread(masses, r - com, r - com)
        nodes = {f"n{k}": self.node(at) for k, at in enumerate(places)}
        return replace(
            body, mass=float(masses.sum()), com=vector(com), inertia=symmetric(inertia), flex=flex, nodes=nodes
        )

    def node(self, at: np.ndarray) -> Node:
        """The node at ``at``, where the material turns by half the curl of its displacement."""
        bent = self.bend.at(at).reshape(3, self.modes, self.modes)
        rows = nested(np.concatenate([self.shape.turn(at), self.shape.at(at)]))
        return Node(at=vector(at), shape=rows, bend=tuple(map(nested, bent)) if bent.any() else ())


@dataclass(frozen=True)
class Field:
    """m quadratic vector fields: component a of field k at r is ``r' coefficients[a, k] r``."""

    coefficients: np.ndarray

    def at(self, r: np.ndarray) -> np.ndarray:
        """(3, m)"""
        return np.einsum("akij,i,j->ak", self.coefficients, r, r)

    def turn(self, r: np.ndarray) -> np.ndarray:
        """Half the curl (3, m), by which the material turns."""
        slope = np.einsum("akij,i->akj", self.coefficients + self.coefficients.transpose(0, 1, 3, 2), r)
        return 0.5 * np.array(
            [slope[2, :, 1] - slope[1, :, 2], slope[0, :, 2] - slope[2, :, 0], slope[1, :, 0] - slope[0, :, 1]]
        )


def _spread(masses: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Sum of ``m (2 a.b 1 - a b' - b a')``."""
    ab = np.einsum("p,pi,pj->ij", masses, a, b)
    return 2.0 * np.trace(ab) * np.eye(3) - ab - ab.T


def _wheeled(rng: np.random.Generator, body: Body) -> Body:
    if rng.random() > 0.25:
        return body
    axis, modes = unit(rng.normal(size=3)), None
    if body.flex:
        modes = modes_of(body, np.zeros(body.modes), np.zeros(body.modes))
    whole = mass_matrix(body.mass, np.array(body.com), np.array(body.inertia), modes, np.zeros(body.modes))
    spin = float(0.4 / (axis @ np.linalg.inv(whole)[:3, :3] @ axis))  # the rest keeps a positive energy
    return replace(body, wheels={"w": Wheel(axis=vector(2.0 * axis), inertia=spin)})


def _noded(rng: np.random.Generator, bodies: dict[str, Body]) -> dict[str, Body]:
    """The bodies with joints on flexible parents at one of their nodes, or at their origin, and some on rigid nodes."""
    made = {}
    for name, body in bodies.items():
        joint = replace(body.joint, node="")
        if joint.spherical and joint.n_translations == 1 and not joint.floating:
            joint = replace(joint, stiffness=(), rest=())  # no file can spell them
        parent = bodies.get(joint.to)
        if parent is not None and parent.flex:
            joint = replace(joint, at=(0.0, 0.0, 0.0)) if rng.random() < 0.2 else _on_node(rng, joint, parent)
        elif parent is not None and parent.nodes and rng.random() < 0.5:
            joint = _on_node(rng, joint, parent)
        made[name] = replace(body, joint=joint)
    return made


def _on_node(rng: np.random.Generator, joint: Joint, parent: Body) -> Joint:
    at = rng.uniform(-0.3, 0.3, 3) if rng.random() < 0.5 else np.zeros(3)
    return replace(joint, node=str(rng.choice(list(parent.nodes))), at=vector(at))


def _case(rng: np.random.Generator, model: Model, most: int, redundant: float) -> Case | None:
    """A state of ``model`` and loops that are closed there; None where none is well conditioned."""
    p = np.array(ports(model).vector("parameter"))
    for _ in range(20):
        x = _drawn(rng, model)
        looped = replace(model, loops=_loops(rng, model, x, p, int(rng.integers(0, most + 1)), redundant))
        case = _started(rng, looped, x)
        if case is not None:
            return case
    return None


def _started(rng: np.random.Generator, model: Model, x: np.ndarray) -> Case | None:
    reader, table = Reader(model), ports(model)
    p, u = np.array(table.vector("parameter")), random_inputs(rng, model)
    for loop in model.loops:
        if loop.switchable:
            u[table.by_name[f"loop.{loop.name}.closed"].places] = rng.random() < 0.8
    every = u.copy()
    for loop in model.loops:
        if loop.switchable:
            every[table.by_name[f"loop.{loop.name}.closed"].places] = 1.0
    closed = Closing(reader, 1.0, lambda body: np.full(body.modes, DEFORMED)).closed(x, every, p)
    if closed is None:
        return None
    if any(not condition(Constrained(reader, closed, given, p)) < CONDITION for given in (u, every)):
        return None
    system = Constrained(reader, closed, every, p)
    if len(model.loops) and rank_of(system.G) >= np.sum(~system.held):
        return None
    return Case(replace(model, initial=_initial(model, system, closed)), closed, u, p)


def _initial(model: Model, system: Constrained, x: np.ndarray) -> dict[str, tuple[float, ...]]:
    table, found = ports(model), {}
    for v in table.outputs:
        if v.state is not None and v.start_at is not None:
            found[v.name] = tuple(x[v.state : v.state + v.size].tolist())
    for b, body in enumerate(model.bodies):
        omega = system.at.bodies[b].J[:3] @ system.w
        for name, wheel in body.wheels.items():
            at = table.by_name[f"{body.name}.{name}.momentum"].state
            assert at is not None
            found[f"{body.name}.{name}.speed"] = (float(x[at] / wheel.inertia - unit(np.array(wheel.axis)) @ omega),)
    return found


def _drawn(rng: np.random.Generator, model: Model) -> np.ndarray:
    table = ports(model)
    x = rng.uniform(-1.0, 1.0, len(table.state_names))
    for at in table.quaternions:
        x[at : at + 4] = unit(rng.normal(size=4))
    for v in table.outputs:
        if v.state is not None and v.name.endswith(".flex.displacement"):
            x[v.state : v.state + v.size] *= DEFORMED
        if v.state is not None and v.name.endswith(".momentum"):
            x[v.state] *= 20.0 * model.body(v.name.split(".")[0]).wheels[v.name.split(".")[1]].inertia
    return x


def _loops(
    rng: np.random.Generator, model: Model, x: np.ndarray, p: np.ndarray, count: int, redundant: float
) -> tuple[Loop, ...]:
    """Loops between random places that are closed at states ``x``."""
    system = Constrained(Reader(model), x, np.array(ports(model).vector("input")), p)
    free = not any(body.joint.kind == "attitude" for body in model.bodies)
    grounded = free and model.bodies and rng.random() < 0.5
    names = [body.name for body in model.bodies] + ([INERTIAL] if grounded else [])
    made: list[Loop] = []
    for k in range(count):
        if len(names) < 2:
            break
        a, b = rng.choice(names, 2, replace=False).tolist()
        first = _loop(rng, model, system, f"l{k}", a, b)
        made.append(first)
        if rng.random() < redundant and first.kind != "rows":
            made.append(_again(rng, model, first))
    return tuple(made)


def _loop(rng: np.random.Generator, model: Model, system: Constrained, name: str, a: str, b: str) -> Loop:
    """A loop of a random kind from a random place on ``a`` to where it is closed on ``b``."""
    kind = str(rng.choice(SORTS))
    rows = LOOP_ROWS.get(kind, tuple(sorted((1 + rng.choice(6, rng.integers(1, 6), replace=False)).tolist())))
    site_a, node_a = _site(rng, model, system, a)
    site_b, node_b = _site(rng, model, system, b, noded=True)
    at_a, frame_a = rng.uniform(-0.5, 0.5, 3), any_quaternion(rng)
    if not node_a and a != INERTIAL and model.body(a).flex:
        at_a = np.zeros(3)  # off its origin only nodes say how the modes of a body move a place
    frame = site_a.placed(at_a, quaternion_rotation(np.array(frame_a)))
    C = frame.C @ (
        _turned(rng, [row for row in rows if row <= 3])
        if kind != "distance"
        else quaternion_rotation(np.array(any_quaternion(rng)))
    )
    d = np.where([row in rows for row in (4, 5, 6)], 0.0, rng.uniform(-0.5, 0.5, 3))
    if kind == "distance":
        d = rng.uniform(0.4, 1.0) * unit(rng.normal(size=3))
    at_b = site_b.C.T @ (frame.r + frame.C @ d - site_b.r)
    frame_b = from_matrix((site_b.C.T @ C).tolist())
    return Loop(
        name=name,
        a=Side(body=a, node=node_a, at=vector(at_a), frame=frame_a),
        b=Side(body=b, node=node_b, at=vector(at_b), frame=frame_b),
        rows=() if kind == "distance" else rows,
        distance=float(np.linalg.norm(d)) if kind == "distance" else None,
        kind=kind,
        time_constant=float(rng.choice([0.0, 0.1, 0.5])),
        switchable=bool(rng.random() < 0.3),
    )


def _site(
    rng: np.random.Generator, model: Model, system: Constrained, name: str, *, noded: bool = False
) -> tuple[Frame, str]:
    """A frame of a body and the node that it belongs to, empty for the body's own; always a node's if ``noded``."""
    if name == INERTIAL:
        return system.at.inertial, ""
    body = model.body(name)
    node = str(rng.choice(list(body.nodes))) if body.nodes and (noded or rng.random() < 0.8) else ""
    return system.at.site(model.index[name], node), node


def _turned(rng: np.random.Generator, rows: list[int]) -> np.ndarray:
    """A rotation of b against a that turning ``rows`` allow."""
    eye, angle, more = np.eye(3), rng.uniform(-1.2, 1.2), rng.uniform(-1.2, 1.2)
    if not rows:
        return quaternion_rotation(np.array(any_quaternion(rng)))
    if len(rows) == 3:
        return eye
    if len(rows) == 2:
        (third,) = {1, 2, 3} - set(rows)
        return axis_rotation(eye[third - 1], angle)
    return axis_rotation(eye[rows[0] % 3], angle) @ axis_rotation(eye[(rows[0] + 1) % 3], more)


def _again(rng: np.random.Generator, model: Model, loop: Loop) -> Loop:
    """The same constraint once more, at another place where that says nothing new."""
    shift = np.zeros(3)
    if loop.kind == "weld":
        shift = rng.uniform(-0.4, 0.4, 3)
    elif loop.kind == "pin":
        shift[2] = rng.uniform(0.1, 0.4)
    if not loop.a.node and loop.a.body != INERTIAL and model.body(loop.a.body).flex:
        shift = np.zeros(3)
    a, b = (
        replace(side, at=vector(np.array(side.at) + quaternion_rotation(np.array(side.frame)) @ shift))
        for side in (loop.a, loop.b)
    )
    return replace(loop, name=f"{loop.name}again", a=a, b=b)
