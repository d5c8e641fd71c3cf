"""fmuloader, which binds every function that FMI names: co-simulation, FMI 2 and 3."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fmpy
import pytest

from clients.cases import EXAMPLE_LAWS, Case, agree, couple, reference, references
from flavours import Flavour, one_by_one
from mbdy.fmu.native.platforms import host

pytest.importorskip("fmuloader")
from fmuloader.fmi2 import Fmi2Slave, Fmi2Status, Fmi2Type
from fmuloader.fmi3 import Fmi3Slave, Fmi3Status

COMPLETE = host().name == "linux64"
"""Whether FMUs of kind python have all functions here: pythonfmu's libraries alone lack those of model exchange."""


class Loaded:
    """An instance of either version after its initialisation."""

    def __init__(self, fmu: Any, description: Any, case: Case) -> None:
        self.fmu, self.description = fmu, description
        version, token = description.fmiVersion[0], description.guid
        self.status = Fmi2Status if version == "2" else Fmi3Status
        self._get, self._set = (fmu.get_real, fmu.set_real) if version == "2" else (fmu.get_float64, fmu.set_float64)
        if version == "2":
            fmu.instantiate("plant", Fmi2Type.CO_SIMULATION, guid=token)
            fmu.setup_experiment(start_time=0.0)
        else:
            fmu.instantiate_co_simulation("plant", instantiation_token=token)
        fmu.enter_initialization_mode()
        self.set(tuple(case.starts), tuple(case.starts.values()))
        fmu.exit_initialization_mode()

    def get(self, names: Sequence[str]) -> list[float]:
        return self._get(references(self.description, names))

    def set(self, names: Sequence[str], values: Sequence[float]) -> None:
        assert self._set(references(self.description, names), values) == self.status.OK

    def step(self, t: float, H: float) -> None:
        done = self.fmu.do_step(t, H)
        assert getattr(done, "status", done) == self.status.OK


@contextmanager
def loaded(path: Path, case: Case) -> Iterator[Loaded]:
    description = fmpy.read_model_description(path)
    load = Fmi2Slave if description.fmiVersion == "2.0" else Fmi3Slave
    with load(path, model_identifier=description.coSimulation.modelIdentifier) as fmu:
        yield Loaded(fmu, description, case)
        fmu.terminate()


@pytest.mark.parametrize("case", EXAMPLE_LAWS, ids=str)
@pytest.mark.parametrize("flavour", [f for f in one_by_one() if f.kind == "native" or COMPLETE], ids=str)
def test_co_simulation(case: Case, flavour: Flavour, exported: Callable[[Case, Flavour], Path]):
    with loaded(exported(case, flavour), case) as side:
        agree(couple(side, case), reference(case))
