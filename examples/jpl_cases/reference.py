"""The reference trajectories in ``data/`` under the report's names, and how far a run is from them."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from jets import L
from numpy.typing import NDArray
from program import Trajectory

from mbdy.blocks import LocatedRun

DATA = Path(__file__).parent / "data"
FIVE_BODY = Path(__file__).parents[1] / "five_body_spacecraft" / "data"
HINGES = ("yoke", "platform", "boom_link", "boom")
SAME_INSTANT = 1e-9  # s


def reference(name: str) -> Trajectory:
    """``"case1"``, ``"prescribed"``, ``"case2"`` or ``"case2 linear"``."""
    if name == "case1":
        return _of_five_body(_table(FIVE_BODY / "case1_no_control.csv"))
    file = {
        "prescribed": "case1_prescribed_no_control.csv",
        "case2": "case2_nonlinear.csv",
        "case2 linear": "case2_linearized.csv",
    }[name]
    table = _table(DATA / file)
    sizes = {"P": 4, "THET": 3, "W": 3, "GM": 4, "GMD": 4, "TH": 4, "IN": 3, "H": 3}
    columns = {name: _side_by_side(table, *(f"{name}[{k + 1}]" for k in range(n))) for name, n in sizes.items()}
    return Trajectory(table["time"], columns | {"KE": _side_by_side(table, "KE")})


def reference_pulses() -> dict[int, list[tuple[float, int]]]:
    """Begin [s] and sign of each pulse of Case 1 with jets, by axis."""
    with (DATA / "case1_control_pulses.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {
        axis: [(float(row["begin"]), int(row["sign"])) for row in rows if int(row["axis"]) == axis]
        for axis in range(1, len(L) + 1)
    }


def differences(run: Trajectory, wanted: Trajectory) -> dict[str, NDArray[np.float64]]:
    """The largest difference in each column that both have, at the instants of ``wanted``."""
    rows = np.searchsorted(run.time, wanted.time - SAME_INSTANT)
    if not np.allclose(run.time[rows], wanted.time, rtol=0, atol=SAME_INSTANT):
        raise ValueError("the run has no rows at the instants of the reference")
    return {name: np.abs(run[name][rows] - values).max(axis=0) for name, values in wanted.columns.items()}


def pulse_differences(located: LocatedRun) -> list[float]:
    """By axis, the largest difference [s] between the begin of a pulse and the reference's, over the pulses run."""
    found = []
    for axis, wanted in reference_pulses().items():
        begins = [pulse.begin for pulse in located.pulses(axis - 1)]
        found.append(max((abs(a - b) for a, (b, _) in zip(begins, wanted, strict=False)), default=0.0))
    return found


def _of_five_body(table: dict[str, NDArray[np.float64]]) -> Trajectory:
    """The columns of the other example, which has names of a model file."""
    columns = {
        "P": _side_by_side(table, *(f"bus.attitude[{k}]" for k in (1, 2, 3, 4))),
        "W": _side_by_side(table, *(f"bus.omega[{k}]" for k in (1, 2, 3))),
        "GM": _side_by_side(table, *(f"{body}.joint.angle" for body in HINGES)),
        "GMD": _side_by_side(table, *(f"{body}.joint.rate" for body in HINGES)),
        "TH": _side_by_side(table, *(f"{body}.hinge_torque" for body in HINGES)),
    }
    return Trajectory(table["time"], columns)


def _table(path: Path) -> dict[str, NDArray[np.float64]]:
    with path.open(encoding="utf-8") as file:
        names = file.readline().strip().split(",")
        return dict(zip(names, np.loadtxt(file, delimiter=",").T, strict=True))


def _side_by_side(table: dict[str, NDArray[np.float64]], *names: str) -> NDArray[np.float64]:
    return np.column_stack([table[name] for name in names])
