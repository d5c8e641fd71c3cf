"""Places on bodies, or in inertial space, that something joins which is no joint."""

from __future__ import annotations

from mbdy.engine.model.arrays import IDENTITY, ZERO3, Quaternion, Vector3
from mbdy.engine.model.fields import Lengths
from mbdy.engine.model.frames import frame
from mbdy.engine.model.parts import Part, part, taking, text, value


@part()
class Side(Part):
    """One side of a loop or of a spring: a place on a body, or in inertial space.

    ``body`` is its name or ``"inertial"``; ``node`` one of its nodes, empty for its origin; ``at`` [m] from there, in
    the axes of the node (which turn with the modes of a flexible body); ``frame`` quaternion w, x, y, z: components in
    the frame of this side to those in the node's axes.
    """

    body: str = value(converter=text)
    node: str = value(converter=text, default="")
    at: Vector3 = value(converter=taking(Lengths), default=ZERO3)
    frame: Quaternion = value(converter=frame, default=IDENTITY)
