"""What a system is and its equations of motion: model files, the Order-N equations, the compiled core."""

from mbdy.engine.building import CompilerError, NoCacheNote
from mbdy.engine.compiled import Compiled, NoCompilerNote, compiled
from mbdy.engine.equations import Equations, equations
from mbdy.engine.faults import Fault, ModelError, ModelWarning
from mbdy.engine.files import dumps, load, loads, save
from mbdy.engine.model import Body, GravityGradient, Joint, Model, Node, Wheel
from mbdy.engine.ports import Ports, ports
from mbdy.engine.rules import keep_rules
from mbdy.engine.variables import Variable
from mbdy.engine.verification import Verification
from mbdy.engine.verify import verify

__all__ = [
    "Body",
    "Compiled",
    "CompilerError",
    "Equations",
    "Fault",
    "GravityGradient",
    "Joint",
    "Model",
    "ModelError",
    "ModelWarning",
    "NoCacheNote",
    "NoCompilerNote",
    "Node",
    "Ports",
    "Variable",
    "Verification",
    "Wheel",
    "compiled",
    "dumps",
    "equations",
    "keep_rules",
    "load",
    "loads",
    "ports",
    "save",
    "verify",
]
