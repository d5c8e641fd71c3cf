"""Kane's equations of a tree of rigid bodies, dense and in inertial axes: a second opinion on the engine.

It shares only the typed model, the table of ports and the tree with the engine. Every body's partial
velocities and remainder accelerations (accelerations with all udot = 0) come from vector kinematics:

    COEF udot = RHS
    COEF = sum(m Vc^T Vc + W^T I W)
    RHS = sum(Vc^T (F - m a0) + W^T (T - Hdot0)) + efforts

with ``W``, ``Vc`` (3, n_u) the partial angular velocities and partial velocities of the mass centre.
Prescribed degrees of freedom lose their rows, and their columns go to the right-hand side. All vectors are in
inertial axes unless said otherwise. Complex states are welcome, for complex-step derivatives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from mbdy.engine.model.ports import Ports, ports
from mbdy.engine.model.system import Body, Model
from mbdy.engine.model.topology import ROOT, tree


@dataclass(frozen=True)
class Motion:
    """One body: where it is, how it moves, its partial velocities and remainder accelerations."""

    rotation: np.ndarray
    """(3, 3) body components to inertial ones."""
    origin: np.ndarray
    origin_velocity: np.ndarray
    centre: np.ndarray
    centre_velocity: np.ndarray
    omega: np.ndarray
    partial_omega: np.ndarray
    partial_origin: np.ndarray
    partial_centre: np.ndarray
    alpha: np.ndarray
    """Remainder of the angular acceleration (the whole of it in a `Solution`); so the next two."""
    origin_acceleration: np.ndarray
    centre_acceleration: np.ndarray
    slides: np.ndarray
    """(3, n) directions of its joint's translations, and ``turns`` of its rotations."""
    turns: np.ndarray


@dataclass(frozen=True)
class Kinematics:
    """All bodies by name, and the totals of the system.

    ``scales`` are sums of the sizes of what a total adds up, by its name: round-off is judged against them.
    """

    bodies: Mapping[str, Motion]
    mass: float
    centre_of_mass: np.ndarray
    centre_of_mass_velocity: np.ndarray
    momentum: np.ndarray
    angular_momentum: np.ndarray
    kinetic_energy: float
    energy: float
    scales: Mapping[str, float]


@dataclass(frozen=True)
class Solution:
    """What follows from the accelerations, most of it by body.

    ``efforts`` is input + spring + damper and ``reactions`` the constraint's share, by degree of freedom;
    ``loads`` are [moment; force] about the body's origin, body axes; ``power`` lists that of every force.
    """

    xdot: np.ndarray
    udot: np.ndarray
    bodies: Mapping[str, Motion]
    coefficients: np.ndarray
    efforts: Mapping[str, np.ndarray]
    loads: Mapping[str, np.ndarray]
    reactions: Mapping[str, np.ndarray]
    power: np.ndarray


def skew(v: np.ndarray) -> np.ndarray:
    """(3, 3) matrix of the cross product with ``v``."""
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def quaternion_rotation(q: np.ndarray) -> np.ndarray:
    """(3, 3) rotation of a quaternion w x y z of any norm."""
    q = np.asarray(q)
    w, v = q[0], q[1:]
    return ((w * w - v @ v) * np.eye(3) + 2 * np.outer(v, v) + 2 * w * skew(v)) / (q @ q)


def axis_rotation(axis: np.ndarray, angle: float) -> np.ndarray:
    """(3, 3) rotation by ``angle`` about the unit vector ``axis`` (Rodrigues)."""
    k = skew(axis)
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * (k @ k)


def unit(v: np.ndarray) -> np.ndarray:
    v = np.asarray(v, float)
    return v / np.sqrt(v @ v)


def columns(model: Model) -> dict[str, slice]:
    """Places of each body's degrees of freedom in ``udot``: by body in file order, translations first."""
    places, at = {}, 0
    for body in model.bodies:
        places[body.name] = slice(at, at + body.joint.n_u)
        at += body.joint.n_u
    return places


