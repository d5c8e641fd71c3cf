"""Partly linear equations and the report's dense ones, against Order-N."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mbdy.blocks import Plant, simulate
from mbdy.engine import Body, Joint, Linear, Model, Node, equations, equations_of, load, ports
from mbdy.engine.linear.choice import PartlyLinear
from mbdy.engine.linear.partly_linear import partly_linear_equations, terminal_set
from mbdy.engine.order_n.equations import Equations
from oracles.augmented import augmented_equations
from oracles.random_models import hinged_model, random_inputs, random_state, revalued
from systems import XYZ, chain, diagonal, floating

FIVE_BODY = Path(__file__).parents[2] / "examples" / "five_body_spacecraft" / "five_body.toml"
AGREEMENT = 1e-10
"""Relative: condition numbers of the random systems are below 1e5."""
SYSTEMS, QUICK = 60, 8


def hinged(seed: int) -> tuple[Model, np.random.Generator]:
    """A random system of hinges, crossed hinges and welds below a floating body; some are prescribed or can be."""
    rng = np.random.default_rng(7_000 + seed)
    while True:
        model = hinged_model(rng, int(rng.integers(2, 8)))
        if any(body.joint.rotations for body in model.bodies):
            return model, rng


def rates(made: Equations, x: np.ndarray, u: np.ndarray, p: np.ndarray) -> np.ndarray:
    return np.array(made.derivatives(x, u, made.prepare(p))).ravel()


def parameters(model: Model) -> np.ndarray:
    return np.array(ports(model).vector("parameter"))


def assert_same(found: np.ndarray, expected: np.ndarray) -> None:
    assert np.abs(found - expected).max() <= AGREEMENT * max(1.0, np.abs(expected).max())


def angles(model: Model, name: str) -> slice:
    """Places in ``x`` of a joint's angles."""
    variable = ports(model).by_name[f"{name}.joint.angle"]
    assert variable.state is not None
    return slice(variable.state, variable.state + variable.size)


def some_linear(model: Model, rng: np.random.Generator, x: np.ndarray) -> tuple[Model, tuple[str, ...]]:
    """Some joints, and the model with their reference angles, the starts of those without springs, those of ``x``."""
    names = [body.name for body in model.bodies if body.joint.rotations]
    chosen = tuple(name for name in names if rng.random() < 0.6) or (names[0],)
    initial = {f"{name}.joint.angle": tuple(x[angles(model, name)].tolist()) for name in chosen}
    bodies = [
        replace(body, joint=replace(body.joint, rest=initial[f"{body.name}.joint.angle"]))
        if body.name in chosen
        else body
        for body in model.bodies
    ]
    return replace(model, bodies=tuple(bodies), initial=initial), chosen


def check_dense(seed: int) -> None:
    model, rng = hinged(seed)
    made, other = augmented_equations(model), revalued(seed, model)
    for p in (parameters(model), parameters(other)):
        x, u = random_state(rng, model), random_inputs(rng, model)
        assert_same(rates(made, x, u, p), rates(equations(model), x, u, p))


def check_references(seed: int) -> bool:
    """Whether some of the hinges, all at their reference angles but of any rates, are in a constant block."""
    model, rng = hinged(seed)
    x, u = random_state(rng, model), random_inputs(rng, model)
    model, chosen = some_linear(model, rng, x)
    made = partly_linear_equations(model, chosen)
    for p in (parameters(model), parameters(replace(revalued(seed, model), name=model.name))):
        assert_same(rates(made, x, u, p), rates(equations(model), x, u, p))
    return bool(terminal_set(model, chosen))


@pytest.mark.parametrize("seed", range(QUICK))
def test_dense_equations_are_those_of_order_n(seed):
    check_dense(seed)


@pytest.mark.parametrize("seed", range(QUICK))
def test_partly_linear_equations_are_the_full_ones_at_reference_angles(seed):
    check_references(seed)


