"""What is asked of a rig's figures, ``step.p99.99 < 200 us``, and whether a run has kept it."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from mbdy.blocks.rig.histogram import Histogram, duration
from mbdy.engine import RefusalError
from mbdy.engine.model.faults import shown
from mbdy.engine.model.units import quantity
from mbdy.engine.model.values import chosen

SIGNS: Mapping[str, Callable[[float, float], bool]] = {
    "<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt, "==": operator.eq,
}  # fmt: skip
FORM = re.compile(rf"\s*(\w+)(?:\.(\w+(?:\.\d+)?))?\s*({'|'.join(SIGNS)})\s*(\S.*?)\s*")
PERCENT = re.compile(r"p(\d+(?:\.\d+)?)")
REMEDY = "write such as 'step.p99.99 < 200 us', 'wake.max < 1 ms' or 'missed == 0'"


@dataclass(frozen=True, slots=True)
class Requirement:
    """A ``figure`` of a histogram of times, or a counter, and the ``limit`` (in s, or a number) that it is held to."""

    text: str
    name: str
    figure: str
    sign: str
    limit: float

    @classmethod
    def of(cls, text: str, times: Collection[str], counters: Collection[str]) -> Requirement:
        """The requirement that ``text`` says of these histograms and counters. Raises `RefusalError`."""
        found = FORM.fullmatch(text)
        if not found:
            raise RefusalError(f"a requirement is a figure, a sign and a limit, got {shown(text)}", REMEDY)
        name, figure, sign, limit = found[1], found[2] or "", found[3], found[4]
        chosen("a requirement's figure", name, [*times, *counters])
        if name in counters and figure:
            raise RefusalError(f"{name} is a counter and has no .{figure}", f"write '{name} {sign} {limit}'")
        if name in times and figure not in ("min", "mean", "max"):
            percent = PERCENT.fullmatch(figure)
            if not percent or not 0 < float(percent[1]) <= 100:
                raise RefusalError(
                    f"{name} has min, mean, max and percentiles p0.1 to p100, got {shown(figure)}", REMEDY
                )
        try:
            number = quantity(limit, "s" if name in times else "1", bare=True)
        except RefusalError as fault:
            raise RefusalError(f"the limit of {text!r}: {fault}", REMEDY) from None
        return cls(text.strip(), name, figure, sign, number)

    def value(self, times: Mapping[str, Histogram], counters: Mapping[str, int]) -> float:
        """What the run has in its place; not a number where nothing was measured."""
        if self.name in counters:
            return float(counters[self.name])
        histogram = times[self.name]
        percent = PERCENT.fullmatch(self.figure)
        return histogram.percentile(float(percent[1])) if percent else getattr(histogram, self.figure)

    def met(self, value: float) -> bool:
        """Whether ``value`` keeps it; what was not measured does not."""
        return SIGNS[self.sign](value, self.limit)


def judge(
    asked: Iterable[Requirement], times: Mapping[str, Histogram], counters: Mapping[str, int]
) -> list[tuple[str, bool]]:
    """Each requirement with what was measured, in words, and whether it is kept."""
    said = []
    for one in asked:
        value = one.value(times, counters)
        shown = f"{value:g}" if one.name in counters else duration(value)
        said.append((f"{one.text}: {shown}", one.met(value)))
    return said
