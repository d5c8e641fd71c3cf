"""A system as a stepping block: typed ports, fixed-step integrators, simulation under a controller or a table."""

from mbdy.blocks.batch import BatchOutputs, BatchRun, BlockBatch, PlantBatch
from mbdy.blocks.conditions import Condition
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
from mbdy.blocks.control_loop import Controller, ControllerError, NoCommandWarning
from mbdy.blocks.errors import RowError, StateError, StepError, ThreadError, VariableError
from mbdy.blocks.linear import LargeAngleWarning, LinearPlant, PartlyLinearPlant
from mbdy.blocks.located import LocatedRun, Pulse, Switch, simulate_located
from mbdy.blocks.plant import Plant, Snapshot
from mbdy.blocks.plant.state_file import ResumedWarning
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
from mbdy.blocks.simulate import SimulationError, simulate
from mbdy.blocks.singular import SingularityWarning
from mbdy.blocks.strides import Crossing
from mbdy.blocks.table import InputTable, input_table
from mbdy.blocks.too_fast import FastLoopWarning, FastModeWarning, FastMotionWarning
from mbdy.engine import MbdyError, MbdyWarning, StartMovedWarning

__all__ = [
    "Attitudes",
    "BatchOutputs",
    "BatchRun",
    "Block",
    "BlockBatch",
    "CelestialSensors",
    "Condition",
    "Controller",
    "ControllerError",
    "CosineSlew",
    "Crossing",
    "DeadSpace",
    "Delay",
    "DerivedRate",
    "EulerAngleSensor",
    "ExternalForces",
    "FastLoopWarning",
    "FastModeWarning",
    "FastMotionWarning",
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
    "MbdyError",
    "MbdyWarning",
    "NoCommandWarning",
    "Outputs",
    "PartlyLinearPlant",
    "Plant",
    "PlantBatch",
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
    "ResumedWarning",
    "RowError",
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
    "ThreadError",
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
