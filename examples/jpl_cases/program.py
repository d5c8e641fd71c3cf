"""The report's program around MBDY, without jets: INITIAL, DYNAMIC and DERIVATIVE sections as in its Fig. 6.

CSSL III's INTEG is scipy's `solve_ivp` here; everything else has the names of the report.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from cases import GM1I, GM2I, Case
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from vehicle import DAMPING, STIFFNESS, Vehicle

from mbdy.blocks import Plant
from mbdy.blocks.jpl import HCK, MBDY

Array = NDArray[np.float64]

TR = 2.0  # s, rate gain of the attitude control
START = np.array([GM1I, GM2I, 0.0, 0.0])  # rad
NO_FORCE = np.zeros(3), np.zeros((4, 3))
RELATIVE, ABSOLUTE = 1e-10, 1e-12  # errors allowed in a step
P, W, GM, GMD = slice(0, 4), slice(4, 7), slice(7, 11), slice(11, 15)  # places in the state


@dataclass(frozen=True)
class Trajectory:
    """A run: ``time`` (rows) [s] and the report's variables by name (rows, size)."""

    time: Array
    columns: dict[str, Array]

    def __getitem__(self, name: str) -> Array:
        return self.columns[name]


class Program:
    """One of the report's programs: ``subroutine`` is MBDY or a relative, ``vehicle`` its constants, ``case`` what the
    platform is told; ``more`` are further arguments of the subroutine (LI of MBDYPL)."""

    def __init__(self, case: Case, vehicle: Vehicle, subroutine: Any = MBDY, *more: Any) -> None:
        """INITIAL: constants into the subroutine, once."""
        self.case, self.nominal = case, vehicle.nominal
        self.m = subroutine(*vehicle.arguments(case.PI), *more)
        self.start = np.concatenate([HCK.INITL(0.0, 0.0, 0.0), np.zeros(3), START - self.nominal, np.zeros(4)])
        self.GMDD = np.zeros(4)

    def run(self) -> Trajectory:
        """DYNAMIC: from one communication interval to the next, and anew at each kink of the command."""
        rows = np.round(np.arange(round(self.case.until / self.case.every) + 1) * self.case.every, 9)
        y, times, states = self.start, [rows[:1]], [self.start[None]]
        for begin, end in pairwise((0.0, *self.case.kinks, self.case.until)):
            wanted = rows[(rows > begin) & (rows <= end)]
            piece = solve_ivp(
                self.derivative, (begin, end), y, "DOP853", np.union1d(wanted, end), rtol=RELATIVE, atol=ABSOLUTE
            )
            times.append(wanted)
            states.append(piece.y.T[: len(wanted)])
            y = piece.y[:, -1]
        return self.told(np.concatenate(times), np.concatenate(states))

    def derivative(self, t: float, y: Array) -> Array:
        """DERIVATIVE: hinge torques, the call of MRATE, and what is integrated."""
        if self.case.acceleration is not None:
            self.GMDD[:2] = self.case.acceleration(t)
        TB, TA = FB, FA = NO_FORCE
        WDOT = self.m.MRATE(self.torques(t, y), TB, TA, FB, FA, y[GM], y[GMD], self.GMDD, y[W])
        return np.concatenate([HCK.PDOT(y[P], y[W]), WDOT[:3], y[GMD], WDOT[3:]])

    def torques(self, t: float, y: Array) -> Array:
        """TH (4) [N.m]: springs about the commanded angles, and dampers. Prescribed hinges have none."""
        TH = -STIFFNESS * (y[GM] - self.commanded(t)) - DAMPING * y[GMD]
        return np.where(self.case.PI, 0.0, TH)

    def commanded(self, t: float) -> Array:
        """Hinge angles (4) [rad] at which the springs are relaxed, from the nominal ones."""
        return np.array([*self.case.command(t), 0.0, 0.0]) - self.nominal

    def told(self, time: NDArray[Any], states: NDArray[Any]) -> Trajectory:
        """OUTPUT: the report's variables, and what the engine adds; hinge angles as in MBDY's program."""
        THET = np.array([sensor_angles(y[P]) for y in states])
        columns = {
            "P": states[:, P],
            "THET": THET,
            "W": states[:, W],
            "GM": states[:, GM] + self.nominal,
            "GMD": states[:, GMD],
            "TH": np.array([self.torques(t, y) for t, y in zip(time, states, strict=True)]),
            "IN": -THET - TR * states[:, W],
        }
        plant = Plant(self.m.model)
        still = np.zeros(3)
        seen = [plant.outputs(x=np.concatenate([still, y[P], y[GM], still, y[W], y[GMD]])) for y in states]
        columns["H"] = np.array([each["system.angular_momentum"] for each in seen])
        columns["KE"] = np.array([[each["system.energy"]] for each in seen])
        return Trajectory(time, columns)


def sensor_angles(parameters: Array) -> tuple[float, float, float]:
    """THET1 to THET3 [rad] of the celestial sensors: where the inertial axes Z (N) and X (L) stand in the body."""
    D = HCK.MATRIX(parameters)
    N, L = HCK.ITOB((0.0, 0.0, 1.0), D), HCK.ITOB((1.0, 0.0, 0.0), D)
    return np.arctan2(N[1], N[2]), np.arctan2(-N[0], N[2]), np.arctan2(-L[1], L[0])
