"""Random states and inputs of a size that suits a model, for tests of its equations.

Rates are of order one, angles and attitudes anything; lengths, forces and torques are of the size that the model's own
dimensions and inertias ask for, so that no part of the equations hides behind another. Where a joint or a bearing has
friction, every other rate is of the size of its ``friction_rate``, or zero where friction sticks, which holds it then;
where a coordinate has stops or a cable harness, every other value lies just within or beyond a stop, or in a piece of
the table, each in its turn (`Law.spans`). Modes displace a body by some part of its own size. Closed loops are
satisfied, by the nearest coordinates and speeds. `variants` are the parameters without laws of effort, and with one law
alone, so that a stiff one hides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import cycle

import numpy as np
from numpy.typing import NDArray

from mbdy.engine.model.law import Law
from mbdy.engine.model.laws import LAWS, laws_of, sticks
from mbdy.engine.model.owners import Owner, joint_of
from mbdy.engine.model.ports import Ports, StatePart, coordinates, ports, speeds
from mbdy.engine.model.system import Body, Joint, Model
from mbdy.engine.model.variables import Variable
from mbdy.engine.verification.formulations.closing import Closing
from mbdy.engine.verification.formulations.constrained import Constrained
from mbdy.engine.verification.formulations.reader import Reader
from mbdy.engine.verification.formulations.solutions import overdetermined

Array = NDArray[np.float64]

GRAVITY = 10.0
"""[m/s2] Largest component of gravity."""
GRADIENT = 1.0
"""[1/s2] Largest mu/R^3 of a gravity gradient, ten times the least; near the Earth it is some 1e-6."""
WHEEL_SPEED = 100.0
"""[rad/s] Largest speed of a wheel, and ten times its largest acceleration."""
REST = 0.5
"""[rad] Largest change of a spring's commanded angle."""
SLOW = 2.0
"""Largest part of a rate at which a law changes (``friction_rate``) of a rate that is drawn about it."""
SLOWEST = 1e-3
"""[rad/s] Least rate that a wheel's speed is drawn about; the speed is a difference, and below this lies rounding."""
DEFORMED = 0.05
"""Largest displacement by a mode, root mean square over the body, as part of the model's length."""
TURNED = 0.3
"""[rad] Largest turn of a node by a mode."""
NEARER = 0.7
"""Factor that brings a state whose loops do not close nearer to one whose do."""
TRIES = 30
"""Of these, before a model counts as one whose loops cannot be closed."""


def variants(table: Ports, p: Array) -> Iterator[tuple[str, Array]]:
    """Parameters to compare with, and what they are in words: ``p`` itself (no words), all laws left out, one alone.

    Only laws that the model has count; without any there is ``p`` alone, with a single one there is nothing alone.
    """
    yield "", p
    places = {law.words: [at for v in table.parameters for at in _strengths(v, law)] for law in LAWS}
    acting = {law: at for law, at in places.items() if np.any(p[at])}
    if not acting:
        return
    without = p.copy()
    for at in acting.values():
        without[at] = 0.0
    yield "without laws of effort", without
    for law, at in acting.items() if len(acting) > 1 else ():
        alone = without.copy()
        alone[at] = p[at]
        yield f"{law} alone", alone


def _strengths(parameter: Variable, law: Law) -> Iterable[int]:
    """Places in ``p`` of what is zero where ``law`` is left out, of joints, bearings and modes alike."""
    places = range(parameter.offset, parameter.offset + parameter.size)
    value = next((value for value in law.values if value.key == parameter.quantity), None)
    return value.strengths(places) if value else ()


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

    def modes(self, body: Body) -> Array:
        """Modal displacements (m) of a body that move it by `DEFORMED` lengths, or turn a node by `TURNED`."""
        if body.flex is None:
            return np.zeros(0)
        modal = np.diag(np.array(body.flex.mass))
        shapes = [np.array(node.shape)[:3] for node in body.nodes.values() if node.shape]
        turns = np.max([np.linalg.norm(shape, axis=0) for shape in shapes] or [np.zeros(len(modal))], axis=0)
        moved = DEFORMED * self.length * np.sqrt((body.mass or self.mass) / np.where(modal > 0.0, modal, 1.0))
        return np.minimum(moved, TURNED / np.maximum(turns, TURNED / moved))


def sizes(model: Model) -> Sizes:
    """What is large for ``model``; one where nothing says it."""
    lengths = [np.linalg.norm(v) for body in model.bodies for v in (body.com, body.joint.at)]
    length = float(max(lengths)) or 1.0
    masses = [body.mass for body in model.bodies if body.mass]
    inertias = [inertia for body in model.bodies if (inertia := _inertia(body))]
    mass = float(np.mean(masses)) if masses else 1.0
    return Sizes(length, mass, float(np.mean(inertias)) if inertias else mass * length**2)


