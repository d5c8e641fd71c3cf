"""Torque-free motion of an asymmetric rigid body in closed form (Jacobi 1850; van Zon and Schofield 2007).

Angular velocity by Jacobi's elliptic functions; attitude by the precession about the fixed angular momentum,
an incomplete elliptic integral of the third kind (Carlson's R_F and R_J).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ellipj, ellipk, elliprf, elliprj

from oracles.dense_kane import axis_rotation, quaternion_rotation


def torque_free(
    inertia: ArrayLike, omega: ArrayLike, t: ArrayLike, attitude: ArrayLike = (1.0, 0.0, 0.0, 0.0)
) -> tuple[np.ndarray, np.ndarray]:
    """Angular velocity (n, 3) [rad/s], body axes, and attitude quaternion (n, 4) at times ``t`` (n,) [s].

    ``inertia``   (3, 3), or (3,) for a diagonal one [kg.m2], body axes.
    ``omega``     (3,) [rad/s] at the start, body axes.
    ``attitude``  quaternion w x y z at the start, body to inertial.

    Signs of quaternions follow from sample to sample, the first one from the start. Raises ValueError for a
    body at rest, two equal principal moments or motion on the separatrix.
    """
    t, start, given = (
        np.atleast_1d(np.asarray(t, float)),
        np.asarray(omega, float),
        np.asarray(inertia, float),
    )
    last = np.asarray(attitude, float)
    moments, axes = np.linalg.eigh(np.diag(given) if given.ndim == 1 else given)
    if np.min(np.diff(moments)) <= 1e-9 * moments[-1]:
        raise ValueError(f"principal moments must differ, got {moments}")
    if not start.any():
        raise ValueError("the body must turn")
    # The third axis is the one about which the motion circulates: of the greatest moment if L^2 > 2 E I2.
    order = [0, 1, 2] if _excess(moments, axes.T @ start, 1) > 0.0 else [2, 1, 0]
    axes = axes[:, order]
    axes[:, 0] *= np.sign(np.linalg.det(axes))
    moments, start = moments[order], axes.T @ start
    found, precession = _principal(moments, start, t)
    base = quaternion_rotation(last) @ axes @ _to_momentum(moments, start).T
    quaternions = []
    for w, psi in zip(found, precession, strict=True):
        spin = axis_rotation(np.array([0.0, 0.0, 1.0]), psi)
        q = quaternion_of(base @ spin @ _to_momentum(moments, w) @ axes.T)
        last = q if q @ last >= 0.0 else -q
        quaternions.append(last)
    return found @ axes.T, np.array(quaternions)


def _excess(moments: np.ndarray, omega: np.ndarray, k: int) -> float:
    """L^2 - 2 E I_k without the difference of large numbers."""
    return float(np.sum(moments * (moments - moments[k]) * omega**2))


def _principal(moments: np.ndarray, start: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Angular velocity in principal axes (n, 3) and angle of precession (n,) from the start."""
    I1, I2, I3 = moments
    x1, x3 = _excess(moments, start, 0), _excess(moments, start, 2)
    L = float(np.linalg.norm(moments * start))
    if x3 == 0.0:  # steady rotation about the third axis: all of it counts as precession
        return np.tile(start, (len(t), 1)), np.linalg.norm(start) * t
    w1 = np.sqrt(x3 / (I1 * (I1 - I3)))
    w3 = np.copysign(np.sqrt(x1 / (I3 * (I3 - I1))), start[2])
    w2 = np.copysign(np.sqrt(x3 / (I2 * (I2 - I3))), (I3 - I1) * w3)
    rate = np.sqrt(x1 * (I3 - I2) / (I1 * I2 * I3))
    m = x3 * (I1 - I2) / (x1 * (I3 - I2))
    if m >= 1.0:
        raise ValueError("the motion on the separatrix has no period")
    n = I3 * (I2 - I1) / (I1 * (I2 - I3))
    phi = float(np.arctan2(start[1] / w2, start[0] / w1))
    quarter = ellipk(m)
    phase = _first(phi, m, quarter) + rate * t
    turns = np.round(phase / (2.0 * quarter))
    sn, cn, _, amplitude = ellipj(phase - 2.0 * quarter * turns, m)
    sign = np.where(turns % 2 == 0, 1.0, -1.0)
    omega = np.stack([w1 * sign * cn, w2 * sign * sn, w3 * np.sqrt(1.0 - m * sn**2)], 1)
    third = _third(amplitude, n, m) + 2.0 * turns * _third(np.array(np.pi / 2), n, m)
    half = np.round(phi / np.pi)
    third_start = _third(np.array(phi - half * np.pi), n, m) + 2.0 * half * _third(np.array(np.pi / 2), n, m)
    precession = L * t / I3 + L * (I3 - I1) / (I1 * I3 * rate) * (third - third_start)
    return omega, precession


def _first(phi: float, m: float, quarter: float) -> float:
    """Incomplete elliptic integral of the first kind, any amplitude."""
    half = np.round(phi / np.pi)
    s, c = np.sin(phi - half * np.pi), np.cos(phi - half * np.pi)
    return float(s * elliprf(c * c, 1.0 - m * s * s, 1.0) + 2.0 * half * quarter)


def _third(phi: np.ndarray, n: float, m: float) -> np.ndarray:
    """Incomplete elliptic integral of the third kind for |phi| <= pi/2 and characteristic n < 0."""
    s, c = np.sin(phi), np.cos(phi)
    d = 1.0 - m * s * s
    return s * elliprf(c * c, d, 1.0) + n / 3.0 * s**3 * elliprj(c * c, d, 1.0, 1.0 - n * s * s)


def _to_momentum(moments: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """Rotation from principal axes to axes with z along the angular momentum and the third principal axis in
    the half plane of x (any x where they are parallel)."""
    L = moments * omega
    z = L / np.linalg.norm(L)
    x = np.array([0.0, 0.0, 1.0]) - z[2] * z
    if np.linalg.norm(x) < 1e-14:
        x = np.array([1.0, 0.0, 0.0]) - z[0] * z
    x = x / np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z])


def quaternion_of(R: np.ndarray) -> np.ndarray:
    """Unit quaternion w x y z of a rotation (largest component positive; Shepperd 1978)."""
    trace = np.trace(R)
    squares = np.array([trace, *np.diag(R)])
    k = int(np.argmax(squares))
    if k == 0:
        q = np.array([1.0 + trace, R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    else:
        i, j, l = k - 1, k % 3, (k + 1) % 3  # noqa: E741
        q = np.zeros(4)
        q[0] = R[l, j] - R[j, l]
        q[1 + i] = 1.0 + 2.0 * R[i, i] - trace
        q[1 + j] = R[j, i] + R[i, j]
        q[1 + l] = R[l, i] + R[i, l]
    return q / np.linalg.norm(q)
