"""The kernels of a loop: its constraints, and what they take from the sweeps (equations.md, "Closed loops").

A loop holds the relative motion of two loop frames. Its errors ``phi`` are functions of the place ``d = C_a^T (r_b -
r_a)`` and turn ``R = C_a^T C_b`` of b against a, with exact derivatives; each has a derivative of one along the motion
that it holds, where it is zero. Accelerations of the tree with unit forces need no sweep of their own: the columns of
the loops' forces pass inward once, and ``G M^-1 G^T`` is the sum of their squares over all eliminations
(G. Rodriguez, A. Jain, K. Kreutz-Delgado, A spatial operator algebra for manipulator modeling and control, 1991).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache

import casadi as ca
from casadi import DM, SX

from mbdy.engine.model.system import INERTIAL, Loop, Side
from mbdy.engine.order_n import spatial
from mbdy.engine.order_n.constants import LOOP_CONSTANTS
from mbdy.engine.order_n.kernels import kernel, symbols

REFINEMENTS = 12
PROXIMAL = 1e-4
"""Size of the proximal term against the mean of the diagonal, with which multipliers come to the smallest ones."""
SCALED_REFINEMENTS = 4
SCALED_PROXIMAL = 1e-7
"""The same against the diagonal itself, for rows that move far less or more mass than most."""
LEAST = 1e-3
"""Part of the mean of the diagonal that rows are scaled by at least in this."""
UNMOVED = 1e-15
"""[1/kg, 1/(kg.m2)] Mobility below which loops hold nothing that could move."""
SOLVED = 1e-11
"""Part of the right-hand side that may be left over before it is done."""
BETTER = 0.1
"""Part of what is left over that more of it must bring it down to."""
OPPOSED = 1e-9
"""Sine of the angle between opposed axes below which they have no direction to turn back by."""
SHORTEST = 1e-6
"""[m] Least distance that a loop can keep: its direction is lost where the places meet."""


@dataclass(frozen=True)
class LoopStructure:
    """What is compiled of a loop: two loops of one structure share their kernels."""

    a: Side
    b: Side
    rows: tuple[int, ...]
    rod: bool

    @property
    def size(self) -> int:
        return len(self.rows) or 1

    @property
    def name(self) -> str:
        """A part of the names of its kernels."""
        return "".join(map(str, self.rows)) or "rod"


def loop_structure(loop: Loop) -> LoopStructure:
    """The structure of ``loop``."""
    a, b = (replace(side, body=INERTIAL * (side.body == INERTIAL), node="") for side in (loop.a, loop.b))
    return LoopStructure(a, b, loop.rows, loop.distance is not None)


def errors(kind: LoopStructure, d: SX, R: SX, distance: SX) -> SX:
    """``phi`` (n) of a place ``d`` (3) and turn ``R`` (3, 3) of b against a, in a's loop frame."""
    if kind.rod:
        return (ca.dot(d, d) - distance**2) / (2 * distance)
    turning = [row - 1 for row in kind.rows if row <= 3]
    phi: dict[int, SX] = {}
    if len(turning) == 3:
        phi = {0: (R[2, 1] - R[1, 2]) / 2, 1: (R[0, 2] - R[2, 0]) / 2, 2: (R[1, 0] - R[0, 1]) / 2}
    elif len(turning) == 2:
        axis = next(k for k in range(3) if k not in turning)
        i, j = (axis + 1) % 3, (axis + 2) % 3
        phi = {i: -R[j, axis], j: R[i, axis]}
    elif turning:
        (i,) = turning
        phi = {i: -R[(i + 1) % 3, (i + 2) % 3]}
    phi |= {3 + k: d[k] for k in range(3)}
    return ca.vertcat(*(phi[row - 1] for row in kind.rows))


def constrain(kind: LoopStructure) -> ca.Function:
    """Of a and of b: C, rho (node to inertial components, place), V in a frame that moves with a constant velocity (6),
    that velocity (``slip``, 3, inertial axes).

    phi (n), phi' (n), G_a and G_b (6, n; forces on the nodes for unit multipliers, node axes, about the node), and
    gamma (n) with ``G_a^T A_a + G_b^T A_b = gamma``, where accelerations are component-wise in the same frames.
    """
    inputs, sides = _inputs()
    share, distance = inputs["k"][0], inputs["k"][1]
    d, R, speeds = _relative(kind, sides)
    phi = errors(kind, d, R, distance)
    along = [SX.sym(name, 6) for name in ("Wa", "Wb")]
    states, rate_of = _poses(sides, along)
    rate = ca.jtimes(phi, states, rate_of)
    G = [ca.jacobian(rate, W).T for W in along]
    rate, bias = ca.substitute([rate, ca.jtimes(rate, states, rate_of)], along, speeds)
    for side, W in zip(range(2), speeds, strict=True):
        slip = sides[side][0].T @ sides[side][3]
        bias -= G[side].T @ ca.vertcat(SX(3, 1), ca.cross(W[:3], slip))
    gamma = -bias - 2 * share * rate - share**2 * phi
    outputs = {"phi": phi, "rate": rate, "G_a": G[0], "G_b": G[1], "gamma": gamma}
    return kernel(f"constrain_{kind.name}", inputs, {name: ca.densify(value) for name, value in outputs.items()})


