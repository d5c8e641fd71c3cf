"""`trim`: rest and steady motion against closed forms; what it says where there is none."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from mbdy.blocks import Plant
from mbdy.engine import Body, Joint, Model, TrimError, linearize, loads, trim
from mbdy.engine.model.faults import RefusalError
from mechanisms import four_bar
from systems import chain, diagonal, floating

TOLERANCE = 1e-9
GRAVITY = 9.81


def arm(*, motion: str = "free", stiffness: float = 20.0) -> Model:
    """A horizontal beam on a spring about y, under gravity along -z: it sags."""
    joint = Joint(
        to="inertial", kind="revolute", rotations=((0.0, 1.0, 0.0),), stiffness=(stiffness,), motion=(motion,)  # type: ignore[arg-type]
    )  # fmt: skip
    body = Body(name="beam", mass=2.0, com=(0.5, 0.0, 0.0), inertia=diagonal(0.01, 0.2, 0.2), joint=joint)
    return Model(name="arm", bodies=(body,), gravity=(0.0, 0.0, -GRAVITY))


def test_a_beam_sags_until_its_spring_holds_it():
    point = trim(arm())
    angle = point["beam.joint.angle"]
    assert isinstance(angle, float)
    assert 20.0 * angle == pytest.approx(2.0 * GRAVITY * 0.5 * np.cos(angle), rel=1e-9)
    linear = linearize(arm(), at=point)
    assert linear.notes == ()
    stiffness = 20.0 + 2.0 * GRAVITY * 0.5 * np.sin(angle)
    assert linear.modes()[0].frequency == pytest.approx(np.sqrt(stiffness / (0.2 + 2.0 * 0.25)), rel=1e-10)
    untrimmed = linearize(arm())
    assert "beam.joint.rate changes by" in untrimmed.notes[0]


def test_a_torque_holds_the_beam():
    point = trim(arm(), at={"beam.joint.angle": 0.3}, free=["beam.joint.torque"])
    assert point["beam.joint.angle"] == 0.3
    assert point["beam.joint.torque"] == pytest.approx(20.0 * 0.3 - 2.0 * GRAVITY * 0.5 * np.cos(0.3))


def test_forces_hold_a_floating_body_against_gravity():
    body = Body(name="drone", mass=3.0, com=(0.1, 0.0, 0.0), inertia=diagonal(1.0, 2.0, 2.5), joint=floating())
    model = Model(name="hovering", bodies=(body,), gravity=(0.0, 0.0, -GRAVITY))
    point = trim(model, at={"drone.force": [0.0, 0.0, 1.0]}, free=["drone.force", "drone.attitude"])
    assert np.linalg.norm(point["drone.force"]) == pytest.approx(3.0 * GRAVITY)
    plant = Plant(model)
    for name in ("drone.force", "drone.attitude"):
        plant[name] = point[name]  # type: ignore[assignment]
    y = plant.step(1.0)
    assert np.abs(y["drone.velocity"]).max() < 1e-9


def test_a_spin_bends_a_boom():
    """A spinning bus with a hinged boom that leans out: the spring against the centrifugal torque."""
    spin, reach, stiffness = 1.5, 0.4, 6.0
    bus = Body(name="bus", mass=1e9, inertia=diagonal(1e9, 1e9, 1e9), joint=floating())
    joint = Joint(to="bus", kind="revolute", rotations=((0.0, 1.0, 0.0),), at=(reach, 0.0, 0.0), stiffness=(stiffness,),
                  rest=(-1.2,))  # fmt: skip
    boom = Body(name="boom", mass=0.5, com=(1.0, 0.0, 0.0), inertia=diagonal(0.0, 0.0, 0.0), joint=joint)
    model = Model(name="leaning", bodies=(bus, boom))
    point = trim(model, at={"bus.omega": [0.0, 0.0, spin], "boom.joint.angle": -1.0})
    lean = -float(point["boom.joint.angle"])
    centrifugal = 0.5 * spin**2 * (reach + np.cos(lean)) * np.sin(lean)
    assert stiffness * (1.2 - lean) == pytest.approx(centrifugal, rel=1e-6)


def test_a_spinning_chain_turns_on_without_change():
    model = replace(chain(3), initial={})
    bodies = [replace(b, joint=replace(b.joint, stiffness=(30.0,))) for b in model.bodies[1:]]
    model = replace(model, bodies=(model.bodies[0], *bodies))
    point = trim(model, at={"bus.omega": [0.0, 0.0, 0.5]}, free=["*.joint.angle", "bus.omega[1]", "bus.omega[2]"])
    plant = Plant(model)
    for body in model.bodies[1:]:
        plant[f"{body.name}.joint.angle"] = point[f"{body.name}.joint.angle"]
    plant["bus.omega"] = point["bus.omega"]
    y = plant.step(2.0)
    assert np.abs(y["bus.omega"] - point["bus.omega"]).max() < 1e-7
    assert max(abs(y[f"{body.name}.joint.rate"]) for body in model.bodies[1:]) < 1e-7


def test_what_is_locked_or_held_stays():
    model = arm(motion="switchable")
    point = trim(model, at={"beam.joint.locked": True, "beam.joint.angle": 0.1})
    assert point["beam.joint.angle"] == 0.1
    held = trim(arm(), at={"beam.joint.angle": 0.1}, free=["beam.*"], hold=["beam.joint.angle"])
    assert held["beam.joint.angle"] == 0.1


def test_no_steady_motion_is_told_with_what_is_left():
    falling = Model(
        name="falling",
        bodies=(Body(name="rock", mass=1.0, inertia=diagonal(1.0, 1.0, 1.0), joint=floating()),),
        gravity=(0.0, 0.0, -GRAVITY),
    )
    with pytest.raises(TrimError, match=r"rock.velocity\[3\] changes by -9.81 m/s2; free were nothing"):
        trim(falling)
    with pytest.raises(TrimError, match=r"beam.joint.rate changes by .*; free were beam.joint.rest"):
        trim(arm(stiffness=0.0), free=["beam.joint.rest"])


def test_a_swing_through_the_lowest_place_is_no_steady_motion():
    with pytest.raises(TrimError, match=r"at this instant only.*beam\.joint\.rate changes by .* rad/s3; rates stay"):
        trim(arm(), at={"beam.joint.rate": 1.0, "beam.joint.angle": 0.3})


def test_bad_requests_are_told():
    with pytest.raises(KeyError, match=r"no state or input matches 'beam\.joint\.angel'"):
        trim(arm(), free=["beam.joint.angel"])
    with pytest.raises(KeyError, match="no state or input"):
        trim(arm(), hold=["nothing"])
    with pytest.raises(RefusalError, match="is a switch"):
        trim(arm(motion="switchable"), free=["beam.joint.locked"])
    with pytest.raises(RefusalError, match="must be positive"):
        trim(arm(), tolerance=0.0)
    point = trim(arm())
    with pytest.raises(KeyError, match="an output that is no state"):
        point["system.energy"]


ARM = """
mbdy = 1
[system]
gravity = [0, -9.81, 0]
[body.arm]
mass = 1
com = [1, 0, 0]
inertia = [0.1, 0.1, 0.1]
[body.arm.joint]
to = "inertial"
kind = "revolute"
axis = [0, 0, 1]
"""
FOREARM = """
[body.forearm]
mass = 1
com = [0.5, 0, 0]
inertia = [0.1, 0.1, 0.1]
joint = { to = "arm", kind = "revolute", axis = [0, 0, 1], at = [2, 0, 0], cubic_stiffness = 40 }
"""


def hanging(laws: str) -> float:
    """[rad] The angle that the effort of ``laws`` holds against 9.81 N on an arm of 1 m, by bisection."""
    from scipy.optimize import brentq

    efforts = {
        "cubic_stiffness = 100": lambda q: -100 * q**3,
        "stop_stiffness = 1e4\nstop_lower = -0.22": lambda q: (
            1e4 * max(-0.22 - q, 0.0) ** 2 / (max(-0.22 - q, 0.0) + 1e-3)
        ),
        "harness = [[-1, 20], [-0.22, 0], [0.22, 0], [1, -20]]": lambda q: -20 * min(q + 0.22, 0.0) / 0.78,
        "": lambda q: 0.0,
    }
    return brentq(lambda q: efforts[laws](q) - 9.81 * math.cos(q), -1.6, 0.0, xtol=1e-14)


@pytest.mark.parametrize(
    "laws",
    ["cubic_stiffness = 100", "stop_stiffness = 1e4\nstop_lower = -0.22",
     "harness = [[-1, 20], [-0.22, 0], [0.22, 0], [1, -20]]", ""],
)  # fmt: skip
def test_an_equilibrium_is_found_from_where_the_slope_vanishes(laws: str) -> None:
    """The effort of gravity and of such laws has no slope at zero: Newton's method alone has no way to go."""
    assert trim(loads(ARM + laws))["arm.joint.angle"] == pytest.approx(hanging(laws), abs=1e-8)


