"""Instances beside and after each other, of one FMU, of several and of other models, unpacked anywhere."""

from __future__ import annotations

import shutil
import sys

import fmpy
import numpy as np
import pytest

from flavours import NATIVE, UNLIKE
from fmu.client import client_of, needs_front, only, satellite
from fmu.test_state import shake
from mbdy.blocks import Plant


def test_models_versions_and_instances_side_by_side(opened, export, model, fmus):
    other = satellite("two-panel satellite", mass=31.0)
    another = satellite("other root", kind="attitude")
    runs = [(opened(), model), (opened(), model), *((opened(fmus(one)), model) for one in UNLIKE)]
    runs += [(opened(export(m, str(k))), m) for k, m in enumerate((other, another))]
    plants = [Plant(of) for _, of in runs]
    for client, _ in runs:
        client.initialize()
    for i in range(50):
        for k, ((client, _), plant) in enumerate(zip(runs, plants, strict=True)):
            client["panel.joint.torque"] = plant["panel.joint.torque"] = (k + 1) * 0.3 * np.sin(0.01 * i)
            client.step()
            plant.step(1e-3)
    for (client, _), plant in zip(runs, plants, strict=True):
        np.testing.assert_array_equal(client.outputs(), plant.outputs().values)


def test_instances_are_independent(opened):
    """Two of one FMU, their calls interleaved, as each would alone."""
    clients = [opened(), opened()]
    alone = []
    for k, client in enumerate(clients):
        client["panel.mass"] = 10.0 + k
        client.initialize()
        alone.append(shake(client, 6))
        client.reset()
        client["panel.mass"] = 10.0 + k
        client.initialize()
    together = [[], []]
    for i in range(6):
        for k, client in enumerate(clients):
            client["panel.joint.torque"] = 0.3 + 0.1 * i
            client.step(0.0137)
            together[k].append(client.outputs())
    np.testing.assert_array_equal(np.array(together), np.array(alone))


def test_a_second_run_in_one_process(fmu):
    first, second = (fmpy.simulate_fmu(fmu, stop_time=0.1, output=["panel.joint.angle"]) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_many_instances_one_after_the_other(fmu, tmp_path):
    seen = set()
    for _ in range(200):  # pythonfmu drops a reference to the slave's module at each, see the slave
        client = client_of(fmu, tmp_path / "one").initialize()
        client.step()
        seen.add(client["bus.omega[1]"])
        client.fmu.freeInstance()
    assert len(seen) == 1


def test_again_from_another_folder_after_the_first_is_gone(opened, tmp_path):
    first = opened(folder=tmp_path / "first").initialize()
    first.step()
    shutil.rmtree(tmp_path / "first")
    second = opened(folder=tmp_path / "second").initialize()
    second.step()
    np.testing.assert_array_equal(first.outputs(), second.outputs())
    first.reset()
    first.initialize().step()
    np.testing.assert_array_equal(first.outputs(), second.outputs())


@needs_front
def test_unpacked_again_over_the_same_folder(fmu, tmp_path):
    seen = set()
    for _ in range(3):
        fmpy.extract(fmu, tmp_path)
        client = client_of(fmu, tmp_path).initialize()
        client.step()
        seen.add(client["bus.omega[1]"])
        client.fmu.freeInstance()
    assert len(seen) == 1


@needs_front
@pytest.mark.parametrize("name", ["odd {} %20 übung dir", "a%2520b", "файлы+&#", "it's (a) [test];"])
def test_any_name_of_the_unpack_folder(opened, tmp_path, name):
    before = list(sys.path)
    client = opened(folder=tmp_path / name).initialize()
    client.step()
    client.reset()
    client.initialize().step()
    assert client["bus.omega[1]"] != 0.02
    assert sys.path == before


@only(NATIVE)
def test_a_native_fmu_needs_no_resources(fmu, tmp_path):
    client = client_of(fmu, tmp_path)
    shutil.rmtree(tmp_path / "resources")
    client.reset()
    client.initialize().step()
    client.fmu.freeInstance()
