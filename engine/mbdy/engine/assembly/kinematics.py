"""Where the places of loops are and how they move, in numbers: kinematics of a tree with flexible bodies, and closure.

Positions are inertial. Motions are columns, one for each degree of freedom of the joints, body by body, then one for
each modal rate. A floating root that no loop ties to anything but its own tree is taken at the inertial origin, so that
its distance from there costs no digits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mbdy.engine.model.ports import coordinates, modal, speeds
from mbdy.engine.model.rotations import cross_matrix, exponential, rotation
from mbdy.engine.model.system import IDENTITY, INERTIAL, Loop, Model, Node, Side
from mbdy.engine.model.topology import ROOT, tree

State = Mapping[str, np.ndarray]
"""Coordinates by the names of `mbdy.engine.model.ports`."""
OPPOSED = 1e-9
"""Sine of the angle between opposed axes below which they have no direction to turn back by."""


@dataclass(frozen=True)
class Place:
    """A point with axes: ``position`` (3), ``axes`` (3, 3) in columns, and by degree of freedom (3, n) how it is
    ``turning`` and ``moving``; inertial axes."""

    position: np.ndarray
    axes: np.ndarray
    turning: np.ndarray
    moving: np.ndarray

    def shifted(self, at: Sequence[float] | np.ndarray, axes: np.ndarray) -> Place:
        """The place ``at`` from here, with ``axes``, both in these axes."""
        arm = self.axes @ np.asarray(at, dtype=float)
        return Place(
            self.position + arm, self.axes @ axes, self.turning, self.moving - cross_matrix(arm) @ self.turning
        )


@dataclass(frozen=True)
class Closure:
    """How far a loop is from closed: ``residual`` (rows) and its rate by degree of freedom (rows, n).

    ``error`` (rows) is the same with whole angles in place of their sines, and ``descent`` (rows, n) what lessens it;
    near closure they agree. ``mirrored``: its axes are opposed rather than aligned.
    """

    residual: np.ndarray
    rate: np.ndarray
    error: np.ndarray
    descent: np.ndarray
    mirrored: bool


class Mechanism:
    """The loops of a model that are closed at its start, and the columns of all that can move."""

    def __init__(self, model: Model) -> None:
        self.bodies = model.bodies
        self.loops = tuple(loop for loop in model.loops if loop.closed)
        self.tree = tree(model)
        self.index = model.index
        self.columns: list[slice] = []
        self.modes: list[slice] = []
        self.names: list[str] = []
        """A name for each column, of the start value that it moves."""
        self.rates: list[str] = []
        self.attitudes: set[str] = set()
        """Those of ``names`` whose values are quaternions."""
        self.angular: list[bool] = []
        self.prescribed: list[bool] = []
        for body in model.bodies:
            start = len(self.names)
            joint = body.joint
            sizes = [joint.n_translations, joint.n_rotations]
            filled = [size for size in sizes if size]
            for names, parts in ((self.names, coordinates(body)), (self.rates, speeds(body))):
                for part, size in zip(parts, filled, strict=True):
                    names.extend([part.name] * size)
            self.attitudes |= {part.name for part in coordinates(body) if part.quantity == "attitude"}
            self.angular += [False] * sizes[0] + [True] * sizes[1]
            self.prescribed += [motion == "prescribed" for motion in joint.motion]
            self.columns.append(slice(start, len(self.names)))
        jointed = len(self.names)
        for body in model.bodies:
            self.modes.append(slice(len(self.names), len(self.names) + body.modes))
            self.names += [part.name for part in modal(body, "displacement") for _ in range(part.size)]
            self.rates += [part.name for part in modal(body, "rate") for _ in range(part.size)]
        self.modal = np.arange(len(self.names)) >= jointed
        """Which columns are modal displacements."""
        self.angular += [False] * (len(self.names) - len(self.angular))
        self.prescribed += [False] * (len(self.names) - len(self.prescribed))
        self.needed = self._needed()
        self.tied = self._tied()

    def start(self, model: Model) -> State:
        """The coordinates that ``model`` starts from."""
        parts = [part for body in self.bodies for part in (*coordinates(body), *modal(body, "displacement"))]
        default = {
            part.name: IDENTITY if part.name in self.attitudes else (0.0,) * part.size for part in parts
        }  # fmt: skip
        return {name: np.array(model.initial.get(name, value), dtype=float) for name, value in default.items()}

    def speeds(self, model: Model) -> np.ndarray:
        """The speeds that ``model`` starts with, by column."""
        seen: dict[str, int] = {}
        values = []
        for name in self.rates:
            k = seen.get(name, 0)
            seen[name] = k + 1
            values.append(model.initial[name][k] if name in model.initial else 0.0)
        return np.array(values, dtype=float)

    def moved(self, state: State, step: np.ndarray) -> State:
        """``state`` after a small ``step`` (n): quaternions are turned about outboard axes, all else is added to."""
        result = {name: value.copy() for name, value in state.items()}
        for name in dict.fromkeys(name for name, part in zip(self.names, step, strict=True) if part):
            part = step[[k for k, own in enumerate(self.names) if own == name]]
            result[name] = _turned(result[name], part) if name in self.attitudes else result[name] + part
        return result

    def closures(self, state: State) -> list[Closure]:
        """How far each loop is from closed in ``state``."""
        frames = self.frames(state, self.needed)
        return [
            closure(loop, self._side(loop.a, frames, state), self._side(loop.b, frames, state)) for loop in self.loops
        ]

    @property
    def size(self) -> float:
        """[m] A length that is typical of what the loops go through."""
        lengths = [loop.distance or 0.0 for loop in self.loops]
        points = [side.at for loop in self.loops for side in (loop.a, loop.b)]
        for i in self.needed:
            points += [self.bodies[i].joint.at, *(node.at for node in self.bodies[i].nodes.values())]
        return max([0.0, *lengths, *(math.hypot(*point) for point in points)]) or 1.0

    def _needed(self) -> list[int]:
        """Bodies between the loops and inertial space, base to tips."""
        ends = {self.index[side.body] for loop in self.loops for side in (loop.a, loop.b) if side.body != INERTIAL}
        between = {i for end in ends for i in self.tree.path(end)}
        return [i for i in self.tree.outward if i in between]

    def _tied(self) -> set[int]:
        """Roots that some loop ties to inertial space or to another root."""
        tied = set()
        for loop in self.loops:
            roots = {
                ROOT if side.body == INERTIAL else self.tree.path(self.index[side.body])[-1]
                for side in (loop.a, loop.b)
            }
            tied |= roots if len(roots) > 1 else set()
        return tied

    def _ground(self) -> Place:
        still = np.zeros((3, len(self.names)))
        return Place(np.zeros(3), np.eye(3), still, still)

    def frames(self, state: State, bodies: Sequence[int]) -> dict[int, Place]:
        """The body frames of ``bodies``, each after its parent."""
        frames: dict[int, Place] = {}
        for i in bodies:
            body, parent = self.bodies[i], self.tree.parent[i]
            base = self._ground()
            if parent != ROOT:
                base = self._node(parent, body.joint.node, frames[parent], state)
            frames[i] = self._joined(i, base, state)
        return frames

    def _joined(self, i: int, base: Place, state: State) -> Place:
        """The frame of body ``i``, whose joint sits on ``base``."""
        body = self.bodies[i]
        joint, parts = body.joint, {part.quantity: state[part.name] for part in coordinates(body)}
        place = base.shifted(joint.at, rotation(joint.frame))
        column = self.columns[i].start
        distances = parts.get("position", parts.get("displacement", ()))
        far = not (joint.floating and i not in self.tied)
        for axis, distance in zip(joint.translations, distances, strict=True):
            direction = place.axes @ _unit(axis)
            moving = place.moving.copy()
            moving[:, column] += direction
            arm = direction * (distance if far else 0.0)
            moving -= cross_matrix(arm) @ place.turning
            place, column = Place(place.position + arm, place.axes, place.turning, moving), column + 1
        turning, axes = place.turning.copy(), place.axes
        if joint.spherical:
            axes = axes @ rotation(parts["attitude"])
            turning[:, column : column + 3] += axes
        for axis, angle in zip(joint.rotations, parts.get("angle", ()), strict=True):
            turning[:, column] += axes @ _unit(axis)
            axes = axes @ exponential(_unit(axis) * angle)
            column += 1
        return Place(place.position, axes, turning, place.moving)

    def _node(self, i: int, name: str, frame: Place, state: State) -> Place:
        """A node of body ``i``, or its origin without a name."""
        body = self.bodies[i]
        if not name:
            return frame
        node = body.nodes[name]
        if not node.shape:
            return frame.shifted(node.at, np.eye(3))
        at, axes, turning, moving = deformed(node, state[modal(body, "displacement")[0].name])
        place = frame.shifted(at, axes)
        own_turning, own_moving = place.turning.copy(), place.moving.copy()
        own_turning[:, self.modes[i]] += frame.axes @ turning
        own_moving[:, self.modes[i]] += frame.axes @ moving
        return Place(place.position, place.axes, own_turning, own_moving)

    def _side(self, side: Side, frames: Mapping[int, Place], state: State) -> Place:
        place = self._ground()
        if side.body != INERTIAL:
            i = self.index[side.body]
            place = self._node(i, side.node, frames[i], state)
        return place.shifted(side.at, rotation(side.frame))


def deformed(node: Node, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Place (3) and axes (3, 3) of ``node``, and how it turns and moves (3, m) with modal rates; body axes."""
    shape = np.array(node.shape)
    bend = np.array(node.bend) if node.bend else np.zeros((3, len(eta), len(eta)))
    turn = shape[:3] @ eta
    at = np.array(node.at) + shape[3:] @ eta + 0.5 * bend @ eta @ eta
    angle, skew = float(np.linalg.norm(turn)), cross_matrix(turn)
    first = (1 - math.cos(angle)) / angle**2 if angle > 1e-4 else 0.5 - angle**2 / 24
    second = (angle - math.sin(angle)) / angle**3 if angle > 1e-4 else 1 / 6 - angle**2 / 120
    spread = np.eye(3) + first * skew + second * skew @ skew
    return at, exponential(turn), spread @ shape[:3], shape[3:] + bend @ eta


