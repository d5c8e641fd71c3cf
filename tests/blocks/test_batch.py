"""Many runs at once: each has the bits of a plant of its own, and what fails in one is no matter of the others."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from mbdy.blocks import BlockBatch, Integrator, Plant, PlantBatch, StateError, VariableError, simulate
from mbdy.engine import Model, ModelWarning, loads
from mbdy.engine.core.lanes import widths
from mbdy.engine.model.faults import OptionError, UnknownNameError

SLIDER = """
mbdy = 1
name = "slider"
[system]
gravity = [0, -9.81, 0]
[body.crank]
mass = 2.0
com = [0.1, 0, 0]
inertia = [0.01, 0.02, 0.02]
[body.crank.joint]
to = "inertial"
kind = "revolute"
axis = [0, 0, 1]
motion = "switchable"
friction = 0.3
[body.rod]
mass = 1.0
com = [0.25, 0, 0]
inertia = [0.01, 0.03, 0.03]
joint = { to = "crank", kind = "revolute", axis = [0, 0, 1], at = [0.2, 0, 0] }
node.end = { at = [0.5, 0, 0] }
[body.piston]
mass = 0.5
inertia = [0.01, 0.01, 0.01]
joint = { to = "inertial", kind = "prismatic", axis = [1, 0, 0] }
[loop.pin]
a = "rod.end"
b = "piston"
kind = "pin"
axis = [0, 0, 1]
[initial]
crank.joint.angle = "40 deg"
crank.joint.rate = "10 rad/s"
"""
FIVE = Path(__file__).resolve().parents[2] / "examples/five_body_spacecraft/five_body.toml"
RUNS = 11
pytestmark = pytest.mark.filterwarnings("ignore::mbdy.engine.ModelWarning", "ignore::mbdy.engine.StartMovedWarning")
LANES = (1, *sorted(widths()))


@lru_cache
def model(name: str) -> Model | Path:
    return FIVE if name == "five" else loads(SLIDER)


def numbers(name: str) -> dict[str, np.ndarray]:
    """What differs from run to run."""
    draw = np.random.default_rng(4)
    if name == "five":
        return {
            "bus.mass": draw.uniform(300, 500, RUNS), "bus.torque": draw.uniform(-9, 9, (RUNS, 3)),
            "bus.omega": draw.uniform(-0.2, 0.2, (RUNS, 3)), "yoke.joint.damping": draw.uniform(10, 30, RUNS),
            "system.gravity": draw.uniform(-1, 1, (RUNS, 3)),
        }  # fmt: skip
    return {
        "crank.joint.friction": draw.uniform(0, 1, RUNS), "crank.joint.angle": draw.uniform(0.1, 1, RUNS),
        "crank.joint.locked": np.arange(RUNS) % 4 == 1, "piston.force": draw.uniform(-9, 9, (RUNS, 3)),
    }  # fmt: skip


def alone(name: str, run: int, steps: int, H: float, **options) -> np.ndarray:
    plant = Plant(model(name), **options)
    for key, values in numbers(name).items():
        plant[key] = values[run]
    return np.array([plant.step(H).values for _ in range(steps)])


def together(name: str, lanes: int, **options) -> PlantBatch:
    batch = PlantBatch(model(name), RUNS, lanes=lanes, **options)
    for key, values in numbers(name).items():
        batch[key] = values
    return batch


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("five", {"integrator": "rk4"}),
        ("five", {"integrator": "euler-cromer", "interpolation": "linear"}),
        ("slider", {"integrator": "rk4", "interpolation": "linear"}),
    ],
)
def test_each_run_has_the_bits_of_a_plant(name, options):
    expected = np.array([alone(name, run, 6, 4e-3, **options) for run in (0, 1, 5, RUNS - 1)])
    for lanes in LANES if name == "five" else LANES[::-1][:1]:
        batch = together(name, lanes, threads=2, **options)
        found = np.array([batch.step(4e-3).values for _ in range(6)])
        assert batch.faults == (None,) * RUNS
        np.testing.assert_array_equal(found[:, [0, 1, 5, RUNS - 1]].transpose(1, 0, 2), expected, err_msg=f"{lanes}")
        assert batch.time == pytest.approx(0.024)


def test_rows_of_inputs_are_those_of_a_plant():
    draw = np.random.default_rng(2)
    n_u = len(Plant(model("five")).input_names)
    table = draw.uniform(-1, 1, (RUNS, 6, n_u))
    table[:, :, Plant(model("five")).ports.span("switches")] = 0.0
    pick = [3, 0, 20]
    found = together("five", LANES[-1], interpolation="linear").run(5, 2e-3, inputs=table, pick=pick)
    for run in (0, RUNS - 1):
        plant = Plant(model("five"), interpolation="linear")
        for key, values in numbers("five").items():
            plant[key] = values[run]
        expected, fault = plant.run(5, 2e-3, inputs=table[run], pick=pick)
        assert fault is None
        np.testing.assert_array_equal(found[run], expected)


@pytest.mark.parametrize("name", ["five", "slider"])
def test_a_run_that_fails_disturbs_nobody(name):
    force = {"five": "bus.force", "slider": "piston.force"}[name]
    whole, with_one = together(name, LANES[-1]), together(name, LANES[-1])
    pushed = with_one[force]
    pushed[2] = 1e300
    with_one[force] = pushed
    expected, found = [(whole.step(2e-3), with_one.step(2e-3)) for _ in range(3)][-1]
    others = np.arange(RUNS) != 2
    np.testing.assert_array_equal(found.values[others], expected.values[others])
    assert np.isnan(found.values[2]).all()
    assert [run for run, fault in enumerate(with_one.faults) if fault] == [2]
    assert isinstance(with_one.faults[2], StateError)
    plant = Plant(model(name))
    for key, values in numbers(name).items():
        plant[key] = values[2]
    plant[force] = pushed[2]
    with pytest.raises(StateError) as alone_too:
        plant.step(2e-3)
    assert str(with_one.faults[2]) == str(alone_too.value)
    np.testing.assert_array_equal(with_one.states[2], plant.state)
    with_one.reset()
    assert with_one.faults == (None,) * RUNS


def test_parameters_that_cannot_be_end_their_run_before_it_begins():
    batch = together("five", LANES[-1])
    mass = batch["bus.mass"]
    inertia = np.tile([[115.0, 0, 0], [0, 316, 0], [0, 0, 440]], (RUNS, 1, 1))
    inertia[4] = [[1.0, 5, 0], [5, 1, 0], [0, 0, 1]]
    batch["bus.inertia"] = inertia[:, [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
    y = batch.step(1e-3)
    assert "bus.inertia" in str(batch.faults[4])
    assert np.isnan(y["bus.omega"][4]).all()
    assert np.isfinite(np.delete(y["bus.omega"], 4, axis=0)).all()
    mass[3] = -1.0
    with pytest.raises(VariableError, match=r"run 3: .*bus\.mass.*-1"):
        batch["bus.mass"] = mass
    assert (batch["bus.mass"] > 0).all()


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("bus.mass", [1.0, 2.0], r"bus\.mass.*all 11 runs, or a row"),
        ("bus.omega", np.zeros((RUNS, 2)), "bus.omega"),
        ("bus.torque", np.full((RUNS, 3), np.nan), "run 0: .*finite"),
        ("buss.mass", 1.0, "nearest: bus.mass"),
    ],
)  # fmt: skip
def test_what_cannot_be_set_is_said(name, value, says):
    batch = together("five", LANES[-1])
    with pytest.raises((VariableError, UnknownNameError), match=says):
        batch[name] = value


def test_lanes_that_are_not_there_are_said():
    with pytest.raises(OptionError, match=r"takes .* runs at once, got 3"):
        PlantBatch(model("five"), 2, lanes=3)


def test_control_blocks_close_loops_as_they_do_for_one_run():
    gains = np.linspace(1.0, 3.0, RUNS)
    blocks = BlockBatch(Integrator(), RUNS)

    def of_all(t, y):
        return {"yoke.joint.torque": -gains * blocks.step(t, y["yoke.joint.rate"])}

    run = together("five", LANES[-1]).simulate(0.05, every=0.01, sample=0.005, controller=of_all, outputs=["yoke.*"])
    assert run["yoke.joint.rate"].shape == (RUNS, 6)
    assert run["yoke.omega"].shape == (RUNS, 6, 3)
    for k in (0, 7):
        plant, block = Plant(model("five")), Integrator()
        for key, values in numbers("five").items():
            plant[key] = values[k]

        def of_one(t, y, k=k, block=block):
            return {"yoke.joint.torque": -gains[k] * block.step(t, y["yoke.joint.rate"])}

        one = simulate(plant, until=0.05, every=0.01, sample=0.005, controller=of_one, outputs=["yoke.*"])
        np.testing.assert_array_equal(run["yoke.omega"][k], one["yoke.omega"])


@pytest.mark.parametrize("more", [{}, {"sample": 0.0025, "controller": lambda t, y: None}])
def test_rows_are_those_of_simulate(more):
    run = together("slider", LANES[-1]).simulate(0.02, every=0.005, outputs=["crank.*", "piston.*"], **more)
    plant = Plant(model("slider"))
    for key, values in numbers("slider").items():
        plant[key] = values[1]
    one = simulate(plant, until=0.02, every=0.005, outputs=["crank.*", "piston.*"], **more)
    assert one["crank.joint.impulse"].any()
    assert run.names == one.names
    np.testing.assert_array_equal(run.values[1], one.values)


def test_what_is_warned_of_is_warned_of_once():
    batch = together("five", LANES[-1])
    batch["bus.inertia"] = [1.0, 1.0, 5.0]
    with pytest.warns(ModelWarning, match=r"run 0 and 10 others: .*bus\.inertia") as told:
        batch.step(1e-3)
    assert len(told) == 1


@pytest.mark.parametrize(
    "torque",
    [lambda y: [0, 0, 0.1], lambda y: np.full((3, 3), 0.1), lambda y: -y["bus.omega"], lambda y: [["1 N*m"] * 3] * 3],
)
def test_controllers_go_on_where_a_run_has_failed(torque):
    batch, omega = PlantBatch(FIVE, 3), np.full((3, 3), 0.1)
    omega[1] = 1e200, 0, 0
    batch["bus.omega"] = omega
    run = batch.simulate(
        0.2, every=0.1, sample=0.1, outputs=["bus.omega"], controller=lambda t, y: {"bus.torque": torque(y)}
    )
    assert [fault is None for fault in run.faults] == [True, False, True]
    assert np.isfinite(run["bus.omega"][[0, 2]]).all()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"bus.omega": [0, 0, 9.0]}, "which is an output"),
        ({"bus.torque": [0, 0, 1], "bus.torque[3]": 0}, "twice"),
        ([1, 2], "must give a mapping of names to values, or None"),
        ({"bus.torqe": 0}, "bus.torque"),
    ],
)
def test_controllers_are_held_to_the_rules_of_simulate(given, says):
    with pytest.raises(VariableError, match=says):
        PlantBatch(FIVE, 2).simulate(0.2, every=0.1, controller=lambda t, y: given)


def test_results_are_looked_through_by_name():
    batch = PlantBatch(FIVE, 2)
    y = batch.step(0.1)
    assert "bus.omega" in y
    assert "bus.omega[2]" in y
    assert dict(y).keys() == dict.fromkeys(y).keys() >= {"bus.omega", "bus.attitude"}
    batch.reset()
    run = batch.simulate(0.1, every=0.1, outputs=["bus.omega", "bus.attitude[1]"])
    assert list(run) == ["bus.omega", "bus.attitude[1]"]
    assert "bus.omega[3]" in run
    assert "bus.attitude" not in run
    with pytest.raises(OptionError, match="n: must be a whole number >= 1, got 0"):
        PlantBatch(FIVE, 0)


def test_switches_of_the_last_row_stay_set():
    model = loads(SLIDER.partition("[loop.pin]")[0] + '[initial]\ncrank.joint.rate = "10 rad/s"\n')
    one, batch = Plant(model, interpolation="linear"), PlantBatch(model, 3, interpolation="linear")
    rows = np.zeros((3, 4, len(one.input_names)))
    rows[:, -1, one.input_names.index("crank.joint.locked")] = 1
    pick = np.arange(len(one.output_names))
    alone, _ = one.run(3, 0.1, inputs=rows[0], pick=pick)
    np.testing.assert_array_equal(batch.run(3, 0.1, inputs=rows, pick=pick)[1], alone)
    assert batch["crank.joint.locked"].tolist() == [1, 1, 1]
    assert batch.step(0.1)["crank.joint.rate"].tolist() == [0, 0, 0]
