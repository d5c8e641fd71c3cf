"""Dense output: the states within a step of a plant, from states and derivatives at both of its ends."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mbdy.blocks.plant import Plant
from mbdy.blocks.plant.typed import Outputs

Array = NDArray[np.float64]


class DenseStep:
    """A step of ``plant`` from ``begin`` over ``length`` [s], its inputs on a line from ``u_begin`` to ``u_end`` (n_u).

    States ``x_begin`` and ``x_end`` (n_x) are joined by the cubic with their derivatives (Hermite), whose error is of
    fourth order in the length.
    """

    def __init__(
        self, plant: Plant, begin: float, length: float, x_begin: Array, x_end: Array, u_begin: Array, u_end: Array
    ) -> None:
        self.plant, self.begin, self.length = plant, begin, length
        self._u, self._u_change = u_begin.copy(), u_end - u_begin
        slope = length * plant.derivatives(begin, x_begin, u_begin)
        last = length * plant.derivatives(begin + length, x_end, u_end)
        change = x_end - x_begin
        self._powers = (x_begin, slope, 3.0 * change - 2.0 * slope - last, slope + last - 2.0 * change)

    def state(self, t: float) -> Array:
        """The states (n_x) at ``t`` [s]; quaternions are of unit norm to the cubic's error."""
        part = (t - self.begin) / self.length
        constant, linear, square, cube = self._powers
        return constant + part * (linear + part * (square + part * cube))

    def outputs(self, t: float) -> Outputs:
        """The outputs at ``t`` [s]."""
        part = (t - self.begin) / self.length
        return self.plant.outputs(t, self.state(t), self._u + part * self._u_change)
