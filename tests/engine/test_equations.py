"""The Order-N equations against a dense Kane solution, on random trees of every kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from mbdy.engine.model.ports import Ports, ports
from mbdy.engine.model.system import Body, Joint, Model, Node, Wheel
from mbdy.engine.model.variables import Variable
from mbdy.engine.order_n.equations import equations
from oracles.dense_kane import Kinematics, Solution, kinematics, outputs, quaternion_rotation, solve
from oracles.drawing import XYZ
from oracles.random_models import random_inputs, random_model, random_state, revalued

AGREEMENT = 1e-10
"""Relative: condition numbers of the random systems are below 1e5."""
SYSTEMS = 100


@dataclass(frozen=True)
class Case:
    """One random system at a random state, with what the oracle and the engine say of it."""

    model: Model
    x: np.ndarray
    u: np.ndarray
    eq: Any
    solution: Solution
    totals: Kinematics

    @property
    def table(self) -> Ports:
        return self.eq.ports


def column(value: Any) -> np.ndarray:
    return np.array(value, float).reshape(-1)


def constants(eq: Any, model: Model) -> Any:
    return eq.prepare(np.array(ports(model).vector("parameter")))


def made(seed: int) -> Case:
    rng = np.random.default_rng(1000 + seed)
    model = random_model(rng)
    x, u = random_state(rng, model), random_inputs(rng, model)
    return Case(model, x, u, equations(model), solve(model, x, u), kinematics(model, x, u))


@pytest.fixture(scope="module", params=range(SYSTEMS))
def case(request: pytest.FixtureRequest) -> Case:
    return made(request.param)


def disagreement(found: np.ndarray, expected: np.ndarray, scale: float = 0.0) -> float:
    """Largest difference relative to the greatest of 1, ``scale`` and what is expected."""
    difference = np.abs(found - expected).max(initial=0.0)
    return float(difference / max(1.0, scale, np.abs(expected).max(initial=0.0)))


def scale_of(variable: Variable, case: Case, expected: Mapping[str, np.ndarray]) -> float:
    """What round-off of an output is judged against: the largest of its sort in the system."""
    name = variable.name
    if name == "system.work_residual":
        return float(np.abs(case.solution.power).max())
    if name.startswith("system."):
        return case.totals.scales.get(name.removeprefix("system."), 0.0)
    sort = name.rsplit(".", 1)[1]
    scale = max(np.abs(v).max(initial=0.0) for n, v in expected.items() if n.rsplit(".", 1)[1] == sort)
    if sort in ("load", "reaction"):
        scale = max(np.abs(load).max() for load in case.solution.loads.values())
    if sort == "acceleration":
        scale = max(scale, np.abs(case.solution.xdot).max(initial=0.0))
    return float(scale)


def worst_outputs(case: Case, y: np.ndarray, expected: Mapping[str, np.ndarray]) -> dict[str, float]:
    """Disagreement of each output; attitudes of bodies are compared as rotations."""
    worst = {}
    for v in case.table.outputs:
        found, wanted = y[v.places], expected[v.name]
        if wanted.ndim == 2:
            found = quaternion_rotation(found)
        elif v.name.endswith(".attitude"):
            found, wanted = quaternion_rotation(found), quaternion_rotation(wanted)
        worst[v.name] = disagreement(found, wanted, scale_of(v, case, expected))
    return worst


def test_accelerations_equal_kane(case: Case):
    xdot = column(case.eq.derivatives(case.x, case.u, constants(case.eq, case.model)))
    assert disagreement(xdot, case.solution.xdot) < AGREEMENT


def test_outputs_equal_kane(case: Case):
    y = column(case.eq.outputs(case.x, case.u, constants(case.eq, case.model)))
    worst = worst_outputs(case, y, outputs(case.model, case.x, case.u))
    assert {name: value for name, value in worst.items() if not value < AGREEMENT} == {}


def test_attitudes_that_are_states_are_given_as_they_are(case: Case):
    y = column(case.eq.outputs(case.x, case.u, constants(case.eq, case.model)))
    for v in case.table.outputs:
        if v.state is not None:
            assert disagreement(y[v.places], case.x[v.state : v.state + v.size]) < AGREEMENT, v.name


def test_norm_of_quaternions_only_scales_their_rates(case: Case):
    rng, k = np.random.default_rng(5), constants(case.eq, case.model)
    factors = np.ones(len(case.x))
    for at in case.table.quaternions:
        factors[at : at + 4] = rng.uniform(0.4, 2.5)
    x = case.x * factors
    xdot = column(case.eq.derivatives(x, case.u, k))
    assert disagreement(xdot / factors, case.solution.xdot) < AGREEMENT
    worst = worst_outputs(case, column(case.eq.outputs(x, case.u, k)), outputs(case.model, case.x, case.u))
    assert {name: value for name, value in worst.items() if not value < AGREEMENT} == {}


def test_start_values_give_the_state(case: Case):
    """Wheels start by their speed and attitude roots by their origin; the rest is the state itself."""
    expected = outputs(case.model, case.x, case.u)
    s = np.array(case.table.start)
    for v in case.table.outputs:
        if v.start_at is not None:
            at = v.start_at
            own = case.x[v.state : v.state + v.size] if v.state is not None else expected[v.name]
            s[at : at + v.size] = own
    x = column(case.eq.start(s, constants(case.eq, case.model)))
    assert disagreement(x, case.x) < AGREEMENT


@pytest.mark.parametrize("seed", range(20))
def test_parameters_need_no_rebuild(seed: int):
    """Equations of one system with another's numbers are those of the other system."""
    rng = np.random.default_rng(2000 + seed)
    model = random_model(rng, int(rng.integers(2, 8)), massless=False)
    other = revalued(rng, model)
    x, u = random_state(rng, other), random_inputs(rng, other)
    eq = equations(model)
    case = Case(other, x, u, eq, solve(other, x, u), kinematics(other, x, u))
    k = constants(eq, other)
    assert disagreement(column(eq.derivatives(x, u, k)), case.solution.xdot) < AGREEMENT
    worst = worst_outputs(case, column(eq.outputs(x, u, k)), outputs(other, x, u))
    assert {name: value for name, value in worst.items() if not value < AGREEMENT} == {}