def approach(kind: LoopStructure) -> ca.Function:
    """Errors (n) as whole angles, which vanish at closure alone but for a single turning row; their rates (n), or
    angular velocities that lessen them; and cosines (n), not positive where axes are opposed. Inputs of `constrain`.

    Near closure errors and rates are ``phi`` and ``phi'`` to the first order.
    """
    inputs, sides = _inputs()
    d, R, speeds = _relative(kind, sides)
    phi = errors(kind, d, R, inputs["k"][1])
    rate = ca.jtimes(phi, *_poses(sides, speeds))
    turning = [row - 1 for row in kind.rows if row <= 3]
    cosine = SX(1)
    if len(turning) > 1:
        (C_a, *_), (C_b, *_) = sides
        frame = spatial.rotation_matrix(SX(DM(kind.a.frame)))
        omega = (C_a @ frame).T @ (C_b @ speeds[1][:3] - C_a @ speeds[0][:3])
        angles, cosine = _angles(turning, phi, R)
        n = len(turning)
        phi, rate = ca.vertcat(angles, phi[n:]), ca.vertcat(omega[turning], rate[n:])
    cosines = ca.vertcat(*(cosine if row <= 3 else 1 for row in kind.rows or (4,)))
    outputs = {"errors": phi, "rates": rate, "cosines": cosines}
    return kernel(f"approach_{kind.name}", inputs, {name: ca.densify(value) for name, value in outputs.items()})


def _angles(turning: list[int], phi: SX, R: SX) -> tuple[SX, SX]:
    """Of a weld's or a hinge's turn R the whole angles in the rows ``turning``, and the cosine of their size."""
    if len(turning) == 3:
        return spatial.rotation_vector(R), (ca.trace(R) - 1) / 2
    axis = next(k for k in range(3) if k not in turning)
    sine, cosine = ca.norm_2(phi[:2]), R[axis, axis]
    opposed = ca.if_else(cosine < 0, ca.DM([math.pi, 0]), phi[:2])
    return ca.if_else(sine > OPPOSED, phi[:2] * (ca.atan2(sine, cosine) / sine), opposed), cosine


_Side = tuple[SX, SX, SX, SX]


def _inputs() -> tuple[dict[str, SX], list[_Side]]:
    """The inputs of a loop's kernels by name, and those of sides a and b."""
    inputs, sides = symbols(k=LOOP_CONSTANTS), []
    for name in "ab":
        side = symbols(**{f"C_{name}": (3, 3), f"rho_{name}": 3, f"V_{name}": 6, f"slip_{name}": 3})
        C, rho, V, slip = side.values()
        sides.append((C, rho, V, slip))
        inputs |= side
    return inputs, sides


def _relative(kind: LoopStructure, sides: list[_Side]) -> tuple[SX, SX, list[SX]]:
    """Place and turn of b against a, in a's loop frame, and the velocities (6) of both nodes, their axes."""
    turns, places, speeds = [], [], []
    for side, (C, rho, V, slip) in zip((kind.a, kind.b), sides, strict=True):
        turns.append(C @ spatial.rotation_matrix(SX(DM(side.frame))))
        places.append(rho + C @ SX(DM(side.at)))
        speeds.append(ca.vertcat(V[:3], V[3:] + C.T @ slip))
    return turns[0].T @ (places[1] - places[0]), turns[0].T @ turns[1], speeds


def _poses(sides: list[_Side], speeds: list[SX]) -> tuple[SX, SX]:
    """Entries of C and places of both nodes, and their rates from velocities in node axes."""
    states = ca.vertcat(*(ca.vertcat(ca.vec(C), rho) for C, rho, *_ in sides))
    return states, ca.vertcat(*(_pose_rate(C, W) for (C, *_), W in zip(sides, speeds, strict=True)))


def _pose_rate(C: SX, W: SX) -> SX:
    """Rates of the entries of C and of the place, from a velocity in node axes."""
    return ca.vertcat(ca.vec(C @ spatial.skew(W[:3])), C @ W[3:])


def force(kind: LoopStructure) -> ca.Function:
    """Force on b and torque about its place, axes of a's loop frame (3, 3), for multipliers (n)."""
    inputs = symbols(multipliers=kind.size, G_a=(6, kind.size), C_a=(3, 3), rho_a=3, C_b=(3, 3), rho_b=3)
    multipliers, G, C_a, rho_a, C_b, rho_b = inputs.values()
    on_a = G @ multipliers
    f, n = -C_a @ on_a[3:], -C_a @ on_a[:3]
    place_b = rho_b + C_b @ SX(DM(kind.b.at))
    n -= ca.cross(place_b - rho_a, f)
    frame = (C_a @ spatial.rotation_matrix(SX(DM(kind.a.frame)))).T
    return kernel(f"force_{kind.name}", inputs, {"force": frame @ f, "torque": frame @ n})


