"""Gears against the system written with as many coordinates as they leave; files and models with gears."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from interpreted import Interpreted
from mbdy.engine import Gear, Model, ModelError, PartError, dumps, loads
from mbdy.engine.model.gear import freedom_of
from mbdy.engine.model.ports import ports
from mbdy.engine.verification.formulations import FORMULATIONS
from mbdy.engine.verification.formulations.kane import Assembly
from mbdy.engine.verification.formulations.reader import Reader
from mbdy.engine.verification.random_states import Trials
from mechanisms import four_bar, hinge, rod
from oracles.random_models import random_inputs, random_model, random_state

QUICK, ALL = range(0, 3), range(3, 50)


def geared(seed: int) -> tuple[Model, np.ndarray, np.ndarray, np.ndarray]:
    """A random tree with gears, redundant ones among them, at states that close them; rows C (m, n) over all speeds."""
    rng = np.random.default_rng(seed)
    while True:
        bare = random_model(rng, int(rng.integers(3, 9)), wheels=seed % 2 == 0)
        names = [(b.name, k) for b in bare.bodies if not b.joint.floating for k in range(b.joint.n_coordinates)]
        if len(names) > 2:
            break
    x, u = random_state(rng, bare), random_inputs(rng, bare)
    assembly = Assembly(Reader(bare), x, u, np.array(ports(bare).vector("parameter")))
    columns = dict(zip((b.name for b in bare.bodies), assembly.columns, strict=True))
    held = np.eye(len(assembly.speeds))[assembly.fixed]
    rows, gears = np.zeros((0, len(assembly.speeds))), []
    for _ in range(int(rng.integers(1, 4))):
        chosen = [names[i] for i in rng.permutation(len(names))[: int(rng.integers(2, 4))]]
        factors = rng.choice([-1, 1], len(chosen)) * np.exp(rng.uniform(-2, 3, len(chosen)))
        row = np.zeros(rows.shape[1])
        row[[columns[body].start + k for body, k in chosen]] = factors
        tried = np.vstack([rows, row])
        if np.linalg.matrix_rank(np.vstack([held, tried])) < len(held) + np.linalg.matrix_rank(tried):
            continue
        rows = tried
        gears.append(list(zip(chosen, factors, strict=True)))
    if rows.size and rng.random() < 0.5:  # the first one again, otherwise written, and the sum of all
        rows = np.vstack([rows, -3 * rows[:1]])
        gears.append([(one, -3 * factor) for one, factor in gears[0]])
    speeds = assembly.speeds - np.linalg.pinv(rows) @ rows @ assembly.speeds if rows.size else assembly.speeds
    table = ports(bare)
    made = []
    for k, terms in enumerate(gears):
        offset = sum(factor * x[_coordinate(bare, table, *one)] for one, factor in terms)
        spelled = tuple((_spelled(bare, *one), float(factor)) for one, factor in terms)
        made.append(Gear(name=f"g{k}", terms=spelled, offset=float(offset), switchable=k == 1, time_constant=0.1 * k))
    for body, place in columns.items():
        for i in range(place.stop - place.start):
            x[_speed(bare, table, body, i)] = speeds[place.start + i]
    return replace(bare, gears=tuple(made)), x, u, rows


def _spelled(model: Model, body: str, place: int) -> str:
    return f"{body}.joint" + (f"[{place + 1}]" if model.body(body).joint.n_u > 1 else "")


def _coordinate(model: Model, table, body: str, place: int) -> int:
    slides = model.body(body).joint.n_translations
    name, k = ("displacement", place) if place < slides else ("angle", place - slides)
    return table.states[f"{body}.joint.{name}"].state + k


def _speed(model: Model, table, body: str, place: int) -> int:
    joint = model.body(body).joint
    slides = joint.n_translations
    if joint.floating:
        name = ("velocity", "omega") if joint.kind == "free" else ("", "omega")
        name = name[place >= 3]
        return table.states[f"{body}.{name}" if name else "system.centre_of_mass_velocity"].state + place % 3
    name, k = ("velocity", place) if place < slides else ("omega" if joint.spherical else "rate", place - slides)
    return table.states[f"{body}.joint.{name}"].state + k


def compare(seed: int) -> None:
    model, x, u, rows = geared(seed)
    bare = replace(model, gears=())
    inputs = np.zeros(len(ports(model).input_names))
    inputs[[ports(model).input_names.index(name) for name in ports(bare).input_names]] = u
    for gear in model.gears:
        if gear.switchable:
            inputs[ports(model).by_name[f"gear.{gear.name}.closed"].offset] = 1.0
    a = Assembly(Reader(bare), x, u, np.array(ports(bare).vector("parameter")))
    # u' = given + B z: what is held and what gears allow; B^T COEF B z' = B^T (RHS - COEF given)
    held = np.vstack([np.eye(len(a.RHS))[a.fixed], rows])
    given = np.linalg.pinv(held) @ np.concatenate([a.known[a.fixed], np.zeros(len(rows))])
    _, sizes, directions = np.linalg.svd(held)
    B = directions[np.sum(sizes > 1e-9 * sizes.max()) :].T
    rates = given + B @ np.linalg.solve(B.T @ a.COEF @ B, B.T @ (a.RHS - a.COEF @ given))
    running = Interpreted(model)
    expected, found = a.rates(rates), running.derivatives(x, inputs)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * max(1.0, np.abs(expected).max()))
    y, table = running.outputs(x, inputs), running.ports
    efforts = np.zeros(len(a.RHS))
    for gear in model.gears:
        assert np.abs(y[table.by_name[f"gear.{gear.name}.residual"].places]) < 1e-12 * max(1.0, abs(gear.offset))
        for (name, _), effort in zip(gear.terms, y[table.by_name[f"gear.{gear.name}.effort"].places], strict=True):
            freedom = freedom_of(name, {b.name: b for b in model.bodies})
            efforts[a.columns[model.index[freedom.body]].start + freedom.place] += effort
    left = a.COEF @ rates - a.RHS - efforts
    size = max(1.0, np.abs(a.COEF * rates).max())
    np.testing.assert_allclose(left[~a.fixed], 0, atol=1e-9 * size)
    reactions = np.concatenate([
        y[table.by_name[f"{b.name}.joint.reaction"].places] if f"{b.name}.joint.reaction" in table.by_name
        else np.zeros(b.joint.n_u) for b in model.bodies
    ])  # fmt: skip
    np.testing.assert_allclose(reactions[a.fixed], left[a.fixed], atol=1e-9 * size)
    assert abs(y[table.by_name["system.work_residual"].offset]) < 1e-9 * size


@pytest.mark.parametrize("seed", QUICK)
def test_the_system_with_fewer_coordinates(seed: int) -> None:
    """Accelerations, efforts and reactions of prescribed drivers."""
    compare(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", ALL)
def test_more_systems_with_fewer_coordinates(seed: int) -> None:
    compare(seed)


def test_a_gear_beside_a_loop() -> None:
    """A motor that drives the crank of a four-bar, whose loop has redundant rows, and a gear told twice."""
    bar = four_bar(crank=1.1, rate=0.7, gravity=(0.0, -9.81, 0.0))
    motor = rod("motor", hinge("coupler", axis=(0.3, 0.0, 1.0)), (0.05, 0.0, 0.0), 0.4)
    terms = (("motor.joint", 1.0), ("crank.joint", -20.0), ("rocker.joint", 3.0))
    gears = (
        Gear(name="one", terms=terms, offset=-1.5),
        Gear(name="again", terms=tuple((name, -0.1 * factor) for name, factor in terms), offset=0.15),
    )
    model = replace(bar, bodies=(*bar.bodies, motor), gears=gears)
    running, table = Interpreted(model), ports(model)
    trials = Trials(model, np.random.default_rng(0), np.array(table.start))
    u, p = np.array(table.vector("input")), np.array(table.vector("parameter"))
    x = trials.closed(np.array(table.start), u)
    assert x is not None
    second = FORMULATIONS["lagrange"]
    expected, found = second.derivatives(model)(x, u, p), running.derivatives(x, u)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * np.abs(expected).max())
    loads, y = second.multipliers(model)(x, u, p), running.outputs(x, u)
    for gear in gears:
        efforts = loads[f"gear.{gear.name}"].efforts
        found = y[table.by_name[f"gear.{gear.name}.effort"].places]
        np.testing.assert_allclose(found, efforts, rtol=0, atol=1e-8 * np.abs(efforts).max())


RACK = """
mbdy = 1
[body.pinion]
mass = 1
inertia = [0.1, 0.1, 0.1]
joint = { to = "inertial", kind = "revolute", axis = [0, 0, 1] }
[body.rack]
mass = 2
joint = { to = "inertial", kind = "prismatic", axis = [1, 0, 0] }
[gear.rack]
"""


@pytest.mark.parametrize(
    ("lines", "terms", "offset"),
    [
        ('terms = [["rack.joint", 2], ["pinion.joint", "-10 mm/rad"]]\noffset = "3 mm"',
         (("rack.joint", 2.0), ("pinion.joint", -0.01)), 3e-3),
        ('driver = "pinion.joint"\nfollower = "rack.joint"\nratio = "5 mm/turn"',
         (("rack.joint", 1.0), ("pinion.joint", -5e-3 / (2 * np.pi))), 0.0),
        ('driver = "rack.joint"\nfollower = "pinion.joint"\nratio = -20\noffset = "400 deg"',
         (("pinion.joint", 1.0), ("rack.joint", 20.0)), np.radians(400)),
    ],
)  # fmt: skip
def test_spellings(lines: str, terms, offset: float) -> None:
    """Factors have units where metres meet radians; what is written back says the same."""
    model = loads(RACK + lines)
    (gear,) = model.gears
    assert [name for name, _ in gear.terms] == [name for name, _ in terms]
    np.testing.assert_allclose([factor for _, factor in gear.terms], [factor for _, factor in terms], rtol=1e-15)
    assert gear.offset == pytest.approx(offset)
    assert loads(dumps(model)).gears == model.gears
    units = {v.name: v.units for v in ports(model)}
    sums, other = units["gear.rack.residual"][0], {"m": "m/rad", "rad": "rad/m"}[units["gear.rack.residual"][0]]
    assert (units["gear.rack.factor"], units["gear.rack.offset"]) == (("1", other), (sums,))
    assert sorted(units["gear.rack.effort"]) == ["N", "N.m"]


def test_gears_of_models_made_in_python_are_judged() -> None:
    model = loads(RACK + 'driver = "pinion.joint"\nfollower = "rack.joint"\nratio = 1')
    for terms, words in (
        ((("rack.joint[2]", 1), ("pinion.joint", 1)), "has no degree of freedom 2"),
        ((("rack.joint", 1),), "has 1 coordinates"),
        ((("rack.joint", 1), ("rack.joint", 1)), "twice"),
    ):
        with pytest.raises(ModelError, match=words):
            replace(model, gears=(Gear(name="g", terms=terms),))
    with pytest.raises(PartError, match=r"Gear.terms\[1\]\[2\]: must be a number"):
        Gear(name="g", terms=(("rack.joint", "x"), ("pinion.joint", 1)))
