"""A model's equations as CasADi functions over its vectors: prepare, start, derivatives, outputs, latch.

``k = prepare(p)``, ``x = start(s, k)``, ``x' = derivatives(x, u, k)``, ``y = outputs(x, u, k)``; and, where joints
can be locked, ``x+ = latch(x, u, k)``: the state after the locks set in u have stopped their joints. All that mbdy
runs, in C or in CasADi's virtual machine, is made of these; a model's numbers are not in them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, reduce
from operator import add

import casadi as ca
from casadi import MX

from mbdy.engine import gravity_gradient, order_n
from mbdy.engine.constants import Structure, layout, parameter_names, prepare_body, structure
from mbdy.engine.kernels import Kernels
from mbdy.engine.model import Body, Model
from mbdy.engine.order_n import BodyInputs, BodyMotion, BodyState, System
from mbdy.engine.ports import Ports, ports
from mbdy.engine.topology import ROOT, tree
from mbdy.engine.variables import GRAVITATIONAL_PARAMETER, ORBIT_POSITION, switched
from mbdy.engine.view import View, reactions, wheel_momenta


@dataclass(frozen=True)
class Equations:
    """The functions of one structure of model, with its port table.

    ``operations`` counts the scalar operations of one call of ``derivatives``, each kernel call by its own.
    """

    ports: Ports
    prepare: ca.Function
    start: ca.Function
    derivatives: ca.Function
    outputs: ca.Function
    latch: ca.Function | None
    operations: int
    n_k: int
    n_q: int
    locks: tuple[tuple[int, int], ...]
    """Place in ``u`` of each lock, with the place in ``x`` of the speed that it stops."""
    constants: Mapping[str, slice]
    """Where each body's constants lie in ``k``."""
    smooth_derivatives: ca.Function | None = None
    """``derivatives`` to be differentiated, where these themselves cannot be; None where they can."""

    @property
    def functions(self) -> tuple[ca.Function, ...]:
        own = (self.prepare, self.start, self.derivatives, self.outputs)
        return own if self.latch is None else (*own, self.latch)


def equations(model: Model) -> Equations:
    """The equations of ``model``; only its structure is compiled in, its numbers are the inputs ``p`` and ``s``."""
    key = tuple((b.name, b.joint.to, structure(b), tuple(b.wheels), tuple(b.nodes)) for b in model.bodies)
    attracted = model.gravity_gradient is not None
    return replace(_of_structure(_Skeleton((attracted, *key), model)), ports=ports(model))


@dataclass(frozen=True)
class _Skeleton:
    """A model as far as its functions go: two that differ in numbers alone are equal."""

    key: tuple[object, ...]
    model: Model = field(compare=False)


@lru_cache(maxsize=32)
def _of_structure(skeleton: _Skeleton) -> Equations:
    return _Assembly(skeleton.model).assembled()


