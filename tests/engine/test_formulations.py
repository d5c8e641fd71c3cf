"""Independent formulations against the Order-N equations and each other, and against what their papers print."""

from __future__ import annotations

import importlib
import json
import re
from dataclasses import replace
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

from example_models import each_example
from mbdy.blocks import Plant, simulate
from mbdy.engine import Body, Joint, Model, ModelError, Verification, Wheel, equations, load, loads, ports, verify
from mbdy.engine.order_n.kernels import kernel_of
from mbdy.engine.verification.conservation import BALANCES, Observer
from mbdy.engine.verification.formulations import (
    FORMULATIONS,
    Formulation,
    UncoveredError,
    attraction,
    barycentric,
    closing,
    closures,
    complement,
    constrained,
    flexible,
    gears,
    kane,
    kinematics,
    solutions,
)
from mbdy.engine.verification.formulations.reader import Reader
from mbdy.engine.verification.formulations.values import Part
from mbdy.engine.verification.result import named
from oracles.random_flexible import random_flexible
from oracles.random_models import hinged_model, random_inputs, random_model, random_state, revalued
from systems import XYZ, chain, diagonal, floating

AGREEMENT = 1e-10
"""Relative: condition numbers of the random systems are below 1e5."""
EXACT = 1e-14
"""Identities without a solution of equations in them."""
TRAJECTORY = 1e-9
"""Of states after some hundred steps that begin with differences of 1e-15."""
QUICK = 30
TREES = ("kane", "jpl", "huston", "lagrange")
"""Those that cover some trees of rigid bodies; the others are for loops."""


def system(seed: int) -> Model:
    """Every third one hinged, the others of every kind; it starts where no joint is near a singularity."""
    rng = np.random.default_rng(40_000 + seed)
    if not seed % 3:
        model = hinged_model(rng)
    elif not seed % 5:  # the motion of an attitude root cannot be prescribed
        model = random_model(rng, roots=("attitude",), floating_motion=False)
    else:
        model = random_model(rng, roots=("free", "fixed", "joint", "several"))
    x = random_state(rng, model)
    starts = [v for v in ports(model).outputs if v.start_at is not None]
    initial = {v.name: tuple(x[v.start_at : v.start_at + v.size].tolist()) for v in starts if v.start_at is not None}
    return replace(model, initial=initial)


def covered(found: Verification) -> set[str]:
    return {item.name for item in found.comparisons if item.covered}


