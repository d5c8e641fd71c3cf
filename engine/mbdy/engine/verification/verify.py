"""`verify`: the Order-N equations that mbdy runs against independent formulations, and against laws of mechanics.

At the start of a model's file and at random states, with random inputs, each formulation gives the states' derivatives:
with the file's parameters, without its laws of effort, and with each law alone, so that no law hides what is smaller.
Forces of closed loops are compared too, where a formulation has them.
The work-energy residual is Huston and Liu's testing function (Eq. 55); momenta are differentiated exactly, along the
derivatives found, and compared with the external forces and torques.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from mbdy.engine.assembly.start import assemble
from mbdy.engine.files.rules import ruled
from mbdy.engine.model.owners import constraint
from mbdy.engine.model.ports import Ports, ports
from mbdy.engine.model.system import Body, Model
from mbdy.engine.model.values import whole
from mbdy.engine.model.variables import Variable
from mbdy.engine.order_n.equations import equations
from mbdy.engine.order_n.holding import RESULTS
from mbdy.engine.verification.conservation import BALANCES, Balance, Instant, Observer
from mbdy.engine.verification.formulations import FORMULATIONS, Formulation
from mbdy.engine.verification.formulations.constrained import Constrained, Loads
from mbdy.engine.verification.formulations.dense import condition
from mbdy.engine.verification.formulations.kane import Assembly
from mbdy.engine.verification.formulations.reader import Reader
from mbdy.engine.verification.formulations.solutions import condition as constrained_condition
from mbdy.engine.verification.formulations.solutions import rank_of, terms
from mbdy.engine.verification.formulations.values import rigid_trees
from mbdy.engine.verification.random_states import Trials, conditioned, sizes, variants
from mbdy.engine.verification.result import Comparison, Finding, Residual, Verification

Array = NDArray[np.float64]

TOLERANCE = 1e-10
"""Largest relative disagreement or residual that passes, at states with condition numbers up to `CONDITION`."""
CONDITION = 1e5
"""Of the scaled coefficient matrix; rounding grows with it, and beyond this the tolerance does too, in proportion."""
FORCES = 1e-8
"""The same for forces of loops, which rounding spreads over redundant rows."""
SINGULAR = 1e12
"""Condition number from which a state is left out: a motion meets no inertia there."""
LOADS = {"force": ("loop",), "torque": ("loop",), "effort": ("gear",)}
"""Outputs that are forces of loops and efforts of gears, and whose they are."""
TRIES = 20
"""Draws for a random state below `CONDITION`."""
SMALL = 1e-2
"""A derivative counts as at least this part of the largest one with its unit; below lies rounding."""


def verify(
    model: Model | str | PathLike[str],
    *,
    states: int = 20,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> Verification:
    """Compare the Order-N equations of ``model`` with every formulation that covers it, and with laws of mechanics.

    ``states``    number of random states and inputs, beside the start of the file.
    ``seed``      of the random numbers; the same seed gives the same states.
    ``progress``  a function that is given the fraction done.

    Raises ValueError for a negative number of states or seed, `ModelError` for a model that breaks a rule of files or
    whose loops cannot be closed; with loops closed at the start it needs a C compiler.
    """
    states, seed = whole("states", states), whole("seed", seed)
    return _Run(ruled(model).whole, states, seed).verification(progress or (lambda fraction: None))


@dataclass(frozen=True)
class _Point:
    """A state, inputs and parameters to compare at, with Order-N's ``rates`` and what is allowed there.

    ``terms`` are sizes of what the rates are sums of where loops are closed (zero without loops): what these leave of
    motions is a difference, and rounding is that of its terms. State 0 is the start. ``laws`` says which laws of effort
    are at work; empty where all of the file are.
    """

    state: int
    laws: str
    x: Array
    u: Array
    p: Array
    k: ca.DM
    rates: Array
    terms: Array
    condition: float

    @property
    def laxity(self) -> float:
        """What tolerances are multiplied by."""
        return max(1.0, self.condition / CONDITION)


RATE = RESULTS.index("rate")


class _Run:
    """One verification of one model."""

    def __init__(self, model: Model, states: int, seed: int) -> None:
        self.model, self.states, self.seed = model, states, seed
        self.equations = equations(model)
        self.ports: Ports = self.equations.ports
        self.p = np.array(self.ports.vector("parameter"), dtype=np.float64)
        self.k = self.equations.prepare(self.p)
        self.reader = Reader(model)
        self.points: list[_Point] = []
        self.singular: list[int] = []
        self.closed = 0
        """Degrees of freedom that closed loops take at the start."""
        self.open_loops: tuple[str, ...] = ()

    def verification(self, tell: Callable[[float], None]) -> Verification:
        self._draw()
        compared = []
        for i, other in enumerate(FORMULATIONS.values()):
            tell((i + 1) / (len(FORMULATIONS) + 2))
            compared.append(self._compared(other))
        tell((len(FORMULATIONS) + 1) / (len(FORMULATIONS) + 2))
        residuals = self._residuals()
        tell(1.0)
        return Verification(
            model=self.model.name,
            bodies=len(self.model.bodies),
            degrees_of_freedom=sum(body.joint.n_u + body.modes for body in self.model.bodies) - self.closed,
            state_variables=len(self.ports.state_names),
            states=self.states,
            seed=self.seed,
            tolerance=TOLERANCE,
            condition=CONDITION,
            worst_condition=max((point.condition for point in self.points), default=math.inf if self.singular else 1.0),
            singular=tuple(self.singular),
            open_loops=self.open_loops,
            comparisons=tuple(compared),
            residuals=residuals,
        )

    def _draw(self) -> None:
        """The start with the file's inputs, then random states and inputs, all of them with every set of laws."""
        if not self.ports.state_names:
            return
        start = np.array(ports(assemble(self.model)).start)
        x, u = _vector(self.equations.start(start, self.k)), np.array(self.ports.vector("input"))
        trials = Trials(self.model, np.random.default_rng(self.seed), x)
        if self.model.constraints:
            closed = trials.closed(x, u)
            x = x if closed is None else closed
            self.closed = rank_of(Constrained(self.reader, x, u, self.p).G)
        drawn = [(x, u, self._condition(x, u))]
        for _ in range(self.states):
            x, u, conditioning = conditioned(trials.draw, self._condition, limit=CONDITION, tries=TRIES)
            drawn.append((trials.rubbing(x, self._spin(x, u)), u, conditioning))
        switches = {each.name: self.ports.of(constraint(each), "closed") for each in self.model.constraints}
        self.open_loops = tuple(
            name for name, switch in switches.items() if switch and not any(u[switch.places].any() for _, u, _ in drawn)
        )
        self.singular = [state for state, (_, _, conditioning) in enumerate(drawn) if not conditioning < SINGULAR]
        for laws, p in variants(self.ports, self.p):
            constants = self.equations.prepare(p)
            for state, (x, u, conditioning) in enumerate(drawn):
                if state not in self.singular:
                    k, senses = self._holding(x, constants)
                    rates, given = _vector(self.equations.derivatives(x, u, k)), np.append(p, senses)
                    terms = self._terms(x, u, given)
                    self.points.append(_Point(state, laws, x, u, given, k, rates, terms, conditioning))

    def _holding(self, x: Array, k: ca.DM) -> tuple[ca.DM, Array]:
        """Constants ``k`` where friction that sticks holds what is at rest, and its senses."""
        if self.equations.holding is None:
            return k, np.zeros(0)
        senses, held = (
            np.sign(np.array(self.equations.holding(x, self.ports.vector("input"), k)[RATE])).ravel(),
            ca.DM(k),
        )
        held[[*self.equations.resistances.senses]] = senses
        return held, senses

    def _terms(self, x: Array, u: Array, p: Array) -> Array:
        if not self.model.constraints:
            return np.zeros(len(x))
        system = Constrained(self.reader, x, u, p)
        return np.abs(system.rates(terms(system)))

    def _condition(self, x: Array, u: Array) -> float:
        if rigid_trees(self.model):
            return constrained_condition(Constrained(self.reader, x, u, self.p))
        assembly = Assembly(self.reader, x, u, self.p)
        return condition(assembly.COEF, assembly.fixed)

    def _spin(self, x: Array, u: Array) -> Callable[[Body], Array]:
        """The angular velocity of each body at states ``x``, its axes."""
        y = _vector(self.equations.outputs(x, u, self.k))
        return lambda body: y[self.ports.by_name[f"{body.name}.omega"].places]

    def _compared(self, other: Formulation) -> Comparison:
        label = (other.name, other.title, other.source)
        if outside := other.uncovered(self.model):
            return Comparison(*label, outside, family=other.family)
        evaluate, begin = other.derivatives(self.model), time.perf_counter()
        answers = [evaluate(point.x, point.u, point.p) for point in self.points]
        seconds = (time.perf_counter() - begin) / max(1, len(answers))
        if not answers:
            return Comparison(*label, family=other.family)
        said, expected = np.array(answers), np.array([point.rates for point in self.points])
        largest, differences = np.maximum(np.abs(said), np.abs(expected)), np.abs(said - expected)
        largest = np.maximum(largest, [point.terms for point in self.points])
        for rows in _alike(self.points):
            differences[rows] /= self._scales(largest[rows].max(axis=0))
        row, finding = _worst(self.points, differences.max(axis=1))
        variable = self.ports.state_names[int(np.argmax(differences[row]))] if finding.figure else ""
        forces, force = self._forces(other) if self.model.constraints and other.tells_forces else (None, "")
        return Comparison(*label, (), finding, variable, seconds, forces, force, other.family)

    def _forces(self, other: Formulation) -> tuple[Finding, str]:
        """The largest disagreement of a loop's force or torque, or a gear's effort, and which; each is measured by the
        largest of its kind, or by the other kind with the model's length as arm."""
        evaluate, length = other.multipliers(self.model), sizes(self.model).length
        wanted = [v for v in self.ports.outputs if v.quantity in LOADS and v.owner.kind in LOADS[v.quantity]]
        names, units = (
            [v.name for v in wanted for _ in range(v.size)],
            np.array([unit for v in wanted for unit in v.units]),
        )
        said, expected = np.zeros((2, len(self.points), len(names)))
        for i, point in enumerate(self.points):
            outputs, loads = (
                _vector(self.equations.outputs(point.x, point.u, point.k)),
                evaluate(point.x, point.u, point.p),
            )
            said[i] = np.concatenate([_load(loads, v) for v in wanted])
            expected[i] = np.concatenate([outputs[v.places] for v in wanted])
        differences, largest = np.abs(said - expected), np.maximum(np.abs(said), np.abs(expected))
        for rows in _alike(self.points):
            force, torque = (largest[rows][:, units == unit].max(initial=0.0) for unit in ("N", "N.m"))
            scales = {"N": max(force, SMALL * torque / length), "N.m": max(torque, SMALL * force * length)}
            differences[rows] /= [scales[unit] or 1.0 for unit in units]
        row, finding = _worst(self.points, differences.max(axis=1), FORCES)
        return finding, names[int(np.argmax(differences[row]))] if finding.figure else ""

    def _scales(self, largest: Array) -> Array:
        """What each derivative is measured by: its variable's largest value, or a part of the largest with its unit.

        A wheel's momentum is measured by no less than what its body's angular acceleration gives it, of which others
        form it as a difference.
        """
        scales = largest.copy()
        units: dict[str, list[int]] = {}
        for variable in self.ports.outputs:
            if variable.state is not None:
                places = range(variable.state, variable.state + variable.size)
                scales[places] = largest[places].max()
                units.setdefault(variable.unit, []).extend(places)
        for same in units.values():
            scales[same] = np.maximum(scales[same], SMALL * largest[same].max())
        turning = max((largest[same].max() for unit, same in units.items() if unit == "rad/s"), default=0.0)
        for body in self.model.bodies:
            for name, wheel in body.wheels.items():
                at = self.ports.by_name[f"{body.name}.{name}.momentum"].state
                scales[at] = max(scales[at], SMALL * wheel.inertia * turning)
        return np.where(scales == 0.0, 1.0, scales)

    def _residuals(self) -> tuple[Residual, ...]:
        observer = Observer(self.model, self.equations)
        instants = [observer.instant(point.x, point.u, point.p, point.k, point.rates) for point in self.points]
        return tuple(self._residual(law, instants) for law in BALANCES)

    def _residual(self, law: Balance, instants: Sequence[Instant]) -> Residual:
        if why := law.inapplicable(self.model):
            return Residual(law.name, law.title, why)
        pairs = [(point, law.residual(instant)) for point, instant in zip(self.points, instants, strict=True)]
        stated = [(point, pair) for point, pair in pairs if pair is not None]
        if not stated:
            return Residual(law.name, law.title)
        residuals, scales = np.array([pair for _, pair in stated]).T
        points = [point for point, _ in stated]
        for rows in _alike(points):
            scales[rows] = np.maximum(scales[rows], SMALL * scales[rows].max())
        figures = np.abs(residuals) / np.where(scales == 0.0, 1.0, scales)
        return Residual(law.name, law.title, "", _worst(points, figures)[1])


def _alike(points: Sequence[_Point]) -> list[list[int]]:
    """The places of points that have the same laws of effort, and are measured by the largest of them."""
    places: dict[str, list[int]] = {}
    for place, point in enumerate(points):
        places.setdefault(point.laws, []).append(place)
    return list(places.values())


def _worst(points: Sequence[_Point], figures: Array, allowed: float = TOLERANCE) -> tuple[int, Finding]:
    """The figure that is largest beside the tolerance of its point, and where; one that is not finite is infinite."""
    figures = np.where(np.isfinite(figures), figures, np.inf)
    tolerances = np.array([allowed * point.laxity for point in points])
    i = int(np.argmax(figures / tolerances))
    figure, tolerance, point = float(figures[i]), float(tolerances[i]), points[i]
    return i, Finding(figure, point.state, tolerance, figure <= tolerance, point.laws)


def _load(loads: Mapping[str, Loads], v: Variable) -> Array:
    """The output ``v``, as a formulation has it."""
    if v.owner.kind == "gear":
        return loads[str(v.owner)].efforts
    return getattr(loads[v.owner.name], v.quantity)


def _vector(value: ca.DM) -> Array:
    return np.array(value, dtype=np.float64).reshape(-1)
