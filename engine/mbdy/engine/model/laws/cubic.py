"""Cubic spring: ``-k3 d^3``, d being the stretch from the spring's commanded ``rest``."""

from mbdy.engine.model.law import JointValue, Law

LAW = Law(
    name="cubic",
    words="cubic springs",
    rank=2,
    values=(
        JointValue("cubic_stiffness", "N/m3", "N.m/rad3", "Cubic stiffness", default=None, passive=True, strength=True),
    ),
    effort=lambda k, q, rate: -k["cubic_stiffness"] * k["stretch"] ** 3,
    potential=lambda k, q: k["cubic_stiffness"] * k["stretch"] ** 4 / 4,
)
