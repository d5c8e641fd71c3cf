"""The report's arrays as a `Model`: bodies ``body0`` to ``bodyN`` with one revolute joint each.

The report measures a body from its mass centre, a model from the inboard joint: a body's ``com`` is minus the vector to
the inboard hinge, and its outboard hinges are moved by as much. Frames are parallel where all hinge angles are zero.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from mbdy.blocks.jpl.arguments import (
    ArgumentError,
    Array,
    finite,
    flags,
    hinges,
    inboard,
    index,
    inertial_constants,
    shaped,
)
from mbdy.engine import Body, Fault, Joint, Model, ModelError, keep_rules
from mbdy.engine.model.system import INERTIAL, Matrix3, Vector3

AXES: tuple[Vector3, ...] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
PLACE = re.compile(r"body\.body(?P<k>\d+)\.(?P<what>inertia|mass|joint)")


def vehicle(
    name: str, nh: object, h: ArrayLike, mb: ArrayLike, ma: ArrayLike, pb: ArrayLike, pa: ArrayLike, g: ArrayLike,
    pi: ArrayLike,
) -> Model:  # fmt: skip
    """The system that the arguments of the subroutine ``name`` describe; raises `ArgumentError` where there is none."""
    n = hinges(nh)
    parents, prescribed = inboard(h, n), flags("PI", pi, n)
    reference, appendages = shaped("MB", mb, (7,)), shaped("MA", ma, (n, 7))
    inertial_constants("MB", reference)
    for i, constants in enumerate(appendages):
        inertial_constants("MA", constants, (i,))
    if reference[6] + appendages[:, 6].sum() == 0:
        raise ArgumentError("MB(7): the system has no mass; give a mass to some body")
    inner, outer = _hinge_points(parents, shaped("PB", pb, (n, 3)), shaped("PA", pa, (n, n, 3)))
    axes = finite("G", shaped("G", g, (n, 3)))
    for i, axis in enumerate(axes):
        if not axis.any():
            raise ArgumentError(f"G({i + 1},1..3): an axis must not be zero; give the direction of hinge {i + 1}")
    bodies = [_body(0, reference, np.zeros(3), Joint(to=INERTIAL, kind="attitude", translations=AXES, spherical=True))]
    for k, parent in enumerate(parents, start=1):
        joint = Joint(
            to=f"body{parent}", kind="revolute", rotations=(_vector(axes[k - 1]),),
            at=_vector(outer[k] - inner[parent]), motion=("prescribed" if prescribed[k - 1] else "free",),
        )  # fmt: skip
        bodies.append(_body(k, appendages[k - 1], -inner[k], joint))
    try:
        model = Model(name=f"{name} of {n} hinges", bodies=tuple(bodies), source=name)
        keep_rules(model)
    except ModelError as error:
        raise _refused(error.faults) from None
    return model


def _hinge_points(parents: tuple[int, ...], pb: Array, pa: Array) -> tuple[Array, Array]:
    """Vectors from mass centres to hinges (n + 1, 3), by hinge: of the body it carries, and of the body it hangs on."""
    n = len(parents)
    inner, outer = np.zeros((n + 1, 3)), np.zeros((n + 1, 3))
    for k, parent in enumerate(parents, start=1):
        inner[k] = _point("PA", pa, (k - 1, k - 1))
        outer[k] = _point("PB", pb, (k - 1,)) if parent == 0 else _point("PA", pa, (parent - 1, k - 1))
    return inner, outer


def _point(name: str, points: Array, place: tuple[int, ...]) -> Array:
    """One vector of an array; others in it, which no hinge has, may hold anything."""
    point = points[place]
    for j, value in enumerate(point):
        if not np.isfinite(value):
            raise ArgumentError(f"{name}{index((*place, j))}: must be finite, got {value}; give a place in m")
    return point


def _body(k: int, constants: Array, com: Array, joint: Joint) -> Body:
    i11, i22, i33, minus12, minus13, minus23, mass = (float(value) + 0.0 for value in constants)
    inertia: Matrix3 = ((i11, -minus12, -minus13), (-minus12, i22, -minus23), (-minus13, -minus23, i33))
    try:
        return Body(name=f"body{k}", joint=joint, mass=mass, com=_vector(com), inertia=inertia)
    except ModelError as error:
        raise _refused([replace(f, path=f.path.replace("Body", f"body.body{k}")) for f in error.faults]) from None


def _vector(values: Array) -> Vector3:
    x, y, z = (float(value) + 0.0 for value in values)  # no minus zeros in the file
    return x, y, z


def _argument(path: str) -> str:
    """The argument that a fault of the model lies in."""
    found = PLACE.match(path)
    if not found:
        return path
    k = int(found["k"])
    own = f"MA({k}," if k else "MB("
    axis = f"G({k},1..3)" if k else "MB(1..6)"  # body 0 turns about every axis
    return {"inertia": f"{own}1..6)", "mass": f"{own}7)", "joint": axis}[found["what"]] + f" of body {k}"


def _refused(faults: Iterable[Fault]) -> ArgumentError:
    return ArgumentError("\n".join(f"{replace(fault, path=_argument(fault.path))}" for fault in faults))
