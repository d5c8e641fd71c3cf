"""Any controller that is an FMU (FMI 2.0, co-simulation) closes the loop of a rig, by FMPy, over UDP.

    python ../quickstart/controller_fmu.py -o controller.fmu
    mbdy rig ../quickstart/satellite.toml --header satellite.py
    python run_fmu.py controller.fmu --period 0.02 --port 5001

Variables of the FMU that are called as outputs of the plant are given those, ones called as inputs give them.
"""

from __future__ import annotations

import argparse
import re
import shutil
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from fmpy import extract, read_model_description
from fmpy.fmi2 import FMU2Slave
from link import Link, layout_in

ELEMENT = re.compile(r"(.*)\[(\d+)\]")


class Controller:
    """The FMU in the file at ``path`` beside the plant of a ``layout``, stepped with a ``period`` [s]."""

    def __init__(self, path: str, layout: ModuleType, period: float) -> None:
        description = read_model_description(path)
        references = {v.name: v.valueReference for v in description.modelVariables}
        causes = {v.name: v.causality for v in description.modelVariables}
        self.taken = {name: place for name, place in places(layout.OUTPUTS).items() if causes.get(name) == "input"}
        self.given = {name: place for name, place in places(layout.INPUTS).items() if causes.get(name) == "output"}
        self.reads, self.writes = ([references[name] for name in names] for names in (self.taken, self.given))
        self.start, self.period, self.time, self.folder = layout.START, period, 0.0, extract(path)
        self.fmu = FMU2Slave(
            guid=description.guid, unzipDirectory=self.folder, instanceName="controller",
            modelIdentifier=description.coSimulation.modelIdentifier,
        )  # fmt: skip
        self.fmu.instantiate()
        self.fmu.setupExperiment(startTime=0.0)
        self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()

    def answer(self, y: Any) -> Mapping[str, list[float]]:
        """Inputs of the plant for its outputs ``y``: the FMU's outputs at this instant; then it goes on a period."""
        self.fmu.setReal(self.reads, [float(y[name] if k is None else y[name][k]) for name, k in self.taken.values()])
        inputs = {name: list(self.start[name]) for name, _ in self.given.values()}
        for (name, k), value in zip(self.given.values(), self.fmu.getReal(self.writes), strict=True):
            inputs[name][k or 0] = value
        self.fmu.doStep(self.time, self.period)
        self.time += self.period
        return inputs

    def close(self) -> None:
        """End it and remove what was unpacked."""
        self.fmu.terminate()
        self.fmu.freeInstance()
        shutil.rmtree(self.folder, ignore_errors=True)


def places(record: Any) -> dict[str, tuple[str, int | None]]:
    """Field and element of each double of a record, by the scalar's name."""
    found: dict[str, tuple[str, int | None]] = {}
    for name in record.names:
        size = record[name].shape[0] if record[name].shape else 0
        found |= {f"{name}[{k + 1}]": (name, k) for k in range(size)} if size else {name: (name, None)}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Closes the loop of a rig with a controller that is an FMU.")
    parser.add_argument("fmu", help="the controller")
    parser.add_argument("--period", type=float, default=0.02, help="of the rig [s] (0.02)")
    parser.add_argument("--layout", default="satellite.py", help="file of mbdy rig --header (satellite.py)")
    parser.add_argument("--address", default="127.0.0.1", help="of the rig (127.0.0.1)")
    parser.add_argument("--port", type=int, default=5001, help="of the rig (5001)")
    given = parser.parse_args()
    layout, answered = layout_in(given.layout), 0
    controller = Controller(given.fmu, layout, given.period)
    link = Link((given.address, given.port), layout)
    try:
        for y in link.outputs():
            link.send(controller.answer(y))
            answered += 1
    finally:
        controller.close()
    print(f"{answered} outputs answered")


if __name__ == "__main__":
    main()
