"""A cable harness: a table over the only coordinate, linear between its points and constant beyond its ends."""

from __future__ import annotations

from itertools import pairwise

from mbdy.engine.model import pieces
from mbdy.engine.model.law import JointValue, Law, Numbers, Span


def spans(k: Numbers) -> list[Span]:
    places = [place for place, _ in k["harness"]]
    beyond = (places[-1] - places[0]) / (len(places) - 1)
    return [*pairwise(places), (places[0] - beyond, places[0]), (places[-1], places[-1] + beyond)]


def work_to_zero(points: pieces.Points) -> float:
    """What leaves no potential at coordinate zero."""
    return pieces.table(points, 0.0)[1]


LAW = Law(
    name="harness",
    words="harnesses",
    rank=5,
    values=(JointValue("harness", "N", "N.m", "Points of the cable harness", points=True, default=None),),
    effort=lambda k, q, rate: pieces.table(k["harness"], q)[0],
    potential=lambda k, q: work_to_zero(k["harness"]) - pieces.table(k["harness"], q)[1],
    spans=spans,
    switches=lambda k, q: [(f"harness_{i}", q - place) for i, (place, _) in enumerate(k["harness"], start=1)],
    steepest=lambda k: {"harness": pieces.steepest(k["harness"])},
)
