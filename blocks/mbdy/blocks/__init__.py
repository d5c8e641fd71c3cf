"""A system as a stepping block: typed ports, fixed-step integrators, simulation under a controller or a table."""

from mbdy.blocks.errors import StateError, StepError, VariableError
from mbdy.blocks.plant import Plant, Snapshot
from mbdy.blocks.prescribed import ProfileNote
from mbdy.blocks.profiles import CosineSlew, Profile, Ramp, Table, Triple
from mbdy.blocks.run import Run
from mbdy.blocks.simulate import Controller, SimulationError, simulate
from mbdy.blocks.singular import SingularityWarning
from mbdy.blocks.table import InputTable, input_table
from mbdy.blocks.typed import (
    Attitudes,
    ExternalForces,
    Inputs,
    JointTorques,
    Outputs,
    Port,
    PrescribedAccelerations,
    Rates,
)

__all__ = [
    "Attitudes",
    "Controller",
    "CosineSlew",
    "ExternalForces",
    "InputTable",
    "Inputs",
    "JointTorques",
    "Outputs",
    "Plant",
    "Port",
    "PrescribedAccelerations",
    "Profile",
    "ProfileNote",
    "Ramp",
    "Rates",
    "Run",
    "SimulationError",
    "SingularityWarning",
    "Snapshot",
    "StateError",
    "StepError",
    "Table",
    "Triple",
    "VariableError",
    "input_table",
    "simulate",
]
