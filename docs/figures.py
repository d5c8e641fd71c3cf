"""Draws the pictures of the documentation from runs of the examples: ``python docs/figures.py``.

An SVG is written by hand here, so that the picture needs no plotting package and stays small.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mbdy.blocks import simulate

DOCS = Path(__file__).parent
QUICKSTART = DOCS.parent / "examples" / "quickstart"
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


if __name__ == "__main__":
    (DOCS / "quickstart.svg").write_text(quickstart(), encoding="utf-8")
