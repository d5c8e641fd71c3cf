"""What ``mbdy check`` says of flexible bodies, closed loops, gears, springs, contacts and chosen outputs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.linalg import eigh

from mbdy.app.common import attributes, counted
from mbdy.blocks.too_fast import longest_step
from mbdy.engine import Assembly, Body, Gear, Loop, Model
from mbdy.engine.assembly.start import assembly
from mbdy.engine.linear.fastest_mode import fastest_mode
from mbdy.engine.model.owners import element
from mbdy.engine.model.system import Side

LEAST = 1e-6
"""Frequencies below this part of the highest are those of modes without stiffness."""


def frequencies(body: Body) -> list[float]:
    """Frequencies [Hz] of the modes of a flexible body with its frame held, lowest first."""
    assert body.flex is not None
    squares = eigh(np.array(body.flex.stiffness), np.array(body.flex.mass), eigvals_only=True)
    omega = np.sqrt(np.maximum(squares, 0.0))
    return (np.where(omega > LEAST * omega.max(), omega, 0.0) / math.tau).tolist()


def place(side: Side) -> str:
    """``"inertial"``, ``"rocker"``, ``"rocker.tip"``."""
    return f"{side.body}.{side.node}" if side.node else side.body


def flexible_facts(model: Model) -> dict[str, Any]:
    """Modes of the flexible bodies and the fastest of the system, for a machine: frequencies in Hz, steps in s."""
    mode = fastest_mode(model)
    return {
        "flexible": [
            {"body": body.name, "modes": body.modes, "frequencies": frequencies(body)}
            for body in model.bodies
            if body.flex
        ],
        "fastest_mode": None
        if mode is None
        else {
            "body": mode.body,
            "mode": mode.mode,
            "frequency": mode.frequency / math.tau,
            "step": longest_step(mode.frequency),
        },
    }


def element_facts(model: Model) -> list[dict[str, Any]]:
    """The springs and contacts, for a machine."""
    return [{"name": str(element(part)), "a": place(part.a), "b": place(part.b)} for part in model.elements]


def loop_facts(model: Model) -> dict[str, Any]:
    """The loops and gears, and what closing them took and leaves, in SI; None for the latter without any."""
    loops = [
        {
            **attributes(loop, "name", "kind"),
            "a": place(loop.a),
            "b": place(loop.b),
            "rows": list(loop.rows),
            **attributes(loop, "distance", "closed", "switchable"),
        }
        for loop in model.loops
    ]
    gears = [
        {
            "name": gear.name,
            "terms": [{"coordinate": name, "factor": factor} for name, factor in gear.terms],
            **attributes(gear, "offset", "closed", "switchable"),
        }
        for gear in model.gears
    ]
    if not model.constraints:
        return {"loops": [], "gears": [], "assembly": None}
    closure = assembly(model)
    return {
        "loops": loops,
        "gears": gears,
        "assembly": {
            **attributes(closure, "rows", "rank", "redundant", "degrees_of_freedom"),
            "moved": attributes(closure, "angle", "angle_of", "distance", "distance_of", "modal", "speed"),
        },
    }


def lines(model: Model) -> Iterator[tuple[str, str]]:
    """The same for a person: what it is, and the words."""
    flexible = [body for body in model.bodies if body.flex]
    for k, body in enumerate(flexible):
        yield "" if k else "modes", f"{body.name}: {_modes(frequencies(body))}"
    if mode := fastest_mode(model):
        step = longest_step(mode.frequency)
        follows = f"; rk4 follows it in steps of {step:g} s or less" if math.isfinite(step) else ""
        what = f"{mode.body}.joint" if mode.mode is None else f"mode {mode.mode} of {mode.body}"
        words = f"{mode.frequency / math.tau:.4g} Hz in the system, most of it {what}"
        yield "fastest mode", words + (", loops and gears open" if model.constraints else "") + follows
    for k, part in enumerate(model.elements):
        yield "" if k else "between bodies", f"{element(part)}: {place(part.a)} to {place(part.b)}"
    for k, output in enumerate(model.chosen_outputs):
        yield "" if k else "outputs", f"{output.name}: {output.kind}"
    if not model.constraints:
        return
    for k, loop in enumerate(model.loops):
        yield "" if k else "loops", _loop(loop)
    for k, gear in enumerate(model.gears):
        yield "" if k else "gears", _gear(gear)
    closed = assembly(model)
    words = f"{closed.rows} in all, {closed.rank} of them independent"
    them = " and ".join(sort for sort, some in (("loops", model.loops), ("gears", model.gears)) if some)
    yield f"rows of {them}", words + (f", {closed.redundant} repeat others" if closed.redundant else "")
    yield f"left by {them}", counted(closed.degrees_of_freedom, "degree") + " of freedom"
    yield "closing moved", _moved(closed)
    for k, position in enumerate(closed.positions):
        yield "" if k else "closing chose", position


def _modes(hertz: list[float]) -> str:
    said = counted(len(hertz), "mode")
    if len(hertz) == 1:
        return f"{said} of {hertz[0]:.4g} Hz"
    return f"{said} from {hertz[0]:.4g} to {hertz[-1]:.4g} Hz"


def _loop(loop: Loop) -> str:
    constraint = f"{loop.distance:g} m" if loop.distance is not None else "rows " + ", ".join(map(str, loop.rows))
    named = "" if loop.kind == "rows" else f"{loop.kind}, "
    return f"{loop.name}: {place(loop.a)} to {place(loop.b)}, {named}{constraint}{_state(loop)}"


def _gear(gear: Gear) -> str:
    terms = " + ".join(f"{factor:.6g} {name}" for name, factor in gear.terms)
    return f"{gear.name}: {terms} = {gear.offset:.6g}{_state(gear)}"


def _state(of: Loop | Gear) -> str:
    return (", switchable" if of.switchable else "") + ("" if of.closed else ", open at the start")


def _moved(closure: Assembly) -> str:
    said = [f"{closure.angle_of} by up to {math.degrees(closure.angle):.4g} deg"] * (closure.angle > 0)
    said += [f"{closure.distance_of} by up to {closure.distance:.4g} m"] * (closure.distance > 0)
    said += [f"modal displacements by up to {closure.modal:.4g}"] * (closure.modal > 0)
    said += [f"speeds by up to {closure.speed:.4g}"] * (closure.speed > 0)
    return ", ".join(said) if closure.moved else "nothing"
