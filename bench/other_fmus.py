"""FMUs of both kinds under FMPy, from Python."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import fmpy
from fmpy.fmi2 import FMU2Slave
from fmpy.fmi3 import FMU3Slave
from native_fmu import VERSIONS
from timing import Row, ratio

from mbdy.engine import Model
from mbdy.fmu import export_fmu

KINDS = "python", "native"
STEPS = 500
"""Steps between two looks at the clock."""


def stepper(fmu: Path, fmi: str, step: float, until: ExitStack) -> Callable[[int], None]:
    """Takes steps of a new instance, which is freed at the end of ``until``."""
    unpacked = fmpy.extract(fmu, fmu.with_suffix(""))
    description = fmpy.read_model_description(unpacked, validate=False)
    assert description.coSimulation
    kind = FMU2Slave if fmi == "2.0" else FMU3Slave
    made = kind(
        guid=description.guid, unzipDirectory=unpacked, modelIdentifier=description.coSimulation.modelIdentifier,
        instanceName="bench",
    )  # fmt: skip
    made.instantiate()
    until.callback(made.freeInstance)
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
    times: dict[str, list[float]] = {}
    with ExitStack() as until:
        for fmi in VERSIONS:
            for kind in KINDS:
                fmu = export_fmu(model, folder / f"{kind}{fmi[0]}.fmu", fmi=fmi, kind=kind, step=step)
                runs[f"{kind}{fmi[0]}"] = stepper(fmu, fmi, step, until)
        for _ in range(rounds):
            for name, run in runs.items():
                begin = time.process_time()
                run(STEPS)
                times.setdefault(name, []).append((time.process_time() - begin) / STEPS)
    return [
        (f"from Python, FMI {fmi}: doStep of kind python / native", ratio(times, *(f"{k}{fmi[0]}" for k in KINDS)), "")
        for fmi in VERSIONS
    ]
