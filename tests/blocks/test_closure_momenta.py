"""Taking closure errors out keeps momenta, and energy as well as the integrator alone does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mbdy.blocks import Plant
from mbdy.engine import Body, Joint, Loop, Model, Side, Wheel, loads
from mechanisms import closed, turned
from oracles.drawing import any_axis, any_vector, vector
from systems import diagonal, floating

TOTALS = ("system.momentum", "system.angular_momentum", "system.energy")
DOCKED = """
mbdy = 1
[body.chaser]
mass = 300
com = [0.3, 0.2, -0.1]
inertia = [60, 80, 90]
joint = { to = "inertial", kind = "free" }
node.probe = { at = [1, 0, 0] }
[body.target]
mass = 500
com = [-0.2, 0.1, 0.3]
inertia = [150, 160, 120]
joint = { to = "inertial", kind = "free" }
node.port = { at = [-1.2, 0, 0] }
[loop.docking]
a = "target.port"
b = "chaser.probe"
kind = "ball"
[initial]
chaser.omega = [0.1, 0.2, -0.3]
target.omega = [-0.2, 0.1, 0.3]
target.position = [2.2, 0, 0]
"""
STEP = 0.025
EVERY = 40
"""Steps from one look at drifts to the next."""
ROUNDING = 1e-12


def drifts(model: Model, *, until: float, totals: tuple[str, ...] = TOTALS) -> np.ndarray:
    """Largest relative changes of ``totals`` by a plant's steps, and by plain steps of the same integrator."""
    plant, plain = Plant(model, step=STEP), Plant(model, step=STEP)
    start = {name: np.array(plant[name], dtype=float) for name in totals}
    x, u, largest = plain.state, plain.inputs.values.copy(), np.zeros((2, len(totals)))

    def f(x: np.ndarray) -> np.ndarray:
        return plain.derivatives(0.0, x, u)

    for step in range(round(until / STEP)):
        y = plant.step(STEP)
        k1 = f(x)
        k2 = f(x + STEP / 2 * k1)
        k3 = f(x + STEP / 2 * k2)
        x = x + STEP / 6 * (k1 + 2 * (k2 + k3) + f(x + STEP * k3))
        if step % EVERY == EVERY - 1:
            now = [[np.abs(end[n] - start[n]).max() for n in totals] for end in (y, plain.outputs(0.0, x, u))]
            largest = np.maximum(largest, now)
    return largest / [np.abs(start[n]).max() for n in totals]


def keeps_as(taken_out: np.ndarray, plain: np.ndarray) -> None:
    """Momenta drift as by plain steps, energy not ten times as far."""
    assert (taken_out[:2] <= 1.01 * plain[:2] + ROUNDING).all()
    assert taken_out[2] <= 10.0 * plain[2] + ROUNDING


def random_ring(seed: int) -> Model:
    """Free bodies, and chains of bodies on them, closed to rings by balls, pins and welds; some have wheels."""
    rng = np.random.default_rng(seed)
    bodies, initial, free = [], {}, int(rng.integers(1, 4))
    for i in range(free + int(rng.integers(6, 9)) // free + (2 if free == 1 else 0)):
        name = f"b{i}"
        joint = floating()
        if i >= free:
            to = bodies[-1].name
            kind = rng.choice(["revolute", "spherical", "universal"], p=[0.2, 0.5, 0.3])
            turning = {"revolute": 1, "universal": 2}.get(str(kind), 0)
            axes = tuple(vector(any_axis(rng)) for _ in range(turning))
            joint = Joint(to=to, kind=str(kind), rotations=axes, spherical=not axes, at=any_vector(rng, 0.6))
        wheels = {"w": Wheel(axis=vector(any_axis(rng)), inertia=0.2)} if rng.random() < 0.5 else {}
        bodies.append(Body(name=name, joint=joint, mass=float(rng.uniform(1.0, 9.0)), com=any_vector(rng, 0.3),
                           inertia=diagonal(*rng.uniform(1.5, 2.5, 3)), wheels=wheels))  # fmt: skip
        if wheels:
            initial[f"{name}.w.speed"] = (float(rng.uniform(-4.0, 4.0)),)
        if i < free:
            initial |= {f"{name}.position": any_vector(rng, 1.0), f"{name}.attitude": turned(any_axis(rng), 0.7)}
    initial |= {"b0.omega": any_vector(rng, 0.2), "b0.velocity": any_vector(rng, 0.3)}
    model = Model(name=f"ring {seed}", bodies=tuple(bodies), initial=initial)
    loops: list[Loop] = []
    last = bodies[-1].name
    for i in range(free):
        sort = str(rng.choice(["ball", "pin", "weld"] if free == 1 else ["ball", "pin"]))
        rows = {"ball": (4, 5, 6), "pin": (1, 2, 4, 5, 6), "weld": (1, 2, 3, 4, 5, 6)}[sort]
        side = Side(body=f"b{i}", at=any_vector(rng, 0.5), frame=turned(any_axis(rng), 1.0))
        loops.append(closed(model, f"l{i}", side, last if i == 0 else f"b{i - 1}", kind=sort, rows=rows))
    return replace(model, loops=tuple(loops))


@pytest.mark.parametrize("seed", [*range(2), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 20))])
def test_random_rings_drift_as_the_integrator_alone(seed: int) -> None:
    keeps_as(*drifts(random_ring(seed), until=100.0))


def test_two_satellites_docked_by_a_ball() -> None:
    """They turn about the probe at 0.6 rad/s; positions moved at constant speeds lose 1.7e-5 of the momentum."""
    keeps_as(*drifts(loads(DOCKED), until=100.0))


def test_an_attitude_root_keeps_angular_momentum() -> None:
    model = random_ring(14)
    bodies = (replace(model.bodies[0], joint=floating("attitude")), *model.bodies[1:])
    keeps_as(*drifts(replace(model, bodies=bodies), until=30.0))


def puck(name: str, at: tuple[float, float]) -> Body:
    """A body on an air table, its mass centre off its origin."""
    table = Joint(
        to="inertial", kind="planar", translations=((1, 0, 0), (0, 1, 0)), rotations=((0, 0, 1),), at=(*at, 0.0)
    )
    return Body(name=name, joint=table, mass=2.0, com=(0.1, -0.2, 0.0), inertia=diagonal(0.3, 0.3, 0.5))


def test_an_air_table_keeps_what_it_leaves_free() -> None:
    """Two pucks on one pin keep the momentum along the table and the angular momentum across it."""
    bodies = (puck("one", (0.0, 0.0)), puck("two", (1.0, 0.0)))
    initial = {"one.joint.rate": (0.5,), "two.joint.rate": (-0.7,), "one.joint.velocity": (0.1, 0.2)}
    loop = Loop(name="pin", a=Side(body="one", at=(0.6, 0, 0)), b=Side(body="two", at=(-0.4, 0, 0)), rows=(4, 5))
    model = Model(name="pucks", bodies=bodies, initial=initial, loops=(loop,))
    keeps_as(*drifts(model, until=60.0))