def test_an_equilibrium_of_two_is_found_from_afar() -> None:
    model = loads(ARM.replace('"revolute"', '"revolute"\nstiffness = 60') + FOREARM)
    point = trim(model)
    again = trim(model, at={"arm.joint.angle": 1.2, "forearm.joint.angle": -1.5})
    for name in ("arm.joint.angle", "forearm.joint.angle"):
        assert again[name] == pytest.approx(point[name], abs=1e-8)


def test_a_hanging_ball_joint_is_found_from_the_side() -> None:
    model = loads(ARM.replace('"revolute"', '"spherical"').replace("axis = [0, 0, 1]", ""))
    w, x, y, z = np.ravel(trim(model)["arm.joint.attitude"])
    assert (2 * (x * y + w * z), 1 - 2 * (x * x + z * z)) == pytest.approx((-1.0, 0.0), abs=1e-8)  # the arm's x hangs


def test_torque_is_told_that_no_angle_holds() -> None:
    with pytest.raises(TrimError, match=r"no steady motion found: arm\.joint\.rate changes by"):
        trim(loads(ARM), at={"arm.joint.torque": 10.5})


def test_a_given_rate_that_cannot_be_held_is_named() -> None:
    with pytest.raises(TrimError, match=r"rates of joints stay as they are given.*crank\.joint\.rate = 2 rad/s.*zero"):
        trim(four_bar(rate=2.0, gravity=(0.0, -9.81, 0.0)), free=["crank.joint.torque"])