class _States:
    """Reads state vector ``x`` and input vector ``u`` by name."""

    def __init__(self, model: Model, x: np.ndarray, u: np.ndarray | None = None) -> None:
        self.table: Ports = ports(model)
        gradient = model.gravity_gradient
        self.gravitational_parameter = None if gradient is None else gradient.gravitational_parameter
        self.x = np.asarray(x).reshape(-1)
        self.u = np.array(self.table.vector("input") if u is None else u, float).reshape(-1)
        if len(self.x) != len(self.table.state_names) or len(self.u) != len(self.table.input_names):
            raise ValueError("x or u does not have the length that the port table says")

    def place(self, name: str) -> slice:
        variable = self.table.by_name.get(name)
        if variable is None or variable.state is None:
            return slice(0, 0)
        return slice(variable.state, variable.state + variable.size)

    def state(self, name: str) -> np.ndarray:
        return self.x[self.place(name)]

    def input(self, name: str) -> np.ndarray:
        variable = self.table.by_name.get(name)
        return np.zeros(0) if variable is None else self.u[variable.places]

    def names(self, body: Body) -> tuple[str, str, str, str]:
        """Names of the states of a body's joint: distance, turn, speed, turning speed."""
        stem, joint = body.name, body.joint
        if joint.kind == "attitude":
            system = "system.centre_of_mass"
            return system, f"{stem}.attitude", f"{system}_velocity", f"{stem}.omega"
        if joint.floating:
            return f"{stem}.position", f"{stem}.attitude", f"{stem}.velocity", f"{stem}.omega"
        turn, rate = ("attitude", "omega") if joint.spherical else ("angle", "rate")
        return (
            f"{stem}.joint.displacement",
            f"{stem}.joint.{turn}",
            f"{stem}.joint.velocity",
            f"{stem}.joint.{rate}",
        )

    def joint(self, body: Body) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Distances, angles or quaternion, speeds, turning speeds of a body's joint."""
        distance, turn, speed, rate = map(self.state, self.names(body))
        return distance, turn, speed, rate

    def momentum(self, body: Body) -> list[tuple[np.ndarray, float, float]]:
        """Axis (body axes), spin inertia and absolute spin momentum of each wheel."""
        return [
            (unit(w.axis), w.inertia, self.state(f"{body.name}.{name}.momentum")[0]) for name, w in body.wheels.items()
        ]


def carrier_inertia(body: Body) -> np.ndarray:
    """Inertia about the mass centre, body axes, without the wheels' spin: what the body itself turns."""
    inertia = np.array(body.inertia, float)
    for wheel in body.wheels.values():
        axis = unit(wheel.axis)
        inertia = inertia - wheel.inertia * np.outer(axis, axis)
    return inertia


