"""Each control block against its closed form; memories come back, wrong arguments are named."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mbdy.blocks import (
    Block,
    DeadSpace,
    Delay,
    GaussianNoise,
    HingeDrive,
    HysteresisLoop,
    Integrator,
    Limiter,
    PulseTrain,
    RampSignal,
    Sampled,
    SensorErrors,
    StepError,
    StepSignal,
    SwitchingAmplifier,
    ThrusterPair,
    UniformNoise,
    VariableError,
)

EXACT = 1e-14  # rounding of a few sums
TIMES = np.arange(0, 401) * 0.01


def wave(t: float) -> float:
    return 2.0 * math.sin(1.7 * t) + 0.3 * math.sin(11.0 * t)


def outputs(block: Block, times=TIMES, signal=wave) -> np.ndarray:
    return np.array([block.step(t, *(signal(t) for _ in block.ins)) for t in np.asarray(times).tolist()])


def test_step_ramp_and_pulses():
    assert outputs(StepSignal(1.5, 3.0), [0.0, 1.4999, 1.5, 9.0]).tolist() == [0.0, 0.0, 3.0, 3.0]
    ramp = RampSignal(-2.0, start=1.0, end=3.0)
    assert outputs(ramp, [0.5, 1.0, 2.0, 3.0, 7.0]).tolist() == [0.0, 0.0, -2.0, -4.0, -4.0]
    assert [ramp.next_time(t) for t in (0.0, 1.0, 3.0)] == [1.0, 3.0, math.inf]
    pulses = PulseTrain(0.5, 0.2, start=1.0, height=4.0)
    edges, t = [], 0.0
    for _ in range(1000):
        t = pulses.next_time(t)
        edges.append(t)
        assert pulses.value(t) == (4.0 if len(edges) % 2 else 0.0)
    np.testing.assert_allclose(edges[::2], 1.0 + 0.5 * np.arange(500), rtol=1e-15)
    np.testing.assert_allclose(edges[1::2], 1.2 + 0.5 * np.arange(500), rtol=1e-15)
    assert pulses.value(0.9) == 0.0


def test_the_reports_ramp_is_a_ramp_less_a_step():
    """GM1C = INTEG(SLRAT (-1 + STEP(50)), GM1) of the report's Fig. 6, as it is written there."""
    rate, stop = Integrator(3.8, held=True), StepSignal(50.0)
    command = [rate.step(t, 0.01745329 * (-1.0 + stop.step(t))) for t in np.arange(0, 61.0).tolist()]
    np.testing.assert_allclose(command, 3.8 + outputs(RampSignal(-0.01745329, end=50.0), np.arange(61)), atol=EXACT)


def test_limiter_and_dead_space_share_out_the_input():
    seen, limited = outputs(DeadSpace(-0.5, 0.8)), outputs(Limiter(-0.5, 0.8))
    signal = np.array([wave(t) for t in TIMES])
    np.testing.assert_allclose(seen + limited, signal, atol=EXACT)
    np.testing.assert_array_equal(limited, np.clip(signal, -0.5, 0.8))
    assert np.all(seen[(signal > -0.5) & (signal < 0.8)] == 0.0)


def test_an_integrator_is_exact_for_lines_and_for_held_inputs():
    lines = outputs(Integrator(1.0), [0.0, 0.5, 2.0], lambda t: 3.0 * t - 1.0)
    np.testing.assert_allclose(lines, [1.0, 1.0 + 1.5 * 0.25 - 0.5, 1.0 + 1.5 * 4.0 - 2.0], atol=EXACT)
    held = outputs(Integrator(1.0, held=True), [0.0, 0.5, 2.0], lambda t: 2.0 if t < 0.4 else -1.0)
    np.testing.assert_allclose(held, [1.0, 2.0, 0.5], atol=EXACT)


