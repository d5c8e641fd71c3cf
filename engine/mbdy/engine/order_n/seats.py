"""Where loops and springs sit: on bodies and their nodes, of one tree or of several; and what they do there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
from casadi import MX

from mbdy.engine.model.system import INERTIAL, Model, Side
from mbdy.engine.model.topology import ROOT
from mbdy.engine.order_n import loop_kernels as closures
from mbdy.engine.order_n.sweeps import BodyMotion, System

INERTIAL_SIDE = -1


@dataclass(frozen=True)
class Seat:
    """Where one side sits: a body (`INERTIAL_SIDE` for none) and its node (None: its origin)."""

    body: int
    node: int | None


def seat_on(model: Model, side: Side, *, moved: bool = False) -> Seat:
    """The seat of ``side``; with ``moved`` a node of a rigid body counts as its origin, from which it does not move."""
    if side.body == INERTIAL:
        return Seat(INERTIAL_SIDE, None)
    body = model.body(side.body)
    known = side.node and (body.flex or not moved)
    return Seat(model.index[side.body], list(body.nodes).index(side.node) if known else None)


class Roots:
    """Place and velocity of the roots of ``bodies``, each after its parent, from the first of them that floats."""

    def __init__(self, system: System, bodies: Sequence[int]) -> None:
        structures = system.structures
        roots = [j for j in bodies if system.tree.parent[j] == ROOT]
        reference = next((j for j in roots if structures[j].floating), None)
        still = MX.zeros(3)

        def state(j: int | None, speeds: bool) -> MX:
            if j is None or not structures[j].floating:
                return still
            return (system.states[j].u if speeds else system.states[j].q)[:3]

        self.origin, self.drift = state(reference, False), state(reference, True)
        self.shift, self.slip = {}, {}
        for j in bodies:
            root = system.tree.root[j]
            self.shift[j] = still if root == reference else state(root, False) - self.origin
            self.slip[j] = still if root == reference else state(root, True) - self.drift


def press(system: System, moves: list[BodyMotion], seat: Seat, force: MX) -> None:
    """Applies a force vector (6) at a seat, its axes, to body and modes, before the second sweep."""
    m = moves[seat.body]
    if seat.node is not None:
        node, modes = m.nodes[seat.node], system.structures[seat.body].modes
        shares = system.kernels.call(closures.to_body, modes, 1, E=node.E, r=node.r, Phi=ca.densify(node.Phi), N=force)
        force = shares["N_body"]
        if m.flexing:
            m.flexing.p_f = m.flexing.p_f - shares["N_modes"]
    m.p = m.p - force
