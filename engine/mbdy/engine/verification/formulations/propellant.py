"""Propellant among what the bodies of all formulations have, and what its flow does to them: the one place for it.

Mass, mass centre and inertia of the propellant are sums over slices of the tank. What a flow takes away is the momentum
of particles that lie where the propellant is missed, and what it gives that of the exhaust at the nozzles; the
difference acts on the body with the propellant that is left. Velocities are seen from the mass centre of the craft, of
all trees that closed loops make one with the body's, in the directions in which nothing holds it to inertial space.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mbdy.engine.model.ports import Ports
from mbdy.engine.model.system import INERTIAL, Loop
from mbdy.engine.model.tank_variables import tank_parameters
from mbdy.engine.model.tanks import ROW, Tank
from mbdy.engine.verification.formulations.flexible import STEP, cross_matrix, mass_matrix
from mbdy.engine.verification.formulations.forces import mass_centre
from mbdy.engine.verification.formulations.kinematics import Columns, Kinematics, kinematics
from mbdy.engine.verification.formulations.values import Array, Part, cross, rotation

SLICES, WEIGHTS = np.polynomial.legendre.leggauss(6)
"""Exact for the polynomials of a sphere's slices."""
HELD = 1e-12
"""Least square of a direction's part that is held."""
Sums = tuple[float, Array, Array]
"""Mass, first moment (3) and second moment (3, 3), the integral of y y^T, about the body's origin."""


@dataclass(frozen=True)
class Discharge:
    """What leaves one tank: its ``flow`` [kg/s] out of ``body``, where a unit of mass had ``missed`` (6, 6) of spatial
    inertia about the origin; and the ``exhaust``'s momentum (6) beside that in a second, seen as ``mean`` (3) moves."""

    body: int
    flow: float
    missed: Array
    exhaust: Array
    mean: Array

    def lost(self, omega: Array, velocity: Array) -> Array:
        """Momentum (6) about the origin that leaves in a second from where it was, of a body that moves like this."""
        return self.flow * self.missed @ np.append(omega, velocity)


def filled(table: Ports, tank: Tank, part: Part, mass: float, p: Array) -> tuple[Part, Array]:
    """``part`` with a ``mass`` of propellant in it, and the spatial inertia (6, 6) of a unit of it that goes first."""
    k = {name: p[table.by_name[f"tank.{tank.name}.{name}"].places] for name in tank_parameters(tank)}
    constants = part.constants
    if tank.table:
        k["table"] = k["table"].reshape(-1, ROW) - np.concatenate([[0.0], constants.joint_at, np.zeros(ROW - 4)])
    else:
        k["at"] = k["at"] - constants.joint_at
    (m, first, second), missed = (_tabled if tank.table else _shaped)(tank, k, mass)
    whole = constants.mass + m
    own = constants.mass * constants.com
    com = (own + first) / whole if whole else constants.com
    about = constants.inertia + constants.mass * _spread(np.outer(constants.com, constants.com)) + _spread(second)
    inertia = about - whole * _spread(np.outer(com, com))
    return replace(part, constants=replace(constants, mass=whole, com=com, inertia=inertia)), missed


def _spread(second: Array) -> Array:
    """Inertia of a second moment."""
    return np.trace(second) * np.eye(3) - second


def _spatial(mass: float, first: Array, second: Array) -> Array:
    c = cross_matrix(first)
    return np.block([[_spread(second), c], [-c, mass * np.eye(3)]])


def _of_points(weights: Array, points: Array) -> Sums:
    return float(weights.sum()), weights @ points, np.einsum("i,ij,ik->jk", weights, points, points)


