"""Systems of hinges below one floating body, the domain of JPL TR 32-1592, as CasADi scalars of a model's vectors.

What its dense and its partly linear equations have in common: hinges (a joint of two or three rotations is as many,
on bodies without mass), their turning as sums of constant matrices, efforts and forces from the engine's own laws,
and the way back to the vectors of `mbdy.engine.order_n.equations.Equations`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import casadi as ca
from casadi import MX, SX

from mbdy.engine.model.faults import OptionError
from mbdy.engine.model.owners import joint_of
from mbdy.engine.model.system import INERTIAL, Model
from mbdy.engine.model.topology import tree
from mbdy.engine.order_n import efforts, spatial
from mbdy.engine.order_n import rigid_body as kernels
from mbdy.engine.order_n.constants import constant_fields
from mbdy.engine.order_n.equations import Equations, equations
from mbdy.engine.order_n.layout import layout
from mbdy.engine.order_n.switching import Switching


def uncovered(model: Model) -> tuple[str, ...]:
    """What of ``model`` is outside the domain, a sentence each: all but hinges below one floating reference body."""
    said = []
    for body in model.bodies:
        joint = body.joint
        if joint.floating:
            if any(motion != "free" for motion in joint.motion):
                said.append(f"the motion of the floating body {body.name!r} can be prescribed")
        elif joint.to == INERTIAL:
            said.append(f"body {body.name!r} joins inertial by a {joint.kind} joint")
        elif joint.translations:
            said.append(f"the joint of {body.name!r} has translations")
        elif joint.spherical:
            said.append(f"the joint of {body.name!r} is spherical")
        if joint.rotor_inertia:
            said.append(f"the joint of {body.name!r} has a rotor_inertia")
        if body.wheels:
            said.append(f"body {body.name!r} has wheels ({', '.join(body.wheels)})")
    floating = [body.name for body in model.bodies if body.joint.floating]
    if len(floating) > 1:
        said.append(f"several bodies float ({', '.join(floating)})")
    said += [f"the {part.sort} {part.name!r} acts between bodies" for part in model.elements]
    if model.gravity_gradient:
        said.append("gravity has a gradient")
    return tuple(said)


def refuse_tanks(model: Model, what: str) -> None:
    """Raises `OptionError` for a ``model`` with tanks, whose inertia is not constant."""
    if model.tanks:
        names = ", ".join(repr(tank.name) for tank in model.tanks)
        raise OptionError(f"{what} of {model.name!r}: the mass of tanks changes, of {names}; use the full equations")


@dataclass(frozen=True)
class Hinge:
    """One rotation: that of place ``turn`` at the joint of ``body``; ``angle`` and ``rate`` are places in ``x``."""

    body: int
    turn: int
    angle: int
    rate: int
    motion: str


@dataclass
class Kept:
    """Expressions that are worked out once, in ``prepare``, and the symbols that stand for them ever after."""

    values: list[SX] = field(default_factory=list)
    symbols: list[SX] = field(default_factory=list)

    def __call__(self, value: SX) -> SX:
        """Symbols of the shape of ``value``, its structural zeros left out."""
        if not value.nnz():
            return value
        symbol = SX.sym("c", value.nnz())
        self.values.append(value.nz[:])
        self.symbols.append(symbol)
        return SX(value.sparsity(), symbol)


class Hinged:
    """A model of the domain with symbols for its vectors ``x``, ``u`` and ``k``.

    Raises ValueError for a model outside the domain; the message begins with ``what`` was asked for.
    """

    def __init__(self, model: Model, what: str) -> None:
        if said := uncovered(model):
            raise OptionError(
                f"{what} do not cover {model.name!r}: {'; '.join(said)}; they are for hinges of rotations below one "
                f"floating body without wheels; run the full equations instead"
            )
        self.model, self.full = model, equations(model).in_own_axes()
        self.tree, self.layout, self.ports = tree(model), layout(model), self.full.ports
        self.x, self.u = SX.sym("x", self.layout.n_x), SX.sym("u", len(self.ports.input_names))
        self.k = SX.sym("k", self.layout.n_k)
        self.root = self.tree.outward[0]
        self.own_constants = [self._constants(b) for b in range(len(model.bodies))]
        self.constants = self._about_joints()
        self.hinges = tuple(
            Hinge(b, i, self.layout.q[b].start + i, self.layout.speeds[b].start + i, body.joint.motion[i])
            for b, body in enumerate(model.bodies)
            for i in range(len(body.joint.rotations))
        )
        self.quaternion = self.x[self.layout.q[self.root]][3:]
        self.omega = self.x[self.layout.speeds[self.root]][3:]
        self.mass = sum((k["mass"] for k in self.constants), SX(0))
        self._efforts = [self._effort(b) for b in range(len(model.bodies))]
        self._drives = [self._drive(b) for b in range(len(model.bodies))]

    def _constants(self, b: int) -> dict[str, SX]:
        kind = self.layout.structures[b]
        k = constant_fields(kind).split(self.k[self.layout.constants[b]])
        k["R0"] = SX.eye(3) if kind.floating else ca.reshape(k["R0"], 3, 3)
        k["axes"] = ca.reshape(k["axes"], 3, kind.form.n_axes)
        com = k["com"]
        k["about_com"] = spatial.symmetric(k["inertia"], 3) - k["mass"] * (ca.dot(com, com) * SX.eye(3) - com @ com.T)
        return k

    def _about_joints(self) -> list[dict[str, SX]]:
        """The constants with the places of joints as origins of bodies."""
        moved = [dict(k) for k in self.own_constants]
        for b, kind in enumerate(self.layout.structures):
            if kind.offset:
                moved[b]["com"] = moved[b]["com"] - moved[b]["at_b"]
                for child in self.tree.children[b]:
                    moved[child]["at"] = moved[child]["at"] - moved[b]["at_b"]
        return moved

    def axis(self, hinge: Hinge) -> SX:
        """Unit axis (3) of a hinge in the frames before and after its turn."""
        return self.constants[hinge.body]["axes"][:, hinge.turn]

    def before(self, hinge: Hinge) -> SX:
        """What leads to the frame of a hinge's axis from the one before it: the joint's frame, for its first."""
        return self.constants[hinge.body]["R0"] if hinge.turn == 0 else SX.eye(3)

    def own(self, b: int) -> list[int]:
        """Places among `hinges` of those of body ``b``, in the order of their turns."""
        return [s for s, hinge in enumerate(self.hinges) if hinge.body == b]

    def wrench(self, b: int) -> SX:
        """External moment about the place of body ``b``'s joint, and force (6), its axes."""
        body, kind = self.model.bodies[b], self.layout.structures[b]
        points = [body.name, *(f"{body.name}.{node}" for node in body.nodes)]
        forces = self._inputs(*(f"{point}.{sort}" for point in points for sort in ("force", "torque")))
        wrench = kernels.wrench(kind, self.own_constants[b], forces)
        if kind.offset:
            wrench[:3] -= ca.cross(self.own_constants[b]["at_b"], wrench[3:])
        return wrench

    def effort(self, hinge: Hinge) -> SX:
        """Torque [N.m] of drive, spring, damper and all other laws at a hinge."""
        return self._efforts[hinge.body][hinge.turn]

    def lag(self, hinge: Hinge) -> SX:
        """Inertia [kg.m2] that a hinge has besides in a step (`mbdy.engine.order_n.efforts.lags`), 0 of most."""
        kind, rates = self.layout.structures[hinge.body], self.x[self.layout.speeds[hinge.body]]
        return efforts.lags(kind, self.constants[hinge.body], rates)[hinge.turn] if kind.resistances else SX(0)

    def held(self, hinge: Hinge) -> SX:
        """1 where the hinge is prescribed or locked, 0 where it is free."""
        return self._drives[hinge.body][0][hinge.turn]

    def forced(self, hinge: Hinge) -> SX:
        """Acceleration [rad/s2] of a hinge that is held, 0 of a free one."""
        return self._drives[hinge.body][1][hinge.turn]

    def _effort(self, b: int) -> SX:
        kind, stem = self.layout.structures[b], joint_of(self.model.bodies[b])
        if not kind.form.n_u or kind.floating:
            return SX(0, 1)
        q, rates = self.x[self.layout.q[b]], self.x[self.layout.speeds[b]]
        torque, rest = self._inputs(f"{stem}.torque"), self._inputs(f"{stem}.rest")
        return efforts.effort(kind, self.constants[b], q, rates, torque, rest)

    def _drive(self, b: int) -> tuple[SX, SX]:
        stem = joint_of(self.model.bodies[b])
        switches = self._inputs(f"{stem}.prescribed", f"{stem}.locked")
        driven = {"acceleration": self._inputs(f"{stem}.acceleration"), "switches": switches}
        return kernels.drive(self.layout.structures[b], driven)

    def _inputs(self, *names: str) -> SX:
        table = self.ports.by_name
        still = {v.name: SX(ca.DM(list(v.start or ()))) for v in self.ports.hidden if v.causality == "input"}
        known = (name for name in names if name in table or name in still)
        return ca.vertcat(SX(0, 1), *(still[name] if name in still else self.u[table[name].places] for name in known))

    def rates(self, omega_rate: SX, hinge_rates: Mapping[int, SX], moved: SX, force: SX) -> SX:
        """``x'`` of the accelerations found.

        ``omega_rate`` (3) [rad/s2], ``moved`` (3) [m/s2] of the reference body's origin and the total external
        ``force`` (3) [N], its axes; ``hinge_rates`` [rad/s2] by place among `hinges`.
        """
        turned, gravity = spatial.rotation_matrix(self.quaternion), self._inputs("system.gravity")
        if self.layout.structures[self.root].attitude:
            moved = force / self.mass
        q_rates, u_rates = [], []
        for b in range(len(self.model.bodies)):
            speeds = self.x[self.layout.speeds[b]]
            if b == self.root:
                q_rates.append(ca.vertcat(speeds[:3], spatial.quaternion_rate(self.quaternion, self.omega)))
                u_rates.append(ca.vertcat(turned @ moved + gravity, omega_rate))
            else:
                q_rates.append(speeds)
                u_rates += [hinge_rates[s] for s in self.own(b)]
        return ca.densify(ca.vertcat(*q_rates, *u_rates))

    def equations(self, rates: SX, kept: Kept) -> Equations:
        """The model's `Equations` with ``x' = rates``, an expression of the vectors and what is ``kept``."""
        full, symbols = self.full, ca.vertcat(SX(0, 1), *kept.symbols)
        once = ca.Function("mbdy_kept", [self.k], [ca.vertcat(SX(0, 1), *kept.values)])
        p, names = MX.sym("p", len(self.ports.parameter_names)), ["x", "u", "k"]
        k = full.prepare(p)
        constants = ca.vertcat(self.k, symbols)
        derivatives = ca.Function("mbdy_model_derivatives", [self.x, self.u, constants], [rates], names, ["xdot"])
        n_k = full.n_k + symbols.numel()
        return replace(
            full,
            prepare=ca.Function("mbdy_model_prepare", [p], [ca.vertcat(k, once(k))], ["p"], ["k"]),
            start=of_longer(full.start, n_k),
            derivatives=derivatives,
            outputs=of_longer(full.outputs, n_k),
            pivots=None,
            balance=None,
            latch=of_longer(full.latch, n_k) if full.latch else None,
            operations=derivatives.n_instructions(),
            steepest=steepest_of_longer(full, n_k),
            switching=switching_of_longer(full, n_k),
            n_k=n_k,
        )


