"""A system as a stepping block: typed ports, fixed-step integrators, simulation under a controller or a table."""

from mbdy.blocks.control import (
    Block,
    CelestialSensors,
    DeadSpace,
    Delay,
    DerivedRate,
    EulerAngleSensor,
    GaussianNoise,
    HingeDrive,
    HysteresisLoop,
    Integrator,
    Limiter,
    PulseTrain,
    QuaternionSensor,
    RampSignal,
    Sampled,
    SensorErrors,
    Signal,
    Static,
    StepSignal,
    SwitchingAmplifier,
    ThrusterPair,
    UniformNoise,
    to_control,
    to_pathsim,
)
from mbdy.blocks.errors import StateError, StepError, VariableError
from mbdy.blocks.fast_loop import FastLoopWarning
from mbdy.blocks.fast_mode import FastModeWarning
from mbdy.blocks.linear import LargeAngleWarning, LinearPlant, PartlyLinearPlant
from mbdy.blocks.located import LocatedRun, Pulse, Switch, simulate_located
from mbdy.blocks.plant import Plant, Snapshot
from mbdy.blocks.plant.typed import (
    Attitudes,
    ExternalForces,
    Inputs,
    JointTorques,
    Outputs,
    Port,
    PrescribedAccelerations,
    Rates,
)
from mbdy.blocks.prescribed import ProfileNote
from mbdy.blocks.profiles import CosineSlew, Profile, Ramp, Table, Triple
from mbdy.blocks.run import Run
from mbdy.blocks.simulate import Controller, SimulationError, simulate
from mbdy.blocks.singular import SingularityWarning
from mbdy.blocks.table import InputTable, input_table
from mbdy.engine import StartMovedWarning

__all__ = [
    "Attitudes",
    "Block",
    "CelestialSensors",
    "Controller",
    "CosineSlew",
    "DeadSpace",
    "Delay",
    "DerivedRate",
    "EulerAngleSensor",
    "ExternalForces",
    "FastLoopWarning",
    "FastModeWarning",
    "GaussianNoise",
    "HingeDrive",
    "HysteresisLoop",
    "InputTable",
    "Inputs",
    "Integrator",
    "JointTorques",
    "LargeAngleWarning",
    "Limiter",
    "LinearPlant",
    "LocatedRun",
    "Outputs",
    "PartlyLinearPlant",
    "Plant",
    "Port",
    "PrescribedAccelerations",
    "Profile",
    "ProfileNote",
    "Pulse",
    "PulseTrain",
    "QuaternionSensor",
    "Ramp",
    "RampSignal",
    "Rates",
    "Run",
    "Sampled",
    "SensorErrors",
    "Signal",
    "SimulationError",
    "SingularityWarning",
    "Snapshot",
    "StartMovedWarning",
    "StateError",
    "Static",
    "StepError",
    "StepSignal",
    "Switch",
    "SwitchingAmplifier",
    "Table",
    "ThrusterPair",
    "Triple",
    "UniformNoise",
    "VariableError",
    "input_table",
    "simulate",
    "simulate_located",
    "to_control",
    "to_pathsim",
]
