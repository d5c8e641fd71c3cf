"""Degrees of freedom that move no inertia: the equations could not tell how they accelerate.

The joint-space mass matrix is factored from tips to base without being built: the pivot of a degree of
freedom is what its joint feels of the articulated inertia outboard of it (Featherstone, *Rigid Body Dynamics
Algorithms*, §7.2). A pivot of nothing but rounding is a fault. The modes of a flexible body are eliminated before its
joint, where they stand at zero: its inertia is that of its frame's motion and theirs, and what hangs on a node moves
with both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mbdy.engine.model.faults import Fault, path_of
from mbdy.engine.model.laws import laws_of
from mbdy.engine.model.limits import PIVOT_ROUNDING
from mbdy.engine.model.ports import coordinates
from mbdy.engine.model.rotations import cross_matrix, exponential, rotation
from mbdy.engine.model.system import IDENTITY, Body, Joint, Model, Vector3
from mbdy.engine.model.tanks import Tank
from mbdy.engine.model.topology import ROOT, tree

SINGULAR = 1e-6
"""Volume that three unit axes span below which they lie in one plane."""
NEGATIVE = 1e-6
"""How far below zero rounding of the file's decimals may bring an eigenvalue of a body's scaled mass matrix."""


@np.errstate(all="ignore")
def faults_of_inertia(model: Model) -> list[Fault]:
    """A fault for each joint with degrees of freedom that move no inertia where ``model`` starts.

    Degrees of freedom that are always prescribed need no inertia; switchable ones do, for when they are free.
    The joints of ``model`` must name existing parents without a cycle.
    """
    branches = tree(model)
    articulated = [mass_matrix(body) for body in model.bodies]
    for tank in model.tanks:
        if tank.body in model.index:
            articulated[model.index[tank.body]] += _propellant(tank, model)
    errors = [_rounding(inertia) for inertia in articulated]
    faults: dict[int, Fault] = {}
    for i in branches.inward:
        body, parent = model.bodies[i], branches.parent[i]
        transform, subspace = joint_at_start(body, model)
        if body.flex:
            _eliminate(articulated[i], errors[i], np.eye(6 + body.modes), range(6, 6 + body.modes))
            articulated[i], errors[i] = articulated[i][:6, :6], errors[i][:6, :6]
        free = [k for k, motion in enumerate(body.joint.motion) if motion != "prescribed"]
        idle = _eliminate(articulated[i], errors[i], subspace, _order(body.joint, free), _reflected(body.joint))
        if idle:
            faults[i] = _singular(body, model, subspace) or _fault(body, sorted(idle), model)
        if parent != ROOT:
            carried = transform @ _at_node(model.bodies[parent], body.joint.node)
            moved = carried.T @ articulated[i] @ carried
            articulated[parent] += (moved + moved.T) / 2  # eliminations do not see, and so not shrink, what is skew
            errors[parent] += carried.T @ errors[i] @ carried
    return [faults[i] for i in sorted(faults)]


@np.errstate(all="ignore")
def faults_of_energy(model: Model) -> list[Fault]:
    """A fault for each flexible body of ``model`` to which a motion of frame and modes would give negative energy."""
    faults = []
    for body in model.bodies:
        if not body.flex:
            continue
        matrix = mass_matrix(body)
        sizes = np.sqrt(np.abs(np.diag(matrix)))
        sizes[sizes == 0] = 1.0
        scaled = matrix / np.outer(sizes, sizes)
        if not np.all(np.isfinite(scaled)):
            message = "is beyond what floats can hold, beside the body's mass, com and inertia"
            faults.append(Fault(path_of(("body", body.name, "flex", "coupling")), message, "check units"))
            continue
        values, vectors = np.linalg.eigh(scaled)
        if not values[0] >= -NEGATIVE:
            mode = int(np.argmax(np.abs(vectors[6:, 0]))) + 1
            message = (
                "is too large for the body's mass, inertia and modal masses: a motion of frame and modes, of mode "
                f"{mode} above all, has negative energy (least eigenvalue of the scaled mass matrix {values[0]:.3g})"
            )
            remedy = "check rows and units of coupling, that inertia is about the mass centre, and the modal masses"
            faults.append(Fault(path_of(("body", body.name, "flex", "coupling")), message, remedy))
    return faults


def mass_matrix(body: Body) -> np.ndarray:
    """6 + m square [angular, linear, modes] about the origin, undeformed, without the spin inertia of wheels."""
    rigid = _spatial_inertia(body)
    if not body.flex:
        return rigid
    coupling = np.array(body.flex.coupling, dtype=float)
    return np.block([[rigid, coupling], [coupling.T, np.array(body.flex.mass, dtype=float)]])


def _at_node(body: Body, name: str) -> np.ndarray:
    """6 x (6 + m): the motion of the node called ``name``, the origin without one, from those of frame and modes."""
    node = body.nodes.get(name)
    motion = np.eye(6, 6 + body.modes)
    if node:
        motion[3:, :3] = -cross_matrix(node.at)
    if node and node.shape:
        motion[:, 6:] = node.shape
    return motion


def _reflected(joint: Joint) -> np.ndarray:
    """Inertias (n_u) that the degrees of freedom of a joint have by laws."""
    found = np.zeros(joint.n_u)
    for law in laws_of(joint.laws):
        for i in range(joint.n_coordinates if law.inertia else 0):
            assert law.inertia
            found[i] += law.inertia({value.name: getattr(joint, value.name)[i] for value in law.values})
    return found


def _eliminate(
    inertia: np.ndarray, error: np.ndarray, subspace: np.ndarray, order: Sequence[int], own: np.ndarray | None = None
) -> list[int]:
    """Take degrees of freedom out of ``inertia`` (in place), which have some of their ``own``; those without a pivot
    stay and are returned.

    ``error`` bounds, as a quadratic form, what rounding has done to ``inertia`` so far (in place too).
    """
    idle = []
    for k in order:
        motion = subspace[:, k]
        felt = inertia @ motion
        pivot = float(motion @ felt) + (0.0 if own is None else own[k])
        if pivot <= float(motion @ error @ motion):
            idle.append(k)
            continue
        left = np.eye(len(inertia)) - np.outer(motion, felt) / pivot
        error[:] = left.T @ error @ left + _rounding(inertia)
        inertia -= np.outer(felt, felt) / pivot
    return idle


def _rounding(inertia: np.ndarray) -> np.ndarray:
    """What one step of arithmetic does to ``inertia``: alike in all directions, also where it is small."""
    turning, sliding = float(np.trace(inertia[:3, :3])), float(np.trace(inertia[3:6, 3:6]))
    return PIVOT_ROUNDING * np.diag([turning] * 3 + [sliding] * 3 + list(np.abs(np.diag(inertia)[6:])))


def _order(joint: Joint, free: Sequence[int]) -> list[int]:
    """Translations, then rotations from the last: a point mass then lacks rotations, not translations."""
    return sorted(free, key=lambda k: (k >= joint.n_translations, -k))


def _singular(body: Body, model: Model, subspace: np.ndarray) -> Fault | None:
    """The fault of three successive rotations whose axes lie in one plane where ``model`` starts; None where they do
    not."""
    if len(body.joint.rotations) != 3 or abs(np.linalg.det(subspace[:3, body.joint.n_translations :])) > SINGULAR:
        return None
    start = f"{body.name}.joint.angle"
    middle = math.degrees(model.initial.get(start, (0.0,) * 3)[1])
    message = (
        f"its middle angle is {middle:.9g} deg at the start, where its three axes lie in one plane, spanning no volume"
    )
    remedy = f"start elsewhere ({start} in [initial]), choose other axes, prescribe it, or use a spherical joint"
    return Fault(path_of(("body", body.name, "joint")), message, remedy)


def _fault(body: Body, idle: Sequence[int], model: Model) -> Fault:
    joint, names = body.joint, []
    for k in idle:
        turn = k - joint.n_translations
        if turn < 0:
            names.append(f"translation {k + 1}" if joint.n_translations > 1 else "its translation")
        elif joint.spherical:
            names.append(f"rotation about {'xyz'[turn]}")
        else:
            names.append(f"rotation {turn + 1}" if joint.n_rotations > 1 else "its rotation")
    verb = "moves" if len(names) == 1 else "move"
    message = f"{' and '.join(filter(None, [', '.join(names[:-1]), names[-1]]))} {verb} no inertia at the start"
    point = body.mass > 0 and not np.any(body.inertia) and max(idle) >= joint.n_translations
    needed = "inertia, or a com off the axis," if point else "or a body that it carries mass or inertia there,"
    if body.flex:
        needed = "more than its modes move of it, or take out the mode that only repeats it,"
    remedy = f"give '{body.name}' {needed} or take the freedom away"
    if _closes(body, model):
        remedy += "; a massless strut that a loop closes is a [spring.NAME] between its ends, without its bodies"
    heaviest = max(model.bodies, key=_size)
    if 0 < _size(body) <= PIVOT_ROUNDING * _size(heaviest):
        remedy = f"its own is rounding beside that of '{heaviest.name}': check the units there"
    return Fault(path_of(("body", body.name, "joint")), message, remedy)


def _closes(body: Body, model: Model) -> bool:
    """Whether a body without mass, or one that it carries, is where a loop closes."""
    closed = {side.body for loop in model.loops for side in (loop.a, loop.b)}
    carried = [body.name]
    for name in carried:
        carried += [b.name for b in model.bodies if b.joint.to == name]
    return body.mass == 0 and not closed.isdisjoint(carried)


def _size(body: Body) -> float:
    return float(np.trace(_spatial_inertia(body)))


def _spatial_inertia(body: Body) -> np.ndarray:
    """6x6 [angular, linear] about the origin, without the spin inertia of wheels, which turn on their own."""
    inertia = np.array(body.inertia, dtype=float)
    for wheel in body.wheels.values():
        axis = np.array(wheel.axis) / math.hypot(*wheel.axis)
        inertia -= wheel.inertia * np.outer(axis, axis)
    return _about_origin(body.mass, body.com, inertia)


def _propellant(tank: Tank, model: Model) -> np.ndarray:
    """The same of what is in a ``tank`` at the start, a shape's as a ball in its middle: that there is any counts."""
    mass = max(0.0, model.initial.get(f"tank.{tank.name}.mass", (tank.mass,))[0])
    if not tank.table:
        return _about_origin(mass, tank.at, mass * (tank.radius or 0.0) ** 2 * np.eye(3))
    masses, *columns = np.array(tank.table).T
    x, y, z, xx, yy, zz, xy, xz, yz = (float(np.interp(mass, masses, column)) for column in columns)
    return _about_origin(mass, (x, y, z), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))


