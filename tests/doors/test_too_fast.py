"""What the step cannot follow is told by the name of what makes it so fast, in every door; what it can, is not."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from doors.doors import FMUS, STEP, Doors, FmuDoor
from fmu.client import CATEGORIES, WARNING
from mbdy.blocks import FastLoopWarning, FastModeWarning, FastMotionWarning, Plant, StateError, simulate
from mbdy.engine import loads
from mbdy.fmu import export_fmu

MODEL = loads("""
mbdy = 1
[body.hinge]
mass = 1
inertia = [0.01, 0.01, 0.01]
[body.hinge.joint]
to = "inertial"
kind = "revolute"
axis = [0, 0, 1]
cubic_stiffness = 0
friction = 1
stop_stiffness = 0
stop_lower = -1
stop_upper = 1
harness = [[-1, 0], [0, 0], [0.5, 0]]
[body.bus]
mass = 30
inertia = [1, 1, 1]
joint = { to = "inertial", kind = "free" }
wheel.w = { axis = [0, 0, 1], inertia = 1e-3, damping = 0.001, friction = 1 }
[body.arm]
mass = 2
com = [0.5, 0, 0]
inertia = [0.2, 0.2, 0.2]
joint = { to = "bus", kind = "cylindrical", axis = [1, 0, 0], at = [1, 0, 0] }
[body.tip]
mass = 1
inertia = [0.1, 0.1, 0.1]
joint = { to = "arm", kind = "revolute", axis = [0, 1, 0], at = [1, 0, 0] }
[body.boom]
joint = { to = "inertial", kind = "fixed" }
flex.beam = { length = 2, mass_per_length = 0.5, bending_stiffness = 10, modes = [2, 0], damping_ratio = 0.01 }
[body.rod]
mass = 1
com = [0.5, 0, 0]
inertia = [0.1, 0.1, 0.1]
joint = { to = "inertial", kind = "revolute", axis = [0, 0, 1], at = [0, 3, 0] }
node.end = { at = [1, 0, 0] }
[loop.foot]
a = "inertial"
b = "rod.end"
at_a = [1, 3, 0]
rows = [5]
time_constant = 0.1
[initial]
hinge.joint.angle = 0.1
""")
J, LIMIT = 0.01, 2.8 / STEP
"""[kg m2] Inertia of the hinge; [1/s] what RK4 follows."""
K, B = J * LIMIT**2, J * LIMIT
"""[N m/rad], [N m s/rad] Spring and damper of the hinge at that limit."""
HINGE, WHEEL = "hinge.joint.", "bus.w."
BY_NAME: Mapping[str, tuple[Mapping[str, float], Mapping[str, float]]] = {
    HINGE + "stiffness": ({HINGE + "stiffness": 1.05 * K}, {HINGE + "stiffness": 0.95 * K}),
    HINGE + "damping": ({HINGE + "damping": 1.05 * B}, {HINGE + "damping": 0.95 * B}),
    HINGE + "cubic_stiffness": ({HINGE + "cubic_stiffness": 35 * K}, {HINGE + "cubic_stiffness": 32 * K}),  # 3 k q^2
    HINGE + "stop_stiffness": ({HINGE + "stop_stiffness": 1.05 * K}, {HINGE + "stop_stiffness": 0.95 * K}),
    HINGE + "stop_damping": (
        {HINGE + "stop_damping": 1.05 * B, HINGE + "stop_stiffness": 1.0},
        {HINGE + "stop_damping": 0.95 * B, HINGE + "stop_stiffness": 1.0},
    ),
    HINGE + "harness": ({HINGE + "harness[3,2]": -0.55 * K}, {HINGE + "harness[3,2]": -0.45 * K}),
    WHEEL + "damping": ({WHEEL + "damping": 1.05e-3 * LIMIT}, {WHEEL + "damping": 0.95e-3 * LIMIT}),
    "arm.joint.stiffness[1]": ({"arm.joint.stiffness[1]": 1e9}, {"arm.joint.stiffness[1]": 1e6}),
    "arm.joint.stiffness[2]": ({"arm.joint.stiffness[2]": 1e9}, {"arm.joint.stiffness[2]": 1e5}),
    "arm.joint.damping[1]": ({"arm.joint.damping[1]": 1e5}, {"arm.joint.damping[1]": 1e3}),
    "arm.joint.damping[2]": ({"arm.joint.damping[2]": 1e5}, {"arm.joint.damping[2]": 1e2}),
    "tip.joint.stiffness": ({"tip.joint.stiffness": 1e8}, {"tip.joint.stiffness": 1e5}),
    "tip.joint.damping": ({"tip.joint.damping": 1e4}, {"tip.joint.damping": 1e2}),
    "boom: mode 1": ({"boom.flex.stiffness[1]": 1e9}, {"boom.flex.stiffness[1]": 1e4}),
    "boom: mode 2": ({"boom.flex.damping[2]": 1e6}, {"boom.flex.damping[2]": 1e-3}),
    "loop.foot.time_constant": ({"loop.foot.time_constant": 2.9e-3}, {"loop.foot.time_constant": 3.1e-3}),
    HINGE + "stop_stiffness = ": (  # together
        {HINGE + "stiffness": 0.3 * K, HINGE + "stop_stiffness": 0.75 * K},
        {HINGE + "stiffness": 0.3 * K, HINGE + "stop_stiffness": 0.65 * K},
    ),
}
"""What is too fast for `STEP`, by the words that name it, and what is just slow enough."""
FRICTION = {HINGE + "friction": 1e3, HINGE + "friction_rate": 1e-6, WHEEL + "friction": 1e3}
"""No matter how steep it is: steps take it implicitly."""


def told(plant: Plant, values: Mapping[str, float]) -> list[warnings.WarningMessage]:
    """Warnings that setting ``values`` brings."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for name, value in values.items():
            plant[name] = value
        plant.outputs()
    return found


