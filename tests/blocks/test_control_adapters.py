"""Blocks and plants in PathSim's diagrams and as systems of python-control, against runs without them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mbdy.blocks import (
    CelestialSensors,
    DeadSpace,
    Delay,
    EulerAngleSensor,
    GaussianNoise,
    HysteresisLoop,
    Integrator,
    Limiter,
    Plant,
    PulseTrain,
    RampSignal,
    SwitchingAmplifier,
    simulate_located,
    to_control,
    to_pathsim,
)
from mbdy.engine import Body, Joint, Model
from systems import diagonal

pytest.importorskip("pathsim")
import control
from pathsim import Connection, Simulation
from pathsim.blocks import Adder, Amplifier, Scope, Source
from pathsim.solvers import RK4, RKDP54

INERTIA, TORQUE = 2.0, 0.5
ZONE, GAIN, ON = 0.01, 0.5, 0.04
RATE = 0.5 * TORQUE * ON / INERTIA


def hinge(*, rate: float = 0.0, rest: float = 0.0, stiffness: float = 0.0) -> Model:
    joint = Joint(
        to="inertial",
        kind="revolute",
        rotations=((0.0, 0.0, 1.0),),
        stiffness=(stiffness,),
        damping=(0.0,),
        rest=(rest,),
    )
    body = Body(name="arm", mass=1.0, inertia=diagonal(1.0, 1.0, INERTIA), joint=joint)
    return Model(name="the hinge", bodies=(body,), initial={"arm.joint.rate": (rate,)})


def located(until: float):
    """The limit cycle as `simulate_located` has it."""
    amplifier = SwitchingAmplifier(ZONE, minimum_on=ON)

    def controller(t, y):
        level = amplifier.step(t, -y["arm.joint.angle"] - GAIN * y["arm.joint.rate"])
        return {"arm.joint.torque": TORQUE * level}

    return simulate_located(
        hinge(rate=RATE), until=until, every=0.5, controller=controller, blocks=[amplifier], step=0.05
    )


def test_a_limit_cycle_in_pathsim():
    """An adaptive solver finds the switches by the block's events."""
    plant = to_pathsim(
        Plant(hinge(rate=RATE)), inputs=["arm.joint.torque"], outputs=["arm.joint.angle", "arm.joint.rate"]
    )
    amplifier = to_pathsim(SwitchingAmplifier(ZONE, minimum_on=ON))
    angle, rate, torque = Amplifier(-1.0), Amplifier(-GAIN), Amplifier(TORQUE)
    total, scope = Adder(), Scope()
    connections = [
        Connection(plant["arm.joint.angle"], angle, scope[0]),
        Connection(plant["arm.joint.rate"], rate),
        Connection(angle, total[0]),
        Connection(rate, total[1]),
        Connection(total, amplifier["signal"]),
        Connection(amplifier["level"], torque, scope[1]),
        Connection(torque, plant["arm.joint.torque"]),
    ]
    blocks = [plant, amplifier, angle, rate, torque, total, scope]
    Simulation(blocks, connections, dt=0.05, dt_max=0.1, Solver=RKDP54, log=False).run(10.0)
    time, (_, level) = scope.read()
    begins = time[1:][(np.abs(np.diff(level)) > 0.5) & (level[1:] != 0.0)]
    wanted = [p.begin for p in located(10.0).pulses(0)]
    assert len(wanted) > 2
    np.testing.assert_allclose(begins, wanted, atol=1e-6)  # s: steps of the solver end within 1e-9 of each


def test_a_plant_in_pathsim_keeps_what_is_not_connected():
    """The rest angle of the spring is no port here, and stays."""
    plant = to_pathsim(Plant(hinge(rest=0.3, stiffness=18.0)), inputs=["arm.joint.torque"], outputs=["arm.joint.angle"])
    source, scope = Source(lambda t: 0.0), Scope()
    connections = [Connection(source, plant["arm.joint.torque"]), Connection(plant["arm.joint.angle"], scope)]
    Simulation([plant, source, scope], connections, dt=0.01, Solver=RK4, log=False).run(2.0)
    time, (angle,) = scope.read()
    np.testing.assert_allclose(angle, 0.3 * (1.0 - np.cos(3.0 * time)), atol=1e-7)


