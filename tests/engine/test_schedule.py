"""Schedules and their kernels in C against CasADi's own evaluation of the same functions."""

from __future__ import annotations

import zlib
from concurrent.futures import ThreadPoolExecutor

import casadi as ca
import numpy as np
import pytest
from casadi import MX, SX

from mbdy.engine import Model, equations
from mbdy.engine.core.build import CompilerError
from mbdy.engine.core.library import sources
from mbdy.engine.core.schedule import schedule
from mbdy.engine.order_n.loop_solver import solver
from mechanisms import four_bar
from player import Numbers, Player
from systems import chain

ROUNDED = {
    ca.OP_SIN, ca.OP_COS, ca.OP_TAN, ca.OP_ASIN, ca.OP_ACOS, ca.OP_ATAN, ca.OP_ATAN2, ca.OP_TANH, ca.OP_EXP, ca.OP_LOG,
    ca.OP_LOG1P, ca.OP_HYPOT, ca.OP_POW, ca.OP_CONSTPOW,
}  # fmt: skip

C99_LINE = 4095
"""Characters in a line that every compiler takes (ISO/IEC 9899:1999, 5.2.4.1)."""


def played(f: ca.Function, arguments: Numbers, wanted: list[bool] | None = None) -> list[np.ndarray]:
    """The nonzeros of the results ``wanted`` of ``f`` in C."""
    return Player(schedule(f))(0, arguments, wanted)


def evaluated(f: ca.Function, arguments: list[np.ndarray]) -> list[np.ndarray]:
    given = [ca.DM(f.sparsity_in(n), a) if len(a) else ca.DM(f.sparsity_in(n)) for n, a in enumerate(arguments)]
    return [np.array(result.nonzeros()) for result in f.call(given)]


def assert_casadis(f: ca.Function, found: list[np.ndarray], expected: list[np.ndarray]) -> None:
    """Bit for bit; where ``f`` has functions that are rounded otherwise in C (elementary.h), but for their errors."""
    kernels = [call.kernel.function for call in schedule(f).calls]
    used = {k.instruction_id(i) for k in kernels if isinstance(k, ca.Function) for i in range(k.n_instructions())}
    tolerance = 0.0 if used.isdisjoint(ROUNDED) else 1e-14
    for a, b in zip(found, expected, strict=True):
        scale = max(np.abs(b), default=0.0) if tolerance else 0.0
        np.testing.assert_allclose(a, b, rtol=0.0, atol=tolerance * scale, err_msg=f.name())


def drawn(f: ca.Function, seed: int = 0) -> list[np.ndarray]:
    draw = np.random.default_rng(seed)
    return [draw.uniform(0.1, 1.0, f.nnz_in(n)) for n in range(f.n_in())]


def of_model(model: Model) -> list[tuple[ca.Function, list[np.ndarray]]]:
    """All functions of a model with arguments near its start."""
    made = equations(model)
    p, s = (np.array(made.ports.vector("parameter")), np.array(made.ports.start))
    k = np.array(made.prepare(p)).ravel()
    x = np.array(made.start(s, k)).ravel()
    near = {
        "p": p,
        "s": s,
        "k": k,
        "x": x,
        "before": x,
        "u": np.array(made.ports.vector("input")),
        "largest": np.ones(1),
    }
    draw = np.random.default_rng(1)
    return [
        (f, [near[n] if n in near else draw.standard_normal(f.nnz_in(i)) for i, n in enumerate(f.name_in())])
        for f in made.functions
    ]


@pytest.mark.parametrize(
    "model", [pytest.param(chain(2), id="chain"), pytest.param(four_bar(), id="loop", marks=pytest.mark.slow)]
)
def test_functions_of_a_model_are_casadis(model):
    for f, arguments in of_model(model):
        assert_casadis(f, played(f, arguments), evaluated(f, arguments))


def test_functions_of_more_vectors_than_there_is_room_for_are_refused():
    x = [MX.sym(f"x{i}") for i in range(24)]
    with pytest.raises(CompilerError, match="too many arguments and results"):
        played(ca.Function("many", x, [sum(x)]), [np.ones(1)] * 24)
    (total,) = played(ca.Function("several", x[:21], [sum(x[:21])]), [np.ones(1)] * 21)
    assert total == 21


