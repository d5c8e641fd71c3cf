"""The picture of the flat spin, as an SVG written by hand: no plotting package, and small.

A nutation is a minute long and a run ten hours, so each curve is drawn as the span from its least to its greatest value
in each column of the picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

WIDTH, PANEL, LEFT, RIGHT, TOP, GAP = 720, 200, 60, 20, 30, 44
COLUMNS = 320
HOUR = 3600.0  # s
COLOURS = ("#0b5fa5", "#c2571a", "#3a7d2c")


@dataclass(frozen=True)
class Panel:
    """One graph: its ``title``, what its axis spans (``ticks``, the first and the last being its ends), its ``curves``
    as (name, values)."""

    title: str
    ticks: Sequence[float]
    curves: Sequence[tuple[str, np.ndarray]]


def picture(time: np.ndarray, panels: Sequence[Panel], label: str) -> str:
    """The panels below each other over ``time`` [s]; ``label`` says what is seen to those who cannot see it."""
    height = TOP + len(panels) * (PANEL + GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{label}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#333">',
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
    ]
    for place, panel in enumerate(panels):
        parts += drawn(panel, time, TOP + place * (PANEL + GAP))
    parts.append(f'<text x="{WIDTH / 2:g}" y="{height - 8}" text-anchor="middle">time [h]</text></svg>')
    return "\n".join(parts) + "\n"


def drawn(panel: Panel, time: np.ndarray, top: int) -> list[str]:
    """The elements of one panel whose frame begins at ``top``."""
    low, high = panel.ticks[0], panel.ticks[-1]
    right, bottom = WIDTH - RIGHT, top + PANEL

    def x(t):
        return LEFT + (right - LEFT) * t / time[-1]

    def y(value):
        return bottom - PANEL * (value - low) / (high - low)

    parts = [f'<text x="{LEFT}" y="{top - 10}" font-weight="bold">{panel.title}</text>']
    for tick in panel.ticks:
        parts.append(f'<path d="M{LEFT} {y(tick):.1f}H{right}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>')
    for hour in range(int(time[-1] / HOUR + 1e-9) + 1):
        parts.append(f'<path d="M{x(hour * HOUR):.1f} {top}V{bottom}" stroke="#eee"/>')
        parts.append(f'<text x="{x(hour * HOUR):.1f}" y="{bottom + 16}" text-anchor="middle">{hour}</text>')
    for place, ((name, values), colour) in enumerate(zip(panel.curves, COLOURS, strict=False)):
        points = " ".join(f"{x(t):.1f},{y(value):.1f}" for t, value in spans(time, values))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.2"/>')
        at = f'x="{right - 8}" y="{top + 18 + 16 * place}"'
        parts.append(f'<text {at} text-anchor="end" fill="{colour}">{name}</text>')
    return parts


def spans(time: np.ndarray, values: np.ndarray) -> list[tuple[float, float]]:
    """Points of a curve, at most two a column: its least and its greatest value there, in the order of their times."""
    points = []
    for rows in np.array_split(np.arange(len(time)), min(COLUMNS, len(time))):
        ends = {int(rows[np.argmin(values[rows])]), int(rows[np.argmax(values[rows])])}
        points += [(float(time[row]), float(values[row])) for row in sorted(ends)]
    return points