def to_body(modes: int, size: int) -> ca.Function:
    """Columns ``N`` (6, size) on a node as ``N_body`` on its body and ``N_modes`` on its modes."""
    inputs = symbols(E=(3, 3), r=3, Phi=(6, modes), N=(6, size))
    E, r, Phi, N = inputs.values()
    on_body = ca.horzcat(*(spatial.force_to_parent(E, r, N[:, i]) for i in range(size)))
    return kernel(f"to_body_{modes}_{size}", inputs, {"N_body": on_body, "N_modes": Phi.T @ N})


def past_modes(modes: int, size: int) -> ca.Function:
    """Columns on body and modes as ``N_joint`` on the body alone, and the ``change`` of t of its eliminated modes."""
    inputs = symbols(g=(modes, 6), inverse=(modes, modes), N=(6, size), N_modes=(modes, size))
    g, inverse, N, Nf = inputs.values()
    return kernel(f"past_modes_{modes}_{size}", inputs, {"N_joint": N - g.T @ Nf, "change": -inverse @ Nf})


def past_joint(active: int, size: int) -> ca.Function:
    """Of columns ``N`` (6, size): ``epsilon`` S^T N (active, size), ``change`` of t, and ``N_parent`` on what the joint
    sits on."""
    inputs = symbols(E=(3, 3), r=3, g=(active, 6), S_free=(6, active), solved=(active, 6), N=(6, size))
    E, r, g, S, solved, N = inputs.values()
    epsilon = S.T @ N
    left = N - g.T @ epsilon
    above = ca.horzcat(*(spatial.force_to_parent(E, r, left[:, i]) for i in range(size)))
    outputs = {"epsilon": epsilon, "change": -solved @ N, "N_parent": above}
    return kernel(f"past_joint_{active}_{size}", inputs, outputs)


@cache
def solver(sparsity: str, size: int) -> ca.Function:
    """Multipliers (n) with ``A multipliers = b``: ``A = G M^-1 G^T`` with open rows empty, which are not ``closed``.

    Redundant rows leave A singular; refinements with a proximal term approach the multipliers of least norm, metres and
    radians weighed alike, and make no decision on rank. Where redundant rows contradict each other, by rounding or by
    different time constants, b loses what no multipliers could make of it.
    """
    A = SX.sym("A", ca.Sparsity.deserialize(sparsity))
    closed, right = SX.sym("closed", size), SX.sym("b", size)
    diagonal = ca.diag(A)
    count = ca.fmax(ca.sum1(closed), 1)
    mean = ca.sum1(diagonal) / count
    yields = mean > UNMOVED
    mean, b = ca.if_else(yields, mean, 1), ca.if_else(yields, right, 0)
    open_rows = (1 - closed) * mean
    # What b asks of redundant rows against each other lies where A gives nothing: no multipliers meet it, and each
    # refinement would add it to them once more, over mu. mu W (A + mu W)^-1, some times over, leaves of b only that.
    weight = ca.fmax(diagonal, LEAST * mean)
    scaled = ca.ldl(A + ca.diag(SCALED_PROXIMAL * weight + open_rows))
    contradiction = b
    for _ in range(SCALED_REFINEMENTS):
        contradiction = SCALED_PROXIMAL * weight * ca.ldl_solve(contradiction, *scaled)
    b = b - contradiction
    # A proximal step shrinks what is left by mu / (mu + sigma) along each eigenvalue sigma of A and adds nothing where
    # sigma is zero, so from zero the multipliers come to those of least norm. Where a motion makes rows redundant, they
    # stay smooth; a decision on rank would make them jump.
    multipliers = _refined(A, b, SX(size, 1), ca.ldl(A + ca.diag(PROXIMAL * mean + open_rows)), REFINEMENTS)
    # Rows that yield far less than the mean are short of their goal after that. Steps with terms of their own size
    # finish them, but weigh multipliers by these, so they count only where something was left over and they help.
    better = _refined(A, b, multipliers, scaled, SCALED_REFINEMENTS)
    left, less = (ca.norm_inf((b - A @ each) / ca.sqrt(weight)) for each in (multipliers, better))
    solved = ca.logic_or(left <= SOLVED * ca.norm_inf(b / ca.sqrt(weight)), less > BETTER * left)
    multipliers = ca.if_else(solved, multipliers, better)
    return kernel(f"solve_{size}", {"A": A, "closed": closed, "b": right}, {"multipliers": multipliers})


def _refined(A: SX, b: SX, multipliers: SX, factors: tuple[SX, SX, list[int]], times: int) -> SX:
    """Multipliers after some proximal steps, each of which solves for what is left with the ``factors``."""
    for _ in range(times):
        multipliers = multipliers + ca.ldl_solve(b - A @ multipliers, *factors)
    return multipliers
