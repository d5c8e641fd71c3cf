"""Frames of a tree of rigid and flexible bodies with their Jacobians, from the joints' and modes' own motions.

A frame's velocity ``[omega; v]`` in its own axes is ``J w``; ``w`` are the speeds of all joints and the modal rates of
all bodies. Placing one frame in another adds a relative motion and changes axes, and nothing else is needed to get from
the inertial frame through joints, modes and nodes to every body and loop (A. A. Shabana, Dynamics of Multibody Systems,
chapters on kinematics; no recursion over forces is in it). Coordinates may be complex.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbdy.engine.model.system import INERTIAL, Model
from mbdy.engine.model.topology import ROOT, Tree
from mbdy.engine.verification.formulations.flexible import Numbers, node_motion
from mbdy.engine.verification.formulations.values import Array, Part, axis_rotation, cross_matrix, rotation


@dataclass(frozen=True)
class Frame:
    """``C`` (3, 3) its components to inertial ones; ``r`` (3) its origin, inertial axes; ``J`` (6, n)."""

    C: Numbers
    r: Numbers
    J: Numbers

    def placed(
        self, at: Numbers, turn: Numbers, sliding: Numbers | None = None, turning: Numbers | None = None
    ) -> Frame:
        """The frame at ``at`` in this one, with ``turn`` (3, 3) its components to these.

        It moves relative to this one with ``sliding`` (3, n), in these axes, and turns with ``turning`` (3, n), in its
        own.
        """
        omega, v = turn.T @ self.J[:3], self.J[3:] - cross_matrix(at) @ self.J[:3]
        if sliding is not None:
            v = v + sliding
        if turning is not None:
            omega = omega + turning
        return Frame(self.C @ turn, self.r + self.C @ at, np.concatenate([omega, turn.T @ v]))


class Columns:
    """Where the speeds of each body's joint (``u``) and its modal rates (``eta``) lie in ``w`` (n).

    A floating root may be taken with its origin at rest, as the equations do not depend on where it is: ``resting``
    says which bodies are. Loops and force elements can tell, by an inertial side or among several roots; only an
    ``attitude`` root rests then. ``still`` marks the speeds that are zero by that.
    """

    def __init__(self, model: Model, branches: Tree) -> None:
        self.model, self.tree = model, branches
        bodies, joining = model.bodies, (*model.loops, *model.elements)
        ends = np.cumsum([0, *(b.joint.n_u for b in bodies), *(b.modes for b in bodies)]).tolist()
        places = [slice(*pair) for pair in pairwise(ends)]
        self.u, self.eta, self.n = places[: len(bodies)], places[len(bodies) :], ends[-1]
        grounded = any(INERTIAL in (one.a.body, one.b.body) for one in joining)
        several = bool(joining) and branches.parent.count(ROOT) > 1
        relative = not (grounded or several)
        self.still: NDArray[np.bool_] = np.zeros(self.n, dtype=np.bool_)
        self.resting = [b.joint.kind == "attitude" or (b.joint.floating and relative) for b in bodies]
        for at_rest, speeds in zip(self.resting, self.u, strict=True):
            self.still[speeds][:3] = at_rest

    def speeds(self, parts: Sequence[Part]) -> Array:
        """The speeds ``w`` of ``parts``."""
        w = np.zeros(self.n)
        for part, joint, modal in zip(parts, self.u, self.eta, strict=True):
            w[joint], w[modal] = part.motion.u, part.motion.eta_rate
        return w


@dataclass(frozen=True)
class Kinematics:
    """Frames of all bodies by place, where their joints are and at their origins, and of all nodes by body and name; an
    inertial one for loops."""

    bodies: Sequence[Frame]
    origins: Sequence[Frame]
    nodes: Sequence[Mapping[str, Frame]]
    inertial: Frame

    def site(self, body: int, node: str) -> Frame:
        """The frame of a body, at its origin in the model file, or of one of its nodes."""
        if body == ROOT:
            return self.inertial
        return self.nodes[body][node] if node else self.origins[body]

    def carrier(self, columns: Columns, body: int) -> Frame:
        """The frame of what the joint of a body sits on."""
        return self.site(columns.tree.parent[body], columns.model.bodies[body].joint.node)


def kinematics(columns: Columns, parts: Sequence[Part]) -> Kinematics:
    """Frames of the bodies as they stand in ``parts``."""
    n, model, branches = columns.n, columns.model, columns.tree
    inertial = Frame(np.eye(3), np.zeros(3), np.zeros((6, n)))
    bodies: list[Frame] = [inertial] * len(parts)
    nodes: list[dict[str, Frame]] = [{} for _ in parts]
    for b in branches.outward:
        part, parent = parts[b], branches.parent[b]
        joint, base = part.motion.joint, inertial
        if parent != ROOT:
            base = nodes[parent][joint.node] if joint.node and model.bodies[parent].flex else bodies[parent]
        bodies[b] = jointed(base, part, columns.u[b], columns.n, resting=columns.resting[b])
        nodes[b] = noded(bodies[b], part, columns.eta[b], n)
    origins = [at.placed(-part.constants.joint_at, np.eye(3)) for at, part in zip(bodies, parts, strict=True)]
    return Kinematics(bodies, origins, nodes, inertial)


def jointed(base: Frame, part: Part, places: slice, n: int, *, resting: bool) -> Frame:
    """The frame of a body whose joint sits on ``base``; a ``resting`` one has not moved."""
    constants, motion = part.constants, part.motion
    frame = base.placed(constants.at, constants.frame)
    along = constants.translations.T
    if along.size:
        slides = np.zeros(3) if resting else along @ motion.slides
        frame = frame.placed(slides, np.eye(3), sliding=_spread(along, places.start, n))
    turning = places.start + along.shape[1]
    if motion.joint.spherical:
        return frame.placed(np.zeros(3), rotation(motion.turns), turning=_spread(np.eye(3), turning, n))
    for i, (axis, angle) in enumerate(zip(constants.rotations, motion.turns, strict=True)):
        turned = _spread(axis[:, None], turning + i, n)
        frame = frame.placed(np.zeros(3), axis_rotation(axis, angle), turning=turned)
    return frame


def noded(frame: Frame, part: Part, places: slice, n: int) -> dict[str, Frame]:
    """The frames of a body's nodes."""
    modes, frames = part.constants.modes, {}
    for i, (name, at) in enumerate(zip(part.body.nodes, part.constants.nodes, strict=True)):
        if modes is None:
            frames[name] = frame.placed(at, np.eye(3))
            continue
        moved, slope, turn, rates = node_motion(modes, i, part.motion.eta)
        slope, rates = _spread(slope, places.start, n), _spread(rates, places.start, n)
        frames[name] = frame.placed(at + moved, turn, slope, rates)
    return frames


def _spread(columns: Numbers, start: int, n: int) -> Numbers:
    """Columns (3, k) among ``n``, from place ``start``."""
    full = np.zeros((3, n), dtype=columns.dtype)
    full[:, start : start + columns.shape[1]] = columns
    return full


def coordinate_rates(part: Part) -> Numbers:
    """``q'`` of a body's joint."""
    motion = part.motion
    turning = motion.turn_rates
    if motion.joint.spherical:
        w, v = motion.turns[0], motion.turns[1:]
        turning = 0.5 * np.append(-v @ turning, w * turning + np.cross(v, turning))
    return np.append(motion.slide_rates, turning)


def shifted(parts: Sequence[Part], step: Any) -> list[Part]:
    """``parts`` with coordinates and modes moved on by ``step`` times their rates."""
    ahead = []
    for part in parts:
        m = part.motion
        moved = replace(m, q=m.q + step * coordinate_rates(part), eta=m.eta + step * m.eta_rate)
        ahead.append(replace(part, motion=moved))
    return ahead
