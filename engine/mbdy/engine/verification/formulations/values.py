"""What the formulations share: a model's vectors as numbers of its bodies, and rotations. No dynamics is in it.

Vectors are those of `mbdy.engine.model.ports`; everything here is found by the names of that table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mbdy.engine.model.bearing import BEARING
from mbdy.engine.model.laws import JOINT_VALUES
from mbdy.engine.model.ports import Ports, StatePart, coordinates, modal, ports, speeds, spins
from mbdy.engine.model.system import INERTIAL, Body, Joint, Model
from mbdy.engine.model.topology import ROOT, Tree, tree
from mbdy.engine.model.variables import GRAVITATIONAL_PARAMETER, ORBIT_POSITION, UPPER
from mbdy.engine.verification.formulations.flexible import Modes, cross_matrix, modes_of

Array = NDArray[np.float64]
Derivatives = Callable[[Array, Array, Array], Array]
"""``f(x, u, p)``: the states' derivatives ``x'`` at states ``x``, inputs ``u`` and parameters ``p``."""


class UncoveredError(ValueError):
    """A model that lies outside the domain of a formulation; the message says what of it does."""


@dataclass(frozen=True)
class Constants:
    """A body's parameters: SI, body axes unless stated.

    ``inertia`` (3, 3) about the mass centre ``com``; ``at`` of the joint from the parent's origin, parent axes, or from
    its node, node axes, where the parent is flexible; ``frame`` (3, 3) joint-frame to these components; unit axes
    ``translations`` (n, 3) and ``rotations`` (n, 3) in the joint frame; ``efforts`` has the parameters of the joint's
    laws by name, those that the model has (see `forces.joint_efforts`); ``spins`` and unit ``spin_axes`` (n, 3) of its
    wheels, and their ``bearings`` (n, 3): damping, friction and its rate; ``nodes`` (n, 3) from its origin; ``modes``
    of a flexible body, whose other numbers are those of its undeformed shape.
    """

    mass: float
    com: Array
    inertia: Array
    at: Array
    frame: Array
    translations: Array
    rotations: Array
    efforts: Mapping[str, Array]
    spins: Array
    spin_axes: Array
    bearings: Array
    nodes: Array
    modes: Modes | None = None


@dataclass(frozen=True)
class Motion:
    """A body's states: ``q`` and ``u`` of its joint, translations first, its wheels' momenta ``h``, and its modes'
    ``eta`` and ``eta_rate``."""

    joint: Joint
    q: Array
    u: Array
    h: Array
    eta: Array
    eta_rate: Array

    @property
    def slides(self) -> Array:
        """Displacements [m]."""
        return self.q[: self.joint.n_translations]

    @property
    def turns(self) -> Array:
        """Angles [rad], or the quaternion w, x, y, z of a spherical rotation."""
        return self.q[self.joint.n_translations :]

    @property
    def slide_rates(self) -> Array:
        return self.u[: self.joint.n_translations]

    @property
    def turn_rates(self) -> Array:
        """Angle rates [rad/s], or the relative angular velocity, outboard axes."""
        return self.u[self.joint.n_translations :]


@dataclass(frozen=True)
class Given:
    """A body's inputs.

    ``forces`` and ``torques`` (1 + nodes, 3) at its mass centre, the gravity gradient's too, then at its nodes, body
    axes (node axes at the nodes of a flexible body); ``modal`` (m) on its modes; ``effort`` [N, N.m] of each degree of
    freedom; ``rest`` of each coordinate; ``fixed`` says which degrees of freedom are prescribed or locked and
    ``acceleration`` what they follow (zero where free or locked); ``motors`` [N.m] of its wheels.
    """

    forces: Array
    torques: Array
    modal: Array
    effort: Array
    rest: Array
    fixed: NDArray[np.bool_]
    acceleration: Array
    motors: Array


@dataclass(frozen=True)
class Part:
    """One body with all its numbers at an instant."""

    body: Body
    constants: Constants
    motion: Motion
    given: Given


class Reader:
    """Reads the vectors of one model into `Part`s, in the order of its bodies, and writes derivatives back."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.tree: Tree = tree(model)
        self.ports: Ports = ports(model)
        states = self.ports.states

        def places(parts: Iterable[StatePart]) -> NDArray[np.intp]:
            begins = [(part, states[part.state].state or 0) for part in parts]
            return np.array([begin + i for part, begin in begins for i in range(part.size)], dtype=np.intp)

        self._q, self._u, self._h = ([places(sort(b)) for b in model.bodies] for sort in (coordinates, speeds, spins))
        self._eta = [places(modal(b, "displacement")) for b in model.bodies]
        self._eta_rate = [places(modal(b, "rate")) for b in model.bodies]
        self._parameters: bytes = b""
        self._constants: list[Constants] = []

    def parts(self, x: Array, u: Array, p: Array) -> list[Part]:
        """Every body's numbers."""
        if p.tobytes() != self._parameters:
            self._constants = [_constants(self.model, self.ports, p, body) for body in self.model.bodies]
            self._parameters = p.tobytes()
        parts = [
            Part(body, constants, Motion(body.joint, *(x[at] for at in places)), self._given(u, body))
            for body, constants, *places in zip(
                self.model.bodies, self._constants, self._q, self._u, self._h, self._eta, self._eta_rate, strict=True
            )
        ]
        if not self.model.gravity_gradient:
            return parts
        position, mu = (self.ports.by_name[name].places for name in (ORBIT_POSITION, GRAVITATIONAL_PARAMETER))
        return attracted(self.tree, parts, u[position], float(p[mu][0]))

    def gravity(self, u: Array) -> Array:
        """Uniform gravity (3) [m/s2], inertial axes."""
        return u[self.ports.by_name["system.gravity"].places]

    def derivatives(
        self,
        q_rates: Sequence[Array],
        u_rates: Sequence[Array],
        h_rates: Sequence[Array],
        eta_rates: Sequence[Array] = (),
        eta_accelerations: Sequence[Array] = (),
    ) -> Array:
        """``x'`` from every body's ``q'``, ``u'``, ``h'`` and, where one is flexible, ``eta'`` and ``eta''``."""
        rigid = [np.zeros(0)] * len(self._q)
        rates = self.moved(
            np.zeros(len(self.ports.state_names)), q_rates, u_rates, eta_rates or rigid, eta_accelerations or rigid
        )
        for at, h_rate in zip(self._h, h_rates, strict=True):
            rates[at] = h_rate
        return rates

    def moved(
        self, x: Array, q: Sequence[Array], u: Sequence[Array], eta: Sequence[Array], eta_rate: Sequence[Array]
    ) -> Array:
        """``x``, or its rates, with others of coordinates and speeds of joints and modes."""
        changed = x.copy()
        for places, values in ((self._q, q), (self._u, u), (self._eta, eta), (self._eta_rate, eta_rate)):
            for at, value in zip(places, values, strict=True):
                changed[at] = value
        return changed

    def _switched(self, u: Array, scalar: str) -> bool:
        variable, element = self.ports.by_scalar[scalar]
        return bool(u[variable.offset + element] > 0.0)

    def _given(self, u: Array, body: Body) -> Given:
        def read(*names: str) -> Array:
            known = [self.ports.by_name[n].places for n in names if n in self.ports.by_name]
            return np.concatenate([*(u[places] for places in known), np.zeros(0)])

        name, stem, n = body.name, f"{body.name}.joint", body.joint.n_u
        points = [name, *(f"{name}.{node}" for node in body.nodes)]
        effort = read(f"{stem}.force", f"{stem}.torque")
        fixed, acceleration = np.zeros(n, dtype=np.bool_), np.zeros(n)
        if any(motion != "free" for motion in body.joint.motion):
            commanded = read(f"{stem}.acceleration")
            for i, motion in enumerate(body.joint.motion):
                # Only switchable degrees of freedom have switches, labelled by their place among all.
                label = "" if n == 1 else f"[{i + 1}]"
                locked = motion == "switchable" and self._switched(u, f"{stem}.locked{label}")
                prescribed = motion == "switchable" and self._switched(u, f"{stem}.prescribed{label}")
                fixed[i] = motion == "prescribed" or locked or prescribed
                acceleration[i] = commanded[i] if fixed[i] and not locked else 0.0
        return Given(
            forces=read(*(f"{point}.force" for point in points)).reshape(-1, 3),
            torques=read(*(f"{point}.torque" for point in points)).reshape(-1, 3),
            modal=read(f"{name}.flex.force"),
            effort=effort if effort.size else np.zeros(n),
            rest=read(f"{stem}.rest"),
            fixed=fixed,
            acceleration=acceleration,
            motors=read(*(f"{name}.{wheel}.torque" for wheel in body.wheels)),
        )


