"""Springs between bodies: against Lagrange's equations of their energies, closed forms, conservation, every door."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from interpreted import Interpreted
from mbdy.blocks import FastMotionWarning, Plant
from mbdy.engine import (
    Body,
    GravityGradient,
    Model,
    ModelError,
    ModelWarning,
    Node,
    OptionError,
    PartlyLinear,
    Side,
    Spring,
    dumps,
    equations,
    equations_of,
    keep_rules,
    linearize,
    loads,
    verify,
)
from mbdy.engine.model.system import INERTIAL, ZERO3
from oracles.drawing import any_quaternion, any_vector
from oracles.lagrangian import accelerations
from oracles.random_flexible import random_flexible
from oracles.random_models import random_model
from systems import chain, diagonal, floating

KINDS = ("revolute", "prismatic", "cylindrical", "universal", "planar")
"""Of joints whose coordinates' rates are their speeds."""
AGREEMENT = 1e-9
QUICK, SYSTEMS = 6, 100


def random_spring(rng: np.random.Generator, name: str, model: Model) -> Spring:
    """Of any kind between any two bodies, or a body and inertial space."""
    bodies = [body.name for body in model.bodies if body.mass] + [INERTIAL]

    def side(body: str, *, framed: bool) -> Side:
        nodes = list(model.body(body).nodes) if body != INERTIAL else []
        node = str(rng.choice(["", *nodes]))
        frame = any_quaternion(rng) if framed else (1.0, 0.0, 0.0, 0.0)
        return Side(body=body, node=node, at=any_vector(rng, 0.5), frame=frame)

    sort = str(rng.choice(["line", "cubic", "table", "cable", "slack table", "bushing"]))
    a, b = (side(str(body), framed=sort == "bushing") for body in rng.choice(bodies, 2, replace=False))
    if sort == "bushing":
        stiffness, damping, length, preload = (tuple(rng.uniform(0.1, size, 6).tolist()) for size in (20, 3, 0.5, 2))
        return Spring(name=name, a=a, b=b, kind=sort, stiffness=stiffness, damping=damping, length=length,
                      preload=preload)  # fmt: skip
    common = {
        "damping": rng.uniform(0, 2),
        "length": rng.uniform(0, 1),
        "tension_only": sort in ("cable", "slack table"),
    }
    if "table" in sort:
        places = np.sort(rng.uniform(-1, 2, 4))
        forces = np.sort(np.maximum(rng.uniform(-5, 20, 4), 0.0 if sort == "slack table" else -np.inf))
        return Spring(name=name, a=a, b=b, table=np.stack([places, forces], 1), **common)
    cubic = rng.uniform(0, 30) if sort != "line" else 0.0
    return Spring(name=name, a=a, b=b, stiffness=rng.uniform(0, 50), preload=rng.uniform(-5, 5), cubic_stiffness=cubic,
                  **common)  # fmt: skip


def random_sprung(seed: int) -> tuple[Model, np.random.Generator]:
    """Two trees with springs between their bodies, and to inertial space."""
    rng = np.random.default_rng(seed)
    bodies, gravity = [], (0.0, 0.0, 0.0)
    for stem in "pq":
        tree = random_model(rng, int(rng.integers(1, 4)), roots=("joint",), kinds=KINDS, wheels=False, springs=False,
                            motion=False, massless=False)  # fmt: skip
        gravity = tree.gravity
        for body in tree.bodies:
            to = body.joint.to if body.joint.to == INERTIAL else stem + body.joint.to
            nodes = {**body.nodes, "n": Node(at=any_vector(rng, 0.5))}
            bodies.append(replace(body, name=stem + body.name, nodes=nodes, joint=replace(body.joint, to=to)))
    model = Model(name="sprung", bodies=tuple(bodies), gravity=gravity)
    springs = tuple(random_spring(rng, f"s{k}", model) for k in range(int(rng.integers(1, 5))))
    return replace(model, springs=springs), rng


