"""Multipliers of loops: ``A multipliers = b``, A as singular as redundant rows leave it.

The solver is a graph of small kernels, each called for every refinement, so that neither it nor its derivatives grow
with how many there are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import casadi as ca
from casadi import MX, SX

from mbdy.engine.order_n.kernels import kernel, symbols

REFINEMENTS = 12
PROXIMAL = 1e-4
"""Size of the proximal term against the mean of the diagonal, with which multipliers come to the smallest ones."""
SCALED_REFINEMENTS = 4
SCALED_PROXIMAL = 1e-7
"""The same against the diagonal itself, for rows that move far less or more mass than most."""
FINE_PROXIMAL = 1e-12
"""The same against the mean, where something is left over: below a lever of some 1e-5 lengths lies rounding."""
FEW = 10
"""Directions that A gives almost nothing of up to which that holds. What stages of an integrator are off by goes into
accelerations along each by the inverse root of what A gives, or of the term. Of n loops in a row that a motion makes
redundant together there are n such directions, and as many times softer ones: the root grows with their square."""
FINE_PASSES = 2
LEAST = 1e-3
"""Part of the mean of the diagonal that rows are scaled by at least in this."""
UNMOVED = 1e-15
"""[1/kg, 1/(kg.m2)] Mobility below which loops hold nothing that could move."""
SOLVED = 1e-11
"""Part of the right-hand side that may be left over before it is done."""
BETTER = 0.1
"""Part of what is left over that more of it must bring it down to."""


@cache
def solver(sparsity: str, size: int) -> ca.Function:
    """Multipliers (n) with ``A multipliers = b``: ``A = G M^-1 G^T`` with open rows empty, which are not ``closed``.

    Redundant rows leave A singular; refinements with a proximal term approach the multipliers of least norm, metres and
    radians weighed alike, and make no decision on rank. Where redundant rows contradict each other, by rounding or by
    different time constants, b loses what no multipliers could make of it. Only where that leaves something over, as
    rows do that yield far less than others or differ by a short lever, are a smaller term and more refinements tried.
    """
    steps = _Steps(sparsity, size)
    inputs = {"A": steps.matrix(), "closed": MX.sym("closed", size), "b": MX.sym("b", size)}
    near, left = _solve(steps, *inputs.values())
    given = [*inputs.values(), MX.sym("near", size)]
    fine = ca.Function(f"solve_finely_{size}", given, [_solve_finely(steps, *given)])
    as_it_is = ca.Function(f"solved_{size}", given, [given[-1]])
    finish = ca.Function.if_else(f"finish_{size}", fine, as_it_is)
    multipliers = finish(left, *inputs.values(), near)
    return ca.Function(f"solver_{size}", [*inputs.values()], [multipliers], [*inputs], ["multipliers"])


class _Steps:
    """The kernels of one size and sparsity of A."""

    def __init__(self, sparsity: str, size: int) -> None:
        self.sparsity, self.size = ca.Sparsity.deserialize(sparsity), size
        A = SX.sym("A", self.sparsity)
        _, LT, self.order = ca.ldl(A + SX.eye(size))
        self.triangle = LT.sparsity()

        def made(name: str, inputs: dict[str, SX], how: Callable[..., dict[str, SX]]) -> ca.Function:
            return kernel(f"{name}_{size}", inputs, how(**inputs))

        vector = symbols(b=size)
        matrix, factors = {"A": A}, {"D": SX.sym("D", size), "LT": SX.sym("LT", self.triangle)}
        self.system = made("loop_system", matrix | symbols(closed=size) | vector, self._system)
        self.factors = made("loop_factors", matrix | symbols(term=size), self._factors)
        self.refined = made("loop_refined", matrix | vector | symbols(near=size) | factors, self._refined)
        self.solved = made("loop_solved", vector | factors, self._solved)
        self.shrunk = made("loop_shrunk", vector | symbols(term=size) | factors, self._shrunk)
        self.rest = made("loop_rest", matrix | vector | symbols(near=size), lambda A, b, near: {"rest": b - A @ near})
        self.over = made(
            "loop_over",
            symbols(rest=size, weight=size),
            lambda rest, weight: {"over": ca.norm_inf(rest / ca.sqrt(weight))},
        )

    def matrix(self) -> MX:
        return MX.sym("A", self.sparsity)

    @staticmethod
    def _system(A: SX, closed: SX, b: SX) -> dict[str, SX]:
        """``held``: b of rows that hold something that can move; the ``mean`` of A's diagonal; ``weight``: what rows
        are measured by, the diagonal, at least some of its mean; ``open_rows`` to be added to it."""
        mean = ca.sum1(ca.diag(A)) / ca.fmax(ca.sum1(closed), 1)
        yields = mean > UNMOVED
        mean = ca.if_else(yields, mean, 1)
        weight = ca.fmax(ca.diag(A), LEAST * mean)
        return {"held": ca.if_else(yields, b, 0), "mean": mean, "weight": weight, "open_rows": (1 - closed) * mean}

    @staticmethod
    def _factors(A: SX, term: SX) -> dict[str, SX]:
        D, LT, _ = ca.ldl(A + ca.diag(term))
        return {"D": ca.densify(ca.vec(D)), "LT": LT}

    def summed(self, b: MX, term: MX, D: MX, LT: MX) -> MX:
        """Multipliers after all proximal steps but one, from zero: what one leaves over is the ``term`` times what it
        adds, so that A is not needed."""
        near = MX.zeros(self.size)
        for _ in range(REFINEMENTS - 1):
            added = self.solved(b, D, LT)
            near, b = near + added, term * added
        return near

    def _refined(self, A: SX, b: SX, near: SX, D: SX, LT: SX) -> dict[str, SX]:
        """Multipliers ``better`` by a proximal step, which solves for what is left with the factors."""
        return {"better": near + ca.ldl_solve(b - A @ near, D, LT, self.order)}

    def _solved(self, b: SX, D: SX, LT: SX) -> dict[str, SX]:
        return {"added": ca.ldl_solve(b, D, LT, self.order)}

    def _shrunk(self, b: SX, term: SX, D: SX, LT: SX) -> dict[str, SX]:
        """b with all but what A gives nothing of shrunk by a proximal step with the ``term``."""
        return {"less": term * ca.ldl_solve(b, D, LT, self.order)}


def _solve(steps: _Steps, A: MX, closed: MX, b: MX) -> tuple[MX, MX]:
    """Multipliers near those of `solver`, and whether something is left over."""
    held, mean, weight, open_rows = steps.system(A, closed, b)
    # What b asks of redundant rows against each other lies where A gives nothing: no multipliers meet it, and each
    # refinement would add it to them once more, over mu. mu W (A + mu W)^-1, some times over, leaves of b only that.
    term = SCALED_PROXIMAL * weight
    scaled = steps.factors(A, term + open_rows)
    contradiction = _times(SCALED_REFINEMENTS, held, lambda b: steps.shrunk(b, term, *scaled))
    # A proximal step shrinks what is left by mu / (mu + sigma) along each eigenvalue sigma of A and adds nothing where
    # sigma is zero, so from zero the multipliers come to those of least norm. Where a motion makes rows redundant, they
    # stay smooth; a decision on rank would make them jump.
    term, solvable = PROXIMAL * mean + open_rows, held - contradiction
    factors = steps.factors(A, term)
    near = steps.refined(A, solvable, steps.summed(solvable, term, *factors), *factors)
    left = steps.over(steps.rest(A, held, near), weight) > SOLVED * steps.over(held, weight)
    return near, left


def _solve_finely(steps: _Steps, A: MX, closed: MX, b: MX, near: MX) -> MX:
    """``near`` multipliers with what they leave over brought down, if it can be, and then to those of least norm."""
    held, mean, weight, open_rows = steps.system(A, closed, b)
    pivots, _ = steps.factors(A, PROXIMAL * mean + open_rows)
    soft = PROXIMAL * mean * ca.sum1(1 / pivots)
    term = FINE_PROXIMAL * (1 + (soft / FEW) ** 4) * mean
    factors, terms = steps.factors(A, term + open_rows), ca.repmat(term, steps.size, 1)

    def shrunk(b: MX) -> MX:
        return _times(SCALED_REFINEMENTS, b, lambda b: steps.shrunk(b, terms, *factors))

    rest = _times(FINE_PASSES, steps.rest(A, held, near), lambda rest: rest - shrunk(rest))
    fine = near + _times(SCALED_REFINEMENTS, MX.zeros(steps.size), lambda near: steps.refined(A, rest, near, *factors))
    # Rounding where A gives nothing has been divided by the term: that is no part of the multipliers of least norm.
    fine = _times(FINE_PASSES, fine, lambda fine: fine - shrunk(fine))
    better = steps.over(steps.rest(A, held, fine), weight) < BETTER * steps.over(steps.rest(A, held, near), weight)
    return ca.if_else(better, fine, near)


def _times(count: int, value: MX, step: Callable[[MX], MX]) -> MX:
    for _ in range(count):
        value = step(value)
    return value