def _moved(body: Body, parent: Motion | None, node: np.ndarray, states: _States, place: slice, n_u: int) -> Motion:
    """Motion of a body from that of its parent (None: inertial), by composition of relative motions.

    ``node`` is where its joint's ``at`` begins, from the parent's origin.
    """
    joint = body.joint
    distance, turn, speed, rate = states.joint(body)
    frame, offset = quaternion_rotation(np.array(joint.frame)), node + np.array(joint.at)
    if joint.floating:
        frame, offset = np.eye(3), np.zeros(3)
    if parent is None:
        base = np.eye(3)
        omega, alpha, start, velocity, acceleration = (np.zeros(3) for _ in range(5))
        W, V = np.zeros((2, 3, n_u), states.x.dtype)
    else:
        base, omega, alpha = parent.rotation, parent.omega, parent.alpha
        start, velocity, acceleration = parent.origin, parent.origin_velocity, parent.origin_acceleration
        W, V = parent.partial_omega.copy(), parent.partial_origin.copy()
    rotation = base @ frame
    # Translations: axes are carried by the parent.
    axes = np.eye(3) if joint.floating else np.array([unit(a) for a in joint.translations]).reshape(-1, 3).T
    slides = rotation @ axes
    arm = base @ offset + slides @ distance
    sliding = slides @ speed
    origin = start + arm
    origin_velocity = velocity + np.cross(omega, arm) + sliding
    origin_acceleration = (
        acceleration + np.cross(alpha, arm) + np.cross(omega, np.cross(omega, arm)) + 2 * np.cross(omega, sliding)
    )
    V = V - skew(arm) @ W
    V[:, place.start : place.start + len(distance)] += slides
    # Rotations: each axis is carried by the frame that the rotations before it have made.
    first = place.start + len(distance)
    if joint.spherical or joint.floating:
        rotation = rotation @ quaternion_rotation(turn)
        turns = rotation
        relative = rotation @ rate
        alpha = alpha + np.cross(omega, relative)
        omega = omega + relative
    else:
        directions = []
        for axis, angle, angle_rate in zip(joint.rotations, turn, rate, strict=True):
            direction = rotation @ unit(axis)
            rotation = rotation @ axis_rotation(unit(axis), angle)
            alpha = alpha + np.cross(omega, direction * angle_rate)
            omega = omega + direction * angle_rate
            directions.append(direction)
        turns = np.array(directions).reshape(-1, 3).T
    W[:, first : first + turns.shape[1]] += turns
    arm = rotation @ np.array(body.com)
    return Motion(
        rotation=rotation,
        origin=origin,
        origin_velocity=origin_velocity,
        centre=origin + arm,
        centre_velocity=origin_velocity + np.cross(omega, arm),
        omega=omega,
        partial_omega=W,
        partial_origin=V,
        partial_centre=V - skew(arm) @ W,
        alpha=alpha,
        origin_acceleration=origin_acceleration,
        centre_acceleration=origin_acceleration + np.cross(alpha, arm) + np.cross(omega, np.cross(omega, arm)),
        slides=slides,
        turns=turns,
    )


def _motions(model: Model, states: _States) -> dict[str, Motion]:
    """Motions of all bodies with remainder accelerations.

    An ``attitude`` root has the system's mass centre as state: all bodies are shifted so that it lies and
    moves where the state says.
    """
    made: dict[str, Motion] = {}
    order, places = tree(model), columns(model)
    n_u = sum(b.joint.n_u for b in model.bodies)
    for i in order.outward:
        body, parent = model.bodies[i], order.parent[i]
        above = None if parent == ROOT else made[model.bodies[parent].name]
        node = np.array(model.bodies[parent].nodes[body.joint.node].at) if body.joint.node else np.zeros(3)
        made[body.name] = _moved(body, above, node, states, places[body.name], n_u)
    for body in model.bodies:
        if body.joint.kind == "attitude":
            distance, _, speed, _ = states.joint(body)
            total = sum(b.mass for b in model.bodies)
            shift = distance - sum(b.mass * made[b.name].centre for b in model.bodies) / total
            boost = speed - sum(b.mass * made[b.name].centre_velocity for b in model.bodies) / total
            made = {
                name: replace(
                    m,
                    origin=m.origin + shift,
                    centre=m.centre + shift,
                    origin_velocity=m.origin_velocity + boost,
                    centre_velocity=m.centre_velocity + boost,
                )
                for name, m in made.items()
            }
    return made


def _spin(body: Body, motion: Motion, states: _States) -> np.ndarray:
    """Angular momentum about the body's mass centre, wheels included."""
    momentum = carrier_inertia(body) @ (motion.rotation.T @ motion.omega)
    for axis, _, h in states.momentum(body):
        momentum = momentum + axis * h
    return motion.rotation @ momentum


