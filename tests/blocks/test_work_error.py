"""``system.work_error``: what steps add to energy, and nothing else."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from mbdy.blocks import Plant, StateError
from mbdy.engine import loads
from mechanisms import two_that_dock
from oracles.random_models import random_inputs, random_model, random_state
from systems import SPRING

BOOM = """
mbdy = 1
[system]
gravity_gradient = true
[body.bus]
mass = 50
inertia = [9, 7, 11]
joint = { to = "inertial", kind = "free" }
node.n = { at = [0.3, 0.1, 0.2] }
[body.boom]
joint = { to = "bus.n", kind = "revolute", axis = [0, 1, 0], stiffness = 2 }
flex.beam = { length = 6, mass_per_length = 0.5, bending_stiffness = 40, modes = 2 }
[initial]
bus.omega = [0.05, 0.1, 0.02]
boom.flex.displacement = [0.02, 0.01, 0, 0]
"""
EXACT = 2e-8
"""[J] What RK4 adds to these in some steps of a millisecond."""
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def error(plant: Plant) -> float:
    return float(plant["system.work_error"])


@pytest.mark.parametrize(("frequency", "kept"), [(50.0, 0.88), (70.0, 0.375), (100.0, 3e-4)])
def test_springs_too_fast_for_the_step_show(frequency: float, kept: float) -> None:
    """Undamped springs at 1 ms for 10 s: what RK4 takes of their energy (work_residual is 0 all the while)."""
    text = SPRING.replace("0, -9.81, 0", "0, 0, 0").replace("damping = 0.05", "").replace("a.joint.rate = 2", "")
    plant = Plant(loads(text.replace("stiffness = 3", f"stiffness = {0.02 * (2 * math.pi * frequency) ** 2}")))
    start = float(plant["system.energy"])
    y = plant.step(10.0)
    assert float(y["system.energy"]) / start == pytest.approx(kept, rel=0.01, abs=1e-4)
    assert float(y["system.work_error"]) == pytest.approx(float(y["system.energy"]) - start, rel=1e-12)


BETWEEN_STOPS = """
mbdy = 1
[system]
gravity = [0, -9.81, 0]
[body.p]
mass = 4
com = [0.3, 0, 0]
inertia = [0.1, 0.12, 0.12]
[body.p.joint]
to = "inertial"
kind = "revolute"
axis = [0, 0, 1]
stop_lower = "-100 deg"
stop_stiffness = 2000
stop_damping = 20
friction = 0.2
cubic_stiffness = 0.3
harness = [[-2, 0.5], [0, 0.1], [2, -0.4]]
[initial]
p.joint.angle = "-30 deg"
"""


def test_what_laws_take_is_no_error() -> None:
    """A pendulum that swings into a damped stop, on which it loses most of its energy."""
    plant = Plant(loads(BETWEEN_STOPS), step=1e-4)
    start = float(plant["system.energy"])
    plant.step(2.0)
    assert float(plant["system.energy"]) - start < -3.0
    assert abs(error(plant)) < 2e-5


def errors_of(seed: int, integrator: str, steps: tuple[float, ...]) -> list[float]:
    """Of a random tree under random inputs, switches among them, after 0.08 s."""
    model = random_model(seed, 5, floating_motion=False, gradient=seed % 4 == 3)
    found = []
    for step in steps:
        plant = Plant(model, step=step, integrator=integrator)
        plant.step(1e-9)
        plant.state, plant.inputs.values[:] = random_state(seed, model), random_inputs(seed, model)
        for _ in range(4):
            plant.step(0.02)
        found.append(error(plant))
    return found


@pytest.mark.parametrize(
    "seed", [2, 3, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (0, 1, *range(4, 11)))]
)
def test_all_work_is_left_out_with_the_integrators_order(seed: int) -> None:
    """Inputs, external forces, laws, wheels, nodes, prescribed and locked joints, gravity and its gradient."""
    coarse, fine = errors_of(seed, "rk4", (0.005, 0.00125))
    assert abs(fine) < abs(coarse) / 100.0 + 1e-10
    first, second = errors_of(seed, "euler-cromer", (0.001, 0.0005))
    assert abs(second) < 0.7 * abs(first) + 1e-10


@pytest.mark.parametrize("seed", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_the_implicit_integrators_own_stages(seed: int) -> None:
    coarse, fine = errors_of(seed, "rosenbrock", (0.02, 0.005))
    assert abs(fine) < abs(coarse) / 60.0 + 1e-10


@pytest.mark.parametrize("kind", ["free", pytest.param("attitude", marks=pytest.mark.slow)])
def test_work_of_the_gravity_gradient_on_modes_is_no_error(kind: str) -> None:
    found = []
    for step in (0.04, 0.01):
        plant = Plant(loads(BOOM.replace("free", kind)), step=step)
        plant["system.orbit_position"], plant["system.gravitational_parameter"] = [2.0, 1.0, 0.5], 0.5
        for _ in range(100):
            plant.step(0.04)
        found.append(error(plant))
    assert 1e-9 < abs(found[0]) < 1e-5
    assert abs(found[1]) < abs(found[0]) / 200.0


@pytest.mark.parametrize("interpolation", ["held", "linear", "quadratic"])
def test_what_goes_into_inputs_is_no_error(interpolation) -> None:
    """Gravity and the rest of a spring change at once, on lines and on parabolas; held from then on."""
    plant = Plant(loads(SPRING), interpolation=interpolation)
    plant["system.gravity"], plant["a.joint.rest"] = [3.0, -5.0, 1.0], 0.4
    assert error(plant) == 0.0
    plant.step(0.05)
    if interpolation == "quadratic":
        plant.middle.values[plant.input_names.index("a.joint.rest")] = -1.0
    plant["a.joint.rest"], plant["a.joint.torque"] = -0.2, 1.5
    plant.step(0.05)
    plant.step(0.05)
    assert abs(error(plant)) < EXACT


def test_what_is_no_step_is_no_error() -> None:
    """Parameters, states that are set, a latch, prescribed motion."""
    plant = Plant(loads(SPRING))
    plant.step(0.05)
    plant["a.mass"], plant["a.joint.stiffness"] = 1.5, 5.0
    plant.step(0.05)
    plant.state = plant.state + 0.1
    plant.step(0.05)
    plant["a.joint.locked"] = True
    plant.step(0.01)
    plant["a.joint.locked"], plant["a.joint.prescribed"], plant["a.joint.acceleration"] = False, True, 7.0
    plant.step(0.1)
    assert abs(error(plant)) < EXACT


@pytest.mark.parametrize("gap", [0.0, 0.01])
def test_closing_is_a_loss_and_no_error(gap: float) -> None:
    plant = Plant(two_that_dock(gap=gap))
    start = float(plant["system.energy"])
    plant.step(0.01)
    plant["loop.dock.closed"] = True
    y = plant.step(1.0)
    assert float(y["system.energy"]) < 0.99 * start
    assert abs(error(plant)) < 1e-8 * start


def test_the_balance_goes_with_the_plant() -> None:
    """One step of two internal ones as two steps; saved, restored, copied and started again; not after failed steps."""
    plant, twin = Plant(loads(SPRING), step=0.02), Plant(loads(SPRING), step=0.02)
    plant.step(0.04)
    twin.step(0.02)
    twin.step(0.02)
    assert error(twin) == error(plant) != 0.0
    kept = plant.save()
    plant.step(0.5)
    plant.restore(kept)
    assert error(plant) == error(pickle.loads(pickle.dumps(twin))) == error(twin)
    plant["a.joint.torque"] = 1e300
    with pytest.raises(StateError):
        plant.step(1.0)
    assert error(plant) == error(twin)
    plant.reset()
    assert error(plant) == 0.0
    plant.step(0.02)
    plant.step(0.02)
    assert error(plant) == error(twin)


def test_it_can_be_left_out() -> None:
    plant = Plant(loads(SPRING + '[ports]\noutputs = ["*.angle"]\n'))
    assert plant.output_names == ("a.joint.angle",)
    np.testing.assert_array_equal(plant.step(0.1).values, Plant(loads(SPRING)).step(0.1)["a.joint.angle"])
