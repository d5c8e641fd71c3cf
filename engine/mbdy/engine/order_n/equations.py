"""A model's equations as CasADi functions over its vectors: prepare, start, derivatives, outputs, latch.

``k = prepare(p)``, ``x = start(s, k)``, ``x' = derivatives(x, u, k)``, ``y = outputs(x, u, k)``; and, where joints
can be locked or loops closed, ``x+ = latch(x, u, k)``: the state after the locks set in u have stopped their joints and
loops closed in u have stopped what they hold; where there are loops, ``errors, rates, cosines, lessening = gaps(x, u,
k)`` says how far they are from closed, and ``x+ = assemble(x, u, k, largest)`` is one step of Newton towards that,
after which ``x+ = restore(before, x, u, k, largest)`` has the speeds that go with it. All that mbdy runs is made of
these; a model's numbers are not in them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, reduce
from itertools import accumulate
from operator import add
from typing import Any

import casadi as ca
from casadi import MX

from mbdy.engine.model.laws import sticks
from mbdy.engine.model.owners import Owner, constraint, joint_of
from mbdy.engine.model.ports import NOWHERE, Ports, ports, spins
from mbdy.engine.model.rotations import across
from mbdy.engine.model.system import INERTIAL, Body, Joint, Model
from mbdy.engine.model.topology import ROOT, tree
from mbdy.engine.model.variables import GRAVITATIONAL_PARAMETER, ORBIT_POSITION, WORK_ERROR, switched
from mbdy.engine.order_n import closure_momenta, gravity_gradient, holding, tanks
from mbdy.engine.order_n import flexible_body as deformation
from mbdy.engine.order_n import output_kernels as observe
from mbdy.engine.order_n import sweeps as order_n
from mbdy.engine.order_n.closing_columns import ClosingColumns, closing_columns
from mbdy.engine.order_n.constants import Structure, parameter_names, prepare_body, structure
from mbdy.engine.order_n.element_forces import ElementForces, constants, seated
from mbdy.engine.order_n.element_kinds import key_of
from mbdy.engine.order_n.gear_rows import gear_structure, prepare_gear
from mbdy.engine.order_n.joint_frames import frame_constants
from mbdy.engine.order_n.kernels import Kernels
from mbdy.engine.order_n.layout import layout
from mbdy.engine.order_n.loop_forces import Closing, Loops
from mbdy.engine.order_n.loop_kernels import SHORTEST, loop_structure
from mbdy.engine.order_n.outputs import View, reactions, see_loops, wheel_momenta
from mbdy.engine.order_n.profiles import profiles
from mbdy.engine.order_n.resistances import Resistances, resistances
from mbdy.engine.order_n.rotors import shaking
from mbdy.engine.order_n.rules import Rule, rules
from mbdy.engine.order_n.seats import seat_on
from mbdy.engine.order_n.signals import see_signals
from mbdy.engine.order_n.steepest import Strengths, steepest, strengths
from mbdy.engine.order_n.sweeps import BodyInputs, BodyMotion, BodyState, System
from mbdy.engine.order_n.switching import Switching, switching


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
    """Place in ``u`` of each lock that is an input, with the place in ``x`` of the speed that it stops."""
    rules: tuple[Rule, ...]
    """What parameters must keep, lest constants in ``k`` are no numbers."""
    pivots: ca.Function | None = None
    """What each speed of a joint moves, and the margin of that joint: `mbdy.engine.order_n.sweeps.pivots`."""
    holding: ca.Function | None = None
    """Of models with friction that sticks: `mbdy.engine.order_n.holding`."""
    gaps: ca.Function | None = None
    assemble: ca.Function | None = None
    restore: ca.Function | None = None
    columns: ClosingColumns = field(default_factory=ClosingColumns)
    """What its start moves to close loops."""
    resistances: Resistances = field(default_factory=Resistances)
    """What of its constants a step sets."""
    tanks: tuple[tuple[int, int], ...] = ()
    """Of each tank the place in ``x`` of its mass, and in ``k`` of the mass that it holds."""
    steepest: ca.Function | None = None
    strengths: Strengths = field(default_factory=Strengths)
    """What makes it fast."""
    decays: tuple[int, ...] = ()
    """Place in ``k`` of the rate at which errors of each loop decay."""
    smooth_derivatives: ca.Function | None = None
    """``derivatives`` to be differentiated, where these themselves cannot be; None where they can."""
    modal: slice = field(default_factory=lambda: slice(0, 0))
    """Where modal displacements lie in ``x``."""
    impulse_places: tuple[int, ...] = ()
    """Place in ``y`` of each impulse that ``latch`` gives, -1 of one that is no output; those of loops are last."""
    loop_impulses: int = 0
    """How many of the impulses are those of loops."""
    loop_rows: tuple[str, ...] = ()
    """Of each row of ``gaps`` the name of its loop."""

    switching: Switching | None = None
    """Where laws of effort switch; None where none does."""
    profiles: tuple[tuple[int, int, int, int, int], ...] = ()
    """Of each joint that follows a profile the place in ``u`` of its acceleration, in ``s`` of its rate and in ``k`` of
    the points, how many these are, and whether it is a smooth one."""

    skeleton: _Skeleton | None = None
    """Of the system that they are of, where bodies are seen in frames along joints."""
    balance: tuple[ca.Function, ca.Function] | None = None
    """``derivatives`` and ``outputs`` with a second result each, the power [W] that changes energy and the energy [J];
    None where `WORK_ERROR` is no output, or has no meaning."""

    def in_own_axes(self) -> Equations:
        """The same with all bodies seen in their own axes, with derivatives by any parameter: frames along joints have
        none by axes that are parallel."""
        return replace(self, skeleton=None, **_in_own_axes(self.skeleton)) if self.skeleton else self

    @property
    def functions(self) -> tuple[ca.Function, ...]:
        always = (self.prepare, self.start, *(self.balance or (self.derivatives, self.outputs)))
        some = (self.steepest, self.pivots, self.holding, self.latch, self.gaps, self.assemble, self.restore)
        return (*always, *(f for f in some if f is not None))


def equations(model: Model) -> Equations:
    """The equations of ``model``; only its structure is compiled in, its numbers are the inputs ``p`` and ``s``.

    Inputs that its choice of ports leaves out are part of the structure, with their start values.
    """
    key = tuple(
        (
            b.name,
            b.joint.to,
            b.joint.node,
            structure(b),
            tuple(b.wheels),
            tuple(b.nodes),
            b.harmonics,
            b.harmonics and across(b.joint.rotations[0]),
        )
        for b in model.bodies
    )
    loops = tuple(replace(loop, time_constant=0.0, closed=True) for loop in model.loops)
    gears = tuple((gear_structure(model, gear), gear.switchable, gear.name) for gear in model.gears)
    attracted, table = model.gravity_gradient is not None, ports(model)
    hidden = tuple((v.name, v.start if v.causality == "input" else ()) for v in table.hidden)
    momenta = tuple(name for name in table.starts if table.starts[name].owner.kind == "wheel" and name in model.starts)
    acting = loops, gears, tuple(map(key_of, model.elements)), model.chosen_outputs
    skeleton = _Skeleton((attracted, *acting, tanks.tank_key(model), momenta, hidden, *key), model, table)
    return replace(_of_structure(skeleton), ports=table)


def shaken(body: Body) -> tuple[object, ...]:
    """What of the harmonics of a rotor is compiled in."""
    return (body.harmonics, *across(body.joint.rotations[0])) if body.harmonics else ()


def node_index(model: Model, body: str, node: str) -> int | None:
    """Place of a body's node among its nodes; None for its origin."""
    return list(model.body(body).nodes).index(node) if node else None


