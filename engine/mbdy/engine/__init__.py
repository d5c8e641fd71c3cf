"""What a system is and its equations of motion: model files, the Order-N equations, the compiled core."""

from mbdy.engine.assembly.start import Assembly, StartMovedWarning, assemble
from mbdy.engine.core.build import CompilerError, NoCompilerError
from mbdy.engine.core.cache import NoCacheNote
from mbdy.engine.core.library import Compiled
from mbdy.engine.files.read import dumps, load, loads, save
from mbdy.engine.files.rules import keep_rules, ports
from mbdy.engine.linear.choice import Dynamics, Linear, PartlyLinear, compiled, equations_of
from mbdy.engine.linear.linearization import Linearization, fastest, linearize
from mbdy.engine.linear.modes import Mode, ModeTable
from mbdy.engine.linear.operating_point import OperatingPoint
from mbdy.engine.linear.second_order import SecondOrder
from mbdy.engine.linear.trim import TrimError, trim
from mbdy.engine.model.contacts import Contact, Surface
from mbdy.engine.model.contents import FileError
from mbdy.engine.model.faults import (
    Fault,
    MbdyError,
    MbdyWarning,
    MissingPackageError,
    ModelError,
    ModelWarning,
    OptionError,
    PartError,
    RefusalError,
    UnknownNameError,
    WriteError,
)
from mbdy.engine.model.gear import Gear
from mbdy.engine.model.ports import Ports
from mbdy.engine.model.signals import ChosenOutput
from mbdy.engine.model.springs import Spring
from mbdy.engine.model.system import Body, Flex, GravityGradient, Joint, Loop, Model, Node, PortChoice, Side, Wheel
from mbdy.engine.model.tanks import Tank
from mbdy.engine.model.variables import Variable
from mbdy.engine.model.version import version
from mbdy.engine.order_n.equations import Equations, equations
from mbdy.engine.verification.formulations.values import UncoveredError
from mbdy.engine.verification.result import Verification
from mbdy.engine.verification.verify import verify

__version__ = version()

__all__ = [
    "Assembly",
    "Body",
    "ChosenOutput",
    "Compiled",
    "CompilerError",
    "Contact",
    "Dynamics",
    "Equations",
    "Fault",
    "FileError",
    "Flex",
    "Gear",
    "GravityGradient",
    "Joint",
    "Linear",
    "Linearization",
    "Loop",
    "MbdyError",
    "MbdyWarning",
    "MissingPackageError",
    "Mode",
    "ModeTable",
    "Model",
    "ModelError",
    "ModelWarning",
    "NoCacheNote",
    "NoCompilerError",
    "Node",
    "OperatingPoint",
    "OptionError",
    "PartError",
    "PartlyLinear",
    "PortChoice",
    "Ports",
    "RefusalError",
    "SecondOrder",
    "Side",
    "Spring",
    "StartMovedWarning",
    "Surface",
    "Tank",
    "TrimError",
    "UncoveredError",
    "UnknownNameError",
    "Variable",
    "Verification",
    "Wheel",
    "WriteError",
    "__version__",
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
