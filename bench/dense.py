"""Accelerations by a dense mass matrix: the method that Order-N is measured against, compiled to C alike.

Kinematics, bias forces and constraints are the engine's own first sweep; then the mass matrix of joints and modes from
composite bodies (R. Featherstone, Rigid Body Dynamics Algorithms (2008), section 6.2, with a body's modes as further
freedoms), bias forces from a sweep without accelerations, a dense L D L^T, and for loops ``L^-1 G^T`` by substitution,
``G M^-1 G^T`` and its own factors. Loops must not have redundant rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import casadi as ca
import dense_kernels
from casadi import MX

from mbdy.engine.model.ports import ports
from mbdy.engine.model.system import Model
from mbdy.engine.model.topology import ROOT
from mbdy.engine.order_n import flexible_body as deformation
from mbdy.engine.order_n import nodes as seats
from mbdy.engine.order_n import sweeps as order_n
from mbdy.engine.order_n.equations import _Assembly
from mbdy.engine.order_n.kernels import Kernels
from mbdy.engine.order_n.loop_forces import INERTIAL_SIDE, Loops

Columns = dict[tuple[str, int], MX]
"""Force vectors (6, n) of unit accelerations of a group of freedoms, or of unit multipliers of a loop."""
SOURCE = Path(__file__).with_name("dense.c")


@dataclass
class Terms:
    """What the dense method solves: blocks of the mass matrix and of the loops' columns, with their places in C."""

    function: ca.Function
    block_at: list[int]
    column_at: list[int]
    sizes: dict[str, int]

    def sources(self) -> dict[str, str]:
        """C of ``repeat(count, x, u, k, rates)`` by file, to be compiled with the code of `function`."""
        function = self.function
        sizes = self.sizes | {"arguments": function.n_in(), "results": function.n_out()}
        lines = [f"#define {name.upper()} {value}" for name, value in sizes.items()]
        for name, values in (("BLOCK_AT", self.block_at), ("COLUMN_AT", self.column_at)):
            lines.append(f"#define {name} {', '.join(map(str, [*values, 0]))}")
        header = "\n".join(lines) + "\n"
        return {"dense.c": SOURCE.read_text(encoding="utf-8"), "sizes.h": header}


def terms(model: Model) -> Terms:
    """The dense equations of ``model``: no wheels, prescribed motions or ``attitude`` root."""
    return _Dense(model).terms()


