"""The kernels of a loop: its constraints, and what they take from the sweeps (equations.md, "Closed loops").

A loop holds the relative motion of two loop frames. Its errors ``phi`` are functions of the place ``d = C_a^T (r_b -
r_a)`` and turn ``R = C_a^T C_b`` of b against a; each has a derivative of one along the motion that it holds, where it
is zero. Turning rows hold angular velocities, of which errors that are angles are fed back: derivatives of such errors
would be singular somewhere. Accelerations of the tree with unit forces need no sweep of their own: the columns of
the loops' forces pass inward once, and ``G M^-1 G^T`` is the sum of their squares over all eliminations
(G. Rodriguez, A. Jain, K. Kreutz-Delgado, A spatial operator algebra for manipulator modeling and control, 1991).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import casadi as ca
from casadi import DM, MX, SX

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
FINE_PROXIMAL = 1e-12
"""The same against the mean, where something is left over: below a lever of some 1e-5 lengths lies rounding."""
FEW = 10
"""Directions that A gives almost nothing of up to which that holds. What stages of an integrator are off by goes into
accelerations along each by the inverse root of what A gives, or of the term. Of n loops in a row that a motion makes
redundant together there are n such directions, and as many times softer ones: the root grows with their square."""
FINE_PASSES = 2
LEAST = 1e-3
"""Part of the mean of the diagonal that rows are scaled by at least in this."""
UNMOVED = 1e-15
"""[1/kg, 1/(kg.m2)] Mobility below which loops hold nothing that could move."""
SOLVED = 1e-11
"""Part of the right-hand side that may be left over before it is done."""
BETTER = 0.1
"""Part of what is left over that more of it must bring it down to."""
SHORT = 1e-12
"""Least length, of vectors that are one or two long at closure, that is divided by."""
EITHER_WAY = 1e-3
"""Cosine of half a turn and of turns near it that hold all axes."""
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


def constrain(kind: LoopStructure) -> ca.Function:
    """Of a and of b: C, rho (node to inertial components, place), V in a frame that moves with a constant velocity (6),
    that velocity (``slip``, 3, inertial axes).

    phi (n), phi' (n; of turning rows the angular velocity that is held), G_a and G_b (6, n; forces on the nodes for
    unit multipliers, node axes, about the node), gamma (n) with ``G_a^T A_a + G_b^T A_b = gamma``, where accelerations
    are component-wise in the same frames, `turning`'s cosine, and ``lessening`` (n): phi' with the angular velocity of
    hinges in a's axes, by which turning about a's own lessens no error, however far b's is from it.
    """
    inputs, sides = _inputs()
    share, distance = inputs["k"][0], inputs["k"][1]
    d, R, speeds = _relative(kind, sides)
    along = [SX.sym(name, 6) for name in ("Wa", "Wb")]
    states, rate_of = _poses(sides, along)
    held = [row - 1 for row in kind.rows if row <= 3]
    angles, rows, cosine = turning(held, R)
    gaps = (ca.dot(d, d) - distance**2) / (2 * distance) if kind.rod else d[[row - 4 for row in kind.rows if row > 3]]
    frame, (C_a, *_), (C_b, *_) = spatial.rotation_matrix(SX(DM(kind.a.frame))), *sides
    omega = (C_a @ frame).T @ (C_b @ along[1][:3] - C_a @ along[0][:3])
    opening = ca.jtimes(gaps, states, rate_of)
    phi, rate = ca.vertcat(angles, gaps), ca.vertcat(rows @ omega, opening)
    lessening = ca.vertcat(omega[held] if len(held) == 2 else rows @ omega, opening)
    G = [ca.jacobian(rate, W).T for W in along]
    bias = ca.jtimes(rate, states, rate_of)
    rate, lessening, bias = ca.substitute([rate, lessening, bias], along, speeds)
    for side, W in zip(range(2), speeds, strict=True):
        slip = sides[side][0].T @ sides[side][3]
        bias -= G[side].T @ ca.vertcat(SX(3, 1), ca.cross(W[:3], slip))
    gamma = -bias - 2 * share * rate - share**2 * phi
    outputs = {"phi": phi, "rate": rate, "G_a": G[0], "G_b": G[1], "gamma": gamma, "cosine": cosine}
    outputs["lessening"] = lessening
    return kernel(f"constrain_{kind.name}", inputs, {name: ca.densify(value) for name, value in outputs.items()})


def turning(held: list[int], R: SX) -> tuple[SX, SX, SX]:
    """Of a turn R (3, 3) of b against a, of which the axes ``held`` (0, 1, 2) of a are, n of them: errors (n) as whole
    angles, rows (n, 3) that make rates of them from the relative angular velocity, a's axes, and a cosine.

    The errors vanish at closure alone, the rows are independent everywhere. Where no direction leads back one is taken
    and the cosine is zero: of two axes that should be aligned that of half the angle, of lines at a right angle that of
    the error. Half a turn of all axes leads back either way, and its cosine stays above zero.
    """
    unit = SX.eye(3)
    if len(held) == 3:
        w, v = spatial.quaternion_of(R)
        return spatial.rotation_vector(w, v), unit, ca.fmax(w, EITHER_WAY)
    if len(held) == 2:
        axis = next(k for k in range(3) if k not in held)
        common, own = unit[:, axis], R[:, axis]
        v, double = _divided(ca.cross(common, own), common + own, unit[:, held[0]])
        w = double / 2
        return spatial.rotation_vector(w, v)[held], spatial.rotation_matrix(ca.vertcat(w, v))[:, held].T, w
    if len(held) == 1:
        j, k = (held[0] + 1) % 3, (held[0] + 2) % 3
        normal = ca.cross(unit[:, j], R[:, k])
        normal, size = _divided(normal, normal, unit[:, held[0]])
        w = ca.sqrt((1 + size) / 2)
        return spatial.rotation_vector(w, -R[j, k] / (2 * w)), normal.T, size
    return SX(0, 1), SX(0, 3), SX(1)


def _divided(v: SX, by: SX, instead: SX) -> tuple[SX, SX]:
    """``v`` (3) divided by the length of ``by`` (3), and this length; ``instead`` where it is almost zero."""
    square = ca.dot(by, by)
    length = ca.sqrt(ca.fmax(square, SHORT**2))
    return ca.if_else(square > SHORT**2, v / length, instead), length


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
    different time constants, b loses what no multipliers could make of it. Only where that leaves something over, as
    rows do that yield far less than others or differ by a short lever, are a smaller term and more refinements tried.
    """
    inputs = {
        name: MX.sym(name, *shape) for name, shape in (("A", (size, size)), ("closed", (size, 1)), ("b", (size, 1)))
    }
    inputs["A"] = MX.sym("A", ca.Sparsity.deserialize(sparsity))
    first, second = _solve(sparsity, size), _solve_finely(sparsity, size)
    given = {"A": SX.sym("A", inputs["A"].sparsity()), **symbols(closed=size, b=size, near=size)}
    as_it_is = kernel(f"solved_{size}", given, {"multipliers": given["near"]})
    solved = first(**inputs)
    finish = ca.Function.if_else(f"finish_{size}", second, as_it_is)
    multipliers = finish(solved["left"], *inputs.values(), solved["near"])
    return ca.Function(f"solver_{size}", [*inputs.values()], [multipliers], [*inputs], ["multipliers"])