def rigid_trees(model: Model) -> tuple[str, ...]:
    """What of ``model`` is no tree of rigid bodies, a sentence each."""
    said = []
    for body in model.bodies:
        joint = body.joint
        if body.flex:
            said.append(f"body {body.name!r} is flexible")
        if joint.node and joint.to != INERTIAL and model.body(joint.to).flex:
            said.append(f"the joint of {body.name!r} sits on node {joint.node!r} of the flexible body {joint.to!r}")
    return (*said, *(f"loop {loop.name!r} closes the tree of joints" for loop in model.loops))


def _constants(model: Model, table: Ports, p: Array, body: Body) -> Constants:
    name, stem, joint = body.name, f"{body.name}.joint", body.joint

    def read(*names: str) -> Array:
        return np.concatenate([*(p[table.by_name[n].places] for n in names), np.zeros(0)])

    def bearing(wheel: str) -> Array:
        names = [f"{wheel}.{law}" for law in BEARING]
        return read(*names) if names[0] in table.by_name else np.array([0.0, 0.0, 1.0])

    upper, inertia = read(f"{name}.inertia"), np.zeros((3, 3))
    for value, (i, j) in zip(upper, UPPER, strict=True):
        inertia[i, j] = inertia[j, i] = value
    if joint.floating:
        at, frame, axes = np.zeros(3), np.eye(3), np.eye(3)
    else:
        at, frame = read(f"{stem}.at"), rotation(read(f"{stem}.frame"))
        if joint.node and joint.to != INERTIAL and not model.body(joint.to).flex:
            at = at + read(f"{joint.to}.{joint.node}.at")
        axes = _units(read(f"{stem}.axis") if joint.axes else np.zeros(0))
    return Constants(
        mass=float(read(f"{name}.mass")[0]),
        com=read(f"{name}.com"),
        inertia=inertia,
        at=at,
        frame=frame,
        translations=axes[: joint.n_translations],
        rotations=axes[joint.n_translations :],
        efforts={law: read(f"{stem}.{law}") for law in JOINT_VALUES if f"{stem}.{law}" in table.by_name},
        spins=read(*(f"{name}.{wheel}.inertia" for wheel in body.wheels)),
        spin_axes=_units(read(*(f"{name}.{wheel}.axis" for wheel in body.wheels))),
        bearings=np.array([bearing(f"{name}.{wheel}") for wheel in body.wheels]).reshape(-1, 3),
        nodes=read(*(f"{name}.{node}.at" for node in body.nodes)).reshape(-1, 3),
        modes=modes_of(body, read(f"{name}.flex.stiffness"), read(f"{name}.flex.damping")) if body.flex else None,
    )


