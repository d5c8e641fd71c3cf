"""What tables of a model file must agree on: names, the tree of bodies, wheels with their body's inertia."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

import numpy as np

from mbdy.engine.files.tables import FileTable
from mbdy.engine.model.faults import Findings, nearest, path_of
from mbdy.engine.model.limits import NEGATIVE_MINOR
from mbdy.engine.model.ports import ports
from mbdy.engine.model.system import INERTIAL, ZERO3, Body, Joint, Model

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
NO_BODY = (
    "system", "initial", INERTIAL, "loop", "spring", "gear", "tank", "slosh", "contact", "output", "guess", "ports",
    "default",
)  # fmt: skip
"""Names that no body has: other tables of the file begin with them, now or later."""
RESERVED = (
    "joint", "flex", "force", "torque", "omega", "attitude", "position", "velocity", "acceleration",
    "mass", "com", "inertia",
)  # fmt: skip
"""Names of a body's own that no wheel and no node has."""


def check_names(file: FileTable, findings: Findings) -> None:
    """Refuse names that are not names, and those that are taken."""
    for name, body in file.body.items():
        path = path_of(("body", name))
        check_name(name, path, findings)
        if name in NO_BODY:
            findings.refuse(
                path, f"no body can be called {name!r}", "that name has a meaning of its own; choose another"
            )
        for sort, names in (("wheel", body.wheel), ("node", body.node)):
            for part in names:
                _check_part(name, sort, part, findings)
        _check_shared(name, body.wheel, body.node, findings)


def check_source_nodes(body: Body, listed: Collection[str], findings: Findings) -> None:
    """Refuse names of nodes that a source of modal data has brought, beside those that the file has ``listed``."""
    for node in body.nodes.keys() - listed:
        _check_part(body.name, "node", node, findings)
    _check_shared(body.name, body.wheels, body.nodes.keys() - listed, findings)


def _check_part(body: str, sort: str, name: str, findings: Findings) -> None:
    place = path_of(("body", body, sort, name))
    check_name(name, place, findings)
    if name in RESERVED:
        remedy = f"choose another; taken are {', '.join(RESERVED)}"
        findings.refuse(place, f"the name {name!r} is taken by the body's own '{body}.{name}'", remedy)


def _check_shared(body: str, wheels: Iterable[str], nodes: Collection[str], findings: Findings) -> None:
    for wheel in wheels:
        if wheel in nodes:
            message = f"the name {wheel!r} is taken by a wheel of the same body"
            findings.refuse(path_of(("body", body, "node", wheel)), message, "wheels and nodes share names; rename one")


def check_name(name: str, path: str, findings: Findings) -> None:
    """Refuse a ``name`` that is no name."""
    if not NAME.fullmatch(name):
        remedy = f"use letters, digits and _, no digit first, e.g. '{_tidied(name)}'"
        findings.refuse(path, f"{name!r} is not a name", remedy)


def check_parents(joints: Mapping[str, Joint], known: Iterable[str], findings: Findings) -> set[str]:
    """Refuse what is no tree: a missing parent, a body on itself, a cycle, a second root beside ``attitude``, a
    floating joint on a body.

    ``joints`` by body; ``known`` are the names of all bodies of the file, also of those that were not read.
    Returns the bodies at which the tree would have to be cut to be one.
    """
    known, cut = set(known), set()
    for name, joint in joints.items():
        path = path_of(("body", name, "joint", "to"))
        if joint.to == name != INERTIAL:
            findings.refuse(path, f"body '{name}' hangs on itself", 'name another body or "inertial"')
            cut.add(name)
        elif joint.floating and joint.to != INERTIAL:
            message = f"a joint of kind {joint.kind} joins to inertial only, got {joint.to!r}"
            findings.refuse(path, message, 'give to = "inertial", or another kind')
            cut.add(name)
        elif joint.to != INERTIAL and joint.to not in joints:
            if joint.to not in known:
                findings.refuse(path, f"there is no body '{joint.to}'", nearest(joint.to, [*known - {name}, INERTIAL]))
            cut.add(name)
    for cycle in _cycles(
        {name: joint.to for name, joint in joints.items() if name not in cut and joint.to != INERTIAL}
    ):
        message = f"a cycle of bodies: {' -> '.join([*cycle, cycle[0]])}"
        remedy = f'join one of them to "{INERTIAL}" or to a body outside the cycle'
        findings.refuse(path_of(("body", cycle[0], "joint", "to")), message, remedy)
        cut.add(cycle[0])
    roots = [name for name, joint in joints.items() if joint.to == INERTIAL]
    for name in roots:
        if joints[name].kind == "attitude" and len(roots) > 1:
            others = ", ".join(f"'{other}'" for other in roots if other != name)
            message = f"beside a root of kind attitude no other body joins to inertial, but {others} does"
            findings.refuse(path_of(("body", name, "joint", "kind")), message, 'use kind = "free"')
            break
    return cut


