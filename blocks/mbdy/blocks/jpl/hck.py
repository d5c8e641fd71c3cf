"""HCK: one rigid body with Euler parameters, which the report's programs take from CSSL III (by E. H. Kopf)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mbdy.blocks.control.sensors import EulerAngleSensor
from mbdy.blocks.jpl.arguments import ArgumentError, Array, finite, shaped
from mbdy.blocks.jpl.mbdy import MBDY
from mbdy.engine.model.frames import from_sequence, product
from mbdy.engine.verification.formulations.values import rotation

SEQUENCE = "xyz"
ANGLES_OF = EulerAngleSensor(SEQUENCE)
ROTATION = 1e-6
"""How far direction cosines may be from a rotation, in any element of D D'."""


class HCK:
    """A rigid body whose attitude is four Euler (Hamilton-Cayley-Klein) parameters.

    ``MB`` (7) are its inertial constants as `MBDY` has them. `WDOT` needs them; all the others are kinematics and go
    without a body: ``HCK.ITOB(V, HCK.MATRIX(P))``.

    The report names neither the order of the parameters nor the sequence of the Euler angles. Here:

    - ``P`` (4) has the scalar first: the rotation that turns inertial axes into the body's, by an angle a about a unit
      vector e, has ``P = [cos(a/2), e sin(a/2)]``.
    - ``PHI``, ``THETA``, ``PSI`` [rad] are rotations about axes 1, 2 and 3, each about the axis as it stands after
      those before; small ones are the angles about the three axes, in any order.
    """

    def __init__(self, MB: ArrayLike) -> None:
        none = np.zeros((0, 3))
        self._body = MBDY(0, [], MB, np.zeros((0, 7)), none, np.zeros((0, 0, 3)), none, [])
        self._none = none
        self.model = self._body.model

    def WDOT(self, TB: ArrayLike, WO: ArrayLike) -> Array:
        """Angular acceleration (3) [rad/s2] under the torque ``TB`` (3) [N.m] at the angular velocity ``WO`` (3)
        [rad/s], all in body axes; raises `ArgumentError` and `StateError` as `MBDY.MRATE` does."""
        none, hinges = self._none, self._none[:, 0]
        return self._body.MRATE(hinges, TB, none, (0.0, 0.0, 0.0), none, hinges, hinges, hinges, WO)

    @staticmethod
    def INITL(PHI: float, THETA: float, PSI: float) -> Array:
        """Euler parameters (4) of three Euler angles [rad]."""
        angles = {"PHI": PHI, "THETA": THETA, "PSI": PSI}
        return np.array(
            from_sequence(SEQUENCE, [float(finite(name, shaped(name, angles[name], ()))) for name in angles])
        )

    @staticmethod
    def MATRIX(P: ArrayLike) -> Array:
        """The direction cosines (3, 3) by which inertial components become body components; ``P`` of any norm."""
        return rotation(_parameters(P)).T

    @staticmethod
    def ITOB(V: ArrayLike, D: ArrayLike) -> Array:
        """Body components of a vector with inertial components ``V`` (3); ``D`` (3, 3) as `MATRIX` gives it."""
        return _cosines(D) @ _vector("V", V)

    @staticmethod
    def BTOI(V: ArrayLike, D: ArrayLike) -> Array:
        """Inertial components of a vector with body components ``V`` (3); ``D`` (3, 3) as `MATRIX` gives it."""
        return _cosines(D).T @ _vector("V", V)

    @staticmethod
    def PDOT(P: ArrayLike, WO: ArrayLike) -> Array:
        """Rates (4) [1/s] of the Euler parameters at the angular velocity ``WO`` (3) [rad/s], body axes: what the
        report's programs call by HCK itself."""
        w, x, y, z = finite("P", shaped("P", P, (4,))).tolist()
        a, b, c = _vector("WO", WO).tolist()
        return 0.5 * np.array(product((w, x, y, z), (0.0, a, b, c)))

    @staticmethod
    def ANGLES(P: ArrayLike) -> Array:
        """Euler angles PHI, THETA, PSI (3) [rad] of Euler parameters, THETA within a right angle. At a right angle of
        THETA the other two turn about one axis, and only what they do together is right."""
        return ANGLES_OF.value(0.0, _parameters(P).tolist())


def _vector(name: str, given: ArrayLike) -> Array:
    """Three finite components."""
    return finite(name, shaped(name, given, (3,)))


def _parameters(given: ArrayLike) -> Array:
    """Euler parameters (4) that stand for a rotation, of any norm."""
    values = finite("P", shaped("P", given, (4,)))
    if not values.any():
        raise ArgumentError("P: must not be zero; no rotation is (1, 0, 0, 0), the scalar first")
    return values


def _cosines(given: ArrayLike) -> Array:
    """Direction cosines (3, 3) of a rotation."""
    D = finite("D", shaped("D", given, (3, 3)))
    if np.abs(D @ D.T - np.eye(3)).max() > ROTATION or np.linalg.det(D) < 0.0:
        raise ArgumentError(f"D: must be the direction cosines of a rotation, got {D.tolist()}; take HCK.MATRIX(P)")
    return D
