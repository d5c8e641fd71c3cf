"""Start values set on a plant with loops: those that were set stay, the others are found."""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection
from dataclasses import replace

import numpy as np

from mbdy.engine import Model, Ports, Variable
from mbdy.engine.assembly.start import TOLD, kept
from mbdy.engine.model.owners import Owner
from mbdy.engine.model.ports import NOWHERE


class StartMovedWarning(UserWarning):
    """Start values that were set on a plant do not agree with its loops and were moved to close them."""


def closed_starts(model: Model, ports: Ports, start: np.ndarray, u: np.ndarray, places: Collection[int]) -> np.ndarray:
    """The start vector ``start`` with what closes the loops that inputs ``u`` have closed, ``places`` of it as given.

    ``model`` has the lengths. It is returned as it is where there is none.
    """
    starts = list(ports.starts.values())
    switches = {loop.name: ports.of(Owner("loop", loop.name), "closed") for loop in model.loops}
    loops = tuple(
        replace(loop, closed=bool(u[switch.offset])) if (switch := switches[loop.name]) else loop
        for loop in model.loops
    )
    initial = {v.name: tuple(start[_places(v)].tolist()) for v in starts}
    given = {ports.start_names[place] for place in places}
    found = kept(replace(model, loops=loops, initial=initial), given)
    if found is None:
        return start
    closed = start.copy()
    for v in starts:
        closed[_places(v)] = found.initial[v.name]
    return closed


def tell_of_moves(
    ports: Ports, start: np.ndarray, x: np.ndarray, y: np.ndarray, places: Collection[int], stacklevel: int = 5
) -> None:
    """Warn with `StartMovedWarning` of the largest move of ``places`` of ``start`` to what outputs ``y``, and states
    ``x`` that are none, begin with."""
    largest, text = TOLD, ""
    for v in (*ports.outputs, *ports.hidden):
        own = [] if v.start_at is None else [k for k in range(v.size) if v.start_at + k in places]
        if not own or (v.offset == NOWHERE and v.state is None):
            continue
        given = start[_places(v)]
        begun = y[v.places] if v.offset != NOWHERE else x[v.state : (v.state or 0) + v.size]
        if v.quantity == "attitude":
            given = given / math.copysign(float(np.linalg.norm(given)), float(given @ begun))
        moves = np.abs(begun - given)[own]
        if moves.max() > largest:
            largest, k = float(moves.max()), own[int(moves.argmax())]
            text = f"{v.scalar_names[k]!r} from {given[k]:.9g} to {begun[k]:.9g} {v.units[k]}"
    if text:
        warnings.warn(
            f"start values that were set do not agree with the loops, which moved them, most {text}; set fewer of "
            "them, for the loops to find the others, or those of a closed position",
            StartMovedWarning,
            stacklevel=stacklevel,
        )


def _places(variable: Variable) -> slice:
    assert variable.start_at is not None
    return slice(variable.start_at, variable.start_at + variable.size)
