"""The kernels of a flexible body: its inertia, the forces of its motion and modes, and their elimination.

The body's kinetic energy is ``T = 1/2 [V; eta']^T M(eta) [V; eta']``; all forces of its motion are derivatives of this
one expression, so that momentum and energy close exactly (equations.md, "Flexible bodies"; the elimination is that of
T. K. Ghosh and L. J. Quiocho, Development and evaluation of an Order-N formulation for multi-flexible body space
systems, Eqs. 4.2 to 4.4).
"""

from __future__ import annotations

import casadi as ca
import numpy as np
from casadi import DM, SX

from mbdy.engine.order_n import spatial
from mbdy.engine.order_n.constants import Modes, Structure
from mbdy.engine.order_n.kernels import kernel, symbols
from mbdy.engine.order_n.rigid_body import body_symbols, kind_name, n_forces

XYZ = range(3)


def flex(kind: Structure) -> Modes:
    """The modes of a flexible body."""
    assert kind.flex is not None
    return kind.flex


def inertia(kind: Structure, k: dict[str, SX], eta: SX) -> tuple[SX, SX]:
    """``M_rr`` (6, 6) and ``M_rf`` (6, m) of ``M(eta)``, about the body's origin; of a rigid one too."""
    if not kind.flex:
        return k["M"], SX(6, 0)
    data, m = flex(kind).flex, kind.modes
    coupling = DM(np.array(data.coupling))
    moving = SX(coupling[3:, :])
    moment = k["moment"] + moving @ eta
    if data.moment_second:
        bends = [DM(np.array(rows)) @ eta for rows in data.moment_second]
        moving += ca.horzcat(*bends).T
        moment += ca.vertcat(*(ca.dot(eta, bend) / 2 for bend in bends))
    turning = SX(coupling[:3, :])
    if data.gyroscopic:
        entries = np.array(data.gyroscopic)
        turning += ca.vertcat(*((DM(entries[:, :, axis]).T @ eta).T for axis in XYZ))
    tensor = spatial.symmetric(k["inertia"], 3)
    if data.inertia_first:
        for i in range(m):
            tensor += DM(np.array(data.inertia_first[i])) * eta[i]
    if data.inertia_second:
        second = np.array(data.inertia_second)
        for row in XYZ:
            for column in range(row, 3):
                added = ca.dot(eta, DM(second[:, :, row, column]) @ eta) / 2
                tensor[row, column] += added
                if row != column:
                    tensor[column, row] += added
    return spatial.inertia_matrix(k["mass"], moment, tensor), ca.vertcat(turning, moving)


def modal_mass(kind: Structure) -> DM:
    """``M_ff`` (m, m), without the zeros it may have."""
    return ca.sparsify(DM(np.array(flex(kind).flex.mass)))


def elastic(kind: Structure, k: dict[str, SX]) -> tuple[SX, SX]:
    """Stiffness and damping (m, m) from the body's constants."""
    matrices = []
    for name, coupled in zip(("flex_stiffness", "flex_damping"), flex(kind).coupled, strict=True):
        matrices.append(spatial.symmetric(k[name], kind.modes) if coupled else ca.diag(k[name]))
    return matrices[0], matrices[1]


def kinetic(kind: Structure, k: dict[str, SX], eta: SX, eta_rate: SX, V: SX) -> tuple[SX, SX, SX]:
    """Kinetic energy without wheels, and the momenta ``dT/dV`` (6) and ``dT/d eta'`` (m)."""
    M_rr, M_rf = inertia(kind, k, eta)
    of_body = M_rr @ V + M_rf @ eta_rate
    of_modes = M_rf.T @ V + modal_mass(kind) @ eta_rate
    return (ca.dot(V, of_body) + ca.dot(eta_rate, of_modes)) / 2, of_body, of_modes


