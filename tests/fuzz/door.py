"""A plant called with odd references, values, steps and saved states, its C under sanitizers: COUNT, SEED.

Run as a program whose C compiler adds sanitizers, with the sanitizer's library before all others.
"""

from __future__ import annotations

import ctypes
import json
import sys
import warnings
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np

from bad_models import bars, hinged
from fuzz.mutations import HEAD, SEES, mutated, with_sum
from mbdy.blocks import Plant
from mbdy.blocks.plant import library
from mbdy.engine import loads
from mbdy.engine.model.faults import MbdyError

ODD = (0.0, -1.0, 1e308, -1e308, 5e-324, float("nan"), float("inf"), 1.0, 2.5, 1e9, -1e-9)
library.FLAGS, library.LINK = (*library.FLAGS, *SEES), (*library.LINK, *SEES)


def attack(plant: Plant, random: Random) -> None:
    """One call with odd arguments."""
    snapshot, kind = plant.save(), random.randrange(6)
    if kind < 2:
        data = bytearray(snapshot.data)
        for _ in range(random.choice((1, 3))):
            at = random.randrange(HEAD, len(data) - 7) // 8 * 8
            data[at : at + 8] = np.float64(random.choice(ODD)).tobytes()
        changed = with_sum(bytes(data)) if kind else mutated(snapshot.data, random)
        plant.restore(replace(snapshot, data=changed))
    elif kind == 2:
        name = random.choice(list(plant.ports.by_name))
        plant[name] = np.full(plant.ports.by_name[name].size, random.choice(ODD))
    elif kind == 3:
        n = random.choice((0, 1, 7))
        references = (ctypes.c_uint * 7)(*(random.choice((0, 1, 50, 10**6, 2**32 - 1, 2**31)) for _ in range(7)))
        values = (ctypes.c_double * 7)(*(random.choice(ODD) for _ in range(7)))
        call = random.choice((plant._functions.plant_set, plant._functions.plant_get))
        call(plant._handle, references, n, values, random.choice((n, 0, n and n - 1)), random.randrange(2))
    elif kind == 4:
        x = np.array(plant.state)
        x[random.randrange(len(x))] = random.choice(ODD)
        plant.derivatives(0.0, x)
    plant.step(random.choice((0.01, *ODD)))


def main(count: int, seed: int) -> dict[str, int]:
    """How many of ``count`` attacks were taken and refused."""
    random, ends = Random(seed), Counter[str]()
    for text in (hinged('motion = "switchable"', "stiffness = 3"), bars("switchable = true")):
        plant = Plant(loads(text), step=0.01)
        assert plant.compiled.library
        assert b"__asan" in Path(plant.compiled.library).read_bytes()
        sound = plant.save()
        for k in range(count // 2):
            if k % 20 == 0:
                plant.restore(sound)
            try:
                attack(plant, random)
                ends["taken"] += 1
            except MbdyError:
                ends["refused"] += 1
            with suppress(MbdyError):
                plant.outputs()
    return dict(ends)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(main(int(sys.argv[1]), int(sys.argv[2]))))
