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


SIX = "[[0, 0], [0, 0], [0.5, 0], [0, 0], [0.5, 0.1], [0, 0]]"
SKEW = "[[0, 1, 0], [0, 0, 0], [0, 0, 0]]"


def on(place: str, *joint: str) -> str:
    """A body ``dish`` that is hinged to ``place``."""
    return "\n".join(["[body.dish]", "mass = 1", "inertia = [1, 1, 1]", "[body.dish.joint]", f'to = "{place}"',
                      'kind = "revolute"', "axis = [0, 1, 0]", *joint])  # fmt: skip


def on_bus() -> str:
    return 'joint = { to = "bus", kind = "revolute", axis = [0, 0, 1] }'


BEYOND = "makes modal data beyond what floats can hold"


def boom(*flex: str, frequencies: str = '["1 Hz", "2 Hz"]', coupling: str = f"coupling = {SIX}", node: str = "",
         more: str = "") -> str:  # fmt: skip
    """A good file with a boom of two modes and a node at its tip, ``flex`` added to its modes."""
    shape = "" if node.startswith("shape") else f"shape = {SIX}"
    return bus("[body.boom]", "mass = 1", "com = [1, 0, 0]", "inertia = [0.1, 1, 1]", on_bus(), "[body.boom.flex]",
               f"frequencies = {frequencies}" if frequencies else "", coupling, *flex, "[body.boom.node.tip]",
               "at = [2, 0, 0]", shape, node, more)  # fmt: skip


def beam(*lines: str, body: str = "", flex: str = "", more: str = "") -> str:
    """A good file with a generated boom, ``lines`` added to what it is made from."""
    return bus("[body.boom]", body, on_bus(), "[body.boom.flex]", flex, "[body.boom.flex.beam]", "length = 3",
               "mass_per_length = 0.5", "bending_stiffness = 100", "modes = 1", *lines, more)  # fmt: skip


DRIVEN = 'driver = "arm.joint"\nfollower = "panel.joint"\nratio = 2'


def geared(*lines: str, motion: str = "free") -> str:
    """A good file with a hinged panel, an arm and a ball on a bus, ``lines`` being a gear."""
    hinge = f'kind = "revolute", axis = [1, 0, 0], motion = "{motion}"'
    bodies = [f'[body.{name}]\nmass = 1\ninertia = [1, 1, 1]\njoint = {{ to = "bus", {joint} }}'
              for name, joint in (("arm", hinge), ("ball", 'kind = "spherical"'))]  # fmt: skip
    return hinged(f'motion = "{motion}"', more="\n".join([*bodies, "[gear.g]", *lines]))


def summed(term: str, first: float = 1) -> str:
    """The same with a gear of the arm and another ``term``."""
    return geared(f'terms = [["arm.joint", {first}], {term}]')


def bars(*loop: str, kind: str = 'kind = "pin"\naxis = [0, 0, 1]', name: str = "loop.closure", more: str = "") -> str:
    """A good file with a four-bar linkage, ``loop`` added to what closes it."""
    lines = ["mbdy = 1"]
    for body, to, at in (("crank", "inertial", 0), ("coupler", "crank", 1), ("rocker", "inertial", 2.5)):
        joint = f'to = "{to}", kind = "revolute", axis = [0, 0, 1], at = [{at}, 0, 0]'
        lines += [f"[body.{body}]", "mass = 1", "inertia = [1, 1, 1]", f"joint = {{ {joint} }}"]
    lines += ["[body.coupler.node.end]", "at = [2, 0, 0]", "[body.rocker.node.tip]", "at = [1.5, 0, 0]"]
    return "\n".join([*lines, f"[{name}]", 'a = "coupler.end"', 'b = "rocker.tip"', kind, *loop, more])


