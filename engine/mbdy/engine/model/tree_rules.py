"""What parts of a model must agree on: names, the tree of bodies, places on them, wheels with their body's inertia."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping

import numpy as np

from mbdy.engine.model.faults import Findings, nearest, path_of
from mbdy.engine.model.gear import check_gear
from mbdy.engine.model.limits import MOST_LETTERS, MOST_PARTS, NEGATIVE_MINOR
from mbdy.engine.model.system import INERTIAL, ZERO3, Body, Joint, Model, Side, Vector3
from mbdy.engine.model.tanks import check_tank

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


def check_names(parts: Mapping[str, tuple[Iterable[str], Collection[str]]], findings: Findings) -> None:
    """Refuse names that are not names, and those that are taken; ``parts`` are the wheels and nodes of each body."""
    for name, (wheels, nodes) in parts.items():
        path = path_of(("body", name))
        check_name(name, path, findings)
        if name in NO_BODY:
            findings.refuse(
                path, f"no body can be called {name!r}", "that name has a meaning of its own; choose another"
            )
        for sort, names in (("wheel", wheels), ("node", nodes)):
            for one in names:
                check_part(name, sort, one, findings)
        _check_shared(name, wheels, nodes, findings)


def check_source_nodes(body: Body, listed: Collection[str], findings: Findings) -> None:
    """Refuse names of nodes that a source of modal data has brought, beside those that the file has ``listed``."""
    for node in body.nodes.keys() - listed:
        check_part(body.name, "node", node, findings)
    _check_shared(body.name, body.wheels, body.nodes.keys() - listed, findings)


def check_part(body: str, sort: str, name: str, findings: Findings) -> None:
    """Refuse the ``name`` of a wheel or node of a body that is no name, or the body's own."""
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
    if len(name) > MOST_LETTERS:
        findings.refuse(path, f"has {len(name)} letters, more than {MOST_LETTERS}", "shorten it")
    elif not NAME.fullmatch(name):
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


def check_parts(model: Model, findings: Findings) -> None:
    """Refuse names, joints, loops, gears, springs, contacts, wheels, chosen outputs and starts of ``model`` that do not
    go together."""
    sorts = {
        "body": model.bodies, "loop": model.loops, "gear": model.gears, "spring": model.springs,
        "contact": model.contacts, "output": model.chosen_outputs, "tank": model.tanks,
    }  # fmt: skip
    for sort, parts in sorts.items():
        if len(parts) > MOST_PARTS:
            return findings.refuse(sort, f"has {len(parts)} entries, more than {MOST_PARTS}", "split the system")
        counts = Counter(part.name for part in parts)
        for name in (name for name, count in counts.items() if count > 1):
            findings.refuse(path_of((sort, name)), f"is given {counts[name]} times", "give each a name of its own")
    bodies = {body.name: body for body in model.bodies}
    if not bodies:
        findings.refuse("Model.bodies", "there is no body", "give at least one")
    check_names({name: (body.wheels, body.nodes) for name, body in bodies.items()}, findings)
    check_parents({name: body.joint for name, body in bodies.items()}, bodies, findings)
    places = [(path_of(("body", b.name, "joint", "to")), b.joint.to, b.joint.node) for b in model.bodies]
    joining = [(sort, one) for sort in ("loop", "spring", "contact") for one in getattr(model, f"{sort}s")]
    for sort, one in joining:
        check_name(one.name, path_of((sort, one.name)), findings)
        places += [(path_of((sort, one.name, key)), side.body, side.node) for key, side in (("a", one.a), ("b", one.b))]
    for path, body, node in places:
        if body == INERTIAL and node:
            findings.refuse(path, f"inertial space has no node '{node}'", "give a place there")
        elif body in bodies:
            check_node(bodies[body], node, path, findings)
        elif body != INERTIAL and not findings.faulty(path):
            findings.refuse(path, f"there is no body '{body}'", nearest(body, [*bodies, INERTIAL]))
    for gear in model.gears:
        path = path_of(("gear", gear.name))
        check_name(gear.name, path, findings)
        check_gear(gear, path, bodies, findings)
    for body in model.bodies:
        check_wheels(body, findings)
    check_rotors(bodies, findings)
    if any(body.rotor or body.harmonics for body in model.bodies):
        from mbdy.engine.model.rotors import check_rotor_bodies

        check_rotor_bodies(model.bodies, findings)
    for tank in model.tanks:
        check_tank(tank, bodies, frozenset(), findings)
    if model.chosen_outputs and not findings.faults:
        from mbdy.engine.model.signal_variables import check_signals

        check_signals(model, model.chosen_outputs, (), findings)
    return None


