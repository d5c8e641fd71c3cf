"""Lower-body arrays, partial velocity arrays and an orthogonal complement: ``a_lp y_p' = f_l`` under ``B y = g``.

R. L. Huston and C.-Q. Liu, "Advances in Computational Methods for Multibody System Dynamics", CMES 10(2), 2005, pp.
143-152. Equations and sections are numbered as there. Every body is given six degrees of freedom in its lower body
(section 4, the "even more general approach"): its generalized speeds ``y`` are three of translation and three of
relative angular velocity, both in the axes of the lower body. All derivatives are products with angular velocities
(section 3). What a joint does not allow is a constraint ``B y = 0``; the columns of what it allows make the
orthogonal complement C with ``B C = 0``. So ``y = C z``, and Eq. (54) gives ``z'``, rows and columns of specified
motion struck out.

A wheel is what it is in hardware, one body more: it takes the inertia ``J a a^T`` of its carrier, turns in it about
``a``, and its momentum ``J (W + a . w)`` follows from its speed and its carrier's. The paper has one body 1 in the
inertia frame.

Misprints of the text at hand, each found by the identity that it breaks:

- Eq. (25): ``S0K`` is ``S0J``, as in Table 2: the components are those of the lower body's axes.
- Eq. (28): element (1, 2) needs a minus for S to be orthogonal.
- Eq. (30): the factors 2 and 1/2 are exchanged.
- Eq. (31): the last row's first three elements need a minus for E to be orthogonal and Eq. (27) to last. E then goes
  with components of the angular velocity in the body's axes, not in those of R.
- Eq. (38): the second term in the bracket has ``y'``; it belongs to Eq. (37), where it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from mbdy.engine.model.system import INERTIAL, Model
from mbdy.engine.model.topology import ROOT
from mbdy.engine.verification.formulations.dense import solved
from mbdy.engine.verification.formulations.forces import joint_efforts, resultant, rotors, wheel_torques
from mbdy.engine.verification.formulations.reader import Reader
from mbdy.engine.verification.formulations.values import (
    Array,
    Derivatives,
    Part,
    axis_rotation,
    cross_matrix,
    rigid_trees,
)

SOURCE = "R. L. Huston and C.-Q. Liu, CMES 10(2) (2005), Eqs. 1-38 and 44-54"


def uncovered(model: Model) -> tuple[str, ...]:
    """What of ``model`` lies outside these arrays: flexible bodies, loops, more than one body in the inertia frame."""
    said = rigid_trees(model)
    said += tuple(
        f"rotors at the joint of {b.name!r} spin on their carrier" for b in model.bodies if b.joint.rotor_axis
    )
    roots = [body.name for body in model.bodies if body.joint.to == INERTIAL]
    if len(roots) < 2:
        return said
    return (*said, f"bodies {', '.join(map(repr, roots))} all join inertial; the paper has one body 1 there")


def derivatives(model: Model) -> Derivatives:
    """``x' = f(x, u, p)`` of a model that is covered, by Eqs. (37), (38) and (54)."""
    reader = Reader(model)

    def evaluate(x: Array, u: Array, p: Array) -> Array:
        system = System(reader, reader.parts(x, u, p), reader.gravity(u))
        return system.rates(reader, system.solution())

    return evaluate


@dataclass(frozen=True)
class Link:
    """Body B_k of the paper and its joint with its lower body B_j.

    ``point`` (3) leads from B_j's origin to its own and ``turn`` (3, 3) is SJK, both in the axes of B_j; so are the
    columns ``C`` (6, n) of the speeds ``z`` (n) that the joint allows, translations first, and their rate. ``mass``,
    ``com``, ``inertia``, and the applied ``force`` and ``torque`` about the mass centre are in its own axes;
    ``effort`` acts on each of ``z``, which are ``fixed`` at accelerations ``known``.
    """

    point: Array
    turn: Array
    C: Array
    C_rate: Array
    mass: float
    com: Array
    inertia: Array
    force: Array
    torque: Array
    z: Array
    effort: Array
    fixed: NDArray[np.bool_]
    known: Array
    reflected: Array
    """Inertias of rotors as each of ``z`` feels them."""


