"""A native FMU is the `Plant`, bit for bit in co-simulation, and under a solver of model exchange."""

from __future__ import annotations

import warnings
from pathlib import Path

import fmpy
import numpy as np
import pytest

from fmu.client import client_of
from mbdy.blocks import Plant
from mbdy.engine import ModelWarning, load
from mbdy.fmu import export_fmu

EXAMPLES = sorted(Path("examples").glob("*/*.toml"))
SOLVER = 1e-10
"""Relative tolerance asked of CVODE."""
SOLVERS_APART = 2e-7
"""CVODE's error grows over the steps of 20 s; RK4 at 1 ms stays far below (its step halved changes 1e-11)."""


def drive(client, plant: Plant, seed: int, steps: int, H: float) -> None:
    """Random held inputs on both, outputs equal to the bit after each step."""
    rng = np.random.default_rng(seed)
    driven = [name for name in plant.input_names if ".locked" not in name and ".prescribed" not in name]
    driven = [name for name in driven if not name.startswith("system.")]
    for _ in range(steps):
        values = rng.normal(size=len(driven)) * 0.3
        client.set(driven, values)
        for name, value in zip(driven, values, strict=True):
            plant[name] = value
        client.step(H)
        np.testing.assert_array_equal(client.get(list(plant.output_names)), plant.step(H).values)


