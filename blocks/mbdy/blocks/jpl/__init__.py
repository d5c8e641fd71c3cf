"""The subroutines of JPL Technical Report 32-1592 with their own arguments: MBDY, MBDYTL, MBDYL, MBDYPL and HCK.

G. E. Fleischer and P. W. Likins, "Attitude Dynamics Simulation Subroutines for Systems of Hinge-Connected Rigid
Bodies", 1974. Each makes a `Model` from the report's arrays; the equations are the engine's.
"""

from mbdy.blocks.jpl.arguments import ArgumentError
from mbdy.blocks.jpl.hck import HCK
from mbdy.blocks.jpl.linear import MBDYL, MBDYPL, MBDYTL
from mbdy.blocks.jpl.mbdy import MBDY

__all__ = ["HCK", "MBDY", "MBDYL", "MBDYPL", "MBDYTL", "ArgumentError"]
