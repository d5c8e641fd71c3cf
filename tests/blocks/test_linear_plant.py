"""`LinearPlant` as a plant: near the full one for small motions, with its switches, copies and FMUs."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest

from fmu.client import client_of, satellite
from mbdy.blocks import LargeAngleWarning, LinearPlant, PartlyLinearPlant, Plant, VariableError, simulate
from mbdy.engine import Linear, ModelWarning, PartlyLinear, load
from mbdy.fmu import export_fmu

FIVE_BODY = Path("examples/five_body_spacecraft/five_body.toml")


@pytest.fixture(scope="module")
def five_body():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return load(FIVE_BODY)


def test_error_of_a_trajectory_falls_with_the_square_of_its_size(five_body):
    errors = []
    for size in (2.0, 1.0):
        plants = Plant(five_body, step=2e-3), LinearPlant(five_body, step=2e-3)
        runs = [
            simulate(plant, until=2.0, every=0.1, controller=lambda t, y, size=size: {"boom.joint.torque": size})
            for plant in plants
        ]
        apart = [np.abs(runs[0][name] - runs[1][name]).max() for name in ("bus.omega", "boom.joint.angle")]
        errors.append(max(apart))
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.05)


def test_a_lock_holds_and_a_prescribed_hinge_follows():
    model = satellite()
    plant = LinearPlant(model, step=1e-3)
    plant["panel.joint.locked"] = True
    for _ in range(20):
        found = plant.step(0.01)
    assert abs(found["panel.joint.rate"]) < 1e-13
    plant["panel.joint.locked"], plant["panel.joint.prescribed"] = False, True
    plant["panel.joint.acceleration"] = 0.3
    for _ in range(20):
        found = plant.step(0.01)
    assert found["panel.joint.rate"] == pytest.approx(0.06, rel=1e-9)


def test_copies_are_linear_too(five_body):
    plant = LinearPlant(five_body, at={"yoke.joint.angle": 3.8}, geometry="first-order")
    plant.step(0.1)
    copy = pickle.loads(pickle.dumps(plant))
    assert type(copy) is LinearPlant
    np.testing.assert_array_equal(copy.step(0.1).values, plant.step(0.1).values)


LONG = (("python", "2.0"), ("native", "2.0"), ("native", "3.0"))


@pytest.mark.parametrize(
    ("kind", "fmi"),
    [
        ("python", "3.0"),
        *(pytest.param(kind, fmi, marks=pytest.mark.slow) for kind, fmi in LONG),
    ],
)
def test_its_fmus_are_the_plant_bit_for_bit(kind, fmi, tmp_path):
    model, dynamics = satellite(), Linear(geometry="first-order")
    made = export_fmu(model, tmp_path / "linear.fmu", kind=kind, fmi=fmi, dynamics=dynamics)
    other = export_fmu(model, tmp_path / "full.fmu", kind=kind, fmi=fmi)
    client, plant = client_of(made, tmp_path / "unpacked").initialize(), Plant(model, dynamics=dynamics)
    assert client.description.guid != client_of(other, tmp_path / "other").description.guid
    for i in range(30):
        client["panel.joint.torque"] = plant["panel.joint.torque"] = 0.3
        client["boom.force[2]"] = plant["boom.force[2]"] = 0.1 * i
        client.step(0.01)
        np.testing.assert_array_equal(client.outputs(), plant.step(0.01).values)
    client.fmu.freeInstance()


@pytest.mark.slow
def test_the_partly_linear_fmu_is_its_plant_bit_for_bit(five_body, tmp_path):
    dynamics = PartlyLinear(("boom_link", "boom"))
    made = export_fmu(five_body, tmp_path / "partly.fmu", kind="native", fmi="3.0", dynamics=dynamics)
    client, plant = (
        client_of(made, tmp_path / "unpacked").initialize(),
        PartlyLinearPlant(five_body, joints=dynamics.joints),
    )
    for i in range(30):
        client["boom.joint.torque"] = plant["boom.joint.torque"] = 0.1 * i
        client.step(0.01)
        np.testing.assert_array_equal(client.outputs(), plant.step(0.01).values)
    client.fmu.freeInstance()


def test_a_linear_hinge_that_leaves_small_angles_is_told_of_once(five_body):
    plant = PartlyLinearPlant(five_body)
    plant["yoke.joint.rest"] = plant["yoke.joint.rest"] + 0.5
    with pytest.warns(LargeAngleWarning, match="'yoke' is"):
        plant.step(1.0)
    plant.step(1.0)


def test_a_snapshot_of_other_dynamics_is_refused(five_body):
    with pytest.raises(VariableError, match="dynamics"):
        Plant(five_body).restore(LinearPlant(five_body).save())
    plant = LinearPlant(five_body)
    plant.restore(LinearPlant(five_body).save())
