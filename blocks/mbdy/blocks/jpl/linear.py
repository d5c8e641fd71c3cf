"""MBDYTL, MBDYL and MBDYPL: the report's totally and partly linear relatives of MBDY."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mbdy.blocks.jpl.arguments import Integers, flags, hinges
from mbdy.blocks.jpl.mbdy import MBDY
from mbdy.engine import Compiled, Linear, Model, PartlyLinear, compiled
from mbdy.engine.linear.partly_linear import terminal_set


class MBDYTL(MBDY):
    """Equations that are linear about hinge angles of zero, with one constant inverse.

    External forces and torques act in axes and at arms that turn with the hinge angles, to first order. Arguments are
    those of `MBDY`; `MRATE` ignores GMD and WO. Source: JPL TR 32-1592, section III, Eq. (13), of which the terms of
    second order that it retains are left out.
    """

    ignored = ("GMD", "WO")

    def _compiled(self, model: Model) -> Compiled:
        return compiled(model, dynamics=Linear(geometry="first-order"))


class MBDYL(MBDY):
    """Equations with constant coefficients: as `MBDYTL`, but no axis and no arm turns.

    Arguments are those of `MBDY`; `MRATE` ignores GM, GMD and WO. Source: JPL TR 32-1592, section III, Eq. (14).
    """

    ignored = ("GM", "GMD", "WO")

    def _compiled(self, model: Model) -> Compiled:
        return compiled(model, dynamics=Linear(geometry="constant"))


class MBDYPL(MBDY):
    """Equations that are linear in some hinge angles about zero, and exact in the rest.

    Arguments are those of `MBDY` and

    ``LI``  (n) 1 where angle and rate of the hinge stay small, else 0. The hinges of terminal appendages, branches all
            of whose hinges have LI = 1, make it faster.

    ``TI`` (n) says which bodies are members of the largest set of terminal appendages on one body: 1 for these, else 0.
    Without any LI = 1 the equations are those of `MBDY`. Source: JPL TR 32-1592, section IV, Eq. (16).
    """

    def __init__(
        self, NH: int, H: ArrayLike, MB: ArrayLike, MA: ArrayLike, PB: ArrayLike, PA: ArrayLike, G: ArrayLike,
        PI: ArrayLike, LI: ArrayLike,
    ) -> None:  # fmt: skip
        self._linear = tuple(f"body{k}" for k, chosen in enumerate(flags("LI", LI, hinges(NH)), start=1) if chosen)
        super().__init__(NH, H, MB, MA, PB, PA, G, PI)
        terminal = terminal_set(self.model, self._linear)
        self.TI: Integers = np.array([body.name in terminal for body in self.model.bodies[1:]], dtype=np.int64)

    def _compiled(self, model: Model) -> Compiled:
        return compiled(model, dynamics=PartlyLinear(self._linear) if self._linear else None)
