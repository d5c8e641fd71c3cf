"""Spring: ``-K d``, d being the coordinate's stretch from the commanded ``rest``.

That of a spherical rotation acts on a rotation vector: `mbdy.engine.order_n.ball_spring`.
"""

from mbdy.engine.model.law import JointValue, Law

LAW = Law(
    name="spring",
    words="springs",
    rank=0,
    always=True,
    values=(
        JointValue("stiffness", "N/m", "N.m/rad", "Stiffness", passive=True, strength=True, turns=True),
        JointValue("rest", "m", "rad", "Rest position", parameter=False, turns=True),
    ),
    effort=lambda k, q, rate: -k["stiffness"] * k["stretch"],
    potential=lambda k, q: k["stiffness"] * k["stretch"] ** 2 / 2,
)
