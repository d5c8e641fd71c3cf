"""Modal data from and to Wallrapp's standard input data of flexible bodies (SID)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from mbdy.engine.flexible.modal import check_body
from mbdy.engine.flexible.modal_body import ModalBody, node_of, tuples_of, unturned_of
from mbdy.engine.flexible.sid_text import Sid, Taylor, parse_sid, sid_text, write_text
from mbdy.engine.model.contents import contents, reading, text_of
from mbdy.engine.model.faults import RefusalError
from mbdy.engine.model.rotations import cross_matrix
from mbdy.engine.model.system import Flex, Node

PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0))
"""Components of the spin's products in Oe: squares, then xy, yz, zx."""
SIXTH = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
"""Components of an inertia that is written as a column."""
NEAR = 1e-4
"""How far blocks that say the same may differ, beside their largest entries; files keep six figures or so."""


def read_sid(path: str | Path, nodes: Mapping[str, str] | None = None, *, turning_stiffness: bool = True) -> ModalBody:
    """The body of a SID file (``*.SID_FEM``).

    ``nodes`` maps names here to nodes of the file; without it all are taken, as ``node_`` and their number. Node axes
    are body axes turned by the modes: the file's undeformed node axes (AP) are left out.
    ``turning_stiffness=False`` leaves out the file's stiffening by angular acceleration (the symmetric part of Cr's
    linear term); with True it is kept in ``gyroscopic``, whose matrix then is not antisymmetric.

    Blocks used: mdCM, J, Ct, Cr (M0, M1), Oe (M1), Me, Ke, De and the nodes' origin, phi (M0, M1), psi. Gr, Ge and
    Oe's M0 repeat what the others say. Missing linear terms are zero. Units are the file's and must be SI.

    Raises ValueError naming the file, the line or the block: what is not a SID file, terms of higher order, initial
    stresses (ksigma), blocks that contradict each other (Ct against mdCM, Oe against J), a mode that moves more mass
    than it has.
    Source: O. Wallrapp, Mechanics of Structures and Machines 22 (1994) 283-304; R. Schwertassek, O. Wallrapp, Dynamik
    flexibler Mehrkoerpersysteme (1999), section 6.5, table 6.9.
    """
    text = text_of(contents(path), path, foreign=True)
    with reading(path, "standard input data"):
        return sid_body(parse_sid(text, str(path)), str(path), nodes, turning_stiffness)


@np.errstate(all="ignore")
def sid_body(sid: Sid, source: str, nodes: Mapping[str, str] | None, turning_stiffness: bool) -> ModalBody:
    """The body of parsed SID blocks; see `read_sid`."""
    m = sid.modes
    moment = _block(sid, "mdCM", (3, 1))
    inertia0, inertia1 = _inertia(sid, source)
    com = moment.m0[:, 0] / sid.mass
    arm = cross_matrix(com)
    translation, rotation = _block(sid, "Ct", (m, 3)), _block(sid, "Cr", (m, 3))
    shape = moment.m1[:, :, 0]
    if not _near(translation.m0.T, shape):
        raise RefusalError(f"{source}: Ct (M0) and mdCM (M1) both are the integral of the shapes and differ")
    spin = _block(sid, "Oe", (m, 6))
    said = -np.array([inertia1[:, a, b] * (0.5 if a == b else 1.0) for a, b in PAIRS]).T
    if np.any(spin.m0) and not _near(spin.m0, said):
        raise RefusalError(f"{source}: Oe (M0) and J (M1) both are the change of the inertia with the modes and differ")
    if "ksigma" in sid.blocks and np.any(sid.blocks["ksigma"].m0):
        raise RefusalError(f"{source}: ksigma has initial stresses, of which nothing is known here; leave them out")
    seconds = np.zeros((m, m, 3, 3))
    for column, (a, b) in enumerate(PAIRS):
        values = -spin.m1[:, :, column] * (2.0 if a == b else 1.0)
        seconds[:, :, a, b] = seconds[:, :, b, a] = (values + values.T) / 2
    turns = rotation.m1.transpose(1, 0, 2)
    if not turning_stiffness:
        turns = (turns - turns.transpose(1, 0, 2)) / 2
    moments = translation.m1.transpose(2, 0, 1)
    flex = Flex(
        mass=tuples_of(_symmetric(sid, "Me", m, source)),
        stiffness=tuples_of(_symmetric(sid, "Ke", m, source)),
        damping=tuples_of(_symmetric(sid, "De", m, source)),
        coupling=tuples_of(np.vstack((rotation.m0.T, shape))),
        inertia_first=tuples_of(inertia1),
        inertia_second=tuples_of(seconds),
        gyroscopic=tuples_of(turns),
        moment_second=tuples_of((moments + moments.transpose(0, 2, 1)) / 2),
    )
    named = _nodes(sid, source, nodes)
    body = ModalBody(
        mass=sid.mass, com=tuples_of(com), inertia=tuples_of(inertia0 + sid.mass * arm @ arm), flex=flex,
        nodes=named, unturned=unturned_of(named),
    )  # fmt: skip
    try:
        check_body(body.mass, body.com, body.inertia, flex, slack=NEAR)
    except ValueError as error:
        raise RefusalError(f"{source}: {error}") from None
    return body


