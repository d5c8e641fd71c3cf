"""The gravity gradient on the bodies of a floating system, as CasADi functions laid along the tree.

About the system's mass centre, at ``R`` along the unit vector ``e`` from a spherical attracting centre, the pull
differs from that at the mass centre by ``G rho = mu/R^3 (3 e e.rho - rho)``, to first order in size over ``R``
(P. C. Hughes, Spacecraft Attitude Dynamics, Wiley 1986, ch. 8). A body with its origin at ``rho``, of mass ``m``, first
moment ``S`` and inertia ``J`` about that origin, feels the force ``G (m rho + S)`` and about its origin the torque
``S x G rho + 3 mu/R^3 e x J e``. The forces add up to nothing.

S and J of a flexible body are those of its kinetic energy, with all that its data have of first and second order in the
modal displacements. The forces on its modes are the derivatives by these of the work function
``S . G rho + mu/(2 R^3) (tr J - 3 e.J e)``: the integral of ``y . G (rho + y/2)`` over the mass, which is at ``y`` from
the origin. Force and torque are its derivatives too, so energy and momentum close whatever the data are.
"""

from __future__ import annotations

import casadi as ca
from casadi import MX, SX

from mbdy.engine.order_n import spatial
from mbdy.engine.order_n.constants import Structure
from mbdy.engine.order_n.flexible_body import inertia
from mbdy.engine.order_n.kernels import Kernels, kernel, symbols
from mbdy.engine.order_n.mass_centre import mass_centre
from mbdy.engine.order_n.rigid_body import body_symbols, kind_name
from mbdy.engine.order_n.sweeps import BodyMotion, System


def gravity_field() -> ca.Function:
    """Kernel: e and mu/R^3 at the ``position`` of the system's mass centre from the attracting one."""
    inputs = symbols(position=3, mu=1)
    position, mu = inputs.values()
    distance = ca.norm_2(position)
    outputs = {"direction": position / distance, "strength": mu / distance**3}
    return kernel("gravity_field", inputs, outputs)


def pull(kind: Structure) -> ca.Function:
    """Kernel: what the gradient does to a body at its pose: the ``force`` vector about its origin, body axes, and what
    acts on its modes, ``modal`` (m).

    ``centre``: mass centre of the system from the same origin as rho.
    """
    inputs, k, eta, C, rho, centre, direction, strength = body_symbols(
        kind, eta=kind.modes, C=(3, 3), rho=3, centre=3, direction=3, strength=1
    )
    M, _ = inertia(kind, k, eta)
    moment, tensor, e, arm = spatial.first_moment(M), M[:3, :3], C.T @ direction, C.T @ (rho - centre)
    for i in range(kind.wheels):  # which M is without
        a = k["spin_axes"][3 * i : 3 * i + 3]
        tensor += k["spin"][i] * a @ a.T
    at_origin = _differential(e, strength, arm)
    force = _differential(e, strength, k["mass"] * arm + moment)
    torque = ca.cross(moment, at_origin) + 3 * strength * ca.cross(e, tensor @ e)
    work = ca.dot(moment, at_origin) + strength / 2 * (ca.trace(tensor) - 3 * ca.dot(e, tensor @ e))
    modal = ca.densify(ca.gradient(work, eta))
    return kernel(f"pull_{kind_name(kind)}", inputs, {"force": ca.vertcat(torque, force), "modal": modal})


def differential() -> ca.Function:
    """Kernel: ``G rho`` [m/s2] at a place, its axes."""
    inputs = symbols(C=(3, 3), rho=3, centre=3, direction=3, strength=1)
    C, rho, centre, direction, strength = inputs.values()
    pulled = _differential(C.T @ direction, strength, C.T @ (rho - centre))
    return kernel("differential", inputs, {"differential": pulled})


def _differential(e: SX, strength: SX, rho: SX) -> SX:
    return strength * (3 * e * ca.dot(e, rho) - rho)


def field(kernels: Kernels, position: MX, mu: MX) -> dict[str, MX]:
    """``direction`` e (3) and ``strength`` mu/R^3 [1/s2], the system's mass centre at ``position`` (3) [m] from the
    attracting one."""
    return kernels.call(gravity_field, position=position, mu=mu)


def attract(system: System, moves: list[BodyMotion]) -> None:
    """Adds the gradient of ``system.field`` to what acts on each body, after the first sweep."""
    assert system.field is not None
    # The system has one root, a floating one, from whose origin all poses are.
    centre = mass_centre(system, [m.pose for m in moves])
    for j, m in enumerate(moves):
        C, rho = m.pose
        pulled = system.kernels.call(
            pull, system.structures[j],
            k=system.constants[j], eta=system.states[j].eta, C=C, rho=rho, centre=centre, **system.field,
        )  # fmt: skip
        m.p = m.p - pulled["force"]
        if m.flexing:
            m.flexing.p_f = m.flexing.p_f - pulled["modal"]
        m.gradient = ca.vertcat(pulled["force"], pulled["modal"])
