"""Laws of effort at joints (cubic springs, friction, stops, harnesses): files, closed forms, energy, refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ellipk

from mbdy.blocks import Plant, VariableError, simulate
from mbdy.engine import Joint, ModelError, dumps, loads, verify

HINGE = """
mbdy = 1
[body.arm]
mass = 1
inertia = [1, 1, 2]
[body.arm.joint]
to = "inertial"
kind = "revolute"
axis = [0, 0, 1]
{laws}
[initial]
arm.joint.angle = {angle}
arm.joint.rate = {rate}
"""
INERTIA = 2.0


def hinge(laws: str, angle: float = 0.0, rate: float = 0.0):
    return loads(HINGE.format(laws=laws, angle=angle, rate=rate))


def test_a_cubic_spring_swings_with_the_period_of_duffing():
    """I q'' = -k3 q^3 from rest at A: period 4 K(1/2) / (A sqrt(k3/I)), K the complete elliptic integral."""
    amplitude, cubic = 0.7, 5.0
    period = 4 * ellipk(0.5) / (amplitude * math.sqrt(cubic / INERTIA))
    run = simulate(hinge(f'cubic_stiffness = "{cubic} N*m/rad^3"', amplitude), until=period, every=period / 2)
    assert run["arm.joint.angle"] == pytest.approx([amplitude, -amplitude, amplitude], abs=1e-10)
    assert np.ptp(run["system.energy"]) < 1e-12


def test_coulomb_friction_stops_a_body_in_the_closed_form_time():
    """Far above friction_rate the rate falls by F/I; then it decays to rest and does not turn back."""
    plant = Plant(hinge("friction = 0.4\nfriction_rate = 1e-4", rate=1.0))
    assert plant.step(2.0)["arm.joint.rate"] == pytest.approx(1.0 - 0.4 / INERTIA * 2.0, abs=1e-12)
    y = plant.step(6.0)
    assert abs(y["arm.joint.rate"]) < 1e-12
    assert y["arm.joint.angle"] == pytest.approx(0.5 * INERTIA / 0.4, rel=1e-3)
    assert abs(y["system.work_residual"]) < 1e-15


def test_a_stop_gives_back_the_energy_and_turns_the_body():
    laws = 'stop_lower = "-30 deg"\nstop_upper = "30 deg"\nstop_stiffness = 2000'
    run = simulate(hinge(laws, rate=1.0), until=6.0, every=0.01, step=1e-4)
    angle = run["arm.joint.angle"]
    assert np.ptp(run["system.energy"]) < 1e-7
    assert math.radians(30) < angle.max() < math.radians(33)
    assert -math.radians(33) < angle.min() < -math.radians(30)
    damped = simulate(hinge(laws + "\nstop_damping = 40", rate=1.0), until=6.0, every=0.01, step=1e-4)
    assert damped["system.energy"][-1] < 0.5 * damped["system.energy"][0]
    assert np.abs(damped["system.work_residual"]).max() < 1e-10


def test_what_a_model_does_not_ask_for_is_not_compiled_in():
    plain, rich = Plant(hinge("stiffness = 3")), Plant(hinge("friction = 0"))
    assert not any("friction" in name or "stop" in name for name in plain.parameter_names)
    assert {"arm.joint.friction", "arm.joint.friction_rate"} <= set(rich.parameter_names)
    assert not any("stop" in name for name in rich.parameter_names)


def test_laws_come_back_from_the_file_that_is_written():
    model = hinge("friction = 0.4\nstop_lower = -1\nstop_upper = 1\nstop_stiffness = 9\ncubic_stiffness = 0")
    assert loads(dumps(model)) == model
    assert model.bodies[0].joint.laws == ("cubic", "friction", "stops")
    assert model.bodies[0].joint.friction_rate == (1e-3,)


@pytest.mark.parametrize(
    ("laws", "path", "message"),
    [
        ("friction = -1", "friction", ">= 0, got -1"),
        ("friction = 1\nfriction_rate = 0", "friction_rate", "> 0, got 0"),
        ("friction_rate = 1", "friction", "is missing beside 'friction_rate'"),
        (
            "stop_lower = 0\nstop_upper = 1",
            "stop_stiffness",
            "is missing beside 'stop_lower'; give it too, or take out stop_lower, stop_upper",
        ),
        (
            "stop_stiffness = 3",
            "stop_lower",
            "is missing beside 'stop_stiffness'; give stop_lower or stop_upper, or both",
        ),
        ("stop_lower = 1\nstop_upper = 1\nstop_stiffness = 3", "stop_lower", "must be below stop_upper"),
        ('cubic_stiffness = "3 N*m/rad"', "cubic_stiffness", "N"),
        ("friction = [1, 2]", "friction", "has 2 values"),
    ],
)
def test_impossible_laws_are_refused(laws, path, message):
    with pytest.raises(ModelError) as caught:
        hinge(laws)
    (fault,) = caught.value.faults
    assert fault.path == f"body.arm.joint.{path}"
    assert message in str(fault)


def test_impossible_laws_are_refused_at_run_time_too():
    plant = Plant(hinge("friction = 1\nstop_lower = -1\nstop_upper = 1\nstop_stiffness = 3"))
    for name, bad, good in (("friction_rate", 0.0, 1e-3), ("stop_lower", 2.0, -1.0)):
        plant[f"arm.joint.{name}"] = bad
        with pytest.raises(VariableError, match=r"parameter 'arm\.joint\.\w+(\[4,1\])?': must be "):
            plant.step(0.1)
        plant[f"arm.joint.{name}"] = good
    plant.step(0.1)


HARNESS = '[["-90 deg", "0.4 N*m"], [0, 0], ["45 deg", "-0.1 N*m"], ["90 deg", "-0.4 N*m"]]'
RIGHT = math.pi / 2
TABLE = ((-RIGHT, 0.4), (0.0, 0.0), (RIGHT / 2, -0.1), (RIGHT, -0.4))


@pytest.mark.parametrize("formulation", ["order-n", "kane", "huston"])
def test_a_harness_pulls_as_its_table_says(formulation):
    plant = Plant(hinge(f"harness = {HARNESS}"), formulation=formulation)
    for angle in (-9.0, -RIGHT, -0.3, 0.0, 0.2, RIGHT / 2, 1.0, RIGHT, 1.7):
        torque = np.interp(angle, *zip(*TABLE, strict=True))
        assert plant.derivatives(0.0, [angle, 0.0]) == pytest.approx([0.0, torque / INERTIA], abs=1e-15)


def test_the_energy_of_a_harness_is_the_area_below_its_table():
    plant = Plant(hinge(f"harness = {HARNESS}\nfriction = 0.1", rate=0.5))
    areas = {-RIGHT - 0.5: 0.2 * RIGHT + 0.2, -RIGHT: 0.2 * RIGHT, -0.3: 0.3**2 * 0.2 / RIGHT, 0.0: 0.0,
             RIGHT / 2: 0.025 * RIGHT, RIGHT: 0.15 * RIGHT, RIGHT + 2.0: 0.15 * RIGHT + 0.8}  # fmt: skip
    for angle, area in areas.items():
        y = plant.outputs(0.0, [angle, 0.0])
        assert y["system.energy"] == pytest.approx(area, abs=1e-15)
        assert abs(plant.outputs(0.0, [angle, 0.7])["system.work_residual"]) < 1e-15


def test_a_body_on_a_harness_keeps_its_energy_and_turns_in_the_closed_form_time():
    """From rest beyond the end the torque is constant until the angle is the end's."""
    table = '[["-90 deg", "0.4 N*m"], ["90 deg", "-0.4 N*m"]]'
    time = math.sqrt(2 * 0.5 * INERTIA / 0.4)
    run = simulate(hinge(f"harness = {table}", RIGHT + 0.5), until=20 * time, every=time, step=time / 2000)
    assert run["arm.joint.angle"][1] == pytest.approx(RIGHT, abs=1e-12)
    assert np.ptp(run["system.energy"]) < 1e-8  # steps that pass a corner are of second order
    assert run["arm.joint.angle"].min() < -RIGHT


