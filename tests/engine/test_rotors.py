"""Wheels whose angle counts: against rotors written out as bodies, closed forms, laws of mechanics, second opinions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from interpreted import Interpreted
from mbdy.engine import Body, Joint, Model, ModelError, PartError, Wheel, dumps, linearize, loads, verify
from systems import diagonal, floating

EXACT = 1e-12
STATIC, DYNAMIC, SPIN, SPEED = 3e-3, 4e-3, 0.05, 70.0
AXIS, AT = (0.0, 0.6, 0.8), (0.2, 0.1, -0.3)
PHASES = 0.5, 2.0


def wheel(**more) -> Wheel:
    return Wheel(axis=AXIS, inertia=SPIN, at=AT, static_imbalance=STATIC, static_phase=PHASES[0],
                 dynamic_imbalance=DYNAMIC, dynamic_phase=PHASES[1], **more)  # fmt: skip


def craft(wheels: dict[str, Wheel], joint: Joint | None = None, **starts) -> Model:
    bus = Body(name="bus", mass=20.0, com=(0.1, 0, 0.05), inertia=diagonal(2.0, 3.0, 4.0), wheels=wheels,
               joint=joint or floating())  # fmt: skip
    hinge = Joint(to="bus", kind="revolute", rotations=((1, 0, 0),), at=(0.5, 0, 0), stiffness=(3.0,))
    panel = Body(name="panel", mass=2.0, com=(0.4, 0.1, 0), inertia=diagonal(0.1, 0.2, 0.3), joint=hinge)
    start = {"bus.omega": (0.3, -0.2, 0.5), "bus.velocity": (1, 2, 3)} if not joint else {}
    return Model(name="craft", bodies=(bus, panel), initial={**start, **starts}, gravity=(0, 0, -2))


def state(run: Interpreted) -> np.ndarray:
    return np.array(run.equations.start(np.array(run.ports.start), run._constants)).ravel()


def radial(angle: float) -> np.ndarray:
    """Of the axis, whose largest component is z: from x, made perpendicular to it, turned by ``angle``."""
    first = np.array([1.0, 0.0, 0.0])
    return np.cos(angle) * first + np.sin(angle) * np.cross(AXIS, first)


def rates(model: Model, names: tuple[str, ...], torque: str = "bus.x.torque") -> np.ndarray:
    run = Interpreted(model)
    u = np.zeros(len(run.ports.input_names))
    u[run.ports.by_name[torque].offset] = 0.7
    found = run.derivatives(state(run), u)
    return np.concatenate([found[(v := run.ports.states[name]).state : v.state + v.size] for name in names])


def test_an_imbalanced_wheel_is_the_rotor_written_out_as_a_body() -> None:
    """A body of the rotor's own mass, hinged to what is left of the craft; of which mass is of no influence."""
    m, e = 1.5, STATIC / 1.5 * radial(PHASES[0])
    product = DYNAMIC * np.outer(AXIS, radial(PHASES[1]))
    disc = SPIN * (0.8 * np.eye(3) + 0.2 * np.outer(AXIS, AXIS))

    def steiner(mass: float, at) -> np.ndarray:
        return mass * (np.dot(at, at) * np.eye(3) - np.outer(at, at))

    whole = craft({}).bodies[0]
    left = 20.0 - m
    com = (20.0 * np.array(whole.com) - m * np.array(AT)) / left
    about = np.array(whole.inertia) + steiner(20.0, whole.com) - disc - steiner(m, AT)
    bus = replace(whole, mass=left, com=com, inertia=about - steiner(left, com))
    hinge = Joint(to="bus", kind="revolute", rotations=(AXIS,), at=AT, damping=(0.02,))
    rotor = Body(name="rotor", joint=hinge, mass=m, com=e, inertia=disc - product - product.T - steiner(m, e))
    written = craft({})
    given = {**written.initial, "rotor.joint.angle": (0.4,), "rotor.joint.rate": (SPEED,)}
    written = replace(written, bodies=(bus, rotor, written.bodies[1]), initial=given)
    start = {"bus.x.angle": (0.4,), "bus.x.speed": (SPEED,)}
    own = ("bus.omega", "bus.velocity", "panel.joint.rate")
    expected = rates(written, (*own, "rotor.joint.rate"), "rotor.joint.torque")
    for mass in (None, 0.3, 4.0):
        found = rates(craft({"x": wheel(damping=0.02, mass=mass)}, **start), (*own, "bus.x.speed"))
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize("angle", [0.0, 1.1, 4.0])
def test_imbalance_shakes_what_holds_it_by_m_e_omega_squared(angle: float) -> None:
    """Force m e W^2 towards the rotor's mass centre at the wheel, torque d W^2 about axis x radius, on a held body."""
    held = Joint(to="inertial", kind="fixed")
    start = {"bus.x.angle": (angle,), "bus.x.speed": (SPEED,)}
    loads_of = []
    for wheels in ({"x": wheel()}, {"x": Wheel(axis=AXIS, inertia=SPIN, at=AT, angle=True)}):
        model = craft(wheels, held, **start)
        run = Interpreted(replace(model, gravity=(0, 0, 0)))
        y = run.outputs(state(run), np.zeros(len(run.ports.input_names)))
        loads_of.append(y[run.ports.by_name["bus.joint.load"].places])
        assert run.ports.by_name["bus.x.speed"].display_units == ("rpm",)
    torque, force = np.split(loads_of[1] - loads_of[0], 2)
    expected = STATIC * SPEED**2 * radial(PHASES[0] + angle)
    np.testing.assert_allclose(force, expected, atol=EXACT * STATIC * SPEED**2 * 10)
    shaken = DYNAMIC * SPEED**2 * np.cross(AXIS, radial(PHASES[1] + angle)) + np.cross(AT, expected)
    np.testing.assert_allclose(torque, shaken, atol=EXACT * 100)


