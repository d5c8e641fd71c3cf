"""The kernels of a node: where it is, how it moves, and what hangs on it as seen from its body.

On a rigid body a node stays where it is; on a flexible one it is at ``p = at + Phi_t eta + 1/2 eta^T bend eta`` (body
axes) and turned by ``exp(Phi_r eta)``. Its motion is ``V_n = X V + E Phi eta'`` and ``A_n = X A + E Phi eta'' + c`` in
node axes, E from body to node components, with exact derivatives Phi of place and turn by eta (equations.md, "Flexible
bodies").
"""

from __future__ import annotations

from functools import cache
from math import factorial

import casadi as ca
import numpy as np
from casadi import DM, SX

from mbdy.engine.order_n import spatial
from mbdy.engine.order_n.constants import Structure
from mbdy.engine.order_n.flexible_body import flex
from mbdy.engine.order_n.kernels import kernel, symbols
from mbdy.engine.order_n.passages import Passage, shares, shifted
from mbdy.engine.order_n.rigid_body import body_symbols, kind_name

TERMS = 9
"""Terms of the series of rotations: exact to rounding for turns up to 1.5 rad, to 4e-10 for half a revolution."""


def _series(square: SX, first: int) -> SX:
    """``1/first! - square/(first + 2)! + square^2/(first + 4)! - ...``"""
    total = SX(0)
    for n in reversed(range(TERMS)):
        total = total * square + (-1) ** n / factorial(2 * n + first)
    return total


def _series_slope(square: SX, first: int) -> SX:
    """The derivative of `_series` by ``square``."""
    total = SX(0)
    for n in reversed(range(1, TERMS)):
        total = total * square + (-1) ** n * n / factorial(2 * n + first)
    return total


def turned(kind: Structure, node: int, eta: SX) -> SX:
    """Quaternion (4) of ``exp(Phi_r eta)``: node to body components.

    Cosine and sine of half the angle are series in its square, so that derivatives exist where it is zero.
    """
    half = _shape(kind, node)[:3, :] @ eta / 2
    square = ca.dot(half, half)
    return ca.vertcat(_series(square, 0), half * _series(square, 1))


def place(kind: Structure, node: int, k: dict[str, SX], eta: SX) -> SX:
    """Place (3) of a node from the body's origin, body axes."""
    at = k["nodes"][3 * node : 3 * node + 3]
    if not kind.flex:
        return at
    moved = at + _shape(kind, node)[3:, :] @ eta
    if bend := flex(kind).nodes[node].bend:
        moved += ca.vertcat(*(ca.dot(eta, DM(np.array(rows)) @ eta) / 2 for rows in bend))
    return moved


def _shape(kind: Structure, node: int) -> DM:
    shape = flex(kind).nodes[node].shape
    return ca.sparsify(DM(np.array(shape))) if shape else DM(6, kind.modes)


def _turn(theta: SX) -> tuple[SX, SX]:
    """``exp(-theta x)`` (body to node components), and the left Jacobian (3, 3) of the rotation vector theta.

    The latter gives the angular velocity in body axes (F. C. Park, Computing exponentials of rotations, 1994).
    """
    square, T = ca.dot(theta, theta), spatial.skew(theta)
    T2 = T @ T
    second, third = _series(square, 2), _series(square, 3)
    return SX.eye(3) - (1 - square * third) * T + second * T2, SX.eye(3) + second * T + third * T2


def _stand(kind: Structure, node: int, k: dict[str, SX], eta: SX) -> tuple[SX, SX, SX]:
    """E (body to node components), r and Phi (6, m; body axes, at the node) of a node."""
    r = place(kind, node, k, eta)
    if not kind.flex:
        return SX.eye(3), r, SX(6, 0)
    E, J = _turn(_shape(kind, node)[:3, :] @ eta)
    Phi = ca.vertcat(J @ _shape(kind, node)[:3, :], ca.jacobian(r, eta))
    return E, r, ca.sparsify(Phi)