def _shaped(tank: Tank, k: Mapping[str, Array], mass: float) -> tuple[Sums, Array]:
    R, L = (float(k[name][0]) if name in k else 0.0 for name in ("radius", "length"))
    z = k["axis"] / np.linalg.norm(k["axis"]) if "axis" in k else np.array([0.0, 0.0, 1.0])
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x /= np.linalg.norm(x)
    axes: Array = np.array([x, np.cross(z, x), z], dtype=np.float64)
    if tank.density is None:  # six particles on the axes have the moments of an even sphere or cylinder
        reach = np.array(
            {"sphere": [0.6**0.5 * R] * 3, "cylinder": [0.75**0.5 * R] * 2 + [L / 2]}.get(tank.shape, [0.0] * 3)
        )
        points = k["at"] + np.concatenate([np.diag(reach), -np.diag(reach)]) @ axes
        unit = _of_points(np.full(6, 1.0 / 6.0), points)
        return (mass, mass * unit[1], mass * unit[2]), _spatial(*unit)
    density = float(k["density"][0])
    if tank.shape == "sphere":
        full = density * 4.0 / 3.0 * np.pi * R**3
        roots = np.roots([1.0, 0.0, -3.0, 4.0 * min(1.0, max(0.0, mass / full)) - 2.0])
        bottom, level = -R, R * float(np.real(roots[np.argmin(np.abs(roots))]))
    else:
        bottom = -L / 2.0
        level = bottom + mass / (density * np.pi * R**2)
    heights = bottom + (level - bottom) / 2.0 * (SLICES + 1.0)
    squares = R**2 - heights**2 if tank.shape == "sphere" else np.full(len(heights), R**2)
    slices = density * np.pi * squares * WEIGHTS * (level - bottom) / 2.0
    sums = [_disc(axes, k["at"], height, square) for height, square in zip(heights, squares, strict=True)]
    first = np.einsum("i,ij->j", slices, np.array([each[1] for each in sums]))
    second = np.einsum("i,ijk->jk", slices, np.array([each[2] for each in sums]))
    surface = max(0.0, R**2 - level**2) if tank.shape == "sphere" else R**2
    return (mass, first, second), _spatial(*_disc(axes, k["at"], level, surface))


def _disc(axes: Array, at: Array, height: float, square: float) -> Sums:
    """Of a disc of unit mass across the last of ``axes``, by four particles that have its moments."""
    across = np.sqrt(square / 2.0) * np.array([[1.0, 0, 0], [-1.0, 0, 0], [0, 1.0, 0], [0, -1.0, 0]])
    return _of_points(np.full(4, 0.25), at + (across + np.array([0.0, 0.0, height])) @ axes)


def _tabled(tank: Tank, k: Mapping[str, Array], mass: float) -> tuple[Sums, Array]:
    rows = k["table"].reshape(-1, ROW)
    i = int(np.clip(np.searchsorted(rows[:, 0], mass) - 1, 0, len(rows) - 2))

    def spatial(m: Any) -> Any:
        row = rows[i] + (m - rows[i, 0]) / (rows[i + 1, 0] - rows[i, 0]) * (rows[i + 1] - rows[i])
        xx, yy, zz, xy, xz, yz = row[4:]
        return mass_matrix(
            m, row[1:4], np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), None, np.zeros(0, complex)
        )

    now, missed = spatial(mass), np.imag(spatial(mass + 1j * STEP)) / STEP
    inertia = np.real(now[:3, :3])
    first = np.real([now[2, 4], now[0, 5], now[1, 3]])
    return (mass, first, np.trace(inertia) / 2.0 * np.eye(3) - inertia), missed


def discharges(
    columns: Columns,
    parts: Sequence[Part],
    tanks: Sequence[tuple[Tank, int, Array, Array]],
    table: Ports,
    p: Array,
    closed: Sequence[Loop],
) -> list[Discharge]:
    """What leaves ``tanks``, each with the place of its body, what a unit of mass misses, and its flows; ``closed`` are
    the loops that are."""
    at = kinematics(columns, parts)
    frames, w, found = at.bodies, np.where(columns.still, 0.0, columns.speeds(parts)), []
    for tank, body, missed, flows in tanks:
        frame, nodes = frames[body], list(parts[body].body.nodes)
        mean = frame.C.T @ _mean(columns, parts, at, w, columns.tree.root[body], closed)
        V = frame.J @ w
        V = np.append(V[:3], V[3:] - mean)
        axes = p[table.by_name[f"tank.{tank.name}.thrust_axis"].places].reshape(-1, 3)
        speeds = p[table.by_name[f"tank.{tank.name}.exhaust_velocity"].places]
        exhaust = np.zeros(6)
        for node, flow, axis, speed in zip(tank.nozzle, flows, axes, speeds, strict=True):
            place = parts[body].constants.nodes[nodes.index(node)]
            gone = flow * (V[3:] + cross(V[:3], place) - speed * axis / np.linalg.norm(axis))
            exhaust += np.append(cross(place, gone), gone)
        found.append(Discharge(body, float(flows.sum()), missed, exhaust, mean))
    return found


