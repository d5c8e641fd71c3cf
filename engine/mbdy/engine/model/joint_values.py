"""The numbers of a joint, once: name, units, what they are for, and which law of effort they belong to.

Model files, port tables and the compiled equations all read this table. Values without a law are always there; those
of a law are compiled in where the model gives the law's first value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class JointValue:
    """``translation`` and ``rotation`` are units, ``text`` says what it is. ``speeds``: one for each degree of
    freedom, otherwise one for each coordinate (a distance or an angle). ``default`` None: must be given."""

    translation: str
    rotation: str
    text: str
    speeds: bool = False
    law: str | None = None
    default: float | None = 0.0
    minimum: float | None = None


JOINT_VALUES: Mapping[str, JointValue] = {
    "stiffness": JointValue("N/m", "N.m/rad", "Stiffness"),
    "damping": JointValue("N.s/m", "N.m.s/rad", "Damping", speeds=True),
    "rest": JointValue("m", "rad", "Rest position"),
    "cubic_stiffness": JointValue("N/m3", "N.m/rad3", "Cubic stiffness", law="cubic", default=None),
    "friction": JointValue("N", "N.m", "Coulomb friction", speeds=True, law="friction", default=None, minimum=0.0),
    "friction_rate": JointValue(
        "m/s",
        "rad/s",
        "Rate at which 76 % of the Coulomb friction acts",
        speeds=True,
        law="friction",
        default=1e-3,
        minimum=0.0,
    ),
    "stop_stiffness": JointValue("N/m", "N.m/rad", "Stiffness of the stops", law="stops", default=None, minimum=0.0),
    "stop_lower": JointValue("m", "rad", "Lower stop", law="stops", default=None),
    "stop_upper": JointValue("m", "rad", "Upper stop", law="stops", default=None),
    "stop_damping": JointValue("N.s/m", "N.m.s/rad", "Damping of the stops", law="stops", minimum=0.0),
}

BEARING: Mapping[str, tuple[str, str]] = {
    "damping": ("N.m.s/rad", "Viscous damping"),
    "friction": ("N.m", "Coulomb friction"),
    "friction_rate": ("rad/s", "Rate at which 76 % of the Coulomb friction acts"),
}
"""The numbers of a wheel's bearing: unit and what it is, in the order that the equations have them."""

HARNESS = "harness"
"""The key of a cable harness's table, which is no number of each coordinate but points of the only one."""

LAWS: Mapping[str, tuple[str, ...]] = {
    law: tuple(name for name, value in JOINT_VALUES.items() if value.law == law)
    for law in ("cubic", "friction", "stops")
}
"""Values of each law of effort; the first one brings it."""
