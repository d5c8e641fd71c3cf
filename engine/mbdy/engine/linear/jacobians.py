"""A model's equations and their exact first-order changes at an operating point, many directions at a time."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from mbdy.engine.linear.operating_point import OperatingPoint
from mbdy.engine.order_n.derivatives import forward_of, smooth_derivatives
from mbdy.engine.order_n.equations import Equations

Array = NDArray[np.float64]


class Slopes:
    """Derivatives and outputs of ``equations``, with what they change by along directions of states and inputs.

    The changes are CasADi's algorithmic forward derivatives of the very kernels that run.
    """

    def __init__(self, equations: Equations) -> None:
        self._equations = equations
        self._derivatives, self._outputs = forward_of(smooth_derivatives(equations)), forward_of(equations.outputs)

    def rates(self, point: OperatingPoint) -> Array:
        """``x'`` (n_x)."""
        return np.array(self._equations.derivatives(point.x, point.u, self._constants(point))).ravel()

    def outputs(self, point: OperatingPoint) -> Array:
        """``y`` (n_y)."""
        return np.array(self._equations.outputs(point.x, point.u, self._constants(point))).ravel()

    def of_rates(self, point: OperatingPoint, along_x: Array, along_u: Array) -> Array:
        """Changes of ``x'`` (n_x, n) along the columns of ``along_x`` (n_x, n) and ``along_u`` (n_u, n)."""
        return self._along(self._derivatives, len(point.x), point, along_x, along_u)

    def of_outputs(self, point: OperatingPoint, along_x: Array, along_u: Array) -> Array:
        """Changes of ``y`` (n_y, n) along the columns of ``along_x`` (n_x, n) and ``along_u`` (n_u, n)."""
        return self._along(self._outputs, len(point.ports.output_names), point, along_x, along_u)

    def _along(self, change: ca.Function, rows: int, point: OperatingPoint, along_x: Array, along_u: Array) -> Array:
        columns = along_x.shape[1]
        if not rows or not columns:
            return np.zeros((rows, columns))
        mapped: Callable[..., ca.DM] = change.map(f"{change.name()}_{columns}", "serial", columns, [0, 1, 2, 5], [])
        k = self._constants(point)
        return np.array(mapped(point.x, point.u, k, along_x, along_u, np.zeros(len(k))))

    def _constants(self, point: OperatingPoint) -> Array:
        k = np.array(self._equations.prepare(point.p)).ravel()
        k[[*self._equations.resistances.senses]] = point.senses
        return k
