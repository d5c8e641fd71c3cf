"""Tables and charts of docs/speed.md: what stands between a section's marks is written anew, the rest stays."""

from __future__ import annotations

import math
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from mbdy.engine.core.build import compiler

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "speed.md"
WIDTH, HEIGHT, LEFT, TOP = 350, 280, 50, 30
COLOURS = "#c0392b", "#2a6f97", "#5f8a3a", "#b0792a", "#7a4f9a", "#555"


@dataclass(frozen=True)
class Table:
    """Rows of cells under headings, and a sentence below."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    def __str__(self) -> str:
        lines = [self.columns, ["---"] * len(self.columns), *self.rows]
        table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        return f"{table}\n\n{self.note}" if self.note else table


def number(value: float) -> str:
    """Two figures, or all of those before the point: ``0.87``, ``1.5``, ``12``, ``9,828``."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    return f"{value:,.{max(0, 1 - math.floor(math.log10(abs(value)) + 1e-9))}f}"


def put(name: str, text: str) -> None:
    """Writes ``text`` between the marks of section ``name``. Raises ValueError where the page has none."""
    page = PAGE.read_text(encoding="utf-8")
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    if begin not in page or end not in page:
        raise ValueError(f"{PAGE}: has no marks {begin.strip()} and {end.strip()}")
    head, rest = page.split(begin, 1)
    PAGE.write_text(f"{head}{begin}{text}\n{rest[rest.index(end) :]}", encoding="utf-8")


def machine(peers: Mapping[str, str]) -> str:
    """A sentence on this machine, with versions."""
    model = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), model)
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    load = f", load {os.getloadavg()[0]:.1f} as it began" if hasattr(os, "getloadavg") else ""
    peer = "".join(f", {name} {number}" for name, number in peers.items())
    return (
        f"Measured on {model} ({os.cpu_count()} processors{load}), {platform.system()} {platform.machine()}, "
        f"{compiler().version.splitlines()[0]}, Python {platform.python_version()}, casadi {version('casadi')}, "
        f"mbdy at {commit or 'no commit'}{'; peers' if peer else ''}{peer[1:]}."
    )


def chart(panels: Mapping[str, Mapping[str, Mapping[float, float]]], *, x: str, y: str, ticks: Sequence[float]) -> str:
    """An SVG of panels beside each other: curves by name, of y over x, both axes logarithmic."""
    names = list(dict.fromkeys(name for curves in panels.values() for name in curves))
    places = [at for curves in panels.values() for points in curves.values() for at in points]
    low, high = math.log(min(places)), math.log(max(places))
    floor, roof = math.log(min(ticks)), math.log(max(ticks))
    width, height = len(panels) * WIDTH, HEIGHT + TOP + 50
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{y} over {x}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#333">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    for panel, (title, curves) in enumerate(panels.items()):
        left, right, bottom = panel * WIDTH + LEFT, (panel + 1) * WIDTH - 12, TOP + HEIGHT - 40

        def across(value: float, left: float = left, right: float = right) -> float:
            return left + (right - left) * (math.log(value) - low) / (high - low or 1.0)

        def up(value: float, bottom: float = bottom) -> float:
            return bottom - (bottom - TOP) * (math.log(value) - floor) / (roof - floor)

        parts.append(f'<text x="{left}" y="{TOP - 10}" font-weight="bold">{title}</text>')
        for tick in ticks:
            parts.append(f'<path d="M{left} {up(tick):.1f}H{right}" stroke="#ddd"/>')
            parts.append(f'<text x="{left - 6}" y="{up(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>')
        for at in sorted(set(places)):
            parts.append(f'<text x="{across(at):.1f}" y="{bottom + 16}" text-anchor="middle">{at:g}</text>')
        for name, points in curves.items():
            line = " ".join(f"{across(at):.1f},{up(min(value, max(ticks))):.1f}" for at, value in points.items())
            colour = COLOURS[names.index(name) % len(COLOURS)]
            parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.8"/>')
        parts.append(f'<text x="{(left + right) / 2}" y="{bottom + 32}" text-anchor="middle">{x}</text>')
    parts += [
        f'<text x="{LEFT + i * (width - LEFT) / len(names):.0f}" y="{height - 12}" '
        f'fill="{COLOURS[i % len(COLOURS)]}">{name}</text>'
        for i, name in enumerate(names)
    ]
    return "\n".join([*parts, "</svg>"]) + "\n"
