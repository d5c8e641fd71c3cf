"""What acts at a joint besides its constraint, and on wheels: inputs, springs, dampers, laws that a model asks for.

- cubic spring ``-k3 d^3`` of the distance d from rest;
- Coulomb friction, smoothed: ``-F tanh(rate / friction_rate)``, in bearings of wheels too;
- stops: a penalty ``k e^2 / (e + w)`` of the depth e beyond a stop, smooth at its touch and of stiffness k soon after
  (w is `STOP_SOFTNESS`), with a damper that grows with the same share ``e / (e + w)``; a stop never pulls;
- a cable harness: a table over the only coordinate, linear between its points and constant beyond its ends.
"""

from __future__ import annotations

from itertools import pairwise

import casadi as ca
from casadi import SX

from mbdy.engine.model.joint_values import HARNESS
from mbdy.engine.order_n.constants import Structure

STOP_SOFTNESS = 1e-3
"""[m, rad] Depth at which half of a stop's stiffness acts."""


def effort(kind: Structure, k: dict[str, SX], q: SX, u: SX, given: SX, rest: SX) -> SX:
    """Force or torque (n_u) at a joint along its degrees of freedom, on the outboard body."""
    tau = given - k["damping"] * u
    if "friction" in kind.laws:
        tau -= k["friction"] * ca.tanh(u / k["friction_rate"])
    if kind.harness:
        tau[0] += harness(kind, k, q[0])[0]
    for i in range(kind.form.n_axes):
        away = q[i] - rest[i]
        tau[i] -= k["stiffness"][i] * away
        if "cubic" in kind.laws:
            tau[i] -= k["cubic_stiffness"][i] * away**3
        if "stops" in kind.laws:
            for depth, sign in _depths(k, q, i):
                share = depth / (depth + STOP_SOFTNESS)
                pushed = k["stop_stiffness"][i] * depth - sign * k["stop_damping"][i] * u[i]
                tau[i] += sign * share * ca.fmax(pushed, 0)
    return tau


def wheel_torques(kind: Structure, k: dict[str, SX], given: SX, speeds: SX) -> SX:
    """Torque (n) on each wheel about its axis: its motor's, and its bearing's where it takes any."""
    torques = SX(given)
    for at, i in enumerate(i for i, bearing in enumerate(kind.bearings) if bearing):
        damping, friction, rate = (k["bearings"][3 * at + j] for j in range(3))
        torques[i] -= damping * speeds[i] + friction * ca.tanh(speeds[i] / rate)
    return torques


def wheel_speeds(kind: Structure, k: dict[str, SX], h: SX, omega: SX) -> SX:
    """Speed (n) of each wheel relative to its body, from its absolute spin momentum."""
    speeds = [h[i] / k["spin"][i] - ca.dot(k["spin_axes"][3 * i : 3 * i + 3], omega) for i in range(kind.wheels)]
    return ca.vertcat(*speeds) if speeds else SX(0, 1)


def potential(kind: Structure, k: dict[str, SX], q: SX, rest: SX) -> SX:
    """Energy [J] in a joint's springs, stops and cable harness; a harness has none at coordinate zero."""
    stored = SX(0)
    if kind.harness:
        stored += harness(kind, k, SX(0))[1] - harness(kind, k, q[0])[1]
    for i in range(kind.form.n_axes):
        away = q[i] - rest[i]
        stored += k["stiffness"][i] * away**2 / 2
        if "cubic" in kind.laws:
            stored += k["cubic_stiffness"][i] * away**4 / 4
        if "stops" in kind.laws:
            for depth, _ in _depths(k, q, i):
                soft = STOP_SOFTNESS
                stored += k["stop_stiffness"][i] * (depth**2 / 2 - soft * depth + soft**2 * ca.log1p(depth / soft))
    return stored


def harness(kind: Structure, k: dict[str, SX], q: SX) -> tuple[SX, SX]:
    """Effort of a cable harness at coordinate ``q``, and its work from the table's first point to there.

    Each piece adds its slope times the part of it that ``q`` has gone through, so there is nothing to search.
    """
    points = [(k[HARNESS][2 * i], k[HARNESS][2 * i + 1]) for i in range(kind.harness)]
    effort, work = points[0][1], points[0][1] * (q - points[0][0])
    for (begin, before), (end, after) in pairwise(points):
        slope = (after - before) / (end - begin)
        gone = ca.fmin(ca.fmax(q - begin, 0), end - begin)
        effort += slope * gone
        work += slope * (gone**2 / 2 + (end - begin) * ca.fmax(q - end, 0))
    return effort, work


def _depths(k: dict[str, SX], q: SX, i: int) -> tuple[tuple[SX, int], tuple[SX, int]]:
    """How deep a coordinate is beyond its lower and its upper stop (0 between them), and where they push it."""
    return (
        (ca.fmax(k["stop_lower"][i] - q[i], 0), 1),
        (ca.fmax(q[i] - k["stop_upper"][i], 0), -1),
    )
