"""Coulomb friction that sticks: closed forms, several degrees of freedom against all that they may do, loops."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from interpreted import Interpreted
from mbdy.blocks import Plant, PlantBatch
from mbdy.engine import Body, Joint, Linear, Model, ModelError, dumps, linearize, loads, verify
from mbdy.engine.core.integrators import INTEGRATORS

MODEL = loads("""
mbdy = 1
[system]
gravity = [0, 0, -9.81]
[body.slope]
mass = 2
joint = { to = "inertial", kind = "prismatic", axis = [0.8, 0, -0.6], friction = { coulomb = 12 } }
[body.first]
mass = 2
joint = { to = "inertial", kind = "prismatic", axis = [1, 0, 0], friction = { coulomb = 3 } }
[body.second]
mass = 1
joint = { to = "first", kind = "prismatic", axis = [1, 0, 0], friction = { coulomb = 2 } }
[body.swing]
mass = 1
inertia = [0.5, 0.5, 0.5]
joint = { to = "inertial", kind = "revolute", axis = [0, 0, 1], stiffness = 8, friction = { coulomb = 0.7 } }
[body.pulled]
mass = 2
[body.pulled.joint]
to = "inertial"
kind = "prismatic"
axis = [1, 0, 0]
stiffness = 50
friction = { coulomb = 3, breakaway = 5 }
[body.switched]
mass = 2
joint = { to = "inertial", kind = "prismatic", axis = [1, 0, 0], motion = "switchable", friction = { coulomb = 3 } }
[body.disc]
mass = 30
inertia = [2, 2, 2]
joint = { to = "inertial", kind = "revolute", axis = [0, 0, 1], friction = { coulomb = "0.4 N*m", viscous = 0 } }
""")


@pytest.fixture
def plant() -> Plant:
    return Plant(MODEL, step=1e-3)


def test_a_block_on_a_slope_sticks_below_the_angle_of_friction_and_slides_above(plant: Plant) -> None:
    y = plant.step(1.0)
    weight = 2 * 9.81
    assert (y["slope.joint.velocity"], y["slope.joint.displacement"]) == (0.0, 0.0)
    assert y["slope.joint.reaction"] == pytest.approx(-0.6 * weight, rel=1e-14)
    plant["slope.joint.friction.coulomb"] = 0.5 * 0.8 * weight  # mu m g cos
    y = plant.step(1.0)
    assert y["slope.joint.velocity"] == pytest.approx(9.81 * (0.6 - 0.5 * 0.8), rel=1e-12)
    assert y["slope.joint.reaction"] == 0.0


def test_breakaway_holds_without_coulomb_friction_and_is_never_less(plant: Plant) -> None:
    plant["pulled.joint.friction.coulomb"], plant["pulled.joint.force"] = 0.0, 4.9
    y = plant.step(0.1)
    assert (y["pulled.joint.velocity"], y["pulled.joint.reaction"]) == (0.0, pytest.approx(-4.9))
    plant["pulled.joint.force"] = 5.1
    omega = 5.0
    assert plant.step(0.1)["pulled.joint.velocity"] == pytest.approx(5.1 / 2 / omega * math.sin(0.1 * omega), rel=1e-9)
    plant["pulled.joint.friction.coulomb"] = 6.0
    with pytest.raises(ValueError, match=r"pulled.joint.friction.breakaway.* no less than .*friction.coulomb"):
        plant.step(0.1)


def test_a_slide_comes_to_rest_and_stays() -> None:
    plant = Plant(MODEL, step=1e-2)
    plant["disc.joint.rate"], plant["slope.joint.velocity"] = 3.0, -1.0
    stop = 3.0 * 2 / 0.4
    rate = plant.step(stop - 0.05)["disc.joint.rate"]
    assert rate == pytest.approx(0.05 * 0.4 / 2, rel=1e-9)
    y = plant.step(0.1)
    assert y["disc.joint.rate"] == 0.0
    angle, place = y["disc.joint.angle"], y["slope.joint.displacement"]
    assert angle == pytest.approx(3.0 * stop / 2, rel=1e-12)
    assert place == pytest.approx(-1.0 / (2 * (9.81 * 0.6 + 12 / 2)), rel=1e-12)
    y = plant.step(1000.0)
    assert (y["disc.joint.angle"], y["slope.joint.displacement"]) == (angle, place)
    assert abs(y["system.work_error"]) < 1e-12


@pytest.mark.parametrize(
    ("force", "expected"),
    [(2.5, (0, 0)), (3.5, (0.5 / 3, 0)), (6.0, (1.0, 0.0)), (-9.0, (-2.0, 0.0))],
)
def test_two_blocks_in_series_pulled_below(plant: Plant, force: float, expected: tuple[float, float]) -> None:
    """The lower one is pulled; the upper one goes along as long as 2 N will do: m a <= 2."""
    plant["first.joint.force"] = force
    y = plant.step(0.5)
    a = [y["first.joint.velocity"] / 0.5, y["second.joint.velocity"] / 0.5]
    both = max(abs(force) - 3.0, 0.0) / 3.0
    if both <= 2.0:
        assert a == pytest.approx([math.copysign(both, force), 0.0], abs=1e-12)


def test_two_blocks_in_series_part_where_the_upper_cannot_follow(plant: Plant) -> None:
    plant["first.joint.force"] = 13.0
    y = plant.step(0.5)
    lower = (13.0 - 3.0 - 2.0) / 2
    assert y["first.joint.velocity"] == pytest.approx(0.5 * lower, rel=1e-12)
    assert y["second.joint.velocity"] == pytest.approx(0.5 * (2.0 - lower), rel=1e-12)
    plant["first.joint.force"], plant["second.joint.force"] = 0.0, 0.0
    y = plant.step(5.0)
    assert (y["first.joint.velocity"], y["second.joint.velocity"]) == (0.0, 0.0)
    assert abs(y["system.work_error"]) < 1e-12
    plant["second.joint.force"] = (
        2.9  # pushes the lower one by 2.9, of which 2 N by friction; no more than 3 N holds that
    )
    y = plant.step(1.0)
    assert y["second.joint.velocity"] == pytest.approx(0.9, rel=1e-12)
    assert y["first.joint.velocity"] == 0.0


@pytest.mark.parametrize("start", [1.0, -0.57, 0.0874, 0.0876])
def test_a_swing_loses_as_much_in_every_half_and_stops_where_the_spring_is_held(plant: Plant, start: float) -> None:
    plant["swing.joint.angle"] = start
    y, dead = plant.step(20.0), 0.7 / 8
    left, sign = abs(start), math.copysign(1.0, start)
    while left > dead:
        left, sign = left - 2 * dead, -sign
    assert y["swing.joint.angle"] == pytest.approx(sign * left, rel=1e-9)
    assert y["swing.joint.rate"] == 0.0
    assert y["swing.joint.reaction"] == pytest.approx(8 * sign * left, rel=1e-9)


def test_the_period_of_stick_and_slip() -> None:
    """A mass pulled through a spring: held while the spring winds from F_k/k - A to F_s/k, A = (F_s - F_k)/k."""
    plant = Plant(MODEL, step=1e-3, interpolation="linear")
    m, k, slips, sticks, v = 2.0, 50.0, 3.0, 5.0, 0.07
    omega, A = math.sqrt(k / m), (sticks - slips) / k
    slip = 2 * (math.pi - math.atan(A * omega / v)) / omega
    period, first = slip + 2 * A / v, sticks / k / v
    H, where = 0.01, []
    for i in range(1, 801):
        plant["pulled.joint.rest"] = v * H * i
        where.append(plant.step(H)["pulled.joint.displacement"])
    places = np.array(where)
    # Each slip moves it by v times the period: the first one by what winds from rest.
    stride, held = v * period, np.diff(places) == 0.0
    levels = np.unique(np.round(places[1:][held], 12))
    np.testing.assert_allclose(np.diff(levels)[1:], stride, rtol=1e-6)
    begins = [(i + 1) * H for i in range(len(held) - 1) if held[i] and not held[i + 1]]
    assert begins[0] == pytest.approx(first, abs=2 * H)
    assert (begins[-1] - begins[0]) / (len(begins) - 1) == pytest.approx(period, abs=2 * H / (len(begins) - 1))
    assert abs(plant["system.work_error"]) < 1e-9


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_all_integrators_stop_where_the_rate_is_zero(integrator: str) -> None:
    plant = Plant(MODEL, step=1e-2, integrator=integrator)
    plant["disc.joint.rate"], plant["first.joint.velocity"] = 0.123, 0.456
    y = plant.step(3.0)
    assert (y["disc.joint.rate"], y["first.joint.velocity"], y["second.joint.velocity"]) == (0.0, 0.0, 0.0)
    error = 3e-2 if integrator == "euler-cromer" else 1e-9
    assert y["disc.joint.angle"] == pytest.approx(0.123**2 * 2 / (2 * 0.4), rel=error)


def test_locks_and_what_is_prescribed(plant: Plant) -> None:
    plant["switched.joint.force"], plant["switched.joint.locked"] = 9.0, True
    assert plant.step(0.1)["switched.joint.reaction"] == pytest.approx(-9.0)
    plant["switched.joint.locked"] = False
    y = plant.step(0.1)
    assert y["switched.joint.velocity"] == pytest.approx(0.1 * (9.0 - 3.0) / 2, rel=1e-12)
    plant["switched.joint.prescribed"], plant["switched.joint.acceleration"] = True, -1.0
    assert plant["switched.joint.reaction"] == pytest.approx(2 * -1.0 - 9.0 + 3.0)
    y = plant.step(1.0)
    assert y["switched.joint.velocity"] == pytest.approx(-0.7, rel=1e-12)
    assert y["switched.joint.reaction"] == pytest.approx(2 * -1.0 - 9.0 - 3.0)
    plant["switched.joint.locked"] = True
    y = plant.step(0.1)
    assert (y["switched.joint.velocity"], y["switched.joint.impulse"]) == (0.0, pytest.approx(1.4, rel=1e-12))
    plant["switched.joint.locked"] = plant["switched.joint.prescribed"] = False
    plant["switched.joint.force"] = 2.9
    y = plant.step(1.0)
    assert y["switched.joint.velocity"] == 0.0
    assert abs(y["system.work_error"]) < 1e-12


def test_states_that_are_saved_and_batches_go_on_to_the_bit(plant: Plant) -> None:
    plant["swing.joint.angle"], plant["first.joint.velocity"] = 1.0, 2.0
    plant["second.joint.velocity"] = -3.0
    plant.step(0.01)
    saved = plant.save()
    for _ in range(39):
        plant.step(0.01)
    end = plant.state
    plant.restore(saved)
    for _ in range(39):
        plant.step(0.01)
    np.testing.assert_array_equal(plant.state, end)
    batch = PlantBatch(MODEL, 3)
    batch["swing.joint.angle"], batch["first.joint.velocity"] = [0.5, 1.0, 0.2], 2.0
    batch["second.joint.velocity"] = -3.0
    for _ in range(39):
        batch.step(0.01)
    y = batch.step(0.01)
    assert y["swing.joint.angle"][1] == end[plant.state_names.index("swing.joint.angle")]
    assert y["second.joint.velocity"][1] == end[plant.state_names.index("second.joint.velocity")]


def test_runs_of_a_batch_break_away_and_stop_within_steps_as_plants_do() -> None:
    """Forces that come after a first step; some hold, some slip, some turn and some stop on the way."""
    forces, n = np.array([8.0, 4.0, -30.0, 0.0, 13.0]), 5
    batch, plants = PlantBatch(MODEL, n), [Plant(MODEL) for _ in range(n)]
    for each in (batch, *plants):
        each["swing.joint.angle"] = 1.0
    for scale in (0.0, 1.0, 0.2):
        batch["pulled.joint.force"] = batch["first.joint.force"] = scale * forces
        y = batch.step(0.3)
        for run, plant in enumerate(plants):
            plant["pulled.joint.force"] = plant["first.joint.force"] = scale * forces[run]
            np.testing.assert_array_equal(y.values[run], plant.step(0.3).values)
    np.testing.assert_array_equal(y["pulled.joint.displacement"] != 0.0, [True, False, True, False, True])


CHAIN = "mbdy = 1\n[system]\ngravity = [0.3, -0.5, 0.2]\n" + "".join(
    f"""
