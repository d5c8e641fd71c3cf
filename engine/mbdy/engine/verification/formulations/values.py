"""What the formulations share: the numbers of a model's bodies, and rotations. No dynamics is in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mbdy.engine.model.faults import MbdyError
from mbdy.engine.model.system import INERTIAL, Body, Joint, Model
from mbdy.engine.verification.formulations.flexible import Modes, cross_matrix

Array = NDArray[np.float64]
Derivatives = Callable[[Array, Array, Array], Array]
"""``f(x, u, p)``: the states' derivatives ``x'`` at states ``x``, inputs ``u`` and parameters ``p``."""


class UncoveredError(MbdyError, ValueError):
    """A model that lies outside the domain of a formulation; the message says what of it does."""


@dataclass(frozen=True)
class Constants:
    """A body's parameters: SI, body axes unless stated. Its origin is the place of its joint, which is at ``joint_at``
    from that of the model file.

    ``inertia`` (3, 3) about the mass centre ``com``; ``at`` of the joint from the parent's origin, parent axes, or from
    its node, node axes, where the parent is flexible; ``frame`` (3, 3) joint-frame to these components; unit axes
    ``translations`` (n, 3) and ``rotations`` (n, 3) in the joint frame; ``efforts`` has the parameters of the joint's
    laws by name, those that the model has (see `forces.joint_efforts`); ``spins`` and unit ``spin_axes`` (n, 3) of its
    wheels, and their ``bearings`` (n, 3): damping, friction and its rate; ``nodes`` (n, 3) from its origin; ``rotors``
    (n, 3) unit axes of the rotors at its joint, axes of what that sits on, none where they are not given; ``modes`` of
    a flexible body, whose other numbers are those of its undeformed shape.
    """

    mass: float
    com: Array
    inertia: Array
    at: Array
    frame: Array
    translations: Array
    rotations: Array
    efforts: Mapping[str, Array]
    spins: Array
    spin_axes: Array
    bearings: Array
    nodes: Array
    joint_at: Array
    rotors: Array
    modes: Modes | None = None


@dataclass(frozen=True)
class Motion:
    """A body's states: ``q`` and ``u`` of its joint, translations first, its wheels' momenta ``h``, and its modes'
    ``eta`` and ``eta_rate``."""

    joint: Joint
    q: Array
    u: Array
    h: Array
    eta: Array
    eta_rate: Array

    @property
    def slides(self) -> Array:
        """Displacements [m]."""
        return self.q[: self.joint.n_translations]

    @property
    def turns(self) -> Array:
        """Angles [rad], or the quaternion w, x, y, z of a spherical rotation."""
        return self.q[self.joint.n_translations :]

    @property
    def slide_rates(self) -> Array:
        return self.u[: self.joint.n_translations]

    @property
    def turn_rates(self) -> Array:
        """Angle rates [rad/s], or the relative angular velocity, outboard axes."""
        return self.u[self.joint.n_translations :]


@dataclass(frozen=True)
class Given:
    """A body's inputs.

    ``forces`` and ``torques`` (1 + nodes, 3) at its mass centre, the gravity gradient's too, then at its nodes, body
    axes (node axes at the nodes of a flexible body); ``modal`` (m) on its modes; ``effort`` [N, N.m] of each degree of
    freedom; ``rest`` of each coordinate; ``fixed`` says which degrees of freedom are prescribed, locked or held by
    friction and ``acceleration`` what they follow (zero where free, locked or held); ``motors`` [N.m] of its wheels;
    ``senses`` are the signs of rates against which friction that sticks acts, 0 where it holds.
    """

    forces: Array
    torques: Array
    modal: Array
    effort: Array
    rest: Array
    fixed: NDArray[np.bool_]
    acceleration: Array
    motors: Array
    senses: Array


@dataclass(frozen=True)
class Part:
    """One body with all its numbers at an instant."""

    body: Body
    constants: Constants
    motion: Motion
    given: Given


def rigid_trees(model: Model) -> tuple[str, ...]:
    """What of ``model`` is no tree of rigid bodies without gears, a sentence each."""
    return (*geared_trees(model), *(f"gear {gear.name!r} ties joints" for gear in model.gears))


def geared_trees(model: Model) -> tuple[str, ...]:
    """The same where gears are none of it."""
    said = []
    for body in model.bodies:
        joint = body.joint
        if body.flex:
            said.append(f"body {body.name!r} is flexible")
        if joint.node and joint.to != INERTIAL and model.body(joint.to).flex:
            said.append(f"the joint of {body.name!r} sits on node {joint.node!r} of the flexible body {joint.to!r}")
    return (*said, *(f"loop {loop.name!r} closes the tree of joints" for loop in model.loops))


def turn(part: Part) -> Array:
    """Rotation of a joint: outboard components to those of the joint frame."""
    motion = part.motion
    if motion.joint.spherical:
        return rotation(motion.turns)
    turned = np.eye(3)
    for axis, angle in zip(part.constants.rotations, motion.turns, strict=True):
        turned = turned @ axis_rotation(axis, angle)
    return turned


def cross(a: Array, b: Array) -> Array:
    """``a x b`` of two vectors (3), faster than NumPy's."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def rotation(quaternion: Array) -> Array:
    """The rotation (3, 3) of a quaternion w, x, y, z of any norm: outboard components to inboard ones."""
    w, v = quaternion[0], quaternion[1:]
    turned = (w * w - v @ v) * np.eye(3) + 2.0 * np.outer(v, v) + 2.0 * w * cross_matrix(v)
    return turned / (quaternion @ quaternion)


def axis_rotation(axis: Array, angle: float) -> Array:
    """The rotation (3, 3) by ``angle`` [rad] about a unit axis: turned components to those before."""
    c, s = np.cos(angle), np.sin(angle)
    return c * np.eye(3) + s * cross_matrix(axis) + (1.0 - c) * np.outer(axis, axis)