def write_sid(path: str | Path, body: ModalBody, title: str = "modal body") -> None:
    """Write ``body`` as a SID file, with all figures; node names must be what the reader shall find them by."""
    m, flex = body.flex.modes, body.flex
    com = np.array(body.com)
    about = np.array(body.inertia) - body.mass * cross_matrix(com) @ cross_matrix(com)
    coupling = np.array(flex.coupling)
    firsts = np.array(flex.inertia_first).reshape(-1, 3, 3) if flex.inertia_first else np.zeros((m, 3, 3))
    seconds = np.array(flex.inertia_second) if flex.inertia_second else np.zeros((m, m, 3, 3))
    turns = np.array(flex.gyroscopic) if flex.gyroscopic else np.zeros((m, m, 3))
    moments = np.array(flex.moment_second) if flex.moment_second else np.zeros((3, m, m))
    weights = [0.5 if a == b else 1.0 for a, b in PAIRS]
    blocks = {
        "mdCM": (body.mass * com[:, None], coupling[3:][:, :, None]),
        "J": (
            np.array([[about[a, b]] for a, b in SIXTH]),
            np.array([firsts[:, a, b] for a, b in SIXTH])[:, :, None],
        ),
        "Ct": (coupling[3:].T, moments.transpose(1, 2, 0)),
        "Cr": (coupling[:3].T, turns.transpose(1, 0, 2)),
        "Me": (np.array(flex.mass), None),
        "Gr": (np.hstack([firsts[k] - cross_matrix(coupling[:3, k]) for k in range(m)]), None),
        "Ge": (np.hstack([2 * turns[k] for k in range(m)]), None),
        "Oe": (
            -np.array([w * firsts[:, a, b] for w, (a, b) in zip(weights, PAIRS, strict=True)]).T,
            -np.array([w * seconds[:, :, a, b] for w, (a, b) in zip(weights, PAIRS, strict=True)]).transpose(1, 2, 0),
        ),
        "ksigma": (np.zeros((m, 1)), None),
        "Ke": (np.array(flex.stiffness), None),
        "De": (np.array(flex.damping), None),
    }
    nodes = {}
    for name, node in body.nodes.items():
        rows = np.array(node.shape) if node.shape else np.zeros((6, m))
        nodes[name] = {
            "origin": (np.array(node.at)[:, None], rows[3:][:, :, None]),
            "phi": (rows[3:], np.array(node.bend) if node.bend else None),
            "psi": (rows[:3], None),
            "AP": (np.eye(3), np.array([cross_matrix(v) for v in rows[:3].T]).transpose(1, 0, 2)),
        }
    frequencies = np.sqrt(abs(np.diag(np.array(flex.stiffness)) / np.diag(np.array(flex.mass)))) / (2 * np.pi)
    names = [f"Eigen Mode {k} : {value:.6f} Hz" for k, value in enumerate(frequencies, start=1)]
    write_text(path, sid_text(title, body.mass, names, nodes, blocks))


def _block(sid: Sid, name: str, shape: tuple[int, int]) -> Taylor:
    """A block, of zeros where the file has none; ValueError where it has another size."""
    if name not in sid.blocks:
        taylor = Taylor(*shape, sid.modes, 1, 3)
        taylor.fill(sid.modes, True, name)
        return taylor
    block = sid.blocks[name]
    if block.m0.shape != shape:
        raise RefusalError(f"SID {name}: must be {shape[0]} x {shape[1]}, got {block.rows} x {block.columns}")
    return block


def _inertia(sid: Sid, source: str) -> tuple[np.ndarray, np.ndarray]:
    """Inertia about the origin (3, 3) and its derivatives (m, 3, 3), from a column of six or a matrix."""
    if "J" not in sid.blocks:
        raise RefusalError(f"{source}: needs the block J")
    block = sid.blocks["J"]
    zero, first = np.zeros((3, 3)), np.zeros((sid.modes, 3, 3))
    if block.m0.shape == (6, 1):
        for row, (a, b) in enumerate(SIXTH):
            zero[a, b] = zero[b, a] = block.m0[row, 0]
            first[:, a, b] = first[:, b, a] = block.m1[row, :, 0]
    elif block.m0.shape == (3, 3):
        zero, first = block.m0, block.m1.transpose(1, 0, 2)
        if not (_near(zero, zero.T) and _near(first, first.transpose(0, 2, 1))):
            raise RefusalError(f"{source}: J must be symmetric; one triangle alone needs structure = 2")
        zero, first = (zero + zero.T) / 2, (first + first.transpose(0, 2, 1)) / 2
    else:
        raise RefusalError(f"{source}: J must be 6 x 1 or 3 x 3, got {block.rows} x {block.columns}")
    return zero, first


def _symmetric(sid: Sid, name: str, m: int, source: str) -> np.ndarray:
    matrix = _block(sid, name, (m, m)).m0
    if not _near(matrix, matrix.T):
        raise RefusalError(f"{source}: {name} must be symmetric")
    return (matrix + matrix.T) / 2


def _near(one: np.ndarray, other: np.ndarray) -> bool:
    return bool(
        abs(one - other).max(initial=0.0) <= NEAR * max(abs(one).max(initial=0.0), abs(other).max(initial=0.0)) + 1e-6
    )


def _nodes(sid: Sid, source: str, wanted: Mapping[str, str] | None) -> dict[str, Node]:
    names = {f"node_{key}": key for key in sid.nodes} if wanted is None else wanted
    nodes = {}
    for name, key in names.items():
        if str(key) not in sid.nodes:
            some = ", ".join(list(sid.nodes)[:16])
            raise RefusalError(f"{source}: has no node {key}; its nodes are {some}")
        node = sid.nodes[str(key)]
        for part, shape in (("origin", (3, 1)), ("phi", (3, sid.modes)), ("psi", (3, sid.modes))):
            if part not in node or node[part].m0.shape != shape:
                raise RefusalError(f"{source}: node {key} needs the block {part}, {shape[0]} x {shape[1]}")
        bend = node["phi"].m1
        bend = (bend + bend.transpose(0, 2, 1)) / 2
        nodes[name] = node_of(node["origin"].m0[:, 0], node["phi"].m0, node["psi"].m0, bend if np.any(bend) else None)
    return nodes
