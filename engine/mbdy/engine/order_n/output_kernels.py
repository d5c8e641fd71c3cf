"""One body's share of what is seen of a system: CasADi functions that `outputs` lays along the tree."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
from casadi import SX

from mbdy.engine.model.laws import sticking
from mbdy.engine.order_n import efforts, spatial
from mbdy.engine.order_n import flexible_body as deformation
from mbdy.engine.order_n import nodes as seats
from mbdy.engine.order_n.constants import Structure
from mbdy.engine.order_n.joints import quaternion
from mbdy.engine.order_n.kernels import kernel, symbols
from mbdy.engine.order_n.rigid_body import (
    body_symbols,
    drive,
    drive_symbols,
    gathered,
    kind_name,
    n_forces,
    own_axes,
    swept_axes,
    wrench,
)


def attitude(kind: Structure) -> ca.Function:
    """Quaternion of a body, from that of what its joint sits on (``quaternion_parent``)."""
    form = kind.form
    inputs, k, q, above = body_symbols(kind, q=form.n_q, quaternion_parent=4)
    turned = quaternion(form, k["axes"], q)
    if not kind.floating:
        turned = spatial.quaternion_product(above, spatial.quaternion_product(k["frame"], turned))
    return kernel(f"attitude_{kind_name(kind)}", inputs, {"quaternion": turned})


def node_attitude(kind: Structure, node: int) -> ca.Function:
    """Quaternion of a node of a flexible body, from that of the body."""
    inputs = symbols(eta=kind.modes, quaternion_body=4)
    eta, body = inputs.values()
    turned = spatial.quaternion_product(body, seats.turned(kind, node, eta))
    return kernel(f"node_attitude_{kind_name(kind, node)}", inputs, {"quaternion": turned})


def momentum(kind: Structure) -> ca.Function:
    """Linear momentum, inertial axes, of the velocity in V."""
    inputs, k, V, C = body_symbols(kind, V=6, C=(3, 3))
    modes, _, momentum_of = momenta(kind, k)
    return kernel(f"momentum_{kind_name(kind)}", inputs | modes, {"momentum": C @ momentum_of(V)[3:]})


def momenta(kind: Structure, k: dict[str, SX]) -> tuple[dict[str, SX], SX, Callable[[SX], SX]]:
    """Symbols of eta and eta', the inertia M (6, 6), and the momentum (6) of a velocity of the body."""
    modes = symbols(eta=kind.modes, eta_rate=kind.modes)
    M, B = deformation.inertia(kind, k, modes["eta"])
    return modes, M, lambda V: M @ V + B @ modes["eta_rate"]


def spin(kind: Structure) -> ca.Function:
    """Angular momentum about the system's mass centre, inertial axes; wheel speeds.

    ``centre``: mass centre of the system from the reference point; ``drift``: its velocity.
    """
    inputs, k, V, h, C, rho, centre, drift = body_symbols(kind, V=6, h=kind.wheels, C=(3, 3), rho=3, centre=3, drift=3)
    modes, _, momentum_of = momenta(kind, k)
    H = momentum_of(ca.vertcat(V[:3], V[3:] - C.T @ drift))
    spins = SX(3, 1)
    for i in range(kind.wheels):
        spins += k["spin_axes"][3 * i : 3 * i + 3] * h[i]
    total = C @ (H[:3] + spins) + ca.cross(rho - centre, C @ H[3:])
    outputs = {"angular_momentum": total, "speeds": efforts.wheel_speeds(kind, k, h, V[:3])}
    return kernel(f"spin_{kind_name(kind)}", inputs | modes, outputs)


def spun(kind: Structure) -> ca.Function:
    """Angular momentum of a rotor about its axis but for its products of inertia, which its motor alone changes where
    it is balanced."""
    inputs, k, V = body_symbols(kind, V=6)
    axis = ca.vertcat(0, 0, 1) if kind.framed else k["axes"][:, 0]
    spin = axis.T @ spatial.symmetric(k["inertia"], 3) @ axis
    return kernel(f"spun_{kind_name(kind)}", inputs, {"momentum": spin * (axis.T @ V[:3])})


def points(kind: Structure) -> ca.Function:
    """Position, velocity, acceleration (inertial axes) and specific force (body axes) of the origin and of each node
    (12 each), of a flexible body at its origin only; ``omega`` (3), body axes.

    ``origin`` and ``drift``: position and velocity of the reference; ``gravity`` to give back.
    """
    inputs, k, V, A, C, rho, origin, drift, gravity = body_symbols(
        kind, V=6, A=6, C=(3, 3), rho=3, origin=3, drift=3, gravity=3
    )
    motions = []
    omega, alpha = V[:3], A[:3]
    nodes = [] if kind.flex else [k["nodes"][3 * i : 3 * i + 3] for i in range(kind.nodes)]
    fixed = [swept_axes(kind, k, node) for node in nodes]
    for point in [SX(3, 1), *fixed]:
        v = V[3:] + ca.cross(omega, point)
        a = A[3:] + ca.cross(alpha, point) + ca.cross(omega, v)
        motions += [origin + rho + C @ point, drift + C @ v, C @ a + gravity, own_axes(kind, k, a)]
    outputs = {"points": ca.densify(ca.vertcat(*motions)), "omega": own_axes(kind, k, omega)}
    return kernel(f"points_{kind_name(kind)}", inputs, outputs)


