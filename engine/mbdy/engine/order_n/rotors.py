"""What the harmonics of a wheel do to it, as an external force on its rotor (`mbdy.engine.model.harmonics`)."""

from __future__ import annotations

import casadi as ca
from casadi import DM, SX

from mbdy.engine.model.harmonics import Harmonics
from mbdy.engine.model.system import Vector3
from mbdy.engine.order_n.constants import Structure
from mbdy.engine.order_n.kernels import kernel
from mbdy.engine.order_n.rigid_body import body_symbols, kind_name, n_forces


def shaking(kind: Structure, rows: Harmonics, first: Vector3, second: Vector3) -> ca.Function:
    """External forces and torques on a rotor, those of its mass centre first, in its own axes.

    What is radial at ``h angle`` in the axes of the body that carries it is at ``(h - 1) angle`` in the rotor's.
    """
    inputs, k, q, u = body_symbols(kind, q=1, u=1)
    force, torque = SX(3, 1), SX(3, 1)
    for sort, h, size, phase in rows:
        turn = (h - 1) * q + phase
        radial = ca.cos(turn) * DM(list(first)) + ca.sin(turn) * DM(list(second))
        acting = size * u**2 * (ca.sin(h * q + phase) * k["axes"] if sort == "axial_force" else radial)
        force, torque = (force, torque + acting) if sort == "radial_torque" else (force + acting, torque)
    forces = ca.vertcat(force, torque - ca.cross(k["com"], force), SX(n_forces(kind) - 6, 1))
    return kernel(f"shaking_{kind_name(kind)}", inputs, {"forces": ca.densify(forces)})