def test_an_integrator_rests_at_a_limit_until_the_input_turns():
    """x' = 1 - t on [0, 2] with x <= 0.3: at the limit from 1 - sqrt(0.4) to t = 1, where the input turns."""
    coarse, fine = Integrator(high=0.3), Integrator(high=0.3)
    ends = [outputs(coarse, [0.0, 2.0], lambda t: 1.0 - t), outputs(fine, np.linspace(0, 2, 77), lambda t: 1.0 - t)]
    for end in ends:
        assert end[-1] == pytest.approx(0.3 - 0.5, abs=EXACT)
    assert outputs(Integrator(low=-0.1), [0.0, 5.0], lambda t: -1.0)[-1] == -0.1


def test_an_integrators_order_is_two():
    def error(n: int) -> float:
        times = np.linspace(0.0, 3.0, n + 1)
        return abs(outputs(Integrator(), times, math.cos)[-1] - math.sin(3.0))

    assert error(40) / error(80) == pytest.approx(4.0, abs=0.02)


def test_a_hysteresis_loop():
    loop = HysteresisLoop(0.4)
    signal = [0.0, 1.0, 0.7, 0.61, 0.5, -1.0, -0.65, -0.6, 0.0]
    wanted = [0.0, 0.8, 0.8, 0.8, 0.7, -0.8, -0.8, -0.8, -0.2]
    np.testing.assert_allclose([loop.step(k, one) for k, one in enumerate(signal)], wanted, atol=EXACT)


def test_a_hysteresis_loop_encloses_an_area():
    """A cycle between -A and A goes round width (2 A - width), however it is cut into calls."""
    width, stroke = 0.3, 2.0
    for count in (4001, 9973):
        signal = stroke * np.sin(np.linspace(0.5 * math.pi, 4.5 * math.pi, 2 * count))
        loop = HysteresisLoop(width)
        out = np.array([loop.step(k, one) for k, one in enumerate(signal.tolist())])[count:]
        last = signal[count:]
        area = -np.sum(0.5 * (out[1:] + out[:-1]) * np.diff(last))
        assert abs(area) == pytest.approx(width * (2 * stroke - width), rel=1e-3)


def test_a_delay_is_exact_for_lines_and_for_held_inputs():
    line = outputs(Delay(0.337, initial=-1.0), TIMES, lambda t: 2.0 + 3.0 * t)
    begun = TIMES >= 0.337
    np.testing.assert_allclose(line[begun], 2.0 + 3.0 * (TIMES[begun] - 0.337), atol=1e-12)
    assert np.all(line[~begun] == -1.0)
    delay = Delay(0.25, held=True)
    assert outputs(delay, [0.0, 0.1, 0.2, 0.25, 0.35, 0.4, 0.45], lambda t: 1.0 + t).tolist() == [
        0.0, 0.0, 0.0, 1.0, 1.1, 1.1, 1.2,
    ]  # fmt: skip
    assert delay.next_time(0.45) == 0.5
    assert outputs(Delay(0.03), TIMES)[-1] == pytest.approx(wave(TIMES[-4]), abs=1e-9)


def test_a_second_call_at_an_instant_replaces_the_first():
    delay = Delay(1.0)
    delay.step(0.0, 5.0)
    delay.step(0.0, 7.0)
    assert delay.step(1.0, 0.0) == 7.0


def test_a_hinge_drive_is_the_reports_law():
    assert HingeDrive.platform().step(0.0, 0.1, 0.3, -0.2) == pytest.approx(-3500 * 0.2 + 20 * 0.2)
    drive = HingeDrive.boom()
    assert drive.step(0.0, 0.0, 0.01, 0.5) == pytest.approx(-2000 * 0.01 - 10 * 0.5)
    assert drive.parameters("boom.joint") == {"boom.joint.stiffness": 2000.0, "boom.joint.damping": 10.0}


