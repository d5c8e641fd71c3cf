"""Table 2 of Ghosh and Quiocho as ratios: Order-N against a dense mass matrix, rigid and flexible, open and closed.

T. K. Ghosh and L. J. Quiocho, "Development and evaluation of an Order-N formulation for multi-flexible body space
systems" (ECMS 2013). The systems are those of ``examples/two_arm_platform``, the dense method that of ``dense.py``;
both are C from CasADi's graphs at the same flags (the dense method's own loops at -O3), called in turn from C, one
evaluation of the derivatives each.
"""

from __future__ import annotations

import ctypes
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tests"), str(HERE.parent / "examples" / "two_arm_platform")]

import dense  # noqa: E402
import two_arms  # noqa: E402
from jpl import subject  # noqa: E402
from page import Table, number  # noqa: E402
from timing import Subject, timed, times_of  # noqa: E402

from mbdy.engine import Model, equations  # noqa: E402
from mbdy.engine.core.build import FLAGS, LINK, compiler, shared_library  # noqa: E402
from mbdy.engine.core.library import standing_alone  # noqa: E402
from mbdy.engine.core.schedule import schedule  # noqa: E402

AGREEMENT = 1e-9
"""Difference of the accelerations, of the largest, that is taken for rounding; mass matrices have conditions of 3e6."""
REPORT = {
    5: (166.8, 174.0), 6: (277.9, 423.6), 7: (275.9, 478.0), 8: (408.6, 1127.9),
    9: (40.7, 17.1), 10: (48.0, 18.4), 11: (59.4, 22.7), 12: (133.8, 57.4),
    13: (613.4, 567.6), 14: (937.2, 1402.0), 15: (1037.9, 1551.2), 16: (2257.3, 4063.9),
}  # fmt: skip
"""Seconds of Order-N and of the dense method in Table 2; its first four lines have not come down to us."""


@dataclass(frozen=True)
class Line:
    """One line of Table 2: configuration, freedoms, and microseconds of both methods, taken in turn."""

    given: two_arms.Configuration
    freedoms: tuple[int, int, int]
    order_n: list[float]
    dense: list[float]

    @property
    def ratio(self) -> float:
        """How many times longer the dense method takes."""
        return median(d / n for n, d in zip(self.order_n, self.dense, strict=True))


def dense_subject(model: Model, other: Subject) -> Subject:
    """The dense method for ``model``, at the state and inputs of ``other``.

    Raises RuntimeError where its accelerations are not those of ``other``.
    """
    made = dense.terms(model)
    sources = {**standing_alone(schedule(made.function)), **made.sources()}
    repeat = ctypes.CDLL(str(shared_library(sources, compiler(), FLAGS, LINK))).repeat
    repeat.argtypes = [ctypes.c_int, *[ctypes.c_void_p] * 4]
    *vectors, expected = other.arguments
    found = np.zeros_like(expected)
    subject = timed(repeat, *vectors, found)
    if not np.allclose(found, expected, rtol=0.0, atol=AGREEMENT * np.abs(expected).max()):
        raise RuntimeError(f"{model.name}: dense and Order-N accelerations differ")
    return subject


def line(case: int, rounds: int) -> Line:
    """Both methods on configuration ``case``."""
    model = two_arms.system(case)
    order_n = subject(equations(model))
    times = times_of({"order_n": order_n, "dense": dense_subject(model, order_n)}, rounds)
    return Line(two_arms.configuration(case), two_arms.counts(model), times["order_n"], times["dense"])


def table(lines: list[Line]) -> Table:
    """Table 2 with the report's own ratios beside."""
    rows = []
    for each in lines:
        paper = REPORT.get(each.given.number)
        loops = (3 if each.given.arms else 2) if each.given.closed else 0
        rows.append((
            str(each.given.number), "flexible" if each.given.flexible else "rigid", str(each.given.model), str(loops),
            str(each.freedoms[0]), str(each.freedoms[1]), number(median(each.order_n) * 1e6), number(each.ratio),
            number(paper[1] / paper[0]) if paper else "",
        ))  # fmt: skip
    columns = "case", "bodies", "model", "loops", "DOF", "modes", "Order-N, µs", "dense / Order-N", "the paper's"
    return Table(columns, rows)
