"""What closing loops at the start may move, and what it measures moves by: places in the core's vectors.

Columns are the speeds of all joints, body by body, then the modal rates; rows are the scalar constraints of all loops.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from mbdy.engine.model.gear import Gear
from mbdy.engine.model.owners import Owner, Quantity, constraint, joint_of
from mbdy.engine.model.ports import Ports
from mbdy.engine.model.system import INERTIAL, Body, Loop, Model
from mbdy.engine.model.topology import tree
from mbdy.engine.model.variables import Variable, switched
from mbdy.engine.order_n.layout import Layout

TRANSLATION, ANGLE, QUATERNION = 0, 1, 2
"""What a speed changes, as model.h has it."""


@dataclass(frozen=True)
class ClosingColumns:
    """Arrays of model.h's ``mbdy_model`` by their names, ``reach`` [m], the largest arm of a side of a loop, and how
    many of the rows, the last ones, are ``linear``: those of gears."""

    coordinates: tuple[int, ...] = ()
    motions: tuple[int, ...] = ()
    prescribed: tuple[int, ...] = ()
    prescriptions: tuple[int, ...] = ()
    prescribed_speeds: tuple[int, ...] = ()
    stiffness: tuple[int, ...] = ()
    row_loops: tuple[int, ...] = ()
    row_turns: tuple[int, ...] = ()
    row_switches: tuple[int, ...] = ()
    lengths: tuple[int, ...] = ()
    points: tuple[int, ...] = ()
    reach: float = 0.0
    linear: int = 0


def closing_columns(model: Model, ports: Ports, layout: Layout) -> ClosingColumns:
    """The columns and rows of ``model``; nothing without loops and gears."""
    if not model.constraints:
        return ClosingColumns()
    moved = [pair for body, q in zip(model.bodies, layout.q, strict=True) for pair in _coordinates(body, q)]
    rows = [(k, each, turns) for k, each in enumerate(model.constraints) for turns in model.turning(each)]
    bodies = list(zip(model.bodies, layout.speeds, strict=True))
    prescriptions = [pair for body, speeds in bodies for pair in _switches(body, ports, speeds)]
    return ClosingColumns(
        coordinates=tuple(place for place, _ in moved),
        motions=tuple(motion for _, motion in moved),
        prescribed=tuple(int(motion == "prescribed") for body in model.bodies for motion in body.joint.motion),
        prescriptions=tuple(place for place, _ in prescriptions),
        prescribed_speeds=tuple(speed for _, speed in prescriptions),
        stiffness=tuple(place for body in model.bodies for place in _stiffness(body, ports)),
        row_loops=tuple(k for k, _, _ in rows),
        row_turns=tuple(int(turns) for _, _, turns in rows),
        row_switches=tuple(_switch(each, ports) for _, each, _ in rows),
        lengths=tuple(
            _parameter(ports, Owner("loop", loop.name), "distance").offset
            for loop in model.loops
            if loop.distance is not None
        ),
        points=_points(model, ports),
        reach=max((math.hypot(*side.at) for loop in model.loops for side in (loop.a, loop.b)), default=0.0),
        linear=len(model.gears),
    )


def _parameter(ports: Ports, owner: Owner, quantity: Quantity) -> Variable:
    variable = ports.of(owner, quantity)
    assert variable is not None
    return variable


def _switch(each: Loop | Gear, ports: Ports) -> int:
    """Place in ``u`` of what closes a loop or gear; -1 where it is always closed, -2 where it never is."""
    switch = ports.of(constraint(each), "closed")
    return switch.offset if switch else -1 if each.closed else -2


def _switches(body: Body, ports: Ports, speeds: slice) -> list[tuple[int, int]]:
    """Places in ``u`` of the switches that prescribe the motion of a joint, and in ``x`` of the speeds."""
    switch = ports.of(joint_of(body), "prescribed")
    motions = switched(body.joint.motion) if switch else ()
    return [(switch.offset + k, speeds.start + i) for k, i in enumerate(motions) if switch]


def _coordinates(body: Body, q: slice) -> list[tuple[int, int]]:
    """Of each speed of a joint the place in ``x`` of what it changes (of the quaternion as a whole), and its sort."""
    joint, middle = body.joint, q.start + body.joint.n_translations
    slides = [(place, TRANSLATION) for place in range(q.start, middle)]
    turns = [(middle, QUATERNION)] * 3 if joint.spherical else [(place, ANGLE) for place in range(middle, q.stop)]
    return slides + turns


def _stiffness(body: Body, ports: Ports) -> list[int]:
    """Places in ``p`` of the diagonal of a body's modal stiffness."""
    if not body.flex:
        return []
    table = _parameter(ports, Owner("modes", body.name), "stiffness")
    diagonal = range(body.modes) if table.size == body.modes else _diagonal(body.modes)
    return [table.offset + place for place in diagonal]


def _diagonal(n: int) -> list[int]:
    """Places of the diagonal in an upper triangle given row by row."""
    return [i * n - i * (i - 1) // 2 for i in range(n)]


def _points(model: Model, ports: Ports) -> tuple[int, ...]:
    """Places in ``p`` of where joints and nodes sit, of the bodies between the loops and inertial space."""
    above = tree(model)
    ends = {model.index[side.body] for loop in model.loops for side in (loop.a, loop.b) if side.body != INERTIAL}
    bodies = [model.bodies[i] for i in sorted({i for end in ends for i in above.path(end)})]
    owners = [joint_of(body) for body in bodies if not body.joint.floating]
    owners += [Owner("node", body.name, node) for body in bodies for node in body.nodes]
    return tuple(_parameter(ports, owner, "at").offset for owner in owners)
