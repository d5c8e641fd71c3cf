"""Modal data from files and matrices: round trips, other programs' layouts, reductions of a known beam."""

from __future__ import annotations

import builtins
import csv
import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.io import mmwrite
from scipy.linalg import eigh

from flexible_samples import file_of_42, frame, nastran_files
from mbdy.engine import ModelError, ModelWarning, loads
from mbdy.engine.flexible import finite_elements
from mbdy.engine.flexible.beam import beam
from mbdy.engine.flexible.finite_elements import FiniteElements, read_finite_elements
from mbdy.engine.flexible.flex42 import read_42
from mbdy.engine.flexible.matrices import read_matrix
from mbdy.engine.flexible.modal import check_body
from mbdy.engine.flexible.modal_body import ModalBody
from mbdy.engine.flexible.model_files import modal_file, reduced
from mbdy.engine.flexible.nastran import read_nastran
from mbdy.engine.flexible.reduction import reduce
from mbdy.engine.flexible.sid import read_sid, write_sid
from mbdy.engine.flexible.sid_text import parse_sid
from mbdy.engine.model.contents import recorded, source_files
from mbdy.engine.model.system import ZERO3

BOOM: dict[str, Any] = {"length": 2.3, "mass_per_length": 0.7, "bending_stiffness": (11.0, 5.0)}
TWIST: dict[str, Any] = {"torsional_stiffness": 3.0, "polar_inertia": 0.02}
TIP: dict[str, Any] = {"tip_mass": 0.9, "tip_inertia": (0.05, 0.03, 0.04)}
NOTHING = (ZERO3, ZERO3, ZERO3)
DATA = ("mass", "stiffness", "damping", "coupling", "inertia_first", "inertia_second", "gyroscopic", "moment_second")


def same(one: ModalBody, other: ModalBody, tolerance: float = 1e-14) -> None:
    for name in DATA:
        a, b = np.array(getattr(one.flex, name)), np.array(getattr(other.flex, name))
        assert a.shape == b.shape, name
        assert a == pytest.approx(b, abs=tolerance * (abs(a).max(initial=0.0) + 1e-300)), name
    assert one.mass == pytest.approx(other.mass, rel=1e-14)
    assert one.com == pytest.approx(other.com, abs=1e-14)
    assert np.array(one.inertia) == pytest.approx(np.array(other.inertia), abs=1e-13)


def test_a_boom_through_a_sid_file(tmp_path: Path) -> None:
    body = beam(**BOOM, **TWIST, **TIP, modes=(3, 2, 2), nodes={"off": (1.0, 0.1, 0.2)})
    write_sid(tmp_path / "boom.SID_FEM", body)
    back = read_sid(tmp_path / "boom.SID_FEM", {"tip": "tip", "side": "off"})
    same(body, back)
    for one, other in (("tip", "tip"), ("off", "side")):
        a, b = body.nodes[one], back.nodes[other]
        assert a.at == pytest.approx(b.at, abs=1e-14)
        assert np.array(a.shape) == pytest.approx(np.array(b.shape), abs=1e-14)
        assert np.array(a.bend) == pytest.approx(np.array(b.bend), abs=1e-13)
    assert set(read_sid(tmp_path / "boom.SID_FEM").nodes) == {"node_tip", "node_off"}
    placed = modal_file(tmp_path / "boom.SID_FEM", nodes={"end": (2.3, 0, 0)})
    assert placed.nodes["end"] == back.nodes["tip"]
    with pytest.raises(ValueError, match=r"node end: no node lies there; the nearest is node_tip at \[2.3, 0, 0\]"):
        modal_file(tmp_path / "boom.SID_FEM", nodes={"end": (2.2, 0, 0)})