FILE: list[BadModel] = [
    ("syntax", "mbdy = 1\nname = = 3", "", "line 2, column 8"),
    ("unquoted-unit", bus(mass="mass = 8 kg"), "", 'write "8 kg"'),
    ("unquoted-unit-in-a-list", bus("com = [0, 1.5e-2 m, 0]"), "", 'write "1.5e-2 m"'),
    ("unquoted-unit-in-a-table", hinged('frame = { sequence = "z", angles = [-90deg] }'), "", 'write "-90 deg"'),
    *(
        (f"slip-{slip}", bus(mass=f"mass = {slip}"), "", right)
        for slip, right in (
            (".5", "write 0.5"),
            ("-.5e3", "write -0.5e3"),
            ("1.", "write 1.0"),
            ("1,5", "write 1.5"),
            ("05", "write 5"),
            ("1.0D-3", "write 1.0e-3"),
            ("+ 5", "write +5"),
            (".5 kg", 'write "0.5 kg"'),
            ("1,5 kg", 'write "1.5 kg"'),
            ("True", "write true"),
            ("NaN", "write nan"),
            ("None", "leave the key out"),
            ("heavy", 'write "heavy"'),
            ("[1., 2]", "write 1.0"),
            ("[1, .5]", "write 0.5"),
            ("{ a = 1, }", "comma before the }"),
            ("1/60", "quotients are not"),
            ("", "give the key a value"),
            ('"8 kg', "a text ends on its line"),
            ("[1 2]", "values apart by commas"),
            ("1 # kg\n// heavy", "a comment begins with #"),
            ("1\ncom : 3", "write = between"),
            ('"a\\d"', "written twice"),
        )
    ),
    ("duplicate-table", "mbdy = 1\n[body.a]\n[body.a]", "", "a table stands once"),
    ("duplicate-key", bus("mass = 2"), "", "a key stands once"),
    ("nested-too-deep", "a = " + "[" * 5000, "", "nested too deep"),
    ("long-name", "mbdy = 1\nbody." + "a" * 200 + " = 1", "", "has 200 letters, more than 100"),
    ("long-text", f"mbdy = 1\nname = '{'a' * 5000}'", "", "has 5000 letters, more than 4096"),
    ("nested-tables", "a" + ".a" * 30 + " = 1", "", "nested more than 16 deep"),
    ("endless-number", "mbdy = " + "1" * 5000, "", "not valid TOML"),
    ("empty", "", "mbdy", "mbdy = 1"),
    ("version-missing", bus().replace("mbdy = 1", ""), "mbdy", "is missing"),
    (
        "version-newer",
        bus().replace("mbdy = 1", "mbdy = 2"),
        "mbdy",
        "is 2, and this mbdy reads up to 1: update",
    ),
    ("version-none", bus().replace("mbdy = 1", "mbdy = 0"), "mbdy", "must be a whole number from 1 to 1, got 0"),
    ("version-true", bus().replace("mbdy = 1", "mbdy = true"), "mbdy", "got true"),
    ("version-text", bus().replace("mbdy = 1", 'mbdy = "1"'), "mbdy", "mbdy = 1"),
    ("no-body", "mbdy = 1", "body", "there is no body"),
    ("body-not-table", "mbdy = 1\nbody = 3", "body", "must be a table, got 3"),
    ("body-array", "mbdy = 1\n[[body]]\nmass = 1", "body", "must be a table"),
    ("body-list", "mbdy = 1\nbody = []", "body", "must be a table, got []; write [body.NAME]"),
    (
        "wheel-without-name",
        bus("wheel = { axis = [1, 0, 0] }"),
        "body.bus.wheel.axis",
        "write [body.bus.wheel.NAME]: the table needs a name",
    ),
    ("body-without-name", "mbdy = 1\n[body]\nmass = 3", "body.mass", "write [body.NAME]: the table needs a name"),
    ("one-body-not-table", "mbdy = 1\n[body]\nbus = 3", "body.bus", "must be a table, got 3"),
    ("name-not-text", bus().replace("mbdy = 1", "mbdy = 1\nname = 3"), "name", "must be text, got 3"),
    ("loop-not-table", "mbdy = 1\nloop = 3\n" + bus().partition("\n")[2], "loop", "must be a table, got 3"),
    ("one-loop-not-table", bus("[loop]", "latch = 3"), "loop.latch", "must be a table, got 3; write [loop.latch]"),
    ("flex-not-table", bus(mass="mass = 10\nflex = 3"), "body.bus.flex", "must be a table, got 3"),
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
    *((f"name-{name}", bus().replace("body.bus", f"body.{name}"), f"body.{name}", "choose another") for name in
      ("spring", "gear", "tank", "slosh", "contact", "output", "guess", "ports", "default")),
    ("ports-not-table", "ports = 3\n" + bus(), "ports", "must be a table, got 3; write [ports]"),
    ("ports-key", hinged(more="[ports]\ninput = []"), "ports.input", "the nearest known is 'inputs'"),
    ("ports-not-list", hinged(more='[ports]\ninputs = "bus.torque"'), "ports.inputs",
     "must be a list of names and patterns, got 'bus.torque'"),
    ("ports-not-text", hinged(more='[ports]\noutputs = ["bus.omega", 3]'), "ports.outputs[2]", "must be text, got 3"),
    ("ports-unknown", hinged(more='[ports]\ninputs = ["bus.torque", "bus.forse"]'), "ports.inputs[2]",
     "'bus.forse' is no input of this system; the nearest known is 'bus.force'"),
    ("ports-no-match", hinged(more='[ports]\noutputs = ["*.joint.angel"]'), "ports.outputs[1]", "the nearest known is"),
    ("ports-twice", hinged(more='[ports]\ninputs = ["bus.*", "bus.*"]'), "ports.inputs[2]", "keep one of them"),
    ("ports-element", hinged(more='[ports]\ninputs = ["bus.torque[1]"]'), "ports.inputs[1]", "write 'bus.torque'"),
    ("ports-output", hinged(more='[ports]\ninputs = ["bus.omega"]'), "ports.inputs[1]", "name it in ports.outputs"),
    ("ports-parameter", hinged(more='[ports]\ninputs = ["bus.mass"]'), "ports.inputs[1]", "are always there"),
    ("name-loop", bus().replace("body.bus", "body.loop"), "body.loop", "no body can be called 'loop'"),
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
    ("cubic-spherical", panel('kind = "spherical"', "cubic_stiffness = 3"), "body.panel.joint.cubic_stiffness",
     "no angle for a cubic_stiffness"),
    ("rest-spherical", panel('kind = "spherical"', 'rest = "3 deg"'), "body.panel.joint.rest",
     "is a rotation vector where a joint is spherical"),
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
     "bus.x.momentum = [1, 2]"), "initial.bus.x.momentum", "list of 1 numbers, got 2 entries"),
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
    ("hidden", panel('kind = "revolute"', "axis = [1, 0, 0]", body="mass = 1\ninertia = [1e18, 1e18, 1e18]"),
     "body.bus.joint", "its own is rounding beside that of 'panel': check the units there"),
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
    ("idle-free-beam", "\n".join(["mbdy = 1", "[body.b]",
     'joint = { to = "inertial", kind = "free" }', "[body.b.flex.beam]", "length = 10", "mass_per_length = 1",
     "bending_stiffness = 500", "modes = 2", 'ends = "free"']), "body.b.joint", "give body.b.flex.beam.polar_inertia"),
    ("idle-gimbal-lock", panel('kind = "gimbal"', 'sequence = "zyz"'), "body.panel.joint",
     "its middle angle is 0 deg at the start, where its three axes lie in one plane"),
    ("idle-wheel-is-all", hinged(more="[body.panel.wheel.x]\naxis = [0, 1, 0]\ninertia = 1"), "body.panel.joint",
     "moves no inertia"),
]  # fmt: skip

