"""Modal data of a thin uniform rectangular plate, held along one edge or free."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from scipy.linalg import eigh
from scipy.special import eval_jacobi

from mbdy.engine.flexible.modal_body import ModalBody, node_of
from mbdy.engine.flexible.moments import Moments
from mbdy.engine.flexible.placing import axes_of, dampings, positive
from mbdy.engine.model.faults import RefusalError
from mbdy.engine.model.system import Node

TERMS = 18
"""Polynomials along each side; more make no difference to the first modes."""


def plate(
    *,
    length: float,
    width: float,
    mass_per_area: float,
    rigidity: float | None = None,
    youngs_modulus: float | None = None,
    thickness: float | None = None,
    poisson: float = 0.3,
    modes: int,
    damping_ratio: float | Sequence[float] = 0.005,
    ends: Literal["cantilever", "free"] = "cantilever",
    axis: str | Sequence[float] = "x",
    normal: Sequence[float] | None = None,
    nodes: Mapping[str, Sequence[float]] | None = None,
) -> ModalBody:
    """A thin plate that bends out of its plane (Kirchhoff), modes scaled to a modal mass of 1 kg, slowest first.

    ``length`` [m] along the plate's x, ``width`` [m] along its y; ``mass_per_area`` [kg/m2]; flexural ``rigidity`` D
    [N.m], or ``youngs_modulus`` [Pa] and ``thickness`` [m], D = E h3 / (12 (1 - nu2)); ``poisson`` [-].

    ``ends``    ``"cantilever"``: held along the edge x = 0, origin at that edge's middle; ``"free"``: no edge held,
                origin at the plate's centre, elastic modes for a floating root.
    ``axis``    of the plate's x in body axes as for a beam; ``normal``, its z, along which it bends.
    ``nodes``   names to a point in the plate: x, y or x, y, z [m] from the origin, where two numbers are along the
                plate's axes and three along the body's. They move along z and turn about x and y; the turn in the
                plane is zero. ``tip`` is the middle of the edge across from the origin.

    Modes are Rayleigh-Ritz solutions over products of orthogonal polynomials (R. B. Bhat, J. Sound and Vibration 102
    (1985) 493-499), so frequencies are upper bounds. The displacement field is linear: the plate has no foreshortening,
    and one that spins fast is stiffer than this says. The inertia of a line through the thickness is left out.
    Raises ValueError naming what is out of range.
    """
    positive(length=length, width=width, mass_per_area=mass_per_area)
    if not 0 <= poisson < 0.5:
        raise RefusalError(f"poisson: must be from 0 to 0.5, got {poisson}")
    if rigidity is None:
        if youngs_modulus is None or thickness is None:
            raise RefusalError("rigidity: is needed, or youngs_modulus and thickness")
        positive(youngs_modulus=youngs_modulus, thickness=thickness)
        rigidity = youngs_modulus * thickness**3 / (12 * (1 - poisson**2))
    elif youngs_modulus is not None or thickness is not None:
        raise RefusalError("rigidity: stands in the place of youngs_modulus and thickness; give one or the other")
    positive(rigidity=rigidity)
    if ends not in ("cantilever", "free"):
        raise RefusalError(f"ends: must be 'cantilever' or 'free', got {ends!r}")
    most = TERMS**2 // 8
    if isinstance(modes, bool) or not isinstance(modes, int) or not 1 <= modes <= most:
        raise RefusalError(f"modes: a whole number from 1 to {most} is needed, got {modes}")
    free = ends == "free"
    turn = axes_of(axis, normal, 2)
    along, across = _Side(length, not free), _Side(width, False)
    stiff = _energy(along, across, poisson) * rigidity / mass_per_area
    values, factors = _modes(stiff, modes, free)
    factors /= np.sqrt(mass_per_area)
    surface = _Surface(along, across, factors, -length / 2 if free else 0.0, turn)
    surface = surface.positive_at(length, 0.45 * width)
    omega = np.sqrt(values)
    moments = surface.moments(mass_per_area)
    places = {"tip": (length / 2 if free else length, 0.0), **(nodes or {})}
    spots = {name: surface.node(name, place) for name, place in places.items()}
    return moments.body(np.diag(values), dampings(omega, damping_ratio), spots, mass=np.eye(modes))


class _Side:
    """Polynomials along a side of some length, from 0, orthonormal; where held they begin with s squared."""

    def __init__(self, length: float, clamped: bool) -> None:
        self.length, self.clamped = length, clamped
        nodes, weights = np.polynomial.legendre.leggauss(TERMS + 4)
        self.at, self.weights = length * (nodes + 1) / 2, length * weights / 2

    def __call__(self, x: np.ndarray, derivative: int) -> np.ndarray:
        """Values or a derivative, (P, TERMS)."""
        s = np.asarray(x)[:, None] / self.length
        n = np.arange(TERMS)
        b = 4 if self.clamped else 0
        jacobi = []
        for order in range(derivative + 1):
            rise = np.prod([n + b + k for k in range(1, order + 1)], axis=0) if order else 1.0
            jacobi.append(
                rise * np.where(n >= order, eval_jacobi(np.maximum(n - order, 0), order, b + order, 2 * s - 1), 0.0)
            )
        if self.clamped:
            squares = (s**2, 2 * s, 2 + 0 * s)
            choose = ((1,), (1, 1), (1, 2, 1))[derivative]
            values = sum(c * squares[k] * jacobi[derivative - k] for k, c in enumerate(choose))
        else:
            values = jacobi[derivative]
        return values * np.sqrt((2 * n + b + 1) / self.length) / self.length**derivative

    def gram(self, first: int, second: int) -> np.ndarray:
        """Integrals of products of derivatives (TERMS, TERMS)."""
        return (self(self.at, first).T * self.weights) @ self(self.at, second)


def _energy(along: _Side, across: _Side, poisson: float) -> np.ndarray:
    """Twice the strain energy over the rigidity, a quadratic form of the factors (TERMS2, TERMS2).

    Timoshenko and Woinowsky-Krieger, Theory of Plates and Shells (2nd ed. 1959), equation 117.
    """
    mixed = np.kron(along.gram(2, 0), across.gram(0, 2))
    form = np.kron(along.gram(2, 2), across.gram(0, 0)) + np.kron(along.gram(0, 0), across.gram(2, 2))
    form += poisson * (mixed + mixed.T) + 2 * (1 - poisson) * np.kron(along.gram(1, 1), across.gram(1, 1))
    return (form + form.T) / 2


def _modes(stiff: np.ndarray, modes: int, free: bool) -> tuple[np.ndarray, np.ndarray]:
    """Squared frequencies and factors (m, TERMS, TERMS), slowest first, each even or odd along every side it can be."""
    along, across = (index.ravel() for index in np.indices((TERMS, TERMS)))
    pairs = []
    for odd_along in (0, 1) if free else (None,):
        for odd_across in (0, 1):
            kept = (across % 2 == odd_across) & (True if odd_along is None else along % 2 == odd_along)
            values, vectors = eigh(stiff[np.ix_(kept, kept)])
            rigid = 1 if odd_along is not None and odd_along + odd_across < 2 else 0
            for k in range(rigid, rigid + modes):
                factors = np.zeros(TERMS * TERMS)
                factors[kept] = vectors[:, k]
                pairs.append((values[k], factors.reshape(TERMS, TERMS)))
    pairs.sort(key=lambda mode: mode[0])
    return np.array([value for value, _ in pairs[:modes]]), np.array([factors for _, factors in pairs[:modes]])


class _Surface:
    """Deflections of modes over the plate, and where it lies in body axes."""

    def __init__(self, along: _Side, across: _Side, factors: np.ndarray, start: float, turn: np.ndarray) -> None:
        self.along, self.across, self.factors = along, across, factors
        self.corner = np.array([start, -across.length / 2])
        self.turn = turn

    def deflection(self, x: np.ndarray, y: np.ndarray, dx: int = 0, dy: int = 0) -> np.ndarray:
        """w or a derivative at points (P) from the corner: (P, m)."""
        return np.einsum("pa,mab,pb->pm", self.along(x, dx), self.factors, self.across(y, dy))

    def positive_at(self, x: float, y: float) -> _Surface:
        """The same with modes that move up at a place: signs do not depend on the solver."""
        up = np.where(self.deflection(np.array([x]), np.array([y + self.across.length / 2]))[0] < 0, -1.0, 1.0)
        return _Surface(self.along, self.across, self.factors * up[:, None, None], float(self.corner[0]), self.turn)

    def moments(self, mass_per_area: float) -> Moments:
        x, y = (grid.ravel() for grid in np.meshgrid(self.along.at, self.across.at, indexing="ij"))
        masses = mass_per_area * np.outer(self.along.weights, self.across.weights).ravel()
        at = np.stack([x + self.corner[0], y + self.corner[1], 0 * x], axis=-1) @ self.turn.T
        shapes = np.einsum("a,pm->pam", self.turn[:, 2], self.deflection(x, y))
        return Moments.of_points(at, masses, shapes)

    def node(self, name: str, place: Sequence[float]) -> Node:
        if len(place) not in (2, 3):
            raise RefusalError(f"node {name}: two or three numbers are needed, got {len(place)}")
        values = np.array(place, dtype=float)
        local = values @ self.turn if len(place) == 3 else np.append(values, 0.0)
        spot = local[:2] - self.corner
        size = np.array([self.along.length, self.across.length])
        if np.any(spot < -1e-9 * size) or np.any(spot > (1 + 1e-9) * size):
            raise RefusalError(f"node {name}: lies off the plate, at {local[0]:g}, {local[1]:g} m from its origin")
        x, y = spot[:1], spot[1:]
        moved = np.zeros((3, len(self.factors)))
        turned = np.zeros_like(moved)
        moved[2] = self.deflection(x, y)[0]
        turned[0], turned[1] = self.deflection(x, y, 0, 1)[0], -self.deflection(x, y, 1, 0)[0]
        moved += np.cross(turned, np.array([0.0, 0.0, local[2]])[:, None], axis=0)
        return node_of(self.turn @ local, self.turn @ moved, self.turn @ turned)
