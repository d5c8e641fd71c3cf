"""A plant in real time: packets in and out, a clock, evidence."""

from mbdy.blocks.errors import RecordError
from mbdy.blocks.rig.evidence import FaultEvent, RigResult
from mbdy.blocks.rig.histogram import Histogram
from mbdy.blocks.rig.layout import PacketLayout
from mbdy.blocks.rig.on_purpose import (
    Bias,
    DelayPackets,
    DropPackets,
    Force,
    Freeze,
    Jam,
    LoseWheel,
    OpenLoop,
    RigFault,
)
from mbdy.blocks.rig.rig import Rig

__all__ = [
    "Bias",
    "DelayPackets",
    "DropPackets",
    "FaultEvent",
    "Force",
    "Freeze",
    "Histogram",
    "Jam",
    "LoseWheel",
    "OpenLoop",
    "PacketLayout",
    "RecordError",
    "Rig",
    "RigFault",
    "RigResult",
]
