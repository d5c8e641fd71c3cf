"""Changes and gradients of schedules in C against CasADi's derivatives of the same functions."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import MX

from engine.test_schedule import drawn, evaluated, graphs
from mbdy.engine import equations
from mbdy.engine.core.changes import Linearised
from mbdy.engine.core.schedule import Schedule, schedule
from mbdy.engine.order_n.derivatives import smooth
from mechanisms import four_bar
from player import Player
from systems import chain

ROUNDING = 1e-14
"""Relative to the largest number of a result; sines are not CasADi's to the bit."""
REDUNDANT = 1e-8
"""The same with multipliers of redundant rows, in which rounding is divided by terms of 1e-7 and smaller."""
SEVERAL = 8


def reversed_of(f: ca.Function) -> ca.Function:
    """From arguments and a seed for each result to gradients."""
    at = [MX.sym(f"x{i}", f.sparsity_in(i)) for i in range(f.n_in())]
    seeds = [MX.sym(f"s{i}", f.sparsity_out(i)) for i in range(f.n_out())]
    products = f.reverse(1).call([*at, *f.call(at), *seeds])
    results = [ca.project(p, f.sparsity_in(i)) for i, p in enumerate(products)]
    return ca.Function("gradients", [*at, *seeds], results)


def forward_of(f: ca.Function) -> ca.Function:
    """From arguments and a change of each to changes of results."""
    at, along = ([MX.sym(f"{c}{i}", f.sparsity_in(i)) for i in range(f.n_in())] for c in "xd")
    products = f.forward(1).call([*at, *f.call(at), *along])
    results = [ca.project(p, f.sparsity_out(i)) for i, p in enumerate(products)]
    return ca.Function("changes", [*at, *along], results)


def near(found: list[np.ndarray], expected: list[np.ndarray], what: str, part: float = ROUNDING) -> None:
    for one, other in zip(found, expected, strict=True):
        largest = np.abs(other[np.isfinite(other)]).max(initial=0.0)
        np.testing.assert_allclose(one, other, rtol=0, atol=part * largest, err_msg=what)


def schedules_of(f: ca.Function) -> list[Schedule]:
    of = Linearised(schedule(f), tuple(range(f.n_in())), tuple(range(f.n_out())), f.name())
    several = Linearised(schedule(f), of.wrt, of.of, f"{f.name()}_several")
    return [of.values, of.changes(), of.gradients(), several.changes(directions=SEVERAL)]


def as_casadis(f: ca.Function, arguments: list[np.ndarray], player: Player, first: int, part: float = ROUNDING) -> None:
    """Of schedules from number ``first`` on: one direction, a seed, and several directions to the bit of one."""
    draw = np.random.default_rng(5)
    along = [draw.standard_normal((SEVERAL, len(a))) for a in arguments]
    seeds = [draw.standard_normal(f.nnz_out(n)) for n in range(f.n_out())]
    (coefficients,) = player(first, arguments)
    single = [player(first + 1, [coefficients, *(d[i] for d in along)]) for i in range(SEVERAL)]
    near(single[0], evaluated(forward_of(f), [*arguments, *(d[0] for d in along)]), f.name(), part)
    several = player(first + 3, [coefficients, *(d.T for d in along)])
    for n, columns in enumerate(several):
        np.testing.assert_array_equal(columns.T, [one[n] for one in single], err_msg=f.name())
    found = player(first + 2, [coefficients, *seeds])
    near(found, evaluated(reversed_of(f), [*arguments, *seeds]), f.name(), part)


@pytest.mark.parametrize("name", ["moved", "sparse", "reckoned", "mapped", "switched"])
def test_what_a_graph_can_hold_is_differentiated_as_casadi_does(name):
    f = graphs()[name]
    as_casadis(f, drawn(f), Player(*schedules_of(f)), 0)


@pytest.mark.parametrize("transposed", [False, True])
def test_linear_equations_are_solved_again(transposed):
    A, B = MX.sym("A", 4, 4), MX.sym("B", 4, 2)
    f = ca.Function("solved", [A, B], [ca.solve(A.T if transposed else A, B)])
    as_casadis(f, drawn(f), Player(*schedules_of(f)), 0, 1e-13)


@pytest.mark.parametrize(
    "model", [pytest.param(chain(1), id="chain"), pytest.param(four_bar(), id="loop", marks=pytest.mark.slow)]
)
def test_functions_of_a_model_are_differentiated_as_casadi_does(model):
    made = equations(model)
    p, s = np.array(made.ports.vector("parameter")), np.array(made.ports.start)
    k = np.array(made.prepare(p)).ravel()
    at = {"p": p, "s": s, "k": k, "x": np.array(made.start(s, k)).ravel(), "u": np.array(made.ports.vector("input"))}
    functions = smooth(made)
    player = Player(*(one for f in functions for one in schedules_of(f)))
    for i, f in enumerate(functions):
        redundant = model.loops and "outputs" in f.name()
        as_casadis(f, [at[n] for n in f.name_in()], player, 4 * i, REDUNDANT if redundant else ROUNDING)


def test_nothing_is_done_for_what_is_not_asked():
    x, y, a = MX.sym("x", 3), MX.sym("y", 3), ca.SX.sym("a", 3)
    inner = ca.Function("inner", [a], [ca.sin(a)])
    s = schedule(ca.Function("f", [x, y], [inner(x), inner(y)]))
    assert len(Linearised(s, (0,), (0, 1), "f").changes().calls) == 1
    assert len(Linearised(s, (0, 1), (1,), "f").values.calls) == 1
    assert not Linearised(s, (0,), (1,), "f").changes().calls
