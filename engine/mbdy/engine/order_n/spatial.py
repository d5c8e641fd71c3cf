"""Spatial algebra over CasADi symbols: motion ``[omega; v]`` and force ``[n; f]`` vectors about a body's origin.

Conventions of Featherstone (Rigid Body Dynamics Algorithms, 2008, ch. 2) with motion vectors in body axes.
Symmetric 3x3 and 6x6 matrices travel between kernels as their upper triangles, row by row.
"""

from __future__ import annotations

import casadi as ca
from casadi import SX


def skew(a: SX) -> SX:
    """The 3x3 matrix of ``a x``."""
    return ca.vertcat(ca.horzcat(0, -a[2], a[1]), ca.horzcat(a[2], 0, -a[0]), ca.horzcat(-a[1], a[0], 0))


def symmetric(upper: SX, n: int) -> SX:
    """The n x n symmetric matrix of an upper triangle given row by row."""
    place: dict[tuple[int, int], int] = {}
    for at, (row, column) in enumerate((i, j) for i in range(n) for j in range(i, n)):
        place[row, column] = place[column, row] = at
    return ca.vertcat(*(ca.horzcat(*(upper[place[i, j]] for j in range(n))) for i in range(n)))


def upper(matrix: SX) -> SX:
    """The upper triangle of a symmetric matrix, row by row."""
    n = matrix.shape[0]
    return ca.vertcat(*(matrix[i, j] for i in range(n) for j in range(i, n)))


def first_moment(M: SX) -> SX:
    """First moment (3) in a spatial inertia (6, 6)."""
    return ca.vertcat(M[2, 4], M[0, 5], M[1, 3])


def cross_motion(V: SX, W: SX) -> SX:
    """``V x W`` of two motion vectors."""
    return ca.vertcat(ca.cross(V[:3], W[:3]), ca.cross(V[:3], W[3:]) + ca.cross(V[3:], W[:3]))


def cross_force(V: SX, F: SX) -> SX:
    """``V x* F`` of a motion and a force vector."""
    return ca.vertcat(ca.cross(V[:3], F[:3]) + ca.cross(V[3:], F[3:]), ca.cross(V[:3], F[3:]))


def inertia_matrix(mass: SX, first_moment: SX, about_origin: SX) -> SX:
    """Spatial inertia (6x6) of a mass [kg], first moment m c [kg.m] and tensor about the origin [kg.m2]."""
    c = skew(first_moment)
    return ca.vertcat(ca.horzcat(about_origin, c), ca.horzcat(-c, mass * SX.eye(3)))


def rotation_matrix(q: SX) -> SX:
    """``C(q)/(q.q)``: the rotation of a scalar-first quaternion of any norm."""
    w, v = q[0], q[1:]
    vv = ca.dot(v, v)
    return ((w * w - vv) * SX.eye(3) + 2 * v @ v.T + 2 * w * skew(v)) / (w * w + vv)


def quaternion_of(R: SX) -> tuple[SX, SX]:
    """Scalar, not negative, and vector part of the quaternion of a rotation matrix; at half a turn one of its two.

    The largest element is the divisor (F. L. Markley, Unit quaternion from rotation matrix, 2008).
    """
    v = ca.vertcat(R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1])
    t = ca.trace(R)
    rows = [ca.vertcat(1 + t, v)]
    for i in range(3):
        rows.append(ca.vertcat(v[i], *(1 - t + 2 * R[i, i] if i == j else R[i, j] + R[j, i] for j in range(3))))
    q, most = rows[0], rows[0][0]
    for i in (1, 2, 3):
        q, most = ca.if_else(rows[i][i] > most, rows[i], q), ca.fmax(most, rows[i][i])
    q = ca.if_else(q[0] < 0, -q, q) / (2 * ca.sqrt(most))
    return q[0], q[1:]


NEAR = 1e-3
"""Square of the tangent of a quarter of an angle below which a series has what is 0/0 at zero, to rounding."""


def rotation_vector(w: SX, v: SX) -> SX:
    """``theta n``, smooth, of a unit quaternion with scalar part ``w >= 0`` and vector part ``v`` (or some of it)."""
    square = (1 - w) / (1 + w)
    tangent = ca.sqrt(ca.fmax(square, NEAR))
    series = 1 - square * (1 / 3 - square * (1 / 5 - square * (1 / 7 - square * (1 / 9 - square / 11))))
    return 4 * v / (1 + w) * ca.if_else(square < NEAR, series, ca.atan(tangent) / tangent)


def quaternion_product(a: SX, b: SX) -> SX:
    """``a (x) b``, scalar first."""
    return ca.vertcat(a[0] * b[0] - ca.dot(a[1:], b[1:]), a[0] * b[1:] + b[0] * a[1:] + ca.cross(a[1:], b[1:]))


def quaternion_rate(q: SX, omega: SX) -> SX:
    """``1/2 q (x) [0, omega]`` for omega in the axes that the quaternion maps from."""
    return 0.5 * quaternion_product(q, ca.vertcat(0, omega))


def axis_rotation(axis: SX, angle: SX) -> SX:
    """Rotation by ``angle`` about a unit axis: turned components to unturned ones (Rodrigues)."""
    s, c = ca.sin(angle), ca.cos(angle)
    return c * SX.eye(3) + s * skew(axis) + (1 - c) * axis @ axis.T


def axis_quaternion(axis: SX, angle: SX) -> SX:
    """The quaternion of a rotation by ``angle`` about a unit axis; continuous in the angle."""
    return ca.vertcat(ca.cos(angle / 2), ca.sin(angle / 2) * axis)


def solve_ldl(D: SX, rhs: SX) -> SX:
    """``D^-1 rhs`` for a symmetric positive definite D (n <= 6), by an unrolled L D L^T."""
    n = D.shape[0]
    L = SX.eye(n)
    pivots: list[SX] = []
    for j in range(n):
        row = [L[j, k] * pivots[k] for k in range(j)]
        pivots.append(D[j, j] - sum((L[j, k] * row[k] for k in range(j)), SX(0)))
        for i in range(j + 1, n):
            L[i, j] = (D[i, j] - sum((L[i, k] * row[k] for k in range(j)), SX(0))) / pivots[j]
    y = SX(rhs)
    for i in range(n):
        for k in range(i):
            y[i, :] -= L[i, k] * y[k, :]
    for i in reversed(range(n)):
        y[i, :] = y[i, :] / pivots[i]
        for k in range(i + 1, n):
            y[i, :] -= L[k, i] * y[k, :]
    return y
