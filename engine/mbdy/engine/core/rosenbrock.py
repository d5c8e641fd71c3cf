"""The linearly implicit integrator: coefficients, for C and for CasADi's virtual machine, and the solver of the latter.

One step of ``x' = f(t, x)`` over ``h`` solves, one after the other and with one matrix, for i = 1 ... 6

    (1/(gamma h) - J) U_i = f(t + alpha_i h, x + sum_j a_ij U_j) + 1/h sum_j c_ij U_j + d_i h f_t,    j < i,

with the exact Jacobian J = df/dx and f_t = df/dt at the step's begin, and ends at ``x + sum_j a_6j U_j + U_6``. This is
RODASP: order 4, for linear parabolic problems too (no loss of order by stiff modes), L-stable (modes much faster than
the step are damped away) and stiffly accurate.

Sources: G. Steinebach, Order-reduction of ROW-methods for DAEs and method of lines applications, preprint 1741, TH
Darmstadt (1995), coefficients; E. Hairer, G. Wanner, Solving Ordinary Differential Equations II (1996), Section IV.7:
Eq. (7.25), the form above, and the program RODAS.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

GAMMA = 0.25
ALPHA = (0.0, 0.75, 0.21, 0.63, 1.0, 1.0)
D = (0.25, -0.5, -0.023504, -0.0362, 0.0, 0.0)
A = (
    (),
    (3.0,),
    (1.831036793486759, 0.4955183967433795),
    (2.304376582692669, -0.05249275245743001, -1.176798761832782),
    (-7.170454962423024, -4.741636671481785, -16.31002631330971, -1.062004044111401),
    (-7.170454962423024, -4.741636671481785, -16.31002631330971, -1.062004044111401, 1.0),
)
C = (
    (),
    (-12.0,),
    (-8.791795173947035, -2.207865586973518),
    (10.81793056857153, 6.780270611428266, 19.5348594464241),
    (34.19095006749676, 15.49671153725963, 54.7476087596413, 14.16005392148534),
    (34.62605830930532, 15.30084976114473, 56.99955578662667, 18.40807009793095, -5.714285714285717),
)
STAGES = len(ALPHA)


def definitions() -> list[str]:
    """The coefficients as C's preprocessor takes them."""
    lists = [("ALPHA", ALPHA), ("D", D)]
    tables = [("A", A), ("C", C)]
    lines = [f"#define MBDY_ROSENBROCK_STAGES {STAGES}", f"#define MBDY_ROSENBROCK_GAMMA {GAMMA!r}"]
    lines += [f"#define MBDY_ROSENBROCK_{name} {_braced(row)}" for name, row in lists]
    lines += [f"#define MBDY_ROSENBROCK_{name} {{{', '.join(map(_braced, rows))}}}" for name, rows in tables]
    return lines


def _braced(row: tuple[float, ...]) -> str:
    return f"{{{', '.join(map(repr, row or (0.0,)))}}}"


@np.errstate(all="ignore")  # who asked looks at what comes out, as after a step in C
def step(x: Array, h: float, jacobian: Array, drift: Array, slope_at: Callable[[Array, float, Array], None]) -> None:
    """One step of ``h`` [s], ``x`` (n) in its place, operation by operation as rosenbrock.h does it.

    ``jacobian``  (n, n) columns of df/dx at the step's begin; spent.
    ``drift``     (n) h df/dt there.
    ``slope_at``  called with states, the part of the step that is over, and where the derivatives go.
    """
    columns = np.negative(jacobian, out=jacobian)
    columns[np.diag_indices(len(x))] += 1.0 / (GAMMA * h)
    exchanges = factor(columns)
    stages = np.empty((STAGES, len(x)))
    stage = x.copy()
    for own, alpha, d, a, c in zip(stages, ALPHA, D, A, C, strict=True):
        stage[:] = x
        for weight, earlier in zip(a, stages, strict=False):
            stage += weight * earlier
        slope_at(stage, alpha, own)
        np.add(own, d * drift, out=own)
        for weight, earlier in zip(c, stages, strict=False):
            np.add(own, weight / h * earlier, out=own)
        solve(columns, exchanges, own)
    x[:] = stage + stages[-1]


def factor(columns: Array) -> list[int]:
    """Triangular factors of a matrix (n, n), given by its columns, in its place; returns the exchanges of rows.

    Operation by operation as lu.h does it.
    """
    n, exchanges = len(columns), []
    for k in range(n):
        p = k + int(np.argmax(np.abs(columns[k, k:])))
        exchanges.append(p)
        columns[:, [k, p]] = columns[:, [p, k]]
        columns[k, k + 1 :] /= columns[k, k]
        columns[k + 1 :, k + 1 :] -= np.outer(columns[k + 1 :, k], columns[k, k + 1 :])
    return exchanges


def solve(columns: Array, exchanges: list[int], b: Array) -> None:
    """The solution of what `factor` took apart, in the place of the right-hand side ``b`` (n)."""
    n = len(b)
    for k, p in enumerate(exchanges):
        b[k], b[p] = b[p], b[k]
    for k in range(n):
        b[k + 1 :] -= columns[k, k + 1 :] * b[k]
    for k in reversed(range(n)):
        b[k] /= columns[k, k]
        b[:k] -= columns[k, :k] * b[k]
