"""A motor's rotor behind a reduction: the joint feels ``n^2 J`` more, as it turns n times as fast as the joint.

It is an inertia and no effort; `mbdy.engine.order_n.joint_rotors` has what it turns where its axis is given.
"""

from mbdy.engine.model.law import JointValue, Law

LAW = Law(
    name="rotor",
    words="rotors",
    rank=6,
    values=(
        JointValue("rotor_inertia", "kg.m2", "kg.m2", "Spin inertia of the rotor", default=None, minimum=0.0),
        JointValue("gear_ratio", "rad/m", "1", "Turns of the rotor by those (or metres)", default=1.0),
    ),
    effort=lambda k, q, rate: 0.0,
    inertia=lambda k: k["gear_ratio"] ** 2 * k["rotor_inertia"],
)