def seat(model: Model, joint: Joint) -> int | None:
    """The node that a joint sits on for the sweeps, None for the parent's origin: a node of a rigid body only moves the
    joint's place, which `prepare` sees to."""
    moving = joint.to != INERTIAL and model.body(joint.to).flex
    return node_index(model, joint.to, joint.node) if moving else None


def used_nodes(model: Model, *, outputs: bool = False) -> list[list[int]]:
    """The nodes of each body whose motion the sweeps need: where joints (`seat`), loops and, on
    flexible bodies, force elements sit, with ``outputs`` all of these."""
    sides = [side for loop in model.loops for side in (loop.a, loop.b)]
    sides += [
        side for s in model.elements for side in (s.a, s.b) if side.body != INERTIAL and model.body(side.body).flex
    ]
    sat = {(b.joint.to, b.joint.node) for b in model.bodies if seat(model, b.joint) is not None}
    sat |= {(side.body, side.node) for side in sides}
    return [
        [i for i, node in enumerate(body.nodes) if (body.flex and outputs) or (body.name, node) in sat]
        for body in model.bodies
    ]


def resting(state: BodyState) -> BodyState:
    """A body's state with all its speeds and momenta zero."""
    return replace(state, u=MX.zeros(state.u.shape), eta_rate=MX.zeros(state.eta_rate.shape), h=MX.zeros(state.h.shape))


def release(moves: list[BodyMotion]) -> None:
    """Takes away the efforts of joints and modes, after the first sweep of a system at rest."""
    for m in moves:
        m.tau = MX.zeros(m.tau.shape)
        if m.flexing:
            m.flexing.p_f = MX.zeros(m.flexing.p_f.shape)


@dataclass(frozen=True)
class _Skeleton:
    """A model as far as its functions go: two that differ in numbers alone are equal."""

    key: tuple[object, ...]
    model: Model = field(compare=False)
    ports: Ports = field(compare=False)


def _function(name: str, vectors: Mapping[str, MX], **results: MX) -> ca.Function:
    """``mbdy_model_NAME`` of ``vectors``, with dense ``results``, both by name."""
    dense = [ca.densify(result) for result in results.values()]
    return ca.Function(f"mbdy_model_{name}", [*vectors.values()], dense, [*vectors], [*results])


@lru_cache(maxsize=32)
def _of_structure(skeleton: _Skeleton) -> Equations:
    made = _Assembly(skeleton.model, skeleton.ports)
    framed = any(kind.framed for kind in made.layout.framed_structures)
    return replace(made.assembled(), skeleton=skeleton if framed else None)


@lru_cache(maxsize=32)
def _in_own_axes(skeleton: _Skeleton) -> dict[str, Any]:
    return _Assembly(skeleton.model, skeleton.ports, framed=False).moving_functions()


