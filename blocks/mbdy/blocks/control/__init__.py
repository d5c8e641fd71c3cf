"""Control blocks after CSSL III's, to stand beside a plant: switching amplifiers, sources, sensors, actuators."""

from mbdy.blocks.control.adapters import to_control, to_pathsim
from mbdy.blocks.control.amplifier import SwitchingAmplifier
from mbdy.blocks.control.block import Block, Signal, Static
from mbdy.blocks.control.bounds import DeadSpace, Limiter
from mbdy.blocks.control.delay import Delay
from mbdy.blocks.control.derived_rate import DerivedRate
from mbdy.blocks.control.hinge_drive import HingeDrive
from mbdy.blocks.control.hysteresis import HysteresisLoop
from mbdy.blocks.control.integrator import Integrator
from mbdy.blocks.control.noise import GaussianNoise, UniformNoise
from mbdy.blocks.control.sampled import Sampled
from mbdy.blocks.control.sensor_errors import SensorErrors
from mbdy.blocks.control.sensors import CelestialSensors, EulerAngleSensor, QuaternionSensor
from mbdy.blocks.control.sources import PulseTrain, RampSignal, StepSignal
from mbdy.blocks.control.thrusters import ThrusterPair

__all__ = [
    "Block",
    "CelestialSensors",
    "DeadSpace",
    "Delay",
    "DerivedRate",
    "EulerAngleSensor",
    "GaussianNoise",
    "HingeDrive",
    "HysteresisLoop",
    "Integrator",
    "Limiter",
    "PulseTrain",
    "QuaternionSensor",
    "RampSignal",
    "Sampled",
    "SensorErrors",
    "Signal",
    "Static",
    "StepSignal",
    "SwitchingAmplifier",
    "ThrusterPair",
    "UniformNoise",
    "to_control",
    "to_pathsim",
]
