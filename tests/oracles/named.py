"""Vectors of a model by the names of its variables, for tests of equations."""

from __future__ import annotations

import numpy as np

from mbdy.engine.model import Model
from mbdy.engine.ports import ports

EXACT = 1e-12
"""Relative, of two ways to the same numbers."""


def rows(matrix) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, np.array(matrix, float).tolist()))


def vectors(model: Model, **values) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """States, inputs and parameters: the model's own, with ``values`` for names with ``_`` instead of dots."""
    table = ports(model)
    x, u = np.zeros(len(table.state_names)), np.array(table.vector("input"))
    for v in table.outputs:
        if v.state is not None:
            x[v.state : v.state + v.size] = (1.0, 0.0, 0.0, 0.0) if v.name.endswith("attitude") else 0.0
    for name, value in values.items():
        v = table.by_name[name.replace("__", ".")]
        if v.state is None:
            u[v.places] = value
        else:
            x[v.state : v.state + v.size] = value
    return x, u, np.array(table.vector("parameter"))


def rate(model: Model, rates: np.ndarray, name: str) -> np.ndarray:
    v = ports(model).by_name[name]
    assert v.state is not None
    return rates[v.state : v.state + v.size]


def near(found, expected, tolerance: float = EXACT) -> None:
    found, expected = np.asarray(found), np.asarray(expected)
    assert np.abs(found - expected).max(initial=0.0) <= tolerance * max(1.0, np.abs(expected).max(initial=0.0))
