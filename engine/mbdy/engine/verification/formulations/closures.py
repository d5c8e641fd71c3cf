"""Closed loops as constraints: their errors ``phi``, the Jacobian ``G`` of these and what the constraints ask of it.

Two loop frames a and b of a loop have the displacement ``d = Ca^T (rb - ra)`` and the rotation ``R = Ca^T Cb``, whose
rates are ``d' = Ca^T (vb - va) - wa x d`` and ``R' = W~ R`` with ``W = Ca^T (Omega_b - Omega_a)``. Every row of phi is
a function of d and R. ``G w`` is what is held: phi' of rows that move, and of rows that turn angular velocities, which
are phi' where phi is zero. The constraint is ``G w' + G' w + 2/T G w + phi/T^2 = 0`` (J. Baumgarte, Computer Methods in
Applied Mechanics and Engineering 1 (1972), with both his gains from one time T).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mbdy.engine.model.gear import Gear
from mbdy.engine.model.system import INERTIAL, Loop, Side
from mbdy.engine.model.topology import ROOT
from mbdy.engine.verification.formulations.flexible import Numbers
from mbdy.engine.verification.formulations.kinematics import Frame, Kinematics
from mbdy.engine.verification.formulations.reader import Reader
from mbdy.engine.verification.formulations.values import cross_matrix, rotation

Rows = tuple[int, ...]
OPPOSED = 1e-24
"""Half the square of the angle from opposed axes (or lines in line) below which nothing says how to turn."""


@dataclass(frozen=True)
class Closure:
    """One loop, or gear, at an instant: rows of ``phi`` (m), ``G`` (m, n), its current ``time_constant``, whether it is
    closed.

    ``pushing`` (3, m) and ``twisting`` (3, m) make a force at b's place and a torque about it, both on b in the axes of
    a's loop frame, of the rows' multipliers; ``efforts`` (k, m) those at the joints of a gear, whose error is ``norm``
    times phi.
    """

    of: Loop | Gear
    phi: Numbers
    G: Numbers
    pushing: Numbers
    twisting: Numbers
    time_constant: float
    closed: bool
    efforts: Numbers = field(default_factory=lambda: np.zeros(0))
    norm: float = 1.0

    @property
    def name(self) -> str:
        """Of its loads: that of the loop, or ``gear.NAME``."""
        return f"gear.{self.of.name}" if isinstance(self.of, Gear) else self.of.name

    def decay(self, rate: Numbers) -> Numbers:
        """What Baumgarte's terms add to ``phi''`` (m): ``-2/T phi' - phi/T^2``; nothing without a time constant."""
        T = self.time_constant
        return np.zeros(len(self.phi)) if T == 0.0 else -2.0 / T * rate - self.phi / T**2


def closures(reader: Reader, at: Kinematics, u: Numbers, p: Numbers) -> list[Closure]:
    """All loops of a model, open ones too, with its bodies ``at`` their places."""
    table, instants = reader.ports, []
    for loop in reader.model.loops:
        stem = f"loop.{loop.name}"
        closed = bool(u[table.by_name[f"{stem}.closed"].offset] > 0.0) if loop.switchable else loop.closed
        length = None if loop.distance is None else float(p[table.by_name[f"{stem}.distance"].offset])
        phi, G, pushing, twisting = errors(loop.rows, length, *sides(reader, at, loop))
        time_constant = float(p[table.by_name[f"{stem}.time_constant"].offset])
        instants.append(Closure(loop, phi, G, pushing, twisting, time_constant, closed))
    return instants


def sides(reader: Reader, at: Kinematics, loop: Loop) -> tuple[Frame, Frame]:
    """The loop frames of a and b."""

    def frame(side: Side) -> Frame:
        body = ROOT if side.body == INERTIAL else reader.model.index[side.body]
        return at.site(body, side.node).placed(np.array(side.at), rotation(np.array(side.frame)))

    return frame(loop.a), frame(loop.b)


def errors(rows: Rows, length: float | None, a: Frame, b: Frame) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """``phi`` (m), ``G`` (m, n), and matrices (3, m) of force and torque of `Closure`, for ``rows`` or a distance."""
    d, R = a.C.T @ (b.r - a.r), a.C.T @ b.C
    d_rate = R @ b.J[3:] - a.J[3:] + cross_matrix(d) @ a.J[:3]
    W = R @ b.J[:3] - a.J[:3]
    if length is not None:
        along = d / length
        phi = np.array([(d @ d - length**2) / (2.0 * length)])
        return phi, (along @ d_rate)[None], along[:, None], np.zeros((3, 1))
    turning, moving = [row - 1 for row in rows if row <= 3], [row - 4 for row in rows if row > 3]
    turned, twist = _turned(R, turning) if turning else (np.zeros(0), np.zeros((0, 3)))
    phi, G = np.concatenate([turned, d[moving]]), np.concatenate([twist @ W, d_rate[moving]])
    pushing, twisting = np.zeros((3, len(rows)), dtype=R.dtype), np.zeros((3, len(rows)), dtype=R.dtype)
    twisting[:, : len(turning)] = twist.T
    pushing[moving, np.arange(len(turning), len(rows))] = 1.0
    return phi, G, pushing, twisting


def _turned(R: Numbers, rows: list[int]) -> tuple[Numbers, Numbers]:
    """Angles (m) by which the axes ``rows`` of a are turned against b, without the complex part of R, and the matrix
    (m, 3) that makes what is held of the relative angular velocity W, a's axes.

    Of a hinge W along b's axis is free: what is held lies along the axes of a after they have been turned, by the
    shortest way, to where b's axis is theirs. Of lines at a right angle W is held along what is normal to both.
    """
    unit = np.eye(3)
    if len(rows) == 3:
        from scipy.spatial.transform import Rotation

        return Rotation.from_matrix(np.real(R)).as_rotvec(), unit
    if len(rows) == 2:
        (third,) = {0, 1, 2} - set(rows)
        normal, cosine = np.cross(unit[third], R[:, third]), R[third, third]
        if abs(1.0 + cosine) < OPPOSED:  # either way is as good
            return np.pi * unit[rows[0]][rows], unit[rows] * [[1.0], [-1.0]]
        sine = float(np.linalg.norm(np.real(normal)))
        angle = np.arctan2(sine, np.real(cosine)) / sine if sine else 1.0
        turn = cross_matrix(normal)
        aligned = np.eye(3) + turn + turn @ turn / (1.0 + cosine)
        return angle * np.real(normal)[rows], aligned[:, rows].T
    j, k = (rows[0] + 1) % 3, (rows[0] + 2) % 3
    normal = np.cross(unit[j], R[:, k])
    size = np.sqrt(normal @ normal)
    angle = -np.arctan2(np.real(R[j, k]), np.real(size))
    return np.array([angle]), (normal / size if abs(size) ** 2 > OPPOSED else unit[rows[0]])[None]


def closed_rows(loops: list[Closure]) -> NDArray[np.bool_]:
    """Which of all loops' rows belong to closed ones."""
    return np.array([closure.closed for closure in loops for _ in closure.phi], dtype=np.bool_)
