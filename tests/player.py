"""Schedules in C, played on numbers of a test."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np

from mbdy.engine.core.build import FLAGS, LINK, compiler, shared_library
from mbdy.engine.core.library import standing_alone
from mbdy.engine.core.schedule import Schedule

DOOR = """#include "schedule.h"
{declared}
static const mbdy_schedule *const schedules[] = {{{listed}}};
__attribute__((visibility("default"))) void play(int i, const real **arg, real **res, real *w) {{
    mbdy_unfold(schedules[i]);
    mbdy_play(schedules[i], arg, res, w);
}}
__attribute__((visibility("default"))) int work(int i) {{ return schedules[i]->work; }}
"""
Doubles = ctypes.POINTER(ctypes.c_double)
Numbers = Sequence[np.ndarray | None]


class Player:
    """One library with all of ``schedules``, for ``lanes`` runs at once."""

    def __init__(self, *schedules: Schedule, lanes: int = 1) -> None:
        self.schedules, self._lanes = schedules, lanes
        declared = "\n".join(f"extern const mbdy_schedule {s.name};" for s in schedules)
        door = DOOR.format(declared=declared, listed=", ".join(f"&{s.name}" for s in schedules))
        files = {**standing_alone(*schedules), "play.c": door}
        flags = (*FLAGS, f"-DMBDY_LANES={lanes}") if lanes > 1 else FLAGS
        self._library = ctypes.CDLL(str(shared_library(files, compiler(), flags, LINK)))

    def __call__(self, i: int, arguments: Numbers, wanted: Sequence[bool] | None = None) -> list[np.ndarray]:
        """Results of schedule ``i``, those ``wanted``; of several directions or lanes in columns."""
        s = self.schedules[i]
        kept = [None if a is None else np.ascontiguousarray(a, dtype=float) for a in arguments]
        beside = s.directions * self._lanes
        results = [np.full((n, beside) if beside > 1 else n, np.nan) for n in s.outputs]
        given = (Doubles * len(kept))(*(Doubles() if a is None else a.ctypes.data_as(Doubles) for a in kept))
        found = (Doubles * len(results))(
            *(r.ctypes.data_as(Doubles) if wanted is None or wanted[n] else Doubles() for n, r in enumerate(results))
        )
        work = np.full((self._library.work(i) + 1, self._lanes), np.nan)
        self._library.play(i, given, found, work.ctypes.data_as(Doubles))
        assert np.isnan(work[-1]).all()
        return results
