"""Frames along joints, in which the sweeps take half the arithmetic.

A rigid body that turns about one axis gets an inner frame with its own origin: z along that axis, x so that the axis of
its first such child lies in the plane of y and z. The step from parent to child is then a shift and two turns, about x
by a constant angle and about z by the joint's; further children, and those of bodies that keep their own axes, take a
constant turn about z before. Motion subspaces are unit vectors. Angles are kept as cosines and sines made from the axes
themselves, so that parallel axes are nothing special, and right angles exact. A rigid body that does not turn against
its parent is seen in that one's axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import casadi as ca
from casadi import MX, SX

from mbdy.engine.model.system import Model
from mbdy.engine.model.topology import ROOT, tree
from mbdy.engine.order_n import spatial
from mbdy.engine.order_n.constants import Fields, Structure, constant_fields, frame_fields
from mbdy.engine.order_n.kernels import Kernels, kernel, symbols

LEAST_SINE = 1e-100
"""Of the angle between two axes: below it they are parallel, and any line across them will do."""


def in_joint_frames(model: Model, structures: Sequence[Structure]) -> tuple[Structure, ...]:
    """The ``structures`` of the bodies as the sweeps have them in joint frames.

    Bodies that loops sit on keep their own axes, in which loops are told; so do flexible ones, for their modes, those
    with tanks, whose inertia changes, and those that their joint holds elsewhere than at their origin.
    """
    held = {side.body for loop in model.loops for side in (loop.a, loop.b)} | {tank.body for tank in model.tanks}
    order, found = tree(model), list(structures)
    first: set[int] = set()
    for j in order.outward:
        kind, parent = structures[j], order.parent[j]
        on_frame = parent != ROOT and found[parent].framed
        rigid = not (kind.flex or kind.offset) and model.bodies[j].name not in held
        if rigid and (kind.form.rotations, kind.form.spherical) == (0, False):
            found[j] = replace(kind, frame="parent")
        elif rigid and (kind.form.translations, kind.form.rotations) == (0, 1):
            turned = parent != ROOT and found[parent].turns > 0 and parent not in first
            found[j] = replace(kind, frame="joint" if turned else "twisted")
            first.add(parent)
        elif on_frame:
            found[j] = replace(kind, frame="seated")
    return tuple(found)


def frame_constants(
    model: Model, structures: Sequence[Structure], constants: Sequence[MX], kernels: Kernels
) -> list[MX]:
    """What each body of ``structures`` has of `frame_fields` besides its ``constants``."""
    order = tree(model)
    parents = order.parent
    first = {parents[j]: j for j, kind in enumerate(structures) if kind.frame == "joint"}

    def own(j: int, name: str) -> MX:
        return constants[j][_own_fields(structures[j]).places(name)]

    still = MX(ca.DM.eye(3).full())
    Q = {ROOT: still} | dict.fromkeys(range(len(structures)), still)
    for j in order.outward:
        kind = structures[j]
        if kind.frame == "parent":
            Q[j] = ca.reshape(own(j, "R0"), 3, 3).T @ Q[parents[j]]
        elif kind.framed:
            child = {"R0_child": own(first[j], "R0"), "axis_child": own(first[j], "axes")} if j in first else {}
            Q[j] = kernels.call(_frame, j in first, axis=own(j, "axes"), **child)["Q"]
    return [
        kernels.call(_framed, kind, k=constants[j], Q=Q[j], Q_parent=Q[parents[j]])["framed"]
        if frame_fields(kind)
        else MX()
        for j, kind in enumerate(structures)
    ]


def _own_fields(kind: Structure) -> Fields:
    """The constants of a body in its own axes."""
    return constant_fields(replace(kind, frame="own"))


def _frame(followed: bool) -> ca.Function:
    """Kernel: ``Q``, joint frame to body components, of a body with this joint ``axis``, and its child's if any."""
    inputs = symbols(axis=3) | (symbols(R0_child=9, axis_child=3) if followed else {})
    z = inputs["axis"]
    x = _across(z)
    if followed:
        line = ca.cross(z, ca.reshape(inputs["R0_child"], 3, 3) @ inputs["axis_child"])
        sine = ca.norm_2(line)
        x = ca.if_else(sine > LEAST_SINE, line / sine, x)
    y = ca.cross(z, x)
    y /= ca.norm_2(y)
    return kernel(f"frame_{int(followed)}", inputs, {"Q": ca.densify(ca.horzcat(ca.cross(y, z), y, z))})


def _across(z: SX) -> SX:
    """A unit vector across ``z``, along one of the frame's axes where that can be."""
    sizes = [ca.fabs(component) for component in ca.vertsplit(z)]
    least, chosen = reduce(ca.fmin, sizes), SX([0, 0, 1])
    for i in (1, 0):
        chosen = ca.if_else(sizes[i] == least, SX.eye(3)[:, i], chosen)
    across = chosen - z * ca.dot(z, chosen)
    return across / ca.norm_2(across)


def _framed(kind: Structure) -> ca.Function:
    """Kernel: ``framed``, the `frame_fields` of a body, from its constants, its frame and that of its parent."""
    fields = _own_fields(kind)
    inputs = symbols(k=fields.size, Q=(3, 3), Q_parent=(3, 3))
    vector, Q, Q_parent = inputs.values()
    k = fields.split(vector)
    R0 = Q_parent.T @ ca.reshape(k["R0"], 3, 3)
    framed = {"joint_at": Q_parent.T @ k["at"], "joint_R0": ca.vec(R0)}
    framed["joint_rotor_axes"] = ca.vec(Q_parent.T @ ca.reshape(k["rotor_axes"], 3, kind.rotors))
    if kind.framed:
        inertia, slides = Q.T @ spatial.symmetric(k["inertia"], 3) @ Q, ca.reshape(k["axes"], 3, kind.form.n_axes)
        framed |= {
            "joint_turns": _turns(kind, R0, k["axes"], Q[:, 0]) if kind.turns else SX(0, 1),
            "joint_axes": ca.vec(R0 @ slides), "joint_moment": Q.T @ k["moment"],
            "joint_inertia": spatial.upper(inertia), "joint_Q": ca.vec(Q),
            "joint_spin_axes": ca.vec(Q.T @ ca.reshape(k["spin_axes"], 3, kind.wheels)),
        }  # fmt: skip
    pieces = ca.vertcat(*(framed[name] for name, size in frame_fields(kind) if size))
    return kernel("framed", inputs, {"framed": ca.densify(pieces)})


def _turns(kind: Structure, R0: SX, axis: SX, x: SX) -> SX:
    """``joint_turns`` of a frame with the axis ``x``, body axes as ``axis``; R0 turns these to the parent's at rest."""
    inner, line, twist = R0 @ axis, SX([1, 0, 0]), SX(0, 1)
    sine = -inner[1]
    if kind.turns == 3:
        sine = ca.hypot(inner[0], inner[1])
        parallel = sine < LEAST_SINE
        twist = ca.vertcat(ca.if_else(parallel, 1, -inner[1] / sine), ca.if_else(parallel, 0, inner[0] / sine))
        line = ca.vertcat(twist, 0)
    start = R0.T @ line
    at_rest = ca.vertcat(ca.dot(x, start), ca.dot(x, ca.cross(axis, start)))
    pairs = (at_rest, ca.vertcat(inner[2], sine), twist)
    return ca.vertcat(*(pair / ca.norm_2(pair) for pair in pairs if pair.numel()))
