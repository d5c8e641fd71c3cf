"""The Order-N equations of motion: three sweeps along the tree (Stoneking, Order-N memo; equations.md, "Three sweeps").

The graph calls one kernel a body and sweep; C code, derivatives and linear models all follow from it. A flexible body
has its modes eliminated before its joint (T. K. Ghosh and L. J. Quiocho, Development and evaluation of an Order-N
formulation for multi-flexible body space systems); loops come after the sweeps (`mbdy.engine.order_n.loop_forces`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, TypeVar

import casadi as ca
from casadi import DM, MX

from mbdy.engine.model.topology import ROOT, Tree
from mbdy.engine.order_n import flexible_body as deformation
from mbdy.engine.order_n import nodes as seats
from mbdy.engine.order_n import rigid_body as rigid
from mbdy.engine.order_n.constants import Structure, constant_fields
from mbdy.engine.order_n.kernels import Kernels

if TYPE_CHECKING:
    from mbdy.engine.order_n.tanks import Feed

T = TypeVar("T")
Pose = tuple[MX, MX]
INERTIAL_POSE: Pose = (MX(DM.eye(3).full()), MX.zeros(3))


@dataclass(frozen=True)
class BodyInputs:
    """One body's inputs: external ``forces``, ``modal`` ones, joint ``effort``, spring ``rest``, prescribed
    ``acceleration``, ``switches`` (prescribed, then locked) and wheel ``torques``; empty where the body has none."""

    forces: MX
    modal: MX
    effort: MX
    rest: MX
    acceleration: MX
    switches: MX
    torques: MX
    stop: MX = field(default_factory=MX)
    """Accelerations of speeds that friction holds, of joints with friction that sticks: zero but for impulses."""

    @property
    def driven(self) -> dict[str, MX]:
        """What drives a joint, by the names of `mbdy.engine.order_n.rigid_body.drive`."""
        driven = {"acceleration": self.acceleration, "switches": self.switches}
        return driven | ({"stop": self.stop} if self.stop.numel() else {})


@dataclass(frozen=True)
class BodyState:
    """One body's states: joint coordinates ``q``, speeds ``u``, modal displacements ``eta`` and rates ``eta_rate``,
    wheel momenta ``h``."""

    q: MX
    u: MX
    eta: MX
    eta_rate: MX
    h: MX


@dataclass(kw_only=True)
class Placed:
    """Where a body or a node is, in systems that are ``placed``: what is known of both alike."""

    pose: Pose = field(default_factory=lambda: (MX(), MX()))
    """C (to inertial components) and rho, from the origin of its root if that floats, else of the inertial frame."""
    quaternion: MX = field(default_factory=MX)
    """The same as C, of a sign that never flips; in outputs."""


@dataclass
class NodeMotion(Placed):
    """What the sweeps leave behind for one node: body to node components ``E``, place ``r`` and shape ``Phi``
    (body axes, the latter at the node), velocity ``V``, bias ``c``, and in the end acceleration ``A`` (node axes)."""

    E: MX
    r: MX
    Phi: MX
    V: MX
    c: MX
    _: KW_ONLY
    below: dict[str, MX] = field(default_factory=dict)
    """Articulated inertia P and bias force p of the joints that sit there, together; nothing where none does."""
    A: MX = field(default_factory=MX)


@dataclass
class Flexing:
    """What the sweeps leave behind for one flexible body: the symbols of `mbdy.engine.order_n.flexible_body`.

    ``push`` and ``modal_push`` are what external forces make of body and modes.
    """

    M: MX
    B: MX
    p: MX
    p_f: MX
    push: MX
    modal_push: MX
    _: KW_ONLY
    below: dict[str, MX] = field(default_factory=dict)
    """Inertia ``P_below``, coupling ``B_below`` and modal inertia ``F_below`` of what hangs on it; nothing at a tip."""
    g: MX = field(default_factory=MX)
    t: MX = field(default_factory=MX)
    inverse: MX = field(default_factory=MX)
    rate: MX = field(default_factory=MX)
    """Second derivative of the modal displacements."""


@dataclass
class BodyMotion(Placed):
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
    power: MX
    """Of what acts on wheels, of efforts that store no energy, and of external forces on a rigid body."""
    _: KW_ONLY
    turn: MX | None = None
    """Cosine and sine of the turn about z, in a joint frame."""
    drift: MX | None = None
    """Velocity of a free root, axes of the body: what its true velocity has beside V; None below other roots."""
    sums: MX = field(default_factory=MX)
    """External force and momentum (3, 2) of a rigid body below an ``attitude`` root."""
    below: dict[str, MX] = field(default_factory=dict)
    """Articulated inertia ``P_below`` and bias force ``p_below`` of the children together, of a flexible body with its
    own; else nothing."""
    gyro: MX | None = None
    """Of what the joint sits on, by rotors whose axes are given (`rigid_body.outward`)."""
    lag: MX | None = None
    """Of the joint, ``coupling`` and ``carried`` of wheels (`rigid_body.outward`), where the body has them."""
    coupling: MX | None = None
    wheel_speeds: MX | None = None
    carried: MX | None = None
    g: MX = field(default_factory=MX)
    t: MX = field(default_factory=MX)
    a_c: MX = field(default_factory=MX)
    forced: MX = field(default_factory=MX)
    A: MX = field(default_factory=MX)
    u_rate: MX = field(default_factory=MX)
    S_free: MX = field(default_factory=MX)
    solved: MX = field(default_factory=MX)
    """D^-1 S^T of free speeds, as ``S_free``, in models with loops or gears."""
    inverse: MX = field(default_factory=MX)
    """D^-1 of a joint in a gear."""
    closing: MX = field(default_factory=lambda: MX.zeros(6))
    """What the loops' forces add to p where it enters the joint's elimination."""
    gradient: MX | None = None
    """Force vector (6) of the gravity gradient, which is in p then, and its forces on modes; None without it."""
    discharges: list[dict[str, MX]] = field(default_factory=list)
    """What the flows of its tanks do (`tanks.expel`), which is in p then."""
    nodes: dict[int, NodeMotion] = field(default_factory=dict)
    flexing: Flexing | None = None

    @property
    def modal_rate(self) -> MX:
        """Second derivative of the modal displacements (m)."""
        return self.flexing.rate if self.flexing else MX.zeros(0)

    @property
    def momentum_rate(self) -> MX:
        """Derivatives of the wheels' momenta."""
        return self.wheel_torques if self.coupling is None else self.wheel_torques + self.coupling.T @ self.A[:3]


