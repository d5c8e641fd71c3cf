"""`Plant` and FMUs of both kinds and versions give the same bits for the same held inputs, switches and parameters."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache, partial

import numpy as np
import pytest

from doors.doors import ALL, PLANT, Door, Doors
from example_models import EXAMPLES, LARGE
from fmu.flexible_systems import docking, flexible_four_bar, with_boom
from geared import CRAFT
from mbdy.engine import Model, ModelWarning, load, loads, ports

SYSTEMS: dict[str, Callable[[], Model]] = {
    **{path.stem: partial(load, path) for path in EXAMPLES},
    "boom": with_boom, "docking": docking, "flexible_four_bar": flexible_four_bar,
    "geared": partial(loads, CRAFT),
}  # fmt: skip
INTEGRATORS = {
    "satellite": ("rk4", "euler-cromer", "rosenbrock"), "panel": ("rk4", "euler-cromer"),
    "docking": ("rk4", "rosenbrock"), "flexible_four_bar": ("rk4", "rosenbrock"),
}  # fmt: skip
"""Of systems that are run by others than rk4."""
SLOW = {*LARGE, "docking", "geared", "boom", "tumblesat", "wing", "four_cmg"}
"""The four-bar bends and closes, the satellite has the rest."""
SIZES = (1e-3, 1 / 60, 0.04, 0.0003, 0.005)
"""[s] Communication steps: of one internal step, of many and of none whole, in turn."""
ROUNDS = 6
SMALL = 0.1
"""[N], [N.m] or [m] Of inputs, and the part by which a mass changes."""


@cache
def system(name: str) -> Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return SYSTEMS[name]()


def run(door: Door, model: Model) -> np.ndarray:
    """All outputs (steps, n_y) of a run with random inputs; a switch turns, and a mass changes, once each way."""
    rng, table = np.random.default_rng(7), ports(model)
    moving = [v for v in table.inputs if not v.boolean and not v.name.startswith("system.")]
    driven = [name for v in moving for name in v.scalar_names]
    least = np.array([-np.inf if v.minimum is None else v.minimum for v in moving for _ in v.scalar_names])
    switches = [n for v in table.inputs if v.boolean for n in v.scalar_names]
    masses = {f"{body.name}.mass": body.mass for body in model.bodies}
    steps = ROUNDS * len(SIZES)
    door.initialize()
    found = [door.outputs()]
    for i in range(steps):
        values = np.maximum(SMALL * rng.normal(size=len(driven)), least)
        door.set(dict(zip(driven, values.tolist(), strict=True)))
        if i in (steps // 3, 2 * steps // 3):
            for name in switches[:1]:
                door.switch(name, i == steps // 3)
            name, mass = next(iter(masses.items()))
            door.set({name: mass * (1 + SMALL) if i == steps // 3 else mass})
        door.step(SIZES[i % len(SIZES)])
        found.append(door.outputs())
    return np.array(found)


def combinations() -> list:
    def marks(*parts: str) -> tuple:
        return (pytest.mark.slow,) if SLOW.intersection(parts) or parts == ("flexible_four_bar", "rosenbrock") else ()

    return [
        pytest.param(name, integrator, id=f"{name}-{integrator}", marks=marks(name, integrator))
        for name in SYSTEMS
        for integrator in INTEGRATORS.get(name, ("rk4",))
    ]


@pytest.mark.parametrize(("name", "integrator"), combinations())
def test_every_door_gives_the_same_bits(name: str, integrator: str, doors: Doors) -> None:
    model = system(name)
    runs = {door: run(doors.open(door, model, integrator), model) for door in ALL}
    wanted = runs[PLANT]
    assert np.isfinite(wanted).all()
    assert np.abs(wanted[-1] - wanted[0]).max() > 0.0
    for found in runs.values():
        np.testing.assert_array_equal(found, wanted)
