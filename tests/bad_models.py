"""Model files that are refused: what is wrong, where the fault is told and a part of its words.

``BAD_MODELS`` has ``(id, text, path, fragment)``. The fragment is part of the message or the remedy.
"""

from __future__ import annotations

BadModel = tuple[str, str, str, str]


def bus(*lines: str, mass: str = "mass = 10", joint: str = 'joint = { to = "inertial", kind = "free" }') -> str:
    """A file with a good free body ``bus``, ``lines`` added."""
    return "\n".join(["mbdy = 1", "[body.bus]", mass, "inertia = [1, 1, 1]", joint, *lines])


def panel(*joint: str, body: str = "mass = 1\ninertia = [1, 1, 1]", more: str = "") -> str:
    """A file with a good ``bus`` and a ``panel`` on it whose joint says ``joint``."""
    return bus("[body.panel]", body, "[body.panel.joint]", 'to = "bus"', *joint, more)


def hinged(*lines: str, more: str = "") -> str:
    """A good file with a hinged panel, ``lines`` added to its joint."""
    return panel('kind = "revolute"', "axis = [0, 1, 0]", *lines, more=more)


FILE: list[BadModel] = [
    ("syntax", "mbdy = 1\nname = = 3", "", "line 2, column 8"),
    ("duplicate-table", "mbdy = 1\n[body.a]\n[body.a]", "", "not valid TOML"),
    ("duplicate-key", bus("mass = 2"), "", "not valid TOML"),
    ("nested-too-deep", "a = " + "[" * 5000, "", "nested too deep"),
    ("endless-number", "mbdy = " + "1" * 5000, "", "not valid TOML"),
    ("empty", "", "mbdy", "mbdy = 1"),
    ("version-missing", bus().replace("mbdy = 1", ""), "mbdy", "is missing"),
    ("version-other", bus().replace("mbdy = 1", "mbdy = 2"), "mbdy", "reads format 1, got 2"),
    ("version-true", bus().replace("mbdy = 1", "mbdy = true"), "mbdy", "got true"),
    ("version-text", bus().replace("mbdy = 1", 'mbdy = "1"'), "mbdy", "mbdy = 1"),
    ("no-body", "mbdy = 1", "body", "there is no body"),
    ("body-not-table", "mbdy = 1\nbody = 3", "body", "must be a table, got 3"),
    ("body-array", "mbdy = 1\n[[body]]\nmass = 1", "body", "must be a table"),
    ("body-list", "mbdy = 1\nbody = []", "body", "must be a table, got []; write [body.NAME]"),
    ("one-body-not-table", "mbdy = 1\n[body]\nbus = 3", "body.bus", "must be a table, got 3"),
    ("name-not-text", bus().replace("mbdy = 1", "mbdy = 1\nname = 3"), "name", "must be text, got 3"),
    ("loop", bus("[loop.latch]", 'a = "bus.x"'), "loop.latch", "not supported by this version"),
    ("flex", bus("[body.bus.flex]", "modes = 3"), "body.bus.flex", "not supported by this version"),
]