def point_mass_file(layout: str = "row, q, column", j: str = "column", change: str = "") -> str:
    """One particle of 2 kg at (3, 1, 0) that two modes move by (0.1, 0.2, 0) and (0, 0, 0.3), as others write it."""
    r, shapes, m = np.array([3.0, 1.0, 0.0]), np.array([[0.1, 0.2, 0.0], [0.0, 0.0, 0.3]]), 2.0
    inertia = m * (r @ r * np.eye(3) - np.outer(r, r))
    firsts = [m * (2 * (r @ p) * np.eye(3) - np.outer(r, p) - np.outer(p, r)) for p in shapes]
    seconds = [[m * (2 * (p @ q) * np.eye(3) - np.outer(p, q) - np.outer(q, p)) for q in shapes] for p in shapes]
    pairs = [(0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0)]
    column = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]
    oe0 = [[-f[a, b] * (0.5 if a == b else 1) for a, b in pairs] for f in firsts]
    oe1 = [[[-seconds[i][k][a, b] * (0.5 if a == b else 1) for a, b in pairs] for k in range(2)] for i in range(2)]
    structure = {"upper": 2, "lower": 2}.get(j, 3)
    if j == "column":
        j0, j1 = [[inertia[a, b]] for a, b in column], [[[f[a, b]] for f in firsts] for a, b in column]
    else:
        kept = {"upper": np.triu(np.ones((3, 3))), "lower": np.tril(np.ones((3, 3)))}.get(j, np.ones((3, 3)))
        j0, j1 = inertia * kept, [[[f[a, b] * kept[a, b] for b in range(3)] for f in firsts] for a in range(3)]
    ct = m * shapes
    blocks = {
        "mdCM": (m * r[:, None], ct.T[:, :, None]),
        "J": (j0, j1),
        "Ct": (ct, None),
        "Cr": (m * np.cross(r, shapes), m * np.array([[np.cross(q, p) for q in shapes] for p in shapes])),
        "Me": (m * shapes @ shapes.T, None),
        "Oe": (oe0, oe1),
        "ksigma": (np.zeros((2, 1)), None),
        "Ke": (np.diag([5.0, 7.0]), None),
        "De": (np.zeros((2, 2)), None),
    }
    node = {"origin": (r[:, None], shapes.T[:, :, None]), "phi": (shapes.T, None), "psi": (np.zeros((3, 2)), None)}

    def written(value: float) -> str:
        return f"{value:.11E}".replace("E", "D")

    def lines(name: str, m0: Any, m1: Any) -> list[str]:
        m0 = np.array(m0)
        out = [name, f" order = {int(m1 is not None)}", f" nrow = {m0.shape[0]}", f" ncol = {m0.shape[1]}"]
        out += [" nq = 2", " nqn = 0"]
        out += [f" structure = {(structure if name == 'J' else 3) if np.any(m0) or m1 is not None else 0}"]
        out += [f" m0( {i + 1}, {k + 1}) ={written(v)}" for (i, k), v in np.ndenumerate(m0) if v]
        for (i, q, k), v in np.ndenumerate(np.array(m1)) if m1 is not None else []:
            index = (i, q, k) if layout == "row, q, column" else (i, k, q)
            out += [f" m1({','.join(f'{n + 1:2d}' for n in index)})  = {written(v)}"] if v else []
        return [*out, f"end {name}"]

    text = ["  1   2    :No. nodes, No. modes:S", " part ", "   new modal     =   ", "  refmod", "  mass  = 2.0D+00"]
    text += [" nelastq = 2", " ielastq (   1) = Eigen Mode 1 : 1.0 Hz", " ielastq (   2) = Eigen Mode 2 : 2.0 Hz"]
    text += [" end refmod", " frame", " new node  =   12", "  rframe  = body ref"]
    for name, (m0, m1) in node.items():
        text += lines(name, m0, m1)
    text += ["AP", " order = 0", " nrow = 3", " ncol = 3", " nq = 2", " nqn = 0", " structure = 4", "end AP"]
    text += [" end node", " end frame"]
    for name, (m0, m1) in blocks.items():
        text += lines(name, m0, m1)
    return "\n".join([*text, " end modal", " end part"])


