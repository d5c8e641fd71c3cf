"""One body's share of the dense method's sweeps, as CasADi functions (``dense.py``)."""

from __future__ import annotations

import casadi as ca
from casadi import SX

from mbdy.engine.order_n import nodes as seats
from mbdy.engine.order_n import rigid_body as kernels
from mbdy.engine.order_n import spatial
from mbdy.engine.order_n.constants import Structure
from mbdy.engine.order_n.kernels import kernel


def rest() -> ca.Function:
    """A of the body, its joint without acceleration."""
    E, r, c, A = SX.sym("E", 3, 3), SX.sym("r", 3), SX.sym("c", 6), SX.sym("A", 6)
    return kernel("rest", {"E": E, "r": r, "c": c, "A_parent": A}, {"A": spatial.to_child(E, r, A) + c})


def rigid_force(kind: Structure) -> ca.Function:
    """p + M A."""
    symbol, k = kernels.constants(kind)
    p, A = SX.sym("p", 6), SX.sym("A", 6)
    return kernel(f"rigid_force_{kernels.kind_name(kind)}", {"k": symbol, "p": p, "A": A}, {"f": p + k["M"] @ A})


def flexible_force(modes: int) -> ca.Function:
    """p + M A and p_f + B' A, of M (21) and B (6, m)."""
    M, B, p, p_f, A = SX.sym("M", 21), SX.sym("B", 6, modes), SX.sym("p", 6), SX.sym("pf", modes), SX.sym("A", 6)
    outputs = {"f": p + spatial.symmetric(M, 6) @ A, "modal": p_f + B.T @ A}
    return kernel(f"flexible_force_{modes}", {"M": M, "B": B, "p": p, "p_f": p_f, "A": A}, outputs)


def joint_force(kind: Structure, subspace: str) -> ca.Function:
    """tau - S' f, and f on what the joint sits on."""
    E, r, S = SX.sym("E", 3, 3), SX.sym("r", 3), _symbol(subspace)
    tau, f = SX.sym("tau", kind.form.n_u), SX.sym("f", 6)
    outputs = {"on_u": ca.densify(tau - S.T @ f), "f_parent": spatial.force_to_parent(E, r, f)}
    return kernel(f"joint_force_{kernels.kind_name(kind)}", {"E": E, "r": r, "S": S, "tau": tau, "f": f}, outputs)


def rigid_inertia(kind: Structure) -> ca.Function:
    """M (21)."""
    symbol, k = kernels.constants(kind)
    M = ca.densify(spatial.upper(k["M"]))
    return kernel(f"rigid_inertia_{kernels.kind_name(kind)}", {"k": symbol}, {"M": M})


def to_parent() -> ca.Function:
    """An inertia (21) about what the joint sits on."""
    E, r, own = SX.sym("E", 3, 3), SX.sym("r", 3), SX.sym("I", 21)
    moved = spatial.inertia_to_parent(E, r, spatial.symmetric(own, 6))
    return kernel("to_parent", {"E": E, "r": r, "inertia": own}, {"M": spatial.upper(moved)})


def composite(kind: Structure, subspace: str) -> ca.Function:
    """I S and S' I S of an inertia (21)."""
    own, S = SX.sym("I", 21), _symbol(subspace)
    force = spatial.symmetric(own, 6) @ S
    outputs = {"force": ca.densify(force), "square": ca.densify(S.T @ force)}
    return kernel(f"composite_{kernels.kind_name(kind)}", {"inertia": own, "S": S}, outputs)


def carry_composite(kind: Structure, node: int) -> ca.Function:
    """An inertia (21) on a node as one on the body; of a flexible body coupling (6, m) and modal inertia too."""
    E, r, Phi = _node(kind, node)
    own = SX.sym("I", 21)
    inertia = spatial.symmetric(own, 6)
    outputs = {"M": spatial.upper(spatial.inertia_to_parent(E, r, inertia))}
    if kind.modes:
        felt = inertia @ Phi
        coupling = ca.horzcat(*(spatial.force_to_parent(E, r, felt[:, i]) for i in range(kind.modes)))
        outputs |= {"B": ca.densify(coupling), "F": ca.densify(Phi.T @ felt)}
    inputs = {"E": E, "r": r, "Phi": Phi, "inertia": own}
    return kernel(f"carry_composite_{kernels.kind_name(kind, node)}", inputs, outputs)


def lower(kind: Structure, node: int, size: int) -> ca.Function:
    """Columns (6, size) on a node as ones on the body, and on its modes."""
    E, r, Phi = _node(kind, node)
    N = SX.sym("N", 6, size)
    on_body = ca.horzcat(*(spatial.force_to_parent(E, r, N[:, i]) for i in range(size)))
    inputs, outputs = {"E": E, "r": r, "Phi": Phi, "N": N}, {"N_body": on_body, "modal": ca.densify(Phi.T @ N)}
    return kernel(f"lower_{kernels.kind_name(kind, node)}_{size}", inputs, outputs)


def lift(size: int) -> ca.Function:
    """Columns (6, size) on a body as ones on what its joint sits on."""
    E, r, N = SX.sym("E", 3, 3), SX.sym("r", 3), SX.sym("N", 6, size)
    above = ca.horzcat(*(spatial.force_to_parent(E, r, N[:, i]) for i in range(size)))
    return kernel(f"lift_{size}", {"E": E, "r": r, "N": N}, {"N_parent": above})


def project(subspace: str, size: int) -> ca.Function:
    """S' N of columns (6, size)."""
    S, N = _symbol(subspace), SX.sym("N", 6, size)
    return kernel(f"project_{S.shape[1]}_{size}", {"S": S, "N": N}, {"block": ca.densify(S.T @ N)})


def _symbol(subspace: str) -> SX:
    return SX.sym("S", ca.Sparsity.deserialize(subspace))


def _node(kind: Structure, node: int) -> tuple[SX, SX, SX]:
    shape = seats.move(kind, node).sparsity_out("Phi")
    return SX.sym("E", 3, 3), SX.sym("r", 3), SX.sym("Phi", shape)