def _solve(sparsity: str, size: int) -> ca.Function:
    """Multipliers near those of `solver`, and whether something is left over."""
    A, closed, right, mean, b = _system(sparsity, size)
    # What b asks of redundant rows against each other lies where A gives nothing: no multipliers meet it, and each
    # refinement would add it to them once more, over mu. mu W (A + mu W)^-1, some times over, leaves of b only that.
    weight = _weight(A, mean)
    open_rows = (1 - closed) * mean
    scaled = ca.ldl(A + ca.diag(SCALED_PROXIMAL * weight + open_rows))
    contradiction = _shrunk(b, SCALED_PROXIMAL * weight, scaled, SCALED_REFINEMENTS)
    # A proximal step shrinks what is left by mu / (mu + sigma) along each eigenvalue sigma of A and adds nothing where
    # sigma is zero, so from zero the multipliers come to those of least norm. Where a motion makes rows redundant, they
    # stay smooth; a decision on rank would make them jump.
    factors = ca.ldl(A + ca.diag(PROXIMAL * mean + open_rows))
    near = _refined(A, b - contradiction, SX(size, 1), factors, REFINEMENTS)
    left = _over(A, b, near, weight) > SOLVED * ca.norm_inf(b / ca.sqrt(weight))
    return kernel(f"solve_{size}", {"A": A, "closed": closed, "b": right}, {"near": near, "left": left})


