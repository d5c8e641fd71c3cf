"""Two test rigs on air: a platform on a ball, and a vehicle on a flat table.

    python run.py --until 60 --out results

Prints the frequency at which the free platform swings beside that of a pendulum, and how the controllers bring platform
and vehicle to rest; writes ``platform.csv``, ``above.csv``, ``table.csv`` and ``platform.html`` (plots).
"""

from __future__ import annotations

import argparse
import tempfile
from math import cos, pi, sin, sqrt
from pathlib import Path

import numpy as np
from controller import SAMPLE, make_controller, make_table_controller

from mbdy.blocks import Plant, Run, simulate
from mbdy.engine import Model, load

PLATFORM = Path(__file__).with_name("air_bearing.toml")
TABLE = Path(__file__).with_name("air_table.toml")
STEP = 0.01  # s
EVERY = 0.1  # s
SWING = 1e-3  # rad, amplitude of the swing whose frequency is measured
SWINGING = 120.0  # s


def pendulum_frequency(model: Model, axis: int) -> float:
    """[rad/s] of small swings about a horizontal ``axis`` (0 or 1), mass centre straight below the ball's centre.

    ``sqrt(m g d / (I - J + m d^2))``: a wheel that spins without friction does not turn with the platform about its own
    axis, so its spin inertia J does not count.
    """
    platform = model.body("platform")
    below = -platform.com[2]
    moved = platform.inertia[axis][axis] - platform.wheels["xy"[axis]].inertia + platform.mass * below**2
    return sqrt(platform.mass * -model.gravity[2] * below / moved)


def swing(model: Model, axis: int) -> Run:
    """The platform left to itself after a small tilt about ``axis`` (0 or 1)."""
    plant = Plant(model, step=STEP)
    tilt = [cos(SWING / 2), 0.0, 0.0, 0.0]
    tilt[1 + axis] = sin(SWING / 2)
    plant["platform.joint.attitude"] = tilt
    return simulate(plant, until=SWINGING, every=STEP, outputs=["platform.attitude", "platform.omega"])


def measured_frequency(run: Run, axis: int) -> float:
    """[rad/s] of the tilt about ``axis``, from the first to the last time that it goes through zero.

    A pendulum of amplitude a is slower than a small one by the factor ``1 - a^2 / 16``, which is taken out.
    """
    tilt, rate = 2 * run["platform.attitude"][:, 1 + axis], run["platform.omega"][:, axis]
    before = np.flatnonzero(np.diff(np.sign(tilt)))
    nearest = np.where(np.abs(tilt[before]) < np.abs(tilt[before + 1]), before, before + 1)
    crossings = run.time[nearest] - tilt[nearest] / rate[nearest]
    return float((len(crossings) - 1) * pi / (crossings[-1] - crossings[0]) / (1 - SWING**2 / 16))


def level(model: Model, *, until: float, above: bool = False) -> Run:
    """The platform under its controller; ``above``: with its mass centre as far above the ball as it is below."""
    plant = Plant(model, step=STEP)
    if above:
        plant["platform.com[3]"] = -model.body("platform").com[2]
    return simulate(plant, until=until, every=EVERY, controller=make_controller(), sample=SAMPLE)


def slide(model: Model, *, until: float) -> Run:
    """The vehicle on the table under its controller."""
    return simulate(model, until=until, every=EVERY, controller=make_table_controller(), sample=SAMPLE, step=STEP)


def tilts(run: Run) -> np.ndarray:
    """Angle [rad] between the platform's z axis and the vertical at each row."""
    q = run["platform.attitude"]
    return 2 * np.arcsin(np.minimum(1.0, np.hypot(q[:, 1], q[:, 2])))


def headings(run: Run) -> np.ndarray:
    """Angle [rad] by which the platform is turned about the vertical at each row."""
    q = run["platform.attitude"]
    return 2 * np.arctan2(q[:, 3], q[:, 0])


def vertical_momentum(run: Run, pivot: np.ndarray) -> np.ndarray:
    """Angular momentum [N.m.s] about the vertical through ``pivot`` at each row: gravity cannot change it."""
    arm = run["system.centre_of_mass"] - pivot
    return (run["system.angular_momentum"] + np.cross(arm, run["system.momentum"]))[:, 2]


def told(run: Run, columns: dict[str, np.ndarray]) -> None:
    """A table of ``columns`` at eight rows of the run."""
    print(f"{'time [s]':>8}  " + "  ".join(f"{name:>20}" for name in columns))
    for row in np.linspace(0, len(run) - 1, 9).round().astype(int):
        print(f"{run.time[row]:8.1f}  " + "  ".join(f"{values[row]:20.5f}" for values in columns.values()))


def main() -> None:
    parser = argparse.ArgumentParser(description="A platform on an air bearing and a vehicle on an air table.")
    parser.add_argument("--until", type=float, default=60.0, help="end of the controlled runs [s] (60)")
    parser.add_argument("--out", type=Path, help="folder for the results (default: a new temporary one)")
    given = parser.parse_args()
    out = given.out or Path(tempfile.mkdtemp(prefix="air_bearing_"))
    out.mkdir(parents=True, exist_ok=True)
    platform, table = load(PLATFORM), load(TABLE)

    print("free swing of the platform")
    for axis in (0, 1):
        measured, wanted = measured_frequency(swing(platform, axis), axis), pendulum_frequency(platform, axis)
        print(f"about {'xy'[axis]}: {measured:.9f} rad/s, pendulum {wanted:.9f} rad/s")
    for name, above in (("platform", False), ("above", True)):
        run = level(platform, until=given.until, above=above)
        print(f"\nlevelled, mass centre {'above' if above else 'below'} the ball")
        speeds = {f"wheel {wheel} [rad/s]": run[f"platform.{wheel}.speed"] for wheel in "xyz"}
        told(run, {"tilt [deg]": np.degrees(tilts(run)), "heading [deg]": np.degrees(headings(run)), **speeds})
        print(run.to_csv(out / f"{name}.csv"))
        if not above:
            plots = out / "platform.html"
            run.plot("platform.attitude", "platform.omega", "platform.*.speed").write_html(plots)
            print(plots)
    run = slide(table, until=given.until)
    print("\nthe vehicle on the table")
    x, y = run["vehicle.joint.displacement"].T
    told(run, {"x [m]": x, "y [m]": y, "turned [deg]": np.degrees(run["vehicle.joint.angle"])})
    print(run.to_csv(out / "table.csv"))


if __name__ == "__main__":
    main()
