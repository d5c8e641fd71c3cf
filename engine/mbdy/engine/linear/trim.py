"""Operating points in which a system moves steadily: at rest, or turning at a constant rate."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from mbdy.engine.files.rules import ruled
from mbdy.engine.linear.choice import Dynamics, equations_of
from mbdy.engine.linear.error_coordinates import fixed, quaternion_tangent
from mbdy.engine.linear.jacobians import Slopes
from mbdy.engine.linear.operating_point import At, OperatingPoint, operating_point
from mbdy.engine.linear.steady import CHANGING, TOLD, Steady
from mbdy.engine.model.faults import MbdyError, RefusalError, shown
from mbdy.engine.model.patterns import places
from mbdy.engine.model.ports import ports
from mbdy.engine.model.system import Model
from mbdy.engine.model.units import real
from mbdy.engine.order_n.layout import layout

Array = NDArray[np.float64]

TOLERANCE = 1e-9
"""[rad/s2, m/s2, N.m of wheels] Largest acceleration of a steady motion."""
MOST_STEPS = 100
SHORTEST = 2.0**-20
"""Part of a Newton step below which it is no step any more."""
WIDEST = 1.0
"""[rad] Largest change of an angle in one step: a slope near zero asks for many turns."""
AWAY = (0.2, 0.6, 1.5, 3.0)
"""[rad, m] How far away the search begins again, in turn, where no steady motion is found from the given place."""
DIRECTIONS = 4
"""In how many directions besides that in which the system falls."""
MOST_TRIALS = 100
"""Evaluations of a search by least squares."""
WEAK = 1e-10
"""Singular values below this part of the largest are directions in which nothing changes."""


class TrimError(MbdyError, ArithmeticError):
    """No steady motion was found; the message names the largest accelerations that are left, or how they change."""


def trim(
    model: Model | str | PathLike[str],
    *,
    at: At = None,
    free: Iterable[str] | None = None,
    hold: Iterable[str] = (),
    dynamics: Dynamics | None = None,
    tolerance: float = TOLERANCE,
) -> OperatingPoint:
    """The steady motion nearest to ``at`` in which no generalized speed changes.

    ``model``     a model or the path of its file.
    ``at``        where to begin: see `mbdy.engine.linear.operating_point.operating_point`.
    ``free``      names or patterns of states and inputs that may change (``"panel.joint.angle"``, ``"bus.omega[2]"``,
                  ``"bus.torque"``); by default the positions of all joints and modes. Locked and prescribed ones stay.
    ``hold``      names or patterns that stay though ``free`` has them.
    ``tolerance`` [rad/s2, m/s2] largest acceleration that is left; they must not change along the motion either.

    Rates stay as ``at`` has them unless ``free`` names them: at rest or in a steady spin those of joints are zero.
    Newton's method with exact derivatives; of many solutions the one with the smallest change in each step. Where it
    ends without one, least squares by a trust region go on, from there and from places farther and farther away. Raises
    `TrimError` where none is found, `RefusalError` for a bad ``at`` or ``tolerance``, KeyError for an unknown name.
    """
    model = ruled(model)
    if not (real(tolerance) or 0.0) > 0.0:
        raise RefusalError(f"tolerance: must be positive, got {shown(tolerance)}")
    equations = equations_of(model.whole, dynamics)
    point = operating_point(model, equations, at)
    steady = Steady(model, Slopes(equations), point)
    unknowns = _Unknowns(model, point, free, tuple(hold))
    if not np.isfinite(steady.values(point)).all():
        raise TrimError("the accelerations are not finite; a joint may move no inertia there: begin elsewhere")
    end, left = _newton(steady, unknowns, point, tolerance)
    if np.abs(left).max(initial=0.0) > tolerance:
        end = _farther(steady, unknowns, point, tolerance)
    if end is not None:
        return _lasting(steady, end, max(CHANGING, tolerance))
    free = ", ".join(unknowns.names) or "nothing"
    remedy = "free other states or inputs, or begin elsewhere"
    if given := unknowns.given_rates(model, point):
        remedy = f"rates of joints stay as they are given, {given}: set them to zero, or {remedy}"
    raise TrimError(f"no steady motion found: {steady.words(left)}; free were {free}: {remedy}")


def _newton(
    steady: Steady, unknowns: _Unknowns, point: OperatingPoint, tolerance: float
) -> tuple[OperatingPoint, Array]:
    """Where Newton's method ends from ``point``, and the accelerations there."""
    left = steady.values(point)
    for _ in range(MOST_STEPS):
        if np.abs(left).max(initial=0.0) <= tolerance:
            break
        slope = steady.changes(point, *unknowns.directions(point))
        change = np.asarray(-np.linalg.lstsq(slope, left, rcond=WEAK)[0], dtype=np.float64)
        change *= min(1.0, WIDEST / max(np.abs(change[unknowns.turning]).max(initial=0.0), WIDEST))
        step = _step(steady, unknowns, point, change, left)
        if step is None:
            break
        point, left = step
    return point, left


