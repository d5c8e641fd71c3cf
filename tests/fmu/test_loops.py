"""Modes and loops in a Python FMU: the core's bits, loops that close and open, starts that are not closed."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
import zipfile

import fmpy.validation
import numpy as np
import pytest
from fmpy.fmi1 import FMICallException

from fmu.client import client_of
from fmu.flexible_systems import DOCK, docking, flexible_four_bar, like, with_boom
from mbdy.blocks import Plant
from mbdy.engine import Model
from mbdy.fmu import export_fmu
from mechanisms import four_bar, three_legs

VERSIONS = ("2.0", "3.0")
ERROR = 3
SYSTEMS = {
    "boom": with_boom, "docking": docking, "four-bar": flexible_four_bar, "rigid": four_bar, "legs": three_legs,
}  # fmt: skip
SLOW = [pytest.param(name, marks=pytest.mark.slow) if name == "legs" else name for name in SYSTEMS]


@pytest.fixture(params=VERSIONS)
def fmi(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def exported(fmi, tmp_path):
    clients = []

    def make(model: Model, **options):
        path = export_fmu(model, tmp_path / f"{len(clients)}.fmu", fmi=fmi, **options)
        clients.append(client_of(path, tmp_path / path.stem))
        return clients[-1]

    yield make
    for client in clients:
        client.fmu.freeInstance()


def alike(client, plant: Plant) -> None:
    found = client.get(list(plant.output_names))
    assert np.isfinite(found).all()
    np.testing.assert_array_equal(found, plant.outputs().values)


@pytest.mark.parametrize("name", SLOW)
def test_equals_the_plant_bit_for_bit(exported, name):
    client, plant = exported(SYSTEMS[name]()).initialize(), Plant(SYSTEMS[name]())
    rng = np.random.default_rng(3)
    torques = [n for n in plant.input_names if ".torque" in n]
    for i in range(20):
        if name == "docking" and i in (5, 15):
            client[DOCK] = plant[DOCK] = i == 5
        for torque in rng.choice(torques, 3):
            client[torque] = plant[torque] = 0.1 * rng.normal()
        client.step(0.01)
        plant.step(0.01)
        alike(client, plant)
        assert name != "docking" or i != 5 or abs(client["loop.dock.impulse[4]"]) > 0.1


def test_a_linearly_implicit_integrator(exported):
    client, plant = exported(docking(), integrator="rosenbrock").initialize(), Plant(docking(), integrator="rosenbrock")
    for i in range(6):
        if i == 1:
            client[DOCK] = plant[DOCK] = True
        client.step(0.01)
        plant.step(0.01)
        alike(client, plant)


def test_a_start_that_is_not_closed_is_closed(exported):
    """An FMU moves all coordinates to close its loops, those that were set too."""
    client = exported(flexible_four_bar())
    client.enter()
    for name, value in (("rocker.joint.angle", 1.3), ("crank.joint.rate", -0.3)):
        client[name] = value
    plant = like(client, flexible_four_bar())
    np.testing.assert_allclose(client.get(list(plant.output_names)), plant.outputs().values, rtol=1e-9, atol=1e-9)
    assert abs(client["rocker.joint.angle"] - 1.3) > 1e-3
    client["loop.pin.closed"] = False
    assert client["rocker.joint.angle"] == 1.3
    client["loop.pin.closed"] = True
    client.fmu.exitInitializationMode()
    client.step()
    found = client.get(list(plant.output_names))
    np.testing.assert_allclose(found, plant.step(1e-3).values, rtol=1e-9, atol=1e-9)
    state, before = client.saved(), client.outputs()
    client.step()
    client.restore(state)
    np.testing.assert_array_equal(client.outputs(), before)
    client.free(state)


def test_a_loop_that_cannot_be_closed_is_named(exported):
    client = exported(flexible_four_bar())
    client["rocker.joint.at[1]"] = 5.0
    client.enter()
    client.fmu.exitInitializationMode()
    assert client.said[-1][0] == ERROR
    with pytest.raises(FMICallException):
        client.step()
    assert "'loop.pin.residual[" in client.last
    assert "cannot be closed from the start values" in client.last
    client["rocker.joint.at[1]"] = 0.7
    client.step()


@pytest.mark.parametrize("scalars", [False, True])
def test_start_values_of_loops_are_guesses(fmi, scalars, tmp_path):
    """The description says so of states, and lists them with what follows from the start."""
    path = export_fmu(docking(), tmp_path / "it.fmu", fmi=fmi, scalars=scalars)
    assert fmpy.validation.validate_fmu(str(path)) == []
    with zipfile.ZipFile(path) as packed:
        root = ElementTree.fromstring(packed.read("modelDescription.xml"))
    variables = list(root.iterfind("ModelVariables/*"))
    by_name = {v.get("name"): v for v in variables}
    guesses = [v for v in variables if v.get("initial") == "approx"]
    assert by_name["boom.flex.rate"] in guesses
    assert by_name["boom.mass"].get("initial") == "exact"
    assert by_name["target.mass"].get("initial") == "exact"
    unknown = "ModelStructure/InitialUnknowns/*" if fmi == "2.0" else "ModelStructure/InitialUnknown"
    key = "index" if fmi == "2.0" else "valueReference"
    listed = {each.get(key) for each in root.iterfind(unknown)}
    references = {
        str(variables.index(v) + 1) if fmi == "2.0" else v.get("valueReference") for v in guesses
    }  # fmt: skip
    assert references <= listed
    switch = by_name[DOCK] if fmi == "3.0" else by_name[DOCK].find("Boolean")
    assert switch is not None
    assert switch.get("start") == "false"


def test_a_closed_loop_starts_closed(fmi, tmp_path):
    path = export_fmu(flexible_four_bar(), tmp_path / "it.fmu", fmi=fmi)
    (start,) = [v.start for v in fmpy.read_model_description(path).modelVariables if v.name == "loop.pin.closed"]
    assert start == "true"
    assert fmpy.validation.validate_fmu(str(path)) == []