def graphs() -> dict[str, ca.Function]:
    """What a graph can hold besides calls: moving, stacking, arithmetic, maps, branches."""
    A, b, c = MX.sym("A", 3, 3), MX.sym("b", 3), MX.sym("c")
    sparse = MX.sym("s", ca.Sparsity.lower(3))
    x, y = SX.sym("x", 2), SX.sym("y")
    inner = ca.Function("inner", [x, y], [ca.sin(x) * y, x[0] / y])
    branch = ca.Function.if_else(
        "either", ca.Function("yes", [b], [b * 2, b[0]]), ca.Function("no", [b], [ca.sqrt(b), MX(1, 1)])
    )
    changed, added = MX(b), MX.zeros(4)
    changed[1] = c
    added[1:4] = b
    repeated = ca.repmat(b, 1, 2)
    results = {
        "moved": [A.T, ca.reshape(A, 9, 1)[2:5], A[:, 1], ca.vertcat(c, b, 0, 7.5), ca.diagcat(c, A), changed, added,
                  repeated],
        "sparse": [sparse, ca.densify(sparse), sparse @ b, sparse.T @ A, sparse + ca.diag(b)],
        "reckoned": [A @ A + ca.dot(b, b), b * c, -b, b - c, ca.fmax(b, c), ca.norm_inf(b), ca.norm_2(b), ca.mmin(b),
                     ca.tanh(b), ca.atan2(b, c), b**c, ca.if_else(c > 0.5, b, 0), ca.if_else(b > 0.5, b, c),
                     ca.sum1(b), ca.sum2(A)],
        "mapped": inner.map(3)(A[:2, :], b.T),
        "switched": [*branch(c > 0.5, b), *branch(c < 0, b)],
    }  # fmt: skip
    return {name: ca.Function(name, [A, b, c, sparse], list(some)) for name, some in results.items()}


@pytest.mark.parametrize("name", ["moved", "sparse", "reckoned", "mapped", "switched"])
def test_what_a_graph_can_hold_is_casadis(name):
    f = graphs()[name]
    arguments = drawn(f)
    assert_casadis(f, played(f, arguments), evaluated(f, arguments))


@pytest.mark.parametrize("transposed", [False, True])
def test_linear_equations_are_solved(transposed):
    A, B = MX.sym("A", 4, 4), MX.sym("B", 4, 2)
    f = ca.Function("solved", [A, B], [ca.solve(A.T if transposed else A, B)])
    draw = np.random.default_rng(3)
    given = draw.standard_normal((4, 4)), draw.standard_normal((4, 2))
    given[0][0, 0] = 0.0  # a pivot that elimination in the given order would divide by
    (found,) = played(f, [g.ravel(order="F") for g in given])
    matrix = given[0].T if transposed else given[0]
    np.testing.assert_allclose(found.reshape(4, 2, order="F"), np.linalg.solve(matrix, given[1]), rtol=1e-12)


def test_what_is_left_out_is_zero_or_not_written():
    f = graphs()["reckoned"]
    arguments = drawn(f)
    zero = [arguments[0], arguments[1], np.zeros(1), arguments[3]]
    wanted = [n % 2 == 0 for n in range(f.n_out())]
    expected, found = evaluated(f, zero), played(f, [*arguments[:2], None, arguments[3]], wanted)
    assert_casadis(f, found[::2], expected[::2])
    assert all(np.isnan(result).all() for result in found[1::2])


@pytest.mark.parametrize("name", ["sparse", "reckoned", "mapped", "switched", "solved"])
def test_lanes_have_the_bits_of_one_run(name):
    """Two at once, of which each takes another branch."""
    A, b = MX.sym("A", 3, 3), MX.sym("b", 3)
    f = {**graphs(), "solved": ca.Function("solved", [A, b], [ca.solve(A, b)])}[name]
    runs = [drawn(f, seed) for seed in (1, 2)]
    if name != "solved":
        runs[0][2][:], runs[1][2][:] = 0.2, 0.8
    results = Player(schedule(f), lanes=2)(0, [np.stack(pair, axis=1) for pair in zip(*runs, strict=True)])
    for lane, arguments in enumerate(runs):
        for found, expected in zip(results, played(f, arguments), strict=True):
            np.testing.assert_array_equal(found[:, lane], expected)


def test_tables_grow_by_little_with_bodies():
    def packed(bodies: int) -> int:
        files = sources(equations(chain(bodies)), directional=True, adjoint=True)
        assert max(len(line) for text in files.values() for line in text.splitlines()) < C99_LINE
        return sum(len(zlib.compress(files[name].encode())) for name in ("model.c", "changes.c", "gradients.c"))

    assert packed(40) - packed(20) < 20 * 80  # bytes; each row of offsets by itself would take 2000 a body


def test_threads_that_play_a_library_first_have_the_same_numbers():
    f = equations(chain(20)).derivatives
    given, play = drawn(f), Player(schedule(f))
    with ThreadPoolExecutor(8) as pool:
        found = [*pool.map(lambda _: play(0, given), range(64))]
    for one in found:
        assert_casadis(f, one, evaluated(f, given))


def test_bodies_of_one_kind_share_a_kernel():
    short, long = (schedule(equations(chain(n)).derivatives) for n in (6, 12))
    kinds = [{id(call.kernel) for call in one.calls} for one in (short, long)]
    assert len(kinds[0]) == len(kinds[1])
    assert len(long.calls) > 1.5 * len(short.calls)


def test_the_solver_of_loops_does_not_grow_with_its_refinements():
    size = 6
    f = solver(ca.Sparsity.dense(size, size).serialize(), size)
    made = schedule(f)
    assert 2 * len({id(call.kernel) for call in made.calls}) < len(made.calls)


def test_an_instruction_that_is_not_known_is_named():
    x = MX.sym("x", 2)
    with pytest.raises(NotImplementedError, match="logsumexp"):
        schedule(ca.Function("f", [x], [ca.logsumexp(x)]))
