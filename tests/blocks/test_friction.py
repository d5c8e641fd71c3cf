"""Smoothed Coulomb friction whose slope no step could follow: it slides and holds as its law says, for any step."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pytest

from mbdy.blocks import FastMotionWarning, Plant
from mbdy.engine import Dynamics, Linear, Model, PartlyLinear, loads
from mbdy.engine.core.integrators import INTEGRATORS

HALF = math.atanh(0.5)
"""Part of ``friction_rate`` at which half of the Coulomb friction acts."""
OF_ANY_STEP = [name for name, method in INTEGRATORS.items() if not method.adaptive]
"""Those that take laws too steep for their steps; steps by a tolerance follow them, or say that they cannot."""
SPREAD = 1e-9
"""[rad/s, m/s] No chatter."""

MODEL = loads("""
mbdy = 1
[body.hinge]
mass = 3
inertia = [1, 1, 0.02]
joint = { to = "inertial", kind = "revolute", axis = [0, 0, 1], friction = 1 }
[body.slider]
mass = 0.02
inertia = [1, 1, 1]
joint = { to = "inertial", kind = "prismatic", axis = [0, 0, 1], friction = 1 }
[body.bus]
mass = 30
inertia = [1, 1, 1]
joint = { to = "inertial", kind = "free" }
wheel.w = { axis = [0, 0, 1], inertia = 1e-3, friction = 1 }
wheel.skew = { axis = [0, 0.6, 0.8], inertia = 1e-5, friction = 1, friction_rate = 1e-3 }
[body.light]
mass = 1e-3
inertia = [1e-6, 1e-6, 1e-6]
joint = { to = "inertial", kind = "free" }
[body.heavy]
mass = 30
inertia = [10, 10, 10]
joint = { to = "light", kind = "revolute", axis = [0, 0, 1], friction = 1 }
[body.one]
mass = 3
inertia = [0.02, 0.02, 0.02]
joint = { to = "inertial", kind = "revolute", axis = [0, 0, 1], friction = 1 }
[body.two]
mass = 0.3
com = [0.5, 0, 0]
inertia = [2e-4, 2e-4, 2e-4]
joint = { to = "one", kind = "revolute", axis = [0, 0, 1], at = [1, 0, 0], friction = 1 }
[body.ball]
mass = 3
inertia = [0.02, 0.03, 0.02]
joint = { to = "two", kind = "spherical", at = [1, 0, 0], friction = 1 }
""")
RATES = {"hinge.joint.rate": 1e-3, "slider.joint.velocity": 1e-3, "bus.w.speed": 0.1, "bus.skew.speed": 1e-3,
         "heavy.joint.rate": 1e-3, "one.joint.rate": 1e-3, "two.joint.rate": 1e-3,
         "ball.joint.omega[2]": 1e-3}  # fmt: skip
"""Their ``friction_rate``, all but one the default."""
EFFORT = {"rate": "torque", "velocity": "force", "speed": "torque", "omega[2]": "torque[2]"}


def loaded(friction: float, step: float, integrator: str, model: Model = MODEL) -> Plant:
    """All joints and bearings with that friction, under half of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plant = Plant(model, step=step, integrator=integrator)
    for name in RATES:
        stem, _, what = name.rpartition(".")
        plant[f"{stem}.{EFFORT[what]}"] = friction / 2
        plant[f"{stem}.friction"] = [friction] * 3 if stem == "ball.joint" else friction
    return plant


@pytest.mark.parametrize(
    ("friction", "step", "integrator"),
    [*itertools.product((1.0, 1e3), (1e-2, 1e-3), OF_ANY_STEP), (1.0, 1e-4, "rk4")],
)
def test_half_the_breakaway_effort_creeps_at_the_rate_of_the_law(friction: float, step: float, integrator: str) -> None:
    plant = loaded(friction, step, integrator)
    plant["hinge.joint.rate"] = 1.0  # slides first
    plant.step(2.0)
    places = [plant.output_names.index(name) for name in RATES]
    rates, fault = plant.run(20, step, pick=places)
    assert fault is None
    expected = np.array([*RATES.values()]) * HALF
    np.testing.assert_allclose(rates.mean(axis=0), expected, rtol=1e-6)
    assert np.ptp(rates, axis=0).max() < SPREAD