FLEX: list[BadModel] = [
    ("flex-empty", bus("[body.bus.flex]"), "body.bus.flex", "has no modal data; give frequencies, or mass and"),
    ("flex-unknown", boom("freqs = 3"), "body.boom.flex.freqs", "nearest known is 'frequencies'"),
    ("flex-misplaced", bus(mass="mass = 10\nfrequencies = [1]"), "body.bus.frequencies", "in [body.NAME.flex]"),
    ("flex-no-modes", boom(frequencies="[]"), "body.boom.flex.frequencies", "an entry for each mode, got []"),
    ("flex-scalar", boom(frequencies="3"), "body.boom.flex.frequencies", "an entry for each mode, got 3"),
    ("flex-frequency-unit", boom(frequencies='["2 m", "1 Hz"]'), "body.boom.flex.frequencies[1]", "such as '2.5 Hz'"),
    ("flex-frequency-negative", boom(frequencies='["-2 Hz", "1 Hz"]'), "body.boom.flex.frequencies[1]", ">= 0"),
    ("flex-frequency-per-second", boom(frequencies='["2 1/s", "1 Hz"]'), "body.boom.flex.frequencies[1]", "rad/s"),
    ("flex-ratios-count", boom("damping_ratios = [0.1]"), "body.boom.flex.damping_ratios", "list of 2 entries, got 1"),
    ("flex-ratios-text", boom('damping_ratios = ""'), "body.boom.flex.damping_ratios", "must be a number"),
    ("flex-two-ways", boom("stiffness = [1, 2]"), "body.boom.flex.stiffness", "is given besides 'frequencies'"),
    ("flex-mass-zero", boom("mass = [1, 0]"), "body.boom.flex.mass", "must be > 0, got 0"),
    ("flex-coupling-missing", boom(coupling=""), "body.boom.flex.coupling", "give 6 rows of 2: integral of r x phi"),
    ("flex-coupling-rows", boom(coupling="coupling = [[1, 2]]"), "body.boom.flex.coupling", "list of 6 entries, got 1"),
    ("flex-coupling-row", boom(coupling="coupling = [[0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0]]"),
     "body.boom.flex.coupling[1]", "list of 2 entries, got 1"),
    ("flex-coupling-large", boom(coupling=f"coupling = {SIX.replace('0.5', '1.5')}"), "body.boom.flex.coupling",
     "of mode 1 above all, has negative energy"),
    ("flex-inertia-first", boom(f"inertia_first = [{SKEW}, {SKEW}]"), "body.boom.flex.inertia_first",
     "must be symmetric, but [1][1][2] is 1 and its mirror image gives 0"),
    ("flex-moment-second", boom("moment_second = [[[0, 1], [0, 0]], [[0, 0], [0, 0]], [[0, 0], [0, 0]]]"),
     "body.boom.flex.moment_second", "must be symmetric"),
    ("flex-gyroscopic-size", boom("gyroscopic = [[0, 0, 0]]"), "body.boom.flex.gyroscopic", "give 2 x 2 x 3 numbers"),
    ("flex-nan", boom("gyroscopic = [[[0, 0, 0], [nan, 0, 0]], [[0, 0, 0], [0, 0, 0]]]"),
     "body.boom.flex.gyroscopic[1][2][1]", "finite"),
    ("flex-stiffness-missing", boom("mass = [1, 1]", frequencies=""), "body.boom.flex.stiffness", "is missing"),
    ("flex-mass-missing", boom("stiffness = [1, 1]", frequencies=""), "body.boom.flex.mass", "is missing"),
    ("flex-mass-indefinite", boom("mass = [[1, 2], [2, 1]]", "stiffness = [1, 1]", frequencies=""),
     "body.boom.flex.mass", "not positive definite"),
    ("flex-ratios-beside-matrices", boom("mass = [1, 1]", "stiffness = [1, 1]", "damping_ratios = 0.1",
     frequencies=""), "body.boom.flex.damping_ratios", "goes with 'frequencies' only"),
    ("flex-stiffness-skew", boom("mass = [1, 1]", "stiffness = [[1, 0.1], [0, 1]]", frequencies=""),
     "body.boom.flex.stiffness", "must be symmetric"),
    ("flex-idle-mode", bus("[body.slug]", "mass = 1", "[body.slug.joint]", 'to = "inertial"', 'kind = "prismatic"',
     "axis = [1, 0, 0]", "[body.slug.flex]", 'frequencies = ["1 Hz"]',
     "coupling = [[0], [0], [0], [1], [0], [0]]"), "body.slug.joint", "take out the mode that only repeats it"),
    ("parent-of-node", hinged().replace('to = "bus"', 'to = "buss.tip"'), "body.panel.joint.to",
     "there is no body 'buss'; the nearest known is 'bus'"),
    ("node-shape-rigid", bus("[body.bus.node.a]", "at = [1, 0, 0]", "shape = [[0]]"), "body.bus.node.a.shape",
     "is for a node of a flexible body only"),
    ("node-shape-size", boom(node="shape = [[0]]"), "body.boom.node.tip.shape", "how the modes turn (rows 1-3)"),
    ("node-bend-skew", boom(node="bend = [[[0, 1], [0, 0]], [[0, 0], [0, 0]], [[0, 0], [0, 0]]]"),
     "body.boom.node.tip.bend", "must be symmetric"),
    ("node-unknown", boom(more=on("boom.tpi")), "body.dish.joint.to", "has no node 'tpi'; the nearest known is 'tip'"),
    ("node-unknown-ports", boom(more=on("boom.tpi", "[ports]", 'inputs = ["*"]')), "body.dish.joint.to", "no node 't"),
    ("node-of-unread", boom("gyroscopic = 3", more=on("boom.tip") + "\n[initial]\ndish.joint.angle = 0.1"),
     "body.boom.flex.gyroscopic", "must be a list"),
    ("node-none", bus(on("bus.tip")), "body.dish.joint.to", "has no node 'tip'; add [body.bus.node.tip]"),
    ("node-of-inertial", bus(on("inertial.tip")), "body.dish.joint.to", "inertial space has no node 'tip'"),
    ("joint-off-node", boom(more=on("boom", "at = [1, 0, 0]")), "body.dish.joint.to", "the flexible body 'boom'"),
    ("start-modes", boom(more="[initial]\nboom.flex.displacement = 1"), "initial.boom.flex.displacement",
     "list of 2 numbers"),
    ("start-no-modes", bus("[initial]", "bus.flex.rate = 1"), "initial.bus.flex.rate", "no start value"),
    ("beam-missing", beam().replace("length = 3\n", ""), "body.boom.flex.beam.length", "'beam' needs it, in m"),
    ("beam-unknown", beam("lenth = 3"), "body.boom.flex.beam.lenth", "nearest known is 'length'"),
    ("beam-unit", beam().replace("length = 3", 'length = "3 kg"'), "body.boom.flex.beam.length", "a number in m"),
    ("beam-range", beam().replace("length = 3", "length = -3"), "body.boom.flex.beam.length", "above zero, got -3"),
    ("beam-mass-beyond", beam().replace("length = 0.5", "length = 1e308"), "body.boom.flex.beam.mass_per_length",
     BEYOND),
    ("beam-length-beyond", beam().replace("length = 3", "length = 1e200"), "body.boom.flex.beam.length", BEYOND),
    ("plate-beyond", beam().replace("flex.beam", "flex.plate").replace("mass_per_length", "mass_per_area")
     .replace("bending_stiffness = 100", "width = 1\nrigidity = 1e308"), "body.boom.flex.plate.rigidity", BEYOND),
    ("torsion-beyond", beam("polar_inertia = 1e-320", "torsional_stiffness = 3").replace("flex.beam", "flex.torsion")
     .replace("bending_stiffness = 100", ""), "body.boom.flex.torsion.polar_inertia", BEYOND),
    ("beam-type", beam("clamp = 3"), "body.boom.flex.beam.clamp", "must be true or false, got 3"),
    ("beam-not-table", bus("[body.boom]", on_bus(), "[body.boom.flex]", "beam = 3"), "body.boom.flex.beam",
     "must be a table, got 3"),
    ("beam-mass", beam(body="mass = 3"), "body.boom.mass", "is given by 'beam' of its flex"),
    ("beam-and-plate", bus("[body.boom]", on_bus(), "[body.boom.flex]", "beam = {}", "plate = {}"), "body.boom.flex",
     "has both 'beam' and 'plate'"),
    ("beam-and-modes", beam(flex="coupling = [[1]]"), "body.boom.flex.coupling", "'beam' gives all modal data"),
    ("beam-node-shape", beam(more="[body.boom.node.a]\nat = [1, 0, 0]\nshape = [[0]]"), "body.boom.node.a.shape",
     "is given by 'beam'"),
    ("beam-node-beyond", beam(more="[body.boom.node.a]\nat = [4, 0, 0]"), "body.boom.node.a", "lies at 4 m"),
    ("file-missing", bus("[body.boom]", on_bus(), "[body.boom.flex]", 'file = "boom.SID_FEM"'),
     "body.boom.flex.file.path", "there is no file 'boom.SID_FEM' in "),
    ("file-number", bus("[body.boom]", on_bus(), "[body.boom.flex]", "file = 3"), "body.boom.flex.file",
     "must be the name of a file or a table, got 3"),
    ("reduce-missing", bus("[body.boom]", on_bus(), "[body.boom.flex]", "reduce = { interface = 1 }"),
     "body.boom.flex.reduce.modes", "'reduce' needs it"),
    ("reduce-no-file", bus("[body.boom]", on_bus(), "[body.boom.flex.reduce]", "interface = 1", "modes = 2",
     'mass = "M.mtx"'), "body.boom.flex.reduce.mass", "there is no file 'M.mtx'"),
    ("plate-missing", bus("[body.boom]", on_bus(), "[body.boom.flex]", "plate = { length = 1, width = 1, modes = 2 }"),
     "body.boom.flex.plate.mass_per_area", "'plate' needs it, in kg/m2"),
    ("torsion-unit", bus("[body.boom]", on_bus(), "[body.boom.flex.torsion]", "length = 1", "mass_per_length = 1",
     "polar_inertia = 1", "modes = 1", 'torsional_stiffness = "3 N"'), "body.boom.flex.torsion.torsional_stiffness",
     "a number in N.m2"),
    ("free-ends-on-a-joint", beam('ends = "free"'), "body.boom.flex.beam.ends", "give clamp = true"),
    ("free-plate-on-a-joint", bus("[body.boom]", on_bus(), "[body.boom.flex.plate]", "length = 2", "width = 1",
     "mass_per_area = 1", "rigidity = 10", "modes = 1", 'ends = "free"'), "body.boom.flex.plate.ends", "floating root"),
    ("free-rod-on-a-joint", bus("[body.boom]", on_bus(), "[body.boom.flex.torsion]", "length = 2",
     "mass_per_length = 1", "polar_inertia = 1", "torsional_stiffness = 3", "modes = 1", 'ends = "free"'),
     "body.boom.flex.torsion.ends", "leave it out"),
    ("beam-wheel-tip", beam(more="[body.boom.wheel.tip]\naxis = [1, 0, 0]\ninertia = 1e-9"),
     "body.boom.node.tip", "taken by a wheel"),
]  # fmt: skip

