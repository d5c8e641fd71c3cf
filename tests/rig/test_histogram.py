"""Percentiles beside sorted numbers and HdrHistogram's own, and what is asked of them."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import numpy as np
import pytest

from mbdy.blocks.rig.histogram import SUB, Histogram, duration, edges
from mbdy.blocks.rig.requirement import Requirement, judge
from mbdy.engine import MbdyError

BUCKETS = 25 * SUB


def histogram(numbers) -> Histogram:
    numbers = np.asarray(numbers, dtype=np.int64)
    counts = np.histogram(numbers, np.append(edges(BUCKETS)[0], edges(BUCKETS)[1][-1] + 1))[0].astype(np.uint64)
    ends = (int(numbers.min()), int(numbers.max())) if numbers.size else (0, 0)
    return Histogram(counts, *ends, float(numbers.sum()))


LATENCIES = np.random.default_rng(5).lognormal(10, 2, 20_000).astype(np.int64)


def test_buckets_have_no_gaps_and_keep_three_figures():
    low, high = edges(BUCKETS)
    assert low[0] == 0
    assert (low[1:] == high[:-1] + 1).all()
    assert ((high - low)[2 * SUB :] <= low[2 * SUB :] / 1000).all()
    assert high[-1] == 2**34 - 1


@pytest.mark.parametrize("percent", [0.01, 1, 50, 90, 99, 99.9, 99.99, 100])
def test_percentiles_are_those_of_the_numbers(percent):
    times = histogram(LATENCIES)
    rank = max(1, ceil(Fraction(str(percent)) / 100 * LATENCIES.size))
    exact = np.sort(LATENCIES)[rank - 1] / 1e9
    assert exact <= times.percentile(percent) * (1 + 1e-12) <= exact * 1.001
    assert times.percentile(100) == times.max == LATENCIES.max() / 1e9


def test_hdrhistogram_has_the_same_figures():
    pytest.importorskip("hdrh")
    times = histogram(LATENCIES)
    theirs = times.to_hdr()
    assert theirs.get_total_count() == times.count == LATENCIES.size
    for percent in (1, 50, 99, 99.9):
        assert 1e-9 * theirs.get_value_at_percentile(percent) == pytest.approx(times.percentile(percent), rel=1e-12)


def test_nothing_counted_is_no_number_and_keeps_no_requirement():
    nothing = {"step": histogram([])}
    assert np.isnan([nothing["step"].percentile(50), nothing["step"].max, nothing["step"].mean]).all()
    for text in ("step.max < 1 s", "step.max >= 0 s"):
        asked = Requirement.of(text, ["step"], [])
        assert not asked.met(asked.value(nothing, {}))
    assert judge([asked], nothing, {}) == [("step.max >= 0 s: none", False)]


@pytest.mark.parametrize(
    ("text", "met", "said"),
    [
        ("step.p50 < 3 us", True, "2 us"),
        (" step.p99.9<2.5us ", False, "1 ms"),
        ("step.max <= 0.001", True, "1 ms"),
        ("step.mean > 300 us", True, "334 us"),
        ("step.min == 0.000001", True, "1 us"),
        ("late_cycles <= 3", True, "3"),
        ("late_cycles < 3", False, "3"),
    ],
)
def test_requirements_are_judged_by_what_was_measured(text, met, said):
    measured, counters = {"step": histogram([1000, 2000, 1_000_000])}, {"late_cycles": 3}
    asked = Requirement.of(text, measured, counters)
    assert judge([asked], measured, counters) == [(f"{text.strip()}: {said}", met)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "a figure, a sign and a limit"),
        ("step.p99 200 us", "a figure, a sign and a limit"),
        ("stap.p99 < 1 s", "'step'"),
        ("step < 1 s", "min, mean, max"),
        ("step.p0 < 1 s", "percentiles"),
        ("step.p101 < 1 s", "percentiles"),
        ("step.median < 1 s", "percentiles"),
        ("step.max < 3 kg", "the limit"),
        ("step.max < nan", "the limit"),
        ("late_cycles.max < 3", "is a counter"),
        ("late_cycles < 3 s", "the limit"),
    ],
)
def test_what_is_no_requirement_is_told(text, told):
    with pytest.raises(MbdyError, match=told):
        Requirement.of(text, ["step", "wake"], ["late_cycles"])


@pytest.mark.parametrize(
    ("time", "words"), [(0.0, "0 s"), (2.5e-9, "2.5 ns"), (1e-6, "1 us"), (0.0123456, "12.3 ms"), (61, "61 s")]
)
def test_times_in_words(time, words):
    assert duration(time) == words
