"""A cable harness: a table over the only coordinate, linear between its points and constant beyond its ends."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from mbdy.engine.model.law import FAR, JointValue, Law, Numbers, Span


def table(points: list[tuple[Any, Any]], q: Any) -> tuple[Any, Any]:
    """Effort at coordinate ``q``, and its work from the table's first point to there.

    Each piece adds its slope times the part of it that ``q`` has gone through, so there is nothing to search.
    """
    import casadi as ca

    effort, work = points[0][1], points[0][1] * (q - points[0][0])
    for (begin, before), (end, after) in pairwise(points):
        slope = (after - before) / (end - begin)
        gone = ca.fmin(ca.fmax(q - begin, 0), end - begin)
        effort = effort + slope * gone
        work = work + slope * (gone**2 / 2 + (end - begin) * ca.fmax(q - end, 0))
    return effort, work


def spans(k: Numbers) -> list[Span]:
    places = [place for place, _ in k["harness"]]
    beyond = (places[-1] - places[0]) / (len(places) - 1)
    return [*pairwise(places), (places[0] - beyond, places[0]), (places[-1], places[-1] + beyond)]


def steepest(k: Numbers) -> dict[str, list[tuple[Any, Any]]]:
    """The steepest piece, drawn out."""
    import casadi as ca

    most = 0.0
    for (begin, before), (end, after) in pairwise(k["harness"]):
        slope = (after - before) / (end - begin)
        most = ca.if_else(ca.fabs(slope) > ca.fabs(most), slope, most)
    drawn = [(-FAR, -FAR * most), *((place * FAR, FAR * most) for place in range(1, len(k["harness"])))]
    return {"harness": drawn}


LAW = Law(
    name="harness",
    words="harnesses",
    rank=5,
    values=(JointValue("harness", "N", "N.m", "Points of the cable harness", points=True, default=None),),
    effort=lambda k, q, rate: table(k["harness"], q)[0],
    potential=lambda k, q: table(k["harness"], 0.0)[1] - table(k["harness"], q)[1],  # none at coordinate zero
    spans=spans,
    switches=lambda k, q: [(f"harness_{i}", q - place) for i, (place, _) in enumerate(k["harness"], start=1)],
    steepest=steepest,
)
