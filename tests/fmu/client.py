"""A satellite, and a client of its FMU that names variables and keeps what is logged."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import fmpy
import numpy as np
import pytest
from fmpy.fmi1 import FMICallException
from fmpy.fmi2 import (
    FMU2Slave,
    fmi2CallbackAllocateMemoryTYPE,
    fmi2CallbackFreeMemoryTYPE,
    fmi2CallbackFunctions,
    fmi2CallbackLoggerTYPE,
)
from fmpy.fmi3 import FMU3Slave

from flavours import Flavour
from mbdy.engine import Body, Joint, Model, Node, Wheel
from mbdy.fmu.python.kind import FLAVOURS as KINDS
from systems import diagonal, floating

WARNING, DISCARD, ERROR = 1, 2, 3
CATEGORIES = {WARNING: "logStatusWarning", DISCARD: "logStatusDiscard", ERROR: "logStatusError"}
NO_FRONT = "no C compiler, or another platform: pythonfmu answers OK to what is refused, and crashes at odd folders"
needs_front = pytest.mark.usefixtures("front")
"""Skips FMUs of kind ``python`` where they have no library of ours in front of pythonfmu's."""


only = pytest.mark.flavours
"""``only(flavours)`` runs a test in these flavours."""


def front_of(flavour: Flavour) -> bytes | None:
    """The library that a Python FMU has in front of pythonfmu's; None where it cannot be made here."""
    return KINDS[flavour.fmi].front()


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


described = cache(fmpy.read_model_description)
"""The description of an FMU, read once: no test writes another to its path."""


class Client:
    """One instance of an FMU of FMI 2.0 under FMPy, its variables by name; ``said`` is what it logged."""

    made_of: type = FMU2Slave

    def __init__(self, fmu: Path, folder: Path, *, logging: bool = False) -> None:
        if not (folder / "modelDescription.xml").exists():
            fmpy.extract(fmu, folder)
        self.description = described(fmu)
        self.place = {v.name: v.valueReference for v in self.description.modelVariables}
        self.said: list[tuple[int, str, str]] = []
        self.time = 0.0
        self.fmu = self._instance(folder, logging)

    def _instance(self, folder: Path, logging: bool):
        self.callbacks = fmi2CallbackFunctions()
        self.callbacks.logger = fmi2CallbackLoggerTYPE(
            lambda _environment, _instance, status, category, message: self._log(status, category, message)
        )
        libc = ctypes.CDLL(None)
        self.callbacks.allocateMemory = fmi2CallbackAllocateMemoryTYPE(libc.calloc)
        self.callbacks.freeMemory = fmi2CallbackFreeMemoryTYPE(libc.free)
        made = self.made_of(**self._names(folder))
        made.instantiate(callbacks=self.callbacks, loggingOn=logging)
        return made

    def _names(self, folder: Path) -> dict:
        return {
            "guid": self.description.guid, "unzipDirectory": folder, "instanceName": "under test",
            "modelIdentifier": self.description.coSimulation.modelIdentifier,
        }  # fmt: skip

    def _log(self, status: int, category: bytes | None, message: bytes) -> None:
        self.said.append((status, (category or b"").decode(), message.decode()))

    @property
    def last(self) -> str:
        return self.said[-1][2] if self.said else ""

    def enter(self, start: float = 0.0, stop: float | None = None) -> None:
        """Gives the times of the run and enters initialization mode."""
        self.time = start
        self.fmu.setupExperiment(startTime=start, stopTime=stop)
        self.fmu.enterInitializationMode()

    def initialize(self, start: float = 0.0, stop: float | None = None):
        self.enter(start, stop)
        self.fmu.exitInitializationMode()
        return self

    def step(self, size: float = 1e-3) -> None:
        self.fmu.doStep(currentCommunicationPoint=self.time, communicationStepSize=size)
        self.time += size

    def get_reals(self, vrs: list[int]) -> list[float]:
        return self.fmu.getReal(vrs)

    def set_reals(self, vrs: list[int], values) -> None:
        self.fmu.setReal(vrs, values)

    def __getitem__(self, name: str) -> float:
        return self.get([name])[0]

    def __setitem__(self, name: str, value: float | bool) -> None:
        if isinstance(value, bool):
            self.fmu.setBoolean([self.place[name]], [value])
        else:
            self.set([name], [value])

    def names(self, *causalities: str) -> list[str]:
        """Scalar real variables, in the order of the file."""
        return [v.name for v in self.description.modelVariables if v.causality in causalities and v.type == "Real"]

    def get(self, names: list[str]) -> np.ndarray:
        return np.array(self.get_reals([self.place[name] for name in names]))

    def set(self, names: list[str], values) -> None:
        self.set_reals([self.place[name] for name in names], values)

    def outputs(self) -> np.ndarray:
        return self.get(self.names("output"))

    def reset(self) -> None:
        self.fmu.reset()

    def saved(self):
        return self.fmu.getFMUstate()

    def restore(self, state) -> None:
        self.fmu.setFMUstate(state)

    def free(self, state) -> None:
        self.fmu.freeFMUstate(state)

    def to_bytes(self, state) -> bytes:
        return self.fmu.serializeFMUstate(state)

    def from_bytes(self, data: bytes):
        return self.fmu.deSerializeFMUstate(data)


