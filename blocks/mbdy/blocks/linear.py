"""Plants whose equations are linear, wholly or in part: the ports, calls and files of `Plant`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cached_property
from os import PathLike
from typing import Any, Literal

from numpy.typing import ArrayLike

from mbdy.blocks.plant import Array, Plant
from mbdy.blocks.plant.typed import Outputs
from mbdy.engine import Linear, Model, PartlyLinear
from mbdy.engine.linear.partly_linear import linear_joints, references
from mbdy.engine.linear.reference_point import Values
from mbdy.engine.model.faults import MbdyWarning


class LinearPlant(Plant):
    """A system whose accelerations are linear about an operating point (MBDYL and MBDYTL of JPL TR 32-1592).

    ``at``        the operating point: start values of states and inputs by name, SI; the model file's where left out.
    ``geometry``  ``"constant"``: constant matrices alone (MBDYL); ``"first-order"``: external forces keep the
                  first-order change of their arms and axes with the coordinates (MBDYTL).
    ``options``   those of `Plant`.

    Rates of coordinates, laws of joints and the attitude of a floating root stay exact; outputs are the full equations'
    at the plant's states. Parameters stay tunable: the matrices follow them.
    """

    def __init__(
        self,
        model: Model | str | PathLike[str],
        *,
        at: Values | None = None,
        geometry: Literal["constant", "first-order"] = "constant",
        **options: Any,
    ) -> None:
        super().__init__(model, dynamics=Linear(at or {}, geometry), **options)


SMALL = 0.2
"""[rad] Beyond this, a linear hinge's turn is off by 2 % and more, and momentum is no longer kept well."""


class LargeAngleWarning(MbdyWarning):
    """A linear hinge has left the small angles that its equations are for."""


class PartlyLinearPlant(Plant):
    """A system of which hinges of terminal appendages are linear and the rest is not (MBDYPL of JPL TR 32-1592).

    ``joints``   names of the bodies whose inboard hinges are linear; those of the largest terminal set, all of whose
                 hinges have springs, where None: name them where some of these are driven far.
    ``options``  those of `Plant`.

    Angles of linear hinges must stay small as seen from the rest of their springs in the model (else from their angle
    at the model's start); beyond `SMALL` a `LargeAngleWarning` tells once which hinge, where and when.
    """

    def __init__(
        self, model: Model | str | PathLike[str], *, joints: Sequence[str] | None = None, **options: Any
    ) -> None:
        super().__init__(model, dynamics=PartlyLinear(None if joints is None else tuple(joints)), **options)

    @cached_property
    def _hinges(self) -> list[tuple[str, int, float]]:
        """Linear hinges: name, place of the angle in x, reference."""
        assert isinstance(self.dynamics, PartlyLinear)
        found = references(self.model, linear_joints(self.model, self.dynamics.joints))
        states = self.ports.states
        return [(body, (states[f"{body}.joint.angle"].state or 0) + turn, angle) for body, turn, angle in found]

    def step(self, H: float | str) -> Outputs:
        seen = super().step(H)
        self._look()
        return seen

    def run(
        self, rows: int, H: float, *, inputs: Array | None = None, pick: ArrayLike
    ) -> tuple[Array, Exception | None]:
        found = super().run(rows, H, inputs=inputs, pick=pick)
        self._look()
        return found

    def _look(self) -> None:
        for body, place, angle in self._hinges:
            away = self._x[place] - angle
            if abs(away) > SMALL and body not in self._told:
                self._told.add(body)
                warnings.warn(
                    f"linear hinge of {body!r} is {away:.3g} rad from its reference {angle:.6g} rad at "
                    f"{self.time:.6g} s: its equations are for less than {SMALL} rad; leave it out of joints",
                    LargeAngleWarning,
                    stacklevel=3,
                )

    @cached_property
    def _told(self) -> set[str]:
        return set()
