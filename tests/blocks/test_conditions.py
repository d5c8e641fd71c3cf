"""What acts by itself at a threshold: at its instant, under any integrator, once or each time."""

from __future__ import annotations

import numpy as np
import pytest

from mbdy.blocks import Condition, Plant, SimulationError, VariableError, simulate
from mbdy.engine import Body, Joint, Model
from mbdy.engine.model.faults import OptionError
from systems import diagonal

RATE = 2.0
INTEGRATORS = {"rk4": {"step": 1e-3}, "rosenbrock": {"step": 1e-4}, "dopri5": {"tolerance": 1e-12}}
LOCK = {"arm.joint.locked": True}


def swing() -> Model:
    joint = Joint(
        to="inertial", kind="revolute", rotations=((0.0, 0.0, 1.0),), stiffness=(RATE**2,), motion=("switchable",)
    )
    body = Body(name="arm", mass=1.0, inertia=diagonal(1.0, 1.0, 1.0), joint=joint)
    return Model(name="swing", bodies=(body,), initial={"arm.joint.angle": (1.0,)})


@pytest.mark.parametrize("integrator", ["rk4", pytest.param("rosenbrock", marks=pytest.mark.slow), "dopri5"])
@pytest.mark.parametrize("every", [0.03, 2.0])
def test_a_lock_at_an_angle(integrator, every):
    """It stops there, with the impulse of the rate that it had."""
    lock = Condition(output="arm.joint.angle", below=0.25, set=LOCK)
    run = simulate(swing(), until=2, every=every, integrator=integrator, conditions=[lock], **INTEGRATORS[integrator])
    at = np.arccos(0.25) / RATE
    assert [(one.name, one.rising) for one in run.crossings] == [("arm.joint.angle below 0.25", True)]
    assert abs(run.crossings[0].time - at) < 1e-9
    before = run.time < at
    np.testing.assert_allclose(run["arm.joint.angle"][before], np.cos(RATE * run.time[before]), atol=1e-9)
    np.testing.assert_allclose(run["arm.joint.angle"][~before], 0.25, atol=1e-9)
    assert run["arm.joint.impulse"].sum() == pytest.approx(RATE * np.sin(RATE * at), abs=1e-8)
    assert abs(run["system.work_error"][-1]) < 1e-9


@pytest.mark.parametrize("integrator", ["rk4", "dopri5"])
@pytest.mark.parametrize("linear", [False, True])
def test_pushes_at_each_pass(integrator, linear):
    """Bang-bang by two conditions that act each time, beside a table whose inputs are held or on lines."""
    table = {"time": [0.0, 1.0, 3.0], "arm.torque[1]": [0.0, 1.0, 0.0], "arm.joint.prescribed": [0.0, 0.0, 0.0]}
    push = [
        Condition(output="arm.joint.rate", above=0.0, set={"arm.joint.torque": -0.1}, repeated=True),
        Condition(output="arm.joint.rate", below="0 deg/s", set={"arm.joint.torque": 0.1}, repeated=True),
    ]
    run = simulate(swing(), until=4, every=0.1, integrator=integrator, inputs=table, linear=linear, conditions=push,
                   record=["arm.joint.torque", "arm.torque[1]"])  # fmt: skip
    half, width = np.pi / RATE, 0.1 / RATE**2
    turns = [one.time for one in run.crossings]
    np.testing.assert_allclose(turns[1:3], [half, 2 * half], atol=1e-8)  # each half a swing, its middle off by a width
    np.testing.assert_allclose(np.abs(run["arm.joint.torque"][1:]), 0.1)
    late = run.time > 2 * half
    amplitude = 1.0 - 4 * width
    np.testing.assert_allclose(
        run["arm.joint.angle"][late], (amplitude - width) * np.cos(RATE * run.time[late]) + width, atol=1e-7
    )
    wanted = np.interp(run.time, table["time"], table["arm.torque[1]"])
    np.testing.assert_allclose(
        run["arm.torque[1]"], wanted if linear else (run.time > 0.95) & (run.time < 2.95), atol=1e-12
    )


def test_what_cannot_be():
    held = {"time": [0.0], "arm.joint.torque": [1.0]}
    angle = {"output": "arm.joint.angle", "set": {"arm.joint.torque": 1.0}}
    for conditions, more, fault, words in (
        (lambda: [Condition(**angle)], {}, OptionError, "give one of above and below"),
        (lambda: [Condition(output="arm.joint.angle", above=1.0, set={})], {}, OptionError, "sets nothing"),
        (lambda: [Condition(output="arm.omega", above=1.0, set=LOCK)], {}, OptionError, "one number"),
        (lambda: [Condition(output="arm.joint.angel", above=1.0, set=LOCK)], {}, OptionError, "nearest"),
        (lambda: [Condition(output="arm.joint.angle", above="1 m", set=LOCK)], {}, OptionError, "rad"),
        (
            lambda: [Condition(output="arm.joint.angle", above=1.0, set={"arm.joint.rate": 1.0})],
            {},
            OptionError,
            "an output",
        ),
        (lambda: [Condition(**angle, above=1.0)], {"inputs": held}, VariableError, "the table of inputs gives"),
        (lambda: ["arm.joint.angle > 1"], {}, OptionError, "Condition is needed"),
    ):
        with pytest.raises(fault, match=words):
            simulate(swing(), until=1, conditions=conditions(), **more)
    plant = Plant(swing())
    with pytest.raises(SimulationError, match="a condition gives"):
        simulate(plant, until=1, every=0.5, sample=0.5, conditions=[Condition(**angle, above=2.0)],
                 controller=lambda t, y: {"arm.joint.torque": 0.0})  # fmt: skip


def test_one_that_holds_at_the_begin_acts_there():
    run = simulate(
        swing(), until=1, every=0.5, conditions=[Condition(output="arm.joint.angle", above="50 deg", set=LOCK)]
    )
    assert run.crossings[0].time == 0.0
    np.testing.assert_array_equal(run["arm.joint.angle"], 1.0)
