"""Lagrange's equations of rigid bodies on joints of minimal coordinates, by algorithmic differentiation alone.

``L = T(q, q') - V(q)`` and Rayleigh's dissipation ``D(q, q')`` are written down from where bodies and places are and
how these move; ``d/dt dL/dq' - dL/dq + dD/dq' = Q`` is all else. Springs come in by their energies, so that no force,
torque or Jacobian of theirs is written here. Joints have coordinates whose rates are the speeds: no quaternions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import casadi as ca
import numpy as np
from casadi import DM, SX

from mbdy.engine.model.springs import Spring
from mbdy.engine.model.system import INERTIAL, Joint, Model, Quaternion, Side


def _rotation(q: Quaternion) -> DM:
    w, v = q[0], np.array(q[1:])
    skew = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return DM(np.eye(3) + 2 * w * skew + 2 * skew @ skew)


def _about(axis: np.ndarray, angle: SX) -> SX:
    K = ca.skew(SX(DM(axis / np.linalg.norm(axis))))
    return SX.eye(3) + ca.sin(angle) * K + (1 - ca.cos(angle)) * K @ K


@dataclass(frozen=True)
class Pose:
    """``C`` (3, 3) to inertial axes and place ``r`` (3), functions of q."""

    C: SX
    r: SX


def accelerations(model: Model) -> ca.Function:
    """``f(q, u, actuation)``: all accelerations, each block by body in the order of the file; ``actuation`` of each
    spring along a line."""
    q = SX.sym("q", sum(body.joint.n_u for body in model.bodies))
    u, pushed = SX.sym("u", q.shape[0]), SX.sym("actuation", len(model.springs))
    poses = _poses(model, q)
    T, V = SX(0), SX(0)
    for body in model.bodies:
        pose = poses[body.name]
        centre = pose.r + pose.C @ DM(list(body.com))
        v, omega = ca.jtimes(centre, q, u), _omega(pose.C, q, u)
        T += body.mass * ca.dot(v, v) / 2 + ca.dot(omega, DM(np.array(body.inertia)) @ omega) / 2
        V -= body.mass * ca.dot(DM(list(model.gravity)), centre)
    D, work = SX(0), SX(0)
    for k, spring in enumerate(model.springs):
        ends = [_placed(side, model, poses) for side in (spring.a, spring.b)]
        stored, lost, length = _spring(spring, ends[0], ends[1], q, u)
        V, D = V + stored, D + lost
        if length is not None:
            work -= pushed[k] * length
    slope = ca.gradient(T, u)
    M = ca.jacobian(slope, u)
    right = ca.gradient(T - V + work, q) - ca.gradient(D, u) - ca.jtimes(slope, q, u)
    return ca.Function("accelerations", [q, u, pushed], [ca.solve(M, right)])


def _poses(model: Model, q: SX) -> Mapping[str, Pose]:
    places, at = {}, 0
    for body in model.bodies:
        places[body.name] = q[at : at + body.joint.n_u]
        at += body.joint.n_u
    poses = {INERTIAL: Pose(SX.eye(3), SX(3, 1))}
    waiting = list(model.bodies)
    while waiting:
        body = waiting.pop(0)
        if body.joint.to not in poses:
            waiting.append(body)
            continue
        seat = Side(body=body.joint.to, node=body.joint.node, at=body.joint.at, frame=body.joint.frame)
        poses[body.name] = _jointed(_placed(seat, model, poses), body.joint, places[body.name])
    return poses


def _jointed(base: Pose, joint: Joint, q: SX) -> Pose:
    C, r = base.C, base.r
    for i, axis in enumerate(joint.translations):
        r += C @ DM(np.array(axis) / np.linalg.norm(axis)) * q[i]
    for i, axis in enumerate(joint.rotations, start=joint.n_translations):
        C = C @ _about(np.array(axis), q[i])
    return Pose(C, r)


def _omega(C: SX, q: SX, u: SX) -> SX:
    """Angular velocity in turned axes, of the rates of a rotation matrix."""
    spin = C.T @ ca.reshape(ca.jtimes(ca.vec(C), q, u), 3, 3)
    return ca.vertcat(spin[2, 1], spin[0, 2], spin[1, 0])


def _placed(side: Side, model: Model, poses: Mapping[str, Pose]) -> Pose:
    pose = poses[side.body]
    node = model.body(side.body).nodes[side.node].at if side.node else (0.0, 0.0, 0.0)
    return Pose(pose.C @ _rotation(side.frame), pose.r + pose.C @ DM(np.array(node) + np.array(side.at)))


def _spring(spring: Spring, a: Pose, b: Pose, q: SX, u: SX) -> tuple[SX, SX, SX | None]:
    """Energy, Rayleigh's dissipation, and the length of one along a line."""
    if spring.kind == "line":
        length = ca.norm_2(b.r - a.r)
        rate, d = ca.jtimes(length, q, u), SX.sym("d")
        if spring.table:
            energy = _table(np.array(spring.table), d)
        else:
            k, p, c = spring.stiffness[0], spring.preload[0], spring.cubic_stiffness[0]
            energy = p * d + k * d**2 / 2 + c * d**4 / 4
        elongation = length - spring.length[0]
        stored, tension = (ca.substitute(each, d, elongation) for each in (energy, ca.gradient(energy, d)))
        lost, slack = spring.damping[0] * rate**2 / 2, 0
        if spring.tension_only:
            slack = ca.logic_or(tension <= 0, tension + spring.damping[0] * rate <= 0)
        return ca.if_else(slack, 0, stored), ca.if_else(slack, 0, lost), length
    R = a.C.T @ b.C
    sine = ca.vertcat(R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]) / 2
    angle = ca.atan2(ca.norm_2(sine), (ca.trace(R) - 1) / 2)
    coordinates = ca.vertcat(a.C.T @ (b.r - a.r), angle * sine / ca.norm_2(sine))
    stretch, rates = coordinates - DM(list(spring.length)), ca.jtimes(coordinates, q, u)
    k, c = DM(list(spring.stiffness)), DM(list(spring.damping))
    return ca.dot(stretch, DM(list(spring.preload)) + k * stretch / 2), ca.dot(c * rates, rates) / 2, None


def _table(points: np.ndarray, d: SX) -> SX:
    """Work from the table's first point to elongation d, by pieces."""
    work = ca.if_else(d < points[0, 0], points[0, 1] * (d - points[0, 0]), 0)
    for (x0, f0), (x1, f1) in pairwise(points):
        part = ca.fmin(ca.fmax(d, x0), x1) - x0
        work += f0 * part + (f1 - f0) / (x1 - x0) * part**2 / 2
    return work + ca.if_else(d > points[-1, 0], points[-1, 1] * (d - points[-1, 0]), 0)