def kinematics(model: Model, x: np.ndarray, u: np.ndarray | None = None) -> Kinematics:
    """Motions and totals at state ``x``; inputs ``u`` (default: start values) set gravity and rests."""
    states = _States(model, x, u)
    made = _motions(model, states)
    gravity = states.input("system.gravity")
    mass = sum(b.mass for b in model.bodies)
    moment = sum(b.mass * made[b.name].centre for b in model.bodies)
    momentum = sum(b.mass * made[b.name].centre_velocity for b in model.bodies)
    centre, velocity = moment / mass, momentum / mass
    spin = np.zeros(3)
    kinetic, potential, scale_H, scale_p, scale_E = 0.0, 0.0, 0.0, 0.0, 0.0
    for body in model.bodies:
        m = made[body.name]
        orbital = body.mass * np.cross(m.centre - centre, m.centre_velocity - velocity)
        own = _spin(body, m, states)
        spin = spin + orbital + own
        omega = m.rotation.T @ m.omega
        energy = 0.5 * body.mass * (m.centre_velocity @ m.centre_velocity)
        energy = energy + 0.5 * (omega @ carrier_inertia(body) @ omega)
        for _, inertia, h in states.momentum(body):
            energy = energy + 0.5 * h * h / inertia
        kinetic = kinetic + energy
        work = -body.mass * (gravity @ m.centre)
        potential = potential + work
        scale_p += body.mass * np.abs(m.centre_velocity).max()
        scale_E += abs(energy) + abs(work)
        scale_H += np.abs(own).max() + np.abs(orbital).max()
        if not body.joint.floating:
            distance, turn, _, _ = states.joint(body)
            q = np.concatenate([distance, turn[: len(body.joint.rotations)]])
            stretch = states.input(f"{body.name}.joint.rest") - q
            stored = 0.5 * (np.array(body.joint.stiffness) * stretch) @ stretch
            potential = potential + stored
            scale_E += abs(stored)
    return Kinematics(
        bodies=made,
        mass=mass,
        centre_of_mass=centre,
        centre_of_mass_velocity=velocity,
        momentum=momentum,
        angular_momentum=spin,
        kinetic_energy=kinetic,
        energy=kinetic + potential,
        scales={"momentum": scale_p, "angular_momentum": scale_H, "energy": scale_E},
    )


def _efforts(model: Model, states: _States) -> dict[str, np.ndarray]:
    """Input + spring + damper at every degree of freedom, by body."""
    efforts = {}
    for body in model.bodies:
        joint, stem = body.joint, f"{body.name}.joint"
        if joint.floating:
            efforts[body.name] = np.zeros(6)
            continue
        distance, turn, speed, rate = states.joint(body)
        effort = np.concatenate([states.input(f"{stem}.force"), states.input(f"{stem}.torque")])
        effort = effort - np.array(joint.damping) * np.concatenate([speed, rate])
        q = np.concatenate([distance, turn[: len(joint.rotations)]])
        effort[: len(q)] += np.array(joint.stiffness) * (states.input(f"{stem}.rest") - q)
        efforts[body.name] = effort
    return efforts


def _applied(body: Body, motion: Motion, states: _States) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """External force, torque and point of attack (from the mass centre) of every source but gravity."""
    R, name = motion.rotation, body.name
    found = [(R @ states.input(f"{name}.force"), R @ states.input(f"{name}.torque"), np.zeros(3))]
    for node, point in body.nodes.items():
        force, torque = states.input(f"{name}.{node}.force"), states.input(f"{name}.{node}.torque")
        found.append((R @ force, R @ torque, R @ (np.array(point.at) - np.array(body.com))))
    return found


def _gradient(states: _States, centre: np.ndarray, position: np.ndarray) -> np.ndarray:
    """Pull [m/s2] at a place beyond that at the system's mass centre: the first derivative of mu r/|r|^3 in r."""
    if states.gravitational_parameter is None:
        return np.zeros(3)
    r = states.input("system.orbit_position")
    size = np.sqrt(r @ r)
    return states.gravitational_parameter * (3 * np.outer(r, r) / size**5 - np.eye(3) / size**3) @ (position - centre)