LOOPS: list[BadModel] = [
    ("gear-nothing", geared(), "gear.g.terms", "or a driver, a follower and their ratio"),
    ("gear-no-joint", summed('["panel", 1]'), "gear.g.terms[2][1]", 'write "panel.joint"'),
    ("gear-no-body", summed('["pannel.joint", 1]'), "gear.g.terms[2][1]", "nearest known is 'panel'"),
    ("gear-free", summed('["bus.joint", 1]'), "gear.g.terms[2][1]", "is free and has no angle"),
    ("gear-which", summed('["ball.joint", 1]'), "gear.g.terms[2][1]", 'to "ball.joint[3]", translations first'),
    ("gear-ball", summed('["ball.joint[2]", 1]'), "gear.g.terms[2][1]", "use a gimbal"),
    ("gear-none-such", summed('["panel.joint[2]", 1]'), "gear.g.terms[2][1]", "has no degree of freedom 2"),
    ("gear-one", geared('terms = [["panel.joint", 1]]'), "gear.g.terms", "has 1 coordinates"),
    ("gear-twice", summed('["arm.joint", 2]'), "gear.g.terms[2]", "names 'arm.joint' twice"),
    ("gear-zero", summed('["panel.joint", 0]', first=0), "gear.g.terms", "two of them or more"),
    ("gear-one-factor", summed('["panel.joint", 0]'), "gear.g.terms", "two of them or more"),
    ("gear-ratio", geared(DRIVEN.replace("2", "0")), "gear.g.ratio", "must not be zero"),
    ("gear-unit", summed('["panel.joint", "3 m"]'), "gear.g.terms[2][2]", "a number"),
    ("gear-both", geared(DRIVEN, 'terms = [["arm.joint", 1]]'), "gear.g.terms", "keep one of the two"),
    ("gear-no-ratio", geared('driver = "arm.joint"', 'follower = "panel.joint"'), "gear.g.ratio", "is missing"),
    ("gear-offset", geared(DRIVEN, 'offset = "3 m"'), "gear.g.offset", "must be a number in rad"),
    ("gear-open", geared(DRIVEN, "closed = false"), "gear.g.closed", "nothing can ever close the gear"),
    ("gear-key", geared(DRIVEN, "ration = 2"), "gear.g.ration", "nearest known is 'ratio'"),
    ("gear-still", geared(DRIVEN, motion="prescribed"), "gear.g.terms", "the motion of all its joints is prescribed"),
    ("loop-name", bars(name="loop.2nd"), "loop.2nd", "is not a name"),
    ("loop-unknown-key", bars("axs = [0, 0, 1]"), "loop.closure.axs", "nearest known is 'axis'"),
    ("loop-no-b", bars().replace('b = "rocker.tip"', ""), "loop.closure.b", "name a body, one of its nodes"),
    ("loop-no-kind", bars(kind=""), "loop.closure.kind", "give one of weld, pin, ball"),
    ("loop-kind", bars(kind='kind = "wield"'), "loop.closure.kind", "nearest known is 'weld'"),
    ("loop-kind-revolute", bars(kind='kind = "revolute"'), "loop.closure.kind", "here it is called 'pin'"),
    ("loop-body", bars().replace("rocker.tip", "roker.tip"), "loop.closure.b", "no body 'roker'; the nearest known is"),
    ("loop-node", bars().replace("rocker.tip", "rocker.tpi"), "loop.closure.b", "nearest known is 'tip'"),
    ("loop-inertial-node", bars().replace("rocker.tip", "inertial.tip"), "loop.closure.b", "give at_b instead"),
    ("loop-same-body", bars().replace("rocker.tip", "coupler"), "loop.closure.b", "are both on body 'coupler'"),
    ("loop-same-node", boom(more='[loop.l]\na = "boom.tip"\nb = "boom.tip"\nkind = "ball"\nat_b = [1, 0, 0]'),
     "loop.l.b", "are both on body 'boom'"),
    ("loop-both-inertial", bars().replace("rocker.tip", "inertial").replace("coupler.end", "inertial"),
     "loop.closure.b", "are both on inertial space"),
    ("loop-fixed-to-each-other",
     bars("at_b = [0, 1, 0]").replace("rocker.tip", "ground").replace("coupler.end", "inertial")
     + '[body.ground]\nmass = 1\njoint = { to = "inertial", kind = "fixed", at = [1, 0, 0] }\n', "loop.closure.b",
     "fixed to each other, through inertial space, and cannot move against each other"),
    ("loop-fixed-to-each-other-open",
     bars("at_b = [0, 1, 0]", "switchable = true", "closed = false").replace("rocker.tip", "ground")
     .replace("coupler.end", "inertial")
     + '[body.ground]\nmass = 1\njoint = { to = "inertial", kind = "fixed", at = [1, 0, 0] }\n', "loop.closure.b",
     "fixed to each other, through inertial space, and cannot move against each other"),
    ("guess-unknown", bars(more="[guess]\ncrank.joint.angel = 1"), "guess.crank.joint.angel", "'crank.joint.angle'"),
    ("guess-twice", bars(more="[initial]\ncrank.joint.angle = 1\n[guess]\ncrank.joint.angle = 1"),
     "guess.crank.joint.angle", "is in [initial] too, where it is kept; keep one of them"),
    ("loop-off-node", boom(more='[loop.l]\na = "boom"\nat_a = [1, 0, 0]\nb = "bus"\nkind = "ball"'), "loop.l.a",
     "no node says how modes move it there"),
    ("loop-attitude", bus('[loop.l]\na = "bus"\nb = "inertial"\nkind = "ball"').replace('"free"', '"attitude"'),
     "loop.l.b", "beside a root of kind attitude, which 'bus' is; use kind"),
    ("loop-axis-missing", bars(kind='kind = "pin"'), "loop.closure.axis", "is missing"),
    ("loop-axis-zero", bars(kind='kind = "pin"\naxis = [0, 0, 0]'), "loop.closure.axis", "must not be zero"),
    ("loop-axis-on-ball", bars("axis = [0, 0, 1]", kind='kind = "ball"'), "loop.closure.axis", "takes no 'axis'"),
    ("loop-axis-b-on-slider", bars("axis_b = [0, 0, 1]", kind='kind = "slider"\naxis = [0, 0, 1]'),
     "loop.closure.axis_b", "a loop of kind slider takes no 'axis_b'"),
    ("loop-axes-missing", bars(kind='kind = "universal"'), "loop.closure.axes", "is missing"),
    ("loop-axes-one", bars(kind='kind = "universal"\naxes = [[1, 0, 0]]'), "loop.closure.axes", "two axes, got 1"),
    ("loop-rows-empty", bars(kind="rows = []"), "loop.closure.rows", "whole numbers from 1 to 6, got []"),
    ("loop-rows-seven", bars(kind="rows = [1, 7]"), "loop.closure.rows", "4, 5, 6 moving along them"),
    ("loop-rows-float", bars(kind="rows = [1.0]"), "loop.closure.rows", "whole numbers"),
    ("loop-rows-twice", bars(kind="rows = [1, 1]"), "loop.closure.rows", "names a row twice"),
    ("loop-rows-missing", bars(kind='kind = "rows"'), "loop.closure.rows", "e.g. rows = [4, 5, 6]"),
    ("loop-rows-on-pin", bars("rows = [1]"), "loop.closure.rows", "a loop of kind pin takes no 'rows'"),
    ("loop-distance-zero", bars(kind="distance = 0"), "loop.closure.distance", 'use kind = "ball"'),
    ("loop-distance-unit", bars(kind='distance = "1 kg"'), "loop.closure.distance", "a number in m"),
    ("loop-distance-missing", bars(kind='kind = "distance"'), "loop.closure.distance", "is missing"),
    ("loop-time-constant", bars("time_constant = -1"), "loop.closure.time_constant", "must be >= 0 s, got -1"),
    ("loop-time-constant-unit", bars('time_constant = "1 m"'), "loop.closure.time_constant", "'1 ms'"),
    ("loop-never-closed", bars("closed = false"), "loop.closure.closed", "nothing can ever close the loop"),
    ("loop-switch-text", bars('switchable = "yes"'), "loop.closure.switchable", "true or false"),
    ("loop-frame", bars("frame_a = [[1, 0, 0]]"), "loop.closure.frame_a", "three rows"),
    ("loop-at", bars("at_b = [1, 0]"), "loop.closure.at_b", "must have 3 entries"),
    ("loop-unreachable", bars("at_a = [9, 0, 0]"), "loop.closure", "cannot be closed: 6 m of error is left"),
    ("loop-contradictory", bars("at_a = [0, 0, 0.1]"), "loop.closure", "contradict each other or the joints"),
    ("loop-mirrored", bars("axis_b = [0, 0, -1]"), "loop.closure", "the mirrored position; turn frame_b by 180 deg"),
    ("loop-speeds", bars(more="[initial]\ncrank.joint.rate = 1").replace("kind = \"revolute\"",
     'kind = "revolute", motion = "prescribed"').replace("[2.5, 0, 0]", "[1.5, 0, 0]"), "loop.closure",
     "its places part at 3 m/s at the start"),
]  # fmt: skip


