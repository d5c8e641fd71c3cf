"""Modules of the examples, imported the way their scripts are: beside each other, without being installed."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def imported(folder: str, name: str) -> ModuleType:
    """``examples/folder/name.py``; what it imports from its folder is not left behind for the next example."""
    place = EXAMPLES / folder
    own = {path.stem for path in place.glob("*.py")}
    for module in own:
        sys.modules.pop(module, None)
    sys.path.insert(0, str(place))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(place))
        for module in own:
            sys.modules.pop(module, None)


@pytest.fixture(scope="session")
def example() -> Callable[[str, str], ModuleType]:
    """``example("quickstart", "controller")``: a module of an example."""
    return imported
