"""The ways to export a system as an FMU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest


@dataclass(frozen=True)
class Flavour:
    """Kind of FMU, version of FMI, and whether vectors of FMI 3 are given as scalars."""

    kind: str
    fmi: str
    scalars: bool = False

    def __str__(self) -> str:
        return f"{self.kind}-{self.fmi}" + ("-scalars" if self.scalars else "")

    @property
    def options(self) -> dict[str, object]:
        """Arguments of `export_fmu`."""
        return {"kind": self.kind, "fmi": self.fmi} | ({"scalars": True} if self.scalars else {})


FLAVOURS = (
    Flavour("python", "2.0"),
    Flavour("python", "3.0"),
    Flavour("python", "3.0", scalars=True),
    Flavour("native", "2.0"),
    Flavour("native", "3.0"),
    Flavour("native", "3.0", scalars=True),
)


def flavours(**wanted: str | bool) -> list[Flavour]:
    """The flavours that have these attributes."""
    return [one for one in FLAVOURS if all(getattr(one, name) == value for name, value in wanted.items())]


def one_by_one() -> list[Flavour]:
    """Flavours without arrays, for clients that know scalars only."""
    return [one for one in FLAVOURS if one.fmi == "2.0" or one.scalars]


UNLIKE = flavours(scalars=False)
"""One of each kind and version."""
PYTHON, NATIVE = flavours(kind="python", scalars=False), flavours(kind="native", scalars=False)


def mostly(quick: list[Flavour], some: list[Flavour]) -> list[Any]:
    """``some`` flavours, of which those that are not ``quick`` ones run with the long sweeps."""
    return [one if one in quick else pytest.param(one, marks=pytest.mark.slow) for one in some]


QUICK_NATIVE = mostly(NATIVE[:1], NATIVE)
"""For tests that compile at length: their subject is the same C."""
