"""The quickstart and its controller as a package under simulators: their way of exchanging values, worked out."""

from __future__ import annotations

import importlib.util
import math
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from fmpy.fmi2 import FMU2Slave
from fmpy.ssp.simulation import simulate_ssp
from fmpy.ssp.ssd import ParameterSet, read_ssv
from fmpy.validation import validate_fmu
from numpy.typing import NDArray

from mbdy.blocks import simulate
from mbdy.engine import Model, load
from mbdy.fmu import SystemNote, export_ssp

KINDS = ("python", "native")
"""What the plant's FMU is made of."""
QUICKSTART = Path(__file__).parents[2] / "examples" / "quickstart"
STEP, STEPS = 0.02, 500
WATCHED = {"bus.omega": 3, "bus.attitude": 4}
NAMES = [f"{name}[{k + 1}]" for name, count in WATCHED.items() for k in range(count)]
EXACT = 1e-12
"""The same operations in the same order, but for the times at which steps begin."""

Law = Callable[[float, Any], dict[str, list[float]]]


def law(*given: Any) -> Law:
    """The control law of the example."""
    spec = importlib.util.spec_from_file_location("quickstart_law", QUICKSTART / "controller.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.make_controller(*given)


@pytest.fixture(scope="module")
def model() -> Model:
    return load(QUICKSTART / "satellite.toml")


@pytest.fixture(scope="module")
def controller(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The FMU that the example's script makes, from a folder that is not its own."""
    folder = tmp_path_factory.mktemp("controller")
    script = [sys.executable, str(QUICKSTART / "controller_fmu.py"), "-o", "made/controller.fmu"]
    done = subprocess.run(script, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "made" / "controller.fmu"


@pytest.fixture(scope="module", params=KINDS)
def package(request, model: Model, controller: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_ssp(model, controller, tmp_path_factory.mktemp("ssp") / "system.ssp", kind=request.param)


@pytest.fixture(scope="module", params=KINDS)
def bare(request, model: Model, controller: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package without outputs of the system, which libcosim does not take."""
    return export_ssp(model, controller, tmp_path_factory.mktemp("ssp") / "bare.ssp", kind=request.param, outputs=())


def delayed(control: Law, *, initialised: bool) -> Law:
    """``control`` as a master lets it act: what it makes of the values of one instant acts from the next one on.

    A master that has ``initialised`` the connections begins with what the controller makes of the start values. One
    that has not begins with a torque of zero, and the controller with inputs of zero.
    """
    pending: list[dict[str, list[float]]] = []

    def act(t: float, y: Mapping[str, Any]) -> dict[str, list[float]]:
        blind = not initialised and not pending
        made = control(t, {name: [0.0 if blind else float(value) for value in y[name]] for name in WATCHED})
        first = {"bus.torque": [0.0, 0.0, 0.0]} if blind else made
        given = pending.pop() if pending else first
        pending.append(made)
        return given

    return act


def expected(model: Model, control: Law, *, steps: int = STEPS) -> NDArray[np.float64]:
    run = simulate(model, until=steps * STEP, every=STEP, controller=control, sample=STEP)
    return np.hstack([run[name] for name in WATCHED])[1:]


def under_fmpy(package: Path, *, steps: int = STEPS, **options: Any) -> NDArray[np.void]:
    """Rows after each of the steps."""
    return simulate_ssp(str(package), stop_time=(steps - 0.5) * STEP, step_size=STEP, **options)


def columns(rows: NDArray[np.void], prefix: str = "") -> NDArray[np.float64]:
    return np.column_stack([rows[prefix + name] for name in NAMES])


def test_the_controller_is_a_valid_fmu(controller):
    assert validate_fmu(str(controller)) == []
    description = fmpy.read_model_description(controller)
    units = {v.name.split("[")[0]: (v.causality, v.unit) for v in description.modelVariables}
    assert units == {
        "bus.attitude": ("input", "1"), "bus.omega": ("input", "rad/s"), "bus.torque": ("output", "N.m"),
        "target": ("parameter", "1"), "bandwidth": ("parameter", "rad/s"), "ratio": ("parameter", "1"),
    }  # fmt: skip
    with zipfile.ZipFile(controller) as opened:
        slave = opened.read("resources/slavemodule.txt").decode()
        assert opened.read(f"resources/{slave}_law.py") == (QUICKSTART / "controller.py").read_bytes()
    assert slave.startswith("attitude_controller_")


@pytest.fixture
def alone(controller: Path, tmp_path: Path) -> Iterator[Callable[[dict[str, float], list[str]], list[float]]]:
    """``alone(inputs, names)``: the controller's FMU by itself; sets and reads variables by name."""
    description = fmpy.read_model_description(controller)
    place = {v.name: v.valueReference for v in description.modelVariables}
    assert description.coSimulation is not None
    fmu = FMU2Slave(
        guid=description.guid,
        unzipDirectory=fmpy.extract(controller, tmp_path / "controller"),
        modelIdentifier=description.coSimulation.modelIdentifier,
        instanceName="controller",
    )
    fmu.instantiate()
    fmu.setupExperiment(startTime=0.0)
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()

    def ask(inputs: dict[str, float], names: list[str]) -> list[float]:
        fmu.setReal([place[name] for name in inputs], list(inputs.values()))
        return fmu.getReal([place[name] for name in names])

    yield ask
    fmu.freeInstance()


def test_the_controller_obeys_the_law_and_its_parameters(alone):
    q, omega, target = [0.8, 0.6, 0.0, 0.0], [0.01, -0.02, 0.03], [0.6, 0.0, 0.8, 0.0]
    torque = [f"bus.torque[{k}]" for k in (1, 2, 3)]
    seen = dict(zip(NAMES, [*omega, *q], strict=True))
    values = {"bus.attitude": q, "bus.omega": omega}
    assert alone(seen, torque) == law()(0.0, values)["bus.torque"]
    changed = {f"target[{k + 1}]": target[k] for k in range(4)} | {"bandwidth": 0.3, "ratio": 0.5}
    assert alone(changed, torque) == law(target, 0.3, 0.5)(0.0, values)["bus.torque"]


def test_fmpy_runs_the_closed_loop(package, model):
    """FMPy steps both with what they gave in the step before, and with zeros in the first."""
    rows = under_fmpy(package)
    wanted = expected(model, delayed(law(), initialised=False))
    np.testing.assert_allclose(columns(rows), wanted, rtol=0, atol=EXACT)
    np.testing.assert_array_equal(columns(rows), columns(rows, "plant."))


def test_the_delay_of_a_step_is_all_that_differs_from_the_block(package, model):
    """Half the step, half the difference from a controller that acts at once."""
    apart = []
    for step in (STEP, STEP / 2):
        rows = simulate_ssp(str(package), stop_time=10.0 - step / 2, step_size=step)
        run = simulate(model, until=10.0, every=step, controller=law(), sample=step)
        apart.append(float(np.abs(np.hstack([run[name] for name in WATCHED])[1:] - columns(rows)).max()))
    assert 0.4 < apart[1] / apart[0] < 0.6
    assert apart[0] < 0.01


def test_fmpy_sets_parameters_of_both(package, model):
    """FMPy takes a set whose names begin with the component; those in the package are the FMUs' own."""
    given = ParameterSet(name="changed")
    for part, changes in (("plant", {"right_panel.mass": "30"}), ("controller", {"bandwidth": "0.3"})):
        for parameter in read_ssv(str(package), f"resources/{part}.ssv").parameters:
            if parameter.name in changes:
                parameter.name, parameter.value = f"{part}.{parameter.name}", changes[parameter.name]
                given.parameters.append(parameter)
    assert len(given.parameters) == 2
    plain, changed = under_fmpy(package, steps=50), under_fmpy(package, steps=50, parameter_set=given)
    assert np.abs(columns(plain) - columns(changed)).max() > 1e-3


def test_libcosim_runs_the_closed_loop(bare, model):
    """libcosim begins with what the controller makes of the start values; then it steps as FMPy does."""
    np.testing.assert_allclose(
        under_libcosim(bare), expected(model, delayed(law(), initialised=True))[:, :3], rtol=0, atol=EXACT
    )


def test_libcosim_takes_parameters_from_the_package(bare, model, tmp_path):
    changed = edited(bare, tmp_path / "changed.ssp", "resources/controller.ssv", {'value="0.16"': 'value="0.3"'})
    control = law((1.0, 0.0, 0.0, 0.0), 0.3)
    wanted = expected(model, delayed(control, initialised=True), steps=50)[:, :3]
    np.testing.assert_allclose(under_libcosim(changed, steps=50), wanted, rtol=0, atol=EXACT)


def test_libcosim_converts_units(model, controller, tmp_path):
    """The same controller, said to take its rates in deg/s, is given 57.3 times the number."""
    factor = math.pi / 180
    unit = f'<Unit name="deg/s"><BaseUnit s="-1" rad="1" factor="{factor!r}" /></Unit>'
    changes = {'<Unit name="N.m">': f'{unit}<Unit name="N.m">', 'start="0" unit="rad/s"': 'start="0" unit="deg/s"'}
    said = edited(controller, tmp_path / "degrees.fmu", "modelDescription.xml", changes)
    with pytest.warns(SystemNote, match="converted by a linear transformation"):
        package = export_ssp(model, said, tmp_path / "degrees.ssp", outputs=())

    def control(t: float, y: Mapping[str, Any]) -> dict[str, list[float]]:
        return law()(t, {**y, "bus.omega": [rate / factor for rate in y["bus.omega"]]})

    wanted = expected(model, delayed(control, initialised=True), steps=20)[:, :3]
    np.testing.assert_allclose(under_libcosim(package, steps=20), wanted, rtol=0, atol=EXACT)


def test_libcosim_knows_the_step_from_the_package(bare):
    from_package = under_libcosim(bare, steps=20, step=None)
    np.testing.assert_array_equal(from_package, under_libcosim(bare, steps=20))


def test_pyssp_finds_nothing_wrong(package):
    ssp = pytest.importorskip("pyssp_standard.ssp")
    with ssp.SSP(package, mode="r") as opened:
        description = opened.system_structure
        description.__check_compliance__()
        assert description.check_connections(connector_not_in_system=True) == []
        assert len(opened.ssv) == 2
        for values in opened.ssv:
            values.__check_compliance__()


def under_libcosim(package: Path, *, steps: int = STEPS, step: float | None = STEP) -> NDArray[np.float64]:
    """Rates of the bus after each of the steps."""
    pytest.importorskip("libcosimpy")
    from libcosimpy.CosimExecution import CosimExecution
    from libcosimpy.CosimLogging import CosimLogLevel, log_output_level
    from libcosimpy.CosimObserver import CosimObserver

    log_output_level(CosimLogLevel.ERROR)
    options = {} if step is None else {"step_size": round(step * 1e9)}
    execution = CosimExecution.from_ssp_file(ssp_path=str(package), **options)
    observer = CosimObserver.create_last_value()
    execution.add_observer(observer=observer)
    plant = execution.slave_index_from_instance_name("plant")
    assert plant is not None
    with zipfile.ZipFile(package) as opened, opened.open("resources/plant.fmu") as fmu:
        place = {v.name: v.valueReference for v in fmpy.read_model_description(fmu).modelVariables}
    rows = []
    for _ in range(steps):
        assert execution.step()
        rows.append(list(observer.last_real_values(plant, [place[name] for name in NAMES[:3]])))
    return np.array(rows)


def edited(source: Path, path: Path, entry: str, changes: Mapping[str, str]) -> Path:
    """The archive at ``source`` written to ``path`` with text in one of its files replaced."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            for before, after in changes.items() if name == entry else ():
                assert before.encode() in data
                data = data.replace(before.encode(), after.encode())
            new.writestr(name, data)
    return path
