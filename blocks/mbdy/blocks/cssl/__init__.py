"""Control blocks after CSSL III's, to stand beside a plant: switching amplifiers, sources, sensors, actuators."""

from mbdy.blocks.cssl.adapters import to_control, to_pathsim
from mbdy.blocks.cssl.amplifier import SwitchingAmplifier
from mbdy.blocks.cssl.block import Block, Signal, Static
from mbdy.blocks.cssl.bounds import DeadSpace, Limiter
from mbdy.blocks.cssl.delay import Delay
from mbdy.blocks.cssl.derived_rate import DerivedRate
from mbdy.blocks.cssl.hinge_drive import HingeDrive
from mbdy.blocks.cssl.hysteresis import HysteresisLoop
from mbdy.blocks.cssl.integrator import Integrator
from mbdy.blocks.cssl.noise import GaussianNoise, UniformNoise
from mbdy.blocks.cssl.sampled import Sampled
from mbdy.blocks.cssl.sensor_errors import SensorErrors
from mbdy.blocks.cssl.sensors import CelestialSensors, EulerAngleSensor, QuaternionSensor
from mbdy.blocks.cssl.sources import PulseTrain, RampSignal, StepSignal
from mbdy.blocks.cssl.thrusters import ThrusterPair

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
