"""Modal data from the flexible body files of NASA's 42."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mbdy.engine.flexible.modal_body import ModalBody, node_of, tuples_of, unturned_of
from mbdy.engine.flexible.moments import axial_of, inertia_of
from mbdy.engine.model.contents import contents, number_in, reading, text_of
from mbdy.engine.model.faults import RefusalError
from mbdy.engine.model.limits import MOST_MODES
from mbdy.engine.model.system import Flex, Matrix3, Node, Vector3

_SECTIONS = (
    ("initial", r"Initial Modal States"),
    ("locations", r"Analysis Node Locations"),
    ("joints", r"Joint Node Mode Shapes"),
    ("nodes", r"Analysis Node Mode Shapes"),
    ("psi", r"\(PSI\)"),
    ("theta", r"\(THETA\)"),
    ("mass", r"Mass Matrix"),
    ("stiffness", r"Stiffness Matrix"),
    ("damping", r"Damping Matrix"),
    ("moment", r"Linear Momentum Modal Integral"),
    ("momentum", r"Angular Momentum Modal Integral"),
    ("linear", r"Linear Modal Integral"),
    ("angular", r"Angular Modal Integral"),
)
_ROWS = {
    "locations": (1, 3), "psi": (3, 1), "theta": (3, 1), "mass": (2, 1), "stiffness": (2, 1), "damping": (2, 1),
    "linear": (3, 1), "angular": (4, 1),
}  # fmt: skip
"""How many indices and values a row of a section has; a location may be without its ID."""
SORT = "flexible body of 42"
Rows = list[list[float]]


@dataclass(frozen=True, slots=True)
class Listed42:
    """What nodes a file of 42 has: ``analysis`` and ``joints`` by number (those without places where some shape is not
    zero), ``places`` [m] and ``ids`` by number, empty where it has none.
    """

    source: str
    analysis: tuple[int, ...]
    joints: tuple[int, ...]
    places: Mapping[int, Sequence[float]]
    ids: Mapping[int, int]

    def number(self, name: str, given: int) -> int:
        """The number of the analysis node that ``given`` is, or whose ID it is; ValueError lists what there is."""
        if given in self.analysis:
            return given
        if given in self.ids:
            return self.ids[given]
        raise RefusalError(f"numbers: there is no analysis node {given} for {name!r} in {self.source}; {self}")

    def joint(self, name: str, given: int) -> int:
        """``given`` where it is a joint node's number; ValueError lists what there is."""
        if given in self.joints:
            return given
        raise RefusalError(f"joints: there is no joint node {given} for {name!r} in {self.source}; {self}")

    def __str__(self) -> str:
        names = {number: f" (ID {key})" for key, number in self.ids.items()}
        analysis = ", ".join(f"{number}{names.get(number, '')}" for number in self.analysis)
        return f"analysis nodes are {analysis or 'none'}, joint nodes {', '.join(map(str, self.joints)) or 'none'}"


def list_42(path: str | Path) -> Listed42:
    """The nodes of a ``Flex_*.txt`` file; raises ValueError as `read_42`."""
    return _read(path)[2]


def _read(path: str | Path) -> tuple[int, Mapping[str, Rows], Listed42]:
    """The number of modes, the sections and the nodes of a file."""
    text = text_of(contents(path), path, foreign=True)
    with reading(path, SORT):
        m, sections = _sections(text, str(path))
        return m, sections, _listed(sections, str(path))


def _listed(sections: Mapping[str, Rows], source: str) -> Listed42:
    locations = sections.get("locations", [])
    moved = {
        group: {
            int(row[1]) for kind in ("psi", "theta") for row in sections.get(f"{group} {kind}", []) if len(row) == 4
        }
        for group in ("nodes", "joints")
    }
    return Listed42(
        source=source,
        analysis=tuple(sorted(moved["nodes"] | set(range(len(locations))))),
        joints=tuple(sorted(moved["joints"])),
        places={number: row[-3:] for number, row in enumerate(locations)},
        ids={int(row[0]): number for number, row in enumerate(locations) if len(row) == 4},
    )


