"""``[spring.NAME]`` of a model file: read to a `Spring`, and written back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mbdy.engine.files.inertia import joint_at_start
from mbdy.engine.files.sides import apart, joined, sides_of, taken
from mbdy.engine.files.tables import SpringTable
from mbdy.engine.model.contacts import Contact
from mbdy.engine.model.faults import Findings, path_of
from mbdy.engine.model.springs import COINCIDENT, SPRING_VALUES, Spring
from mbdy.engine.model.system import INERTIAL, Body, Model
from mbdy.engine.model.topology import tree


def spring_of(
    name: str, table: SpringTable, bodies: Mapping[str, Body], unread: set[str], findings: Findings
) -> Spring | None:
    """The spring that ``table`` says, between two places that exist and can move against each other.

    None where there are faults, which go to ``findings``. ``unread`` are bodies of the file that could not be read; a
    spring on them is passed over.
    """
    path = path_of(("spring", name))
    sides, sound = sides_of(name, table, path, bodies, unread, findings)
    given = {key: value for key in SPRING_VALUES if (value := getattr(table, key)) is not None}
    ends = {"a": sides[0], "b": sides[1], "kind": table.kind, "tension_only": table.tension_only}
    spring = taken(path, findings, Spring, name=name, **ends, **given)
    if spring is None or not sound or not apart(spring, path, bodies, findings):
        return None
    for key, one in spring.values.items():
        if one.passive and any(number < 0.0 for number in spring.numbers(key)):
            findings.warn(f"{path}.{key}", "is negative: it feeds energy in or pushes away", "check that it is meant")
    return spring


def warn_of_coincident_ends(model: Model, findings: Findings) -> None:
    """Warn of springs along a line, and of spheres in contact, that have no direction where ``model`` starts."""
    places: dict[str, tuple[np.ndarray, np.ndarray]] = {INERTIAL: (np.eye(3), np.zeros(3))}
    for j in tree(model).outward if model.springs or model.contacts else ():
        body = model.bodies[j]
        transform, _ = joint_at_start(body, model)
        C, r = places[body.joint.to]
        shift = transform[:3, :3].T @ transform[3:, :3]  # of moments: minus the matrix of r x
        at = -np.array([shift[2, 1], shift[0, 2], shift[1, 0]])
        if body.joint.node:
            at = at + model.body(body.joint.to).nodes[body.joint.node].at
        places[body.name] = C @ transform[:3, :3].T, r + C @ at
    for part in (*model.springs, *model.contacts):
        ends = []
        for side in (part.a, part.b):
            C, r = places[side.body]
            at = np.array(side.at) + (model.body(side.body).nodes[side.node].at if side.node else 0.0)
            ends.append(r + C @ at)
        if np.linalg.norm(ends[1] - ends[0]) >= COINCIDENT:
            continue
        if isinstance(part, Contact):
            if part.shape_a.kind == part.shape_b.kind:
                message = "centres of its spheres coincide at the start, where nothing says which way they part"
                findings.warn(path_of(("contact", part.name)), message, "nothing acts until they do: start elsewhere")
            continue
        if part.table:
            lengths, tensions = np.array(part.table).T
            pulls = np.interp(-part.length[0], lengths, tensions) != 0.0
        else:
            pulls = bool(part.length[0] or part.numbers("preload")[0])
        if part.kind == "line" and pulls:
            message = (
                "its ends coincide at the start, where nothing says which way it pulls: it does not until they part"
            )
            remedy = "start elsewhere, or let it have no tension there: no free length and preload, or a table of none"
            findings.warn(path_of(("spring", part.name)), message, remedy)


def spelled(spring: Spring) -> dict[str, Any]:
    """The keys of the file that say ``spring``."""
    table = joined(spring) | ({} if spring.kind == "line" else {"kind": spring.kind})
    for name, one in spring.values.items():
        numbers = getattr(spring, name)
        if one.points:
            table[name] = [list(point) for point in numbers]
        elif any(numbers):
            table[name] = numbers[0] if len(numbers) == 1 else list(numbers)
    return table | ({"tension_only": True} if spring.tension_only else {})
