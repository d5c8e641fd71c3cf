"""Minimal error coordinates: what a state is away from a reference that moves, with three numbers for an attitude.

``x = x0 + R e`` to first order. An attitude's error is the small rotation ``theta`` [rad] in the body's (a joint's
outboard) axes, ``q = q0 (1, theta/2)``, so ``dq = N(q0) theta`` with ``N' N = I/4``. Errors of a floating root's
position and velocity are in its own axes at the operating point, so that a steady spin has constant matrices; all
others are plain differences. The reference moves on with ``x0'``, and R with it:

    dx' = R' e + R e'   and   dx' = F R e + B du   give   e' = L (F R - R') e + L B du

with a left inverse L of R. That makes spinning and accelerating operating points right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mbdy.engine.linear.operating_point import OperatingPoint
from mbdy.engine.model.owners import joint_of, wheels_of
from mbdy.engine.model.ports import speeds
from mbdy.engine.model.rotations import cross_matrix
from mbdy.engine.model.system import Body, Model
from mbdy.engine.model.variables import switched
from mbdy.engine.order_n.layout import Layout, layout

Array = NDArray[np.float64]

TURNING = 1e-12
"""[1/s] Rates at which errors turn into others that are rounding."""


@dataclass(frozen=True)
class ErrorCoordinates:
    """Errors ``e`` (n) of a model's states ``x`` (n_x) about an operating point.

    ``R`` (n_x, n), its left inverse ``L`` (n, n_x) and its rate ``R_rate`` (n_x, n) along the reference.
    ``coordinates`` and ``speeds`` are the places in ``e`` of coordinates and of the speeds of the same degrees of
    freedom, None where there is no such order; ``momenta`` those of wheels, ``masses`` those of tanks.
    ``turning_rate`` is the rate of ``d coordinates' / d coordinates``, due to the reference's angular acceleration.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    R: Array
    L: Array
    R_rate: Array
    coordinates: tuple[int, ...] | None
    speeds: tuple[int, ...]
    momenta: tuple[int, ...]
    masses: tuple[int, ...]
    spins: tuple[str, ...]
    """What the angles of those wheels are called."""
    degrees_of_freedom: tuple[tuple[int, int], ...]
    """Body and degree of freedom of each of ``speeds`` but the modal rates, which come last."""
    modes: tuple[tuple[int, int], ...]
    """Body and mode of each of those."""
    turning_rate: Array

    def kept(self, places: Sequence[int], A: Array) -> ErrorCoordinates | None:
        """Those at ``places`` alone, of a system ``e' = A e`` whose loops let them determine all others.

        None where coordinates and speeds of different degrees of freedom are kept, or turn with others.
        """
        at = {old: new for new, old in enumerate(places)}
        if self.coordinates is None:
            return None
        pairs = [[k for k, i in enumerate(order) if i in at] for order in (self.coordinates, self.speeds)]
        if pairs[0] != pairs[1]:
            return None
        coordinates = [self.coordinates[k] for k in pairs[0]]
        others = [i for i in self.coordinates if i not in at]
        if np.abs(A[np.ix_(coordinates, others)]).max(initial=0.0) > TURNING:
            return None
        return replace(
            self,
            names=tuple(self.names[i] for i in places),
            units=tuple(self.units[i] for i in places),
            coordinates=tuple(at[i] for i in coordinates),
            speeds=tuple(at[self.speeds[k]] for k in pairs[1]),
            momenta=tuple(at[i] for i in self.momenta),
            masses=tuple(at[i] for i in self.masses),
            turning_rate=self.turning_rate[np.ix_(pairs[0], pairs[0])],
        )


def quaternion_tangent(q: Array) -> Array:
    """``N(q)`` (4, 3) with ``q (1, theta/2) = q + N(q) theta``; linear in ``q``."""
    w, x, y, z = q
    return 0.5 * np.array([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]])


