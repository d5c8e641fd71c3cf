"""A kick stage that burns out while it spins.

    python run.py
    python run.py --aside 0.002

Prints the velocity gained beside Tsiolkovsky's, how jet damping takes the nutation out beside its closed form, and what
momentum of craft and exhaust, and work, have lost. ``--aside`` [m] puts the nozzle off the axis.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from mbdy.blocks import Plant, Run, simulate
from mbdy.engine import load

MODEL = Path(__file__).with_name("kick.toml")
FLOW, EXHAUST = 5.0, 2800.0  # kg/s, m/s
DRY, PROPELLANT = 300.0, 250.0  # kg
BURN = PROPELLANT / FLOW  # s
STEP = 0.001  # s: 0.36 degrees of the spin
SEEN = ("tank.*", "system.*", "stage.omega", "stage.attitude", "stage.nozzle.*")


def burn(*, aside: float = 0.0, until: float = BURN + 1.0, every: float = 0.002) -> Run:
    """The stage from ignition to ``until`` [s], with its nozzle so far off the axis [m]."""
    plant = Plant(load(MODEL), step=STEP)
    plant["stage.nozzle.at"] = [aside, 0.0, -0.9]
    plant["tank.motor.flow"] = FLOW
    return simulate(plant, until=until, every=every, outputs=SEEN)


def nutation_left(propellant: np.ndarray) -> np.ndarray:
    """Transverse rate that jet damping leaves of the first, with so much propellant left [kg], the nozzle on the axis.

    ``J w' = -f (l^2 - k) w``, with J and the arm l of the nozzle about the mass centre of then, k the square of the
    propellant's radius of gyration about it: what leaves takes ``l^2 w`` along, and had ``k w``.
    """
    masses = np.linspace(PROPELLANT, 0.0, 20_001)
    centre = -0.2 * masses / (DRY + masses)
    gyration = 0.4**2 / 4 + 0.7**2 / 12
    inertia = 150.0 + DRY * centre**2 + masses * (gyration + (centre + 0.2) ** 2)
    slope = ((centre + 0.9) ** 2 - gyration - (centre + 0.2) ** 2) / inertia  # d ln w / d mass
    burned = np.concatenate([[0.0], np.cumsum((slope[1:] + slope[:-1]) / 2 * (masses[0] - masses[1]))])
    return np.exp(-np.interp(PROPELLANT - propellant, PROPELLANT - masses, burned))


def exhaust_momentum(run: Run) -> np.ndarray:
    """Linear momentum (3) of all that has left, by Simpson's rule over the rows of ``run``."""
    w, x, y, z = run["stage.attitude"].T
    thrust = np.stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)], axis=1)  # z of the stage
    gone = FLOW * (run["stage.nozzle.velocity"] - EXHAUST * thrust)
    return (gone[0] + gone[-1] + 4 * gone[1:-1:2].sum(axis=0) + 2 * gone[2:-1:2].sum(axis=0)) * (run.time[1]) / 3


def main() -> None:
    """Burn out and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aside", type=float, default=0.0, help="nozzle off the axis [m]")
    aside = parser.parse_args().aside
    run, burning = burn(aside=aside), burn(aside=aside, until=BURN - 1.0)
    gained = np.linalg.norm(run["system.centre_of_mass_velocity"][-1])
    wobble = np.linalg.norm(run["stage.omega"][:, :2], axis=1)
    left = burning["system.momentum"][-1] + exhaust_momentum(burning) - burning["system.momentum"][0]
    print(f"velocity gained        {gained:.4f} m/s of {EXHAUST * np.log(1 + PROPELLANT / DRY):.4f} m/s")
    print(f"nutation left          {wobble[-1] / wobble[0]:.9f}, on the axis {nutation_left(np.zeros(1))[0]:.9f}")
    print(
        f"momentum lost          {np.abs(left).max():.2g} N.s of {np.linalg.norm(burning['system.momentum'][-1]):.4g}"
    )
    print(f"work error             {run['system.work_error'][-1]:.2g} J of {run['system.energy'][-1]:.4g}")
    print(f"propellant, thrust     {run['tank.motor.mass'][-1]:g} kg, {run['tank.motor.thrust'][-1]:g} N")


if __name__ == "__main__":
    main()
