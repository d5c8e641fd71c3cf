"""Contacts: against the dense formulations, closed forms, restitution, friction, momentum and the ledger of work."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from interpreted import Interpreted
from mbdy.blocks import Plant
from mbdy.engine import Body, Contact, Model, ModelError, ModelWarning, Side, Surface, dumps, keep_rules, loads, verify
from oracles.drawing import any_quaternion, any_vector
from systems import diagonal, floating

SPHERE = Surface(kind="sphere", radius=0.3)
PLANE = Surface(kind="plane")
CONE = Surface(kind="cone", half_angle="40 deg", depth=0.5)


def meeting(shape_a=SPHERE, shape_b=SPHERE, *, a=None, b=None, com=(0.0, 0.0, 0.0), initial=None, **contact) -> Model:
    """Two free bodies that touch."""
    bodies = (
        Body(name="a", mass=1.0, com=com, inertia=diagonal(0.1, 0.2, 0.25), joint=floating()),
        Body(name="b", mass=2.0, inertia=diagonal(0.1, 0.2, 0.25), joint=floating()),
    )
    sides = {"a": a or Side(body="a"), "b": b or Side(body="b"), "shape_a": shape_a, "shape_b": shape_b}
    contacts = (Contact(name="c", **sides, **{"stiffness": 4e4, **contact}),)
    return Model(name="meeting", bodies=bodies, contacts=contacts, initial=initial or {})


@pytest.mark.parametrize("shapes", [(SPHERE, SPHERE), (PLANE, SPHERE), (SPHERE, PLANE), (CONE, SPHERE), (SPHERE, CONE)])
def test_formulations_agree(shapes):
    """At states in contact and out of it, with centres on both sides of edges and of the shell."""
    rng = np.random.default_rng(3)
    frames = [{} if shape.kind == "sphere" else {"frame": any_quaternion(rng)} for shape in shapes]
    a, b = (Side(body=name, at=any_vector(rng, 0.3), **framed) for name, framed in zip("ab", frames, strict=True))
    contact = {"exponent": 1.5, "damping": 0.4, "friction": 0.3, "friction_rate": 0.2}
    model = meeting(*shapes, a=a, b=b, com=(0.05, 0.0, 0.1), **contact)
    assert loads(dumps(model)).contacts == model.contacts
    found = verify(model, states=12)
    assert found.agrees, found
    runner, pressed = Interpreted(model), 0
    push = runner.ports.by_name["contact.c.normal_force"].offset
    for _ in range(12):
        x = np.array(runner.ports.start)
        x[:3], x[7:10] = rng.uniform(-0.4, 0.4, (2, 3))
        pressed += runner.outputs(x, np.array(runner.ports.vector("input")))[push] > 0
    assert pressed > 2  # such states are among those that are drawn


def test_impacts_lose_energy_and_keep_momentum():
    """Of random impacts no bounce is faster than the approach, none gains energy, and the ledger tells what went."""
    model = meeting(exponent=1.5, friction_rate=0.05, initial={"b.position": (0.7, 0.0, 0.0)})
    plant, rng = Plant(model, step=1e-4), np.random.default_rng(5)
    for k in range(12):
        plant.reset()
        plant["contact.c.damping"] = damping = 0.0 if k < 3 else rng.uniform(0.0, 2.0)
        plant["contact.c.friction"] = friction = 0.0 if k < 6 else rng.uniform(0.0, 1.0)
        plant["a.velocity"] = [rng.uniform(0.3, 2.0), *rng.uniform(-0.2, 0.2, 2)]
        plant["a.omega"] = rng.uniform(-2.0, 2.0, 3)
        plant["b.position"] = [0.62, *rng.uniform(-0.2, 0.2, 2)]
        before = plant.outputs()
        after, energies = plant.step(0.02), [before["system.energy"]]
        for _ in range(40):
            after = plant.step(0.02)
            energies.append(after["system.energy"])
            if after["contact.c.gap"] > 0.05:
                break
        assert after["contact.c.normal_force"] == 0.0
        assert np.abs(after["system.momentum"] - before["system.momentum"]).max() < 1e-12
        turned = after["system.angular_momentum"] - before["system.angular_momentum"]
        assert np.abs(turned).max() < 1e-6  # of steps across the touch
        assert abs(after["system.work_error"]) < 1e-6
        assert np.diff(energies).max() < 1e-6  # never gained
        if not (damping or friction):
            assert after["system.energy"] == pytest.approx(before["system.energy"], abs=1e-6)


def test_a_ball_on_a_plane():
    """Static depth by k e^n = m g, restitution of a linear contact, and Coulomb's law where it slides."""
    ground = {"a": Side(body="inertial"), "shape_a": PLANE, "b": Side(body="b")}
    ball = Body(name="b", mass=2.0, inertia=diagonal(0.072, 0.072, 0.072), joint=floating())
    contact = Contact(name="c", **ground, shape_b=SPHERE, stiffness=5e3, exponent=1.0, friction_rate=1e-3)
    model = Model(name="ball", bodies=(ball,), contacts=(contact,), gravity=(0.0, 0.0, -9.81),
                  initial={"b.position": (0.0, 0.0, 0.4)})  # fmt: skip
    plant = Plant(model, step=1e-4)
    rate = np.sqrt(5e3 / 2.0)
    plant["system.gravity"] = [0.0, 0.0, 0.0]
    plant["b.position"], plant["b.velocity"] = [0.0, 0.0, 0.3], [0.0, 0.0, -0.5]
    plant.step(0.5 * np.pi / rate)
    assert plant["contact.c.gap"] == pytest.approx(-0.5 / rate, rel=1e-6)  # half a swing
    plant.step(0.5 * np.pi / rate + 0.01)
    assert plant["b.velocity"][2] == pytest.approx(0.5, rel=1e-4)  # nothing is lost
    plant.reset()
    plant["contact.c.friction"], plant["contact.c.damping"] = 0.3, 1.0
    plant["b.position"], plant["b.velocity"] = [0.0, 0.0, 0.3 - 2.0 * 9.81 / 5e3], [1.5, 0.0, 0.0]
    plant.step(0.1)
    assert plant["contact.c.normal_force"] == pytest.approx(2.0 * 9.81, rel=1e-9)
    assert plant["contact.c.tangential_force"] == pytest.approx(0.3 * 2.0 * 9.81, rel=1e-5)
    assert plant["b.velocity"][0] == pytest.approx(1.5 - 0.3 * 9.81 * 0.1, rel=1e-5)
    plant.step(2.0)  # it rolls on what is left of its radius, as far as friction creeps no further
    arm = 0.3 - 9.81 / 5e3
    assert plant["b.velocity"][0] == pytest.approx(1.5 * arm**2 / (arm**2 + 0.036), rel=1e-6)
    assert plant["contact.c.tangential_force"] < 1e-3