KEYS: list[BadModel] = [
    ("unknown-top", bus("[sytem]", "gravity = [0, 0, 0]"), "sytem", "nearest known is 'system'"),
    ("unknown-system", bus("[system]", "gravty = [0, 0, 0]"), "system.gravty", "nearest known is 'gravity'"),
    ("unknown-body", bus(mass="mass = 10\nintertia = 3"), "body.bus.intertia", "nearest known is 'inertia'"),
    ("unknown-joint", hinged("stifness = 3"), "body.panel.joint.stifness", "nearest known is 'stiffness'"),
    ("unknown-wheel", bus("[body.bus.wheel.x]", "axis = [1, 0, 0]", "inertia = 0.1", "sped = 3"),
     "body.bus.wheel.x.sped", "known: axis, inertia"),
    ("unknown-node", bus("[body.bus.node.a]", "att = [1, 0, 0]"), "body.bus.node.a.att", "nearest known is 'at'"),
    ("unknown-frame", hinged('frame = { sequenc = "z", angles = [1] }'), "body.panel.joint.frame.sequenc",
     "nearest known is 'sequence'"),
    ("unknown-far", bus(mass="mass = 1\nqqqq = 1"), "body.bus.qqqq", "known: mass, com, inertia"),
    ("unknown-case", bus(mass="mass = 1\nCom = [0, 0, 0]"), "body.bus.Com", "nearest known is 'com'"),
    ("other-word-com", bus(mass="mass = 1\ncog = [0, 0, 0]"), "body.bus.cog", "here it is called 'com'"),
    ("other-word-inertia", bus().replace("inertia =", "moi ="), "body.bus.moi", "here it is called 'inertia'"),
    ("other-word-parent", hinged().replace("to = \"bus\"", 'parent = "bus"'), "body.panel.joint.parent",
     "here it is called 'to'"),
    ("other-word-at", hinged("position = [0, 0, 1]"), "body.panel.joint.position", "here it is called 'at'"),
    ("other-word-frame", hinged("orientation = [0, 0, 1]"), "body.panel.joint.orientation", "it is called 'frame'"),
    ("other-word-spring", hinged("spring = 3"), "body.panel.joint.spring", "here it is called 'stiffness'"),
    ("other-word-damper", hinged("damper = 3"), "body.panel.joint.damper", "here it is called 'damping'"),
    ("misplaced-gravity", "gravity = [0, 0, 0]\n" + bus(), "gravity", "belongs in [system]"),
    ("misplaced-axis", bus(mass="mass = 1\naxis = [0, 0, 1]"), "body.bus.axis", "belongs in [body.NAME.joint]"),
    ("mass-missing", bus(mass=""), "body.bus.mass", "is missing"),
    ("joint-missing", bus(joint=""), "body.bus.joint", "is missing"),
    ("to-missing", bus(joint='joint = { kind = "free" }'), "body.bus.joint.to", "inertial"),
    ("wheel-missing-inertia", bus("[body.bus.wheel.x]", "axis = [1, 0, 0]"), "body.bus.wheel.x.inertia", "missing"),
    ("node-missing-at", bus("[body.bus.node.a]"), "body.bus.node.a.at", "is missing"),
]  # fmt: skip

NAMES: list[BadModel] = [
    ("name-dash", bus().replace("body.bus", "body.my-bus"), "body.my-bus", "e.g. 'my_bus'"),
    ("name-digit", bus().replace("body.bus", "body.2nd"), "body.2nd", "e.g. '_2nd'"),
    ("name-accent", bus().replace("body.bus", 'body."flèche"'), 'body."flèche"', "is not a name"),
    ("name-empty", bus().replace("body.bus", 'body.""'), 'body.""', "is not a name"),
    ("name-newline", bus().replace("body.bus", 'body."bus\\n"'), 'body."bus\\n"', "is not a name"),
    ("name-system", bus().replace("body.bus", "body.system"), "body.system", "no body can be called 'system'"),
    ("name-initial", bus().replace("body.bus", "body.initial"), "body.initial", "no body can be called"),
    ("name-inertial", bus().replace("body.bus", "body.inertial"), "body.inertial", "no body can be called"),
    ("wheel-reserved", bus("[body.bus.wheel.torque]", "axis = [1, 0, 0]", "inertia = 0.1"),
     "body.bus.wheel.torque", "taken by the body's own"),
    ("node-reserved", bus("[body.bus.node.com]", "at = [1, 0, 0]"), "body.bus.node.com", "taken by the body's own"),
    ("wheel-bad-name", bus('[body.bus.wheel."x 1"]', "axis = [1, 0, 0]", "inertia = 0.1"),
     'body.bus.wheel."x 1"', "is not a name"),
    ("node-is-wheel", bus("[body.bus.wheel.x]", "axis = [1, 0, 0]", "inertia = 0.1", "[body.bus.node.x]",
     "at = [0, 0, 0]"), "body.bus.node.x", "taken by a wheel"),
]  # fmt: skip

