"""The two-arm platform of Ghosh and Quiocho: its counts, its closure, and the dense method it is measured against."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mbdy.blocks import Plant, simulate
from mbdy.engine import Equations, Model, equations, load
from mbdy.engine.verification.formulations import FORMULATIONS

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "two_arm_platform"
COUNTS = ((24, 0), (24, 0), (27, 0), (42, 0), (24, 24), (24, 48), (27, 48), (42, 80))
"""Table 2: degrees of freedom of joints, and modes; closed systems as open ones."""
CLOSED = 1e-14  # m, rad
AGREEMENT = 1e-10  # of the largest acceleration; mass matrices have conditions up to 3e6
FORCES = 1e-8  # of a loop's largest


@pytest.fixture(scope="module")
def platform(example):
    return example("two_arm_platform", "two_arms")


@pytest.fixture(scope="module")
def script(example):
    return example("two_arm_platform", "run")


@pytest.fixture(scope="module")
def dense():
    sys.path.insert(0, str(ROOT / "bench"))
    try:
        import dense
    finally:
        sys.path.remove(str(ROOT / "bench"))
    return dense


def start(made: Equations) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """State, inputs and constants of the model file."""
    k = np.array(made.prepare(made.ports.vector("parameter"))).ravel()
    x = np.array(made.start(made.ports.start, k)).ravel()
    return x, np.array(made.ports.vector("input"), dtype=float), k


def moving(made: Equations, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same with modes deflected, speeds that the loops allow, and forces and torques everywhere."""
    rng = np.random.default_rng(seed)
    x, u, k = start(made)
    x[made.n_q :] += rng.normal(size=x.size - made.n_q) * 0.02
    for port in ("joint_torques", "external_forces", "node_forces"):
        at = made.ports.span(port)
        u[at] = rng.normal(size=at.stop - at.start) * 50.0
    if made.latch is None:
        return x, u, k
    x = np.array(made.latch(x, u, k)[0]).ravel()
    if made.gaps is not None:
        assert np.abs(np.array(made.gaps(x, u, k)[1])).max() < 1e-9
    return x, u, k


def accelerations(made: Equations, rates: np.ndarray) -> np.ndarray:
    """Rates of the joints' and the modes' speeds out of those of the state."""
    return np.concatenate([rates[made.n_q : made.modal.start], rates[made.modal.stop :]])


@pytest.mark.parametrize("number", range(1, 17))
def test_the_table_of_the_paper(platform, number: int):
    model, given = platform.system(number), platform.configuration(number)
    assert platform.counts(model)[:2] == COUNTS[(number - 1) % 8]
    assert given.flexible == bool(platform.counts(model)[1])
    assert len(model.loops) == ((0, 0, 0, 0, 2, 2, 2, 3)[(number - 1) % 4 + 4 * (number > 8)])


def test_a_line_that_the_table_has_not(platform):
    with pytest.raises(ValueError, match="configuration 17"):
        platform.configuration(17)


@pytest.mark.parametrize("number", [9, 12, 14, 16])
def test_it_starts_closed(platform, number: int):
    model = platform.system(number)
    made = equations(model)
    y = np.array(made.outputs(*start(made))).ravel()
    for loop in model.loops:
        assert np.abs(y[made.ports.by_name[f"loop.{loop.name}.residual"].places]).max() < CLOSED


@pytest.mark.parametrize("number", range(1, 17))
def test_dense_equations_with_multipliers_give_the_same_accelerations_and_forces(platform, number: int):
    """Random forces everywhere, modes deflected, and random speeds that keep the loops closed."""
    model = platform.system(number)
    made, lagrange = equations(model), FORMULATIONS["lagrange"]
    p = np.array(made.ports.vector("parameter"))
    rates_of, forces_of = lagrange.derivatives(model), lagrange.multipliers(model)
    for seed in range(2):
        x, u, k = moving(made, seed)
        wanted = accelerations(made, rates_of(x, u, p))
        found = accelerations(made, np.array(made.derivatives(x, u, k)).ravel())
        np.testing.assert_allclose(found, wanted, rtol=0.0, atol=AGREEMENT * np.abs(wanted).max())
        y = np.array(made.outputs(x, u, k)).ravel()
        for name, loads in forces_of(x, u, p).items() if model.loops else ():
            for what in ("force", "torque"):
                acts = getattr(loads, what)
                got = y[made.ports.by_name[f"loop.{name}.{what}"].places]
                np.testing.assert_allclose(got, acts, rtol=0.0, atol=FORCES * np.abs(acts).max(), err_msg=name)


