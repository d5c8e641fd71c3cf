"""Tables of points: linear between them and constant beyond the first and the last."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from mbdy.engine.model.law import FAR

Points = list[tuple[Any, Any]]


def table(points: Points, q: Any) -> tuple[Any, Any]:
    """Effort at coordinate ``q``, and its work from the first of ``points`` to there.

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


def steepest(points: Points) -> Points:
    """As many points, with the steepest piece of ``points`` drawn out."""
    import casadi as ca

    most = 0.0
    for (begin, before), (end, after) in pairwise(points):
        slope = (after - before) / (end - begin)
        most = ca.if_else(ca.fabs(slope) > ca.fabs(most), slope, most)
    return [(-FAR, -FAR * most), *((place * FAR, FAR * most) for place in range(1, len(points)))]
