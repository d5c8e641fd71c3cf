"""Case 1 under its jets, their switching instants located: the vehicle that MBDY made, as a plant of mbdy.

The report's amplifiers (SWAMP) are mbdy's own blocks here. Its programs call them at every derivative evaluation;
`simulate_located` finds the instants at which they switch inside a step.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from cases import Case
from program import START, TR
from vehicle import DAMPING, STIFFNESS, vehicle

from mbdy.blocks import CelestialSensors, LocatedRun, Outputs, SwitchingAmplifier, simulate_located
from mbdy.blocks.jpl import MBDY
from mbdy.engine import Model

DB = 0.005  # rad, dead band
TM = 0.020  # s, shortest pulse
L = np.array([0.23, 0.21, 0.31])  # N.m, torques of the jets


class Jets:
    """The attitude control of Fig. 5, one loop for each axis."""

    def __init__(self) -> None:
        self.sensors = CelestialSensors()
        self.blocks = tuple(SwitchingAmplifier(DB, minimum_on=TM) for _ in L)

    def __call__(self, t: float, y: Outputs) -> dict[str, Any]:
        """Jet torques from ``t`` [s] on, given attitude and rates at ``t``."""
        IN = -self.sensors.step(t, y["body0.attitude"]) - TR * y["body0.omega"]
        AMP = [amplifier.step(t, error) for amplifier, error in zip(self.blocks, IN, strict=True)]
        return {"body0.torque": L * AMP}


def sprung(model: Model, PI: tuple[int, ...]) -> Model:
    """The system that MBDY gives back, with springs and dampers at hinges that are not prescribed, and its start."""
    bodies = [model.bodies[0]]
    for body, K, B, rest, prescribed in zip(model.bodies[1:], STIFFNESS, DAMPING, START, PI, strict=True):
        laws = {} if prescribed else {"stiffness": (K,), "damping": (B,), "rest": (rest,)}
        bodies.append(replace(body, joint=replace(body.joint, **laws)))
    initial = {f"body{k}.joint.angle": (angle,) for k, angle in enumerate(START, start=1)}
    return replace(model, name="five-body spacecraft", bodies=tuple(bodies), initial=initial)


def commands(case: Case) -> dict[str, Any]:
    """What the platform is told, as a table of inputs: both are straight lines between the kinks of the case."""
    times = [0.0, *case.kinks, case.until]
    told, sort = (case.command, "rest") if case.acceleration is None else (case.acceleration, "acceleration")
    values = np.array([told(t) for t in times])
    return {"time": times, **{f"body{k + 1}.joint.{sort}": values[:, k] for k in (0, 1)}}


def run_with_jets(case: Case, *, until: float | None = None, step: float = 2e-3, progress: bool = False) -> LocatedRun:
    """``case`` with jets, to its end or to ``until`` [s], in internal steps of at most ``step`` [s]."""
    model = sprung(MBDY(*vehicle().arguments(case.PI)).model, case.PI)
    return simulate_located(
        model, until=case.until if until is None else until, every=case.every, controller=Jets(),
        inputs=commands(case), linear=True, outputs=("body0.attitude", "body0.omega", "*.joint.angle", "*.joint.rate"),
        step=step, progress=progress,
    )  # fmt: skip
