"""Independent second opinions on the equations of motion, each written from its own paper.

They share a model, its tree and `values` (which body's numbers lie where), and nothing with the Order-N equations that
mbdy runs: other unknowns, other eliminations, dense matrices in NumPy. `mbdy.engine.verify` compares them all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from mbdy.engine.formulations import barycentric, complement, kane
from mbdy.engine.formulations.values import Derivatives, UncoveredError
from mbdy.engine.model import Model

__all__ = ["FORMULATIONS", "ORDER_N", "Derivatives", "Formulation", "UncoveredError", "formulation"]

ORDER_N = "order-n"
"""Name of the equations that mbdy runs, where one of several formulations is chosen by name."""


@dataclass(frozen=True)
class Formulation:
    """One way to the equations of motion.

    ``name`` is how it is asked for; ``title`` says what it is, ``source`` where it comes from (author, year,
    equations).
    """

    name: str
    title: str
    source: str
    _uncovered: Callable[[Model], tuple[str, ...]]
    _derivatives: Callable[[Model], Derivatives]

    def uncovered(self, model: Model) -> tuple[str, ...]:
        """What of ``model`` lies outside its domain, a sentence each; empty where all is covered."""
        return self._uncovered(model)

    def derivatives(self, model: Model) -> Derivatives:
        """``f(x, u, p)``, the states' derivatives: vectors in the layouts of `mbdy.engine.ports`.

        Raises `UncoveredError` for a model outside its domain.
        """
        if outside := self.uncovered(model):
            raise UncoveredError(f"formulation {self.name!r} does not cover {model.name!r}: {'; '.join(outside)}")
        return self._derivatives(model)


FORMULATIONS: Mapping[str, Formulation] = MappingProxyType(
    {
        made.name: made
        for made in (
            Formulation("kane", "Kane's matrix form", kane.SOURCE, kane.uncovered, kane.derivatives),
            Formulation("jpl", "augmented bodies", barycentric.SOURCE, barycentric.uncovered, barycentric.derivatives),
            Formulation(
                "huston", "partial velocity arrays", complement.SOURCE, complement.uncovered, complement.derivatives
            ),
        )
    }
)
"""The second opinions by name."""


def formulation(name: str) -> Formulation:
    """The second opinion called ``name``; ValueError names those that exist."""
    if name not in FORMULATIONS:
        raise ValueError(f"formulation: {name!r} is unknown; choose one of {', '.join((ORDER_N, *FORMULATIONS))}")
    return FORMULATIONS[name]
