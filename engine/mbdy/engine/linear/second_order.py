"""The second-order form ``M q'' + (D + G) q' + K q = B u`` of a linearized model.

The error coordinates q have ``q' = v + T q``, with the errors v of the generalized speeds and the turning T of the axes
in which attitudes (and positions of floating roots) are measured. With ``v' = Q q + V v + B_v u`` of the first-order
form, and T' of a reference that turns ever faster,

    q'' = (T + V) q' + (T' + Q - V T) q + B_v u.

The mass matrix M is the inverse of what unit generalized forces add to ``v'``; they are inputs of the model or
combinations of some. D and G are the symmetric and the skew part of ``-M (T + V)``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mbdy.engine.linear.error_coordinates import ErrorCoordinates, fixed, rotation
from mbdy.engine.linear.operating_point import OperatingPoint
from mbdy.engine.model.owners import joint_of
from mbdy.engine.model.system import Body, Model

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SecondOrder:
    """``M q'' + (D + G) q' + K q = B u`` with the coordinates ``coordinates``, in their ``units``.

    ``M``, ``D`` (symmetric), ``G`` (skew) and ``K`` are (n, n), ``B`` is (n, inputs).
    """

    coordinates: tuple[str, ...]
    units: tuple[str, ...]
    M: Array
    D: Array
    G: Array
    K: Array
    B: Array

    def reduced(self, inputs: list[int]) -> SecondOrder:
        """With some of the inputs."""
        return replace(self, B=self.B[:, inputs])


def second_order(errors: ErrorCoordinates, A: Array, B: Array, mobility: Array, spins: Array) -> SecondOrder | None:
    """The second-order form of ``e' = A e + B u``, or None where coordinates and speeds are not of one count,
    or masses are states.

    ``mobility`` (speeds, speeds) is what unit generalized forces add to the speeds' rates, ``spins`` (wheels) the spin
    inertias [kg.m2]: a wheel's coordinate is the angle of its spin relative to inertial axes.
    """
    if errors.coordinates is None or errors.masses:
        return None
    q, s, h = list(errors.coordinates), list(errors.speeds), list(errors.momenta)
    n, wheels = len(q), len(h)
    scale = np.concatenate([np.ones(n), 1.0 / spins])  # momenta to speeds of spin
    v = s + h
    V = scale[:, None] * A[np.ix_(v, v)] / scale
    Q, T, T_rate = (np.zeros((n + wheels, n + wheels)) for _ in range(3))
    Q[:, :n] = scale[:, None] * A[np.ix_(v, q)]
    T[:n, :n], T_rate[:n, :n] = A[np.ix_(q, q)], errors.turning_rate
    M = np.zeros_like(V)
    M[:n, :n] = np.linalg.inv(mobility)
    M[n:, n:] = np.diag(spins)
    M = (M + M.T) / 2
    C = -M @ (T + V)
    return SecondOrder(
        coordinates=(*(errors.names[i] for i in q), *errors.spins),
        units=(*(errors.units[i] for i in q), *["rad"] * wheels),
        M=M,
        D=(C + C.T) / 2,
        G=(C - C.T) / 2,
        K=-M @ (T_rate + Q - V @ T),
        B=M @ (scale[:, None] * B[v]),
    )


def generalized_forces(model: Model, point: OperatingPoint, errors: ErrorCoordinates) -> Array:
    """Inputs (n_u, speeds) that make up a unit generalized force for each speed of ``errors``.

    Those of an ``attitude`` root's mass centre are zero: it moves on its own, see `mobility`.
    """
    count = len(errors.degrees_of_freedom)
    along = np.zeros((len(point.u), count + len(errors.modes)))
    for column, (j, k) in enumerate(errors.modes, start=count):
        along[point.ports.by_name[f"{model.bodies[j].name}.flex.force"].offset + k, column] = 1.0
    for column, (j, i) in enumerate(errors.degrees_of_freedom):
        body = model.bodies[j]
        translation = i < body.joint.n_translations
        if not body.joint.floating:
            sort, at = ("force", i) if translation else ("torque", i - body.joint.n_translations)
            along[point.ports.by_name[f"{joint_of(body)}.{sort}"].offset + at, column] = 1.0
            continue
        force, torque = (point.ports.by_name[f"{body.name}.{sort}"].places for sort in ("force", "torque"))
        if not translation:
            along[torque.start + i - 3, column] = 1.0
        elif body.joint.kind == "free":
            pushed = _pushed(model, point, errors, column)
            centre = np.atleast_1d(point[f"{body.name}.com"])
            if body.flex:
                moved, shares = _spread(point, body)
                centre = centre + moved
                along[point.ports.by_name[f"{body.name}.flex.force"].places, column] = -shares.T @ pushed
            along[force, column] = pushed
            along[torque, column] = -np.cross(centre, pushed)
    return along


def _spread(point: OperatingPoint, body: Body) -> tuple[Array, Array]:
    """How far (3) modes move a flexible body's mass centre, and its change (3, m) with each, which is what a force that
    is spread over its mass does on them."""
    assert body.flex
    eta, mass = np.atleast_1d(point[f"{body.name}.flex.displacement"]), float(point[f"{body.name}.mass"])
    moving = np.array(body.flex.coupling)[3:]
    second = np.array(body.flex.moment_second) @ eta if body.flex.moment_second else np.zeros_like(moving)
    return (moving @ eta + second @ eta / 2) / mass, (moving + second) / mass


def _pushed(model: Model, point: OperatingPoint, errors: ErrorCoordinates, column: int) -> Array:
    """Unit force along a floating root's translation error, body axes."""
    name = model.bodies[errors.degrees_of_freedom[column][0]].name
    velocity, attitude = (point.ports.by_name[f"{name}.{part}"].state for part in ("velocity", "attitude"))
    assert velocity is not None
    assert attitude is not None
    inertial = errors.R[velocity : velocity + 3, errors.speeds[column]]
    return rotation(point.x[attitude : attitude + 4]).T @ inertial


def mobility(model: Model, point: OperatingPoint, errors: ErrorCoordinates, gains: Array, mass: float) -> Array:
    """What unit generalized forces add to the speeds' rates, from those of `generalized_forces` (speeds, speeds).

    An ``attitude`` root's mass centre has the whole ``mass`` [kg] and no coupling; what is prescribed takes its
    acceleration as it comes.
    """
    matrix, driven = gains.copy(), [fixed(body, point) for body in model.bodies]
    for column, (j, i) in enumerate(errors.degrees_of_freedom):
        joint = model.bodies[j].joint
        whole = joint.kind == "attitude" and i < joint.n_translations
        if whole or driven[j][i]:
            matrix[:, column] = matrix[column, :] = 0.0
            matrix[column, column] = 1.0 / mass if whole else 1.0
    return matrix
