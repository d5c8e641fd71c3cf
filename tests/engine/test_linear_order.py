"""A linearization's error falls as the square of the amplitude: nonlinear runs against ``exp(A t)``.

About steady motions, which have constant matrices: at rest, spinning, hanging under gravity, with a wheel, and with a
constant force that accelerates the system.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm

from mbdy.blocks import Plant
from mbdy.engine import Body, Joint, Model, OperatingPoint, Wheel, linearize, trim
from mbdy.engine.linear.error_coordinates import quaternion_tangent, rotation
from mbdy.engine.linear.linearization import Linearization
from systems import chain, diagonal, floating

UNTIL = 1.0
"""[s]"""
STEP = 0.005
"""[s] RK4's error is some 1e-11 of the motion, far below the square of the amplitudes."""
AMPLITUDE = 2e-3
RATIO = 0.01
"""Relative distance from 4 that a third-order term explains."""


@dataclass(frozen=True)
class Case:
    model: Model
    at: Mapping[str, Any] = field(default_factory=dict)
    free: tuple[str, ...] | None = None


def sprung(kind: str = "free") -> Model:
    model = chain(2, kind=kind)
    bodies = [model.bodies[0]]
    bodies += [replace(b, joint=replace(b.joint, stiffness=(30.0,), damping=(0.7,))) for b in model.bodies[1:]]
    return replace(model, bodies=tuple(bodies), initial={})


def pendulum() -> Model:
    """A ball-jointed body with a hinge below it, hanging from a tilted frame in gravity."""
    ball = Joint(to="inertial", kind="spherical", spherical=True, frame=(0.8, 0.6, 0.0, 0.0), damping=(0.3,) * 3)
    hinge = Joint(to="bob", kind="revolute", rotations=((1.0, 0.5, 0.0),), at=(0.0, 0.0, -1.0), stiffness=(4.0,))
    bodies = (
        Body(name="bob", mass=4.0, com=(0.05, 0.0, -0.6), inertia=diagonal(0.6, 0.7, 0.2), joint=ball),
        Body(name="tail", mass=1.0, com=(0.1, 0.0, -0.4), inertia=diagonal(0.1, 0.12, 0.05), joint=hinge),
    )
    return Model(name="pendulum", bodies=bodies, gravity=(0.0, 0.0, -9.81))


def gyrostat() -> Model:
    bus = Body(
        name="bus", mass=20.0, com=(0.1, 0.2, 0.0), inertia=diagonal(5.0, 6.0, 7.0), joint=floating("attitude"),
        wheels={"w": Wheel(axis=(0.0, 0.0, 1.0), inertia=0.03)},
    )  # fmt: skip
    return Model(name="gyrostat", bodies=(bus,))


CASES = {
    "at rest": Case(sprung()),
    "spinning": Case(sprung(), {"bus.omega": [0.0, 0.0, 0.4]}, ("*.joint.angle", "bus.omega[1]", "bus.omega[2]")),
    "spinning, attitude root": Case(
        sprung("attitude"), {"bus.omega": [0.0, 0.0, 0.4]}, ("*.joint.angle", "bus.omega[1]", "bus.omega[2]")
    ),
    "hanging": Case(pendulum(), {}, ("*.joint.angle", "*.joint.attitude")),
    "with a wheel": Case(gyrostat(), {"bus.w.speed": 200.0, "bus.omega": [0.0, 0.0, 0.3]}, ()),
}