def test_a_balanced_wheel_with_angle_moves_as_one_without() -> None:
    start = {"bus.x.speed": (SPEED,)}
    own = ("bus.omega", "bus.velocity", "panel.joint.rate")
    plain = craft({"x": Wheel(axis=AXIS, inertia=SPIN)}, **start)
    turning = craft({"x": Wheel(axis=AXIS, inertia=SPIN, at=AT, angle=True)}, **start, **{"bus.x.angle": (2.0,)})
    np.testing.assert_allclose(rates(turning, own), rates(plain, own), rtol=1e-10, atol=1e-11)
    runs = [Interpreted(model) for model in (plain, turning)]
    momenta = [
        run.outputs(state(run), np.zeros(len(run.ports.input_names)))[run.ports.by_name["bus.x.momentum"].offset]
        for run in runs
    ]
    assert momenta[1] == pytest.approx(momenta[0], rel=EXACT)


def test_second_opinions_and_laws_cover_rotors() -> None:
    model = craft({"x": wheel(), "y": Wheel(axis=(1, 0, 0), inertia=0.02, damping=0.01)}, **{"bus.x.speed": (SPEED,)})
    assert verify(model, states=4).agrees


def test_harmonics_act_on_the_body_that_carries_the_wheel() -> None:
    """A first radial one is a static imbalance's force on a held body; work and second opinions know all."""
    held, start = Joint(to="inertial", kind="fixed"), {"bus.x.angle": (1.1,), "bus.x.speed": (SPEED,)}
    rows = {"radial_force": [[1, STATIC, "0.5 rad"], [2.5, 1e-3]], "axial_force": [[3, 2e-3, 0.3]],
            "radial_torque": [[2, "5e-4 kg.m2"]]}  # fmt: skip
    found = []
    for shaken in ({"angle": True}, {"harmonics": rows}):
        run = Interpreted(craft({"x": Wheel(axis=AXIS, inertia=SPIN, at=AT, **shaken)}, held, **start))
        y = run.outputs(state(run), np.zeros(len(run.ports.input_names)))
        found.append(y[run.ports.by_name["bus.joint.load"].places])
    torque, force = np.split(found[0] - found[1], 2)
    square, axis = SPEED**2, np.array(AXIS)
    expected = STATIC * radial(0.5 + 1.1) + 1e-3 * radial(2.5 * 1.1) + 2e-3 * np.sin(3 * 1.1 + 0.3) * axis
    np.testing.assert_allclose(force, square * expected, atol=1e-10)
    np.testing.assert_allclose(torque, square * (5e-4 * radial(2.2) + np.cross(AT, expected)), atol=1e-10)
    model = craft({"x": replace(wheel(), harmonics=rows)}, **{"bus.x.speed": (SPEED,)})
    assert verify(model, states=3).agrees
    assert loads(dumps(model)).bodies[1].harmonics == model.bodies[1].harmonics
    assert len(Wheel(axis=AXIS, inertia=SPIN, harmonics=[[1, 2e-8], [2, 1e-8]]).harmonics) == 2
    with pytest.raises(PartError, match=r"Wheel.harmonics: unknown sort of harmonics 'radial'"):
        Wheel(axis=AXIS, inertia=SPIN, harmonics={"radial": [[1, 2]]})


def test_linear_models_have_them() -> None:
    linear = linearize(craft({"x": wheel(friction=0.1)}, **{"bus.x.speed": (SPEED,)}))
    assert {"bus.x.angle", "bus.x.speed"} <= set(linear.states)
    assert np.isfinite(linear.A).all()