def _about_origin(mass: float, com: Vector3, inertia: np.ndarray) -> np.ndarray:
    arm = cross_matrix(com)
    return np.block([[inertia - mass * arm @ arm, mass * arm], [-mass * arm, mass * np.eye(3)]])


def joint_at_start(body: Body, model: Model) -> tuple[np.ndarray, np.ndarray]:
    """The 6x6 transform of motion, parent to body, and the motion subspace (6 x n_u, body axes)."""
    joint = body.joint
    starts = {part.quantity: model.starts.get(part.name) for part in coordinates(body)}
    columns = np.zeros((6, joint.n_u))
    turn = np.eye(3)  # from body components to those of the axis at hand
    if joint.spherical:
        turn = rotation(starts.get("attitude") or IDENTITY)
        columns[:3, joint.n_translations :] = np.eye(3)
    angles = starts.get("angle") or (0.0,) * len(joint.rotations)
    for k in reversed(range(len(joint.rotations))):
        axis = np.array(joint.rotations[k]) / math.hypot(*joint.rotations[k])
        columns[:3, joint.n_translations + k] = turn.T @ axis
        turn = exponential(axis * angles[k]) @ turn
    slide = np.zeros(3)
    distances = starts.get("displacement") or starts.get("position") or (0.0,) * joint.n_translations
    for k, translation in enumerate(joint.translations):
        axis = np.array(translation) / math.hypot(*translation)
        columns[3:, k] = turn.T @ axis
        slide += axis * distances[k]
    frame = rotation(joint.frame)
    inward = (frame @ turn).T  # from parent to body components
    transform = np.zeros((6, 6))
    transform[:3, :3] = transform[3:, 3:] = inward
    columns[3:] += cross_matrix(joint.at_b) @ columns[:3]
    transform[3:, :3] = -inward @ cross_matrix(np.array(joint.at) + frame @ slide - inward.T @ joint.at_b)
    return transform, columns
