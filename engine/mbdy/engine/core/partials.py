"""The derivatives of a model's functions that are compiled: which, by what, and what they are called in model.h."""

from __future__ import annotations

from functools import lru_cache

import casadi as ca

from mbdy.engine.core.changes import Linearised
from mbdy.engine.core.schedule import Schedule, schedule
from mbdy.engine.order_n.derivatives import smooth, stepped
from mbdy.engine.order_n.equations import Equations

STATES_AND_INPUTS = (0, 1)
COLUMNS = 8
"""Columns of a Jacobian that are made at once."""


@lru_cache(maxsize=32)
def linearised(f: ca.Function) -> Linearised:
    """All results of ``f`` by all of its arguments."""
    return Linearised(schedule(f), tuple(range(f.n_in())), tuple(range(f.n_out())), f.name())


@lru_cache(maxsize=32)
def linearised_some(f: ca.Function, name: str = "mbdy_model_derivatives_some") -> Linearised:
    """All results of ``f`` by states and inputs alone."""
    return Linearised(schedule(f), STATES_AND_INPUTS, tuple(range(f.n_out())), name)


def directional(equations: Equations) -> tuple[Schedule, ...]:
    """``mbdy_model_prepare_values``, ``mbdy_model_prepare_changes`` and so on of each function of `smooth`; and
    ``mbdy_model_derivatives_some_values`` and its changes, by states and inputs alone."""
    every = (one for f in smooth(equations) for one in (linearised(f).values, linearised(f).changes()))
    some = linearised_some(stepped(equations))
    return *every, some.values, some.changes()


def adjoint(equations: Equations) -> tuple[Schedule, ...]:
    """``mbdy_model_prepare_gradients`` and so on, of the values of `directional`."""
    every = (linearised(f).gradients() for f in smooth(equations))
    return *every, linearised_some(stepped(equations)).gradients()


def implicit(equations: Equations) -> tuple[Schedule, ...]:
    """``mbdy_model_jacobian_values`` and ``mbdy_model_jacobian_changes``: derivatives by states and inputs alone."""
    of = linearised_some(stepped(equations), "mbdy_model_jacobian")
    return of.values, of.changes(directions=COLUMNS)
