"""A latch stops a hinge as momentum has it: closed forms of one hinge and of a chain, in the block and in the FMU."""

from __future__ import annotations

import sys
from pathlib import Path

import fmpy
import numpy as np
import pytest
from fmpy import fmi2

from mbdy.blocks import Plant
from mbdy.engine import Model, load
from mbdy.fmu import export_fmu

FOLDER = Path(__file__).parents[2] / "examples" / "latching_panel"
CLOSED_FORM_TOLERANCE = 1e-12  # of the energy, of the largest momentum of a body: rounding
FMU_TOLERANCE = 1e-12  # the FMU contains the very core that the block runs
UNTIL = 8.0  # s: the panel has latched


@pytest.fixture(scope="module")
def script(example):
    return example("latching_panel", "run")


@pytest.fixture(scope="module")
def controls(example):
    return example("latching_panel", "controller")


@pytest.fixture(scope="module")
def closed(example):
    return example("latching_panel", "closed_form")


@pytest.fixture(scope="module")
def panel() -> Model:
    return load(FOLDER / "panel.toml")


@pytest.fixture(scope="module")
def wing() -> Model:
    return load(FOLDER / "wing.toml")


def latched(model: Model, starts: dict[str, object], hinges: tuple[str, ...]):
    """Outputs before and after all ``hinges`` are locked in one step that is too short for anything else."""
    plant = Plant(model)
    for name, value in starts.items():
        plant[name] = value
    before = plant.outputs()
    for hinge in hinges:
        plant[f"{hinge}.joint.locked"] = True
    return before, plant.step(1e-9), plant


def test_the_panel_unfolds_and_latches_at_its_stop(script, controls, panel: Model):
    controller = controls.make_controller()
    run = script.unfold(panel, controller, until=UNTIL)
    assert not run["panel.joint.angle"][run.time <= controls.RELEASE].any()  # the hold-downs hold the wound spring
    (event,) = controller.stopped
    at = round(event.time / controls.SAMPLE)
    angle, rate = run["panel.joint.angle"], run["panel.joint.rate"]
    assert angle[at - 1] < controls.STOPS["panel"] <= angle[at] < controls.STOPS["panel"] + rate[at] * controls.SAMPLE
    assert not rate[at + 1 :].any()
    assert np.ptp(angle[at:]) == 0


def test_its_momentum_and_energy_are_those_of_the_closed_form(script, controls, closed, panel: Model):
    """Two bodies, one hinge, in the run itself: nothing else happens in the step of the latch."""
    controller = controls.make_controller()
    run = script.unfold(panel, controller, until=UNTIL)
    at = round(controller.stopped[0].time / controls.SAMPLE)
    rate, angle, energy = run["panel.joint.rate"][at], run["panel.joint.angle"][at], run["system.energy"]
    lost = energy[at] - energy[at + 1]
    wanted = 0.5 * closed.hinge_inertia(panel, angle) * rate**2
    assert lost == pytest.approx(wanted, rel=0, abs=CLOSED_FORM_TOLERANCE * energy[0])
    assert wanted > 0.2 * energy[0]
    locked = closed.locked_energy(panel, script.outputs(run, at))
    assert energy[at + 1] == pytest.approx(locked, rel=0, abs=CLOSED_FORM_TOLERANCE * energy[0])
    jump = run["system.angular_momentum"][at + 1] - run["system.angular_momentum"][at]
    carried = panel.body("panel").inertia[1][1] * rate
    assert np.abs(jump).max() < CLOSED_FORM_TOLERANCE * carried
    # It started at rest: the bus turns back while the panel opens, and stands still once it is latched.
    assert np.abs(run["bus.omega"][at + 1]).max() < 1e-14
    assert np.abs(run["bus.omega"][at]).max() > 0.1


def test_a_tumbling_satellite_latches_likewise(closed, panel: Model):
    """In three dimensions: the rates after the latch are those of one rigid body with the same momentum."""
    starts = {
        "bus.omega": [0.1, -0.2, 0.3], "bus.attitude": [0.5, 0.5, -0.5, 0.5], "bus.velocity": [1.0, -2.0, 0.5],
        "panel.joint.angle": 1.2, "panel.joint.rate": 0.7,
    }  # fmt: skip
    before, after, _ = latched(panel, starts, ("panel",))
    y = {name: np.asarray(before[name]) for name in dict.fromkeys(n.partition("[")[0] for n in before.names)}
    H, energy = y["system.angular_momentum"], float(y["system.energy"])
    size = np.linalg.norm(H)
    np.testing.assert_allclose(after["system.angular_momentum"], H, rtol=0, atol=CLOSED_FORM_TOLERANCE * size)
    np.testing.assert_allclose(after["system.momentum"], y["system.momentum"], rtol=CLOSED_FORM_TOLERANCE)
    assert after["system.energy"] == pytest.approx(closed.locked_energy(panel, y), rel=CLOSED_FORM_TOLERANCE)
    assert after["system.energy"] < energy - 1
    spin = closed.rotation(y["bus.attitude"]).T @ np.linalg.solve(closed.inertia(panel, y), H)
    np.testing.assert_allclose(after["bus.omega"], spin, rtol=0, atol=1e-9)  # 1 ns at 0.1 rad/s2 and less
    np.testing.assert_array_equal(after["panel.joint.rate"], 0.0)


