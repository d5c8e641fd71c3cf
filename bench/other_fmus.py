"""FMUs of both kinds under FMPy, from Python; and what an export takes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import fmpy
from fmpy.fmi2 import FMU2Slave
from fmpy.fmi3 import FMU3Slave
from native_fmu import VERSIONS, Row, ratio

from mbdy.engine import Model, dumps
from mbdy.fmu import export_fmu

KINDS = "python", "native"
STEPS = 500
"""Steps between two looks at the clock."""


def stepper(fmu: Path, fmi: str, step: float) -> Callable[[int], None]:
    """Takes steps of a new instance."""
    unpacked = fmpy.extract(fmu, fmu.with_suffix(""))
    description = fmpy.read_model_description(unpacked, validate=False)
    assert description.coSimulation
    kind = FMU2Slave if fmi == "2.0" else FMU3Slave
    made = kind(
        guid=description.guid, unzipDirectory=unpacked, modelIdentifier=description.coSimulation.modelIdentifier,
        instanceName="bench",
    )  # fmt: skip
    made.instantiate()
    if isinstance(made, FMU2Slave):
        made.setupExperiment(startTime=0.0)
    made.enterInitializationMode()
    made.exitInitializationMode()
    now = 0.0

    def run(count: int) -> None:
        nonlocal now
        for _ in range(count):
            made.doStep(now, step)
            now += step

    return run


def under_fmpy(model: Model, folder: Path, step: float, rounds: int) -> list[Row]:
    """doStep of both kinds."""
    runs: dict[str, Callable[[int], None]] = {}
    for fmi in VERSIONS:
        for kind in KINDS:
            fmu = export_fmu(model, folder / f"{kind}{fmi[0]}.fmu", fmi=fmi, kind=kind, step=step)
            runs[f"{kind}{fmi[0]}"] = stepper(fmu, fmi, step)
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            begin = time.process_time()
            run(STEPS)
            times[name].append((time.process_time() - begin) / STEPS)
    return [
        (f"from Python, FMI {fmi}: doStep of kind python / native", ratio(times, *(f"{k}{fmi[0]}" for k in KINDS)), "")
        for fmi in VERSIONS
    ]


EXPORT = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
from mbdy.engine import load
from mbdy.fmu import export_fmu
model, begin = load(sys.argv[1]), time.perf_counter()
made = export_fmu(model, sys.argv[2], fmi=sys.argv[3], kind="native")
print(json.dumps([time.perf_counter() - begin, made.stat().st_size]))
"""


def exports(model: Model, folder: Path, versions: tuple[str, ...] = VERSIONS) -> list[tuple[str, float, float, float]]:
    """Wall seconds of a native export with an empty cache and again, each in a new process; KiB of the file."""
    file, rows = folder / "model.toml", []
    file.write_text(dumps(model), encoding="utf-8")
    for fmi in versions:
        command = [sys.executable, "-c", EXPORT, str(file), str(folder / f"export{fmi[0]}.fmu"), fmi]
        environment = os.environ | {
            "MBDY_CACHE": str(folder / f"cache{fmi[0]}"),
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        said = [subprocess.run(command, env=environment, check=True, capture_output=True, text=True) for _ in range(2)]
        (cold, size), (warm, _) = (json.loads(done.stdout) for done in said)
        rows.append((f"{model.name.partition(' (')[0]}, FMI {fmi}", cold, warm, size / 1024))
    return rows