@dataclass
class _Dense:
    model: Model
    blocks: list[MX] = field(default_factory=list)
    block_at: list[int] = field(default_factory=list)
    columns: list[MX] = field(default_factory=list)
    column_at: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.assembly = assembly = _Assembly(self.model, ports(self.model), framed=False)
        self.layout, self.kernels = assembly.layout, Kernels()
        self.x, self.u = MX.sym("x", self.layout.n_x), MX.sym("u", len(assembly.ports.input_names))
        self.k = MX.sym("k", self.layout.n_k)
        self.system = assembly.system(self.x, self.u, self.k, self.kernels)
        self.moves = assembly.forced(self.system, self.u, self.k)
        self.loops = Loops(self.system, self.moves, assembly.closings(self.u, self.k)) if self.model.loops else None
        self.n = self.layout.n_u + self.layout.n_eta
        self.m = sum(loop.size for loop in self.model.loops)

    def terms(self) -> Terms:
        accelerations = self._at_rest()
        forces = self._bias_forces(accelerations)
        self._masses()
        right = MX(0, 1)
        if self.loops:
            right = ca.vertcat(*self._loops(accelerations))
        outputs = [ca.vertcat(*map(ca.vec, self.blocks)), forces, ca.vertcat(MX(0, 1), *map(ca.vec, self.columns)),
                   right, ca.vertcat(*self._q_rates())]  # fmt: skip
        function = ca.Function("mbdy_dense_terms", [self.x, self.u, self.k], list(map(ca.densify, outputs)))
        at = self.layout
        sizes = {"n": self.n, "m": self.m, "n_u": at.n_u, "n_eta": at.n_eta, "n_q": at.n_q, "modes": at.n_q + at.n_u,
                 "blocks": len(self.block_at), "columns": len(self.column_at)}  # fmt: skip
        return Terms(function, self.block_at, self.column_at, sizes)

    def _q_rates(self) -> list[MX]:
        rates = [m.q_rate for m in self.moves]
        for j, kind in enumerate(self.layout.structures):
            if kind.floating:
                rates[j] = ca.vertcat(self.system.states[j].u[:3], rates[j][3:])
        return rates

    def _at_rest(self) -> dict[tuple[int, int | None], MX]:
        """Accelerations of bodies and nodes with all of those of joints and modes zero."""
        found: dict[tuple[int, int | None], MX] = {}
        fall = order_n.inertial_acceleration(self.assembly.swept_gravity(self.u))
        for j in self.system.tree.outward:
            m, parent = self.moves[j], self.system.tree.parent[j]
            above = fall if parent == ROOT else found[parent, self.system.seats[j]]
            found[j, None] = self.kernels.call(dense_kernels.rest, E=m.E, r=m.r, c=m.c, A_parent=above)["A"]
            kind = self.layout.structures[j]
            for i, node in m.nodes.items():
                found[j, i] = self.kernels.call(
                    seats.accelerate, kind, i, E=node.E, r=node.r, Phi=node.Phi, c=node.c, A_body=found[j, None],
                    modal_rate=MX.zeros(kind.modes),
                )["A"]  # fmt: skip
        return found

    def _bias_forces(self, accelerations: dict[tuple[int, int | None], MX]) -> MX:
        """Forces on joints and modes less what their motion takes at zero accelerations."""
        carried: dict[tuple[int, int | None], list[MX]] = {}
        on_u: list[MX] = [MX()] * len(self.moves)
        on_eta: list[MX] = [MX()] * len(self.moves)
        for j in self.system.tree.inward:
            m, kind = self.moves[j], self.layout.structures[j]
            A = accelerations[j, None]
            if flexing := m.flexing:
                forces = self.kernels.call(
                    dense_kernels.flexible_force, kind.modes, M=flexing.M, B=flexing.B, p=m.p, p_f=flexing.p_f, A=A
                )
            else:
                forces = self.kernels.call(dense_kernels.rigid_force, kind, k=self.system.constants[j], p=m.p, A=A)
            f, modal = forces["f"], forces.get("modal", MX())
            for each in carried.get((j, None), []):
                f = f + each
            for i, node in m.nodes.items():
                for each in carried.get((j, i), []):
                    share = self.kernels.call(dense_kernels.lower, kind, i, 1, E=node.E, r=node.r, Phi=node.Phi, N=each)
                    f, modal = f + share["N_body"], modal + share["modal"] if kind.modes else modal
            found = self.kernels.call(
                dense_kernels.joint_force, kind, self._subspace(j), E=m.E, r=m.r, S=m.S, tau=m.tau, f=f
            )
            on_u[j], on_eta[j] = found["on_u"], -modal
            parent = self.system.tree.parent[j]
            if parent != ROOT:
                carried.setdefault((parent, self.system.seats[j]), []).append(found["f_parent"])
        return ca.vertcat(*on_u, *on_eta)

    def _subspace(self, j: int) -> str:
        return self.moves[j].S.sparsity().serialize()

    def _masses(self) -> None:
        """Blocks of the mass matrix, bodies from tips to base."""
        inertia: dict[tuple[int, int | None], list[MX]] = {}
        columns: dict[tuple[int, int | None], Columns] = {}
        for j in self.system.tree.inward:
            m, kind, parent = self.moves[j], self.layout.structures[j], self.system.tree.parent[j]
            if m.flexing:
                own, B = m.flexing.M, m.flexing.B
                F = MX(ca.densify(deformation.modal_mass(kind)))
            else:
                own = self.kernels.call(dense_kernels.rigid_inertia, kind, k=self.system.constants[j])["M"]
                B, F = MX(), MX()
            on_body = dict(columns.pop((j, None), {}))
            for each in inertia.get((j, None), []):
                own = own + each
            for i, node in m.nodes.items():
                for each in inertia.get((j, i), []):
                    moved = self.kernels.call(
                        dense_kernels.carry_composite, kind, i, E=node.E, r=node.r, Phi=node.Phi, inertia=each
                    )
                    own = own + moved["M"]
                    if m.flexing:
                        B, F = B + moved["B"], F + moved["F"]
                on_body |= self._past_node(j, i, columns.pop((j, i), {}))
            if m.flexing:
                self._block(("eta", j), ("eta", j), F)
                on_body["eta", j] = B
            past = self._past_joint(j, on_body)
            if kind.form.n_u:
                found = self.kernels.call(dense_kernels.composite, kind, self._subspace(j), inertia=own, S=m.S)
                self._block(("u", j), ("u", j), found["square"])
                if parent != ROOT:
                    past["u", j] = self._lifted(j, found["force"])
            if parent != ROOT:
                above = self.kernels.call(dense_kernels.to_parent, E=m.E, r=m.r, inertia=own)["M"]
                seat = (parent, self.system.seats[j])
                inertia.setdefault(seat, []).append(above)
                columns.setdefault(seat, {}).update(past)

    def _past_node(self, j: int, i: int, given: Columns, loop: bool = False) -> Columns:
        """Columns at a node brought to its body, with their blocks of the body's modes."""
        node, kind, found = self.moves[j].nodes[i], self.layout.structures[j], {}
        for group, N in given.items():
            share = self.kernels.call(dense_kernels.lower, kind, i, N.shape[1], E=node.E, r=node.r, Phi=node.Phi, N=N)
            found[group] = share["N_body"]
            if kind.modes:
                (self._column if loop else self._block)(("eta", j), group, share["modal"])
        return found

    def _past_joint(self, j: int, given: Columns, loop: bool = False) -> Columns:
        """Columns at a body brought to what its joint sits on, with their blocks of the joint."""
        m, kind, found = self.moves[j], self.layout.structures[j], {}
        for group, N in given.items():
            if kind.form.n_u:
                projected = self.kernels.call(dense_kernels.project, self._subspace(j), N.shape[1], S=m.S, N=N)
                (self._column if loop else self._block)(("u", j), group, projected["block"])
            if self.system.tree.parent[j] != ROOT:
                found[group] = self._lifted(j, N)
        return found

    def _lifted(self, j: int, N: MX) -> MX:
        """Columns (6, n) on a body as ones on what its joint sits on."""
        return self.kernels.call(dense_kernels.lift, N.shape[1], E=self.moves[j].E, r=self.moves[j].r, N=N)["N_parent"]

    def _loops(self, accelerations: dict[tuple[int, int | None], MX]) -> list[MX]:
        """Right sides of the loops; passes their columns inward."""
        assert self.loops
        fall = order_n.inertial_acceleration(self.assembly.swept_gravity(self.u))
        right = []
        for number, (c, motion) in enumerate(zip(self.loops.closings, self.loops.motions, strict=True)):
            b = motion.gamma
            at: dict[tuple[int, int | None], Columns] = {}
            for seat, G in zip(c.seats, motion.G, strict=True):
                place = (seat.body, seat.node)
                b = b - G.T @ (fall if seat.body == INERTIAL_SIDE else accelerations[place])
                if seat.body != INERTIAL_SIDE:
                    _gather(at, place, {("loop", number): G})
            for j in self.system.tree.inward:
                here = dict(at.pop((j, None), {}))
                for i in self.moves[j].nodes:
                    for group, N in self._past_node(j, i, at.pop((j, i), {}), loop=True).items():
                        here[group] = here[group] + N if group in here else N
                past, parent = self._past_joint(j, here, loop=True), self.system.tree.parent[j]
                if parent != ROOT:
                    _gather(at, (parent, self.system.seats[j]), past)
            right.append(b)
        return right

    def _span(self, group: tuple[str, int]) -> range:
        sort, j = group
        if sort == "u":
            at, begin = self.layout.speeds[j], -self.layout.n_q
        elif sort == "eta":
            at, begin = self.layout.modes[j], -self.layout.n_q
        else:
            sizes = [loop.size for loop in self.model.loops]
            return range(sum(sizes[:j]), sum(sizes[: j + 1]))
        return range(at.start + begin, at.stop + begin)

    def _block(self, row: tuple[str, int], column: tuple[str, int], value: MX) -> None:
        self.blocks.append(ca.densify(value))
        for c in self._span(column):
            self.block_at += [max(r, c) * self.n + min(r, c) for r in self._span(row)]

    def _column(self, row: tuple[str, int], loop: tuple[str, int], value: MX) -> None:
        self.columns.append(ca.densify(value))
        for c in self._span(loop):
            self.column_at += [r * (self.m + 1) + c for r in self._span(row)]


def _gather(at: dict[tuple[int, int | None], Columns], place: tuple[int, int | None], given: Columns) -> None:
    here = at.setdefault(place, {})
    for group, N in given.items():
        here[group] = here[group] + N if group in here else N
