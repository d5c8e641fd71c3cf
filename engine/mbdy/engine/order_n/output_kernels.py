"""One body's share of what is seen of a system: CasADi functions that `outputs` lays along the tree."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
from casadi import SX

from mbdy.engine.order_n import efforts, spatial
from mbdy.engine.order_n import flexible_body as deformation
from mbdy.engine.order_n import nodes as seats
from mbdy.engine.order_n.constants import Structure
from mbdy.engine.order_n.joints import quaternion
from mbdy.engine.order_n.kernels import kernel
from mbdy.engine.order_n.rigid_body import constants, drive, drive_symbols, gathered, kind_name, n_forces, wrench


def place(kind: Structure) -> ca.Function:
    """Quaternion, C, rho of the body, ``first_moment`` m rho_c, linear momentum (of the velocity in V).

    ``_parent``: of what its joint sits on; floating roots sit at the reference point.
    """
    form = kind.form
    q, E, r, V = SX.sym("q", form.n_q), SX.sym("E", 3, 3), SX.sym("r", 3), SX.sym("V", 6)
    quat_parent, C_parent, rho_parent = SX.sym("qp", 4), SX.sym("Cp", 3, 3), SX.sym("rp", 3)
    symbol, k = constants(kind)
    eta, eta_rate, M, momentum_of = _momenta(kind, k)
    turned = quaternion(form, k["axes"], q)
    if not kind.floating:
        turned = spatial.quaternion_product(quat_parent, spatial.quaternion_product(k["frame"], turned))
    C = C_parent @ E.T
    rho = rho_parent if kind.floating else rho_parent + C_parent @ r
    momentum = C @ momentum_of(V)[3:]
    inputs = {"q": q, "k": symbol, "E": E, "r": r, "V": V, "eta": eta, "eta_rate": eta_rate}
    inputs |= {"quaternion_parent": quat_parent, "C_parent": C_parent, "rho_parent": rho_parent}
    outputs = {"quaternion": turned, "C": C, "rho": rho}
    outputs |= {"first_moment": k["mass"] * rho + C @ _moment(M), "momentum": momentum}
    return kernel(f"place_{kind_name(kind)}", inputs, outputs)


def stand(floating: bool) -> ca.Function:
    """C (to inertial components) and rho; a floating root sits at the reference point."""
    E, r = SX.sym("E", 3, 3), SX.sym("r", 3)
    C_parent, rho_parent = SX.sym("Cp", 3, 3), SX.sym("rp", 3)
    rho = rho_parent if floating else rho_parent + C_parent @ r
    inputs = {"E": E, "r": r, "C_parent": C_parent, "rho_parent": rho_parent}
    return kernel(f"stand_{int(floating)}", inputs, {"C": C_parent @ E.T, "rho": rho})


def seat(kind: Structure, node: int) -> ca.Function:
    """Quaternion, C, rho of the node, from those of the body."""
    eta, quat, C, rho = SX.sym("eta", kind.modes), SX.sym("q", 4), SX.sym("C", 3, 3), SX.sym("rho", 3)
    symbol, k = constants(kind)
    turned, C_node = quat, C
    if kind.flex:
        own = seats.turned(kind, node, eta)
        turned, C_node = spatial.quaternion_product(quat, own), C @ spatial.rotation_matrix(own)
    inputs = {"k": symbol, "eta": eta, "quaternion_body": quat, "C_body": C, "rho_body": rho}
    outputs = {"quaternion": turned, "C": C_node, "rho": rho + C @ seats.place(kind, node, k, eta)}
    return kernel(f"seat_place_{kind_name(kind, node)}", inputs, outputs)


def _momenta(kind: Structure, k: dict[str, SX]) -> tuple[SX, SX, SX, Callable[[SX], SX]]:
    """Symbols of eta and eta', the inertia M (6, 6), and the momentum (6) of a velocity of the body."""
    eta, eta_rate = SX.sym("eta", kind.modes), SX.sym("eta_rate", kind.modes)
    if not kind.flex:
        return eta, eta_rate, k["M"], lambda V: k["M"] @ V
    M, B = deformation.inertia(kind, k, eta)
    return eta, eta_rate, M, lambda V: M @ V + B @ eta_rate


def _moment(M: SX) -> SX:
    """First moment (3) in a spatial inertia."""
    return ca.vertcat(M[2, 4], M[0, 5], M[1, 3])


def spin(kind: Structure) -> ca.Function:
    """Angular momentum about the system's mass centre, inertial axes; wheel speeds.

    ``centre``: mass centre of the system from the reference point; ``drift``: its velocity.
    """
    V, h, C, rho = SX.sym("V", 6), SX.sym("h", kind.wheels), SX.sym("C", 3, 3), SX.sym("rho", 3)
    centre, drift = SX.sym("centre", 3), SX.sym("drift", 3)
    symbol, k = constants(kind)
    eta, eta_rate, _, momentum_of = _momenta(kind, k)
    H = momentum_of(ca.vertcat(V[:3], V[3:] - C.T @ drift))
    spins = SX(3, 1)
    for i in range(kind.wheels):
        spins += k["spin_axes"][3 * i : 3 * i + 3] * h[i]
    total = C @ (H[:3] + spins) + ca.cross(rho - centre, C @ H[3:])
    inputs = {"k": symbol, "V": V, "eta": eta, "eta_rate": eta_rate, "h": h, "C": C, "rho": rho}
    outputs = {"angular_momentum": total, "speeds": efforts.wheel_speeds(kind, k, h, V[:3])}
    return kernel(f"spin_{kind_name(kind)}", {**inputs, "centre": centre, "drift": drift}, outputs)