class _Assembly:
    """Lays kernels along the tree of one model, bodies in frames along joints (``framed``) or in their own axes."""

    def __init__(self, model: Model, table: Ports, *, framed: bool = True) -> None:
        self.framed = framed
        self.model = model
        self.tree = tree(model)
        self.ports = table
        self.layout = layout(model)
        self.elements = seated(model, self.tree)
        self.seats = [seat(model, b.joint) for b in model.bodies]
        self.used = used_nodes(model)
        self.geared = frozenset(body for gear in model.gears for body, _ in gear_structure(model, gear).freedoms)
        self.still = {v.name: v.start or () for v in self.ports.hidden if v.causality == "input"}
        self.attitude_root = any(b.joint.kind == "attitude" for b in model.bodies)

    def assembled(self) -> Equations:
        vectors = self.symbols()
        x, u, k = vectors.values()
        s, locks, constraints = MX.sym("s", self.layout.n_x), self.locks(), self.model.constraints
        latched = constraints or locks or self.sticking
        return Equations(
            ports=self.ports,
            **self.moving_functions(),
            start=_function("start", {"s": s, "k": k}, x=self.start(s, k)),
            pivots=_function("pivots", vectors, **self.pivots(x, u, k, Kernels())),
            latch=_function("latch", vectors, **self.latch(x, u, k)) if latched else None,
            **self.closing(),
            **(self.impulses() if latched else {}),
            loop_rows=tuple(str(constraint(each)) for each in constraints for _ in range(each.size)),
            columns=closing_columns(self.model, self.ports, self.layout),
            resistances=resistances(self.layout),
            steepest=steepest(self.layout, self.model),
            strengths=strengths(self.model, self.ports),
            profiles=profiles(self.model, self.ports, self.layout),
            decays=tuple(at.start for at in (*self.layout.loops, *self.layout.gears)),
            tanks=tuple(
                (mass.start, at.stop - 1)
                for mass, at in zip(self.layout.tanks, self.layout.tank_constants, strict=True)
            ),
            n_k=self.layout.n_k,
            n_q=self.layout.n_q,
            locks=locks,
            modal=slice(self.layout.n_q + self.layout.n_u, self.layout.n_q + self.layout.n_u + self.layout.n_eta),
            rules=rules(self.model, self.ports, self.layout),
        )

    def moving_functions(self) -> dict[str, Any]:
        """Those that depend on how bodies are seen, by their names in `Equations`, with the count of operations."""
        vectors, kernels, p = self.symbols(), Kernels(), MX.sym("p", len(self.ports.parameter_names))
        x, u, k = vectors.values()
        x_rate, power = self.derivatives(x, u, k, kernels)
        operations = kernels.operations()
        y, energy = self.outputs(x, u, k, kernels)
        balance = (
            _function("derivatives", vectors, xdot=x_rate, power=power),
            _function("outputs", vectors, y=y, energy=energy),
        )
        return {
            "prepare": _function("prepare", {"p": p}, k=self.prepare(p)),
            "derivatives": _function("derivatives", vectors, xdot=x_rate),
            "outputs": _function("outputs", vectors, y=y),
            "holding": _function("holding", vectors, **self.holding(x, u, k)) if self.sticking else None,
            "balance": balance if WORK_ERROR in self.ports.by_name else None,
            "switching": switching(self.model, self.layout, vectors, self.switching_elements(x, u, k)),
            "operations": operations,
        }

    @property
    def sticking(self) -> bool:
        """Whether there is friction that sticks."""
        return any(kind.sticking for kind in self.layout.structures)

    def holding(self, x: MX, u: MX, k: MX) -> dict[str, MX]:
        """What decides which degrees of freedom friction holds, after all sweeps."""
        system = self.in_joint_frames(self.system(x, u, k, Kernels()), k)
        pivots = [MX.zeros(state.u.shape) for state in system.states]
        if self.model.constraints:
            pivots, _ = order_n.pivots(replace(system, states=[resting(state) for state in system.states]))
        return holding.held(system, self.moving(system, u, k)[0], pivots)

    def symbols(self) -> dict[str, MX]:
        """The vectors ``x``, ``u`` and ``k`` by name."""
        sizes = {"x": self.layout.n_x, "u": len(self.ports.input_names), "k": self.layout.n_k}
        return {name: MX.sym(name, size) for name, size in sizes.items()}

    def closing(self) -> dict[str, ca.Function]:
        """The functions of `Equations` that models with loops or gears have."""
        if not self.model.constraints:
            return {}
        vectors, largest, before = self.symbols(), MX.sym("largest"), MX.sym("before", self.layout.n_x)
        x, u, k = vectors.values()
        limited = {**vectors, "largest": largest}
        return {
            "gaps": _function("gaps", vectors, **self.gaps(x, u, k)),
            "assemble": _function("assemble", limited, x_nearer=self.assemble(x, u, k, largest)),
            "restore": _function(
                "restore", {"before": before, **limited}, x_restored=self.restore(before, x, u, k, largest)
            ),
        }

    def impulses(self) -> dict[str, Any]:
        """What `Equations` says of the impulses of `latch`."""

        def places(owner: Owner, count: int) -> tuple[int, ...]:
            variable = self.ports.of(owner, "impulse")
            return tuple(variable.offset + k if variable else NOWHERE for k in range(count))

        of_joints = [places(joint_of(b), len(switched(b.joint.motion))) for b in self.model.bodies]
        of_loops = [places(constraint(each), each.size) for each in self.model.constraints if each.switchable]
        return {"impulse_places": sum(of_joints + of_loops, ()), "loop_impulses": sum(map(len, of_loops))}

    def prepare(self, p: MX) -> MX:
        kernels, pieces = Kernels(), []
        for body, kind, node in zip(self.model.bodies, self.layout.structures, self.seats, strict=True):
            values = {n: p[self.ports.by_name[n].places] for n in parameter_names(body) if n in self.ports.by_name}
            if body.joint.node and node is None:
                moved = self.ports.by_name[f"{body.joint.to}.{body.joint.node}.at"].places
                values[f"{joint_of(body)}.at"] += p[moved]
            pieces.append(kernels.call(prepare_body, kind, p=ca.vertcat(*values.values()))["k"])
        turns: list[MX | None] = [None] * len(pieces)
        if self.framed:
            frames = frame_constants(self.model, self.layout.framed_structures, pieces, kernels)
            turns = [
                ca.reshape(own[-9:], 3, 3) if kind.framed else None
                for own, kind in zip(frames, self.layout.framed_structures, strict=True)
            ]
            pieces += frames
        else:
            pieces += [MX.zeros(at.stop - at.start) for at in self.layout.frames]
        for loop in self.model.loops:
            stem = f"loop.{loop.name}"
            distance = MX(0)
            if loop.distance is not None:
                length = p[self.ports.by_name[f"{stem}.distance"].places]
                distance = ca.if_else(length >= SHORTEST, length, math.nan)
            time = p[self.ports.by_name[f"{stem}.time_constant"].places]
            decay = ca.if_else(time > 0, 1 / time, ca.if_else(time < 0, math.nan, 0))
            pieces += [decay, distance]
        for gear in self.model.gears:
            owner = constraint(gear)
            time, offset, factor = (
                p[self.ports.by_name[f"{owner}.{what}"].places] for what in ("time_constant", "offset", "factor")
            )
            pieces.append(kernels.call(prepare_gear, len(gear.terms), time=time, offset=offset, factor=factor)["k"])
        pieces += constants(self.elements, self.model, self.ports, p, turns, kernels)
        pieces += tanks.prepared(self.model, self.ports, p, kernels)
        if self.model.gravity_gradient:
            attraction = p[self.ports.by_name[GRAVITATIONAL_PARAMETER].places]
            pieces.append(ca.if_else(attraction >= 0, attraction, math.nan))
        return ca.vertcat(*pieces)

    def start(self, s: MX, k: MX) -> MX:
        """``x`` from start values: wheel speeds become momenta, an ``attitude`` root's origin the mass centre."""
        if not any(kind.attitude or kind.wheels for kind in self.layout.structures):
            return s
        system = replace(self.system(s, MX.zeros(len(self.ports.input_names)), k, Kernels()), placed=True)
        view = View(self.model, system, order_n.velocities(system))
        qs, us, hs = ([s[at, 0] for at in places] for places in (self.layout.q, self.layout.speeds, self.layout.wheels))
        for j, kind in enumerate(self.layout.structures):
            if kind.attitude:
                qs[j] = ca.vertcat(qs[j][:3] + view.centre, qs[j][3:])
                us[j] = ca.vertcat(us[j][:3] + view.drift, us[j][3:])
            if kind.wheels:
                hs[j] = ca.vertcat(*self.momenta(self.model.bodies[j], hs[j], wheel_momenta(view, j, hs[j])))
        modes = slice(self.layout.n_q + self.layout.n_u, self.layout.n_q + self.layout.n_u + 2 * self.layout.n_eta)
        return ca.vertcat(*qs, *us, s[modes, 0], *hs, *(s[at, 0] for at in self.layout.tanks))

    def momenta(self, body: Body, given: MX, made: MX) -> Iterator[MX]:
        """Of a body's wheels the momenta that are ``given`` as such, of others those that are ``made`` of speeds."""
        for i, part in enumerate(spins(body, self.model.starts)):
            yield made[i] if part.integrated else given[i]

    def derivatives(self, x: MX, u: MX, k: MX, kernels: Kernels) -> tuple[MX, MX]:
        """``x'``, and the power that `energy` grows by."""
        system = self.in_joint_frames(self.system(x, u, k, kernels), k)
        moves, loops = self.moving(system, u, k)
        q_rates, u_rates = [m.q_rate for m in moves], [m.u_rate for m in moves]
        power = self.power(system, moves, loops)
        if system.feeds:
            power += self.discharged(system, moves, self.input(u, "system.gravity"))
        for j, kind in enumerate(self.layout.structures):
            if kind.floating:
                q_rates[j] = ca.vertcat(system.states[j].u[:3], q_rates[j][3:])
            if kind.attitude:
                force, drift = self.of_mass_centre(system, moves)
                mass = reduce(add, (k[0] for k in system.constants))
                power += ca.dot(force, system.states[j].u[:3] - drift / mass)
                if system.feeds:
                    jet, shift = tanks.of_mass_centre(system, moves, mass)
                    force, q_rates[j] = force + jet, ca.vertcat(q_rates[j][:3] - shift, q_rates[j][3:])
                u_rates[j] = ca.vertcat(force / mass + self.input(u, "system.gravity"), u_rates[j][3:])
        eta_rates = [state.eta_rate for state in system.states]
        modal = [m.modal_rate for m in moves]
        masses = tanks.mass_rates(system, moves)
        return ca.vertcat(*q_rates, *u_rates, *eta_rates, *modal, *(m.momentum_rate for m in moves), *masses), power

    def discharged(self, system: System, moves: list[BodyMotion], gravity: MX) -> MX:
        """Power [W] of what leaves tanks: of the forces that this takes, less the energy that it had."""
        view = View(self.model, system, moves)
        origin = view.origin - view.centre if view.centred else view.origin
        rest = view.speed - view.drift if view.centred else MX.zeros(3)
        return tanks.power(system, moves, [view.pose(j) for j in range(len(moves))], origin, rest, gravity)

    @staticmethod
    def power(system: System, moves: list[BodyMotion], loops: Loops | None) -> MX:
        """Power [W] of inputs, external forces, the gravity gradient, prescribed and locked degrees of freedom, what
        dissipates, and loops that close; of an ``attitude`` root's system with the root at rest."""
        powers = [m.power for m in moves]
        for j, (kind, state, m) in enumerate(zip(system.structures, system.states, moves, strict=True)):
            drift = MX.zeros(3) if m.drift is None else m.drift
            if flexing := m.flexing:
                powers.append(system.kernels.call(
                    deformation.exert, kind, k=system.constants[j], V=m.V, drift=drift, eta_rate=state.eta_rate,
                    push=flexing.push, modal_push=flexing.modal_push,
                )["power"])  # fmt: skip
            if any(how != "free" for how in kind.motion):
                powers.append(ca.dot(reactions(system, moves, j)["reaction"], state.u))
            if m.lag is not None:
                powers.append(-ca.dot(m.lag * m.u_rate, state.u))
            if m.coupling is not None and m.wheel_speeds is not None:
                powers.append(ca.dot(m.coupling.T @ m.A[:3], m.wheel_speeds))
            if m.gradient is not None:
                powers.append(ca.dot(m.gradient, ca.vertcat(m.V, state.eta_rate)) + ca.dot(m.gradient[3:6], drift))
        powers += [ca.dot(motion.multipliers, motion.rate) for motion in (loops.motions if loops else ())]
        return reduce(add, powers)

    def moving(self, system: System, u: MX, k: MX) -> tuple[list[BodyMotion], Loops | None]:
        """All sweeps, with the forces of loops where there are any."""
        moves, gravity = self.forced(system, u, k), self.swept_gravity(u)
        self.element_forces(system, u, k).act(moves)
        if not self.model.constraints:
            order_n.accelerations(system, moves, gravity)
            return moves, None
        order_n.eliminate(system, moves)
        loops = Loops(system, moves, self.closings(u, k))
        loops.close(gravity)
        return moves, loops

    def switching_elements(self, x: MX, u: MX, k: MX) -> list[tuple[str, MX]]:
        """Where force elements switch, and tables of tanks bend, by name; nothing is swept where no element can."""
        corners = [*tanks.corners(self.model, self.layout, x, k)]
        if not any(each.kind.switches for each in self.elements):
            return corners
        system = self.in_joint_frames(self.system(x, u, k, Kernels()), k)
        return [*corners, *self.element_forces(system, u, k).switching(order_n.velocities(system))]

    def element_forces(self, system: System, u: MX, k: MX) -> ElementForces:
        """The force elements of the model, as they are at inputs ``u``."""
        return ElementForces(
            self.elements, system, [k[at, 0] for at in self.layout.elements], lambda name: self.input(u, name)
        )

    def closings(self, u: MX, k: MX) -> list[Closing]:
        """The loops and gears of the model, as they are at inputs ``u``."""
        closings = []
        for loop, at in zip(self.model.loops, self.layout.loops, strict=True):
            seats = seat_on(self.model, loop.a), seat_on(self.model, loop.b)
            closed = self.input(u, f"loop.{loop.name}.closed") if loop.switchable else MX(1)
            closings.append(Closing(loop_structure(loop), seats, k[at, 0], closed))
        for gear, at in zip(self.model.gears, self.layout.gears, strict=True):
            closed = self.input(u, f"gear.{gear.name}.closed") if gear.switchable else MX(1)
            closings.append(Closing(gear_structure(self.model, gear), (), k[at, 0], closed))
        return closings

    def pivots(self, x: MX, u: MX, k: MX, kernels: Kernels) -> dict[str, MX]:
        """What each speed of a joint moves, and the margin of that joint to a singularity."""
        known = self.in_joint_frames(self.system(x, u, k, kernels), k)
        pivots, margins = order_n.pivots(replace(known, states=[resting(state) for state in known.states]))
        spread = (ca.repmat(margin, pivot.numel()) for pivot, margin in zip(pivots, margins, strict=True))
        return {"pivots": ca.vertcat(*pivots), "margins": ca.vertcat(*spread)}

    def latch(self, x: MX, u: MX, k: MX) -> dict[str, MX]:
        """The state after locked joints have stopped and loops have closed at once, as a latch does, and the impulses
        that it took.

        The sweeps with all velocities, forces and springs zero: every locked speed has the "acceleration" ``-u``,
        what is prescribed or locked already has none, loops what makes their errors decay, and the result is the jump
        of all speeds; reactions are impulses (equations.md, "Locking while running").
        """
        known = self.system(x, u, k, Kernels())
        stopping = [self.stopping(*each) for each in zip(known.states, known.inputs, known.structures, strict=True)]
        stopped = replace(known, inputs=stopping)
        moves, loops = self.pushed(stopped, u, k, lambda _: [-each["rates"] for each in self.gaps_of(known, u, k)])
        after = x + self.embedded(self.jumps(moves), [m.modal_rate for m in moves])
        impulses = []
        for j, kind in enumerate(known.structures):
            reaction = reactions(stopped, moves, j)["reaction"] if "switchable" in kind.motion else MX()
            impulses += [reaction[i] for i in switched(kind.motion)]
        if loops:
            pairs = zip(self.model.constraints, loops.motions, strict=True)
            impulses += [motion.multipliers for each, motion in pairs if each.switchable]
        return {"x_latched": after, "impulses": ca.vertcat(*impulses)}

    def gaps(self, x: MX, u: MX, k: MX) -> dict[str, MX]:
        """By rows, zero (cosines one) where a loop is open: errors, what their rates are beyond ``-phi/T``, and cosines
        and lessening rates of `mbdy.engine.order_n.loop_kernels.constrain`."""
        loops = self.gaps_of(self.system(x, u, k, Kernels()), u, k)
        return {name: ca.vertcat(*(each[name] for each in loops)) for name in loops[0]}

    def gaps_of(self, system: System, u: MX, k: MX) -> list[dict[str, MX]]:
        """Of each loop what `gaps` has of all."""
        loops = Loops(system, order_n.velocities(system), self.closings(u, k))
        return [
            {
                "errors": c.closed * of.phi,
                "rates": c.closed * (of.rate + c.constants[0] * of.phi),
                "cosines": ca.repmat(1 - c.closed * (1 - of.cosine), c.kind.size, 1),
                "lessening": c.closed * of.lessening,
            }
            for c, of in zip(loops.closings, loops.motions, strict=True)
        ]

    def assemble(self, x: MX, u: MX, k: MX, largest: MX) -> MX:
        """The state one Newton step nearer to closed loops, moved as impulses would move it.

        Loops with an error beyond ``largest`` are left alone.
        """
        known = self.system(x, u, k, Kernels())
        steps, _ = self.steps(known, u, k, largest)
        step = ca.vertcat(*self.coordinate_rates(known, steps), MX.zeros(self.layout.n_u), *(s.eta_rate for s in steps))
        return x + ca.vertcat(step, MX.zeros(self.layout.n_x - step.shape[0]))

    def steps(self, known: System, u: MX, k: MX, largest: MX) -> tuple[list[BodyState], Loops]:
        """The bodies' states with the step of `assemble` in the place of their speeds, and the loops that make it."""
        inputs = [self.stopping(*each) for each in zip(known.states, known.inputs, known.structures, strict=True)]
        still = ({name: MX.zeros(getattr(each, name).shape) for name in ("acceleration", "stop")} for each in inputs)
        inputs = [replace(each, **zeros) for each, zeros in zip(inputs, still, strict=True)]

        def small(loops: Loops) -> list[MX]:
            return [ca.if_else(ca.norm_inf(of.phi) < largest, -of.phi, 0) for of in loops.motions]

        moves, loops = self.pushed(replace(known, inputs=inputs), u, k, small)
        assert loops
        steps = [
            replace(state, u=jump, eta_rate=m.modal_rate)
            for state, jump, m in zip(known.states, self.jumps(moves), moves, strict=True)
        ]
        return steps, loops

    def coordinate_rates(self, known: System, states: list[BodyState]) -> list[MX]:
        """Rates of all coordinates with the speeds in ``states``."""
        rates = [m.q_rate for m in order_n.velocities(replace(known, states=states))]
        for j, kind in enumerate(self.layout.structures):
            if kind.floating:
                rates[j] = ca.vertcat(states[j].u[:3], rates[j][3:])
        return rates

    def restore(self, before: MX, x: MX, u: MX, k: MX, largest: MX) -> MX:
        """The state ``x``, which `assemble` has made of that of ``before``, with the speeds that go with it.

        As the loops' forces would bring it there (`carried_speeds`), and with the momenta that were there.
        """
        kernels, at = Kernels(), self.layout
        known = self.system(before, u, k, kernels)
        steps, loops = self.steps(known, u, k, largest)
        pushes = [c.closed * motion.multipliers for c, motion in zip(loops.closings, loops.motions, strict=True)]
        n_h = sum(h.stop - h.start for h in at.wheels)
        q, speeds, eta, eta_rate, h, masses = ca.vertsplit(
            before, [0, *accumulate((at.n_q, at.n_u, at.n_eta, at.n_eta, n_h)), at.n_x]
        )
        none = [MX.zeros(part.shape) for part in (q, speeds, eta, eta_rate, h)]
        rest = ca.vertcat(q, none[1], eta, none[3], none[4], masses)
        still = MX.zeros(masses.shape)
        rates = self.coordinate_rates(known, list(known.states))
        motion = ca.vertcat(*(-rate for rate in rates), speeds, -eta_rate, eta_rate, h, still)
        step = ca.vertcat(none[0], *(s.u for s in steps), none[2], *(s.eta_rate for s in steps), none[4], still)
        accelerations = self.inertial_accelerations()
        change = closure_momenta.carried_speeds(
            lambda state, forces: accelerations(state, u, k, forces), rest, motion, step, ca.vertcat(*pushes)
        )
        speeds, modal_rates = ca.vertsplit(change, [0, at.n_u, at.n_u + at.n_eta])
        x = x + self.embedded([speeds], [modal_rates])
        systems = [replace(each, placed=True) for each in (known, self.system(x, u, k, kernels))]
        views = [View(self.model, system, order_n.velocities(system)) for system in systems]
        loops = Loops(systems[1], views[1].moves, self.closings(u, k))
        restored = self.without_drift(closure_momenta.restoring_speeds(views[0], views[1], loops))
        return x + self.embedded(restored, [MX.zeros(at.n_eta)])

    def inertial_accelerations(self) -> ca.Function:
        """Rates of all speeds, then of modal rates, by `closure_momenta.inertial_motion` as a function of x, u, k and
        forces of the loops' rows, which is called several times."""
        vectors, pushes = self.symbols(), MX.sym("pushes", sum(each.size for each in self.model.constraints))
        x, u, k = vectors.values()
        system = self.system(x, u, k, Kernels())
        moves = closure_momenta.inertial_motion(system, self.closings(u, k), pushes)
        rates = ca.vertcat(*self.jumps(moves), *(m.modal_rate for m in moves))
        return ca.Function("inertial_accelerations", [x, u, k, pushes], [ca.densify(rates)])

    def pushed(
        self, system: System, u: MX, k: MX, right: Callable[[Loops], list[MX]]
    ) -> tuple[list[BodyMotion], Loops | None]:
        """The sweeps of ``system`` at rest without forces, its loops driven by what ``right`` has for each."""
        resting_system = replace(system, states=[resting(state) for state in system.states])
        moves = order_n.velocities(resting_system)
        release(moves)
        if not self.model.constraints:
            order_n.accelerations(resting_system, moves, MX.zeros(3))
            return moves, None
        order_n.eliminate(resting_system, moves)
        loops = Loops(resting_system, moves, self.closings(u, k))
        loops.close(MX.zeros(3), right(loops))
        return moves, loops

    def jumps(self, moves: list[BodyMotion]) -> list[MX]:
        """What the sweeps at rest give for all speeds."""
        return self.without_drift([m.u_rate for m in moves])

    def without_drift(self, jumps: list[MX]) -> list[MX]:
        """Changes of all speeds; an ``attitude`` root's mass centre stays."""
        for j, kind in enumerate(self.layout.structures):
            if kind.attitude:
                jumps[j] = ca.vertcat(MX.zeros(3), jumps[j][3:])
        return jumps

    def embedded(self, speeds: list[MX], modal_rates: list[MX]) -> MX:
        """Changes of speeds and modal rates as a change of x."""
        at = self.layout
        pieces = (MX.zeros(at.n_q), *speeds, MX.zeros(at.n_eta), *modal_rates)
        change = ca.vertcat(*pieces)
        return ca.vertcat(change, MX.zeros(at.n_x - change.shape[0]))

    def locks(self) -> tuple[tuple[int, int], ...]:
        """`Equations.locks` of this model."""
        pairs = []
        for body, speeds in zip(self.model.bodies, self.layout.speeds, strict=True):
            if lock := self.ports.by_name.get(f"{joint_of(body)}.locked"):
                switchable = switched(body.joint.motion)
                pairs += [(lock.offset + place, speeds.start + i) for place, i in enumerate(switchable)]
        return tuple(pairs)

    @staticmethod
    def stopping(state: BodyState, inputs: BodyInputs, kind: Structure) -> BodyInputs:
        """A joint's inputs for the latch: held where prescribed or locked, the locked speeds brought to zero."""
        acceleration, switches, places = MX.zeros(inputs.acceleration.shape), inputs.switches, switched(kind.motion)
        stop = -state.u if kind.sticking else inputs.stop
        if places:
            prescribed, locked = switches[: len(places), 0], switches[len(places) :, 0]
            for place, i in enumerate(places):
                acceleration[i] = -state.u[i] * locked[place]
            switches = ca.vertcat(1 - (1 - prescribed) * (1 - locked), MX.zeros(len(places)))
        return BodyInputs(
            forces=MX.zeros(inputs.forces.shape), modal=MX.zeros(inputs.modal.shape),
            effort=MX.zeros(inputs.effort.shape), rest=MX.zeros(inputs.rest.shape),
            acceleration=acceleration, switches=switches, torques=MX.zeros(inputs.torques.shape), stop=stop,
        )  # fmt: skip

    def outputs(self, x: MX, u: MX, k: MX, kernels: Kernels) -> tuple[MX, MX]:
        """``y`` and the energy."""
        known = replace(self.system(x, u, k, kernels), used=used_nodes(self.model, outputs=True), placed=True)
        system = self.in_joint_frames(known, k)
        moves, loops = self.moving(system, u, k)
        view = View(self.model, system, moves)
        outputs = view.outputs(self.input(u, "system.gravity"), self.swept_gravity(u))
        if loops:
            see_loops(self.model, loops, outputs)
        self.element_forces(system, u, k).see(moves, outputs)
        if system.feeds:
            tanks.see(self.model, system, moves, outputs)
        see_signals(view, self.ports, outputs)
        return ca.vertcat(*(outputs[v.name] for v in self.ports.outputs)), outputs["system.energy"]

    def system(self, x: MX, u: MX, k: MX, kernels: Kernels) -> System:
        at = self.layout
        states = [
            BodyState(x[at.q[j], 0], x[at.speeds[j], 0], x[at.modes[j], 0], x[at.modal_rates(j), 0], x[at.wheels[j], 0])
            for j in range(len(self.model.bodies))
        ]
        field, loops, feeds = self.field(u, k, kernels), bool(self.model.constraints), self.feeds(x, u, k)
        constants = tanks.filled(feeds, at.structures, [k[c, 0] for c in at.constants], kernels)
        return System(
            self.tree, at.structures, states, constants,
            self.inputs(u, k, states, kernels), kernels, self.seats, self.used,
            loops, placed=bool(self.model.loops or feeds) or field is not None, feeds=feeds, field=field,
            geared=self.geared,
        )  # fmt: skip

    def in_joint_frames(self, system: System, k: MX) -> System:
        """The ``system`` with frames along joints, where bodies are seen in such."""
        if not self.framed:
            return system
        own = zip(system.constants, self.layout.frames, strict=True)
        constants = [ca.vertcat(constants, k[at, 0]) for constants, at in own]
        return replace(system, structures=self.layout.framed_structures, constants=constants)

    def field(self, u: MX, k: MX, kernels: Kernels) -> dict[str, MX] | None:
        """`System.field` of this model."""
        if not self.model.gravity_gradient:
            return None
        return gravity_gradient.field(kernels, self.input(u, ORBIT_POSITION), k[self.layout.n_k - 1])

    def forced(self, system: System, u: MX, k: MX) -> list[BodyMotion]:
        """First sweep, with all that acts on the bodies: the gravity gradient needs to know first where all are."""
        moves = order_n.velocities(system)
        if system.field:
            gravity_gradient.attract(system, moves)
        if system.feeds:
            tanks.discharge(system, moves, self.closings(u, k))
        return moves

    def feeds(self, x: MX, u: MX, k: MX) -> list[tanks.Feed]:
        """The tanks of the model."""
        at = zip(self.model.tanks, self.layout.tanks, self.layout.tank_constants, strict=True)
        return [
            tanks.Feed(
                tanks.tank_form(tank), self.model.index[tank.body], k[c, 0], x[m, 0],
                self.input(u, f"tank.{tank.name}.flow"),
            ) for tank, m, c in at
        ]  # fmt: skip

    def input(self, u: MX, *names: str) -> MX:
        """The elements of inputs in ``u``, or their start values for those that are left out, side by side; nothing for
        those that the model cannot have."""
        known = (n for n in names if n in self.ports.by_name or n in self.still)
        return ca.vertcat(
            *(MX(ca.DM(list(self.still[n]))) if n in self.still else u[self.ports.by_name[n].places] for n in known)
        )

    def inputs(self, u: MX, k: MX, states: list[BodyState], kernels: Kernels) -> list[BodyInputs]:
        """Those of all bodies, rotors with the forces of their harmonics."""
        inputs = [self.body_inputs(u, body) for body in self.model.bodies]
        for j, body in enumerate(self.model.bodies):
            if body.harmonics:
                own = {"k": k[self.layout.constants[j], 0], "q": states[j].q, "u": states[j].u}
                forces = kernels.call(shaking, self.layout.structures[j], *shaken(body), **own)["forces"]
                inputs[j] = replace(inputs[j], forces=inputs[j].forces + forces)
        return inputs

    def body_inputs(self, u: MX, body: Body) -> BodyInputs:
        name, stem = body.name, joint_of(body)
        points = [name, *(f"{name}.{node}" for node in body.nodes)]
        effort = () if body.joint.floating else (f"{stem}.force", f"{stem}.torque")
        return BodyInputs(
            forces=self.input(u, *(f"{point}.{sort}" for point in points for sort in ("force", "torque"))),
            modal=self.input(u, f"{name}.flex.force"),
            effort=self.input(u, *effort),
            rest=self.input(u, f"{stem}.rest"),
            acceleration=self.input(u, f"{stem}.acceleration"),
            switches=self.input(u, f"{stem}.prescribed", f"{stem}.locked"),
            torques=self.input(u, *(f"{name}.{wheel}.torque" for wheel in body.wheels)),
            stop=MX.zeros(body.joint.n_u if not body.joint.floating and sticks(body.joint.laws) else 0),
        )

    def swept_gravity(self, u: MX) -> MX:
        """Gravity in the sweeps: under an ``attitude`` root it acts on the mass centre's motion alone."""
        return MX.zeros(3) if self.attitude_root else self.input(u, "system.gravity")

    def of_mass_centre(self, system: System, moves: list[BodyMotion]) -> tuple[MX, MX]:
        """Sums of external forces, and of momenta with the root at rest: turned and summed from tips to base."""
        carried: dict[int, MX] = {}
        for j in self.tree.inward:
            m, kind, state = moves[j], system.structures[j], system.states[j]
            own = m.sums
            if m.flexing:
                momentum = system.kernels.call(
                    observe.momentum,
                    kind,
                    k=system.constants[j],
                    V=m.V,
                    C=MX(ca.DM.eye(3).full()),
                    eta=state.eta,
                    eta_rate=state.eta_rate,
                )["momentum"]
                own = ca.horzcat(m.flexing.push[3:], momentum)
            seats = ((child, self.seats[child]) for child in self.tree.children[j])
            below = [carried[c] if at is None else m.nodes[at].E.T @ carried[c] for c, at in seats]
            carried[j] = m.E.T @ reduce(add, below, own)
        total = reduce(add, (carried[j] for j in self.tree.outward if self.tree.parent[j] == ROOT))
        return total[:, 0], total[:, 1]
