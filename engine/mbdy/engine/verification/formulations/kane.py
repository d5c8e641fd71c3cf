"""Kane's matrix form of the equations of motion, with partial velocity matrices.

E. T. Stoneking, "Implementation of Kane's Method for a Spacecraft Composed of Multiple Rigid Bodies", AIAA 2013-4649.
Equations and steps are numbered as there; Table 1 is `Assembly`. Where the paper has rotary joints below one floating
body, the general joint asks for more, in the same notation:

- Translations of a joint come before its rotations and carry partial velocities Delta, fixed in the inner body; their
  share of the remainder acceleration is Coriolis' ``2 w x Delta s``.
- Any body may join to N. A floating root's translation is that of its origin, not of its mass centre.
- A wheel leaves ``I - J a a^T`` to its body, adds ``a h`` to its angular momentum and ``-a tau`` to its torque.
- Gears hold sums of the speeds (`geared`).
- An ``attitude`` root is the floating one, with gravity left out; the system's mass centre has its own acceleration.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from mbdy.engine.model.system import Model
from mbdy.engine.model.topology import ROOT
from mbdy.engine.verification.formulations.dense import solved
from mbdy.engine.verification.formulations.forces import joint_efforts, resultant, rotors, wheel_torques
from mbdy.engine.verification.formulations.reader import Reader
from mbdy.engine.verification.formulations.values import (
    Array,
    Derivatives,
    Part,
    axis_rotation,
    cross,
    cross_matrix,
    turn,
)

SOURCE = "E. T. Stoneking, Implementation of Kane's Method (AIAA GNC 2013), Eqs. 20-49 and Table 1"

RANK = 1e-9
"""Singular values of gears' rows of norm 1 below this are of rows that repeat others."""


def derivatives(model: Model) -> Derivatives:
    """``x' = f(x, u, p)`` of ``model`` by Kane's equations."""
    reader = Reader(model)

    def evaluate(x: Array, u: Array, p: Array) -> Array:
        assembly = Assembly(reader, x, u, p)
        return assembly.rates(geared(assembly, u, p) if reader.model.gears else assembly.solution())

    return evaluate


def geared(assembly: Assembly, u: Array, p: Array) -> Array:
    """``u'`` where gears hold ``c . u' = -2/T c . u - (c . q - offset) / T^2``: ``u' = u0' + B z``, B being what the
    gears and what is fixed leave, and ``B^T COEF B z = B^T (RHS - COEF u0')`` (Eq. 46, speeds constrained)."""
    model, table = assembly.reader.model, assembly.reader.ports
    rows, wanted = [*np.eye(len(assembly.known))[assembly.fixed]], [*assembly.known[assembly.fixed]]
    for gear in model.gears:
        name = f"gear.{gear.name}"
        factor, offset, time = (
            p[table.by_name[f"{name}.{what}"].places] for what in ("factor", "offset", "time_constant")
        )
        if not (u[table.by_name[f"{name}.closed"].offset] > 0 if gear.switchable else gear.closed):
            continue
        row, gap, size = np.zeros(len(assembly.known)), -offset[0], float(np.linalg.norm(factor))
        for c, freedom in zip(factor, model.freedoms(gear), strict=True):
            j = model.index[freedom.body]
            row[assembly.columns[j].start + freedom.place] = c
            gap += c * assembly.parts[j].motion.q[freedom.place]
        decay = 1.0 / time[0] if time[0] else 0.0
        rows.append(row / size)
        wanted.append((-2.0 * decay * row @ assembly.speeds - decay**2 * gap) / size)
    if not rows:
        return assembly.solution()
    left, sizes, right = np.linalg.svd(np.array(rows))
    rank = int(np.sum(sizes > RANK))
    given = right[:rank].T @ ((left[:, :rank].T @ np.array(wanted)) / sizes[:rank])
    B, COEF = right[rank:].T, assembly.COEF
    free = np.zeros(B.shape[1], dtype=np.bool_)
    return given + B @ solved(B.T @ COEF @ B, B.T @ (assembly.RHS - COEF @ given), free, np.zeros(B.shape[1]))


