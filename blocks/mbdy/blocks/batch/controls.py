"""A control block for each run of a batch."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from mbdy.blocks.control import Block
from mbdy.blocks.control.block import Array
from mbdy.blocks.errors import VariableError


class BlockBatch:
    """Control blocks side by side, one for each run: what a block takes and gives as numbers, this does as arrays (n).

    ``blocks``  one block, of which each run has a copy of its own, or a block for each run.
    ``n``       how many runs.

    Raises `VariableError` where there are not as many blocks as runs.
    """

    def __init__(self, blocks: Block | Sequence[Block], n: int) -> None:
        self.blocks = [copy.deepcopy(blocks) for _ in range(n)] if isinstance(blocks, Block) else list(blocks)
        if len(self.blocks) != n:
            raise VariableError(f"BlockBatch: {n} blocks are needed, one for each run, got {len(self.blocks)}")

    def step(self, t: float, *inputs: Any) -> Any:
        """The outputs at time ``t`` [s] for ``inputs``, whose first axis is of runs, or which are the same for all.

        A run whose inputs are not numbers, as those of one that failed are, takes no part: its outputs are none.
        """
        n = len(self.blocks)
        given = [np.asarray(i) if np.ndim(i) and len(i) == n else np.broadcast_to(i, (n, *np.shape(i))) for i in inputs]
        rows = []
        for k, block in enumerate(self.blocks):
            row = [_number(i[k]) for i in given]
            rows.append(block.step(t, *row) if all(np.isfinite(i).all() for i in row) else None)
        like = next((row for row in rows if row is not None), None)
        if isinstance(like, tuple):
            return tuple(_filled([None if row is None else row[j] for row in rows], like[j]) for j in range(len(like)))
        return _filled(rows, like)

    def reset(self) -> None:
        """Back to what they were when they were made."""
        for block in self.blocks:
            block.reset()

    def save(self) -> list[Array]:
        """The memories, to come back to with `restore`."""
        return [block.save() for block in self.blocks]

    def restore(self, memories: Sequence[Array]) -> None:
        """Back to saved memories."""
        for block, memory in zip(self.blocks, memories, strict=True):
            block.restore(memory)


def _number(value: Any) -> Any:
    return value if np.ndim(value) else float(value)


def _filled(rows: list[Any], like: Any) -> Array:
    """Rows as one array, those that are missing of NaN."""
    missing = np.full(np.shape(like) if like is not None else (), np.nan)
    return np.array([missing if row is None else row for row in rows], dtype=float)
