"""Value references, types, arrays and their sizes: what is not a variable's is refused and changes nothing."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from flavours import NATIVE, UNLIKE
from fmu.client import ERROR, answers, needs_front, only

pytestmark = needs_front
OTHERS = {
    "2.0": {"Integer": 1, "String": "one"},
    "3.0": {
        "Float32": 1.0, "Int8": 1, "UInt8": 1, "Int16": 1, "UInt16": 1, "Int32": 1, "UInt32": 1, "Int64": 1,
        "UInt64": 1, "String": "one",
    },
}  # fmt: skip
"""Types that no variable has, with a value of each."""
FMI3 = [one for one in UNLIKE if one.fmi == "3.0"]


@pytest.mark.parametrize("place", [100_000, 2**31, 2**32 - 20, 2**32 - 1])
def test_a_value_reference_that_does_not_exist(opened, place):
    client = opened().initialize()
    for call in (
        lambda: client.get_reals([place]), lambda: client.fmu.getBoolean([place]),
        lambda: client.set_reals([place], [1.0]), lambda: client.fmu.setBoolean([place], [True]),
    ):  # fmt: skip
        with answers(client, ERROR, f"no value reference {place}: they end at"):
            call()
    client["panel.joint.torque"] = 0.1  # a refusal is of one call
    client.step()


@pytest.mark.parametrize("name", ["panel.mass", "panel.joint.locked", "system.energy", None])
def test_types_that_no_variable_has(opened, name, fmi, flavour):
    client, clean = opened().initialize(), opened().initialize()
    vr = [client.place.get(name, 100_000)]
    for sort, value in OTHERS[fmi].items():
        said = sort if flavour.kind == "native" or fmi == "2.0" else "another type"
        for call, arguments in ((f"get{sort}", (vr,)), (f"set{sort}", (vr, [value]))):
            with answers(client, ERROR, f"there are no variables of type {said}"):
                getattr(client.fmu, call)(*arguments)
    for one in (client, clean):
        one.step()
    np.testing.assert_array_equal(client.outputs(), clean.outputs())


@pytest.mark.parametrize("text", [b"\xff\xfe", None])
def test_a_text_that_is_none(opened, text, fmi):
    client = opened().initialize()
    places, texts, n = (ctypes.c_uint * 2)(0, 1), (ctypes.c_char_p * 2)(text, text), ctypes.c_size_t(2)
    call = getattr(client.fmu.dll, f"fmi{fmi[0]}SetString")
    assert call(ctypes.c_void_p(client.fmu.component), places, n, texts, *([n] if fmi == "3.0" else [])) == ERROR
    client.step()


def test_real_and_boolean_are_not_mixed(opened):
    client = opened().initialize()
    lock, mass = client.place["panel.joint.locked"], client.place["panel.mass"]
    for call, words in (
        (lambda: client.set_reals([lock], [0.5]), "'panel.joint.locked' is a Boolean variable"),
        (lambda: client.get_reals([mass, lock]), "'panel.joint.locked' is a Boolean variable"),
        (lambda: client.fmu.setBoolean([mass], [True]), "'panel.mass' is a floating-point variable"),
        (lambda: client.fmu.getBoolean([mass]), "'panel.mass' is a floating-point variable"),
    ):
        with answers(client, ERROR, words):
            call()
    assert (client["panel.mass"], client.fmu.getBoolean([lock])) == (12.0, [False])
    client.step()


@only(FMI3)
def test_arrays_are_set_and_read_whole(opened):
    client = opened().initialize()
    vr = client.place["bus.force"]
    for call, got in (
        (lambda: client.fmu.getFloat64([vr]), 1), (lambda: client.fmu.getFloat64([vr], nValues=4), 4),
        (lambda: client.fmu.setFloat64([vr], [1.0]), 1), (lambda: client.fmu.setFloat64([vr], [1.0] * 4), 4),
    ):  # fmt: skip
        with answers(client, ERROR, f"3 values go with these value references, not {got}"):
            call()
    with answers(client, ERROR, f"value reference {vr + 1} is 'bus.force[2]', an element: use that of its array"):
        client.fmu.getFloat64([vr + 1])
    with answers(client, ERROR, "1 values go with"):
        client.fmu.getBoolean([client.place["panel.joint.locked"]], nValues=2)
    client.fmu.setFloat64([vr, client.place["panel.mass"]], [1.0, 2.0, 3.0, 20.0])
    assert client.fmu.getFloat64([client.place["panel.mass"], vr], nValues=4) == [20.0, 1.0, 2.0, 3.0]
    client.step()


@only(FMI3)
def test_clocks_and_bytes_that_no_variable_is(opened):
    client = opened().initialize()
    for call in (
        lambda: client.fmu.getClock([0]), lambda: client.fmu.getBinary([0]), lambda: client.fmu.setClock([0], [1]),
    ):  # fmt: skip
        with answers(client, ERROR, "there are no variables of type "):
            call()


@only(FMI3)
def test_the_time_is_a_variable(opened):
    client = opened()
    assert client["time"] == 0.0
    client.initialize(start=3.0)
    assert client["time"] == 3.0
    client.step()
    assert client["time"] == 3.001
    with answers(client, ERROR, "'time' not set: it is the time"):
        client["time"] = 4.0


@only(FMI3)
def test_scalars_instead_of_arrays(opened, export, model):
    flat = opened(export(model, scalars=True)).initialize()
    client = opened().initialize()
    assert flat.elements == {}
    assert all(v.shape in ((), None) for v in flat.description.modelVariables)
    for one in (flat, client):
        one["bus.force[2]"], one["bus.torque[2]"] = 3.0, 0.4
        one.step(0.1)
    names = flat.names("input", "parameter", "output", "calculatedParameter")
    np.testing.assert_array_equal(flat.get(names), client.get(names))


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


@only([one for one in FMI3 if one not in NATIVE])
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
