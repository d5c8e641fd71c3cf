"""An FMU's numbers are those of the compiled core, whatever else runs in the process."""

from __future__ import annotations

import shutil
import sys

import fmpy
import numpy as np
import pytest

from fmu.client import Direct, client_of, needs_front, satellite
from mbdy.fmu import export_fmu

pytestmark = pytest.mark.parametrize("fmi", ["2.0", "3.0"])

STEPS = 1000


def torque(i: int) -> float:
    return 0.3 * np.sin(0.01 * i)


def test_equals_the_core_bit_for_bit_with_inputs_changed_every_step(opened, model):
    client, direct = opened().initialize(), Direct(model)
    for i in range(STEPS):
        for one in (client, direct):
            one["panel.joint.torque"] = torque(i)
            one["bus.x.torque"] = -0.1 * torque(i)
            one["boom.force[2]"] = 2 * torque(i)
            one.step()
        if i % 100 == 99:
            np.testing.assert_array_equal(client.outputs(), direct.outputs())


def test_switches_and_tunable_parameters_act_as_in_the_core(opened, model):
    client, direct = opened().initialize(), Direct(model)
    for i in range(60):
        if i == 20:
            client["panel.joint.locked"], direct["panel.joint.locked"] = True, 1.0
        if i == 40:
            client["panel.joint.locked"], direct["panel.joint.locked"] = False, 0.0
            client["panel.mass"] = direct["panel.mass"] = 30.0
            assert direct.core.prepare() == 0
        client.step()
        direct.step()
        if i == 30:
            assert client["panel.joint.rate"] == pytest.approx(0.0, abs=1e-15)
            assert client.fmu.getBoolean([client.place["panel.joint.locked"]]) == [True]
    np.testing.assert_array_equal(client.outputs(), direct.outputs())


def test_start_values_of_states_parameters_and_inputs(opened, model):
    client, direct = opened(), Direct(model)
    client["panel.joint.angle"] = 1.0
    client["bus.x.speed"] = -30.0
    client["panel.mass"] = direct["panel.mass"] = 25.0
    client["system.gravity[3]"] = direct["system.gravity[3]"] = -9.81
    for name, value in (("panel.joint.angle", 1.0), ("bus.x.speed", -30.0)):
        direct.core.s[direct.ports.by_name[name].start_at] = value
    direct.restart()
    client.enter()
    np.testing.assert_array_equal(client.outputs(), direct.outputs())  # readable before initialization ends
    client.fmu.exitInitializationMode()
    for _ in range(10):
        client.step()
        direct.step()
    np.testing.assert_array_equal(client.outputs(), direct.outputs())


def test_simulate_fmu_takes_start_values_and_inputs(versioned, model):
    signals = np.array([(0.0, 0.2), (1.0, 0.2)], dtype=[("time", float), ("panel.joint.torque", float)])
    result = fmpy.simulate_fmu(
        versioned, stop_time=0.2, output_interval=1e-3, input=signals, output=["panel.joint.angle"],
        start_values={"panel.joint.angle": 0.1, "panel.inertia[1,1]": 11.0},
    )  # fmt: skip
    direct = Direct(model)
    direct["panel.joint.torque"], direct["panel.inertia[1,1]"] = 0.2, 11.0
    direct.core.s[direct.ports.by_name["panel.joint.angle"].start_at] = 0.1
    direct.restart()
    place = direct.ports.by_name["panel.joint.angle"].offset
    angles = [direct.outputs()[place]]
    for _ in range(200):
        direct.step()
        angles.append(direct.outputs()[place])
    np.testing.assert_array_equal(result["panel.joint.angle"], angles)  # the client's rounded steps change nothing


