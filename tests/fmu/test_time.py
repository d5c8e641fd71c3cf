"""Time of a native FMU: no drift, the stop time, no way back."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from mbdy.blocks import Plant
from mbdy.fmu import export_fmu
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
def test_callers_clocks_end_where_the_plant_does(opened, model, caller, H, count):
    client, plant = opened().initialize(), Plant(model)
    caller(client, H, count)
    for _ in range(count):
        plant.step(H)
    assert client.time == pytest.approx(count * H, rel=1e-11)
    np.testing.assert_array_equal(client.get(list(plant.output_names)), plant.outputs().values)


@pytest.mark.slow
@pytest.mark.parametrize("H", [1e-3, 1 / 60, 0.04])
def test_a_million_steps_do_not_drift(opened, fmi, tmp_path, H):
    """A free body under a caller whose clock is a sum: its momentum's way shows how much time the FMU has stepped."""
    made = export_fmu(free_body(), tmp_path / "free.fmu", fmi=fmi, kind="native", step=0.02)
    client = opened(made)
    name = next(v for v in client.names("output") if v.endswith(".velocity[1]"))
    client[name] = 0.25
    client.initialize()
    steps_by_sum(client, H, 1_000_000)
    assert client.time == pytest.approx(1e6 * H, rel=1e-9)
    assert client[name.replace("velocity", "position")] == pytest.approx(0.25e6 * H, rel=1e-10)
    if fmi == "3.0":
        assert client["time"] == client.time


def test_differences_of_the_callers_times_are_whole_steps(opened, model):
    """A caller that keeps instants and takes their differences gives steps off by a rounding; the bits stay."""
    client, plant = opened().initialize(), Plant(model)
    instants = [i * 1e-3 for i in range(3000)]
    for begin, end in pairwise(instants):
        client.fmu.doStep(begin, end - begin)
        plant.step(1e-3)
    np.testing.assert_array_equal(client.get(list(plant.output_names)), plant.outputs().values)


def refused(client, time: float, H: float) -> str:
    before = client.outputs()
    said = len(client.said)
    with pytest.raises(Exception):  # noqa: B017, PT011 - FMPy's own type differs between versions
        client.fmu.doStep(time, H)
    assert len(client.said) == said + 1
    np.testing.assert_array_equal(client.outputs(), before)
    return client.last


def test_the_stop_time_holds_but_for_rounding(opened):
    client = opened().initialize(stop=0.3)
    for _ in range(3):
        client.step(0.1)
    assert client.time > 0.3  # by rounding
    assert "past the stop time" in refused(client, client.time, 0.1)


def test_backwards_and_ahead_are_errors_that_change_nothing(opened):
    client = opened().initialize()
    client.step(0.1)
    state = client.saved()
    client.step(0.1)
    assert "backwards" in refused(client, 0.1, 0.1)
    assert "ahead" in refused(client, 0.5, 0.1)
    client.restore(state)
    client.time = 0.1
    client.step(0.1)
    client.free(state)


@pytest.mark.parametrize("H", [0.0, -0.1, float("nan"), float("inf"), 1e10])
def test_steps_of_no_length(opened, H):
    refused(opened().initialize(), 0.0, H)


def test_a_start_other_than_zero(opened, model):
    client, plant = opened().initialize(start=1e5), Plant(model)
    for _ in range(10):
        client.step(0.01)
        plant.step(0.01)
    np.testing.assert_array_equal(client.get(list(plant.output_names)), plant.outputs().values)
    if "time" in client.place:
        assert client["time"] == client.time