def check_wheels(body: Body, findings: Findings) -> None:
    """Refuse wheels with more spin inertia than their body, which includes them, has about their axes."""
    path = path_of(("body", body.name))
    if findings.faulty(f"{path}.inertia"):
        return
    tensor = np.array(body.inertia)
    scale, rest = float(np.max(np.abs(tensor))), tensor.copy()
    for wheel, rotor in body.wheels.items():
        axis = np.array(rotor.axis) / np.linalg.norm(rotor.axis)
        share = rotor.inertia * np.outer(axis, axis)
        rest -= share
        if _least(tensor - share) < -NEGATIVE_MINOR * scale:
            message = f"{rotor.inertia} kg.m2 is more than the body, which includes the wheel, can hold there"
            remedy = (
                f"the body has {float(axis @ tensor @ axis):.6g} kg.m2 about its axis; add the wheel to {path}.inertia"
            )
            findings.refuse(path_of(("body", body.name, "wheel", wheel, "inertia")), message, remedy)
    if len(body.wheels) > 1 and not findings.faulty(f"{path}.wheel") and _least(rest) < -NEGATIVE_MINOR * scale:
        message = f"its wheels {', '.join(body.wheels)} together have more spin inertia than the body can hold"
        findings.refuse(f"{path}.wheel", message, f"add them to {path}.inertia")


def warn_of_body(body: Body, carries: bool, findings: Findings) -> None:
    """Warn of moments that break the triangle inequality and of a massless body between joints."""
    path = path_of(("body", body.name))
    small, middle, large = np.linalg.eigvalsh(np.array(body.inertia)).tolist()
    if small + middle < large * (1 - NEGATIVE_MINOR):
        message = f"principal moments {small:.6g}, {middle:.6g}, {large:.6g} kg.m2 break the triangle inequality"
        remedy = "no rigid body has a moment larger than the sum of the other two; check that it is meant"
        findings.warn(f"{path}.inertia", message, remedy)
    if body.mass == 0:
        if carries:
            findings.warn(f"{path}.mass", "is 0: a massless body between joints", "check that it is meant")
        elif large > 0:
            findings.warn(f"{path}.mass", "is 0, but the body has inertia", "check that it is meant")


def warn_of_point_mass(body: Body, findings: Findings) -> None:
    """Warn of a body whose file leaves its inertia out."""
    if body.mass > 0 and not body.flex and not np.any(body.inertia):
        message = "is left out where the body turns, so it is a point mass"
        findings.warn(f"{path_of(('body', body.name))}.inertia", message, "give it, or [0, 0, 0] if that is meant")


def warn_of_origin(body: Body, findings: Findings) -> None:
    """Warn of modes that move the place where a joint holds their body."""
    for name, node in body.nodes.items():
        if not body.joint.floating and node.at == ZERO3 and any(map(any, node.shape)):
            message = "is at the origin, which the joint holds, and the modes move it"
            remedy = f"give modes of the held body (for a file of free ones, clamp = '{name}')"
            findings.warn(path_of(("body", body.name, "node", name)), message, remedy)


def warn_of_unturned(model: Model, unturned: Mapping[str, Mapping[str, str]], findings: Findings) -> None:
    """Warn of what would turn with a node, or turn it, of which its source does not say how it turns.

    ``unturned`` by body and node: the axes about which it does not.
    """
    inputs = {variable.name for variable in ports(model).inputs} if unturned else set()
    for body, nodes in unturned.items():
        for node, axes in nodes.items():
            place = (body, node)
            carried = [b.name for b in model.bodies if (b.joint.to, b.joint.node) == place and _turns_with(b)]
            carried += [
                loop.name
                for loop in model.loops
                if place in [(side.body, side.node) for side in (loop.a, loop.b)] and any(row < 4 for row in loop.rows)
            ]
            torque = f"{body}.{node}.torque"
            if carried:
                what = (
                    f"{', '.join(map(repr, carried))} there does not turn as the body bends, and bends it by no moment"
                )
                remedy = "take a node that has them, or a model with all six degrees of freedom there"
            elif torque in inputs:
                what, remedy = (
                    f"the input {torque} bends nothing",
                    "keep it out of [ports], or take a node that has them",
                )
            else:
                continue
            message = f"has no rotational freedoms about {axes} in its source: {what}"
            findings.warn(path_of(("body", body, "node", node)), message, remedy)


def _turns_with(body: Body) -> bool:
    """Whether a body turns with what its joint sits on, and feels it."""
    still = not any(map(any, body.inertia)) and body.com == ZERO3 and not body.nodes and not body.wheels
    return not (body.joint.spherical or still)


def _tidied(name: str) -> str:
    tidy = re.sub(r"[^A-Za-z0-9_]+", "_", name)
    return tidy if NAME.fullmatch(tidy) else f"_{tidy}"


def _cycles(parent: Mapping[str, str]) -> list[list[str]]:
    """Each cycle of ``parent`` once, from the body met first."""
    cycles, visited = [], set()
    for start in parent:
        path: list[str] = []
        body = start
        while body in parent and body not in visited:
            visited.add(body)
            path.append(body)
            body = parent[body]
        if body in path:
            cycles.append(path[path.index(body) :])
    return cycles


def _least(tensor: np.ndarray) -> float:
    return float(np.linalg.eigvalsh(tensor)[0])
