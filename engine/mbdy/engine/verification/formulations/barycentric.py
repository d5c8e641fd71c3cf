"""The augmented-body form: Eq. (5) of a system of hinge-connected bodies about a floating reference body.

G. E. Fleischer and P. W. Likins, "Attitude Dynamics Simulation Subroutines for Systems of Hinge-Connected Rigid
Bodies", JPL Technical Report 32-1592, 1974. Definitions and equations are numbered as there. The mass centre of a
body augmented by the branches it carries is its barycenter; vectors D from barycenters and the path elements epsilon
make n + 3 equations for the reference body's angular acceleration and n hinge accelerations, and no others.

How a model is put into the report's terms:

- The report's frames are all parallel where every hinge angle is zero. So each body's vectors are first turned by the
  `frame`s on its path (`Hinges.aligned`); its hinge axis ``g`` and position vectors ``p`` then are the report's.
- A hinge is one rotation. Joints of two or three rotations are hinges of massless, inertialess bodies, whose points
  coincide; a fixed joint is a hinge prescribed to stay at zero.
- Eq. (5) says nothing of translation. A ``free`` reference body's origin follows from the mass centre theorem and the
  vectors D (they lead from the system's mass centre to every body's). Uniform gravity moves the mass centre alone.
- In the text at hand, Eqs. (6) and (7) print ``g~ g^2`` where a rotation has ``g g^T``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mbdy.engine.model.system import INERTIAL, Model
from mbdy.engine.model.topology import ROOT, Tree
from mbdy.engine.verification.formulations.dense import solved
from mbdy.engine.verification.formulations.forces import joint_efforts, resultant, rotors
from mbdy.engine.verification.formulations.reader import Reader
from mbdy.engine.verification.formulations.values import Array, Derivatives, Part, axis_rotation, rigid_trees, rotation

SOURCE = "G. E. Fleischer and P. W. Likins, JPL TR 32-1592 (1974), Definitions 3-36 and Eqs. 1-7"
FIXED_AXIS = np.array([0.0, 0.0, 1.0])
"""Of the hinge that stands for a fixed joint, and never turns."""


def uncovered(model: Model) -> tuple[str, ...]:
    """What of ``model`` lies outside the report: all but hinges below one floating reference body."""
    said = [*rigid_trees(model)]
    for body in model.bodies:
        joint = body.joint
        if joint.to == INERTIAL and not joint.floating:
            said.append(f"body {body.name!r} joins inertial by a {joint.kind} joint; the reference body must float")
        elif joint.translations and not joint.floating:
            said.append(f"the joint of {body.name!r} has translations; a hinge only turns")
        elif joint.spherical and not joint.floating:
            said.append(f"the joint of {body.name!r} is spherical; a hinge turns about one axis")
        if joint.floating and any(motion != "free" for motion in joint.motion):
            said.append(f"the motion of the reference body {body.name!r} can be prescribed; only that of hinges can")
        if joint.rotor_axis:
            said.append(f"rotors at the joint of {body.name!r} spin on their carrier")
        if body.wheels:
            said.append(f"body {body.name!r} has wheels ({', '.join(body.wheels)}); there are hinged bodies only")
    floating = [body.name for body in model.bodies if body.joint.floating]
    if len(floating) > 1:
        said.append(f"several bodies float ({', '.join(floating)}); there is one reference body")
    return tuple(said)


def derivatives(model: Model) -> Derivatives:
    """``x' = f(x, u, p)`` of a model that is covered, by Eq. (5)."""
    reader = Reader(model)
    plan = plan_of(reader)

    def evaluate(x: Array, u: Array, p: Array) -> Array:
        parts = reader.parts(x, u, p)
        hinges = hinges_of(plan, reader, parts)
        return _rates(plan, reader, parts, hinges, Equation(hinges), reader.gravity(u))

    return evaluate


@dataclass(frozen=True)
class Plan:
    """Which of the report's bodies are whose: label 0 is the reference body, labels rise outward (Def. 3).

    ``inboard`` (n + 1) has each one's inboard body; ``whole[b]`` is the label of the model's body ``b`` itself, and
    ``labels[b]`` those of its joint's hinges, the last of which is the body.
    """

    model: Model
    order: tuple[int, ...]
    inboard: tuple[int, ...]
    labels: tuple[tuple[int, ...], ...]
    whole: tuple[int, ...]
    epsilon: Array
    """Path elements (n + 1, n + 1) of Def. 19: 1 where hinge s (row) lies between body 0 and body k (column)."""


