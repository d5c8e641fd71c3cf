"""Coulomb friction that sticks: ``-sense F - c rate``; the sense is the sign of the rate, held between events.

A degree of freedom at rest is held while that takes no more than ``breakaway`` (``coulomb`` where that is more, so that
zero leaves it to that); `mbdy.engine.core` finds the instants at which it stops and breaks away (sticking.c).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mbdy.engine.model.faults import Findings, nearest, shown
from mbdy.engine.model.law import JointValue, Law, Numbers

TABLE = "friction"
"""The key under which a file has its values as a table; a number there is the smoothed law's."""


def effort(k: Numbers, q: Any, rate: Any) -> Any:
    sense = k["sense"]
    return -(abs(sense) <= 1) * sense * k["coulomb"] - k["viscous"] * rate + shared(k)


def shared(k: Numbers) -> Any:
    """Friction of what loops and gears hold at rest beside it: the part beyond 2 of its sense of its breakaway."""
    sense = k["sense"]
    return -((sense > 1) * (sense - 2) + (sense < -1) * (sense + 2)) * most(k)


def most(k: Numbers) -> Any:
    """What holds it at rest at most."""
    coulomb, breakaway = k["coulomb"], k["breakaway"]
    return (breakaway > coulomb) * breakaway + (breakaway <= coulomb) * coulomb


LAW = Law(
    name="sticking",
    words="sticking friction",
    rank=4,
    values=(
        JointValue(
            "coulomb", "N", "N.m", "Coulomb friction while it slips", table=TABLE, speeds=True, default=None,
            minimum=0.0, strength=True,
        ),
        JointValue(
            "breakaway", "N", "N.m", "Friction that holds it at rest, 'coulomb' where that is more,", table=TABLE,
            speeds=True, minimum=0.0, least="coulomb",
        ),
        JointValue(
            "viscous", "N.s/m", "N.m.s/rad", "Viscous friction", table=TABLE, speeds=True, minimum=0.0, strength=True,
        ),
    ),
    effort=effort,
    sticks=True,
)  # fmt: skip


def spread(given: Mapping[str, Any], path: str, findings: Findings) -> dict[str, Any]:
    """``given`` values of a joint or a bearing, those in a table called `TABLE` by their own names."""
    table = given.get(TABLE)
    if not isinstance(table, Mapping):
        return dict(given)
    known = [value.name for value in LAW.values]
    for key in table:
        if key not in known:
            findings.refuse(f"{path}.{TABLE}.{key}", "unknown key", nearest(str(key), known))
    if known[0] not in table:
        remedy = f'give it, e.g. {TABLE} = {{ coulomb = "1 N*m" }}'
        findings.refuse(f"{path}.{TABLE}.{known[0]}", f"is missing in {shown(dict(table))}", remedy)
        table = {}
    return {**{k: v for k, v in given.items() if k != TABLE}, **{k: v for k, v in table.items() if k in known}}
