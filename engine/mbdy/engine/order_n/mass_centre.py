"""Where the mass centre of a system is, for its outputs and for a gravity gradient."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add

import casadi as ca
from casadi import MX

from mbdy.engine.order_n import spatial
from mbdy.engine.order_n.constants import Structure
from mbdy.engine.order_n.flexible_body import inertia
from mbdy.engine.order_n.kernels import kernel
from mbdy.engine.order_n.rigid_body import body_symbols, kind_name
from mbdy.engine.order_n.sweeps import Pose, System


def first_moment(kind: Structure) -> ca.Function:
    """Kernel: ``first_moment`` m rho_c (3) of a body, deformed as it is, at its pose."""
    inputs, k, eta, C, rho = body_symbols(kind, eta=kind.modes, C=(3, 3), rho=3)
    M, _ = inertia(kind, k, eta)
    moment = k["mass"] * rho + C @ spatial.first_moment(M)
    return kernel(f"first_moment_{kind_name(kind)}", inputs, {"first_moment": moment})


def mass_centre(system: System, poses: Sequence[Pose]) -> MX:
    """Mass centre (3) of bodies at ``poses`` from where these are from, inertial axes; there if they have no mass."""
    moments = []
    for j, (C, rho) in enumerate(poses):
        k, eta = system.constants[j], system.states[j].eta
        results = system.kernels.call(first_moment, system.structures[j], k=k, eta=eta, C=C, rho=rho)
        moments.append(results["first_moment"])
    mass = reduce(add, (k[0] for k in system.constants))
    return reduce(add, moments) / ca.if_else(mass > 0, mass, 1)
