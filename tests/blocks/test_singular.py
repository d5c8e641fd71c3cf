"""Joints of three rotations near their middle-angle singularity: finite results, one warning for each passage."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from mbdy.blocks import Plant, SingularityWarning, StateError, VariableError, simulate
from mbdy.blocks.singular import NEAR, watch
from mbdy.engine import Model, dumps, loads, ports
from systems import chain

GIMBAL = """
mbdy = 1
[body.head]
mass = 3
inertia = [1, 1.5, 2]
joint = {{ to = "inertial", {axes}, motion = "{motion}" }}
[initial]
head.joint.angle = [0.3, {middle}, 0.1]
head.joint.rate = [{rates}]
"""
ZYX = 'kind = "gimbal", sequence = "zyx"'
SKEW = "rotation = [[1, 0.2, 0], [0, 2, 0.5], [0.1, -0.3, 1]]"
RIGHT = math.pi / 2
RATE = 0.1
DRIFT = 1e-7
"""Relative, of energy: what RK4 loses in 3 s at 0.1 ms while angles turn some hundred times faster than the body."""


def gimbal(
    axes: str = ZYX, *, motion: str = "prescribed", middle: float = RIGHT - 0.05, rates: str = "0, 0.1, 0"
) -> Model:
    return loads(GIMBAL.format(axes=axes, motion=motion, middle=middle, rates=rates))


def told(caught: list[warnings.WarningMessage]) -> list[str]:
    assert all(one.category is SingularityWarning for one in caught)
    return [str(one.message) for one in caught]


@pytest.mark.parametrize("controlled", [False, True])
@pytest.mark.parametrize("every", [0.001, 0.07])
def test_a_middle_angle_driven_through_the_singularity_is_told_once(every, controlled):
    """At 0.1 rad/s from 0.05 rad before; with few rows the passage is seen by the change of sign."""
    drive = {"controller": lambda t, y: None, "sample": every} if controlled else {}
    with pytest.warns(SingularityWarning) as caught:
        run = simulate(gimbal(), until=1.0, every=every, outputs=["head.*"], **drive)
    (text,) = told(list(caught))
    assert np.isfinite(run.values).all()
    assert run.names == tuple(n for n in Plant(gimbal()).output_names if n.startswith("head."))
    time = float(text.split(" at ")[1].split(" s,")[0])
    angles = [float(a) for a in text.split("angles ")[1].split(" deg")[0].split(", ")]
    assert text.startswith("head.joint: near its middle-angle singularity")
    assert time == pytest.approx(0.5, abs=NEAR / RATE + 0.002)
    assert angles == pytest.approx([math.degrees(0.3), 90.0, math.degrees(0.1)], abs=math.degrees(2 * NEAR))


def test_each_passage_is_told_and_a_plant_steps_on():
    plant = Plant(gimbal())

    def steps(count: int) -> None:
        for _ in range(count):
            assert np.isfinite(plant.step(0.01).values).all()

    with pytest.warns(SingularityWarning, match=r"head\.joint.* at 0\.4") as caught:
        steps(100)
    assert len(caught) == 1
    plant["head.joint.acceleration"] = [0.0, -0.2, 0.0]  # it turns round at 1.5 s and is back at 2.4 s
    steps(100)
    with pytest.warns(SingularityWarning, match=r" at 2\.\d") as caught:
        steps(100)
    assert len(caught) == 1


def test_a_plant_that_starts_there_or_comes_back_says_so_again():
    plant = Plant(gimbal(middle=RIGHT, rates="0, 0, 0"))
    with pytest.warns(SingularityWarning, match="at 0 s, angles"):
        plant.step(0.1)
    saved = plant.save()
    plant.step(0.1)
    plant.restore(saved)
    with pytest.warns(SingularityWarning, match=r"at 0\.1 s"):
        plant.step(0.1)
    plant.reset()
    plant["head.joint.angle"] = [0.0, 0.0, 0.0]
    plant.step(0.1)


@pytest.mark.parametrize("axes", [ZYX, SKEW, 'kind = "gimbal", sequence = "zxz"'])
def test_the_angle_of_the_warning_is_where_the_axes_fall_together(axes):
    plant = Plant(gimbal(axes, middle=0.2, rates="0, 1, 0"), step=0.01)
    with pytest.warns(SingularityWarning) as caught:
        plant.run(300, 0.01, pick=[])
    middle = math.radians(float(str(caught[0].message).split("angles ")[1].split(", ")[1]))
    plant.reset()
    omegas = []
    for k in range(3):
        plant["head.joint.rate"] = np.eye(3)[k]
        plant["head.joint.angle"] = [0.4, middle, -0.3]
        omegas.append(np.asarray(plant["head.omega"]))
    assert abs(np.linalg.det(omegas)) < 2 * NEAR
    assert min(np.linalg.norm(w) for w in omegas) == pytest.approx(1.0)


def test_axes_set_on_the_way_move_the_singularity():
    plant = Plant(gimbal(middle=0.0, rates="0, 0, 0"))
    plant.step(0.1)
    plant["head.joint.axis"] = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    with pytest.warns(SingularityWarning):
        plant.step(0.1)


@pytest.mark.parametrize("last", [0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-6])
def test_a_free_gimbal_that_tumbles_past_keeps_its_energy_or_says_that_it_came_too_near(last):
    """Its middle angle runs into the singularity; the smaller its last angle, the nearer it comes."""
    plant = Plant(gimbal(motion="free", middle=0.5, rates="0, 0.8, 0"), step=1e-4)
    plant["head.joint.angle"] = [0.0, 0.5, last]
    before, drift, nearest, failed = plant["system.energy"], 0.0, 1.0, False
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            for _ in range(300):
                y = plant.step(0.01)
                drift = max(drift, abs(y["system.energy"] / before - 1.0))
                nearest = min(nearest, abs(math.cos(y["head.joint.angle"][1])))
        except StateError:
            failed = True
    said = bool(told(list(caught)))
    assert said or nearest > NEAR
    assert said or failed or drift < DRIFT


def test_a_free_gimbal_does_not_start_exactly_there():
    plant = Plant(gimbal(motion="free", rates="0, 0, 0"))
    plant["head.joint.angle"] = [0.0, RIGHT, 0.0]
    singular = r"'head\.joint' is singular: its middle angle 'head\.joint\.angle\[2\]' is 90 deg"
    for look in (lambda: plant.state, lambda: plant.step(1.0)):
        with pytest.raises(VariableError, match=singular):
            look()
    plant["head.joint.angle"] = [0.0, 1.0, 0.0]
    plant.step(1e-3)


def test_models_without_such_joints_have_no_watch():
    assert watch(chain(2), ports(chain(2))) is None
    assert watch(gimbal(), ports(gimbal())) is not None
    assert loads(dumps(gimbal())) == gimbal()