@pytest.mark.parametrize("layout", ["row, q, column", "row, column, q"])
@pytest.mark.parametrize("j", ["column", "matrix", "upper", "lower"])
def test_sid_files_of_other_programs(tmp_path: Path, layout: str, j: str) -> None:
    """A particle that modes move: momentum, energy and inertia by hand."""
    (tmp_path / "a.SID_FEM").write_text(point_mass_file(layout, j))
    body = read_sid(tmp_path / "a.SID_FEM")
    flex, r = body.flex, np.array([3.0, 1.0, 0.0])
    shapes = np.array([[0.1, 0.2, 0.0], [0.0, 0.0, 0.3]])
    assert body.com == pytest.approx(tuple(r))
    assert np.array(body.inertia) == pytest.approx(np.zeros((3, 3)), abs=1e-10)
    assert np.array(body.nodes["node_12"].shape) == pytest.approx(np.vstack((np.zeros((3, 2)), shapes.T)))
    assert body.nodes["node_12"].bend == ()
    eta, rate, omega, v = np.array([0.3, -0.7]), np.array([0.2, 0.4]), np.array([0.5, -0.2, 0.9]), np.array([1.0, 2, 3])
    position, velocity = r + shapes.T @ eta, v + np.cross(omega, r + shapes.T @ eta) + shapes.T @ rate
    energy = velocity @ velocity
    moment = 2.0 * r + np.array(flex.coupling)[3:] @ eta
    turning = np.array(flex.coupling)[:3] + np.einsum("i,ija->aj", eta, np.array(flex.gyroscopic))
    about = 2.0 * (r @ r * np.eye(3) - np.outer(r, r)) + np.einsum("i,iab->ab", eta, np.array(flex.inertia_first))
    about = about + np.einsum("i,j,ijab->ab", eta, eta, np.array(flex.inertia_second)) / 2
    total = omega @ about @ omega / 2 + v @ v + v @ np.cross(omega, moment)
    total += rate @ (turning.T @ omega + np.array(flex.coupling)[3:].T @ v) + rate @ np.array(flex.mass) @ rate / 2
    assert moment == pytest.approx(2.0 * position)
    assert total == pytest.approx(energy, rel=1e-10)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("end modal", "  junk\n order = 0", "junk: ends with 'end part'"),
        ("nqn = 0", "nqn = 1", "line 18: origin: nqn = 1, terms of higher order"),
        (" m0( 1, 1) =6.0", " m0( 9, 1) =6.0", "mdCM: m0.9, 1. is out of range"),
        ("mdCM\n", "mdCM\n what\n", "mdCM: not understood: 'what'"),
        ("Ct\n order = 0\n nrow = 2", "Ct\n order = 0\n nrow = 3", "Ct: must be 2 x 3, got 3 x 3"),
        ("new node", "old node", "needs refmod|block|node"),
        (" mass  = 2.0D+00", "", "needs refmod with mass"),
    ],
)
def test_sid_files_that_cannot_be(tmp_path: Path, old: str, new: str, words: str) -> None:
    text = point_mass_file()
    assert old in text
    (tmp_path / "a.sid").write_text(text.replace(old, new, 1))
    if old == "new node":
        with pytest.raises(ValueError, match="has no node 12"):
            read_sid(tmp_path / "a.sid", {"a": "12"})
        return
    with pytest.raises(ValueError, match=words):
        read_sid(tmp_path / "a.sid")


@pytest.mark.parametrize(("structure", "entries", "expected"), [
    (0, "", np.zeros(3)),
    (1, " m0(1,1) = 5.0\n m0(2,2) = 6.0\n m0(3,3) = 7.0\n", np.array([5.0, 6.0, 7.0])),
    (4, "", np.ones(3)),
])  # fmt: skip
def test_structures_of_the_inertia_in_a_sid_file(structure: int, entries: str, expected: np.ndarray) -> None:
    text = point_mass_file(j="matrix")
    start, end = text.index("\nJ\n") + 3, text.index("end J")
    head = f" order = 0\n nrow = 3\n ncol = 3\n nq = 2\n nqn = 0\n structure = {structure}\n"
    block = parse_sid(text[:start] + head + entries + text[end:]).blocks["J"]
    assert block.m0 == pytest.approx(np.diag(expected))


def test_an_inertia_in_a_sid_file_that_is_not_symmetric(tmp_path: Path) -> None:
    (tmp_path / "a.sid").write_text(point_mass_file(j="upper").replace("structure = 2", "structure = 3"))
    with pytest.raises(ValueError, match="J must be symmetric; one triangle alone needs structure = 2"):
        read_sid(tmp_path / "a.sid")
    text = point_mass_file(j="upper")
    start = text.index("end J")
    (tmp_path / "a.sid").write_text(f"{text[:start]} m0(2,1) = 9.0\n{text[start:]}")
    with pytest.raises(ValueError, match=r"J: is symmetric, but m0\(2, 1\) is 9 and -6 across"):
        read_sid(tmp_path / "a.sid")