def _solve_finely(sparsity: str, size: int) -> ca.Function:
    """``near`` multipliers with what they leave over brought down, if it can be, and then to those of least norm."""
    A, closed, right, mean, b = _system(sparsity, size)
    near, weight = SX.sym("near", size), _weight(A, mean)
    pivots, *_ = ca.ldl(A + ca.diag(PROXIMAL * mean + (1 - closed) * mean))
    soft = PROXIMAL * mean * ca.sum1(1 / pivots)
    term = FINE_PROXIMAL * (1 + (soft / FEW) ** 4) * mean
    factors = ca.ldl(A + ca.diag(term + (1 - closed) * mean))
    rest = b - A @ near
    for _ in range(FINE_PASSES):
        rest = rest - _shrunk(rest, term, factors, SCALED_REFINEMENTS)
    fine = near + _refined(A, rest, SX(size, 1), factors, SCALED_REFINEMENTS)
    # Rounding where A gives nothing has been divided by the term: that is no part of the multipliers of least norm.
    for _ in range(FINE_PASSES):
        fine = fine - _shrunk(fine, term, factors, SCALED_REFINEMENTS)
    better = _over(A, b, fine, weight) < BETTER * _over(A, b, near, weight)
    inputs = {"A": A, "closed": closed, "b": right, "near": near}
    return kernel(f"solve_finely_{size}", inputs, {"multipliers": ca.if_else(better, fine, near)})


def _system(sparsity: str, size: int) -> tuple[SX, SX, SX, SX, SX]:
    """A, closed and b of `solver`; the mean of A's diagonal, and b, of rows that hold something that can move."""
    A = SX.sym("A", ca.Sparsity.deserialize(sparsity))
    closed, right = SX.sym("closed", size), SX.sym("b", size)
    mean = ca.sum1(ca.diag(A)) / ca.fmax(ca.sum1(closed), 1)
    yields = mean > UNMOVED
    return A, closed, right, ca.if_else(yields, mean, 1), ca.if_else(yields, right, 0)


def _weight(A: SX, mean: SX) -> SX:
    """What rows are measured by: the diagonal of A, at least some of its mean."""
    return ca.fmax(ca.diag(A), LEAST * mean)


def _over(A: SX, b: SX, multipliers: SX, weight: SX) -> SX:
    """The most that multipliers leave over."""
    return ca.norm_inf((b - A @ multipliers) / ca.sqrt(weight))


def _shrunk(b: SX, term: SX, factors: tuple[SX, SX, list[int]], times: int) -> SX:
    """b with all but what A gives nothing of shrunk by proximal steps with the ``term``."""
    for _ in range(times):
        b = term * ca.ldl_solve(b, *factors)
    return b


def _refined(A: SX, b: SX, multipliers: SX, factors: tuple[SX, SX, list[int]], times: int) -> SX:
    """Multipliers after some proximal steps, each of which solves for what is left with the ``factors``."""
    for _ in range(times):
        multipliers = multipliers + ca.ldl_solve(b - A @ multipliers, *factors)
    return multipliers
