"""Loops closed where they are half a turn off or almost: closed right, or refused by name; welds always close."""

from __future__ import annotations

import re
import warnings
from functools import cache

import numpy as np
import pytest

from mbdy.blocks import Plant, StateError, VariableError
from mbdy.engine import loads
from mbdy.engine.model.faults import ModelWarning

MODEL = """
mbdy = 1
[body.a]
mass = 300
inertia = [60, 80, 90]
joint = {{ to = "inertial", kind = "free" }}
[body.b]
mass = 500
inertia = [150, 160, 120]
joint = {{ to = "inertial", kind = "free" }}
[loop.dock]
a = "a"
at_a = [1, 0, 0]
b = "b"
at_b = [-1.2, 0, 0]
{kind}
closed = false
switchable = true
[initial]
b.position = [2.2, 0, 0]
"""
KINDS = {
    "weld": 'kind = "weld"',
    "pin": 'kind = "pin"\naxis = [0, 0, 1]',
    "universal": 'kind = "universal"\naxes = [[1, 0, 0], [0, 1, 0]]',
}
WAYS = ("at the start", "first step", "running")
CLOSED = 1e-7
"""[rad] After twenty time constants 2e-9 of the error is left."""
TAKEN = re.compile(r"loop\.dock: .* the nearer .*, (\S+) deg from where it was")


@cache
def plant(kind: str) -> Plant:
    return Plant(loads(MODEL.format(kind=KINDS[kind])), step="5 ms")


def rotation(w: float, v: np.ndarray) -> np.ndarray:
    cross = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return (w * w - v @ v) * np.eye(3) + 2 * np.outer(v, v) + 2 * w * cross


def apart(kind: str, y) -> float:
    """How far [rad] a's and b's lines are from where the loop holds them."""
    turns = [rotation(q[0], q[1:]) for q in (y["a.attitude"], y["b.attitude"])]
    R = turns[0].T @ turns[1]
    if kind == "weld":
        return float(np.linalg.norm(R - np.eye(3)))
    if kind == "pin":
        return float(np.linalg.norm(R[:, 2] - (0, 0, 1)))
    return float(abs(R[0, 1]))


def attempt(kind: str, way: str, seed: int) -> None:
    it, rng = plant(kind), np.random.default_rng([seed, *kind.encode()])
    axis = rng.normal(size=3)
    axis[2] *= rng.random() < 0.5  # across a hinge, or not
    angle = np.pi - rng.choice([0.0, 1e-9, 1e-7, 1e-5, 1e-3, 0.1, 0.3])
    it.reset()
    it["b.attitude"] = [np.cos(angle / 2), *np.sin(angle / 2) * axis / np.linalg.norm(axis)]
    start = it.outputs()
    error = float(start["loop.dock.residual"][0 if kind == "universal" else slice(0, 2)].max())
    refusal = ""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            if way == "running":
                it.step(0.005)
            it["loop.dock.closed"] = True
            y = it.outputs() if way == "at the start" else it.step(2.0)
        except (StateError, VariableError) as fault:
            refusal = str(fault)
        finally:
            it["loop.dock.closed"] = False
    if refusal:
        assert kind != "weld"
        assert "loop.dock" in refusal
        return
    assert apart(kind, y) < CLOSED
    assert np.abs(y["loop.dock.residual"]).max() < CLOSED
    if kind == "universal" and abs(error) > 1e-3:
        texts = [str(each.message) for each in told if each.category is ModelWarning]
        (text,) = (text for text in texts if text.startswith("loop.dock: two lines"))
        found = TAKEN.match(text)
        assert found
        assert np.radians(float(found[1])) == pytest.approx(abs(error), abs=1e-3)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_half_turns(kind: str, way: str) -> None:
    for seed in range(4):
        attempt(kind, way, seed)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_many_half_turns(kind: str, way: str) -> None:
    for seed in range(4, 30):
        attempt(kind, way, seed)


@pytest.mark.parametrize(("kind", "turn"), [("pin", (0.0, 1.0, 0.0, 0.0)), ("universal", (1.0, 0.0, 0.0, 1.0))])
def test_what_has_no_direction_back_is_refused_while_running(kind: str, turn: tuple[float, ...]) -> None:
    it = plant(kind)
    it.reset()
    it["b.attitude"] = turn
    it.step(0.005)
    it["loop.dock.closed"] = True
    before = it.state
    with pytest.raises(StateError, match=r"'loop\.dock' is closed where nothing says which way to turn"):
        it.step(0.1)
    np.testing.assert_array_equal(it.state, before)
    it["loop.dock.closed"] = False
