"""The core's steps in CasADi's virtual machine, for machines without a C compiler.

Same vectors, calls and statuses as `mbdy.engine.core.binding.Core`, and the same arithmetic as core.c, about
ten times slower.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from mbdy.engine.core import rosenbrock
from mbdy.engine.core.binding import (
    BAD_INPUT,
    BAD_PARAMETER,
    BAD_START,
    BAD_STEP,
    FAILED,
    OK,
    ORDERS,
    TORN,
    UNCLOSED,
)
from mbdy.engine.model.ports import NOWHERE
from mbdy.engine.order_n.derivatives import forward_of, smooth_derivatives
from mbdy.engine.order_n.equations import Equations
from mbdy.engine.order_n.loop_kernels import (
    ASSEMBLY_STEPS,
    CLOSED,
    DRIFT,
    NEARLY_CLOSED,
    SETTLED,
    SETTLING_STEPS,
    TORN_APART,
)
from mbdy.engine.verification.formulations import Derivatives

Vector = NDArray[np.float64]
HELD, LINEAR, QUADRATIC = ORDERS.values()


class VirtualCore:
    """One plant of a model's equations without a compiler (see `mbdy.engine.core.binding.Core`).

    ``derivatives`` takes the place of the Order-N equations in the steps; outputs and latches stay theirs. ``implicit``
    steps can be linearly implicit too, which takes the Order-N equations' own derivatives.
    """

    compiled = False

    def __init__(self, equations: Equations, derivatives: Derivatives | None = None, *, implicit: bool = False) -> None:
        self._equations = equations
        n_x, n_u = len(equations.ports.state_names), len(equations.ports.input_names)
        self.s, self.x, self._x_old, self._stage = (np.zeros(n_x) for _ in range(4))
        self._slope = [np.zeros(n_x) for _ in range(4)]
        self.u, self.u_mid, self.u_end, self._u_stage = (np.zeros(n_u) for _ in range(4))
        self.p = np.zeros(len(equations.ports.parameter_names))
        self.y = np.zeros(len(equations.ports.output_names))
        self._k = np.zeros(equations.n_k)
        self._switches = equations.ports.span("switches")
        self._positions = np.zeros(n_x, dtype=bool)
        self._positions[: equations.n_q] = self._positions[equations.modal] = True
        self.fault = -1
        self._prepare = _Call(equations.prepare)
        self._start = _Call(equations.start)
        self._prepared = self.p.copy()
        self._derivatives = _Call(equations.derivatives) if derivatives is None else self._of(derivatives)
        self._outputs = _Call(equations.outputs)
        self._latch = _Call(equations.latch) if equations.latch else None
        self._locks = equations.locks
        self.impulses = np.zeros(len(equations.impulse_places))
        self._assemble = _Call(equations.assemble) if equations.assemble else None
        self._gaps = _Call(equations.gaps) if equations.gaps else None
        self._errors = np.zeros((2, len(equations.loop_rows)))
        self._integrators = [self._runge_kutta, self._euler_cromer]
        if implicit:
            self._along = _Call(forward_of(smooth_derivatives(equations)))
            self._still = (np.zeros(n_x), np.zeros(n_u), np.zeros_like(self._k))
            self._integrators.append(self._rosenbrock)

    def prepare(self) -> int:
        k = np.zeros_like(self._k)
        if (status := self._finite(self.p, BAD_PARAMETER)) != OK:
            return status
        self._prepare(self.p, out=k)
        if (status := self._finite(k, BAD_PARAMETER)) != OK:
            self.fault += len(self.p)
            return status
        self._k[:] = k
        self._prepared[:] = self.p
        return OK

    def start(self) -> int:
        if (status := self._finite(self.s, BAD_START)) != OK:
            return status
        s, x = self.s.copy(), np.zeros_like(self.x)
        self._normalise(s)
        self._start(s, self._k, out=x)
        if (status := self._finite(x, BAD_START)) != OK:
            return status
        self._x_old[:], self.x[:] = self.x, x
        self.impulses[:] = 0.0
        if self._assemble and not self._assembled():
            self.x[:] = self._x_old
            return UNCLOSED
        return OK

    def _assembled(self) -> bool:
        """Whether the loops closed in u could be closed; they are then."""
        error = self._gaps_at(self.u, math.inf)[0]
        for _ in range(ASSEMBLY_STEPS):
            if error <= CLOSED:
                break
            self._nearer(self.u, math.inf)
            error = self._gaps_at(self.u, math.inf)[0]
        if not error <= NEARLY_CLOSED:
            return False
        self._stop(self.u, np.zeros_like(self.impulses))
        return True

    def _gaps_at(self, u: Vector, largest: float) -> tuple[float, float, float]:
        """The largest error of closed loops below ``largest``, that of all, and the largest rate; see gaps() in
        core.c."""
        assert self._gaps
        self._gaps(self.x, u, self._k, out=(self._errors[0], self._errors[1]))
        errors, rates = np.abs(self._errors)
        if errors.max(initial=0.0) != 0.0:
            self.fault = int(np.argmax(errors))
        error = np.where(errors >= largest, 0.0, errors).max(initial=0.0)
        return float(error), float(errors.max(initial=0.0)), float(rates.max(initial=0.0))

    def _nearer(self, u: Vector, largest: float) -> None:
        assert self._assemble
        self._assemble(self.x, u, self._k, np.array([largest]), out=self._stage)
        self.x[:] = self._stage
        self._normalise(self.x)

    def _stop(self, u: Vector, impulses: Vector) -> None:
        """Takes away speeds that locks and loops do not allow."""
        assert self._latch
        self._latch(self.x, u, self._k, out=(self._stage, impulses))
        self.x[:] = self._stage

    def _settle(self, u: Vector, before: float) -> int:
        """Takes out what the integrator left of errors of closed loops; see settle() in core.c."""
        error, widest, rate = self._gaps_at(u, DRIFT)
        if before <= DRIFT and widest > TORN_APART:
            return TORN
        for _ in range(SETTLING_STEPS):
            if not error > SETTLED:
                break
            self._nearer(u, DRIFT)
            error, _, rate = self._gaps_at(u, DRIFT)
        if rate > SETTLED:
            self._stop(u, np.zeros_like(self.impulses))
        return OK

    def outputs(self, x: int | None = None, u: int | None = None, y: int | None = None) -> None:
        own = _at(y, self.y)
        self._outputs(_at(x, self.x), _at(u, self.u), self._k, out=own)
        if x is None:
            for place, impulse in zip(self._equations.impulse_places, self.impulses, strict=True):
                if place != NOWHERE:
                    own[place] = impulse

    def _of(self, derivatives: Derivatives) -> Callable[..., None]:
        """Other equations in the place of `_Call`: their numbers come from the parameters prepared last."""

        def call(x: Vector, u: Vector, k: Vector, *, out: Vector) -> None:
            out[:] = derivatives(x, u, self._prepared)

        return call

    def derivatives(self, x: int | None, u: int | None, dx: int) -> None:
        self._derivatives(_at(x, self.x), _at(u, self.u), self._k, out=_at(dx, self.x))

    def step(self, H: float, h: float, integrator: int, order: int) -> int:
        if (status := self._advance(H, h, integrator, order)) == OK:
            self.outputs()
        return status

    def _advance(self, H: float, h: float, integrator: int, order: int) -> int:
        if not (H > 0 and h > 0 and H / h < 1e9 and HELD <= order <= QUADRATIC):
            return BAD_STEP
        if integrator not in range(len(self._integrators)):
            return BAD_STEP
        for vector in (self.u,) if order == HELD else (self.u, self.u_end):
            if (status := self._bad_input(vector)) != OK:
                return status
        if order == QUADRATIC and (status := self._finite(self.u_mid, BAD_INPUT)) != OK:
            return status
        self._x_old[:] = self.x
        before = self.impulses.copy()
        acting = self.u if order == HELD else self.u_end
        _, apart, parting = self._gaps_at(acting, math.inf) if self._gaps else (0.0, 0.0, 0.0)
        self._stop_locked(acting, parting)
        n = max(1, math.ceil(H / h - 1e-9))
        advance = self._integrators[integrator]
        for i in range(n):
            advance(i / n, (i + 1) / n, H / n, order)
            self._normalise(self.x)
        status = self._settle(acting, apart) if self._assemble else OK
        place = self.fault
        if (finite := self._finite(self.x, FAILED)) != OK:
            status = finite
        if status != OK:
            self.fault = place if status == TORN else self.fault
            self.x[:] = self._x_old
            self.impulses[:] = before
            return status
        if order != HELD:
            self.u[:] = self.u_end
        if order == QUADRATIC:
            self.u_mid[:] = self.u
        return OK

    def run(
        self, rows: int, H: float, h: float, integrator: int, order: int,
        inputs: int | None, pick: int, picked: int, out: int,
    ) -> tuple[int, int]:  # fmt: skip
        if order > LINEAR:
            return BAD_STEP, 0
        places = np.ctypeslib.as_array((ctypes.c_int * picked).from_address(pick)) if picked else []
        n_u = len(self.u)
        table = None if inputs is None else _view(inputs, (rows + 1) * n_u).reshape(-1, n_u)
        rows_out = _view(out, rows * picked).reshape(rows, picked) if picked else None
        if table is not None:
            self.u[:] = table[0]
        for row in range(rows):
            if table is not None:
                self.u_end[:] = table[row + 1]
                self.u_end[self._switches] = self.u[self._switches]
            if (status := self._advance(H, h, integrator, order)) != OK:
                return status, row
            if table is not None:
                self.u[:] = table[row + 1]
            self.outputs()
            if rows_out is not None:
                rows_out[row] = self.y[places]
        if table is not None:
            self.u_end[:] = self.u
        return OK, rows

    def _stop_locked(self, u: Vector, parting: float) -> None:
        """Joints that are locked and still move stop at once, and so do loops that part; see latch() in core.c."""
        self.impulses[:] = 0.0
        moving = any(u[lock] and self.x[speed] for lock, speed in self._locks)
        if self._equations.loop_impulses:
            moving = moving or not parting <= SETTLED
        if moving:
            self._stop(u, self.impulses)

    def _bad_input(self, u: Vector) -> int:
        if (status := self._finite(u, BAD_INPUT)) != OK:
            return status
        bad = np.flatnonzero((u[self._switches] != 0.0) & (u[self._switches] != 1.0))
        if bad.size:
            self.fault = self._switches.start + int(bad[0])
            return BAD_INPUT
        orbit = self._equations.ports.orbit_position
        if orbit and not 1e-200 < float(u[orbit] @ u[orbit]) < 1e200:
            self.fault = orbit.start
            return BAD_INPUT
        return OK

    def _finite(self, vector: Vector, status: int) -> int:
        bad = np.flatnonzero(~np.isfinite(vector))
        self.fault = int(bad[0]) if bad.size else -1
        return status if bad.size else OK

    def _normalise(self, x: Vector) -> None:
        for at in self._equations.ports.quaternions:
            q = x[at : at + 4]
            square = _square(*q.tolist())
            if not 1e-200 < square < 1e200:
                q /= np.abs(q).max() or math.nan
                square = _square(*q.tolist())
            q /= math.sqrt(square)

    def _inputs_at(self, fraction: float, order: int) -> Vector:
        begin, middle, end = self.u, self.u_mid, self.u_end
        if order == HELD:
            return begin
        if order == LINEAR:
            self._u_stage[:] = begin + fraction * (end - begin)
        else:
            bend = 2.0 * (1.0 - fraction)
            self._u_stage[:] = begin + fraction * ((end - begin) + bend * ((middle - begin) - (end - middle)))
        self._u_stage[self._switches] = self.u_end[self._switches]
        return self._u_stage

    def _slope_at(self, x: Vector, fraction: float, order: int, out: Vector) -> None:
        self._derivatives(x, self._inputs_at(fraction, order), self._k, out=out)

    def _runge_kutta(self, begin: float, end: float, h: float, order: int) -> None:
        x, stage, slope = self.x, self._stage, self._slope
        middle, half = 0.5 * (begin + end), 0.5 * h
        self._slope_at(x, begin, order, slope[0])
        stage[:] = x + half * slope[0]
        self._slope_at(stage, middle, order, slope[1])
        stage[:] = x + half * slope[1]
        self._slope_at(stage, middle, order, slope[2])
        stage[:] = x + h * slope[2]
        self._slope_at(stage, end, order, slope[3])
        x += h / 6.0 * (slope[0] + 2.0 * (slope[1] + slope[2]) + slope[3])

    def _euler_cromer(self, begin: float, end: float, h: float, order: int) -> None:
        x, slope, positions = self.x, self._slope[0], self._positions
        self._slope_at(x, begin, order, slope)
        x[~positions] += h * slope[~positions]
        self._slope_at(x, end, order, slope)
        x[positions] += h * slope[positions]

    def _inputs_change(self, begin: float, end: float, order: int) -> Vector:
        """Change of the inputs over an internal step had they their rates at its begin all the way; switches stay."""
        change = self.u_end - self.u
        if order == QUADRATIC:
            change = change + (2.0 - 4.0 * begin) * ((self.u_mid - self.u) - (self.u_end - self.u_mid))
        change = (end - begin) * change
        change[self._switches] = 0.0
        return change

    def _rosenbrock(self, begin: float, end: float, h: float, order: int) -> None:
        """As rosenbrock.h does it; the formulas are in `mbdy.engine.core.rosenbrock`."""

        def slope_at(stage: Vector, part: float, out: Vector) -> None:
            self._slope_at(stage, begin + part * (end - begin), order, out)

        x, u, (no_x, no_u, no_k) = self.x, self._inputs_at(begin, order), self._still
        columns, drift = np.empty((x.size, x.size)), np.zeros(x.size)
        for column, unit in zip(columns, np.eye(x.size), strict=True):
            self._along(x, u, self._k, unit, no_u, no_k, out=column)
        if order != HELD:
            self._along(x, u, self._k, no_x, self._inputs_change(begin, end, order), no_k, out=drift)
        rosenbrock.step(x, h, columns, drift, slope_at)


def _square(w: float, x: float, y: float, z: float) -> float:
    return w * w + x * x + y * y + z * z


class _Call:
    """A CasADi function called on NumPy vectors without converting them."""

    def __init__(self, function: ca.Function) -> None:
        self._buffer, self._evaluate = function.buffer()

    def __call__(self, *vectors: Vector, out: Vector | tuple[Vector, ...]) -> None:
        for i, vector in enumerate(vectors):
            self._buffer.set_arg(i, vector.data)  # pyright: ignore[reportCallIssue]
        for i, vector in enumerate(out if isinstance(out, tuple) else (out,)):
            self._buffer.set_res(i, vector.data)  # pyright: ignore[reportCallIssue]
        self._evaluate()


def _view(address: int, size: int) -> Vector:
    return np.ctypeslib.as_array((ctypes.c_double * size).from_address(address))


def _at(address: int | None, own: Vector) -> Vector:
    """The vector at an address, shaped like ``own``; ``own`` itself where None."""
    return own if address is None else _view(address, own.size)