@pytest.mark.parametrize(("integrator", "limit"), [("rk4", 2.8), ("euler-cromer", 2.0)])
@pytest.mark.parametrize("words", BY_NAME)
def test_a_plant_tells_of_what_its_step_cannot_follow(words: str, integrator: str, limit: float) -> None:
    fast, slow = BY_NAME[words]
    step = STEP * (1.0 if words.startswith("loop") else limit / 2.8)
    (text,) = [str(one.message) for one in told(Plant(MODEL, step=step, integrator=integrator), fast)]
    assert text.startswith(words)
    assert not told(Plant(MODEL, step=step, integrator=integrator), {**slow, **FRICTION})
    if not words.startswith("loop"):
        assert f"for which {integrator} needs steps of " in text
        assert 'integrator="rosenbrock"' in text
        assert not told(Plant(MODEL, step=step, integrator="rosenbrock"), fast)


@pytest.mark.parametrize("factor", [0.97, 1.03])
@pytest.mark.parametrize("damping", [0.0, 0.5, 1.0, 1.2, 3.0])
@pytest.mark.parametrize("integrator", ["rk4", "euler-cromer"])
def test_the_limit_is_where_runs_blow_up(integrator: str, damping: float, factor: float) -> None:
    """Whatever the damping ratio of a swing is."""
    plant = Plant(MODEL, step=STEP, integrator=integrator)
    plant[HINGE + "friction"], plant[HINGE + "stiffness"] = 0.0, 100 * K
    plant[HINGE + "damping"] = 20 * damping * B
    with pytest.warns(FastMotionWarning) as found:
        plant.outputs()
    step = factor * float(str(found[-1].message).partition("steps of ")[2].split()[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FastMotionWarning)
        plant = Plant(MODEL, step=step, integrator=integrator)
        plant[HINGE + "friction"], plant[HINGE + "stiffness"] = 0.0, 100 * K
        plant[HINGE + "damping"] = 20 * damping * B
        try:
            grown = abs(plant.step(1000 * step)["hinge.joint.angle"])
        except StateError:
            grown = np.inf
    assert (grown > 1.0) == (factor > 1.0)


def messages(door: FmuDoor) -> list[str]:
    """Warnings in an FMU's log, each under its category."""
    found = [(category, text) for status, category, text in door.client.said if status == WARNING]
    assert {category for category, _ in found} <= {CATEGORIES[WARNING]}
    door.client.said.clear()
    return [text for _, text in found]


@pytest.mark.parametrize("name", FMUS)
def test_an_fmu_tells_where_a_parameter_makes_it_too_fast(name: str, doors: Doors) -> None:
    door = doors.open(name, MODEL)
    assert isinstance(door, FmuDoor)
    for words, (fast, slow) in BY_NAME.items():
        for values in (slow, fast):
            door.set(values)
            door.initialize()
            found = messages(door)
            assert len(found) == (values is fast), (words, found)
            assert not found or found[0].startswith(words)
            door.reset()


def test_every_door_to_a_file_tells() -> None:
    stiff = replace(MODEL, bodies=tuple(
        replace(body, joint=replace(body.joint, stiffness=(2 * K,))) if body.name == "hinge" else body
        for body in MODEL.bodies
    ))  # fmt: skip
    with pytest.warns(FastMotionWarning, match=HINGE + "stiffness"):
        simulate(stiff, until=STEP, every=STEP)


def test_an_export_tells(tmp_path, doors: Doors) -> None:
    quick = replace(MODEL, loops=(replace(MODEL.loops[0], time_constant=1e-4),))
    for kind in ("python", "native"):
        with pytest.warns(FastLoopWarning, match=r"loop\.foot\.time_constant"):
            export_fmu(quick, tmp_path / "quick.fmu", kind=kind, step=STEP)


@pytest.mark.parametrize(
    ("words", "state"),
    [(WHEEL + "damping", "bus.w.momentum"), (HINGE + "stiffness", "hinge.joint.angle"),
     ("boom: mode 1", "boom.flex.displacement[1]")],
)  # fmt: skip
def test_what_blew_up_is_named_by_its_cause(words: str, state: str) -> None:
    plant = Plant(MODEL, step=STEP)
    plant["bus.w.speed"] = 10.0
    plant["boom.flex.displacement[1]"] = 1e-3
    (found,) = told(plant, {name: 3 * value for name, value in BY_NAME[words][0].items()})
    assert found.category is (FastModeWarning if ":" in words else FastMotionWarning)
    with pytest.raises(StateError, match=f"state '{re.escape(state)}' left the finite numbers .* {words}"):
        plant.step(3.0)