@dataclass(frozen=True)
class System:
    """What the sweeps run over: the tree, and for each body in the order of the file its structure, states,
    constants and inputs; the kernels made so far.

    ``seats`` has the node of the parent that each body's joint sits on (None: its origin), ``used`` the nodes of each
    body whose motion is needed. ``loops`` says whether there are any, or gears, ``geared`` which joints are in these,
    ``placed`` whether the first sweep finds poses.
    """

    tree: Tree
    structures: Sequence[Structure]
    states: Sequence[BodyState]
    constants: Sequence[MX]
    inputs: Sequence[BodyInputs]
    kernels: Kernels
    seats: Sequence[int | None]
    used: Sequence[Sequence[int]]
    loops: bool = False
    placed: bool = False
    feeds: Sequence[Feed] = ()
    """Tanks in bodies, whose propellant is in ``constants``."""
    field: dict[str, MX] | None = None
    """Direction (3) and strength [1/s2] of the gravity gradient (`gravity_gradient.field`), in models with it."""
    geared: frozenset[int] = frozenset()


def velocities(system: System) -> list[BodyMotion]:
    """First sweep: frames, velocities and bias forces of all bodies.

    A floating root is taken with its origin at rest: the equations do not change with a constant velocity
    (equations.md, "Roots"), and rounding does not grow with the speed of an orbit.
    """
    moves: list[BodyMotion] = [None] * len(system.states)  # type: ignore[list-item]
    for j in system.tree.outward:
        moves[j] = _outward(j, system, moves)
    return moves


def accelerations(system: System, moves: list[BodyMotion], gravity: MX) -> None:
    """Second and third sweep: fills in the accelerations of all bodies.

    ``gravity`` (3, inertial axes): the inertial frame is taken to accelerate with its negative.
    """
    eliminate(system, moves)
    swing_out(system, moves, gravity, system.tree.outward)


def eliminate(system: System, moves: list[BodyMotion]) -> None:
    """Second sweep: eliminates modes and joints from tips to base."""
    for j in system.tree.inward:
        _inward(j, system, moves)


def pivots(system: System) -> tuple[list[MX], list[MX]]:
    """What the speeds of each joint move, and its margin to a singularity (`rigid_body.pivots`), of a system at rest.

    No numbers of what carries a joint that moves nothing, which nothing follows for.
    """
    moves = velocities(system)
    eliminate(system, moves)
    found, margins = [MX()] * len(moves), [MX()] * len(moves)
    for j in system.tree.inward:
        m, kind = moves[j], system.structures[j]
        below = {"P_below": m.below["P_below"]} if m.below else {}
        results = system.kernels.call(
            rigid.pivots, kind, not m.below, S=m.S, k=system.constants[j], **system.inputs[j].driven, **below
        )
        found[j], margins[j] = results["pivots"], results["margin"]
        for child in system.tree.children[j]:
            if found[child].numel():
                found[j] += ca.if_else(ca.mmin(found[child]) > 0, 0, math.nan)
    return found, margins


