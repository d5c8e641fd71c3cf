"""A geared gimbal points a dish, and holds it by friction.

    python run.py --until 5 --out results

Prints angles, efforts and how far the satellite turns meanwhile; writes ``gimbal.csv`` and ``gimbal.html`` (plots).
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from controller import RATIO, SAMPLE, STIFFNESS, TARGETS, make_controller

from mbdy.blocks import Run, simulate
from mbdy.engine import Body, Model, load

MODEL = Path(__file__).with_name("gimbal.toml")
STEP = 1e-3  # s
EVERY = 0.05  # s
AXES = ("azimuth", "dish")


def slew(model: Model, *, until: float) -> Run:
    """The dish pointed from 0 to ``until`` [s]."""
    return simulate(model, until=until, every=EVERY, controller=make_controller(), sample=SAMPLE, step=STEP)


def with_a_rotor(model: Model) -> Model:
    """The same system with the azimuth's motor told by its joint, as the elevation's is: no motor, no gear."""
    motor, azimuth = model.body("motor"), model.body("azimuth")
    told = {"rotor_inertia": (motor.inertia[2][2],), "gear_ratio": (RATIO,), "rotor_axis": ((0.0, 0.0, 1.0),)}
    damping = (RATIO**2 * motor.joint.damping[0],)
    others = {
        "bus": carrying(model.body("bus"), motor),
        "azimuth": replace(azimuth, joint=replace(azimuth.joint, damping=damping, **told)),
    }
    bodies = tuple(others.get(body.name, body) for body in model.bodies if body is not motor)
    return replace(model, bodies=bodies, gears=())


def carrying(body: Body, part: Body) -> Body:
    """``body`` with the mass and inertia of a ``part`` whose mass centre is at its joint, along the axes of both."""
    mass = body.mass + part.mass
    com = (body.mass * np.array(body.com) + part.mass * np.array(part.joint.at)) / mass
    inertia = np.zeros((3, 3))
    for one, centre in ((body, body.com), (part, part.joint.at)):
        d = np.array(centre) - com
        inertia += np.array(one.inertia) + one.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return replace(body, mass=mass, com=com, inertia=inertia)


def left(run: Run) -> dict[str, float]:
    """How far each axis is from where it should be at the end [rad]."""
    return {axis: float(run[f"{axis}.joint.angle"][-1]) - TARGETS[axis] for axis in AXES}


def allowed(model: Model) -> dict[str, float]:
    """What friction can hold against the springs of the motors [rad]."""
    return {axis: model.body(axis).joint.breakaway[0] / (RATIO**2 * STIFFNESS) for axis in AXES}


def bus_turn(run: Run) -> np.ndarray:
    """Angle [rad] that the bus has turned by at each row."""
    return 2 * np.arccos(np.clip(np.abs(run["bus.attitude"][:, 0]), 0.0, 1.0))


def main() -> None:
    parser = argparse.ArgumentParser(description="A gimbal with geared motors and friction that sticks.")
    parser.add_argument("--until", type=float, default=5.0, help="end of the run [s] (5)")
    parser.add_argument("--out", type=Path, help="folder for the results (default: a new temporary one)")
    given = parser.parse_args()
    out = given.out or Path(tempfile.mkdtemp(prefix="geared_gimbal_"))
    out.mkdir(parents=True, exist_ok=True)

    model = load(MODEL)
    run = slew(model, until=given.until)
    turned, angles = np.degrees(bus_turn(run)), {axis: np.degrees(run[f"{axis}.joint.angle"]) for axis in AXES}
    print(f"{'time [s]':>8}  {'azimuth, elevation [deg]':>24}  {'gear on azimuth [N.m]':>21}  {'bus turned [deg]':>16}")
    for row in np.linspace(0, len(run) - 1, 13).round().astype(int):
        effort, pair = run["gear.azimuth.effort"][row, 0], "".join(f"{angles[axis][row]:12.4f}" for axis in AXES)
        print(f"{run.time[row]:8.2f}  {pair}  {effort:21.4f}  {turned[row]:16.4f}")
    off, most = left(run), allowed(model)
    for axis in AXES:
        held = f"friction holds up to {np.degrees(most[axis]):.4f} deg"
        print(f"{axis}: {np.degrees(off[axis]):.4f} deg off at the end; {held}")
    momentum = np.abs(run["system.angular_momentum"]).max()
    print(f"angular momentum {momentum:.1e} N.m.s, work error {np.abs(run['system.work_error']).max():.1e} J")
    plots = out / "gimbal.html"
    run.plot("*.joint.angle", "*.joint.rate", "gear.azimuth.effort", "bus.omega").write_html(plots)
    print(run.to_csv(out / "gimbal.csv"), plots, sep="\n")


if __name__ == "__main__":
    main()