def _units(components: Array) -> Array:
    axes = components.reshape(-1, 3)
    return axes / np.linalg.norm(axes, axis=1, keepdims=True)


def attracted(branches: Tree, parts: Sequence[Part], orbit_position: Array, mu: float) -> list[Part]:
    """``parts`` of a system with one floating root, with the gravity gradient among what acts at their mass centres.

    The one place for it: bodies at ``rho`` from the system's mass centre feel ``m mu/R^3 (3 e e.rho - rho)`` and
    ``3 mu/R^3 e x J e`` (Hughes 1986, ch. 8), ``R e`` being the ``orbit_position`` of that mass centre.
    """
    n = len(parts)
    C, origin, centre = np.zeros((n, 3, 3)), np.zeros((n, 3)), np.zeros((n, 3))
    for b in branches.outward:
        constants, motion, parent = parts[b].constants, parts[b].motion, branches.parent[b]
        if parent == ROOT:
            C[b] = turn(parts[b])
        else:
            frame = C[parent] @ constants.frame
            origin[b] = origin[parent] + C[parent] @ constants.at + frame @ constants.translations.T @ motion.slides
            C[b] = frame @ turn(parts[b])
        centre[b] = origin[b] + C[b] @ constants.com
    masses = np.array([part.constants.mass for part in parts])
    distance = np.linalg.norm(orbit_position)
    strength, direction, pulled = mu / distance**3, orbit_position / distance, []
    for b, part in enumerate(parts):
        e, arm = C[b].T @ direction, C[b].T @ (centre[b] - masses @ centre / masses.sum())
        forces, torques = part.given.forces.copy(), part.given.torques.copy()
        forces[0] += masses[b] * strength * (3.0 * e * (e @ arm) - arm)
        torques[0] += 3.0 * strength * cross(e, part.constants.inertia @ e)
        pulled.append(replace(part, given=replace(part.given, forces=forces, torques=torques)))
    return pulled


def turn(part: Part) -> Array:
    """Rotation of a joint: outboard components to those of the joint frame."""
    motion = part.motion
    if motion.joint.spherical:
        return rotation(motion.turns)
    turned = np.eye(3)
    for axis, angle in zip(part.constants.rotations, motion.turns, strict=True):
        turned = turned @ axis_rotation(axis, angle)
    return turned


def cross(a: Array, b: Array) -> Array:
    """``a x b`` of two vectors (3), faster than NumPy's."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def rotation(quaternion: Array) -> Array:
    """The rotation (3, 3) of a quaternion w, x, y, z of any norm: outboard components to inboard ones."""
    w, v = quaternion[0], quaternion[1:]
    turned = (w * w - v @ v) * np.eye(3) + 2.0 * np.outer(v, v) + 2.0 * w * cross_matrix(v)
    return turned / (quaternion @ quaternion)


def axis_rotation(axis: Array, angle: float) -> Array:
    """The rotation (3, 3) by ``angle`` [rad] about a unit axis: turned components to those before."""
    c, s = np.cos(angle), np.sin(angle)
    return c * np.eye(3) + s * cross_matrix(axis) + (1.0 - c) * np.outer(axis, axis)