def rotation(q: Array) -> Array:
    """Body to reference components (3x3) of a unit quaternion w, x, y, z."""
    w, v = q[0], np.asarray(q[1:])
    return (w * w - v @ v) * np.eye(3) + 2.0 * np.outer(v, v) + 2.0 * w * cross_matrix(v)


def fixed(body: Body, point: OperatingPoint, accelerated: Sequence[str] = ()) -> tuple[bool, ...]:
    """Which degrees of freedom of a body's joint are locked or prescribed at ``point``, or held by friction.

    Prescribed ones whose acceleration is among the scalar inputs ``accelerated`` are not fixed: they move with it.
    """
    ports, u, motion, switches = point.ports, point.u, body.joint.motion, switched(body.joint.motion)
    prescribed, locked = ([how == "prescribed" for how in motion], [False] * len(motion))
    for flags, sort in ((prescribed, "prescribed"), (locked, "locked")):
        if switches:
            for i, value in zip(switches, u[ports.by_name[f"{joint_of(body)}.{sort}"].places], strict=True):
                flags[i] = bool(value)
    acceleration = ports.by_name.get(f"{joint_of(body)}.acceleration")
    driven = [name in accelerated for name in acceleration.scalar_names] if acceleration else [False] * len(motion)
    held = [name in point.held for part in speeds(body) for name in ports.states[part.state].scalar_names]
    return tuple(
        lock or stuck or (pre and not moves)
        for lock, stuck, pre, moves in zip(locked, held, prescribed, driven, strict=True)
    )


def error_coordinates(
    model: Model, point: OperatingPoint, rates: Array, *, accelerated: Sequence[str] = ()
) -> ErrorCoordinates:
    """The error coordinates of ``model`` about ``point``, where the states have the ``rates`` (n_x).

    Coordinates and speeds that are fixed there have no error; see `fixed` for ``accelerated``.
    """
    return _Builder(model, point, rates, accelerated).built()


@dataclass
class _Block:
    """Errors of one piece of the state: rows ``at`` of x, and columns of R with their rates."""

    at: slice
    names: list[str]
    units: list[str]
    R: Array
    L: Array
    R_rate: Array
    turning_rate: Array


