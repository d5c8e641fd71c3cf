"""A profile: the joint's rate goes through points of time, on lines between them, and rests at those beyond the ends.

It is no effort but an acceleration, which the core adds to the input of the prescribed degree of freedom (profiles.c).
"""

from mbdy.engine.model.law import JointValue, Law

LAW = Law(
    name="profile",
    words="profiles",
    rank=6,
    values=(JointValue("profile", "m/s", "rad/s", "Points of the profile", points=True, over="s", default=None),),
    effort=lambda k, q, rate: 0.0,
)
