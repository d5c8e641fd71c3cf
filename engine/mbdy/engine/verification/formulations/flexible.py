"""A flexible body's numbers: its modes as arrays, its mass matrix at a deformation, and how a node moves.

All follows from one kinetic energy ``T = 1/2 [V; eta']^T M(eta) [V; eta']`` with ``V = [omega; v]`` of the origin in
body axes (A. A. Shabana, Dynamics of Multibody Systems, chapter on the floating frame of reference). Deformations may
be complex, so that derivatives by a complex step are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbdy.engine.model.system import Body

Array = NDArray[np.float64]
Numbers = NDArray[Any]
"""Real, or complex with a complex step."""

STEP = 1e-30
"""Of complex steps: any value far below rounding."""
SERIES = 1.0
"""[rad] Angle below which the exponential's functions are summed as series, where their closed forms would cancel."""
TERMS = 12
"""Of these series; the first one left out is below rounding there."""


@dataclass(frozen=True)
class Modes:
    """The fields of `mbdy.engine.model.system.Flex` as arrays for m modes, zeros where they are empty.

    ``turning`` and ``moving`` (3, m) are the rows of its ``coupling``. ``shapes`` (n, 6, m) and ``bends`` (n, 3, m, m)
    are those of the body's nodes.
    """

    mass: Array
    stiffness: Array
    damping: Array
    turning: Array
    moving: Array
    inertia_first: Array
    inertia_second: Array
    gyroscopic: Array
    moment_second: Array
    shapes: Array
    bends: Array


def modes_of(body: Body, stiffness: Array, damping: Array) -> Modes:
    """The modes of a flexible ``body``, with the current entries of ``stiffness`` and ``damping``."""
    flex = body.flex
    assert flex is not None
    m, coupling = flex.modes, np.array(flex.coupling)
    return Modes(
        mass=np.array(flex.mass),
        stiffness=_symmetric(stiffness, m),
        damping=_symmetric(damping, m),
        turning=coupling[:3],
        moving=coupling[3:],
        inertia_first=_filled(flex.inertia_first, (m, 3, 3)),
        inertia_second=_filled(flex.inertia_second, (m, m, 3, 3)),
        gyroscopic=_filled(flex.gyroscopic, (m, m, 3)),
        moment_second=_filled(flex.moment_second, (3, m, m)),
        shapes=np.array([_filled(node.shape, (6, m)) for node in body.nodes.values()]).reshape(-1, 6, m),
        bends=np.array([_filled(node.bend, (3, m, m)) for node in body.nodes.values()]).reshape(-1, 3, m, m),
    )


def cross_matrix(v: Numbers) -> Numbers:
    """The matrix (3, 3) with ``cross_matrix(a) @ b == a x b``."""
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def _symmetric(entries: Array, m: int) -> Array:
    """The matrix (m, m) of its diagonal, or of its upper triangle by rows."""
    if len(entries) == m:
        return np.diag(entries)
    full = np.zeros((m, m))
    full[np.triu_indices(m)] = entries
    return full + np.triu(full, 1).T


def _filled(values: ArrayLike, shape: tuple[int, ...]) -> Array:
    array = np.array(values, dtype=np.float64)
    return array.reshape(shape) if array.size else np.zeros(shape)


def mass_matrix(mass: float, com: Array, inertia: Array, modes: Modes | None, eta: Numbers) -> Numbers:
    """M(eta) (6 + m, 6 + m), rows of omega, v, eta'; ``inertia`` (3, 3) of the undeformed body is about ``com`` (3)."""
    moment = mass * com
    about_origin = inertia + mass * (com @ com * np.eye(3) - np.outer(com, com))
    matrix = np.zeros((6 + len(eta), 6 + len(eta)), dtype=np.result_type(eta, np.float64))
    if modes:
        moment = first_moment(mass, com, modes, eta)
        about_origin = about_origin + np.einsum("k,kab->ab", eta, modes.inertia_first)
        about_origin = about_origin + 0.5 * np.einsum("i,j,ijab->ab", eta, eta, modes.inertia_second)
        matrix[:3, 6:] = modes.turning + np.einsum("i,ija->aj", eta, modes.gyroscopic)
        matrix[3:6, 6:] = moment_slope(modes, eta)
        matrix[6:, :6] = matrix[:6, 6:].T
        matrix[6:, 6:] = modes.mass
    matrix[:3, :3] = about_origin
    matrix[:3, 3:6] = cross_matrix(moment)
    matrix[3:6, :3] = matrix[:3, 3:6].T
    matrix[3:6, 3:6] = mass * np.eye(3)
    return matrix


def first_moment(mass: float, com: Array, modes: Modes | None, eta: Numbers) -> Numbers:
    """First moment (3) [kg.m] of the deformed body about its origin."""
    if modes is None:
        return mass * com
    return mass * com + modes.moving @ eta + 0.5 * np.einsum("aij,i,j->a", modes.moment_second, eta, eta)


def moment_slope(modes: Modes, eta: Numbers) -> Numbers:
    """Derivatives (3, m) of the first moment by eta."""
    return modes.moving + np.einsum("aij,i->aj", modes.moment_second, eta)


def node_motion(modes: Modes, node: int, eta: Numbers) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """How the modes move a body's node: displacement (3), its slope (3, m); turn (3, 3) and rates' matrix (3, m).

    Displacements are in body axes. The turn takes node components to those of the body, and the node's angular velocity
    relative to the body is the matrix times eta', node axes.
    """
    turning, moving = modes.shapes[node][:3], modes.shapes[node][3:]
    bend = np.einsum("aij,i->aj", modes.bends[node], eta)
    turn, right = exponential(turning @ eta)
    return (moving + 0.5 * bend) @ eta, moving + bend, turn, right @ turning


def exponential(theta: Numbers) -> tuple[Numbers, Numbers]:
    """The rotation ``exp(theta)`` (3, 3), and the matrix that makes theta' its angular velocity in turned axes."""
    squared = theta @ theta
    if abs(squared) < SERIES**2:
        sine, versine, rest = _series(squared, 1), _series(squared, 2), _series(squared, 3)
    else:
        angle = np.sqrt(squared)
        sine, versine = np.sin(angle) / angle, (1.0 - np.cos(angle)) / squared
        rest = (angle - np.sin(angle)) / (angle * squared)
    k = cross_matrix(theta)
    return np.eye(3) + sine * k + versine * k @ k, np.eye(3) - versine * k + rest * k @ k


def _series(squared: Any, first: int) -> Any:
    """``1/n! - t/(n + 2)! + t^2/(n + 4)! - ...`` for n = ``first``."""
    term = 1.0 / float(np.prod(np.arange(1, first + 1)))
    total = term + 0.0 * squared
    for k in range(1, TERMS):
        n = first + 2 * k
        term = -term * squared / (n * (n - 1))
        total = total + term
    return total
