"""PathSim's FMI blocks in a diagram with the controller: co-simulation and model exchange, FMI 2 and 3."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clients.cases import LINEAR_LAWS, Array, Case, PlantSide, agree, reference
from flavours import Flavour, one_by_one

pytest.importorskip("pathsim_fmi")
from pathsim import Connection, Simulation
from pathsim.blocks import Function, Scope
from pathsim.solvers import RK4
from pathsim_fmi import CoSimulationFMU, ModelExchangeFMU

CONTINUOUS_STEPS = 50
"""Each takes some dozen evaluations of the whole diagram in Python."""


def simulated(plant: Any, case: Case, duration: float, **options: Any) -> Array:
    """What a scope sees of the loop at each step of the diagram (rows, recorded)."""
    law = case.law()
    controller, scope = Function(lambda *y: tuple(law(0.0, y))), Scope()
    connections = [
        *(Connection(plant[name], controller[k]) for k, name in enumerate(case.measured)),
        *(Connection(controller[k], plant[name]) for k, name in enumerate(case.commanded)),
        *(Connection(plant[name], scope[k]) for k, name in enumerate(case.recorded)),
    ]
    Simulation([plant, controller, scope], connections, dt=case.step, log=False, **options).run(duration)
    return np.array(scope.read()[1]).T


def continuous(case: Case) -> Array:
    """RK4 over the `Plant`'s derivatives, its commands following its outputs at once, as in a diagram."""
    plant, law = PlantSide(case).plant, case.law()
    u = plant.inputs.values.copy()
    commanded = [plant.input_names.index(name) for name in case.commanded]

    def outputs(x: Array, names: tuple[str, ...]) -> list[float]:
        found = plant.outputs(0.0, x, u)
        return [float(found[name]) for name in names]

    def slope(x: Array) -> Array:
        u[commanded] = law(0.0, outputs(x, case.measured))
        return plant.derivatives(0.0, x, u)

    x, h = plant.state, case.step
    rows = [outputs(x, case.recorded)]
    for _ in range(CONTINUOUS_STEPS):
        k1 = slope(x)
        k2 = slope(x + h / 2 * k1)
        k3 = slope(x + h / 2 * k2)
        k4 = slope(x + h * k3)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        rows.append(outputs(x, case.recorded))
    return np.array(rows)


@pytest.mark.parametrize("case", LINEAR_LAWS, ids=str)
@pytest.mark.parametrize("flavour", one_by_one(), ids=str)
def test_co_simulation(case: Case, flavour: Flavour, exported: Callable[[Case, Flavour], Path]):
    plant = CoSimulationFMU(str(exported(case, flavour)), dt=case.step, start_values=case.starts)
    rows = simulated(plant, case, (case.steps - 1) * case.step)
    agree(rows, reference(case)[1:])  # its block steps at time zero: a row at t is the FMU at t + step


@pytest.mark.parametrize("case", LINEAR_LAWS, ids=str)
@pytest.mark.parametrize("flavour", [f for f in one_by_one() if f.kind == "native"], ids=str)
def test_model_exchange(case: Case, flavour: Flavour, exported: Callable[[Case, Flavour], Path]):
    plant = ModelExchangeFMU(str(exported(case, flavour)), start_values=case.starts)
    rows = simulated(plant, case, CONTINUOUS_STEPS * case.step, Solver=RK4)
    agree(rows, continuous(case))
