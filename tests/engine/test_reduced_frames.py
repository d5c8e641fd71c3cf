"""Reduced finite elements: frames with lumps against the full-order model, interfaces that do not hold, attachments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.integrate import solve_ivp
from scipy.optimize import root
from scipy.spatial.transform import Rotation

from interpreted import Interpreted
from mbdy.engine import Body, Joint, Model, ModelError, ModelWarning, load
from mbdy.engine.flexible.finite_elements import FiniteElements
from mbdy.engine.flexible.modal_body import ModalBody
from mbdy.engine.flexible.reduction import reduce
from oracles.rigid_nodes import Lump, RigidNodes, beam_stiffness, frame_stiffness, tilde
from systems import floating

POINTS = np.array([[0, 0, 0], [1, 0, 0], [1.8, 0.6, 0], [2.0, 0.8, 0.9]])
STIFFNESS = frame_stiffness(POINTS, [(0, 1), (1, 2), (2, 3)], (2e3, 30.0, 60.0, 40.0))
SPUN = 0.02
"""[rad/s] So slow that squares of the deformations are below the tolerance."""


def inertia(size: float, *turns: float) -> np.ndarray:
    R = Rotation.from_rotvec(turns).as_matrix()
    return size * R @ np.diag([0.6, 0.8, 1.0]) @ R.T


LUMPS = (
    Lump(20.0, np.array([0.1, -0.2, 0.1]), inertia(3.0, 0.2, 0.9, 0.3)),
    Lump(0.5, np.zeros(3), inertia(0.02, 0.0, 0.4, 1.3)),
    Lump(1.0, np.array([0.0, 0.1, 0.2]), inertia(0.05, 1.0, 0.0, 0.3)),
    Lump(2.0, np.array([0.2, 0.1, -0.1]), inertia(0.4, 0.4, -0.3, 0.8)),
)
PAYLOAD = Lump(1.5, np.array([0.1, -0.3, 0.2]), inertia(0.2, -0.5, 0.7, 0.1))
FULL = RigidNodes(POINTS, (*LUMPS[:3], LUMPS[3].with_(PAYLOAD)), STIFFNESS)


def frame(lumps: RigidNodes, joint: Joint, payload: Lump | None) -> tuple[ModalBody, Interpreted]:
    """All modes of the frame, and its equations with a payload as a child or without."""
    places = {k + 1: POINTS[k] for k in range(4)}
    model = FiniteElements(lumps.mass_matrix(), STIFFNESS, places, [(n, d) for n in places for d in range(1, 7)])
    b = reduce(model, interface=1, modes=18, damping_ratio=0.0, nodes={f"n{n}": n for n in places})
    bodies = [Body(name="b", joint=joint, mass=b.mass, com=b.com, inertia=b.inertia, flex=b.flex, nodes=b.nodes)]
    if payload:
        tensor: Any = tuple(map(tuple, payload.inertia))
        child = Joint(to="b", node="n4", kind="fixed")
        bodies.append(Body(name="p", joint=child, mass=payload.mass, com=tuple(payload.offset), inertia=tensor))
    return b, Interpreted(Model(name="frame", bodies=tuple(bodies)))


def places_of(run: Interpreted, name: str) -> list[int]:
    return [k for k, state in enumerate(run.ports.state_names) if state.partition("[")[0] == name]


def shapes(body: ModalBody) -> np.ndarray:
    """Displacements and turns of the nodes 2 to 4 by mode."""
    rows = np.array([body.nodes[f"n{n}"].shape for n in (2, 3, 4)])
    return np.concatenate((rows[:, 3:], rows[:, :3]), axis=1).reshape(18, 18)


@pytest.mark.parametrize("child", [False, True])
def test_settled_frames_are_where_the_full_order_model_is(child: bool) -> None:
    lumps = RigidNodes(POINTS, LUMPS, STIFFNESS) if child else FULL
    spun = Joint(to="inertial", kind="revolute", rotations=((0.0, 0.0, 1.0),), motion=("prescribed",))
    body, run = frame(lumps, spun, PAYLOAD if child else None)
    x, u = np.array(run.ports.start), np.array(run.ports.vector("input"))
    x[places_of(run, "b.joint.rate")] = SPUN
    modes, rates = places_of(run, "b.flex.displacement"), places_of(run, "b.flex.rate")

    def missing(eta: np.ndarray) -> np.ndarray:
        x[modes] = eta
        return run.derivatives(x, u)[rates]

    settled = shapes(body) @ root(missing, np.zeros(18), tol=1e-13).x
    full = root(lambda q: FULL.spinning(np.array([0, 0, SPUN]), q), np.zeros(18), tol=1e-13).x
    assert abs(full).max() > 1e-4
    assert settled == pytest.approx(full, abs=1e-6 * abs(full).max())


@pytest.mark.parametrize("child", [False, True])
def test_tumbling_frames_go_where_the_full_order_model_goes(child: bool) -> None:
    lumps = RigidNodes(POINTS, LUMPS, STIFFNESS) if child else FULL
    body, run = frame(lumps, floating(), PAYLOAD if child else None)
    x, u = np.array(run.ports.start), np.array(run.ports.vector("input"))
    omega, span = SPUN / 2 * np.array([1.0, -1.5, 1.2]), (0.0, 2.0)
    x[places_of(run, "b.omega")] = omega
    more: Any = {"method": "DOP853", "rtol": 1e-9, "atol": 1e-10}
    end = solve_ivp(lambda _, x: run.derivatives(x, u), span, x, **more).y[:, -1]
    still = np.tile([0.0, 0.0, 0.0, 1.0], 4)
    start = np.concatenate((POINTS.ravel(), still, np.cross(omega, POINTS).ravel(), np.tile(omega, 4)))
    at, quaternions, _, spins = FULL.parts(solve_ivp(FULL.rates, span, start, **more).y[:, -1])
    turned = Rotation.from_quat(quaternions).as_matrix()
    q = np.hstack(((at - at[0]) @ turned[0] - POINTS, Rotation.from_matrix(turned[0].T @ turned).as_rotvec()))
    assert abs(q).max() > 2e-5
    assert shapes(body) @ end[places_of(run, "b.flex.displacement")] == pytest.approx(q[1:].ravel(), abs=3e-8)
    assert end[places_of(run, "b.position")] == pytest.approx(at[0], abs=3e-8)
    assert end[places_of(run, "b.omega")] == pytest.approx(spins[0] @ turned[0], abs=3e-8)


def test_first_order_inertia_of_lumps_by_hand() -> None:
    """With nodes of any share: m (x + c) (psi + theta x c)' + S theta~', S = tr J / 2 - J."""
    body, _ = frame(FULL, floating(), None)
    expected = np.zeros((18, 3, 3))
    for k, lump in list(enumerate(FULL.lumps))[1:]:
        shape, c = np.array(body.nodes[f"n{k + 1}"].shape), lump.offset
        S = np.trace(lump.inertia) / 2 * np.eye(3) - lump.inertia
        for r, (theta, psi) in enumerate(zip(shape[:3].T, shape[3:].T, strict=True)):
            Q = lump.mass * np.outer(POINTS[k] + c, psi + np.cross(theta, c)) + S @ tilde(theta).T
            expected[r] += 2 * np.trace(Q) * np.eye(3) - Q - Q.T
    assert np.array(body.flex.inertia_first) == pytest.approx(expected, abs=1e-12)


def test_a_lump_that_is_no_rigid_body_is_told() -> None:
    thin = Lump(2.0, np.zeros(3), np.diag([1.0, 0.1, 0.1]))
    with pytest.warns(ModelWarning, match=r"mass: what nodes 4 carry is no rigid part: .* -0.4 kg.m2"):
        frame(RigidNodes(POINTS, (*LUMPS[:3], thin), STIFFNESS), floating(), None)


def boom(n: int, pinned: int = 0, digits: int = 16) -> FiniteElements:
    """A slanting boom of ``n`` beams of 2 m in all, one of them (``pinned``) turning freely about its outer end."""
    along = np.array([1.0, 0.3, 0.2]) / np.linalg.norm([1.0, 0.3, 0.2])
    points = np.linspace(0, 2.0, n + 1)[:, None] * along
    y: Any = np.cross([0.0, 0.0, 1.0], along)
    T = np.kron(np.eye(4), np.array([along, y / np.linalg.norm(y), np.cross(along, y / np.linalg.norm(y))]))
    own = beam_stiffness(2.0 / n, 1e6, 30.0, 11.0, 5.0)
    outer = own[9:, 9:]
    freed = own - own[:, 9:] @ np.linalg.solve(outer, own[9:])
    parts = [T.T @ (freed if e == pinned else own) @ T for e in range(1, n + 1)]
    rows = [range(6 * e, 6 * e + 12) for e in range(n)]
    values = np.array([float(f"{v:.{digits}e}") for part in parts for v in part.ravel()])
    place = [np.concatenate([np.repeat(r, 12) for r in rows]), np.concatenate([np.tile(r, 12) for r in rows])]
    K = sparse.csr_array((values, place), shape=(6 * n + 6, 6 * n + 6))
    M = sparse.diags_array(np.tile([0.01, 0.01, 0.01, 1e-5, 1e-5, 1e-5], n + 1))
    places = dict(enumerate(points, start=1))
    return FiniteElements(M, K, places, [(node, d) for node in places for d in range(1, 7)])


def mast(bays: int, cut: int = -1, noise: float = 0.0) -> FiniteElements:
    """A lattice mast of nodes that only move, four to a bay of 1 m, without the rods of one bay (``cut``)."""
    points = np.array([[bay, y, z] for bay in range(bays + 1) for y in (-0.3, 0.3) for z in (-0.3, 0.3)])
    blocks, ends = [], []
    for i in range(len(points)):
        for j in range(max(0, i // 4 * 4 - 4), i):
            if not j // 4 == cut < i // 4:
                rod = points[i] - points[j]
                blocks.append(2e4 * np.outer(rod, rod) / np.linalg.norm(rod) ** 3)
                ends.append([*range(3 * i, 3 * i + 3), *range(3 * j, 3 * j + 3)])
    values: Any = np.array([np.kron([[1, -1], [-1, 1]], block).ravel() for block in blocks]).ravel()
    index = (np.repeat(ends, 6, axis=1).ravel(), np.tile(ends, 6).ravel())
    K: Any = sparse.csr_array((values, index), shape=(3 * len(points), 3 * len(points)))
    places = dict(enumerate(points + noise * np.random.default_rng(1).normal(size=points.shape), start=1))
    return FiniteElements(0.05 * sparse.eye_array(K.shape[0]), K, places, [(n, d) for n in places for d in (1, 2, 3)])


HELD: list[tuple[FiniteElements, dict[str, Any]]] = [
    (mast(3), {"interface": [1, 2, 3]}),
    (mast(3, cut=1), {"interface": [1, 2, 3, 13, 14, 15]}),
    (boom(8), {"boundary": [9]}),
    (boom(300), {"boundary": [301]}),
    (boom(20, digits=8), {"boundary": [21]}),
]
LOOSE: list[tuple[FiniteElements, dict[str, Any]]] = [
    (mast(3), {"interface": 1}),
    (mast(3), {"interface": [1, 2]}),
    (mast(3), {"interface": [1, 4], "modes": 30}),
    (mast(3), {"interface": [1, 5, 9]}),
    (mast(3, noise=1e-7), {"interface": [1, 5, 9, 13]}),
    (mast(3), {"interface": [1, 2], "modes": 0, "boundary": [8]}),
    (mast(3), {"interface": [3, 4], "modes": 0, "attachment": [8]}),
    (mast(3), {"interface": [1, 4], "boundary": [8, 16]}),
    (mast(3), {"interface": []}),
    (mast(3, cut=1), {"interface": [1, 2, 3, 4]}),
    (mast(3, cut=1), {"interface": [1, 2, 3, 4], "modes": 0, "boundary": [13, 14, 15]}),
    (mast(3, cut=2), {"interface": [13, 14, 15, 16]}),
    (boom(8, pinned=4), {}),
    (boom(8, pinned=4), {"modes": 0, "boundary": [9]}),
    (boom(8, pinned=4), {"modes": 0, "attachment": [9]}),
    (boom(8, pinned=7), {"boundary": [8]}),
    (boom(8, pinned=4), {"boundary": [9], "orthonormal": False}),
    (boom(300, pinned=150), {}),
    (boom(300, pinned=150), {"modes": 0, "boundary": [301]}),
    (mast(130, cut=60), {"interface": [1, 2, 3, 4]}),
    (mast(130), {"interface": [1, 2]}),
]


@pytest.mark.parametrize("case", range(len(LOOSE)))
def test_interfaces_that_do_not_hold_are_refused(case: int) -> None:
    model, options = LOOSE[case]
    with pytest.raises(ValueError, match=r"interface: (does not hold the model|a node or more are needed)"):
        reduce(model, **{"interface": 1, "modes": 3, **options})


def test_interfaces_that_hold_are_taken() -> None:
    assert sum(model.size > 1500 for model, _ in LOOSE) >= 3
    for model, options in HELD:
        reduce(model, **{"interface": 1, "modes": 3, **options})


def test_what_no_stiffness_holds_is_named() -> None:
    model = boom(8)
    K: Any = model.stiffness.toarray()
    K[-1] = K[:, -1] = 0.0
    with pytest.raises(ValueError, match=r"strains the model|stiffness: nothing holds node 9, 6"):
        reduce(FiniteElements(model.mass, K, {n: tuple(model.place(n)) for n in range(1, 10)}, model.order),
               interface=1, modes=3, boundary=[9])  # fmt: skip


@pytest.mark.parametrize("modes", [0, 1, 12, 30, 48])
@pytest.mark.parametrize("attachment", [[9], [8, 9], [3, 6, 9]])
def test_attachment_modes_beside_any_number_of_normal_ones(modes: int, attachment: list[int]) -> None:
    """Loads at the nodes deflect them as much as without a reduction."""
    model = boom(8)
    body = reduce(model, interface=1, modes=modes, attachment=attachment)
    rows = model.rows(attachment)
    exact = np.linalg.inv(model.stiffness.toarray()[6:, 6:])[np.ix_(np.array(rows) - 6, np.array(rows) - 6)]
    shape = np.concatenate([np.roll(body.nodes[f"node_{n}"].shape, 3, axis=0) for n in attachment])
    found = shape @ np.linalg.solve(np.array(body.flex.stiffness), shape.T)
    assert found == pytest.approx(exact, abs=1e-7 * abs(exact).max())


@pytest.mark.parametrize("modes", [0, 3, 24])
def test_attachment_modes_that_move_no_mass_are_told(modes: int) -> None:
    """Without rotary inertia the twist of a straight boom moves nothing."""
    model = boom(8)
    M = np.diag([0.01 if freedom < 4 else 0.0 for _, freedom in model.order])
    bare = FiniteElements(M, model.stiffness, {n: tuple(model.place(n)) for n in range(1, 10)}, model.order)
    with pytest.warns(ModelWarning, match=r"attachment: \d of the deflections under loads on nodes 9 move no mass"):
        body = reduce(bare, interface=1, modes=modes, attachment=[9])
    exact = np.linalg.inv(model.stiffness.toarray()[6:, 6:])[-6:-3, -6:-3]
    shape = np.array(body.nodes["node_9"].shape)[3:]
    assert shape @ np.linalg.solve(np.array(body.flex.stiffness), shape.T) == pytest.approx(exact, rel=1e-6, abs=1e-9)


def model_file(folder: Path, *lines: str, order: list[int] | None = None) -> Path:
    """A mast whose node 17 lies on node 13, in files, and a model file with a node there."""
    model = mast(3)
    K: Any = model.stiffness.toarray()
    row = model.freedoms(13)[1]
    own = np.kron([[1.0, -1.0], [-1.0, 1.0]], 5e3 * np.eye(3))
    pair = [row, row + 1, row + 2, len(K), len(K) + 1, len(K) + 2]
    K = np.pad(K, (0, 3))
    K[np.ix_(pair, pair)] += own
    places = [*(model.place(n) for n in range(1, 17)), model.place(13)]
    order = list(range(1, 18)) if order is None else order
    rows = [3 * (n - 1) + d for n in order for d in range(3)]
    np.save(folder / "k.npy", K[np.ix_(rows, rows)])
    np.save(folder / "m.npy", 0.05 * np.eye(len(rows)))
    table = [f"{n},{','.join(map(repr, map(float, places[n - 1])))},123" for n in order]
    (folder / "nodes.csv").write_text("\n".join(["node,x,y,z,freedoms", *table]))
    text = ["mbdy = 1", "[body.mast]", 'joint = { to = "inertial", kind = "fixed" }', "[body.mast.flex.reduce]",
            'mass = "m.npy"', 'stiffness = "k.npy"', 'table = "nodes.csv"', "interface = [1, 2, 3, 4]", "modes = 3",
            "node_numbers", "[body.mast.node.end]", "at = [3, -0.3, -0.3]"]  # fmt: skip
    numbers = next((line for line in lines if line.startswith("numbers")), "")
    text = [numbers if line == "node_numbers" else line for line in text]
    path = folder / "mast.toml"
    path.write_text("\n".join([*text, *(line for line in lines if line != numbers)]))
    return path


FORCES = ("[ports]", 'inputs = ["*.force"]')


def test_coincident_nodes_are_chosen_by_number(tmp_path: Path) -> None:
    shapes_of = []
    for order in (None, [17, *range(16, 0, -1)]):
        with pytest.warns(ModelWarning, match=r"body.mast.node.end: 13, 17 lie there, and the first is taken; choose"):
            shapes_of.append(load(model_file(tmp_path, *FORCES, order=order)).body("mast").nodes["end"].shape)
    first, other = (abs(np.array(shape)) for shape in shapes_of)
    assert first == pytest.approx(other, abs=1e-9)
    chosen = [
        abs(np.array(load(model_file(tmp_path, f"numbers = {{ end = {n} }}", *FORCES)).body("mast").nodes["end"].shape))
        for n in (13, 17)
    ]
    assert chosen[0] == pytest.approx(first, abs=1e-9)
    assert abs(chosen[1] - first).max() > 1e-6 * first.max()
    with pytest.raises(ModelError, match=r"flex.reduce.numbers: there is no node 99 for 'end'; there are 1, 2, 3"):
        load(model_file(tmp_path, "numbers = { end = 99 }", *FORCES))
    with pytest.warns(ModelWarning, match=r"node.end: 16 lies at \[3, 0.3, 0.3\] m, not at \[3, -0.3, -0.3\] m"):
        load(model_file(tmp_path, "numbers = { end = 16 }", *FORCES))


DISH = ("[body.dish]", "mass = 1", "inertia = [0.1, 0.1, 0.1]")


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ((*FORCES, *DISH, 'joint = { to = "mast.end", kind = "revolute", axis = [0, 0, 1] }'), "'dish' there does not"),
        ((*FORCES, *DISH, 'joint = { to = "mast.end", kind = "fixed" }', "[body.dish.wheel.w]", "axis = [0, 0, 1]",
          "inertia = 0.05"), "'dish' there does not turn"),
        ((*FORCES, *DISH, 'joint = { to = "inertial", kind = "free" }', "[loop.l]", 'kind = "weld"', 'a = "mast.end"',
          'b = "dish"'), "'l' there does not turn"),
        (("[ports]", 'inputs = ["mast.end.torque"]'), "the input mast.end.torque bends nothing"),
        ((), "the input mast.end.torque bends nothing"),
    ],
)  # fmt: skip
def test_nodes_without_rotations_that_something_turns_with_are_told(
    tmp_path: Path, lines: tuple[str, ...], words: str
) -> None:
    with pytest.warns(
        ModelWarning, match=rf"node.end: has no rotational freedoms about x, y, z in its source: .*{words}"
    ):
        load(model_file(tmp_path, "numbers = { end = 13 }", *lines))


def test_nodes_without_rotations_that_nothing_turns_with_are_fine(tmp_path: Path) -> None:
    ball = 'joint = { to = "mast.end", kind = "spherical" }'
    load(model_file(tmp_path, "numbers = { end = 13 }", *FORCES, *DISH, ball))
