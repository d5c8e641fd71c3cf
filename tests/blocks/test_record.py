"""Inputs, commands and logged signals beside the outputs of a run; runs and outputs as mappings on one screen."""

from __future__ import annotations

import csv
import math

import numpy as np
import pytest

from mbdy.blocks import Plant, SimulationError, simulate, simulate_located
from mbdy.engine import Body, Joint, Model
from systems import diagonal


def arm() -> Model:
    hinge = Joint(to="inertial", kind="revolute", rotations=((0.0, 0.0, 1.0),), damping=(0.5,))
    body = Body(name="arm", mass=2.0, com=(0.5, 0.0, 0.0), inertia=diagonal(1.0, 2.0, 2.0), joint=hinge)
    return Model(name="arm", bodies=(body,), initial={"arm.joint.angle": (0.3,)})


def steer(t, y):
    error = 0.1 - y["arm.joint.angle"]
    return {"arm.joint.torque": 4 * error, "log.error [deg]": math.degrees(error), "log.both": [t, error]}


def test_commands_and_signals_are_columns(tmp_path):
    run = simulate(arm(), until=1.0, every=0.1, controller=steer, sample=0.05, record=["*.torque"])
    np.testing.assert_allclose(run["arm.joint.torque"], 4 * np.radians(run["log.error"]), rtol=1e-12)
    assert run["log.both"].shape == (11, 2)
    np.testing.assert_allclose(run["log.both"][:, 0], run.time, atol=1e-12)
    assert [v.unit for v in run.signals] == ["deg", ""]
    assert run["arm.torque"].shape == (11, 3)
    header = next(csv.reader(run.to_csv(tmp_path / "run.csv").read_text().splitlines()))
    assert header[-3:] == ["log.error", "log.both[1]", "log.both[2]"]
    assert "arm.joint.torque" in header
    assert len(run.plot("log.error", "arm.joint.torque").data) == 2
    pytest.importorskip("xarray")
    assert run.to_xarray()["log.error"].attrs["units"] == "deg"


def test_inputs_without_a_controller():
    table = {"time": [0.0, 0.5], "arm.joint.torque": [1.0, 2.0]}
    for linear, middle in ((False, 1.0), (True, 1.6)):
        run = simulate(arm(), until=1.0, every=0.1, inputs=table, linear=linear, record=["arm.joint.torque"])
        assert run["arm.joint.torque"][[0, 3, 5, 10]] == pytest.approx([1.0, middle, 2.0, 2.0])
    plant = Plant(arm())
    plant["arm.joint.torque"] = 3.0
    assert (simulate(plant, until=0.2, every=0.1, record="*.joint.torque")["arm.joint.torque"] == 3.0).all()
    with pytest.raises(ValueError, match=r"no input matches 'arm\.joint\.torqe'.*arm\.joint\.torque"):
        simulate(arm(), until=0.1, record=["arm.joint.torqe"])


def test_a_located_run_records_too():
    plant = Plant(arm(), interpolation="linear")
    located = simulate_located(plant, until=0.1, every=0.05, controller=steer, blocks=[], record=["arm.joint.torque"])
    run = located.run
    np.testing.assert_allclose(run["arm.joint.torque"], 4 * np.radians(run["log.error"]), rtol=1e-12)


def test_a_signal_that_begins_late_and_bad_ones():
    run = simulate(arm(), until=0.2, every=0.1, sample=0.1, controller=lambda t, y: {"log.late": t} if t else None)
    np.testing.assert_array_equal(run["log.late"], [math.nan, 0.1, 0.2])
    for given, message in (
        ({"log.a b": 1.0}, "log.a b"), ({"log.a": "1"}, "real numbers"), ({"log.a": 1j}, "real numbers"),
        ({"log.a[1]": 1.0}, "elements go together"), ({"log.a [deg]": 1.0, "log.a": 2.0}, "give one name"),
        ({"log.a": [[1.0]]}, "a row of them"), ({"log.a": []}, "a row of them"), ({"log.": 1.0}, "log"),
    ):  # fmt: skip
        with pytest.raises(SimulationError, match=message) as caught:
            simulate(arm(), until=0.2, every=0.1, sample=0.1, controller=lambda t, y, g=given: g if t else None)
        assert len(caught.value.run) == 1
    with pytest.raises(SimulationError, match="2 values are needed each time"):
        simulate(arm(), until=0.2, every=0.1, sample=0.1, controller=lambda t, y: {"log.a": [1.0] * (3 if t else 2)})


def test_runs_and_outputs_are_mappings():
    plant = Plant(arm())
    y = plant.step(0.1)
    assert list(y) == list(y.keys()) == list(dict(y))
    assert len(y) == len(dict(y))
    assert "arm.omega" in y
    assert "arm.omega[2]" in y
    assert "arm.omga" not in y
    assert 3 not in y
    run = simulate(plant, until=0.2, every=0.1, outputs=["arm.omega", "arm.position[2]"])
    assert list(run) == ["time", "arm.omega", "arm.position[2]"]
    assert {name: array.shape for name, array in dict(run).items()} == {
        "time": (3,), "arm.omega": (3, 3), "arm.position[2]": (3,),
    }  # fmt: skip
    assert "time" in run
    assert "arm.omega[1]" in run
    assert "arm.position" not in run
    assert len(run) == 3
    with pytest.raises(KeyError, match=r"not recorded; the nearest known is 'arm\.position\[2\]'"):
        run["arm.position[1]"]
    with pytest.raises(KeyError, match=r"arm\.omgea.*arm\.omega"):
        run["arm.omgea"]
    for thing in (run, y):
        assert len(repr(thing)) < 400
        assert "<table>" in thing._repr_html_()
