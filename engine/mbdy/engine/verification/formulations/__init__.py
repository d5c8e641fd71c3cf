"""Independent second opinions on the equations of motion, each written from its own paper.

They share a model, its tree and `values` (which body's numbers lie where), and nothing with the Order-N equations that
mbdy runs: other unknowns, other eliminations, dense matrices in NumPy. `mbdy.engine.verify` compares them all.

Three are for trees of rigid bodies. Three more, of one family, cover flexible bodies and closed loops: they have their
matrices in common and differ in how they deal with constraints.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mbdy.engine.model.ports import whole_inputs
from mbdy.engine.model.system import Model
from mbdy.engine.model.values import chosen
from mbdy.engine.verification.formulations import barycentric, complement, constrained, kane, solutions
from mbdy.engine.verification.formulations.constrained import Multipliers, derivatives_by, multipliers_by
from mbdy.engine.verification.formulations.values import Derivatives, UncoveredError, geared_trees

__all__ = ["FORMULATIONS", "ORDER_N", "Derivatives", "Formulation", "Multipliers", "UncoveredError", "formulation"]

Array = NDArray[np.float64]
T = TypeVar("T")

ORDER_N = "order-n"
"""Name of the equations that mbdy runs, where one of several formulations is chosen by name."""


@dataclass(frozen=True)
class Formulation:
    """One way to the equations of motion.

    ``name`` is how it is asked for; ``title`` says what it is, ``source`` where it comes from (author, year,
    equations). ``uncovered(model)`` says what of a model lies outside its domain, a sentence each; empty where all is
    covered. Those of one ``family`` (if any) solve the same equations, each in its own way.
    """

    name: str
    title: str
    source: str
    uncovered: Callable[[Model], tuple[str, ...]]
    _derivatives: Callable[[Model], Derivatives]
    _multipliers: Callable[[Model], Multipliers] | None = None
    family: str = ""

    def derivatives(self, model: Model) -> Derivatives:
        """``f(x, u, p)``, the states' derivatives: vectors in the layouts of `mbdy.engine.model.ports`.

        Raises `UncoveredError` for a model outside its domain.
        """
        self._cover(model)
        return _of_whole(self._derivatives(model.whole), model)

    def multipliers(self, model: Model) -> Multipliers:
        """``f(x, u, p)``, the forces, multipliers and errors of every loop by name, and gear by ``gear.NAME``.

        Raises `UncoveredError` for a model outside its domain, and where it knows no loops.
        """
        self._cover(model)
        if self._multipliers is None:
            raise UncoveredError(f"formulation {self.name!r} is for trees and has no forces of loops and gears")
        return _of_whole(self._multipliers(model.whole), model)

    @property
    def tells_forces(self) -> bool:
        """Whether it has `multipliers`."""
        return self._multipliers is not None

    def _cover(self, model: Model) -> None:
        if outside := self.uncovered(model):
            raise UncoveredError(f"formulation {self.name!r} does not cover {model.name!r}: {'; '.join(outside)}")


def _of_whole(function: Callable[[Array, Array, Array], T], model: Model) -> Callable[[Array, Array, Array], T]:
    """``f(x, u, p)`` of the inputs that ``model`` has, from that of all it could have."""
    if model.port_choice.inputs is None:
        return function
    starts, places = whole_inputs(model)

    def call(x: Array, u: Array, p: Array) -> T:
        every = np.array(starts)
        every[list(places)] = u
        return function(x, every, p)

    return call


def _constrained(name: str, title: str, source: str, solve: constrained.Solve) -> Formulation:
    covers_all = solve is solutions.lagrange
    outside = (lambda model: ()) if covers_all else constrained.uncovered_by_elimination
    return Formulation(name, title, source, outside, derivatives_by(solve), multipliers_by(solve), "lagrange")


FORMULATIONS: Mapping[str, Formulation] = MappingProxyType(
    {
        second.name: second
        for second in (
            Formulation("kane", "Kane's matrix form", kane.SOURCE, geared_trees, kane.derivatives),
            Formulation("jpl", "augmented bodies", barycentric.SOURCE, barycentric.uncovered, barycentric.derivatives),
            Formulation(
                "huston", "partial velocity arrays", complement.SOURCE, complement.uncovered, complement.derivatives
            ),
            _constrained("lagrange", "Lagrange multipliers", solutions.LAGRANGE, solutions.lagrange),
            _constrained("kamman", "complement by zero eigenvalues", solutions.KAMMAN, solutions.kamman),
            _constrained("penrose", "pseudo-inverse of constraints", solutions.PENROSE, solutions.penrose),
        )
    }
)
"""The second opinions by name."""


def formulation(name: str) -> Formulation:
    """The second opinion called ``name``; ValueError names those that exist."""
    return FORMULATIONS[chosen("formulation", name, tuple(FORMULATIONS))]