class Client3(Client):
    """The same of FMI 3.0, where an element of an array goes by the name of its scalar."""

    made_of = FMU3Slave

    def __init__(self, fmu: Path, folder: Path, *, logging: bool = False) -> None:
        super().__init__(fmu, folder, logging=logging)
        self.arrays = {v.name: (v.valueReference, _size(v)) for v in self.description.modelVariables}
        self.elements = {
            _element(name, k): (name, k) for name, (_, size) in self.arrays.items() if size > 1 for k in range(size)
        }
        self.was_set: dict[str, list[float]] = {}

    def _instance(self, folder: Path, logging: bool):
        made = self.made_of(**self._names(folder))
        made.instantiate(
            logMessage=lambda _environment, status, category, message: self._log(status, category, message),
            loggingOn=logging,
        )
        return made

    def enter(self, start: float = 0.0, stop: float | None = None) -> None:
        self.time = start
        self.fmu.enterInitializationMode(startTime=start, stopTime=stop)

    def step(self, size: float = 1e-3) -> None:
        event, terminate, early, reached = self.fmu.doStep(self.time, size)
        assert (event, terminate, early, reached) == (False, False, False, self.time + size)
        self.time = reached

    def get_reals(self, vrs: list[int]) -> list[float]:
        return self.fmu.getFloat64(vrs)

    def set_reals(self, vrs: list[int], values) -> None:
        self.fmu.setFloat64(vrs, values)

    def names(self, *causalities: str) -> list[str]:
        found: list[str] = []
        for v in self.description.modelVariables:
            if v.causality in causalities and v.type == "Float64":
                size = _size(v)
                found += [v.name] if size == 1 else [_element(v.name, k) for k in range(size)]
        return found

    def get(self, names: list[str]) -> np.ndarray:
        places = [self.elements.get(name, (name, 0)) for name in names]
        wanted = [self.arrays[array] for array in dict.fromkeys(array for array, _ in places)]
        values = iter(self.fmu.getFloat64([vr for vr, _ in wanted], nValues=sum(size for _, size in wanted)))
        read = {vr: [next(values) for _ in range(size)] for vr, size in wanted}
        return np.array([read[self.arrays[array][0]][k] for array, k in places])

    def set(self, names: list[str], values) -> None:
        changed = {}
        for name, value in zip(names, values, strict=True):
            array, k = self.elements.get(name, (name, 0))
            vr, size = self.arrays[array]
            if array not in self.was_set:
                self.was_set[array] = self.fmu.getFloat64([vr], nValues=size)
            self.was_set[array][k] = value
            changed[array] = vr
        self.set_reals(list(changed.values()), [value for array in changed for value in self.was_set[array]])

    def reset(self) -> None:
        super().reset()
        self.was_set.clear()

    def saved(self):
        return self.fmu.getFMUState()

    def restore(self, state) -> None:
        self.fmu.setFMUState(state)
        self.was_set.clear()

    def free(self, state) -> None:
        self.fmu.freeFMUState(state)

    def to_bytes(self, state) -> bytes:
        return self.fmu.serializeFMUState(state)

    def from_bytes(self, data: bytes):
        return self.fmu.deserializeFMUState(data)


@contextmanager
def answers(client: Client, status: int, *words: str) -> Iterator[None]:
    """One call that is answered with ``status``, for a reason that is told once, in all ``words``."""
    told = len(client.said)
    with pytest.raises(FMICallException) as caught:
        yield
    assert caught.value.status == status
    (message,) = client.said[told:]
    assert message[:2] == (status, CATEGORIES[status])
    assert all(word in client.last for word in words), client.last


def _size(variable) -> int:
    return math.prod(int(d.start) for d in variable.dimensions)


def _element(array: str, k: int) -> str:
    """The name of an element as FMI 2 has it: that of ``der(bus.omega)`` is ``der(bus.omega[1])``."""
    return f"{array[:-1]}[{k + 1}])" if array.startswith("der(") else f"{array}[{k + 1}]"


def client_of(fmu: Path, folder: Path, **options) -> Client:
    """An instance of ``fmu``, whichever version of FMI it is of, unpacked into ``folder`` where it is not yet."""
    return (Client3 if described(fmu).fmiVersion.startswith("3") else Client)(fmu, folder, **options)
