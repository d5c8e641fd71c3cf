"""A slew by 150 degrees on four CMGs.

    python run.py --until 40 --out results
    python run.py --max-rate 27 --out results

Prints attitude error, gimbal angles and the smallest singular value of the pyramid's Jacobian; writes ``four_cmg.csv``
and ``four_cmg.html`` (plots).
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from pathlib import Path

import numpy as np
from controller import CMGS, MAX_RATE, SAMPLE, TARGET, Steering, attitude_error, make_controller

from mbdy.blocks import Run, simulate
from mbdy.engine import Model, ModelWarning, load

MODEL = Path(__file__).with_name("four_cmg.toml")
STEP = 4e-3  # s
EVERY = 0.1  # s


def satellite() -> Model:
    """The model; its warnings, of 42's inertias, are known and explained in README.md."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return load(MODEL)


def slew(model: Model, *, until: float, max_rate: float = MAX_RATE) -> Run:
    """The satellite turned to the target from 0 to ``until`` [s], at no more than ``max_rate`` [rad/s]."""
    controller = make_controller(max_rate=max_rate)
    return simulate(model, until=until, every=EVERY, controller=controller, sample=SAMPLE, step=STEP)


def attitude_errors(run: Run) -> np.ndarray:
    """Angle [rad] between the bus and the target at each row."""
    errors = np.array([attitude_error(TARGET, q) for q in run["bus.attitude"]])
    return 2 * np.arctan2(np.linalg.norm(errors[:, 1:], axis=1), np.abs(errors[:, 0]))


def gimbals(run: Run, what: str) -> np.ndarray:
    """``what`` ("angle", "rate", "reaction") of the four gimbals at each row (rows, 4)."""
    return np.column_stack([run[f"{cmg}.joint.{what}"] for cmg in CMGS])


def singular_values(run: Run) -> np.ndarray:
    """The smallest singular value of the Jacobian at each row."""
    steering = Steering()
    return np.array([steering.smallest_singular_value(angles) for angles in gimbals(run, "angle")])


def momentum_drift(run: Run) -> float:
    """Largest change of the satellite's angular momentum, relative to its magnitude."""
    momentum = run["system.angular_momentum"]
    return float(np.linalg.norm(momentum - momentum[0], axis=1).max() / np.linalg.norm(momentum[0]))


def main() -> None:
    parser = argparse.ArgumentParser(description="A satellite slews on four control-moment gyros.")
    parser.add_argument("--until", type=float, default=40.0, help="end of the run [s] (40)")
    parser.add_argument("--max-rate", type=float, default=np.degrees(MAX_RATE), help="of the slew [deg/s] (25)")
    parser.add_argument("--out", type=Path, help="folder for the results (default: a new temporary one)")
    given = parser.parse_args()
    out = given.out or Path(tempfile.mkdtemp(prefix="four_cmg_"))
    out.mkdir(parents=True, exist_ok=True)

    run = slew(satellite(), until=given.until, max_rate=np.radians(given.max_rate))

    errors, angles, values = np.degrees(attitude_errors(run)), np.degrees(gimbals(run, "angle")), singular_values(run)
    print(f"{'time [s]':>8}  {'attitude error [deg]':>20}  {'gimbal angles [deg]':>32}  smallest singular value")
    for row in np.unique(np.geomspace(1, len(run), 16).round().astype(int)) - 1:
        turned = "".join(f"{angle:8.1f}" for angle in angles[row])
        print(f"{run.time[row]:8.1f}  {errors[row]:20.5f}  {turned}  {values[row]:23.4f}")
    rates, torques = np.abs(gimbals(run, "rate")).max(), np.abs(gimbals(run, "reaction")).max()
    print(f"smallest singular value {values.min():.4f}, at {run.time[values.argmin()]:.1f} s")
    print(f"gimbal rates up to {rates:.3f} rad/s, torques of the gimbal drives up to {torques:.1f} N.m")
    kept, size = momentum_drift(run), np.linalg.norm(run["system.angular_momentum"][0])
    print(f"angular momentum kept to {kept:.1e} of {size:.4f} N.m.s")
    plots = out / "four_cmg.html"
    run.plot("bus.attitude", "bus.omega", "*.joint.angle", "*.joint.reaction").write_html(plots)
    print(run.to_csv(out / "four_cmg.csv"), plots, sep="\n")


if __name__ == "__main__":
    main()
