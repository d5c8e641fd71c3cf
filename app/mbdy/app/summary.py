"""A run in a few numbers: how it ended, and how far momentum and energy went from their start."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbdy.app.common import attributes
from mbdy.blocks import Run
from mbdy.engine import Model, Ports, Variable
from mbdy.engine.model.owners import Quantity
from mbdy.engine.model.system import INERTIAL

Array = NDArray[np.float64]

CONSERVED = {
    "system.angular_momentum": "angular momentum", "system.momentum": "linear momentum", "system.energy": "energy",
}  # fmt: skip
"""Totals whose drift is told, and their titles."""
TOTALS = (*CONSERVED, "system.work_residual", "system.work_error")
"""Outputs that a summary and a report read besides those a person asks for."""

SETTLED = 0.02
"""An error has settled once it stays within this part of its largest size."""

DISPLAY = {("rad", "deg"): 180.0 / math.pi, ("rad/s", "deg/s"): 180.0 / math.pi, ("rad/s", "rpm"): 30.0 / math.pi}
"""Factors from a unit to the one that a person would rather read."""


def displayed(variable: Variable, k: int = 0) -> tuple[str, float]:
    """The unit in which a person would rather read element ``k`` of ``variable``, and the factor to it."""
    unit, wished = variable.units[k], variable.display_units[k]
    factor = DISPLAY.get((unit, wished)) if wished else None
    return (unit, 1.0) if factor is None or wished is None else (wished, factor)


@dataclass(frozen=True, slots=True)
class Drift:
    """How far a total went from its start: ``change`` (n) in ``unit``, whose size at the start was ``start``."""

    name: str
    unit: str
    start: float
    change: Array

    @property
    def worst(self) -> float:
        """Largest size of the change."""
        return float(np.abs(self.change).max())

    @property
    def relative(self) -> float | None:
        """Largest change relative to the start; None where it started at zero."""
        return self.worst / self.start if self.start > 0.0 else None

    @property
    def of_start(self) -> str:
        """``"14 × start"``; empty where it started at zero."""
        return "" if self.relative is None else f"{self.relative:.2g} × start"


def drift(run: Run, name: str) -> Drift:
    """The drift of the total ``name``: of a vector the size of its change, of a number its change with sign."""
    values = run[name]
    unit = run.ports.by_name[name].unit
    with np.errstate(all="ignore"):  # a run that blew up may hold numbers whose squares do not exist
        if values.ndim == 1:
            return Drift(name, unit, abs(float(values[0])), values - values[0])
        return Drift(name, unit, float(np.linalg.norm(values[0])), np.linalg.norm(values - values[0], axis=1))


def drifts(run: Run) -> Iterator[Drift]:
    """The drifts of the totals that ``run`` holds: angular momentum, linear momentum, energy."""
    names = {variable.name for variable in recorded(run)}
    return (drift(run, name) for name in CONSERVED if name in names)


def residual(run: Run) -> float | None:
    """Largest residual [W] of the balance of work; None where ``run`` does not hold it."""
    return float(np.abs(run[TOTALS[3]]).max()) if TOTALS[3] in {v.name for v in recorded(run)} else None


def work_error(run: Run) -> float | None:
    """Energy [J] that the steps had added at the end; None where ``run`` does not hold it."""
    return float(run[TOTALS[4]][-1]) if TOTALS[4] in {v.name for v in recorded(run)} else None


def efforts(run: Run) -> Iterator[tuple[str, float, str]]:
    """Inputs of force and torque that ``run`` holds: name, largest size of the run (of a vector its length), unit."""
    for variable in run.variables:
        if variable.causality == "input" and variable.unit in ("N", "N.m"):
            values = run[variable.name].reshape(len(run), -1)
            yield variable.name, float(np.linalg.norm(values, axis=1).max()), variable.unit


@dataclass(frozen=True, slots=True)
class Settling:
    """How a logged error went: ``last`` [``unit``], its largest size in the last tenth of the run, and ``time`` [s]
    from which on it stays within `SETTLED` of its largest size; None where it does not settle."""

    name: str
    unit: str
    last: float
    time: float | None


def settlings(run: Run) -> Iterator[Settling]:
    """Of each signal whose name ends with ``error``: what a controller logs of its reference less what is."""
    for variable in run.signals:
        sizes = np.linalg.norm(run[variable.name].reshape(len(run), -1), axis=1)
        if not variable.quantity.endswith("error") or not np.isfinite(sizes).any():
            continue
        sizes = np.where(np.isfinite(sizes), sizes, np.inf)  # rows before its first value
        largest = sizes[np.isfinite(sizes)].max()
        outside = np.flatnonzero(sizes > SETTLED * largest)
        settled = int(outside[-1]) + 1 if outside.size else 0
        time = float(run.time[settled]) if settled < len(run) else None
        last = float(sizes[run.time >= 0.9 * run.time[-1]].max())
        yield Settling(variable.name, variable.units[0], last, time)


def recorded(run: Run) -> list[Variable]:
    """Outputs that ``run`` holds whole."""
    names = set(run.names)
    return [variable for variable in run.ports.outputs if names.issuperset(variable.scalar_names)]


def rates(run: Run) -> Iterator[tuple[str, str, list[float]]]:
    """Angular velocities, joint rates and wheel speeds at the end: name, unit, values for a person's eye."""
    for variable in recorded(run):
        if variable.port in ("omega", "joint_rates") or variable.quantity == "speed":
            last = run[variable.name][-1]
            unit, factor = displayed(variable)
            yield variable.name, unit, (np.atleast_1d(last) * factor).tolist()


