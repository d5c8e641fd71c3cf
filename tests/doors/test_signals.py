"""Chosen outputs through every door: one run's bits, and slopes by states in model exchange."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from doors.doors import ALL, EXCHANGE, PLANT, Doors, FmuDoor
from fmu.exchange import Exchange2, Exchange3
from fmu.test_derivatives import STENCIL, directional
from fmu.test_derivatives import STEP as SHIFT
from interpreted import Interpreted
from mbdy.blocks import LinearPlant, Plant, PlantBatch, SingularityWarning, simulate
from mbdy.engine import ChosenOutput, PortChoice, loads
from systems import SIGHTED

STEPS = 5


def sighted(kind: str = "all"):
    model = loads(SIGHTED)
    return model if kind == "all" else replace(model, port_choice=PortChoice(outputs=("output.*",)))


def test_a_plant_and_a_batch_see_what_the_equations_say() -> None:
    model = sighted("chosen")
    run, plant, batch = Interpreted(model), Plant(model, step=1e-3), PlantBatch(model, 2, step=1e-3)
    y = plant.step(0.01)
    found = run.outputs(plant.state, np.zeros(len(plant.input_names)))
    np.testing.assert_allclose(y.values, found, atol=1e-14)
    np.testing.assert_array_equal(batch.step(0.01).values, [y.values, y.values])


@pytest.mark.slow
def test_a_linear_plant_sees_the_same() -> None:
    model = sighted("chosen")
    np.testing.assert_allclose(LinearPlant(model).outputs().values, Plant(model).outputs().values, atol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in ALL if name != PLANT])
def test_an_fmu_has_the_bits_of_the_plant(name: str, doors: Doors) -> None:
    found = []
    for door in (doors.open(name, sighted("chosen")), doors.open(PLANT, sighted("chosen"))):
        door.initialize()
        for _ in range(STEPS):
            door.step()
        found.append(door.outputs())
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("name", [EXCHANGE[0], pytest.param(EXCHANGE[1], marks=pytest.mark.slow)])
def test_model_exchange_has_slopes_by_states_and_what_they_depend_on(name: str, doors: Doors) -> None:
    model = sighted("chosen")
    door = doors.open(name, model)
    assert isinstance(door, FmuDoor)
    door.initialize()
    client = door.client
    assert isinstance(client, Exchange2 | Exchange3)
    of, x = client.names("output"), client.states()
    np.testing.assert_array_equal(client.get(of), Plant(model).outputs().values)
    for at, state in enumerate(Plant(model).state_names):
        slope = np.zeros(len(of))
        for place, weight in STENCIL:
            client.set_states(x + place * SHIFT * np.eye(len(x))[at])
            slope += weight * client.get(of) / (12 * SHIFT)
        client.set_states(x)
        np.testing.assert_allclose(directional(client, of, [state], [1.0]), slope, atol=1e-8)
    units = {variable.name: variable.unit for variable in client.description.modelVariables}
    assert {unit for name, unit in units.items() if name.startswith("output.pointing")} == {"rad"}


def test_euler_angles_that_lock_on_the_way_are_told() -> None:
    text = SIGHTED.replace("sequence", 'to = "bus"\nsequence').replace(
        "[0.3, -0.2]", "[0.3, 1.5]\ndish.joint.rate = [0, 1]"
    )
    model = replace(loads(text), bodies=tuple(
        replace(b, joint=replace(b.joint, motion=("prescribed",) * 2)) if b.name == "dish" else b
        for b in loads(text).bodies
    ))  # fmt: skip
    with pytest.warns(
        SingularityWarning, match=r"output.pointing: Euler angles zyx near their singularity at 0\.07"
    ) as told:
        run = simulate(model, until=0.2, every=1e-3, step=1e-3)
    assert len(told) == 1
    assert np.isfinite(run["output.pointing"]).all()
    zxz = replace(model, chosen_outputs=(ChosenOutput(name="a", kind="euler", of="bus", sequence="zxz"),))
    with pytest.warns(SingularityWarning, match=r"output.a: Euler angles zxz near their singularity at 0 s"):
        simulate(zxz, until=0.01, every=1e-2, step=1e-3)