def _farther(steady: Steady, unknowns: _Unknowns, point: OperatingPoint, tolerance: float) -> OperatingPoint | None:
    """The nearest steady motion that least squares find from ``point`` and, in turn, from farther and farther away."""
    from scipy.optimize import least_squares

    def values(change: Array) -> Array:
        return steady.values(unknowns.moved(point, change))

    def slopes(change: Array) -> Array:
        return steady.changes(unknowns.moved(point, change), *unknowns.slopes(point, change))

    n = unknowns.ways.size
    ways = np.vstack(
        [unknowns.along(point, steady.fall(point)), np.random.default_rng(0).choice((-1, 1), (DIRECTIONS, n))]
    )
    ways *= unknowns.ways / np.maximum(np.abs(ways * unknowns.ways).max(axis=1, initial=0.0, keepdims=True), 1e-300)
    for ring in [np.zeros((1, n)), *(distance * ways for distance in AWAY)] if n else ():
        found: list[tuple[float, OperatingPoint]] = []
        for begin in ring:
            if not np.isfinite(values(begin)).all():
                continue
            nearer = least_squares(
                values, begin, cast("Any", slopes), x_scale="jac", xtol=1e-12, ftol=1e-12, max_nfev=MOST_TRIALS
            )
            end, left = _newton(steady, unknowns, unknowns.moved(point, nearer.x), tolerance)
            if np.abs(left).max(initial=0.0) <= tolerance:
                found.append((round(float(np.linalg.norm(end.x - point.x)), 6), end))
        if found:
            return min(found, key=lambda pair: pair[0])[1]
    return None


def _lasting(steady: Steady, point: OperatingPoint, most: float) -> OperatingPoint:
    """``point``, if the accelerations change by no more than ``most`` in a second: a swing through its lowest place
    has none at that instant, and is no steady motion."""
    drift = steady.drift(point)
    if np.abs(drift).max(initial=0.0) > most:
        raise TrimError(
            f"no steady motion found: accelerations vanish at this instant only, along the motion "
            f"{steady.words(drift, order=2)}; rates stay as they are given: set those of joints to zero"
        )
    return point


def _step(
    steady: Steady, unknowns: _Unknowns, point: OperatingPoint, change: Array, left: Array
) -> tuple[OperatingPoint, Array] | None:
    """The point along ``change``, or as far along it as makes the accelerations smaller; None where nothing does."""
    part = 1.0
    while part > SHORTEST:
        tried = unknowns.moved(point, part * change)
        rates = steady.values(tried)
        if np.isfinite(rates).all() and np.linalg.norm(rates) < (1.0 - 1e-4 * part) * np.linalg.norm(left):
            return tried, rates
        part /= 2.0
    return None


