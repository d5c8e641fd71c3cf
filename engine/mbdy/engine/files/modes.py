"""Modal data of a flexible body as the model file gives them: ``[body.NAME.flex]`` and the shapes of its nodes.

Three ways: `frequencies` with damping ratios and unit (or diagonal) modal masses; matrices of mass, stiffness and
damping; or a source that makes them (`mbdy.engine.files.mode_sources`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np

from mbdy.engine.files.mode_sources import body_of, warn_of_damping
from mbdy.engine.files.tables import REMEDIES, BodyTable, FlexTable, NodeTable
from mbdy.engine.flexible.modal_body import ModalBody, nested
from mbdy.engine.flexible.sources import SOURCES
from mbdy.engine.model.faults import Findings, RefusalError, path_of, shown
from mbdy.engine.model.fields import symmetric_tensor
from mbdy.engine.model.limits import MOST_MODES
from mbdy.engine.model.system import ZERO3, Flex, Matrix3, Node, Vector3
from mbdy.engine.model.units import quantity

MODAL = ("frequencies", "damping_ratios", "mass", "stiffness", "damping")
TERMS = ("coupling", "inertia_first", "inertia_second", "gyroscopic", "moment_second")
ASYMMETRY = 1e-9
"""Largest difference of mirrored entries, relative to the largest entry, that rounding explains."""
_CYCLES = re.compile(r"hz|hertz", re.IGNORECASE)
_WHAT = {
    "coupling": "integral of r x phi (rows 1-3) and of phi (rows 4-6) over the mass",
    "shape": "how the modes turn (rows 1-3) and move (rows 4-6) the node",
    "bend": "second derivatives of the node's x, y, z by the modes",
}


@dataclass(frozen=True)
class Material:
    """What a body is made of: as in `mbdy.engine.model.system.Body`, ``unturned`` as in `ModalBody`."""

    mass: float = 1.0
    com: Vector3 = ZERO3
    inertia: Matrix3 = (ZERO3, ZERO3, ZERO3)
    flex: Flex | None = None
    nodes: Mapping[str, Node] = field(default_factory=dict)
    unturned: Mapping[str, str] = field(default_factory=dict)


def material_of(table: BodyTable, path: str, folder: Path, findings: Findings) -> Material | None:
    """Mass, modes and nodes of the body that ``table``, found at ``path``, describes; None where they cannot be had.

    Names of files are relative to ``folder``. Faults go to ``findings``.
    """
    flex, place = None, f"{path}.flex"
    source = source_of(table.flex, place, findings) if table.flex else ""
    if source is None:
        return None
    if source:
        source_body = body_of(source, table, path, folder, findings)
        return _cleaned(source_body, path, findings) if source_body else None
    if table.mass is None and not findings.faulty(f"{path}.mass"):
        findings.refuse(f"{path}.mass", "is missing", REMEDIES["mass"])
    if table.flex:
        flex = flex_of(table.flex, place, findings)
    broken = flex is None and (table.flex is not None or findings.faulty(place))
    nodes = {} if broken else {
        name: node_of(node, flex.modes if flex else 0, f"{path}.{path_of(('node', name))}", findings)
        for name, node in table.node.items()
    }  # fmt: skip
    mass = Material.mass if table.mass is None else table.mass
    return Material(mass, table.com, cast("Matrix3", table.inertia), flex, nodes)


def _cleaned(body: ModalBody, path: str, findings: Findings) -> Material | None:
    """The ``body`` of a source, held to the rules for numbers in a file and rid of rounding in what is symmetric."""
    place, lists = f"{path}.flex", {key: _lists(getattr(body.flex, key)) for key in (*MODAL[2:], *TERMS)}
    flex = flex_of(FlexTable(**{key: value for key, value in lists.items() if value}), place, findings)
    if flex is None:
        return None
    try:
        inertia = symmetric_tensor(body.inertia)
    except RefusalError as refusal:
        return findings.refuse(place, f"inertia {refusal.message}", refusal.remedy)
    nodes = {}
    for name, node in body.nodes.items():
        table = NodeTable.model_construct(at=node.at, shape=_lists(node.shape) or None, bend=_lists(node.bend) or None)
        nodes[name] = node_of(table, flex.modes, f"{path}.{path_of(('node', name))}", findings)
    return Material(body.mass, body.com, inertia, flex, nodes, body.unturned)


def source_of(table: FlexTable, path: str, findings: Findings) -> str | None:
    """The key of ``table`` that brings its modal data, empty where they are given; None where there are several."""
    sources = [key for key in SOURCES if getattr(table, key) is not None]
    spoken = [key for key in (*MODAL, *TERMS) if getattr(table, key) is not None]
    if len(sources) > 1:
        findings.refuse(path, f"has both '{sources[0]}' and '{sources[1]}'", "keep one of them")
        return None
    if sources and spoken:
        message = f"'{sources[0]}' gives all modal data, and '{spoken[0]}' is given besides"
        findings.refuse(f"{path}.{spoken[0]}", message, "remove it")
    return sources[0] if sources else ""


@np.errstate(all="ignore")
def flex_of(table: FlexTable, path: str, findings: Findings) -> Flex | None:
    """The modal data that ``table``, found at ``path``, gives in numbers; None where there are faults."""
    before = len(findings.faults)
    ways = [key for key in ("frequencies", "stiffness", "mass") if getattr(table, key) is not None]
    if not ways:
        if not findings.faulty(path):
            remedy = f"give frequencies, or mass and stiffness, or one of {', '.join(SOURCES)}"
            findings.refuse(path, "has no modal data", remedy)
        return None
    first = getattr(table, ways[0])
    if not isinstance(first, list) or not first:
        findings.refuse(f"{path}.{ways[0]}", f"must be a list with an entry for each mode, got {shown(first)}",
                        "give one mode or more in brackets")  # fmt: skip
        return None
    m = len(first)
    if m > MOST_MODES:
        remedy = f"keep the slowest {MOST_MODES} or fewer"
        return findings.refuse(path, f"has {m} modes, more than the {MOST_MODES} of a body", remedy)
    mass, stiffness, damping = (_spectral if ways[0] == "frequencies" else _matrices)(table, m, path, findings)
    sizes = {"coupling": (6, m), "inertia_first": (m, 3, 3), "inertia_second": (m, m, 3, 3),
             "gyroscopic": (m, m, 3), "moment_second": (3, m, m)}  # fmt: skip
    if table.coupling is None:
        findings.refuse(f"{path}.coupling", "is missing", f"give 6 rows of {m}: {_WHAT['coupling']}")
    terms = {key: _array(table, key, sizes[key], path, findings) for key in TERMS}
    mirrors = (("inertia_first", 1, 2), ("inertia_second", 2, 3), ("inertia_second", 0, 1), ("moment_second", 1, 2))
    for key, i, j in mirrors:
        terms[key] = _mirrored(terms[key], (i, j), f"{path}.{key}", findings)
    if len(findings.faults) > before:
        return None
    if not all(np.all(np.isfinite(matrix)) for matrix in (mass, stiffness, damping) if matrix is not None):
        findings.refuse(path, "has numbers beyond what floats can hold", "check units")
        return None
    values = {key: nested(value) for key, value in terms.items() if value is not None}
    return Flex(mass=nested(mass), stiffness=nested(stiffness), damping=nested(damping), **values)


def node_of(table: NodeTable, modes: int, path: str, findings: Findings) -> Node:
    """The node that ``table`` gives, of a body with so many ``modes``, 0 for a rigid one."""
    shapes = {key: getattr(table, key) for key in ("shape", "bend") if getattr(table, key) is not None}
    if not modes:
        for key in shapes:
            findings.refuse(f"{path}.{key}", "is for a node of a flexible body only", "remove it")
        return Node(at=table.at)
    if "shape" not in shapes and table.at != ZERO3:
        remedy = f"give 6 rows of {modes}: {_WHAT['shape']}; zeros where they leave it alone"
        findings.warn(f"{path}.shape", "is missing, so no mode moves this node", remedy)
    shape = _array(table, "shape", (6, modes), path, findings)
    bend = _array(table, "bend", (3, modes, modes), path, findings)
    bend = _mirrored(bend, (1, 2), f"{path}.bend", findings)
    return Node(at=table.at, shape=nested(shape), bend=nested(bend))


def frequency(value: object) -> float:
    """[rad/s] A number in rad/s, or text with its unit, rad/s or Hz (``"2.5 Hz"``). Raises `RefusalError`."""
    cycles = isinstance(value, str) and _CYCLES.search(value)
    try:
        omega = 2 * math.pi * quantity(value, "Hz") if cycles else quantity(value, "rad/s")
    except RefusalError as refusal:
        remedy = refusal.remedy if cycles else "give a number in rad/s, or text with its unit such as '2.5 Hz'"
        raise RefusalError(refusal.message, remedy) from None
    if omega < 0:
        raise RefusalError(f"must be >= 0, got {shown(value)}", "give the mode's frequency, the frame held")
    return omega


def _array(
    table: FlexTable | NodeTable, key: str, shape: Sequence[int], path: str, findings: Findings
) -> np.ndarray | None:
    """The ``key`` of ``table``, lists in lists, as an array of ``shape``; None where there is none or it has faults."""
    value, path = getattr(table, key), f"{path}.{key}"
    if value is None:
        return None
    before = len(findings.faults)
    entries = _entries(value, shape, path, _WHAT.get(key, ""), findings)
    return np.array(entries, dtype=float).reshape(shape) if len(findings.faults) == before else None


def _lists(value: Any) -> Any:
    return list(map(_lists, value)) if isinstance(value, tuple | list) else value


def _entries(value: object, shape: Sequence[int], path: str, what: str, findings: Findings) -> list[float]:
    if not shape:
        return [findings.attempt(path, quantity, value, "1")]
    if not isinstance(value, list) or len(value) != shape[0]:
        got = f"{len(value)}" if isinstance(value, list) else shown(value)
        size = " x ".join(map(str, shape))
        remedy = f"give {size} numbers in brackets" + (f": {what}" if what else "")
        findings.refuse(path, f"must be a list of {shape[0]} entries, got {got}", remedy)
        return []
    entries = (_entries(entry, shape[1:], f"{path}[{k + 1}]", what, findings) for k, entry in enumerate(value))
    return [number for numbers in entries for number in numbers]


def _spectral(table: FlexTable, m: int, path: str, findings: Findings) -> tuple[np.ndarray | None, ...]:
    """Mass, stiffness and damping from frequencies, damping ratios and modal masses."""
    for key in ("stiffness", "damping"):
        if getattr(table, key) is not None:
            remedy = "keep one of them; damping beside frequencies is damping_ratios"
            findings.refuse(f"{path}.{key}", "is given besides 'frequencies'", remedy)
    bare = [entry for entry in table.frequencies if not isinstance(entry, str)]
    if bare and isinstance(bare[0], int | float):
        message = f"{bare[0]:.6g} without a unit is in rad/s, {bare[0] / (2 * math.pi):.4g} Hz"
        findings.warn(
            f"{path}.frequencies", message, f'write "{bare[0]:g} rad/s", or "{bare[0]:g} Hz" if that is meant'
        )
    omega = np.zeros(m)
    for k, entry in enumerate(table.frequencies):
        omega[k] = findings.attempt(f"{path}.frequencies[{k + 1}]", frequency, entry, instead=0.0)
    shape, none = (m,) if isinstance(table.damping_ratios, list) else (), table.damping_ratios is None
    zeta = np.zeros(()) if none else _array(table, "damping_ratios", shape, path, findings)
    mass = np.ones(m) if table.mass is None else _array(table, "mass", (m,), path, findings)
    if zeta is None or mass is None:
        return None, None, None
    warn_of_damping(zeta, f"{path}.damping_ratios", findings)
    if np.any(mass <= 0):
        findings.refuse(f"{path}.mass", f"must be > 0, got {mass.min():g}", "give the modal masses, 1 if left out")
    return np.diag(mass), np.diag(mass * omega**2), np.diag(2 * zeta * mass * omega)


def _matrices(table: FlexTable, m: int, path: str, findings: Findings) -> tuple[np.ndarray | None, ...]:
    """Mass, stiffness and damping, each a matrix or its diagonal."""
    if table.damping_ratios is not None:
        remedy = "give damping as a matrix or its diagonal"
        findings.refuse(f"{path}.damping_ratios", "goes with 'frequencies' only", remedy)
    matrices: list[np.ndarray | None] = []
    for key in ("mass", "stiffness", "damping"):
        entry, place = getattr(table, key), f"{path}.{key}"
        if entry is None:
            if key != "damping":
                findings.refuse(place, "is missing", f"give {m} x {m} numbers, or {m} for a diagonal")
            matrices.append(np.zeros((m, m)))
            continue
        full = isinstance(entry, list) and any(isinstance(row, list) for row in entry)
        array = _array(table, key, (m, m) if full else (m,), path, findings)
        array = np.diag(array) if array is not None and not full else array
        array = _mirrored(array, (0, 1), place, findings)
        matrices.append(array)
        if array is None:
            continue
        if key == "mass":
            sizes = np.sqrt(np.abs(np.diag(array))) + np.finfo(float).tiny
            if np.any(np.diag(array) <= 0) or np.linalg.eigvalsh(array / np.outer(sizes, sizes))[0] <= ASYMMETRY:
                remedy = "check the signs; modes must be independent of each other"
                findings.refuse(place, "is not positive definite: some motion of the modes has no mass", remedy)
        elif (least := float(np.linalg.eigvalsh(array)[0])) < -ASYMMETRY * np.abs(array).max():
            findings.warn(place, f"has a negative eigenvalue, {least:.6g}", "make sure that it is meant")
    return cast("tuple[np.ndarray | None, ...]", tuple(matrices))


def _mirrored(array: np.ndarray | None, axes: tuple[int, int], path: str, findings: Findings) -> np.ndarray | None:
    """``array`` made equal to its mirror image in two ``axes``, from which only rounding parts it."""
    if array is None or not array.size:
        return array
    mirror = np.swapaxes(array, *axes)
    gap = np.abs(array - mirror)
    if gap.max() > ASYMMETRY * np.abs(array).max():
        place = "".join(f"[{k + 1}]" for k in np.unravel_index(int(gap.argmax()), array.shape))
        message = f"must be symmetric, but {place} is {array.flat[gap.argmax()]:.9g} and its mirror image gives "
        findings.refuse(path, f"{message}{mirror.flat[gap.argmax()]:.9g}", "make the two agree")
        return None
    return array / 2 + mirror / 2
