"""A space frame of rigid lumps and massless beams in full order: each lump a free body, no modes, no moving frame.

Newton and Euler of every lump in inertial space; the beams pull them by the linear stiffness between displacements and
rotation vectors as the first node sees them. Nothing is shared with `mbdy.engine.flexible`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation


@dataclass(frozen=True)
class Lump:
    """A rigid part: ``mass`` [kg] at ``offset`` [m] from its node, ``inertia`` [kg.m2] about its mass centre."""

    mass: float
    offset: np.ndarray
    inertia: np.ndarray

    def block(self) -> np.ndarray:
        """Its 6 x 6 mass matrix about the node, moving first."""
        c = tilde(self.offset)
        return np.block([[self.mass * np.eye(3), -self.mass * c], [self.mass * c, self.inertia - self.mass * c @ c]])

    def with_(self, other: Lump) -> Lump:
        """Both as one."""
        mass = self.mass + other.mass
        offset = (self.mass * self.offset + other.mass * other.offset) / mass
        inertia = np.zeros((3, 3))
        for part in (self, other):
            arm = tilde(part.offset - offset)
            inertia += part.inertia - part.mass * arm @ arm
        return Lump(mass, offset, inertia)


def tilde(v: np.ndarray) -> np.ndarray:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def beam_stiffness(length: float, EA: float, GJ: float, EIy: float, EIz: float) -> np.ndarray:
    """(12, 12) of an Euler-Bernoulli beam along x: u, v, w, turns about x, y, z of both ends."""
    K = np.zeros((12, 12))
    for rows, k in (((0, 6), EA), ((3, 9), GJ)):
        K[np.ix_(rows, rows)] = k / length * np.array([[1, -1], [-1, 1]])
    h = length
    bend = np.array([[12, 6 * h, -12, 6 * h], [6 * h, 4 * h * h, -6 * h, 2 * h * h],
                     [-12, -6 * h, 12, -6 * h], [6 * h, 2 * h * h, -6 * h, 4 * h * h]]) / h**3  # fmt: skip
    sign = np.outer([1, -1, 1, -1], [1, -1, 1, -1])
    K[np.ix_((1, 5, 7, 11), (1, 5, 7, 11))] = EIz * bend
    K[np.ix_((2, 4, 8, 10), (2, 4, 8, 10))] = EIy * bend * sign
    return K


def frame_stiffness(points: np.ndarray, beams: Sequence[tuple[int, int]], section: Sequence[float]) -> np.ndarray:
    """(6n, 6n) of a frame of beams between ``points`` (n, 3), all of one ``section`` EA, GJ, EIy, EIz."""
    K = np.zeros((6 * len(points), 6 * len(points)))
    for i, j in beams:
        span = points[j] - points[i]
        x = span / np.linalg.norm(span)
        y = np.cross([0.0, 0.0, 1.0] if abs(x[2]) < 0.9 else [0.0, 1.0, 0.0], x)
        y /= np.linalg.norm(y)
        T = np.kron(np.eye(4), np.array([x, y, np.cross(x, y)]))
        rows = [*range(6 * i, 6 * i + 6), *range(6 * j, 6 * j + 6)]
        K[np.ix_(rows, rows)] += T.T @ beam_stiffness(float(np.linalg.norm(span)), *section) @ T
    return K


@dataclass(frozen=True)
class RigidNodes:
    """``points`` (n, 3) of the first node's frame, its ``lumps`` and the ``stiffness`` (6n, 6n) between them."""

    points: np.ndarray
    lumps: Sequence[Lump]
    stiffness: np.ndarray

    def mass_matrix(self) -> np.ndarray:
        M = np.zeros_like(self.stiffness)
        for k, lump in enumerate(self.lumps):
            M[6 * k : 6 * k + 6, 6 * k : 6 * k + 6] = lump.block()
        return M

    def pulls(self, at: np.ndarray, turned: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Forces on the nodes and moments about them (n, 3), inertial, of places (n, 3) and rotations (n, 3, 3)."""
        base = turned[0]
        arms = (at - at[0]) @ base
        turns = Rotation.from_matrix(base.T @ turned).as_rotvec()
        q = np.hstack((arms - (self.points - self.points[0]), turns)).ravel()
        loads = -(self.stiffness @ q).reshape(-1, 6)
        forces = loads[:, :3].copy()
        moments = np.array([np.linalg.solve(left_jacobian(v).T, m) for v, m in zip(turns, loads[:, 3:], strict=True)])
        forces[0] = -forces[1:].sum(axis=0)
        moments[0] = -(np.cross(arms, forces) + moments)[1:].sum(axis=0)
        return forces @ base.T, moments @ base.T

    def rates(self, _t: float, state: np.ndarray) -> np.ndarray:
        """Of places, quaternions (x, y, z, w), velocities of the nodes and inertial angular velocities, by node."""
        at, quaternions, v, omega = self.parts(state)
        turned = Rotation.from_quat(quaternions).as_matrix()
        forces, moments = self.pulls(at, turned)
        a, alpha = np.empty_like(v), np.empty_like(v)
        for k, lump in enumerate(self.lumps):
            c, J = turned[k] @ lump.offset, turned[k] @ lump.inertia @ turned[k].T
            # m (a + alpha x c + w x (w x c)) = F;  J alpha + w x J w = M - c x F
            spin = J @ omega[k]
            alpha[k] = np.linalg.solve(J, moments[k] - np.cross(c, forces[k]) - np.cross(omega[k], spin))
            a[k] = forces[k] / lump.mass - np.cross(alpha[k], c) - np.cross(omega[k], np.cross(omega[k], c))
        x, w = quaternions[:, :3], quaternions[:, 3:]
        turning = np.hstack((w * omega + np.cross(omega, x), -np.sum(omega * x, axis=1, keepdims=True))) / 2
        return np.concatenate([part.ravel() for part in (v, turning, a, alpha)])

    def parts(self, state: np.ndarray) -> tuple[np.ndarray, ...]:
        n = len(self.lumps)
        cuts = np.split(state, [3 * n, 7 * n, 10 * n])
        return cuts[0].reshape(n, 3), cuts[1].reshape(n, 4), cuts[2].reshape(n, 3), cuts[3].reshape(n, 3)

    def spinning(self, spin: np.ndarray, q: np.ndarray) -> np.ndarray:
        """What is missing to hold the deformed frame (q without the first node's, 6n - 6) in a steady ``spin``."""
        moved = np.vstack((np.zeros(6), q.reshape(-1, 6)))
        turned = Rotation.from_rotvec(moved[:, 3:]).as_matrix()
        at = self.points + moved[:, :3]
        forces, moments = self.pulls(at, turned)
        missing = []
        for k, lump in list(enumerate(self.lumps))[1:]:
            c, J = turned[k] @ lump.offset, turned[k] @ lump.inertia @ turned[k].T
            pull = lump.mass * np.cross(spin, np.cross(spin, at[k] + c - self.points[0]))
            missing += [forces[k] - pull, moments[k] - np.cross(c, pull) - np.cross(spin, J @ spin)]
        return np.concatenate(missing)


def left_jacobian(v: np.ndarray) -> np.ndarray:
    """Of the rotation vector's rate to the angular velocity, both in the axes turned from."""
    angle, skew = np.linalg.norm(v), tilde(v)
    if angle < 1e-4:
        return np.eye(3) + skew / 2 + skew @ skew / 6
    return np.eye(3) + (1 - np.cos(angle)) / angle**2 * skew + (angle - np.sin(angle)) / angle**3 * skew @ skew
