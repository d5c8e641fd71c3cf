"""One body's share of what is seen of a system, as CasADi functions that `mbdy.engine.view` lays along the tree."""

from __future__ import annotations

import casadi as ca
from casadi import SX

from mbdy.engine import efforts, spatial
from mbdy.engine.constants import Structure
from mbdy.engine.joints import quaternion
from mbdy.engine.kernels import constants, drive, drive_symbols, kind_name, n_forces, wrench


def place(kind: Structure) -> ca.Function:
    """In: q, k, E, r, V, parent's quaternion, C, rho; floating roots sit at the reference point.

    Out: quaternion, C, rho of the body, m rho_c, linear momentum (of the velocity in V).
    """
    form = kind.form
    q, E, r, V = SX.sym("q", form.n_q), SX.sym("E", 3, 3), SX.sym("r", 3), SX.sym("V", 6)
    quat_parent, C_parent, rho_parent = SX.sym("qp", 4), SX.sym("Cp", 3, 3), SX.sym("rp", 3)
    symbol, k = constants(kind)
    turned = quaternion(form, k["axes"], q)
    if not kind.floating:
        turned = spatial.quaternion_product(quat_parent, spatial.quaternion_product(k["frame"], turned))
    C = C_parent @ E.T
    rho = rho_parent if kind.floating else rho_parent + C_parent @ r
    momentum = C @ (k["M"][3:, :] @ V)
    inputs = [q, symbol, E, r, V, quat_parent, C_parent, rho_parent]
    outputs = [turned, C, rho, k["mass"] * rho + C @ k["moment"], momentum]
    return ca.Function(f"place_{kind_name(kind)}", inputs, outputs)


def spin(kind: Structure) -> ca.Function:
    """In: k, V, h, C, rho, mass centre of the system from the reference point, its velocity.

    Out: angular momentum about the system's mass centre, inertial axes; wheel speeds.
    """
    V, h, C, rho = SX.sym("V", 6), SX.sym("h", kind.wheels), SX.sym("C", 3, 3), SX.sym("rho", 3)
    centre, drift = SX.sym("centre", 3), SX.sym("drift", 3)
    symbol, k = constants(kind)
    relative = ca.vertcat(V[:3], V[3:] - C.T @ drift)
    H = k["M"] @ relative
    spins = SX(3, 1)
    for i in range(kind.wheels):
        spins += k["spin_axes"][3 * i : 3 * i + 3] * h[i]
    total = C @ (H[:3] + spins) + ca.cross(rho - centre, C @ H[3:])
    inputs = [symbol, V, h, C, rho, centre, drift]
    return ca.Function(f"spin_{kind_name(kind)}", inputs, [total, efforts.wheel_speeds(kind, k, h, V[:3])])


def points(kind: Structure) -> ca.Function:
    """In: k, V, A, C, rho, reference position, reference velocity, gravity to give back.

    Out: position, velocity, acceleration (inertial axes) and specific force (body axes) of the origin and of each
    node (12 each).
    """
    V, A, C, rho = SX.sym("V", 6), SX.sym("A", 6), SX.sym("C", 3, 3), SX.sym("rho", 3)
    origin, drift, gravity = SX.sym("r0", 3), SX.sym("v0", 3), SX.sym("g", 3)
    symbol, k = constants(kind)
    seen = []
    omega, alpha = V[:3], A[:3]
    for point in [SX(3, 1), *(k["nodes"][3 * i : 3 * i + 3] for i in range(kind.nodes))]:
        v = V[3:] + ca.cross(omega, point)
        a = A[3:] + ca.cross(alpha, point) + ca.cross(omega, v)
        seen += [origin + rho + C @ point, drift + C @ v, C @ a + gravity, a]
    inputs = [symbol, V, A, C, rho, origin, drift, gravity]
    return ca.Function(f"points_{kind_name(kind)}", inputs, [ca.densify(ca.vertcat(*seen))])


def loads(kind: Structure, leaf: bool) -> ca.Function:
    """In: S, k, p, tau, A, acceleration, switches, children's P and p (not at a tip).

    Out: load f = P A + p of the joint (6), reaction S^T f - tau of held speeds (n_u).
    """
    form = kind.form
    S, A, p_own, tau = SX.sym("S", 6, form.n_u), SX.sym("A", 6), SX.sym("p", 6), SX.sym("tau", form.n_u)
    acceleration, switches = drive_symbols(kind)
    P_children, p_children = SX.sym("P", 21), SX.sym("pc", 6)
    symbol, k = constants(kind)
    P = k["M"] if leaf else k["M"] + spatial.symmetric(P_children, 6)
    f = P @ A + (p_own if leaf else p_own + p_children)
    held, _ = drive(kind, acceleration, switches)
    inputs = [S, symbol, p_own, tau, A, acceleration, switches, *([] if leaf else [P_children, p_children])]
    return ca.Function(f"loads_{kind_name(kind, leaf)}", inputs, [f, held * (S.T @ f - tau)])


def energy(kind: Structure) -> ca.Function:
    """In: q, u, k, V, A less gravity, h, C, wheel speeds, forces, tau, reaction, wheel torques, rest, velocity of
    the reference, position of the body's origin, gravity, gravity in the sweeps.

    Out: energy of the body with its joint's springs; rate of kinetic energy less power (Huston and Liu Eq. 55).
    """
    form = kind.form
    q, u = SX.sym("q", form.n_q), SX.sym("u", form.n_u)
    V, A, C, h = SX.sym("V", 6), SX.sym("A", 6), SX.sym("C", 3, 3), SX.sym("h", kind.wheels)
    speeds, forces = SX.sym("speeds", kind.wheels), SX.sym("F", n_forces(kind))
    tau, reaction = SX.sym("tau", form.n_u), SX.sym("reaction", form.n_u)
    torques, rest = SX.sym("tw", kind.wheels), SX.sym("rest", 0 if kind.floating else form.n_axes)
    drift, origin = SX.sym("v0", 3), SX.sym("r0", 3)
    gravity, swept = SX.sym("g", 3), SX.sym("gs", 3)
    symbol, k = constants(kind)
    MV = k["M"] @ V
    v = C.T @ drift
    kinetic = ca.dot(V, MV) / 2 + ca.dot(v, MV[3:]) + k["mass"] * ca.dot(drift, drift) / 2
    potential = -ca.dot(gravity, k["mass"] * origin + C @ k["moment"])
    true_A = A + ca.vertcat(SX(3, 1), C.T @ swept)
    growth = ca.dot(MV, true_A)
    power = ca.dot(tau + reaction, u) + ca.dot(wrench(kind, k, forces), V) + ca.dot(C.T @ swept, MV[3:])
    for i in range(kind.wheels):
        kinetic += h[i] ** 2 / k["spin"][i] / 2
        growth += h[i] * torques[i] / k["spin"][i]
        power += torques[i] * speeds[i]
    if not kind.floating:
        potential += efforts.potential(kind, k, q, rest)
    inputs = [q, u, symbol, V, A, h, C, speeds, forces, tau, reaction, torques, rest, drift, origin, gravity, swept]
    return ca.Function(f"energy_{kind_name(kind)}", inputs, [kinetic + potential, growth - power])
