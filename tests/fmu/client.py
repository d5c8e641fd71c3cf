"""A satellite, a client of its FMU that names variables and keeps what is logged, and the same without an FMU."""

from __future__ import annotations

import ctypes
from pathlib import Path

import fmpy
import numpy as np
from fmpy.fmi2 import (
    FMU2Slave,
    fmi2CallbackAllocateMemoryTYPE,
    fmi2CallbackFreeMemoryTYPE,
    fmi2CallbackFunctions,
    fmi2CallbackLoggerTYPE,
)

from mbdy.engine import Body, Joint, Model, Node, Wheel, compiled
from systems import diagonal, floating


def satellite(name: str = "two-panel satellite", *, mass: float = 12.0, kind: str = "free") -> Model:
    """A free bus with a wheel and a node, a sprung panel that can be locked, a panel on a cylindrical joint."""
    panel = Joint(
        to="bus", kind="revolute", rotations=((0.0, 1.0, 0.0),), at=(0.0, 0.6, 0.0),
        stiffness=(40.0,), damping=(0.8,), motion=("switchable",),
    )  # fmt: skip
    boom = Joint(
        to="bus", kind="cylindrical", translations=((1.0, 0.0, 0.0),), rotations=((1.0, 0.0, 0.0),),
        at=(0.4, 0.0, 0.0), stiffness=(300.0, 20.0), damping=(5.0, 0.4),
    )  # fmt: skip
    bus = Body(
        name="bus",
        mass=500.0,
        com=(0.0, 0.0, 0.1),
        inertia=((410.0, 0.0, 0.0), (0.0, 380.0, 14.0), (0.0, 14.0, 300.0)),
        joint=floating(kind),
        wheels={"x": Wheel(axis=(1.0, 0.0, 0.0), inertia=0.05)},
        nodes={"tip": Node(at=(0.2, 0.0, 0.9))},
    )
    return Model(
        name=name,
        bodies=(
            bus,
            Body(name="panel", mass=mass, com=(0.0, 1.1, 0.0), inertia=diagonal(9.8, 0.4, 10.1), joint=panel),
            Body(name="boom", mass=4.0, com=(0.7, 0.0, 0.0), inertia=diagonal(0.1, 0.9, 0.9), joint=boom),
        ),
        initial={"bus.omega": (0.02, 0.01, 0.0), "panel.joint.angle": (0.5,), "bus.x.speed": (100.0,)},
    )


class Client:
    """One instance of an FMU under FMPy, its variables by name; ``said`` is what it logged."""

    def __init__(self, fmu: Path, folder: Path, *, logging: bool = False) -> None:
        if not (folder / "modelDescription.xml").exists():
            fmpy.extract(fmu, folder)
        self.description = fmpy.read_model_description(fmu)
        self.place = {v.name: v.valueReference for v in self.description.modelVariables}
        self.said: list[tuple[int, str, str]] = []
        self.callbacks = fmi2CallbackFunctions()
        self.callbacks.logger = fmi2CallbackLoggerTYPE(self._log)
        libc = ctypes.CDLL(None)
        self.callbacks.allocateMemory = fmi2CallbackAllocateMemoryTYPE(libc.calloc)
        self.callbacks.freeMemory = fmi2CallbackFreeMemoryTYPE(libc.free)
        self.fmu = FMU2Slave(
            guid=self.description.guid,
            unzipDirectory=folder,
            modelIdentifier=self.description.coSimulation.modelIdentifier,
            instanceName="under test",
        )
        self.fmu.instantiate(callbacks=self.callbacks, loggingOn=logging)
        self.time = 0.0

    def _log(self, _environment, _instance, status, category, message) -> None:
        self.said.append((status, (category or b"").decode(), message.decode()))

    @property
    def last(self) -> str:
        return self.said[-1][2] if self.said else ""

    def initialize(self, start: float = 0.0, stop: float | None = None) -> Client:
        self.time = start
        self.fmu.setupExperiment(startTime=start, stopTime=stop)
        self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()
        return self

    def step(self, size: float = 1e-3) -> None:
        self.fmu.doStep(currentCommunicationPoint=self.time, communicationStepSize=size)
        self.time += size

    def __getitem__(self, name: str) -> float:
        return self.fmu.getReal([self.place[name]])[0]

    def __setitem__(self, name: str, value: float | bool) -> None:
        if isinstance(value, bool):
            self.fmu.setBoolean([self.place[name]], [value])
        else:
            self.fmu.setReal([self.place[name]], [value])

    def get(self, names: list[str]) -> np.ndarray:
        return np.array(self.fmu.getReal([self.place[name] for name in names]))

    def outputs(self) -> np.ndarray:
        return self.get([v.name for v in self.description.modelVariables if v.causality == "output"])


class Direct:
    """The same model on the compiled core without an FMU."""

    def __init__(self, model: Model) -> None:
        made = compiled(model)
        self.ports, self.core = made.equations.ports, made.core()
        self.core.s[:], self.core.u[:], self.core.p[:] = (
            self.ports.start, self.ports.vector("input"), self.ports.vector("parameter"),
        )  # fmt: skip
        self.restart()

    def restart(self) -> None:
        assert self.core.prepare() == 0
        assert self.core.start() == 0
        self.core.outputs()

    def __setitem__(self, name: str, value: float) -> None:
        variable, where = self.ports.find(name)
        at = variable.offset + where.start
        (self.core.u if variable.causality == "input" else self.core.p)[at] = value

    def step(self, size: float = 1e-3) -> None:
        assert self.core.step(size, 1e-3, 0, 0) == 0

    def outputs(self) -> np.ndarray:
        return np.array(self.core.y[:])
