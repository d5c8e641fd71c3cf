"""What a free system keeps: momentum and energy, and the order at which a fixed step loses them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from mbdy.blocks import simulate
from mbdy.engine import Model, equations
from oracles import jacobi
from systems import chain, free_body, star

HELD = 1e-12
"""Relative drift over 1e4 steps of 1 ms: round-off of 1e4 steps, no more."""
JACOBI = 1e-10


def _drift(run, name: str) -> float:
    values = np.atleast_2d(run[name].T).T
    return float(np.abs(values - values[0]).max() / np.abs(values[0]).max())


@pytest.mark.parametrize("model", [chain(4), star(4), chain(3, kind="attitude")], ids=lambda m: m.name)
def test_a_free_tree_keeps_its_momentum_and_energy(model):
    run = simulate(model, until=10, every=0.5, step=1e-3)
    for name in ("system.momentum", "system.angular_momentum", "system.energy"):
        assert _drift(run, name) < HELD, name


@pytest.mark.parametrize("model", [chain(4), star(4)], ids=lambda m: m.name)
def test_drift_falls_with_the_order_of_the_integrator(model):
    coarse, fine = (simulate(model, until=4, every=0.4, step=step) for step in (0.1, 0.05))
    for name in ("system.angular_momentum", "system.energy"):
        assert 12 < _drift(coarse, name) / _drift(fine, name) < 60, name


def test_euler_cromer_is_of_first_order():
    reference = simulate(chain(2), until=1, every=1, step=1e-3)
    errors = [
        np.abs(simulate(chain(2), until=1, every=1, step=step, integrator="euler-cromer").values[-1]
               - reference.values[-1])[: 3 * 3].max()
        for step in (0.01, 0.005)
    ]  # fmt: skip
    assert 1.8 < errors[0] / errors[1] < 2.2


def test_a_torque_free_body_follows_jacobi():
    omega = (0.3, -0.2, 0.5)
    run = simulate(free_body(omega=omega), until=20, every=0.25, step=1e-3, outputs=["top.omega", "top.attitude"])
    exact_omega, exact_attitude = jacobi.torque_free((1.0, 2.0, 2.5), omega, run.time)
    assert np.abs(run["top.omega"] - exact_omega).max() < JACOBI
    attitude = run["top.attitude"]
    assert np.abs(attitude - exact_attitude).max() < JACOBI
    assert np.abs(np.diff(attitude, axis=0)).max() < 0.2, "the quaternion's sign never flips"


def test_operations_grow_linearly_with_the_number_of_bodies():
    for make in (chain, star):
        counts = {n: equations(make(n)).operations for n in (10, 20, 50, 100)}
        slope = (counts[20] - counts[10]) / 10
        assert counts[50] - counts[20] == pytest.approx(30 * slope, rel=1e-9)
        assert counts[100] - counts[50] == pytest.approx(50 * slope, rel=1e-9)


def _of_masses(model: Model, masses: Sequence[float]) -> Model:
    """``model`` with other masses [kg], inertias in proportion."""
    bodies = [
        replace(body, mass=mass, inertia=tuple(tuple(x * mass / body.mass for x in row) for row in body.inertia))
        for body, mass in zip(model.bodies, masses, strict=True)
    ]
    return replace(model, bodies=tuple(bodies), initial=dict(model.initial))


MASSES = [10.0**power for power in range(6, -8, -2)]
WIDE = 1e-9
"""Relative drift with masses from 1e-6 to 1e6 kg."""


@pytest.mark.parametrize("masses", [MASSES, MASSES[::-1]], ids=["light tips", "light base"])
@pytest.mark.parametrize("make", [chain, star])
def test_masses_may_span_twelve_decades(make, masses):
    run = simulate(_of_masses(make(6), masses), until=5, every=1)
    for name in ("system.momentum", "system.angular_momentum", "system.energy"):
        assert _drift(run, name) < WIDE, name


def test_heavy_bodies_on_links_of_nothing_keep_the_order():
    """Mixed masses make fast motion; what drifts there is RK4's error, not lost digits."""
    model = _of_masses(chain(6), [MASSES[i] for i in (2, 4, 3, 6, 5, 0, 1)])
    coarse, fine = (simulate(model, until=5, every=1, step=step) for step in (1e-3, 5e-4))
    assert 13 < _drift(coarse, "system.angular_momentum") / _drift(fine, "system.angular_momentum") < 18
