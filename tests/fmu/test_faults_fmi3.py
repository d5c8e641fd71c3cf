"""What only FMI 3.0 has and pythonfmu3 would leave undone or end its host at."""

from __future__ import annotations

import ctypes
from pathlib import Path

import fmpy
import numpy as np
import pytest

from fmu.client import ERROR, needs_front, refused
from mbdy.fmu import export_fmu

pytestmark = needs_front


@pytest.fixture
def fmi() -> str:
    return "3.0"


def test_arrays_are_set_and_read_whole(opened):
    client = opened().initialize()
    vr = client.place["bus.force"]
    for call in (
        lambda: client.fmu.getFloat64([vr]), lambda: client.fmu.getFloat64([vr], nValues=4),
        lambda: client.fmu.setFloat64([vr], [1.0]), lambda: client.fmu.setFloat64([vr], [1.0] * 4),
    ):  # fmt: skip
        with refused():
            call()
        assert "values for variables that have 3 elements together" in client.last
    with refused():
        client.fmu.getFloat64([vr + 1])
    assert f"value reference {vr + 1} is an element, 'bus.force[2]': use its array's, {vr}" in client.last
    with refused():
        client.fmu.getBoolean([client.place["panel.joint.locked"]], nValues=2)
    client.fmu.setFloat64([vr, client.place["panel.mass"]], [1.0, 2.0, 3.0, 20.0])
    assert client.fmu.getFloat64([client.place["panel.mass"], vr], nValues=4) == [20.0, 1.0, 2.0, 3.0]
    client.step()


@pytest.mark.parametrize(
    "name",
    [
        "EnterEventMode", "EnterStepMode", "EnterConfigurationMode", "ExitConfigurationMode", "UpdateDiscreteStates",
        "EvaluateDiscreteStates", "GetDirectionalDerivative", "GetAdjointDerivative", "GetOutputDerivatives",
        "GetNumberOfVariableDependencies", "GetVariableDependencies", "GetIntervalDecimal", "SetShiftFraction",
        "ActivateModelPartition", "SetTime", "GetContinuousStates", "GetNumberOfEventIndicators",
    ],
)  # fmt: skip
def test_what_pythonfmu3_would_end_the_host_at_or_take_for_done(opened, name):
    client = opened().initialize()
    library = ctypes.CDLL(client.fmu.dll._name)  # FMPy's own looks at arguments
    assert getattr(library, f"fmi3{name}")(ctypes.c_void_p(client.fmu.component)) == ERROR
    client.step()


def test_clocks_and_bytes_that_no_variable_is(opened):
    client = opened().initialize()
    for call in (
        lambda: client.fmu.getClock([0]),
        lambda: client.fmu.getBinary([0]),
        lambda: client.fmu.setClock([0], [1]),
    ):
        with refused():
            call()
        assert "can be neither set nor read as another type" in client.last


def test_a_client_of_fmi_3_without_a_logger(versioned, tmp_path):
    fmpy.extract(versioned, tmp_path)
    description = fmpy.read_model_description(versioned)
    name = description.coSimulation.modelIdentifier
    library = ctypes.CDLL(str(tmp_path / "binaries" / "x86_64-linux" / f"{name}.so"))
    library.fmi3InstantiateCoSimulation.restype = ctypes.c_void_p

    def instance(folder: Path):
        resources = f"{folder}/resources/".encode()
        return library.fmi3InstantiateCoSimulation(
            None, description.guid.encode(), resources, *[False] * 4, None, ctypes.c_size_t(0), None, None, None
        )

    assert instance(tmp_path / "nowhere") is None
    made = ctypes.c_void_p(instance(tmp_path))
    assert made
    assert library.fmi3EnterInitializationMode(made, False, ctypes.c_double(0), ctypes.c_double(0), False) == 0
    assert library.fmi3GetInt32(made, (ctypes.c_uint * 1)(0), ctypes.c_size_t(1), None, ctypes.c_size_t(0)) == ERROR
    library.fmi3FreeInstance(made)


def test_the_time_is_a_variable(opened):
    client = opened()
    assert client["time"] == 0.0
    client.initialize(start=3.0)
    assert client["time"] == 3.0
    client.step()
    assert client["time"] == 3.001
    with refused():
        client["time"] = 4.0
    assert "'time' is calculated and cannot be set to 4.0" in client.last


def test_scalars_instead_of_arrays(opened, tmp_path, model):
    flat = opened(export_fmu(model, tmp_path / "flat.fmu", fmi="3.0", scalars=True)).initialize()
    client = opened().initialize()
    for one in (flat, client):
        one["bus.force[2]"] = 3.0
        one.step()
    assert flat.elements == {}
    names = flat.names("input", "parameter", "output", "calculatedParameter")
    np.testing.assert_array_equal(flat.get(names), client.get(names))
