"""``[spring.NAME]`` of a model file: read to a `Spring`, and written back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from mbdy.engine.files.inertia import joint_at_start
from mbdy.engine.files.rigid_loops import seat_of
from mbdy.engine.files.sides import side_of
from mbdy.engine.files.tables import SpringTable
from mbdy.engine.model.faults import Findings, PartError, path_of
from mbdy.engine.model.springs import COINCIDENT, SPRING_VALUES, Spring
from mbdy.engine.model.system import INERTIAL, Body, Model
from mbdy.engine.model.topology import tree
from mbdy.engine.model.tree_rules import check_name, check_side


def spring_of(
    name: str, table: SpringTable, bodies: Mapping[str, Body], unread: set[str], findings: Findings
) -> Spring | None:
    """The spring that ``table`` says, between two places that exist and can move against each other.

    None where there are faults, which go to ``findings``. ``unread`` are bodies of the file that could not be read; a
    spring on them is passed over.
    """
    path, before = path_of(("spring", name)), len(findings.faults)
    sound = not findings.faulty(path)
    check_name(name, path, findings)
    sides = [side_of(end, table, path, findings) for end in "ab"]
    judged = [
        check_side(side, f"{path}.{key}", key, bodies, unread, findings) for key, side in zip("ab", sides, strict=True)
    ]
    given = {key: value for key in SPRING_VALUES if (value := getattr(table, key)) is not None}
    spring = None
    try:
        spring = Spring(name=name, a=sides[0], b=sides[1], kind=table.kind, **given, tension_only=table.tension_only)
    except PartError as error:
        whole = len(Spring.__name__)
        findings.faults += [replace(fault, path=path + fault.path[whole:]) for fault in error.faults]
    if spring is None or len(findings.faults) > before or not sound or not all(judged):
        return None
    if seat_of(spring.a, bodies) == seat_of(spring.b, bodies):
        message = "a and b cannot move against each other, so the spring does nothing"
        findings.refuse(f"{path}.b", message, "let it join two bodies that move, or two nodes of a flexible one")
        return None
    for key, one in spring.values.items():
        if one.passive and any(number < 0.0 for number in spring.numbers(key)):
            findings.warn(f"{path}.{key}", "is negative: it feeds energy in or pushes away", "check that it is meant")
    return spring


def warn_of_coincident_ends(model: Model, findings: Findings) -> None:
    """Warn of springs along a line that has no direction where ``model`` starts, though they have a tension there."""
    places: dict[str, tuple[np.ndarray, np.ndarray]] = {INERTIAL: (np.eye(3), np.zeros(3))}
    for j in tree(model).outward if model.springs else ():
        body = model.bodies[j]
        transform, _ = joint_at_start(body, model)
        C, r = places[body.joint.to]
        shift = transform[:3, :3].T @ transform[3:, :3]  # of moments: minus the matrix of r x
        at = -np.array([shift[2, 1], shift[0, 2], shift[1, 0]])
        if body.joint.node:
            at = at + model.body(body.joint.to).nodes[body.joint.node].at
        places[body.name] = C @ transform[:3, :3].T, r + C @ at
    for spring in model.springs:
        ends = []
        for side in (spring.a, spring.b):
            C, r = places[side.body]
            at = np.array(side.at) + (model.body(side.body).nodes[side.node].at if side.node else 0.0)
            ends.append(r + C @ at)
        smooth = not (spring.length[0] or spring.table or spring.numbers("preload")[0])
        if spring.kind == "line" and not smooth and np.linalg.norm(ends[1] - ends[0]) < COINCIDENT:
            message = (
                "its ends coincide at the start, where nothing says which way it pulls: it does not until they part"
            )
            remedy = "start elsewhere, or let it have no free length, preload and table"
            findings.warn(path_of(("spring", spring.name)), message, remedy)


def spelled(spring: Spring) -> dict[str, Any]:
    """The keys of the file that say what ``spring`` is, but its sides."""
    table: dict[str, Any] = {} if spring.kind == "line" else {"kind": spring.kind}
    for name, one in spring.values.items():
        numbers = getattr(spring, name)
        if one.points:
            table[name] = [list(point) for point in numbers]
        elif any(numbers):
            table[name] = numbers[0] if len(numbers) == 1 else list(numbers)
    return table | ({"tension_only": True} if spring.tension_only else {})
