"""Systems with gears, as model files."""

from __future__ import annotations

CRAFT = """
mbdy = 1
[body.base]
mass = 50
inertia = [5, 6, 7]
joint = { to = "inertial", kind = "free" }
[body.motor]
mass = 0.5
inertia = [0.001, 0.001, 0.0008]
joint = { to = "base", kind = "revolute", axis = [0, 0, 1], at = [0.2, 0, 0], motion = "switchable" }
[body.load]
mass = 4
com = [0.3, 0.1, 0]
inertia = [0.2, 0.3, 0.4]
joint = { to = "base", kind = "gimbal", sequence = "zyx", at = [0, 0.3, 0], stiffness = [20, 30, 10] }
[body.slide]
mass = 2
com = [0, 0, 0.1]
inertia = [0.1, 0.1, 0.1]
joint = { to = "load", kind = "prismatic", axis = [1, 0.2, 0], stiffness = 100 }
[gear.reduction]
driver = "motor.joint"
follower = "load.joint[1]"
ratio = 0.02
switchable = true
[gear.screw]
driver = "motor.joint"
follower = "slide.joint"
ratio = "5 mm/turn"
[gear.again]
terms = [["slide.joint", -10], ["motor.joint", "50 mm/turn"]]
time_constant = 0.2
[initial]
motor.joint.angle = "90 deg"
motor.joint.rate = "300 rpm"
base.omega = [0.1, 0.2, -0.3]
"""
"""A craft whose motor turns a gimbal by 1 to 50, and slides a mass by a screw that is told twice."""
SHAFTS = """
mbdy = 1
[body.a]
mass = 1
inertia = [1, 1, 2]
joint = { to = "inertial", kind = "revolute", axis = [0, 0, 1] }
[body.b]
mass = 1
inertia = [2, 2, 3]
joint = { to = "inertial", kind = "revolute", axis = [0, 0, 1], at = [1, 0, 0], motion = "switchable" }
[body.c]
mass = 1
inertia = [3, 3, 5]
joint = { to = "inertial", kind = "revolute", axis = [0, 0, 1], at = [2, 0, 0], motion = "switchable" }
[gear.differential]
terms = [["a.joint", 2], ["b.joint", -1], ["c.joint", -1]]
"""
"""A differential: the shaft a turns with the mean of b and c."""
