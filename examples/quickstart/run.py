"""Runs satellite.toml under the controller beside it, as a block in Python.

    python run.py --until 60 --out results

Prints how the attitude error and the panels come to rest; writes ``satellite.csv`` and ``satellite.html`` (plots).
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
from controller import TARGET, attitude_error, make_controller

from mbdy.blocks import Run, simulate

MODEL = Path(__file__).with_name("satellite.toml")
SAMPLE = 0.02  # s, the controller's period


def attitude_errors(run: Run) -> np.ndarray:
    """Angle [rad] between the bus and the target at each row."""
    parts = [attitude_error(TARGET, q) for q in run["bus.attitude"]]
    return np.array([2 * np.arctan2(np.linalg.norm(vector), abs(w)) for w, *vector in parts])


def main() -> None:
    parser = argparse.ArgumentParser(description="The two-panel satellite under its attitude controller.")
    parser.add_argument("--until", type=float, default=60.0, help="end of the run [s] (60)")
    parser.add_argument("--out", type=Path, help="folder for the results (default: a new temporary one)")
    given = parser.parse_args()
    out = given.out or Path(tempfile.mkdtemp(prefix="quickstart_"))
    out.mkdir(parents=True, exist_ok=True)

    run = simulate(MODEL, until=given.until, every=0.1, controller=make_controller(), sample=SAMPLE)

    errors, panel = np.degrees(attitude_errors(run)), np.degrees(run["right_panel.joint.angle"])
    print(f"{'time [s]':>8}  {'attitude error [deg]':>20}  {'right panel [deg]':>17}")
    for row in np.linspace(0, len(run) - 1, 13).round().astype(int):
        print(f"{run.time[row]:8.1f}  {errors[row]:20.4f}  {panel[row]:17.4f}")
    print(f"the panel bent by up to {np.abs(panel).max():.1f} deg")
    written = run.to_csv(out / "satellite.csv")
    plots = out / "satellite.html"
    run.plot("bus.omega", "*.joint.angle", "bus.attitude").write_html(plots)
    print(written, plots, sep="\n")


if __name__ == "__main__":
    main()
