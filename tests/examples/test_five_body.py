"""The five-body spacecraft of JPL TR 32-1592 against an independent integration, as a block and as an FMU."""

from __future__ import annotations

from pathlib import Path

import fmpy
import numpy as np
import pytest
from fmpy import fmi2

from mbdy.blocks import Plant, Run, simulate
from mbdy.engine import Model, ModelWarning, load
from mbdy.fmu import export_fmu

FOLDER = Path(__file__).parents[2] / "examples" / "five_body_spacecraft"
UNTIL, EVERY = 60.0, 0.05
HINGES = ("yoke", "platform", "boom_link", "boom")

STATE_TOLERANCE = 1e-9  # rad, rad/s: 1 ms RK4 leaves 4e-10; the reference has 12 digits of angles up to 3.8
TORQUE_TOLERANCE = 1e-7  # N.m: 3500 N.m/rad times the error of an angle
ORDER = (14.0, 18.0)  # a halved step of RK4 leaves 1/16; 10 ms are 0.23 rad of the fastest hinge mode
FMU_TOLERANCE = 1e-12  # the FMU contains the very core that the block runs
SAMPLE = 1e-3  # s
FINE_SAMPLE = 2.5e-4  # s


@pytest.fixture(scope="module")
def model() -> Model:
    with pytest.warns(ModelWarning) as told:
        read = load(FOLDER / "five_body.toml")
    places = " ".join(str(warning.message) for warning in told)
    assert "body.bus.inertia" in places
    assert "body.boom_link.mass" in places
    return read


@pytest.fixture(scope="module")
def reference() -> dict[str, np.ndarray]:
    """Columns of the reference trajectory; vectors under their name without index."""
    with (FOLDER / "data" / "case1_no_control.csv").open(encoding="utf-8") as file:
        names = file.readline().strip().split(",")
        table = np.loadtxt(file, delimiter=",")
    columns = dict(zip(names, table.T, strict=True))
    for name in ("bus.attitude", "bus.omega"):
        columns[name] = table[:, [k for k, column in enumerate(names) if column.startswith(name)]]
    return columns


@pytest.fixture(scope="module")
def controls(example):
    return example("five_body_spacecraft", "controller")


def uncontrolled(model: Model, controls, step: float) -> Run:
    """Case 1 without jets, the commanded angles linear within a step."""
    time = np.arange(round(UNTIL / step) + 1) * step
    commands = np.array([controls.platform_command(t) for t in time])
    table = {"time": time, "yoke.joint.rest": commands[:, 0], "platform.joint.rest": commands[:, 1]}
    return simulate(model, until=UNTIL, every=EVERY, inputs=table, linear=True, step=step)


def state_errors(run: Run, reference) -> dict[str, float]:
    """Largest difference from the reference, by variable."""
    names = ["bus.attitude", "bus.omega", *(f"{b}.joint.{what}" for b in HINGES for what in ("angle", "rate"))]
    return {name: float(np.abs(run[name] - reference[name]).max()) for name in names}


def hinge_torques(run: Run, model: Model, controls) -> dict[str, np.ndarray]:
    """Torque of spring and damper at each hinge [N.m] by the report's law."""
    commands = np.array([controls.platform_command(t) for t in run.time])
    rest = {"yoke": commands[:, 0], "platform": commands[:, 1], "boom_link": 0.0, "boom": 0.0}
    torques = {}
    for body in HINGES:
        joint = model.body(body).joint
        twist = run[f"{body}.joint.angle"] - rest[body]
        torques[body] = -joint.stiffness[0] * twist - joint.damping[0] * run[f"{body}.joint.rate"]
    return torques


def test_run_without_jets_agrees_with_the_reference(model, controls, reference):
    run = uncontrolled(model, controls, 1e-3)
    np.testing.assert_allclose(run.time, reference["time"], rtol=0, atol=1e-9)
    errors = state_errors(run, reference)
    assert all(error < STATE_TOLERANCE for error in errors.values()), errors
    for body, torque in hinge_torques(run, model, controls).items():
        wanted = reference[f"{body}.hinge_torque"]
        np.testing.assert_allclose(torque, wanted, rtol=0, atol=TORQUE_TOLERANCE)
        # The load through the joint, seen along the hinge axis, is that torque: the equations agree with the law.
        axis = np.array(model.body(body).joint.rotations[0])
        np.testing.assert_allclose(run[f"{body}.joint.load"][:, :3] @ axis, wanted, rtol=0, atol=TORQUE_TOLERANCE)


def test_error_falls_with_the_fourth_power_of_the_step(model, controls, reference):
    coarse, fine = (uncontrolled(model, controls, step) for step in (10e-3, 5e-3))
    before, after = state_errors(coarse, reference), state_errors(fine, reference)
    ratios = {name: before[name] / after[name] for name in before}
    assert all(ORDER[0] < ratio < ORDER[1] for ratio in ratios.values()), ratios