[body.b{i}]
mass = {1 + 0.3 * i}
com = [0.5, {0.1 * i}, 0.05]
inertia = [0.1, 0.2, 0.25]
joint = {{ to = "{to}", kind = "revolute", axis = {axis}, at = {[int(i > 0), 0, 0]}{{friction}} }}
"""
    for i, (to, axis) in enumerate(
        (
            ("inertial", [0, 0, 1]),
            ("b0", [0, 1, 0]),
            ("b1", [0, 0, 1]),
            ("b2", [1, 0, 1]),
            ("b3", [0, 0, 1]),
        )
    )
)
SLIPS = np.array([1.0, 0.8, 0.5, 0.4, 0.3])


@pytest.fixture(scope="module")
def chain() -> tuple[Plant, Interpreted]:
    friction = ", friction = { coulomb = 1 }"
    return Plant(loads(CHAIN.replace("{friction}", friction))), Interpreted(loads(CHAIN.replace("{friction}", "")))


def test_several_joints_at_rest_slip_as_complementarity_has_it(chain: tuple[Plant, Interpreted]) -> None:
    """Accelerations against the one combination of held, slipping and opposite slipping that is consistent."""
    plant, free = chain
    rng, kinds = np.random.default_rng(5), set()
    for i, slip in enumerate(SLIPS):
        plant[f"b{i}.joint.friction.coulomb"] = slip
    torques = [plant.ports.by_name[f"b{i}.joint.torque"].offset for i in range(5)]
    for trial in range(60):
        x, u = np.zeros(10), np.array(plant.ports.vector("input"))
        x[:5] = rng.uniform(-2, 2, 5)
        x[5:] = np.where(rng.uniform(size=5) < 0.3, rng.normal(size=5), 0.0)
        u[torques] = rng.normal(size=5) * 1.5 + rng.choice([0, 4], 1)
        found = plant.derivatives(0.0, x, u)[5:]
        moving = x[5:] != 0.0
        rest = free.derivatives(x, u)[5:]
        A = np.empty((5, 5))
        for j in range(5):
            pushed = u.copy()
            pushed[torques[j]] += 1.0
            A[:, j] = free.derivatives(x, pushed)[5:] - rest
        expected, kind = enumerated(A, rest, x[5:], SLIPS)
        kinds.add(kind)
        np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(rest).max(), err_msg=str(trial))
        assert all((found[i] == 0.0) for i in range(5) if kind[i] == 0 and not moving[i])
    assert len(kinds) > 15


def enumerated(
    A: np.ndarray, rest: np.ndarray, rates: np.ndarray, slips: np.ndarray
) -> tuple[np.ndarray, tuple[int, ...]]:
    """Accelerations ``rest + A f`` with friction f, and what each does, of the only combination that is consistent."""
    choices = [(int(np.sign(rate)),) if rate else (0, 1, -1) for rate in rates]
    for kind in itertools.product(*choices):
        way = np.array(kind)
        held, f = way == 0, -way * slips
        f[held] = -np.linalg.solve(A[np.ix_(held, held)], rest[held] + A[np.ix_(held, ~held)] @ f[~held])
        a = rest + A @ f
        fits = np.abs(f) <= slips * (1 + 1e-9)
        if np.all(np.where(held, fits, (way * a >= 0) | (rates != 0))):
            return a, kind
    raise AssertionError("no combination is consistent")


def test_a_linear_system_has_what_is_held_as_locked() -> None:
    at = {"pulled.joint.velocity": 0.1, "switched.joint.locked": True}
    linear = linearize(MODEL, at=at, outputs=["*.joint.angle"])
    assert linear.states == ("pulled.joint.displacement", "pulled.joint.velocity")
    np.testing.assert_allclose(linear.A, [[0, 1], [-25, 0]], atol=1e-12)
    assert linear.notes[0].startswith(
        "friction holds slope.joint.velocity, first.joint.velocity, second.joint.velocity,"
    )
    with pytest.raises(ValueError, match="friction sticks at the joint of 'slope'"):
        Plant(MODEL, dynamics=Linear())


def test_a_bearing_of_a_wheel_takes_no_table() -> None:
    text = "mbdy = 1\n[body.b]\nmass = 1\ninertia = [1, 1, 1]\njoint = { to = 'inertial', kind = 'free' }\n"
    with pytest.raises(ModelError, match=r"wheel.w.friction: .* no table; .* rotor a body on a revolute joint"):
        loads(text + "wheel.w = { axis = [0, 0, 1], inertia = 0.1, friction = { coulomb = 1 } }")


@pytest.mark.parametrize(
    ("friction", "fault"),
    [
        ("{ coulomb = -1 }", r"friction.coulomb: must be >= 0, got -1"),
        ("{ breakaway = 1 }", r"friction.coulomb: is missing"),
        ("{ coulomb = 2, breakaway = 1 }", r"friction.breakaway: must be no less than coulomb, got 1.0 and 2.0"),
        ("{ coulomb = '1 N' }", r"friction.coulomb: .*N.m"),
        ("{ coulomb = 1, vicous = 1 }", r"friction.vicous: unknown key; .*viscous"),
        ("{ coulomb = 1 }\nfriction_rate = 1", r"friction_rate: goes with a 'friction' that is a number"),
        ("1\ncoulomb = 1", r"coulomb: unknown key"),
    ],
)
def test_bad_friction_is_refused_by_name(friction: str, fault: str) -> None:
    with pytest.raises(ModelError, match=fault):
        loads("mbdy = 1\n[body.b]\nmass = 1\ninertia = [1, 1, 1]\n[body.b.joint]\nto = 'inertial'\nkind = 'revolute'\n"
              f"axis = [0, 0, 1]\nfriction = {friction}")  # fmt: skip


def test_a_rotor_on_a_free_body_runs_down_and_stays() -> None:
    """Both take part: the rate falls by c (1/J + 1/bus)."""
    spin, friction, J, bus = 10.0, 0.01, 0.04, 4.0
    plant = Plant(
        loads(f"""
