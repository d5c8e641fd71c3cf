"""What a first step and an export take, each in a new process: from an empty cache, with kept kernels, and again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from mbdy.engine import Model, dumps

BEGIN = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
from mbdy.engine import load
from mbdy.blocks import Plant
from mbdy.fmu import export_fmu
model, begin = load(sys.argv[1]), time.perf_counter()
"""
FIRST_STEP = """
Plant(model, step=1e-3).step(1e-3)
print(json.dumps([time.perf_counter() - begin, 0]))
"""
EXPORT = """
made = export_fmu(model, sys.argv[2], fmi=sys.argv[3], kind="native")
print(json.dumps([time.perf_counter() - begin, made.stat().st_size]))
"""


def first_step(model: Model, folder: Path) -> tuple[float, float, float]:
    """Seconds of ``Plant(model)`` to the end of its first step, without imports and reading the file.

    With an empty cache, then of a model with one body more, whose kernels are kept, and of the first once more.
    """
    more = replace(model, bodies=(*model.bodies, replace(model.bodies[-1], name="one_more")))
    first, other, again = (_alone(FIRST_STEP, one, folder)[0] for one in (model, more, model))
    return first, other, again


def export(model: Model, folder: Path, fmi: str) -> tuple[float, float, float]:
    """Seconds of a native export with an empty cache and again, and the file's KiB."""
    (cold, size), (again, _) = (_alone(EXPORT, model, folder, str(folder / "export.fmu"), fmi) for _ in range(2))
    return cold, again, size / 1024


def _alone(script: str, model: Model, folder: Path, *arguments: str) -> list[float]:
    """What ``script`` prints of ``model`` in a process of its own on all processors; ``folder`` has its cache."""
    folder.mkdir(exist_ok=True)
    file = folder / "model.toml"
    file.write_text(dumps(model), encoding="utf-8")
    environment = os.environ | {"MBDY_CACHE": str(folder / "cache"), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + script, str(file), *arguments],
        env=environment, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return json.loads(done.stdout)
