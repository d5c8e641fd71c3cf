"""Kernels of `mbdy.engine.model.signals`: what is seen of two places, and norms.

Attitudes are quaternions from components at the place to inertial ones, of any norm; vectors are in inertial axes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import casadi as ca
from casadi import SX

from mbdy.engine.order_n import spatial
from mbdy.engine.order_n.kernels import kernel, symbols

LOCK = 1e-12
"""Sine of half the middle angle (or of what it lacks) below which the third Euler angle is taken to be zero."""


def ridden() -> ca.Function:
    """Velocity and angular velocity of a point at ``arm`` from the origin of the axes C, which move with V (their
    components)."""
    inputs = symbols(V=6, C=(3, 3), arm=3)
    V, C, arm = inputs.values()
    omega = C @ V[:3]
    return kernel("ridden", inputs, {"velocity": C @ V[3:] + ca.cross(omega, arm), "omega": omega})


def turned(kind: str, sequence: str) -> ca.Function:
    """How the place ``of`` is turned against the place ``to``, as one of `TURNS`."""
    inputs = symbols(attitude_of=4, attitude_to=4)
    of, to = inputs.values()
    q = spatial.quaternion_product(ca.vertcat(to[0], -to[1:]), of)
    q = q / ca.sqrt(ca.dot(q, q))
    seen = euler(q, sequence) if sequence else TURNS[kind](q)
    return kernel(f"turned_{kind}_{sequence}", inputs, {"seen": ca.densify(seen)})


def euler(q: SX, sequence: str) -> SX:
    """Angles [rad] of rotations about the axes of ``sequence``, each following those made; the middle one in
    [-pi/2, pi/2], or in [0, pi] where first and third axis are one, the others in (-pi, pi].

    E. Bernardes, S. Viollet, Quaternion to Euler angles conversion: a direct, general and computationally efficient
    method, PLoS ONE 17 (2022): a sequence of three axes is one of two, turned on by a right angle. Where the middle
    angle makes first and third axis one, the first takes the whole turn.
    """
    i, j, k = ("xyz".index(letter) for letter in sequence)
    three = i != k
    other = k if three else 3 - i - j
    sign = 1 if (i + 1) % 3 == j else -1
    if three:
        onward = SX([1, 0, 0, 0])
        onward[1 + j] = 1
        q = spatial.quaternion_product(q, onward) / math.sqrt(2)
    along, across = (q[0], q[1 + i]), (q[1 + j], sign * q[1 + other])
    closed, opened = (_length(pair) < LOCK for pair in (across, along))
    half_sum, half_difference = _angle(along, opened), _angle(across, closed)
    half_sum, half_difference = (
        ca.if_else(opened, half_difference, half_sum),
        ca.if_else(closed, half_sum, half_difference),
    )
    middle = 2 * ca.atan2(_length(across), _length(along))
    first, third = _wrapped(half_sum + half_difference), _wrapped(half_sum - half_difference)
    return ca.vertcat(first, middle - math.pi / 2, -sign * third) if three else ca.vertcat(first, middle, third)


def _length(pair: tuple[SX, SX]) -> SX:
    """Length of a pair, whose derivative is zero where it is."""
    square = pair[0] ** 2 + pair[1] ** 2
    return ca.if_else(square > 0, ca.sqrt(ca.if_else(square > 0, square, 1)), 0)


def _angle(pair: tuple[SX, SX], lost: SX) -> SX:
    """Angle of a pair x, y, zero where it is ``lost``."""
    return ca.atan2(ca.if_else(lost, 0, pair[1]), ca.if_else(lost, 1, pair[0]))


def _wrapped(angle: SX) -> SX:
    return angle - 2 * math.pi * ((angle > math.pi) - (angle <= -math.pi))


def _near(q: SX) -> SX:
    """The one of ``q`` and ``-q``, the same turn, that turns by no more than half a turn."""
    return ca.if_else(q[0] < 0, -q, q)


def _mrp(q: SX) -> SX:
    q = _near(q)
    return q[1:] / (1 + q[0])


def _rotation_vector(q: SX) -> SX:
    q = _near(q)
    return spatial.rotation_vector(q[0], q[1:])


TURNS: Mapping[str, Callable[[SX], SX]] = {
    "mrp": _mrp,
    "rotation_vector": _rotation_vector,
    "matrix": lambda q: ca.vec(spatial.rotation_matrix(q).T),
    "relative_attitude": lambda q: q,
}
"""What unit quaternions are seen as, by the kind of the signal; Euler angles have `euler`."""


def moved(kind: str) -> ca.Function:
    """Where the place ``of`` is from the place ``to``, how fast, or how fast it turns, in the axes of a third."""
    sides = {f"{what}_{side}": 3 for side in ("of", "to") for what in ("place", "velocity", "omega")}
    inputs = symbols(**sides, attitude=4, omega=3)
    place, velocity, omega = (inputs[f"{what}_of"] - inputs[f"{what}_to"] for what in ("place", "velocity", "omega"))
    vectors = {
        "relative_position": place,
        "relative_velocity": velocity - ca.cross(inputs["omega"], place),
        "relative_omega": omega,
    }
    seen = spatial.rotation_matrix(inputs["attitude"]).T @ vectors[kind]
    return kernel(f"moved_{kind}", inputs, {"seen": seen})


def norm(n: int) -> ca.Function:
    """Root of the sum of ``n`` squares, whose derivative is zero where it is."""
    inputs = symbols(x=n)
    square = ca.dot(inputs["x"], inputs["x"])
    length = ca.if_else(square > 0, ca.sqrt(ca.if_else(square > 0, square, 1)), 0)
    return kernel(f"norm_{n}", inputs, {"seen": length})