def vectors(model: Model, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return random_state(rng, model), random_inputs(rng, model), np.array(ports(model).vector("parameter"))


def order_n(model: Model, x: np.ndarray, u: np.ndarray, p: np.ndarray) -> np.ndarray:
    made = equations(model)
    return np.array(made.derivatives(x, u, made.prepare(p))).reshape(-1)


@pytest.mark.parametrize("seed", range(QUICK))
def test_formulations_agree_on_random_systems(seed):
    found = verify(system(seed), states=2, seed=seed)
    assert found.agrees, str(found)
    assert "kane" in covered(found)
    if not seed % 3:
        assert covered(found) == set(TREES)


@pytest.mark.parametrize(
    "systems", [pytest.param(80, marks=pytest.mark.slow), pytest.param(1000, marks=pytest.mark.soak)]
)
def test_formulations_agree_on_many_random_systems(systems):
    counts = dict.fromkeys(TREES, 0)
    for seed in range(systems):
        found = verify(system(seed), states=2, seed=seed)
        assert found.agrees, str(found)
        for name in covered(found):
            counts[name] += 1
    assert counts["kane"] == counts["lagrange"] == systems
    assert all(systems // 4 <= counts[name] < systems for name in ("jpl", "huston"))


@pytest.mark.filterwarnings("ignore:.*closed by bending:mbdy.engine.ModelWarning")  # loops of any bodies
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_formulations_agree_on_random_flexible_systems(seed):
    """With and without loops, redundant ones too."""
    model = random_flexible(3000 + seed, motion=seed % 3 == 0).model
    found = verify(model, states=2, seed=seed)
    assert found.agrees, str(found)
    assert covered(found) == ({"lagrange", "kamman", "penrose"} if model.loops else {"lagrange"})
    assert all((item.forces is not None) == bool(item.covered and model.loops) for item in found.comparisons)
    assert "agrees with 1 independent formulation and" in found.verdict


@pytest.mark.parametrize("path", each_example())
@pytest.mark.filterwarnings("ignore::mbdy.engine.ModelWarning")
def test_formulations_agree_on_examples(path):
    found = verify(load(path))
    assert found.agrees, str(found)
    assert not found.singular
    if path.stem == "five_body":
        assert covered(found) == set(TREES)


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("seed", range(5))
def test_parameters_count_and_quaternions_need_no_norm(name, seed):
    model = hinged_model(np.random.default_rng(90 + seed))
    changed = revalued(seed, model)
    x, u, _ = vectors(model, seed)
    p = np.array(ports(changed).vector("parameter"))
    evaluate = FORMULATIONS[name].derivatives(model)
    evaluate(x, u, np.array(ports(model).vector("parameter")))
    for norm in (1.0, 1.7):
        stretched = x.copy()
        for at in ports(model).quaternions:
            stretched[at : at + 4] *= norm
        expected = order_n(model, stretched, u, p)
        said = evaluate(stretched, u, p)
        assert np.abs(said - expected).max() <= AGREEMENT * max(1.0, np.abs(expected).max())


def wheeled(kind: str = "free") -> Model:
    """A bus on a ``kind`` of root with a wheel, and a sliding and a turning body."""
    wheel = {"x": Wheel(axis=(1.0, 0.0, 0.0), inertia=0.05)}
    bus = Body(name="bus", mass=50.0, inertia=diagonal(20.0, 24.0, 30.0), joint=floating(kind), wheels=wheel)
    slider = Joint(to="bus", kind="prismatic", translations=(XYZ[0],), at=(0.1, 0.5, 0.0))
    panel = Joint(to="bus", kind="spherical", spherical=True, at=(0.0, -0.5, 0.2))
    return Model(
        name="wheeled",
        bodies=(
            bus,
            Body(name="slider", mass=3.0, inertia=diagonal(0.1, 0.2, 0.15), joint=slider),
            Body(name="panel", mass=4.0, com=(0.1, -0.4, 0.0), inertia=diagonal(0.3, 0.1, 0.35), joint=panel),
        ),
        initial={"bus.omega": (0.1, 0.2, -0.1), "bus.x.speed": (100.0,), "panel.joint.omega": (0.2, -0.1, 0.3)},
    )


def test_what_is_not_covered_is_said_by_name():
    said = FORMULATIONS["jpl"].uncovered(wheeled())
    assert any("'bus' has wheels (x)" in sentence for sentence in said)
    assert any("'slider' has translations" in sentence for sentence in said)
    assert any("'panel' is spherical" in sentence for sentence in said)
    with pytest.raises(UncoveredError, match=r"'jpl' does not cover 'wheeled'.*slider"):
        FORMULATIONS["jpl"].derivatives(wheeled())
    prescribed = replace(floating(), motion=("free",) * 5 + ("switchable",))
    model = chain(2)
    held = replace(model, bodies=(replace(model.bodies[0], joint=prescribed), *model.bodies[1:]))
    assert any("'bus' can be prescribed" in sentence for sentence in FORMULATIONS["jpl"].uncovered(held))
    two = replace(model, bodies=(*model.bodies, Body(name="other", mass=1.0, joint=Joint(to="inertial", kind="fixed"))))
    assert any("'bus', 'other'" in sentence for sentence in FORMULATIONS["huston"].uncovered(two))
    assert any("'other' joins inertial" in sentence for sentence in FORMULATIONS["jpl"].uncovered(two))
    assert FORMULATIONS["kane"].uncovered(two) == ()


OWN = (
    kane,
    barycentric,
    complement,
    constrained,
    kinematics,
    closures,
    closing,
    solutions,
    flexible,
    attraction,
    gears,
)


@pytest.mark.parametrize("module", OWN, ids=lambda module: module.__name__)
def test_formulations_share_only_the_model_and_its_numbers(module):
    source = Path(module.__file__).read_text(encoding="utf-8")
    own = "verification.formulations"
    shared = {f"{own}.reader", f"{own}.values", f"{own}.forces", f"{own}.dense", "model.system", "model.topology"}
    if module not in (kane, barycentric, complement):
        shared |= {"model.gear"} | {one.__name__.removeprefix("mbdy.engine.") for one in OWN[3:]}
    assert set(re.findall(r"^(?:from|import) mbdy\.engine\.(\S+)", source, re.MULTILINE)) <= shared
    assert "casadi" not in source


def part(joint: Joint, q, u) -> Part:
    """A body on ``joint`` at given coordinates and speeds, as the formulations read it."""
    model = Model(name="one", bodies=(Body(name="one", mass=1.0, joint=joint),))
    x = np.append(q, u)
    p = np.array(ports(model).vector("parameter"))
    return Reader(model).parts(x, np.array(ports(model).vector("input")), p)[0]


def test_kane_joint_partials_are_those_of_the_paper():
    first, second, third = 0.4, -0.7, 1.1
    rates = np.array([0.3, -0.5, 0.8])
    c, s = np.cos, np.sin
    gimbal = Joint(to="inertial", kind="gimbal", rotations=(XYZ[1], XYZ[0], XYZ[2]))
    Gamma, _ = kane.joint_partials(part(gimbal, [first, second, third], rates))
    printed = [[c(second) * s(third), c(third), 0], [c(second) * c(third), -s(third), 0], [-s(second), 0, 1]]
    np.testing.assert_allclose(Gamma, printed, rtol=0, atol=EXACT)
    universal = Joint(to="inertial", kind="universal", rotations=(XYZ[1], XYZ[2]))
    Gamma, Gamma_rate = kane.joint_partials(part(universal, [first, second], rates[:2]))
    np.testing.assert_allclose(Gamma, [[s(second), 0], [c(second), 0], [0, 1]], rtol=0, atol=EXACT)
    printed = [[rates[1] * c(second), 0], [-rates[1] * s(second), 0], [0, 0]]
    np.testing.assert_allclose(Gamma_rate, printed, rtol=0, atol=EXACT)


def test_lower_body_arrays_are_those_of_the_paper():
    table = complement.lower_body_arrays([0, 0, 1, 2, 2, 4, 5, 4, 7, 7, 1])
    printed = [
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
        [0, 1, 2, 2, 4, 5, 4, 7, 7, 1],
        [0, 0, 1, 1, 2, 4, 2, 4, 4, 0],
        [0, 0, 0, 0, 1, 2, 1, 2, 2, 0],
        [0, 0, 0, 0, 0, 1, 0, 1, 1, 0],
        [0] * 10,
    ]
    np.testing.assert_array_equal([row[1:] for row in table], printed)


def test_euler_parameter_matrices_are_orthogonal_as_corrected():
    epsilon = np.random.default_rng(3).normal(size=4)
    epsilon /= np.linalg.norm(epsilon)
    S, E = complement.transformation(epsilon), complement.euler_matrix(epsilon)
    np.testing.assert_allclose(S @ S.T, np.eye(3), rtol=0, atol=EXACT)
    np.testing.assert_allclose(E @ E.T, np.eye(4), rtol=0, atol=EXACT)
    assert abs(epsilon @ E[:, :3] @ [0.3, -0.2, 0.5]) < EXACT


def test_barycenters_balance_and_the_coefficient_matrix_is_symmetric():
    model = hinged_model(np.random.default_rng(11))
    x, u, p = vectors(model, 11)
    reader = Reader(model)
    hinges = barycentric.hinges_of(barycentric.plan_of(reader), reader, reader.parts(x, u, p))
    equation = barycentric.Equation(hinges)
    balance = np.einsum("kja,j->ka", equation.D, hinges.mass)
    assert np.abs(balance).max() < 1e-13 * hinges.mass.sum()
    unsymmetric = equation.coefficients - equation.coefficients.T
    assert np.abs(unsymmetric).max() < EXACT * np.abs(equation.coefficients).max()


def test_masses_over_twelve_decades_agree():
    model = chain(6, seed=4)
    factors = (1e6, 1.0, 1e-3, 1.0, 1e-6, 1e-6, 1e-6)
    bodies = [
        replace(body, mass=body.mass * f, inertia=diagonal(*(f * body.inertia[i][i] for i in range(3))))
        for body, f in zip(model.bodies, factors, strict=True)
    ]
    found = verify(replace(model, bodies=tuple(bodies)), states=5)
    assert found.agrees, str(found)
    assert covered(found) == set(TREES)


def test_laws_of_joints_are_the_same():
    """Friction on every speed, a wheel's too; a cubic spring and stops, within and beyond, on every coordinate."""
    model = wheeled()
    rubbing = Wheel(axis=(1.0, 0.0, 0.0), inertia=0.05, damping=0.01, friction=0.2, friction_rate=50.0)
    slider, panel = model.bodies[1].joint, model.bodies[2].joint
    laws = {"cubic_stiffness": (7.0,), "stop_stiffness": (50.0,), "stop_lower": (-0.1,), "stop_upper": (0.1,)}
    slid = replace(slider, friction=(0.3,), friction_rate=(0.2,), stiffness=(4.0,), stop_damping=(0.6,), **laws)
    turned = replace(panel, friction=(0.1, 0.2, 0.3), damping=(0.3, 0.2, 0.1))
    bus = replace(model.bodies[0], wheels={"x": rubbing})
    bodies = (bus, replace(model.bodies[1], joint=slid), replace(model.bodies[2], joint=turned))
    lawful = replace(model, bodies=bodies)
    found = verify(lawful, states=8)
    assert found.agrees, str(found)
    x, u, _ = vectors(model, 3)
    p, p_lawful = (np.array(ports(one).vector("parameter")) for one in (model, lawful))
    x[ports(model).state_names.index("slider.joint.displacement")] = 0.3
    assert np.abs(order_n(lawful, x, u, p_lawful) - order_n(model, x, u, p)).max() > 0.1


def test_an_error_in_a_formulation_is_found(monkeypatch):
    model = chain(2)
    true = FORMULATIONS["kane"].derivatives(model)
    place = ports(model).state_names.index("link2.joint.rate")

    def wrong(x, u, p):
        rates = true(x, u, p)
        rates[place] *= 1 + 1e-9
        return rates

    false = Formulation("false", "one that errs", "nobody", lambda model: (), lambda model: wrong)
    monkeypatch.setattr(importlib.import_module("mbdy.engine.verification.verify"), "FORMULATIONS", {"false": false})
    found = verify(model, states=3)
    assert not found.agrees
    (comparison,) = found.comparisons
    assert comparison.variable == "link2.joint.rate"
    assert comparison.disagreement == pytest.approx(1e-9, rel=0.01)
    assert "beyond the tolerance of 1e-10: false" in str(found)


def test_wrong_forces_of_loops_are_found(monkeypatch):
    model = random_flexible(3, n_bodies=4, flexible=0.5, loops=3, redundant=0.0).model
    assert model.loops
    true = FORMULATIONS["lagrange"]

    def wrong(x, u, p):
        loads = true.multipliers(model)(x, u, p)
        return {name: replace(each, force=1.0001 * each.force) for name, each in loads.items()}

    false = Formulation(
        "false", "one that errs", "nobody", lambda model: (), true.derivatives, lambda model: wrong, "lagrange"
    )
    monkeypatch.setattr(importlib.import_module("mbdy.engine.verification.verify"), "FORMULATIONS", {"false": false})
    found = verify(model, states=2)
    (comparison,) = found.comparisons
    assert comparison.found is not None
    assert comparison.found.agrees
    assert not comparison.agrees
    assert comparison.force.endswith(".force")
    assert "false: forces of loops" in str(found)


def lawful() -> Model:
    """A bus with a rubbing wheel; on it a body on a slide with every law, one with a harness, one on a crossed hinge.

    The slide is so stiff that forces of its springs are some 1e9 times those of everything else.
    """
    rubbing = Wheel(axis=(1.0, 2.0, 0.0), inertia=0.05, damping=0.01, friction=0.2, friction_rate=0.05)
    slide = Joint(
        to="bus",
        kind="prismatic",
        translations=(XYZ[0],),
        at=(0.1, 0.5, 0.0),
        stiffness=(1e6,),
        damping=(0.1,),
        cubic_stiffness=(1e9,),
        friction=(0.3,),
        friction_rate=(1e-3,),
        stop_stiffness=(50.0,),
        stop_lower=(-9.0,),
        stop_upper=(8.0,),
        stop_damping=(0.6,),
    )
    hinge = Joint(to="bus", kind="revolute", rotations=(XYZ[2],), harness=((-0.2, 0.3), (0.1, 0.0), (0.3, -0.4)))
    crossed = Joint(to="bus", kind="universal", rotations=(XYZ[0], XYZ[1]), at=(0.0, 0.0, 0.4))
    return Model(
        name="lawful",
        bodies=(
            Body(name="bus", mass=50.0, inertia=diagonal(20.0, 24.0, 30.0), joint=floating(), wheels={"x": rubbing}),
            Body(name="slider", mass=3.0, inertia=diagonal(0.1, 0.2, 0.15), joint=slide),
            Body(name="panel", mass=4.0, com=(0.1, -0.4, 0.0), inertia=diagonal(0.3, 0.1, 0.35), joint=hinge),
            Body(name="mast", mass=2.0, com=(0.0, 0.1, 0.3), inertia=diagonal(0.2, 0.25, 0.1), joint=crossed),
        ),
    )


@pytest.fixture
def recompiled():
    """Equations and their kernels are made anew, in a test and after it."""
    kept = importlib.import_module("mbdy.engine.order_n.equations")._of_structure, kernel_of
    for each in kept:
        each.cache_clear()
    yield
    for each in kept:
        each.cache_clear()


def enlarged(name: str, factor: float):
    """Makes efforts of joints as if a constant were ``factor`` times as large."""
    return lambda true: lambda kind, k, *args: true(kind, {**k, name: factor * k[name]} if name in k else k, *args)


def sticky(true):
    """Torques on wheels as if ``friction_rate`` of their bearings were three times as large."""

    def wheel_torques(kind, k, *args):
        scales = ca.repmat(ca.DM([1, 1, 3]), sum(kind.bearings), 1)
        return true(kind, {**k, "bearings": k["bearings"] * scales}, *args)

    return wheel_torques


def reversed_bias(true):
    def motion(*args):
        found = true(*args)
        return replace(found, bias=-found.bias)

    return motion


def reversed_sign(true):
    return lambda *args: -true(*args)


STRENGTHS = ("friction", "damping", "stiffness", "cubic_stiffness", "stop_stiffness", "stop_damping", "harness")
MUTATIONS = {
    **{
        name: ("order_n.efforts", "effort", enlarged(name, 1 + 1e-6))
        for name in (*STRENGTHS, "stop_lower", "stop_upper")
    },
    "friction_rate": ("order_n.efforts", "effort", enlarged("friction_rate", 3.0)),
    "softness of stops": ("model.laws.stops", "STOP_SOFTNESS", lambda true: 1.001 * true),
    "friction_rate of wheels": ("order_n.efforts", "wheel_torques", sticky),
    "bias of joints": ("order_n.rigid_body", "motion", reversed_bias),
    "gyroscopic forces": ("order_n.spatial", "cross_force", reversed_sign),
    "Coriolis accelerations": ("order_n.spatial", "cross_motion", reversed_sign),
}


@pytest.mark.usefixtures("recompiled")
@pytest.mark.parametrize("what", MUTATIONS)
def test_an_error_in_the_engine_is_found(monkeypatch, what):
    module, name, bent = MUTATIONS[what]
    home = importlib.import_module(f"mbdy.engine.{module}")
    monkeypatch.setattr(home, name, bent(getattr(home, name)))
    found = verify(lawful(), states=12)
    assert {item.name for item in found.comparisons if not item.agrees} == covered(found) == set(TREES) - {"jpl"}


def test_a_lawful_model_agrees():
    found = verify(lawful())
    assert found.agrees, str(found)


@pytest.mark.parametrize("law", BALANCES, ids=lambda law: law.name)
def test_a_law_finds_wrong_accelerations(law):
    model = wheeled()
    made, observer = equations(model), Observer(model, equations(model))
    x, u, p = vectors(model, 5)
    rates = np.array(made.derivatives(x, u, made.prepare(p))).reshape(-1)

    def residual(at: np.ndarray) -> float:
        found = law.residual(observer.instant(x, u, p, made.prepare(p), at))
        assert found is not None
        return found[0] / found[1]

    assert residual(rates) < EXACT
    if law.name != "work":  # the engine forms that one from its own accelerations
        assert residual(rates * (1 + 1e-6)) > 1e-8


def test_laws_state_nothing_of_anchored_systems():
    model = chain(2)
    fixed = replace(model.bodies[0], joint=Joint(to="inertial", kind="fixed"))
    found = verify(replace(model, bodies=(fixed, *model.bodies[1:]), initial={}), states=1)
    assert found.agrees
    work, *momenta = found.residuals
    assert work.found is not None
    assert all("'bus' is held" in residual.inapplicable for residual in momenta)


def test_singular_states_are_left_out_and_named(monkeypatch):
    module = importlib.import_module("mbdy.engine.verification.verify")
    worst = verify(chain(2), states=3).worst_condition
    monkeypatch.setattr(module, "SINGULAR", worst * (1 - 1e-9))
    found = verify(chain(2), states=3)
    assert len(found.singular) == 1
    assert found.compared == 3
    assert found.agrees
    assert f"left out, as the equations are singular to rounding there: {named(found.singular[0])}" in found.verdict
    monkeypatch.setattr(module, "SINGULAR", 0.0)
    none = verify(chain(2), states=3)
    assert not none.agrees
    assert "nothing was compared" in str(none)


def test_verification_repeats_prints_and_serialises():
    model = wheeled()
    told: list[float] = []
    found, again = verify(model, states=2, seed=7, progress=told.append), verify(model, states=2, seed=7)
    assert told == sorted(told)
    assert told[-1] == 1.0
    figures = [item.found for item in (*found.comparisons, *found.residuals)]
    assert figures == [item.found for item in (*again.comparisons, *again.residuals)]
    assert "wheeled: 3 bodies, 10 degrees of freedom; its start and 2 random states, seed 7" in str(found)
    told_as = json.loads(json.dumps(found.to_dict()))
    assert told_as["agrees"] is True
    assert [item["name"] for item in told_as["comparisons"]] == list(FORMULATIONS)
    for bad in ({"states": -1}, {"seed": -1}):
        with pytest.raises(ValueError, match="must be a whole number >= 0, got -1"):
            verify(model, **bad)
    with pytest.raises(ModelError, match="mass"):
        verify(replace(model, bodies=(replace(model.bodies[0], mass=-1.0), *model.bodies[1:])))


@pytest.mark.parametrize("kind", ["free", "attitude"])
@pytest.mark.parametrize("name", TREES)
def test_trajectories_are_those_of_order_n(name, kind):
    model = chain(2, kind=kind) if name == "jpl" else wheeled(kind)
    runs = [simulate(model, until=0.5, every=0.1, step=0.01, formulation=each) for each in ("order-n", name)]
    assert np.abs(runs[0].values[-1] - runs[0].values[0]).max() > 1e-2
    scale = np.maximum(1.0, np.abs(runs[0].values).max())
    assert np.abs(runs[1].values - runs[0].values).max() <= TRAJECTORY * scale


def test_a_plant_of_another_formulation_takes_parameters_locks_and_copies():
    links = chain(2)
    bodies = [replace(b, joint=replace(b.joint, motion=("switchable",))) for b in links.bodies[1:]]
    model = replace(links, bodies=(links.bodies[0], *bodies))
    plants = [Plant(model, step=0.01, formulation=name) for name in ("order-n", "kane")]
    for plant in plants:
        plant["link1.mass"] = 9.0
        plant["link1.joint.torque"] = 0.5
        plant.step(0.1)
        plant["link2.joint.locked"] = True
        plant.step(0.1)
        assert plant["link2.joint.rate"] == 0.0
    np.testing.assert_allclose(plants[1].state, plants[0].state, rtol=0, atol=TRAJECTORY)
    assert np.abs(plants[1].derivatives(0.0, plants[0].state) - plants[0].derivatives(0.0, plants[0].state)).max() > 0.0


def test_unknown_and_uncovered_formulations_are_refused():
    with pytest.raises(ValueError, match="'hamilton' is unknown; choose one of order-n, kane, jpl, huston, lagrange"):
        Plant(chain(1), formulation="hamilton")
    with pytest.raises(UncoveredError, match="does not cover 'wheeled'"):
        simulate(wheeled(), until=1.0, formulation="jpl")


TWO = """
mbdy = 1
[body.a]
mass = 300
inertia = [60, 80, 90]
joint = {{ to = "inertial", {0} }}
[body.b]
mass = 500
inertia = [150, 160, 120]
joint = {{ to = "inertial", {0}, {1} }}
[loop.weld]
a = "a"
b = "b"
{2}
kind = "weld"
closed = false
switchable = true
"""


@pytest.mark.parametrize(
    ("joints", "apart", "turned", "unclosed"),
    [
        ('kind = "free"', "", 'frame_b = { sequence = "z", angles = [3.0] }', ()),
        ('kind = "prismatic", axis = [1, 0, 0]', "at = [0, 50, 0]", "", ("weld",)),
    ],
)
def test_switchable_loops_far_from_closed(joints: str, apart: str, turned: str, unclosed: tuple[str, ...]) -> None:
    """By half a turn, or by what no motion changes: agreement, and a sentence on what no state closes."""
    text = TWO.format(joints, apart, turned).replace(",  }", " }")
    found = verify(loads(text), states=6)
    assert found.agrees
    assert found.open_loops == unclosed
    assert ("no state closes loop 'weld'" in found.verdict) == bool(unclosed)
