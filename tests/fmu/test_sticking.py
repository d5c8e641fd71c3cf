"""Friction that sticks in FMUs: event indicators and events of model exchange; co-simulation as the block has it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fmpy import read_model_description, simulate_fmu

from mbdy.blocks import Plant
from mbdy.engine import loads
from mbdy.fmu import export_fmu

MODEL = loads("""
mbdy = 1
[body.disc]
mass = 1
inertia = [2, 2, 2]
[body.disc.joint]
to = "inertial"
kind = "revolute"
axis = [0, 0, 1]
friction = { coulomb = "0.4 N*m", breakaway = 0.5 }
[body.swing]
mass = 1
inertia = [0.5, 0.5, 0.5]
[body.swing.joint]
to = "inertial"
kind = "revolute"
axis = [0, 0, 1]
stiffness = 8
friction = { coulomb = 0.7 }
[initial]
disc.joint.rate = 0.5
swing.joint.angle = 1.0
""")
LEFT = 1.0 - 2 * 0.7 / 8 * 6
"""[rad] Where the swing stops, after six halves."""
NAMES = ["disc.joint.rate", "disc.joint.angle", "swing.joint.angle", "swing.joint.rate", "disc.joint.reaction"]


@pytest.mark.parametrize("fmi", ["2.0", pytest.param("3.0", marks=pytest.mark.slow)])
def test_an_importer_finds_where_friction_holds_and_slips(fmi: str, tmp_path: Path) -> None:
    fmu = export_fmu(MODEL, tmp_path / "dry.fmu", fmi=fmi)
    described = read_model_description(str(fmu))
    margins = [v.name for v in described.modelVariables if v.name.endswith("friction.margin")]
    assert margins == ["disc.joint.friction.margin", "swing.joint.friction.margin"]
    assert fmi == "3.0" or described.numberOfEventIndicators == 2
    assert len(described.eventIndicators) == (2 if fmi == "3.0" else 0)
    jumps = [(0.0, 0.0), (4.0, 0.0), (4.0, 0.49), (6.0, 0.49), (6.0, 0.6), (8.0, 0.6)]
    torques = np.array(jumps, dtype=[("time", float), ("disc.joint.torque", float)])
    runs = {
        kind: simulate_fmu(
            str(fmu), fmi_type=kind, stop_time=8.0, output_interval=0.01, step_size=0.01, relative_tolerance=1e-9,
            input=torques, output=NAMES,
        )
        for kind in ("ModelExchange", "CoSimulation")
    }  # fmt: skip
    exchange = runs["ModelExchange"]
    stopped = (exchange["time"] > 2.6) & (exchange["time"] < 5.99) & (np.abs(exchange["time"] - 4.0) > 1e-3)
    assert np.ptp(exchange["disc.joint.rate"][stopped]) == 0.0
    np.testing.assert_allclose(exchange["disc.joint.angle"][stopped], 0.5**2 * 2 / (2 * 0.4), rtol=1e-7)
    pushed = np.where(exchange["time"][stopped] > 4.0, 0.49, 0.0)
    np.testing.assert_allclose(exchange["disc.joint.reaction"][stopped], -pushed, atol=1e-12)
    assert exchange["disc.joint.rate"][-1] == pytest.approx(2.0 * (0.6 - 0.4) / 2, rel=1e-6)
    assert exchange["swing.joint.angle"][-1] == pytest.approx(LEFT, abs=1e-6)
    assert exchange["swing.joint.rate"][-1] == 0.0
    at = np.interp(runs["CoSimulation"]["time"], exchange["time"], exchange["swing.joint.angle"])
    np.testing.assert_allclose(runs["CoSimulation"]["swing.joint.angle"], at, atol=1e-4)
    plant = Plant(MODEL)
    assert float(plant.step(8.0)["swing.joint.angle"]) == pytest.approx(LEFT, rel=1e-9)
    assert runs["CoSimulation"]["swing.joint.angle"][-1] == pytest.approx(LEFT, rel=1e-9)
