"""The tree of a model's bodies, said the same way in the terminal and in reports."""

from __future__ import annotations

from dataclasses import dataclass

from mbdy.app.common import counted
from mbdy.engine import Body, Model
from mbdy.engine.model.profiles import points_of
from mbdy.engine.model.topology import ROOT, tree


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One body: its ``name``, what its joint is, the rest worth knowing, and the bodies that hang on it."""

    name: str
    joint: str
    details: tuple[str, ...]
    below: tuple[TreeEntry, ...]


def branches(model: Model) -> tuple[TreeEntry, ...]:
    """The bodies that are joined to the inertial frame, each with all that hangs on it."""
    shape = tree(model)
    entries: dict[int, TreeEntry] = {}
    for place in shape.inward:
        body = model.bodies[place]
        below = tuple(entries[child] for child in shape.children[place])
        entries[place] = TreeEntry(body.name, joint_words(body), details(body), below)
    return tuple(entries[place] for place in range(len(model.bodies)) if shape.parent[place] == ROOT)


def joint_words(body: Body) -> str:
    """``"revolute"``, ``"general, 2 translations, 1 rotation, switchable"``, ``"revolute, on boom.tip"``."""
    joint = body.joint
    words = [joint.kind]
    if joint.kind == "general":
        words += [counted(joint.n_translations, "translation")] if joint.n_translations else []
        words += ["spherical"] if joint.spherical else []
        words += [counted(joint.n_rotations, "rotation")] if joint.rotations else []
    words += [motion for motion in ("prescribed", "switchable") if motion in joint.motion]
    words += ["follows a profile"] if points_of(joint) else []
    words += [f"on {joint.to}.{joint.node}"] if joint.node else []
    words += [f"at {_triple(joint.at_b)} m of the body"] if joint.offset else []
    return ", ".join(words)


def details(body: Body) -> tuple[str, ...]:
    """Mass, modes, wheels and nodes of a body in words."""
    said = [f"{body.mass:g} kg"]
    products = (body.inertia[0][1], body.inertia[0][2], body.inertia[1][2])
    if any(products):
        said.append(f"tensor entries xy, xz, yz {_triple(products)} kg.m2")
    if body.modes:
        said.append(counted(body.modes, "mode"))
    if body.wheels:
        said.append(f"{'wheel' if len(body.wheels) == 1 else 'wheels'} {', '.join(body.wheels)}")
    if body.nodes:
        said.append(f"{'node' if len(body.nodes) == 1 else 'nodes'} {', '.join(body.nodes)}")
    return tuple(said)


def _triple(values: tuple[float, ...]) -> str:
    return f"[{', '.join(f'{value:.6g}' for value in values)}]"


def degrees_of_freedom(model: Model) -> int:
    """Degrees of freedom of all joints, prescribed ones among them; wheels and modes not, and no loop counted off."""
    return sum(body.joint.n_u for body in model.bodies)
