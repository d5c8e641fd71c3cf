"""Linear equations of a model about an operating point, over the same variables and vectors as the full ones.

The accelerations ``r = [u', h']`` are linear about the operating point (equations.md, section 9):

    r = r0 + G c,    c = what the coordinates, speeds, momenta and inputs are away from it,

with constant ``r0`` and ``G`` that `prepare` works out from the parameters by exact derivatives of the full equations,
so parameters stay inputs. What is known exactly is kept so: the rates of coordinates (``q'`` of angles, quaternions and
positions), the laws of joints, which enter as efforts, and the attitude of a floating root, whose accelerations are
linear in its own axes and whose mass falls with gravity. About a state of rest this is MBDYL (JPL TR 32-1592,
Section III). With first-order geometry it is MBDYTL: external forces F add ``M^-1 (dQ/dq . c) F``, their generalized
forces' change with the coordinates under a constant mass matrix. That product follows from the full equations too:
under F and efforts that hold it in equilibrium at the operating point nothing accelerates there, so the change of the
accelerations with the coordinates is all due to the changed Q.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import casadi as ca
import numpy as np
from casadi import MX, SX

from mbdy.engine import kernels, spatial
from mbdy.engine.constants import Layout, constant_fields, layout
from mbdy.engine.efforts import effort
from mbdy.engine.equations import Equations, equations
from mbdy.engine.joint_values import HARNESS
from mbdy.engine.model import Body, Model
from mbdy.engine.ports import Ports
from mbdy.engine.reference_point import ReferencePoint, Values
from mbdy.engine.sensitivities import forward
from mbdy.engine.variables import switched

LAW_STRENGTHS = ("stiffness", "damping", "cubic_stiffness", "friction", "stop_stiffness", "stop_damping")
"""Constants of a joint without which its laws do nothing."""
DRAWS = 3
"""Random parameters at which an entry of G must be zero for it to be left out of the code."""


def linear_equations(model: Model, at: Values, geometry: str) -> Equations:
    """The linear equations of ``model`` about the operating point ``at``; see `mbdy.engine.dynamics.Linear`."""
    for body in model.bodies:
        if body.joint.floating and any(how != "free" for how in body.joint.motion):
            raise ValueError(
                f"linear equations: the motion of the floating root {body.name!r} can be prescribed; only "
                "that of joints can"
            )
    full = equations(model)
    point = ReferencePoint(full.ports, at)
    made = _Linear(model, full, point, geometry == "first-order")
    x, u, s = (MX.sym(n, size) for n, size in (("x", point.n_x), ("u", point.n_u), ("s", point.n_x)))
    k, p = MX.sym("k", made.n_k), MX.sym("p", len(full.ports.parameter_names))
    own = k[: full.n_k]

    def same(f: ca.Function, *arguments: MX) -> ca.Function:
        found = f(*arguments, own)
        results = [*found] if isinstance(found, tuple) else [found]
        return ca.Function(f.name(), [*arguments, k], results, f.name_in(), f.name_out())

    return replace(
        full,
        prepare=ca.Function("mbdy_model_prepare", [p], [made.prepare(p)], ["p"], ["k"]),
        start=same(full.start, s),
        derivatives=ca.Function("mbdy_model_derivatives", [x, u, k], [made.rates(x, u, k)], ["x", "u", "k"], ["xdot"]),
        outputs=same(full.outputs, x, u),
        latch=None if full.latch is None else same(full.latch, x, u),
        operations=made.near.n_instructions(),
        n_k=made.n_k,
    )


@dataclass(frozen=True)
class Column:
    """One element of ``c``: its direction in states or inputs; ``turn``: the body whose attitude error it is of."""

    x: int | None = None
    u: int | None = None
    turn: tuple[int, int] | None = None


class _Linear:
    def __init__(self, model: Model, full: Equations, point: ReferencePoint, first_order: bool) -> None:
        self.model, self.full, self.point, self.first_order = model, full, point, first_order
        self.table: Ports = full.ports
        self.at: Layout = layout(model)
        self.floating = [j for j, body in enumerate(model.bodies) if body.joint.floating]
        self.near_columns = [*self._coordinates(), *self._speeds(), *self._inputs(near=True)]
        self.far_columns = self._inputs(near=False)
        self.n_r = point.n_x - full.n_q
        self.efforts = [p for b in model.bodies for p in self._places(b, "joint.force", "joint.torque")]
        # Constants: the full ones, momenta and efforts of the operating point, r0, entries of G.
        begin = full.n_k + len(self._momenta) + len(self.efforts) + self.n_r
        self.n_k = begin + self.near_pattern.nnz() + self.n_r * len(self.far_columns) * (2 if first_order else 1)

    # What c is made of

    def _coordinates(self) -> list[Column]:
        found = []
        for j, body in enumerate(self.model.bodies):
            places, joint = range(self.at.q[j].start, self.at.q[j].stop), body.joint
            if joint.floating:
                if self.model.gravity_gradient:
                    found += [Column(turn=(j, i)) for i in range(3)]
            elif joint.spherical:
                found += [Column(x=at) for at in places[: joint.n_translations]]
                found += [Column(turn=(j, i)) for i in range(3)]
            else:
                found += [Column(x=at) for at in places]
        return found

    def _speeds(self) -> list[Column]:
        """All but the velocity of a floating root, on which nothing depends."""
        found = []
        for j, body in enumerate(self.model.bodies):
            own = range(self.at.speeds[j].start, self.at.speeds[j].stop)
            found += [Column(x=at) for at in (own[3:] if body.joint.floating else own)]
        return found + [Column(x=at) for at in self._momenta]

    @cached_property
    def _momenta(self) -> list[int]:
        return [at for own in self.at.wheels for at in range(own.start, own.stop)]

    def _inputs(self, *, near: bool) -> list[Column]:
        """Near: efforts, accelerations, wheel torques, gravity, what acts on floating roots. Far: all other forces."""
        far = [
            v for v in self.table.inputs if v.port in ("external_forces", "node_forces") and not self._is_near(v.name)
        ]
        if near:
            laws = {f"{body.name}.joint.rest" for body in self.model.bodies}
            chosen = [v for v in self.table.inputs if v not in far and not v.boolean and v.name not in laws]
        else:
            chosen = far
        return [Column(u=at) for v in chosen for at in range(v.places.start, v.places.stop)]

    def _is_near(self, name: str) -> bool:
        roots = [self.model.bodies[j].name for j in self.floating]
        sorts = ("torque",) if self.first_order else ("force", "torque")
        return any(name == f"{root}.{sort}" for root in roots for sort in sorts)

    def _places(self, body: Body, *parts: str) -> list[int]:
        names = [f"{body.name}.{part}" for part in parts]
        found = [self.table.by_name[name] for name in names if name in self.table.by_name]
        return [at for v in found for at in range(v.places.start, v.places.stop)]

    # Constants

    def prepare(self, p: MX) -> MX:
        k = self.full.prepare(p)
        x0, u0, r0 = self._operating(k)
        G = self._columns(x0, u0, k, r0, [*self.near_columns, *self.far_columns])
        near, far = G[:, : len(self.near_columns)], G[:, len(self.near_columns) :]
        parts = [k, x0[self._momenta], u0[self.efforts], r0, *self._kept(near), ca.vec(far)]
        if self.first_order:
            parts.append(ca.vec(self._equilibrium(near, far)))
        return ca.densify(ca.vertcat(*parts))

    def _operating(self, k: MX) -> tuple[MX, MX, MX]:
        """x, u with the laws' efforts among the joints', and r of the operating point (see `_columns` for its axes)."""
        x0 = self.full.start(MX(self.point.s), k)
        u0 = self._with(MX(self.point.u), self.efforts, self._efforts(MX(self.point.s[: self.full.n_q]), x0, k))
        r0 = self.full.derivatives(x0, u0, k * MX(self._law_mask))[self.full.n_q :]
        for j in self.floating:
            rows = self._velocity_rows(j)
            r0[rows] = self._body_axes(j) @ (r0[rows] - u0[self._gravity])
        return x0, u0, r0

    def _kept(self, near: MX) -> list[MX]:
        rows, columns = self.near_pattern.get_triplet()
        return [near[row, column] for row, column in zip(rows, columns, strict=True)]

    def _columns(self, x0: MX, u0: MX, k: MX, r0: MX, columns: Sequence[Column]) -> MX:
        """G (n_r, columns), the rows of floating roots' velocities in their own axes and free of gravity."""
        along_x, along_u = np.zeros((self.point.n_x, len(columns))), np.zeros((self.point.n_u, len(columns)))
        for at, column in enumerate(columns):
            if column.turn is not None:
                along_x[self._turned_places(column.turn[0]), at] = self._turn(*column.turn)
            elif column.x is not None:
                along_x[column.x, at] = 1.0
            else:
                along_u[column.u, at] = 1.0
        of_rates = forward(self.full)[2]
        mapped = of_rates.map("mbdy_columns", "serial", len(columns), [0, 1, 2, 5], [])
        G = mapped(x0, u0, k * MX(self._law_mask), MX(along_x), MX(along_u), MX(self.full.n_k, 1))[self.full.n_q :, :]
        for j in self.floating:
            rows = self._velocity_rows(j)
            turned = self._body_axes(j) @ (G[rows, :] - MX(along_u)[self._gravity, :])
            own = [column.turn[1] if column.turn and column.turn[0] == j else None for column in columns]
            pick = np.array([[float(axis == i) for axis in own] for i in range(3)])
            G[rows, :] = turned + _skew(r0[rows]) @ MX(pick)
        return G

    def _equilibrium(self, near: MX, far: MX) -> MX:
        """Efforts (and torques on floating roots) for each far input that leave it without acceleration."""
        rows, at = self._held
        wanted = {column.u: i for i, column in enumerate(self.near_columns) if column.u is not None}
        effect = near[rows, [wanted[place] for place in at]]
        return ca.vertcat(-ca.solve(effect, far[rows, :]), MX(self.n_r - len(rows), far.shape[1]))

    @cached_property
    def _held(self) -> tuple[list[int], list[int]]:
        """Rows of the free speeds that efforts, and torques on floating roots, move; and these inputs."""
        rows, at = [], []
        for j, body in enumerate(self.model.bodies):
            own = range(self.at.speeds[j].start - self.full.n_q, self.at.speeds[j].stop - self.full.n_q)
            if body.joint.floating:
                rows += own[3:]
                at += self._places(body, "torque")
                continue
            for row, place, how in zip(
                own, self._places(body, "joint.force", "joint.torque"), body.joint.motion, strict=True
            ):
                if how != "prescribed":
                    rows.append(row)
                    at.append(place)
        return rows, at

    @cached_property
    def near_pattern(self) -> ca.Sparsity:
        """Entries of G that are not zero whatever the parameters are, as far as `DRAWS` of them tell."""
        p = MX.sym("p", len(self.table.parameter_names))
        k = self.full.prepare(p)
        entries = ca.Function(
            "entries", [p], [self._columns(*self._operating(k)[:2], k, self._operating(k)[2], self.near_columns)]
        )
        nominal = np.array(self.table.vector("parameter"))
        rng = np.random.default_rng(0)
        seen = np.zeros((self.n_r, len(self.near_columns)), dtype=bool)
        for _ in range(DRAWS):
            drawn = nominal * rng.uniform(0.7, 1.4, nominal.size)
            found = np.array(entries(drawn))
            found = found if np.isfinite(found).all() else np.array(entries(nominal))
            seen |= found != 0.0
        rows, columns = np.nonzero(seen)
        return ca.Sparsity.triplet(self.n_r, len(self.near_columns), rows.tolist(), columns.tolist())

    @cached_property
    def _law_mask(self) -> np.ndarray:
        mask = np.ones(self.full.n_k)
        for body, kind, own in zip(self.model.bodies, self.at.structures, self.at.constants, strict=True):
            fields = constant_fields(kind)
            names = [name for name, _ in fields.sizes]
            for name in LAW_STRENGTHS:
                if name in names:
                    part = fields.places(name)
                    mask[own.start + part.start : own.start + part.stop] = 0.0
            if body.joint.harness:
                part = fields.places(HARNESS)
                mask[own.start + part.start + 1 : own.start + part.stop : 2] = 0.0
        return mask

    def _efforts(self, q0: MX, x0: MX, k: MX) -> MX:
        u = MX(self.point.u)
        parts = [
            self._law(j)(q0[self.at.q[j]], x0[self.at.speeds[j]], k[self.at.constants[j]], u[given], u[rest])
            for j, given, rest in self._jointed
        ]
        return ca.vertcat(*parts) if parts else MX(0, 1)

    @cached_property
    def _jointed(self) -> list[tuple[int, list[int], list[int]]]:
        """Bodies with joints that have efforts: places in u of these and of the springs' rests."""
        found = []
        for j, body in enumerate(self.model.bodies):
            if not body.joint.floating and body.joint.n_u:
                given = self._places(body, "joint.force", "joint.torque")
                found.append((j, given, self._places(body, "joint.rest")))
        return found

    def _law(self, j: int) -> ca.Function:
        kind = self.at.structures[j]
        vector, k = kernels.constants(kind)
        q, u = SX.sym("q", kind.form.n_q), SX.sym("u", kind.form.n_u)
        given, rest = SX.sym("given", kind.form.n_u), SX.sym("rest", kind.form.n_axes)
        return ca.Function("law", [q, u, vector, given, rest], [effort(kind, k, q, u, given, rest)])

    # Geometry of floating roots and of attitude errors

    @cached_property
    def _gravity(self) -> list[int]:
        span = self.table.by_name["system.gravity"].places
        return list(range(span.start, span.stop))

    def _velocity_rows(self, j: int) -> list[int]:
        begin = self.at.speeds[j].start - self.full.n_q
        return [begin, begin + 1, begin + 2]

    def _turned_places(self, j: int) -> slice:
        return slice(self.at.q[j].stop - 4, self.at.q[j].stop)

    def _body_axes(self, j: int) -> MX:
        """Inertial to the root's own components at the operating point."""
        return MX(np.array(ca.DM(ca.evalf(spatial.rotation_matrix(SX(self.point.s[self._turned_places(j)]))))).T)

    def _turn(self, j: int, axis: int) -> np.ndarray:
        omega = SX([float(i == axis) for i in range(3)])
        rate = spatial.quaternion_rate(SX(self.point.s[self._turned_places(j)]), omega)
        return np.array(ca.evalf(rate)).ravel()

    @staticmethod
    def _with(vector: MX, places: list[int], values: MX) -> MX:
        made = ca.densify(vector)
        for i, place in enumerate(places):
            made[place] = values[i]
        return made

    # Rates

    def rates(self, x: MX, u: MX, k: MX) -> MX:
        return self.near(x, u, k, self._far(x, u, k))

    @cached_property
    def near(self) -> ca.Function:
        """``x'`` from x, u, k and what far inputs add to the accelerations (n_r)."""
        x, u, k = SX.sym("x", self.point.n_x), SX.sym("u", self.point.n_u), SX.sym("k", self.n_k)
        added = SX.sym("added", self.n_r)
        pieces = self._pieces(k)
        efforts = [self._law(j)(x[self.at.q[j]], x[self.at.speeds[j]], k[self.at.constants[j]], u[given], u[rest])
                   for j, given, rest in self._jointed]  # fmt: skip
        away = u - SX(self.point.u)
        total = ca.vertcat(*efforts)
        for at, place in enumerate(self.efforts):
            away[place] = total[at] - pieces["efforts"][at]
        G = SX(self.near_pattern, pieces["near"])
        r = pieces["r0"] + G @ self._away(x, away, pieces["momenta"]) + added
        r = self._constrained(r, u, G)
        for j in self.floating:
            rows = self._velocity_rows(j)
            r[rows] = spatial.rotation_matrix(x[self._turned_places(j)]) @ r[rows] + u[self._gravity]
        q_rates = [self._coordinate_rates(j, x) for j in range(len(self.model.bodies))]
        return ca.Function("mbdy_near", [x, u, k, added], [ca.densify(ca.vertcat(*q_rates, r))])

    def _pieces(self, k: SX | MX) -> dict[str, SX | MX]:
        """What `prepare` puts after the full equations' constants."""
        sizes = {
            "momenta": len(self._momenta), "efforts": len(self.efforts), "r0": self.n_r,
            "near": self.near_pattern.nnz(), "far": self.n_r * len(self.far_columns),
            "equilibrium": self.n_r * len(self.far_columns) if self.first_order else 0,
        }  # fmt: skip
        found, begin = {}, self.full.n_k
        for name, size in sizes.items():
            found[name] = k[begin : begin + size, 0]
            begin += size
        return found

    def _away(self, x: SX, u: SX, momenta: SX) -> SX:
        """c of the near columns: from the operating point, inputs given as differences already."""
        found = []
        for column in self.near_columns:
            if column.turn is not None:
                found.append(self._errors(column.turn[0], x)[column.turn[1]])
            elif column.u is not None:
                found.append(u[column.u])
            elif column.x in self._momenta:
                found.append(x[column.x] - momenta[self._momenta.index(column.x)])
            else:
                found.append(x[column.x] - self.point.s[column.x])
        return ca.vertcat(*found) if found else SX(0, 1)

    def _errors(self, j: int, x: SX) -> SX:
        """Rotation vector (3), to first order, from the operating point's attitude of a body to that in x, own axes."""
        at = self._turned_places(j)
        begun = SX(self.point.s[at] * np.array([1.0, -1.0, -1.0, -1.0]))
        apart = spatial.quaternion_product(begun, x[at])
        return 2 * ca.if_else(apart[0] < 0, -1, 1) * apart[1:]

    def _coordinate_rates(self, j: int, x: SX) -> SX:
        joint, u = self.model.bodies[j].joint, x[self.at.speeds[j]]
        if not joint.spherical:
            return u
        n = joint.n_translations
        return ca.vertcat(u[:n], spatial.quaternion_rate(x[self._turned_places(j)], u[n:]))

    def _constrained(self, r: SX, u: SX, G: SX) -> SX:
        """r with the speeds that switches hold accelerating as these say, by efforts as a constraint has them."""
        rows, inputs, held, wanted = [], [], [], []
        for j, body in enumerate(self.model.bodies):
            own = switched(body.joint.motion)
            if not own:
                continue
            acceleration = self._places(body, "joint.acceleration")
            given = self._places(body, "joint.force", "joint.torque")
            switches = self._places(body, "joint.prescribed", "joint.locked")
            for at, i in enumerate(own):
                prescribed, locked = u[switches[at]], u[switches[len(own) + at]]
                rows.append(self.at.speeds[j].start - self.full.n_q + i)
                inputs.append(given[i])
                held.append(1 - (1 - prescribed) * (1 - locked))
                wanted.append(prescribed * (1 - locked) * u[acceleration[i]])
        if not rows:
            return r
        places = {column.u: at for at, column in enumerate(self.near_columns)}
        mobility = ca.densify(G[:, [places[at] for at in inputs]])
        on = ca.vertcat(*held)
        system = ca.diag(on) @ mobility[rows, :] @ ca.diag(on) + ca.diag(1 - on)
        efforts = ca.solve(system, on * (ca.vertcat(*wanted) - r[rows]))
        return r + mobility @ (on * efforts)

    def _far(self, x: MX, u: MX, k: MX) -> MX:
        """What far inputs add to r (n_r), worked out only where some are not those of the operating point."""
        if not self.far_columns:
            return MX(self.n_r, 1)
        places = [column.u for column in self.far_columns]
        symbols = [MX.sym("away", len(places)), MX.sym("x", self.point.n_x), MX.sym("k", self.n_k)]
        acting = ca.Function("mbdy_acting", symbols, [ca.densify(self._added(*symbols))])
        idle = ca.Function("mbdy_idle", symbols, [MX.zeros(self.n_r)])
        away = u[places] - MX(self.point.u[places])
        return ca.Function.if_else("mbdy_far", acting, idle)(ca.norm_inf(away) > 0, away, x, k)

    def _added(self, away: MX, x: MX, k: MX) -> MX:
        pieces = self._pieces(k)
        shape = self.n_r, len(self.far_columns)
        added = ca.reshape(pieces["far"], *shape) @ away
        if not self.first_order:
            return added
        places = [column.u for column in self.far_columns]
        held_rows, held_inputs = self._held
        efforts = (ca.reshape(pieces["equilibrium"], *shape) @ away)[: len(held_rows)]
        x0 = self._with(MX(self.point.s), self._momenta, pieces["momenta"])
        u0 = self._with(MX(self.point.u), self.efforts, pieces["efforts"])
        held = self._with(u0, places, u0[places] + away)
        held = self._with(held, held_inputs, held[held_inputs] + efforts)
        along, full_k = self._along(x), k[: self.full.n_k] * MX(self._law_mask)
        of_rates, still = forward(self.full)[2], (MX(self.point.n_u, 1), MX(self.full.n_k, 1))
        change = of_rates(x0, held, full_k, along, *still) - of_rates(x0, u0, full_k, along, *still)
        change = change[self.full.n_q :]
        for j in self.floating:
            rows = self._velocity_rows(j)
            change[rows] = self._body_axes(j) @ change[rows]
        return added + change

    def _along(self, x: MX) -> MX:
        """The coordinates' way from the operating point as a direction of x; floating roots stay."""
        symbol = SX.sym("x", self.point.n_x)
        way = SX(self.point.n_x, 1)
        for j, body in enumerate(self.model.bodies):
            if body.joint.floating:
                continue
            at = self.at.q[j]
            plain = range(at.start, at.stop - (4 if body.joint.spherical else 0))
            for place in plain:
                way[place] = symbol[place] - self.point.s[place]
            if body.joint.spherical:
                turned = self._turned_places(j)
                way[turned] = spatial.quaternion_rate(SX(self.point.s[turned]), self._errors(j, symbol))
        return ca.Function("mbdy_along", [symbol], [ca.densify(way)])(x)


def _skew(a: MX) -> MX:
    symbol = SX.sym("a", 3)
    return ca.Function("skew", [symbol], [spatial.skew(symbol)])(a)
