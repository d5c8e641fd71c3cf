"""Modal data from the files that a model file names, with its nodes found in them by their places."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from mbdy.engine.flexible.finite_elements import read_finite_elements
from mbdy.engine.flexible.flex42 import list_42, read_42
from mbdy.engine.flexible.modal_body import ModalBody
from mbdy.engine.flexible.nastran import read_nastran
from mbdy.engine.flexible.reduction import reduce
from mbdy.engine.flexible.sid import read_sid
from mbdy.engine.model.contents import contents, text_of
from mbdy.engine.model.faults import RefusalError, warn
from mbdy.engine.model.system import Matrix3, Vector3

NEAR = 1e-6
"""How far a node may lie from where it is looked for, beside the size of the model."""
COINCIDENT = 1e-9
"""How far nodes at one place may be apart, beside the size of the model."""
Key = TypeVar("Key", bound=Hashable)


def modal_file(
    path: str | Path,
    *,
    mass: float | None = None,
    com: Vector3 | None = None,
    inertia: Matrix3 | None = None,
    numbers: Mapping[str, int] | None = None,
    joints: Mapping[str, int] | None = None,
    nodes: Mapping[str, Sequence[float]] | None = None,
) -> ModalBody:
    """The body of a SID file, or of a flexible body file of 42 with ``mass``, ``com`` and ``inertia``.

    Which it is, its text says. ``nodes`` names to places [m] from the origin: each is the file's node there, or the one
    whose number (in a file of 42 maybe its ID) ``numbers`` gives. ``joints`` names to joint nodes in a file of 42.
    Raises ValueError naming the file and what is missing; warns of a number whose place in the file is another. See
    `read_sid` and `read_42`.
    """
    head = text_of(contents(path), path, foreign=True).partition("\n")[0]
    wanted, numbers, joints = nodes or {}, numbers or {}, joints or {}
    for key, given in (("numbers", numbers), ("joints", joints)):
        if given and (unknown := next(iter(given.keys() - wanted.keys()), None)):
            raise RefusalError(
                f"{key}: {unknown!r} is no node of the body; its nodes are {', '.join(wanted) or 'none'}"
            )
    if "Flexible Body" not in head:
        if mass is not None or com is not None or inertia is not None or joints:
            raise RefusalError(f"{path}: a SID file has mass, com, inertia and no joint nodes; leave them out")
        body = read_sid(path)
        places = {name: node.at for name, node in body.nodes.items()}
        names = chosen_nodes(places, wanted, {name: f"node_{number}" for name, number in numbers.items()})
        return read_sid(path, {name: key.removeprefix("node_") for name, key in names.items()})
    if mass is None or com is None or inertia is None:
        raise RefusalError(f"{path}: a file of 42 has no mass, com and inertia; give them beside it")
    if both := numbers.keys() & joints.keys():
        raise RefusalError(f"joints: {min(both)!r} is in numbers too; keep one of them")
    rigid: Any = {"mass": mass, "com": com, "inertia": inertia}
    listed = list_42(path)
    analysis = {name: at for name, at in wanted.items() if name not in joints}
    chosen = {name: listed.number(name, number) for name, number in numbers.items()}
    if listed.places:
        chosen = chosen_nodes(listed.places, analysis, chosen)
    elif missing := next((name for name in analysis if name not in chosen), None):
        raise RefusalError(f"node {missing}: is not in numbers, and {path} has no places to find it by")
    return read_42(
        path, **rigid,
        nodes={name: (chosen[name], at) for name, at in analysis.items()},
        joints={name: (number, wanted[name]) for name, number in joints.items()},
    )  # fmt: skip


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
    numbers: Mapping[str, int] | None = None,
    nodes: Mapping[str, Sequence[float]] | None = None,
) -> ModalBody:
    """A reduced finite-element model: from files of ``mass``, ``stiffness`` and a node ``table``, or from Nastran's.

    ``mass``, ``stiffness``  matrix files, ``table`` the nodes, as for `read_finite_elements`; or ``bulk``, a bulk data
                             file, and maybe ``punch``, as for `read_nastran`.
    ``nodes``                names to places [m] from the origin in the model's axes: each is the model's node there,
                             or the one that ``numbers`` gives.

    All else as for `mbdy.engine.flexible.reduction.reduce`. Raises ValueError as these do.
    """
    if bulk is not None:
        if mass is not None or stiffness is not None or table is not None:
            raise RefusalError("bulk: stands in the place of mass, stiffness and table; give one or the other")
        model = read_nastran(bulk, punch)
    elif mass is None or stiffness is None or table is None:
        raise RefusalError("mass: is needed with stiffness and table, or bulk for Nastran's")
    else:
        model = read_finite_elements(mass, stiffness, table)
    inboard = [interface] if isinstance(interface, int) else interface
    start = (
        np.mean([model.place(node) for node in inboard], axis=0) if origin is None else np.array(origin, dtype=float)
    )
    places = {node: model.place(node) - start for node, _ in model.order}
    return reduce(
        model, interface=interface, modes=modes, boundary=boundary, attachment=attachment,
        damping_ratio=damping_ratio, origin=origin, nodes=chosen_nodes(places, nodes or {}, numbers or {}),
    )  # fmt: skip


def chosen_nodes(
    places: Mapping[Key, Sequence[float] | np.ndarray],
    wanted: Mapping[str, Sequence[float]],
    numbers: Mapping[str, Key],
) -> dict[str, Key]:
    """The key of each of ``wanted`` places: that of ``numbers``, or of the place there, with the lowest of several.

    Raises ValueError where none is there, naming the nearest, and for a key that there is not. Warns of several at one
    place, and of a number whose place is another.
    """
    for name, key in numbers.items():
        if name not in wanted:
            raise RefusalError(f"numbers: {name!r} is no node of the body; its nodes are {', '.join(wanted) or 'none'}")
        if key not in places:
            raise RefusalError(f"numbers: there is no node {key} for {name!r}; there are {', '.join(map(str, places))}")
    if not places and wanted:
        raise RefusalError(f"node {next(iter(wanted))}: the file has no nodes")
    keys = sorted(places, key=_in_order)
    points = np.array([places[key] for key in keys], dtype=float).reshape(-1, 3)
    size = float(np.ptp(points, axis=0).max(initial=0.0)) or 1.0
    chosen = {}
    for name, at in wanted.items():
        gaps = np.linalg.norm(points - np.array(at, dtype=float), axis=1)
        here = np.flatnonzero(gaps <= gaps.min() + COINCIDENT * size)
        k = keys.index(numbers[name]) if name in numbers else int(here[0])
        place = ", ".join(f"{x:.6g}" for x in points[k])
        if name in numbers and gaps[k] > NEAR * size:
            told = ", ".join(f"{x:.6g}" for x in at)
            warn(f"node {name}: {keys[k]} lies at [{place}] m, not at [{told}] m; check 'at' and the number")
        elif gaps[k] > NEAR * size:
            raise RefusalError(f"node {name}: no node lies there; the nearest is {keys[k]} at [{place}] m")
        elif len(here) > 1 and name not in numbers:
            several = ", ".join(str(keys[other]) for other in here)
            warn(
                f"node {name}: {several} lie there, and the first is taken; choose one by numbers = {{ {name} = ... }}"
            )
        chosen[name] = keys[k]
    return chosen


def _in_order(key: Hashable) -> tuple[int, str]:
    """Keys by their numbers, those without after them."""
    digits = str(key).removeprefix("node_")
    return (int(digits), "") if digits.isdecimal() else (10**18, digits)