@pytest.mark.parametrize(
    "block",
    [
        Limiter(-0.5, 0.5),
        DeadSpace(-0.5, 0.5),
        HysteresisLoop(0.3),
        Integrator(0.2, high=0.6),
        Delay(0.25),
        HysteresisLoop(0.3).sampled(0.1),
    ],
    ids=repr,
)
def test_a_block_in_pathsim_steps_at_the_ends_of_steps(block):
    adapted, source, scope = to_pathsim(block), Source(math.sin), Scope()
    connections = [Connection(source, adapted[0]), Connection(adapted[0], scope)]
    Simulation([adapted, source, scope], connections, dt=0.02, Solver=RK4, log=False).run(3.0)
    time, (seen,) = scope.read()
    block.reset()
    wanted = [block.step(t, math.sin(t)) for t in time.tolist()]
    np.testing.assert_allclose(seen, wanted, atol=1e-12)


def test_sources_in_pathsim():
    pulses, ramp, noise = PulseTrain(0.5, 0.2), RampSignal(2.0, start=0.3), GaussianNoise(1.0, period=0.1, seed=3)
    adapted, scope = [to_pathsim(block) for block in (pulses, ramp, noise)], Scope()
    connections = [Connection(block["out"], scope[k]) for k, block in enumerate(adapted)]
    Simulation([*adapted, scope], connections, dt=0.033, Solver=RK4, log=False).run(2.0)
    time, rows = scope.read()
    np.testing.assert_allclose(rows[1], [ramp.value(t) for t in time], atol=1e-12)
    assert set(rows[0].tolist()) == {0.0, 1.0}
    assert np.mean(rows[0]) == pytest.approx(0.4, abs=0.05)
    assert len(set(rows[2].tolist())) == pytest.approx(21, abs=1)


def test_a_plant_in_python_control():
    plant = Plant(hinge(rest=0.3, stiffness=18.0), step=1e-3)
    system = to_control(plant, inputs=["arm.joint.torque"], outputs=["arm.joint.angle", "arm.joint.rate"])
    assert system.name == "the_hinge"
    assert system.input_labels == ["arm_joint_torque"]
    assert system.output_labels == ["arm_joint_angle", "arm_joint_rate"]
    times = np.linspace(0.0, 2.0, 101)
    seen = control.input_output_response(
        system, times, np.zeros(101), system.start, solve_ivp_kwargs={"rtol": 1e-10, "atol": 1e-12}
    )
    np.testing.assert_allclose(seen.outputs[0], 0.3 * (1.0 - np.cos(3.0 * times)), atol=1e-8)
    poles = control.linearize(system, system.start, [0.0]).poles()
    np.testing.assert_allclose(sorted(poles.imag), [-3.0, 3.0], atol=1e-4)


