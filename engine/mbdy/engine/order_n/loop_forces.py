"""Closed loops and gears on top of the sweeps: their forces, and accelerations that keep them closed.

Constraint forces are found from ``G M^-1 G^T lambda = gamma - G a`` with the accelerations ``a`` of the open tree; then
the third sweep is made again with the forces applied (equations.md, "Closed loops").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import TypeVar

import casadi as ca
from casadi import MX

from mbdy.engine.model.topology import ROOT
from mbdy.engine.order_n import gear_rows as gearing
from mbdy.engine.order_n import loop_kernels as closures
from mbdy.engine.order_n import sweeps as order_n
from mbdy.engine.order_n.gear_rows import GearStructure
from mbdy.engine.order_n.loop_kernels import LoopStructure
from mbdy.engine.order_n.loop_solver import solver
from mbdy.engine.order_n.seats import INERTIAL_SIDE, Roots, Seat, press
from mbdy.engine.order_n.sweeps import BodyMotion, Pose, System

_Key = TypeVar("_Key")
T = TypeVar("T")


@dataclass(frozen=True)
class Closing:
    """One loop or gear of a system: its structure, seats of a and b (of a gear none), constants, and whether it is
    closed (1) or open (0)."""

    kind: LoopStructure | GearStructure
    seats: tuple[Seat, ...]
    constants: MX
    closed: MX


@dataclass
class LoopMotion:
    """What is found for one loop or gear: symbols of `loop_kernels`, poses of both sides, and its multipliers; of a
    gear ``efforts`` (n_u) of a unit multiplier, by body."""

    phi: MX
    rate: MX
    G: tuple[MX, ...]
    gamma: MX
    cosine: MX
    lessening: MX
    poses: tuple[tuple[MX, MX], ...]
    efforts: dict[int, MX] = field(default_factory=dict)
    multipliers: MX = field(default_factory=MX)
    columns: dict[int, MX] = field(default_factory=dict)
    """By body: what unit multipliers add to its p where it enters the joint's elimination."""