def chosen(*lines: str, more: str = "") -> str:
    """A good file with an output ``seen`` that says ``lines``."""
    return hinged(more="\n".join(["[output.seen]", *lines, more]))


MATRIX = 'kind = "matrix"'
WHEELED = "wheel.w = { axis = [0, 0, 1], inertia = 0.05 }"
OUTPUTS: list[BadModel] = [
    ("wheel-twice", bus(WHEELED, "[initial]", "bus.w.speed = 3", "bus.w.momentum = 0.1"), "initial.bus.w.speed",
     "is given beside bus.w.momentum"),
    ("wheel-momentum-unit", bus(WHEELED, "[initial]", 'bus.w.momentum = "3 rpm"'), "initial.bus.w.momentum", "N.m.s"),
    ("output-no-kind", chosen('of = "bus"'), "output.seen.kind", "is missing; give one of euler, mrp"),
    ("output-kind", chosen('kind = "quaternion"', 'of = "bus"'), "output.seen.kind", "called 'relative_attitude'"),
    ("output-kind-slip", chosen('kind = "eulr"', 'of = "bus"'), "output.seen.kind", "the nearest known is 'euler'"),
    ("output-key", chosen(MATRIX, 'fo = "bus"'), "output.seen.fo", "known: kind, of, to, axes"),
    ("output-other-key", chosen(MATRIX, 'of = "bus"', 'axes = "bus"'), "output.seen.axes", "takes no 'axes'"),
    ("output-of-nothing", chosen(MATRIX), "output.seen.of", "is missing; name a body or one of its nodes"),
    ("output-of-itself", chosen(MATRIX, 'of = "inertial"'), "output.seen.of", "'to' is the same place"),
    ("output-body", chosen(MATRIX, 'of = "bux"'), "output.seen.of", "there is no body 'bux'; the nearest"),
    ("output-node", chosen(MATRIX, 'of = "bus"', 'to = "panel.tip"'), "output.seen.to", "has no node 'tip'"),
    ("output-inertial-node", chosen(MATRIX, 'of = "bus"', 'to = "inertial.a"'), "output.seen.to", "has no node 'a'"),
    ("output-number", chosen(MATRIX, "of = 3"), "output.seen.of", "must be text, got 3"),
    ("output-no-sequence", chosen('kind = "euler"', 'of = "bus"'), "output.seen.sequence", 'sequence = "zyx"'),
    ("output-sequence", chosen('kind = "euler"', 'of = "bus"', 'sequence = "zzx"'), "output.seen.sequence",
     "none twice in a row, got 'zzx'"),
    ("output-norm", chosen('kind = "norm"', 'of = "bus.omegas"'), "output.seen.of", "nearest known is 'bus.omega'"),
    ("output-norm-mixed", chosen('kind = "norm"', 'of = "panel.joint.load"'), "output.seen.of", "elements in N.m, N"),
    ("output-norm-of-input", chosen('kind = "norm"', 'of = "bus.torque"'), "output.seen.of", "there is no output"),
    ("output-element", chosen('kind = "norm"', 'of = "bus.omega[4]"'), "output.seen.of", "bus.omega[1] to bus"),
    ("output-of-steps", chosen('kind = "norm"', 'of = "system.work_error"'), "output.seen.of", "is of whole steps"),
    ("output-circle", chosen('kind = "norm"', 'of = "output.b"', more='[output.b]\nkind = "norm"\nof = "output.seen"'),
     "output.b.of", "output.seen -> output.b -> output.seen"),
    ("output-no-terms", chosen('kind = "sum"'), "output.seen.terms", "is missing; give outputs and weights"),
    ("output-terms", chosen('kind = "sum"', 'terms = ["bus.omega", 1]'), "output.seen.terms[1]", "a name and a weight"),
    ("output-weight", chosen('kind = "sum"', 'terms = [["bus.omega", "1 s"]]'), "output.seen.terms[1][2]", "must be a"),
    ("output-sizes", chosen('kind = "sum"', 'terms = [["bus.omega", 1], ["panel.joint.rate", 1]]'), "output.seen.terms",
     "bus.omega has 3 elements and panel.joint.rate 1"),
    ("output-units", chosen('kind = "sum"', 'terms = [["panel.joint.angle", 1], ["panel.joint.rate", 1]]'),
     "output.seen.terms", "is in rad and panel.joint.rate in rad/s"),
    ("output-name", hinged(more='[output."1a"]\nkind = "matrix"\nof = "bus"'), 'output.1a', "is not a name"),
]  # fmt: skip