def test_a_sampled_loop_in_python_control():
    """Plant and amplifier in discrete time, interconnected: the very loop in plain calls."""
    period, model = 0.02, hinge(rate=RATE)
    plant = to_control(
        Plant(model, step=1e-2), period=period, inputs=["arm.joint.torque"],
        outputs=["arm.joint.angle", "arm.joint.rate"], name="plant",
    )  # fmt: skip
    amplifier = to_control(SwitchingAmplifier(ZONE, minimum_on=ON).sampled(period), name="jets")
    torque = control.ss([], [], [], [[TORQUE]], dt=period, inputs=["level"], outputs=["torque"], name="jet")
    loop = control.interconnect(
        [plant, amplifier, torque],
        connections=[
            ["jets.signal", "-plant.arm_joint_angle", ("plant", "arm_joint_rate", -GAIN)],
            ["jet.level", "jets.level"],
            ["plant.arm_joint_torque", "jet.torque"],
        ],
        inplist=[], outlist=["plant.arm_joint_angle", "jets.level"],
    )  # fmt: skip
    times = np.arange(251) * period
    seen = control.input_output_response(loop, times, 0, [*plant.start, *amplifier.start]).outputs

    own, jets, rows = Plant(model, step=1e-2), SwitchingAmplifier(ZONE, minimum_on=ON), []
    for t in times.tolist():
        level = jets.step(t, -float(own["arm.joint.angle"]) - GAIN * float(own["arm.joint.rate"]))
        rows.append((own["arm.joint.angle"], level))
        own["arm.joint.torque"] = TORQUE * level
        own.step(period)
    assert {row[1] for row in rows} == {-1.0, 0.0, 1.0}
    np.testing.assert_allclose(seen, np.array(rows).T, atol=1e-12)


@pytest.mark.parametrize("block", [Delay(0.25), HysteresisLoop(0.3), SwitchingAmplifier(0.5, minimum_on=0.2)], ids=repr)
def test_a_memory_in_python_control_is_its_state(block):
    system = to_control(block, period=0.1)
    assert system.dt == 0.1
    times = np.arange(40) * 0.1
    seen = control.input_output_response(system, times, np.sin(times), system.start).outputs
    block.reset()
    np.testing.assert_allclose(seen, [block.step(t, math.sin(t)) for t in times.tolist()], atol=1e-12)


def test_static_blocks_and_integrators_in_continuous_time():
    limiter, integrator = to_control(Limiter(-0.5, 0.5)), to_control(Integrator(0.2))
    times = np.linspace(0.0, 2.0, 201)
    loop = control.interconnect(
        [limiter, integrator], connections=[["Integrator.rate", "Limiter.out"]], inplist=["Limiter.signal"],
        outlist=["Integrator.out"], inputs=["u"], outputs=["y"],
    )  # fmt: skip
    seen = control.input_output_response(loop, times, np.full(201, 3.0), integrator.start).outputs
    np.testing.assert_allclose(seen, 0.2 + 0.5 * times, atol=1e-9)


def test_an_integrator_in_continuous_time_keeps_its_limits():
    """A solver's step ends beyond a limit; what comes out does not."""
    integrator = to_control(Integrator(high=0.5, low=-0.2))
    times = np.linspace(0.0, 5.5, 111)
    seen = control.input_output_response(integrator, times, np.cos(times), integrator.start).outputs
    assert seen.max() == 0.5
    assert seen.min() >= -0.2
    assert seen[-1] == pytest.approx(-0.2 + 1.0 + math.sin(5.5), abs=0.02)  # the solver's rtol is 1e-3


def test_a_sensor_is_given_no_rotation_where_nothing_has_come_yet():
    """Both tools hand on zeros before they have passed a plant's outputs on."""
    sensor = to_control(CelestialSensors())
    np.testing.assert_array_equal(sensor.output(0.0, [], np.zeros(4)), np.zeros(3))
    adapted, scope = to_pathsim(EulerAngleSensor()), Scope()
    Simulation([adapted, scope], [Connection(adapted[0], scope)], dt=0.1, Solver=RK4, log=False).run(0.3)
    assert not scope.read()[1].any()


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match=r"SwitchingAmplifier has a memory.*give a period"):
        to_control(SwitchingAmplifier(1.0))
    with pytest.raises(ValueError, match=r"sampled every 0\.1 s, got period 0\.2 s"):
        to_control(Limiter(0.0, 1.0).sampled(0.1), period=0.2)
    with pytest.raises(TypeError, match="a block or a Plant is needed, got 3"):
        to_pathsim(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"'arm\.joint\.angle' is no input"):
        to_control(Plant(hinge()), inputs=["arm.joint.angle"])