def test_defaults_are_those_of_the_table():
    model = random_model(4)
    eq = equations(model)
    assert eq.ports == ports(model)
    k = eq.prepare(np.array(eq.ports.vector("parameter")))
    x = column(eq.start(np.array(eq.ports.start), k))
    assert x.shape == (len(eq.ports.state_names),)
    assert np.isfinite(column(eq.derivatives(x, np.array(eq.ports.vector("input")), k))).all()


SOLID = ((1.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 1.5))
FREE = Joint(to="inertial", kind="free", translations=XYZ, spherical=True)
ATTITUDE = replace(FREE, kind="attitude")
FIXED = Joint(to="inertial", kind="fixed")
HINGE = Joint(to="a", kind="revolute", rotations=((1.0, 0.0, 0.0),))


def solid(joint: Joint, name: str = "a", **more: Any) -> Body:
    return Body(name=name, joint=joint, mass=2.0, com=(1.0, 0.0, 0.0), inertia=SOLID, **more)


SPECIAL = {
    "nothing moves": (
        solid(FIXED),
        solid(replace(FIXED, to="a"), "b", nodes={"n": Node(at=(1.0, 2.0, 3.0))}),
    ),
    "only a wheel moves": (solid(FIXED, wheels={"w": Wheel(axis=(0.0, 3.0, 0.0), inertia=0.1)}),),
    "one wheel on a hinge": (
        solid(replace(HINGE, to="inertial"), wheels={"w": Wheel(axis=(0.0, 3.0, 0.0), inertia=0.1)}),
    ),
    "massless leaf, prescribed": (
        solid(FREE),
        Body(name="b", joint=replace(HINGE, motion=("prescribed",)), mass=0.0),
    ),
    "massless leaf, held": (
        solid(FREE),
        Body(name="b", joint=replace(HINGE, motion=("switchable",)), mass=0.0),
    ),
    "all prescribed": (solid(Joint(to="inertial", spherical=True, motion=("prescribed",) * 3)),),
    "one free body": (solid(FREE),),
    "one attitude body": (solid(ATTITUDE),),
    "held attitude": (solid(replace(ATTITUDE, motion=("free",) * 3 + ("switchable",) * 3)),),
    "point masses on slides": (
        Body(name="a", joint=Joint(to="inertial", translations=((0.0, 0.0, 1.0),)), mass=2.0),
        Body(name="b", joint=Joint(to="a", translations=((1.0, 0.0, 0.0),)), mass=1.0),
    ),
    "massless free root": (
        Body(name="a", joint=FREE, mass=0.0),
        solid(replace(FIXED, to="a", at=(1.0, 0.0, 0.0)), "b"),
    ),
    "massless attitude root": (
        Body(name="a", joint=ATTITUDE, mass=0.0),
        solid(replace(FIXED, to="a", at=(1.0, 0.0, 0.0)), "b"),
    ),
    "two free bodies": (solid(FREE), solid(FREE, "b")),
}


@pytest.mark.parametrize("name", SPECIAL)
def test_special_systems_equal_kane(name: str):
    """Systems that random draws leave out: no or one state, massless bodies at the ends."""
    model = Model(name=name, bodies=SPECIAL[name], gravity=(0.3, -1.0, 2.0))
    rng = np.random.default_rng(1)
    table = ports(model)
    x, u = rng.uniform(-1.0, 1.0, len(table.state_names)), random_inputs(rng, model)
    for v in table.inputs:
        if v.boolean:
            u[v.places] = v.name.endswith(".prescribed")
    eq = equations(model)
    case = Case(model, x, u, eq, solve(model, x, u), kinematics(model, x, u))
    k = constants(eq, model)
    assert disagreement(column(eq.derivatives(x, u, k)), case.solution.xdot) < AGREEMENT
    worst = worst_outputs(case, column(eq.outputs(x, u, k)), outputs(model, x, u))
    assert {name: value for name, value in worst.items() if not value < AGREEMENT} == {}
    assert column(eq.start(np.array(eq.ports.start), k)).shape == x.shape