def test_sid_blocks_that_contradict_each_other(tmp_path: Path) -> None:
    text = point_mass_file()
    start = text.index("\nCt\n")
    (tmp_path / "a.sid").write_text(text[:start] + text[start:].replace("=2.0", "=2.1", 1))
    with pytest.raises(ValueError, match=r"Ct .M0. and mdCM .M1. both are"):
        read_sid(tmp_path / "a.sid")
    start = text.index("\nOe\n")
    (tmp_path / "a.sid").write_text(text[:start] + text[start:].replace("D-01", "D+01", 1))
    with pytest.raises(ValueError, match=r"Oe .M0. and J .M1. both are"):
        read_sid(tmp_path / "a.sid")
    start = text.index("\nksigma\n")
    stressed = text[:start] + text[start:].replace("structure = 0", "structure = 3\n m0(1,1) = 1.0", 1)
    (tmp_path / "a.sid").write_text(stressed)
    with pytest.raises(ValueError, match="ksigma has initial stresses"):
        read_sid(tmp_path / "a.sid")


def test_a_node_that_a_sid_file_lacks(tmp_path: Path) -> None:
    (tmp_path / "a.sid").write_text(point_mass_file())
    with pytest.raises(ValueError, match="has no node 13; its nodes are 12"):
        read_sid(tmp_path / "a.sid", {"a": "13"})


def sums(shapes: np.ndarray, r: np.ndarray) -> tuple[str, str]:
    """L and N of a particle of 2 kg as sections of a file."""
    linear = [f"{i} {j} {k} {2 * r[i] * shapes[k, j]}" for i in range(3) for j in range(3) for k in range(2)]
    angular = [
        f"{i} {j} {k} {n} {2 * shapes[k, i] * shapes[n, j]}"
        for i in range(3) for j in range(3) for k in range(2) for n in range(2)
    ]  # fmt: skip
    return "\n".join([str(len(linear)), *linear]), "\n".join([str(len(angular)), *angular])


def test_files_of_42(tmp_path: Path) -> None:
    r, shapes = np.array([3.0, 1.0, 0.0]), np.array([[0.1, 0.2, 0.0], [0.0, 0.0, 0.3]])
    (tmp_path / "flex.txt").write_text(file_of_42(*sums(shapes, r)))
    (tmp_path / "a.sid").write_text(point_mass_file())
    rigid: dict[str, Any] = {"mass": 2.0, "com": (3.0, 1.0, 0.0), "inertia": NOTHING}
    body = read_42(
        tmp_path / "flex.txt", **rigid, nodes={"p": (0, (3, 1, 0)), "q": (1, (3, 1, 0))}, joints={"j": (3, (0, 0, 0))}
    )
    twin = read_sid(tmp_path / "a.sid")
    for name in ("mass", "coupling", "inertia_first", "inertia_second", "gyroscopic"):
        assert np.array(getattr(body.flex, name)) == pytest.approx(np.array(getattr(twin.flex, name)), abs=1e-10), name
    assert np.array(body.nodes["p"].shape) == pytest.approx(np.array(twin.nodes["node_12"].shape))
    assert body.nodes["q"].shape[2] == (0.0, 0.7)
    assert body.nodes["j"].shape[3] == (0.5, 0.0)
    assert body.flex.stiffness[1][1] == 3947.8
    same(body, modal_file(tmp_path / "flex.txt", **rigid, numbers={"p": 0}, nodes={"p": (3, 1, 0)}))
    with pytest.raises(ValueError, match="node p: is not in numbers"):
        modal_file(tmp_path / "flex.txt", **rigid, nodes={"p": (3, 1, 0)})
    with pytest.raises(ValueError, match="no mass, com and inertia"):
        modal_file(tmp_path / "flex.txt")


def test_files_of_42_with_node_locations(tmp_path: Path) -> None:
    where = "****************** Analysis Node Locations *********************\n1\n500001  3.0 1.0 0.0 ! Node ID\n"
    (tmp_path / "flex.txt").write_text(file_of_42(locations=where))
    body = read_42(tmp_path / "flex.txt", mass=2.0, com=(3.0, 1.0, 0.0), inertia=NOTHING)
    assert body.nodes["node_0"].at == (3.0, 1.0, 0.0)
    assert body.flex.gyroscopic == ()
    named = modal_file(tmp_path / "flex.txt", mass=2.0, com=(3.0, 1.0, 0.0), inertia=NOTHING, nodes={"p": (3, 1, 0)})
    assert named.nodes["p"] == body.nodes["node_0"]