def point() -> ca.Function:
    """What `points` has, of a node of a flexible body, node axes in the place of the body's."""
    inputs = symbols(V=6, A=6, C=(3, 3), rho=3, origin=3, drift=3, gravity=3)
    V, A, C, rho, origin, drift, gravity = inputs.values()
    a = A[3:] + ca.cross(V[:3], V[3:])
    motions = [origin + rho, drift + C @ V[3:], C @ a + gravity, a]
    return kernel("point", inputs, {"points": ca.vertcat(*motions)})


def loads(kind: Structure, leaf: bool) -> ca.Function:
    """Load f = P A + p of the joint (6), body axes, at its place; reaction S^T f - tau of held speeds (n_u).

    ``closing``: what loops add to p; ``P_below``, ``p_below``: the children's (not at a tip), of all where the body is
    flexible.
    """
    n_u = kind.form.n_u
    inputs, k, S, A, p_body, tau, closing = body_symbols(kind, S=(6, n_u), A=6, p=6, tau=n_u, closing=6)
    driven, below = drive_symbols(kind), symbols(P_below=21, p_below=6)
    P, p = gathered(kind, leaf, k["M"], p_body, **below)
    f = P @ A + p + closing
    constrained, _ = drive(kind, driven, k)
    inputs |= driven | ({} if leaf else below)
    turned = symbols(u_rate=n_u, **({"A_seat": 6} if kind.rotors else {})) if kind.reflects else {}
    if kind.reflects:
        tau = tau - efforts.reflected(kind, k) * turned["u_rate"]
    if kind.rotors:
        tau -= efforts.rotor_momenta(kind, k).T @ turned["A_seat"][:3]
    inputs |= turned
    moment = f[:3] - ca.cross(k["at_b"], f[3:]) if kind.offset else f[:3]
    load = ca.vertcat(own_axes(kind, k, moment), own_axes(kind, k, f[3:]))
    reaction = constrained * (S.T @ f - tau)
    if kind.sticking:
        reaction += (1 - constrained) * sticking.shared(k)
    return kernel(f"loads_{kind_name(kind, leaf)}", inputs, {"load": load, "reaction": reaction})


def energy(kind: Structure) -> ca.Function:
    """Energy of the body with its joint's springs; rate of kinetic energy less power (Huston and Liu Eq. 55); strain
    energy of its modes.

    A is less gravity; ``push`` and ``modal_push`` act on body and modes (of a flexible body); ``drift`` is the velocity
    of the reference, ``origin`` the body's, ``swept_gravity`` gravity in the sweeps.
    """
    form, m, wheels = kind.form, kind.modes, kind.wheels
    motion = symbols(q=form.n_q, u=form.n_u, V=6, A=6, C=(3, 3), h=wheels, modal_rate=m, speeds=wheels)
    q, u, V, A, C, h, modal_A, speeds = motion.values()
    acting = symbols(push=6 if m else 0, modal_push=m, forces=n_forces(kind), tau=form.n_u, reaction=form.n_u)
    push, modal_push, forces, tau, reaction = acting.values()
    acting |= symbols(wheel_torques=wheels, rest=kind.rests)
    torques, rest = acting["wheel_torques"], acting["rest"]
    reference = symbols(drift=3, origin=3, gravity=3, swept_gravity=3)
    drift, origin, gravity, swept = reference.values()
    inputs, k = body_symbols(kind)
    modes, M, momentum_of = momenta(kind, k)
    eta, eta_rate = modes.values()
    MV, strain = momentum_of(V), SX(0)
    v = C.T @ drift
    kinetic = ca.dot(V, MV) / 2
    true_A = A + ca.vertcat(SX(3, 1), C.T @ swept)
    growth = ca.dot(MV, true_A)
    power = ca.dot(tau + reaction, u) + ca.dot(C.T @ swept, MV[3:])
    if kind.flex:
        kinetic, _, of_modes = deformation.kinetic(kind, k, eta, eta_rate, V)
        stiffness, damping = deformation.elastic(kind, k)
        strain = ca.dot(eta, stiffness @ eta) / 2
        growth += ca.dot(of_modes, modal_A) + ca.jtimes(kinetic, eta, eta_rate)
        power += ca.dot(push, V) + ca.dot(modal_push - stiffness @ eta - damping @ eta_rate, eta_rate)
    else:
        power += ca.dot(wrench(kind, k, forces), V)
    kinetic += ca.dot(v, MV[3:]) + k["mass"] * ca.dot(drift, drift) / 2
    potential = strain - ca.dot(gravity, k["mass"] * origin + C @ spatial.first_moment(M))
    for i in range(kind.wheels):
        kinetic += h[i] ** 2 / k["spin"][i] / 2
        growth += h[i] * torques[i] / k["spin"][i]
        power += torques[i] * speeds[i]
    if not kind.floating:
        potential += efforts.potential(kind, k, q, rest)
    outputs = {"energy": kinetic + potential, "work_residual": growth - power, "strain_energy": strain}
    return kernel(f"energy_{kind_name(kind)}", {**inputs, **modes, **motion, **acting, **reference}, outputs)