def swing_out(system: System, moves: list[BodyMotion], gravity: MX, bodies: Sequence[int]) -> None:
    """Third sweep over ``bodies``, each after its parent: accelerations of bodies, modes, nodes and speeds."""
    for j in bodies:
        m, kind = moves[j], system.structures[j]
        results = system.kernels.call(
            rigid.accelerate, kind,
            k=system.constants[j], **at_joint(kind, m), a_c=m.a_c, g=m.g, t=m.t, forced=m.forced,
            A_parent=of_seat(j, system, moves, "A", inertial_acceleration(gravity)),
        )  # fmt: skip
        m.A, m.u_rate = results["A"], results["u_rate"]
        if flexing := m.flexing:
            swing = system.kernels.call(deformation.swing, kind.modes, g=flexing.g, t=flexing.t, A=m.A)
            flexing.rate = swing["modal_rate"]
        for i, node in m.nodes.items():
            node.A = system.kernels.call(
                seats.accelerate, kind, i,
                E=node.E, r=node.r, Phi=node.Phi, c=node.c, A_body=m.A, modal_rate=m.modal_rate,
            )["A"]  # fmt: skip


def inertial_acceleration(gravity: MX) -> MX:
    """Acceleration (6) of the inertial frame, its axes."""
    return ca.densify(ca.vertcat(MX(3, 1), -gravity))


def root_frame_speeds(kind: Structure, u: MX) -> MX:
    """A body's speeds as the sweeps see them: those of a floating root without its linear velocity."""
    return ca.densify(ca.vertcat(MX(3, 1), u[3:])) if kind.floating else u


def of_seat(j: int, system: System, moves: list[BodyMotion], what: str, inertial: T) -> T:
    """``V``, ``A``, ``pose`` or ``quaternion`` of what a body's joint sits on: of nothing else does a body hang."""
    parent, seat = system.tree.parent[j], system.seats[j]
    if parent == ROOT:
        return inertial
    return getattr(moves[parent] if seat is None else moves[parent].nodes[seat], what)


def _drift_of_seat(j: int, system: System, moves: list[BodyMotion]) -> MX:
    """`BodyMotion.drift` of what a body's joint sits on, its axes."""
    parent, seat = moves[system.tree.parent[j]], system.seats[j]
    assert parent.drift is not None
    return parent.drift if seat is None else parent.nodes[seat].E @ parent.drift


def _outward(j: int, system: System, moves: list[BodyMotion]) -> BodyMotion:
    kind, state, inputs = system.structures[j], system.states[j], system.inputs[j]
    parent = system.tree.parent[j]
    carried = {} if parent == ROOT else {"V_parent": of_seat(j, system, moves, "V", MX())}
    k = system.constants[j]
    above = system.structures[system.tree.root[j]]
    if above.drifting:
        carried["drift_parent"] = state.u[:3] if parent == ROOT else _drift_of_seat(j, system, moves)
    m = BodyMotion(**_known(kind, state, k), **system.kernels.call(
        rigid.outward, kind, parent == ROOT, above.drifting, above.attitude,
        q=state.q, u=root_frame_speeds(kind, state.u), k=k, **carried,
        forces=inputs.forces, effort=inputs.effort, rest=inputs.rest, h=state.h, motors=inputs.torques,
    ))  # fmt: skip
    for i in system.used[j]:
        m.nodes[i] = _node(i, system, kind, state, m, k)
    if kind.flex:
        _deform(j, system, m)
    if m.carried is not None:
        _gather(m, m.carried, MX.zeros(6))
    if system.placed:
        m.pose = stand(system, m, of_seat(j, system, moves, "pose", INERTIAL_POSE), floating=kind.floating)
        for node in m.nodes.values():
            node.pose = stand(system, node, m.pose)
    return m


def at_joint(kind: Structure, m: BodyMotion) -> dict[str, MX]:
    """How a body's joint stands, for the sweeps inward and outward again."""
    return {name: getattr(m, name) for name in rigid.joint_symbols(kind)}


def _known(kind: Structure, state: BodyState, k: MX) -> dict[str, MX]:
    """What is known of a body in a joint frame without a kernel."""
    if not kind.turns:
        return {}
    at = k[constant_fields(kind).places("joint_at")]
    return {"r": at, "S": MX(rigid.subspace(kind), 1), "q_rate": state.u}


def _node(i: int, system: System, kind: Structure, state: BodyState, m: BodyMotion, k: MX) -> NodeMotion:
    moved = system.kernels.call(seats.move, kind, i, k=k, eta=state.eta, eta_rate=state.eta_rate, V_body=m.V)
    return NodeMotion(**moved)