LOCATED = (
    "****************** Analysis Node Locations *********************\n2\n500001  3.0 1.0 0.0 ! Node ID\n"
    "500007  3.0 2.0 0.0 ! Node ID\n"
)


@pytest.mark.parametrize(
    ("table", "locations", "words"),
    [
        ("numbers = { p = 99 }", "", "numbers: there is no analysis node 99 for 'p' .*; analysis nodes are 0, 1, jo"),
        ("numbers = { p = 99 }", LOCATED, r"analysis nodes are 0 \(ID 500001\), 1 \(ID 500007\), joint nodes 3"),
        ("joints = { p = 0 }", "", "joints: there is no joint node 0 for 'p' in .*; analysis .*, joint nodes 3"),
        ("numbers = { q = 0 }", "", "numbers: 'q' is no node of the body; its nodes are p"),
        ("numbers = { p = 0 }, joints = { p = 3 }", "", "joints: 'p' is in numbers too"),
        ("numbers = { p = 0 }", "", ""),
        ("numbers = { p = 500001 }", LOCATED, ""),
        ("joints = { p = 3 }", "", ""),
        ("numbers = { p = 1 }", LOCATED, "told: node.p: 1 lies at .3, 2, 0. m, not at .3, 1, 0. m"),
    ],
)  # fmt: skip
def test_nodes_of_files_of_42_in_model_files(tmp_path: Path, table: str, locations: str, words: str) -> None:
    (tmp_path / "flex.txt").write_text(file_of_42(locations=locations))
    text = f"""
        mbdy = 1
        [body.a]
        mass = 2
        com = [3, 1, 0]
        inertia = [0.1, 0.1, 0.1]
        joint = {{ to = "inertial", kind = "fixed" }}
        flex = {{ file = {{ path = "flex.txt", {table} }} }}
        node.p = {{ at = [3, 1, 0] }}
        [body.child]
        mass = 0.1
        inertia = [0.1, 0.1, 0.1]
        joint = {{ to = "a.p", kind = "spherical" }}
        [ports]
        inputs = ["*.force"]
        """
    if words.startswith("told: "):
        with pytest.warns(ModelWarning, match=words.removeprefix("told: ")):
            loads(text, source=str(tmp_path / "a.toml"))
    elif words:
        with pytest.raises(ModelError, match=words):
            loads(text, source=str(tmp_path / "a.toml"))
    else:
        shape = loads(text, source=str(tmp_path / "a.toml")).body("a").nodes["p"].shape
        assert shape[3] == ((0.5, 0.0) if "joints" in table else (0.1, 0.0))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("one\ntwo\nthree\n", "third line must give the number of modes"),
        (file_of_42(linear="1\n0 0 2 1.0"), r"section linear: index \[0, 0, 2\] is out of range"),
        (file_of_42(linear="2\n0 0 1 1.0"), "section linear says 2.0 entries and has 1"),
        (file_of_42(angular="1\n0 1 0 1 1.0"), "must be equal"),
        (file_of_42().replace("Mass Matrix", "Weight"), "unknown section"),
        (file_of_42().replace("0.2 0.4 0.0", "0.2 x 0.0"), "must be numbers"),
    ],
)
def test_files_of_42_that_cannot_be(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "flex.txt").write_text(text)
    with pytest.raises(ValueError, match=words):
        read_42(tmp_path / "flex.txt", mass=1.0, com=(0, 0, 0), inertia=NOTHING)


def flexibility(body: ModalBody, node: str) -> np.ndarray:
    """Static motion of a node under unit loads there, moments first."""
    shape = np.array(body.nodes[node].shape)
    return shape @ np.linalg.solve(np.array(body.flex.stiffness), shape.T)


EXACT = np.diag([2.3 / 3.0, 2.3 / 5.0, 2.3 / 11.0, 2.3 / 1e6, 2.3**3 / 33.0, 2.3**3 / 15.0])
EXACT[2, 4] = EXACT[4, 2] = 2.3**2 / 22.0
EXACT[1, 5] = EXACT[5, 1] = -(2.3**2) / 10.0


