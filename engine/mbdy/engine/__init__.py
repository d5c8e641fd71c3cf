"""What a system is and its equations of motion: model files, the Order-N equations, the compiled core."""

from mbdy.engine.assembly import Assembly, assemble
from mbdy.engine.building import CompilerError, NoCacheNote
from mbdy.engine.compiled import Compiled, NoCompilerNote, compiled
from mbdy.engine.dynamics import Dynamics, Linear, PartlyLinear, equations_of
from mbdy.engine.equations import Equations, equations
from mbdy.engine.faults import Fault, ModelError, ModelWarning
from mbdy.engine.files import dumps, load, loads, save
from mbdy.engine.linear import Linearization, fastest, linearize
from mbdy.engine.model import Body, Flex, GravityGradient, Joint, Loop, Model, Node, Side, Wheel
from mbdy.engine.modes import Mode
from mbdy.engine.operating_point import OperatingPoint
from mbdy.engine.ports import Ports, ports
from mbdy.engine.rules import keep_rules
from mbdy.engine.second_order import SecondOrder
from mbdy.engine.trim import TrimError, trim
from mbdy.engine.variables import Variable
from mbdy.engine.verification import Verification
from mbdy.engine.verify import verify

__all__ = [
    "Assembly",
    "Body",
    "Compiled",
    "CompilerError",
    "Dynamics",
    "Equations",
    "Fault",
    "Flex",
    "GravityGradient",
    "Joint",
    "Linear",
    "Linearization",
    "Loop",
    "Mode",
    "Model",
    "ModelError",
    "ModelWarning",
    "NoCacheNote",
    "NoCompilerNote",
    "Node",
    "OperatingPoint",
    "PartlyLinear",
    "Ports",
    "SecondOrder",
    "Side",
    "TrimError",
    "Variable",
    "Verification",
    "Wheel",
    "assemble",
    "compiled",
    "dumps",
    "equations",
    "equations_of",
    "fastest",
    "keep_rules",
    "linearize",
    "load",
    "loads",
    "ports",
    "save",
    "trim",
    "verify",
]