def positions(run: Run, model: Model) -> Iterator[tuple[str, str, list[float]]]:
    """Attitudes of floating roots and positions of joints at the end, as `rates`."""
    roots = {body.name for body in model.bodies if body.joint.floating}
    for variable in recorded(run):
        root = variable.port == "attitude" and variable.owner.name in roots
        if root or variable.port == "joint_positions":
            last = np.atleast_1d(run[variable.name][-1])
            shown = [displayed(variable, k) for k in range(variable.size)]
            yield variable.name, shown[0][0], [float(x) * factor for x, (_, factor) in zip(last, shown, strict=True)]


def causes(model: Model, table: Ports, largest: Mapping[str, float]) -> dict[str, str]:
    """What acts from outside, by the momentum that it changes: ``{"system.momentum": "gravity acts", ...}``.

    ``largest`` is the size that inputs reach, by scalar name; those left out stay as in the model.
    """

    def acts(quantity: Quantity, *ports: str) -> bool:
        variables = (v for v in (*table.inputs, *table.hidden) if v.port in ports and v.quantity == quantity)
        starts = ((name, start) for v in variables for name, start in zip(v.scalar_names, v.start or (), strict=True))
        return any(largest.get(name, start) for name, start in starts)

    roots = [body.joint for body in model.bodies if body.joint.to == "inertial"]
    mounted = any(not joint.floating or any(motion != "free" for motion in joint.motion) for joint in roots)
    forces = acts("force", "external_forces", "node_forces")
    torques = acts("torque", "external_forces", "node_forces")
    outside = ["external forces act"] * forces
    mount = ["the joint to inertial acts"] * mounted
    for what, joining in (("loop", model.loops), ("spring", model.springs), ("contact", model.contacts)):
        grounded = any(side.body == INERTIAL for one in joining for side in (one.a, one.b))
        mount += [f"a {what} to inertial acts"] * grounded
    said = {
        TOTALS[0]: outside + ["external torques act"] * torques + mount,
        TOTALS[1]: ["gravity acts"] * acts("gravity", "gravity") + outside + mount,
    }
    return {name: ", ".join(words) for name, words in said.items() if words}


def facts(run: Run) -> dict[str, Any]:
    """The summary for a machine, in SI."""
    result: dict[str, Any] = {
        "rows": len(run),
        "end": float(run.time[-1]),
        "complete": run.complete,
        "final": {name: float(value) for name, value in zip(run.names, run.values[-1], strict=True)},
        "drift": {},
    }
    if run.strides is not None:
        result["strides"] = dict(zip(("accepted", "rejected"), run.strides, strict=True))
    if run.strides is not None or run.crossings:
        result["crossings"] = [attributes(one, "time", "name", "rising") for one in run.crossings]
    for change in drifts(run):
        result["drift"][change.name] = attributes(change, "unit", "worst", "relative")
    if (worst := residual(run)) is not None:
        result["work_residual"] = {"unit": "W", "worst": worst}
    if (added := work_error(run)) is not None:
        result["work_error"] = {"unit": "J", "end": added}
    return result
