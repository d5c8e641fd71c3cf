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

import casadi as ca
from casadi import DM, SX

from mbdy.engine.model.system import INERTIAL, Loop, Side
from mbdy.engine.order_n import spatial
from mbdy.engine.order_n.constants import LOOP_CONSTANTS, Structure
from mbdy.engine.order_n.kernels import kernel, symbols
from mbdy.engine.order_n.passages import shares
from mbdy.engine.order_n.rigid_body import body_symbols, joint_symbols, kind_name, passage_of

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
    on_body, on_modes = shares(*inputs.values())
    return kernel(f"to_body_{modes}_{size}", inputs, {"N_body": on_body, "N_modes": on_modes})


def past_modes(modes: int, size: int) -> ca.Function:
    """Columns on body and modes as ``N_joint`` on the body alone, and the ``change`` of t of its eliminated modes."""
    inputs = symbols(g=(modes, 6), inverse=(modes, modes), N=(6, size), N_modes=(modes, size))
    g, inverse, N, Nf = inputs.values()
    return kernel(f"past_modes_{modes}_{size}", inputs, {"N_joint": N - g.T @ Nf, "change": -inverse @ Nf})


def past_joint(kind: Structure, size: int) -> ca.Function:
    """Of columns ``N`` (6, size): ``epsilon`` S^T N (active, size), ``change`` of t, and ``N_parent`` on what the joint
    sits on."""
    active = sum(how != "prescribed" for how in kind.motion)
    inputs, k, g, S, solved, N, *_ = body_symbols(
        kind, g=(active, 6), S_free=(6, active), solved=(active, 6), N=(6, size), **joint_symbols(kind)
    )
    passage, _ = passage_of(kind, k, inputs)
    epsilon = S.T @ N
    outputs = {"epsilon": epsilon, "change": -solved @ N, "N_parent": passage.force(N - g.T @ epsilon)}
    return kernel(f"past_joint_{kind_name(kind, size)}", inputs, outputs)