def test_momentum_returns_to_zero_and_the_platform_to_its_command(model, controls):
    run = uncontrolled(model, controls, 1e-3)
    assert np.abs(run["system.angular_momentum"]).max() < 1e-11  # N.m.s, of 25 N.m.s that the slewed platform has
    ends = [run[f"{body}.joint.angle"][-1] * controls.DEGREES_PER_RADIAN for body in ("yoke", "platform")]
    np.testing.assert_allclose(ends, [167.999982, 20.0005188], rtol=0, atol=1e-6)


def test_first_pulses(model, example):
    """Sampled at 1 ms the first firing of all is met to a sample; later ones carry what earlier pulses were late by,
    which a finer sample takes away."""
    script = example("five_body_spacecraft", "run_block")
    wanted = np.array(script.REFERENCE_PULSES)
    until = float(wanted.max()) + 0.1
    controller = script.SpacecraftController(sample=SAMPLE)
    script.block_run(model, controller, until=until)
    late = np.abs(np.array(controller.first_pulses()) - wanted)
    assert late[1] < SAMPLE
    assert np.all(late < 3 * SAMPLE), late
    controller = script.SpacecraftController(sample=FINE_SAMPLE)
    script.block_run(model, controller, until=until)
    late = np.abs(np.array(controller.first_pulses()) - wanted)
    assert np.all(late < SAMPLE / 2), late


def test_controller_confines_the_attitude(model, example):
    script = example("five_body_spacecraft", "run_block")
    controller = script.SpacecraftController()
    run = script.block_run(model, controller, until=UNTIL)
    angles = np.array([example("five_body_spacecraft", "controller").sensor_angles(*q) for q in run["bus.attitude"]])
    assert np.abs(angles).max() < 0.005  # rad: the report's dead band
    for pulse in controller.pulses:
        assert pulse.end is None or pulse.end - pulse.begin >= 0.020 - 1e-9


def test_fmu_under_fmpy_is_the_plant(model, controls, tmp_path):
    """60 s of the slew, inputs held over 1 ms in both; jets in a fixed pattern, so that no switch hides anything."""
    path = export_fmu(model, tmp_path / "five_body.fmu")
    unpacked = tmp_path / "unpacked"
    description = fmpy.read_model_description(str(path))
    fmpy.extract(str(path), str(unpacked))
    places = {v.name: v.valueReference for v in description.modelVariables}
    plant = Plant(model, step=SAMPLE)
    outputs = [places[name] for name in plant.output_names]
    commanded = ["yoke.joint.rest", "platform.joint.rest", "bus.torque[1]", "bus.torque[2]", "bus.torque[3]"]
    inputs = [places[name] for name in commanded]
    at = [plant.input_names.index(name) for name in commanded]
    slave = fmi2.FMU2Slave(
        guid=description.guid, unzipDirectory=str(unpacked), instanceName="five_body",
        modelIdentifier=description.coSimulation.modelIdentifier,
    )  # fmt: skip
    slave.instantiate()
    try:
        slave.setupExperiment(startTime=0.0, stopTime=UNTIL)
        slave.enterInitializationMode()
        slave.exitInitializationMode()
        np.testing.assert_allclose(slave.getReal(outputs), plant.outputs().values, rtol=0, atol=FMU_TOLERANCE)
        for i in range(round(UNTIL / SAMPLE)):
            t = i * SAMPLE
            values = [*controls.platform_command(t), *jet_pattern(i)]
            slave.setReal(inputs, values)
            slave.doStep(currentCommunicationPoint=t, communicationStepSize=SAMPLE)
            plant.inputs.values[at] = values
            seen = plant.step(SAMPLE).values
            if i % 50 == 49:
                np.testing.assert_allclose(slave.getReal(outputs), seen, rtol=0, atol=FMU_TOLERANCE, err_msg=f"{t} s")
    finally:
        slave.freeInstance()


def jet_pattern(step: int) -> list[float]:
    """20 ms pulses of all jets in turn, a second apart."""
    second, within = divmod(step, 1000)
    torque = (0.23, -0.21, 0.31)[second % 3] if within < 20 else 0.0
    return [torque if axis == second % 3 else 0.0 for axis in range(3)]


def test_coupled_fmu_fires_the_same_pulses(model, example, tmp_path):
    """The example itself: FMPy, the FMU and the controller fire the jets when the block does."""
    script = example("five_body_spacecraft", "run_fmu")
    fmu = script.export_fmu(model, tmp_path / "five_body.fmu")
    until = 20.0
    coupled, block = script.SpacecraftController(), script.SpacecraftController()
    trajectory = script.couple(fmu, coupled, until=until)
    run = script.block_run(model, block, until=until)
    np.testing.assert_allclose(trajectory.time, run.time, rtol=0, atol=1e-9)
    for k, name in enumerate(trajectory.names):
        np.testing.assert_allclose(trajectory.values[:, k], run[name], rtol=0, atol=FMU_TOLERANCE, err_msg=name)
    assert [(p.axis, p.sign, round(p.begin, 6)) for p in coupled.pulses] == [
        (p.axis, p.sign, round(p.begin, 6)) for p in block.pulses if p.begin < until - SAMPLE / 2
    ]
