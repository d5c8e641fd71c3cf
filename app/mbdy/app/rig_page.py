"""The page of a run on a rig: figures, percentiles as curves, counters, faults on purpose; one file, no network."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mbdy.app.common import version
from mbdy.app.pages import Bullets, Code, Foreign, Grid, Heading, PageBlock, Paragraph, Strong, html_page
from mbdy.blocks.rig.histogram import Histogram, duration
from mbdy.engine.model.text import html

if TYPE_CHECKING:
    from mbdy.blocks.rig import RigResult

TIMES = {
    "wake": "from the tick until the loop is awake",
    "step": "of the plant's own step",
    "trip": "from outputs that were sent until the inputs that answer them",
}
"""What the histograms are of."""
COUNTERS = {
    "cycles": "steps of the plant",
    "missed": "late_cycles and overslept: cycles that ended after the next tick",
    "late_cycles": "cycles that were not ready at the next tick",
    "overslept": "cycles in which the system woke the loop a whole period too late",
    "skipped": "ticks without a cycle of their own",
    "acted": "packets of inputs that acted",
    "commanded": "packets that began or ended a fault on purpose",
    "greeted": "packets that asked for outputs",
    "sent": "packets of outputs that went",
    "unsent": "packets of outputs that the system did not take",
    "watchdog": "times that nobody commanded for so long that the safe inputs acted",
    "late": "packets that answer outputs too long ago; not acted on",
    "replayed": "packets that came before; not acted on",
    "reordered": "packets that came after later ones; not acted on",
    "foreign": "packets of senders that are not allowed; not acted on",
    "truncated": "packets that are too short; not acted on",
    "malformed": "packets that are none, or of numbers that no input can have; not acted on",
    "forged": "packets without the seal of the key; not acted on",
    "other_layout": "packets for another model; not acted on",
    "other_session": "packets of a second controller, or of one from before; not acted on",
    "dropped": "packets that a fault on purpose left away",
    "unrecorded": "rows of the recording for which there was no room",
}
"""What the counters count."""
SHOWN = (50.0, 90.0, 99.0, 99.9, 99.99)
"""Percentiles that are shown."""


def figures(times: Mapping[str, Histogram]) -> list[list[str]]:
    """A row for each histogram: its name, how many, the least, percentiles, the most."""
    return [
        [name, f"{one.count:,}", duration(one.min), *(duration(one.percentile(p)) for p in SHOWN), duration(one.max)]
        for name, one in times.items()
    ]


HEADER = ["", "count", "min", *(f"p{percent:g}" for percent in SHOWN), "max"]


def rig_page(
    title: str, result: RigResult, settings: Mapping[str, str], judged: Sequence[tuple[str, bool]] = ()
) -> str:
    """The page of a ``result``: how the rig was set, what was required and whether it was kept, what was counted."""
    count = result.counters
    blocks: list[PageBlock] = [
        Heading((Foreign(title),), 1),
        Paragraph(
            f"{count['cycles']:,} cycles of {duration(result.period)}, to {result.time:.9g} s of the plant; "
            f"{count['missed']:,} missed the next tick; ended: {result.end}"
        ),
    ]
    if judged:
        broken = sum(not met for _, met in judged)
        verdict = f"{broken} of {len(judged)} requirements not kept" if broken else "all requirements kept"
        blocks += [Heading("Requirements"), Paragraph((Strong(verdict),))]
        blocks.append(Grid(["", ""], [[Code(text), "kept" if met else (Strong("not kept"),)] for text, met in judged]))
    blocks += [
        Heading("Times"),
        Percentiles(result.histograms, result.period),
        Grid(HEADER, figures(result.histograms)),
    ]
    blocks.append(Bullets([(Code(name), f": time {TIMES[name]}") for name in result.histograms]))
    blocks += [Heading("Counters"), Grid(["", "", ""], [[Code(n), f"{v:,}", COUNTERS[n]] for n, v in count.items()])]
    if result.events:
        said = [(f"{e.time:.9g} s: ", Foreign(str(e.fault)), " begins" if e.on else " ends") for e in result.events]
        blocks += [Heading("Faults on purpose"), Bullets(said)]
    if result.notes:
        blocks += [Heading("Not permitted"), Bullets(result.notes)]
    blocks += [Heading("Settings"), Grid(["", ""], [[name, (Foreign(value),)] for name, value in settings.items()])]
    return html_page(title, blocks, f"Made by mbdy {version()}.")


@dataclass(frozen=True, slots=True)
class Percentiles:
    """Curves of the time below which a share of all lies; in HTML alone. ``period`` [s] is drawn beside them."""

    times: Mapping[str, Histogram]
    period: float

    def markdown(self) -> list[str]:
        return []

    def html(self) -> str:
        title = "Time below which a share of all lies; dashed: the period"
        return (
            f'<figure class="card"><figcaption class="soft">{html(title)}</figcaption>'
            f'<svg class="bars" viewBox="0 -10 {WIDTH} {HEIGHT + 36}" role="img"><title>{html(title)}</title>'
            f"{''.join(self._drawn())}</svg></figure>"
        )

    def _drawn(self) -> Iterator[str]:
        measured = {name: one for name, one in self.times.items() if one.count}
        ends = [self.period, *(max(t, 1e-9) for one in measured.values() for t in (one.min, one.max))]
        low, high = math.floor(math.log10(min(ends))), math.ceil(math.log10(max(ends)) + 1e-9)
        nines = max([2.0, *(math.log10(one.count) for one in measured.values())])

        def x(rarity: float) -> float:
            return LEFT + (WIDTH - LEFT - RIGHT) * min(rarity, nines) / nines

        def y(time: float) -> float:
            return HEIGHT - HEIGHT * (math.log10(max(time, 1e-9)) - low) / (high - low)

        for decade in range(low, high + 1):
            at = y(10.0**decade)
            yield f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>'
            yield f'<text class="name" x="{LEFT - 8}" y="{at + 4:.1f}">{duration(10.0**decade)}</text>'
        for nine in range(math.floor(nines) + 1):
            yield f'<line class="grid" x1="{x(nine):.1f}" x2="{x(nine):.1f}" y1="0" y2="{HEIGHT}"/>'
            yield f'<text class="tick" x="{x(nine):.1f}" y="{HEIGHT + 18}">{100 * (1 - 10.0**-nine):.12g} %</text>'
        line = y(self.period)
        yield f'<line class="limit" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{line:.1f}" y2="{line:.1f}"/>'
        for name, one in measured.items():
            steps = np.linspace(0, math.log10(one.count), POINTS)
            curve = [(x(step), y(one.percentile(100 * (1 - 10.0**-step)))) for step in steps]
            curve.append((x(steps[-1]), y(one.max)))
            points = " ".join(f"{a:.1f},{b:.1f}" for a, b in curve)
            yield f'<polyline class="curve {html(name)}" points="{points}"/>'
            yield f'<text x="{curve[-1][0] + 6:.1f}" y="{curve[-1][1] + 4:.1f}">{html(name)}</text>'


WIDTH, HEIGHT, LEFT, RIGHT, POINTS = 900, 320, 90, 60, 120
