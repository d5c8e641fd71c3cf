"""The option ``--integrator``: what the core's table of integrators has, with its texts."""

from __future__ import annotations

import runpy
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path


def _methods() -> tuple:
    """The table itself, without the engine around it, which takes longer to load than a help text should."""
    engine = find_spec("mbdy.engine")
    assert engine
    assert engine.submodule_search_locations
    return runpy.run_path(str(Path(engine.submodule_search_locations[0]) / "core" / "integrators.py"))["METHODS"]


METHODS = _methods()
INTEGRATOR_HELP = f"How a step is made. {'; '.join(f'{method.name}: {method.help}' for method in METHODS)}."


class IntegratorName(StrEnum):
    """The core's integrators."""

    vars().update({method.symbol: method.name for method in METHODS})


INTEGRATOR = IntegratorName(METHODS[0].name)
