"""What a kernel makes of changes: one that leaves coefficients behind, and linear ones that take these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from operator import or_
from typing import Any

import casadi as ca
from casadi import SX

from mbdy.engine.core.schedule import KEPT, Kernel, Solution, kernel_of

STEPS = {
    ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_AND, ca.OP_OR, ca.OP_NOT, ca.OP_SIGN, ca.OP_FLOOR, ca.OP_CEIL,
}  # fmt: skip
"""Operations without a derivative: it is zero but where they jump."""
Entry = tuple[int, int]
"""Input or output of a kernel, and a nonzero of it."""


@dataclass(eq=False, frozen=True)
class LinearKernel:
    """Changes of some results of a kernel from those of some inputs.

    ``change``        from coefficients and changes of inputs (a vector each) to changes of results.
    ``coefficients``  as expressions of ``inputs``, the symbols of the kernel's; not of a `Solution`.
    """

    change: ca.Function
    coefficients: tuple[SX, ...] = ()
    inputs: tuple[SX, ...] = ()

    @property
    def size(self) -> int:
        """How many coefficients there are."""
        return self.change.nnz_in(0)


def union(masks: Iterable[int]) -> int:
    """All bits of ``masks``."""
    return reduce(or_, masks, 0)


@lru_cache(maxsize=KEPT)
def dependencies(kernel: Kernel) -> tuple[tuple[int, ...], ...]:
    """By output and its nonzeros the reads of a kernel that change it, as bits."""
    f = kernel.function
    if isinstance(f, Solution):
        return ((1 << len(kernel.reads)) - 1,) * (f.size * f.columns), (0,) * f.size**2
    bits = {read: 1 << bit for bit, read in enumerate(kernel.reads)}
    results = [[0] * f.nnz_out(n) for n in range(f.n_out())]
    felt: dict[int, int] = {}
    for k in range(f.n_instructions()):
        op, i, o = f.instruction_id(k), f.instruction_input(k), f.instruction_output(k)
        if op == ca.OP_INPUT:
            felt[o[0]] = bits[i[0], i[1]]
        elif op == ca.OP_OUTPUT:
            results[o[0]][o[1]] = felt[i[0]]
        elif op == ca.OP_CONST or op in STEPS:
            felt[o[0]] = 0
        else:
            felt[o[0]] = felt[i[-1]] if op == ca.OP_IF_ELSE_ZERO else union(felt[j] for j in i)
    return tuple(map(tuple, results))


@lru_cache(maxsize=KEPT)
def linear(kernel: Kernel, along: tuple[Entry, ...], wanted: tuple[Entry, ...]) -> LinearKernel:
    """Of the results ``wanted`` along changes of the inputs ``along``."""
    f = kernel.function
    if isinstance(f, Solution):
        return LinearKernel(_change_of_solution(f, along, wanted))
    x: list[SX] = f.sx_in()
    y = f.call(x, True, False)
    d = SX.sym("d", len(along))
    results, change = ca.vertcat(*(y[o][n] for o, n in wanted)), SX.zeros(len(wanted))
    if along:
        entries: list[list[Any]] = [a.nonzeros() for a in x]
        moving = ca.vertcat(*(entries[i][n] for i, n in along))
        change = ca.densify(ca.jtimes(results, moving, d))
    return _parted(ca.Function("whole", [*x, d], ca.cse([change])), x, d)


def _parted(whole: ca.Function, x: list[SX], d: SX) -> LinearKernel:
    """What is of changes ``d`` apart from what is of values alone, which becomes coefficients where they meet."""
    symbols: list[list[Any]] = [a.nonzeros() for a in (*x, d)]
    held: dict[int, tuple[SX, bool]] = {}
    meeting: dict[int, tuple[SX, SX]] = {}
    changes: list[SX] = [SX(0)] * whole.nnz_out(0)

    def crossing(e: SX) -> SX:
        if e.is_constant():
            return e
        return meeting.setdefault(e.element_hash(), (SX.sym(f"c{len(meeting)}"), e))[0]

    for k in range(whole.n_instructions()):
        op, i, o = whole.instruction_id(k), whole.instruction_input(k), whole.instruction_output(k)
        if op == ca.OP_INPUT:
            held[o[0]] = symbols[i[0]][i[1]], i[0] == len(x)
        elif op == ca.OP_CONST:
            held[o[0]] = SX(whole.instruction_constant(k)), False
        elif op == ca.OP_OUTPUT:
            changes[o[1]] = held[i[0]][0] if held[i[0]][1] else crossing(held[i[0]][0])
        else:
            along = any(held[j][1] for j in i)
            given = [e if a == along else crossing(e) for e, a in (held[j] for j in i)]
            held[o[0]] = SX.unary(op, given[0]) if len(given) == 1 else SX.binary(op, *given), along
    coefficients = ca.vertcat(*(symbol for symbol, _ in meeting.values())) if meeting else SX(0, 1)
    change = ca.Function("change", [coefficients, d], [ca.vertcat(*changes)])
    return LinearKernel(change, tuple(e for _, e in meeting.values()), tuple(x))


def _change_of_solution(f: Solution, along: Sequence[Entry], wanted: Sequence[Entry]) -> ca.Function:
    """``A^-1 (dB - dA X)``, from the inverse and X."""
    n, m = f.size, f.columns
    coefficients, d = SX.sym("c", n * (n + m)), SX.sym("d", len(along))
    inverse, X = ca.reshape(coefficients[: n * n], n, n), ca.reshape(coefficients[n * n :], n, m)
    right, changed = SX(n, m), ca.vertsplit(d) if along else []
    for (which, nonzero), one in zip(along, changed, strict=True):
        row, column = f.places[which][nonzero] % n, f.places[which][nonzero] // n
        if which:
            right[row, :] -= one * X[column, :]
        else:
            right[row, column] += one
    change = ca.vec(ca.densify(inverse @ right))
    return ca.Function("change", [coefficients, d], [change[[place for _, place in wanted]]])


@lru_cache(maxsize=KEPT)
def values(kernel: Kernel, of: LinearKernel | None, used: tuple[bool, ...]) -> Kernel:
    """The kernel with its outputs ``used``, and then the coefficients; a `Solution` has all its outputs."""
    if isinstance(kernel.function, Solution):
        return Kernel(replace(kernel.function, kept=of is not None), kernel.reads)
    x = list(of.inputs) if of else kernel.function.sx_in()
    results = [y for y, u in zip(kernel.function.call(x, True, False), used, strict=True) if u]
    if of and of.coefficients:
        results.append(ca.vertcat(*of.coefficients))
    return kernel_of(ca.Function("values", x, ca.cse(results)))


@lru_cache(maxsize=KEPT)
def change(of: LinearKernel, directions: int) -> Kernel:
    """From coefficients and changes of inputs to those of results, in so many ``directions`` at once."""
    coefficients, d = of.change.sx_in()
    (changes,) = of.change.call([coefficients, d], True, False)
    shared: Any = ca.cse([ca.densify(changes)])
    return kernel_of(ca.Function("change", [coefficients, d], shared), directions)


@lru_cache(maxsize=KEPT)
def gradient(
    of: LinearKernel, inputs: tuple[tuple[int, ...], ...], results: tuple[int, ...], added: tuple[int, ...]
) -> Kernel:
    """From coefficients, seeds of some results and sums so far to sums of gradients by inputs.

    ``inputs`` has by place those that are there; there are sums so far of the places ``added``.
    """
    coefficients, d = of.change.sx_in()
    (changes,) = of.change.call([coefficients, d], True, False)
    seeds, sums = SX.sym("seeds", len(results)), SX.sym("sums", len(added))
    back = ca.vertsplit(ca.densify(ca.jtimes(changes[list(results)], d, seeds, True)))
    so_far = dict(zip(added, ca.vertsplit(sums) if added else [], strict=True))
    gradients: list[SX] = [
        sum(([so_far[place]] if place in so_far else []) + [back[n] for n in some[1:]], start=back[some[0]])
        for place, some in enumerate(inputs)
    ]
    return kernel_of(ca.Function("gradient", [coefficients, seeds, sums], ca.cse([ca.vertcat(*gradients)])))


@lru_cache(maxsize=KEPT)
def copy(n: int) -> Kernel:
    """Of ``n`` numbers."""
    x = SX.sym("x", n)
    return kernel_of(ca.Function("copy", [x], [x]))


@lru_cache(maxsize=KEPT)
def total(n: int) -> Kernel:
    """The sum of ``n`` numbers."""
    x = SX.sym("x", n)
    return kernel_of(ca.Function("total", [x], [ca.sum1(x)]))
