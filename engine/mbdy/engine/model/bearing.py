"""The bearing of a wheel: damper and smoothed Coulomb friction of joints, with limits and defaults of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mbdy.engine.model.law import JointValue
from mbdy.engine.model.laws import JOINT_VALUES, damper, friction

BEARING_LAWS = (damper.LAW, friction.LAW)

BEARING: Mapping[str, JointValue] = {
    "damping": replace(JOINT_VALUES["damping"], text="Viscous damping", minimum=0.0),
    "friction": replace(JOINT_VALUES["friction"], default=0.0),
    "friction_rate": replace(JOINT_VALUES["friction_rate"], default=0.1),
}
"""Its numbers in the order that the equations have them; the units are those of rotations."""