def closure(loop: Loop, a: Place, b: Place) -> Closure:
    """How far ``loop`` between the loop frames ``a`` and ``b`` is from closed."""
    gap = b.position - a.position
    apart = a.axes.T @ gap
    moving = a.axes.T @ (b.moving - a.moving + cross_matrix(gap) @ a.turning)
    if loop.distance is not None:
        residual = np.array([(apart @ apart - loop.distance**2) / (2 * loop.distance)])
        rate = (apart @ moving / loop.distance)[None]
        return Closure(residual, rate, residual, rate, mirrored=False)
    turned, turning = a.axes.T @ b.axes, a.axes.T @ (b.turning - a.turning)
    angles, sliding = [row - 1 for row in loop.rows if row <= 3], [row - 4 for row in loop.rows if row > 3]
    residual, rate, error, descent, mirrored = _TURNING[len(angles)](angles, turned, turning)
    return Closure(
        residual=np.concatenate([residual, apart[sliding]]),
        rate=np.vstack([rate, moving[sliding]]),
        error=np.concatenate([error, apart[sliding]]),
        descent=np.vstack([descent, moving[sliding]]),
        mirrored=mirrored,
    )


_Turning = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, bool]


def _no_row(_: list[int], turned: np.ndarray, turning: np.ndarray) -> _Turning:
    none = np.zeros((0, turning.shape[1]))
    return np.zeros(0), none, np.zeros(0), none, False