def of_longer(function: ca.Function, n_k: int) -> ca.Function:
    """The same function of constants ``k`` that are ``n_k`` in number, of which it reads the first."""
    names, outputs = function.name_in(), function.name_out()
    symbols = [MX.sym(name, n_k if name == "k" else function.size1_in(i)) for i, name in enumerate(names)]
    results = function.call([v[: function.size1_in(i)] for i, v in enumerate(symbols)])
    return ca.Function(function.name(), symbols, results, names, outputs)


def steepest_of_longer(full: Equations, n_k: int) -> ca.Function | None:
    """`Equations.steepest` of ``full`` for constants that are ``n_k`` in number, the first of them its own."""
    if full.steepest is None:
        return None
    k = MX.sym("k", n_k)
    steep = ca.vertcat(full.steepest(k[: full.n_k]), k[full.n_k :])
    return ca.Function(full.steepest.name(), [k], [steep], ["k"], ["steep"])


def switching_of_longer(full: Equations, n_k: int) -> Switching | None:
    """`Equations.switching` of ``full``, alike."""
    own = full.switching
    return replace(own, indicators=of_longer(own.indicators, n_k)) if own and own.indicators else own


def turning(system: Hinged, hinge: Hinge, kept: Kept) -> SX:
    """Components after the turn of a hinge to those before it (Eq. 7), at its angle in ``x``."""
    frame, axis, angle = system.before(hinge), system.axis(hinge), system.x[hinge.angle]
    along = axis @ axis.T
    fixed, c, s = kept(frame @ along), kept(frame @ (SX.eye(3) - along)), kept(frame @ spatial.skew(axis))
    return fixed + ca.cos(angle) * c + ca.sin(angle) * s


def solved(coefficients: SX, right: SX, fixed: list[SX], known: list[SX]) -> SX:
    """``y`` of ``coefficients @ y = right``, with ``y = known`` where ``fixed`` is 1, by an unrolled L D L^T.

    Rows and columns that are always fixed are struck out; those that are so at times are put to the unit matrix's.
    """
    at = [i for i, flag in enumerate(fixed) if not (flag.is_constant() and float(flag) == 1.0)]
    answer = ca.vertcat(*known)
    free = ca.vertcat(*(1 - fixed[i] for i in at))
    kept = coefficients[at, at] * (free @ free.T) + ca.diag(1 - free)
    rest = free * (right[at] - coefficients[at, :] @ answer)
    solution = spatial.solve_ldl(kept, rest)
    for place, i in enumerate(at):
        answer[i] += solution[place]
    return answer
