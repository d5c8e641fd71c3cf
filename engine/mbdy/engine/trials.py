"""Random states and inputs of a size that suits a model, for tests of its equations.

Rates are of order one, angles and attitudes anything; lengths, forces and torques are of the size that the model's own
dimensions and inertias ask for, so that no part of the equations hides behind another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mbdy.engine.model import Body, Model
from mbdy.engine.ports import Ports, ports
from mbdy.engine.variables import ORBIT_POSITION, Variable

Array = NDArray[np.float64]

GRAVITY = 10.0
"""[m/s2] Largest component of gravity."""
GRADIENT = 1.0
"""[1/s2] Largest mu/R^3 of a gravity gradient, ten times the least; near the Earth it is some 1e-6."""
WHEEL_SPEED = 100.0
"""[rad/s] Largest speed of a wheel, and ten times its largest acceleration."""
REST = 0.5
"""[rad] Largest change of a spring's commanded angle."""


@dataclass(frozen=True)
class Sizes:
    """What is large for a model: a ``length`` [m], and ``mass`` [kg] and ``inertia`` [kg.m2] of bodies without their
    own."""

    length: float
    mass: float
    inertia: float

    def body(self, body: Body) -> tuple[float, float]:
        """Force and torque that give a body about 1 rad/s2 and one length a second squared."""
        return (body.mass or self.mass) * self.length, _inertia(body) or self.inertia


def sizes(model: Model) -> Sizes:
    """What is large for ``model``; one where nothing says it."""
    lengths = [np.linalg.norm(v) for body in model.bodies for v in (body.com, body.joint.at)]
    length = float(max(lengths)) or 1.0
    masses = [body.mass for body in model.bodies if body.mass]
    inertias = [found for body in model.bodies if (found := _inertia(body))]
    mass = float(np.mean(masses)) if masses else 1.0
    return Sizes(length, mass, float(np.mean(inertias)) if inertias else mass * length**2)


def _inertia(body: Body) -> float:
    return float(np.trace(body.inertia)) / 3.0 + body.mass * float(np.dot(body.com, body.com))


class Trials:
    """Draws states and inputs of one model from ``rng``."""

    def __init__(self, model: Model, rng: np.random.Generator) -> None:
        self.model, self.rng = model, rng
        self.ports: Ports = ports(model)
        self.sizes = sizes(model)

    def draw(self) -> tuple[Array, Array]:
        """States and inputs."""
        return self.state(), self.inputs()

    def state(self) -> Array:
        """States x (n_x): unit quaternions, angles in (-pi, pi), rates in (-1, 1) rad/s."""
        x = np.zeros(len(self.ports.state_names))
        for variable in self.ports.outputs:
            if variable.state is not None:
                x[variable.state : variable.state + variable.size] = self._state(variable)
        return x

    def inputs(self) -> Array:
        """Inputs u (n_u): switches either way, forces and torques that move their bodies."""
        u = np.array(self.ports.vector("input"))
        for variable in self.ports.inputs:
            u[variable.places] = self._input(variable)
        return u

    def _uniform(self, size: int, largest: float) -> Array:
        return self.rng.uniform(-largest, largest, size)

    def _state(self, variable: Variable) -> Array:
        name, n = variable.name, variable.size
        if name.endswith(".attitude"):
            drawn = self.rng.normal(size=4)
            return drawn / np.linalg.norm(drawn)
        if name.endswith(".angle"):
            return self._uniform(n, np.pi)
        if name.endswith(".momentum"):
            body, wheel = name.split(".")[:2]
            return self._uniform(n, WHEEL_SPEED * self.model.body(body).wheels[wheel].inertia)
        turning = variable.unit == "rad/s"
        return self._uniform(n, 1.0 if turning else self.sizes.length)

    def _input(self, variable: Variable) -> Array:
        """A value of the sort that the variable's name tells; its start value where it tells none."""
        owner, *place = variable.name.split(".")
        sort, n = place[-1], variable.size
        if variable.boolean:
            return self.rng.integers(0, 2, n).astype(np.float64)
        if variable.name == "system.gravity":
            return self._uniform(n, GRAVITY)
        if variable.name == ORBIT_POSITION:
            return self._orbit_position()
        if sort == "acceleration":
            return np.array([self._uniform(1, self._turn_or_slide(unit, 1.0))[0] for unit in variable.units])
        if sort == "rest":
            start = np.array(variable.start)
            return start + [self._uniform(1, self._turn_or_slide(unit, REST))[0] for unit in variable.units]
        if sort in ("force", "torque") and owner in self.model.index:
            body = self.model.body(owner)
            if place[0] in body.wheels:
                return self._uniform(n, 0.1 * WHEEL_SPEED * body.wheels[place[0]].inertia)
            force, torque = self.sizes.body(body)
            return self._uniform(n, force if sort == "force" else torque)
        return np.array(variable.start)

    def _orbit_position(self) -> Array:
        gradient, direction = self.model.gravity_gradient, self.rng.normal(size=3)
        assert gradient is not None
        strength = self.rng.uniform(0.1, 1.0) * GRADIENT
        return direction / np.linalg.norm(direction) * np.cbrt(gradient.gravitational_parameter / strength)

    def _turn_or_slide(self, unit: str, turn: float) -> float:
        return turn if unit.startswith("rad") else turn * self.sizes.length


def conditioned(draw: Callable[[], tuple[Array, Array]], condition: Callable[[Array, Array], float], *, limit: float,
                tries: int) -> tuple[Array, Array, float]:  # fmt: skip
    """The first of ``tries`` draws of states and inputs whose ``condition`` is below ``limit``, or the best of them."""
    best: tuple[Array, Array, float] | None = None
    for _ in range(tries):
        x, u = draw()
        found = condition(x, u)
        if best is None or found < best[2]:
            best = (x, u, found)
        if found < limit:
            break
    assert best is not None
    return best
