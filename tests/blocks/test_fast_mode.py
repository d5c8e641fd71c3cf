"""A plant tells of modes that its integrator does not follow, and of no others."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest

from mbdy.blocks import FastModeWarning, FastMotionWarning, Plant, StateError
from mbdy.blocks.too_fast import longest_step
from mbdy.engine import Model, loads

BOOM = """
mbdy = 1
[body.bus]
mass = 50
inertia = [5, 6, 7]
joint = {{ to = "inertial", kind = "free" }}
[body.boom]
joint = {{ to = "bus", kind = "fixed", at = [0.3, 0, 0] }}
[body.boom.flex.beam]
length = 2
mass_per_length = 0.5
bending_stiffness = {stiffness}
modes = [2, 0]
damping_ratio = 0
[initial]
boom.flex.rate = [0, 1e-3]
"""


def boom(stiffness: float) -> Model:
    return loads(BOOM.format(stiffness=stiffness))


def test_a_mode_that_is_too_fast_is_named_with_its_step_and_the_remedies() -> None:
    with pytest.warns(FastModeWarning) as told:
        Plant(boom(1e6))
    (text,) = [str(one.message) for one in told]
    for words in ("boom: mode 2", "Hz", "steps of 0.000", "not 0.001 s", 'integrator="rosenbrock"'):
        assert words in text


def test_what_is_told_is_where_the_integrator_blows_up() -> None:
    model = boom(1e6)
    with pytest.warns(FastModeWarning) as told:
        Plant(model)
    step = float(str(told[0].message).partition("steps of ")[2].partition(" ")[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        good = Plant(model, step=step)
    y = good.step(400 * step)
    assert np.abs(y["boom.flex.displacement"]).max() < 1e-3
    with pytest.warns(FastModeWarning):
        bad = Plant(model, step=1.05 * step)
    try:
        grown = np.abs(bad.step(400 * 1.05 * step)["boom.flex.displacement"]).max()
    except StateError:
        grown = math.inf
    assert grown > 1e3


@pytest.mark.parametrize(
    ("integrator", "stiffness", "told"),
    [("rk4", 1e6, True), ("rk4", 200.0, False), ("euler-cromer", 1e6, True), ("rosenbrock", 1e6, False)],
)
def test_only_explicit_integrators_are_told_of(integrator: str, stiffness: float, told: bool) -> None:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        Plant(boom(stiffness), integrator=integrator)
    assert [one.category for one in found] == [FastModeWarning] * told


def test_modes_without_stiffness_are_not_told_of() -> None:
    model = boom(200.0)
    body = model.body("boom")
    assert body.flex is not None
    loose = replace(body, flex=replace(body.flex, stiffness=((0.0, 0.0), (0.0, 0.0))))
    with warnings.catch_warnings():
        warnings.simplefilter("error", FastModeWarning)
        Plant(replace(model, bodies=(model.bodies[0], loose)))


@pytest.mark.parametrize("frequency", [1.0, 2.8e3, 1999.0, 7.0001e4, 3e-7])
def test_the_longest_step_is_rounded_down(frequency: float) -> None:
    for integrator, limit in (("rk4", 2.8), ("euler-cromer", 2.0)):
        step = longest_step(frequency, integrator)
        assert 0.99 * limit < step * frequency <= limit * (1 + 1e-11)
    assert longest_step(frequency, "rosenbrock") == longest_step(0.0) == math.inf


@pytest.mark.slow
def test_large_systems_are_looked_at_too() -> None:
    """A chain of 210 joints, 420 states."""
    bodies = "\n".join(
        f"""[body.b{i}]
mass = 1
com = [0.5, 0, 0]
inertia = [0.1, 0.1, 0.1]
joint = {{ to = "{f"b{i - 1}" if i else "inertial"}", kind = "revolute", axis = [0, {i % 2}, {1 - i % 2}],
          at = [{min(i, 1)}, 0, 0], stiffness = 1, damping = 0.01 }}""".replace(",\n", ",")
        for i in range(210)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plant = Plant(loads("mbdy = 1\n" + bodies))
    plant["b70.joint.stiffness"] = 1e8
    with pytest.warns(FastMotionWarning, match=r"^b70\.joint\.stiffness = 1e\+08 makes a motion that swings at 2093 "):
        plant.outputs()