def plan_of(reader: Reader) -> Plan:
    """The hinges that bodies have: a joint of several degrees of freedom is a row of them, with bodies between."""
    inboard: list[int] = []
    labels: dict[int, tuple[int, ...]] = {}
    for b in reader.tree.outward:
        joint, parent = reader.model.bodies[b].joint, reader.tree.parent[b]
        below = -1 if parent == ROOT else labels[parent][-1]
        count = 1 if joint.floating else max(1, len(joint.rotations))
        labels[b] = tuple(range(len(inboard), len(inboard) + count))
        inboard += [below, *labels[b][:-1]]
    paths = Tree(tuple(inboard))
    epsilon = np.zeros((len(inboard), len(inboard)))
    for k in range(len(inboard)):
        epsilon[list(paths.path(k)), k] = 1.0
    ordered = tuple(labels[b] for b in range(len(labels)))
    return Plan(
        reader.model, reader.tree.outward, tuple(inboard), ordered, tuple(hinges[-1] for hinges in ordered), epsilon
    )


@dataclass
class Hinges:
    """The report's data at an instant (Defs. 6-17), every component in the basis of the reference body.

    ``C`` (n + 1, 3, 3) are matrices C^{0k}; ``L`` (n + 1, n + 1, 3) has vectors ``L^{kj}`` of Def. 23; ``g``, ``rate``
    (gamma-dot) and ``tau`` belong to hinges 1..n.
    """

    epsilon: Array
    mass: Array
    inertia: Array
    C: Array
    L: Array
    g: Array
    rate: Array
    tau: Array
    omega: Array
    force: Array
    torque: Array
    fixed: NDArray[np.bool_]
    known: Array
    reflected: Array
    """(n) [kg.m2] Inertias of rotors as hinges feel them."""


def hinges_of(plan: Plan, reader: Reader, parts: list[Part]) -> Hinges:
    """The numbers of a plan at an instant."""
    n = len(plan.inboard)
    zeros = np.zeros((n, 3))
    mass, inertia, C = np.zeros(n), np.zeros((n, 3, 3)), np.zeros((n, 3, 3))
    g, rate, tau = zeros.copy(), np.zeros(n), np.zeros(n)
    force, torque = zeros.copy(), zeros.copy()
    fixed, known, reflected = np.zeros(n, dtype=np.bool_), np.zeros(n), np.zeros(n)
    out, back = np.zeros((n, n, 3)), zeros.copy()  # p^{kj} of Def. 10: from c_k to an outer hinge, and to the inner one
    aligned: dict[int, Array] = {ROOT: np.eye(3)}
    for b in plan.order:
        part, parent = parts[b], reader.tree.parent[b]
        constants, last = part.constants, plan.whole[b]
        # Components of the body to those that are the reference body's where all angles are zero.
        N = aligned[b] = aligned[parent] @ constants.frame
        if parent == ROOT:
            C[0] = np.eye(3)
        else:
            at = aligned[parent] @ (constants.at - parts[parent].constants.com)
            out[plan.whole[parent], plan.labels[b][0]] = at
            for i, k in enumerate(plan.labels[b]):
                axis, angle = FIXED_AXIS, 0.0
                if part.motion.joint.n_u:
                    axis, angle, rate[k] = constants.rotations[i], part.motion.turns[i], part.motion.turn_rates[i]
                    fixed[k], known[k] = part.given.fixed[i], part.given.acceleration[i]
                    tau[k] = joint_efforts(part)[i]
                else:
                    fixed[k] = True
                reflected[k] = sum(rotor.inertia * rotor.ratio**2 for rotor in rotors(part) if rotor.place == i)
                g[k] = N @ axis
                C[k] = C[plan.inboard[k]] @ axis_rotation(g[k], angle)  # Eq. (7)
        mass[last], inertia[last] = constants.mass, N @ constants.inertia @ N.T
        back[last] = -N @ constants.com
        applied, couple = resultant(part)
        force[last], torque[last] = N @ applied, N @ couple
    L = _toward(plan, out, back)
    rotated = C @ inertia @ C.transpose(0, 2, 1)
    g = np.einsum("kab,kb->ka", C, g)
    omega = parts[plan.order[0]].motion.turn_rates + np.einsum("sk,s,sa->ka", plan.epsilon, rate, g)
    return Hinges(
        epsilon=plan.epsilon[1:],
        mass=mass,
        inertia=rotated,
        C=C,
        L=np.einsum("kab,kjb->kja", C, L),
        g=g[1:],
        rate=rate[1:],
        tau=tau[1:],
        omega=omega,
        force=np.einsum("kab,kb->ka", C, force),
        torque=np.einsum("kab,kb->ka", C, torque),
        fixed=fixed[1:],
        known=known[1:],
        reflected=reflected[1:],
    )


def _toward(plan: Plan, out: Array, back: Array) -> Array:
    """Def. 23: ``L^{kj}`` leads from c_k to the hinge of body k toward body j, an outer one or the inner one."""
    n = len(plan.inboard)
    L = np.repeat(back[:, None], n, axis=1)
    L[np.arange(n), np.arange(n)] = 0.0
    for j in range(1, n):
        k = plan.inboard[j]
        L[k, plan.epsilon[j] > 0] = out[k, j]
    return L


