"""The core's explicit integrators, and its courses of inputs, against the formulas of a textbook in NumPy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from interpreted import Interpreted
from mbdy.blocks import Plant
from systems import chain, star

ROUNDING = 1e-12
"""Relative to one: the same formulas; libm and the order of sums differ, over sixty communication steps."""
STEP, PARTS = 0.002, 6
"""[s] Longest internal step, and in how many a communication step of 11 ms is divided."""
H = 0.011
POSITIONS = (".attitude", ".position", ".angle", ".displacement", ".centre_of_mass")
SMALL = 0.2

Course = Callable[[float], np.ndarray]
"""Inputs over a communication step, from 0 at its begin to 1 at its end."""


def course(interpolation: str, begin: np.ndarray, middle: np.ndarray, end: np.ndarray) -> Course:
    if interpolation == "held":
        return lambda part: end
    if interpolation == "linear":
        return lambda part: begin + part * (end - begin)
    first, second = 4 * middle - 3 * begin - end, 2 * (begin + end) - 4 * middle
    return lambda part: begin + part * (first + part * second)


def runge_kutta(run: Interpreted, x: np.ndarray, u: Course, at: float, width: float) -> np.ndarray:
    h, middle, end = width * H, u(at + width / 2), u(at + width)
    k1 = run.derivatives(x, u(at))
    k2 = run.derivatives(x + h / 2 * k1, middle)
    k3 = run.derivatives(x + h / 2 * k2, middle)
    k4 = run.derivatives(x + h * k3, end)
    return x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def euler_cromer(run: Interpreted, x: np.ndarray, u: Course, at: float, width: float) -> np.ndarray:
    """Speeds first, and positions with the new ones."""
    position = np.array([name.partition("[")[0].endswith(POSITIONS) for name in run.ports.state_names])
    x = np.where(position, x, x + width * H * run.derivatives(x, u(at)))
    return np.where(position, x + width * H * run.derivatives(x, u(at)), x)


INTEGRATORS = {"rk4": runge_kutta, "euler-cromer": euler_cromer}


def scaled(run: Interpreted, x: np.ndarray) -> np.ndarray:
    for at in run.ports.quaternions:
        x[at : at + 4] /= np.linalg.norm(x[at : at + 4])
    return x


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("interpolation", ["held", "linear", "quadratic"])
@pytest.mark.parametrize("model", [chain(3), star(2), chain(2, kind="attitude")], ids=lambda m: m.name)
def test_the_core_steps_by_the_book(model, integrator, interpolation):
    plant = Plant(model, step=STEP, integrator=integrator, interpolation=interpolation)
    run, x = Interpreted(model), plant.state
    rng = np.random.default_rng(3)
    u = plant.inputs.values.copy()
    for _ in range(60):
        middle, end = rng.normal(size=(2, len(u))) * SMALL
        plant.inputs.values[:] = end
        if interpolation == "quadratic":
            plant.middle.values[:] = middle
        along = course(interpolation, u, middle, end)
        for part in range(PARTS):
            x = scaled(run, INTEGRATORS[integrator](run, x, along, part / PARTS, 1 / PARTS))
        seen = plant.step(H).values
        np.testing.assert_allclose(plant.state, x, rtol=ROUNDING, atol=ROUNDING)
        wanted = run.outputs(x, end)
        for own in (run.ports.span("impulses"), run.ports.by_name["system.work_error"].places):  # the stepper's
            wanted[own] = seen[own]
        np.testing.assert_allclose(seen, wanted, rtol=ROUNDING, atol=ROUNDING)
        u = end