mbdy = 1
[body.bus]
mass = 20
inertia = [2, 3, {bus}]
joint = {{ to = "inertial", kind = "free" }}
[body.rotor]
mass = 1
inertia = [0.02, 0.02, {J}]
joint = {{ to = "bus", kind = "revolute", axis = [0, 0, 1], friction = {{ coulomb = {friction} }} }}
[initial]
rotor.joint.rate = {spin}
bus.omega = [0, 0, 0.03]
"""),
        step=1e-2,
    )
    start, stop = np.array(plant["system.angular_momentum"]), spin / (friction * (1 / J + 1 / bus))
    assert plant.step(stop - 0.01)["rotor.joint.rate"] == pytest.approx(0.01 * spin / stop, rel=1e-8)
    y = plant.step(0.02)
    assert (y["rotor.joint.rate"], angle := y["rotor.joint.angle"]) == (0.0, pytest.approx(spin * stop / 2, rel=1e-9))
    y = plant.step(1000.0)
    assert (y["rotor.joint.rate"], y["rotor.joint.angle"]) == (0.0, angle)
    np.testing.assert_allclose(y["system.angular_momentum"], start, rtol=1e-12)


def test_joints_that_are_geared_hold_together() -> None:
    """The driver feels its own friction and twice that of what turns twice as fast."""
    joint = '{ to = "inertial", kind = "revolute", axis = [0, 0, 1], friction = { coulomb = %s } }'
    plant = Plant(
        loads(f"""