class _Builder:
    def __init__(self, model: Model, point: OperatingPoint, rates: Array, accelerated: Sequence[str]) -> None:
        self.model, self.point, self.rates = model, point, rates
        self.at: Layout = layout(model)
        self.names = point.ports.state_names
        scalars = point.ports.by_scalar
        self.units = [scalars[name][0].units[scalars[name][1]] for name in self.names]
        self.free = [[not flag for flag in fixed(body, point, accelerated)] for body in model.bodies]

    def built(self) -> ErrorCoordinates:
        bodies = range(len(self.model.bodies))
        positions = [block for j in bodies for block in self._positions(j)] + self._modal(rates=False)
        speeds = [block for j in bodies for block in self._speeds(j)] + self._modal(rates=True)
        wheels = [self._plain(at, [True] * (at.stop - at.start)) for at in self.at.wheels]
        tanks = [self._plain(at, [True]) for at in self.at.tanks]
        blocks = [*positions, *speeds, *wheels, *tanks]
        counts = [sum(len(b.names) for b in group) for group in (positions, speeds, wheels)]
        ends = np.cumsum(counts).tolist()
        positions_of, speeds_of = ([sum(len(b.names) for b in blocks_of(j)) for j in bodies]
                                   for blocks_of in (self._positions, self._speeds))  # fmt: skip
        rows = np.argsort(np.concatenate([np.zeros(0, dtype=int), *(np.arange(b.at.start, b.at.stop) for b in blocks)]))
        return ErrorCoordinates(
            names=tuple(name for b in blocks for name in b.names),
            units=tuple(unit for b in blocks for unit in b.units),
            R=_diagonal([b.R for b in blocks])[rows],
            L=_diagonal([b.L.T for b in blocks])[rows].T,
            R_rate=_diagonal([b.R_rate for b in blocks])[rows],
            coordinates=tuple(range(ends[0])) if positions_of == speeds_of else None,
            speeds=tuple(range(ends[0], ends[1])),
            momenta=tuple(range(ends[1], ends[2])),
            masses=tuple(range(ends[2], ends[2] + len(tanks))),
            spins=tuple(f"{wheel}.spin" for body in self.model.bodies for wheel in wheels_of(body)),
            degrees_of_freedom=tuple((j, i) for j in bodies for i, free in enumerate(self.free[j]) if free),
            modes=tuple((j, k) for j in bodies for k in range(self.model.bodies[j].modes)),
            turning_rate=_diagonal([b.turning_rate for b in positions]),
        )

    def _positions(self, j: int) -> list[_Block]:
        joint, at = self.model.bodies[j].joint, self.at.q[j]
        middle, free = at.start + joint.n_translations, self.free[j][joint.n_translations :]
        turning = slice(middle, at.stop)
        if joint.spherical:
            rotations = self._attitude(j, turning) if any(free) else self._plain(turning, [False] * 4)
        else:
            rotations = self._plain(turning, free)
        return [self._translations(j, slice(at.start, middle)), rotations]

    def _speeds(self, j: int) -> list[_Block]:
        at, n = self.at.speeds[j], self.model.bodies[j].joint.n_translations
        middle = at.start + n
        return [self._translations(j, slice(at.start, middle)), self._plain(slice(middle, at.stop), self.free[j][n:])]

    def _modal(self, *, rates: bool) -> list[_Block]:
        """Modal displacements or rates of all bodies."""
        spans = [self.at.modal_rates(j) if rates else at for j, at in enumerate(self.at.modes)]
        return [self._plain(at, [True] * (at.stop - at.start)) for at in spans]

    def _plain(self, at: slice, free: Sequence[bool]) -> _Block:
        pick = np.eye(at.stop - at.start)[:, np.array(free, dtype=bool)]
        names = [self.names[at.start + i] for i in np.flatnonzero(free)]
        units = [self.units[at.start + i] for i in np.flatnonzero(free)]
        zero = np.zeros((len(names), len(names)))
        return _Block(at, names, units, pick, pick.T, 0.0 * pick, zero)

    def _translations(self, j: int, at: slice) -> _Block:
        """A floating root's in its own axes, unless some of them are fixed: those are inertial components."""
        joint = self.model.bodies[j].joint
        free = self.free[j][: joint.n_translations]
        if not joint.floating or not all(free):
            return self._plain(at, free)
        place = self.at.q[j].stop - 4
        turned = rotation(self.point.x[place : place + 4])
        omega, alpha = (vector[self.at.speeds[j]][-3:] for vector in (self.point.x, self.rates))
        (position,) = (v for v in self.point.ports.states.values() if v.state == at.start)
        names = [f"{position.name}.error{label}" for label in position.labels]
        rate = turned @ cross_matrix(omega)
        return _Block(at, names, list(self.units[at]), turned, turned.T, rate, -cross_matrix(alpha))

    def _attitude(self, j: int, at: slice) -> _Block:
        N, N_rate = (quaternion_tangent(vector[at]) for vector in (self.point.x, self.rates))
        (attitude,) = (v for v in self.point.ports.states.values() if v.state == at.start)
        names = [f"{attitude.name}.error[{i}]" for i in (1, 2, 3)]
        turning_rate = -cross_matrix(self.rates[self.at.speeds[j]][-3:])
        return _Block(at, names, ["rad"] * 3, N, 4.0 * N.T, N_rate, turning_rate)


def _diagonal(blocks: list[Array]) -> Array:
    """The blocks along the diagonal of a matrix; each adds its rows and columns, even where it has no elements."""
    from scipy.linalg import block_diag

    return np.asarray(block_diag(np.zeros((0, 0)), *blocks), dtype=np.float64)
