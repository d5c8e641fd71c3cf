"""Closed loops against mechanisms known from elsewhere: published values, closed forms, what is conserved."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mechanisms
from mbdy.blocks import Plant, simulate
from mbdy.engine import Model

ANDREWS = 1e-7  # relative, of angles and rates after 0.03 s; the published digits are good to 1e-9
CLOSED = 1e-8  # m, rad: drift of closure under RK4 at 1 ms, held back by Baumgarte's terms
MOVING = 1e-9
LASTING = 1e-10  # m, rad, and in a second: what settling at the end of each communication step leaves


def residual(run, *loops: str) -> float:
    return max(float(np.abs(run[f"loop.{loop}.residual"]).max()) for loop in loops)


def drift(values: np.ndarray) -> float:
    return float(np.abs(values - values[0]).max())


@pytest.fixture(scope="module")
def squeezer():
    plant = Plant(mechanisms.andrews(), step=4e-6)
    plant["k1.joint.torque"] = mechanisms.ANDREWS_TORQUE
    return simulate(plant, until=0.03, every=0.001)


def test_andrews_squeezer_starts_as_published():
    plant = Plant(mechanisms.andrews(), step=1e-7)
    plant["k1.joint.torque"] = mechanisms.ANDREWS_TORQUE
    plant.step(1e-6)
    rates = [plant[f"{body}.joint.rate"] / 1e-6 for body in ("k1", "k2")]
    np.testing.assert_allclose(np.squeeze(rates), mechanisms.ANDREWS_ACCELERATIONS, rtol=1e-6)


def test_andrews_squeezer_ends_as_published(squeezer):
    last = dict(zip(squeezer.names, squeezer.values[-1], strict=True))
    angles, rates = (mechanisms.andrews_angles(last, what) for what in ("angle", "rate"))
    np.testing.assert_allclose(angles, mechanisms.ANDREWS_END, rtol=ANDREWS)
    np.testing.assert_allclose(rates, mechanisms.ANDREWS_END_RATES, rtol=ANDREWS, atol=1e-6)
    assert residual(squeezer, "b", "e3", "e4", "e6") < 1e-12


def test_andrews_squeezer_gains_the_work_of_its_torque(squeezer):
    work = mechanisms.ANDREWS_TORQUE * squeezer["k1.joint.angle"].ravel()
    np.testing.assert_allclose(
        squeezer["system.energy"].ravel() - work, squeezer["system.energy"][0] - work[0], atol=1e-9
    )


def test_bricard_keeps_its_energy_and_its_closed_form():
    """One of six redundant rows: the odd hinges fall as one, the even ones as the ring makes them."""
    run = simulate(mechanisms.bricard(), until=10.0, every=0.1, step=1e-3)
    odd, even, rate = (run[name].ravel() for name in ("rod1.joint.angle", "rod2.joint.angle", "rod1.joint.rate"))
    for other in ("rod3", "rod5"):
        np.testing.assert_allclose(run[f"{other}.joint.angle"].ravel(), odd, atol=MOVING)
    np.testing.assert_allclose(even, [mechanisms.bricard_even(angle) for angle in odd], atol=MOVING)
    np.testing.assert_allclose(np.abs(rate), [mechanisms.bricard_rate(angle) for angle in odd], atol=1e-7)
    assert odd.min() < -3.14, "it folds over"
    assert drift(run["system.energy"]) < CLOSED
    assert residual(run, "ring") < CLOSED


def falls_as_one_pendulum(count: int, *, until: float, step: float, atol: float) -> None:
    """Runs ``count`` four-bars side by side against the equation of their pendulum."""
    run = simulate(mechanisms.n_four_bars(count), until=until, every=0.05, step=step)

    def falling(_, y: np.ndarray) -> tuple[float, float]:
        return y[1], mechanisms.n_four_bars_acceleration(count, y[0])

    exact = solve_ivp(falling, (0.0, until), [0.0, -1.0], method="DOP853", rtol=1e-12, atol=1e-13, t_eval=run.time)
    for pillar in (0, count):
        np.testing.assert_allclose(run[f"pillar{pillar}.joint.angle"].ravel(), exact.y[0], atol=atol)
    assert run["pillar0.joint.angle"].min() < -2 * np.pi, "it passes both level positions, where it has more freedoms"
    energy = run["system.energy"].ravel()
    assert drift(energy) < 1e-6 * energy[0]
    assert residual(run, *(f"top{k + 1}" for k in range(count))) < CLOSED


@pytest.mark.parametrize(("count", "until"), [(2, 10.0), pytest.param(10, 5.0, marks=pytest.mark.slow)])
def test_four_bars_side_by_side_fall_as_one_pendulum(count: int, until: float):
    falls_as_one_pendulum(count, until=until, step=1e-3, atol=1e-5)


@pytest.mark.slow
def test_forty_four_bars_fall_as_one_pendulum():
    """Eighty-one rods and eighty rows, through both level positions again and again for 20 s."""
    falls_as_one_pendulum(40, until=20.0, step=2e-3, atol=1e-3)


@pytest.mark.parametrize("rows", [mechanisms.PIN, (4, 5)], ids=["pin", "plane"])
@pytest.mark.parametrize("tilted", [False, True])
def test_a_four_bar_follows_its_triangle(rows: tuple[int, ...], tilted: bool):
    frame = mechanisms.turned((1, 2, 3), 1.1) if tilted else mechanisms.IDENTITY
    model = mechanisms.four_bar(rate=3.0, gravity=(0.0, -9.81, 0.0), frame=frame, rows=rows)
    run = simulate(model, until=10.0, every=0.1, step=1e-3)
    found = np.column_stack([run[f"{name}.joint.angle"].ravel() for name in ("crank", "coupler", "rocker")])
    wanted = [mechanisms.four_bar_angles(crank)[0] for crank in found[:, 0]]
    assert np.abs(np.sin((found - wanted) / 2)).max() < CLOSED
    assert drift(run["system.energy"]) < 1e-6
    assert residual(run, "pin") < CLOSED


@pytest.mark.slow
@pytest.mark.parametrize(("crank", "rate", "step"), [(-1.2, 0.0, 5e-3), (1.0, 5.0, 4e-3)], ids=["swings", "turns"])
def test_a_four_bar_stays_closed_for_a_thousand_seconds(crank: float, rate: float, step: float):
    """Its energy leaves its value by the integrator's error alone: with half the step by a small part of it."""
    model = mechanisms.four_bar(crank=crank, rate=rate, gravity=(0.0, -9.81, 0.0))
    wanted = ["loop.pin.residual", "loop.pin.residual_rate", "system.energy", "crank.joint.angle"]
    runs = [simulate(model, until=1000.0, every=0.1, step=h, outputs=wanted) for h in (step, step / 2)]
    trends = []
    for run in runs:
        assert residual(run, "pin") < LASTING
        assert np.abs(run["loop.pin.residual_rate"]).max() < LASTING
        first, last = run["system.energy"][:1000], run["system.energy"][-1000:]
        assert np.ptp(last) < 1.2 * np.ptp(first)
        trends.append(abs(float(last.mean() - first.mean())) / float(first[0]))
    assert trends[0] < 2e-3
    assert trends[1] < trends[0] / 8
    assert (np.ptp(runs[0]["crank.joint.angle"]) > 100.0) == (rate > 0.0)


