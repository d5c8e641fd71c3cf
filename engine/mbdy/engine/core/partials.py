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


def directional(equations: Equations) -> tuple[Schedule, ...]:
    """``mbdy_model_prepare_values``, ``mbdy_model_prepare_changes`` and so on of each function of `smooth`; and
    ``mbdy_model_derivatives_some_changes``, by states and inputs."""
    every = (one for f in smooth(equations) for one in (linearised(f).values, linearised(f).changes()))
    return *every, linearised(stepped(equations)).changes(STATES_AND_INPUTS)


def adjoint(equations: Equations) -> tuple[Schedule, ...]:
    """``mbdy_model_prepare_gradients`` and so on, of the values of `directional`."""
    every = (linearised(f).gradients() for f in smooth(equations))
    return *every, linearised(stepped(equations)).gradients(STATES_AND_INPUTS)


def implicit(equations: Equations) -> tuple[Schedule, ...]:
    """``mbdy_model_jacobian_values`` and ``mbdy_model_jacobian_changes``: derivatives by states and inputs alone."""
    f = stepped(equations)
    of = Linearised(schedule(f), STATES_AND_INPUTS, tuple(range(f.n_out())), "mbdy_model_jacobian")
    return of.values, of.changes(directions=COLUMNS)
