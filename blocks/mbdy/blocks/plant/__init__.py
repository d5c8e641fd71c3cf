"""The one plant: in C, and as a block in Python."""

from mbdy.blocks.plant.block import Array, Crossing, Interpolation, Plant, Snapshot

__all__ = ["Array", "Crossing", "Interpolation", "Plant", "Snapshot"]