@pytest.mark.parametrize("dense", [True, False])
def test_plain_modes_are_those_of_the_boom(dense: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    M, K, places, freedoms = frame()
    if not dense:
        monkeypatch.setattr(finite_elements, "DENSE", 10)
    model = FiniteElements(M, K, places, freedoms) if dense else FiniteElements(
        sparse.coo_matrix(M), sparse.csr_array(K), places, freedoms)  # fmt: skip
    body = reduce(model, interface=100, modes=4, nodes={"tip": 130})
    exact = beam(**BOOM, modes=(2, 2), **TWIST, stiffening=())
    torsion = np.sqrt(3.0 / 0.02) * np.pi / 2 / 2.3
    found = np.sqrt(np.diag(body.flex.stiffness))
    assert found[2] == pytest.approx(torsion, rel=2e-4)
    keep, order = [0, 1, 3], [2, 0, 3]
    assert found[keep] == pytest.approx(np.sqrt(np.diag(exact.flex.stiffness))[order], rel=1e-6)
    tip = np.array(exact.nodes["tip"].shape)[:, order]
    mine = np.array(body.nodes["tip"].shape)[:, keep]
    sign = np.sign((tip * mine).sum(axis=0))
    assert mine * sign == pytest.approx(tip, abs=1e-4)
    coupling = np.array(body.flex.coupling)[:, keep] * sign
    assert coupling == pytest.approx(np.array(exact.flex.coupling)[:, order], abs=1e-7)
    first = np.array(body.flex.inertia_first)[keep] * sign[:, None, None]
    assert first == pytest.approx(np.array(exact.flex.inertia_first)[order], abs=2e-4)
    pairs = np.ix_(keep, keep)
    gyroscopic = np.array(body.flex.gyroscopic)[pairs] * np.outer(sign, sign)[:, :, None]
    assert gyroscopic == pytest.approx(np.array(exact.flex.gyroscopic)[np.ix_(order, order)], abs=5e-3)
    second = np.array(body.flex.inertia_second)[pairs] * np.outer(sign, sign)[:, :, None, None]
    assert second == pytest.approx(np.array(exact.flex.inertia_second)[np.ix_(order, order)], abs=2e-2)
    assert body.mass == pytest.approx(1.61)
    assert body.com == pytest.approx((1.15, 0, 0), abs=1e-12)
    check_body(body.mass, body.com, body.inertia, body.flex)


@pytest.mark.parametrize(
    "options", [{"boundary": [130]}, {"attachment": [130]}, {"boundary": [130], "orthonormal": False}]
)
def test_static_deflection_is_kept(options: dict[str, Any]) -> None:
    body = reduce(FiniteElements(*frame()), interface=100, modes=3, **options)
    assert flexibility(body, "node_130") == pytest.approx(EXACT, rel=1e-7, abs=1e-10)
    check_body(body.mass, body.com, body.inertia, body.flex)
    found = np.sqrt(eigh(np.array(body.flex.stiffness), np.array(body.flex.mass), eigvals_only=True))
    exact = np.sqrt(np.diag(beam(**BOOM, modes=(1, 1)).flex.stiffness))
    assert found[:2] == pytest.approx(np.sort(exact), rel=1e-3)
    plain = reduce(FiniteElements(*frame()), interface=100, modes=3, nodes={"tip": 130})
    assert flexibility(plain, "tip")[4, 4] < 0.999 * EXACT[4, 4]


def test_damping_of_modes_that_are_not_orthonormal() -> None:
    body = reduce(
        FiniteElements(*frame(10)), interface=100, modes=2, boundary=[110], orthonormal=False, damping_ratio=0.01
    )
    values, vectors = eigh(np.array(body.flex.stiffness), np.array(body.flex.mass))
    assert vectors.T @ np.array(body.flex.damping) @ vectors == pytest.approx(np.diag(0.02 * np.sqrt(values)), abs=1e-9)


def test_a_solid_held_at_several_nodes() -> None:
    """Nodes of three freedoms each; the inertia is that of its particles and the frame sits at the held nodes' mean."""
    rng = np.random.default_rng(1)
    at = rng.normal(size=(7, 3))
    K = np.zeros((21, 21))
    for i in range(7):
        for j in range(i):
            line = (at[i] - at[j]) / np.linalg.norm(at[i] - at[j])
            row = np.zeros(21)
            row[3 * i : 3 * i + 3], row[3 * j : 3 * j + 3] = line, -line
            K += 100 * np.outer(row, row)
    masses = rng.uniform(1, 2, 7)
    freedoms = [(i, d) for i in range(7) for d in (1, 2, 3)]
    model = FiniteElements(np.diag(np.repeat(masses, 3)), K, dict(enumerate(at)), freedoms)
    body = reduce(model, interface=[0, 1, 2], modes=12, nodes={f"n{i}": i for i in range(7)})
    r = at - at[:3].mean(axis=0)
    com = masses @ r / masses.sum()
    assert body.com == pytest.approx(tuple(com))
    about = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, r - com, strict=True))
    assert np.array(body.inertia) == pytest.approx(about)
    shapes = np.array([np.array(body.nodes[f"n{i}"].shape)[3:] for i in range(7)])
    eta = rng.normal(size=12)
    moved = r + shapes @ eta
    inertia = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, moved, strict=True))
    still = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, r, strict=True))
    change = np.einsum("i,iab->ab", eta, np.array(body.flex.inertia_first))
    change = change + np.einsum("i,j,ijab->ab", eta, eta, np.array(body.flex.inertia_second)) / 2
    assert still + change == pytest.approx(inertia)
    turns = np.einsum("p,pak,pbl->klab", masses, shapes, shapes)
    axial = np.stack([turns[..., i, j] - turns[..., j, i] for i, j in ((1, 2), (2, 0), (0, 1))], axis=-1)
    assert np.array(body.flex.gyroscopic) == pytest.approx(axial, abs=1e-12)
    with pytest.raises(ValueError, match="interface: does not hold the model"):
        reduce(model, interface=0, modes=2)


