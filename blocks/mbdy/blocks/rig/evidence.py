"""What a run on a rig has shown: counters, histograms of times, faults on purpose, and all of it in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mbdy.blocks.rig.histogram import Histogram, duration

TOLD = (50, 99, 99.99)
"""Percentiles that are told of times."""


@dataclass(frozen=True)
class FaultEvent:
    """A fault on purpose that began (``on``) or ended at ``time`` [s] of the plant."""

    time: float
    fault: Any
    on: bool


@dataclass(frozen=True)
class RigResult:
    """A run on a rig.

    ``end``         ``"done"``; ``"asked"``: `Rig.stop`; ``"late"``: a late cycle under the policy ``"stop"``;
                    ``"fault"``: the plant's equations failed.
    ``time``        [s] of the plant at the end; ``period`` [s] of a cycle; ``began`` [ns] by the monotonic clock.
    ``lateness``    [s] from the last tick to the end of its cycle: what the plant is behind the clock, beside the
                    ticks that were ``skipped``.
    ``counters``    cycles, those of them that ``missed`` the next tick, and packets by what became of them.
    ``histograms``  ``wake`` from tick to waking, ``step`` of the plant, ``trip`` from outputs to inputs
                    that answer them.
    ``events``      of faults on purpose.
    ``notes``       what the machine did not permit, and how to permit it.
    """

    end: str
    time: float
    period: float
    began: int
    lateness: float
    counters: Mapping[str, int]
    histograms: Mapping[str, Histogram]
    events: tuple[FaultEvent, ...] = ()
    notes: tuple[str, ...] = ()

    def facts(self) -> dict[str, Any]:
        """All of it as plain numbers and texts."""
        times = {
            name: {"count": h.count, **{f"p{p:g}": h.percentile(p) for p in TOLD}, "max": h.max}
            for name, h in self.histograms.items()
            if h.count
        }
        return {
            "end": self.end, "time": self.time, "period": self.period, "began": self.began, "lateness": self.lateness,
            "counters": dict(self.counters), "times": times, "notes": list(self.notes),
            "events": [{"time": one.time, "fault": str(one.fault), "on": one.on} for one in self.events],
        }  # fmt: skip

    def report(self) -> str:
        """All of it in words."""
        count = self.counters
        lines = [
            f"{count['cycles']} cycles of {self.period:g} s to {self.time:g} s of the plant; ended: {self.end}",
            f"missed: {count['missed']} (late cycles: {count['late_cycles']} not ready in time; "
            f"overslept: {count['overslept']} woken too late), {count['skipped']} skipped; "
            f"{duration(self.lateness)} behind the clock at the end",
        ]
        for name, times in self.histograms.items():
            if times.count:
                values = ", ".join(f"p{p:g} {duration(times.percentile(p))}" for p in TOLD)
                lines.append(f"{name}: {values}, highest {duration(times.max)}, of {times.count}")
        told = ("cycles", "missed", "late_cycles", "overslept", "skipped", "unrecorded")
        packets = [f"{value} {name}" for name, value in count.items() if value and name not in told]
        lines.append(f"packets: {', '.join(packets) or 'none'}".replace("_", " "))
        if count["unrecorded"]:
            lines.append(f"unrecorded: {count['unrecorded']} rows found no room in the ring")
        lines += [f"{event.time:g} s: {event.fault} {'begins' if event.on else 'ends'}" for event in self.events]
        return "\n".join([*lines, *self.notes])