class System:
    """The arrays of sections 2 to 7 at an instant. Label 0 is the inertia frame R; wheels come after all bodies.

    ``label[b]`` is the label of the model's body b, ``wheels[b]`` those of its wheels.
    """

    def __init__(self, reader: Reader, parts: list[Part], gravity: Array) -> None:
        self.parts, self.gravity = parts, gravity
        self.minimum = any(part.body.joint.kind == "attitude" for part in parts)
        order = reader.tree.outward
        self.label = {b: k for k, b in enumerate(order, start=1)}
        lower = [0] + [0 if reader.tree.parent[b] == ROOT else self.label[reader.tree.parent[b]] for b in order]
        self.links = [link(parts[b]) for b in order]
        self._orient(lower)
        self.wheels: list[list[int]] = []
        for b, part in enumerate(parts):
            k, count = self.label[b], len(part.motion.h)
            self.wheels.append(list(range(len(lower), len(lower) + count)))
            self.links += wheel_links(part, self.S0[k].T @ self.omega[k])
            lower += [k] * count
        self._orient(lower)
        self._partial_velocities()
        self._dynamics()

    def _orient(self, lower: list[int]) -> None:
        """Matrices S0K (Eq. 23), origins, angular velocities (Eq. 4) and mass centres with their velocities, in R."""
        self.table = lower_body_arrays(lower)
        self.L = self.table[1] if len(self.table) > 1 else self.table[0]
        n = len(lower)
        self.S0, self.omega = np.zeros((n, 3, 3)), np.zeros((n, 3))
        self.origin, self.velocity = np.zeros((n, 3)), np.zeros((n, 3))
        self.centre, self.centre_velocity = np.zeros((n, 3)), np.zeros((n, 3))
        self.S0[0] = np.eye(3)
        for k, item in enumerate(self.links, start=1):
            j, y = self.L[k], item.C @ item.z
            S0J = self.S0[j]
            self.S0[k] = S0J @ item.turn
            self.omega[k] = self.omega[j] + S0J @ y[3:]
            arm, com = S0J @ item.point, self.S0[k] @ item.com
            self.origin[k] = self.origin[j] + arm
            self.velocity[k] = self.velocity[j] + np.cross(self.omega[j], arm) + S0J @ y[:3]
            self.centre[k] = self.origin[k] + com
            self.centre_velocity[k] = self.velocity[k] + np.cross(self.omega[k], com)

    def _partial_velocities(self) -> None:
        """The arrays ``w_klm`` and ``v_klm`` (Eqs. 16, 25, Table 2) and their derivatives (Eqs. 13, 17), as (k, l, m).

        A speed of body q moves every body k above it, those with ``q = L^p(k)``: the translations by its lower body's
        axes, the relative angular velocity by these and the arm from q's origin to the mass centre of k.
        """
        n = len(self.L)
        S0_rate = np.array([cross_matrix(w) for w in self.omega]) @ self.S0
        self.w, self.v = np.zeros((n, 6 * (n - 1), 3)), np.zeros((n, 6 * (n - 1), 3))
        self.w_rate, self.v_rate = np.zeros_like(self.w), np.zeros_like(self.v)
        for L_p in self.table:
            for k, q in enumerate(L_p):
                if q == 0:
                    continue
                sliding, turning = slice(6 * q - 6, 6 * q - 3), slice(6 * q - 3, 6 * q)
                axes, axes_rate = self.S0[self.L[q]].T, S0_rate[self.L[q]].T
                arm, arm_rate = self.centre[k] - self.origin[q], self.centre_velocity[k] - self.velocity[q]
                self.w[k, turning], self.w_rate[k, turning] = axes, axes_rate
                self.v[k, sliding], self.v_rate[k, sliding] = axes, axes_rate
                self.v[k, turning] = np.cross(axes, arm)
                self.v_rate[k, turning] = np.cross(axes_rate, arm) + np.cross(axes, arm_rate)

    def _dynamics(self) -> None:
        """``a_lp`` (Eq. 37) and ``f_l`` (Eq. 38), the complement C and its rate."""
        w, v = self.w[1:], self.v[1:]
        S0, links = self.S0[1:], self.links
        ends = np.cumsum([0, *(len(item.z) for item in links)]).tolist()
        self.columns = [slice(0, 0), *(slice(a, b) for a, b in pairwise(ends))]
        self.C, C_rate = np.zeros((6 * len(links), ends[-1])), np.zeros((6 * len(links), ends[-1]))
        for k, item in enumerate(links, start=1):
            self.C[6 * k - 6 : 6 * k, self.columns[k]] = item.C
            C_rate[6 * k - 6 : 6 * k, self.columns[k]] = item.C_rate
        z = np.concatenate([item.z for item in links])
        self.y, self.turned = self.C @ z, C_rate @ z
        self.mass = np.array([item.mass for item in links])
        inertia = S0 @ np.array([item.inertia for item in links]) @ S0.transpose(0, 2, 1)
        force = np.einsum("kmn,kn->km", S0, np.array([item.force for item in links]))
        if not self.minimum:
            force += self.mass[:, None] * self.gravity
        torque = np.einsum("kmn,kn->km", S0, np.array([item.torque for item in links]))

        def summed(left: Array, right: Array) -> Array:
            """``left_klm right_kpm``, or with ``right_km``, summed over bodies and components."""
            return np.tensordot(left, right, axes=([0, 2], [0, right.ndim - 1]))

        Iw = np.einsum("kmn,kpn->kpm", inertia, w)
        self.a = summed(v, self.mass[:, None, None] * v) + summed(w, Iw)
        spin = np.einsum("kpm,p->km", w, self.y)
        gyroscopic = np.cross(spin, np.einsum("kmn,kn->km", inertia, spin))
        self.remainder = np.einsum("kpm,p->km", self.v_rate[1:], self.y)
        turning = np.einsum("kmn,kpn,p->km", inertia, self.w_rate[1:], self.y)
        self.f = summed(v, force - self.mass[:, None] * self.remainder) + summed(w, torque - turning - gyroscopic)

    def solution(self) -> Array:
        """``z'`` of Eq. (54), ``C^T a C z' = C^T (f - a C' z)`` and the efforts at the joints."""
        links = self.links
        effort = np.concatenate([item.effort for item in links])
        reflected = np.diag(np.concatenate([item.reflected for item in links]))
        fixed, known = np.concatenate([item.fixed for item in links]), np.concatenate([item.known for item in links])
        return solved(
            self.C.T @ self.a @ self.C + reflected, self.C.T @ (self.f - self.a @ self.turned) + effort, fixed, known
        )

    def rates(self, reader: Reader, z_rate: Array) -> Array:
        """``x'``: Euler parameters by Eq. (30), wheels and, under an attitude root, the mass centre by Eq. (17)."""
        y_rate = self.C @ z_rate + self.turned
        acceleration = np.einsum("klm,l->km", self.v[1:], y_rate) + self.remainder
        angular = np.einsum("klm,l->km", self.w, y_rate) + np.einsum("klm,l->km", self.w_rate, self.y)
        q_rates, u_rates, h_rates = [], [], []
        for b, part in enumerate(self.parts):
            motion, k = part.motion, self.label[b]
            accelerations, turning = z_rate[self.columns[k]], motion.turn_rates
            if motion.joint.spherical:
                epsilon_rate = 0.5 * euler_matrix(parameters(motion.turns)) @ np.append(turning, 0.0)
                turning = epsilon_rate[[3, 0, 1, 2]]
            if motion.joint.kind == "attitude":
                centre = self.mass @ acceleration / self.mass.sum() + self.gravity
                accelerations = np.append(centre, accelerations[3:])
            q_rates.append(np.append(motion.slide_rates, turning))
            u_rates.append(accelerations)
            carried = part.constants.spin_axes @ (self.S0[k].T @ angular[k])
            spun = np.array([z_rate[self.columns[wheel]][0] for wheel in self.wheels[b]])
            h_rates.append(part.constants.spins * (spun + carried))
        return reader.derivatives(q_rates, u_rates, h_rates)


