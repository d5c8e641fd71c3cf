"""A CasADi MX function as a schedule: calls of scalar kernels on one work vector.

Its instructions are walked once. What only moves numbers (slices, stacking, transposing, filling in zeros) becomes
addresses and costs nothing at run time; constants go to a pool; what computes becomes a call of a kernel, an SX
function without what is zero in that call and without results that nothing reads. Derivatives need nothing of their
own: CasADi differentiates an MX graph kernel by kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial, reduce
from operator import add
from typing import Any

import casadi as ca
import numpy as np
from casadi import MX, SX
from numpy.typing import NDArray

Places = NDArray[np.int64]
"""Addresses: segment * `SEGMENT` + offset. Segments are constants, each argument, each result, and work."""
SEGMENT = 1 << 32
ZEROS = 64
"""The constants start with so many zeros: neighbours in a vector are neighbours in memory where they are zero, too."""
KEPT = 4096
"""Kernels that are kept, as models share them: of them all, and of what is generated."""
NOTHING = np.zeros(0, np.int64)
NAMES = {getattr(ca, name): name[3:].lower() for name in dir(ca) if name.startswith("OP_")}
UNARY = {
    ca.OP_ASSIGN, ca.OP_NEG, ca.OP_SQ, ca.OP_SQRT, ca.OP_INV, ca.OP_NOT, ca.OP_TWICE, ca.OP_FABS, ca.OP_SIN, ca.OP_COS,
    ca.OP_EXP, ca.OP_LOG, ca.OP_SIGN, ca.OP_TANH, ca.OP_TAN, ca.OP_ACOS, ca.OP_ASIN, ca.OP_ATAN,
}  # fmt: skip
BINARY = {
    ca.OP_ADD, ca.OP_SUB, ca.OP_MUL, ca.OP_DIV, ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_AND, ca.OP_OR,
    ca.OP_IF_ELSE_ZERO, ca.OP_FMIN, ca.OP_FMAX, ca.OP_POW, ca.OP_CONSTPOW, ca.OP_ATAN2,
}  # fmt: skip
REDUCTIONS = {
    ca.OP_NORMINF: ca.norm_inf, ca.OP_NORM1: ca.norm_1, ca.OP_NORM2: ca.norm_2, ca.OP_NORMF: ca.norm_fro,
    ca.OP_MMIN: ca.mmin, ca.OP_MMAX: ca.mmax,
}  # fmt: skip
STACKS = {ca.OP_VERTCAT: ca.vertcat, ca.OP_HORZCAT: ca.horzcat, ca.OP_DIAGCAT: ca.diagcat}


@dataclass(frozen=True)
class Solution:
    """``X`` with ``A X = B``, dense, by elimination.

    It takes the place of a scalar function in a kernel with inputs B and A and outputs X and A's factors.
    """

    size: int
    columns: int
    places: tuple[tuple[int, ...], ...]
    """Where the nonzeros of B belong in X, and those of A."""
    kept: bool = False
    """Whether there is a third output: the inverse of A, and X once more."""


@dataclass(eq=False, frozen=True)
class Kernel:
    """A scalar function that has only the results that are used, and reads only numbers that are not zero."""

    function: ca.Function | Solution
    reads: tuple[tuple[int, int], ...]
    """The (input, nonzero) that it reads, in order."""
    directions: int = 1
    """How many numbers lie beside each other in all places but those of its first input (`Schedule.directions`)."""


@dataclass(frozen=True)
class Guard:
    """A call is made only where the number at a place is not zero (``when``), or where it is."""

    place: int
    when: bool


@dataclass(eq=False)
class KernelCall:
    """Of a kernel: where its inputs and outputs are."""

    kernel: Kernel
    inputs: list[Places]
    outputs: list[Places]
    guard: Guard | None


@dataclass(eq=False, frozen=True)
class Schedule:
    """A function of vectors as calls of kernels, in order; ``results`` are where the results' numbers are."""

    name: str
    arguments: tuple[int, ...]
    outputs: tuple[int, ...]
    constants: list[float]
    work: int
    calls: list[KernelCall]
    results: list[Places]
    directions: int = 1
    """How many numbers lie beside each other in all places but constants and the first argument, coefficients."""

    def result(self, i: int) -> int:
        """Where the first number of result ``i`` belongs."""
        return (1 + len(self.arguments) + i) * SEGMENT


@lru_cache(maxsize=32)
def schedule(f: ca.Function) -> Schedule:
    """``f``, an SX or MX function, as a schedule. NotImplementedError names an instruction that is not known."""
    recorder = _Recorder(f)
    given = [np.arange(n) + (1 + i) * SEGMENT for i, n in enumerate(recorder.arguments)]
    results = recorder.function(f, given, [n > 0 for n in recorder.outputs])
    return Schedule(
        f.name(),
        tuple(recorder.arguments),
        tuple(recorder.outputs),
        recorder.constants,
        recorder.work,
        recorder.calls,
        results,
    )