@pytest.mark.parametrize("H", [1e-3, 1 / 60, 0.04, 0.0003])
def test_equals_the_plant_bit_for_bit(opened, plant, H):
    drive(opened().initialize(), plant, 1, 40, H)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples_equal_the_plant_bit_for_bit(example, fmi, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        model = load(example)
    for integrator in ("rk4", "euler-cromer"):
        made = export_fmu(
            model, tmp_path / f"{integrator}.fmu", fmi=fmi, kind="native", step="2 ms", integrator=integrator
        )
        client = client_of(made, tmp_path / integrator).initialize()
        drive(client, Plant(model, step="2 ms", integrator=integrator), 2, 15, 0.005)
        client.fmu.freeInstance()


def test_locks_parameters_and_start_values(opened, plant):
    client = opened()
    for name, value in (("panel.joint.angle", 0.3), ("bus.x.speed", -40.0), ("panel.mass", 20.0)):
        client[name] = plant[name] = value
    client.initialize()
    for i in range(60):
        if i == 20:
            client["panel.joint.locked"], plant["panel.joint.locked"] = True, True
        if i == 40:
            client["panel.joint.locked"], plant["panel.joint.locked"] = False, False
            client["panel.joint.stiffness"] = plant["panel.joint.stiffness"] = 10.0
        client.step()
        np.testing.assert_array_equal(client.get(list(plant.output_names)), plant.step(1e-3).values)
        if i == 20:
            assert client["panel.joint.impulse"] != 0.0
    assert client["system.initial.mass"] == pytest.approx(524.0)
    assert client["system.mass"] == pytest.approx(524.0)


@pytest.mark.parametrize(("order", "interpolation"), [(1, "linear"), (2, "quadratic")])
def test_input_derivatives_are_the_plants_interpolated_inputs(natives, model, tmp_path, order, interpolation):
    """FMI 2's first (second) order hold against `Plant`'s linear (quadratic) inputs."""
    client, plant = (
        client_of(natives["2.0"], tmp_path / "unpacked").initialize(),
        Plant(model, interpolation=interpolation),
    )
    name, H = "panel.joint.torque", 0.02
    for i in range(30):
        begin, slope, bend = np.sin(0.3 * i), np.cos(0.3 * i), -0.5 * np.sin(0.7 * i) if order == 2 else 0.0
        plant[name] = begin
        plant.jump()
        plant[name] = begin + H * (slope + 0.5 * H * bend)
        if order == 2:
            plant.middle.values[:] = plant.inputs.values
            place = plant.input_names.index(name)
            plant.middle.values[place] = begin + 0.5 * H * (slope + 0.25 * H * bend)
        client[name] = begin
        client.fmu.setRealInputDerivatives([client.place[name]] * order, [1, 2][:order], [slope, bend][:order])
        client.step(H)
        np.testing.assert_array_equal(client.get(list(plant.output_names)), plant.step(H).values)
    client.fmu.freeInstance()


def test_input_derivatives_hold_for_one_step(natives, model, tmp_path):
    client, plant = client_of(natives["2.0"], tmp_path / "unpacked").initialize(), Plant(model, interpolation="linear")
    name = "panel.joint.torque"
    client.fmu.setRealInputDerivatives([client.place[name]], [1], [2.0])
    plant[name] = 2.0 * 0.02
    for _ in range(3):
        client.step(0.02)
        np.testing.assert_array_equal(client.get(list(plant.output_names)), plant.step(0.02).values)
        assert client[name] == 0.04
    client.fmu.freeInstance()


def element(row, name: str) -> float:
    """A scalar out of FMPy's row of FMI 3, which has whole arrays."""
    array, _, index = name.rstrip("]").partition("[")
    return np.atleast_1d(row[array])[int(index or 1) - 1]


def test_a_solver_of_model_exchange_agrees(natives, fmi, model):
    plant = Plant(model)
    names = ["bus.omega[1]", "panel.joint.angle", "bus.attitude[2]", "boom.joint.displacement", "bus.x.momentum"]
    array = [name.partition("[")[0] for name in names] if fmi == "3.0" else names
    result = fmpy.simulate_fmu(
        natives[fmi], fmi_type="ModelExchange", stop_time=20.0, output_interval=0.5, relative_tolerance=SOLVER,
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


def test_model_exchange_gives_the_plants_derivatives_and_outputs(exchanged, plant):
    client = exchanged().initialize()
    client.event()
    client.fmu.enterContinuousTimeMode()
    rng = np.random.default_rng(5)
    for _ in range(20):
        x = plant.state + 0.1 * rng.normal(size=plant.state.size)
        client.set_states(x)
        client["bus.torque[2]"] = torque = rng.normal()
        plant["bus.torque[2]"] = torque
        np.testing.assert_array_equal(client.rates(), plant.derivatives(0.0, x))
        np.testing.assert_array_equal(client.get(list(plant.output_names)), plant.outputs(x=x).values)
        named = client.get([f"der({name})" for name in plant.state_names])
        np.testing.assert_array_equal(named, client.rates())
    assert (client.nominals() > 0).all()


def test_a_lock_is_an_event_of_model_exchange(exchanged, plant):
    client = exchanged().initialize()
    assert client.event() is False
    client.fmu.enterContinuousTimeMode()
    x = client.states()
    x[list(plant.state_names).index("panel.joint.rate")] = 0.2
    client.set_states(x)
    before = client.get([f"system.angular_momentum[{k}]" for k in (1, 2, 3)])
    client.fmu.enterEventMode()
    client["panel.joint.locked"] = True
    assert client.event() is True
    assert client["panel.joint.rate"] == pytest.approx(0.0, abs=1e-15)
    np.testing.assert_allclose(client.get([f"system.angular_momentum[{k}]" for k in (1, 2, 3)]), before, atol=1e-12)
    assert client.event() is False


def test_a_quaternion_that_drifts_is_scaled_at_an_event(exchanged, plant):
    client = exchanged().initialize()
    client.event()
    client.fmu.enterContinuousTimeMode()
    x = client.states()
    at = plant.ports.quaternions[0]
    for factor, drifted in ((1.0 + 1e-8, False), (1.001, True)):
        x[at : at + 4] *= factor
        client.set_states(x)
        assert bool(client.fmu.completedIntegratorStep()[0]) is drifted
    client.fmu.enterEventMode()
    assert client.event() is True
    assert np.linalg.norm(client.states()[at : at + 4]) == pytest.approx(1.0, abs=1e-15)
