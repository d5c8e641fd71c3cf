"""Model exchange: the `Plant`'s derivatives and outputs at any state, solvers, events, what is refused."""

from __future__ import annotations

import math

import fmpy
import numpy as np
import pytest

from flavours import NATIVE
from fmu.client import DISCARD, ERROR, answers, only

pytestmark = only(NATIVE)
SOLVER = 1e-10
"""Relative tolerance asked of CVODE."""
SOLVERS_APART = 2e-7
"""CVODE's error grows over the steps of 20 s; RK4 at 1 ms stays far below (its step halved changes 1e-11)."""


def element(row, name: str) -> float:
    """A scalar out of FMPy's row of FMI 3, which has whole arrays."""
    array, _, index = name.rstrip("]").partition("[")
    return np.atleast_1d(row[array])[int(index or 1) - 1]


def continuous(exchanged, **options):
    """An instance in continuous-time mode."""
    client = exchanged(**options).initialize()
    assert client.event() is False
    client.fmu.enterContinuousTimeMode()
    return client


def test_a_solver_agrees(fmu, fmi, plant):
    names = ["bus.omega[1]", "panel.joint.angle", "bus.attitude[2]", "boom.joint.displacement", "bus.x.momentum"]
    array = [name.partition("[")[0] for name in names] if fmi == "3.0" else names
    result = fmpy.simulate_fmu(
        fmu, fmi_type="ModelExchange", stop_time=20.0, output_interval=0.5, relative_tolerance=SOLVER,
        output=array, start_values={"panel.joint.torque": 0.4},
    )  # fmt: skip
    plant["panel.joint.torque"] = 0.4
    for row in result[1:]:
        seen = plant.step(0.5)
        for name in names:
            found = row[name] if fmi == "2.0" else element(row, name)
            variable, part = plant.ports.find(name)
            wanted = seen.values[variable.offset + part.start]
            assert found == pytest.approx(wanted, rel=SOLVERS_APART, abs=SOLVERS_APART)


def test_derivatives_and_outputs_are_the_plants(exchanged, plant):
    client = continuous(exchanged)
    rng, work = np.random.default_rng(5), plant.output_names.index("system.work_error")
    for _ in range(20):
        x = plant.state + 0.1 * rng.normal(size=plant.state.size)
        client.set_states(x)
        client["bus.torque[2]"] = torque = rng.normal()
        plant["bus.torque[2]"] = torque
        np.testing.assert_array_equal(client.rates(), plant.derivatives(0.0, x))
        found = client.get(list(plant.output_names))
        assert found[work] == 0.0  # of steps, which the importer takes
        np.testing.assert_array_equal(np.delete(found, work), np.delete(plant.outputs(x=x).values, work))
        named = client.get([f"der({name})" for name in plant.state_names])
        np.testing.assert_array_equal(named, client.rates())
    assert (client.nominals() > 0).all()


def test_a_lock_is_an_event(exchanged, plant):
    client = continuous(exchanged, logging=True)
    x = client.states()
    x[list(plant.state_names).index("panel.joint.rate")] = 0.2
    client.set_states(x)
    before = client.get([f"system.angular_momentum[{k}]" for k in (1, 2, 3)])
    client.fmu.enterEventMode()
    client["panel.joint.locked"] = True
    assert client.event() is True
    assert client.said[-1][1:] == ("logEvents", "locked joints or closed loops stopped at 0 s: 'panel.joint'")
    assert client["panel.joint.rate"] == pytest.approx(0.0, abs=1e-15)
    np.testing.assert_allclose(client.get([f"system.angular_momentum[{k}]" for k in (1, 2, 3)]), before, atol=1e-12)
    assert client.event() is False


def test_a_solver_begins_anew_where_the_equations_changed(exchanged):
    """Some importers do so only where states are said to have jumped."""
    client = continuous(exchanged)
    for name, value, anew in (
        ("panel.joint.locked", True, True), ("panel.joint.locked", True, False), ("panel.joint.locked", False, True),
        ("panel.mass", 13.0, True), ("panel.mass", 13.0, False), ("bus.torque[2]", 0.3, True),
    ):  # fmt: skip
        client.fmu.enterEventMode()
        client[name] = value
        assert (client.event(), client.event()) == (anew, False), name
        client.fmu.enterContinuousTimeMode()
        client["bus.torque[2]"] = 0.2  # a solver's own input
    client.fmu.enterEventMode()
    assert client.event() is False


def test_a_quaternion_that_drifts_is_scaled_at_an_event(exchanged, plant):
    client = continuous(exchanged)
    x = client.states()
    at = plant.ports.quaternions[0]
    for factor, drifted in ((1.0 + 1e-8, False), (1.001, True)):
        x[at : at + 4] *= factor
        client.set_states(x)
        assert bool(client.fmu.completedIntegratorStep()[0]) is drifted
    client.fmu.enterEventMode()
    assert client.event() is True
    assert np.linalg.norm(client.states()[at : at + 4]) == pytest.approx(1.0, abs=1e-15)


def test_what_is_refused(exchanged):
    client = continuous(exchanged)
    x = client.states()
    bad = x.copy()
    bad[3] = math.nan
    with answers(client, DISCARD, "must be finite, no state was changed"):
        client.set_states(bad)
    np.testing.assert_array_equal(client.states(), x)
    with answers(client, ERROR, "'panel.mass' not set: it may jump only at events; enter event mode"):
        client["panel.mass"] = 3.0
    with answers(client, ERROR, "'panel.joint.locked' not set", "event mode"):
        client["panel.joint.locked"] = True
    with answers(client, ERROR, "the time is nan s"):
        client.fmu.setTime(math.nan)
