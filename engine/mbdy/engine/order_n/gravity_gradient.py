"""The gravity gradient on the bodies of a floating system, as CasADi functions laid along the tree.

About the system's mass centre, at ``R`` along the unit vector ``e`` from a spherical attracting centre, the pull
differs from that at the mass centre by ``G rho = mu/R^3 (3 e e.rho - rho)``, to first order in size over ``R``
(P. C. Hughes, Spacecraft Attitude Dynamics, Wiley 1986, ch. 8). A body of mass ``m`` and inertia ``J`` about its mass
centre, which is at ``rho``, feels the force ``m G rho`` there and the torque ``3 mu/R^3 e x J e``. The forces add up to
nothing.
"""

from __future__ import annotations

from functools import reduce
from operator import add

import casadi as ca
from casadi import MX, SX

from mbdy.engine.model.topology import ROOT
from mbdy.engine.order_n.constants import Structure
from mbdy.engine.order_n.rigid_body import Kernels, constants, kind_name
from mbdy.engine.order_n.sweeps import BodyMotion, System


def gravity_field() -> ca.Function:
    """Kernel. In: position of the system's mass centre from the attracting one, mu. Out: e, mu/R^3."""
    position, mu = SX.sym("R", 3), SX.sym("mu")
    distance = ca.norm_2(position)
    return ca.Function("gravity_field", [position, mu], [position / distance, mu / distance**3])


def locate(kind: Structure) -> ca.Function:
    """Kernel. In: k, E, r, C and rho of the parent; a floating root sits at the reference point.

    Out: C (body to inertial components), rho of the body's origin, m rho_c.
    """
    E, r = SX.sym("E", 3, 3), SX.sym("r", 3)
    C_parent, rho_parent = SX.sym("Cp", 3, 3), SX.sym("rp", 3)
    symbol, k = constants(kind)
    C = C_parent @ E.T
    rho = rho_parent if kind.floating else rho_parent + C_parent @ r
    outputs = [C, rho, k["mass"] * rho + C @ k["moment"]]
    return ca.Function(f"locate_{kind_name(kind)}", [symbol, E, r, C_parent, rho_parent], outputs)


def pull(kind: Structure) -> ca.Function:
    """Kernel. In: k, C, rho, mass centre of the system from the reference point, e, mu/R^3.

    Out: the gradient's force vector about the body's origin, body axes.
    """
    C, rho, centre = SX.sym("C", 3, 3), SX.sym("rho", 3), SX.sym("centre", 3)
    direction, strength = SX.sym("e", 3), SX.sym("n2")
    symbol, k = constants(kind)
    com, e = k["com"], C.T @ direction
    force = k["mass"] * _differential(e, strength, com + C.T @ (rho - centre))
    turned = k["M"][:3, :3] @ e - k["mass"] * (ca.dot(com, com) * e - com * ca.dot(com, e))
    for i in range(kind.wheels):  # which M is without
        a = k["spin_axes"][3 * i : 3 * i + 3]
        turned += k["spin"][i] * a * ca.dot(a, e)
    torque = 3 * strength * ca.cross(e, turned)
    wrench = ca.vertcat(torque + ca.cross(com, force), force)
    return ca.Function(f"pull_{kind_name(kind)}", [symbol, C, rho, centre, direction, strength], [wrench])


def differential(kind: Structure) -> ca.Function:
    """Kernel. In: as of `pull`. Out: ``G rho`` [m/s2] at the body's origin and at each node, body axes (3 each)."""
    C, rho, centre = SX.sym("C", 3, 3), SX.sym("rho", 3), SX.sym("centre", 3)
    direction, strength = SX.sym("e", 3), SX.sym("n2")
    symbol, k = constants(kind)
    points = [SX(3, 1), *(k["nodes"][3 * i : 3 * i + 3] for i in range(kind.nodes))]
    found = [_differential(C.T @ direction, strength, point + C.T @ (rho - centre)) for point in points]
    inputs = [symbol, C, rho, centre, direction, strength]
    return ca.Function(f"differential_{kind_name(kind)}", inputs, [ca.densify(ca.vertcat(*found))])


def _differential(e: SX, strength: SX, rho: SX) -> SX:
    return strength * (3 * e * ca.dot(e, rho) - rho)


def field(kernels: Kernels, position: MX, mu: MX) -> tuple[MX, MX]:
    """``e`` (3) and ``mu/R^3`` [1/s2] of the system's mass centre at ``position`` (3) [m] from the attracting one."""
    direction, strength = kernels.call(gravity_field, (), position, mu)
    return direction, strength


def attract(system: System, moves: list[BodyMotion]) -> None:
    """Adds the gradient of ``system.field`` to what acts on each body, after the first sweep: one more, outward."""
    assert system.field is not None
    n = len(moves)
    C, rho, moments = [MX()] * n, [MX()] * n, [MX()] * n
    for j in system.tree.outward:
        m, parent = moves[j], system.tree.parent[j]
        above = (MX(ca.DM.eye(3).full()), MX.zeros(3)) if parent == ROOT else (C[parent], rho[parent])
        C[j], rho[j], moments[j] = system.kernels.call(
            locate, (system.structures[j],), system.constants[j], m.E, m.r, *above
        )
    mass = reduce(add, (k[0] for k in system.constants))
    centre = reduce(add, moments) / ca.if_else(mass > 0, mass, 1)
    for j, m in enumerate(moves):
        (m.gradient,) = system.kernels.call(
            pull, (system.structures[j],), system.constants[j], C[j], rho[j], centre, *system.field
        )
        m.p = m.p - m.gradient