def test_a_cone_centres_a_probe():
    """A sphere in a cone is pushed to its axis; on it the force lies along the axis."""
    model = meeting(CONE, Surface(kind="sphere", radius=0.1), exponent=1.0)
    runner = Interpreted(model)
    u, seated = np.array(runner.ports.vector("input")), 0.1 / np.sin(np.radians(40))
    push, gap = (runner.ports.by_name[f"contact.c.{name}"].offset for name in ("normal_force", "gap"))
    for y in (0.0, 0.01, -0.02):
        x = np.array(runner.ports.start)
        at = runner.ports.states["b.position"].state
        x[at : at + 3] = [0.0, y, seated - 1e-3]
        outputs, rates = runner.outputs(x, u), runner.derivatives(x, u)
        velocity = runner.ports.states["b.velocity"].state
        force = 2.0 * rates[velocity : velocity + 3]
        assert outputs[gap] == pytest.approx(-1e-3 * np.sin(np.radians(40)) - abs(y) * np.cos(np.radians(40)), abs=1e-4)
        assert outputs[push] > 0.0
        assert force[2] == pytest.approx(outputs[push] * np.sin(np.radians(40)), rel=1e-6)
        assert force[1] * np.sign(y) <= -0.7 * outputs[push] * abs(np.sign(y))


