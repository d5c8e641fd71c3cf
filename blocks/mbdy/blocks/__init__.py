"""A system as a stepping block: typed ports, fixed-step integrators, simulation under a controller or a table."""

from mbdy.blocks.errors import StateError, StepError, VariableError
from mbdy.blocks.plant import Plant, Snapshot
from mbdy.blocks.run import Run
from mbdy.blocks.simulate import Controller, SimulationError, simulate
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
    "ExternalForces",
    "InputTable",
    "Inputs",
    "JointTorques",
    "Outputs",
    "Plant",
    "Port",
    "PrescribedAccelerations",
    "Rates",
    "Run",
    "SimulationError",
    "Snapshot",
    "StateError",
    "StepError",
    "VariableError",
    "input_table",
    "simulate",
]