def test_reductions_that_cannot_be() -> None:
    M, K, places, freedoms = frame(8)
    model = FiniteElements(M, K, places, freedoms)
    held = FiniteElements(M[6:, 6:], K[6:, 6:], places, freedoms[6:])
    heavier, far = M.copy(), {node: (1e3 * x, y, z) for node, (x, y, z) in places.items()}
    heavier[12, 12] += 0.1
    massless = np.diag([0.1 if d < 4 else 0.0 for _, d in freedoms])
    trials: list[tuple[FiniteElements, dict[str, Any], str]] = [
        (model, {"interface": 99}, "no node 99; nodes are 100"),
        (model, {"modes": 49}, "modes: a whole number up to 48"),
        (model, {"boundary": [100]}, "boundary: node 100 is the interface"),
        (model, {"attachment": [100]}, "attachment: node 100 is the interface"),
        (model, {"boundary": [108], "attachment": [108]}, "depends on the others"),
        (model, {"damping_ratio": -0.1}, "damping_ratio: must not be negative"),
        (held, {"interface": 101}, "rigid motion .* strains the model"),
        (FiniteElements(heavier, K, places, freedoms), {}, "mass: is 1.71, 1.61, 1.61 kg"),
        (FiniteElements(M, K, far, freedoms), {}, "strains the model"),
        (FiniteElements(massless, K, places, freedoms), {"modes": 30}, "only 24 normal modes have mass"),
        (
            FiniteElements(massless, K, places, freedoms),
            {"boundary": [108]},
            "constraint mode of node 108, 4: moves no mass",
        ),
    ]
    for trial, options, words in trials:
        with pytest.raises(ValueError, match=words):
            reduce(trial, **{"interface": 100, "modes": 2, **options})


def test_matrices_that_cannot_be() -> None:
    M, K, places, freedoms = frame(2)
    skew, wrong = K.copy(), M.copy()
    skew[0, 3] += 5.0
    wrong[1, 1] = -1.0
    for trial, words in (
        ((M, skew, places, freedoms), "stiffness: must be symmetric"),
        ((wrong, K, places, freedoms), "mass: must not be negative, row 2"),
        ((M[1:, 1:], K, places, freedoms), r"mass: must be 18 x 18, .* got \(17, 17\)"),
        ((M * np.nan, K, places, freedoms), "mass: all entries must be finite"),
        ((M, K, {100: (0, 0, 0)}, freedoms), "row 7 is of node 101, which has no place"),
        ((M, K, places, [(100, 1)] * 18), "node 100, 1 is there twice"),
    ):
        with pytest.raises(ValueError, match=words):
            FiniteElements(*trial)