def lower_body_arrays(lower: list[int]) -> list[NDArray[np.intp]]:
    """``L^0(K), L^1(K), ...`` until all are 0 (Table 1), from ``L(K)``; both have R's 0 in front."""
    L = np.array(lower, dtype=np.intp)
    table = [np.arange(len(L), dtype=np.intp)]
    while table[-1].any():
        table.append(L[table[-1]])
    return table


def link(part: Part) -> Link:
    """A body of the model and its joint. A floating body's place and speed do not enter: R may be taken with it."""
    constants, motion, inputs = part.constants, part.motion, part.given
    nt, n = motion.joint.n_translations, motion.joint.n_u
    C, C_rate, z = np.zeros((6, n)), np.zeros((6, n)), motion.u.copy()
    C[:3, :nt] = constants.frame @ constants.translations.T
    point, turn = constants.at, constants.frame
    if motion.joint.floating:
        z[:3] = 0.0
    else:
        point = point + C[:3, :nt] @ motion.slides
    if motion.joint.spherical:
        turn = turn @ transformation(parameters(motion.turns))
        C[3:, nt:] = turn
        C_rate[3:, nt:] = cross_matrix(turn @ motion.turn_rates) @ turn
    else:
        relative = np.zeros(3)
        for i, (axis, angle) in enumerate(zip(constants.rotations, motion.turns, strict=True), start=nt):
            C[3:, i] = turn @ axis
            C_rate[3:, i] = np.cross(relative, C[3:, i])
            relative = relative + C[3:, i] * z[i]
            turn = turn @ axis_rotation(axis, angle)
    inertia = constants.inertia - np.einsum("w,wi,wj->ij", constants.spins, constants.spin_axes, constants.spin_axes)
    force, torque = resultant(part)
    reflected = np.zeros(n)
    for rotor in rotors(part):
        reflected[rotor.place] += rotor.inertia * rotor.ratio**2
    return Link(
        point, turn, C, C_rate, constants.mass, constants.com, inertia, force, torque,
        z, joint_efforts(part), inputs.fixed, inputs.acceleration, reflected,
    )  # fmt: skip


