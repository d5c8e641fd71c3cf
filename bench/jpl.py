"""What JPL TR 32-1592 says of speed, per evaluation of the derivatives: its dense method against all others.

Everything is compiled alike, C from CasADi at the same flags, and called in turn from C with torques at the hinges and
on the reference body. The dense method is the report's own Eq. (5) (`oracles.augmented`).
"""

from __future__ import annotations

from dataclasses import replace
from statistics import median

import numpy as np
from timing import Row, Subject, derivatives, ratio, start, times_of

from mbdy.engine import Body, Joint, Model
from mbdy.engine.linear.choice import Linear, PartlyLinear, equations_of
from mbdy.engine.order_n.equations import Equations
from oracles.augmented import augmented_equations
from systems import diagonal, floating


def subject(made: Equations) -> Subject:
    """The derivatives of ``made`` as compiled C, near the model's start and with torques."""
    table = made.ports
    u = np.array(table.vector("input"))
    u[table.span("joint_torques")] = 0.3
    root = next(v for v in table.inputs if v.port == "external_forces" and v.name.endswith(".torque"))
    u[root.places] = 0.2, -0.1, 0.3
    x = start(made)
    return derivatives(made, x + np.random.default_rng(1).uniform(-0.01, 0.01, len(x)), u)


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
            detail = f" ({len(linear)} hinges linear)" if name == "MBDYPL" else ""
            rows.append((f"{what}: dense / {name}{detail}", ratio(times, "dense", name), wanted.get(name, "")))
    return rows