mbdy = 1
[body.driver]
mass = 1
inertia = [1, 1, 1]
joint = {joint % 1}
[body.follower]
mass = 1
inertia = [1, 1, 0.5]
joint = {joint % 0.4}
[gear.g]
driver = "driver.joint"
follower = "follower.joint"
ratio = 2
"""),
        step=1e-2,
    )
    plant["driver.joint.torque"] = 1.79
    y = plant.step(1.0)
    assert (y["driver.joint.rate"], y["follower.joint.rate"]) == (0.0, 0.0)
    plant["driver.joint.torque"] = 1.81
    assert plant.step(1.0)["driver.joint.rate"] == pytest.approx((1.81 - 1.8) / (1 + 4 * 0.5), rel=1e-9)
    plant["driver.joint.torque"] = 0.0
    y = plant.step(1.0)
    assert (y["driver.joint.rate"], y["follower.joint.rate"]) == (0.0, 0.0)


def test_a_joint_made_in_python_takes_what_a_file_takes() -> None:
    friction = {"coulomb": "1 N*m", "breakaway": 1.5, "viscous": 0.1}
    joint = Joint(to="inertial", kind="revolute", rotations=((0, 0, 1),), friction=friction)
    assert (joint.coulomb, joint.breakaway, joint.viscous, joint.friction) == ((1.0,), (1.5,), (0.1,), ())
    model = Model(name="m", bodies=(Body(name="b", joint=joint, mass=1.0, inertia=(1, 1, 1)),))
    assert replace(loads(dumps(model)), source="") == model
    with pytest.raises(ValueError, match=r"Joint.friction.breakaway: must be no less than coulomb"):
        Joint(to="inertial", kind="revolute", rotations=((0, 0, 1),), friction={"coulomb": 2, "breakaway": 1})
    least = Joint(to="inertial", kind="revolute", rotations=((0, 0, 1),), friction={"coulomb": 2})
    assert (least.breakaway, replace(least, stiffness=3.0).breakaway) == ((0.0,), (0.0,))


PARALLELOGRAM = loads(
    """
