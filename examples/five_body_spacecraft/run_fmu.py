"""Case 1 of the report as an FMU: FMPy steps the exported spacecraft, the controller stays in Python.

    python run_fmu.py --until 60 --out results

Writes ``five_body.fmu`` and ``fmu.csv``, prints when each jet fired first, and compares with the block.
"""

from __future__ import annotations

import csv
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from controller import SpacecraftController
from fmpy import extract, read_model_description
from fmpy.fmi2 import FMU2Slave
from numpy.typing import NDArray
from run_block import arguments, block_run, folder, print_pulses, spacecraft

from mbdy.fmu import export_fmu

ANGLES = ("yoke.joint.angle", "platform.joint.angle", "boom_link.joint.angle", "boom.joint.angle")
MEASURED = {"bus.omega": 3, "bus.attitude": 4}
"""What the controller reads, with the number of elements of each."""
COMMANDED = {"bus.torque": 3, "yoke.joint.rest": 1, "platform.joint.rest": 1}
"""What it may set."""


@dataclass(frozen=True)
class Trajectory:
    """Scalars called ``names`` at ``time`` (n) [s]: ``values`` (n, number of names)."""

    names: tuple[str, ...]
    time: NDArray[np.float64]
    values: NDArray[np.float64]


def elements(name: str, count: int) -> list[str]:
    """Names of the scalars of a variable, as FMI 2.0 has them."""
    return [name] if count == 1 else [f"{name}[{k + 1}]" for k in range(count)]


def couple(fmu: Path, controller: SpacecraftController, *, until: float, every: float = 0.05) -> Trajectory:
    """Step ``fmu`` by ``controller.sample`` [s], its inputs held over each step, and record ``every`` [s]."""
    unpacked = extract(str(fmu))
    try:
        description = read_model_description(unpacked)
        reference = {v.name: v.valueReference for v in description.modelVariables}
        slave = FMU2Slave(
            guid=description.guid, unzipDirectory=unpacked, instanceName="spacecraft",
            modelIdentifier=description.coSimulation.modelIdentifier,
        )  # fmt: skip
        slave.instantiate()
        try:
            slave.setupExperiment(startTime=0.0, stopTime=until)
            slave.enterInitializationMode()
            slave.exitInitializationMode()
            return step_through(slave, reference, controller, until=until, every=every)
        finally:
            slave.freeInstance()
    finally:
        shutil.rmtree(unpacked, ignore_errors=True)


def step_through(
    slave: FMU2Slave, reference: dict[str, int], controller: SpacecraftController, *, until: float, every: float
) -> Trajectory:
    """The co-simulation itself: read, ask the controller, set, step."""
    step = controller.sample
    measured = [reference[s] for name, count in MEASURED.items() for s in elements(name, count)]
    names = tuple(s for name, count in MEASURED.items() for s in elements(name, count)) + ANGLES
    recorded = [reference[name] for name in names]
    steps, stride = round(until / step), round(every / step)
    times, rows = [0.0], [slave.getReal(recorded)]
    for i in range(steps):
        values = slave.getReal(measured)
        given = controller(i * step, {"bus.omega": values[:3], "bus.attitude": values[3:]})
        slave.setReal(*command(given, reference))
        slave.doStep(currentCommunicationPoint=i * step, communicationStepSize=step)
        if (i + 1) % stride == 0 or i + 1 == steps:
            times.append((i + 1) * step)
            rows.append(slave.getReal(recorded))
    return Trajectory(names, np.array(times), np.array(rows))


def command(given: dict[str, object], reference: dict[str, int]) -> tuple[list[int], list[float]]:
    """Value references and values of what a controller set."""
    references: list[int] = []
    values: list[float] = []
    for name, value in given.items():
        references += [reference[s] for s in elements(name, COMMANDED[name])]
        values += value if isinstance(value, Sequence) else [value]
    return references, values


def write(trajectory: Trajectory, path: Path) -> Path:
    """The trajectory as a CSV file at full precision."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["time", *trajectory.names])
        writer.writerows(np.column_stack([trajectory.time, trajectory.values]).tolist())
    return path


def main() -> None:
    given = arguments("The five-body spacecraft as an FMU under its jet controller, coupled by FMPy.").parse_args()
    model, out = spacecraft(), folder(given.out)
    fmu = out / "five_body.fmu"
    export_fmu(model, fmu)
    controller = SpacecraftController(jets=not given.no_jets, sample=given.sample)
    begin = time.perf_counter()
    coupled = couple(fmu, controller, until=given.until)
    spent = time.perf_counter() - begin
    print(f"{fmu}: {given.until:g} s stepped by FMPy in {spent:.1f} s, {write(coupled, out / 'fmu.csv')}")
    print_pulses(controller)
    block = block_run(model, SpacecraftController(jets=not given.no_jets, sample=given.sample), until=given.until)
    apart = max(float(np.abs(block[name] - coupled.values[:, k]).max()) for k, name in enumerate(coupled.names))
    print(f"largest difference from the block: {apart:.1e} (attitude, rates, hinge angles)")


if __name__ == "__main__":
    main()
