"""What JPL TR 32-1592 says of speed, per evaluation of the derivatives: its dense method against all others.

Everything is compiled alike, C from CasADi at the same flags, and called in turn from C with torques at the hinges and
on the reference body. The dense method is the report's own Eq. (5) (`oracles.augmented`).
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import median

import numpy as np

from mbdy.engine import Body, Joint, Model
from mbdy.engine.core.build import FLAGS, LINK, compiler, shared_library
from mbdy.engine.core.library import standing_alone
from mbdy.engine.core.schedule import schedule
from mbdy.engine.linear.choice import Linear, PartlyLinear, equations_of
from mbdy.engine.order_n.equations import Equations
from oracles.augmented import augmented_equations
from systems import diagonal, floating

Row = tuple[str, float, str]
"""What was compared, the ratio, and what is wanted."""

CALLS = 3e7
"""Scalar operations between two looks at the clock."""
CALLER = """
#include "schedule.h"
extern const mbdy_schedule mbdy_model_derivatives;

__attribute__((visibility("default"))) void repeat(int count, const double *x, const double *u, const double *k,
                                                   double *rates) {
    const double *given[%(arguments)d] = {x, u, k};
    double *found[%(results)d] = {rates};
    static double work[%(work)d];
    for (int i = 0; i < count; i++) mbdy_play(&mbdy_model_derivatives, given, found, work);
}
"""


@dataclass(frozen=True)
class Subject:
    """Compiled derivatives at one state: `per_call` times them."""

    repeat: ctypes._NamedFuncPointer
    vectors: tuple[np.ndarray, ...]
    count: int

    def per_call(self) -> float:
        """Processor time of one evaluation [s]."""
        pointers = [vector.ctypes.data_as(ctypes.c_void_p) for vector in self.vectors]
        begin = time.process_time()
        self.repeat(self.count, *pointers)
        return (time.process_time() - begin) / self.count


def subject(made: Equations) -> Subject:
    """The derivatives of ``made`` as compiled C, near the model's start and with torques."""
    function, table = made.derivatives, made.ports
    sizes = {"arguments": function.n_in(), "results": function.n_out(), "work": 1 + schedule(function).work}
    sources = {**standing_alone(schedule(function)), "caller.c": CALLER % sizes}
    repeat = ctypes.CDLL(str(shared_library(sources, compiler(), FLAGS, LINK))).repeat
    repeat.argtypes = [ctypes.c_int, *[ctypes.c_void_p] * 4]
    k = made.prepare(table.vector("parameter"))
    u = np.array(table.vector("input"))
    u[table.span("joint_torques")] = 0.3
    root = next(v for v in table.inputs if v.port == "external_forces" and v.name.endswith(".torque"))
    u[root.places] = 0.2, -0.1, 0.3
    vectors = [np.ascontiguousarray(np.array(v, dtype=float).ravel()) for v in (made.start(table.start, k), u, k)]
    vectors[0] += np.random.default_rng(1).uniform(-0.01, 0.01, len(vectors[0]))
    rates = np.zeros(len(table.state_names))
    timed = Subject(repeat, (*vectors, rates), max(1, int(CALLS / made.operations)))
    timed.per_call()
    expected = np.array(made.derivatives(*vectors)).ravel()
    if not np.allclose(rates, expected, rtol=1e-9, atol=1e-12):
        raise RuntimeError("the compiled derivatives are not those that CasADi evaluates")
    return timed


def times_of(subjects: Mapping[str, Subject], rounds: int) -> Mapping[str, list[float]]:
    """Times of each, taken in turn so that all see the same machine."""
    times: dict[str, list[float]] = {name: [] for name in subjects}
    for _ in range(rounds):
        for name, one in subjects.items():
            times[name].append(one.per_call())
    return times


def satellite() -> Model:
    """17 degrees of freedom: a bus with four appendages of 4, 4, 3 and 3 hinges; the last ten have springs."""
    rng = np.random.default_rng(17)
    bodies = [Body(name="bus", mass=400.0, inertia=diagonal(110.0, 310.0, 330.0), joint=floating())]
    for arm, length in enumerate((4, 4, 3, 3)):
        inner = "bus"
        for link in range(length):
            axis, at, com = (tuple((rng.normal(size=3) * size).tolist()) for size in (1.0, 0.8, 0.5))
            stiffness = (500.0 if arm else 0.0,)
            joint = Joint(to=inner, kind="revolute", rotations=(axis,), at=at, stiffness=stiffness, damping=(1.0,))
            inner = f"arm{arm}_{link}"
            bodies.append(Body(name=inner, joint=joint, mass=8.0, com=com, inertia=diagonal(1.0, 1.3, 1.6)))
    return Model(name="satellite", bodies=tuple(bodies))


def prescribed(model: Model, *names: str) -> Model:
    """The model with the hinges of some bodies prescribed."""
    bodies = [
        replace(body, joint=replace(body.joint, motion=("prescribed",))) if body.name in names else body
        for body in model.bodies
    ]
    return replace(model, bodies=tuple(bodies))


def compared(vehicle: Model, rounds: int) -> list[Row]:
    """The report's claims for its five-body ``vehicle`` and for a satellite of 14 hinges, ten of them linear."""
    large = satellite()
    ten = tuple(body.name for body in large.bodies if any(body.joint.stiffness))
    rows: list[Row] = []
    for model, what, linear, wanted in (
        (vehicle, "five bodies", ("boom_link", "boom"), {"MBDYL": ">= 4"}),
        (large, "17 DOF", ten, {"MBDYL": ">= 25", "MBDYPL": ">= 2"}),
    ):
        subjects = {"dense": subject(augmented_equations(model)), "Order-N": subject(equations_of(model))}
        subjects["MBDYPL"] = subject(equations_of(model, PartlyLinear(linear)))
        subjects["MBDYPL's way, no hinge linear,"] = subject(equations_of(model, PartlyLinear(())))
        subjects["MBDYTL"] = subject(equations_of(model, Linear(geometry="first-order")))
        subjects["MBDYL"] = subject(equations_of(model, Linear()))
        if model is vehicle:
            held = prescribed(model, "yoke", "platform")
            subjects["dense, yoke and platform prescribed,"] = subject(augmented_equations(held))
            wanted["dense, yoke and platform prescribed,"] = "> 1"
        times = times_of(subjects, rounds)
        rows.append((f"{what}: dense, µs", median(times["dense"]) * 1e6, ""))
        for name in list(subjects)[1:]:
            ratio = median(a / b for a, b in zip(times["dense"], times[name], strict=True))
            detail = f" ({len(linear)} hinges linear)" if name == "MBDYPL" else ""
            rows.append((f"{what}: dense / {name}{detail}", ratio, wanted.get(name, "")))
    return rows
