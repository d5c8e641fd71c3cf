"""Rotors of motors at joints (equations.md, "Rotors of motors"): n times as fast as their joint, on what it sits on.

Its inertia J is part of the carrier's, as of a body that does not spin. To that its turning adds ``1/2 n^2 J u^2``, and
where its axis a is given ``n J u (a . omega)`` with the carrier's angular velocity omega: spin momentum ``n J u a``.
"""

from __future__ import annotations

import casadi as ca
from casadi import MX

from mbdy.engine.order_n import sweeps as order_n
from mbdy.engine.order_n.constants import Structure
from mbdy.engine.order_n.efforts import reflected, rotor_momenta
from mbdy.engine.order_n.kernels import kernel
from mbdy.engine.order_n.rigid_body import body_symbols, kind_name
from mbdy.engine.order_n.sweeps import BodyMotion, System


def turning(kind: Structure) -> ca.Function:
    """Kinetic energy of a joint's rotors beside their carrier's, and its rate; where their axes are given of V and A of
    the carrier, its axes."""
    n = kind.form.n_u
    inputs, k, u, u_rate, *seat = body_symbols(
        kind, u=n, u_rate=n, **({"V_seat": 6, "A_seat": 6} if kind.rotors else {})
    )
    own = reflected(kind, k)
    energy, growth = ca.dot(own, u**2) / 2, ca.dot(own * u, u_rate)
    if kind.rotors:
        (V, A), spins = seat, rotor_momenta(kind, k)
        energy += ca.dot(V[:3], spins @ u)
        growth += ca.dot(V[:3], spins @ u_rate) + ca.dot(A[:3], spins @ u)
    return kernel(f"rotors_{kind_name(kind)}", inputs, {"energy": energy, "growth": growth})


def spinning(kind: Structure) -> ca.Function:
    """Spin ``momentum`` (3) of a joint's rotors by its turning, axes that ``C_seat`` brings to from the carrier's."""
    inputs, k, u, C = body_symbols(kind, u=kind.form.n_u, C_seat=(3, 3))
    return kernel(f"spins_{kind_name(kind)}", inputs, {"momentum": C @ (rotor_momenta(kind, k) @ u)})


def energies(system: System, moves: list[BodyMotion]) -> list[dict[str, MX]]:
    """What `turning` has of each joint with rotors, after all sweeps."""
    found = []
    for j, kind in enumerate(system.structures):
        if kind.reflects:
            seat = {
                f"{what}_seat": order_n.of_seat(j, system, moves, what, MX()) for what in ("VA" if kind.rotors else "")
            }
            states = {"k": system.constants[j], "u": system.states[j].u, "u_rate": moves[j].u_rate}
            found.append(system.kernels.call(turning, kind, **states, **seat))
    return found


def spins(system: System, moves: list[BodyMotion]) -> list[tuple[int, MX]]:
    """Root of the tree and spin momentum (3), inertial axes, of each joint with rotors whose axes are given."""
    found = []
    for j, kind in enumerate(system.structures):
        if kind.rotors:
            C = order_n.of_seat(j, system, moves, "pose", order_n.INERTIAL_POSE)[0]
            states = {"k": system.constants[j], "u": system.states[j].u, "C_seat": C}
            found.append((system.tree.root[j], system.kernels.call(spinning, kind, **states)["momentum"]))
    return found