class _Unknowns:
    """What may change: elements of the state (an attitude by its three errors) and of the inputs."""

    def __init__(self, model: Model, point: OperatingPoint, free: Iterable[str] | None, hold: tuple[str, ...]) -> None:
        table, chosen = point.ports, ports(model)
        names = [*table.start_names, *table.input_names]
        hidden = {name for v in chosen.hidden if v.causality == "input" for name in v.scalar_names}
        stays = _fixed(model, point)
        at = _joint_positions(model) if free is None else _places(names, free, hidden)
        stays |= set(_places(names, hold, hidden))
        at = [i for i in at if i not in stays]
        n_x = len(table.state_names)
        self.names = tuple(names[i] for i in at)
        self._u = [i - n_x for i in at if i >= n_x]
        switches = table.span("switches")
        if bad := [table.input_names[i] for i in self._u if switches.start <= i < switches.stop]:
            raise RefusalError(f"{bad[0]!r} is a switch and cannot be free", "set it in at")
        of_quaternions = {i: start for start in table.quaternions for i in range(start, start + 4)}
        self._quaternions = sorted({of_quaternions[i] for i in at if i in of_quaternions})
        self._x = [i for i in at if i < n_x and i not in of_quaternions]
        units = [unit for v in table.states.values() for unit in v.units]
        self.turning = np.array(
            [*(units[i] == "rad" for i in self._x), *[True] * 3 * len(self._quaternions)], dtype=bool
        )
        self.turning = np.append(self.turning, np.zeros(len(self._u), dtype=bool))
        self.ways = self.turning.astype(float)
        self.ways[: len(self._x)] = [units[i] in ("rad", "m") for i in self._x]
        """1 for the unknowns that a search begins away from, which are positions of joints."""

    def given_rates(self, model: Model, point: OperatingPoint) -> str:
        """The largest rates of joints that are not free and not zero, in words."""
        pairs = zip(model.bodies, layout(model).speeds, strict=True)
        places = [i for body, at in pairs if not body.joint.floating for i in range(at.start, at.stop)]
        moving = [i for i in places if point.x[i] and i not in self._x]
        units = [unit for v in point.ports.states.values() for unit in v.units]
        largest = sorted(moving, key=lambda i: -abs(point.x[i]))[:TOLD]
        return ", ".join(f"{point.ports.state_names[i]} = {point.x[i]:.4g} {units[i]}" for i in largest)

    def directions(self, point: OperatingPoint) -> tuple[Array, Array]:
        """Changes of x (n_x, n) and u (n_u, n) with each unknown."""
        n = len(self._x) + 3 * len(self._quaternions) + len(self._u)
        along_x, along_u = np.zeros((len(point.x), n)), np.zeros((len(point.u), n))
        along_x[self._x, range(len(self._x))] = 1.0
        begin = len(self._x)
        for at in self._quaternions:
            along_x[at : at + 4, begin : begin + 3] = quaternion_tangent(point.x[at : at + 4])
            begin += 3
        along_u[self._u, range(begin, n)] = 1.0
        return along_x, along_u

    def along(self, point: OperatingPoint, rates: Array) -> Array:
        """What the unknowns (n) change by where the states have the ``rates`` (n_x)."""
        turns = [4.0 * quaternion_tangent(point.x[at : at + 4]).T @ rates[at : at + 4] for at in self._quaternions]
        return np.concatenate([rates[self._x], *turns, np.zeros(len(self._u))])

    def slopes(self, point: OperatingPoint, change: Array) -> tuple[Array, Array]:
        """Changes of x (n_x, n) and u (n_u, n) of `moved` with each element of ``change``."""
        along_x, along_u = self.directions(point)
        x = point.x + along_x @ change
        for at in self._quaternions:
            rows, q = slice(at, at + 4), x[at : at + 4]
            along_x[rows] = (along_x[rows] - np.outer(q, q @ along_x[rows]) / (q @ q)) / np.linalg.norm(q)
        return along_x, along_u

    def moved(self, point: OperatingPoint, change: Array) -> OperatingPoint:
        """``point`` with the unknowns changed, quaternions of norm 1."""
        along_x, along_u = self.directions(point)
        x = point.x + along_x @ change
        for at in self._quaternions:
            x[at : at + 4] /= np.linalg.norm(x[at : at + 4])
        return replace(point, x=x, u=point.u + along_u @ change)


def _places(names: Sequence[str], wanted: Iterable[str], hidden: Collection[str]) -> list[int]:
    """Places in ``names`` of all that ``wanted`` means but what is ``hidden``."""
    known = [i for i, name in enumerate(names) if name not in hidden]
    return [known[i] for i in places([names[i] for i in known], wanted, "state or input", hidden)]


def _joint_positions(model: Model) -> list[int]:
    """Places in x of the coordinates of all joints but floating roots, and of all modes."""
    places = layout(model)
    joints = [at for body, at in zip(model.bodies, places.q, strict=True) if not body.joint.floating]
    return [i for at in (*joints, *places.modes) for i in range(at.start, at.stop)]


def _fixed(model: Model, point: OperatingPoint) -> set[int]:
    """Places in x of coordinates and speeds that are locked or prescribed."""
    places: set[int] = set()
    at = layout(model)
    for body, q, speeds in zip(model.bodies, at.q, at.speeds, strict=True):
        flags = fixed(body, point)
        turning = flags[body.joint.n_translations :]
        coordinates = [*flags[: body.joint.n_translations], *([all(turning)] * 4 if body.joint.spherical else turning)]
        places |= {speeds.start + i for i, flag in enumerate(flags) if flag}
        places |= {q.start + i for i, flag in enumerate(coordinates) if flag}
    return places