BAD_MODELS: list[BadModel] = FILE + KEYS + NAMES + TREE + JOINTS + NUMBERS + STARTS + INERTIA + FLEX + LOOPS + OUTPUTS

WARNED_MODELS: list[BadModel] = [
    ("triangle", bus().replace("[1, 1, 1]", "[1, 1, 3]"), "body.bus.inertia", "triangle inequality"),
    ("massless-link", panel('kind = "revolute"', "axis = [0, 1, 0]", body="mass = 0", more=(
        "[body.tip]\nmass = 1\ninertia = [1, 1, 1]\njoint = { to = 'panel', kind = 'revolute', axis = [1, 0, 0] }")),
     "body.panel.mass", "massless body between joints"),
    ("inertia-left-out", panel('kind = "prismatic"', "axis = [0, 1, 0]", body="mass = 1"), "body.panel.inertia",
     "is left out where the body turns, so it is a point mass; give it, or [0, 0, 0]"),
    ("damping-in-percent", boom("damping_ratios = [0.01, 2]"), "body.boom.flex.damping_ratios",
     "2 is above 1: such a mode does not swing; did you mean 2 %, 0.02?"),
    ("damping-of-a-beam-in-percent", beam("damping_ratio = 3"), "body.boom.flex.beam.damping_ratio", "3 is above 1"),
    ("massless-inertia", hinged().replace("mass = 1\n", "mass = 0\n"), "body.panel.mass", "but the body has inertia"),
    ("stiffness-negative", hinged("stiffness = -1"), "body.panel.joint.stiffness", "is negative and pushes away"),
    ("damping-negative", hinged("damping = -1"), "body.panel.joint.damping", "is negative and feeds energy in"),
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
