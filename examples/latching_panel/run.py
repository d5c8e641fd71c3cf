"""A panel that unfolds and latches, and a wing of two panels that is braked on the way.

    python run.py --until 20 --out results

Prints, for each time that a lock stopped something, what it did to momentum and energy, beside the closed form; writes
``panel.csv`` and ``wing.csv``.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from closed_form import locked_energy
from controller import SAMPLE, Latches, make_controller, make_wing_controller

from mbdy.blocks import Run, simulate
from mbdy.engine import Model, load

PANEL = Path(__file__).with_name("panel.toml")
WING = Path(__file__).with_name("wing.toml")
RECORDED = ("*.attitude", "*.position", "bus.omega", "*.joint.angle", "*.joint.rate", "system.*")
WRITTEN = 50  # every how many rows go into the CSV files
CONTROLLERS = {PANEL: make_controller, WING: make_wing_controller}


def unfold(model: Model, controller: Latches, *, until: float) -> Run:
    """``model`` under ``controller`` from 0 to ``until`` [s], a row for each sample.

    A row shows what the controller saw; a lock that it set there acts right after that row.
    """
    return simulate(
        model, until=until, every=SAMPLE, controller=controller, sample=SAMPLE, outputs=RECORDED, step=SAMPLE
    )


def outputs(run: Run, row: int) -> dict[str, np.ndarray]:
    """The recorded outputs of one row, by name."""
    names = dict.fromkeys(name.partition("[")[0] for name in run.names)
    return {name: run[name][row] for name in names}


def report(model: Model, controller: Latches, run: Run) -> None:
    """A line for each time that something was stopped."""
    print(f"\n{model.name}")
    print(f"{'time [s]':>8}  {'stopped (rate before)':<62}  momentum jump  {'lost [J]':>11}  {'closed form':>11}")
    momentum, energy = run["system.angular_momentum"], run["system.energy"]
    for event in controller.stopped:
        row = round(event.time / SAMPLE)
        if row + 1 >= len(run):
            continue
        named = [
            f"{hinge} {angle:.3f} deg ({rate:.2f} deg/s)"
            for hinge in event.hinges
            for angle, rate in [np.degrees([run[f"{hinge}.joint.angle"][row], run[f"{hinge}.joint.rate"][row]])]
        ]
        jump = np.abs(momentum[row + 1] - momentum[row]).max()
        still = all(run[f"{hinge}.joint.rate"][row + 1] == 0 for hinge in controller.stops)
        wanted = f"{energy[row] - locked_energy(model, outputs(run, row)):11.8f}" if still else "others move"
        lost = f"{energy[row] - energy[row + 1]:11.8f}"
        print(f"{event.time:8.3f}  {', '.join(named):<62}  {jump:13.1e}  {lost}  {wanted:>11}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Panels that springs unfold and latches lock.")
    parser.add_argument("--until", type=float, default=20.0, help="end of the runs [s] (20)")
    parser.add_argument("--out", type=Path, help="folder for the results (default: a new temporary one)")
    given = parser.parse_args()
    out = given.out or Path(tempfile.mkdtemp(prefix="latching_panel_"))
    out.mkdir(parents=True, exist_ok=True)

    for path, make in CONTROLLERS.items():
        model, controller = load(path), make()
        run = unfold(model, controller, until=given.until)
        report(model, controller, run)
        thinned = replace(run, time=run.time[::WRITTEN], values=run.values[::WRITTEN])
        print(thinned.to_csv(out / f"{path.stem}.csv"))


if __name__ == "__main__":
    main()
