"""Trees that closed loops join: the velocity of their mass centre, along what holds none of them to inertial.

Loops that can be opened count by their input ``closed``, 1 or 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import add

import casadi as ca
from casadi import DM, MX, SX

from mbdy.engine.model.topology import ROOT
from mbdy.engine.order_n import output_kernels as observe
from mbdy.engine.order_n import spatial
from mbdy.engine.order_n.constants import Structure
from mbdy.engine.order_n.gear_rows import GearStructure
from mbdy.engine.order_n.kernels import kernel, symbols
from mbdy.engine.order_n.loop_forces import Closing
from mbdy.engine.order_n.loop_kernels import LoopStructure
from mbdy.engine.order_n.rigid_body import body_symbols
from mbdy.engine.order_n.seats import INERTIAL_SIDE
from mbdy.engine.order_n.sweeps import INERTIAL_POSE, BodyMotion, System

Share = MX | int
"""1 or 0, as inputs say; the number 1 where they do not matter."""
PARALLEL = 1e-12
"""Square of the sine below which a direction lies among others."""


def mean_velocity(system: System, moves: list[BodyMotion], closings: Sequence[Closing], root: int) -> MX:
    """Velocity (3) of the mass centre of the tree of ``root`` and of those that loops join to it, inertial axes, along
    what neither their roots nor loops to inertial hold; seen with the origin of a floating root at rest."""
    joined = _joined(system, closings, root)
    holds = [*_holds(system, moves, closings, joined)]
    if any(axes is None and isinstance(share, int) for share, axes in holds):
        return -_drift(system, root)
    momenta, masses = [], []
    for j in system.tree.outward:
        base, mass = system.tree.root[j], system.constants[j][0]
        if base not in joined:
            continue
        state = system.states[j]
        momentum = system.kernels.call(
            observe.momentum, system.structures[j], k=system.constants[j], V=moves[j].V, C=moves[j].pose[0],
            eta=state.eta, eta_rate=state.eta_rate,
        )["momentum"]  # fmt: skip
        if base != root:
            momentum = joined[base] * (momentum + mass * (_drift(system, base) - _drift(system, root)))
            mass = joined[base] * mass
        momenta.append(momentum)
        masses.append(mass)
    mean = reduce(add, momenta) / reduce(add, masses)
    if not holds:
        return mean
    free, every = MX(DM.eye(3).full()), MX(DM.eye(3).full())
    for share, held in holds:
        axes = every if held is None else held
        free = system.kernels.call(narrowed, axes.shape[1], free=free, axes=axes, share=MX(share))["narrowed"]
    drift = _drift(system, root)
    return free @ (mean + drift) - drift


def _drift(system: System, root: int) -> MX:
    """Velocity (3) of the origin of a root, which the sweeps take at rest if it floats."""
    return system.states[root].u[:3] if system.structures[root].floating else MX.zeros(3)


def _joined(system: System, closings: Sequence[Closing], root: int) -> dict[int, Share]:
    """Roots of trees that loops may join to that of ``root``, with whether they do."""
    edges: list[tuple[int, int, Share]] = []
    for c in closings:
        bodies = [seat.body for seat in c.seats]
        if isinstance(c.kind, GearStructure) or INERTIAL_SIDE in bodies:
            continue
        a, b = (system.tree.root[body] for body in bodies)
        if a != b:
            edges += [(a, b, _share(c)), (b, a, _share(c))]
    joined: dict[int, Share] = {root: 1}
    rounds = range(system.tree.parent.count(ROOT) - 1)
    for several in ([edge for edge in edges if isinstance(edge[2], int)], edges):
        for a, b, closed in (edge for _ in rounds for edge in several):
            if a not in joined or isinstance(joined.get(b), int):
                continue
            more = joined[a] * closed
            joined[b] = joined[b] + more - joined[b] * more if b in joined and not isinstance(more, int) else more
    return joined


def _share(c: Closing) -> Share:
    """Whether a loop is closed."""
    return 1 if c.closed.is_constant() and float(c.closed.to_DM()) == 1.0 else c.closed


def _holds(
    system: System, moves: list[BodyMotion], closings: Sequence[Closing], joined: dict[int, Share]
) -> Iterator[tuple[Share, MX | None]]:
    """What holds trees to inertial, and whether it does: directions (3, n), inertial axes, or None for all."""
    for root, share in joined.items():
        kind = system.structures[root]
        if kind.floating or kind.form.translations == 3:
            continue
        slides = kind.form.translations > 0
        yield share, system.kernels.call(across, kind, k=system.constants[root])["axes"] if slides else None
    for c in closings:
        bodies = [seat.body for seat in c.seats if seat.body != INERTIAL_SIDE]
        if isinstance(c.kind, GearStructure) or len(bodies) == 2 or system.tree.root[bodies[0]] not in joined:
            continue
        share, held = joined[system.tree.root[bodies[0]]] * _share(c), [row - 4 for row in c.kind.rows if row > 3]
        if c.kind.rod or len(held) == 3:
            yield share, None
        elif held:
            seat = c.seats[0]
            m = None if seat.body == INERTIAL_SIDE else moves[seat.body]
            pose = INERTIAL_POSE if m is None else m.pose if seat.node is None else m.nodes[seat.node].pose
            yield share, system.kernels.call(held_axes, c.kind, C=pose[0])["axes"]


def across(kind: Structure) -> ca.Function:
    """Kernel: columns (3, 3) that span what the translations of a root do not, inertial ``axes``."""
    inputs, k = body_symbols(kind)
    slides = k["R0"] @ k["axes"][:, : kind.form.translations]
    along = ca.horzcat(*(spatial.solve_ldl(slides.T @ slides, slides.T @ SX.eye(3)[:, i]) for i in range(3)))
    return kernel("across", inputs, {"axes": ca.densify(SX.eye(3) - slides @ along)})


def held_axes(kind: LoopStructure) -> ca.Function:
    """Kernel: ``axes`` of a's loop frame along which a loop holds, inertial ones; C turns the seat of a."""
    inputs = symbols(C=(3, 3))
    axes = inputs["C"] @ spatial.rotation_matrix(SX(DM(kind.a.frame)))
    return kernel("held_axes", inputs, {"axes": axes[:, [row - 4 for row in kind.rows if row > 3]]})


def narrowed(n: int) -> ca.Function:
    """Kernel: the projection ``free`` (3, 3) without ``axes`` (3, n), if ``share`` is 1."""
    inputs = symbols(free=(3, 3), axes=(3, n), share=1)
    free, axes, share = inputs.values()
    for i in range(n):
        beside = free @ axes[:, i]
        square = ca.dot(beside, beside)
        other = square > PARALLEL
        free = free - ca.if_else(other, share / ca.if_else(other, square, 1), 0) * beside @ beside.T
    return kernel("narrowed", inputs, {"narrowed": ca.densify(free)})