@pytest.fixture(scope="module", params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


def test_the_error_of_free_motion_falls_as_the_square(case: Case):
    point = trim(case.model, at=case.at, free=case.free)
    linear = linearize(case.model, at=point)
    assert linear.notes == ()
    start = np.random.default_rng(4).normal(size=len(linear.states))
    wanted = expm(linear.A * UNTIL) @ start
    errors = [deviation(case.model, point, linear, size * start) - size * wanted for size in (AMPLITUDE, AMPLITUDE / 2)]
    far, near = (float(np.linalg.norm(error)) for error in errors)
    assert far < 0.1 * AMPLITUDE * float(np.linalg.norm(wanted))
    assert far / near == pytest.approx(4.0, rel=RATIO)


def test_the_error_of_forced_motion_falls_as_the_square(case: Case):
    """A constant change of all inputs but gravity, whose direction a spinning system does not see as constant."""
    point = trim(case.model, at=case.at, free=case.free)
    inputs = [name for name in point.ports.input_names if not name.startswith("system.gravity")]
    linear = linearize(case.model, at=point, inputs=inputs)
    change = np.random.default_rng(5).normal(size=len(linear.inputs))
    n = len(linear.states)
    both = np.zeros((n + len(change),) * 2)
    both[:n] = np.hstack([linear.A, linear.B])
    wanted = expm(both * UNTIL)[:n, n:] @ change

    def error(size: float) -> float:
        found = deviation(case.model, point, linear, np.zeros(n), size * change)
        return float(np.linalg.norm(found - size * wanted))

    assert error(AMPLITUDE) / error(AMPLITUDE / 2) == pytest.approx(4.0, rel=RATIO)


def test_the_error_of_rates_about_an_accelerating_state_falls_as_the_square():
    """No steady motion: what the errors' rates are at that instant."""
    model = chain(3)
    at = {"bus.torque": [3.0, -2.0, 1.0], "link2.force": [1.0, 2.0, -1.0], "bus.force": [0.0, 4.0, 1.0]}
    plant = Plant(model)
    for name, value in at.items():
        plant[name] = value
    linear = linearize(model, at=plant)
    assert linear.notes
    point = trim(model, at=at, free=(), tolerance=1e9)  # the point as it is
    start = np.random.default_rng(6).normal(size=len(linear.states))
    step = 1e-3

    def error(size: float) -> float:
        ahead = deviation(model, point, linear, size * start, until=step)
        behind = deviation(model, point, linear, -size * start, until=step)
        # the mean of both signs is what is quadratic in the amplitude
        return float(np.linalg.norm(ahead + behind)) / 2

    assert error(0.02) / error(0.01) == pytest.approx(4.0, rel=RATIO)
    rate = (deviation(model, point, linear, 1e-5 * start, until=1e-4) - 1e-5 * start) / (1e-5 * 1e-4)
    assert np.linalg.norm(rate - linear.A @ start) < 1e-3 * np.linalg.norm(linear.A @ start)


def deviation(
    model: Model,
    point: OperatingPoint,
    linear: Linearization,
    start: np.ndarray,
    inputs: np.ndarray | None = None,
    *,
    until: float = UNTIL,
) -> np.ndarray:
    """Errors at ``until`` of a nonlinear run that began with the errors ``start``, from one that began with none."""
    reference = ran(model, point, point.x, point.u, until)
    u = point.u.copy()
    if inputs is not None:
        u[[point.ports.input_names.index(name) for name in linear.inputs]] += inputs
    return errors_between(point, linear, reference, ran(model, point, begun(point, linear, start), u, until))


def ran(model: Model, point: OperatingPoint, x: np.ndarray, u: np.ndarray, until: float) -> np.ndarray:
    """The state at ``until``, by RK4 with quaternions of norm 1."""
    plant = Plant(model)
    steps = max(20, round(until / STEP))
    h = until / steps

    def rate(state: np.ndarray) -> np.ndarray:
        return plant.derivatives(0.0, state, u)

    for _ in range(steps):
        k1 = rate(x)
        k2 = rate(x + h / 2 * k1)
        k3 = rate(x + h / 2 * k2)
        k4 = rate(x + h * k3)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        for at in point.ports.quaternions:
            x[at : at + 4] /= np.linalg.norm(x[at : at + 4])
    return x


def begun(point: OperatingPoint, linear: Linearization, errors: np.ndarray) -> np.ndarray:
    x = point.x.copy()
    blocks(point, linear, lambda state, at, turn, own: state_moved(x, state, at, turn, errors[own]))
    return x


def state_moved(x: np.ndarray, state: str, at: slice, turn: np.ndarray | None, error: np.ndarray) -> None:
    if state.endswith(".attitude"):
        x[at] += quaternion_tangent(x[at]) @ error
        x[at] /= np.linalg.norm(x[at])
    else:
        x[at] += error if turn is None else turn @ error


def errors_between(point: OperatingPoint, linear: Linearization, x0: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Errors of ``x`` from the reference ``x0``, in the axes that the root has there."""
    found = np.zeros(len(linear.states))

    def read(state: str, at: slice, turn: np.ndarray | None, own: slice) -> None:
        if state.endswith(".attitude"):
            found[own] = 4 * quaternion_tangent(x0[at]).T @ x[at]
        else:
            found[own] = x[at] - x0[at] if turn is None else turn.T @ (x[at] - x0[at])

    blocks(replace(point, x=x0), linear, read)
    return found


def blocks(point: OperatingPoint, linear: Linearization, do: Callable[[str, slice, Any, slice], None]) -> None:
    """Each piece of the state: its name, its place in x, the axes of its error, its place in the errors."""
    root = next((v.state for v in point.ports.outputs if v.name == "bus.attitude" and v.state is not None), None)
    turned = None if root is None else rotation(point.x[root : root + 4])
    for i, name in enumerate(linear.states):
        if ".error[" in name:
            if not name.endswith("[1]"):
                continue
            state = name.partition(".error")[0]
            at = point.ports.by_name[state].state
            assert at is not None
            size = 4 if state.endswith(".attitude") else 3
            do(state, slice(at, at + size), turned, slice(i, i + 3))
        else:
            at = point.ports.state_names.index(name)
            do(name, slice(at, at + 1), None, slice(i, i + 1))