def test_models_from_files(tmp_path: Path) -> None:
    M, K, places, freedoms = frame(6)
    np.save(tmp_path / "m.npy", M)
    sparse.save_npz(tmp_path / "k.npz", sparse.csr_matrix(K))
    mmwrite(tmp_path / "m.mtx", sparse.coo_matrix(M), symmetry="symmetric")
    np.savez(tmp_path / "one.npz", stiffness=K)
    with (tmp_path / "nodes.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["node", "x", "y", "z"], *([n, *at] for n, at in places.items())])
    direct = reduce(FiniteElements(M, K, places, freedoms), interface=100, modes=3, nodes={"tip": 106})
    for mass, stiffness in (("m.npy", "k.npz"), ("m.mtx", "one.npz")):
        model = read_finite_elements(tmp_path / mass, tmp_path / stiffness, tmp_path / "nodes.csv")
        same(reduce(model, interface=100, modes=3, nodes={"tip": 106}), direct, 1e-9)
    files: dict[str, Any] = {
        "mass": tmp_path / "m.npy",
        "stiffness": tmp_path / "k.npz",
        "table": tmp_path / "nodes.csv",
    }
    placed = reduced(**files, interface=100, modes=3, nodes={"end": (2.3, 0, 0)})
    assert np.array(placed.nodes["end"].shape) == pytest.approx(np.array(direct.nodes["tip"].shape))
    with pytest.raises(ValueError, match="mass: is needed with stiffness and table"):
        reduced(interface=100, modes=3)
    with pytest.raises(ValueError, match=r"must be a .npy, .npz or .mtx file"):
        read_matrix(tmp_path / "nodes.csv")
    (tmp_path / "bad.csv").write_text("node,x,y\n1,2,3\n")
    with pytest.raises(ValueError, match=r"needs the columns node, x, y, z .* has no z"):
        read_finite_elements(tmp_path / "m.npy", tmp_path / "k.npz", tmp_path / "bad.csv")


@pytest.mark.skipif(importlib.util.find_spec("pyNastran") is None, reason="pyNastran is not there")
def test_nastran_files(tmp_path: Path) -> None:
    M, K, _, freedoms = nastran_files(tmp_path)
    model = read_nastran(tmp_path / "boom.bdf", tmp_path / "boom.pch")
    assert model.order == freedoms
    assert model.mass.toarray() == pytest.approx(M, abs=1e-9)
    assert model.stiffness.toarray() == pytest.approx(K, rel=1e-8)
    body = reduced(
        bulk=tmp_path / "boom.bdf", punch=tmp_path / "boom.pch", interface=100, modes=2, nodes={"t": (2.3, 0, 0)}
    )
    assert np.sqrt(np.diag(body.flex.stiffness)) == pytest.approx([1.77636, 2.63477], rel=2e-5)
    with pytest.raises(ValueError, match="has no DMIG MAAX; it has none"):
        read_nastran(tmp_path / "boom.bdf")
    head, grids = (tmp_path / "boom.bdf").read_text().split("BEGIN BULK\n")
    (tmp_path / "grids.inc").write_text(grids.replace("ENDDATA\n", ""))
    (tmp_path / "boom.bdf").write_text(f"{head}BEGIN BULK\nINCLUDE 'grids.inc'\nENDDATA\n")
    with recorded():
        assert read_nastran(tmp_path / "boom.bdf", tmp_path / "boom.pch").order == freedoms
        assert [file.path for file in source_files(tmp_path)] == ["boom.bdf", "grids.inc", "boom.pch"]


def test_nastran_files_need_an_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nastran_files(tmp_path)
    imported = builtins.__import__

    def without(name: str, *rest: Any) -> object:
        if name.startswith("pyNastran"):
            raise ImportError(name)
        return imported(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.setattr("mbdy.engine.flexible.nastran.import_module", without)
    with pytest.raises(ImportError, match=r"--no-deps 'pyNastran>=1\.4'"):
        read_nastran(tmp_path / "boom.bdf", tmp_path / "boom.pch")
