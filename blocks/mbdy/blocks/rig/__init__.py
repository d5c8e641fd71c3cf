"""A plant in real time: packets in and out, a clock, evidence."""

from mbdy.blocks.rig.layout import PacketLayout

__all__ = ["PacketLayout"]