def _inertia(body: Body) -> float:
    return float(np.trace(body.inertia)) / 3.0 + body.mass * float(np.dot(body.com, body.com))


class Trials:
    """Draws states and inputs of one model from ``rng``, those of a model with loops about its ``start``."""

    def __init__(self, model: Model, rng: np.random.Generator, start: Array | None = None) -> None:
        self.model, self.rng = model, rng
        self.ports: Ports = ports(model)
        self.sizes = sizes(model)
        self.p = np.array(self.ports.vector("parameter"))
        self.reader = Reader(model)
        self.closing = Closing(self.reader, self.sizes.length, self.sizes.modes)
        self.start = np.zeros(len(self.ports.state_names)) if start is None else start
        states = {name: v.state or 0 for name, v in self.ports.states.items()}
        jointed = [body for body in model.bodies if not body.joint.floating]
        self._spans = [
            (states[name] + element, cycle(spans))
            for body in jointed
            for (name, element), spans in zip(_scalars(coordinates(body)), _spans(body.joint), strict=False)
            if spans
        ]
        self._sticking = [
            states[name] + element
            for body in jointed
            if sticks(body.joint.laws)
            for name, element in _scalars(speeds(body))
        ]
        self._friction = [
            (states[name] + element, rate)
            for body in jointed
            for law in laws_of(body.joint.laws)
            if law.slow
            for (name, element), rate in zip(_scalars(speeds(body)), getattr(body.joint, law.slow), strict=False)
        ]

    def draw(self) -> tuple[Array, Array]:
        """States and inputs; where loops cannot be closed that ``u`` closes, those that switch are as at the start."""
        x, u = self.state(), self.inputs()
        if not self.model.constraints:
            return x, u
        closed = self.closed(x, u)
        if closed is None:
            switches = [v.places for v in self.ports.inputs if v.quantity == "closed"]
            for places in switches:
                u[places] = np.array(self.ports.vector("input"))[places]
            closed = self.closed(x, u)
        x = self.start.copy() if closed is None else closed
        return x, self.determined(x, u)

    def closed(self, x: Array, u: Array) -> Array | None:
        """The states nearest to ``x`` that satisfy the loops which ``u`` says are closed.

        From states that lead nowhere the way goes back towards the start; None where that leads nowhere either.
        """
        for k in range(TRIES):
            near = self.start + NEARER**k * (x - self.start)
            for at in self.ports.quaternions:
                near[at : at + 4] /= np.linalg.norm(near[at : at + 4]) or 1.0
            if (closed := self.closing.closed(near, u, self.p)) is not None:
                return closed
        return None

    def determined(self, x: Array, u: Array) -> Array:
        """``u`` with the switches of joints off, where what they hold leaves loops no way to stay closed."""
        if not overdetermined(Constrained(self.reader, x, u, self.p)):
            return u
        released = u.copy()
        for variable in self.ports.inputs:
            if variable.quantity in ("prescribed", "locked"):
                released[variable.places] = 0.0
        return released

    def state(self) -> Array:
        """States x (n_x): unit quaternions, angles in (-pi, pi), rates in (-1, 1) rad/s."""
        x = np.zeros(len(self.ports.state_names))
        for variable in self.ports.outputs:
            if variable.state is not None:
                x[variable.state : variable.state + variable.size] = self._state(variable)
        for at, rate in self._friction:
            if self._about():
                x[at] = self.rng.uniform(-SLOW, SLOW) * rate
        for at in self._sticking:
            if self._about():
                x[at] = 0.0
        for at, spans in self._spans:
            if self._about():
                x[at] = self.rng.uniform(*next(spans))
        return x

    def rubbing(self, x: Array, omega: Callable[[Body], Array]) -> Array:
        """``x`` with about every other wheel that has friction as slow in its bearing as friction asks for.

        ``omega(body)`` is a body's angular velocity, its axes, at ``x``; it does not depend on wheels.
        """
        slowed = x.copy()
        for body in self.model.bodies:
            for name, wheel in body.wheels.items():
                if wheel.friction and self._about():
                    speed = self.rng.uniform(-SLOW, SLOW) * max(wheel.friction_rate, SLOWEST)
                    along = float(np.dot(wheel.axis, omega(body)) / np.linalg.norm(wheel.axis))
                    at = self.ports.by_name[f"{body.name}.{name}.momentum"].state
                    assert at is not None
                    slowed[at] = wheel.inertia * (speed + along)
        return slowed

    def _about(self) -> bool:
        """Whether to draw where a law changes."""
        return bool(self.rng.random() < 0.5)

    def inputs(self) -> Array:
        """Inputs u (n_u): switches either way, forces and torques that move their bodies."""
        u = np.array(self.ports.vector("input"))
        for variable in self.ports.inputs:
            u[variable.places] = self._input(variable)
        return u

    def _uniform(self, size: int, largest: float) -> Array:
        largest = min(largest, float(np.finfo(float).max) / 4)  # twice of it is the range, which must be finite
        return self.rng.uniform(-largest, largest, size)

    def _state(self, variable: Variable) -> Array:
        owner, n = variable.owner, variable.size
        if variable.quantity == "attitude":
            drawn = self.rng.normal(size=4)
            return drawn / np.linalg.norm(drawn)
        if variable.quantity == "angle":
            return self._uniform(n, np.pi)
        if owner.kind == "tank":
            return self._mass_of(owner.name) * self.rng.uniform(size=n)
        if owner.kind == "wheel":
            return self._uniform(n, WHEEL_SPEED * (1.0 if variable.quantity == "speed" else self._spin_inertia(owner)))
        if owner.kind == "modes":
            return self._uniform(n, 1.0) * self.sizes.modes(self.model.body(owner.name))
        turning = variable.unit == "rad/s"
        return self._uniform(n, 1.0 if turning else self.sizes.length)

    def _spin_inertia(self, owner: Owner) -> float:
        """Of a wheel, or of the rotor that it is."""
        if wheel := self.model.body(owner.name).wheels.get(owner.part):
            return wheel.inertia
        rotor = next(body for body in self.model.bodies if joint_of(body) == owner)
        axis = np.array(rotor.joint.rotations[0]) / np.linalg.norm(rotor.joint.rotations[0])
        return float(axis @ np.array(rotor.inertia) @ axis)

    def _input(self, variable: Variable) -> Array:
        """A value of a size that suits the variable's quantity; its start value where none is known."""
        owner, quantity, n = variable.owner, variable.quantity, variable.size
        if variable.boolean:
            return self.rng.integers(0, 2, n).astype(np.float64)
        if quantity == "flow":
            return self._mass_of(owner.name) * self.rng.uniform(size=n)
        if quantity == "gravity":
            return self._uniform(n, GRAVITY)
        if quantity == "orbit_position":
            return self._orbit_position()
        if quantity == "acceleration":
            return np.array([self._uniform(1, self._turn_or_slide(unit, 1.0))[0] for unit in variable.units])
        if quantity == "rest":
            start = np.array(variable.start)
            return start + [self._uniform(1, self._turn_or_slide(unit, REST))[0] for unit in variable.units]
        if quantity == "actuation":
            return self._uniform(n, self.sizes.mass * self.sizes.length)
        if quantity in ("force", "torque"):
            if owner.kind == "wheel":
                return self._uniform(n, 0.1 * WHEEL_SPEED * self._spin_inertia(owner))
            force, torque = self.sizes.body(self.model.body(owner.name))
            return self._uniform(n, force if quantity == "force" else torque)
        return np.array(variable.start)

    def _mass_of(self, tank: str) -> float:
        return next(each.mass for each in self.model.tanks if each.name == tank)

    def _orbit_position(self) -> Array:
        gradient, direction = self.model.gravity_gradient, self.rng.normal(size=3)
        assert gradient is not None
        strength = self.rng.uniform(0.1, 1.0) * GRADIENT
        return direction / np.linalg.norm(direction) * np.cbrt(gradient.gravitational_parameter / strength)

    def _turn_or_slide(self, unit: str, turn: float) -> float:
        return turn if unit.startswith("rad") else turn * self.sizes.length


def _scalars(parts: tuple[StatePart, ...]) -> list[tuple[str, int]]:
    """The elements of states."""
    return [(part.name, element) for part in parts for element in range(part.size)]


def _spans(joint: Joint) -> list[list[tuple[float, float]]]:
    """For each coordinate, where its laws act and change."""
    spans: list[list[tuple[float, float]]] = [[] for _ in range(joint.n_coordinates)]
    for law in laws_of(joint.laws):
        values = [(value, getattr(joint, value.name)) for value in law.values]
        for i in range(joint.n_coordinates):
            spans[i] += law.spans({v.name: numbers if v.points else numbers[i] for v, numbers in values})
    return spans


def conditioned(draw: Callable[[], tuple[Array, Array]], condition: Callable[[Array, Array], float], *, limit: float,
                tries: int) -> tuple[Array, Array, float]:  # fmt: skip
    """The first of ``tries`` draws of states and inputs whose ``condition`` is below ``limit``, or the best of them."""
    best: tuple[Array, Array, float] | None = None
    for _ in range(tries):
        x, u = draw()
        number = condition(x, u)
        if best is None or number < best[2]:
            best = (x, u, number)
        if number < limit:
            break
    assert best is not None
    return best
