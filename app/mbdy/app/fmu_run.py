"""An FMU of ours stepped by FMPy under a controller, recorded as a `Run`."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
from fmpy.fmi2 import FMU2Slave
from fmpy.model_description import read_model_description
from numpy.typing import NDArray

from mbdy.app.common import RequestError
from mbdy.app.progress import Tell
from mbdy.blocks import Outputs, Run
from mbdy.blocks.plant.typed import OutputLayout
from mbdy.engine import Model, Ports, ports

Array = NDArray[np.float64]
Controller = Callable[[float, Outputs], Mapping[str, Any]]


def step_fmu(
    path: Path, model: Model, controller: Controller, *, until: float, sample: float, stride: int, tell: Tell
) -> Run:
    """The FMU at ``path`` (of ``model``) stepped every ``sample`` [s] to ``until`` [s] under ``controller``.

    ``controller`` is ``f(t, y) -> {name: value}`` as for `mbdy.blocks.simulate`; every ``stride``-th sample is
    recorded.
    """
    table = ports(model)
    described = read_model_description(str(path))
    assert described.coSimulation is not None
    references = {variable.name: variable.valueReference for variable in described.modelVariables}
    unpacked = fmpy.extract(str(path))
    try:
        slave = FMU2Slave(
            guid=described.guid,
            unzipDirectory=unpacked,
            modelIdentifier=described.coSimulation.modelIdentifier,
            instanceName=model.name,
        )
        slave.instantiate()
        try:
            slave.setupExperiment(startTime=0.0, stopTime=until)
            slave.enterInitializationMode()
            slave.exitInitializationMode()
            times, values = _stepped(slave, references, table, controller, until, sample, stride, tell)
            slave.terminate()
        finally:
            slave.freeInstance()
    finally:
        shutil.rmtree(unpacked, ignore_errors=True)
    return Run(model.name, table, table.output_names, times, values)


def _stepped(
    slave: FMU2Slave,
    references: Mapping[str, int],
    table: Ports,
    controller: Controller,
    until: float,
    sample: float,
    stride: int,
    tell: Tell,
) -> tuple[Array, Array]:
    steps = round(until / sample)
    outputs = [references[name] for name in table.output_names]
    layout, times, rows = OutputLayout(table), [], []
    for i in range(steps + 1):
        time = i * sample
        y = Outputs(layout, time, np.array(slave.getReal(outputs)))
        names, values = _scalars(table, controller(time, y))
        slave.setReal([references[name] for name in names], values)
        if i % stride == 0:
            times.append(time)
            rows.append(slave.getReal(outputs))
            tell(i / steps)
        if i < steps:
            slave.doStep(currentCommunicationPoint=time, communicationStepSize=(i + 1) * sample - time)
    return np.array(times), np.array(rows)


def _scalars(table: Ports, commands: Mapping[str, Any]) -> tuple[list[str], list[float]]:
    """Inputs by name, vectors among them, as the scalars that an FMU knows."""
    names: list[str] = []
    values: list[float] = []
    for name, value in commands.items():
        try:
            variable, part = table.find(name)
        except KeyError as fault:
            raise RequestError(f"the controller gives {name!r}: {fault.args[0]}") from None
        elements = variable.scalar_names[part]
        numbers = np.asarray(value, dtype=float).ravel().tolist()
        if variable.causality != "input" or len(numbers) != len(elements):
            needed = (
                f"must be an input of {len(elements)} values" if variable.causality == "input" else "is not an input"
            )
            raise RequestError(f"the controller gives {name!r} {len(numbers)} values: it {needed}")
        names += elements
        values += numbers
    return names, values
