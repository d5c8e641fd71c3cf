"""The doors to a plant: `Plant`, Python and native FMUs of FMI 2.0 and 3.0, native model exchange; one face for all.

A door is opened by its name, takes values by scalar names, and tells what it said when it refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from fmpy.fmi1 import FMICallException

from fmu.client import Client, Client3, client_of
from fmu.exchange import Exchange2, Exchange3, exchange_of
from mbdy.blocks import Plant, Snapshot
from mbdy.engine import Model, dumps
from mbdy.fmu import export_fmu

PLANT = "Plant"
PYTHON, NATIVE = ("python 2.0", "python 3.0"), ("native 2.0", "native 3.0")
FMUS = (*PYTHON, *NATIVE)
"""For co-simulation."""
EXCHANGE = ("exchange 2.0", "exchange 3.0")
"""Model exchange of the native FMUs."""
ALL = (PLANT, *FMUS)
STEP = 1e-3
"""[s] Longest internal step of every door."""
WARNING = 1
"""FMI's status from which on something is said against a call."""


class PlantDoor:
    """A `Plant`. It has no phases: its start is settled when somebody looks."""

    def __init__(self, model: Model, integrator: str = "rk4") -> None:
        self.plant = Plant(model, step=STEP, integrator=integrator)

    def set(self, values: Mapping[str, float]) -> None:
        for name, value in values.items():
            self.plant[name] = value

    def switch(self, name: str, on: bool) -> None:
        self.plant[name] = on

    def get(self, names: Sequence[str]) -> np.ndarray:
        return np.array([self.plant[name] for name in names])

    def outputs(self) -> np.ndarray:
        return self.plant.outputs().values

    def initialize(self) -> None:
        self.plant.outputs()

    def step(self, size: float = STEP) -> None:
        self.plant.step(size)

    def reset(self) -> None:
        self.plant.reset()

    def saved(self) -> Snapshot:
        return self.plant.save()

    def restore(self, state: Snapshot) -> None:
        self.plant.restore(state)

    def refusal(self, act: Callable[[PlantDoor], object]) -> tuple[str, type | None]:
        """The sentence that ``act`` ends with, and the type of its exception; nothing where it is let through."""
        try:
            act(self)
        except (ValueError, ArithmeticError, LookupError) as fault:
            return str(fault.args[0]), type(fault)
        return "", None

    def close(self) -> None:
        pass


class FmuDoor:
    """An instance of an FMU under FMPy, for co-simulation or model exchange."""

    def __init__(self, client: Client, outputs: Sequence[str]) -> None:
        self.client, self._outputs = client, list(outputs)

    def set(self, values: Mapping[str, float]) -> None:
        self.client.set(list(values), list(values.values()))

    def switch(self, name: str, on: bool) -> None:
        """A Boolean input; FMI 3.0 sets the whole array of an element."""
        if name in self.client.place:
            self.client[name] = on
            return
        assert isinstance(self.client, Client3)
        array, k = self.client.elements[name]
        reference, size = self.client.arrays[array]
        values = self.client.fmu.getBoolean([reference], nValues=size)
        values[k] = on
        self.client.fmu.setBoolean([reference], values)

    def get(self, names: Sequence[str]) -> np.ndarray:
        return self.client.get(list(names))

    def outputs(self) -> np.ndarray:
        return self.get(self._outputs)

    def initialize(self, start: float = 0.0, stop: float | None = None) -> None:
        self.client.initialize(start, stop)
        if isinstance(self.client, Exchange2 | Exchange3):
            self.client.event()
            self.client.fmu.enterContinuousTimeMode()

    def step(self, size: float = STEP, *, at: float | None = None) -> None:
        if at is not None:
            self.client.time = at
        self.client.step(size)

    def reset(self) -> None:
        self.client.reset()

    def saved(self) -> bytes:
        state = self.client.saved()
        data = self.client.to_bytes(state)
        self.client.free(state)
        return data

    def restore(self, state: bytes) -> None:
        self.client.restore(self.client.from_bytes(state))

    def reference(self, name: str) -> int:
        return self.client.place[name]

    def refusal(self, act: Callable[[FmuDoor], object]) -> tuple[str, type | None]:
        """The first sentence that is said against ``act``, whether or not FMPy raises for it."""
        self.client.said.clear()
        raised = None
        try:
            act(self)
        except (FMICallException, Exception) as fault:
            raised = type(fault)
        against = [message for status, _, message in self.client.said if status > WARNING]
        return (against[0] if against else ""), raised

    def close(self) -> None:
        self.client.fmu.freeInstance()


Door = PlantDoor | FmuDoor


class Doors:
    """Opens doors to models, each exported once into ``folder``; closes them with `close`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._fmus: dict[tuple[str, ...], Path] = {}
        self._open: list[Door] = []

    def fmu(self, model: Model, kind: str, fmi: str, integrator: str = "rk4") -> Path:
        key = (dumps(model), kind, fmi, integrator)
        if key not in self._fmus:
            path = self.folder / f"{len(self._fmus)}_{kind}{fmi[0]}.fmu"
            self._fmus[key] = export_fmu(model, path, fmi=fmi, kind=kind, step=STEP, integrator=integrator)
        return self._fmus[key]

    def open(self, name: str, model: Model, integrator: str = "rk4") -> Door:
        """The door ``name`` to ``model``."""
        if name == PLANT:
            made: Door = PlantDoor(model, integrator)
        else:
            kind, fmi = name.split()
            path = self.fmu(model, kind.replace("exchange", "native"), fmi, integrator)
            client = (exchange_of if kind == "exchange" else client_of)(path, path.with_suffix(""))
            made = FmuDoor(client, client.names("output"))
        self._open.append(made)
        return made

    def close(self) -> None:
        for door in self._open:
            door.close()
        self._open.clear()
