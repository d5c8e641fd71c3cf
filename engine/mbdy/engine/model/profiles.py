"""Profiles of joints: what a file may say of them, and where they begin."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from mbdy.engine.model.faults import Findings, nearest, shown
from mbdy.engine.model.units import quantity

if TYPE_CHECKING:
    from mbdy.engine.model.system import Body, Joint

PROFILES = ("profile", "smooth_profile")
"""Laws that are profiles, by what a joint calls them."""
SAME = 1e-9
"""Rates that differ by less, beside one, are one."""


def points_of(joint: Joint) -> tuple[tuple[float, float], ...]:
    """Times [s] and rates [m/s, rad/s] of the profile of ``joint``; none without one."""
    return joint.profile or joint.smooth_profile


def slew_points(joint: Joint, table: Any, path: str, findings: Findings) -> list[list[float]] | None:
    """The smooth profile of a slew from rest to rest: ``angle`` (or ``distance``), ``duration``, and its ``start``."""
    if not isinstance(table, Mapping):
        return findings.refuse(
            path, f"must be a table, got {shown(table)}", 'write { angle = "90 deg", duration = "60 s" }'
        )
    sort, unit = ("distance", "m") if joint.n_translations else ("angle", "rad")
    known, before = (sort, "duration", "start"), len(findings.faults)
    for key in table:
        if key not in known:
            findings.refuse(f"{path}.{key}", "unknown key", nearest(key, known))
    values = {}
    for key, sort_of in zip(known, (unit, "s", "s"), strict=True):
        if key in table:
            values[key] = findings.attempt(f"{path}.{key}", quantity, table[key], sort_of, instead=0.0)
        elif key != "start":
            findings.refuse(f"{path}.{key}", "is missing", f"give it in {sort_of}")
    if len(findings.faults) == before and not values["duration"] > 0.0:
        findings.refuse(f"{path}.duration", f"must be > 0 s, got {values['duration']}", "give another value")
    if len(findings.faults) > before:
        return None
    start, half = values.get("start", 0.0), values["duration"] / 2
    return [[start, 0.0], [start + half, values[sort] / half], [start + 2 * half, 0.0]]


def rate_at_start(joint: Joint) -> float:
    """Rate [m/s, rad/s] at time zero of a joint with a profile."""
    points = points_of(joint)
    if points[0][0] >= 0.0 or points[-1][0] <= 0.0:
        return points[0][1] if points[0][0] >= 0.0 else points[-1][1]
    (begin, before), (end, after) = next(pair for pair in pairwise(points) if pair[1][0] > 0.0)
    part = -begin / (end - begin)
    share = part if joint.profile else (1 - math.cos(math.pi * part)) / 2
    return before + share * (after - before)


def rate_name(body: Body) -> str:
    """The name of the start rate of a body's joint that has a profile."""
    return f"{body.name}.joint.{'velocity' if body.joint.n_translations else 'rate'}"


def start_rates(bodies: Iterable[Body], starts: Mapping[str, dict[str, tuple[float, ...]]], findings: Findings) -> None:
    """Starts joints with profiles at their rates in ``starts["initial"]``, and refuses others in any of the tables."""
    for body in bodies:
        if points_of(body.joint):
            name, rate = rate_name(body), rate_at_start(body.joint)
            for table, values in starts.items():
                given = values.get(name, (rate,))[0]
                if abs(given - rate) > SAME * (1 + abs(rate)):
                    message = f"is {given:g}, and the profile begins at {rate:g}"
                    findings.refuse(f"{table}.{name}", message, "leave it out")
            if rate:
                starts["initial"].setdefault(name, (rate,))