@pytest.mark.slow
def test_many_random_systems():
    blocks = 0
    for seed in range(SYSTEMS):
        check_dense(seed)
        blocks += check_references(seed)
    assert SYSTEMS / 2 < blocks < SYSTEMS


def efforts_for(model: Model, x: np.ndarray, u: np.ndarray, wanted: dict[int, float]) -> np.ndarray:
    """Inputs ``u`` with torques that give some degrees of freedom, by place in ``x``, the accelerations ``wanted``."""
    made, p, table = equations(model), parameters(model), ports(model)
    torques = {}
    for body in model.bodies:
        if body.joint.rotations:
            speed, torque = table.by_name[f"{body.name}.joint.rate"], table.by_name[f"{body.name}.joint.torque"]
            torques |= {(speed.state or 0) + i: torque.offset + i for i in range(speed.size)}
    at = list(wanted)
    base = rates(made, x, u, p)[at]
    columns = []
    for place in at:
        pushed = u.copy()
        pushed[torques[place]] += 1.0
        columns.append(rates(made, x, pushed, p)[at] - base)
    given = u.copy()
    given[[torques[place] for place in at]] += np.linalg.solve(
        np.array(columns).T, np.array(list(wanted.values())) - base
    )
    return given


@pytest.mark.parametrize("seed", range(6))
def test_the_error_falls_as_the_square_of_the_amplitude(seed):
    model, rng = hinged(100 + seed)
    bodies = [replace(b, joint=replace(b.joint, motion=("free",) * b.joint.n_u)) for b in model.bodies]
    model = replace(model, bodies=tuple(bodies))
    x, u = random_state(rng, model), random_inputs(rng, model)
    model, chosen = some_linear(model, rng, x)
    made, p, table = partly_linear_equations(model, chosen), parameters(model), ports(model)
    away = rng.uniform(-1.0, 1.0, (3, len(x)))
    errors = []
    for amplitude in (2e-3, 1e-3):
        moved, wanted = x.copy(), {}
        for name in chosen:
            own, rate = angles(model, name), table.by_name[f"{name}.joint.rate"].state or 0
            moved[own] += amplitude * away[0, own]
            for at in range(rate, rate + own.stop - own.start):
                moved[at] = amplitude * away[1, at]
                wanted[at] = amplitude * away[2, at]
        given = efforts_for(model, moved, u, wanted)
        errors.append(np.abs(rates(made, moved, given, p) - rates(equations(model), moved, given, p)).max())
    assert errors[0] > 1e-9
    assert 3.5 < errors[0] / errors[1] < 4.5


@pytest.mark.filterwarnings("ignore::mbdy.engine.ModelWarning")
def test_linear_booms_of_the_five_body_vehicle_cannot_be_told_from_others():
    model, booms = load(FIVE_BODY), ("boom_link", "boom")
    assert terminal_set(model, booms) == booms
    yoke, degree = model.initial["yoke.joint.angle"][0], np.pi / 180.0
    ramp = {
        "time": [0.0, 10.0],
        "yoke.joint.rest": [yoke, yoke - 10 * degree],
        "platform.joint.rest": [-30 * degree, -20 * degree],
    }
    runs = [
        simulate(
            Plant(model, step=0.01, interpolation="linear", dynamics=dynamics),
            until=10.0,
            inputs=ramp,
            linear=True,
            outputs=["bus.omega", "*.joint.rate"],
        )
        for dynamics in (None, PartlyLinear(booms))
    ]
    full, partly = (run.values for run in runs)
    assert np.abs(full).max() > 1e-2
    apart = np.abs(full - partly).max()
    assert 0.0 < apart < 1e-8


