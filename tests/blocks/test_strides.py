"""Steps that the integrator chooses: errors on closed forms and examples, the same bits however a run is cut."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from example_models import each_example
from mbdy.blocks import Plant, PlantBatch, StateError, VariableError, simulate
from mbdy.blocks.rig import Rig
from mbdy.engine import Body, Joint, Model, load
from mbdy.engine.model.faults import OptionError
from mbdy.fmu import ExportError, export_fmu
from mechanisms import four_bar
from systems import chain, diagonal

NAME = "dopri5"
RATE = 2.0
"""[rad/s] Of the swing whose closed form is known."""
OF_TOLERANCES = 100.0
"""Errors of a stride are below the tolerance; over a run of a few swings they add up to so many."""


def swing(stiffness: float = RATE**2) -> Model:
    joint = Joint(to="inertial", kind="revolute", rotations=((0.0, 0.0, 1.0),), stiffness=(stiffness,))
    body = Body(name="arm", mass=1.0, inertia=diagonal(1.0, 1.0, 1.0), joint=joint)
    return Model(name="swing", bodies=(body,), initial={"arm.joint.angle": (1.0,)})


@pytest.fixture(scope="module")
def arm() -> Plant:
    return Plant(swing(), integrator=NAME)


def errors(parts: int, step: float) -> np.ndarray:
    """Largest error of the angle at rows, of which there are so many in each stride of that length."""
    plant = Plant(swing(), integrator=NAME, tolerance=0.1, step=step)
    run = simulate(plant, until=2.0, every=step / parts, outputs=["arm.joint.angle"])
    assert run.strides in [(round(2.0 / step) + more, 0) for more in (0, 1)]  # the last may miss the end by rounding
    return np.abs(run["arm.joint.angle"] - np.cos(RATE * run.time))


def test_strides_are_of_order_5_and_what_lies_between_of_order_4():
    wide, narrow = errors(4, 0.1), errors(4, 0.05)
    assert 4.8 < np.log2(wide[::4].max() / narrow[::4].max()) < 5.5
    assert 4.5 < np.log2(wide.max() / narrow.max()) < 5.5  # local errors of order 5 on global ones of order 5


@pytest.mark.parametrize("tolerance", [1e-4, 1e-7, 1e-10])
def test_errors_follow_the_tolerance(tolerance):
    run = simulate(swing(), until=5, every=0.05, integrator=NAME, tolerance=tolerance)
    for name, wanted in (("angle", np.cos(RATE * run.time)), ("rate", -RATE * np.sin(RATE * run.time))):
        error = np.abs(run[f"arm.joint.{name}"] - wanted).max()
        assert 0.01 * tolerance < error < OF_TOLERANCES * tolerance
    assert run.strides is not None
    assert run.strides[0] < 40 * (1e-4 / tolerance) ** 0.2


@pytest.mark.parametrize(
    "model",
    [chain(3), pytest.param(four_bar(rate=3.0, gravity=(0.0, -9.81, 0.0)), marks=pytest.mark.slow)],
    ids=["chain", "four-bar"],
)
def test_as_small_equal_steps(model):
    """Loops are settled at each stride and row; the balance of work closes to the tolerance."""
    equal = simulate(model, until=1, every=0.05, step=1e-4)
    run = simulate(model, until=1, every=0.05, integrator=NAME, tolerance=1e-11)
    span = run.ports.span("impulses")
    states = [i for i in range(equal.values.shape[1]) if not span.start <= i < span.stop]
    scale = np.maximum(1.0, np.abs(equal.values[:, states]))
    assert (np.abs(run.values - equal.values)[:, states] / scale).max() < 1e-8
    assert abs(run["system.work_error"][-1]) < 1e-9


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mbdy.engine.ModelWarning")
@pytest.mark.parametrize("path", each_example())
def test_examples_as_small_equal_steps(path):
    model = load(path)
    plant = Plant(model, integrator=NAME)
    until = 1.0 if len(model.bodies) < 10 else 0.1
    run = simulate(plant, until=until, every=until / 20)
    equal = simulate(model, until=until, every=until / 20, step=until / 20_000, integrator="rk4")
    states = [name for name in run.ports.output_names if name in run.ports.state_names]
    for name in states:
        scale = 1.0 + np.abs(equal[name]).max()
        assert np.abs(run[name] - equal[name]).max() < 1e-6 * scale, name


@pytest.mark.parametrize("cut", [0.3, 1.0])
def test_a_run_that_is_cut_has_the_same_bits(arm, tmp_path, cut):
    arm.reset()
    whole = simulate(arm, until=2, every=0.1)
    first = Plant(swing(), integrator=NAME)
    before = simulate(first, until=cut, every=0.1)
    first.save_state(tmp_path / "state")
    arm.restore_state(tmp_path / "state")
    copy = pickle.loads(pickle.dumps(arm))
    for plant in (arm, copy):
        after = simulate(plant, until=2 - cut, every=0.1)
        assert np.vstack([before.values, after.values[1:]]).tobytes() == whole.values.tobytes()
    assert arm.strides == copy.strides == whole.strides


def test_strides_begin_anew_where_something_was_set(arm):
    """A stride ahead is not gone on with under other inputs, states or parameters."""
    for name, value in (("arm.joint.torque", 3.0), ("arm.joint.stiffness", 9.0), (None, [0.2, -0.4])):
        arm.reset()
        simulate(arm, until=0.33, every=0.03)
        x = np.array(value) if name is None else arm.state
        if name is None:
            arm.state = value
        else:
            arm[name] = value
        rate, rest = (3.0, 0.0) if name == "arm.joint.stiffness" else (2.0, 0.75 if name == "arm.joint.torque" else 0.0)
        run = simulate(arm, until=1, every=0.1, outputs=["arm.joint.angle"])
        wanted = rest + (x[0] - rest) * np.cos(rate * run.time) + x[1] / rate * np.sin(rate * run.time)
        np.testing.assert_allclose(run["arm.joint.angle"], wanted, atol=OF_TOLERANCES * 1e-9)
        arm["arm.joint.stiffness"] = RATE**2


def test_inputs_end_strides(arm):
    """Under a controller, and under tables that are held or linear: angles of a torque that goes on a line."""
    table = {"time": [0.0, 0.5, 1.0, 2.0], "arm.joint.torque": [0.0, 0.0, 2.0, 2.0]}
    linear = simulate(swing(), until=2, every=0.1, inputs=table, linear=True, integrator=NAME)
    equal = simulate(swing(), until=2, every=0.1, inputs=table, linear=True)
    np.testing.assert_allclose(linear["arm.joint.angle"], equal["arm.joint.angle"], atol=1e-7)
    assert np.abs(linear["system.work_error"]).max() < 1e-7
    arm.reset()
    held = simulate(arm, until=2, every=0.1, inputs=table)
    arm.reset()
    given = lambda t, y: {"arm.joint.torque": 2.0 if t > 0.95 else 0.0}  # noqa: E731
    under = simulate(arm, until=2, every=0.1, sample=0.5, controller=given)
    np.testing.assert_allclose(under["arm.joint.angle"], held["arm.joint.angle"], atol=OF_TOLERANCES * 1e-9)
    with pytest.raises(OptionError, match="sample: dopri5 chooses its steps; give the controller's period"):
        simulate(arm, until=2, controller=given)


def test_what_no_strides_follow_is_a_fault_by_name(arm):
    arm.reset()
    arm["arm.joint.damping"] = 1e18
    with pytest.raises(
        StateError, match=r"state 'arm.joint.\w+' takes steps of .* to keep the tolerance 1e-09.*rosenbrock"
    ):
        arm.step(1.0)
    assert arm.time == 0.0
    np.testing.assert_array_equal(arm.state, [1.0, 0.0])
    arm["arm.joint.damping"] = 0.0


def test_where_steps_are_equal_it_is_refused(tmp_path):
    for asked in (
        lambda: PlantBatch(swing(), 2, integrator=NAME),
        lambda: Rig(swing(), rate=100, integrator=NAME),
        lambda: Plant(swing(), tolerance=1e-6),
        lambda: Plant(swing(), integrator=NAME, tolerance=0.0),
    ):
        with pytest.raises(OptionError, match=r"'rk4' or 'euler-cromer'|or integrator 'dopri5'|from 1e-14 to 0\.1"):
            asked()
    with pytest.raises(ExportError, match=f"'{NAME}' chooses its steps, and an FMU takes equal ones.*'rk4'"):
        export_fmu(swing(), tmp_path / "arm.fmu", integrator=NAME)


def test_states_of_plants_that_step_otherwise(arm, tmp_path):
    """Each takes up what the other has saved, with a word about its steps."""
    equal = Plant(swing())
    arm.reset()
    simulate(arm, until=0.5, every=0.1)
    arm.save_state(tmp_path / "state")
    with pytest.warns(UserWarning, match="is of a plant with step None, integrator dopri5"):
        equal.restore_state(tmp_path / "state")
    np.testing.assert_array_equal(equal.state, arm.state)
    equal.save_state(tmp_path / "equal")
    with pytest.warns(UserWarning, match="is of a plant with step 0.001, integrator rk4"):
        arm.restore_state(tmp_path / "equal")
    np.testing.assert_array_equal(equal.state, arm.state)
    with pytest.raises(VariableError, match="damaged"):
        arm._put(equal.save().data[:-8])


def ball(stiffness: float, damping: float = 0.0, fall: float = 9.81) -> Model:
    """A ball that falls by a metre onto a stop, and bounces."""
    joint = Joint(to="inertial", kind="prismatic", translations=((0.0, 0.0, 1.0),), stop_stiffness=(stiffness,),
                  stop_lower=(0.0,), stop_damping=(damping,))  # fmt: skip
    body = Body(name="ball", mass=1.0, inertia=diagonal(1.0, 1.0, 1.0), joint=joint)
    initial = {"ball.joint.displacement": (1.0,)}
    return Model(name="ball", bodies=(body,), gravity=(0.0, 0.0, -fall), initial=initial)


@pytest.mark.parametrize("every", [0.01, 3.0])
def test_stops_are_located(every):
    """Touches after a fall, and after each flight between what is left and the next touch: closed forms, to 1e-9 s."""
    run = simulate(ball(1e5), until=3, every=every, integrator=NAME, tolerance=1e-12)
    times, fall = np.array([one.time for one in run.crossings]), np.sqrt(2 / 9.81)
    assert [one.rising for one in run.crossings] == [True, False] * 3 + [True] * (len(times) % 2)
    assert {one.name for one in run.crossings} == {"ball.joint.stop_lower"}
    assert abs(times[0] - fall) < 1e-10
    np.testing.assert_allclose(np.diff(times[1:])[::2], 2 * fall, atol=1e-10)
    assert abs(run["system.work_error"][-1]) < 1e-9


def test_stops_that_are_hard_and_grazed(arm):
    """One too hard for steps of 1 ms, which a swing reaches with 1e-7 rad to spare and is back from in 1e-3 s."""
    hard = simulate(ball(1e9, 1e4), until=1, every=0.1, integrator=NAME)
    assert len(hard.crossings) >= 2
    assert np.abs(hard["system.work_error"]).max() < 1e-6
    model = swing()
    joint = replace(model.bodies[0].joint, stop_stiffness=(1.0,), stop_lower=(-1.0 + 1e-7,))
    touched = replace(model, bodies=(replace(model.bodies[0], joint=joint),))
    run = simulate(touched, until=2, every=0.5, integrator=NAME, tolerance=1e-11)
    turn, half = np.pi / RATE, np.sqrt(2 * 1e-7) / RATE
    np.testing.assert_allclose([one.time for one in run.crossings], [turn - half, turn + half], atol=1e-6)


def test_crossings_of_calls_in_turn():
    """Steps, rows and runs that are cut find the same instants, once each."""
    whole = simulate(ball(1e5), until=2, every=0.1, integrator=NAME)
    plant = Plant(ball(1e5), integrator=NAME)
    first = simulate(plant, until=0.4, every=0.1)
    assert not first.crossings
    rest = simulate(plant, until=1.6, every=0.1)
    assert [one.time + 0.4 for one in rest.crossings] == pytest.approx([one.time for one in whole.crossings], abs=1e-15)
    plant.reset()
    seen = []
    for _ in range(20):
        plant.step(0.1)
        seen += [one.time for one in plant.crossings]
    np.testing.assert_allclose(seen, [one.time for one in whole.crossings], atol=1e-8)


def test_a_harness_switches_at_its_points():
    points = (-0.5, 0.2, 0.0, 0.0, 0.5, -0.4)
    model = swing()
    joint = replace(model.bodies[0].joint, harness=tuple(zip(points[::2], points[1::2], strict=True)))
    model = replace(model, bodies=(replace(model.bodies[0], joint=joint),))
    run = simulate(model, until=1.5, every=0.5, integrator=NAME, tolerance=1e-11)
    assert [one.name for one in run.crossings] == [f"arm.joint.harness_{i}" for i in (3, 2, 1)]
    equal = simulate(model, until=1.5, every=0.5, step=1e-4)
    np.testing.assert_allclose(run["arm.joint.angle"], equal["arm.joint.angle"], atol=1e-8)


STICKS = """
mbdy = 1
[body.arm]
mass = 1
inertia = [0.5, 0.5, 0.5]
joint = { to = "inertial", kind = "revolute", axis = [0, 0, 1], stiffness = 8, friction = { coulomb = 0.7 } }
[initial]
arm.joint.angle = 1
"""


def test_friction_that_sticks_is_located(tmp_path):
    """Each half swing takes 2 x 0.7 / 8 of the amplitude; the sixth ends where the spring is held, for good."""
    (tmp_path / "arm.toml").write_text(STICKS)
    plant = Plant(tmp_path / "arm.toml", integrator=NAME, tolerance=1e-11)
    near = simulate(
        tmp_path / "arm.toml", until=6, every=0.1, integrator=NAME
    )  # with a row in the last stride before it
    assert [one.time for one in near.crossings] == pytest.approx([6 * np.pi / 4], abs=1e-8)
    run = simulate(plant, until=6, every=0.5)
    assert [(one.name, one.rising) for one in run.crossings] == [("arm.joint.sticking", True)]
    assert run.crossings[0].time == pytest.approx(6 * np.pi / 4, abs=1e-9)
    np.testing.assert_allclose(run["arm.joint.angle"][-1], 1 - 6 * 2 * 0.7 / 8, atol=1e-9)
    assert run["arm.joint.rate"][-1] == 0.0
    assert abs(run["system.work_error"][-1]) < 1e-9
    plant.reset()
    for cut in (0.5, 2.0, 3.5):
        simulate(plant, until=cut, every=0.5)
        again = plant.state
    np.testing.assert_array_equal(again, [run["arm.joint.angle"][-1], 0.0])


TETHER = """
mbdy = 1
[body.bus]
mass = 3
inertia = [1, 1, 1]
joint = { to = "inertial", kind = "free" }
[body.bus.node.eye]
at = [0.3, 0.1, 0]
[body.load]
mass = 1
joint = { to = "inertial", kind = "prismatic", axis = [1, 0, 0] }
[spring.tether]
a = "inertial"
b = "load"
stiffness = 100
length = 2
tension_only = true
[spring.second]
a = "bus.eye"
b = "load"
length = 1
table = [[-5, 0], [4, 0], [5, 2]]
[contact.wall]
a = "inertial"
b = "load"
shape_a = { kind = "sphere", radius = 0.1 }
shape_b = { kind = "sphere", radius = 0.1 }
stiffness = 1e4
damping = 0.5
[initial]
load.joint.displacement = 1.5
load.joint.velocity = 0.25
"""


@pytest.mark.slow
def test_a_tether_becomes_taut_and_a_contact_touches(tmp_path):
    """After a flight of half a metre, for half a swing; and back at the same speed, 1.8 m on."""
    (tmp_path / "tether.toml").write_text(TETHER)
    run = simulate(tmp_path / "tether.toml", until=10, every=0.1, integrator=NAME, tolerance=1e-12)
    seen = [(one.name.removeprefix("spring."), one.rising) for one in run.crossings]
    assert seen == [
        ("tether.taut", True),
        ("tether.taut", False),
        ("contact.wall.touching", True),
        ("contact.wall.touching", False),
    ]
    wanted = np.cumsum([2.0, np.pi / 10, 1.8 / 0.25])
    np.testing.assert_allclose([one.time for one in run.crossings[:3]], wanted, atol=1e-9)
    assert np.abs(run["system.work_error"]).max() < 1e-10