@pytest.mark.parametrize(
    "seed", [*range(QUICK), *(pytest.param(k, marks=pytest.mark.slow) for k in range(QUICK, SYSTEMS))]
)
def test_springs_are_lagranges(seed):
    model, rng = random_sprung(seed)
    assert loads(dumps(model)).springs == model.springs
    runner, oracle = Interpreted(model), accelerations(model)
    n = oracle.size1_in(0)
    q, speeds = rng.uniform(-1, 1, n), rng.uniform(-1, 1, n)
    u = np.array(runner.ports.vector("input"))
    pushed = np.zeros(len(model.springs))
    for k, spring in enumerate(model.springs):
        if spring.kind == "line" and not spring.tension_only:
            u[runner.ports.by_name[f"spring.{spring.name}.actuation"].offset] = pushed[k] = rng.uniform(-3, 3)
    found = runner.derivatives(np.append(q, speeds), u)[n:]
    expected = np.array(oracle(q, speeds, pushed)).ravel()
    assert np.abs(found - expected).max() <= AGREEMENT * np.abs(expected).max()


def two_masses(**spring) -> Model:
    """Two free bodies whose origins a spring joins."""
    bodies = tuple(Body(name=name, mass=mass, inertia=diagonal(0.1, 0.2, 0.25), joint=floating()) for name, mass in
                   (("a", 1.0), ("b", 2.0)))  # fmt: skip
    given = {"a": Side(body="a"), "b": Side(body="b"), **spring}
    return Model(name="two masses", bodies=bodies, springs=(Spring(name="s", **given),))


def test_flexible_bodies_and_gradients():
    """Ends on moving nodes and at origins, roots of every kind: against the dense formulations."""
    for seed, roots in ((3, ("free",)), (5, ("attitude",)), (8, ("joint",))):
        rng = np.random.default_rng(seed)
        model = random_flexible(seed, 2, loops=0, roots=roots).model
        springs = []
        while len(springs) < 3:
            spring = random_spring(rng, f"s{len(springs)}", model)
            ends = [replace(side, at=side.at if side.node else ZERO3) for side in (spring.a, spring.b)]
            if roots != ("attitude",) or INERTIAL not in (ends[0].body, ends[1].body):
                springs.append(replace(spring, a=ends[0], b=ends[1]))
        if roots == ("attitude",):
            model = replace(model, gravity_gradient=GravityGradient())
        found = verify(replace(model, springs=tuple(springs)), states=1, seed=seed)
        assert found.agrees, found


def test_two_masses_on_one_plant():
    """Frequency, damping, preload, actuation and slackness in closed form; momentum and the ledger of work."""
    model = two_masses(stiffness=30.0, length=0.5, tension_only=True)
    plant = Plant(replace(model, initial={"b.position": (0.6, 0.0, 0.0)}), step=1e-3)
    reduced = 1.0 * 2.0 / 3.0
    for stiffness, damping, preload, pulled in ((30.0, 0.0, 0.0, 0.0), (50.0, 0.8, 2.0, 0.0), (10.0, 0.3, 2.0, 0.5)):
        plant.reset()
        for name, value in (("stiffness", stiffness), ("damping", damping), ("preload", preload)):
            plant[f"spring.s.{name}"] = value
        plant["spring.s.actuation"] = pulled
        rest = 0.5 - (preload + pulled) / stiffness
        plant["b.position"] = [rest + 0.1, 0.0, 0.0]
        plant["a.velocity"] = plant["b.velocity"] = [0.3, -0.2, 0.1]
        omega, rate = np.sqrt(stiffness / reduced), damping / (2 * reduced)
        before, started = plant.outputs(), plant.outputs()["system.work_error"]
        time = 0.2 * np.pi / omega  # taut all the time
        plant.step(time)
        swing = np.sqrt(omega**2 - rate**2)
        phase = 0.1 * np.exp(-rate * time) * (np.cos(swing * time) + rate / swing * np.sin(swing * time))
        after = plant.outputs()
        assert after["spring.s.length"] == pytest.approx(rest + phase, abs=1e-9)
        tension = preload + pulled + stiffness * (rest + phase - 0.5) + damping * after["spring.s.rate"]
        assert after["spring.s.tension"] == pytest.approx(tension, abs=1e-8)
        assert np.abs(after["system.momentum"] - before["system.momentum"]).max() < 1e-14
        assert abs(after["system.work_error"] - started) < 1e-9
    plant.reset()
    plant["spring.s.preload"] = 0.0
    plant["b.position"], plant["b.velocity"] = [0.2, 0.1, 0.0], [0.1, 0.0, 0.0]
    plant.step(0.5)  # slack: nothing acts, no damper either
    assert plant["spring.s.tension"] == 0.0
    np.testing.assert_allclose(plant["b.position"], [0.25, 0.1, 0.0], atol=1e-14)
    plant["spring.s.actuation"] = -3.0  # a cable is never pushed
    plant.step(0.1)
    assert plant["spring.s.tension"] == 0.0


