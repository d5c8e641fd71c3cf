"""Random flexible systems: what is drawn belongs together, and covers everything."""

from __future__ import annotations

import numpy as np
import pytest

from mbdy.engine.files.rules import keep_rules
from mbdy.engine.model.system import Body, Joint
from mbdy.engine.verification.formulations.constrained import STEP, Constrained
from mbdy.engine.verification.formulations.flexible import mass_matrix, modes_of, node_motion
from mbdy.engine.verification.formulations.reader import Reader
from mbdy.engine.verification.formulations.solutions import rank_of
from oracles.random_flexible import SORTS, Cloud, random_cloud, random_flexible, states

ROUNDING = 1e-12


def drawn(seed: int, *, foreshortening: bool) -> tuple[np.random.Generator, Cloud, Body]:
    rng = np.random.default_rng(seed)
    cloud = random_cloud(rng, 2.5, rng.uniform(-0.5, 0.5, 3), foreshortening=foreshortening)
    bare = Body(name="cloud", joint=Joint(to="inertial"), mass=1.0)
    return rng, cloud, cloud.body(bare, np.eye(cloud.modes), np.eye(cloud.modes), rng.uniform(-1.0, 1.0, (2, 3)))


def energy(cloud: Cloud, eta: np.ndarray, y: np.ndarray) -> float:
    """Kinetic energy of the particles."""
    omega, v, eta_rate = y[:3], y[3:6], y[6:]
    places = cloud.r + cloud.phi @ eta + 0.5 * np.einsum("paij,i,j->pa", cloud.bent, eta, eta)
    slopes = cloud.phi + np.einsum("paij,i->paj", cloud.bent, eta)
    velocities = v + np.cross(omega, places) + slopes @ eta_rate
    return float(0.5 * cloud.masses @ (velocities**2).sum(axis=1))


def modelled(body: Body, eta: np.ndarray, y: np.ndarray) -> float:
    modes = modes_of(body, np.ones(body.modes), np.ones(body.modes))
    M = mass_matrix(body.mass, np.array(body.com), np.array(body.inertia), modes, eta)
    return float(0.5 * y @ M @ y)


@pytest.mark.parametrize("seed", range(10))
def test_modal_data_have_the_energy_of_their_particles(seed):
    rng, cloud, body = drawn(seed, foreshortening=False)
    eta, y = rng.uniform(-0.5, 0.5, cloud.modes), rng.uniform(-1.0, 1.0, 6 + cloud.modes)
    assert modelled(body, eta, y) == pytest.approx(energy(cloud, eta, y), rel=ROUNDING)


@pytest.mark.parametrize("seed", range(10))
def test_foreshortening_is_in_what_is_of_second_order(seed):
    """Energy of the frame's own motion up to eta squared, that of pushing the modes up to eta."""
    rng, cloud, body = drawn(seed, foreshortening=True)
    eta, V = rng.uniform(-0.5, 0.5, cloud.modes), np.append(rng.uniform(-1.0, 1.0, 6), np.zeros(cloud.modes))
    moving = np.append(np.zeros(3), rng.uniform(-1.0, 1.0, 3 + cloud.modes))

    def error(size: float, y: np.ndarray, power: int) -> float:
        return (modelled(body, size * eta, y) - energy(cloud, size * eta, y)) / size**power

    assert abs(error(1e-3, V, 2)) < 1e-2
    pushed = [
        error(1e-3, sign * moving, 1) - error(1e-3, sign * np.append(np.zeros(6), moving[6:]), 1) for sign in (1, -1)
    ]
    assert max(map(abs, pushed)) < 1e-2


@pytest.mark.parametrize("seed", range(5))
def test_nodes_move_as_the_material(seed):
    rng, cloud, body = drawn(seed, foreshortening=True)
    modes = modes_of(body, np.ones(body.modes), np.ones(body.modes))
    eta, rate = rng.uniform(-0.3, 0.3, (2, cloud.modes))
    for i, node in enumerate(body.nodes.values()):
        moved, slope, turn, rates = node_motion(modes, i, eta)
        bent = cloud.bend.at(np.array(node.at)).reshape(3, cloud.modes, cloud.modes)
        np.testing.assert_allclose(
            moved, cloud.shape.at(np.array(node.at)) @ eta + 0.5 * bent @ eta @ eta, atol=ROUNDING
        )
        ahead = node_motion(modes, i, eta + 1j * STEP * rate)
        np.testing.assert_allclose(np.imag(ahead[0]) / STEP, slope @ rate, atol=ROUNDING)
        x, y, z = rates @ rate
        spin = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        np.testing.assert_allclose(turn.T @ np.imag(ahead[2]) / STEP, spin, atol=ROUNDING)


def test_systems_cover_everything_and_satisfy_their_loops():
    cases = [random_flexible(seed) for seed in range(40)]
    loops = [loop for case in cases for loop in case.model.loops]
    assert {loop.kind for loop in loops} == set(SORTS)
    assert any(loop.switchable for loop in loops)
    assert any("inertial" in (loop.a.body, loop.b.body) for loop in loops)
    bodies = [body for case in cases for body in case.model.bodies]
    assert {body.modes for body in bodies} == {0, 1, 2, 3, 4}
    assert any(body.joint.node for body in bodies)
    assert {body.joint.kind for body in bodies} >= {"free", "attitude", "revolute", "spherical", "general"}
    redundant = 0
    for case in cases:
        system = Constrained(Reader(case.model), case.x, case.u, case.p)
        redundant += rank_of(system.G) < len(system.G)
        for closure in system.closures:
            assert np.abs(closure.phi).max() < ROUNDING
            assert np.abs(closure.G @ system.w).max() < ROUNDING
    assert redundant >= 5
    assert random_flexible(7).model == random_flexible(7).model


@pytest.mark.parametrize("seed", range(6))
def test_models_keep_the_rules_and_have_more_states(seed):
    case = random_flexible(60 + seed)
    keep_rules(case.model)
    for x, u in states(np.random.default_rng(seed), case, 2):
        system = Constrained(Reader(case.model), x, u, case.p)
        assert np.abs(system.G @ system.w).max(initial=0.0) < ROUNDING
        assert max((np.abs(c.phi).max() for c in system.closures if c.closed), default=0.0) < ROUNDING
