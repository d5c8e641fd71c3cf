"""Mass, mass centre and inertia of a whole system as it stands at an instant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mbdy.blocks import Outputs
from mbdy.engine import Body, Model
from mbdy.engine.order_n.tanks import loaded

Array = NDArray[np.float64]
ROUNDING, ROUNDING_OF_PLACES = 1e-12, 1e-14
"""An inertia this small beside the largest is rounding; a length this small beside the positions it comes from."""


@dataclass(frozen=True, slots=True)
class Totals:
    """``mass`` [kg], ``centre`` [m] from the origin of ``axes`` and ``inertia`` (3, 3) [kg.m2] about it, in the axes of
    the body ``axes`` (``"inertial"`` where no single body floats). Rounding beside larger entries is zero."""

    mass: float
    centre: Array
    inertia: Array
    axes: str

    @property
    def principal(self) -> Array:
        """Principal moments of inertia (3) [kg.m2], least first."""
        return np.asarray(np.linalg.eigvalsh(self.inertia), dtype=np.float64)


def totals(model: Model, y: Outputs) -> Totals:
    """Totals of ``model``, with the masses of its file and of tanks in the positions and modal displacements ``y``."""
    if model.tanks:
        model = loaded(model, {tank.name: float(y[f"tank.{tank.name}.mass"]) for tank in model.tanks})
    turn = {body.name: rotation(np.asarray(y[f"{body.name}.attitude"])) for body in model.bodies}
    shapes = [deformed(body, y) for body in model.bodies]
    centres = np.array(
        [
            np.asarray(y[f"{body.name}.position"]) + turn[body.name] @ com
            for body, (com, _) in zip(model.bodies, shapes, strict=True)
        ]
    )
    masses = np.array([body.mass for body in model.bodies])
    mass = float(masses.sum())
    centre = masses @ centres / mass if mass else np.zeros(3)
    inertia = np.zeros((3, 3))
    for body, (_, about), arm in zip(model.bodies, shapes, centres - centre, strict=True):
        inertia += turn[body.name] @ about @ turn[body.name].T + body.mass * steiner(arm)
    least = ROUNDING_OF_PLACES * float(np.abs(centres).max())
    roots = [body for body in model.bodies if body.joint.to == "inertial"]
    if len(roots) > 1 or not roots[0].joint.floating:
        return Totals(mass, _clean(centre, least), _tidy(inertia), "inertial")
    base = roots[0].name
    C = turn[base]
    offset = C.T @ (centre - np.asarray(y[f"{base}.position"]))
    return Totals(mass, _clean(offset, least), _tidy(C.T @ inertia @ C), base)


def deformed(body: Body, y: Outputs) -> tuple[Array, Array]:
    """Mass centre (3) [m] from the origin of ``body`` and inertia (3, 3) [kg.m2] about it, body axes, as its modes
    stand in ``y``."""
    com, inertia = np.array(body.com), np.array(body.inertia)
    if not body.flex:
        return com, inertia
    flex, eta = body.flex, np.atleast_1d(y[f"{body.name}.flex.displacement"])
    about = inertia + body.mass * steiner(com)
    moment = body.mass * com + np.array(flex.coupling)[3:] @ eta
    if flex.moment_second:
        moment = moment + np.einsum("aij,i,j->a", np.array(flex.moment_second), eta, eta) / 2
    if flex.inertia_first:
        about = about + np.einsum("iab,i->ab", np.array(flex.inertia_first), eta)
    if flex.inertia_second:
        about = about + np.einsum("ijab,i,j->ab", np.array(flex.inertia_second), eta, eta) / 2
    centre = moment / body.mass if body.mass else com
    return centre, about - body.mass * steiner(centre)


def steiner(arm: Array) -> Array:
    """The inertia (3, 3) of a unit mass at ``arm`` (3)."""
    return arm @ arm * np.eye(3) - np.outer(arm, arm)


def _tidy(inertia: Array) -> Array:
    """``inertia`` made symmetric, without rounding."""
    return _clean((inertia + inertia.T) / 2, ROUNDING * float(np.abs(inertia).max()))


def _clean(values: Array, least: float) -> Array:
    return np.where(np.abs(values) < least, 0.0, values)


def rotation(quaternion: Array) -> Array:
    """The matrix (3, 3) of a unit quaternion w, x, y, z: body components to inertial ones."""
    w, v = quaternion[0], quaternion[1:]
    cross = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross
