"""The one plant: in C, and as a block in Python."""

from mbdy.blocks.plant.block import Array, Interpolation, Plant, Snapshot

__all__ = ["Array", "Interpolation", "Plant", "Snapshot"]