def test_a_driven_four_bar_turns_as_its_crank_does():
    model = mechanisms.four_bar(rate=3.0, driven=True, frame=mechanisms.turned((1, 2, 3), 1.1))
    run = simulate(model, until=10.0, every=0.1, step=1e-3)
    np.testing.assert_allclose(run["crank.joint.angle"].ravel(), 1.0 + 3.0 * run.time, atol=1e-11)
    wanted = np.array([mechanisms.four_bar_angles(crank, 3.0) for crank in run["crank.joint.angle"].ravel()])
    for i, name in enumerate(("crank", "coupler", "rocker")):
        off = run[f"{name}.joint.angle"].ravel() - wanted[:, 0, i]
        assert np.abs(np.sin(off / 2)).max() < MOVING
        np.testing.assert_allclose(run[f"{name}.joint.rate"].ravel(), wanted[:, 1, i], atol=1e-8)


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(mechanisms.three_legs(), id="legs of six", marks=pytest.mark.slow),
        pytest.param(mechanisms.three_legs(seed=3), id="others", marks=pytest.mark.slow),
        pytest.param(
            mechanisms.three_legs(parallel=True, joints=3), id="parallel legs of three", marks=pytest.mark.slow
        ),
    ],
)
def test_legs_between_plates_keep_what_a_free_system_keeps(model: Model):
    run = simulate(model, until=5.0, every=0.1, step=1e-3)
    for name in ("system.momentum", "system.angular_momentum", "system.energy"):
        assert drift(run[name]) < 1e-10, name
    assert residual(run, "leg1", "leg2") < 1e-12
    assert np.abs(run["system.work_residual"]).max() < 1e-9


@pytest.mark.parametrize(
    ("model", "most"),
    [
        (mechanisms.four_bar(rate=3.0, gravity=(0.0, -9.81, 0.0)), 50.0),
        (mechanisms.four_bar(rate=3.0, gravity=(0.0, -9.81, 0.0), frame=mechanisms.turned((1, 2, 3), 1.1)), 50.0),
        (mechanisms.three_legs(parallel=True, joints=3), 50.0),
    ],
    ids=lambda value: value.name if isinstance(value, Model) else "",
)
def test_rows_that_nothing_moves_carry_nothing(model: Model, most: float):
    """A plane mechanism in space: hinges of the tree hold what its redundant rows would, and these have least norm."""
    run = simulate(model, until=1.0, every=0.05, step=1e-3)
    for loop in model.loops:
        force, torque = run[f"loop.{loop.name}.force"], run[f"loop.{loop.name}.torque"]
        assert np.abs(force).max() < most
        out_of_plane = np.column_stack([force[:, 2], torque[:, :2]])
        if loop.kind == "pin":
            assert np.abs(out_of_plane).max() < 1e-6
