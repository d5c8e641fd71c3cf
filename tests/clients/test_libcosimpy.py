"""libcosimpy, on libcosim and FMI Library: co-simulation of FMI 2."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import fmpy
import pytest

from clients.cases import EXAMPLE_LAWS, Case, agree, couple, reference, references
from flavours import Flavour, flavours

pytest.importorskip("libcosimpy")
from libcosimpy.CosimEnums import CosimExecutionState
from libcosimpy.CosimExecution import CosimExecution
from libcosimpy.CosimLogging import CosimLogLevel, log_output_level
from libcosimpy.CosimManipulator import CosimManipulator
from libcosimpy.CosimObserver import CosimObserver
from libcosimpy.CosimSlave import CosimLocalSlave

BLIND = 1
"""An observer has no values before the first step, so the controller begins after it."""


class Execution:
    """One FMU in an execution of libcosim; an observer and a manipulator are the controller's eye and hand."""

    def __init__(self, path: Path, case: Case) -> None:
        log_output_level(CosimLogLevel.ERROR)
        self.description = fmpy.read_model_description(path)
        self.execution = CosimExecution.from_step_size(step_size=round(case.step * 1e9))
        slave = CosimLocalSlave(fmu_path=str(path), instance_name="plant")
        assert slave.ptr(), "libcosim cannot open the FMU, and adding it would crash"
        self.slave = self.execution.add_local_slave(slave)
        self.observer, self.manipulator = CosimObserver.create_last_value(), CosimManipulator.create_override()
        assert self.execution.add_observer(self.observer)
        assert self.execution.add_manipulator(self.manipulator)
        for name, value in case.starts.items():
            assert self.execution.real_initial_value(self.slave, references(self.description, [name])[0], value)

    def get(self, names: Sequence[str]) -> list[float]:
        return self.observer.last_real_values(self.slave, references(self.description, names))

    def set(self, names: Sequence[str], values: Sequence[float]) -> None:
        assert self.manipulator.slave_real_values(self.slave, references(self.description, names), values)

    def step(self, t: float, H: float) -> None:
        assert self.execution.step(), self.execution.status()


@pytest.mark.parametrize("case", EXAMPLE_LAWS, ids=str)
@pytest.mark.parametrize("flavour", flavours(fmi="2.0"), ids=str)
def test_co_simulation(case: Case, flavour: Flavour, exported: Callable[[Case, Flavour], Path]):
    side = Execution(exported(case, flavour), case)
    rows = couple(side, case, blind=BLIND)
    agree(rows[BLIND:], reference(case, blind=BLIND)[BLIND:])
    assert side.execution.status().state != CosimExecutionState.ERROR.value