TREE: list[BadModel] = [
    ("parent-missing", hinged().replace('to = "bus"', 'to = "buss"'), "body.panel.joint.to", "nearest known is 'bus'"),
    ("parent-is-self", hinged().replace('to = "bus"', 'to = "panel"'), "body.panel.joint.to", "hangs on itself"),
    ("cycle", hinged(more='[body.tip]\nmass = 1\njoint = { to = "panel", kind = "fixed" }').replace(
        'to = "bus"', 'to = "tip"'), "body.panel.joint.to", "panel -> tip -> panel"),
    ("beside-attitude", bus("[body.rig]", "mass = 1", 'joint = { to = "inertial", kind = "fixed" }').replace(
        '"free"', '"attitude"'), "body.bus.joint.kind", "'rig'"),
    ("inertial-misspelt", bus(joint='joint = { to = "inertail", kind = "free" }'), "body.bus.joint.to",
     "joins to inertial only, got 'inertail'"),
    ("free-on-body", panel('kind = "free"'), "body.panel.joint.to", "joins to inertial only, got 'bus'"),
    ("attitude-on-body", panel('kind = "attitude"'), "body.panel.joint.to", "joins to inertial only"),
]  # fmt: skip

JOINTS: list[BadModel] = [
    ("kind-missing", panel(), "body.panel.joint.kind", "revolute"),
    ("kind-unknown", panel('kind = "revolut"'), "body.panel.joint.kind", "nearest known is 'revolute'"),
    ("kind-ball", panel('kind = "ball"'), "body.panel.joint.kind", "here it is called 'spherical'"),
    ("kind-pin", panel('kind = "pin"'), "body.panel.joint.kind", "here it is called 'revolute'"),
    ("kind-slider", panel('kind = "Slider"'), "body.panel.joint.kind", "here it is called 'prismatic'"),
    ("kind-weld", panel('kind = "weld"'), "body.panel.joint.kind", "here it is called 'fixed'"),
    ("kind-6dof", bus(joint='joint = { to = "inertial", kind = "6dof" }'), "body.bus.joint.kind",
     "here it is called 'free'"),
    ("kind-not-text", panel("kind = 3"), "body.panel.joint.kind", "must be text, got 3"),
    ("kind-and-general", panel('kind = "revolute"', "axis = [1, 0, 0]", "rotation = [[1, 0, 0]]"),
     "body.panel.joint.rotation", "takes no 'rotation'"),
    ("axis-missing", panel('kind = "revolute"'), "body.panel.joint.axis", "needs a direction"),
    ("axis-zero", hinged().replace("[0, 1, 0]", "[0, 0, 0]"), "body.panel.joint.axis", "must not be zero"),
    ("axis-short", hinged().replace("[0, 1, 0]", "[0, 1]"), "body.panel.joint.axis", "must have 3 entries, got 2"),
    ("axis-scalar", hinged().replace("[0, 1, 0]", "1"), "body.panel.joint.axis", "must be a list"),
    ("axis-unit", hinged().replace("[0, 1, 0]", '[0, "1 m", 0]'), "body.panel.joint.axis[2]", "must be a number"),
    ("axis-nan", hinged().replace("[0, 1, 0]", "[0, nan, 0]"), "body.panel.joint.axis[2]", "finite"),
    ("axis-on-fixed", panel('kind = "fixed"', "axis = [1, 0, 0]"), "body.panel.joint.axis", "kind fixed takes no"),
    ("damping-on-fixed", panel('kind = "fixed"', "damping = 1"), "body.panel.joint.damping", "takes no 'damping'"),
    ("motion-on-fixed", panel('kind = "fixed"', 'motion = "free"'), "body.panel.joint.motion", "takes no 'motion'"),
    ("axes-on-revolute", panel('kind = "revolute"', "axes = [[1, 0, 0]]"), "body.panel.joint.axes", "it takes"),
    ("at-on-free", bus(joint='joint = { to = "inertial", kind = "free", at = [0, 0, 1] }'), "body.bus.joint.at",
     "takes no 'at'"),
    ("frame-on-attitude", bus(joint='joint = { to = "inertial", kind = "attitude", frame = [[1, 0, 0]] }'),
     "body.bus.joint.frame", "takes no 'frame'"),
    ("stiffness-on-free", bus(joint='joint = { to = "inertial", kind = "free", stiffness = 1 }'),
     "body.bus.joint.stiffness", "takes no 'stiffness'"),
    ("motion-on-attitude", bus(joint='joint = { to = "inertial", kind = "attitude", motion = "prescribed" }'),
     "body.bus.joint.motion", "can only move freely"),
    ("universal-one-axis", panel('kind = "universal"', "axes = [[1, 0, 0]]"), "body.panel.joint.axes", "2 axes, got 1"),
    ("universal-parallel", panel('kind = "universal"', "axes = [[1, 0, 0], [-2, 0, 0]]"), "body.panel.joint.axes",
     "axes 1 and 2 are parallel"),
    ("gimbal-missing", panel('kind = "gimbal"'), "body.panel.joint.axes", "or a sequence"),
    ("gimbal-sequence", panel('kind = "gimbal"', 'sequence = "zyw"'), "body.panel.joint.sequence", "letters x, y, z"),
    ("gimbal-two-letters", panel('kind = "gimbal"', 'sequence = "zy"'), "body.panel.joint.sequence", "three letters"),
    ("gimbal-repeats", panel('kind = "gimbal"', 'sequence = "zzx"'), "body.panel.joint.sequence", "parallel"),
    ("gimbal-both", panel('kind = "gimbal"', 'sequence = "zyx"', "axes = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]"),
     "body.panel.joint.sequence", "keep one"),
    ("general-four", panel("rotation = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]]"), "body.panel.joint.rotation",
     "more than three"),
    ("general-word", panel('rotation = "ball"'), "body.panel.joint.rotation", "must be 'spherical' or a list"),
    ("general-dependent", panel("translation = [[1, 0, 0], [0, 1, 0], [1, 1, 0]]"), "body.panel.joint.translation",
     "not independent"),
    ("general-axis-zero", panel("translation = [[1, 0, 0], [0, 0, 0]]"), "body.panel.joint.translation[2]", "zero"),
    ("stiffness-spherical", panel('kind = "spherical"', "stiffness = 3"), "body.panel.joint.stiffness",
     "no angle for a stiffness"),
    ("rest-spherical", panel('kind = "spherical"', 'rest = "3 deg"'), "body.panel.joint.rest", "no angle for a rest"),
    ("stiffness-count", hinged("stiffness = [1, 2]"), "body.panel.joint.stiffness", 
     "has 2 values for 1 degree of freedom; give one value"),
    ("damping-count", panel('kind = "cylindrical"', "axis = [0, 0, 1]", "damping = [1, 2, 3]"),
     "body.panel.joint.damping", "3 values for 2 degrees of freedom; give one value for all, or 2"),
    ("stiffness-unit", hinged('stiffness = "40 N/m"'), "body.panel.joint.stiffness", "40 N*m/rad"),
    ("stiffness-second", panel('kind = "cylindrical"', "axis = [0, 0, 1]", 'stiffness = ["1 N/m", "1 N/m"]'),
     "body.panel.joint.stiffness[2]", "N.m/rad"),
    ("stiffness-one-unit-for-both", panel('kind = "cylindrical"', "axis = [0, 0, 1]", 'stiffness = "1 N/m"'),
     "body.panel.joint.stiffness", "N.m/rad"),
    ("damping-true", hinged("damping = true"), "body.panel.joint.damping", "got true"),
    ("rest-unit", hinged('rest = "3 m"'), "body.panel.joint.rest", "30 deg"),
    ("motion-unknown", hinged('motion = "prescribd"'), "body.panel.joint.motion", "nearest known is 'prescribed'"),
    ("motion-count", hinged('motion = ["free", "free"]'), "body.panel.joint.motion", "2 values"),
    ("motion-number", hinged("motion = [1]"), "body.panel.joint.motion[1]", "free, prescribed, switchable"),
    ("frame-text", hinged('frame = "zyx"'), "body.panel.joint.frame", "3x3 matrix"),
    ("frame-sequence", hinged('frame = { sequence = "abc", angles = [0, 0, 0] }'), "body.panel.joint.frame.sequence",
     "letters x, y, z"),
    ("frame-angles", hinged('frame = { sequence = "zyx", angles = [0, 0] }'), "body.panel.joint.frame.angles",
     "list of 3"),
    ("frame-no-angles", hinged('frame = { sequence = "zyx" }'), "body.panel.joint.frame.angles", "is missing"),
    ("frame-angle-unit", hinged('frame = { sequence = "z", angles = "3 m" }'), "body.panel.joint.frame.angles[1]",
     "rad"),
    ("frame-both", hinged('frame = { sequence = "z", angles = [1], quaternion = [1, 0, 0, 0] }'),
     "body.panel.joint.frame", "keep one"),
    ("frame-quaternion-zero", hinged("frame = { quaternion = [0, 0, 0, 0] }"), "body.panel.joint.frame.quaternion",
     "zero quaternion"),
    ("frame-quaternion-short", hinged("frame = { quaternion = [1, 0, 0] }"), "body.panel.joint.frame.quaternion",
     "list of 4"),
    ("frame-two-rows", hinged("frame = [[1, 0, 0], [0, 1, 0]]"), "body.panel.joint.frame", "three rows"),
    ("frame-skew", hinged("frame = [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]"), "body.panel.joint.frame", "not a rotation"),
    ("frame-mirror", hinged("frame = [[1, 0, 0], [0, 1, 0], [0, 0, -1]]"), "body.panel.joint.frame", "reflection"),
]  # fmt: skip

NUMBERS: list[BadModel] = [
    ("mass-negative", bus(mass="mass = -2.0"), "body.bus.mass", "must be >= 0 kg, got -2.0"),
    ("mass-unit", bus(mass='mass = "3 deg"'), "body.bus.mass", "must be a number in kg"),
    ("mass-bare-text", bus(mass='mass = "12"'), "body.bus.mass", "give a unit, e.g. '500 kg'"),
    ("mass-word", bus(mass='mass = "heavy"'), "body.bus.mass", "must be a number in kg, got 'heavy'"),
    ("mass-unknown-unit", bus(mass='mass = "3 stonez"'), "body.bus.mass", "unknown unit 'stonez'"),
    ("mass-temperature", bus(mass='mass = "3 degC"'), "body.bus.mass", "must be a number in kg"),
    ("mass-nan", bus(mass="mass = nan"), "body.bus.mass", "must be a finite number, got nan"),
    ("mass-inf", bus(mass="mass = inf"), "body.bus.mass", "must be a finite number"),
    ("mass-nan-text", bus(mass='mass = "nan kg"'), "body.bus.mass", "must be a finite number"),
    ("mass-huge", bus(mass="mass = 1" + "0" * 400), "body.bus.mass", "must be a finite number"),
    ("mass-true", bus(mass="mass = true"), "body.bus.mass", "got true"),
    ("mass-date", bus(mass="mass = 2020-01-01"), "body.bus.mass", "must be a number in kg"),
    ("mass-power-bomb", bus(mass='mass = "1 kg**9**9**9"'), "body.bus.mass", "unknown unit"),
    ("com-short", bus(mass="mass = 1\ncom = [0, 1]"), "body.bus.com", "must have 3 entries, got 2"),
    ("com-unit", bus(mass='mass = 1\ncom = [0, 0, "1 kg"]'), "body.bus.com[3]", "a number in m"),
    ("gravity-unit", bus("[system]", 'gravity = [0, 0, "9.81 m/s"]'), "system.gravity[3]", "'9.81 m/s^2'"),
    ("inertia-asymmetric", bus().replace("[1, 1, 1]", "[[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]"), "body.bus.inertia",
     "must be symmetric, but entry [1,2] is 0.1 and [2,1] is 0.0"),
    ("inertia-negative", bus().replace("[1, 1, 1]", "[1, -1, 1]"), "body.bus.inertia", "negative principal moment, -1"),
    ("inertia-indefinite", bus().replace("[1, 1, 1]", "[[1, 2, 0], [2, 1, 0], [0, 0, 1]]"), "body.bus.inertia",
     "negative principal moment"),
    ("inertia-shape", bus().replace("[1, 1, 1]", "[[1, 0], [0, 1]]"), "body.bus.inertia", "must have 3 entries, got 2"),
    ("inertia-row", bus().replace("[1, 1, 1]", "[[1, 0, 0], [0, 1], [0, 0, 1]]"), "body.bus.inertia[2]", "3 entries"),
    ("inertia-scalar", bus().replace("[1, 1, 1]", "1"), "body.bus.inertia", "three principal moments"),
    ("inertia-unit", bus().replace("[1, 1, 1]", '[1, "1 kg", 1]'), "body.bus.inertia[2]", "12 kg*m^2"),
    ("wheel-too-heavy", bus("[body.bus.wheel.x]", "axis = [1, 0, 0]", "inertia = 1.1"), "body.bus.wheel.x.inertia",
     "more than the body"),
    ("wheels-too-heavy", bus("[body.bus.wheel]", "x = { axis = [1, 0, 0], inertia = 0.6 }",
     "y = { axis = [1, 0, 0], inertia = 0.6 }"), "body.bus.wheel", "x, y together"),
    ("wheel-zero-inertia", bus("[body.bus.wheel.x]", "axis = [1, 0, 0]", "inertia = 0"), "body.bus.wheel.x.inertia",
     "must be > 0 kg.m2"),
    ("wheel-zero-axis", bus("[body.bus.wheel.x]", "axis = [0, 0, 0]", "inertia = 1"), "body.bus.wheel.x.axis", "zero"),
    ("node-unit", bus("[body.bus.node.a]", 'at = ["1 s", 0, 0]'), "body.bus.node.a.at[1]", "a number in m"),
]  # fmt: skip