@pytest.mark.parametrize("radius", [0.04, 1.0])
def test_gap_of_a_cone(radius):
    """Exact on the axis and beyond a thousandth of the radius from it, close by in between; the force is the
    energy's gradient."""
    angle = np.radians(40)
    model = meeting(CONE, Surface(kind="sphere", radius=radius), exponent=1.0, a=Side(body="inertial"))
    runner = Interpreted(replace(model, bodies=model.bodies[1:]))
    u, x = np.array(runner.ports.vector("input")), np.array(runner.ports.start)
    energy, gap = (runner.ports.by_name[name].offset for name in ("system.energy", "contact.c.gap"))
    place, velocity = (runner.ports.states[f"b.{name}"].state for name in ("position", "velocity"))
    for share in (0.0, 0.3, 0.8, 1.0, 1.5, 40.0):
        around = share * 1e-3 * radius
        x[place : place + 3] = [0.6 * around, -0.8 * around, 0.3]
        found = runner.outputs(x, u)[gap] - (0.3 * np.sin(angle) - around * np.cos(angle) - radius)
        assert abs(found) < (1e-15 if share in {0.0, 1.0, 1.5, 40.0} else 1.5e-4 * radius)
        force, small = 2.0 * runner.derivatives(x, u)[velocity : velocity + 3], 1e-6 * radius
        if radius > 0.3:
            for k in range(3):
                ends = [x.copy(), x.copy()]
                ends[0][place + k] -= small
                ends[1][place + k] += small
                rise = np.diff([runner.outputs(end, u)[energy] for end in ends])[0] / (2.0 * small)
                assert rise == pytest.approx(-force[k], abs=1e-4 * np.abs(force).max())


def test_where_centres_coincide():
    """Nothing says which way they part: no force acts, and none is told."""
    model = meeting(friction=0.3, damping=1.0, initial={"b.velocity": (0.0, 1.0, 0.0)})
    runner = Interpreted(model)
    x, u = np.array(runner.ports.start), np.array(runner.ports.vector("input"))
    outputs = runner.outputs(x, u)
    for name, expected in (("gap", -0.6), ("normal_force", 0.0), ("tangential_force", 0.0)):
        assert outputs[runner.ports.by_name[f"contact.c.{name}"].offset] == pytest.approx(expected)
    velocity = runner.ports.states["b.velocity"].state
    assert not runner.derivatives(x, u)[velocity : velocity + 3].any()
    with pytest.warns(ModelWarning, match=r"contact.c: centres of its spheres coincide at the start"):
        loads(dumps(model))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"stiffness": -1.0}, "Contact.stiffness: must be >= 0"),
        ({"exponent": 0.5}, "Contact.exponent: must be from 1 to 3"),
        ({"stiffness": "3 kg", "exponent": 1.0}, "must be a number in N/m"),
        ({"shape_a": PLANE, "shape_b": CONE}, "do not meet in a point"),
        ({"friction_rate": 0.0}, "Contact.friction_rate: must be > 0"),
        ({"a": Side(body="a", frame=(0.0, 1.0, 0.0, 0.0))}, "a sphere has no axes"),
        ({"b": Side(body="a", at=(1.0, 0.0, 0.0))}, "cannot move against each other"),
        ({"b": Side(body="c")}, "there is no body 'c'"),
    ],
)
def test_what_is_refused(given, message):
    with pytest.raises(ModelError, match=message):
        keep_rules(meeting(**given))


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ('{ kind = "ball" }', "unknown shape 'ball'"),
        ('{ kind = "sphere" }', "contact.c.shape_a.radius: is missing"),
        ('{ kind = "sphere", radius = -1 }', "must be >= 0"),
        ('{ kind = "plane", radius = 1 }', "a plane takes no 'radius'"),
        ('{ kind = "cone", half_angle = 2, depth = 1 }', "below a right angle"),
        ('{ kind = "cone", half_angel = 1, depth = 1 }', "half_angel: unknown key"),
        ("3", "must be a table with its kind"),
    ],
)
def test_shapes_that_are_refused(shape, message):
    text = dumps(replace(meeting(), contacts=()))
    text += f'\n[contact.c]\na = "a"\nb = "b"\nstiffness = 1e4\nshape_a = {shape}\n'
    text += 'shape_b = { kind = "sphere", radius = "10 cm" }\n'
    with pytest.raises(ModelError, match=message):
        loads(text)
