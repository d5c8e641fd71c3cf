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
from mbdy.engine.order_n.kernels import Kernels, kernel, symbols
from mbdy.engine.order_n.rigid_body import body_symbols, kind_name
from mbdy.engine.order_n.sweeps import BodyMotion, System


def gravity_field() -> ca.Function:
    """Kernel: e and mu/R^3 at the ``position`` of the system's mass centre from the attracting one."""
    inputs = symbols(position=3, mu=1)
    position, mu = inputs.values()
    distance = ca.norm_2(position)
    outputs = {"direction": position / distance, "strength": mu / distance**3}
    return kernel("gravity_field", inputs, outputs)


def locate(kind: Structure) -> ca.Function:
    """Kernel: C (body to inertial components), rho of the body's origin, ``first_moment`` m rho_c.

    A floating root sits at the reference point.
    """
    inputs, k, E, r, C_parent, rho_parent = body_symbols(kind, E=(3, 3), r=3, C_parent=(3, 3), rho_parent=3)
    C = C_parent @ E.T
    rho = rho_parent if kind.floating else rho_parent + C_parent @ r
    outputs = {"C": C, "rho": rho, "first_moment": k["mass"] * rho + C @ k["moment"]}
    return kernel(f"locate_{kind_name(kind)}", inputs, outputs)


def pull(kind: Structure) -> ca.Function:
    """Kernel: the gradient's force vector about the body's origin, body axes.

    ``centre``: mass centre of the system from the reference point.
    """
    inputs, k, C, rho, centre, direction, strength = body_symbols(
        kind, C=(3, 3), rho=3, centre=3, direction=3, strength=1
    )
    com, e = k["com"], C.T @ direction
    force = k["mass"] * _differential(e, strength, com + C.T @ (rho - centre))
    turned = k["M"][:3, :3] @ e - k["mass"] * (ca.dot(com, com) * e - com * ca.dot(com, e))
    for i in range(kind.wheels):  # which M is without
        a = k["spin_axes"][3 * i : 3 * i + 3]
        turned += k["spin"][i] * a * ca.dot(a, e)
    torque = 3 * strength * ca.cross(e, turned)
    wrench = ca.vertcat(torque + ca.cross(com, force), force)
    return kernel(f"pull_{kind_name(kind)}", inputs, {"force": wrench})


def differential(kind: Structure) -> ca.Function:
    """Kernel: ``G rho`` [m/s2] at the body's origin and at each node, body axes (3 each)."""
    inputs, k, C, rho, centre, direction, strength = body_symbols(
        kind, C=(3, 3), rho=3, centre=3, direction=3, strength=1
    )
    points = [SX(3, 1), *(k["nodes"][3 * i : 3 * i + 3] for i in range(kind.nodes))]
    pulls = [_differential(C.T @ direction, strength, point + C.T @ (rho - centre)) for point in points]
    return kernel(f"differential_{kind_name(kind)}", inputs, {"pulls": ca.densify(ca.vertcat(*pulls))})


def _differential(e: SX, strength: SX, rho: SX) -> SX:
    return strength * (3 * e * ca.dot(e, rho) - rho)


def field(kernels: Kernels, position: MX, mu: MX) -> dict[str, MX]:
    """``direction`` e (3) and ``strength`` mu/R^3 [1/s2], the system's mass centre at ``position`` (3) [m] from the
    attracting one."""
    return kernels.call(gravity_field, position=position, mu=mu)


def attract(system: System, moves: list[BodyMotion]) -> None:
    """Adds the gradient of ``system.field`` to what acts on each body, after the first sweep: one more, outward."""
    assert system.field is not None
    n = len(moves)
    places: list[dict[str, MX]] = [{}] * n
    for j in system.tree.outward:
        m, parent = moves[j], system.tree.parent[j]
        above = {"C": MX(ca.DM.eye(3).full()), "rho": MX.zeros(3)} if parent == ROOT else places[parent]
        places[j] = system.kernels.call(
            locate, system.structures[j],
            k=system.constants[j], E=m.E, r=m.r, C_parent=above["C"], rho_parent=above["rho"],
        )  # fmt: skip
    mass = reduce(add, (k[0] for k in system.constants))
    centre = reduce(add, (place["first_moment"] for place in places)) / ca.if_else(mass > 0, mass, 1)
    for j, m in enumerate(moves):
        C, rho = places[j]["C"], places[j]["rho"]
        results = system.kernels.call(
            pull, system.structures[j], k=system.constants[j], C=C, rho=rho, centre=centre, **system.field
        )
        m.gradient, m.p = results["force"], m.p - results["force"]