def points(kind: Structure) -> ca.Function:
    """Position, velocity, acceleration (inertial axes) and specific force (body axes) of the origin and of each node
    (12 each); of a flexible body at its origin only.

    ``origin`` and ``drift``: position and velocity of the reference; ``gravity`` to give back.
    """
    symbol, k = constants(kind)
    inputs = _place_symbols()
    V, A, C, rho, origin, drift, gravity = inputs.values()
    seen = []
    omega, alpha = V[:3], A[:3]
    fixed = [] if kind.flex else [k["nodes"][3 * i : 3 * i + 3] for i in range(kind.nodes)]
    for point in [SX(3, 1), *fixed]:
        v = V[3:] + ca.cross(omega, point)
        a = A[3:] + ca.cross(alpha, point) + ca.cross(omega, v)
        seen += [origin + rho + C @ point, drift + C @ v, C @ a + gravity, a]
    return kernel(f"points_{kind_name(kind)}", {"k": symbol, **inputs}, {"points": ca.densify(ca.vertcat(*seen))})


def point() -> ca.Function:
    """What `points` has, of a node of a flexible body, node axes in the place of the body's."""
    inputs = _place_symbols()
    V, A, C, rho, origin, drift, gravity = inputs.values()
    a = A[3:] + ca.cross(V[:3], V[3:])
    seen = [origin + rho, drift + C @ V[3:], C @ a + gravity, a]
    return kernel("point", inputs, {"points": ca.vertcat(*seen)})


def _place_symbols() -> dict[str, SX]:
    sizes = {"V": (6, 1), "A": (6, 1), "C": (3, 3), "rho": (3, 1), "origin": (3, 1), "drift": (3, 1), "gravity": (3, 1)}
    return {name: SX.sym(name, *size) for name, size in sizes.items()}


def loads(kind: Structure, leaf: bool) -> ca.Function:
    """Load f = P A + p of the joint (6), reaction S^T f - tau of held speeds (n_u).

    ``closing``: what loops add to p; ``P_below``, ``p_below``: the children's (not at a tip), of all where the body is
    flexible.
    """
    form = kind.form
    S, A, p_own, tau = SX.sym("S", 6, form.n_u), SX.sym("A", 6), SX.sym("p", 6), SX.sym("tau", form.n_u)
    acceleration, switches = drive_symbols(kind)
    P_children, p_children, closing = SX.sym("P", 21), SX.sym("pc", 6), SX.sym("closing", 6)
    symbol, k = constants(kind)
    P, p = gathered(kind, leaf, k["M"], P_children, p_own, p_children)
    f = P @ A + p + closing
    held, _ = drive(kind, acceleration, switches)
    inputs = {"S": S, "k": symbol, "p": p_own, "tau": tau, "A": A, "closing": closing, "acceleration": acceleration}
    inputs |= {"switches": switches, **({} if leaf else {"P_below": P_children, "p_below": p_children})}
    return kernel(f"loads_{kind_name(kind, leaf)}", inputs, {"load": f, "reaction": held * (S.T @ f - tau)})


def energy(kind: Structure) -> ca.Function:
    """Energy of the body with its joint's springs; rate of kinetic energy less power (Huston and Liu Eq. 55); strain
    energy of its modes.

    A is less gravity; ``push`` and ``modal_push`` act on body and modes (of a flexible body); ``drift`` is the velocity
    of the reference, ``origin`` the body's, ``swept_gravity`` gravity in the sweeps.
    """
    form, m = kind.form, kind.modes
    q, u = SX.sym("q", form.n_q), SX.sym("u", form.n_u)
    V, A, C, h = SX.sym("V", 6), SX.sym("A", 6), SX.sym("C", 3, 3), SX.sym("h", kind.wheels)
    modal_A, push, modal_push = SX.sym("eta2", m), SX.sym("push", 6 if m else 0), SX.sym("modal", m)
    speeds, forces = SX.sym("speeds", kind.wheels), SX.sym("F", n_forces(kind))
    tau, reaction = SX.sym("tau", form.n_u), SX.sym("reaction", form.n_u)
    torques, rest = SX.sym("tw", kind.wheels), SX.sym("rest", 0 if kind.floating else form.n_axes)
    drift, origin = SX.sym("v0", 3), SX.sym("r0", 3)
    gravity, swept = SX.sym("g", 3), SX.sym("gs", 3)
    symbol, k = constants(kind)
    eta, eta_rate, M, momentum_of = _momenta(kind, k)
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
    potential = strain - ca.dot(gravity, k["mass"] * origin + C @ _moment(M))
    for i in range(kind.wheels):
        kinetic += h[i] ** 2 / k["spin"][i] / 2
        growth += h[i] * torques[i] / k["spin"][i]
        power += torques[i] * speeds[i]
    if not kind.floating:
        potential += efforts.potential(kind, k, q, rest)
    inputs = {"q": q, "u": u, "k": symbol, "V": V, "A": A, "eta": eta, "eta_rate": eta_rate, "modal_rate": modal_A}
    inputs |= {"push": push, "modal_push": modal_push, "h": h, "C": C, "speeds": speeds, "forces": forces, "tau": tau}
    inputs |= {"reaction": reaction, "wheel_torques": torques, "rest": rest, "drift": drift, "origin": origin}
    inputs |= {"gravity": gravity, "swept_gravity": swept}
    outputs = {"energy": kinetic + potential, "work_residual": growth - power, "strain_energy": strain}
    return kernel(f"energy_{kind_name(kind)}", inputs, outputs)
