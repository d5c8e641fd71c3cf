"""Clients of a native FMU for model exchange: states and derivatives are vectors in the order of the plant's."""

from __future__ import annotations

from ctypes import POINTER, c_double
from pathlib import Path

import numpy as np
from fmpy.fmi2 import FMU2Model
from fmpy.fmi3 import FMU3Model

from fmu.client import Client, Client3, described


class _Exchange:
    fmu: FMU2Model | FMU3Model
    size: int

    def states(self) -> np.ndarray:
        x = np.empty(self.size)
        self.fmu.getContinuousStates(_pointer(x), x.size)
        return x

    def set_states(self, x) -> None:
        values = np.ascontiguousarray(x, dtype=float)
        self.fmu.setContinuousStates(_pointer(values), values.size)

    def nominals(self) -> np.ndarray:
        found = np.empty(self.size)
        self.fmu.getNominalsOfContinuousStates(_pointer(found), found.size)
        return found

    def rates(self) -> np.ndarray:
        dx = np.empty(self.size)
        self._rates(_pointer(dx), dx.size)
        return dx


class Exchange2(_Exchange, Client):
    made_of = FMU2Model

    def __init__(self, fmu: Path, folder: Path, **options) -> None:
        super().__init__(fmu, folder, **options)
        self.size = self.description.numberOfContinuousStates

    def _rates(self, dx, n: int) -> None:
        self.fmu.getDerivatives(dx, n)

    def event(self) -> bool:
        """An event; whether the states jumped."""
        return self.fmu.newDiscreteStates()[3]


class Exchange3(_Exchange, Client3):
    made_of = FMU3Model

    def __init__(self, fmu: Path, folder: Path, **options) -> None:
        super().__init__(fmu, folder, **options)
        self.size = self.fmu.getNumberOfContinuousStates()

    def _rates(self, dx, n: int) -> None:
        self.fmu.getContinuousStateDerivatives(dx, n)

    def event(self) -> bool:
        return self.fmu.updateDiscreteStates()[3]


def exchange_of(fmu: Path, folder: Path, **options) -> Exchange2 | Exchange3:
    """An instance for model exchange, of the version that the FMU has."""
    return (Exchange3 if described(fmu).fmiVersion.startswith("3") else Exchange2)(fmu, folder, **options)


def _pointer(values: np.ndarray):
    return values.ctypes.data_as(POINTER(c_double))
