"""Systems on which mbdy is compared with its peers (bench): they are the same in mbdy as in their neutral numbers."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from mbdy.engine.linear.choice import equations_of

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module", autouse=True)
def _bench():
    sys.path.insert(0, str(ROOT / "bench"))
    yield
    sys.path.remove(str(ROOT / "bench"))


def by_virtual_power(system) -> np.ndarray:
    """Accelerations as the peers give them, from Newton and Euler for each body and a dense mass matrix (Kane)."""
    from peers.system import rotation

    n, cross = system.n, np.cross
    turn, omega, alpha, at = [rotation(system.attitude)], [], [], []
    W, V = np.zeros((n + 1, 3, n + 6)), np.zeros((n + 1, 3, n + 6))
    W[0, :, :3], V[0, :, 3:6] = turn[0], np.eye(3)
    omega, alpha, at = [turn[0] @ system.omega], [np.zeros(3)], [np.zeros(3)]
    M, force = np.zeros((n + 6, n + 6)), np.concatenate([np.zeros(6), system.torques])
    for i in range(n + 1):
        if i:
            p, half = system.parent[i], system.angles[i - 1] / 2
            axis, arm = turn[p] @ system.axis[i], turn[p] @ system.at[i]
            turn.append(turn[p] @ rotation(np.array([np.cos(half), *np.sin(half) * system.axis[i]])))
            W[i], V[i] = W[p], V[p] + cross(W[p], arm, axisa=0, axisc=0)
            W[i, :, 5 + i] += axis
            omega.append(omega[p] + axis * system.rates[i - 1])
            alpha.append(alpha[p] + cross(omega[p], axis) * system.rates[i - 1])
            at.append(at[p] + cross(alpha[p], arm) + cross(omega[p], cross(omega[p], arm)))
        com, inertia = turn[i] @ system.com[i], turn[i] @ system.inertia[i] @ turn[i].T
        Vc = V[i] + cross(W[i], com, axisa=0, axisc=0)
        acceleration = at[i] + cross(alpha[i], com) + cross(omega[i], cross(omega[i], com))
        M += system.mass[i] * Vc.T @ Vc + W[i].T @ inertia @ W[i]
        force -= system.mass[i] * Vc.T @ acceleration
        force -= W[i].T @ (inertia @ alpha[i] + cross(omega[i], inertia @ omega[i]))
    return np.linalg.solve(M, force)


@pytest.mark.parametrize("shape", ["chain", "tree"])
def test_mbdy_and_the_neutral_numbers_mean_the_same_system(shape: str):
    import against_peers
    import timing
    from peers.system import conserved, drawn

    system = drawn(shape, 6)
    made = equations_of(against_peers.model_of(system))
    u = np.array(made.ports.vector("input"), dtype=float)
    u[made.ports.span("joint_torques")] = system.torques
    x, k = timing.start(made), made.prepare(made.ports.vector("parameter"))
    found = against_peers.accelerations(made, np.array(made.derivatives(x, u, k)).ravel())
    expected = by_virtual_power(system)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    outputs = dict(zip(made.ports.output_names, np.array(made.outputs(x, u, k)).ravel(), strict=True))
    assert outputs["system.energy"] == pytest.approx(conserved(system)[0], rel=1e-12)


def test_each_section_of_the_bench_has_its_place_in_the_page():
    source = (ROOT / "bench" / "bench.py").read_text(encoding="utf-8")
    sections = re.findall(r'^    "(\w+)":|, "(\w+)":', source[source.index("SECTIONS:") :], re.MULTILINE)
    page = (ROOT / "docs" / "speed.md").read_text(encoding="utf-8")
    for name in ("machine", *(one or other for one, other in sections)):
        assert f"<!-- {name} -->\n" in page
        assert f"<!-- end of {name} -->\n" in page