def _bias(kind: Structure, node: int, r: SX, E: SX, eta: SX, eta_rate: SX, V: SX, V_n: SX) -> SX:
    """``c`` (6) of a node of a flexible body."""
    theta, rate = (_shape(kind, node)[:3, :] @ of for of in (eta, eta_rate))
    square, cross = ca.dot(theta, theta), ca.cross(theta, rate)
    third, slope = _series(square, 3), 2 * ca.dot(theta, rate)
    turning = rate - _series(square, 2) * cross + third * ca.cross(theta, cross)
    second_rate, third_rate = (slope * _series_slope(square, first) for first in (2, 3))
    turning_rate = third_rate * ca.cross(theta, cross) - second_rate * cross + third * ca.cross(rate, cross)
    moving = ca.jtimes(r, eta, eta_rate)
    moving_rate = ca.jtimes(moving, eta, eta_rate)
    return ca.vertcat(
        turning_rate - ca.cross(turning, E @ V[:3]),
        E @ (moving_rate + ca.cross(V[:3], moving)) - ca.cross(turning, V_n[3:]),
    )


@cache
def move(kind: Structure, node: int) -> ca.Function:
    """First sweep: the fields of `mbdy.engine.order_n.sweeps.NodeMotion` that it has, E body to node components."""
    inputs, k, eta, eta_rate, V = body_symbols(kind, eta=kind.modes, eta_rate=kind.modes, V_body=6)
    E, r, Phi = _stand(kind, node, k, eta)
    V_n = _of_node(E, r, Phi, V, eta_rate)
    c = ca.densify(_bias(kind, node, r, E, eta, eta_rate, V, V_n)) if kind.flex else SX(6, 1)
    return kernel(f"move_{kind_name(kind, node)}", inputs, {"E": E, "r": r, "Phi": Phi, "V": V_n, "c": c})


def _of_node(E: SX, r: SX, Phi: SX, V: SX, modal: SX) -> SX:
    """Velocity or acceleration (6) of a node, node axes, but for ``c``, from those of body and modes."""
    moved = ca.vertcat(V[:3], V[3:] + ca.cross(V[:3], r)) + Phi @ modal
    return ca.vertcat(E @ moved[:3], E @ moved[3:])


def press(kind: Structure, node: int) -> ca.Function:
    """A force vector ``F`` (6) on the node in its axes as one on body (``push``, 6) and modes (``modal_push``, m)."""
    inputs = standing(kind, node) | symbols(F=6)
    push, modal_push = shares(*inputs.values())
    outputs = {"push": push, "modal_push": ca.densify(modal_push)}
    return kernel(f"press_{kind_name(kind, node)}", inputs, outputs)


def standing(kind: Structure, node: int) -> dict[str, SX]:
    """Symbols of E, r and Phi of a node with their zeros."""
    node_motion = move(kind, node)
    return symbols(E=node_motion.sparsity_out("E"), r=3, Phi=node_motion.sparsity_out("Phi"))


def carry(kind: Structure, node: int) -> ca.Function:
    """Second sweep: ``P`` (21) and ``p`` (6) of what hangs on the node.

    As ``P_body`` and ``p_body`` at the body's origin; of a flexible body also coupling ``B_body`` (6, m), modal inertia
    ``F_body`` (triangle) and modal force ``p_f`` (m).
    """
    inputs = standing(kind, node) | symbols(c=6, P=21, p=6)
    E, r, Phi, c, P, p = inputs.values()
    turn, inertia = Passage(SX(3, 1), E), spatial.symmetric(P, 6)
    turned = turn.inertia(inertia)
    at_rest = turn.force(p + inertia @ c if kind.flex else p)
    outputs = {"P_body": spatial.upper(Passage(r).inertia(turned)), "p_body": shifted(r, at_rest)}
    if kind.flex:
        felt = turned @ Phi
        outputs["B_body"], outputs["F_body"] = ca.densify(shifted(r, felt)), ca.densify(spatial.upper(Phi.T @ felt))
        outputs["p_f"] = ca.densify(Phi.T @ at_rest)
    return kernel(f"carry_{kind_name(kind, node)}", inputs, outputs)


def accelerate(kind: Structure, node: int) -> ca.Function:
    """Third sweep: A of the node from ``A_body`` and eta'' (``modal_rate``)."""
    inputs = standing(kind, node) | symbols(c=6, A_body=6, modal_rate=kind.modes)
    E, r, Phi, c, A, modal = inputs.values()
    return kernel(f"seat_{kind_name(kind, node)}", inputs, {"A": ca.densify(_of_node(E, r, Phi, A, modal) + c)})