def _one_row(rows: list[int], turned: np.ndarray, turning: np.ndarray) -> _Turning:
    j, k = (rows[0] + 1) % 3, (rows[0] + 2) % 3
    residual = np.array([-turned[j, k]])
    rate = (cross_matrix(turned[:, k]) @ turning)[[j]]
    return residual, rate, residual, rate, False


def _two_rows(rows: list[int], turned: np.ndarray, turning: np.ndarray) -> _Turning:
    k = 3 - sum(rows)
    i, j = (k + 1) % 3, (k + 2) % 3
    spread = cross_matrix(turned[:, k]) @ turning
    by_row = {i: (-turned[j, k], spread[j]), j: (turned[i, k], -spread[i])}
    residual = np.array([by_row[row][0] for row in rows])
    rate = np.array([by_row[row][1] for row in rows])
    sine, cosine = float(np.linalg.norm(residual)), float(turned[k, k])
    error = residual * (math.atan2(sine, cosine) / sine) if sine > OPPOSED else residual
    if sine <= OPPOSED and cosine < 0:
        error = np.array([math.pi, 0.0])
    return residual, rate, error, turning[rows], cosine <= 0


def _three_rows(rows: list[int], turned: np.ndarray, turning: np.ndarray) -> _Turning:
    skew = (turned - turned.T) / 2
    residual = np.array([skew[2, 1], skew[0, 2], skew[1, 0]])
    rate = (np.trace(turned) * np.eye(3) - turned) / 2 @ turning
    sine, cosine = float(np.linalg.norm(residual)), float(np.trace(turned) - 1) / 2
    error = residual * (math.atan2(sine, cosine) / sine) if sine > OPPOSED else residual
    if sine <= OPPOSED and cosine < 0:  # half a turn about the axis whose outer product is (R + 1) / 2
        outer = (turned + np.eye(3)) / 2
        column = outer[:, int(np.argmax(np.diag(outer)))]
        error = math.pi * column / np.linalg.norm(column)
    return residual, rate, error, turning, cosine <= 0


_TURNING = (_no_row, _one_row, _two_rows, _three_rows)


def _turned(quaternion: np.ndarray, turn: np.ndarray) -> np.ndarray:
    angle = float(np.linalg.norm(turn))
    w, v = math.cos(angle / 2), turn * (math.sin(angle / 2) / angle if angle else 0.5)
    a, b = quaternion[0], quaternion[1:]
    result = np.concatenate([[a * w - b @ v], a * v + w * b + np.cross(b, v)])
    return result / np.linalg.norm(result)


def _unit(axis: Sequence[float]) -> np.ndarray:
    return np.array(axis) / math.hypot(*axis)