def test_a_harness_along_a_slide_is_of_metres_and_newtons():
    model = loads(
        HINGE.format(laws='harness = [["-10 cm", "2 N"], ["30 cm", "-2 N"]]', angle=0, rate=0)
        .replace("revolute", "prismatic").replace("joint.angle", "joint.displacement").replace("rate", "velocity")
    )  # fmt: skip
    plant = Plant(model)
    assert model.bodies[0].joint.harness == pytest.approx(np.array([(-0.1, 2.0), (0.3, -2.0)]))
    assert plant.derivatives(0.0, [0.0, 0.0])[1] == pytest.approx(1.0, abs=1e-15)
    assert plant.ports.by_name["arm.joint.harness"].units == ("m", "N") * 2
    head = 'mbdy = 1\n[body.arm]\nmass = 4\ninertia = [1, 1, 2]\n[body.arm.joint]\nto = "inertial"\n'
    ball = 'translation = [[0, 0, 1]]\nrotation = "spherical"\nharness = [[0, 1], [1, 2]]'
    assert Plant(loads(head + ball)).derivatives(0.0, [0.5, 1, 0, 0, 0, 0, 0, 0, 0])[5] == pytest.approx(1.5 / 4)


def test_a_harness_comes_back_from_the_file_that_is_written():
    model = hinge(f'harness = {HARNESS[:-2]}], ["370 deg", 0]]')
    assert loads(dumps(model)) == model
    assert model.bodies[0].joint.harness[:4] == pytest.approx(np.array(TABLE))


