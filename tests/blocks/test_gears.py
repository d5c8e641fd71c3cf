"""Gears in plants: what a motor feels, kept and found starts, switching, locks, redundant gears, linear models."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pytest

from geared import CRAFT, SHAFTS
from mbdy.blocks import Plant, StartMovedWarning
from mbdy.engine import ModelError, linearize, loads, verify

SHAFTS_MODEL = loads(SHAFTS)


@cache
def shafts() -> Plant:
    return Plant(SHAFTS_MODEL, step=1e-3)


def test_a_differential_and_its_drivers() -> None:
    """Free: M = B^T diag(J) B. One shaft prescribed drives the others; one locked halves the motion."""
    plant = shafts()
    plant.reset()
    plant["a.joint.torque"] = 1.0
    J, c = np.diag([2.0, 3.0, 5.0]), np.array([[2.0, -1.0, -1.0]])
    KKT = np.block([[J, -c.T], [c, np.zeros((1, 1))]])
    *rates, multiplier = np.linalg.solve(KKT, [1.0, 0, 0, 0])
    y = plant.outputs()
    np.testing.assert_allclose(y["gear.differential.effort"], c[0] * multiplier, rtol=1e-12)
    y = plant.step(0.5)
    np.testing.assert_allclose([y[f"{k}.joint.rate"] for k in "abc"], 0.5 * np.array(rates), rtol=1e-12)
    assert abs(y["system.work_error"]) < 1e-12
    plant.reset()
    plant["b.joint.prescribed"], plant["b.joint.acceleration"], plant["c.joint.locked"] = True, 4.0, True
    y = plant.step(0.5)
    np.testing.assert_allclose([y[f"{k}.joint.rate"] for k in "abc"], [1.0, 2.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(y["b.joint.reaction"], 3 * 4 + 2 * 2 / 2, rtol=1e-9)  # its own, and half of a's
    np.testing.assert_allclose(y["c.joint.reaction"], 2 * 2 / 2, rtol=1e-9)
    assert abs(y["system.work_error"]) < 1e-12


def test_the_ratio_is_a_parameter() -> None:
    plant = shafts()
    plant.reset()
    plant["gear.differential.factor"] = [1, -4, 0]
    plant["gear.differential.offset"] = 0.5
    plant["b.joint.angle"] = 0.25
    y = plant.step(0.01)
    np.testing.assert_allclose(y["a.joint.angle"], 1.5, rtol=1e-12)
    plant.reset()
    for factors in ([0, 0, 0], [0, 1, 0]):
        plant["gear.differential.factor"] = factors
        with pytest.raises(Exception, match=r"'gear.differential.factor': two of them or more must not be zero"):
            plant.step(0.01)
    plant["gear.differential.factor"] = [2, -1, -1]
    plant["gear.differential.offset"] = 0


def test_starts_are_kept_found_or_told() -> None:
    plant = shafts()
    plant.reset()
    plant["b.joint.angle"], plant["c.joint.angle"], plant["b.joint.rate"] = 1.0, 0.5, 2.0
    assert (plant["a.joint.angle"], plant["b.joint.angle"], plant["a.joint.rate"]) == pytest.approx((0.75, 1.0, 0.8))
    plant.reset()
    for shaft, angle in zip("abc", (1.0, 0.0, 0.0), strict=True):
        plant[f"{shaft}.joint.angle"] = angle
    with pytest.warns(StartMovedWarning, match=r"'\w.joint.angle' contradicts the gears"):
        y = plant.step(0.001)
    assert abs(y["gear.differential.residual"]) < 1e-12
    plant.reset()
    held = SHAFTS.replace('"switchable"', '"prescribed"').replace("[0, 0, 1] }", '[0, 0, 1], motion = "prescribed" }')
    with pytest.raises(ModelError, match="motion of all its joints is prescribed"):
        loads(held)


@pytest.fixture(scope="module")
def craft() -> Plant:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StartMovedWarning)
        plant = Plant(loads(CRAFT), step=1e-3)
        plant.step(0.001)
    return plant


def test_momentum_and_energy_with_redundant_gears(craft: Plant) -> None:
    """Two gears that say the same share the effort by equal powers; opening and closing keeps momentum."""
    before = {name: np.array(craft[name]) for name in ("system.momentum", "system.angular_momentum")}

    def kept() -> None:
        for name, value in before.items():
            np.testing.assert_allclose(craft[name], value, atol=1e-10)

    y = craft.step(0.5)
    np.testing.assert_allclose(y["gear.screw.effort"], y["gear.again.effort"], rtol=1e-6)
    assert all(abs(y[f"gear.{name}.residual"]) < 1e-12 for name in ("reduction", "screw", "again"))
    assert abs(y["system.work_error"]) < 1e-9
    kept()
    craft["gear.reduction.closed"] = False
    y = craft.step(0.1)
    assert abs(y["gear.reduction.residual"]) > 1e-4
    assert not np.any(y["gear.reduction.effort"])
    craft["gear.reduction.closed"] = True
    y = craft.step(0.01)
    assert y["gear.reduction.impulse"] != 0
    y = craft.step(3)
    assert abs(y["gear.reduction.residual"]) < 1e-10
    kept()
    craft["motor.joint.locked"] = True
    y = craft.step(0.01)
    assert y["motor.joint.impulse"] != 0
    np.testing.assert_allclose([y["load.joint.rate"][0], y["slide.joint.velocity"]], 0, atol=1e-12)
    kept()


def test_linear_models_have_the_motion_that_gears_leave() -> None:
    """With one shaft of the differential locked the others are a pair: the driver feels 2 + 2^2 3 kg.m2."""
    lin = linearize(SHAFTS_MODEL, at={"c.joint.locked": True}, inputs=["a.joint.torque"],
                    outputs=["b.joint.rate", "gear.differential.effort"])  # fmt: skip
    assert len(lin.states) == 2
    assert (lin.C[0] @ lin.B)[0] == pytest.approx(2 / 14)
    np.testing.assert_allclose(lin.D[1:, 0], np.array([-12, 6, 6]) / 14, rtol=1e-9)


def test_second_opinions_have_gears() -> None:
    """Kane's equations, and the family with multipliers; those without rows for gears say so."""
    result = verify(SHAFTS_MODEL, states=3)
    assert result.agrees
    outside = {one.name: one.uncovered for one in result.comparisons}
    assert not outside["kane"]
    assert not outside["penrose"]
    assert "gear 'differential' ties joints" in outside["jpl"]
