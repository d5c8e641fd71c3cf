"""cofmupy's coordinator with its default, Jacobi's scheme: co-simulation, FMI 2 and 3."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clients.cases import FIVE_BODY, QUICKSTART, Array, Case, PlantSide, agree
from flavours import Flavour, one_by_one

pytest.importorskip("cofmupy")
import cofmupy.coordinator

from clients import cofmupy_side

CONTROLLERS = {QUICKSTART: "QuickstartController", FIVE_BODY: "FiveBodyController"}


def configuration(fmu: Path, case: Case, measured: list[float]) -> dict[str, Any]:
    """Plant and controller, connected both ways. Both need their first inputs: cofmupy sets all others to zero."""
    commands = case.law()(0.0, measured)
    proxy = f"{cofmupy_side.__file__}::{CONTROLLERS[case]}"

    def connections(source: str, target: str, names: tuple[str, ...]) -> list[dict[str, Any]]:
        return [{"source": {"id": source, "variable": n}, "target": [{"id": target, "variable": n}]} for n in names]

    return {
        "fmus": [
            {
                "id": "plant", "name": "plant", "path": str(fmu),
                "initialization": {**case.starts, **dict(zip(case.commanded, commands, strict=True))},
            },
            {
                "id": "controller", "name": "controller", "path": proxy,
                "initialization": dict(zip(case.measured, measured, strict=True)),
            },
        ],
        "connections": [
            *connections("plant", "controller", case.measured),
            *connections("controller", "plant", case.commanded),
        ],
        "cosim_method": "jacobi",
    }  # fmt: skip


def jacobi(case: Case) -> Array:
    """The same on the `Plant`: each of the two steps with what the other gave a step before."""
    side, law, rows = PlantSide(case), case.law(), []
    measured = side.get(case.measured)
    commands = case.law()(0.0, measured)
    for i in range(case.steps):
        t = i * case.step
        side.set(case.commanded, commands)
        side.step(t, case.step)
        commands = law(t, measured)
        measured = side.get(case.measured)
        rows.append(side.get(case.recorded))
    return np.array(rows)


@pytest.mark.parametrize("case", CONTROLLERS, ids=str)
@pytest.mark.parametrize("flavour", one_by_one(), ids=str)
def test_co_simulation(
    case: Case,
    flavour: Flavour,
    exported: Callable[[Case, Flavour], Path],
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(cofmupy.coordinator, "DefaultMaster", cofmupy_side.Master)
    coordinator = cofmupy.coordinator.Coordinator()
    coordinator.start(configuration(exported(case, flavour), case, PlantSide(case).get(case.measured)))
    for _ in range(case.steps):
        coordinator.do_step(case.step)
    found = coordinator.get_results()
    agree(np.array([found["plant", name] for name in case.recorded]).T, jacobi(case))
