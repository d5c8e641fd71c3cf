"""Momenta where closure errors are taken out: what moving positions at constant speeds changes of them, given back.

After the move each connected set of trees (by joints, and loops that are closed) gets one rigid twist
``T = I^-1 (h_before - h_after)``, momenta and inertia I of the set being about one point. Wheels keep their absolute
spin momenta, so I is without their spin inertia. A rigid twist opens no loop and leaves the rates of all joints but
those on the inertial frame. These, and loops to the inertial frame, leave a set some directions only, or none: a
penalty holds T in them (equations.md, "Taking closure errors out").
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from itertools import accumulate
from operator import add

import casadi as ca
from casadi import DM, MX, SX

from mbdy.engine.model.topology import ROOT
from mbdy.engine.order_n import joint_rotors, spatial
from mbdy.engine.order_n import output_kernels as observe
from mbdy.engine.order_n import sweeps as order_n
from mbdy.engine.order_n.constants import Structure, constant_fields
from mbdy.engine.order_n.gear_rows import GearStructure
from mbdy.engine.order_n.kernels import Kernels, kernel, symbols
from mbdy.engine.order_n.loop_forces import INERTIAL_SIDE, Closing, Loops
from mbdy.engine.order_n.outputs import View
from mbdy.engine.order_n.passages import Passage
from mbdy.engine.order_n.rigid_body import body_symbols, drive, drive_symbols, kind_name
from mbdy.engine.order_n.sweeps import BodyMotion, System

HOLD = 1e8
"""Inertia against a twist that the inertial frame does not leave, of that of the set."""
INSTANT = 1e-4
"""[s] Within which motion is followed."""
LOADS = ("forces", "modal", "effort", "rest", "acceleration", "torques")
"""What acts on a body or drives it, of its inputs."""
NOTHING = 1e-200
"""Inertia that is added to a set which has none."""


def carried(kind: Structure) -> ca.Function:
    """Momentum ``h`` (6) and inertia ``M`` (21) of a body about the reference point, inertial axes, moving at V and
    ``slip`` (3, inertial axes)."""
    inputs, k, V, h, C, rho, slip = body_symbols(kind, V=6, h=kind.wheels, C=(3, 3), rho=3, slip=3)
    modes, M, momentum_of = observe.momenta(kind, k)
    own = momentum_of(V + ca.vertcat(SX(3, 1), C.T @ slip))
    for i in range(kind.wheels):
        own += ca.vertcat(k["spin_axes"][3 * i : 3 * i + 3] * h[i], SX(3, 1))
    outputs = {"momentum": Passage(rho, C.T).force(own)}
    outputs["M"] = spatial.upper(Passage(rho, C.T).inertia(M))
    return kernel(f"carried_{kind_name(kind)}", inputs | modes, outputs)


def anchored(kind: Structure) -> ca.Function:
    """Of a joint on the inertial frame: ``speeds`` (n_u, 6) of its free degrees of freedom that make a twist about the
    reference point, and ``N`` (21), which takes what of a twist none make."""
    n = kind.form.n_u
    inputs, k, S, C, rho = body_symbols(kind, S=(6, n), C=(3, 3), rho=3)
    driven = drive_symbols(kind)
    held, _ = drive(kind, driven, k)
    turning = C @ S[:3, :]
    free = ca.vertcat(turning, C @ S[3:, :] + spatial.skew(rho) @ turning) @ ca.diag(1 - held)
    speeds = spatial.solve_ldl(free.T @ free + ca.diag(held), free.T)
    N = SX(6, 6) if kind.floating and set(kind.motion) == {"free"} else SX.eye(6) - free @ speeds
    outputs = {"speeds": ca.densify(speeds), "N": ca.densify(spatial.upper(N))}
    return kernel(f"anchored_{kind_name(kind)}", inputs | driven, outputs)


def tied(size: int) -> ca.Function:
    """``N`` (21), as that of `anchored`, of a loop to the inertial frame: ``G`` (6, size) on a node at C and rho."""
    inputs = symbols(G=(6, size), C=(3, 3), rho=3, closed=1)
    G, C, rho, closed = inputs.values()
    rows = Passage(rho, C.T).force(G)
    return kernel(f"tied_{size}", inputs, {"N": closed * spatial.upper(rows @ rows.T)})


def barred() -> ca.Function:
    """The same of a gear on a joint to the inertial frame: ``rate`` (6) makes that of its coordinate of a twist."""
    inputs = symbols(rate=6)
    return kernel("barred", inputs, {"N": spatial.upper(inputs["rate"] @ inputs["rate"].T)})


def twist() -> ca.Function:
    """``twist`` (6) that gives a set of inertia M (21) the momentum ``change`` (6), as far as N (21) leaves it."""
    inputs = symbols(M=21, N=21, change=6)
    M, N, change = inputs.values()
    inertia = spatial.symmetric(M, 6)
    held = inertia + (HOLD * ca.trace(inertia) + NOTHING) * spatial.symmetric(N, 6)
    return kernel("twist", inputs, {"twist": spatial.solve_ldl(held, change)})


def inertial_motion(known: System, closings: Sequence[Closing], pushes: MX) -> list[BodyMotion]:
    """The sweeps with inertial forces and the ``pushes`` of loops (forces of their rows) alone."""
    freed = [free_of_laws(kind, k) for kind, k in zip(known.structures, known.constants, strict=True)]
    inputs = [replace(each, **{name: MX.zeros(getattr(each, name).shape) for name in LOADS}) for each in known.inputs]
    system = replace(known, inputs=inputs, structures=[kind for kind, _ in freed], constants=[k for _, k in freed],
                     loops=False, field=None)  # fmt: skip
    moves = order_n.velocities(system)
    for m in moves:
        m.tau = MX.zeros(m.tau.shape)
    Loops(system, moves, closings).push(ca.vertsplit(pushes, [0, *accumulate(c.kind.size for c in closings)]))
    order_n.accelerations(system, moves, MX.zeros(3))
    return moves


def carried_speeds(accelerations: Callable[[MX, MX], MX], rest: MX, motion: MX, step: MX, pushes: MX) -> MX:
    """Changes of speeds and of modal rates that go with the ``step`` of coordinates that ``pushes`` of loops make.

    What takes a gap out in no time is a force of the loops that goes as the derivative of an impulse. To the first
    order it moves coordinates by ``w = M^-1 G^T p`` and speeds by ``(da/du) w - dw/dt``, with the accelerations a of
    inertial forces alone and p constant; momenta stay, and energy changes by the work of the loops' forces over the
    gap. Inertial forces are of the second degree in speeds (and spin momenta), so that is the mixed derivative by s and
    e, at zero, of the ``accelerations`` at the state ``rest + s motion + e step`` under the pushes ``e p``; motion is
    ``[-q', u, -eta', eta', h]``. Its differences leave out only what is odd in both and of a higher degree: the square
    of ``INSTANT``.
    """
    signs = [(s, e) for s in (1, -1) for e in (1, -1)]
    ends = (s * e * accelerations(rest + s * INSTANT * motion + e * step, e * pushes) for s, e in signs)
    return reduce(add, ends) / (4 * INSTANT)


def free_of_laws(kind: Structure, k: MX) -> tuple[Structure, MX]:
    """A body's structure and constants without what bearings and modes do by themselves."""
    fields = constant_fields(kind)
    freed, pieces = replace(kind, bearings=(False,) * kind.wheels), []
    for name, size in constant_fields(freed).sizes:
        if size:
            pieces.append(MX.zeros(size) if name in ("flex_stiffness", "flex_damping") else k[fields.places(name)])
    return freed, ca.vertcat(*pieces)


def restoring_speeds(before: View, after: View, loops: Loops) -> list[MX]:
    """Changes of the speeds of all joints that give each set the momentum ``before`` the move; ``loops`` are those
    after it."""
    system = after.system
    roots = [j for j in system.tree.outward if system.tree.parent[j] == ROOT]
    place = {root: i for i, root in enumerate(roots)}
    old, _ = _momenta(before, roots, -before.centre, _drift(before))
    shift = _shift(before, after)
    new, inertia = _momenta(after, roots, shift, _drift(after, before))
    speeds, ties = [], []
    for j in roots:
        inputs, (C, rho) = system.inputs[j], after.pose(j)
        results = system.kernels.call(
            anchored, system.structures[j], k=system.constants[j], S=after.moves[j].S, C=C, rho=rho + shift,
            **inputs.driven,
        )  # fmt: skip
        speeds.append(results["speeds"])
        ties.append(results["N"])
    links: list[tuple[int, int, MX]] = []
    for c, motion in zip(loops.closings, loops.motions, strict=True):
        if isinstance(c.kind, GearStructure):
            for body, freedom in c.kind.freedoms:
                if body in place:
                    held = speeds[place[body]][freedom, :]
                    ties[place[body]] += c.closed * system.kernels.call(barred, rate=held.T)["N"]
            continue
        trees = [place[system.tree.root[seat.body]] for seat in c.seats if seat.body != INERTIAL_SIDE]
        if len(trees) == 2:
            links.append((trees[0], trees[1], c.closed))
        else:
            ties[trees[0]] += _tie(after, c, motion.G, shift)
    reach = connected(len(roots), links)
    change, M, N = ((ca.horzcat(*columns) @ reach) for columns in (_less(old, new), inertia, ties))
    changes = [MX.zeros(state.u.shape) for state in system.states]
    for i, j in enumerate(roots):
        turned = system.kernels.call(twist, M=M[:, i], N=N[:, i], change=change[:, i])["twist"]
        changes[j] = speeds[i] @ turned
    return changes


def connected(count: int, links: Sequence[tuple[int, int, MX]]) -> MX | DM:
    """Which of ``count`` trees belong together (1, else 0) by ``links``: pairs of them, and 1 where they are closed."""
    reach: MX | DM = DM.eye(count) if all(closed.is_constant() for *_, closed in links) else MX(DM.eye(count))
    for i, j, closed in links:
        reach[i, j] = reach[j, i] = ca.fmax(reach[i, j], closed.to_DM() if isinstance(reach, DM) else closed)
    for _ in range((count - 1).bit_length()):
        reach = ca.fmin(reach @ reach, 1)
    return ca.densify(reach)


def _less(first: list[MX], second: list[MX]) -> list[MX]:
    return [a - b for a, b in zip(first, second, strict=True)]


def _tie(view: View, c: Closing, G: tuple[MX, ...], shift: MX) -> MX:
    side = next(i for i, seat in enumerate(c.seats) if seat.body != INERTIAL_SIDE)
    C, rho = view.pose(c.seats[side].body, c.seats[side].node)
    kernels = view.system.kernels
    return kernels.call(tied, c.kind.size, G=G[side], C=C, rho=rho + shift, closed=c.closed)["N"]


def _shift(before: View, after: View) -> MX:
    """From the place of the mass centre before the move to what places after it are seen from."""
    if after.centred:
        return -after.centre
    return after.origin - before.origin - before.centre


def _drift(view: View, frame: View | None = None) -> MX:
    """Velocity of what velocities are seen from, in the frame of ``frame`` (of itself where None)."""
    if view.centred:
        return -view.drift
    return MX.zeros(3) if frame is None else view.speed - frame.speed


def _momenta(view: View, roots: list[int], shift: MX, drift: MX) -> tuple[list[MX], list[MX]]:
    """Momentum (6) and inertia (21) of each tree."""
    kernels: Kernels = view.system.kernels
    totals: dict[int, list[dict[str, MX]]] = {root: [] for root in roots}
    for j, root in enumerate(view.system.tree.root):
        state, (C, rho) = view.system.states[j], view.pose(j)
        totals[root].append(kernels.call(
            carried, view.system.structures[j], k=view.system.constants[j], V=view.moves[j].V, h=state.h, C=C,
            rho=rho + shift, slip=view.slip(j) + drift, eta=state.eta, eta_rate=state.eta_rate,
        ))  # fmt: skip
    for root, spin in joint_rotors.spins(view.system, view.moves):
        totals[root].append({"momentum": ca.vertcat(spin, MX.zeros(3)), "M": MX.zeros(21)})
    sums = [[reduce(add, (each[name] for each in totals[root])) for root in roots] for name in ("momentum", "M")]
    return sums[0], sums[1]