def check_side(
    side: Side, place: str, key: str, bodies: Mapping[str, Body], unread: set[str], findings: Findings
) -> bool:
    """Whether the ``side`` at the path ``place`` exists and could be read; refuses one that does not exist."""
    if findings.faulty(place):
        return False
    if side.body == INERTIAL:
        roots = [body.name for body in bodies.values() if body.joint.kind == "attitude"]
        if side.node:
            findings.refuse(place, f"inertial space has no node '{side.node}'", f"give at_{key} instead")
        if roots:
            message = (
                f"no loop, spring or contact leads to inertial beside a root of kind attitude, which '{roots[0]}' is"
            )
            findings.refuse(place, message, 'use kind = "free" for that root')
        return not (side.node or roots)
    if side.body in unread:
        return False
    if side.body not in bodies:
        findings.refuse(place, f"there is no body '{side.body}'", nearest(side.body, [*bodies, INERTIAL]))
        return False
    return check_place(bodies[side.body], side.node, side.at, place, f"at_{key}", findings)


def check_joints_places(
    joints: Mapping[str, Joint], bodies: Mapping[str, Body], unread: set[str], findings: Findings
) -> None:
    """Refuse joints on nodes that do not exist, and those on a flexible body beside its nodes."""
    for name, joint in joints.items():
        path = path_of(("body", name, "joint", "to"))
        if joint.to == INERTIAL and joint.node:
            findings.refuse(path, f"inertial space has no node '{joint.node}'", 'give to = "inertial" and at')
        elif joint.to in bodies and joint.to not in unread:
            check_place(bodies[joint.to], joint.node, joint.at, path, "at", findings)


def check_place(body: Body, node: str, at: Vector3, path: str, key: str, findings: Findings) -> bool:
    """Whether ``node`` of ``body`` exists, or else ``at`` is a place that modes do not move."""
    if findings.faulty(path_of(("body", body.name, "flex"))) or findings.faulty(path_of(("body", body.name, "node"))):
        return False
    if not check_node(body, node, path, findings):
        return False
    if body.flex and not node and at != ZERO3:
        message = f"is off the origin of the flexible body '{body.name}', and no node says how modes move it there"
        remedy = f'give {body.name} a node there and write "{body.name}.NODE", or {key} = [0, 0, 0]'
        findings.refuse(path, message, remedy)
        return False
    return True


def check_node(body: Body, node: str, path: str, findings: Findings) -> bool:
    """Whether ``body`` has that ``node``, or the empty one, its origin."""
    if not node or node in body.nodes:
        return True
    known = nearest(node, body.nodes) if body.nodes else f"add [{path_of(('body', body.name, 'node', node))}]"
    findings.refuse(path, f"body '{body.name}' has no node '{node}'", known)
    return False


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


def check_rotors(bodies: Mapping[str, Body], findings: Findings) -> None:
    """Refuse rotors at joints with more spin inertia than their carriers, which include them, have about their axes."""
    shares: dict[str, list[tuple[str, np.ndarray]]] = {}
    for body in bodies.values():
        joint = body.joint
        for axis, inertia in zip(joint.rotor_axis, joint.rotor_inertia, strict=False):
            unit = np.array(axis) / np.linalg.norm(axis)
            shares.setdefault(joint.to, []).append((body.name, inertia * np.outer(unit, unit)))
    for name, carried in shares.items():
        if name not in bodies or findings.faulty(path_of(("body", name))):
            continue
        rest = np.array(bodies[name].inertia)
        scale = float(np.max(np.abs(rest)))
        for wheel in bodies[name].wheels.values():
            axis = np.array(wheel.axis) / np.linalg.norm(wheel.axis)
            rest = rest - wheel.inertia * np.outer(axis, axis)
        for body, share in carried:
            rest = rest - share
            if _least(rest) < -NEGATIVE_MINOR * scale:
                message = f"is more than '{name}', which includes the rotor, can hold about its axis"
                remedy = f"add the rotor to {path_of(('body', name, 'inertia'))}"
                findings.refuse(path_of(("body", body, "joint", "rotor_inertia")), message, remedy)
                break


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
