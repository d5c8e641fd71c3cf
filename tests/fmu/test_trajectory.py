"""An FMU's numbers are those of the `Plant` to the bit, and those of the compiled core without a plant."""

from __future__ import annotations

import warnings

import fmpy
import numpy as np
import pytest

from example_models import each_example
from flavours import QUICK_NATIVE, Flavour
from fmu.client import only
from mbdy.blocks import Plant
from mbdy.engine import Model, ModelWarning, compiled, load
from mbdy.engine.core.running import Core

RUN = 1000
"""Steps of the long comparison."""


def drive(client, plant: Plant, seed: int, steps: int, H: float) -> None:
    """Random held inputs on both, outputs equal to the bit after each step."""
    rng = np.random.default_rng(seed)
    moving = [v for v in plant.ports.inputs if not v.boolean and v.owner.kind != "system"]
    driven = [name for v in moving for name in v.scalar_names]
    least = np.array([-np.inf if v.minimum is None else v.minimum for v in moving for _ in v.scalar_names])
    for _ in range(steps):
        values = np.maximum(rng.normal(size=len(driven)) * 0.3, least)
        client.set(driven, values)
        for name, value in zip(driven, values, strict=True):
            plant[name] = value
        client.step(H)
        np.testing.assert_array_equal(client.get(list(plant.output_names)), plant.step(H).values)


@pytest.mark.parametrize("H", [1e-3, 1 / 60, 0.04, 0.0003, 0.0104])
def test_equals_the_plant_bit_for_bit(opened, plant, H):
    drive(opened().initialize(), plant, 1, 40, H)


def test_steps_of_changing_length(opened, plant):
    client = opened().initialize()
    for size in (1e-3, 0.04, 1 / 60, 2.5e-4, 0.0104):
        drive(client, plant, 3, 5, size)


def test_euler_cromer(opened, export, model):
    options = {"integrator": "euler-cromer", "step": "2 ms"}
    drive(opened(export(model, **options)).initialize(), Plant(model, **options), 2, 15, 4e-3)


@only(QUICK_NATIVE)
@pytest.mark.parametrize("example", each_example())
def test_examples_equal_the_plant_bit_for_bit(opened, export, example):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        model = load(example)
    for integrator in ("rk4", "euler-cromer"):
        client = opened(export(model, integrator, step="2 ms", integrator=integrator)).initialize()
        drive(client, Plant(model, step="2 ms", integrator=integrator), 2, 15, 0.005)


def bare_core(model: Model) -> tuple[Core, dict[str, int]]:
    """The compiled equations at the model's start, without a plant; places of its inputs by name."""
    core = Core(compiled(model))
    ports = core.compiled.equations.ports
    core.s[:], core.u[:], core.p[:] = ports.start, ports.vector("input"), ports.vector("parameter")
    assert core.prepare() == 0
    assert core.start() == 0
    return core, {name: k for k, name in enumerate(ports.input_names)}


def test_equals_the_core_with_inputs_changed_every_step(opened, model):
    client, (core, place) = opened().initialize(), bare_core(model)
    for i in range(RUN):
        torque = 0.3 * np.sin(0.01 * i)
        for name, value in (("panel.joint.torque", torque), ("bus.x.torque", -0.1 * torque), ("boom.force[2]", torque)):
            client[name] = core.u[place[name]] = value
        client.step()
        assert core.advance(1e-3, 1e-3) == 0
        if i % 100 == 99:
            core.outputs()
            np.testing.assert_array_equal(client.outputs(), core.y)


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
            for name, value in (("panel.joint.stiffness", 10.0), ("panel.mass", 30.0)):
                client[name] = plant[name] = value
        client.step()
        np.testing.assert_array_equal(client.get(list(plant.output_names)), plant.step(1e-3).values)
        if i == 20:
            assert client["panel.joint.impulse"] != 0.0
        if i == 30:
            assert client["panel.joint.rate"] == pytest.approx(0.0, abs=1e-15)
            assert client.fmu.getBoolean([client.place["panel.joint.locked"]]) == [True]
    assert client["system.initial.mass"] == pytest.approx(524.0)
    assert client["system.mass"] == pytest.approx(534.0)


def test_outputs_are_of_the_current_inputs_without_a_step(opened, plant):
    client = opened().initialize()
    client.step()
    plant.step(1e-3)
    client["bus.force[1]"] = plant["bus.force[1]"] = 100.0
    np.testing.assert_array_equal(client.outputs(), plant.outputs().values)
    assert client["bus.acceleration[1]"] == pytest.approx(100.0 / 516.0, rel=0.1)


def test_fmpy_runs_it_by_name(fmu, plant):
    signals = np.array([(0.0, 0.2), (1.0, 0.2)], dtype=[("time", float), ("panel.joint.torque", float)])
    starts = {"panel.joint.angle": 0.1, "panel.inertia[1,1]": 10.4}
    result = fmpy.simulate_fmu(
        fmu, fmi_type="CoSimulation", stop_time=0.2, output_interval=1e-3, input=signals, start_values=starts,
        output=["panel.joint.angle", "system.mass"],
    )  # fmt: skip
    for name, value in {**starts, "panel.joint.torque": 0.2}.items():
        plant[name] = value
    angles = [plant["panel.joint.angle"], *(plant.step(1e-3)["panel.joint.angle"] for _ in range(200))]
    np.testing.assert_array_equal(result["panel.joint.angle"], angles)  # the client's rounded steps change nothing
    np.testing.assert_allclose(result["system.mass"], 516.0)


NATIVE_2 = only([Flavour("native", "2.0")])


@NATIVE_2
@pytest.mark.parametrize(("order", "interpolation"), [(1, "linear"), (2, "quadratic")])
def test_input_derivatives_are_the_plants_interpolated_inputs(opened, model, order, interpolation):
    """FMI 2's first (second) order hold against `Plant`'s linear (quadratic) inputs."""
    client, plant = opened().initialize(), Plant(model, interpolation=interpolation)
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


@NATIVE_2
def test_input_derivatives_hold_for_one_step(opened, model):
    client, plant = opened().initialize(), Plant(model, interpolation="linear")
    name = "panel.joint.torque"
    client.fmu.setRealInputDerivatives([client.place[name]], [1], [2.0])
    plant[name] = 2.0 * 0.02
    for _ in range(3):
        client.step(0.02)
        np.testing.assert_array_equal(client.get(list(plant.output_names)), plant.step(0.02).values)
        assert client[name] == 0.04