def _attraction(
    model: Model, body: Body, bodies: Mapping[str, Motion], states: _States
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Force, torque and point of attack of the gravity gradient, as `_applied` has them: of six particles.

    They lie on the principal axes of the second moments, integral of r r^T dm, at unit distance, with masses (negative
    ones too) that give the moments; the middle has the rest of the mass.
    """
    if states.gravitational_parameter is None:
        return []
    total = sum(b.mass for b in model.bodies)
    centre = sum(b.mass * bodies[b.name].centre for b in model.bodies) / total
    here, tensor = bodies[body.name], np.array(body.inertia, float)
    moments, axes = np.linalg.eigh(0.5 * np.trace(tensor) * np.eye(3) - tensor)
    force, torque = body.mass * _gradient(states, centre, here.centre), np.zeros(3)
    for moment, axis in zip(moments, axes.T, strict=True):
        for side in (-1.0, 1.0):
            arm = side * (here.rotation @ axis)
            torque = torque + 0.5 * moment * np.cross(arm, _gradient(states, here.centre, here.centre + arm))
    return [(force, torque, np.zeros(3))]


def _commanded(model: Model, states: _States) -> tuple[np.ndarray, np.ndarray]:
    """Which degrees of freedom have a known acceleration, and which acceleration."""
    known, value = [], []
    for body in model.bodies:
        stem = f"{body.name}.joint"
        for k, motion in enumerate(body.joint.motion):
            if body.joint.kind == "attitude" and motion != "free" and k < 3:
                raise ValueError(f"{body.name}: translation of an attitude root cannot be prescribed")
            prescribed = motion == "prescribed"
            locked = False
            if motion == "switchable":
                place = [j for j, how in enumerate(body.joint.motion) if how == "switchable"].index(k)
                locked = bool(states.input(f"{stem}.locked")[place])
                prescribed = bool(states.input(f"{stem}.prescribed")[place])
            known.append(prescribed or locked)
            value.append(states.input(f"{stem}.acceleration")[k] if prescribed and not locked else 0.0)
    return np.array(known, bool), np.array(value)


def _turning(body: Body, motion: Motion, states: _States) -> tuple[np.ndarray, np.ndarray]:
    """Inertia (3, 3) that angular acceleration meets, and rate of angular momentum with ``motion.alpha``."""
    R = motion.rotation
    inertia = R @ carrier_inertia(body) @ R.T
    rate = inertia @ motion.alpha + np.cross(motion.omega, _spin(body, motion, states))
    for name, wheel in body.wheels.items():
        rate = rate + R @ unit(wheel.axis) * states.input(f"{body.name}.{name}.torque")[0]
    return inertia, rate


def coefficients(model: Model, x: np.ndarray) -> np.ndarray:
    """The whole matrix COEF (n_u, n_u), as if every degree of freedom were free."""
    states = _States(model, x)
    n_u = sum(b.joint.n_u for b in model.bodies)
    COEF = np.zeros((n_u, n_u))
    for name, m in _motions(model, states).items():
        body = model.body(name)
        inertia, _ = _turning(body, m, states)
        COEF += body.mass * m.partial_centre.T @ m.partial_centre + m.partial_omega.T @ inertia @ m.partial_omega
    return COEF


def solve(model: Model, x: np.ndarray, u: np.ndarray) -> Solution:
    """Accelerations and all that follows from them, at state ``x`` and inputs ``u`` (layouts of `ports`)."""
    states = _States(model, x, u)
    remainders = _motions(model, states)
    places, gravity = columns(model), states.input("system.gravity")
    efforts = _efforts(model, states)
    n_u = sum(b.joint.n_u for b in model.bodies)
    COEF, RHS = np.zeros((n_u, n_u)), np.zeros(n_u)
    for body in model.bodies:
        m = remainders[body.name]
        inertia, rate = _turning(body, m, states)
        force, torque = body.mass * gravity, np.zeros(3)
        for f, t, at in (*_applied(body, m, states), *_attraction(model, body, remainders, states)):
            force, torque = force + f, torque + t + np.cross(at, f)
        V, W = m.partial_centre, m.partial_omega
        COEF += body.mass * V.T @ V + W.T @ inertia @ W
        RHS += V.T @ (force - body.mass * m.centre_acceleration) + W.T @ (torque - rate)
        RHS[places[body.name]] += efforts[body.name]
    known, udot = _commanded(model, states)
    free = ~known
    if free.any():
        right = RHS[free] - COEF[np.ix_(free, known)] @ udot[known]
        udot[free] = np.linalg.solve(COEF[np.ix_(free, free)], right)
    bodies = {
        name: replace(
            m,
            alpha=m.alpha + m.partial_omega @ udot,
            origin_acceleration=m.origin_acceleration + m.partial_origin @ udot,
            centre_acceleration=m.centre_acceleration + m.partial_centre @ udot,
        )
        for name, m in remainders.items()
    }
    loads = _loads(model, bodies, states)
    reactions = {}
    for body in model.bodies:
        m, load = bodies[body.name], loads[body.name]
        moment, force = m.rotation @ load[:3], m.rotation @ load[3:]
        reactions[body.name] = np.concatenate([m.slides.T @ force, m.turns.T @ moment]) - efforts[body.name]
    return Solution(
        xdot=_rates(model, udot, states),
        udot=udot,
        bodies=bodies,
        coefficients=COEF,
        efforts=efforts,
        loads=loads,
        reactions=reactions,
        power=_power(model, bodies, efforts, reactions, states),
    )


def _loads(model: Model, bodies: Mapping[str, Motion], states: _States) -> dict[str, np.ndarray]:
    """Newton-Euler on everything outboard of each joint: what its inboard neighbour must do to it."""
    gravity = states.input("system.gravity")
    needed: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    order = tree(model)
    for body in model.bodies:  # force needed, and moment about the inertial origin's place of the mass centre
        m = bodies[body.name]
        _, moment = _turning(body, m, states)
        force = body.mass * (m.centre_acceleration - gravity)
        for f, t, at in (*_applied(body, m, states), *_attraction(model, body, bodies, states)):
            force, moment = force - f, moment - t - np.cross(at, f)
        needed[body.name] = force, moment
    loads = {}
    for i, body in enumerate(model.bodies):
        here = bodies[body.name]
        total = np.zeros(6)
        for j, other in enumerate(model.bodies):
            if i in order.path(j):
                force, moment = needed[other.name]
                total[:3] += moment + np.cross(bodies[other.name].centre - here.origin, force)
                total[3:] += force
        loads[body.name] = np.concatenate([here.rotation.T @ total[:3], here.rotation.T @ total[3:]])
    return loads


def _rates(model: Model, udot: np.ndarray, states: _States) -> np.ndarray:
    """The derivative of the state vector."""
    xdot, places = np.zeros(len(states.x)), columns(model)
    total = sum(b.mass for b in model.bodies)
    for body in model.bodies:
        joint = body.joint
        names = [states.place(name) for name in states.names(body)]
        distance, turn, speed, rate = names
        _, q, v, w = states.joint(body)
        xdot[distance] = v
        own = udot[places[body.name]]
        n = len(v)
        xdot[speed], xdot[rate] = own[:n], own[n:]
        if joint.spherical or joint.floating:
            xdot[turn] = 0.5 * np.concatenate([[-q[1:] @ w], q[0] * w + np.cross(q[1:], w)])
        else:
            xdot[turn] = w
        if joint.kind == "attitude":
            made = _motions(model, states)
            pulls = (f for b in model.bodies for f, _, _ in _applied(b, made[b.name], states))
            xdot[speed] = sum(pulls, np.zeros(3)) / total + states.input("system.gravity")
        for name in body.wheels:
            xdot[states.place(f"{body.name}.{name}.momentum")] = states.input(f"{body.name}.{name}.torque")
    return xdot


def _power(
    model: Model,
    bodies: Mapping[str, Motion],
    efforts: Mapping[str, np.ndarray],
    reactions: Mapping[str, np.ndarray],
    states: _States,
) -> np.ndarray:
    """Power of gravity, its gradient, every external force, joint effort, constraint and wheel motor, one by one."""
    gravity, found = states.input("system.gravity"), []
    for body in model.bodies:
        m = bodies[body.name]
        found.append(body.mass * (gravity @ m.centre_velocity))
        for f, t, at in (*_applied(body, m, states), *_attraction(model, body, bodies, states)):
            found += [f @ (m.centre_velocity + np.cross(m.omega, at)), t @ m.omega]
        _, _, speed, rate = states.joint(body)
        if body.joint.kind == "attitude":
            speed = m.origin_velocity
        speeds = np.concatenate([speed, rate])
        found += list(efforts[body.name] * speeds) + list(reactions[body.name] * speeds)
        for name, (_, _, speed) in _wheel_speeds(body, m, states).items():
            found.append(states.input(f"{body.name}.{name}.torque")[0] * speed)
    return np.array(found)


def _wheel_speeds(body: Body, motion: Motion, states: _States) -> dict[str, tuple[float, float, float]]:
    """Spin inertia, absolute momentum and speed relative to the body of each wheel."""
    omega = motion.rotation.T @ motion.omega
    wheels = zip(body.wheels, states.momentum(body), strict=True)
    return {name: (J, h, h / J - axis @ omega) for name, (axis, J, h) in wheels}


def accelerations(model: Model, x: np.ndarray, u: np.ndarray) -> np.ndarray:
    """The derivative ``xdot`` of state ``x`` under inputs ``u``, in the layouts of ``ports(model)``."""
    return solve(model, x, u).xdot


def loads(model: Model, x: np.ndarray, u: np.ndarray) -> dict[str, np.ndarray]:
    """By body, [moment; force] that its joint exerts on it about its origin, body axes [N.m, N]."""
    return dict(solve(model, x, u).loads)


def kinetic_energy_rate(model: Model, x: np.ndarray, u: np.ndarray) -> float:
    """dK/dt [W] from accelerations (not from forces)."""
    states, solution = _States(model, x, u), solve(model, x, u)
    rate = 0.0
    for body in model.bodies:
        m = solution.bodies[body.name]
        inertia, _ = _turning(body, m, states)
        rate += body.mass * (m.centre_velocity @ m.centre_acceleration) + m.omega @ inertia @ m.alpha
        for name, (J, h, _) in _wheel_speeds(body, m, states).items():
            rate += h / J * states.input(f"{body.name}.{name}.torque")[0]
    return rate


def outputs(model: Model, x: np.ndarray, u: np.ndarray) -> dict[str, np.ndarray]:
    """Every output of ``ports(model)`` by name; attitudes of bodies are (3, 3) rotations."""
    states, solution, totals = _States(model, x, u), solve(model, x, u), kinematics(model, x, u)
    y: dict[str, np.ndarray] = {}
    for body in model.bodies:
        name, joint, m = body.name, body.joint, solution.bodies[body.name]
        y[f"{name}.omega"] = m.rotation.T @ m.omega
        y[f"{name}.attitude"] = m.rotation
        y |= {f"{name}.position": m.origin, f"{name}.velocity": m.origin_velocity}
        y[f"{name}.acceleration"] = m.origin_acceleration
        y |= {f"{name}.joint.load": solution.loads[name], f"{name}.joint.reaction": solution.reactions[name]}
        if not joint.floating:
            y |= dict(zip(states.names(body), states.joint(body), strict=True))
        for wheel, (_, h, speed) in _wheel_speeds(body, m, states).items():
            y |= {f"{name}.{wheel}.momentum": np.array([h]), f"{name}.{wheel}.speed": np.array([speed])}
        for node, point in body.nodes.items():
            arm = m.rotation @ np.array(point.at)
            y[f"{name}.{node}.position"] = m.origin + arm
            y[f"{name}.{node}.velocity"] = m.origin_velocity + np.cross(m.omega, arm)
            y[f"{name}.{node}.acceleration"] = (
                m.origin_acceleration + np.cross(m.alpha, arm) + np.cross(m.omega, np.cross(m.omega, arm))
            )
    for name in ("centre_of_mass", "centre_of_mass_velocity", "momentum", "angular_momentum"):
        y[f"system.{name}"] = getattr(totals, name)
    y |= {"system.mass": np.array([totals.mass]), "system.energy": np.array([totals.energy])}
    y["system.work_residual"] = np.array([kinetic_energy_rate(model, x, u) - solution.power.sum()])
    table = ports(model)
    gravity = states.input("system.gravity")
    for v in table.outputs:
        if v.name.endswith((".impulse", ".work_error")):  # of steps, so none at a state
            y[v.name] = np.zeros(v.size)
        elif v.name.endswith(".specific_force"):
            node, body = v.name.removesuffix(".specific_force"), v.name.partition(".")[0]
            felt = y[f"{node}.acceleration"] - gravity
            felt = felt - _gradient(states, totals.centre_of_mass, y[f"{node}.position"])
            y[v.name] = y[f"{body}.attitude"].T @ felt
    return {v.name: y[v.name] for v in table.outputs}
