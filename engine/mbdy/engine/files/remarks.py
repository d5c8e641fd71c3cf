"""What a model file is warned of: what can be, and is worth a second look."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mbdy.engine.model.arrays import Matrix3
from mbdy.engine.model.faults import Findings, path_of
from mbdy.engine.model.frames import from_rotation_vector, inverse, product
from mbdy.engine.model.limits import NEGATIVE_MINOR
from mbdy.engine.model.ports import ports
from mbdy.engine.model.system import IDENTITY, ZERO3, Body, Model

HALF_TURN = 1e-6
"""Cosine of half an angle below which that is half a turn."""


def warn_of_body(body: Body, carries: bool, findings: Findings) -> None:
    """Warn of moments that break the triangle inequality and of a massless body between joints."""
    path = path_of(("body", body.name))
    warn_of_triangle(body.inertia, f"{path}.inertia", findings)
    if body.mass == 0:
        if carries:
            findings.warn(f"{path}.mass", "is 0: a massless body between joints", "check that it is meant")
        elif np.any(body.inertia):
            findings.warn(f"{path}.mass", "is 0, but the body has inertia", "check that it is meant")


def warn_of_triangle(inertia: Matrix3, path: str, findings: Findings) -> None:
    """Warn of moments that break the triangle inequality."""
    small, middle, large = np.linalg.eigvalsh(np.array(inertia)).tolist()
    if small + middle < large * (1 - NEGATIVE_MINOR):
        message = f"principal moments {small:.6g}, {middle:.6g}, {large:.6g} kg.m2 break the triangle inequality"
        remedy = "no rigid body has a moment larger than the sum of the other two; check that it is meant"
        findings.warn(path, message, remedy)


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


def warn_of_half_turns(model: Model, findings: Findings) -> None:
    """Warn of springs of spherical joints that start where they may pull either way."""
    for body in model.bodies:
        joint, name = body.joint, f"{body.name}.joint.attitude"
        if joint.ball_spring:
            w, x, y, z = model.starts.get(name, IDENTITY)
            rest = from_rotation_vector(joint.rest[joint.n_translations :])
            if abs(product(inverse(rest), (w, x, y, z))[0]) < HALF_TURN:
                message = "starts half a turn from the rest of its spring, which may pull either way"
                findings.warn(path_of(("body", body.name, "joint", "rest")), message, f"give another {name} or rest")


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