def test_a_thruster_pair():
    pair = ThrusterPair(0.23, [0, 0, -2])
    np.testing.assert_array_equal(pair.step(0.0, 1.0), [0, 0, -0.23])
    np.testing.assert_array_equal(pair.step(0.02, 0.0), [0, 0, 0])
    np.testing.assert_array_equal(pair.step(1.0, -1.0), [0, 0, 0.23])
    pair.step(1.05, -1.0)
    assert pair.impulse == pytest.approx(0.23 * 0.07)
    assert pair.firings == 2


STATEFUL = [
    SwitchingAmplifier(0.5, hysteresis=0.1, minimum_on=0.05),
    Integrator(0.2, low=-0.5, high=1.0),
    HysteresisLoop(0.3),
    Delay(0.123),
    Delay(0.123, held=True),
    ThrusterPair(1.0, [1, 0, 0]),
    SwitchingAmplifier(0.5, minimum_on=0.05).sampled(0.03),
    Delay(0.2).sampled(0.05),
]


@pytest.mark.parametrize("block", STATEFUL, ids=repr)
def test_a_memory_comes_back(block: Block):
    block.reset()
    first = outputs(block)
    block.reset()
    np.testing.assert_array_equal(outputs(block), first)
    block.reset()
    outputs(block, TIMES[:200])
    saved = block.save()
    seen = block.look(TIMES[200], wave(TIMES[200]))
    np.testing.assert_array_equal(block.save(), saved)
    np.testing.assert_array_equal(seen, first[200])
    outputs(block, TIMES[200:300])
    block.restore(saved)
    np.testing.assert_array_equal(outputs(block, TIMES[200:]), first[200:])
    assert len(block.save()) <= block.largest_memory(0.01)


@pytest.mark.parametrize("block", STATEFUL, ids=repr)
def test_time_does_not_go_back(block: Block):
    block.reset()
    block.step(1.0, 0.1)
    with pytest.raises(StepError, match=r"time must not go back, got 0\.5 s after 1\.0 s"):
        block.step(0.5, 0.1)


@pytest.mark.parametrize("block", STATEFUL[:6], ids=repr)
def test_an_input_that_is_not_finite_is_named(block: Block):
    block.reset()
    with pytest.raises(VariableError, match=rf"{type(block).__name__}: input '\w+' must be finite, got nan"):
        block.step(0.0, math.nan)


@pytest.mark.parametrize("block", STATEFUL, ids=repr)
def test_an_input_that_is_refused_leaves_no_trace(block: Block):
    block.reset()
    outputs(block, TIMES[:10])
    saved = block.save()
    for wrong in (math.nan, math.inf, "x", None, [1.0, 2.0]):
        with pytest.raises(VariableError, match=r"input '\w+' must be (finite|one number), got"):
            block.step(0.4, wrong)
    np.testing.assert_array_equal(block.save(), saved)


@pytest.mark.parametrize("block", [*STATEFUL, Limiter(0.0, 1.0)], ids=repr)
def test_the_memory_of_another_block_is_refused(block: Block):
    inner = block.block if isinstance(block, Sampled) else block
    for other in (np.array([0.5]), np.zeros((2, 2)), np.full(9, -1.5)):
        with pytest.raises(VariableError, match=rf"({type(block).__name__}|{type(inner).__name__}): a memory must be"):
            block.restore(other)


def test_a_limit_may_be_left_out():
    signal = np.array([wave(t) for t in TIMES])
    np.testing.assert_array_equal(outputs(Limiter(None, 1.0)), np.minimum(signal, 1.0))
    np.testing.assert_array_equal(outputs(Limiter(-0.2, None)), np.maximum(signal, -0.2))
    np.testing.assert_array_equal(outputs(DeadSpace(None, 1.0)), np.maximum(signal - 1.0, 0.0))


