"""Python's collector of cycles, kept still while large structures are made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_still() -> Iterator[None]:
    """No search for cycles in the block, or in the function: equations of large models are millions of objects that all
    stay, and looking through them again and again takes a sixth of the time. Blocks may lie in each other."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()
