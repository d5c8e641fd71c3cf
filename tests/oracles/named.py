"""Vectors of a model by the names of its variables, and two bodies with a state, for tests of equations."""

from __future__ import annotations

import numpy as np

from mbdy.engine.model.ports import ports
from mbdy.engine.model.system import Body, Joint, Model, Node
from oracles.drawing import XYZ, nested

EXACT = 1e-12
"""Relative, of two ways to the same numbers."""


BASE = Body(
    name="base",
    joint=Joint(to="inertial", kind="free", translations=XYZ, spherical=True),
    mass=3.0,
    com=(0.1, -0.2, 0.05),
    inertia=((1.0, 0.1, 0.0), (0.1, 1.4, -0.2), (0.0, -0.2, 1.1)),
    nodes={"corner": Node(at=(0.3, 0.4, -0.2))},
)
CHILD = Body(
    name="child", joint=Joint(to="end"), mass=0.8, com=(0.2, 0.1, -0.3), inertia=nested(np.diag([0.3, 0.2, 0.25]))
)
STATE = {
    "base__velocity": (0.3, -0.1, 0.2),
    "base__attitude": (0.5, 0.1, -0.7, 0.4),
    "base__omega": (0.7, -0.4, 0.9),
    "child__joint__angle": 0.8,
    "child__joint__rate": -1.1,
    "system__gravity": (1.0, -2.0, 3.0),
    "base__corner__force": (0.3, 0.2, -0.6),
    "base__corner__torque": (0.1, -0.5, 0.3),
}
"""Of the base on its own and a child on a hinge, under gravity and loads."""


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
