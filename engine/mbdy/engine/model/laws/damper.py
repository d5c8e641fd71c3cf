"""Viscous damper: ``-B rate``."""

from mbdy.engine.model.law import JointValue, Law

LAW = Law(
    name="damper",
    words="dampers",
    rank=1,
    always=True,
    values=(JointValue("damping", "N.s/m", "N.m.s/rad", "Damping", speeds=True, passive=True, strength=True),),
    effort=lambda k, q, rate: -k["damping"] * rate,
)