def _mean(
    columns: Columns, parts: Sequence[Part], at: Kinematics, w: Array, root: int, closed: Sequence[Loop]
) -> Array:
    """Velocity of the mass centre of the craft that a tree belongs to, inertial axes, where nothing holds it."""
    index, roots = columns.model.index, columns.tree.root
    joined = [{roots[index[side.body]] for side in (c.a, c.b) if side.body != INERTIAL} for c in closed]
    craft, before = {root}, 0
    while len(craft) > before:
        before = len(craft)
        craft = craft.union(*(trees for trees in joined if trees & craft))
    slides = [parts[j].constants.translations @ parts[j].constants.frame.T for j in craft]
    held = [np.eye(3) - np.linalg.pinv(axes) @ axes for axes in slides]
    for c, trees in zip(closed, joined, strict=True):
        if trees <= craft and INERTIAL in (c.a.body, c.b.body):
            turn = np.eye(3) if c.a.body == INERTIAL else at.site(index[c.a.body], c.a.node).C
            axes = (turn @ rotation(np.array(c.a.frame))).T
            held.append(axes if c.distance is not None else axes[[row - 4 for row in c.rows if row > 3]])
    sizes, directions = np.linalg.eigh(sum(axes.T @ axes for axes in held))
    free = directions[:, sizes < HELD]
    momentum, mass = np.zeros(3), 0.0
    for j, (part, frame) in enumerate(zip(parts, at.bodies, strict=True)):
        if roots[j] not in craft:
            continue
        constants, eta = part.constants, part.motion.eta
        inertia = mass_matrix(constants.mass, constants.com, constants.inertia, constants.modes, eta)
        momentum += frame.C @ (inertia @ np.append(frame.J @ w, part.motion.eta_rate))[3:6]
        mass += constants.mass
    return free @ free.T @ momentum / mass


def pushed(columns: Columns, parts: Sequence[Part], leaving: Sequence[Discharge]) -> list[Part]:
    """``parts`` with what ``leaving`` propellant does at their mass centres."""
    frames = kinematics(columns, parts).bodies
    w, changed = np.where(columns.still, 0.0, columns.speeds(parts)), list(parts)
    for each in leaving:
        part, V = changed[each.body], frames[each.body].J @ w
        push = each.lost(V[:3], V[3:] - each.mean) - each.exhaust
        forces, torques = part.given.forces.copy(), part.given.torques.copy()
        forces[0] += push[3:]
        torques[0] += push[:3] - cross(part.constants.com, push[3:])
        changed[each.body] = replace(part, given=replace(part.given, forces=forces, torques=torques))
    return changed


def of_mass_centre(columns: Columns, parts: Sequence[Part], leaving: Sequence[Discharge]) -> tuple[Array, Array]:
    """Of a system with an ``attitude`` root: what the mass centre's velocity (3) is less by than momentum over mass
    says, and its acceleration less than forces over mass; inertial axes."""
    frames = kinematics(columns, parts).bodies
    w, mass = np.where(columns.still, 0.0, columns.speeds(parts)), sum(part.constants.mass for part in parts)
    centre = sum(part.constants.mass * (f.r + f.C @ mass_centre(part)) for f, part in zip(frames, parts, strict=True))
    slip, slowed = np.zeros(3), np.zeros(3)
    for each in leaving:
        frame, V = frames[each.body], frames[each.body].J @ w
        first = np.array([each.missed[2, 4], each.missed[0, 5], each.missed[1, 3]])
        slip += each.flow / mass * (frame.r + frame.C @ first - centre / mass)
        slowed += frame.C @ each.lost(V[:3], V[3:] - each.mean)[3:] / mass
    return slip, slowed
