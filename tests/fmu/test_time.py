"""Time of an FMU: no drift, the stop time, no way back."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from flavours import NATIVE
from fmu.client import DISCARD, ERROR, answers, needs_front, only
from systems import free_body


def steps_by_product(client, H: float, count: int) -> None:
    """A caller whose clock is a product, as a careful one's."""
    for i in range(count):
        client.fmu.doStep(i * H, H)
    client.time = count * H


def steps_by_sum(client, H: float, count: int) -> None:
    """A caller whose clock is a sum, with the rounding of each addition in it."""
    time = 0.0
    for _ in range(count):
        client.fmu.doStep(time, H)
        time += H
    client.time = time


@pytest.mark.parametrize("caller", [steps_by_product, steps_by_sum])
@pytest.mark.parametrize(("H", "count"), [(1e-3, 20_000), (1 / 60, 3_000), (0.04, 1_000)])
def test_callers_clocks_end_where_the_plant_does(opened, plant, caller, H, count):
    client = opened().initialize(stop=count * H)
    caller(client, H, count)
    for _ in range(count):
        plant.step(H)
    assert client.time == pytest.approx(count * H, rel=1e-11)
    np.testing.assert_array_equal(client.outputs(), plant.outputs().values)
    assert client.said == []


@only(NATIVE)
@pytest.mark.slow
@pytest.mark.parametrize("H", [1e-3, 1 / 60, 0.04])
def test_a_million_steps_do_not_drift(opened, export, fmi, H):
    """A free body under a caller whose clock is a sum: its momentum's way shows how much time the FMU has stepped."""
    client = opened(export(free_body(), step=0.02))
    name = next(v for v in client.names("output") if v.endswith(".velocity[1]"))
    client[name] = 0.25
    client.initialize()
    steps_by_sum(client, H, 1_000_000)
    assert client.time == pytest.approx(1e6 * H, rel=1e-9)
    assert client[name.replace("velocity", "position")] == pytest.approx(0.25e6 * H, rel=1e-10)
    if fmi == "3.0":
        assert client["time"] == client.time


def test_differences_of_the_callers_times_are_whole_steps(opened, plant):
    """A caller that keeps instants and takes their differences gives steps off by a rounding; the bits stay."""
    client = opened().initialize()
    instants = [i * 1e-3 for i in range(3000)]
    for begin, end in pairwise(instants):
        client.fmu.doStep(begin, end - begin)
        plant.step(1e-3)
    np.testing.assert_array_equal(client.outputs(), plant.outputs().values)


def refused(client, time: float, H: float, *words: str) -> None:
    """A step that is discarded and changes nothing."""
    before = client.outputs()
    with answers(client, DISCARD, *words):
        client.fmu.doStep(time, H)
    np.testing.assert_array_equal(client.outputs(), before)


def test_the_stop_time_holds_but_for_rounding(opened):
    client = opened().initialize(stop=0.3)
    for _ in range(3):
        client.step(0.1)
    assert client.time > 0.3  # by rounding
    refused(client, client.time, 0.1, "past the stop time 0.3")
    client = opened().initialize(stop=0.003)
    client.step(0.002)
    refused(client, client.time, 0.0011, "past the stop time")
    client.step(0.001 * (1 + 1e-12))


def test_backwards_and_ahead_are_errors_that_change_nothing(opened):
    client = opened().initialize(start=5.0)
    client.step(0.1)
    state = client.saved()
    client.step(0.1)
    refused(client, 5.1, 0.1, "backwards from 5.2")
    refused(client, 5.5, 0.1, "ahead from 5.2")
    refused(client, math.nan, 0.1, "the time is nan s: it must be finite")
    client.restore(state)
    client.time = 5.1 + 1e-13
    client.step(0.1)
    client.free(state)


@needs_front
@pytest.mark.parametrize(
    ("times", "words"),
    [
        ((math.nan, None), "the start time is nan s"), ((math.inf, None), "the start time is inf s"),
        ((1.0, 0.5), "the stop time is 0.5 s"), ((1.0, math.nan), "the stop time is nan s"),
    ],
)  # fmt: skip
def test_times_of_an_experiment_that_cannot_be(opened, times, words):
    client = opened()
    with answers(client, ERROR, words):
        client.enter(*times)
    client.initialize(start=3.0, stop=4.0).step()


def test_a_start_other_than_zero(opened, plant):
    client = opened().initialize(start=1e5)
    for _ in range(10):
        client.step(0.01)
        plant.step(0.01)
    np.testing.assert_array_equal(client.outputs(), plant.outputs().values)
    if "time" in client.place:
        assert client["time"] == client.time
