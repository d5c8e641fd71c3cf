"""Spellings that people reach for: inertia by entries and about other points, places and axes on the outboard body,
axes of the parent, attitudes by angles, defaults for many bodies."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.interpreted import Interpreted

from mbdy.engine import Body, Joint, Model, ModelError, ModelWarning, dumps, loads, verify
from mbdy.engine.linear.partly_linear import partly_linear_equations
from mbdy.engine.model.faults import PartError
from mbdy.engine.model.frames import from_sequence
from mbdy.engine.model.ports import ports
from mbdy.engine.model.rotations import exponential, rotation
from mbdy.engine.model.values import values_of

BUS = 'mbdy = 1\n[body.bus]\nmass = 10\ninertia = [1, 2, 2.5]\njoint = { to = "inertial", kind = "free" }\n'
ARM = "[body.arm]\nmass = 2\ncom = [0, 1, 0]\n"
HINGE = 'joint = { to = "bus", kind = "revolute", axis = [0, 0, 1] }\n'
EDGES = ("45 deg", "30 deg")


def arm(*lines: str) -> str:
    return BUS + ARM + "\n".join(lines) + "\n"


def told(text: str) -> str:
    with pytest.raises(ModelError) as caught:
        loads(text)
    return str(caught.value)


@pytest.mark.parametrize(
    ("spelled", "plain"),
    [
        ("inertia = { xx = 1, yy = 2, zz = '2 kg*m^2', xy = 0.1, yz = 0, products = 'tensor' }",
         "inertia = [[1, 0.1, 0], [0.1, 2, 0], [0, 0, 2]]"),
        ("inertia = { xx = 1, yy = 2, zz = 2, xy = 0.1, xz = -0.2, products = 'integrals' }",
         "inertia = [[1, -0.1, 0.2], [-0.1, 2, 0], [0.2, 0, 2]]"),
        ("inertia = { xx = 1, yy = 2, zz = 2 }", "inertia = [1, 2, 2]"),
        ("inertia = [3, 2, 4]\ninertia_about = 'origin'", "inertia = [1, 2, 2]"),
        ("inertia = [1, 2, 2]\ninertia_about = 'com'", "inertia = [1, 2, 2]"),
        ("inertia = { xx = 3, yy = 2, zz = 4 }\ninertia_about = 'joint'", "inertia = [1, 2, 2]"),
        ("inertia = [2, 0, 2]\ninertia_about = 'origin'", "inertia = [0, 0, 0]"),
    ],
)  # fmt: skip
def test_inertia(spelled, plain):
    model = loads(arm(spelled, HINGE))
    assert model.bodies == loads(arm(plain, HINGE)).bodies
    assert loads(dumps(model)).bodies == model.bodies


def test_inertia_about_a_joint_off_the_origin():
    joint = 'joint = { to = "bus", kind = "revolute", axis = [0, 0, 1], at_b = [0, 0.5, 0] }'
    assert loads(arm("inertia = [1.5, 1, 2.5]\ninertia_about = 'joint'", joint)).body("arm").inertia == (
        (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 2.0)
    )  # fmt: skip


def test_rounding_leaves_no_negative_moment():
    c, m = np.array([0.1, 0.2, 0.3]), 3.3
    about_origin = m * (c @ c * np.eye(3) - np.outer(c, c))
    body = Body(
        name="p", mass=m, com=c, inertia=about_origin, inertia_about="origin", joint=Joint(to="inertial", kind="free")
    )
    assert body.inertia_about == "com"
    assert min(np.linalg.eigvalsh(np.array(body.inertia))) > -1e-30


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("inertia = { xx = 1, yy = 2, zz = 2, xy = 0.1 }",
         'body.arm.inertia.xy: 0.1 can be read two ways, of opposite sign; say products = "tensor" for entries of the '
         'tensor (-integral of x y dm), or products = "integrals"'),
        ("inertia = { xx = 1, yy = '2 m', xi = 2 }", "inertia.zz: is missing; give xx, yy and zz"),
        ("inertia = { xx = 1, yy = '2 m', xi = 2 }", "inertia.xi: unknown key; "),
        ("inertia = { xx = 1, yy = '2 m', xi = 2 }", "inertia.yy: must be a number in kg.m2"),
        ("inertia = { xx = 1, yy = 1, zz = 1, products = 'both' }", 'products: must be "tensor" or "integrals", got'),
        ("inertia = { xx = 1, yy = 1, zz = 1, products = [1] }", 'products: must be "tensor" or "integrals", got [1]'),
        ("inertia = { xx = 1, yy = 1, zz = -1 }", "body.arm.inertia: has a negative principal moment, -1"),
        ("inertia = [1, 1, 1]\ninertia_about = 'origin'",
         "body.arm.inertia: leaves a principal moment of -1 kg.m2 about the mass centre; the mass alone has 2 kg.m2"),
        ("inertia = [1, 1, 1]\ninertia_about = 'centre'", "body.arm.inertia_about: must be one of com, origin, joint"),
    ],
)  # fmt: skip
def test_inertia_that_is_refused(lines, message):
    assert message in told(arm(lines, HINGE))


@pytest.mark.parametrize(
    ("spelled", "plain"),
    [
        ('"prismatic", axis = [0, 0, 2], axes_in = "parent", frame = { sequence = "x", angles = "90 deg" }',
         '"prismatic", axis = [0, 2, 0], frame = { sequence = "x", angles = "90 deg" }'),
        ('"gimbal", sequence = "xzy", axes_in = "parent", frame = { sequence = "x", angles = "-90 deg" }',
         '"gimbal", axes = [[1, 0, 0], [0, -1, 0], [0, 0, 1]], frame = { sequence = "x", angles = "-90 deg" }'),
        ('"revolute", axis = [0, 0, 1], axes_in = "joint", frame_b = { sequence = "x", angles = "90 deg" }',
         '"revolute", axis = [0, -1, 0], frame = { sequence = "x", angles = "-90 deg" }'),
        ('"fixed", frame = { sequence = "xyz", angles = [0.1, 0.2, 0.3] }, '
         'frame_b = { sequence = "xyz", angles = [0.1, 0.2, 0.3] }', '"fixed"'),
        ('"spherical", stiffness = 2, rest = ["10 deg", 0, 0.3], frame_b = { sequence = "z", angles = "90 deg" }',
         '"spherical", stiffness = 2, rest = [0, "10 deg", 0.3], frame = { sequence = "z", angles = "-90 deg" }'),
        ('"planar", frame_b = { sequence = "z", angles = "90 deg" }',
         '"planar", axes = [[0, 1, 0], [-1, 0, 0]], frame = { sequence = "z", angles = "-90 deg" }'),
        ('"planar", axes_in = "parent", frame = { rotation_vector = [0.3, 0.2, 0.1] }',
         '"planar", axes_in = "parent", frame = { rotation_vector = [0.3, 0.2, 0.1] }, axes = [[1, 0, 0], [0, 1, 0]]'),
    ],
)  # fmt: skip
def test_axes_and_frames(spelled, plain):
    ours, theirs = (
        loads(arm("inertia = [1, 2, 2]", f'joint = {{ to = "bus", kind = {k} }}')) for k in (spelled, plain)
    )
    one, other = (model.body("arm").joint for model in (ours, theirs))
    assert one.kind == other.kind
    for field in ("translations", "rotations", "frame", "rest"):
        assert np.allclose(getattr(one, field), getattr(other, field), atol=1e-15)
    assert loads(dumps(ours)).bodies == ours.bodies


def test_parts_made_in_python_take_the_same_spellings():
    frame = {"sequence": "x", "angles": "90 deg"}
    joint = Joint(
        to="bus", kind="prismatic", translations=[[0, 0, 1]], axes_in="parent", frame=frame, at_b=[0, "1 cm", 0]
    )
    assert np.allclose(joint.translations, [[0, 1, 0]], atol=1e-15)
    assert (joint.at_b, joint.axes_in) == ((0.0, 0.01, 0.0), "joint")
    table = {"xx": 1, "yy": 1, "zz": 1, "xy": 0.1}
    body = Body(name="a", mass=1, joint=joint, inertia={**table, "products": "integrals"})
    assert body.inertia[0] == (1.0, -0.1, 0.0)
    with pytest.raises(PartError, match=r"Body\.inertia\.xy: 0\.1 can be read two ways"):
        Body(name="a", mass=1, joint=joint, inertia=table)
    with pytest.raises(PartError, match=r"Joint\.at_b: a joint of kind free takes no 'at_b'"):
        Joint(to="inertial", kind="free", at_b=[0, 0, 1])
    with pytest.raises(PartError, match=r'Joint\.axes_in: must be "joint" or "parent", got \'world\''):
        Joint(to="bus", kind="prismatic", translations=[[0, 0, 1]], axes_in="world")
    slanted = 'joint = { to = "bus", kind = "planar", axes = [[1, 0, 1], [0, 1, 0]] }'
    assert "body.arm.joint.axes: must be two directions across the normal" in told(arm("", slanted))


# Place and frame of a joint on the outboard body

AT, AT_B, PLACE_C, COM, TIP = (
    np.array(v) for v in ([0.3, 0.1, 0], [0.1, 0.2, -0.3], [0, 1, 0.2], [0.1, 1, 0], [0, 2, 0])
)
FRAME, FRAME_B = "zy", "xyz"
TURNS, TURNS_B = (0.4, -0.3), (0.7, 0.2, 0.1)
INERTIA = np.array([[1, 0.1, 0], [0.1, 2, 0], [0, 0, 2]])


def held(*, shifted: bool) -> Model:
    """An arm that its joint holds off the origin and its axes, or the same with its origin in the joint."""
    away = AT_B if shifted else np.zeros(3)
    place = {} if shifted else {"at_b": AT_B}
    joint = Joint(
        to="bus", kind="revolute", rotations=[[0, 0, 1]], at=AT, frame={"sequence": FRAME, "angles": TURNS},
        frame_b={"sequence": FRAME_B, "angles": TURNS_B}, stiffness=3, damping=0.1, motion="switchable", **place,
    )  # fmt: skip
    bodies = (
        Body(name="bus", mass=10, inertia=[1, 2, 2.5], com=[0.1, 0, 0.2], joint=Joint(to="inertial", kind="free")),
        Body(name="arm", mass=2, inertia=INERTIA, com=COM - away, joint=joint, nodes={"tip": _node(TIP - away)}),
        Body(
            name="end", mass=1, inertia=[0.1, 0.2, 0.2], com=[0.3, 0, 0],
            joint=Joint(to="arm", kind="universal", rotations=[[1, 0, 0], [0, 1, 0]], at=PLACE_C - away, stiffness=1),
        ),
    )  # fmt: skip
    return Model(name="held", bodies=bodies, gravity=(0.3, 0.1, -9.81))


def _node(at):
    from mbdy.engine import Node

    return Node(at=at)


def test_a_joint_off_the_origin():
    ours, theirs = held(shifted=False), held(shifted=True)
    one, other = Interpreted(ours), Interpreted(theirs)
    assert loads(dumps(ours)).bodies == ours.bodies
    assert one.ports.by_name["arm.joint.at_b"].start == tuple(AT_B)
    assert "arm.joint.at_b" not in other.ports.by_name
    rng = np.random.default_rng(5)
    x, u = rng.normal(size=len(one.ports.state_names)), rng.normal(size=len(one.ports.input_names))
    x[3:7] /= np.linalg.norm(x[3:7])
    u[one.ports.span("switches")] = 0.0
    rates = one.derivatives(x, u)
    assert rates == pytest.approx(other.derivatives(x, u), rel=1e-11, abs=1e-11)

    partly = partly_linear_equations(ours, ())
    k = partly.prepare(np.array(partly.ports.vector("parameter")))
    assert rates == pytest.approx(np.array(partly.derivatives(x, u, k)).ravel(), rel=1e-10, abs=1e-10)

    y, z = ({v.name: values[v.places] for v in m.ports.outputs} for m in (one, other) for values in [m.outputs(x, u)])
    for name, value in y.items():
        if name not in ("arm.position", "arm.velocity", "arm.acceleration", "arm.specific_force"):
            assert value == pytest.approx(z[name], rel=1e-10, abs=1e-10), name
    # The origin and axes are the user's own: by hand from bus and joint.
    bus, angle = rotation(y["bus.attitude"]), y["arm.joint.angle"][0]
    to_parent = rotation(from_sequence(FRAME, list(TURNS))) @ exponential(np.array([0, 0, angle]))
    C = bus @ to_parent @ rotation(from_sequence(FRAME_B, list(TURNS_B))).T
    assert rotation(y["arm.attitude"]) == pytest.approx(C, abs=1e-14)
    place = y["bus.position"] + bus @ AT - C @ AT_B
    assert y["arm.position"] == pytest.approx(place, abs=1e-13)
    omega = C @ y["arm.omega"]
    velocity = y["bus.velocity"] + np.cross(bus @ y["bus.omega"], bus @ AT) - np.cross(omega, C @ AT_B)
    assert y["arm.velocity"] == pytest.approx(velocity, abs=1e-12)
    assert y["arm.tip.position"] == pytest.approx(place + C @ TIP, abs=1e-13)


ROD = '[loop.l]\na = "d"\nb = "g"\nkind = "distance"\ndistance = 0.8\nat_b = [0, 0.1, 0]\n'
TANK = """[tank.fuel]
body = "arm"
shape = "sphere"
radius = 0.3
density = 1000
at = [0.2, 0.1, 0]
mass = 20
nozzle = "end"
exhaust_velocity = 2000
[body.arm.node.end]
at = [0, 2, 0]
"""
SPRING = '[spring.s]\na = "arm"\nb = "g"\nat_b = [0, 0.1, 0]\nstiffness = 5\ndamping = 0.3\nlength = 0.4\n'


@pytest.mark.slow
@pytest.mark.parametrize("loop", [ROD, SPRING + TANK])
def test_formulations_agree_on_joints_off_the_origin(loop):
    part = "mass = 1\ncom = [0.3, 0, 0]\ninertia = [0.1, 0.2, 0.2]\n"
    at = 'at_b = [0, -0.2, 0.1], frame_b = { sequence = "zy", angles = [0.3, 0.4] }'
    model = loads(
        arm("inertia = [1, 2, 2]", f'joint = {{ to = "bus", kind = "revolute", axis = [0, 0, 1], {at} }}')
        + f'[body.c]\n{part}joint = {{ to = "arm", kind = "universal", axes = [[1, 0, 0], [0, 1, 0]], {at} }}\n'
        f'wheel.r = {{ axis = [0, 0, 1], inertia = 0.01 }}\n[body.d]\n{part}joint = {{ to = "c", '
        f'translation = [[1, 0, 0]], rotation = "spherical", {at} }}\n[body.e]\n{part}joint = {{ to = "arm", '
        f'kind = "fixed", {at} }}\n[body.f]\n{part}joint = {{ to = "e", kind = "prismatic", axis = [1, 0, 0], '
        f'axes_in = "parent", {at} }}\n[body.g]\n{part}joint = {{ to = "bus", kind = "cylindrical", '
        f"axis = [1, 0, 1], {at} }}\n{loop}"
    )
    assert verify(model).agrees


def test_a_flexible_body_is_held_at_its_origin():
    flex = "[body.arm.flex]\nfrequencies = ['1 Hz']\ncoupling = [[0], [0], [0], [1], [0], [0]]\n"
    joint = 'joint = { to = "bus", kind = "revolute", axis = [0, 0, 1], at_b = [0, 1, 0] }'
    assert "body.arm.joint.at_b: is off the origin of a flexible body" in told(arm("inertia = [3, 2, 3]", joint) + flex)


# Attitudes

TURNED = from_sequence("xyz", [math.radians(10), 0.2, 0.0])


@pytest.mark.parametrize("table", ["initial", "guess"])
def test_attitudes_by_angles(table):
    ball = 'joint = { to = "bus", kind = "spherical" }'
    text = (
        arm("inertia = [1, 2, 2]", ball)
        + f"[{table}]\nbus.attitude = {{ sequence = 'xyz', angles = ['10 deg', 0.2, 0] }}\n"
    )
    text += "arm.joint.attitude = { quaternion = [0.6, 0, 0, 0.8] }\n"
    model = loads(text)
    assert model.starts == {"bus.attitude": TURNED, "arm.joint.attitude": (0.6, 0.0, 0.0, 0.8)}
    assert loads(dumps(model)).starts == model.starts
    assert "bus.attitude.angle: unknown key" in told(text.replace("angles", "angle"))
    with pytest.warns(ModelWarning, match=r"bus\.attitude\.angles\[1\]: 10 rad is 573 deg"):
        loads(text.replace("'10 deg'", "10"))


def test_attitudes_by_angles_in_python():
    model = loads(BUS)
    attitude = {"sequence": "xyz", "angles": ["10 deg", 0.2, 0]}
    assert Model(name="m", bodies=model.bodies, initial={"bus.attitude": attitude}).initial["bus.attitude"] == TURNED
    variable = ports(model).by_name["bus.attitude"]
    assert tuple(values_of("bus.attitude", variable, slice(0, 4), attitude)) == TURNED


# Defaults

DEFAULTS = """
[default.body]
mass = 2
inertia = [1, 2, 2]
[default.body.joint]
kind = "revolute"
axis = [0, 0, 1]
damping = "0.3 N*m*s/rad"
[default.body.wheel]
axis = [0, 0, 1]
inertia = 0.01
[default.loop]
time_constant = 0.2
[body.bus]
mass = 10
joint = { to = "inertial", kind = "free" }
wheel = { w = { inertia = 0.02 }, v = {} }
[body.one]
joint = { to = "bus", axis = [0, 1, 0] }
[body.two]
com = [1, 0, 0]
joint = { to = "one", rotation = [[0, 1, 0], [1, 0, 0]], damping = [0, 0] }
[body.three]
joint = { to = "bus" }
[loop.closing]
a = "two"
b = "bus"
kind = "distance"
distance = 1
"""


def test_defaults():
    model = loads("mbdy = 1" + DEFAULTS)
    assert [(b.name, b.mass, b.inertia[0][0], b.joint.kind, b.joint.damping) for b in model.bodies[:3]] == [
        ("bus", 10.0, 1.0, "free", (0.0,) * 6), ("one", 2.0, 1.0, "revolute", (0.3,)),
        ("two", 2.0, 1.0, "general", (0.0, 0.0)),
    ]  # fmt: skip
    axes = [model.body(name).joint.rotations for name in ("one", "three")]
    assert axes == [((0.0, 1.0, 0.0),), ((0.0, 0.0, 1.0),)]
    assert [(w.inertia, w.axis[2]) for w in model.body("bus").wheels.values()] == [(0.02, 1.0), (0.01, 1.0)]
    assert model.loops[0].time_constant == 0.2
    assert loads(dumps(model)).bodies == model.bodies


def test_defaults_that_are_told_of():
    text = "mbdy = 1" + DEFAULTS
    said = told(text.replace("0.3 N*m*s/rad", "0.3 m").replace("[default.loop]", "[default.lop]"))
    assert said.splitlines() == [
        "<string>: line 8: default.body.joint.damping: must be a number in N.m.s/rad, but 'm' is a unit of something "
        "else, got '0.3 m'; give a number in N.m.s/rad, or text with its unit such as '0.8 N*m*s/rad'",
        "<string>: line 12: default.lop: is no default; the nearest known is 'loop'",
    ]
    assert "default.joint: is no default; write [default.body.joint]" in told(
        text.replace("default.body.joint", "default.joint")
    )
    with pytest.warns(ModelWarning, match=r"default\.loop\.time_constant: is a default that nothing uses; remove it"):
        loads(text[: text.index("[loop")])
    assert "default: must be a table, got 3" in told("mbdy = 1\ndefault = 3\n" + BUS[9:])


@pytest.mark.parametrize(
    "name", ["loop", "spring", "gear", "tank", "slosh", "contact", "output", "guess", "ports", "default"]
)
def test_names_that_no_body_has(name):
    assert f"no body can be called '{name}'; that name has a meaning of its own; choose another" in told(
        BUS.replace("bus", name)
    )
