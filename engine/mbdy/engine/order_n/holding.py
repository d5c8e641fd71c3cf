"""What friction that sticks takes to hold: what the core looks at to decide which degrees of freedom it does hold."""

from __future__ import annotations

import casadi as ca
from casadi import MX

from mbdy.engine.model.laws.sticking import most
from mbdy.engine.order_n.constants import Structure
from mbdy.engine.order_n.kernels import kernel
from mbdy.engine.order_n.outputs import reactions
from mbdy.engine.order_n.rigid_body import body_symbols, drive, drive_symbols, kind_name
from mbdy.engine.order_n.sweeps import BodyMotion, System

RESULTS = ("effort", "acceleration", "rate", "driven", "coulomb", "breakaway", "inertia")
"""By degree of freedom with such friction: the effort [N, N.m] that holds it where it is held (friction left out), its
acceleration and rate, whether (1) it is prescribed or locked, Coulomb friction, what it holds at most, and the inertia
that it moves with what is outboard of it (zero without loops and gears)."""


def held(system: System, moves: list[BodyMotion], pivots: list[MX]) -> dict[str, MX]:
    """`RESULTS` of a system, bodies in their order, after all sweeps."""
    found: dict[str, list[MX]] = {name: [] for name in RESULTS}
    for j, (kind, state, m) in enumerate(zip(system.structures, system.states, moves, strict=True)):
        if kind.sticking:
            limits = system.kernels.call(limits_of, kind, k=system.constants[j], **system.inputs[j].driven)
            of = {
                "effort": reactions(system, moves, j)["reaction"],
                "acceleration": m.u_rate,
                "rate": state.u,
                "inertia": pivots[j],
                **limits,
            }
            for name in RESULTS:
                found[name].append(of[name])
    return {name: ca.vertcat(*pieces) for name, pieces in found.items()}


def limits_of(kind: Structure) -> ca.Function:
    """Kernel: ``driven``, ``coulomb`` and ``breakaway`` of a body's joint."""
    inputs, k = body_symbols(kind)
    symbols = drive_symbols(kind)
    driven, _ = drive(kind, symbols)
    limits = {"driven": ca.densify(driven), "coulomb": k["coulomb"], "breakaway": most(k)}
    return kernel(f"limits_{kind_name(kind)}", inputs | symbols, limits)
