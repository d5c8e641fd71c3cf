"""Loops between places that cannot move against each other: on one body, or on bodies that are fixed to each other."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from mbdy.engine.model.faults import Findings, path_of
from mbdy.engine.model.rotations import rotation
from mbdy.engine.model.system import INERTIAL, Body, Loop, Side

Array = NDArray[np.float64]
Seat = tuple[str, str]
CLOSED = 1e-9
"""[rad], [m] and of the distances on the way: errors of closure below this are rounding of a file's numbers."""


def check_that_it_moves(loop: Loop, bodies: Mapping[str, Body], findings: Findings) -> bool:
    """Whether the sides of ``loop`` can move against each other.

    If they cannot, it is refused, closed at the start or not, but for one between two bodies that is closed as it
    stands: that is left out with a warning.
    """
    (seat_a, C_a, r_a), (seat_b, C_b, r_b) = (_seated(side, bodies) for side in (loop.a, loop.b))
    same = loop.a.body == loop.b.body
    if seat_a != seat_b:
        return True
    path, where = path_of(("loop", loop.name)), "inertial space" if seat_a[0] == INERTIAL else f"body '{seat_a[0]}'"
    message = f"a and b are both on {where}" if same else f"a and b are fixed to each other, through {where},"
    message += " and cannot move against each other"
    far = max(1.0, float(np.linalg.norm(r_a)), float(np.linalg.norm(r_b)))
    if not same and _open_by(loop, C_a.T @ (r_b - r_a), C_a.T @ C_b) <= CLOSED * far:
        findings.warn(path, f"{message}; the loop is closed as it stands and is left out", "remove it")
    else:
        findings.refuse(f"{path}.b", message, "let it join two bodies that move, or two nodes of a flexible one")
    return False


def seat_of(side: Side, bodies: Mapping[str, Body]) -> Seat:
    """What carries a side rigidly: a body, by name, or a node that modes move."""
    return _seated(side, bodies)[0]


def _seated(side: Side, bodies: Mapping[str, Body]) -> tuple[Seat, Array, Array]:
    """What carries a side rigidly, a body or a node that modes move, and the loop frame's axes (3, 3) and place (3)."""
    name, node, C, r = side.body, side.node, rotation(side.frame), np.array(side.at)
    for _ in bodies:  # joints may make a ring, which is told elsewhere
        if name == INERTIAL:
            break
        body = bodies[name]
        if node and body.flex:
            return (name, node), C, r
        r = r + (np.array(body.nodes[node].at) if node else 0.0)
        if body.joint.n_u or body.joint.to not in {*bodies, INERTIAL}:
            break
        frame = rotation(body.joint.frame)
        C, r = frame @ C, np.array(body.joint.at) + frame @ (r - body.joint.at_b)
        name, node = body.joint.to, body.joint.node
    return (name, ""), C, r


def _open_by(loop: Loop, d: Array, R: Array) -> float:
    """The largest error of the rows of ``loop`` [rad, m] with b at ``d`` and turned by ``R`` against a; two and three
    turning rows by where axes point."""
    if loop.distance is not None:
        return abs(float(np.linalg.norm(d)) - loop.distance)
    held = [row - 1 for row in loop.rows if row <= 3]
    if len(held) == 1:
        turned = [R[(held[0] + 1) % 3, (held[0] + 2) % 3]]
    else:
        aligned = range(3) if len(held) == 3 else sorted({0, 1, 2} - set(held)) if held else ()
        turned = [float(np.linalg.norm(R[:, axis] - np.eye(3)[axis])) for axis in aligned]
    return max(np.abs([*turned, *(d[row - 4] for row in loop.rows if row > 3)]))
