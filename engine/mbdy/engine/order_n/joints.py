"""The general joint: translations along axes of the joint frame, then rotations (equations.md, "Joints").

Kinds of joints are spellings of this one; what is compiled depends on their `Shape` alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
from casadi import SX

from mbdy.engine.model.system import Joint
from mbdy.engine.order_n import spatial


@dataclass(frozen=True)
class Shape:
    """Numbers of translation and rotation axes, or a spherical rotation: the structure of a joint."""

    translations: int
    rotations: int
    spherical: bool

    @property
    def n_axes(self) -> int:
        return self.translations + self.rotations

    @property
    def n_q(self) -> int:
        return self.translations + (4 if self.spherical else self.rotations)

    @property
    def n_u(self) -> int:
        return self.translations + (3 if self.spherical else self.rotations)


def shape(joint: Joint) -> Shape:
    """The structure of ``joint``."""
    return Shape(len(joint.translations), len(joint.rotations), joint.spherical)


@dataclass(frozen=True)
class JointKinematics:
    """A joint's motion as expressions of its coordinates ``q`` and speeds ``u``.

    ``E`` (3x3) joint-frame to outboard components; ``d`` (3) displacement, joint frame; ``S`` (6 x n_u) motion
    subspace, outboard axes; ``bias`` (6) ``S' u`` with the joint's own speeds; ``rate`` (n_q) ``q' = Gamma(q) u``.
    """

    E: SX
    d: SX
    S: SX
    bias: SX
    rate: SX


def motion(form: Shape, axes: SX, q: SX, u: SX) -> JointKinematics:
    """Kinematics of a joint: ``axes`` (3 x n_axes) unit axes, ``q`` (n_q), ``u`` (n_u)."""
    nt = form.translations
    slides, slid, sliding = axes[:, :nt], q[:nt, 0], u[:nt, 0]
    turned, turning_rates = q[nt:, 0], u[nt:, 0]
    d = slides @ slid
    if form.spherical:
        E = spatial.rotation_matrix(turned).T
        turning = SX.eye(3)
        turn_bias = SX(3, 1)
        q_rate = ca.vertcat(sliding, spatial.quaternion_rate(turned, turning_rates))
    else:
        E, turning, turn_bias = _turns(axes[:, nt:], turned, turning_rates)
        q_rate = u
    S = SX(6, form.n_u)
    S[:3, nt:] = turning
    if nt:
        S[3:, :nt] = E @ slides
    omega = turning @ turning_rates
    slide_bias = -ca.cross(omega, E @ (slides @ sliding)) if nt else SX(3, 1)
    return JointKinematics(E, d, S, ca.vertcat(turn_bias, slide_bias), q_rate)


def _turns(axes: SX, angles: SX, rates: SX) -> tuple[SX, SX, SX]:
    """Successive rotations: frame (joint to outboard), axes in the outboard frame and ``d(axes)/dt rates``.

    A turned axis moves with the rotations that follow it, hence its derivative ``-omega_after x axis``.
    """
    E = SX.eye(3)
    columns: list[SX] = []
    omega_after, bias = SX(3, 1), SX(3, 1)
    for k in reversed(range(axes.shape[1])):
        turned = E @ axes[:, k]
        columns.insert(0, turned)
        bias -= ca.cross(omega_after, turned) * rates[k]
        omega_after += turned * rates[k]
        E = E @ spatial.axis_rotation(axes[:, k], angles[k]).T
    return E, ca.horzcat(*columns) if columns else SX(3, 0), bias


def quaternion(form: Shape, axes: SX, q: SX) -> SX:
    """Outboard components to joint-frame components as a quaternion, continuous in ``q``."""
    nt = form.translations
    if form.spherical:
        return q[nt:, 0]
    turned = SX([1, 0, 0, 0])
    for k in range(form.rotations):
        turned = spatial.quaternion_product(turned, spatial.axis_quaternion(axes[:, nt + k], q[nt + k]))
    return turned