STARTS: list[BadModel] = [
    ("start-unknown", hinged(more="[initial]\npanel.joint.angel = 1"), "initial.panel.joint.angel",
     "nearest known is 'panel.joint.angle'"),
    ("start-unknown-body", hinged(more="[initial]\npanl.joint.angle = 1"), "initial.panl.joint.angle",
     "no body 'panl': the nearest known is 'panel'"),
    ("start-input", hinged(more="[initial]\npanel.joint.torque = 1"), "initial.panel.joint.torque", "no start value"),
    ("start-momentum", bus("[body.bus.wheel.x]", "axis = [1, 0, 0]", "inertia = 0.1", "[initial]",
     "bus.x.momentum = 1"), "initial.bus.x.momentum", "no start value"),
    ("start-indexed", bus("[initial]", '"bus.omega[1]" = 1'), "initial.bus.omega[1]", "set all of it, bus.omega"),
    ("start-count", bus("[initial]", "bus.omega = [1, 2]"), "initial.bus.omega", "list of 3 numbers, got 2 entries"),
    ("start-scalar", bus("[initial]", "bus.omega = 1"), "initial.bus.omega", "list of 3 numbers, got 1"),
    ("start-unit", hinged(more='[initial]\npanel.joint.angle = "3 m"'), "initial.panel.joint.angle", "30 deg"),
    ("start-no-unit", hinged(more='[initial]\npanel.joint.angle = "3"'), "initial.panel.joint.angle", "give a unit"),
    ("start-frequency", bus("[initial]", 'bus.omega = ["5 Hz", 0, 0]'), "initial.bus.omega[1]", "rad/s"),
    ("start-nan", bus("[initial]", "bus.position = [0, nan, 0]"), "initial.bus.position[2]", "finite"),
    ("start-zero-quaternion", bus("[initial]", "bus.attitude = [0, 0, 0, 0]"), "initial.bus.attitude",
     "zero quaternion"),
    ("start-twice", bus("[initial]", "bus.omega = [1, 0, 0]", '"bus.omega" = [1, 0, 0]'), "initial.bus.omega", "twice"),
    ("start-not-table", "mbdy = 1\ninitial = 3\n" + bus().partition("\n")[2], "initial", "must be a table"),
    ("start-stateless", panel('kind = "fixed"', more="[initial]\npanel.omega = [1, 0, 0]"), "initial.panel.omega",
     "has no states"),
]  # fmt: skip

