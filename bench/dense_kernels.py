"""One body's share of the dense method's sweeps, as CasADi functions (``dense.py``)."""

from __future__ import annotations

import casadi as ca
from casadi import SX

from mbdy.engine.order_n import nodes as seats
from mbdy.engine.order_n import rigid_body as kernels
from mbdy.engine.order_n import spatial
from mbdy.engine.order_n.constants import Structure
from mbdy.engine.order_n.kernels import kernel, symbols
from mbdy.engine.order_n.passages import Passage, shares, shifted


def rest() -> ca.Function:
    """A of the body, its joint without acceleration."""
    inputs = symbols(E=(3, 3), r=3, c=6, A_parent=6)
    E, r, c, A = inputs.values()
    return kernel("rest", inputs, {"A": Passage(r, E).motion(A) + c})


def rigid_force(kind: Structure) -> ca.Function:
    """p + M A."""
    inputs = symbols(p=6, A=6)
    p, A = inputs.values()
    inputs["k"], k = kernels.constants(kind)
    return kernel(f"rigid_force_{kernels.kind_name(kind)}", inputs, {"f": p + k["M"] @ A})


def flexible_force(modes: int) -> ca.Function:
    """p + M A and p_f + B' A, of M (21) and B (6, m)."""
    inputs = symbols(M=21, B=(6, modes), p=6, p_f=modes, A=6)
    M, B, p, p_f, A = inputs.values()
    outputs = {"f": p + spatial.symmetric(M, 6) @ A, "modal": p_f + B.T @ A}
    return kernel(f"flexible_force_{modes}", inputs, outputs)


def joint_force(kind: Structure, subspace: str) -> ca.Function:
    """tau - S' f, and f on what the joint sits on."""
    inputs = symbols(E=(3, 3), r=3, S=ca.Sparsity.deserialize(subspace), tau=kind.form.n_u, f=6)
    E, r, S, tau, f = inputs.values()
    outputs = {"on_u": ca.densify(tau - S.T @ f), "f_parent": Passage(r, E).force(f)}
    return kernel(f"joint_force_{kernels.kind_name(kind)}", inputs, outputs)


def rigid_inertia(kind: Structure) -> ca.Function:
    """M (21)."""
    symbol, k = kernels.constants(kind)
    M = ca.densify(spatial.upper(k["M"]))
    return kernel(f"rigid_inertia_{kernels.kind_name(kind)}", {"k": symbol}, {"M": M})


def to_parent() -> ca.Function:
    """An inertia (21) about what the joint sits on."""
    inputs = symbols(E=(3, 3), r=3, inertia=21)
    E, r, own = inputs.values()
    moved = Passage(r, E).inertia(spatial.symmetric(own, 6))
    return kernel("to_parent", inputs, {"M": spatial.upper(moved)})


def composite(kind: Structure, subspace: str) -> ca.Function:
    """I S and S' I S of an inertia (21)."""
    inputs = symbols(inertia=21, S=ca.Sparsity.deserialize(subspace))
    own, S = inputs.values()
    force = spatial.symmetric(own, 6) @ S
    outputs = {"force": ca.densify(force), "square": ca.densify(S.T @ force)}
    return kernel(f"composite_{kernels.kind_name(kind)}", inputs, outputs)


def carry_composite(kind: Structure, node: int) -> ca.Function:
    """An inertia (21) on a node as one on the body; of a flexible body coupling (6, m) and modal inertia too."""
    inputs = seats.standing(kind, node) | symbols(inertia=21)
    E, r, Phi, own = inputs.values()
    inertia = Passage(SX(3, 1), E).inertia(spatial.symmetric(own, 6))
    outputs = {"M": spatial.upper(Passage(r).inertia(inertia))}
    if kind.modes:
        felt = inertia @ Phi
        outputs |= {"B": ca.densify(shifted(r, felt)), "F": ca.densify(Phi.T @ felt)}
    return kernel(f"carry_composite_{kernels.kind_name(kind, node)}", inputs, outputs)


def lower(kind: Structure, node: int, size: int) -> ca.Function:
    """Columns (6, size) on a node as ones on the body, and on its modes."""
    inputs = seats.standing(kind, node) | symbols(N=(6, size))
    on_body, modal = shares(*inputs.values())
    outputs = {"N_body": on_body, "modal": ca.densify(modal)}
    return kernel(f"lower_{kernels.kind_name(kind, node)}_{size}", inputs, outputs)


def lift(size: int) -> ca.Function:
    """Columns (6, size) on a body as ones on what its joint sits on."""
    inputs = symbols(E=(3, 3), r=3, N=(6, size))
    E, r, N = inputs.values()
    return kernel(f"lift_{size}", inputs, {"N_parent": Passage(r, E).force(N)})


def project(subspace: str, size: int) -> ca.Function:
    """S' N of columns (6, size)."""
    inputs = symbols(S=ca.Sparsity.deserialize(subspace), N=(6, size))
    S, N = inputs.values()
    return kernel(f"project_{S.shape[1]}_{size}", inputs, {"block": ca.densify(S.T @ N)})