def test_too_fast_a_spring_is_named_slack_or_taut():
    for given in ({}, {"tension_only": True, "length": 2.0}):
        model = two_masses(stiffness=1e8, **given)
        with pytest.warns(FastMotionWarning, match=r"spring.s.stiffness = 1e\+08 makes a motion that swings at 19"):
            Plant(replace(model, initial={"b.position": (1.0, 0.0, 0.0)}), step=1e-3)


def test_where_ends_coincide():
    """Without free length a spring is three of them at right angles; with one it has no direction, and waits."""
    smooth = linearize(two_masses(stiffness=30.0, damping=0.6), inputs=["a.force"], outputs=["a.position"])
    places = [smooth.states.index(f"a.velocity.error[{k}]") for k in (1, 2, 3)]
    for what, slope in (("position", -30.0), ("velocity", -0.6)):
        columns = [smooth.states.index(f"a.{what}.error[{k}]") for k in (1, 2, 3)]
        np.testing.assert_allclose(smooth.A[np.ix_(places, columns)], slope * np.eye(3), atol=1e-12)
    alike = []
    for law in ({"stiffness": 30.0}, {"table": ((0.0, 0.0), (1.0, 30.0))}):
        runner = Interpreted(two_masses(**law))
        x = np.array(runner.ports.start)
        x[runner.ports.states["b.position"].state] = 1e-10
        alike.append(runner.derivatives(x, np.array(runner.ports.vector("input"))))
    assert alike[0].any()
    np.testing.assert_allclose(*alike, rtol=1e-12, atol=0)
    runner = Interpreted(two_masses(stiffness=30.0, length=0.2, preload=1.0, damping=1.0))
    x, u = np.array(runner.ports.start), np.array(runner.ports.vector("input"))
    assert np.isfinite(runner.outputs(x, u)).all()
    assert not runner.derivatives(x, u).any()
    with pytest.warns(ModelWarning, match=r"spring.s: its ends coincide at the start"):
        loads(dumps(two_masses(stiffness=30.0, length=0.2)))
    with pytest.warns(ModelWarning, match=r"spring.s: its ends coincide at the start"):
        loads(dumps(two_masses(table=((0.0, 1.0), (1.0, 30.0)))))
    loads(dumps(two_masses(table=((0.0, 0.0), (1.0, 30.0)))))


