"""MRATE against the general engine and against Eq. (5) solved by itself, on random systems."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from interpreted import Interpreted
from jpl_systems import five_body, random_arguments, random_system, with_other_numbers
from mbdy.blocks import Plant
from mbdy.blocks.jpl import MBDY
from mbdy.engine import Model, ModelWarning, load, loads, ports, save
from mbdy.engine.files.read import dumps
from mbdy.engine.verification.formulations import formulation
from oracles.drawing import XYZ

MODEL = Path(__file__).parents[2] / "examples" / "five_body_spacecraft" / "five_body.toml"
AGREEMENT = 1e-10
"""Of accelerations, relative to the largest of them or to one."""


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(32_1592)


@pytest.fixture(scope="module")
def file_model() -> Model:
    with pytest.warns(ModelWarning):
        return load(MODEL)


def general(model: Model, moved: np.ndarray, order: np.ndarray) -> Model:
    """The same system otherwise put: a free root, its origin ``moved``, the bodies in another order."""
    root = model.bodies[0]
    bodies = [replace(root, joint=replace(root.joint, kind="free", translations=XYZ), com=tuple(moved))]
    for body in model.bodies[1:]:
        at = np.array(body.joint.at) + (moved if body.joint.to == root.name else 0.0)
        bodies.append(replace(body, joint=replace(body.joint, at=tuple(at))))
    return replace(model, bodies=tuple(bodies[i] for i in order))


def put(model: Model, given: dict[str, Any], rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """States and inputs of a model of bodies body0, body1, ... at arguments of MRATE, anywhere in space."""
    table = ports(model)
    x, u = np.zeros(len(table.state_names)), np.zeros(len(table.input_names))

    def set_input(name: str, value: Any) -> None:
        if name in table.by_name:
            u[table.by_name[name].places] = value

    def set_state(name: str, value: Any) -> None:
        variable = table.by_name[name]
        assert variable.state is not None
        x[variable.state : variable.state + variable.size] = value

    attitude = rng.normal(size=4)
    set_state("body0.attitude", attitude / np.linalg.norm(attitude))
    set_state("body0.omega", given["WO"])
    set_input("body0.torque", given["TB"])
    set_input("body0.force", given["FB"])
    for k in range(1, len(model.bodies)):
        set_state(f"body{k}.joint.angle", given["GM"][k - 1])
        set_state(f"body{k}.joint.rate", given["GMD"][k - 1])
        set_input(f"body{k}.joint.torque", given["TH"][k - 1])
        set_input(f"body{k}.joint.acceleration", given["GMDD"][k - 1])
        set_input(f"body{k}.torque", given["TA"][k - 1])
        set_input(f"body{k}.force", given["FA"][k - 1])
    return x, u


def accelerations(model: Model, dx: np.ndarray) -> np.ndarray:
    """WDOT from the derivatives of all states."""
    table = ports(model)
    names = ["body0.omega", *(f"body{k}.joint.rate" for k in range(1, len(model.bodies)))]
    found = [(table.by_name[name].state or 0, table.by_name[name].size) for name in names]
    return np.concatenate([dx[at : at + size] for at, size in found])


def check(system: dict[str, Any], order: np.ndarray, rng: np.random.Generator) -> None:
    m = MBDY(**system)
    given = random_arguments(rng, system["NH"])
    WDOT = m.MRATE(**given)
    tolerance = AGREEMENT * (1.0 + np.abs(WDOT).max())
    prescribed = np.flatnonzero(system["PI"])
    np.testing.assert_array_equal(WDOT[3:][prescribed], given["GMDD"][prescribed])

    other = general(m.model, rng.normal(size=3), order)
    x, u = put(other, given, rng)
    engine = accelerations(other, Interpreted(other).derivatives(x, u))
    np.testing.assert_allclose(WDOT, engine, rtol=0, atol=tolerance)

    x, u = put(m.model, given, rng)
    p = np.array(ports(m.model).vector("parameter"))
    report = accelerations(m.model, formulation("jpl").derivatives(m.model)(x, u, p))
    np.testing.assert_allclose(WDOT, report, rtol=0, atol=tolerance)


QUICK, TREES = 3, 40
NUMBERS = 5
"""Systems of one tree with one prescribed set, which differ in all their numbers: equations are made once for them."""


@pytest.mark.parametrize(
    "tree", [*range(QUICK), *(pytest.param(tree, marks=pytest.mark.slow) for tree in range(QUICK, TREES))]
)
def test_random_systems(tree: int):
    """200 of them in all."""
    rng = np.random.default_rng(tree)
    system = random_system(rng)
    order = rng.permutation(system["NH"] + 1)
    for _ in range(NUMBERS):
        check(system, order, rng)
        system = with_other_numbers(rng, system)


@pytest.mark.parametrize("PI", [(0, 0, 0, 0), (1, 1, 0, 0), (0, 0, 0, 1), (1, 1, 1, 1)])
def test_the_report_s_vehicle(PI: tuple[int, ...], rng: np.random.Generator, file_model: Model):
    """The arrays and the model file, which were written apart, are one system."""
    names = dict(zip(("bus", "yoke", "platform", "boom_link", "boom"), range(5), strict=True))
    bodies = []
    for body in file_model.bodies:
        joint = replace(body.joint, stiffness=(), damping=(), rest=())
        if k := names[body.name]:
            joint = replace(joint, to=f"body{names[body.joint.to]}", motion=(("free", "prescribed")[PI[k - 1]],))
        bodies.append(replace(body, name=f"body{k}", joint=joint))
    plain = replace(file_model, bodies=tuple(bodies), initial={})
    m = MBDY(**five_body(PI=PI))
    for _ in range(5):
        given = random_arguments(rng, 4)
        x, u = put(plain, given, rng)
        engine = accelerations(plain, Interpreted(plain).derivatives(x, u))
        WDOT = m.MRATE(**given)
        np.testing.assert_allclose(WDOT, engine, rtol=0, atol=AGREEMENT * (1.0 + np.abs(WDOT).max()))


def test_the_model_is_given_back(tmp_path, rng: np.random.Generator):
    m = MBDY(**five_body(PI=[1, 0, 0, 1]))
    save(m.model, tmp_path / "vehicle.toml")
    with pytest.warns(ModelWarning):
        again = load(tmp_path / "vehicle.toml")
    assert [body.name for body in again.bodies] == ["body0", "body1", "body2", "body3", "body4"]
    given = random_arguments(rng, 4)
    x, u = put(again, given, rng)
    found = accelerations(again, Plant(again).derivatives(0.0, x, u))
    np.testing.assert_allclose(m.MRATE(**given), found, rtol=1e-13, atol=1e-13)
    with pytest.warns(ModelWarning):
        assert loads(dumps(m.model)).bodies == m.model.bodies