def wheel_links(part: Part, omega: Array) -> list[Link]:
    """A body's wheels, each at the angle zero (it does not matter), from its angular velocity ``omega``, own axes."""
    constants, zero, still = part.constants, np.zeros(3), np.zeros(1)
    links, torques = [], wheel_torques(part, omega)
    for J, a, h, tau in zip(constants.spins, constants.spin_axes, part.motion.h, torques, strict=True):
        C = np.append(zero, a)[:, None]
        z = np.array([h / J - a @ omega])
        links.append(Link(
            zero, np.eye(3), C, np.zeros((6, 1)), 0.0, zero, J * np.outer(a, a), zero, zero,
            z, np.array([tau]), np.zeros(1, dtype=np.bool_), still, still,
        ))  # fmt: skip
    return links


def parameters(quaternion: Array) -> Array:
    """Euler parameters, the scalar last (Eq. 26), of a quaternion w, x, y, z."""
    return quaternion[[1, 2, 3, 0]]


def transformation(epsilon: Array) -> Array:
    """S of Eq. (28), element (1, 2) corrected; for parameters of any norm."""
    e1, e2, e3, e4 = epsilon
    S = np.array([
        [e1 * e1 - e2 * e2 - e3 * e3 + e4 * e4, 2 * (e1 * e2 - e3 * e4), 2 * (e1 * e3 + e2 * e4)],
        [2 * (e1 * e2 + e3 * e4), -e1 * e1 + e2 * e2 - e3 * e3 + e4 * e4, 2 * (e2 * e3 - e1 * e4)],
        [2 * (e1 * e3 - e2 * e4), 2 * (e2 * e3 + e1 * e4), -e1 * e1 - e2 * e2 + e3 * e3 + e4 * e4],
    ])  # fmt: skip
    return S / (epsilon @ epsilon)


def euler_matrix(epsilon: Array) -> Array:
    """E of Eq. (31), its last row corrected: parameter rates are ``E/2 [w, 0]``, w in the body's axes."""
    e1, e2, e3, e4 = epsilon
    return np.array([[e4, -e3, e2, -e1], [e3, e4, -e1, -e2], [-e2, e1, e4, -e3], [-e1, -e2, -e3, -e4]])
