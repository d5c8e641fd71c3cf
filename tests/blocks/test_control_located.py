"""Switching amplifiers beside a plant: closed-form limit cycles, the order of located switches, the report's jets."""

from __future__ import annotations

import math
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from mbdy.blocks import (
    Block,
    CelestialSensors,
    Delay,
    DerivedRate,
    Integrator,
    Plant,
    PulseTrain,
    SimulationError,
    SwitchingAmplifier,
    VariableError,
    simulate,
    simulate_located,
)
from mbdy.blocks.control.crossing import crossing
from mbdy.blocks.control.dense import DenseStep
from mbdy.engine import Body, Joint, Model, ModelWarning, load
from systems import chain, diagonal

INERTIA, TORQUE = 2.0, 0.5
LOCATED = 5e-9  # s: the tolerance of a place on the dense output, some times over


def hinge(*, angle: float = 0.0, rate: float = 0.0, stiffness: float = 0.0) -> Model:
    """One body on a hinge to inertial: 2 kg.m2 angle'' = torque - stiffness angle."""
    joint = Joint(
        to="inertial",
        kind="revolute",
        rotations=((0.0, 0.0, 1.0),),
        stiffness=(stiffness,),
        damping=(0.0,),
        rest=(0.0,),
    )
    body = Body(name="arm", mass=1.0, inertia=diagonal(1.0, 1.0, INERTIA), joint=joint)
    return Model(name="hinge", bodies=(body,), initial={"arm.joint.angle": (angle,), "arm.joint.rate": (rate,)})


class Loop:
    """An amplifier on -angle - gain rate that drives the hinge."""

    def __init__(self, amplifier: Block, gain: float = 0.0) -> None:
        self.amplifier, self.gain = amplifier, gain
        self.blocks = [amplifier]

    def __call__(self, t, y):
        error = -y["arm.joint.angle"] - self.gain * y["arm.joint.rate"]
        return {"arm.joint.torque": TORQUE * self.amplifier.step(t, error)}


def test_steps_by_a_tolerance_find_switches_of_a_swing():
    """Its angle leaves the zone of an amplifier that drives nothing and comes back, each at the arc of a cosine."""
    amplifier = SwitchingAmplifier(0.5)
    model, loop = hinge(angle=1.0, stiffness=INERTIA), Loop(amplifier)
    free = lambda t, y: {"arm.joint.torque": 0.0 * loop(t, y)["arm.joint.torque"]}  # noqa: E731
    plant = Plant(model, integrator="dopri5", tolerance=1e-12, interpolation="linear")
    found = simulate_located(plant, until=6.0, every=1.0, controller=free, blocks=[amplifier])
    times = [math.pi * third / 3 for third in (1, 2, 4, 5)]
    np.testing.assert_allclose([s.time for s in found.switches if s.time], times, atol=LOCATED)


