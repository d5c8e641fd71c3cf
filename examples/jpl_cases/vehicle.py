"""The report's vehicle as the arrays of its programs (JPL TR 32-1592, pages 13 to 16 and Fig. 6).

Bodies 1 and 2 are the hub and the television platform, 3 a massless link, 4 the boom. Misprints that were settled are
listed in ``../five_body_spacecraft/README.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

RD = 57.2957795  # degrees in a radian, as the report prints it
NOMINAL = (219 / RD, -27.5 / RD, 0.0, 0.0)  # rad, hinge angles about which the report linearizes Case 2
STIFFNESS = np.array([3500.0, 3500.0, 2000.0, 2000.0])  # N.m/rad, K1 to K4
DAMPING = np.array([20.0, 20.0, 10.0, 10.0])  # N.m.s/rad, B1 to B4; on the hinge rates


@dataclass(frozen=True)
class Vehicle:
    """Arguments of MBDY and its relatives, with the hinge angles at which all frames are parallel (``nominal``)."""

    H: tuple[int, ...]
    MB: Array
    MA: Array
    PB: Array
    PA: Array
    G: Array
    nominal: Array

    def arguments(self, PI: tuple[int, ...] = (0, 0, 0, 0)) -> tuple[Any, ...]:
        """What goes between the brackets of ``CALL MBDY(NH,H,MB,MA,PB,PA,G,PI)``."""
        return len(self.H), self.H, self.MB, self.MA, self.PB, self.PA, self.G, PI


def vehicle() -> Vehicle:
    """The vehicle as Fig. 6 has it: what an array is not given there is zero."""
    MA, PB, PA = np.zeros((4, 7)), np.zeros((4, 3)), np.zeros((4, 4, 3))
    MA[0] = 0.35, 0.35, 0, 0, 0, 0, 6.8
    MA[1] = 4.85, 2.2, 5.5, -0.41, 0.07, -0.54, 57.5
    MA[3] = 27.2, 0.2, 27.2, 0, 0, 0, 10.7
    PB[0] = 0, 0, -1.5
    PB[2] = 0, -1.2, 0
    PA[0, 0] = 0, 0, -0.75
    PA[0, 1] = 0, -0.1, -0.75
    PA[1, 1] = 0, -0.22, 0.2
    PA[3, 3] = 0, 3.3, 0
    return Vehicle(
        H=(0, 1, 0, 3),
        MB=np.array([115.0, 316.0, 440.0, 14.0, -14.0, 34.6, 410.0]),
        MA=MA,
        PB=PB,
        PA=PA,
        G=np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
        nominal=np.zeros(4),
    )


def at_nominal(given: Vehicle, nominal: tuple[float, ...]) -> Vehicle:
    """The same vehicle with body frames that are parallel at hinge angles ``nominal`` [rad], zero from now on.

    MBDYTL and MBDYL are linear about hinge angles of zero, so the report turns the vectors and the inertia of bodies 1
    and 2 into such frames by hand (its Section III.C); this turns any vehicle's.
    """
    C = [np.eye(3)]
    for h, g, angle in zip(given.H, given.G, nominal, strict=True):
        C.append(C[h] @ rotation(g, angle))
    turned = np.array(C[1:])
    tensors = turned @ np.array([tensor(row) for row in given.MA]) @ turned.transpose(0, 2, 1)
    MA = np.array([[*constants(inertia), row[6]] for inertia, row in zip(tensors, given.MA, strict=True)])
    PA, G = np.einsum("iab,ijb->ija", turned, given.PA), np.einsum("iab,ib->ia", turned, given.G)
    return replace(given, MA=MA, PA=PA, G=G, nominal=given.nominal + np.array(nominal))


def rotation(axis: Array, angle: float) -> Array:
    """The rotation by ``angle`` [rad] about a unit ``axis``: turned components to those before."""
    x, y, z = axis
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * skew + (1 - np.cos(angle)) * skew @ skew


def tensor(row: Array) -> Array:
    """The inertia tensor of a row of MA, which has minus its products."""
    i11, i22, i33, minus12, minus13, minus23 = row[:6]
    return np.array([[i11, -minus12, -minus13], [-minus12, i22, -minus23], [-minus13, -minus23, i33]])


def constants(inertia: Array) -> tuple[float, ...]:
    """The first six elements of a row of MA."""
    (i11, i12, i13), (_, i22, i23), (_, _, i33) = inertia
    return i11, i22, i33, -i12, -i13, -i23