def deform(kind: Structure) -> ca.Function:
    """First sweep, of external ``forces`` (at the mass centre first).

    M_rr (``M``, 21), M_rf (``B``, 6, m), bias forces ``p`` (6) and ``p_f`` (m) of motion and modes, and what the force
    and torque at the mass centre make of body (``push``, 6) and modes (``modal_push``, m). The force is spread over the
    body as its mass is, the torque acts on its frame.
    """
    m = kind.modes
    inputs, k, eta, eta_rate, V, forces = body_symbols(kind, eta=m, eta_rate=m, V=6, forces=n_forces(kind))
    M_rr, M_rf = inertia(kind, k, eta)
    energy, of_body, of_modes = kinetic(kind, k, eta, eta_rate, V)
    stiffness, damping = elastic(kind, k)
    p_r = spatial.cross_force(V, of_body) + ca.jtimes(of_body, eta, eta_rate)
    p_f = ca.jtimes(of_modes, eta, eta_rate) - ca.gradient(energy, eta) + stiffness @ eta + damping @ eta_rate
    f, n = forces[:3], forces[3:6]
    centre = spatial.first_moment(M_rr) / k["mass"]
    push = ca.vertcat(n + ca.cross(centre, f), f)
    modal_push = M_rf[3:, :].T @ f / k["mass"]
    outputs = {"M": spatial.upper(M_rr), "B": M_rf, "p": p_r, "p_f": p_f, "push": push, "modal_push": modal_push}
    return kernel(f"deform_{kind_name(kind)}", inputs, {name: ca.densify(value) for name, value in outputs.items()})


def exert(kind: Structure) -> ca.Function:
    """``power`` of ``push`` (6) and ``modal_push`` (m) on a body that has the velocity ``drift`` (3) beside V, and of
    the damping of its modes."""
    inputs, k, V, drift, eta_rate, push, modal_push = body_symbols(
        kind, V=6, drift=3, eta_rate=kind.modes, push=6, modal_push=kind.modes
    )
    _, damping = elastic(kind, k)
    power = ca.dot(push[:3], V[:3]) + ca.dot(push[3:], V[3:] + drift)
    power += ca.dot(modal_push - damping @ eta_rate, eta_rate)
    return kernel(f"exert_{kind_name(kind)}", inputs, {"power": power})


def condense(kind: Structure, leaf: bool, loops: bool) -> ca.Function:
    """Second sweep, with P (21), coupling B (6, m) and modal inertia F (triangle) of what hangs on nodes (``_below``)
    unless a ``leaf``.

    ``P_joint`` (21) and ``p_joint`` (6) of the body with its modes eliminated, ``g = F^-1 B^T`` (m, 6) and
    ``t = -F^-1 p_f`` (m) with F and B of all; also ``inverse``, F^-1 (m, m), where there are ``loops``.
    """
    m = kind.modes
    inputs, below = symbols(M=21, B=(6, m), p=6, p_f=m), symbols(P_below=21, B_below=(6, m), F_below=m * (m + 1) // 2)
    (M_rr, M_rf, p, p_f), (P_below, B_below, F_below) = inputs.values(), below.values()
    F, B, P = SX(modal_mass(kind)), M_rf, spatial.symmetric(M_rr, 6)
    if not leaf:
        F, B, P = F + spatial.symmetric(F_below, m), B + B_below, P + spatial.symmetric(P_below, 6)
        inputs |= below
    rhs = [B.T, -p_f, *([SX.eye(m)] if loops else [])]
    solved = spatial.solve_ldl(ca.densify(F), ca.densify(ca.horzcat(*rhs)))
    g, t = solved[:, :6], solved[:, 6]
    outputs = {"P_joint": spatial.upper(P - B @ g), "p_joint": p + B @ t, "g": g, "t": t}
    outputs |= {"inverse": solved[:, 7:]} if loops else {}
    return kernel(f"condense_{kind_name(kind, leaf, loops)}", inputs, outputs)


def swing(modes: int) -> ca.Function:
    """Third sweep: eta'' from g (m, 6), t (m) and A of the body."""
    inputs = symbols(g=(modes, 6), t=modes, A=6)
    g, t, A = inputs.values()
    return kernel(f"swing_{modes}", inputs, {"modal_rate": t - g @ A})