@pytest.mark.parametrize(("integrator", "error"), [("rk4", 2e-5), ("euler-cromer", 1e-3), ("rosenbrock", 2e-5)])
def test_a_slide_slows_down_and_breaks_away_as_coulomb_has_it(integrator: str, error: float) -> None:
    plant = loaded(1.0, 1e-3, integrator)
    plant["slider.joint.force"], plant["slider.joint.velocity"], plant["slider.mass"] = 0.0, 2.0, 0.5
    y = plant.step(0.8)
    assert y["slider.joint.velocity"] == pytest.approx(2.0 - 0.8 / 0.5, rel=error)
    assert plant.step(0.4)["slider.joint.velocity"] == pytest.approx(0.0, abs=1e-9)
    plant["slider.joint.force"] = 1.5
    begin = plant.step(0.1)["slider.joint.velocity"]
    assert plant.step(0.5)["slider.joint.velocity"] - begin == pytest.approx(0.5 * 0.5 / 0.5, rel=error)


def test_what_takes_friction_implicitly_keeps_the_momentum_of_the_system() -> None:
    plant = loaded(1.0, 1e-3, "rk4")
    before = np.array(plant["system.angular_momentum"]), np.array(plant["system.momentum"])
    arms = ("hinge.joint.torque", "slider.joint.force", "one.joint.torque")  # they stand on the inertial frame
    for name in arms:
        plant[name] = 0.0
    plant["bus.w.speed"], plant["bus.skew.speed"], plant["heavy.joint.rate"] = 3.0, -2.0, 1.0
    plant["two.joint.torque"] = plant["ball.joint.torque[2]"] = 0.0
    start = np.array(plant["system.angular_momentum"])
    y = plant.step(0.5)
    np.testing.assert_allclose(y["system.angular_momentum"], start, atol=1e-9)
    np.testing.assert_allclose(y["system.momentum"], before[1], atol=1e-9)


def test_friction_that_a_step_follows_is_integrated_as_any_other_law() -> None:
    """An error of order 4: the first-order terms of what is taken implicitly are not there."""
    ends = []
    for step in (2e-2, 1e-2, 5e-3):
        plant = loaded(0.0, step, "rk4")
        plant["slider.mass"], plant["slider.joint.friction"], plant["slider.joint.friction_rate"] = 3.0, 1.0, 0.3
        plant["slider.joint.force"], plant["slider.joint.velocity"] = 0.0, 0.5
        ends.append(float(plant.step(1.0)["slider.joint.velocity"]))
    assert (ends[0] - ends[1]) / (ends[1] - ends[2]) == pytest.approx(16.0, rel=0.1)


SATELLITE = loads("""
mbdy = 1
[body.bus]
mass = 30
inertia = [10, 10, 10]
joint = { to = "inertial", kind = "free" }
[body.p]
mass = 3
com = [0.5, 0, 0]
inertia = [0.02, 0.02, 0.02]
joint = { to = "bus", kind = "revolute", axis = [0, 0, 1], at = [1, 0, 0], friction = 1 }
[body.q]
mass = 0.3
com = [0.5, 0, 0]
inertia = [2e-4, 2e-4, 2e-4]
joint = { to = "p", kind = "universal", axes = [[0, 0, 1], [0, 1, 0]], at = [1, 0, 0], friction = [1, 1] }
[body.r]
mass = 0.3
com = [0.5, 0, 0]
inertia = [2e-4, 2e-4, 2e-4]
joint = { to = "bus", kind = "revolute", axis = [0, 0, 1], at = [-1, 0, 0], friction = 1, motion = "switchable" }
""")


@pytest.mark.parametrize("dynamics", [Linear(), PartlyLinear(("q", "r"))], ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("integrator", ["rk4", pytest.param("rosenbrock", marks=pytest.mark.slow)])
def test_linear_dynamics_creep_at_the_rate_of_the_law(dynamics: Dynamics, integrator: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plant = Plant(SATELLITE, dynamics=dynamics, integrator=integrator, step=2e-3)
    names = ["p.joint.rate", "q.joint.rate[1]", "q.joint.rate[2]", "r.joint.rate"]
    for friction in (1.0, 1e3):
        for name, share in zip(names, (0.5, 0.0, 0.5, -0.5), strict=True):
            plant[name.replace("rate", "torque")] = share * friction
            plant[name.replace("rate", "friction")] = friction
        plant.step(0.5)
        rates, fault = plant.run(20, 2e-3, pick=[plant.output_names.index(name) for name in names])
        assert fault is None
        np.testing.assert_allclose(rates.mean(axis=0), 1e-3 * HALF * np.array([1, 0, 1, -1]), rtol=1e-6, atol=1e-12)
        assert np.ptp(rates, axis=0).max() < SPREAD
    plant["r.joint.locked"] = True
    assert plant.step(0.1)["r.joint.rate"] == pytest.approx(0.0, abs=1e-9)


def test_second_opinions_take_friction_as_it_is_and_are_told() -> None:
    with pytest.warns(FastMotionWarning, match=r"q\.joint\.friction\[1\] = 1 makes a motion that decays at"):
        Plant(SATELLITE, formulation="kane")