def tree_of(**inboard: str) -> Model:
    """A bus and hinged bodies by their inboard bodies, in this order."""
    bodies = [Body(name="bus", mass=50.0, inertia=diagonal(20.0, 24.0, 30.0), joint=floating())]
    for name, to in inboard.items():
        joint = Joint(to=to, kind="revolute", rotations=(XYZ[0],), at=(0.5, 0.0, 0.0))
        bodies.append(Body(name=name, mass=3.0, com=(0.3, 0.1, 0.0), inertia=diagonal(1.0, 1.2, 1.4), joint=joint))
    return Model(name="tree", bodies=tuple(bodies))


def test_the_base_with_most_appendage_hinges_has_the_terminal_set():
    model = tree_of(a="bus", b="a", c="bus", d="c", e="d", f="c")
    assert terminal_set(model, ("a", "b", "c", "d", "e", "f")) == ("a", "b", "c", "d", "e", "f")
    assert terminal_set(model, ("a", "b", "d", "e", "f")) == ("d", "e", "f")
    assert terminal_set(model, ("b", "e")) == ("e",)  # of bases with equally many, the last
    assert terminal_set(model, ("a", "b", "d", "e")) == ("d", "e")
    assert terminal_set(model, ("a", "c", "d")) == ()  # each carries one that is not linear
    assert terminal_set(model, ()) == ()


def test_several_rotations_count_and_welded_bodies_are_one_base():
    model = tree_of(a="bus", b="bus", c="bus", d="b", e="c")
    bodies = {body.name: body for body in model.bodies}
    bodies["b"] = replace(bodies["b"], joint=Joint(to="bus", kind="fixed"))
    assert terminal_set(replace(model, bodies=tuple(bodies.values())), ("a", "d", "e")) == ("a", "d")
    bodies["e"] = replace(bodies["e"], joint=Joint(to="c", kind="gimbal", rotations=XYZ))
    assert terminal_set(replace(model, bodies=tuple(bodies.values())), ("a", "d", "e")) == ("e",)


def test_without_names_the_largest_sprung_appendages_are_linear():
    model = tree_of(a="bus", b="a", c="bus")
    with pytest.raises(
        ValueError, match=r"of 'tree': no terminal appendage has springs at all its hinges; name joints"
    ):
        partly_linear_equations(model)
    bodies = [replace(b, joint=replace(b.joint, stiffness=(9.0,))) if b.name in "bc" else b for b in model.bodies]
    model = replace(model, bodies=tuple(bodies))
    assert terminal_set(model) == ("b",)  # b is alone on a, as c is on the bus: of equals the last
    x, u, p = random_state(1, model), random_inputs(1, model), parameters(model)
    assert_same(rates(partly_linear_equations(model), x, u, p), rates(partly_linear_equations(model, ("b",)), x, u, p))


def test_angles_are_small_from_the_rest_of_a_spring_or_else_from_the_start():
    model = tree_of(a="bus", b="bus")
    sprung = replace(model.bodies[1].joint, stiffness=(9.0,), rest=(0.7,))
    bodies = (model.bodies[0], replace(model.bodies[1], joint=sprung), model.bodies[2])
    model = replace(model, bodies=bodies, initial={"a.joint.angle": (0.2,), "b.joint.angle": (-1.3,)})
    made, x, u = partly_linear_equations(model, ("a", "b")), random_state(2, model), random_inputs(2, model)
    x[angles(model, "a")], x[angles(model, "b")] = 0.7, -1.3
    assert_same(rates(made, x, u, parameters(model)), rates(equations(model), x, u, parameters(model)))
    for name in "ab":
        moved = x.copy()
        moved[angles(model, name)] += 0.1
        apart = rates(made, moved, u, parameters(model)) - rates(equations(model), moved, u, parameters(model))
        assert np.abs(apart).max() > 1e-4


