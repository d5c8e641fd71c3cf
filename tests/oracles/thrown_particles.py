"""A craft in a plane that throws out its propellant in particles: momenta alone, no equations of motion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np


@dataclass(frozen=True)
class PlaneCraft:
    """``properties(m)``: mass, mass centre (2) and moment of inertia about it with a mass m of propellant; it
    leaves at the ``nozzle`` (2), ``exhaust`` (2) being its velocity there against the craft; body axes."""

    properties: Callable[[float], tuple[float, np.ndarray, float]]
    nozzle: np.ndarray
    exhaust: np.ndarray


def thrown(craft: PlaneCraft, *, burned: float, left: float, time: float, spin: float, particles: int) -> np.ndarray:
    """Turn, rate, mass centre's velocity (2) and place (2) of a craft that was at rest but for ``spin`` about it, after
    ``time``, in which it throws ``burned`` of propellant in equal particles at equal distance, and keeps ``left``."""
    turn, each, m = 0.0, burned / particles, left + burned
    _, centre, moment = craft.properties(m)
    velocity, place, angular = np.zeros(2), np.zeros(2), moment * spin
    for _ in range(particles):
        half = 0.5 * time / particles
        turn, place = turn + half * angular / moment, place + half * velocity
        C = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
        mass, middle, inertia = craft.properties(m - each / 2)
        rate, arm = angular / inertia, C @ (craft.nozzle - middle)
        gone = rate * np.array([-arm[1], arm[0]]) + C @ craft.exhaust  # beside the mass centre's velocity
        velocity = velocity - each * gone / mass
        angular -= each * (arm[0] * gone[1] - arm[1] * gone[0])
        m -= each
        _, after, moment = craft.properties(m)
        place, centre = place + C @ (after - centre), after
        turn, place = turn + half * angular / moment, place + half * velocity
    return np.array([turn, angular / moment, *velocity, *place])


def extrapolated(craft: PlaneCraft, *, particles: int = 1000, **burn: float) -> np.ndarray:
    """The limit of ever smaller particles, by Richardson's rule in three rows."""
    rows = [thrown(craft, particles=particles * 2**k, **burn) for k in range(4)]
    for power in (1, 2, 3):
        rows = [(2**power * b - a) / (2**power - 1) for a, b in pairwise(rows)]
    return rows[0]