INERTIA: list[BadModel] = [
    ("idle-tip", panel('kind = "revolute"', "axis = [1, 0, 0]", body="mass = 0"), "body.panel.joint",
     "its rotation moves no inertia"),
    ("idle-slide", panel('kind = "prismatic"', "axis = [1, 0, 0]", body="mass = 0"), "body.panel.joint",
     "its translation moves no inertia"),
    ("idle-point-mass", panel('kind = "revolute"', "axis = [1, 0, 0]", body="mass = 3\ncom = [2, 0, 0]"),
     "body.panel.joint", "its rotation moves no inertia"),
    ("idle-root", "mbdy = 1\n[body.dot]\nmass = 1\ncom = [1, 2, 3]\njoint = { to = 'inertial', kind = 'free' }",
     "body.dot.joint", "rotation about x, rotation about y and rotation about z move no inertia"),
    ("idle-com-on-axis", panel('kind = "revolute"', "axis = [0, 1, 0]", body="mass = 3\ncom = [0, 2, 0]"),
     "body.panel.joint", "give 'panel' inertia, or a com off the axis"),
    ("idle-coaxial", panel('kind = "revolute"', "axis = [0, 0, 1]", body="mass = 0", more="\n".join(
        ["[body.tip]", "mass = 5", "com = [1, 0, 0]", "inertia = [1, 1, 1]",
         "joint = { to = 'panel', kind = 'revolute', axis = [0, 0, 1], at = [0, 0, 2] }"])),
     "body.panel.joint", "moves no inertia"),
    ("idle-gimbal-lock", panel('kind = "gimbal"', 'sequence = "zyz"'), "body.panel.joint",
     "rotation 1 moves no inertia"),
    ("idle-wheel-is-all", hinged(more="[body.panel.wheel.x]\naxis = [0, 1, 0]\ninertia = 1"), "body.panel.joint",
     "moves no inertia"),
]  # fmt: skip

