"""Many plants of one structure at once."""

from mbdy.blocks.batch.block import BatchOutputs, BatchRun, PlantBatch
from mbdy.blocks.batch.controls import BlockBatch

__all__ = ["BatchOutputs", "BatchRun", "BlockBatch", "PlantBatch"]