class _Assembly:
    """Lays kernels along the tree of one model."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.tree = tree(model)
        self.ports: Ports = ports(model)
        self.layout = layout(model)
        self.attitude_root = any(b.joint.kind == "attitude" for b in model.bodies)

    def assembled(self) -> Equations:
        x, s = MX.sym("x", self.layout.n_x), MX.sym("s", self.layout.n_x)
        u, k = MX.sym("u", len(self.ports.input_names)), MX.sym("k", self.layout.n_k)
        p = MX.sym("p", len(self.ports.parameter_names))
        made = Kernels()
        derivatives = self.derivatives(x, u, k, made)
        operations = made.operations()
        return Equations(
            ports=self.ports,
            prepare=ca.Function("mbdy_model_prepare", [p], [self.prepare(p)], ["p"], ["k"]),
            start=ca.Function("mbdy_model_start", [s, k], [self.start(s, k)], ["s", "k"], ["x"]),
            derivatives=ca.Function("mbdy_model_derivatives", [x, u, k], [derivatives], ["x", "u", "k"], ["xdot"]),
            outputs=ca.Function("mbdy_model_outputs", [x, u, k], [self.outputs(x, u, k, made)], ["x", "u", "k"], ["y"]),
            latch=ca.Function(
                "mbdy_model_latch", [x, u, k], [*self.latch(x, u, k)], ["x", "u", "k"], ["x_latched", "impulses"]
            )
            if any("switchable" in b.joint.motion for b in self.model.bodies)
            else None,
            operations=operations,
            n_k=self.layout.n_k,
            n_q=self.layout.n_q,
            locks=self.locks(),
            constants={b.name: at for b, at in zip(self.model.bodies, self.layout.constants, strict=True)},
        )

    def prepare(self, p: MX) -> MX:
        made, pieces = Kernels(), []
        for body, kind in zip(self.model.bodies, self.layout.structures, strict=True):
            own = [p[self.ports.by_name[n].places] for n in parameter_names(body) if n in self.ports.by_name]
            pieces += made.call(prepare_body, (kind,), ca.vertcat(*own))
        if self.model.gravity_gradient:
            pieces.append(p[self.ports.by_name[GRAVITATIONAL_PARAMETER].places])
        return ca.vertcat(*pieces)

    def start(self, s: MX, k: MX) -> MX:
        """``x`` from start values: wheel speeds become momenta, an ``attitude`` root's origin the mass centre."""
        system = self.system(s, MX.zeros(len(self.ports.input_names)), k, Kernels())
        view = View(self.model, system, order_n.velocities(system))
        qs, us, hs = ([s[at, 0] for at in places] for places in (self.layout.q, self.layout.speeds, self.layout.wheels))
        for j, kind in enumerate(self.layout.structures):
            if kind.attitude:
                qs[j] = ca.vertcat(qs[j][:3] + view.centre, qs[j][3:])
                us[j] = ca.vertcat(us[j][:3] + view.drift, us[j][3:])
            if kind.wheels:
                hs[j] = wheel_momenta(view, j, hs[j])
        return ca.densify(ca.vertcat(*qs, *us, *hs))

    def derivatives(self, x: MX, u: MX, k: MX, made: Kernels) -> MX:
        system = self.system(x, u, k, made)
        moves = self.forced(system)
        order_n.accelerations(system, moves, self.swept_gravity(u))
        q_rates, u_rates = [m.q_rate for m in moves], [m.u_rate for m in moves]
        for j, kind in enumerate(self.layout.structures):
            if kind.floating:
                q_rates[j] = ca.vertcat(system.states[j].u[:3], q_rates[j][3:])
            if kind.attitude:
                u_rates[j] = ca.vertcat(self.mass_centre_acceleration(system, moves, u), u_rates[j][3:])
        return ca.densify(ca.vertcat(*q_rates, *u_rates, *(m.wheel_torques for m in moves)))

    def latch(self, x: MX, u: MX, k: MX) -> tuple[MX, MX]:
        """The state after locked joints have stopped at once, as a latch does, and the impulses that it took.

        The sweeps with all velocities, forces and springs zero: every locked speed has the "acceleration" ``-u``,
        what is prescribed or locked already has none, and the result is the jump of all speeds; reactions are
        impulses (equations.md, section 8).
        """
        known = self.system(x, u, k, Kernels())
        at_rest = [replace(s, u=MX.zeros(s.u.shape), h=MX.zeros(s.h.shape)) for s in known.states]
        stopping = [self.stopping(*each) for each in zip(known.states, known.inputs, known.structures, strict=True)]
        system = replace(known, states=at_rest, inputs=stopping)
        moves = order_n.velocities(system)
        for m in moves:
            m.tau = MX.zeros(m.tau.shape)
        order_n.accelerations(system, moves, MX.zeros(3))
        jumps = [m.u_rate for m in moves]
        for j, kind in enumerate(self.layout.structures):
            if kind.attitude:
                jumps[j] = ca.vertcat(MX.zeros(3), jumps[j][3:])
        speeds = slice(self.layout.n_q, self.layout.n_q + self.layout.n_u)
        after = ca.vertcat(x[: speeds.start, 0], x[speeds, 0] + ca.vertcat(*jumps), x[speeds.stop :, 0])
        impulses = []
        for j, kind in enumerate(system.structures):
            reaction = reactions(system, moves, j)[1]
            impulses += [reaction[i] for i in switched(kind.motion)]
        return ca.densify(after), ca.densify(ca.vertcat(*impulses))

    def locks(self) -> tuple[tuple[int, int], ...]:
        """`Equations.locks` of this model."""
        pairs = []
        for body, speeds in zip(self.model.bodies, self.layout.speeds, strict=True):
            if lock := self.ports.by_name.get(f"{body.name}.joint.locked"):
                own = switched(body.joint.motion)
                pairs += [(lock.offset + place, speeds.start + i) for place, i in enumerate(own)]
        return tuple(pairs)

    @staticmethod
    def stopping(state: BodyState, given: BodyInputs, kind: Structure) -> BodyInputs:
        """A joint's inputs for the latch: held where prescribed or locked, the locked speeds brought to zero."""
        acceleration, switches, own = MX.zeros(given.acceleration.shape), given.switches, switched(kind.motion)
        if own:
            prescribed, locked = switches[: len(own), 0], switches[len(own) :, 0]
            for place, i in enumerate(own):
                acceleration[i] = -state.u[i] * locked[place]
            switches = ca.vertcat(1 - (1 - prescribed) * (1 - locked), MX.zeros(len(own)))
        return BodyInputs(
            forces=MX.zeros(given.forces.shape), effort=MX.zeros(given.effort.shape), rest=MX.zeros(given.rest.shape),
            acceleration=acceleration, switches=switches, torques=MX.zeros(given.torques.shape),
        )  # fmt: skip

    def outputs(self, x: MX, u: MX, k: MX, made: Kernels) -> MX:
        system = self.system(x, u, k, made)
        moves = self.forced(system)
        order_n.accelerations(system, moves, self.swept_gravity(u))
        found = View(self.model, system, moves).outputs(self.input(u, "system.gravity"), self.swept_gravity(u))
        return ca.densify(ca.vertcat(*(found[v.name] for v in self.ports.outputs)))

    def system(self, x: MX, u: MX, k: MX, made: Kernels) -> System:
        at = self.layout
        states = [BodyState(x[q, 0], x[s, 0], x[h, 0]) for q, s, h in zip(at.q, at.speeds, at.wheels, strict=True)]
        return System(
            self.tree, at.structures, states, [k[c, 0] for c in at.constants],
            [self.body_inputs(u, body) for body in self.model.bodies], made, self.field(u, k, made),
        )  # fmt: skip

    def field(self, u: MX, k: MX, made: Kernels) -> tuple[MX, MX] | None:
        """`System.field` of this model."""
        if not self.model.gravity_gradient:
            return None
        return gravity_gradient.field(made, self.input(u, ORBIT_POSITION), k[self.layout.n_k - 1])

    @staticmethod
    def forced(system: System) -> list[BodyMotion]:
        """First sweep, with all that acts on the bodies: the gravity gradient needs to know first where they are."""
        moves = order_n.velocities(system)
        if system.field:
            gravity_gradient.attract(system, moves)
        return moves

    def input(self, u: MX, *names: str) -> MX:
        """The elements of inputs in ``u``, side by side; nothing for those that the model does not have."""
        return ca.vertcat(*(u[self.ports.by_name[n].places] for n in names if n in self.ports.by_name))

    def body_inputs(self, u: MX, body: Body) -> BodyInputs:
        name, stem = body.name, f"{body.name}.joint"
        points = [name, *(f"{name}.{node}" for node in body.nodes)]
        effort = () if body.joint.floating else (f"{stem}.force", f"{stem}.torque")
        return BodyInputs(
            forces=self.input(u, *(f"{point}.{sort}" for point in points for sort in ("force", "torque"))),
            effort=self.input(u, *effort),
            rest=self.input(u, f"{stem}.rest"),
            acceleration=self.input(u, f"{stem}.acceleration"),
            switches=self.input(u, f"{stem}.prescribed", f"{stem}.locked"),
            torques=self.input(u, *(f"{name}.{wheel}.torque" for wheel in body.wheels)),
        )

    def swept_gravity(self, u: MX) -> MX:
        """Gravity in the sweeps: under an ``attitude`` root it acts on the mass centre's motion alone."""
        return MX.zeros(3) if self.attitude_root else self.input(u, "system.gravity")

    def mass_centre_acceleration(self, system: System, moves: list[BodyMotion], u: MX) -> MX:
        """``F/m + g`` of the whole system, inertial axes: forces are turned and summed from tips to base."""
        carried: dict[int, MX] = {}
        for j in self.tree.inward:
            given = system.inputs[j].forces
            own = [given[6 * i : 6 * i + 3] for i in range(given.shape[0] // 6)]
            below = [carried[child] for child in self.tree.children[j]]
            carried[j] = moves[j].E.T @ reduce(add, own + below)
        total = reduce(add, (carried[j] for j in self.tree.outward if self.tree.parent[j] == ROOT))
        return total / reduce(add, (k[0] for k in system.constants)) + self.input(u, "system.gravity")
