"""FMPy: co-simulation and model exchange, FMI 2 and 3."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fmpy
import pytest
from fmpy.fmi2 import FMU2Model, FMU2Slave
from fmpy.fmi3 import FMU3Model, FMU3Slave
from fmpy.sundials import CVodeSolver

from clients.cases import EXAMPLE_LAWS, LINEAR_LAWS, Case, agree, couple, reference, references
from flavours import FLAVOURS, Flavour, flavours

CVODE = 1e-12
"""Relative tolerance given to CVODE."""
ME_TOLERANCE = 1e-7
"""Absolute and relative: CVODE leaves 1e-8 (of momenta, which are large), the `Plant`'s RK4 at 1 ms 7e-9."""


class FmpySide:
    """An instance of FMPy between its initialisation and its end."""

    def __init__(self, fmu: Any, description: Any) -> None:
        self.fmu, self.description = fmu, description
        self.version = description.fmiVersion[0]

    def get(self, names: Sequence[str]) -> list[float]:
        places = references(self.description, names)
        if self.version == "2":
            return list(self.fmu.getReal(places))
        return list(self.fmu.getFloat64(places, nValues=len(names)))

    def set(self, names: Sequence[str], values: Sequence[float]) -> None:
        put = self.fmu.setReal if self.version == "2" else self.fmu.setFloat64
        put(references(self.description, names), list(values))

    def step(self, t: float, H: float) -> None:
        self.fmu.doStep(currentCommunicationPoint=t, communicationStepSize=H)


class SolverSide(FmpySide):
    """The same for model exchange: CVODE is begun anew at each communication point, where commands jump."""

    def begin(self) -> None:
        self.settle()
        fmu, states = self.fmu, self.description.numberOfContinuousStates
        self.solver = CVodeSolver(
            nx=states, nz=0, get_x=fmu.getContinuousStates, set_x=fmu.setContinuousStates,
            get_dx=fmu.getDerivatives if self.version == "2" else fmu.getContinuousStateDerivatives,
            get_z=fmu.getEventIndicators, get_nominals=fmu.getNominalsOfContinuousStates, set_time=fmu.setTime,
            input=None, startTime=0.0, relativeTolerance=CVODE, maxNumSteps=100_000,
        )  # fmt: skip

    def settle(self) -> None:
        """From event mode to continuous time mode."""
        update = self.fmu.newDiscreteStates if self.version == "2" else self.fmu.updateDiscreteStates
        while update()[0]:
            pass
        self.fmu.enterContinuousTimeMode()

    def step(self, t: float, H: float) -> None:
        self.solver.reset(t)
        event, _, reached = self.solver.step(t, t + H)
        assert not event
        self.fmu.setTime(reached)
        enter, terminate = self.fmu.completedIntegratorStep()
        assert not terminate
        if enter:
            self.fmu.enterEventMode()
            self.settle()


CLASSES = {
    ("2", "coSimulation"): FMU2Slave, ("2", "modelExchange"): FMU2Model,
    ("3", "coSimulation"): FMU3Slave, ("3", "modelExchange"): FMU3Model,
}  # fmt: skip


@contextmanager
def instance(path: Path, case: Case, interface: str) -> Iterator[tuple[Any, Any]]:
    """An instance after its initialisation with the start values of the case; ended and freed afterwards."""
    description = fmpy.read_model_description(path)
    version = description.fmiVersion[0]
    made = CLASSES[version, interface](
        guid=description.guid, unzipDirectory=fmpy.extract(path), instanceName="plant",
        modelIdentifier=getattr(description, interface).modelIdentifier,
    )  # fmt: skip
    made.instantiate()
    try:
        if version == "2":
            made.setupExperiment(startTime=0.0)
            made.enterInitializationMode()
        else:
            made.enterInitializationMode(startTime=0.0)
        FmpySide(made, description).set(tuple(case.starts), tuple(case.starts.values()))
        made.exitInitializationMode()
        yield made, description
        made.terminate()
    finally:
        made.freeInstance()


@pytest.mark.parametrize("case", EXAMPLE_LAWS, ids=str)
@pytest.mark.parametrize("flavour", FLAVOURS, ids=str)
def test_co_simulation(case: Case, flavour: Flavour, exported: Callable[[Case, Flavour], Path]):
    with instance(exported(case, flavour), case, "coSimulation") as (fmu, description):
        agree(couple(FmpySide(fmu, description), case), reference(case))


@pytest.mark.parametrize("case", LINEAR_LAWS, ids=str)
@pytest.mark.parametrize("flavour", flavours(kind="native"), ids=str)
def test_model_exchange(case: Case, flavour: Flavour, exported: Callable[[Case, Flavour], Path]):
    with instance(exported(case, flavour), case, "modelExchange") as (fmu, description):
        side = SolverSide(fmu, description)
        side.begin()
        agree(couple(side, case), reference(case), ME_TOLERANCE)
