"""The state of an FMU, kept and restored: everything that the next step and the next reading depend on."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from .clock import Clock
from .plant import Plant, write

PHASES = ("instantiated", "in initialization mode", "running", "terminated")
ENTRIES = ("of", "time", "stop", "phase", "started", "stale", "initial")
VECTORS = ("s", "x", "u", "p", "y", "impulses")


def saved(of: str, plant: Plant, clock: Clock, phase: str) -> dict[str, Any]:
    """The state of the FMU ``of``, of texts, numbers and lists."""
    stale = [plant.stale_constants, plant.stale_start, plant.stale_outputs]
    return {
        "of": of, "time": clock.time, "stop": clock.stop, "phase": phase, "started": plant.started, "stale": stale,
        "initial": None if plant.initial is None else list(plant.initial),
        **{name: list(map(float, plant.vector(name))) for name in VECTORS},
    }  # fmt: skip


def restored(state: Mapping[str, Any], of: str, plant: Plant, clock: Clock) -> str:
    """Puts ``state`` into ``plant`` and ``clock`` if it is one of the FMU ``of``. What forbids it, or nothing."""
    if state.get("of") != of:
        found = repr(state.get("of", "something else"))[:99]
        return f"a state of {found} was set, this is {of!r}"
    if damage := _damage(state, plant):
        return f"a damaged state was set ({damage})"
    before = list(plant.p)
    write(plant.p, state["p"])
    fault = plant.prepare()
    if fault and not state["stale"][0]:  # a bad parameter that was set and never used stays stale
        write(plant.p, before)
        return f"a damaged state was set ({fault})"
    for name in VECTORS:
        write(plant.vector(name), state[name])
    clock.time, clock.stop, plant.started, plant.initial = (
        state[key] for key in ("time", "stop", "started", "initial")
    )
    plant.stale_constants, plant.stale_start, plant.stale_outputs = state["stale"]
    plant.restored()
    return ""


def from_bytes(data: bytes) -> dict[str, Any]:
    """A serialized state; empty where ``data`` holds none."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {}


def _damage(state: Mapping[str, Any], plant: Plant) -> str:
    """What `saved` never gives, or nothing."""
    keys = {*ENTRIES, *VECTORS}
    if state.keys() != keys:
        return "entries " + ", ".join(sorted(map(ascii, state.keys() ^ keys))[:6])
    sizes = {name: len(plant.vector(name)) for name in VECTORS}
    if state["initial"] is not None:
        sizes["initial"] = len(plant.contents.calculated)
    for name, size in sizes.items():
        values = state[name]
        if not isinstance(values, list) or len(values) != size or {*map(type, values)} - {float}:
            return f"'{name}' is not a list of {size} real numbers"
        if name in ("x", "y", "initial") and not all(map(math.isfinite, values)):  # others keep what was set
            return f"'{name}' is not finite"
    if damage := _damaged_course(state):
        return damage
    quaternions = plant.contents.ports["quaternions"]
    if not state["stale"][1] and not all(any(state["x"][at : at + 4]) for at in quaternions):
        return "a quaternion of zeros in 'x'"
    return ""


def _damaged_course(state: Mapping[str, Any]) -> str:
    """What no run comes to, or nothing."""
    time, stop, phase, started, stale = (state[key] for key in ("time", "stop", "phase", "started", "stale"))
    if time is not None and not (type(time) is float and math.isfinite(time)):
        return "'time' is no finite number"
    if stop is not None and not (type(stop) is float and not math.isnan(stop)):
        return "'stop' is no number"
    if not isinstance(stale, list) or len(stale) != 3 or {*map(type, stale)} != {bool}:
        return "'stale' is not a list of three truth values"
    if phase not in PHASES or type(started) is not bool or (started and (phase in PHASES[:2] or stale[1])):
        return "'phase', 'started' and 'stale' do not go together"
    if state["initial"] is not None and not started:
        return "'initial' before the start"
    return ""