def read_42(
    path: str | Path,
    *,
    mass: float,
    com: Vector3,
    inertia: Matrix3,
    nodes: Mapping[str, tuple[int, Sequence[float]]] | None = None,
    joints: Mapping[str, tuple[int, Sequence[float]]] | None = None,
) -> ModalBody:
    """The modes of a ``Flex_*.txt`` file of 42 (E. T. Stoneking), with the rigid body from its spacecraft file.

    ``mass`` [kg], ``com`` [m] from the origin and ``inertia`` [kg.m2] about it. The origin must be the point that the
    file's integrals are taken about: 42's joint partials, hence its body's inboard joint.
    ``nodes`` and ``joints``  names to a number in the file (from 0, as there; of an analysis node also its ID) and its
    place [m] from the origin; files with node locations need no ``nodes``: all are then taken, as ``node_`` and their
    number.

    Of L, the integral of r_i phi_j, and N, of phi_i phi_j, come the change of the inertia and the gyroscopic terms,
    as 42 takes them (FindFlexInertiaFrc). Its start values are left out. Units must be SI. Raises ValueError naming
    the file and the section: what is missing, an index that is out of range, an N that contradicts itself; and numbers
    of nodes that the file does not have, with those that it has.
    Where the inboard joint's shapes are not zero, move the body frame with `mbdy.engine.flexible.moments.clamped`.
    """
    m, sections, listed = _read(path)
    if nodes is None:
        nodes = {f"node_{number}": (number, at) for number, at in listed.places.items()}
    nodes = {name: (listed.number(name, number), at) for name, (number, at) in nodes.items()}
    joints = {name: (listed.joint(name, number), at) for name, (number, at) in (joints or {}).items()}
    with reading(path, SORT), np.errstate(all="ignore"):
        masses, stiffness, damping = (_sparse(sections, name, (m, m)) for name in ("mass", "stiffness", "damping"))
        linear = _sparse(sections, "linear", (3, 3, m)).transpose(2, 0, 1)
        angular = _sparse(sections, "angular", (3, 3, m, m)).transpose(2, 3, 0, 1)
        if not np.allclose(
            angular, angular.transpose(1, 0, 3, 2), rtol=1e-6, atol=1e-9 * abs(angular).max(initial=0.0)
        ):
            raise RefusalError("Angular Modal Integral, N: [i][j] of modes k, l and [j][i] of modes l, k must be equal")
        coupling = np.vstack([_table(sections, name, m).T for name in ("momentum", "moment")])
        flex = Flex(
            mass=tuples_of(masses),
            stiffness=tuples_of(stiffness),
            damping=tuples_of(damping),
            coupling=tuples_of(coupling),
            inertia_first=tuples_of(inertia_of(linear)) if linear.any() else (),
            inertia_second=tuples_of(inertia_of(angular)) if angular.any() else (),
            gyroscopic=tuples_of(axial_of(angular)) if angular.any() else (),
        )
        named = {**_nodes(sections, "nodes", nodes, m), **_nodes(sections, "joints", joints, m)}
    return ModalBody(mass=mass, com=com, inertia=inertia, flex=flex, nodes=named, unturned=unturned_of(named))


def _sections(text: str, source: str) -> tuple[int, dict[str, Rows]]:
    """The number of modes, and the numbers of each section by row, without the count that leads most."""
    lines = text.splitlines()
    try:
        m = int(lines[2].split("!")[0])
    except (IndexError, ValueError):
        raise RefusalError(
            f"{source}: not a flexible body file of 42; its third line must give the number of modes"
        ) from None
    if not 1 <= m <= MOST_MODES:
        raise RefusalError(f"{source}, line 3: has {m} modes, 1 to {MOST_MODES} can be")
    sections: dict[str, Rows] = {}
    group, rows = "", None
    for number, line in enumerate(lines[3:], start=4):
        body = line.split("!")[0].strip()
        if body.startswith("*"):
            name = next((name for name, title in _SECTIONS if re.search(title, body)), None)
            if name is None:
                raise RefusalError(f"{source}, line {number}: unknown section {body.strip('* ')[:60]!r}")
            if name in ("joints", "nodes"):
                group = name
                continue
            rows = sections.setdefault(f"{group} {name}" if name in ("psi", "theta") else name, [])
        elif body and not body.startswith("[") and rows is not None:
            try:
                rows.append([number_in(word, "a number") for word in body.split()])
            except ValueError:
                raise RefusalError(f"{source}, line {number}: must be numbers, all finite, got {body[:60]!r}") from None
    for name, rows in sections.items():
        if name in ("initial", "moment", "momentum"):
            continue
        if not rows or len(rows[0]) != 1 or len(rows) != 1 + rows[0][0]:
            said = rows[0][0] if rows else "nothing"
            raise RefusalError(f"{source}: section {name} says {said} entries and has {max(len(rows) - 1, 0)}")
        del rows[0]
        indices, values = _ROWS[name.split()[-1]]
        for row in rows:
            if len(row) != indices + values and not (name == "locations" and len(row) == values):
                raise RefusalError(f"{source}: section {name}: a row needs {indices + values} numbers, got {len(row)}")
            if not all(index.is_integer() for index in row[:-values]):
                raise RefusalError(f"{source}: section {name}: indices must be whole numbers, got {row[:-values]}")
    return m, sections


def _sparse(sections: Mapping[str, Rows], name: str, shape: tuple[int, ...]) -> np.ndarray:
    """An array of a section of indices and values."""
    array = np.zeros(shape)
    if name not in sections:
        raise RefusalError(f"section {name} is missing")
    for row in sections[name]:
        index = tuple(int(i) for i in row[:-1])
        if len(index) != len(shape) or any(not 0 <= i < size for i, size in zip(index, shape, strict=True)):
            raise RefusalError(f"section {name}: index {list(index)} is out of range, sizes are {list(shape)}")
        array[index] = row[-1]
    return array


def _table(sections: Mapping[str, Rows], name: str, m: int) -> np.ndarray:
    rows = sections.get(name, [])
    if len(rows) != m or any(len(row) != 3 for row in rows):
        raise RefusalError(f"section {name}: three numbers for each of {m} modes are needed")
    return np.array(rows)


def _nodes(
    sections: Mapping[str, Rows], group: str, named: Mapping[str, tuple[int, Sequence[float]]], m: int
) -> dict[str, Node]:
    """Nodes by name from the shapes of a group, each a row of mode, node, axis and value."""
    nodes = {}
    for name, (number, at) in named.items():
        shapes = np.zeros((2, 3, m))
        for part, kind in enumerate(("psi", "theta")):
            for mode, node, axis, value in sections.get(f"{group} {kind}", []):
                if not (0 <= mode < m and 0 <= axis < 3):
                    raise RefusalError(f"section {group} {kind}: no mode {mode:g} or axis {axis:g}")
                if node == number:
                    shapes[part, int(axis), int(mode)] = value
        nodes[name] = node_of(np.array(at, dtype=float), shapes[0], shapes[1])
    return nodes
