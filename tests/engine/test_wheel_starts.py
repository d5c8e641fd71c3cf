"""Wheels that start by their momenta: as those that start by the speeds that go with these."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from interpreted import Interpreted
from mbdy.engine import Model, dumps, linearize, loads

FILE = """
mbdy = 1
[body.a]
mass = 10
inertia = [1, 2, 3]
joint = {{ to = "inertial", kind = "free" }}
wheel.w = {{ axis = [0, 3, 4], inertia = 0.05 }}
wheel.v = {{ axis = [1, 0, 0], inertia = 0.02 }}
[body.b]
mass = 1
inertia = [1, 1, 1]
joint = {{ to = "a", kind = "revolute", axis = [0, 1, 1] }}
wheel.w = {{ axis = [1, 2, 2], inertia = 0.5 }}
[initial]
a.omega = [0.3, -0.2, 0.5]
b.joint.rate = 2
a.v.speed = 7
{starts}
"""


def started(starts: str) -> tuple[Model, Interpreted, np.ndarray]:
    model = loads(FILE.format(starts=starts))
    run = Interpreted(model)
    return model, run, np.array(run.equations.start(np.array(run.ports.start), run._constants)).ravel()


def test_a_start_by_momentum_is_that_by_the_speed_that_goes_with_it() -> None:
    model, run, x = started('a.w.momentum = "0.75 N*m*s"\nb.w.momentum = -1.5')
    assert x[run.ports.states["a.w.momentum"].state] == 0.75
    assert x[run.ports.states["b.w.momentum"].state] == -1.5
    assert set(run.ports.starts) >= {"a.w.momentum", "a.v.speed", "b.w.momentum"}
    assert not {"a.w.speed", "b.w.speed"} & set(run.ports.starts)
    y = run.outputs(x, np.zeros(len(run.ports.input_names)))
    speeds = {name: y[run.ports.by_name[f"{name}.w.speed"].offset] for name in "ab"}
    assert speeds["a"] == pytest.approx(0.75 / 0.05 - np.dot([0, 0.6, 0.8], [0.3, -0.2, 0.5]))
    _, _, again = started(f"a.w.speed = {float(speeds['a'])!r}\nb.w.speed = {float(speeds['b'])!r}")
    np.testing.assert_allclose(again, x, rtol=1e-14)
    assert loads(dumps(model)) == replace(model, source="<string>")
    linear = linearize(model, at={"a.w.momentum": 2.0, "a.omega": [0, 0, 0.1]})
    assert linear.state_values["a.w.momentum"] == 2.0


def test_models_made_in_python_start_so_too() -> None:
    model, _, _ = started("a.w.momentum = 3")
    made = replace(model, initial={"b.w.momentum": "2 N*m*s"})
    assert made.initial["b.w.momentum"] == (2.0,)
    assert Interpreted(made).ports.starts["b.w.momentum"].start == (2.0,)
    assert "a.w.speed" in Interpreted(made).ports.starts
