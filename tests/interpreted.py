"""The Order-N equations of a model in CasADi's interpreter, for tests of many systems that are evaluated a few times:
nothing is compiled."""

from __future__ import annotations

import numpy as np

from mbdy.engine import Model, equations


class Interpreted:
    """Derivatives and outputs at states ``x`` and inputs ``u``, with the parameters of the model file."""

    def __init__(self, model: Model) -> None:
        self.equations = equations(model)
        self.ports = self.equations.ports
        self._constants = self.equations.prepare(np.array(self.ports.vector("parameter")))

    def derivatives(self, x: np.ndarray, u: np.ndarray) -> np.ndarray:
        return np.array(self.equations.derivatives(x, u, self._constants)).ravel()

    def outputs(self, x: np.ndarray, u: np.ndarray) -> np.ndarray:
        return np.array(self.equations.outputs(x, u, self._constants)).ravel()
