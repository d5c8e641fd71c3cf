"""Plants whose equations are linear, wholly or in part: the ports, calls and files of `Plant`."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any, Literal

from mbdy.blocks.plant import Plant
from mbdy.engine import Linear, Model, PartlyLinear
from mbdy.engine.reference_point import Values


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


class PartlyLinearPlant(Plant):
    """A system of which hinges of terminal appendages are linear and the rest is not (MBDYPL of JPL TR 32-1592).

    ``joints``   names of the bodies whose inboard hinges are linear; the largest terminal set where None.
    ``options``  those of `Plant`.
    """

    def __init__(
        self, model: Model | str | PathLike[str], *, joints: Sequence[str] | None = None, **options: Any
    ) -> None:
        super().__init__(model, dynamics=PartlyLinear(None if joints is None else tuple(joints)), **options)