def test_a_bushing_turns_half_a_turn():
    """Its torque is the gradient of its energy at any turn, and a turn by more comes back the other way."""
    stiffness = (0.0, 0.0, 0.0, 5.0, 5.0, 5.0)
    runner = Interpreted(two_masses(kind="bushing", stiffness=stiffness))
    start, u = np.array(runner.ports.start), np.array(runner.ports.vector("input"))
    at = runner.ports.states["b.attitude"].state
    outputs = runner.ports.by_name
    for angle in (1e-9, 1e-3, 0.4, 0.6, 2.0, 3.1, 3.2):
        x, axis = start.copy(), np.array([0.36, 0.48, 0.8])
        x[at : at + 4] = np.append(np.cos(angle / 2), np.sin(angle / 2) * axis)
        y = runner.outputs(x, u)
        turned = angle if angle < np.pi else angle - 2 * np.pi
        np.testing.assert_allclose(y[outputs["spring.s.length"].places][3:], turned * axis, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(y[outputs["spring.s.effort"].places][3:], 5 * turned * axis, rtol=1e-12, atol=1e-15)
        assert y[outputs["system.energy"].offset] == pytest.approx(2.5 * turned**2, rel=1e-12)
        spin = runner.ports.states["b.omega"].state
        torque = runner.derivatives(x, u)[spin : spin + 3] * [0.1, 0.2, 0.25]
        np.testing.assert_allclose(torque, -5 * turned * axis, rtol=1e-9)


def test_a_spring_costs_less_than_a_body():
    for length in (2, 8):
        links = [equations(chain(n)).operations for n in (length, length + 1)]
        sides = {"a": Side(body=f"link{length - 1}"), "b": Side(body=f"link{length}", at=(0.1, 0.2, 0.3))}
        for kind in ({"stiffness": 3.0}, {"kind": "bushing", "stiffness": (1.0,) * 6}):
            sprung = replace(chain(length), springs=(Spring(name="s", **sides, **kind),))
            assert equations(sprung).operations - links[0] < links[1] - links[0]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"stiffness": "3 kg"}, "Spring.stiffness: must be a number in N/m"),
        ({"length": -1.0}, "Spring.length: must be >= 0"),
        ({"kind": "bush"}, "the nearest known is 'bushing'"),
        ({"kind": "bushing", "stiffness": 3.0}, "6 values are needed"),
        ({"kind": "bushing", "tension_only": True}, "never slack"),
        ({"table": [[1, 2], [0, 3]]}, "must be above 1 m"),
        ({"table": [[0, 0], [1, 3]], "stiffness": 2.0}, "takes no 'stiffness'"),
        ({"table": [[0, -1], [1, 3]], "tension_only": True}, "only pulls"),
        ({"stiffness": -2.0, "tension_only": True}, "only pulls"),
        ({"a": Side(body="a", frame=(0.0, 1.0, 0.0, 0.0))}, "has no axes"),
        ({"b": Side(body="c")}, "there is no body 'c'"),
        ({"b": Side(body="a", at=(1.0, 0.0, 0.0))}, "cannot move against each other"),
    ],
)
def test_what_is_refused(given, message):
    with pytest.raises(ModelError, match=message):
        keep_rules(two_masses(**given))


def test_what_springs_are_kept_out_of():
    hinged = replace(chain(2), springs=(Spring(name="s", a=Side(body="bus"), b=Side(body="link2"), stiffness=3.0),))
    with pytest.raises(OptionError, match="it has the spring 's'"):
        equations_of(hinged, PartlyLinear(("link1",)))
    tied = Spring(name="s", a=Side(body="link1"), b=Side(body=INERTIAL), stiffness=3.0)
    floated = replace(chain(1, kind="attitude"), springs=(tied,))
    with pytest.raises(ModelError, match="beside a root of kind attitude"):
        keep_rules(floated)


def test_a_massless_strut_is_pointed_here():
    strut = """
mbdy = 1
[body.arm]
mass = 1
com = [0.5, 0, 0]
inertia = [0.1, 0.1, 0.1]
joint = { to = "inertial", kind = "revolute", axis = [0, 0, 1] }
[body.strut]
mass = 0
joint = { to = "inertial", kind = "revolute", axis = [0, 0, 1], at = [0, -1, 0] }
[body.piston]
mass = 0
joint = { to = "strut", kind = "prismatic", axis = [1, 0, 0], stiffness = 100 }
[loop.pin]
a = "arm"
at_a = [1, 0, 0]
b = "piston"
rows = [4, 5]
"""
    with pytest.raises(ModelError, match=r"a massless strut that a loop closes is a \[spring.NAME\] between its ends"):
        loads(strut)