mbdy = 1
[body.crank]
mass = 1
com = [0.5, 0, 0]
inertia = [0.01, 0.1, 0.1]
joint = { to = "inertial", kind = "revolute", axis = [0, 0, 1], friction = { coulomb = 1 } }
[body.coupler]
mass = 2
com = [1, 0, 0]
inertia = [0.01, 0.7, 0.7]
joint = { to = "crank", kind = "revolute", axis = [0, 0, 1], at = [1, 0, 0], friction = { coulomb = 0.3 } }
[body.rocker]
mass = 1
com = [0.5, 0, 0]
inertia = [0.01, 0.1, 0.1]
node.end.at = [1, 0, 0]
[body.rocker.joint]
to = "coupler"
kind = "revolute"
axis = [0, 0, 1]
at = [2, 0, 0]
friction = { coulomb = 0.2, breakaway = 0.5 }
[loop.ground]
a = "inertial"
b = "rocker.end"
kind = "pin"
axis = [0, 0, 1]
at_a = [2, 0, 0]
[initial]
crank.joint.angle = "50 deg"
coupler.joint.angle = "-50 deg"
rocker.joint.angle = "-130 deg"
"""
)
INERTIA = 0.1 + 0.25 + 2 * 1.0 + 0.1 + 0.25
"""[kg.m2] Of the parallelogram about its crank: the coupler moves along."""


@pytest.mark.parametrize("step", [pytest.param(1e-3, marks=pytest.mark.slow), 5e-3])
def test_joints_of_a_loop_hold_with_all_that_they_have(step: float) -> None:
    """All three turn alike: they hold 1 + 0.3 + 0.5 N.m together, and slip against 1 + 0.3 + 0.2 N.m."""
    plant = Plant(PARALLELOGRAM, step=step)
    plant["crank.joint.torque"] = 1.799
    y = plant.step(1.0)
    assert [y[f"{name}.joint.rate"] for name in ("crank", "coupler", "rocker")] == [0.0, 0.0, 0.0]
    plant["crank.joint.torque"] = 1.801
    y = plant.step(0.25)
    assert y["crank.joint.rate"] == pytest.approx(0.25 * (1.801 - 1.5) / INERTIA, rel=1e-8)
    plant["crank.joint.torque"] = 0.0
    y = plant.step(2.0)
    assert [y[f"{name}.joint.rate"] for name in ("crank", "coupler", "rocker")] == [0.0, 0.0, 0.0]
    rate = 0.25 * 0.301 / INERTIA
    angle = math.radians(50) + 0.25 * rate / 2 + rate**2 / 2 / (1.5 / INERTIA)
    assert y["crank.joint.angle"] == pytest.approx(angle, rel=1e-8)
    assert plant.step(10.0)["crank.joint.angle"] == y["crank.joint.angle"]
    assert abs(plant["system.work_error"]) < 1e-10


def hinge(name: str, to: str, at: list[float], *, mass: float, length: float, inertia: float, node: str = "") -> str:
    """A bar along x, with a node at its end."""
    return f"""