def test_the_numbers_of_a_harness_are_parameters_and_its_points_are_not():
    plant, plain = Plant(hinge(f"harness = {HARNESS}")), Plant(hinge(""))
    assert not any("harness" in name for name in plain.parameter_names)
    assert [n for n in plant.parameter_names if "harness" in n] == [
        f"arm.joint.harness[{k},{i}]" for k in (1, 2, 3, 4) for i in (1, 2)
    ]
    plant["arm.joint.harness[4,2]"] = "-1 N*m"
    assert plant.derivatives(0.0, [3.0, 0.0])[1] == pytest.approx(-0.5)
    plant["arm.joint.harness[3,1]"] = "90 deg"
    with pytest.raises(VariableError, match=r"parameter 'arm\.joint\.\w+(\[4,1\])?': must be "):
        plant.step(0.1)
    plant["arm.joint.harness[3,1]"] = "80 deg"
    plant.step(0.1)


@pytest.mark.parametrize(
    ("table", "place", "message"),
    [
        ("3", "", "two points or more, each a pair, got 3"),
        ("[[0, 1]]", "", "two points or more"),
        ("[[0, 1], [2]]", "", "each a pair"),
        ("[[0, 1], [1, 2], [1, 3]]", "[3][1]", "must be above 1 rad of the point before, got 1 rad"),
        ("[[1, 1], [0, 2]]", "[2][1]", "must be above 1 rad"),
        ('[["1 m", 1], [2, 2]]', "[1][1]", "rad"),
        ('[[1, 1], [2, "2 N"]]', "[2][2]", "N.m"),
        ("[[0, nan], [1, 2]]", "[1][2]", "finite"),
    ],
)
def test_impossible_harnesses_are_refused(table, place, message):
    with pytest.raises(ModelError) as caught:
        hinge(f"harness = {table}")
    (fault,) = caught.value.faults
    assert fault.path == f"body.arm.joint.harness{place}"
    assert message in str(fault)