class Loops:
    """The loops and gears of ``system`` after its first sweep (``moves``)."""

    def __init__(self, system: System, moves: list[BodyMotion], closings: Sequence[Closing]) -> None:
        self.system, self.moves, self.closings = system, moves, closings
        self.paths = [sorted({j for body in _bodies(c) for j in system.tree.path(body)}, key=system.tree.outward.index)
                      for c in closings]  # fmt: skip
        self.needed = sorted({j for path in self.paths for j in path}, key=system.tree.outward.index)
        self.roots = Roots(system, self.needed)
        self.motions = [self._constrained(c) for c in closings]

    def close(self, gravity: MX, right: Sequence[MX] | None = None) -> None:
        """Solves for the forces of the loops and makes the third sweep with them, after the second one.

        ``right`` takes the place of gamma.
        """
        changes = self._inward()
        # The right-hand side wants the open tree's accelerations, and only where loops are: the third sweep over the
        # others waits until the forces are known.
        order_n.swing_out(self.system, self.moves, gravity, self.needed)
        wanted = right or [motion.gamma for motion in self.motions]
        pairs = list(zip(self.closings, self.motions, wanted, strict=True))
        b = ca.vertcat(*(c.closed * (want - self._along(c, motion, gravity)) for c, motion, want in pairs))
        closed = ca.vertcat(*(ca.repmat(c.closed, c.kind.size, 1) for c in self.closings))
        solve, scale = solver(self.A.sparsity().serialize(), b.shape[0]), self._scale()
        A, b = (self.A, b) if scale is None else (ca.diag(scale) @ self.A @ ca.diag(scale), scale * b)
        multipliers = solve(A=A, closed=closed, b=b)["multipliers"]
        multipliers = multipliers if scale is None else scale * multipliers
        # The eliminations are linear in forces. What unit multipliers change of t is known from the way inward, so the
        # second sweep is not made again: t moves by that times the multipliers.
        at = 0
        for c, motion in zip(self.closings, self.motions, strict=True):
            motion.multipliers = multipliers[at : at + c.kind.size]
            at += c.kind.size
        for j, on_body in changes.items():
            m = self.moves[j]
            for loop, (t, modal) in on_body.items():
                motion = self.motions[loop]
                m.t = m.t + t @ motion.multipliers
                if j in motion.columns:
                    m.closing = m.closing + motion.columns[j] @ motion.multipliers
                if m.flexing:
                    m.flexing.t = m.flexing.t + modal @ motion.multipliers
        order_n.swing_out(self.system, self.moves, gravity, self.system.tree.outward)
        for motion in self.motions:
            self._exert(motion, motion.multipliers)

    def _scale(self) -> MX | None:
        """What each row is multiplied by where multipliers are found: the rows of gears get norm 1, however their
        factors were written. None without gears."""
        if not any(isinstance(c.kind, GearStructure) for c in self.closings):
            return None
        of_gears = (
            c.constants[2] if isinstance(c.kind, GearStructure) else MX.ones(c.kind.size) for c in self.closings
        )
        return ca.vertcat(*of_gears)

    def _exert(self, motion: LoopMotion, force: MX) -> None:
        """Adds a gear's efforts to those at its joints."""
        for body, effort in motion.efforts.items():
            self.moves[body].tau = self.moves[body].tau + effort @ force

    def push(self, multipliers: Sequence[MX]) -> None:
        """Applies forces of the loops to the bodies and modes that they sit on, before the second sweep."""
        for c, motion, force in zip(self.closings, self.motions, multipliers, strict=True):
            self._exert(motion, force)
            for seat, G in zip(c.seats, motion.G, strict=True):
                if seat.body == INERTIAL_SIDE:
                    continue
                press(self.system, self.moves, seat, G @ force)

    def power(self) -> MX:
        """Power [W] of the loops' forces on the bodies, each with the velocity that the sweeps see; those of gears are
        efforts at joints."""
        still = MX.zeros(6)
        return sum((
            ca.dot(G @ motion.multipliers, self._of(seat, "V", still))
            for c, motion in zip(self.closings, self.motions, strict=True)
            for seat, G in zip(c.seats, motion.G, strict=True)
        ), MX(0))  # fmt: skip

    def forces(self, loop: int) -> dict[str, MX]:
        """``force`` and ``torque`` of a loop on its b, at its place, axes of a's loop frame; ``effort`` of a gear at
        its joints, in the order of its terms."""
        c, motion = self.closings[loop], self.motions[loop]
        if isinstance(c.kind, GearStructure):
            return {"effort": gearing.factors(c.constants) @ motion.multipliers}
        (C_a, rho_a), (C_b, rho_b) = motion.poses
        return self.system.kernels.call(
            closures.force, c.kind,
            multipliers=motion.multipliers, G_a=motion.G[0], C_a=C_a, rho_a=rho_a, C_b=C_b, rho_b=rho_b,
        )  # fmt: skip

    def _pose(self, seat: Seat) -> Pose:
        """C (to inertial components) and place of a seat."""
        if seat.body == INERTIAL_SIDE:
            return order_n.INERTIAL_POSE[0], -self.roots.origin
        C, rho = self._of(seat, "pose", order_n.INERTIAL_POSE)
        return C, self.roots.shift[seat.body] + rho

    def _of(self, seat: Seat, what: str, inertial: T) -> T:
        if seat.body == INERTIAL_SIDE:
            return inertial
        m = self.moves[seat.body]
        return getattr(m if seat.node is None else m.nodes[seat.node], what)

    def _sides(self, c: Closing) -> dict[str, MX]:
        """Pose, velocity and velocity of its frame of both seats, as `loop_kernels` calls them."""
        sides: dict[str, MX] = {}
        for name, seat in zip("ab", c.seats, strict=True):
            C, rho = self._pose(seat)
            slip = -self.roots.drift if seat.body == INERTIAL_SIDE else self.roots.slip[seat.body]
            V = self._of(seat, "V", MX.zeros(6))
            sides |= {f"C_{name}": C, f"rho_{name}": rho, f"V_{name}": V, f"slip_{name}": slip}
        return sides

    def _constrained(self, c: Closing) -> LoopMotion:
        if isinstance(c.kind, GearStructure):
            at = gearing.coordinates(c.kind, self.system.states)
            held = self.system.kernels.call(gearing.hold, len(c.kind.freedoms), k=c.constants, **at)
            efforts = gearing.efforts(c.kind, c.constants, self.system)
            return LoopMotion(**held, G=(), cosine=MX(1), lessening=held["rate"], poses=(), efforts=efforts)
        sides = self._sides(c)
        results = self.system.kernels.call(closures.constrain, c.kind, k=c.constants, **sides)
        poses = (sides["C_a"], sides["rho_a"]), (sides["C_b"], sides["rho_b"])
        of = {name: results[name] for name in ("phi", "rate", "gamma", "cosine", "lessening")}
        return LoopMotion(**of, G=(results["G_a"], results["G_b"]), poses=poses)

    def _along(self, c: Closing, motion: LoopMotion, gravity: MX) -> MX:
        """Accelerations along the rows of a loop, from those of the sweeps."""
        if isinstance(c.kind, GearStructure):
            return gearing.along(c.kind, c.constants, [m.u_rate for m in self.moves])
        inertial = order_n.inertial_acceleration(gravity)
        return reduce(add, (G.T @ self._of(seat, "A", inertial) for seat, G in zip(c.seats, motion.G, strict=True)))

    def _inward(self) -> dict[int, dict[int, tuple[MX, MX]]]:
        """Passes the loops' columns inward, fills in A; what unit multipliers change of t of joints and modes."""
        system = self.system
        waiting: dict[tuple[int, int | None], dict[int, MX]] = {}
        for loop, (c, motion) in enumerate(zip(self.closings, self.motions, strict=True)):
            for seat, G in zip(c.seats, motion.G, strict=True):
                if seat.body != INERTIAL_SIDE:  # forces enter the bias force p with a minus; an open loop has none
                    _add(waiting.setdefault((seat.body, seat.node), {}), loop, -c.closed * G)
        blocks: dict[tuple[int, int], MX] = {}
        changes: dict[int, dict[int, tuple[MX, MX]]] = {}
        for j in reversed(self.needed):
            on_body, on_modes = self._on(j, waiting)
            seat = (system.tree.parent[j], system.seats[j])
            entering = {
                i: c.closed * motion.efforts[j]
                for i, (c, motion) in enumerate(zip(self.closings, self.motions, strict=True))
                if j in motion.efforts and set(system.structures[j].motion) != {"prescribed"}
            }
            changes[j] = {}
            of_modes: dict[int, tuple[MX, MX]] = {}
            of_joint: dict[int, tuple[MX, MX]] = {}
            for loop in dict.fromkeys((*on_body, *entering)):
                past, modal = {}, MX.zeros(system.structures[j].modes, 1)
                if loop in on_body:
                    left, modal = self._past_modes(j, on_body[loop], on_modes.get(loop))
                    self.motions[loop].columns[j] = left
                    if loop in on_modes:
                        of_modes[loop] = (on_modes[loop], modal)
                    past = self._past_joint(j, left)
                if loop in entering:
                    for name, part in gearing.entered(system, self.moves, j, entering[loop]).items():
                        _add(past, name, part)
                of_joint[loop] = (past["epsilon"], past["change"])
                changes[j][loop] = (past["change"], modal)
                if seat[0] != ROOT:
                    _add(waiting.setdefault(seat, {}), loop, past["N_parent"])
            _square(blocks, of_modes)
            _square(blocks, of_joint)
        self.A = self._assembled(blocks)
        return changes

    def _on(self, j: int, waiting: dict[tuple[int, int | None], dict[int, MX]]) -> tuple[dict[int, MX], dict[int, MX]]:
        """What waits at a body and its nodes, by loop: columns on the body and on its modes."""
        on_body, on_modes = waiting.pop((j, None), {}), {}
        modes = self.system.structures[j].modes
        for i, node in self.moves[j].nodes.items():
            for loop, columns in waiting.pop((j, i), {}).items():
                results = self.system.kernels.call(
                    closures.to_body, modes, columns.shape[1], E=node.E, r=node.r, Phi=ca.densify(node.Phi), N=columns
                )
                _add(on_body, loop, results["N_body"])
                if modes:
                    _add(on_modes, loop, results["N_modes"])
        return on_body, on_modes

    def _past_modes(self, j: int, columns: MX, on_modes: MX | None) -> tuple[MX, MX]:
        """Columns on a body with its modes eliminated, and what they change of t of the modes."""
        flexing, modes, size = self.moves[j].flexing, self.system.structures[j].modes, columns.shape[1]
        if flexing is None or on_modes is None:
            return columns, MX.zeros(modes, size)
        results = self.system.kernels.call(
            closures.past_modes, modes, size, g=flexing.g, inverse=flexing.inverse, N=columns, N_modes=on_modes
        )
        return results["N_joint"], results["change"]

    def _past_joint(self, j: int, columns: MX) -> dict[str, MX]:
        """What `loop_kernels.past_joint` has of ``columns``."""
        m, kind = self.moves[j], self.system.structures[j]
        return self.system.kernels.call(
            closures.past_joint, kind, columns.shape[1],
            k=self.system.constants[j], **order_n.at_joint(kind, m), g=m.g, S_free=m.S_free, solved=m.solved, N=columns,
        )  # fmt: skip

    def _assembled(self, blocks: dict[tuple[int, int], MX]) -> MX:
        sizes = [c.kind.size for c in self.closings]

        def block(i: int, k: int) -> MX:
            if i > k:
                return block(k, i).T
            return blocks[i, k] if (i, k) in blocks else MX(sizes[i], sizes[k])

        places = range(len(sizes))
        return ca.blockcat([[block(i, k) for k in places] for i in places])


def _bodies(c: Closing) -> list[int]:
    """The bodies that a loop or gear acts on."""
    if isinstance(c.kind, GearStructure):
        return [body for body, _ in c.kind.freedoms]
    return [seat.body for seat in c.seats if seat.body != INERTIAL_SIDE]


def _add(table: dict[_Key, MX], key: _Key, value: MX) -> None:
    table[key] = table[key] + value if key in table else value


def _square(blocks: dict[tuple[int, int], MX], terms: dict[int, tuple[MX, MX]]) -> None:
    """Adds ``-epsilon^T dt`` of one elimination to the blocks of all pairs of loops, the upper triangle of them.

    As ``dt = -D^-1 epsilon``, each is a square ``epsilon^T D^-1 epsilon``: A, their sum, is symmetric and never
    negative, on which the solver's factors and proximal steps rest.
    """
    for first, (epsilon, _) in terms.items():
        for second, (_, change) in terms.items():
            if second >= first:
                _add(blocks, (first, second), -(epsilon.T @ change))