def test_the_other_functions_are_those_of_the_full_equations():
    model = chain(3, kind="attitude")
    bodies = [*model.bodies[:3], replace(model.bodies[3], joint=replace(model.bodies[3].joint, motion=("switchable",)))]
    bodies[2] = replace(bodies[2], nodes={"tip": Node(at=(0.2, 0.0, 0.1))})
    model = replace(model, bodies=tuple(bodies))
    full, partly = equations(model).in_own_axes(), partly_linear_equations(model, ("link2", "link3"))
    x, u, p = random_state(3, model), random_inputs(3, model), parameters(model)
    k, longer = full.prepare(p), partly.prepare(p)
    assert longer.numel() == partly.n_k > full.n_k
    assert full.latch is not None
    assert partly.latch is not None
    s = np.array(ports(model).start)
    for one, other, given in (
        (full.start, partly.start, (s,)),
        (full.outputs, partly.outputs, (x, u)),
        (full.latch, partly.latch, (x, u)),
    ):
        for expected, found in zip(one.call([*given, k]), other.call([*given, longer]), strict=True):
            np.testing.assert_array_equal(np.array(found), np.array(expected))


def test_joints_on_nodes_of_rigid_bodies_are_where_the_nodes_are():
    at = tree_of(a="bus", b="a")
    hinge = replace(at.bodies[2].joint, node="n", at=(0.2, -0.1, 0.0), stiffness=(3.0,))
    bodies = list(at.bodies)
    bodies[1] = replace(bodies[1], nodes={"n": Node(at=(0.3, 0.1, 0.2))})
    on_node = replace(at, bodies=(*bodies[:2], replace(bodies[2], joint=hinge)))
    at = replace(at, bodies=(*bodies[:2], replace(bodies[2], joint=replace(hinge, node="", at=(0.5, 0.0, 0.2)))))
    x, u, place = random_state(4, at), random_inputs(4, at), ports(at).by_name["a.n.at"].places
    for dynamics in (None, Linear(), PartlyLinear(("b",))):
        one, other = (equations_of(model, dynamics) for model in (at, on_node))
        p, q = parameters(at), parameters(on_node)
        assert_same(rates(other, x, u, q), rates(one, x, u, p))
        q[place] += 0.3
        p[place] += 0.3  # its forces go with it
        p[ports(at).by_name["b.joint.at"].places] += 0.3
        assert_same(rates(other, x, u, q), rates(one, x, u, p))


def test_a_linear_hinge_is_prescribed_and_locked_as_others_are():
    model = chain(3)
    motions = {"link1": "switchable", "link2": "prescribed", "link3": "switchable"}
    bodies = [replace(b, joint=replace(b.joint, motion=(motions[b.name],))) for b in model.bodies[1:]]
    model = replace(model, bodies=(model.bodies[0], *bodies))
    plant = Plant(model, step=0.01, dynamics=PartlyLinear(("link1", "link2", "link3")))
    plant["link2.joint.acceleration"] = 0.3
    plant["link3.joint.prescribed"], plant["link3.joint.acceleration"] = True, -0.2
    plant["link1.joint.locked"] = True
    at = plant.ports.span("joint_rates")
    before = plant.outputs().values[at]
    plant.step(0.1)
    expected = [0.0, before[1] + 0.03, before[2] - 0.02]
    np.testing.assert_allclose(plant.outputs().values[at], expected, rtol=0, atol=1e-12)


def test_what_is_not_covered_is_said_by_name():
    model = chain(1)
    slider = Joint(to="link1", kind="prismatic", translations=(XYZ[0],))
    ball = Joint(to="link1", kind="spherical", spherical=True)
    bodies = (*model.bodies, Body(name="slider", mass=1.0, joint=slider), Body(name="ball", mass=1.0, joint=ball))
    outside = replace(model, bodies=bodies)
    for make in (partly_linear_equations, augmented_equations):
        with pytest.raises(ValueError, match=r"do not cover .*'slider' has translations; the joint of 'ball' is spher"):
            make(outside)
    with pytest.raises(ValueError, match=r"joints: 'bus' is no body on a hinge; those of 'chain of 1' are link1"):
        partly_linear_equations(model, ("bus",))