class Equation:
    """Eq. (5): ``coefficients @ [omega0', gamma1'', ..., gamman''] = right``."""

    def __init__(self, of: Hinges) -> None:
        M, m, omega, epsilon, g = of.mass.sum(), of.mass, of.omega, of.epsilon, of.g
        n = len(m)
        every = np.arange(n)
        # Defs. 24 and 26 in one, D^{kj} = L^{kj} - sum of L^{ki} m_i / M: equal vectors cancel before they are weighed,
        # so that a light body's vectors keep their digits beside a heavy system.
        D = np.array([np.einsum("jia,i->ja", L[:, None] - L[None], m) for L in of.L]) / M
        self.D = D
        D_other = D.transpose(1, 0, 2)  # D^{jk} at [k, j]
        scalar = np.einsum("kja,kja->kj", D, D_other)
        # Def. 28 for j other than k. Its dyadic D^{jk} D^{kj} has the vector of body j first.
        Phi = -M * (scalar[..., None, None] * np.eye(3) - np.einsum("kja,kjb->kjab", D_other, D))
        # Def. 27. The branches' particles, summed over neighbours there, are here the bodies they are made of.
        square = np.einsum("kja,kja->kj", D, D)
        spread = square[..., None, None] * np.eye(3) - np.einsum("kja,kjb->kjab", D, D)
        Phi[every, every] = of.inertia + np.einsum("j,kjab->kab", m, spread)
        self.Phi = Phi

        # Def. 33, with the terms of D'' that have no acceleration (Eq. 2) and of omega' (Eq. 3).
        centripetal = np.cross(omega[None], np.cross(omega[None], D_other))  # at [k, j]: of D^{jk}, fixed in body j
        turning = np.einsum("sj,sa->ja", epsilon, of.rate[:, None] * np.cross(omega[1:], g))
        A = of.torque + np.cross(D, of.force[None]).sum(axis=1)
        A -= np.cross(omega, np.einsum("kab,kb->ka", Phi[every, every], omega))
        pull = np.cross(D, centripetal)
        pull[every, every] = 0.0
        A += M * pull.sum(axis=1)
        A -= np.einsum("kjab,jb->ka", Phi, turning)
        self.turning = turning

        # Defs. 29-32.
        path = epsilon[:, :, None] * g[:, None, :]  # epsilon_sj g^s at [s, j]
        columns = np.tensordot(Phi, path, axes=([1, 3], [1, 2]))  # at [k, :, s]
        self.coefficients = np.zeros((n + 2, n + 2))
        self.coefficients[:3, :3] = Phi.sum(axis=(0, 1))
        self.coefficients[:3, 3:] = columns.sum(axis=0)
        self.coefficients[3:, :3] = self.coefficients[:3, 3:].T
        self.coefficients[3:, 3:] = np.tensordot(path, columns, axes=([1, 2], [0, 1])) + np.diag(of.reflected)
        self.right = np.append(A.sum(axis=0), np.tensordot(path, A, axes=([1, 2], [0, 1])) + of.tau)


def _rates(plan: Plan, reader: Reader, parts: list[Part], of: Hinges, equation: Equation, gravity: Array) -> Array:
    """``x'`` from the solution of Eq. (5), rows and columns of prescribed hinges struck out, and the mass centre."""
    fixed, known = np.append([False] * 3, of.fixed), np.append(np.zeros(3), of.known)
    solution = solved(equation.coefficients, equation.right, fixed, known)
    q_rates, u_rates = [], []
    for part, labels in zip(parts, plan.labels, strict=True):
        motion = part.motion
        if not motion.joint.floating:
            q_rates.append(motion.u)
            u_rates.append(solution[[2 + k for k in labels]] if len(motion.u) else np.zeros(0))
            continue
        turn, omega, at_rest = rotation(motion.turns), motion.turn_rates, part.constants.com
        moved = of.force.sum(axis=0) / of.mass.sum()  # the mass centre theorem
        if motion.joint.kind == "free":
            moved = moved + _from_mass_centre(of, equation, solution)
            moved = moved - np.cross(solution[:3], at_rest) - np.cross(omega, np.cross(omega, at_rest))
        w, v = motion.turns[0], motion.turns[1:]
        quaternion_rate = 0.5 * np.append(-v @ omega, w * omega + np.cross(v, omega))
        q_rates.append(np.append(motion.slide_rates, quaternion_rate))
        u_rates.append(np.append(turn @ moved + gravity, solution[:3]))
    return reader.derivatives(q_rates, u_rates, [np.zeros(0)] * len(parts))


def _from_mass_centre(of: Hinges, equation: Equation, solution: Array) -> Array:
    """Acceleration of c_0 from the system's mass centre: of the sum of the vectors ``D^{k0}``, by Eqs. (2) and (3)."""
    D = equation.D[:, 0]
    omega_rate = solution[:3] + np.einsum("sk,s,sa->ka", of.epsilon, solution[3:], of.g) + equation.turning
    return (np.cross(omega_rate, D) + np.cross(of.omega, np.cross(of.omega, D))).sum(axis=0)