class Assembly:
    """Kane's equations at one instant: ``COEF u' = RHS`` (Eq. 46).

    Bodies stand as in the model; ``columns`` has the place of each one's generalized speeds in ``u``. ``fixed`` says
    which are prescribed or locked, ``known`` what their accelerations are.
    """

    def __init__(self, reader: Reader, x: Array, u: Array, p: Array) -> None:
        self.reader = reader
        self.parts: list[Part] = reader.parts(x, u, p)
        self.parent = reader.tree.parent
        self.minimum = any(b.joint.kind == "attitude" for b in reader.model.bodies)
        self.gravity = reader.gravity(u)
        ends = np.cumsum([0, *(b.joint.n_u for b in reader.model.bodies)]).tolist()
        self.columns = [slice(a, b) for a, b in pairwise(ends)]
        self.speeds = np.concatenate([part.motion.u for part in self.parts])
        self.fixed: NDArray[np.bool_] = np.concatenate([part.given.fixed for part in self.parts])
        self.known = np.concatenate([part.given.acceleration for part in self.parts])

        self.partials = [joint_partials(part) for part in self.parts]
        self._place_bodies()
        self._partial_velocities()
        self._remainder_accelerations()
        self._assemble()

    def solution(self) -> Array:
        """``u'`` of Eq. (46) as it is."""
        return solved(self.COEF, self.RHS, self.fixed, self.known)

    def _place_bodies(self) -> None:
        """Matrices C to N, mass centres p, joints G and partials of slides Delta, all in N.

        A floating root stands at zero: the equations do not depend on where it is, and rounding would.
        """
        n = len(self.parts)
        self.C, self.centre, self.joint = np.zeros((n, 3, 3)), np.zeros((n, 3)), np.zeros((n, 3))
        self.slides: list[Array] = [np.zeros((3, 0))] * n
        for o in self.reader.tree.outward:
            constants, motion, i = self.parts[o].constants, self.parts[o].motion, self.parent[o]
            inner, origin = np.eye(3), np.zeros(3)
            if i != ROOT:
                inner = self.C[i]
                origin = self.centre[i] - inner @ self.parts[i].constants.com
            frame = inner @ constants.frame
            self.slides[o] = frame @ constants.translations.T
            self.joint[o] = origin + inner @ constants.at
            if not motion.joint.floating:
                self.joint[o] += self.slides[o] @ motion.slides
            self.C[o] = frame @ turn(self.parts[o])
            self.centre[o] = self.joint[o] + self.C[o] @ constants.com

    def _partial_velocities(self) -> None:
        """Omega (Eq. 48) and V (Eq. 49) by inspection: row j traces the path from the root to body j."""
        n = len(self.parts)
        self.Omega, self.V = np.zeros((n, 3, len(self.speeds))), np.zeros((n, 3, len(self.speeds)))
        for j in range(n):
            for k in self.reader.tree.path(j):
                begin, end = self.columns[k].start, self.columns[k].stop
                turning = begin + self.slides[k].shape[1]
                Gamma, _ = self.partials[k]
                r_jk = self.joint[k] - self.centre[j]
                in_N = self.C[k] @ Gamma
                self.Omega[j][:, turning:end] = self.C[j].T @ in_N
                self.V[j][:, turning:end] = cross_matrix(r_jk) @ in_N
                self.V[j][:, begin:turning] = self.slides[k]
        self.omega: Array = self.Omega @ self.speeds  # Eq. 31

    def _remainder_accelerations(self) -> None:
        """alpha_r (Eq. 36) and a_r (Eq. 37), components in N."""
        n = len(self.parts)
        self.alpha_r, self.a_r = np.zeros((n, 3)), np.zeros((n, 3))
        for o in self.reader.tree.outward:
            motion, i = self.parts[o].motion, self.parent[o]
            Gamma, Gamma_rate = self.partials[o]
            sigma = motion.turn_rates
            self.alpha_r[o] = self.C[o] @ (Gamma_rate @ sigma + cross(self.omega[o], Gamma @ sigma))
            r_ok = self.joint[o] - self.centre[o]
            if i != ROOT:
                omega_i = self.C[i] @ self.omega[i]
                r_ik = self.joint[o] - self.centre[i]
                self.alpha_r[o] += self.alpha_r[i]
                self.a_r[o] = self.a_r[i] + cross(omega_i, cross(omega_i, r_ik)) + cross(self.alpha_r[i], r_ik)
                self.a_r[o] += 2.0 * cross(omega_i, self.slides[o] @ motion.slide_rates)
            omega_o = self.C[o] @ self.omega[o]
            self.a_r[o] -= cross(omega_o, cross(omega_o, r_ok)) + cross(self.alpha_r[o], r_ok)

    def _assemble(self) -> None:
        """COEF and RHS (Eq. 42): every body's share, then the efforts at the joints."""
        n_u = len(self.speeds)
        self.COEF, self.RHS = np.zeros((n_u, n_u)), np.zeros(n_u)
        for j, part in enumerate(self.parts):
            constants, omega = part.constants, self.omega[j]
            Omega, V = self.Omega[j], self.V[j]
            F, T = resultant(part)
            F = self.C[j] @ F
            if not self.minimum:
                F = F + constants.mass * self.gravity
            inertia = constants.inertia
            momentum = np.zeros(3)
            for a, J, h, tau in zip(
                constants.spin_axes, constants.spins, part.motion.h, wheel_torques(part, omega), strict=True
            ):
                inertia = inertia - J * np.outer(a, a)
                momentum = momentum + a * h
                T = T - a * tau
            H = inertia @ omega + momentum
            self.COEF += Omega.T @ inertia @ Omega + constants.mass * V.T @ V
            self.RHS += Omega.T @ (T - inertia @ (self.C[j].T @ self.alpha_r[j]) - cross(omega, H))
            self.RHS += V.T @ (F - constants.mass * self.a_r[j])
            self.RHS[self.columns[j]] += joint_efforts(part)
            self._spin_rotors(j, part)

    def _spin_rotors(self, j: int, part: Part) -> None:
        """Rotors at a joint, beside their inner body i, which has their inertia: angular velocity ``n u`` about a."""
        for rotor in rotors(part):
            c, i, J, n = self.columns[j].start + rotor.place, self.parent[j], rotor.inertia, rotor.ratio
            self.COEF[c, c] += J * n**2
            if rotor.axis is None:
                continue
            along = J * n * rotor.axis @ self.Omega[i]
            self.COEF[c] += along
            self.COEF[:, c] += along
            self.RHS[c] -= J * n * rotor.axis @ (self.C[i].T @ self.alpha_r[i])
            self.RHS -= self.Omega[i].T @ cross(self.omega[i], J * n * self.speeds[c] * rotor.axis)

    def rates(self, u_rate: Array) -> Array:
        """``x'`` from the generalized accelerations: kinematic equations (Eqs. 43-45)."""
        q_rates, u_rates, h_rates = [], [], []
        for j, part in enumerate(self.parts):
            motion, accelerations = part.motion, u_rate[self.columns[j]]
            turning = motion.turn_rates
            if motion.joint.spherical:
                turning = quaternion_rate(motion.turns, turning)
            if motion.joint.kind == "attitude":
                accelerations = np.concatenate([self._mass_centre_acceleration(u_rate), accelerations[3:]])
            q_rates.append(np.concatenate([motion.slide_rates, turning]))
            u_rates.append(accelerations)
            h_rates.append(wheel_torques(part, self.omega[j]))
        return self.reader.derivatives(q_rates, u_rates, h_rates)

    def _mass_centre_acceleration(self, u_rate: Array) -> Array:
        """Of the whole system in N: the mean of the bodies' accelerations ``V u' + a_r`` (Eq. 39), and gravity."""
        masses = np.array([part.constants.mass for part in self.parts])
        accelerations = self.V @ u_rate + self.a_r
        return masses @ accelerations / masses.sum() + self.gravity


def joint_partials(part: Part) -> tuple[Array, Array]:
    """Gamma and its time derivative (Eqs. 23, 24), columns in outboard components.

    A column turns with the rotations that follow its own, so that its components change by ``-w_after x column``.
    """
    if part.motion.joint.spherical:
        return np.eye(3), np.zeros((3, 3))
    n = len(part.constants.rotations)
    Gamma, Gamma_rate = np.zeros((3, n)), np.zeros((3, n))
    after, omega_after = np.eye(3), np.zeros(3)
    for k in reversed(range(n)):
        axis = part.constants.rotations[k]
        Gamma[:, k] = after.T @ axis
        Gamma_rate[:, k] = -cross(omega_after, Gamma[:, k])
        omega_after = omega_after + Gamma[:, k] * part.motion.turn_rates[k]
        after = axis_rotation(axis, part.motion.turns[k]) @ after
    return Gamma, Gamma_rate


def quaternion_rate(q: Array, omega: Array) -> Array:
    """Eq. 43 for a quaternion w, x, y, z (the paper writes x, y, z, w); ``omega`` in outboard components."""
    w, x, y, z = q
    rows = np.array([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]])
    return 0.5 * rows @ omega
