"""The Order-N equations of motion: three sweeps along the tree (Stoneking, Order-N memo; equations.md, section 3).

The graph calls one kernel a body and sweep; C code, derivatives and linear models all follow from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from operator import add

import casadi as ca
from casadi import MX

from mbdy.engine import kernels
from mbdy.engine.constants import Structure
from mbdy.engine.kernels import Kernels
from mbdy.engine.topology import ROOT, Tree


@dataclass(frozen=True)
class BodyInputs:
    """One body's inputs: external ``forces``, joint ``effort``, spring ``rest``, prescribed ``acceleration``,
    ``switches`` (prescribed, then locked) and wheel ``torques``; empty where the body has none."""

    forces: MX
    effort: MX
    rest: MX
    acceleration: MX
    switches: MX
    torques: MX


@dataclass(frozen=True)
class BodyState:
    """One body's states: joint coordinates ``q``, speeds ``u`` and wheel momenta ``h``."""

    q: MX
    u: MX
    h: MX


@dataclass
class BodyMotion:
    """What the sweeps leave behind for one body (symbols of equations.md)."""

    E: MX
    r: MX
    S: MX
    c: MX
    V: MX
    p: MX
    tau: MX
    q_rate: MX
    wheel_torques: MX
    _: KW_ONLY
    below: tuple[MX, ...] = ()
    """Articulated inertia and bias force of the children together; nothing at a tip."""
    g: MX = field(default_factory=MX)
    t: MX = field(default_factory=MX)
    a_c: MX = field(default_factory=MX)
    forced: MX = field(default_factory=MX)
    A: MX = field(default_factory=MX)
    u_rate: MX = field(default_factory=MX)
    gradient: MX | None = None
    """Force vector of the gravity gradient, which is in p then; None where the model has none."""


@dataclass(frozen=True)
class System:
    """What the sweeps run over: the tree, and for each body in the order of the file its structure, states,
    constants and inputs; the kernels made so far."""

    tree: Tree
    structures: Sequence[Structure]
    states: Sequence[BodyState]
    constants: Sequence[MX]
    inputs: Sequence[BodyInputs]
    kernels: Kernels
    field: tuple[MX, MX] | None = None
    """Direction (3) and strength [1/s2] of the gravity gradient (`mbdy.engine.gravity_gradient`), in models with it."""


def velocities(system: System) -> list[BodyMotion]:
    """First sweep: frames, velocities and bias forces of all bodies.

    A floating root is taken with its origin at rest: the equations do not change with a constant velocity
    (equations.md, section 4), and rounding does not grow with the speed of an orbit.
    """
    moves: list[BodyMotion] = [None] * len(system.states)  # type: ignore[list-item]
    for j in system.tree.outward:
        moves[j] = _outward(j, system, moves)
    return moves


def accelerations(system: System, moves: list[BodyMotion], gravity: MX) -> None:
    """Second and third sweep: fills in the accelerations of all bodies.

    ``gravity`` (3, inertial axes): the inertial frame is taken to accelerate with its negative.
    """
    for j in system.tree.inward:
        _inward(j, system, moves)
    fall = ca.densify(ca.vertcat(MX(3, 1), -gravity))
    for j in system.tree.outward:
        m, parent = moves[j], system.tree.parent[j]
        A_parent = fall if parent == ROOT else moves[parent].A
        m.A, m.u_rate = system.kernels.call(
            kernels.accelerate, (system.structures[j],),
            m.E, m.r, m.S, m.a_c, m.g, m.t, m.forced, A_parent,
        )  # fmt: skip


def root_frame_speeds(kind: Structure, u: MX) -> MX:
    """A body's speeds as the sweeps see them: those of a floating root without its linear velocity."""
    return ca.densify(ca.vertcat(MX(3, 1), u[3:])) if kind.floating else u


def _outward(j: int, system: System, moves: list[BodyMotion]) -> BodyMotion:
    kind, state, given = system.structures[j], system.states[j], system.inputs[j]
    parent = system.tree.parent[j]
    carried = () if parent == ROOT else (moves[parent].V,)
    return BodyMotion(*system.kernels.call(
        kernels.outward, (kind, parent == ROOT),
        state.q, root_frame_speeds(kind, state.u), system.constants[j], *carried,
        given.forces, given.effort, given.rest, state.h, given.torques,
    ))  # fmt: skip


def _inward(j: int, system: System, moves: list[BodyMotion]) -> None:
    m, parent, leaf = moves[j], system.tree.parent[j], not system.tree.children[j]
    given = system.inputs[j]
    found = system.kernels.call(
        kernels.inward, (system.structures[j], parent == ROOT, leaf),
        m.E, m.r, m.S, m.c, system.constants[j], m.p, m.tau, given.acceleration, given.switches, *m.below,
    )  # fmt: skip
    m.g, m.t, m.a_c, m.forced = found[:4]
    if parent != ROOT:
        carried, above = found[4:], moves[parent]
        above.below = tuple(map(add, above.below, carried)) if above.below else carried