class _Recorder:
    def __init__(self, f: ca.Function) -> None:
        self.arguments = [f.nnz_in(i) for i in range(f.n_in())]
        self.outputs = [f.nnz_out(i) for i in range(f.n_out())]
        self.constants = [0.0] * ZEROS
        self.pool: dict[tuple[float, ...], int] = {}
        self.work, self.work_at = 0, (1 + f.n_in() + f.n_out()) * SEGMENT
        self.calls: list[KernelCall] = []
        self.guard: Guard | None = None
        """Under which calls are made now."""

    # -- addresses
    def fresh(self, n: int) -> Places:
        at = self.work_at + self.work
        self.work += n
        return np.arange(at, at + n)

    def constant(self, values: Sequence[float]) -> Places:
        if not any(values):
            return _zeros(len(values))
        key = tuple(values)
        if key not in self.pool:
            self.pool[key] = len(self.constants)
            self.constants += values
        return np.arange(self.pool[key], self.pool[key] + len(values))

    # -- kernels
    def call(
        self, f: ca.Function, inputs: list[Places], used: list[bool], into: list[Places] | None = None
    ) -> list[Places]:
        """Calls the kernel of ``f`` for the results ``used``; addresses of all, empty where not used."""
        outputs = into or [self.fresh(f.nnz_out(n)) if u else NOTHING for n, u in enumerate(used)]
        zero = _is_zero(np.concatenate([NOTHING, *inputs]))
        key = f.__hash__(), tuple(used), zero.tobytes() if zero.any() else b""
        kept = _kernels.get(key)
        if kept is None:
            if len(_kernels) >= KEPT:
                _kernels.clear()
            kept = _kernels[key] = f, _kernel(f, used, [np.flatnonzero(_is_zero(a)).tolist() for a in inputs])
        kernel = kept[1]
        self.calls.append(KernelCall(kernel, inputs, [a for a, u in zip(outputs, used, strict=True) if u], self.guard))
        return outputs

    def operation(
        self, op: int, inputs: list[Places], sparsities: list[ca.Sparsity], out: ca.Sparsity, into: Places | None = None
    ) -> Places:
        """The result of one matrix operation, written ``into`` places that are there already where these are given."""
        f = _operation(op, out.serialize(), tuple(s.serialize() for s in sparsities))
        return self.call(f, inputs, [True], None if into is None else [into])[0]

    def function(self, f: ca.Function, inputs: list[Places], used: list[bool]) -> list[Places]:
        """A function at ``inputs``: MX functions are walked, others are kernels."""
        kind = f.class_name()
        if kind == "Map":
            info = f.info()
            inner, times = info["f"], info["n"]
            parts = [self.function(inner, [_part(a, q, times) for a in inputs], used) for q in range(times)]
            return [np.concatenate([part[n] for part in parts]) if u else NOTHING for n, u in enumerate(used)]
        if kind == "Switch":
            return self.switch(f, inputs, used)
        if kind == "MXFunction":
            return self.walk(f, inputs)
        if kind != "SXFunction":
            raise NotImplementedError(f"a function of class {kind}: {f}")
        return self.call(f, inputs, used)

    def switch(self, f: ca.Function, inputs: list[Places], used: list[bool]) -> list[Places]:
        """A condition and two functions, of which one is called: the first where the condition is zero."""
        info = f.info()
        if len(info["f"]) != 1 or self.guard is not None:
            raise NotImplementedError(f"more than two branches, or one within another: {f}")
        condition, *given = inputs
        into = [self.fresh(f.nnz_out(n)) if u else NOTHING for n, u in enumerate(used)]
        for branch, when in ((info["f"][0], False), (info["f_def"], True)):
            self.guard = Guard(int(condition[0]), when)
            shaped = _shaped(branch, f) if info["project_in"] or info["project_out"] else branch
            for found, to in zip(self.function(shaped, given, used), into, strict=True):
                if len(to):
                    size = ca.Sparsity.dense(len(to), 1)
                    self.operation(ca.OP_ASSIGN, [found], [size], size, to)
        self.guard = None
        return into

    def solution(self, a: list[Places], sparsities: list[ca.Sparsity], *, transposed: bool) -> Places:
        """Where X is of ``A X = B`` of ``B`` and ``A``, or of the transposed A."""
        kernel = _solution(transposed, *(s.serialize() for s in sparsities))
        assert isinstance(kernel.function, Solution)
        size, columns = kernel.function.size, kernel.function.columns
        X = self.fresh(size * columns)
        self.calls.append(KernelCall(kernel, a, [X, self.fresh(size * size)], self.guard))
        return X

    # -- instructions
    def walk(self, f: ca.Function, given: list[Places]) -> list[Places]:
        """The instructions of ``f`` at inputs ``given``; where its results are."""
        slot: dict[int, tuple[Places, ca.Sparsity]] = {}
        results = [np.full(f.nnz_out(i), -1) for i in range(f.n_out())]
        for k in range(f.n_instructions()):
            op, i, o = f.instruction_id(k), f.instruction_input(k), f.instruction_output(k)
            e = f.instruction_MX(k)
            if op == ca.OP_INPUT:
                info = e.info()
                at = info["offset"]
                slot[o[0]] = given[info["ind"]][at : at + e.nnz()], e.sparsity()
                continue
            a = [slot[j][0] if j >= 0 else NOTHING for j in i]
            if op == ca.OP_OUTPUT:
                at = e.info()["offset"]
                results[o[0]][at : at + len(a[0])] = a[0]
            elif op == ca.OP_CALL:
                called = e.which_function()
                inputs = [_zeros(called.nnz_in(n)) if j < 0 else a[n] for n, j in enumerate(i)]
                used = [j >= 0 and called.nnz_out(n) > 0 for n, j in enumerate(o)]
                found = self.function(called, inputs, used)
                slot |= {
                    j: (found[n] if used[n] else NOTHING, called.sparsity_out(n)) for n, j in enumerate(o) if j >= 0
                }
            elif op in (ca.OP_VERTSPLIT, ca.OP_HORZSPLIT):
                at = 0
                for place, j in enumerate(o):
                    sparsity = e.get_output(place).sparsity()
                    if j >= 0:
                        slot[j] = a[0][at : at + sparsity.nnz()], sparsity
                    at += sparsity.nnz()
            else:
                slot[o[0]] = self.value(op, e, a, [slot[j][1] for j in i]), e.sparsity()
        return results

    def value(self, op: int, e: MX, a: list[Places], sparsities: list[ca.Sparsity]) -> Places:
        """Where the nonzeros of an instruction's value are."""
        out = e.sparsity()
        if op == ca.OP_CONST:
            return self.constant([float(v) for v in e.to_DM().nonzeros()])
        if op == ca.OP_GETNONZEROS:
            return _taken(a[0], np.array(e.mapping().nonzeros(), dtype=np.int64))
        if op in STACKS:
            order = _numbers(STACKS[op](*_numbered(sparsities)))
            return np.concatenate(a)[order] if len(order) else NOTHING
        if op in (ca.OP_RESHAPE, ca.OP_SPARSITY_CAST):
            return a[0]
        if op == ca.OP_TRANSPOSE:
            return a[0][_numbers(_numbered(sparsities)[0].T)]
        if op == ca.OP_PROJECT:
            number = ca.project(ca.DM(sparsities[0], [v + 1.0 for v in range(sparsities[0].nnz())]), out)
            return _taken(a[0], _numbers(number) - 1)
        if op in (ca.OP_ADDNONZEROS, ca.OP_SETNONZEROS):
            return self.into(op, np.array(e.mapping().nonzeros(), dtype=np.int64), *a)
        if op == ca.OP_HORZREPMAT:
            return np.tile(a[0], out.nnz() // max(1, len(a[0])))
        if op == ca.OP_SOLVE:
            return self.solution(a, sparsities, transposed=e.info()["tr"])
        if op == ca.OP_ADD:
            for kept, other in ((0, 1), (1, 0)):
                if sparsities[kept] == out and _is_zero(a[other]).all():
                    return a[kept]
        return self.operation(op, a, sparsities, out)

    def into(self, op: int, places: Places, y: Places, x: Places) -> Places:
        """``y`` with ``x`` set, or added, at ``places``: addresses where nothing was there, else an addition."""
        result = y.copy()
        if op == ca.OP_SETNONZEROS:
            result[places[places >= 0]] = x[places >= 0]
            return result
        for n in range(len(places)):
            if places[n] >= 0 and _is_zero(result[places[n]]):
                result[places[n]], places[n] = x[n], -1
        # a place that is added to more than once takes one addition after the other
        left = [n for n in range(len(places)) if places[n] >= 0 and not _is_zero(x[n])]
        while left:
            now = list({int(places[n]): n for n in reversed(left)}.values())
            at, size = places[now], ca.Sparsity.dense(len(now), 1)
            result[at] = self.operation(ca.OP_ADD, [result[at], x[now]], [size, size], size)
            left = [n for n in left if n not in now]
        return result


def _zeros(n: int) -> Places:
    return np.arange(n) % ZEROS


def _is_zero(a: Places) -> NDArray[np.bool_]:
    return a < ZEROS


def _taken(a: Places, places: Places) -> Places:
    """The addresses at ``places``, zeros where these are negative."""
    if not len(a):
        return _zeros(len(places))
    return np.where(places < 0, _zeros(len(places)), a[np.maximum(places, 0)])


def _part(a: Places, q: int, times: int) -> Places:
    return a[q * len(a) // times : (q + 1) * len(a) // times]


def _numbered(sparsities: list[ca.Sparsity]) -> list[ca.DM]:
    """Matrices whose nonzeros carry their numbers."""
    ends = np.cumsum([0, *(s.nnz() for s in sparsities)]).tolist()
    return [ca.DM(s, list(range(begin, end))) for s, begin, end in zip(sparsities, ends, ends[1:], strict=False)]


def _numbers(matrix: ca.DM) -> Places:
    return np.array(matrix.nonzeros(), dtype=np.int64)


def _shaped(f: ca.Function, like: ca.Function) -> ca.Function:
    """``f`` with the sparsities of a switch's arguments and results."""
    given = [MX.sym(f"i{n}", like.sparsity_in(n + 1)) for n in range(f.n_in())]
    results = f.call([ca.project(g, f.sparsity_in(n)) for n, g in enumerate(given)], False, False)
    return ca.Function(f.name(), given, [ca.project(r, like.sparsity_out(n)) for n, r in enumerate(results)])


def _arithmetic(op: int, out: ca.Sparsity) -> Callable[..., SX]:
    """What an instruction makes of its arguments."""
    if op in UNARY:
        return partial(SX.unary, op)
    if op in BINARY:
        return partial(SX.binary, op)
    if op == ca.OP_MTIMES:
        return lambda z, x, y: z + x @ y
    if op == ca.OP_DOT:
        return ca.dot
    if op == ca.OP_HORZREPSUM:
        return lambda x: reduce(add, ca.horzsplit(x, out.shape[1]))
    if op in REDUCTIONS:
        return REDUCTIONS[op]
    raise NotImplementedError(f"instruction {NAMES[op]} of a graph")


@lru_cache(maxsize=KEPT)
def _operation(op: int, out: str, sparsities: tuple[str, ...]) -> ca.Function:
    shape = ca.Sparsity.deserialize(out)
    symbols = [SX.sym(f"i{n}", ca.Sparsity.deserialize(s)) for n, s in enumerate(sparsities)]
    return ca.Function(NAMES[op], symbols, [ca.project(_arithmetic(op, shape)(*symbols), shape)])


@lru_cache(maxsize=KEPT)
def _solution(transposed: bool, *sparsities: str) -> Kernel:
    B, A = map(ca.Sparsity.deserialize, sparsities)
    (size, columns), cells = B.shape, [zip(*s.get_triplet(), strict=True) for s in (B, A)]
    into = [[r + size * c for r, c in cells[0]], [c + size * r if transposed else r + size * c for r, c in cells[1]]]
    reads = tuple((which, n) for which, s in enumerate((B, A)) for n in range(s.nnz()))
    return Kernel(Solution(size, columns, tuple(map(tuple, into))), reads)


_kernels: dict[tuple[object, ...], tuple[ca.Function, Kernel]] = {}
"""Those that are kept, with their functions: a function's hash is its address, so that none may be freed."""


def _kernel(f: ca.Function, used: Sequence[bool], zero: Sequence[Sequence[int]]) -> Kernel:
    """``f`` for the results ``used``, with inputs that are zero at the places ``zero``."""
    symbols: list[SX] = f.sx_in()
    given = [_without(symbol, places) for symbol, places in zip(symbols, zero, strict=True)]
    results: list[SX] = f.call(given, True, False)
    wanted = [_nonzeros(ca.project(SX(r), f.sparsity_out(i))) for i, r in enumerate(results) if used[i]]
    shared: Any = ca.cse(wanted)
    return kernel_of(ca.Function("kernel", symbols, shared))


def kernel_of(function: ca.Function, directions: int = 1) -> Kernel:
    """An SX function as a kernel."""
    reads = {
        (function.instruction_input(k)[0], function.instruction_input(k)[1])
        for k in range(function.n_instructions())
        if function.instruction_id(k) == ca.OP_INPUT
    }
    return Kernel(function, tuple(sorted(reads)), directions)


def _without(symbol: SX, places: Sequence[int]) -> SX:
    """``symbol`` with zeros at ``places`` among its nonzeros."""
    entries: list[Any] = symbol.nonzeros()
    for i in places:
        entries[i] = SX(0)
    return SX(symbol.sparsity(), ca.vertcat(*entries)) if places else symbol


def _nonzeros(matrix: Any) -> SX:
    entries: list[Any] = SX(matrix).nonzeros()
    return ca.vertcat(*entries)
