"""A smooth profile: as `profile`, on half cosines between the points, so that no acceleration jumps."""

from mbdy.engine.model.law import JointValue, Law

LAW = Law(
    name="smooth_profile",
    words="smooth profiles",
    rank=7,
    values=(
        JointValue("smooth_profile", "m/s", "rad/s", "Points of the profile", points=True, over="s", default=None),
    ),
    effort=lambda k, q, rate: 0.0,
)
