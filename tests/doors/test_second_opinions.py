"""Independent equations step too: the latching panel, docking and a four-bar, with the Order-N run's trajectory.

`Plant(model, formulation=...)` takes the derivatives of another formulation; integrators, latches and what closes loops
are the same for all. A run has switches at instants of its own, and is compared in all states and impulses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from fmu.flexible_systems import docking
from mbdy.blocks import Plant
from mbdy.engine import Model, load
from mbdy.engine.verification.formulations import FORMULATIONS
from mechanisms import four_bar, two_that_dock

TRAJECTORY = 1e-9
"""Of the largest state of the run (or of 1): rounding in the accelerations, 1e-14, over a thousand steps of a motion
that does not part from its neighbours."""
MOVED, STRUCK = 1e-2, 1e-4
"""The run changes its states, and has impulses [N.m.s, N.s], by more than this."""
UNTIL, ROW = 10.0, 0.1
"""[s]"""
EXPLICIT = {"rk4": 0.02, "euler-cromer": 0.005}
"""Integrators and their steps [s]: as many evaluations of the accelerations in a second for either."""
PANEL = Path("examples/latching_panel/panel.toml")


@dataclass(frozen=True)
class Case:
    """``switches``: time [s], input, value; ``impulses``: outputs that must be large at one of these times."""

    model: Callable[[], Model]
    switches: tuple[tuple[float, str, bool], ...] = ()
    impulses: tuple[str, ...] = ()


CASES = {
    "panel": Case(lambda: load(PANEL), ((6.0, "panel.joint.locked", True), (8.0, "panel.joint.locked", False)),
                  ("panel.joint.impulse",)),
    "docking": Case(two_that_dock, ((1.0, "loop.dock.closed", True), (7.0, "loop.dock.closed", False)),
                    ("loop.dock.impulse[4]",)),
    "four-bar": Case(lambda: four_bar(rate=1.0, gravity=(0.0, -9.81, 0.0))),
    "flexible docking": Case(docking, ((1.0, "loop.dock.closed", True), (3.0, "boom.joint.locked", True),
                                       (7.0, "loop.dock.closed", False)),
                             ("loop.dock.impulse[4]", "boom.joint.impulse")),
}  # fmt: skip
QUICK = {("panel", "kane", "rk4")}
"""The others are long: a second opinion's accelerations take a millisecond or two."""


def covering(case: str) -> Sequence[str]:
    model = CASES[case].model()
    return [made.name for made in FORMULATIONS.values() if not made.uncovered(model)]


def combinations() -> list[pytest.param]:
    found = []
    for case in CASES:
        for formulation in covering(case):
            for integrator in EXPLICIT:
                one = (case, formulation, integrator)
                name = "-".join(one).replace(" ", "_")
                found.append(pytest.param(*one, id=name, marks=() if one in QUICK else pytest.mark.slow))
    return found


def run(case: str, formulation: str, integrator: str) -> np.ndarray:
    """States and impulses (rows, n) after each communication step."""
    given = CASES[case]
    plant = Plant(given.model(), step=EXPLICIT[integrator], integrator=integrator, formulation=formulation)
    left, rows = list(given.switches), []
    for i in range(round(UNTIL / ROW)):
        while left and left[0][0] <= i * ROW + 1e-9:
            _, name, value = left.pop(0)
            plant[name] = value
        y = plant.step(ROW)
        rows.append(np.concatenate([plant.state, [float(y[name]) for name in given.impulses]]))
    return np.array(rows)


@cache
def order_n(case: str, integrator: str) -> np.ndarray:
    return run(case, "order-n", integrator)


@pytest.mark.parametrize(("case", "formulation", "integrator"), combinations())
def test_a_second_opinion_steps_the_same_way(case: str, formulation: str, integrator: str) -> None:
    wanted = order_n(case, integrator)
    assert np.abs(wanted[-1] - wanted[0]).max() > MOVED
    impulses = wanted[:, wanted.shape[1] - len(CASES[case].impulses) :]
    assert (np.abs(impulses).max(axis=0) > STRUCK).all()
    found = run(case, formulation, integrator)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=TRAJECTORY * max(1.0, float(np.abs(wanted).max())))


def test_every_case_has_a_second_opinion_that_knows_it() -> None:
    for case in CASES:
        known = covering(case)
        assert len(known) >= 3, (case, known)
    assert "lagrange" in covering("panel")


def test_a_formulation_for_trees_is_refused_by_name_where_there_are_loops() -> None:
    with pytest.raises(ValueError, match="'kane' does not cover 'four-bar': loop 'pin' closes the tree"):
        Plant(four_bar(), formulation="kane")