def test_a_chain_is_locked_in_one_step_and_released_at_rest(script, controls, closed, wing: Model):
    controller = controls.make_wing_controller()
    run = script.unfold(wing, controller, until=15.0)
    assert [event.hinges for event in controller.stopped] == [("inner", "outer"), ("inner",), ("outer",)]
    energy, H = run["system.energy"], run["system.angular_momentum"]
    rates = np.column_stack([run[f"{hinge}.joint.rate"] for hinge in ("inner", "outer")])
    braked = controller.stopped[0]
    at = round(braked.time / controls.SAMPLE)
    assert np.all(rates[at] > 0.1)
    until = round(controls.BRAKE[1] / controls.SAMPLE)
    assert not rates[at + 1 : until + 1].any()  # the row of the release is the last at rest
    assert np.all(rates[until + 1] != 0)
    for event in (controller.stopped[0], controller.stopped[-1]):  # everything is locked after these
        at = round(event.time / controls.SAMPLE)
        locked = closed.locked_energy(wing, script.outputs(run, at))
        assert energy[at + 1] == pytest.approx(locked, rel=0, abs=CLOSED_FORM_TOLERANCE * energy[0])
        assert energy[at] - energy[at + 1] > 0.5
    size = np.linalg.norm(H[0])
    np.testing.assert_allclose(H, np.broadcast_to(H[0], H.shape), rtol=0, atol=1e-11 * size)  # RK4 at 1 ms for 15 s


def test_a_chain_locked_at_once_ends_as_when_locked_one_by_one(wing: Model):
    """Whatever the order, one rigid body with the momentum of before is left."""
    starts = {"inner.joint.angle": 0.9, "inner.joint.rate": 0.5, "outer.joint.angle": 1.4, "outer.joint.rate": -0.8}
    _, at_once, _ = latched(wing, starts, ("inner", "outer"))
    for first, second in (("inner", "outer"), ("outer", "inner")):
        _, partly, plant = latched(wing, starts, (first,))
        assert partly[f"{first}.joint.rate"] == 0
        assert partly[f"{second}.joint.rate"] != 0
        plant[f"{second}.joint.locked"] = True
        after = plant.step(1e-9)
        np.testing.assert_array_equal([after[f"{h}.joint.rate"] for h in ("inner", "outer")], 0.0)
        np.testing.assert_allclose(after["bus.omega"], at_once["bus.omega"], rtol=0, atol=1e-8)  # 1 ns of free motion
        assert after["system.energy"] == pytest.approx(at_once["system.energy"], rel=1e-9)


def test_the_fmu_latches_under_fmpy(controls, panel: Model, tmp_path: Path):
    """The controller drives the FMU through its Boolean input, and everything is as in the block."""
    path = export_fmu(panel, tmp_path / "panel.fmu")
    description = fmpy.read_model_description(str(path))
    unpacked = fmpy.extract(str(path), str(tmp_path / "unpacked"))
    place = {v.name: v.valueReference for v in description.modelVariables}
    slave = fmi2.FMU2Slave(
        guid=description.guid, unzipDirectory=unpacked, instanceName="panel",
        modelIdentifier=description.coSimulation.modelIdentifier,
    )  # fmt: skip
    plant, controller, step = Plant(panel), controls.make_controller(), controls.SAMPLE
    outputs = [place[name] for name in plant.output_names]
    slave.instantiate()
    try:
        slave.setupExperiment(startTime=0.0, stopTime=UNTIL)
        slave.enterInitializationMode()
        slave.exitInitializationMode()
        for i in range(round(UNTIL / step)):
            seen = {"panel.joint.angle": slave.getReal([place["panel.joint.angle"]])[0]}
            locked = controller(i * step, seen)["panel.joint.locked"]
            slave.setBoolean([place["panel.joint.locked"]], [locked])
            slave.doStep(currentCommunicationPoint=i * step, communicationStepSize=step)
            plant["panel.joint.locked"] = locked
            y = plant.step(step)
            if i % 50 == 49:
                np.testing.assert_allclose(slave.getReal(outputs), y.values, rtol=0, atol=FMU_TOLERANCE)
        assert len(controller.stopped) == 1
        assert slave.getReal([place["panel.joint.rate"]]) == [0.0]
    finally:
        slave.freeInstance()


def test_script_runs_from_any_folder(script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["run.py", "--until", "3", "--out", "results"])
    script.main()
    for name in ("panel.csv", "wing.csv"):
        assert (tmp_path / "results" / name).stat().st_size > 0
    assert "inner 12.860 deg (16.71 deg/s), outer 7.558 deg (10.21 deg/s)" in capsys.readouterr().out
