"""What a sensor adds to the truth: bias, noise, and the steps of its digits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mbdy.blocks.control.block import Array, number
from mbdy.blocks.control.noise import GaussianNoise
from mbdy.blocks.errors import VariableError


class SensorErrors:
    """Errors of three measured angles [rad].

    ``bias``        [rad] three constants, or one for all.
    ``deviation``   [rad] standard deviation of noise; it takes ``period`` [s], how often it is drawn anew, and
                    a ``seed``.
    ``resolution``  what is measured is rounded to multiples of this; 0 for none.

    Raises `VariableError` for a number that is not finite, negative where it must not be, or noise without a period.
    """

    def __init__(
        self,
        *,
        bias: float | str | Sequence[float | str] = 0.0,
        deviation: float | str = 0.0,
        period: float | str | None = None,
        seed: int = 0,
        resolution: float | str = 0.0,
    ) -> None:
        given = [bias] * 3 if np.ndim(bias) == 0 else list(bias)  # type: ignore[arg-type]
        if len(given) != 3:
            raise VariableError(f"SensorErrors: bias must be one number or three, got {len(given)}")
        self.bias: Array = np.array([number(self, "bias", one, "rad") for one in given])
        self.resolution = number(self, "resolution", resolution, "rad", least=0.0)
        self.noise: GaussianNoise | None = None
        size = number(self, "deviation", deviation, "rad", least=0.0)
        if size > 0.0:
            if period is None:
                raise VariableError("SensorErrors: noise needs period, how often it is drawn anew [s]")
            self.noise = GaussianNoise(size, period=period, seed=seed, size=3)

    def shift(self, t: float) -> Array:
        """Bias and noise (3) [rad] at ``t`` [s]."""
        return self.bias if self.noise is None else self.bias + self.noise.value(t)

    def rounded(self, values: Array) -> Array:
        """``values`` as multiples of the resolution."""
        return self.resolution * np.round(values / self.resolution) if self.resolution else values
