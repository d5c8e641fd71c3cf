"""Modal data that are given outright: frequencies and damping ratios or matrices, and whether they can be true."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from mbdy.engine.flexible.modal_body import matrix3_of, rows_of, vector_of
from mbdy.engine.model.rotations import cross_matrix
from mbdy.engine.model.system import Flex, Matrix3, Vector3
from mbdy.engine.model.units import quantity

Matrix = Sequence[Sequence[float]] | Sequence[float]
"""Rows of a matrix, or its diagonal."""
SKEW = 1e-9
"""How far a matrix may be from symmetric, beside its largest entry."""
NEGATIVE = 1e-9
"""How far below zero an eigenvalue may be, beside the largest."""


class Fastest(NamedTuple):
    """The fastest mode: its number from 1, frequency [Hz] and the longest step [s] that follows it."""

    mode: int
    frequency: float
    step: float


def modal(
    *,
    coupling: Sequence[Sequence[float]],
    frequencies: Sequence[float | str] | None = None,
    damping_ratios: float | Sequence[float] | None = None,
    mass: Matrix | None = None,
    stiffness: Matrix | None = None,
    damping: Matrix | None = None,
    inertia_first: Sequence[Sequence[Sequence[float]]] = (),
    inertia_second: Sequence[Sequence[Sequence[Sequence[float]]]] = (),
    gyroscopic: Sequence[Sequence[Sequence[float]]] = (),
    moment_second: Sequence[Sequence[Sequence[float]]] = (),
) -> Flex:
    """Modes from the numbers of a file or a programme.

    ``coupling`` 6 rows of m: turning, then moving. ``frequencies`` in rad/s, or text with the unit Hz or rad/s, and
    ``damping_ratios`` [-], one or m, stand in the place of ``stiffness`` and ``damping``; ``mass`` is then diagonal, 1
    unless given. Otherwise ``mass``, ``stiffness`` and ``damping`` are matrices or their diagonals. The other fields
    are those of `mbdy.engine.model.system.Flex`, empty for zero.

    Raises ValueError naming the field: sizes, entries that are not finite, matrices that are not symmetric, a mass
    matrix that is not positive definite, a stiffness or damping that is negative, both spellings at once.
    """
    rows = _array("coupling", coupling)
    if rows.ndim != 2 or rows.shape[0] != 6 or rows.shape[1] == 0:
        raise ValueError("coupling: 6 rows of one number for each mode are needed, turning first")
    m = rows.shape[1]
    masses = np.eye(m) if mass is None else _square("mass", mass, m)
    if frequencies is not None:
        if stiffness is not None or damping is not None:
            raise ValueError("frequencies: stand in the place of stiffness and damping; give one or the other")
        if np.any(masses - np.diag(np.diag(masses))):
            raise ValueError("frequencies: need a diagonal mass matrix; give stiffness and damping matrices instead")
        omega = np.array([angular_frequency(value) for value in frequencies])
        if omega.shape != (m,):
            raise ValueError(f"frequencies: one for each of {m} modes is needed, got {len(omega)}")
        given = 0.0 if damping_ratios is None else damping_ratios
        ratios = np.full(m, float(given)) if isinstance(given, int | float) else _array("damping_ratios", given)
        if ratios.shape != (m,) or ratios.min() < 0:
            raise ValueError(f"damping_ratios: one or {m} numbers from 0 are needed, got {given}")
        springs, dampers = masses * np.diag(omega**2), masses * np.diag(2 * ratios * omega)
    elif stiffness is None:
        raise ValueError("stiffness: is needed, or frequencies")
    elif damping_ratios is not None:
        raise ValueError("damping_ratios: need frequencies; give damping beside stiffness")
    else:
        springs = _square("stiffness", stiffness, m)
        dampers = np.zeros((m, m)) if damping is None else _square("damping", damping, m)
    firsts = _tensor("inertia_first", inertia_first, (m, 3, 3))
    seconds = _tensor("inertia_second", inertia_second, (m, m, 3, 3))
    turns = _tensor("gyroscopic", gyroscopic, (m, m, 3))
    moments = _tensor("moment_second", moment_second, (3, m, m))
    for name, value, pairs in (
        ("inertia_first", firsts, (0, 2, 1)),
        ("inertia_second", seconds, (1, 0, 2, 3)),
        ("inertia_second", seconds, (0, 1, 3, 2)),
        ("moment_second", moments, (0, 2, 1)),
    ):
        if value.size and not np.allclose(value, value.transpose(pairs), rtol=0, atol=SKEW * abs(value).max()):
            raise ValueError(f"{name}: must be symmetric")
    flex = Flex(
        mass=rows_of(masses),
        stiffness=rows_of(springs),
        damping=rows_of(dampers),
        coupling=rows_of(rows),
        inertia_first=tuple(matrix3_of(value) for value in firsts),
        inertia_second=tuple(tuple(matrix3_of(value) for value in row) for row in seconds),
        gyroscopic=tuple(tuple(vector_of(value) for value in row) for row in turns),
        moment_second=tuple(rows_of(value) for value in moments),
    )
    check_matrices(flex)
    return flex


def angular_frequency(value: float | str) -> float:
    """[rad/s] of a frequency: a number in rad/s, or text with the unit Hz or rad/s. Raises ValueError for any other."""
    cycles = isinstance(value, str) and "hz" in value.lower()
    number = 2 * math.pi * quantity(value, "Hz") if cycles else quantity(value, "rad/s")
    if number < 0:
        raise ValueError(f"frequencies: must not be negative, got {value}")
    return number


def check_matrices(flex: Flex) -> None:
    """Raises ValueError where mass, stiffness or damping are not symmetric, or a direction of them is negative."""
    for name, strict in (("mass", True), ("stiffness", False), ("damping", False)):
        matrix = np.array(getattr(flex, name))
        if not np.all(np.isfinite(matrix)):
            raise ValueError(f"flex {name}: all entries must be finite numbers")
        skew, size = abs(matrix - matrix.T), abs(matrix).max()
        if skew.max() > SKEW * size:
            i, j = (int(k) for k in np.unravel_index(skew.argmax(), skew.shape))
            raise ValueError(
                f"flex {name}: must be symmetric, got {matrix[i, j]:g} in row {i + 1} column {j + 1} "
                f"and {matrix[j, i]:g} across"
            )
        scale = np.sqrt(np.where(np.diag(matrix) > 0, np.diag(matrix), 1.0))
        values, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
        if values[0] < -NEGATIVE or (strict and values[0] <= NEGATIVE):
            mode = int(abs(vectors[:, 0]).argmax()) + 1
            wanted = "positive definite" if strict else "positive semidefinite"
            raise ValueError(f"flex {name}: must be {wanted}; it is not where mode {mode} moves")


def check_body(mass: float, com: Vector3, inertia: Matrix3, flex: Flex, slack: float = 1e-6) -> None:
    """Whether the body's whole mass matrix ``[[M_rr, M_rf], [M_rf', M_ff]]`` of 6 + m rows, undeformed, can be true.

    ``mass`` [kg], ``com`` [m] from the origin, ``inertia`` [kg.m2] about the mass centre. No motion has a negative
    kinetic energy: what a mode's coupling says of the mass that it moves must not be more than its modal mass, but for
    ``slack`` of it. Raises ValueError naming the mode that goes too far.
    """
    check_matrices(flex)
    arm = cross_matrix(np.array(com))
    about = np.array(inertia) - mass * arm @ arm
    rigid = np.block([[about, mass * arm], [-mass * arm, mass * np.eye(3)]])
    modes, coupling = np.array(flex.mass), np.array(flex.coupling)
    values, vectors = np.linalg.eigh(rigid)
    moved = values > 1e-12 * np.where(abs(vectors[:3]).max(axis=0) > 0, np.trace(about), mass)
    moved &= values > 1e-14 * values.max()
    still = vectors[:, ~moved].T @ coupling
    scale = np.sqrt(np.diag(modes))
    size = math.sqrt(max(values.max(), 0.0))
    if still.size and abs(still / scale).max() > slack * size:
        mode = int(abs(still / scale).max(axis=0).argmax()) + 1
        raise ValueError(f"flex coupling: mode {mode} moves the body where it has neither mass nor inertia")
    whitened = vectors[:, moved].T @ coupling / np.sqrt(values[moved])[:, None]
    left = (modes - whitened.T @ whitened) / np.outer(scale, scale)
    values, vectors = np.linalg.eigh(left)
    if values[0] < -slack:
        mode = int(abs(vectors[:, 0]).argmax()) + 1
        raise ValueError(
            f"flex coupling: mode {mode} moves more mass than it has (with the body's mass, com and inertia, its modal "
            f"mass leaves {values[0]:.3g} of itself); check the units and axes of coupling, and the body's inertia"
        )


def slowest_step(flex: Flex, stable: float = 2.8) -> Fastest:
    """The fastest mode of the held body and the step that a Runge-Kutta method needs for it.

    ``stable`` is how far along the imaginary axis the method is stable: 2.8 for the classical one of order 4 (J. D.
    Lambert, Numerical Methods for Ordinary Differential Systems (1991), section 5.12). A body that is free
    where the modes hold it has higher frequencies still. The mode named is the one with the most part in it.
    """
    values, vectors = eigh(np.array(flex.stiffness), np.array(flex.mass))
    omega = math.sqrt(max(float(values[-1]), 0.0))
    share = vectors[:, -1] * (np.array(flex.mass) @ vectors[:, -1])
    step = stable / omega if omega > 0 else math.inf
    return Fastest(int(share.argmax()) + 1, omega / (2 * math.pi), step)


def _array(name: str, value: object) -> np.ndarray:
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: must be numbers in rows of one length, got {str(value)[:60]}") from None
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{name}: all entries must be finite numbers")
    return array


def _square(name: str, value: Matrix, m: int) -> np.ndarray:
    array = _array(name, value)
    if array.shape == (m,):
        return np.diag(array)
    if array.shape != (m, m):
        raise ValueError(f"{name}: {m} rows of {m} numbers are needed, or its {m} diagonal entries")
    return array


def _tensor(name: str, value: object, shape: tuple[int, ...]) -> np.ndarray:
    array = _array(name, value)
    if array.size == 0:
        return np.zeros((0, *shape[1:]))
    if array.shape != shape:
        raise ValueError(f"{name}: must have the sizes {shape}, got {array.shape}")
    return array