@pytest.mark.parametrize("number", [4, 8, 12, 16])
def test_the_dense_method_of_the_benchmark_gives_the_same_accelerations(platform, dense, number: int):
    model = platform.system(number)
    made, method = equations(model), dense.terms(model)
    x, u, k = moving(made, 0)
    blocks, forces, columns, right, _ = (np.array(part).ravel() for part in method.function(x, u, k))
    n, m = method.sizes["n"], method.sizes["m"]
    M, G = np.zeros(n * n), np.zeros(n * (m + 1))
    M[method.block_at], G[method.column_at] = blocks, columns
    M, G = M.reshape(n, n), G.reshape(n, m + 1)[:, :m]
    M = np.tril(M) + np.tril(M, -1).T
    whole = np.block([[M, -G], [G.T, np.zeros((m, m))]])
    found = np.linalg.solve(whole, np.concatenate([forces, right]))[:n]
    wanted = accelerations(made, np.array(made.derivatives(x, u, k)).ravel())
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=AGREEMENT * np.abs(wanted).max())


@pytest.mark.parametrize(("number", "name"), [(12, "rigid_closed"), (13, "flexible_closed")])
def test_model_files_are_the_same_systems(platform, number: int, name: str):
    made = [equations(model) for model in (platform.system(number), load(FOLDER / f"{name}.toml"))]
    assert made[0].ports.state_names == made[1].ports.state_names
    x, u, _ = moving(made[0], 1)
    rates = [np.array(each.derivatives(x, u, each.prepare(each.ports.vector("parameter")))).ravel() for each in made]
    np.testing.assert_allclose(rates[1], rates[0], rtol=1e-9, atol=1e-12 * np.abs(rates[0]).max())


@pytest.mark.slow
def test_halves_of_a_rigid_boom_move_as_the_whole_one(platform, script):
    whole, halves = (script.driven(number, until=10.0, every=1.0) for number in (9, 10))
    np.testing.assert_allclose(halves["top.centre.position"], whole["top.centre.position"], atol=1e-9)
    assert np.ptp(whole["top.centre.position"], axis=0).max() > 0.01


@pytest.mark.slow
def test_pushed_from_within_it_keeps_its_momentum(platform):
    """Flexible and closed: moments at the joints of leg 1 are internal, so nothing of the whole's momentum changes."""
    model: Model = platform.system(13)
    plant = Plant(model, step=5e-4)
    for part in ("roll", "yaw", "boom1", "boom2", "wrist_yaw"):
        plant[f"leg1_{part}.joint.torque"] = 20.0
    run = simulate(plant, until=5.0, every=0.1)
    for name in ("system.momentum", "system.angular_momentum"):
        assert np.abs(run[name]).max() < 1e-8, name
    energy = run["system.energy"].ravel()
    assert energy[-1] > 0.1
    assert np.abs(run["system.work_residual"]).max() < 1e-9 * energy.max()
    for loop in model.loops:
        assert np.abs(run[f"loop.{loop.name}.residual"]).max() < 1e-10
    assert np.abs(run["leg1_boom1.flex.displacement"]).max() > 1e-6


@pytest.mark.slow
def test_stiff_booms_move_as_rigid_ones(platform, script):
    """The closed flexible system, its booms a hundred times as stiff and its modes damped, against the rigid one."""
    model = platform.system(13)
    bodies = [
        replace(body, flex=replace(
            body.flex,
            stiffness=tuple(tuple(100 * value for value in row) for row in body.flex.stiffness),
            damping=tuple(tuple(100 * value for value in row) for row in body.flex.damping),
        ))
        if body.flex else body
        for body in model.bodies
    ]  # fmt: skip
    rigid = script.driven(9, until=10.0, every=1.0)
    plant = Plant(replace(model, bodies=tuple(bodies)), step=2e-4)
    for name, value in script.push(model).items():
        plant[name] = value
    stiff = simulate(plant, until=10.0, every=1.0, outputs=["top.centre.position"])
    moved = np.ptp(rigid["top.centre.position"], axis=0).max()
    np.testing.assert_allclose(stiff["top.centre.position"], rigid["top.centre.position"], atol=2e-3 * moved)


@pytest.mark.slow
def test_script_runs_from_any_folder(script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["run.py", "--configurations", "9", "--until", "1", "--out", "results"])
    script.main()
    for name in ("configuration_9.csv", "displacements.html", "leg2.html"):
        assert (tmp_path / "results" / name).stat().st_size > 0
    assert "24 + 0 = 24 degrees of freedom" in capsys.readouterr().out
