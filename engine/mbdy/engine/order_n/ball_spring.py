"""The spring of a spherical rotation: energy ``1/2 e . K e`` of the rotation vector ``e`` from its rest.

``exp(e)`` turns the outboard axes away from where they rest, at ``exp(rest)`` in the joint frame; e is the same in the
axes at rest and in the outboard ones, and as short as can be: half a turn at most, where the torque changes its sign
and the energy does not. With ``e' = J^-1 w``, w the relative angular velocity in outboard axes, the torque is
``-J^-T K e``, ``J^-1 = 1 + 1/2 e~ + b e~ e~``, ``b = (1 - h cot h) / (4 h^2)``, ``h = |e|/2`` (F. C. Park, Computing
exponentials of rotations, 1994). All has its derivatives at rest too.
"""

from __future__ import annotations

import casadi as ca
from casadi import SX

from mbdy.engine.order_n import spatial
from mbdy.engine.order_n.constants import Structure

NEAR = 1e-2
"""Square of half an angle below which series have what is 0/0 at zero, to rounding."""


def torque(kind: Structure, k: dict[str, SX], q: SX, rest: SX) -> SX:
    """Torque (3) [N.m] on the outboard body, its axes, at the coordinates ``q`` of the joint."""
    e = _turned(kind, q, rest)
    t = _stiffness(kind, k) * e
    across = ca.cross(e, t)
    return across / 2 - t - _slope(ca.dot(e, e) / 4) * ca.cross(e, across)


def potential(kind: Structure, k: dict[str, SX], q: SX, rest: SX) -> SX:
    """Energy [J] that it stores."""
    e = _turned(kind, q, rest)
    return ca.dot(_stiffness(kind, k) * e, e) / 2


def _stiffness(kind: Structure, k: dict[str, SX]) -> SX:
    return k["stiffness"][kind.form.n_axes :]


def _turned(kind: Structure, q: SX, rest: SX) -> SX:
    """e (3)."""
    half = rest[kind.form.n_axes :] / 2
    back = ca.vertcat(_even(half), -_odd(half) * half)
    turned = spatial.quaternion_product(back, q[kind.form.translations :])
    turned *= ca.if_else(turned[0] < 0, -1, 1) / ca.norm_2(turned)
    return spatial.rotation_vector(turned[0], turned[1:])


def _even(half: SX) -> SX:
    """Cosine of the size of ``half`` (3), with derivatives at zero."""
    square = ca.dot(half, half)
    series = 1 - square / 2 * (1 - square / 12 * (1 - square / 30 * (1 - square / 56 * (1 - square / 90))))
    return ca.if_else(square < NEAR, series, ca.cos(ca.sqrt(ca.fmax(square, NEAR))))


def _odd(half: SX) -> SX:
    """Sine of the size of ``half`` (3) over that size, with derivatives at zero."""
    square = ca.dot(half, half)
    size = ca.sqrt(ca.fmax(square, NEAR))
    series = 1 - square / 6 * (1 - square / 20 * (1 - square / 42 * (1 - square / 72 * (1 - square / 110))))
    return ca.if_else(square < NEAR, series, ca.sin(size) / size)


def _slope(square: SX) -> SX:
    """b, from the square of h."""
    size = ca.sqrt(ca.fmax(square, NEAR))
    series = 1 / 12 + square / 180 * (1 + square * 2 / 21 * (1 + square / 10 * (1 + square * 10 / 99)))
    return ca.if_else(square < NEAR, series, (1 - size / ca.tan(size)) / (4 * size * size))
