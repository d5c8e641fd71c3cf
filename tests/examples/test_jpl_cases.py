"""The cases of JPL TR 32-1592 by its own subroutines, against independent integrations and the report's statements."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from mbdy.blocks import CelestialSensors

ROOT = Path(__file__).parents[2]
ROOMS = os.pathsep.join(str(ROOT / room) for room in ("engine", "blocks", "fmu_src", "app"))

AGREEMENT = 1e-7
"""In every column, in SI: the torques of 3500 N.m/rad springs come nearest to it."""
FIRST_PULSES = (18.41794, 4.60882, 32.23540)
"""[s] Of the reference, by axis."""
PULSE = 1e-4  # s
DEGREES = 57.2957795


class Examples:
    """Modules of the example, which are imported once so that their classes are one."""

    def __init__(self, example) -> None:
        self.reference: ModuleType = example("jpl_cases", "reference")
        self.run: ModuleType = example("jpl_cases", "run")
        self._runs: dict[tuple[str, str], Any] = {}

    def trajectory(self, case: str, subroutine: str = "MBDY"):
        """A case without jets, run once."""
        key = case, subroutine
        if key not in self._runs:
            self._runs[key] = self.run.program(case, subroutine).run()
        return self._runs[key]

    def with_jets(self, case: str, **more: Any):
        return self.run.run_with_jets(self.run.CASES[case], **more)


@pytest.fixture(scope="module")
def examples(example) -> Examples:
    return Examples(example)


@pytest.mark.parametrize(
    ("case", "subroutine", "wanted"),
    [
        ("case1", "MBDY", "case1"),
        ("prescribed", "MBDY", "prescribed"),
        ("case2", "MBDY", "case2"),
        ("case2", "MBDYTL", "case2 linear"),
        ("case2", "MBDYL", "case2 linear"),
    ],
)
def test_runs_without_jets_agree_with_the_reference_in_every_column(examples, case, subroutine, wanted):
    reference = examples.reference.reference(wanted)
    found = examples.reference.differences(examples.trajectory(case, subroutine), reference)
    assert len(found) >= 5
    assert all((worst < AGREEMENT).all() for worst in found.values()), found


@pytest.mark.parametrize("step", [4e-3, 2e-3])
def test_first_pulses_are_those_of_the_reference(examples, step):
    located = examples.with_jets("case1", until=32.3, step=step)
    firsts = [located.first(axis) for axis in range(3)]
    np.testing.assert_allclose(firsts, FIRST_PULSES, rtol=0, atol=PULSE)
    # "Control jets began pulsing at about t = 4.6 s in that axis, while pulsing in the other axes was not required
    # until much later."
    assert np.argsort(firsts).tolist() == [1, 0, 2]
    assert abs(firsts[1] - 4.6) < 0.05
    assert min(firsts[0], firsts[2]) > 3 * firsts[1]


@pytest.mark.slow
def test_all_pulses_are_those_of_the_reference(examples):
    """Not only the first ones: 282 pulses in 60 s, each after all that the earlier ones have done."""
    located = examples.with_jets("case1")
    for axis, wanted in examples.reference.reference_pulses().items():
        found = [(pulse.begin, pulse.sign) for pulse in located.pulses(axis - 1)]
        assert len(found) == len(wanted)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=PULSE)
    sensors = CelestialSensors()
    angles = np.array([sensors.step(0.0, q) for q in located.run["body0.attitude"]])
    assert np.abs(angles).max() < 0.005  # rad: the dead band
    ends = DEGREES * np.array([located.run[f"body{k}.joint.angle"][-1] for k in (1, 2)])
    np.testing.assert_allclose(ends, [168, 20], rtol=0, atol=1e-3)


@pytest.mark.slow
def test_prescribed_motion_is_virtually_the_same_with_jets(examples):
    """Attitudes, and rates less the vibration of the platform that prescribed motion does not have."""
    free, prescribed = examples.with_jets("case1").run, examples.with_jets("prescribed").run
    assert np.abs(free["body0.attitude"] - prescribed["body0.attitude"]).max() < 2e-4
    assert np.abs(free["body0.omega"] - prescribed["body0.omega"]).max() < 2e-3  # rad/s
    first = free.time <= 1.0
    vibration = [float(np.ptp(run["body0.omega"][first], axis=0).max()) for run in (free, prescribed)]
    assert vibration[1] < 0.7 * vibration[0]


def test_linear_subroutines_are_virtually_mbdy_in_case_2(examples):
    """The report: "very slight differences visible in the angular rate responses", and MBDYL's are MBDYTL's exactly."""
    exact, first, constant = (examples.trajectory("case2", name) for name in ("MBDY", "MBDYTL", "MBDYL"))
    for name, values in first.columns.items():
        np.testing.assert_array_equal(constant[name], values, err_msg=name)
    apart = {name: float(np.abs(first[name] - exact[name]).max()) for name in ("THET", "W", "GM", "GMD")}
    assert apart["THET"] == pytest.approx(5.2e-5, rel=0.02)  # rad, of 2.3e-3
    assert apart["W"] == pytest.approx(1.03e-4, rel=0.02)  # rad/s, of 1.3e-3
    assert apart["GM"] == pytest.approx(2.6e-5, rel=0.02)  # rad
    assert apart["GMD"] == pytest.approx(5.1e-4, rel=0.02)  # rad/s


def test_no_jet_fires_in_case_2(examples):
    assert np.abs(examples.trajectory("case2")["IN"]).max() < 0.0039 < 0.005  # rad
    located = examples.with_jets("case2", until=20.0, step=5e-3)
    assert not located.switches


def test_partly_linear_is_indistinguishable_in_case_1(examples):
    exact, partly = examples.trajectory("case1"), examples.trajectory("case1", "MBDYPL")
    assert examples.run.program("case1", "MBDYPL").m.TI.tolist() == [0, 0, 1, 1]
    early = exact.time <= 10.0
    apart = np.abs(exact["W"] - partly["W"])
    assert apart[early].max() < 1e-10  # rad/s
    assert apart.max() < 1e-8


def test_the_manoeuvres_end_where_they_should(examples):
    slew, nudge = examples.trajectory("case1"), examples.trajectory("case2")
    np.testing.assert_allclose(DEGREES * slew["GM"][-1, :2], [168, 20], rtol=0, atol=1e-3)
    np.testing.assert_allclose(DEGREES * nudge["GM"][-1, :2], [220, -25], rtol=0, atol=1e-3)
    after = slew.time >= 50.5
    drift = np.polyfit(slew.time[after], slew["THET"][after], 1)[0]
    assert np.abs(drift).max() < 1e-6  # rad/s: without jets the average rates return to zero
    prescribed = examples.trajectory("prescribed")
    np.testing.assert_allclose(prescribed["GMD"][100, :2], [-0.01745329, 0.01745329], rtol=0, atol=1e-8)


def test_the_vehicle_about_the_nominal_angles_is_the_report_s(examples):
    """Fig. 15 and page 66, rounded there to the digits compared."""
    vehicle = examples.run.at_nominal(examples.run.vehicle(), examples.run.NOMINAL)
    np.testing.assert_allclose(vehicle.G[1], [0.77715, 0.62932, 0], rtol=0, atol=6e-6)
    np.testing.assert_allclose(vehicle.PA[1, 1], [-0.18092, 0.22342, 0.07582], rtol=0, atol=6e-6)
    np.testing.assert_allclose(vehicle.PA[0, 1], [-0.06293, 0.07772, -0.75], rtol=0, atol=6e-6)
    np.testing.assert_allclose(vehicle.MA[1, :6], [3.52, 3.79, 5.24, -1.25, 0.75, -0.73], rtol=0, atol=5.1e-3)
    np.testing.assert_allclose(vehicle.PA[0, 0], [0, 0, -0.75], rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("arguments", "written"),
    [
        (("--case", "case2", "--subroutine", "MBDYL"), "case2_MBDYL.csv"),
        (("--case", "prescribed"), "prescribed_MBDY.csv"),
    ],
)
def test_script_runs(arguments: tuple[str, ...], written: str, tmp_path: Path):
    script = ROOT / "examples" / "jpl_cases" / "run.py"
    command = [sys.executable, str(script), *arguments, "--out", str(tmp_path / "results")]
    environment = os.environ | {"PYTHONPATH": ROOMS}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stderr
    assert "largest differences from the reference" in done.stdout
    assert (tmp_path / "results" / written).stat().st_size > 0


def test_a_case_that_the_linear_ones_do_not_have_is_refused(tmp_path: Path):
    script = ROOT / "examples" / "jpl_cases" / "run.py"
    environment = os.environ | {"PYTHONPATH": ROOMS}
    command = [sys.executable, str(script), "--case", "case1", "--subroutine", "MBDYL"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "give --case case2" in done.stderr
