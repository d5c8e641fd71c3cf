"""Order-N with flexible bodies and loops against the dense equations with Lagrange multipliers, on random systems."""

from __future__ import annotations

import numpy as np
import pytest

from mbdy.engine import equations
from mbdy.engine.verification.formulations import FORMULATIONS
from oracles.random_flexible import Case, random_flexible

QUICK, ALL = range(0, 24), range(24, 100)


def compare(case: Case) -> None:
    model = case.model
    made = equations(model)
    k = made.prepare(case.p)
    rates = np.array(made.derivatives(case.x, case.u, k)).ravel()
    y = np.array(made.outputs(case.x, case.u, k)).ravel()
    dense = FORMULATIONS["lagrange"]
    expected = dense.derivatives(model)(case.x, case.u, case.p)
    np.testing.assert_allclose(rates, expected, rtol=0, atol=1e-10 * max(1.0, np.abs(expected).max()))
    power = np.abs(np.array(expected)).max()
    assert abs(y[made.ports.by_name["system.work_residual"].offset]) < 1e-9 * max(1.0, power)
    if not model.loops:
        return
    assert dense.multipliers
    for name, loads in dense.multipliers(model)(case.x, case.u, case.p).items():
        for what in ("force", "torque"):
            found, own = y[made.ports.by_name[f"loop.{name}.{what}"].places], getattr(loads, what)
            np.testing.assert_allclose(found, own, rtol=0, atol=1e-8 * max(1.0, np.abs(own).max()), err_msg=name)


@pytest.mark.parametrize("seed", QUICK)
def test_random_systems(seed: int) -> None:
    """Accelerations to 1e-10 and the forces of loops, redundant ones too, to 1e-8."""
    compare(random_flexible(seed, motion=seed % 3 == 0))


@pytest.mark.slow
@pytest.mark.parametrize("seed", ALL)
def test_more_random_systems(seed: int) -> None:
    compare(random_flexible(seed, motion=seed % 3 == 0))