def test_a_sampled_block_holds():
    block = Integrator(held=False).sampled(0.5)
    seen = outputs(block, np.arange(0, 21) * 0.1, lambda t: 2.0 * t)
    np.testing.assert_allclose(seen, np.floor(np.arange(21) / 5 + 1e-9) ** 2 * 0.25, atol=EXACT)
    assert block.next_time(0.7) == 1.0
    assert block.next_time(1.0) == 1.5


def test_a_clock_of_sums_skips_no_sample():
    """Sums of 1 ms fall short of whole ones, by 1.4e-9 s at 100 s."""
    block, t = Integrator(held=True).sampled(1e-3), 0.0
    integrals = []
    for _ in range(100_001):
        integrals.append(block.step(t, 1.0))
        t += 1e-3
    np.testing.assert_allclose(integrals, np.arange(100_001) * 1e-3, atol=1e-9)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: StepSignal(math.inf), "StepSignal: start must be finite, got inf"),
        (lambda: StepSignal("1 m"), "StepSignal: start must be a number in s, but 'm' is a unit of something else"),
        (lambda: StepSignal(1.0, "1 s"), "StepSignal: height must be a number in SI, got '1 s'"),  # type: ignore[arg-type]
        (lambda: RampSignal(1.0, start=2.0, end=1.0), "RampSignal: end must be >= 2, got 1.0"),
        (lambda: PulseTrain(0.0, 1.0), "PulseTrain: period must be > 0, got 0.0"),
        (lambda: PulseTrain(1.0, 2.0), r"PulseTrain: period \(beside a width\) must be >= 2, got 1.0"),
        (lambda: Limiter(1.0, 0.0), "Limiter: high must not be below low, got 0.0 below 1.0"),
        (lambda: DeadSpace(1.0, 0.0), "DeadSpace: high must not be below low, got 0.0 below 1.0"),
        (lambda: Integrator(low=1.0, high=0.0), "Integrator: high must not be below low, got 0.0 below 1.0"),
        (lambda: Integrator(2.0, high=1.0), "Integrator: initial must be between -inf and 1.0, got 2.0"),
        (lambda: HysteresisLoop(-1.0), "HysteresisLoop: width must be >= 0, got -1.0"),
        (lambda: Delay(0.0), "Delay: time must be > 0, got 0.0"),
        (lambda: SwitchingAmplifier(-1.0), "SwitchingAmplifier: dead_zone must be >= 0, got -1.0"),
        (lambda: SwitchingAmplifier(1.0, hysteresis=2.5), r"hysteresis must be <= twice the dead zone \(2\)"),
        (lambda: SwitchingAmplifier(1.0, minimum_on=-0.1), "minimum_on must be >= 0, got -0.1"),
        (lambda: ThrusterPair(1.0, [0, 0, 0]), "ThrusterPair: axis must be three numbers, not all zero"),
        (lambda: HingeDrive(-1.0, 0.0), "HingeDrive: stiffness must be >= 0, got -1.0"),
        (lambda: GaussianNoise(1.0, period=0.1, seed=-1), "GaussianNoise: seed must be a whole number >= 0, got -1"),
        (lambda: GaussianNoise(1.0, period=0.1, seed=2**130), r"GaussianNoise: seed must be below 2\*\*128, got 1361"),
        (lambda: UniformNoise(1.0, 0.0, period=0.1, seed=1), "UniformNoise: high must be >= 1, got 0.0"),
        (lambda: UniformNoise(0.0, 1.0, period=0.1, seed=1, size=0), "size must be a whole number >= 1, got 0"),
        (lambda: SensorErrors(bias=[0.0, 1.0]), "SensorErrors: bias must be one number or three, got 2"),
        (lambda: SensorErrors(deviation=1.0), "SensorErrors: noise needs period"),
        (lambda: Limiter(0.0, 1.0).sampled(0.0), "Sampled: period must be > 0, got 0.0"),
    ],
)
def test_wrong_arguments_are_named(made, said):
    with pytest.raises(VariableError, match=said):
        made()
