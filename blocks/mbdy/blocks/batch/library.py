"""The batch in C with one model's equations, and the lanes of this processor."""

from __future__ import annotations

from pathlib import Path

from mbdy.blocks.plant.library import CONSTANTS, DOOR, HEADERS, UNITS, plant_sources, text_of
from mbdy.engine.core.build import FLAGS, LINK, compiler, shared_library
from mbdy.engine.core.integrators import INTEGRATORS
from mbdy.engine.core.lanes import Lanes, compiled_lanes, widths
from mbdy.engine.core.library import Compiled, sources
from mbdy.engine.core.library import text_of as core_text
from mbdy.engine.model.faults import OptionError
from mbdy.engine.order_n.equations import Equations

FOLDER = Path(__file__).parent
FILES = {name: (FOLDER / name).read_text(encoding="utf-8") for name in ("batch.h", "batch.c")}

__all__ = ["CONSTANTS", "compiled_batch", "lanes_of"]


def compiled_batch(equations: Equations, *, implicit: bool) -> Compiled:
    """The batch with ``equations``, built if no earlier build is kept; ``implicit`` as for a plant."""
    files = sources(equations, implicit=implicit) | plant_sources() | FILES | {"lanes.h": core_text("lanes.h")}
    files[DOOR] = f"#define PLANT_BATCH\n{text_of(DOOR)}"
    library = shared_library(files, compiler(), FLAGS, LINK, units=UNITS)
    return Compiled(equations, library, implicit, (*HEADERS, FILES["batch.h"]))


def lanes_of(equations: Equations, integrator: str, width: int | None) -> Lanes | None:
    """Lanes of ``width`` runs, as many as the processor takes where None; None where runs go one by one.

    Raises `OptionError` for a width that this processor does not have.
    """
    there = (*widths(), 1)
    if width is None:
        width = 1 if INTEGRATORS[integrator].implicit else there[0]
    elif isinstance(width, bool) or width not in there:
        raise OptionError(f"lanes: this processor takes {', '.join(map(str, there))} runs at once, got {width!r}")
    return None if width == 1 or INTEGRATORS[integrator].implicit else compiled_lanes(equations, width)
