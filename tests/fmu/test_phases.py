"""The life of an instance: each call in its phase, starts before the first step, calculated parameters, reset."""

from __future__ import annotations

import ctypes
from pathlib import Path

import fmpy
import numpy as np
import pytest
from fmpy.fmi1 import FMICallException

from flavours import Flavour
from fmu.client import ERROR, answers, client_of, needs_front, only

BELONGS_NOT = "changes nothing: it does not belong here, the FMU is"


@needs_front
def test_calls_out_of_order(opened, fmi):
    client, clean = opened(), opened().initialize()
    for call, name in (
        (client.step, "DoStep"), (client.fmu.exitInitializationMode, "ExitInitializationMode"),
        (client.fmu.terminate, "Terminate"),
    ):  # fmt: skip
        with answers(client, ERROR, f"fmi{fmi[0]}{name} {BELONGS_NOT} instantiated"):
            call()
    client.enter()
    with answers(client, ERROR, "in initialization mode"):
        client.step()
    client.fmu.exitInitializationMode()
    for one in (client, clean):
        one.step()
    calls = [
        (client.fmu.enterInitializationMode, "EnterInitializationMode"),
        (client.fmu.exitInitializationMode, "ExitInitializationMode"),
    ]
    if fmi == "2.0":
        calls.append((lambda: client.fmu.setupExperiment(startTime=7.0, stopTime=8.0), "SetupExperiment"))
    for call, name in calls:
        with answers(client, ERROR, f"fmi{fmi[0]}{name} {BELONGS_NOT} between steps"):
            call()
    for one in (client, clean):
        one.step()
    np.testing.assert_array_equal(client.outputs(), clean.outputs())
    client.fmu.terminate()
    for call in (client.fmu.terminate, client.step):
        with answers(client, ERROR, f"{BELONGS_NOT} terminated; reset it"):
            call()
    with answers(client, ERROR, "'panel.mass' not set: the FMU is terminated"):
        client["panel.mass"] = 3.0
    np.testing.assert_array_equal(client.outputs(), clean.outputs())
    client.reset()
    client.time = 0.0
    with answers(client, ERROR, "the FMU is instantiated"):
        client.step()
    client.initialize().step()


def test_starts_are_set_and_read_until_initialization_ends(opened, plant):
    client = opened()
    starts = {"panel.joint.angle": 1.0, "bus.x.speed": -30.0, "panel.mass": 25.0, "system.gravity[3]": -9.81}
    for name, value in starts.items():
        client[name] = plant[name] = value
    client.enter()
    np.testing.assert_array_equal(client.outputs(), plant.outputs().values)
    client["panel.joint.rate"] = plant["panel.joint.rate"] = 0.1
    np.testing.assert_array_equal(client.outputs(), plant.outputs().values)
    client.fmu.exitInitializationMode()
    for _ in range(10):
        client.step()
        plant.step(1e-3)
    np.testing.assert_array_equal(client.outputs(), plant.outputs().values)


CALCULATED = {"mass": 1, "centre_of_mass": 3, "momentum": 3, "angular_momentum": 3, "energy": 1}


def initial(client) -> tuple[np.ndarray, np.ndarray]:
    """The calculated parameters, and the outputs that they are taken from."""
    names = [f"{n}[{k + 1}]" if size > 1 else n for n, size in CALCULATED.items() for k in range(size)]
    return tuple(client.get([f"system{part}.{name}" for name in names]) for part in (".initial", ""))


def test_calculated_parameters_are_outputs_as_initialization_left_them(opened):
    client = opened()
    assert client.names("calculatedParameter") == [
        f"system.initial.{n}[{k + 1}]" if size > 1 else f"system.initial.{n}"
        for n, size in CALCULATED.items() for k in range(size)
    ]  # fmt: skip
    np.testing.assert_array_equal(*initial(client))
    client["panel.mass"], client["panel.joint.angle"] = 20.0, 0.9
    client.enter()
    client["bus.omega[3]"] = 0.1
    now, outputs = initial(client)
    np.testing.assert_array_equal(now, outputs)
    assert now[0] == 524.0
    client.fmu.exitInitializationMode()
    client["panel.mass"], client["bus.force[1]"] = 30.0, 100.0
    for _ in range(3):
        client.step()
        after, outputs = initial(client)
        np.testing.assert_array_equal(after, now)
    assert outputs[0] == 534.0
    client.reset()
    np.testing.assert_array_equal(*initial(client))
    assert client["system.initial.mass"] == 516.0


@needs_front
def test_calculated_parameters_wait_for_inputs_that_are_numbers(opened):
    client = opened()
    with pytest.raises(FMICallException):
        client["bus.force[1]"] = np.nan
    client.enter()
    with answers(client, ERROR, "'bus.force[1]'"):
        client.fmu.exitInitializationMode()
    client["bus.force[1]"] = 0.0
    client.fmu.exitInitializationMode()
    client.step()
    assert client["system.initial.mass"] == 516.0


def test_reset_returns_to_the_file_and_repeats_the_run(opened):
    client = opened()

    def run() -> np.ndarray:
        client.initialize()
        for i in range(100):
            client["bus.torque[1]"] = 0.3 * np.sin(0.01 * i)
            client.step()
        return client.outputs()

    first = run()
    client["panel.mass"], client["system.gravity[1]"] = 99.0, 5.0
    client.reset()
    assert (client["panel.mass"], client["system.gravity[1]"], client["panel.joint.angle"]) == (12.0, 0.0, 0.5)
    np.testing.assert_array_equal(run(), first)


@needs_front
def test_a_wrong_token_makes_no_instance(fmu, fmi, tmp_path):
    client = client_of(fmu, tmp_path / "unpacked")
    made = type(client.fmu)(**{**client._names(tmp_path / "unpacked"), "guid": "{0}"})
    log = {"callbacks": client.callbacks} if fmi == "2.0" else {"logMessage": lambda *a: client._log(*a[1:])}
    with pytest.raises(Exception):  # noqa: B017, PT011 - FMPy's own
        made.instantiate(**log)
    (told,) = client.said
    assert told[0] >= ERROR  # pythonfmu has none but fatal
    assert "'{0}' is not this FMU's" in told[2]
    client.initialize().step()
    client.reset()
    client.initialize().step()
    client.fmu.freeInstance()


@needs_front
@only([Flavour("python", "3.0"), Flavour("native", "3.0")])
def test_a_client_of_fmi_3_without_a_logger(fmu: Path, tmp_path: Path, flavour: Flavour):
    fmpy.extract(fmu, tmp_path)
    description = fmpy.read_model_description(fmu)
    name = description.coSimulation.modelIdentifier
    library = ctypes.CDLL(str(tmp_path / "binaries" / "x86_64-linux" / f"{name}.so"))
    library.fmi3InstantiateCoSimulation.restype = ctypes.c_void_p

    def instance(folder: Path):
        resources, own = f"{folder}/resources/".encode(), b"it" if flavour.kind == "native" else None
        return library.fmi3InstantiateCoSimulation(
            own, description.guid.encode(), resources, *[False] * 4, None, ctypes.c_size_t(0), None, None, None
        )

    assert flavour.kind == "native" or instance(tmp_path / "nowhere") is None
    made = ctypes.c_void_p(instance(tmp_path))
    assert made
    assert library.fmi3EnterInitializationMode(made, False, ctypes.c_double(0), ctypes.c_double(0), False) == 0
    assert library.fmi3GetInt32(made, (ctypes.c_uint * 1)(0), ctypes.c_size_t(1), None, ctypes.c_size_t(0)) == ERROR
    library.fmi3FreeInstance(made)
