"""Modal data from the files that a model file names, with its nodes found in them by their places."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from mbdy.engine.flexible.finite_elements import read_finite_elements
from mbdy.engine.flexible.flex42 import read_42
from mbdy.engine.flexible.modal_body import ModalBody
from mbdy.engine.flexible.nastran import read_nastran
from mbdy.engine.flexible.reduction import reduce
from mbdy.engine.flexible.sid import read_sid
from mbdy.engine.model.system import Matrix3, Vector3

NEAR = 1e-6
"""How far a node may lie from where it is looked for, beside the size of the model."""
Key = TypeVar("Key", bound=Hashable)


def modal_file(
    path: str | Path,
    *,
    mass: float | None = None,
    com: Vector3 | None = None,
    inertia: Matrix3 | None = None,
    numbers: Mapping[str, int] | None = None,
    nodes: Mapping[str, Sequence[float]] | None = None,
) -> ModalBody:
    """The body of a SID file, or of a flexible body file of 42 with ``mass``, ``com`` and ``inertia``.

    Which it is, its text says. ``nodes`` names to places [m] from the origin: each is the file's node there;
    ``numbers`` names to numbers in the file for those of 42, which mostly has no places.
    Raises ValueError naming the file and what is missing; see `read_sid` and `read_42`.
    """
    head = Path(path).read_text(encoding="utf-8", errors="replace").partition("\n")[0]
    wanted = nodes or {}
    if "Flexible Body" not in head:
        if mass is not None or com is not None or inertia is not None or numbers:
            raise ValueError(f"{path}: a SID file has mass, com, inertia and places of its own; leave them out")
        body = read_sid(path)
        names = nearest_nodes({name: node.at for name, node in body.nodes.items()}, wanted)
        return read_sid(path, {name: key.removeprefix("node_") for name, key in names.items()})
    if mass is None or com is None or inertia is None:
        raise ValueError(f"{path}: a file of 42 has no mass, com and inertia; give them beside it")
    node_numbers = dict(numbers or {})
    if len(node_numbers) < len(wanted):
        places = {name: node.at for name, node in read_42(path, mass=mass, com=com, inertia=inertia).nodes.items()}
        if not places:
            some = next(name for name in wanted if name not in node_numbers)
            raise ValueError(f"node {some}: is not in numbers, and {path} has no places to find it by")
        keys = nearest_nodes(places, {name: at for name, at in wanted.items() if name not in node_numbers})
        node_numbers |= {name: int(key.removeprefix("node_")) for name, key in keys.items()}
    chosen = {name: (node_numbers[name], at) for name, at in wanted.items()}
    return read_42(path, mass=mass, com=com, inertia=inertia, nodes=chosen)


def reduced(
    *,
    interface: int | Sequence[int],
    modes: int,
    mass: Path | None = None,
    stiffness: Path | None = None,
    table: Path | None = None,
    bulk: Path | None = None,
    punch: Path | None = None,
    boundary: Sequence[int] = (),
    attachment: Sequence[int] = (),
    damping_ratio: float | Sequence[float] = 0.005,
    origin: Sequence[float] | None = None,
    nodes: Mapping[str, Sequence[float]] | None = None,
) -> ModalBody:
    """A reduced finite-element model: from files of ``mass``, ``stiffness`` and a node ``table``, or from Nastran's.

    ``mass``, ``stiffness``  matrix files, ``table`` the nodes, as for `read_finite_elements`; or ``bulk``, a bulk data
                             file, and maybe ``punch``, as for `read_nastran`.
    ``nodes``                names to places [m] from the origin in the model's axes: each is the model's node there.

    All else as for `mbdy.engine.flexible.reduction.reduce`. Raises ValueError as these do.
    """
    if bulk is not None:
        if mass is not None or stiffness is not None or table is not None:
            raise ValueError("bulk: stands in the place of mass, stiffness and table; give one or the other")
        model = read_nastran(bulk, punch)
    elif mass is None or stiffness is None or table is None:
        raise ValueError("mass: is needed with stiffness and table, or bulk for Nastran's")
    else:
        model = read_finite_elements(mass, stiffness, table)
    inboard = [interface] if isinstance(interface, int) else interface
    start = (
        np.mean([model.place(node) for node in inboard], axis=0) if origin is None else np.array(origin, dtype=float)
    )
    places = {node: model.place(node) - start for node, _ in model.order}
    return reduce(
        model, interface=interface, modes=modes, boundary=boundary, attachment=attachment,
        damping_ratio=damping_ratio, origin=origin, nodes=nearest_nodes(places, nodes or {}),
    )  # fmt: skip


def nearest_nodes(
    places: Mapping[Key, Sequence[float] | np.ndarray], wanted: Mapping[str, Sequence[float]]
) -> dict[str, Key]:
    """The key of the place at each of ``wanted``; ValueError names the nearest where there is none."""
    if not places and wanted:
        raise ValueError(f"node {next(iter(wanted))}: the file has no nodes")
    keys = list(places)
    points = np.array([places[key] for key in keys], dtype=float).reshape(-1, 3)
    size = float(np.ptp(points, axis=0).max(initial=0.0)) or 1.0
    nearest = {}
    for name, at in wanted.items():
        gaps = np.linalg.norm(points - np.array(at, dtype=float), axis=1)
        k = int(gaps.argmin())
        if gaps[k] > NEAR * size:
            near = ", ".join(f"{x:.6g}" for x in points[k])
            raise ValueError(f"node {name}: no node lies there; the nearest is {keys[k]} at [{near}] m")
        nearest[name] = keys[k]
    return nearest