def test_steps_of_any_length_follow_the_core(opened, model):
    client, direct = opened().initialize(), Direct(model)
    for size in (1e-3, 0.04, 1 / 60, 2.5e-4, 0.0104):
        client.step(size)
        direct.step(size)
    np.testing.assert_allclose(client.outputs(), direct.outputs(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("size", [1e-3, 1 / 60, 0.04])
def test_times_that_are_summed_or_multiplied_by_the_client(opened, size):
    summed, multiplied = opened().initialize(stop=1000 * size), opened().initialize(stop=1000 * size)
    for i in range(1000):
        summed.step(size)
        multiplied.fmu.doStep(i * size, (i + 1) * size - i * size)
    np.testing.assert_allclose(summed.outputs(), multiplied.outputs(), rtol=1e-9, atol=1e-11)
    assert summed.said == multiplied.said == []


def test_euler_cromer(opened, tmp_path, model, fmi):
    built = export_fmu(model, tmp_path / "euler.fmu", fmi=fmi, integrator="euler-cromer", step="2 ms")
    client, direct = opened(built).initialize(), Direct(model)
    for _ in range(10):
        client.step(4e-3)
        assert direct.core.step(4e-3, 2e-3, 1, 0) == 0
    np.testing.assert_array_equal(client.outputs(), direct.outputs())


def test_models_versions_and_instances_side_by_side(opened, tmp_path, model, fmus, fmi):
    other = satellite("two-panel satellite", mass=31.0)
    another = satellite("other root", kind="attitude")
    runs = [(opened(), model), (opened(), model), *((opened(of), model) for of in fmus.values())]
    runs += [(opened(export_fmu(m, tmp_path / f"{k}.fmu", fmi=fmi)), m) for k, m in enumerate((other, another))]
    directs = [Direct(of) for _, of in runs]
    for client, _ in runs:
        client.initialize()
    for i in range(50):
        for k, ((client, _), direct) in enumerate(zip(runs, directs, strict=True)):
            client["panel.joint.torque"] = direct["panel.joint.torque"] = (k + 1) * torque(i)
            client.step()
            direct.step()
    for (client, _), direct in zip(runs, directs, strict=True):
        np.testing.assert_array_equal(client.outputs(), direct.outputs())


def test_reset_returns_to_the_file_and_repeats_the_run(opened):
    client = opened()

    def run() -> np.ndarray:
        client.initialize()
        for i in range(100):
            client["bus.torque[1]"] = torque(i)
            client.step()
        return client.outputs()

    first = run()
    client["panel.mass"], client["system.gravity[1]"] = 99.0, 5.0
    client.reset()
    assert (client["panel.mass"], client["system.gravity[1]"], client["panel.joint.angle"]) == (12.0, 0.0, 0.5)
    np.testing.assert_array_equal(run(), first)


def test_again_from_another_folder_after_the_first_is_gone(opened, versioned, tmp_path):
    first = opened(folder=tmp_path / "first").initialize()
    first.step()
    shutil.rmtree(tmp_path / "first")
    second = opened(folder=tmp_path / "second").initialize()
    second.step()
    np.testing.assert_array_equal(first.outputs(), second.outputs())
    first.reset()
    first.initialize().step()
    np.testing.assert_array_equal(first.outputs(), second.outputs())


def test_a_second_run_in_one_process(versioned):
    first, second = (fmpy.simulate_fmu(versioned, stop_time=0.1, output=["panel.joint.angle"]) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@needs_front
def test_unpacked_again_over_the_same_folder(versioned, tmp_path):
    seen = set()
    for _ in range(3):
        fmpy.extract(versioned, tmp_path)
        client = client_of(versioned, tmp_path).initialize()
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


def test_outputs_are_of_the_current_inputs_without_a_step(opened, model):
    client, direct = opened().initialize(), Direct(model)
    client.step()
    direct.step()
    client["bus.force[1]"] = direct["bus.force[1]"] = 100.0
    direct.core.outputs()
    np.testing.assert_array_equal(client.outputs(), direct.outputs())
    assert client["bus.acceleration[1]"] == pytest.approx(100.0 / 516.0, rel=0.1)


def test_values_in_any_order(opened):
    client = opened().initialize()
    client.step()
    rng = np.random.default_rng(5)
    names = client.names("input", "parameter", "output", "calculatedParameter")
    one_by_one = {name: client[name] for name in names}
    shuffled = list(rng.permutation(names))
    assert dict(zip(shuffled, client.get(shuffled), strict=True)) == one_by_one
    shuffled = list(rng.permutation(client.names("input")))
    values = rng.normal(size=len(shuffled))
    client.set(shuffled, values)
    assert [client[name] for name in shuffled] == list(values)


def test_many_instances_one_after_the_other(versioned, tmp_path):
    seen = set()
    for _ in range(200):  # pythonfmu drops a reference to the slave's module at each, see the slave
        client = client_of(versioned, tmp_path / "one").initialize()
        client.step()
        seen.add(client["bus.omega[1]"])
        client.fmu.freeInstance()
    assert len(seen) == 1