def stand(system: System, m: BodyMotion | NodeMotion, above: Pose, *, floating: bool = False) -> Pose:
    """The pose of a body or a node from that of what it sits on."""
    results = system.kernels.call(rigid.stand, floating, E=m.E, r=m.r, C_parent=above[0], rho_parent=above[1])
    return results["C"], results["rho"]


def _deform(j: int, system: System, m: BodyMotion) -> None:
    """Bias forces of a flexible body, with what acts on it."""
    kind, state, forces, k = system.structures[j], system.states[j], system.inputs[j].forces, system.constants[j]
    flexing = Flexing(**system.kernels.call(
        deformation.deform, kind, k=k, eta=state.eta, eta_rate=state.eta_rate, V=m.V, forces=forces,
    ))  # fmt: skip
    for i in range(kind.nodes):
        f, n = forces[6 * i + 6 : 6 * i + 9], forces[6 * i + 9 : 6 * i + 12]
        node = m.nodes[i] if i in m.nodes else _node(i, system, kind, state, m, k)
        share = system.kernels.call(seats.press, kind, i, E=node.E, r=node.r, Phi=node.Phi, F=ca.vertcat(n, f))
        flexing.push += share["push"]
        flexing.modal_push += share["modal_push"]
    flexing.modal_push += system.inputs[j].modal
    m.p = m.p + flexing.p - flexing.push
    flexing.p_f = flexing.p_f - flexing.modal_push
    m.flexing = flexing


def _inward(j: int, system: System, moves: list[BodyMotion]) -> None:
    m, kind, parent = moves[j], system.structures[j], system.tree.parent[j]
    inputs, geared = system.inputs[j], system.loops and j in system.geared
    for i, node in m.nodes.items():
        if node.below:
            results = system.kernels.call(
                seats.carry, kind, i, E=node.E, r=node.r, Phi=node.Phi, c=node.c, **node.below
            )
            modal = (results["B_body"], results["F_body"], results["p_f"]) if m.flexing else ()
            _gather(m, results["P_body"], results["p_body"], *modal)
    if m.flexing:
        _condense(j, system, m)
    others = {}
    if parent != ROOT and system.seats[j] is None and not moves[parent].flexing:
        others = {name.replace("below", "others"): value for name, value in moves[parent].below.items()}
    results = system.kernels.call(
        rigid.inward, kind, parent == ROOT, not m.below, system.loops, bool(others), geared,
        **at_joint(kind, m), c=m.c, k=system.constants[j], p=m.p, tau=m.tau, **inputs.driven,
        **m.below, **({} if m.lag is None else {"lag": m.lag}), **others,
        **({} if m.gyro is None else {"gyro": m.gyro}),
    )  # fmt: skip
    m.g, m.t, m.a_c, m.forced = (results[name] for name in ("g", "t", "a_c", "forced"))
    if system.loops:
        m.S_free, m.solved = results["S_free"], results["solved"]
    if geared:
        m.inverse = results["inverse"]
    if parent != ROOT:
        P, p, seat = results["P_parent"], results["p_parent"], system.seats[j]
        if others:
            moves[parent].below = {"P_below": P, "p_below": p}
        elif seat is None:
            _gather(moves[parent], P, p)
        else:
            node = moves[parent].nodes[seat]
            node.below = _sum(node.below, {"P": P, "p": p})


def _gather(m: BodyMotion, P: MX, p: MX, B: MX | None = None, F: MX | None = None, p_f: MX | None = None) -> None:
    """Adds what hangs on a body to what it has below it: P and p at its origin; coupling B, modal inertia F and modal
    force p_f where it hangs on a node."""
    flexing = m.flexing
    if not flexing:
        m.below = _sum(m.below, {"P_below": P, "p_below": p})
        return
    m.p = m.p + p
    count = flexing.p_f.shape[0]
    if B is None or F is None or p_f is None:
        B, F = MX.zeros(6, count), MX.zeros(count * (count + 1) // 2)
    else:
        flexing.p_f = flexing.p_f + p_f
    flexing.below = _sum(flexing.below, {"P_below": P, "B_below": B, "F_below": F})


def _sum(below: dict[str, MX], carried: dict[str, MX]) -> dict[str, MX]:
    return {name: below[name] + value if below else value for name, value in carried.items()}


def _condense(j: int, system: System, m: BodyMotion) -> None:
    flexing = m.flexing
    assert flexing
    results = system.kernels.call(
        deformation.condense, system.structures[j], not flexing.below, system.loops,
        M=flexing.M, B=flexing.B, p=m.p, p_f=flexing.p_f, **flexing.below,
    )  # fmt: skip
    m.below = {"P_below": results["P_joint"], "p_below": results["p_joint"]}
    flexing.g, flexing.t = results["g"], results["t"]
    if system.loops:
        flexing.inverse = results["inverse"]
