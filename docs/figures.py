"""Draws the pictures of the documentation from runs of the examples: ``python docs/figures.py``.

An SVG is written by hand here, so that the picture needs no plotting package and stays small.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mbdy.blocks import CelestialSensors, SwitchingAmplifier, ThrusterPair, simulate, simulate_located

DOCS = Path(__file__).parent
QUICKSTART = DOCS.parent / "examples" / "quickstart"
JPL_CASES = DOCS.parent / "examples" / "jpl_cases"
WIDTH, PANEL, MARGIN, GAP = 720, 170, 64, 46
UNTIL, EVERY = 60.0, 0.2


@dataclass(frozen=True)
class Panel:
    """One graph: a ``title``, the ``low`` and ``high`` end of its axis, grid lines at ``ticks``, and its curves."""

    title: str
    low: float
    high: float
    ticks: Sequence[float]
    curves: Sequence[tuple[str, str, np.ndarray]]


def svg(time: np.ndarray, panels: Sequence[Panel], label: str) -> str:
    """The panels one below the other over ``time``; ``label`` says what is seen to those who cannot see it."""
    height = len(panels) * (PANEL + GAP) + 24
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{label}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#333">',
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
    ]
    for place, panel in enumerate(panels):
        parts += drawn(panel, time, 24 + place * (PANEL + GAP))
    parts.append(f'<text x="{WIDTH / 2}" y="{height - 8}" text-anchor="middle">time [s]</text></svg>')
    return "\n".join(parts) + "\n"


def drawn(panel: Panel, time: np.ndarray, top: float) -> list[str]:
    """The elements of one panel whose frame begins at ``top``."""
    right, bottom = WIDTH - 20, top + PANEL

    def x(t):
        return MARGIN + (right - MARGIN) * t / time[-1]

    def y(value):
        return bottom - PANEL * (value - panel.low) / (panel.high - panel.low)

    parts = [f'<text x="{MARGIN}" y="{top - 10}" font-weight="bold">{panel.title}</text>']
    for tick in panel.ticks:
        parts.append(f'<path d="M{MARGIN} {y(tick):.1f}H{right}" stroke="#ddd"/>')
        parts.append(f'<text x="{MARGIN - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>')
    for tick in np.arange(0, time[-1] + 1, 10):
        parts.append(f'<path d="M{x(tick):.1f} {top}V{bottom}" stroke="#eee"/>')
        parts.append(f'<text x="{x(tick):.1f}" y="{bottom + 16}" text-anchor="middle">{tick:g}</text>')
    for place, (name, colour, values) in enumerate(panel.curves):
        points = " ".join(f"{x(t):.1f},{y(v):.1f}" for t, v in zip(time, values, strict=True))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
        at = f'x="{right - 8}" y="{top + 18 + 16 * place}"'
        parts.append(f'<text {at} text-anchor="end" fill="{colour}">{name}</text>')
    return parts


def quickstart() -> str:
    """The slew of the quickstart: attitude error and bending of the panels."""
    sys.path.insert(0, str(QUICKSTART))
    from controller import make_controller
    from run import SAMPLE, attitude_errors

    run = simulate(QUICKSTART / "satellite.toml", until=UNTIL, every=EVERY, controller=make_controller(), sample=SAMPLE)
    panels = (
        Panel("attitude error [deg]", 0, 50, (0, 10, 20, 30, 40, 50),
              (("bus to target", "#0b5fa5", np.degrees(attitude_errors(run))),)),
        Panel("rate of the bus [deg/s]", -3, 2, (-3, -2, -1, 0, 1, 2), tuple(
            (f"bus.omega[{k + 1}]", colour, np.degrees(run["bus.omega"][:, k]))
            for k, colour in enumerate(("#0b5fa5", "#c2571a", "#3a7d2c")))),
        Panel("hinge angle of the right panel [deg]", -1, 3, (-1, 0, 1, 2, 3),
              (("right_panel.joint.angle", "#0b5fa5", np.degrees(run["right_panel.joint.angle"])),)),
    )  # fmt: skip
    return svg(run.time, panels, "The two-panel satellite turns by 46 degrees in a minute while its panels bend")


class Jets:
    """The controller of ``control-blocks.md``: jets about three axes of the bus."""

    def __init__(self) -> None:
        self.sensors = CelestialSensors()
        self.amplifiers = [SwitchingAmplifier(0.01, minimum_on=0.05) for _ in range(3)]
        self.pairs = [ThrusterPair(5.0, axis) for axis in ((1, 0, 0), (0, 1, 0), (0, 0, 1))]
        self.blocks = [*self.amplifiers, *self.pairs]

    def __call__(self, t, y):
        errors = -self.sensors.step(t, y["bus.attitude"]) - 5.0 * y["bus.omega"]
        levels = [amplifier.step(t, error) for amplifier, error in zip(self.amplifiers, errors, strict=True)]
        return {"bus.torque": sum(pair.step(t, level) for pair, level in zip(self.pairs, levels, strict=True))}


def control_blocks() -> str:
    """The slew of the quickstart by jets: what their sensors see, and how often they have fired."""
    jets = Jets()
    model = QUICKSTART / "satellite.toml"
    located = simulate_located(model, until=UNTIL, every=EVERY, controller=jets, step=0.01)
    time = located.run.time
    angles = np.degrees([jets.sensors.step(0.0, q) for q in located.run["bus.attitude"]])
    fired = [np.searchsorted([p.begin for p in located.pulses(k)], time, side="right") for k in range(3)]
    colours, zone = ("#0b5fa5", "#c2571a", "#3a7d2c"), np.degrees(0.01)
    axes = tuple(enumerate(colours))
    panels = (
        Panel("angles of the sensors [deg]", -30, 40, (-20, 0, 20, 40),
              tuple((f"axis {k + 1}", colour, angles[:, k]) for k, colour in axes)),
        Panel("the same near the dead zone, 0.57 deg to either side", -1, 1.7, (-1, -0.57, 0, 0.57, 1),
              tuple((f"axis {k + 1}", colour, np.clip(angles[:, k], -1, 1)) for k, colour in axes)),
        Panel("pulses so far", 0, 1150, (0, 200, 400, 600, 800),
              tuple((f"axis {k + 1}", colour, fired[k]) for k, colour in axes)),
    )  # fmt: skip
    return svg(time, panels, f"Jets turn the satellite into their dead zone of {zone:.2f} deg and hold it there")


AXES = tuple(enumerate(("#0b5fa5", "#c2571a", "#3a7d2c")))


def jpl_case1() -> str:
    """Case 1 of the report under its jets (its Fig. 7)."""
    sys.path.insert(0, str(JPL_CASES))
    from cases import CASES
    from jets import run_with_jets
    from program import sensor_angles

    run = run_with_jets(CASES["case1"]).run
    every = slice(None, None, 2)
    angles = np.array([sensor_angles(q) for q in run["body0.attitude"]])[every]
    hinges = tuple((name, colour, run[f"body{k}.joint.angle"][every])
                   for k, name, colour in ((3, "GM3", "#0b5fa5"), (4, "GM4", "#c2571a")))  # fmt: skip
    panels = (
        Panel("attitude angles [rad], dead band 0.005 to either side", -0.006, 0.01, (-0.005, 0, 0.005),
              tuple((f"THET{k + 1}", colour, angles[:, k]) for k, colour in AXES)),
        Panel("rates of body 0 [rad/s]", -0.002, 0.005, (-0.001, 0, 0.001, 0.002),
              tuple((f"W{k + 1}", colour, run["body0.omega"][every, k]) for k, colour in AXES)),
        Panel("hinge angles of the boom [rad]", -6e-4, 9e-4, (-4e-4, 0, 4e-4), hinges),
    )  # fmt: skip
    return svg(run.time[every], panels, "Jets hold the attitude within the dead band while the platform slews")


def jpl_case2() -> str:
    """Case 2 of the report by MBDY, and what MBDYTL makes of it (its Figs. 14 and 16)."""
    sys.path.insert(0, str(JPL_CASES))
    from cases import CASES
    from program import Program
    from vehicle import NOMINAL, at_nominal, vehicle

    from mbdy.blocks.jpl import MBDYTL

    exact = Program(CASES["case2"], vehicle()).run()
    linear = Program(CASES["case2"], at_nominal(vehicle(), NOMINAL), MBDYTL).run()
    every = slice(None, None, 2)
    moved = np.degrees(exact["GM"] - exact["GM"][0])[every]
    panels = (
        Panel("platform angles from their start [deg]", -1, 8, (0, 2, 5),
              tuple((f"GM{k + 1}", colour, moved[:, k]) for k, colour in AXES[:2])),
        Panel("rates of body 0 [rad/s], MBDY", -0.0015, 0.0015, (-0.001, 0, 0.001),
              tuple((f"W{k + 1}", colour, exact["W"][every, k]) for k, colour in AXES)),
        Panel("the same of MBDYTL less those of MBDY [rad/s]", -0.00015, 0.00015, (-0.0001, 0, 0.0001),
              tuple((f"W{k + 1}", colour, (linear["W"] - exact["W"])[every, k]) for k, colour in AXES)),
    )  # fmt: skip
    return svg(exact.time[every], panels, "Rates of the small manoeuvre, exact, and how far the linear ones are off")


if __name__ == "__main__":
    (DOCS / "jpl-case1.svg").write_text(jpl_case1(), encoding="utf-8")
    (DOCS / "jpl-case2.svg").write_text(jpl_case2(), encoding="utf-8")
    (DOCS / "control-blocks.svg").write_text(control_blocks(), encoding="utf-8")
    (DOCS / "quickstart.svg").write_text(quickstart(), encoding="utf-8")
