"""One body's share of the dense method's sweeps, as CasADi functions (``dense.py``)."""

from __future__ import annotations

import casadi as ca
from casadi import SX

from mbdy.engine.order_n import nodes as seats
from mbdy.engine.order_n import rigid_body as kernels
from mbdy.engine.order_n import spatial
from mbdy.engine.order_n.constants import Structure


def rest() -> ca.Function:
    """In: E, r, c, A of what the joint sits on. Out: A of the body, its joint without acceleration."""
    E, r, c, A = SX.sym("E", 3, 3), SX.sym("r", 3), SX.sym("c", 6), SX.sym("A", 6)
    return ca.Function("rest", [E, r, c, A], [spatial.to_child(E, r, A) + c])


def rigid_force(kind: Structure) -> ca.Function:
    """In: k, p, A. Out: p + M A."""
    symbol, k = kernels.constants(kind)
    p, A = SX.sym("p", 6), SX.sym("A", 6)
    return ca.Function(f"rigid_force_{kernels.kind_name(kind)}", [symbol, p, A], [p + k["M"] @ A])


def flexible_force(modes: int) -> ca.Function:
    """In: M (21), B (6, m), p, p_f, A. Out: p + M A, p_f + B' A."""
    M, B, p, p_f, A = SX.sym("M", 21), SX.sym("B", 6, modes), SX.sym("p", 6), SX.sym("pf", modes), SX.sym("A", 6)
    outputs = [p + spatial.symmetric(M, 6) @ A, p_f + B.T @ A]
    return ca.Function(f"flexible_force_{modes}", [M, B, p, p_f, A], outputs)


def joint_force(kind: Structure, subspace: str) -> ca.Function:
    """In: E, r, S, tau, f. Out: tau - S' f, and f on what the joint sits on."""
    E, r, S = SX.sym("E", 3, 3), SX.sym("r", 3), _symbol(subspace)
    tau, f = SX.sym("tau", kind.form.n_u), SX.sym("f", 6)
    outputs = [ca.densify(tau - S.T @ f), spatial.force_to_parent(E, r, f)]
    return ca.Function(f"joint_force_{kernels.kind_name(kind)}", [E, r, S, tau, f], outputs)


def rigid_inertia(kind: Structure) -> ca.Function:
    """In: k. Out: M (21)."""
    symbol, k = kernels.constants(kind)
    return ca.Function(f"rigid_inertia_{kernels.kind_name(kind)}", [symbol], [ca.densify(spatial.upper(k["M"]))])


def to_parent() -> ca.Function:
    """In: E, r, inertia (21). Out: the same about what the joint sits on."""
    E, r, own = SX.sym("E", 3, 3), SX.sym("r", 3), SX.sym("I", 21)
    moved = spatial.inertia_to_parent(E, r, spatial.symmetric(own, 6))
    return ca.Function("to_parent", [E, r, own], [spatial.upper(moved)])


def composite(kind: Structure, subspace: str) -> ca.Function:
    """In: inertia (21), S. Out: I S, S' I S."""
    own, S = SX.sym("I", 21), _symbol(subspace)
    force = spatial.symmetric(own, 6) @ S
    outputs = [ca.densify(force), ca.densify(S.T @ force)]
    return ca.Function(f"composite_{kernels.kind_name(kind)}", [own, S], outputs)


def carry_composite(kind: Structure, node: int) -> ca.Function:
    """In: E, r, Phi of a node, inertia (21) on it. Out: inertia on the body; coupling (6, m), modal inertia."""
    E, r, Phi = _node(kind, node)
    own = SX.sym("I", 21)
    inertia = spatial.symmetric(own, 6)
    outputs = [spatial.upper(spatial.inertia_to_parent(E, r, inertia))]
    if kind.modes:
        felt = inertia @ Phi
        coupling = ca.horzcat(*(spatial.force_to_parent(E, r, felt[:, i]) for i in range(kind.modes)))
        outputs += [ca.densify(coupling), ca.densify(Phi.T @ felt)]
    return ca.Function(f"carry_composite_{kernels.kind_name(kind, node)}", [E, r, Phi, own], outputs)


def lower(kind: Structure, node: int, size: int) -> ca.Function:
    """In: E, r, Phi of a node, columns (6, size). Out: columns on the body, and on its modes."""
    E, r, Phi = _node(kind, node)
    N = SX.sym("N", 6, size)
    outputs = [ca.horzcat(*(spatial.force_to_parent(E, r, N[:, i]) for i in range(size))), ca.densify(Phi.T @ N)]
    return ca.Function(f"lower_{kernels.kind_name(kind, node)}_{size}", [E, r, Phi, N], outputs)


def lift(size: int) -> ca.Function:
    """In: E, r, columns (6, size) on a body. Out: columns on what its joint sits on."""
    E, r, N = SX.sym("E", 3, 3), SX.sym("r", 3), SX.sym("N", 6, size)
    return ca.Function(
        f"lift_{size}", [E, r, N], [ca.horzcat(*(spatial.force_to_parent(E, r, N[:, i]) for i in range(size)))]
    )


def project(subspace: str, size: int) -> ca.Function:
    """In: S, columns (6, size). Out: S' N."""
    S, N = _symbol(subspace), SX.sym("N", 6, size)
    return ca.Function(f"project_{S.shape[1]}_{size}", [S, N], [ca.densify(S.T @ N)])


def _symbol(subspace: str) -> SX:
    return SX.sym("S", ca.Sparsity.deserialize(subspace))


def _node(kind: Structure, node: int) -> tuple[SX, SX, SX]:
    shape = seats.move(kind, node).sparsity_out(2)
    return SX.sym("E", 3, 3), SX.sym("r", 3), SX.sym("Phi", shape)
