"""The flat spin: TumbleSat without any controller, for ten hours.

    python run.py --out results
    python run.py --locked --out results

Prints rates and energy, and how well momentum was kept; writes ``tumblesat.csv`` and ``flat_spin.svg``. With
``--locked`` no antenna moves: nothing dissipates, and the spin about the axis of least inertia is stable.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from pathlib import Path

import numpy as np
from plot import Panel, picture

from mbdy.blocks import Plant, Run, simulate
from mbdy.engine import Model, ModelWarning, load

MODEL = Path(__file__).with_name("tumblesat.toml")
ANTENNAS = ("antenna_1", "antenna_2", "antenna_3", "antenna_4")
RECORDED = ("bus.omega", "*.joint.angle", "system.angular_momentum", "system.energy")
UNTIL = 36_000.0  # s: the flat spin is reached after seven hours
STEP = 0.1  # s: 0.5 degrees of the first spin
EVERY = 10.0  # s


def satellite() -> Model:
    """The model; its warning, of 42's inertia, is known and explained in README.md."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return load(MODEL)


def tumble(model: Model, *, until: float = UNTIL, locked: bool = False, step: float = STEP) -> Run:
    """The satellite left to itself from 0 to ``until`` [s]."""
    plant = Plant(model, step=step)
    for antenna in ANTENNAS:
        plant[f"{antenna}.joint.locked"] = [locked, locked]
    return simulate(plant, until=until, every=EVERY, outputs=RECORDED)


def momentum_drift(run: Run) -> float:
    """Largest change of the angular momentum in any direction, relative to its magnitude."""
    momentum = run["system.angular_momentum"]
    return float(np.linalg.norm(momentum - momentum[0], axis=1).max() / np.linalg.norm(momentum[0]))


def drawing(run: Run) -> str:
    """Rates of the bus and energy over time, as an SVG."""
    rates = np.degrees(run["bus.omega"])
    panels = (
        Panel("rate of the bus [deg/s]", range(-2, 6), [(axis, rates[:, k]) for k, axis in enumerate("xyz")]),
        Panel("energy [J]", (0, 0.5, 1, 1.5, 2, 2.5), [("kinetic and springs", run["system.energy"])]),
    )
    return picture(run.time, panels, "The spin of TumbleSat goes from its z axis to its x axis while its energy falls")


def main() -> None:
    parser = argparse.ArgumentParser(description="TumbleSat: from a spin about the minor axis into a flat spin.")
    parser.add_argument("--until", type=float, default=UNTIL, help=f"end of the run [s] ({UNTIL:g})")
    parser.add_argument("--locked", action="store_true", help="lock all antennas")
    parser.add_argument("--out", type=Path, help="folder for the results (default: a new temporary one)")
    given = parser.parse_args()
    out = given.out or Path(tempfile.mkdtemp(prefix="tumblesat_"))
    out.mkdir(parents=True, exist_ok=True)

    run = tumble(satellite(), until=given.until, locked=given.locked)

    rates, energy = np.degrees(run["bus.omega"]), run["system.energy"]
    print(f"{'time [s]':>8}  {'rate of the bus, x y z [deg/s]':>34}  {'energy [J]':>10}")
    for row in np.linspace(0, len(run) - 1, 13).round().astype(int):
        print(f"{run.time[row]:8.0f}  " + "".join(f"{rate:12.6f}" for rate in rates[row]) + f"{energy[row]:11.6f}")
    size = np.linalg.norm(run["system.angular_momentum"][0])
    print(f"angular momentum kept to {momentum_drift(run):.1e} of {size:.4f} N.m.s")
    print(f"energy fell from row to row {np.count_nonzero(np.diff(energy) < 0)} times of {len(run) - 1}")
    drawn = out / "flat_spin.svg"
    drawn.write_text(drawing(run), encoding="utf-8")
    print(run.to_csv(out / "tumblesat.csv"), drawn, sep="\n")


if __name__ == "__main__":
    main()