BAD_MODELS: list[BadModel] = FILE + KEYS + NAMES + TREE + JOINTS + NUMBERS + STARTS + INERTIA

WARNED_MODELS: list[BadModel] = [
    ("triangle", bus().replace("[1, 1, 1]", "[1, 1, 3]"), "body.bus.inertia", "triangle inequality"),
    ("massless-link", panel('kind = "revolute"', "axis = [0, 1, 0]", body="mass = 0", more=(
        "[body.tip]\nmass = 1\ninertia = [1, 1, 1]\njoint = { to = 'panel', kind = 'revolute', axis = [1, 0, 0] }")),
     "body.panel.mass", "massless body between joints"),
    ("massless-inertia", hinged().replace("mass = 1\n", "mass = 0\n"), "body.panel.mass", "but the body has inertia"),
    ("stiffness-negative", hinged("stiffness = -1"), "body.panel.joint.stiffness", "is negative"),
    ("damping-negative", hinged("damping = -1"), "body.panel.joint.damping", "is negative"),
    ("frame-not-unit", hinged("frame = { quaternion = [2, 0, 0, 0] }"), "body.panel.joint.frame.quaternion", "norm 2"),
    ("start-in-degrees", hinged(more="[initial]\npanel.joint.angle = 30"), "initial.panel.joint.angle",
     '30 rad is 1719 deg; did you mean "30 deg"?'),
    ("starts-in-degrees", panel('kind = "universal"', "axes = [[1, 0, 0], [0, 1, 0]]",
     more="[initial]\npanel.joint.angle = [6.2, -6.3]"), "initial.panel.joint.angle[2]", 'did you mean "-6.3 deg"?'),
    ("rest-in-degrees", panel('kind = "cylindrical"', "axis = [0, 0, 1]", "rest = 45"), "body.panel.joint.rest",
     'did you mean "45 deg"?'),
    ("rests-in-degrees", panel('kind = "cylindrical"', "axis = [0, 0, 1]", 'rest = ["45 m", 45]'),
     "body.panel.joint.rest[2]", 'did you mean "45 deg"?'),
    ("frame-in-degrees", hinged('frame = { sequence = "zyx", angles = [90, 0, "400 deg"] }'),
     "body.panel.joint.frame.angles[1]", 'did you mean "90 deg"?'),
    ("frame-angle-in-degrees", hinged('frame = { sequence = "z", angles = 90 }'), "body.panel.joint.frame.angles",
     'did you mean "90 deg"?'),
    ("start-not-unit", bus("[initial]", "bus.attitude = [0, 0, 0, 2]"), "initial.bus.attitude", "norm 2"),
]  # fmt: skip
"""Model files that are taken with a warning, like ``BAD_MODELS``."""