@pytest.mark.parametrize("how", [{"step": 0.1}, {"integrator": "dopri5"}], ids=["rk4", "dopri5"])
def test_the_limit_cycle_of_a_double_integrator_with_a_minimum_on_time(how):
    """Each pulse turns the rate over, half a minimum impulse to the other sign; between them it coasts through the
    zone: a cycle of 2 (2 (zone - gain w)/w + minimum on time)."""
    zone, gain, on = 0.01, 0.5, 0.04
    w = 0.5 * TORQUE * on / INERTIA
    model = hinge(rate=w)
    amplifier = SwitchingAmplifier(zone, minimum_on=on)
    located = simulate_located(model, until=40.0, every=0.5, controller=Loop(amplifier, gain), **how)
    coast = 2.0 * (zone - gain * w) / w
    begins = 0.5 * coast + (coast + on) * np.arange(len(located.pulses(0)))
    assert len(begins) > 8
    np.testing.assert_allclose([p.begin for p in located.pulses(0)], begins, atol=20 * LOCATED)  # errors add up
    lengths = [p.end - p.begin for p in located.pulses(0) if p.end is not None]
    np.testing.assert_allclose(lengths, on, atol=1e-12)
    assert [p.sign for p in located.pulses(0)] == [-1.0, 1.0] * (len(begins) // 2) + [-1.0] * (len(begins) % 2)
    assert np.abs(located.run["arm.joint.rate"]).max() < w * (1 + 1e-6)


def test_the_limit_cycle_of_a_double_integrator_with_hysteresis():
    """On at angle + gain rate = zone, off at zone - hysteresis: with rate w before, the rate after a pulse that begins
    at s = angle + gain w follows from s' = rate - gain a and rate' = -a."""
    zone, hysteresis, gain, w, a = 0.01, 0.004, 0.5, 0.01, TORQUE / INERTIA
    amplifier = SwitchingAmplifier(zone, hysteresis=hysteresis)
    located = simulate_located(hinge(rate=w), until=4.0, every=0.5, controller=Loop(amplifier, gain), step=0.1)
    begin = (zone - gain * w) / w
    slope = w - gain * a  # s falls from the zone on: slope t - a t^2/2 = -hysteresis
    length = (slope + math.sqrt(slope**2 + 2.0 * a * hysteresis)) / a
    (first, *_) = located.pulses(0)
    assert first.sign == -1.0
    assert (first.begin, first.end) == (pytest.approx(begin, abs=LOCATED), pytest.approx(begin + length, abs=LOCATED))


def test_derived_rate_pulses():
    """A constant input E: the lag charges between E - zone and E - zone + hysteresis, and discharges back."""
    zone, hysteresis, signal, gain, charge, discharge = 1.0, 0.2, 1.5, 2.0, 0.3, 0.8
    amplifier = SwitchingAmplifier(
        zone, hysteresis=hysteresis, derived_rate=DerivedRate(gain, charge=charge, discharge=discharge)
    )

    def controller(t, y):
        return {"arm.joint.torque": amplifier.step(t, signal)}

    located = simulate_located(
        hinge(), until=5.0, every=0.5, controller=controller, blocks=[amplifier], step=0.05, tolerance=1e-12
    )
    low, high = signal - zone, signal - zone + hysteresis
    on = charge * math.log((gain - low) / (gain - high))
    off = discharge * math.log(high / low)
    pulses = located.pulses(0)
    assert pulses[0].begin == 0.0
    assert pulses[0].end == pytest.approx(charge * math.log(gain / (gain - high)), abs=1e-10)
    lengths = [p.end - p.begin for p in pulses[1:] if p.end is not None]
    gaps = [b.begin - a.end for a, b in pairwise(pulses) if a.end is not None]
    np.testing.assert_allclose(lengths, on, atol=1e-10)
    np.testing.assert_allclose(gaps, off, atol=1e-10)


def test_the_amplifier_alone():
    amplifier = SwitchingAmplifier(1.0, hysteresis=0.3, minimum_on=0.5)
    times = [0.0, 0.1, 0.2, 0.3, 0.7, 0.8, 0.9, 1.5, 1.6]
    signal = [1.0, 1.1, 0.9, 0.0, 0.75, 0.6, -1.2, -0.5, 1.2]
    seen = [amplifier.step(t, s) for t, s in zip(times, signal, strict=True)]
    assert seen == [0.0, 1.0, 1.0, 1.0, 1.0, 0.0, -1.0, 0.0, 1.0]
    assert amplifier.next_time(1.6) == 2.1
    again = SwitchingAmplifier(0.1)
    assert [again.step(t, s) for t, s in ((0.0, 0.2), (1.0, -0.2))] == [1.0, -1.0]  # off, and on again at once


SPRING = 18.0  # N.m/rad: 3 rad/s


@pytest.mark.parametrize(("sample", "order"), [(None, 4), ("step", 1)])
def test_the_order_of_a_switch(sample, order):
    """A swing cos 3t passes 0.3 downwards; the error of the instant falls as RK4's, or as the sample where sampled."""
    wanted = math.acos(0.3) / 3.0

    def late(step: float) -> float:
        amplifier = SwitchingAmplifier(0.7)
        block = amplifier if sample is None else amplifier.sampled(step)

        def controller(t, y):
            return {"arm.torque": [0.0, 0.0, 0.0 * block.step(t, 1.0 - y["arm.joint.angle"])]}

        model = hinge(angle=1.0, stiffness=SPRING)
        located = simulate_located(
            model, until=0.5, every=0.5, controller=controller, blocks=[block], step=step, tolerance=1e-13
        )
        first = located.first(0)
        assert first is not None
        return first - wanted

    steps = 0.1 / 2 ** np.arange(4)
    errors = np.abs([late(step) for step in steps])
    if order == 4:
        np.testing.assert_allclose(np.log2(errors[:-1] / errors[1:]), order, atol=0.25)
    else:
        assert np.all(errors <= steps)
        assert errors[-1] > 1e-4


def test_dense_output_is_of_fourth_order():
    model = chain(2, seed=3)

    def error(step: float) -> float:
        plant, fine = Plant(model, step=step, interpolation="linear"), Plant(model, step=1e-3)
        x, u = plant.state, plant.inputs.values.copy()
        plant.step(step)
        dense = DenseStep(plant, 0.0, step, x, plant.state, u, u)
        fine.step(0.3 * step)
        return float(np.abs(dense.state(0.3 * step) - fine.state).max())

    errors = [error(step) for step in (0.2, 0.1, 0.05)]
    np.testing.assert_allclose(np.log2([a / b for a, b in pairwise(errors)]), 4.0, atol=0.4)


@pytest.mark.parametrize("function", [lambda t: t - 0.3, lambda t: t**9 - 1e-4, lambda t: math.copysign(1, t - 0.7)])
def test_a_crossing_is_told_from_the_far_side(function):
    found = crossing(function, 0.0, 1.0, 1e-12)
    assert function(found) > 0.0
    assert function(found - 1.1e-12) <= 0.0
    assert crossing(lambda t: 1.0, 0.2, 1.0, 1e-12) == 0.2


def test_without_a_switch_it_is_simulate():
    """The same steps, so the same bits; a table goes as there."""
    table = {"time": [0.0, 0.333, 1.0], "arm.joint.torque": [0.0, 1.0, -1.0]}
    model = hinge(angle=0.1, stiffness=SPRING)
    for linear in (False, True):
        plain = simulate(model, until=1.0, every=0.1, inputs=table, linear=linear, step=0.01)
        located = simulate_located(
            model, until=1.0, every=0.1, inputs=table, linear=linear, step=0.01, controller=lambda t, y: None, blocks=[]
        )
        np.testing.assert_allclose(located.run.values, plain.values, atol=1e-13)
        np.testing.assert_array_equal(located.run.time, plain.time)


def test_held_signals_are_ends_of_steps():
    """A pulse train, delayed: the rate is the integral of torque over inertia to the last bit of its edges."""
    pulses, delay, integral = PulseTrain(0.25, 0.1, start=0.07), Delay(0.033, held=True), Integrator(held=True)

    def controller(t, y):
        torque = delay.step(t, pulses.step(t))
        integral.step(t, torque)
        return {"arm.joint.torque": torque}

    located = simulate_located(
        hinge(), until=1.0, every=1.0, controller=controller, blocks=[pulses, delay, integral], step=0.04
    )
    assert located.run["arm.joint.rate"][-1] == pytest.approx(0.4 / INERTIA, abs=1e-12)
    assert integral.save()[-1] == pytest.approx(0.4, abs=1e-12)


def test_a_sampled_amplifier_switches_at_samples():
    amplifier = SwitchingAmplifier(0.01, minimum_on=0.04).sampled(0.05)
    located = simulate_located(
        hinge(rate=0.013), until=5.0, every=0.5, controller=lambda t, y: {
            "arm.joint.torque": TORQUE * amplifier.step(t, -y["arm.joint.angle"])}, blocks=[amplifier], step=0.02,
    )  # fmt: skip
    times = np.array([switch.time for switch in located.switches]) / 0.05
    assert len(times) > 3
    np.testing.assert_allclose(times, np.round(times), atol=1e-9)


def test_a_controller_of_simulate_is_a_sampled_one():
    """Where every step is a sample, located or not is one."""
    options = {"until": 6.0, "every": 0.1, "step": 0.02}
    sampled = Loop(SwitchingAmplifier(0.01, minimum_on=0.04).sampled(0.02), 0.5)
    located = simulate_located(hinge(rate=0.013), controller=sampled, **options)
    plain = simulate(hinge(rate=0.013), controller=Loop(SwitchingAmplifier(0.01, minimum_on=0.04), 0.5), **options)
    assert len(located.pulses(0)) > 2
    np.testing.assert_allclose(located.run.values, plain.values, atol=1e-12)


def test_a_block_that_is_no_longer_called_does_nothing():
    """A controller that leaves the amplifier out as soon as it has switched."""
    amplifier = SwitchingAmplifier(0.01)

    def controller(t, y):
        if not amplifier.level:
            amplifier.step(t, y["arm.joint.angle"])
        return {"arm.joint.torque": 0.0}

    located = simulate_located(
        hinge(rate=0.1), until=1.0, every=1.0, controller=controller, blocks=[amplifier], step=0.03
    )
    assert located.first(0) == pytest.approx(0.1, abs=LOCATED)
    assert len(located.switches) == 1


def test_chatter_is_told():
    amplifier = SwitchingAmplifier(0.0)

    def controller(t, y):
        return {"arm.joint.torque": amplifier.step(t, -y["arm.joint.rate"])}

    with pytest.raises(SimulationError, match=r"switch more than 1000 times .* hysteresis or a minimum on time"):
        simulate_located(hinge(rate=0.1), until=5.0, every=1.0, controller=controller, blocks=[amplifier], step=0.1)


def test_a_result_has_plain_numbers_and_only_its_own_blocks():
    loop = Loop(SwitchingAmplifier(0.01, minimum_on=0.05), gain=0.5)
    located = simulate_located(hinge(rate=0.02), until=2.0, controller=loop, step=0.05)
    assert located.pulses(0)
    assert {type(s.time) for s in located.switches} | {type(p.begin) for p in located.pulses(0)} == {float}
    assert {type(p.end) for p in located.pulses(0)[:-1]} <= {float}
    assert type(located.first(0)) is float
    for place in (1, 5, -1):
        for ask in (located.pulses, located.first):
            with pytest.raises(IndexError, match=rf"a place in `blocks`, which has 1, from 0 on, got {place}"):
                ask(place)


def test_wrong_arguments_are_named():
    amplifier = SwitchingAmplifier(0.1)
    loop = Loop(amplifier)
    with pytest.raises(ValueError, match='needs a plant made with interpolation="linear"'):
        simulate_located(Plant(hinge()), until=1.0, controller=loop)
    with pytest.raises(ValueError, match="blocks: name the controller's blocks"):
        simulate_located(hinge(), until=1.0, controller=lambda t, y: None)
    with pytest.raises(ValueError, match="blocks: number 0 is no block but 3"):
        simulate_located(hinge(), until=1.0, controller=loop, blocks=[3])  # type: ignore[list-item]
    with pytest.raises(SimulationError, match="which the table of inputs gives too"):
        simulate_located(hinge(), until=1.0, controller=loop, inputs={"time": [0.0], "arm.joint.torque": [0.0]})
    with pytest.raises(VariableError, match="no output matches"):
        simulate_located(hinge(), until=1.0, controller=loop, outputs=["nothing"])
    amplifier = SwitchingAmplifier(0.1)
    with pytest.raises(ValueError, match=r"blocks: number 1 is number 0 again, <Switch.*; name each block once"):
        simulate_located(hinge(), until=1.0, controller=Loop(amplifier), blocks=[amplifier, amplifier])
    with pytest.raises(SimulationError, match=r"time must not go back.*name the block in `blocks`"):
        simulate_located(hinge(rate=1.0), until=1.0, controller=Forgotten(), step=0.1)


class Forgotten(Loop):
    """A loop that does not tell of its integrator."""

    def __init__(self) -> None:
        super().__init__(SwitchingAmplifier(0.03))
        self.integral = Integrator()

    def __call__(self, t, y):
        self.integral.step(t, y["arm.joint.angle"])
        return super().__call__(t, y)


FIVE_BODY = Path(__file__).parents[2] / "examples" / "five_body_spacecraft"
FIRST_PULSES = (18.41794, 4.60882, 32.23540)  # s, axes 1 to 3, switching instants located by an independent program
FIRST_TOLERANCE = 1e-4  # s
COARSE = 10e-3  # s: leaves 1.2e-5 s; 20 ms would just meet the tolerance


class Jets:
    """The report's three loops (JPL TR 32-1592, Fig. 5)."""

    def __init__(self) -> None:
        self.sensors = CelestialSensors()
        self.blocks = [SwitchingAmplifier(0.005, minimum_on=0.020) for _ in range(3)]

    def __call__(self, t, y):
        errors = -self.sensors.step(t, y["bus.attitude"]) - 2.0 * y["bus.omega"]
        torques = zip((0.23, 0.21, 0.31), self.blocks, errors.tolist(), strict=True)
        return {"bus.torque": [torque * amplifier.step(t, error) for torque, amplifier, error in torques]}


@pytest.fixture(scope="module")
def vehicle() -> Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # told of and explained in its own test
        return load(FIVE_BODY / "five_body.toml")


def slew() -> dict[str, list[float]]:
    """The platform's commands: 1 deg/s for 50 s."""
    yoke, platform, turned = 218 / 57.2957795, -30 / 57.2957795, 50 * 0.01745329
    return {
        "time": [0.0, 50.0],
        "yoke.joint.rest": [yoke, yoke - turned],
        "platform.joint.rest": [platform, platform + turned],
    }


def test_first_pulses_of_the_reports_first_case(vehicle: Model):
    located = simulate_located(
        vehicle,
        until=32.3,
        every=0.1,
        controller=Jets(),
        inputs=slew(),
        linear=True,
        step=COARSE,
        outputs=["bus.omega"],
    )
    firsts = [located.first(axis) for axis in range(3)]
    np.testing.assert_allclose(np.array(firsts, dtype=float), FIRST_PULSES, rtol=0, atol=FIRST_TOLERANCE)
    assert np.argsort(firsts).tolist() == [1, 0, 2]  # the second axis begins, the third comes last
    assert all(p.end is None or p.end - p.begin > 0.020 - 1e-9 for axis in range(3) for p in located.pulses(axis))


@pytest.mark.slow
def test_every_pulse_of_the_reports_first_case(vehicle: Model):
    """The same rule with its instants located: as many pulses in 60 s as the independent program has, 110, 154, 18."""
    jets = Jets()
    located = simulate_located(
        vehicle, until=60.0, every=0.5, controller=jets, inputs=slew(), linear=True, step=5e-3, outputs=["bus.attitude"]
    )
    assert [len(located.pulses(axis)) for axis in range(3)] == [110, 154, 18]
    angles = np.array([jets.sensors.step(0.0, q) for q in located.run["bus.attitude"]])
    assert np.abs(angles).max() < 0.005  # rad: the report's dead band
