"""Eigenfunctions of uniform Euler-Bernoulli beams and torsion rods of unit length, to rounding.

Frequency equations as in R. D. Blevins, Formulas for Natural Frequency and Mode Shape (1979), tables 8-1 and 8-19;
with a tip body as in W. Weaver, S. P. Timoshenko, D. H. Young, Vibration Problems in Engineering (5th ed. 1990),
section 5.11. Eigenfunctions are written over cos, sin and two decaying exponentials, so that no mode number is too
high for them. The count of W. H. Williams, F. W. Wittrick, Int. J. Mech. Sci. 12 (1970) 781-791 lets no root be missed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from scipy.optimize import brentq

PRECISION = 4 * np.finfo(float).eps


@dataclass(frozen=True)
class Bending:
    """``w(x) = c1 cos bx + c2 sin bx + c3 exp(-bx) + c4 exp(-b(1-x))`` for x from 0 to 1."""

    root: float
    factors: np.ndarray

    def __call__(self, x: np.ndarray | float, derivative: int = 0) -> np.ndarray:
        """w or one of its derivatives."""
        return basis(self.root, x, derivative) @ self.factors


def basis(root: float, x: np.ndarray | float, derivative: int) -> np.ndarray:
    """The four functions (..., 4), differentiated ``derivative`` times."""
    phase = root * np.asarray(x, dtype=float) + derivative * math.pi / 2
    left, right = np.exp(-root * np.asarray(x)), np.exp(-root * (1 - np.asarray(x)))
    functions = np.stack([np.cos(phase), np.sin(phase), (-1) ** derivative * left, right], axis=-1)
    return root**derivative * functions


def cantilever(count: int, tip_mass: float = 0.0, tip_inertia: float = 0.0) -> list[Bending]:
    """The first ``count`` modes of a beam held at 0 with a tip body.

    ``tip_mass`` over the beam's mass; ``tip_inertia`` about the tip over the beam's mass times its length squared.
    """
    return [_shape(root, _held(root, tip_mass, tip_inertia)) for root in _held_roots(count, tip_mass, tip_inertia)]


def free(count: int) -> list[Bending]:
    """The first ``count`` elastic modes of a beam free at both ends."""
    modes = []
    for n in range(1, count + 1):
        near = (n + 0.5) * math.pi
        root = _root(lambda b: math.cos(b) - 1 / math.cosh(min(b, 700.0)), near - 0.1, near + 0.1)
        ends = [basis(root, x, order) / root**order for x in (0.0, 1.0) for order in (2, 3)]
        modes.append(_shape(root, np.array(ends)))
    return modes


def torsion_roots(count: int, tip_inertia: float = 0.0) -> list[float]:
    """Roots of ``b tan b = 1 / tip_inertia``: a rod held at 0, twisting as sin bx, with a tip body.

    ``tip_inertia`` over the rod's own polar inertia (Blevins, table 8-19).
    """

    def equation(b: float) -> float:
        return math.cos(b) - tip_inertia * b * math.sin(b)

    if tip_inertia == 0:
        return [(n - 0.5) * math.pi for n in range(1, count + 1)]
    ends = [((n - 1) * math.pi, (n - 0.5) * math.pi) for n in range(1, count + 1)]
    return [_root(equation, low, high) for low, high in ends]


def _root(equation: Callable[[float], float], low: float, high: float) -> float:
    return float(cast("float", brentq(equation, low, high, xtol=1e-15, rtol=cast("Any", PRECISION))))


def _shape(root: float, conditions: np.ndarray) -> Bending:
    """The function that meets four homogeneous conditions (4, 4), positive at 1."""
    factors = np.linalg.svd(conditions / abs(conditions).max(axis=1, keepdims=True))[2][-1]
    mode = Bending(root, factors)
    return mode if mode(np.array(1.0)) > 0 else Bending(root, -factors)


def _held(root: float, tip_mass: float, tip_inertia: float) -> np.ndarray:
    """Conditions of a held beam: w = w' = 0 at 0; w'' = j b^4 w', w''' = -u b^4 w at 1, each scaled."""
    start = [basis(root, 0.0, order) / root**order for order in (0, 1)]
    value, slope, curvature, shear = (basis(root, 1.0, order) / root**order for order in range(4))
    moment = (curvature - tip_inertia * root**3 * slope) / (1 + tip_inertia * root**3)
    force = (shear + tip_mass * root * value) / (1 + tip_mass * root)
    return np.array([*start, moment, force])


def _held_roots(count: int, tip_mass: float, tip_inertia: float) -> list[float]:
    """The lowest roots: each is shut in by the count of roots below, then found to rounding."""

    def below(b: float) -> int:
        return _count(b, tip_mass, tip_inertia)

    def determinant(b: float) -> float:
        return float(np.linalg.det(_held(b, tip_mass, tip_inertia)))

    roots: list[float] = []
    for n in range(count):
        low, high = roots[-1] * (1 + 1e-10) if roots else 0.02, (n + 1.5) * math.pi
        alone = False
        while not alone and high - low > PRECISION * high:
            middle = low + 0.45 * (high - low)  # not halfway, where roots tend to lie
            if below(middle) > n:
                high = middle
            else:
                low = middle
            alone = below(low) == n and below(high) == n + 1 and determinant(low) * determinant(high) < 0
        roots.append(_root(determinant, low, high) if alone else (low + high) / 2)
    return roots


def _count(b: float, tip_mass: float, tip_inertia: float) -> int:
    """How many roots of the held beam with its tip body lie below ``b``."""
    c, s, decay = math.cos(b), math.sin(b), math.exp(-b)
    ch, sh = (1 + decay**2) / 2, (1 - decay**2) / 2
    scaled = decay - c * ch
    turns = math.floor(b / math.pi)
    both_held = turns - (1 - (-1) ** turns * math.copysign(1.0, scaled)) / 2
    force = (s * ch + c * sh) / scaled - tip_mass * b
    mixed = -s * sh / scaled
    moment = (s * ch - c * sh) / scaled - tip_inertia * b**3
    determinant = force * moment - mixed**2
    negative = 1 if determinant < 0 else 2 if force + moment < 0 else 0
    return round(both_held) + negative
