"""Tanks in files and in Python, and equations with them against second opinions, laws of momentum and differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from interpreted import Interpreted
from mbdy.engine import Model, ModelError, OptionError, PartError, Tank, dumps, equations_of, linearize, loads, verify
from mbdy.engine.linear.choice import Linear, PartlyLinear
from mbdy.engine.model.faults import ModelWarning
from mbdy.engine.model.tank_variables import tank_parameters
from mbdy.engine.order_n.tanks import propellant, tank_form

SYSTEM = """
mbdy = 1
name = "tanks"
[body.bus]
mass = 100
com = [0, 0, 0.1]
inertia = [20, 22, 18]
joint = { ROOT }
[body.bus.node]
engine.at = [0.2, 0.1, -0.8]
[body.bus.wheel.w]
axis = [0, 1, 1]
inertia = 0.1
[body.arm]
mass = 7
com = [0.2, 0.1, 0]
inertia = [0.3, 0.4, 0.5]
[body.arm.joint]
to = "bus"
kind = "revolute"
axis = [0, 0.3, 1]
at = [0, 0.5, 0]
at_b = [0.05, 0, 0.1]
stiffness = 40
motion = "switchable"
[body.arm.node]
tip.at = [0.3, 0, -0.1]
tap.at = [0.3, 0, 0.1]
[body.far]
mass = 3
com = [0.1, 0, 0]
inertia = [0.3, 0.4, 0.5]
joint = { to = "arm", kind = "prismatic", axis = [1, 0, 0], at = [0.4, 0, 0] }
[tank.sphere]
body = "bus"
shape = "sphere"
radius = "40 cm"
at = [0, 0.1, 0.2]
axis = [0.1, 0, 1]
density = 1010
mass = 200
nozzle = "engine"
exhaust_velocity = 20
[tank.column]
body = "arm"
shape = "cylinder"
radius = 0.1
length = 0.5
density = "1000 kg/m^3"
axis = [0, 1, 1]
at = [0.1, 0, 0]
nozzle = ["tip", "tap"]
thrust_axis = [[1, 0, 0], [0, 1, 1]]
exhaust_velocity = [100, 200]
mass = 5
[tank.rows]
body = "arm"
nozzle = "tap"
exhaust_velocity = 20
mass = 2
table = [
  [0.5, 0.1, 0.2, 0.3, 0.01, 0.02, 0.02, 0, 0, 0],
  [1.5, 0.1, 0.1, 0.3, 0.02, 0.03, 0.03, 0.001, 0, 0.002],
  [2.5, 0.2, 0.1, 0.3, 0.04, 0.03, 0.03, 0, 0, 0],
]
[tank.even]
body = "bus"
shape = "cylinder"
radius = 0.1
length = 0.5
nozzle = "engine"
exhaust_velocity = 20
mass = 2
"""
ROOTS = {
    "free": 'to = "inertial", kind = "free"',
    "attitude": 'to = "inertial", kind = "attitude"',
    "planar": 'to = "inertial", kind = "planar", at_b = [0.1, 0.2, 0]',
    "slides": 'to = "inertial", translation = [[1, 0, 0], [1, 1, 0]], rotation = "spherical"',
    "pivot": 'to = "inertial", kind = "spherical"',
}
LOOP = """
[body.bus.node.hook]
at = [0.1, 0.9, 0]
[loop.catch]
a = "bus.hook"
b = "far"
rows = [4]
switchable = true
closed = false
"""


BOOM = """
[body.boom]
joint = { to = "bus", kind = "revolute", axis = [0, 1, 0], at = [0.5, 0, 0] }
[body.boom.flex.beam]
length = 2
mass_per_length = 2
bending_stiffness = 100
modes = [2, 2]
"""
OTHER = """
[body.other]
mass = 10
com = [0.1, 0.1, 0]
inertia = [1, 1, 1]
joint = { to = "inertial", kind = "free" }
node.jet = { at = [0, 0, -0.3] }
[tank.point]
body = "other"
shape = "point"
at = [0.1, 0.2, 0.3]
mass = 2
nozzle = "jet"
exhaust_velocity = 30
[spring.line]
a = "other.jet"
b = "arm.tip"
stiffness = 20
length = 0.3
"""
GRADIENT = """
[system]
gravity_gradient = true
"""


def system(root: str = "free", more: str = "") -> Model:
    return loads(SYSTEM.replace("ROOT", ROOTS[root]) + more)


@pytest.mark.parametrize(
    ("root", "more"),
    [*((root, "") for root in ROOTS), *(("attitude", more) for more in (LOOP, BOOM, GRADIENT)), ("free", LOOP + OTHER)],
)
def test_second_opinions_and_laws_of_mechanics_agree(root: str, more: str):
    said = verify(system(root, more), states=3)
    assert said.agrees, str(said)


CRAFT = """
mbdy = 1
[body.stage]
mass = 50
com = [0.1, 0, 0]
inertia = [20, 22, 18]
joint = { STAGE }
node.engine = { at = [0, 0.3, -1] }
[body.payload]
mass = 100
com = [0.2, 0, 0]
inertia = [30, 22, 18]
joint = { PAYLOAD }
[tank.fuel]
body = "stage"
shape = "cylinder"
radius = 0.5
length = 1
mass = 100
nozzle = "engine"
exhaust_velocity = 200
"""
FREE = 'to = "inertial", kind = "free"'


def craft(stage: str, payload: str, loop: str = "") -> Model:
    return loads(CRAFT.replace("STAGE", stage).replace("PAYLOAD", payload) + (f"[loop.one]\n{loop}" if loop else ""))


def acceleration(model: Model) -> np.ndarray:
    """Angular, of the stage, of a craft that turns about x."""
    turning = {"stage.omega": (0.4, 0, 0), "stage.joint.rate": (0.4,), "payload.omega": (0.4, 0, 0)}
    moving = turning | {"payload.position": (0.0, 0, 2), "payload.velocity": (0.0, -0.8, 0)}
    known = Interpreted(model).ports.starts
    moved = Interpreted(replace(model, initial={name: start for name, start in moving.items() if name in known}))
    x = np.array(moved.equations.start(moved.ports.start, moved._constants)).ravel()
    u, named = np.array(moved.ports.vector("input")), moved.ports.state_names
    u[moved.ports.by_name["tank.fuel.flow"].places] = 3.0
    turns = [i for i, name in enumerate(named) if name.startswith("stage.omega") or name == "stage.joint.rate"]
    return moved.derivatives(x, u)[turns]


def on(kind: str) -> str:
    return f'to = "stage", kind = "{kind}", at = [0, 0, 2]'


LOOP_ABOVE = 'a = "stage"\nat_a = [0, 0, 2]\nb = "payload"\nkind = "KIND"'
PIN = 'kind = "pin"\na = "inertial"\nb = "stage"\naxis = [1, 0, 0]'


@pytest.mark.parametrize(
    ("joint", "loop"),
    [
        ((FREE, on("fixed")), (FREE, FREE, LOOP_ABOVE.replace("KIND", "weld"))),
        ((FREE, on("spherical")), (FREE, FREE, LOOP_ABOVE.replace("KIND", "ball") + "\nswitchable = true")),
        (('to = "inertial", kind = "revolute", axis = [1, 0, 0]', on("fixed")), (FREE, on("fixed"), PIN)),
    ],
)
def test_a_craft_that_loops_hold_turns_as_one_that_joints_hold(joint: tuple[str, str], loop: tuple[str, str, str]):
    by_joint, by_loop = acceleration(craft(*joint)), acceleration(craft(*loop))
    assert by_loop[: len(by_joint)] == pytest.approx(by_joint, rel=1e-11, abs=1e-13)
    assert abs(by_joint[0]) > 0.1


SEVERAL = """
[body.end]
mass = 10
com = [0.2, 0, 0]
inertia = [3, 2.2, 1.8]
joint = { to = "inertial", END }
[loop.one]
kind = "ball"
a = "stage"
at_a = [0, 0, 2]
b = "payload"
switchable = true
[loop.two]
kind = "ball"
a = "payload"
at_a = [0, 1, 0]
b = "end"
switchable = true
closed = false
[loop.line]
rows = [5, 6]
a = "A"
b = "B"
switchable = true
"""
ENDS = {
    "free": 'kind = "free"',
    "prismatic": 'kind = "prismatic", axis = [1, 0.2, 0]',
    "slides": 'translation = [[1, 0, 0], [0, 1, 0.3]], rotation = "spherical"',
    "pivot": 'kind = "spherical"',
}


@pytest.mark.parametrize(
    ("end", "sides"),
    [
        ("prismatic", ("inertial", "payload")),
        *(
            pytest.param(end, sides, marks=pytest.mark.slow)
            for end in ENDS
            for sides in (("inertial", "payload"), ("stage", "inertial"))
        ),
    ],
)
def test_second_opinions_agree_on_what_moves_with_a_tank(end: str, sides: tuple[str, str]):
    """Trees that loops join where they are closed, and hold to inertial along some directions."""
    more = SEVERAL.replace("END", ENDS[end]).replace('"A"', f'"{sides[0]}"').replace('"B"', f'"{sides[1]}"')
    said = verify(loads(CRAFT.replace("STAGE", FREE).replace("PAYLOAD", FREE) + more), states=4)
    assert said.agrees, str(said)


def test_a_file_that_is_written_says_the_same():
    model = system(more="[initial]\ntank.rows.mass = 1.2\n[ports]\noutputs = ['tank.*']\n")
    again = loads(dumps(model))
    assert again.tanks == model.tanks
    assert again.initial == model.initial == {"tank.rows.mass": (1.2,)}
    assert model.tanks[2].table[0] == (0.0, 0.1, 0.2, 0.3, 0, 0, 0, 0, 0, 0)


FAULTS = {
    ("nozzle = \"engine\"", "nozzle = \"engin\""): "tank.sphere.nozzle: body 'bus' has no node 'engin'; the nearest",
    ("body = \"bus\"", "body = \"bas\""): "tank.sphere.body: there is no body 'bas'",
    ("mass = 200", "mass = 300"): "tank.sphere.mass: is 300.0 kg, and the tank holds 270.7",
    ("radius = \"40 cm\"", "length = 2"): "tank.sphere.radius: is missing",
    ("\"sphere\"\nradius", "\"spere\"\nradius"): "tank.sphere.shape: unknown shape 'spere'; the nearest",
    ("exhaust_velocity = [100, 200]", "exhaust_velocity = [1, 2, 3]"): "exhaust_velocity: 2 are needed, got 3",
    ("exhaust_velocity = [100, 200]", ""): "tank.column.exhaust_velocity: is missing",
    ("density = 1010", "density = -1"): "tank.sphere.density: must be > 0 kg/m3, got -1.0",
    ("  [1.5,", "  [0.5,"): "tank.rows.table: masses must rise",
    ("0.04, 0.03, 0.03, 0, 0, 0]", "0.04, 0.03, 0.03, 0.04, 0, 0]"): "tank.rows.table[3]: has a negative principal",
    ("table = [", "shape = 'point'\ntable = ["): "tank.rows.shape: either a shape or a table",
    ("[tank.even]", "[tank.even]\nfoo = 1"): "tank.even.foo: unknown key",
    ("[tank.even]", "[initial]\ntank.even.mass = -1\n[tank.even]"): "initial.tank.even.mass: must be >= 0 kg, got -1",
    ("[tank.even]", "[initial]\ntank.sphere.mass = 300\n[tank.even]"): "initial.tank.sphere.mass: is 300.0 kg, and the",
    ("[tank.even]", "[guess]\ntank.rows.mass = 30\n[tank.even]"): "guess.tank.rows.mass: is 30.0 kg, and the table",
    ("[tank.even]", "[initial]\ntank.evn.mass = 1\n[tank.even]"): "initial.tank.evn.mass: is no start value",
}  # fmt: skip


@pytest.mark.parametrize(("change", "words"), FAULTS.items())
def test_what_cannot_be_a_tank_is_refused_by_name(change: tuple[str, str], words: str):
    with pytest.raises(ModelError) as refusal:
        loads(SYSTEM.replace("ROOT", ROOTS["free"]).replace(*change, 1))
    assert words in str(refusal.value)


def test_moments_that_no_body_has_are_told():
    with pytest.warns(ModelWarning, match=r"tank\.rows\.table: principal moments .* break the triangle"):
        loads(SYSTEM.replace("ROOT", ROOTS["free"]).replace("0.02, 0.03, 0.03, 0.001", "0.02, 0.03, 0.07, 0.001"))


def test_tanks_made_in_python_are_judged_where_they_are_set():
    tank = {"name": "fuel", "body": "bus", "mass": 1, "nozzle": "engine", "exhaust_velocity": "2 km/s"}
    assert Tank(**tank, shape="point").exhaust_velocity == (2000.0,)
    with pytest.raises(PartError, match=r"Tank\.radius: is missing"):
        Tank(**tank, shape="sphere")
    with pytest.raises(ModelError, match=r"tank\.even: is given 2 times"):
        replace(system(), tanks=(system().tanks[3],) * 2)
    with pytest.raises(ModelError, match=r"initial\.tank\.sphere\.mass: is 300\.0 kg, and the tank holds 270\.7"):
        replace(system(), initial={"tank.sphere.mass": 300})


@pytest.mark.parametrize("name", ["sphere", "column", "rows", "even"])
def test_moments_have_the_derivatives_by_mass_that_flows_take(name: str):
    """By differences, also beyond empty and full, where moments go on along a line."""
    import casadi as ca

    tank = next(tank for tank in system().tanks if tank.name == name)
    form, m = tank_form(tank), ca.SX.sym("m")
    values = [number for _, start in tank_parameters(tank).values() for number in start]
    constants = form.constants.split(ca.SX(ca.DM([*values, *[0.0] * (3 * form.nozzles + 1)])))
    constants |= {"axis": constants["axis"] / ca.norm_2(constants["axis"])} if "axis" in constants else {}
    moment, tensor, moment_rate, tensor_rate = propellant(form, constants, m)
    f = ca.Function("f", [m], [ca.vertcat(moment, ca.vec(tensor)), ca.vertcat(moment_rate, ca.vec(tensor_rate))])
    full = min(tank.capacity, 1e3)
    for mass in (0.3 * full, 0.77 * full, 0.999 * full, 1.01 * full):
        step = 1e-6 * full
        slope = (f(mass + step)[0] - f(mass - step)[0]) / (2 * step)
        assert np.allclose(np.array(slope), np.array(f(mass)[1]), rtol=1e-5, atol=1e-8)


def test_linear_models_have_the_mass_and_the_flow():
    """Against central differences."""
    model = system()
    equations = Interpreted(model)
    ports, linear = equations.ports, linearize(model)
    x, u = (
        np.array(equations.equations.start(ports.start, equations._constants)).ravel(),
        np.array(ports.vector("input")),
    )
    mass = linear.states.index("tank.sphere.mass")
    speeds = [linear.states.index(name) for name in ("arm.joint.rate", "far.joint.velocity", "bus.w.momentum")]
    flow, step = ports.by_name["tank.sphere.flow"].offset, 1e-4
    places = [ports.state_names.index(name) for name in ("arm.joint.rate", "far.joint.velocity", "bus.w.momentum")]
    pushed = u + step * np.eye(len(u))[flow]
    column = (equations.derivatives(x, pushed) - equations.derivatives(x, u)) / step
    B = linear.B[:, linear.inputs.index("tank.sphere.flow")]
    assert B[mass] == -1.0
    assert B[speeds] == pytest.approx(column[places], rel=1e-6)
    assert linear.A[mass].any() == 0
    assert linear.second_order is None


@pytest.mark.parametrize("dynamics", [Linear(), PartlyLinear()])
def test_linear_plants_are_refused_by_name(dynamics: object):
    with pytest.raises(OptionError, match="the mass of tanks changes, of 'sphere', 'column', 'rows', 'even'"):
        equations_of(system(), dynamics)