[body.{name}]
mass = {mass}
com = [{length / 2}, 0, 0]
inertia = [0.01, {inertia}, {inertia}]
node.{node} = {{ at = [{length}, 0, 0] }}
joint = {{ to = "{to}", kind = "revolute", axis = [0, 0, 1], at = {at}, friction = {{ coulomb = 1 }} }}
"""


FOUR_BAR = loads(
    "mbdy = 1\n[system]\ngravity = [0, -9.81, 0]\n"
    + hinge("crank", "inertial", [0, 0, 0], mass=1, length=1, inertia=0.1, node="end")
    + hinge("coupler", "crank", [1, 0, 0], mass=2, length=2, inertia=0.7, node="end")
    + hinge("rocker", "inertial", [2.2, 0, 0], mass=1.5, length=1.5, inertia=0.3, node="end")
    + "[loop.pin]\na = 'coupler.end'\nb = 'rocker.end'\nkind = 'pin'\naxis = [0, 0, 1]\n"
    + "[initial]\ncrank.joint.angle = '60 deg'\n"
)
BARS = ("crank", "coupler", "rocker")


def test_a_four_bar_swings_and_rests_as_it_does_at_shorter_steps() -> None:
    ends = []
    for step in (1e-3, 2e-3, 5e-3):
        plant = Plant(FOUR_BAR, step=step)
        y = plant.step(3.2)
        assert min(abs(y[f"{name}.joint.rate"]) for name in BARS) > 1.0  # gravity overcomes friction there
        swings = y["crank.joint.angle"]
        plant.reset()
        for name in BARS:
            plant[f"{name}.joint.friction.coulomb"] = 3.0
        y = plant.step(6.0)
        assert [y[f"{name}.joint.rate"] for name in BARS] == [0.0, 0.0, 0.0]
        assert all(abs(y[f"{name}.joint.reaction"]) <= 3.0 + 1e-8 for name in BARS)
        ends.append((swings, y["crank.joint.angle"]))
    np.testing.assert_allclose(ends[1:], [ends[0]] * 2, rtol=1e-5)


DRIVEN = loads("""
mbdy = 1
[system]
gravity = [0, 0, -9.81]
[body.a]
mass = 1
inertia = [1, 1, 2]
joint = { to = "inertial", kind = "revolute", axis = [0, 0, 1], motion = "switchable" }
[body.b]
mass = 1
inertia = [2, 2, 3]
joint = { to = "inertial", kind = "revolute", axis = [0, 0, 1], friction = { coulomb = 4, breakaway = 6 } }
[gear.driven]
driver = "a.joint"
follower = "b.joint"
ratio = 2
[body.cart]
mass = 1
joint = { to = "inertial", kind = "prismatic", axis = [1, 0, 0], motion = "prescribed" }
[body.towed]
mass = 1
joint = { to = "inertial", kind = "prismatic", axis = [1, 0, 0], friction = { coulomb = 4 } }
[loop.tow]
a = "cart"
b = "towed"
kind = "weld"
[body.motor]
mass = 1
inertia = [0.01, 0.01, 0.01]
joint = { to = "inertial", kind = "revolute", axis = [0, 0, 1], friction = { coulomb = 0.1, breakaway = 0.15 } }
[body.arm]
mass = 1
inertia = [1, 1, 1]
joint = { to = "inertial", kind = "revolute", axis = [0, 0, 1], friction = { coulomb = 2, breakaway = 3 } }
[gear.shared]
driver = "motor.joint"
follower = "arm.joint"
ratio = 0.1
[body.block]
mass = 2
joint = { to = "inertial", kind = "prismatic", axis = [0, 0, 1], friction = { coulomb = 5, breakaway = 6 } }
[loop.shelf]
a = "block"
b = "inertial"
kind = "rows"
rows = [6]
""")


@pytest.mark.parametrize("integrator", ["rk4", "dopri5"])
def test_what_is_driven_moves_whatever_friction_holds_of_it(integrator: str) -> None:
    plant = Plant(DRIVEN, integrator=integrator)
    plant["a.joint.prescribed"] = True
    y = plant.step(0.1)
    assert (y["b.joint.rate"], y["towed.joint.velocity"]) == (0.0, 0.0)
    plant["a.joint.acceleration"], plant["cart.joint.acceleration"] = 1.0, 1.0
    for time, sign in ((0.2, 1), (0.4, -1)):  # from rest, then to a stop and back
        y = plant.step(time)
        plant["a.joint.acceleration"], plant["cart.joint.acceleration"] = -1.0, -1.0
        assert y["b.joint.rate"] == pytest.approx(sign * 0.4, rel=1e-9)
        assert y["a.joint.reaction"] == pytest.approx(sign * (2 + 2 * (3 * 2 + 4)), rel=1e-9)
        assert (y["towed.joint.velocity"], y["cart.joint.reaction"]) == pytest.approx((sign * 0.2, sign * 6), rel=1e-9)
    assert abs(y["system.work_error"]) < 1e-9


@pytest.mark.parametrize("torque", [0.4, -0.44, 0.1, 0.0])
def test_friction_takes_no_more_than_it_has_and_gears_and_loops_the_rest(torque: float) -> None:
    plant = Plant(DRIVEN)
    plant["motor.joint.torque"] = torque
    for y in (plant.step(1.0), plant.step(1.0)):
        motor, arm, (of_arm, of_motor) = y["motor.joint.reaction"], y["arm.joint.reaction"], y["gear.shared.effort"]
        assert (abs(motor) <= 0.15 + 1e-9, abs(arm) <= 3 + 1e-8) == (True, True)
        assert (torque + motor + of_motor, arm + of_arm) == pytest.approx((0, 0), abs=1e-9)
        assert abs(y["block.joint.reaction"]) <= 6
        assert y["block.joint.reaction"] - y["loop.shelf.force"][2] == pytest.approx(2 * 9.81)
        assert (y["motor.joint.rate"], y["arm.joint.rate"]) == (0.0, 0.0)


DRY_CHAIN = loads(CHAIN.replace("{friction}", ", friction = { coulomb = 1, viscous = 0.2 }"))


@pytest.mark.parametrize("model", [MODEL, PARALLELOGRAM, DRY_CHAIN], ids=("separate", "loop", "chain"))
def test_second_opinions_hold_and_slip_alike(model: Model) -> None:
    assert verify(model, states=12).agrees


def test_a_plant_of_another_formulation_holds_and_slips_alike() -> None:
    ends = []
    for formulation in ("order-n", "kane"):
        plant = Plant(MODEL, step=1e-2, formulation=formulation)
        plant["swing.joint.angle"], plant["second.joint.velocity"], plant["first.joint.force"] = 1.0, 2.0, 4.0
        plant.step(0.5)
        ends.append(plant.state)
    np.testing.assert_allclose(*ends, atol=1e-12)