FILE = """
mbdy = 1
[body.bus]
mass = 20
inertia = [2, 3, 4]
joint = { to = "inertial", kind = "free" }
[body.bus.wheel.x]
axis = [0, 0, 1]
inertia = 0.05
static_imbalance = "2 g*cm"
dynamic_imbalance = "30 g*cm^2"
dynamic_phase = "90 deg"
at = [0, 0, "20 cm"]
friction = 0.01
[body.bus.wheel.y]
axis = [0, 1, 0]
inertia = 0.05
angle = true
[initial]
bus.x.speed = "3000 rpm"
bus.y.angle = "90 deg"
"""


def test_files_keep_rotors() -> None:
    model = loads(FILE)
    assert [body.rotor for body in model.bodies] == ["", "x", "y"]
    assert loads(dumps(model)) == replace(model, source="<string>")
    assert model.bodies[1].mass * model.bodies[1].com[0] == pytest.approx(2e-5)
    assert sum(body.mass for body in model.bodies) == pytest.approx(20.0)
    states = Interpreted(model).ports.state_names
    assert states[7:9] == ("bus.x.angle", "bus.y.angle")
    assert states[-2:] == ("bus.x.speed", "bus.y.speed")


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(PartError, match=r"wheel 'x' of 'bus' would have a mass of .* kg of 20 kg"):
        craft({"x": replace(wheel(), static_imbalance=0.9)})
    model = craft({"x": wheel()})
    with pytest.raises(PartError, match=r"body.bus_x: is given 2 times"):
        replace(model, bodies=(*model.bodies, replace(model.bodies[1])))
    with pytest.raises(ModelError, match=r"line \d+: body.bus.wheel.y: its rotor is the body 'bus_y', and another"):
        loads(FILE + '[body.bus_y]\nmass = 1\ninertia = [1, 1, 1]\njoint = { to = "bus", kind = "fixed" }\n')
    with pytest.raises(PartError, match=r"body.panel.rotor: the name 'x' is taken"):
        replace(model, bodies=(*model.bodies[:2], replace(model.bodies[2], rotor="x")))
    with pytest.raises(PartError, match=r"body.bus.rotor: is for bodies with one hinge"):
        replace(model, bodies=(replace(model.bodies[0], rotor="x"), *model.bodies[1:]))
    with pytest.raises(ModelError, match=r"body.bus.rotor: is for bodies with one hinge"):
        loads(FILE.replace("mass = 20", 'mass = 20\nrotor = "z"'))
    with pytest.raises(PartError, match=r"Wheel.static_imbalance: must be >= 0 kg.m"):
        replace(wheel(), static_imbalance=-1.0)


@pytest.mark.parametrize(
    ("wheel", "starts", "told"),
    [
        ("dynamic_imbalance = 0.06", "x.speed", r"wheel.x.dynamic_imbalance: is more than .* less than 0.0387 kg.m2"),
        (
            "static_imbalance = 1\nmass = 2",
            "x.angle",
            r"wheel.x.static_imbalance: is more than .* less than 0.245 kg",
        ),
        ("static_imbalance = 1e3", "x.speed", r"wheel.x.static_imbalance: wheel 'x' of 'bus' would have a mass"),
        ("static_imbalance = -1", "x.angle", r"wheel.x.static_imbalance: must be >= 0"),
        ("angle = true\nmass = 60", "x.speed", r"wheel.x.mass: wheel 'x' of 'bus' would have a mass of 60 kg of 50 kg"),
        ("angle = true\nat = [10, 0, 0]", "x.speed", r"wheel.x.at: .* negative principal moment .*; check at"),
        ("angle = true\nlocked = true", "x.speed", r"wheel.x.locked: unknown key"),
        ("angle = false\nstatic_imbalance = 1e-3", "x.speed", r"wheel.x.angle: is false, but the wheel has"),
        ("angle = true", "x.momentum", r"x.momentum: is no start value .* starts by its speed: give 'bus.x.speed'"),
    ],
)
def test_a_rotor_that_cannot_be_is_told_by_its_own_key_alone(wheel: str, starts: str, told: str) -> None:
    text = f"""mbdy = 1
[body.bus]
mass = 50
inertia = [9, 7, 11]
joint = {{ to = "inertial", kind = "free" }}
[body.bus.wheel.x]
axis = [0, 0, 1]
inertia = 0.05
{wheel}
[initial]
bus.{starts} = 3
[ports]
outputs = ["bus.x.speed"]
"""
    with pytest.raises(ModelError, match=told) as caught:
        loads(text)
    (fault,) = caught.value.faults
    assert fault.line in range(9, 13)
