"""The model files of the examples, for tests that take all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*/*.toml"))
LARGE = {"rigid_closed", "flexible_closed", "gimbal", "docking", "kick"}
"""More than thirty bodies in four loops: what they compile to, and what is dense, takes long; and those whose parts are
tested elsewhere."""


def slow_where_large(path: Path | None):
    """The mark for tests of the example at ``path``."""
    return pytest.mark.slow if path is not None and path.stem in LARGE else ()


def each_example() -> list:
    """Parameters of a test of one example, the large ones slow."""
    return [pytest.param(path, id=path.stem, marks=slow_where_large(path)) for path in EXAMPLES]