def test_a_harness_is_for_joints_with_one_coordinate():
    for joint, message in (
        ('kind = "universal"\naxes = [[1, 0, 0], [0, 1, 0]]', "takes no 'harness'"),
        ("translation = [[1, 0, 0]]\nrotation = [[1, 0, 0]]", "exactly one distance or angle, this one has 2"),
    ):
        text = f'mbdy = 1\n[body.a]\nmass = 1\ninertia = [1, 1, 1]\n[body.a.joint]\nto = "inertial"\n{joint}\n'
        with pytest.raises(ModelError, match=message):
            loads(text + "harness = [[0, 1], [1, 0]]")
    with pytest.raises(ValueError, match="exactly one coordinate"):
        Joint(to="inertial", rotations=((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)), harness=((0.0, 1.0), (1.0, 0.0)))
    with pytest.raises(ValueError, match="two points or more"):
        Joint(to="inertial", rotations=((1.0, 0.0, 0.0),), harness=((0.0, 1.0),))


ROTOR = """
mbdy = 1
[body.bus]
mass = 10
inertia = [4, 5, 6]
joint = {{ to = "inertial", kind = "free" }}
[body.bus.wheel.z]
axis = [0, 0, 1]
inertia = 0.5
{laws}
[initial]
bus.z.speed = 10
"""


def rotor(laws: str):
    return loads(ROTOR.format(laws=laws))


def test_a_wheel_in_a_viscous_bearing_spins_down_exponentially():
    """The relative speed falls with the reduced inertia J (I - J) / I; the system keeps its momentum."""
    plant = Plant(rotor('damping = "0.2 N*m*s/rad"'))
    momentum = plant["system.angular_momentum"]
    y = plant.step(3.0)
    reduced = 0.5 * (6.0 - 0.5) / 6.0
    assert y["bus.z.speed"] == pytest.approx(10.0 * math.exp(-0.2 / reduced * 3.0), abs=1e-11)
    np.testing.assert_allclose(y["system.angular_momentum"], momentum, atol=1e-12)
    assert abs(y["system.work_residual"]) < 1e-14


def test_a_wheel_with_coulomb_friction_slows_at_a_constant_rate():
    plant = Plant(rotor("friction = 0.3"))
    reduced = 0.5 * (6.0 - 0.5) / 6.0
    assert plant.step(2.0)["bus.z.speed"] == pytest.approx(10.0 - 0.3 / reduced * 2.0, abs=1e-9)
    assert "bus.z.friction" in plant.parameter_names
    assert "bus.z.friction" not in Plant(rotor("")).parameter_names
    assert loads(dumps(plant.model)) == plant.model
    with pytest.raises(ModelError, match=r"body\.bus\.wheel\.z\.friction.*>= 0 N\.m, got -1"):
        rotor("friction = -1")


@pytest.mark.parametrize(("side", "sign"), [("lower", -1.0), ("upper", 1.0)])
def test_one_stop_is_enough(side: str, sign: float):
    """The other way the joint turns freely; at the stop it comes back with what it had."""
    model = hinge(f'stop_{side} = "{sign * 20} deg"\nstop_stiffness = 2000', rate=sign)
    assert loads(dumps(model)).bodies == model.bodies
    assert f"stop_{'upper' if side == 'lower' else 'lower'}" not in dumps(model)
    run = simulate(model, until=20.0, every=0.1, step=1e-3)
    assert run["arm.joint.rate"][-1] == pytest.approx(-sign, abs=1e-5)
    assert run["arm.joint.angle"][-1] * sign < -15.0
    verify(model, states=20)


def test_a_stop_never_pulls():
    """On the way out a strong damper would hold the body in the stop; the push ends at zero instead."""
    laws = "stop_lower = -1\nstop_upper = 0.5\nstop_stiffness = 500\nstop_damping = 400"
    for angle, rate in ((0.95, -2.8), (-1.45, 2.8)):
        plant = Plant(hinge(laws, angle=angle, rate=rate))
        assert plant.derivatives(0.0, plant.state)[1] == 0.0
        assert plant.derivatives(0.0, [angle, -rate])[1] * rate > 0.0
    with pytest.raises(VariableError, match=r"stop_damping.*>= 0"):
        plant["arm.joint.stop_damping"] = -1.0
