"""Controllers in C, in Python and as an FMU close the loop of a rig as `simulate` does with their law."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mbdy.blocks import simulate
from mbdy.blocks.rig import Rig
from mbdy.blocks.rig.layout import PacketLayout
from mbdy.blocks.rig.layout_text import c_header, numpy_module
from mbdy.engine import load
from mbdy.engine.core.build import compiler

EXAMPLES = Path(__file__).parents[2] / "examples"
RIG, MODEL = EXAMPLES / "rig", EXAMPLES / "quickstart/satellite.toml"
PERIOD, UNTIL = 0.02, 20.0

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a rig needs Linux")


@pytest.fixture(scope="module")
def reference(example):
    """The states at the end of a run under the law in Python."""
    law = example("quickstart", "controller").make_controller()
    return simulate(MODEL, until=UNTIL, every=PERIOD, controller=law, sample=PERIOD)


def in_c(folder: Path, port: str) -> list[str]:
    (folder / "satellite.h").write_text(c_header(PacketLayout.of(load(MODEL))))
    strict = ("-std=c99", "-pedantic-errors", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-O2", "-ffp-contract=off")
    command = [*compiler().command, *strict, "-I.", str(RIG / "controller.c"), "-o", "controller"]
    subprocess.run(command, cwd=folder, check=True)
    return ["./controller", "127.0.0.1", port]


def in_python(folder: Path, port: str) -> list[str]:
    (folder / "satellite.py").write_text(numpy_module(PacketLayout.of(load(MODEL))))
    return [sys.executable, str(RIG / "run_python.py"), "--port", port]


def as_an_fmu(folder: Path, port: str) -> list[str]:
    in_python(folder, port)
    build = [sys.executable, str(EXAMPLES / "quickstart/controller_fmu.py"), "-o", "controller.fmu"]
    subprocess.run(build, cwd=folder, check=True)
    return [sys.executable, str(RIG / "run_fmu.py"), "controller.fmu", "--period", str(PERIOD), "--port", port]


@pytest.mark.parametrize("client", [in_c, in_python, as_an_fmu])
def test_three_controllers_give_the_trajectory_of_simulate(client, reference, tmp_path):
    with Rig(MODEL, rate=f"{1 / PERIOD:g} Hz", keeper="lockstep", udp="127.0.0.1:0", watchdog=None) as rig:
        assert rig.address
        command = client(tmp_path, str(rig.address[1]))
        with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as controller:
            result = rig.run(until=UNTIL)
            said, _ = controller.communicate(timeout=30)
        outputs = rig.plant.outputs()
    assert (result.end, controller.returncode, said) == ("done", 0, f"{round(UNTIL / PERIOD)} outputs answered\n")
    for name in ("bus.attitude", "bus.omega", "right_panel.joint.angle"):
        np.testing.assert_allclose(outputs[name], reference[name][-1], rtol=1e-12, atol=1e-12)
