"""Linear equations of a model about an operating point, over the same variables and vectors as the full ones.

The accelerations ``r = [u', h']`` are linear about the operating point (equations.md, "Linear equations"):

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

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeVar

import casadi as ca
import numpy as np
from casadi import MX, SX

from mbdy.engine.linear.columns import Column, Columns
from mbdy.engine.linear.error_coordinates import quaternion_tangent
from mbdy.engine.linear.hinges import of_longer, refuse_tanks, steepest_of_longer, switching_of_longer
from mbdy.engine.linear.reference_point import ReferencePoint, Values
from mbdy.engine.model.faults import OptionError
from mbdy.engine.model.laws import JOINT_VALUES
from mbdy.engine.model.owners import joint_of
from mbdy.engine.model.ports import whole_inputs
from mbdy.engine.model.system import Model
from mbdy.engine.model.variables import switched
from mbdy.engine.order_n import rigid_body as kernels
from mbdy.engine.order_n import spatial
from mbdy.engine.order_n.constants import constant_fields
from mbdy.engine.order_n.derivatives import forward_of
from mbdy.engine.order_n.efforts import effort, lags
from mbdy.engine.order_n.equations import Equations, equations

DRAWS = 3
"""Random parameters at which an entry of G must be zero for it to be left out of the code."""
SIZES = (1.0, 0.3, 0.1, 0.03, 0.01, 0.0)
"""Of the draws, each taken where the one before gives nothing finite, which no body can have; all entries if none."""


def linear_equations(model: Model, at: Values, geometry: str) -> Equations:
    """The linear equations of ``model`` about the operating point ``at``; see `mbdy.engine.linear.choice.Linear`."""
    for body in model.bodies:
        if body.joint.floating and any(how != "free" for how in body.joint.motion):
            raise OptionError(
                f"linear equations: the motion of the floating root {body.name!r} can be prescribed; only "
                "that of joints can"
            )
    refuse_tanks(model, "linear equations")
    full, chosen = equations(model.whole).in_own_axes(), equations(model).in_own_axes()
    point = ReferencePoint(full.ports, at, chosen.ports)
    linear = _Linear(model.whole, full, point, first_order=geometry == "first-order")
    x, u = MX.sym("x", point.n_x), MX.sym("u", len(chosen.ports.input_names))
    starts, places = whole_inputs(model)
    every = MX(ca.DM(list(starts)))
    every[list(places)] = u
    k, p = MX.sym("k", linear.n_k), MX.sym("p", len(full.ports.parameter_names))

    def rates(*, branches: bool) -> ca.Function:
        x_rate = linear.rates(x, every, k, branches=branches)
        return ca.Function("mbdy_model_derivatives", [x, u, k], [x_rate], ["x", "u", "k"], ["xdot"])

    return replace(
        chosen,
        prepare=ca.Function("mbdy_model_prepare", [p], [linear.prepare(p)], ["p"], ["k"]),
        start=of_longer(chosen.start, linear.n_k),
        derivatives=rates(branches=True),
        smooth_derivatives=rates(branches=False),
        outputs=of_longer(chosen.outputs, linear.n_k),
        pivots=None,
        latch=of_longer(chosen.latch, linear.n_k) if chosen.latch else None,
        balance=None,
        operations=linear.near.n_instructions(),
        steepest=steepest_of_longer(full, linear.n_k),
        switching=switching_of_longer(full, linear.n_k),
        n_k=linear.n_k,
    )


Symbols = TypeVar("Symbols", SX, MX)


class _Linear(Columns):
    def __init__(self, model: Model, full: Equations, point: ReferencePoint, *, first_order: bool) -> None:
        super().__init__(model, full, first_order=first_order)
        self.point = point
        # Constants: the full ones, momenta and efforts of the operating point, r0, entries of G.
        begin = full.n_k + len(self.momenta) + len(self.efforts) + self.n_r
        self.n_k = begin + self.near_pattern.nnz() + self.n_r * len(self.far_columns) * (2 if first_order else 1)

    # Constants

    def prepare(self, p: MX) -> MX:
        k = self.full.prepare(p)
        x0, u0, r0 = self._operating(k)
        G = self._columns(x0, u0, k, r0, [*self.near_columns, *self.far_columns])
        near, far = G[:, : len(self.near_columns)], G[:, len(self.near_columns) :]
        parts = [k, x0[self.momenta], u0[self.efforts], r0, *self._kept(near), ca.vec(far)]
        if self.first_order:
            parts.append(ca.vec(self._equilibrium(near, far)))
        return ca.densify(ca.vertcat(*parts))

    def _operating(self, k: MX) -> tuple[MX, MX, MX]:
        """x, u with the laws' efforts among the joints', and r of the operating point (see `_columns` for its axes)."""
        x0 = self.full.start(MX(self.point.s), k)
        q0, u0 = MX(self.point.s[: self.full.n_q]), MX(self.point.u)
        u0 = self._with(u0, self.efforts, self._efforts(q0, x0, u0, k))
        r0 = self.full.derivatives(x0, u0, k * MX(self._law_mask))[self.full.n_q :]
        for j in self.floating:
            rows = self.velocity_rows(j)
            r0[rows] = self._body_axes(j) @ (r0[rows] - u0[self.gravity_places])
        return x0, u0, r0

    def _kept(self, near: MX) -> list[MX]:
        rows, columns = self.near_pattern.get_triplet()
        return [near[row, column] for row, column in zip(rows, columns, strict=True)]

    def _columns(self, x0: MX, u0: MX, k: MX, r0: MX, columns: Sequence[Column]) -> MX:
        """G (n_r, columns), the rows of floating roots' velocities in their own axes and free of gravity."""
        along_x, along_u = np.zeros((self.point.n_x, len(columns))), np.zeros((self.point.n_u, len(columns)))
        for at, column in enumerate(columns):
            if column.turn is not None:
                turned = self.turned_places(column.turn[0])
                along_x[turned, at] = quaternion_tangent(self.point.s[turned])[:, column.turn[1]]
            elif column.x is not None:
                along_x[column.x, at] = 1.0
            else:
                along_u[column.u, at] = 1.0
        mapped = self._change_of_rates.map("mbdy_columns", "serial", len(columns), [0, 1, 2, 5], [])
        G = mapped(x0, u0, k * MX(self._law_mask), MX(along_x), MX(along_u), MX(self.full.n_k, 1))[self.full.n_q :, :]
        for j in self.floating:
            rows = self.velocity_rows(j)
            turned = self._body_axes(j) @ (G[rows, :] - MX(along_u)[self.gravity_places, :])
            pick = np.array([[float(column.turn == (j, i)) for column in columns] for i in range(3)])
            G[rows, :] = turned + ca.skew(r0[rows]) @ MX(pick)
        return G

    @cached_property
    def _change_of_rates(self) -> ca.Function:
        return forward_of(self.full.derivatives)

    def _equilibrium(self, near: MX, far: MX) -> MX:
        """Efforts (and torques on floating roots) for each far input that leave it without acceleration."""
        rows, at = self.actuators
        effect = near[rows, [self._near_inputs[place] for place in at]]
        return ca.vertcat(-ca.solve(effect, far[rows, :]), MX(self.n_r - len(rows), far.shape[1]))

    @cached_property
    def near_pattern(self) -> ca.Sparsity:
        """Entries of G that are not zero whatever the parameters are, as far as `DRAWS` of them tell."""
        p = MX.sym("p", len(self.table.parameter_names))
        k = self.full.prepare(p)
        x0, u0, r0 = self._operating(k)
        entries = ca.Function("entries", [p], [self._columns(x0, u0, k, r0, self.near_columns)])
        rng = np.random.default_rng(0)
        pattern = np.zeros((self.n_r, len(self.near_columns)), dtype=bool)
        for _ in range(DRAWS):
            tried = (np.array(entries(self._drawn(rng, size))) for size in SIZES)
            pattern |= next((G for G in tried if np.isfinite(G).all()), np.ones(pattern.shape)) != 0.0
        rows, columns = np.nonzero(pattern)
        return ca.Sparsity.triplet(self.n_r, len(self.near_columns), rows.tolist(), columns.tolist())

    def _drawn(self, rng: np.random.Generator, size: float) -> np.ndarray:
        """Parameters like the model's, none of them zero that need not be: what is zero in a file can be set later."""
        drawn = np.array(self.table.vector("parameter"))
        for v in self.table.parameters:
            values, part = drawn[v.places], v.quantity
            if part in ("com", "at", "axis", "frame"):
                values += size * 0.1 * np.maximum(1.0, np.abs(values).max()) * rng.normal(size=v.size)
            elif part == "mass":
                values += size * rng.uniform(0.1, 0.3) * max(1.0, values[0])
            elif part == "inertia" and v.size > 1:
                spread = max(0.1, values[[0, 3, 5]].max())
                values += size * spread * np.array([0.3, 0.02, 0.02, 0.3, 0.02, 0.3]) * rng.uniform(0.5, 1.0, 6)
        return drawn

    @cached_property
    def _law_mask(self) -> np.ndarray:
        """Factors (n_k) of the constants without which laws of joints do nothing."""
        mask = np.ones(self.full.n_k)
        for kind, span in zip(self.at.structures, self.at.constants, strict=True):
            places, fields = range(span.start, span.stop), constant_fields(kind)
            for name, _ in kind.values:
                mask[[*JOINT_VALUES[name].strengths(places[fields.places(name)])]] = 0.0
        return mask

    def _efforts(self, q: Symbols, x: Symbols, u: Symbols, k: Symbols) -> Symbols:
        """All that acts on joints: inputs and laws."""
        parts = [
            self._law(j)(q[self.at.q[j]], x[self.at.speeds[j]], k[self.at.constants[j]], u[inputs], u[rest])
            for j, inputs, rest in self.jointed
        ]
        return ca.vertcat(q[:0, 0], *parts)

    def _law(self, j: int) -> Callable[..., Any]:
        kind = self.at.structures[j]
        vector, k = kernels.constants(kind)
        q, u = SX.sym("q", kind.form.n_q), SX.sym("u", kind.form.n_u)
        acting, rest = SX.sym("acting", kind.form.n_u), SX.sym("rest", kind.rests)
        return ca.Function("law", [q, u, vector, acting, rest], [effort(kind, k, q, u, acting, rest)])

    @cached_property
    def _near_inputs(self) -> dict[int, int]:
        """Places among the near columns of the inputs that have some."""
        return {column.u: i for i, column in enumerate(self.near_columns) if column.u is not None}

    # Geometry of floating roots and of attitude errors

    def _body_axes(self, j: int) -> MX:
        """Inertial to the root's own components at the operating point."""
        return MX(np.array(ca.DM(ca.evalf(spatial.rotation_matrix(SX(self.point.s[self.turned_places(j)]))))).T)

    @staticmethod
    def _with(vector: MX, places: list[int], values: MX) -> MX:
        changed = ca.densify(vector)
        changed[places] = values
        return changed

    # Rates

    def rates(self, x: MX, u: MX, k: MX, *, branches: bool) -> MX:
        """``x'``; with ``branches`` far inputs cost nothing where they do nothing, and have no derivatives there."""
        added = self._far(x, u, k, branches=branches) if self.far_columns else MX.zeros(self.n_r)
        return self.near(x, u, k, added)

    @cached_property
    def near(self) -> ca.Function:
        """``x'`` from x, u, k and what far inputs add to the accelerations (n_r)."""
        x, u, k = SX.sym("x", self.point.n_x), SX.sym("u", self.point.n_u), SX.sym("k", self.n_k)
        added = SX.sym("added", self.n_r)
        pieces = self._pieces(k)
        away = u - SX(self.point.u)
        away[self.efforts] = self._efforts(x, x, u, k) - pieces["efforts"]
        G = SX(self.near_pattern, pieces["near"])
        r = pieces["r0"] + G @ self._away(x, away, pieces["momenta"]) + added
        r = self._constrained(r, u, self._lags(x, k), G)
        for j in self.floating:
            rows = self.velocity_rows(j)
            r[rows] = spatial.rotation_matrix(x[self.turned_places(j)]) @ r[rows] + u[self.gravity_places]
        q_rates = [self._coordinate_rates(j, x) for j in range(len(self.model.bodies))]
        return ca.Function("mbdy_near", [x, u, k, added], [ca.densify(ca.vertcat(*q_rates, r))])

    def _pieces(self, k: Symbols) -> dict[str, Symbols]:
        """What `prepare` puts after the full equations' constants."""
        sizes = {
            "momenta": len(self.momenta), "efforts": len(self.efforts), "r0": self.n_r,
            "near": self.near_pattern.nnz(), "far": self.n_r * len(self.far_columns),
            "equilibrium": self.n_r * len(self.far_columns) if self.first_order else 0,
        }  # fmt: skip
        ends = np.cumsum([self.full.n_k, *sizes.values()]).tolist()
        return {name: k[begin:end, 0] for name, (begin, end) in zip(sizes, pairwise(ends), strict=True)}

    def _away(self, x: SX, u: SX, momenta: SX) -> SX:
        """c of the near columns: from the operating point, inputs are differences already."""
        differences = []
        for column in self.near_columns:
            if column.turn is not None:
                differences.append(self._errors(column.turn[0], x)[column.turn[1]])
            elif column.u is not None:
                differences.append(u[column.u])
            elif column.x is not None:
                spins = column.x in self.momenta
                begun = momenta[self.momenta.index(column.x)] if spins else self.point.s[column.x]
                differences.append(x[column.x] - begun)
        return ca.vertcat(SX(0, 1), *differences)

    def _errors(self, j: int, x: SX) -> SX:
        """Rotation vector (3), to first order, from the operating point's attitude of a body to that in x, own axes."""
        at = self.turned_places(j)
        begun = SX(self.point.s[at] * np.array([1.0, -1.0, -1.0, -1.0]))
        apart = spatial.quaternion_product(begun, x[at])
        return 2 * ca.if_else(apart[0] < 0, -1, 1) * apart[1:]

    def _coordinate_rates(self, j: int, x: SX) -> SX:
        joint, u = self.model.bodies[j].joint, x[self.at.speeds[j]]
        if not joint.spherical:
            return u
        n = joint.n_translations
        return ca.vertcat(u[:n], spatial.quaternion_rate(x[self.turned_places(j)], u[n:]))

    def _lags(self, x: SX, k: SX) -> dict[int, SX]:
        """Inertias that joints have besides in a step (`lags`), by their rows in r."""
        found: dict[int, SX] = {}
        for j, kind in enumerate(self.at.structures):
            if kind.resistances:
                own = constant_fields(kind).split(k[self.at.constants[j]])
                begin = self.at.speeds[j].start - self.full.n_q
                inertias = lags(kind, own, x[self.at.speeds[j]])
                found |= {begin + i: inertias[i] for i in range(kind.resistances)}
        return found

    def _constrained(self, r: SX, u: SX, lagging: dict[int, SX], G: SX) -> SX:
        """r with the speeds that switches hold accelerating as these say, by efforts as a constraint has them, and with
        others held back by the inertias ``lagging``."""
        rows, inputs, flags, wanted = [], [], [], []
        for j, body in enumerate(self.model.bodies):
            freedoms, begin = switched(body.joint.motion), self.at.speeds[j].start - self.full.n_q
            acceleration = self.places(joint_of(body), "acceleration")
            efforts = self.places(joint_of(body), "force", "torque")
            switches = self.places(joint_of(body), "prescribed", "locked")
            for i in range(body.joint.n_u):
                if i not in freedoms and begin + i not in lagging:
                    continue
                prescribed = locked = SX(0)
                if i in freedoms:
                    at = freedoms.index(i)
                    prescribed, locked = u[switches[at]], u[switches[len(freedoms) + at]]
                rows.append(begin + i)
                inputs.append(self._near_inputs[efforts[i]])
                flags.append(1 - (1 - prescribed) * (1 - locked))
                wanted.append(prescribed * (1 - locked) * u[acceleration[i]] if i in freedoms else SX(0))
        if not rows:
            return r
        mobility, on = ca.densify(G[:, inputs]), ca.vertcat(*flags)
        lag = (1 - on) * ca.vertcat(*(lagging.get(row, SX(0)) for row in rows))
        moved = mobility[rows, :]
        system = ca.diag(on) @ moved + ca.diag(lag) @ moved + ca.diag(1 - on)
        return r + mobility @ ca.solve(system, on * (ca.vertcat(*wanted) - r[rows]) - lag * r[rows])

    def _far(self, x: MX, u: MX, k: MX, *, branches: bool) -> MX:
        """What far inputs add to r (n_r), with ``branches`` only where some are not those of the operating point."""
        places = self.far_places
        symbols = [MX.sym("away", len(places)), MX.sym("x", self.point.n_x), MX.sym("k", self.n_k)]
        acting = ca.Function("mbdy_acting", symbols, [ca.densify(self._added(*symbols))])
        away = u[places] - MX(self.point.u[places])
        if not branches:
            return acting(away, x, k)
        idle = ca.Function("mbdy_idle", symbols, [MX.zeros(self.n_r)])
        return ca.Function.if_else("mbdy_far", acting, idle)(ca.norm_1(away) > 0, away, x, k)

    def _added(self, away: MX, x: MX, k: MX) -> MX:
        pieces = self._pieces(k)
        shape = self.n_r, len(self.far_columns)
        added = ca.reshape(pieces["far"], *shape) @ away
        if not self.first_order:
            return added
        _, inputs = self.actuators
        efforts = (ca.reshape(pieces["equilibrium"], *shape) @ away)[: len(inputs)]
        x0 = self._with(MX(self.point.s), self.momenta, pieces["momenta"])
        u0 = self._with(MX(self.point.u), self.efforts, pieces["efforts"])
        balanced = self._with(u0, self.far_places, u0[self.far_places] + away)
        balanced = self._with(balanced, inputs, balanced[inputs] + efforts)
        along, full_k = self._along(x), k[: self.full.n_k] * MX(self._law_mask)
        of_rates, still = self._change_of_rates, (MX(self.point.n_u, 1), MX(self.full.n_k, 1))
        change = of_rates(x0, balanced, full_k, along, *still) - of_rates(x0, u0, full_k, along, *still)
        change = change[self.full.n_q :]
        for j in self.floating:
            rows = self.velocity_rows(j)
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
            plain = slice(at.start, at.stop - (4 if body.joint.spherical else 0))
            way[plain] = symbol[plain] - self.point.s[plain]
            if body.joint.spherical:
                turned = self.turned_places(j)
                way[turned] = spatial.quaternion_rate(SX(self.point.s[turned]), self._errors(j, symbol))
        return ca.Function("mbdy_along", [symbol], [ca.densify(way)])(x)
