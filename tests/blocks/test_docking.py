"""Loops that close and open while running: docking, latching, letting go."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mbdy.blocks import FastLoopWarning, Plant, StateError, VariableError
from mbdy.engine import Body, Joint, Loop, Model, Node, Side, assemble
from mechanisms import four_bar, two_that_dock
from systems import diagonal, floating


def running(model: Model) -> Plant:
    """A plant that has begun, at its start but for a nanosecond."""
    plant = Plant(model, step=0.001)
    plant.step(1e-9)
    return plant


def totals(plant: Plant) -> np.ndarray:
    y = plant.outputs()
    return np.concatenate([y["system.momentum"], y["system.angular_momentum"]])


@pytest.mark.parametrize("flexible", [False, True])
@pytest.mark.parametrize("kind", ["weld", "ball"])
def test_docking_keeps_momentum(kind: str, flexible: bool) -> None:
    plant = running(two_that_dock(kind, flexible=flexible))
    before, energy = totals(plant), float(plant["system.energy"])
    masses = np.array(plant["chaser.velocity"])
    plant["loop.dock.closed"] = True
    y = plant.step(0.001)
    assert np.abs(y["loop.dock.impulse"]).max() > 0.1
    np.testing.assert_allclose(y["loop.dock.residual_rate"], 0.0, atol=1e-12)
    np.testing.assert_allclose(totals(plant), before, atol=1e-10 * np.abs(before).max())
    assert float(y["system.energy"]) < 0.99 * energy
    assert np.abs(np.array(y["chaser.velocity"]) - masses).max() > 0.01
    for _ in range(20):
        plant.step(0.5)
    np.testing.assert_allclose(plant["loop.dock.residual"], 0.0, atol=1e-10)
    np.testing.assert_allclose(totals(plant), before, atol=1e-8 * np.abs(before).max())
    assert np.abs(plant.outputs()["loop.dock.impulse"]).max() < 1e-9


def test_the_impulse_is_what_the_bodies_take() -> None:
    plant = running(two_that_dock("ball"))
    before = np.array(plant["target.velocity"]) + np.cross(plant["target.omega"], (0.3, 0.0, 0.1))
    plant["loop.dock.closed"] = True
    y = plant.step(1e-9)
    after = np.array(y["target.velocity"]) + np.cross(y["target.omega"], (0.3, 0.0, 0.1))
    np.testing.assert_allclose(20.0 * (after - before), y["loop.dock.impulse"], atol=1e-6)


def test_a_gap_is_pulled_in_with_the_time_constant() -> None:
    plant, T = running(two_that_dock(gap=0.01)), 0.1
    gap = np.array(plant["loop.dock.residual"])[3]
    before = totals(plant)
    plant["loop.dock.closed"] = True
    for k in range(1, 6):
        y = plant.step(0.05)
        np.testing.assert_allclose(np.array(y["loop.dock.residual"])[3], gap * np.exp(-0.05 * k / T), rtol=1e-6)
    np.testing.assert_allclose(totals(plant), before, atol=1e-9 * np.abs(before).max())


def test_letting_go_needs_nothing() -> None:
    """Two bodies that were joined part without a jump, and go on as two that never were."""
    plant = running(two_that_dock())
    plant["loop.dock.closed"] = True
    plant.step(2.0)
    plant["loop.dock.closed"] = False
    speeds = np.array(plant["target.velocity"])
    y = plant.step(0.001)
    assert np.abs(np.array(y["target.velocity"]) - speeds).max() < 1e-4
    np.testing.assert_array_equal(y["loop.dock.force"], 0.0)
    np.testing.assert_array_equal(y["loop.dock.impulse"], 0.0)
    alone = Plant(two_that_dock(), step=0.001)
    for name in ("chaser", "target"):
        for part in ("position", "velocity", "attitude", "omega"):
            alone[f"{name}.{part}"] = plant[f"{name}.{part}"]
    np.testing.assert_allclose(plant.step(1.0)["target.position"], alone.step(1.0)["target.position"], atol=1e-12)


def test_a_loop_that_cannot_close_from_the_start_is_named() -> None:
    hinge = Joint(to="inertial", kind="revolute", rotations=((0.0, 0.0, 1.0),))
    arm = Body(name="arm", mass=1.0, com=(0.5, 0.0, 0.0), inertia=diagonal(0.1, 0.1, 0.1), joint=hinge,
               nodes={"tip": Node(at=(1.0, 0.0, 0.0))})  # fmt: skip
    hook = Loop(name="hook", a=Side(body="arm", node="tip"), b=Side(body="inertial", at=(0.0, 3.0, 0.0)), distance=2.1,
                kind="distance")  # fmt: skip
    made = Model(name="arm", bodies=(arm,), loops=(hook,), initial={"arm.joint.angle": (1.4,)})
    plant = Plant(assemble(made), step=0.001)
    plant["loop.hook.distance"] = 0.5
    with pytest.raises(VariableError, match=r"loop\.hook"):
        plant.step(0.01)


def test_a_loop_closed_before_the_first_step_is_closed_from_the_start() -> None:
    """As an FMU has it that is closed in initialization mode: the gap is gone, and no impulse is told."""
    plant = Plant(two_that_dock(gap=0.01), step=0.001)
    plant["loop.dock.closed"] = True
    y = plant.outputs()
    np.testing.assert_allclose(y["loop.dock.residual"], 0.0, atol=1e-12)
    np.testing.assert_allclose(y["loop.dock.residual_rate"], 0.0, atol=1e-12)
    np.testing.assert_allclose(plant.step(0.001)["loop.dock.impulse"], 0.0, atol=1e-9)


def test_a_loop_that_comes_apart_ends_the_run_by_name() -> None:
    """A stone on a rod goes round several times in a step, which no integrator follows."""
    stone = Body(name="stone", mass=1.0, inertia=diagonal(0.1, 0.1, 0.1), joint=floating())
    rod = Loop(
        name="rod", a=Side(body="inertial"), b=Side(body="stone"), distance=1.0, kind="distance", time_constant=0.5
    )
    start = {"stone.position": (1.0, 0.0, 0.0), "stone.velocity": (0.0, 100.0, 0.0)}
    plant = Plant(Model(name="sling", bodies=(stone,), loops=(rod,), initial=start), step=0.1)
    with pytest.raises(StateError, match=r"loop\.rod.*came apart"):
        plant.step(0.1)
    np.testing.assert_array_equal(plant["stone.position"], start["stone.position"])


def test_locks_that_make_a_loop_redundant_leave_no_stress() -> None:
    model = four_bar(rate=1.0)
    bodies = (replace(body, joint=replace(body.joint, motion=("switchable",))) for body in model.bodies)
    plant = Plant(replace(model, bodies=tuple(bodies)), step=0.001)
    plant.step(0.1)
    plant["crank.joint.locked"] = True
    plant.step(0.2)
    plant["rocker.joint.locked"] = True
    for y in (plant.step(0.01), plant.step(2.0)):
        for name in ("loop.pin.force", "crank.joint.reaction", "rocker.joint.impulse"):
            np.testing.assert_allclose(y[name], 0.0, atol=1e-9)


def test_redundant_loops_of_different_time_constants_share_the_impulse() -> None:
    model = two_that_dock(gap=0.01)
    again = replace(model.loops[0], name="again", time_constant=0.05)
    plant = running(replace(model, loops=(model.loops[0], again)))
    plant["loop.dock.closed"] = plant["loop.again.closed"] = True
    y = plant.step(0.01)
    assert 0.1 < np.abs(y["loop.dock.impulse"]).max() < 10.0
    np.testing.assert_allclose(y["loop.dock.impulse"], y["loop.again.impulse"], rtol=0.01, atol=1e-3)
    assert np.abs(plant.step(0.01)["loop.dock.impulse"]).max() < 1e-3


def test_a_distance_that_is_none_is_refused() -> None:
    rod = Loop(name="rod", a=Side(body="chaser", node="port"), b=Side(body="target", at=(3.0, 0.0, 0.0)), distance=3.5,
               kind="distance")  # fmt: skip
    plant = Plant(assemble(replace(two_that_dock(), loops=(rod,))), step=0.001)
    plant["loop.rod.distance"] = 0.0
    with pytest.raises(VariableError, match=r"loop\.rod\.distance"):
        plant.step(0.01)


def test_a_time_constant_below_the_step_is_told_of() -> None:
    quick = replace(two_that_dock(), loops=(replace(two_that_dock().loops[0], time_constant=0.002),))
    with pytest.warns(FastLoopWarning, match=r"loop\.dock\.time_constant = 0\.002 s: too short"):
        Plant(quick, step=0.001)
    Plant(quick, step=0.0005)
