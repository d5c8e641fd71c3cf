"""What random models, mechanisms and flexible bodies draw alike: directions, rotations, numbers as a model has them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mbdy.engine.model.system import Matrix3, Quaternion, Vector3
from oracles.dense_kane import unit

XYZ: tuple[Vector3, ...] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def generator(seed: int | np.random.Generator) -> np.random.Generator:
    return seed if isinstance(seed, np.random.Generator) else np.random.default_rng(seed)


def vector(values: Sequence[float] | np.ndarray) -> Vector3:
    x, y, z = (float(value) for value in values)
    return x, y, z


def numbers(values: np.ndarray) -> tuple[float, ...]:
    return tuple(values.tolist())


def nested(matrix) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, np.array(matrix, float).tolist()))


def symmetric(matrix: np.ndarray) -> Matrix3:
    """The symmetric part of a tensor."""
    mean = 0.5 * (matrix + matrix.T)
    return vector(mean[0]), vector(mean[1]), vector(mean[2])


def any_quaternion(rng: np.random.Generator) -> Quaternion:
    w, x, y, z = unit(rng.normal(size=4)).tolist()
    return w, x, y, z


def any_vector(rng: np.random.Generator, size: float) -> Vector3:
    """Components up to ``size``."""
    return vector(rng.uniform(-size, size, 3))


def any_axis(rng: np.random.Generator) -> Vector3:
    """A coordinate axis (of either sense) or any direction, of any length."""
    if rng.random() < 0.35:
        return vector(np.array(XYZ[rng.integers(3)]) * rng.choice([-1.0, 1.0]))
    direction = rng.normal(size=3)
    return vector(unit(direction) * np.exp(rng.uniform(-1.0, 1.0)))
