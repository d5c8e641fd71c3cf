"""What the packets of a rig carry: the model's inputs and outputs in the order of its table of variables.

The header that all packets begin with stands in ``packet.h``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np

from mbdy.engine import Model, Variable, ports
from mbdy.engine.core.binding import constants
from mbdy.engine.files.rules import ruled
from mbdy.engine.files.write import model_hash

Kind = Literal["inputs", "outputs"]
HEADER_TEXT = Path(__file__).with_name("packet.h").read_text(encoding="utf-8")
CONSTANTS = constants(HEADER_TEXT)
"""What the enumerators of ``packet.h`` stand for."""
HEADER = (
    ("magic", "<u4"), ("version", "<u2"), ("kind", "<u2"), ("layout", "<u8"), ("session", "<u8"), ("sequence", "<u8"),
    ("answers", "<u8"), ("time", "<f8"), ("sent", "<i8"), ("flags", "<u4"), ("count", "<u4"),
)  # fmt: skip
"""Fields of ``struct mbdy_packet``, as NumPy has their types."""


@dataclass(frozen=True)
class PacketLayout:
    """The packets of one model's rig: to the plant its ``inputs``, from it its ``outputs``, each in port order."""

    name: str
    model: str
    """SHA-256 of the model file that says the model."""
    inputs: tuple[Variable, ...]
    outputs: tuple[Variable, ...]

    @classmethod
    def of(cls, model: Model | str | PathLike[str]) -> PacketLayout:
        """The layout of a `Model`, or the model in a file; its ``[ports]`` choose."""
        model = ruled(model)
        table = ports(model)
        return cls(model.name, model_hash(model), table.inputs, table.outputs)

    @cached_property
    def text(self) -> str:
        """All that both sides must agree on, a line for each double."""
        return "\n".join([f"mbdy rig layout 1\nmodel {self.model}", *self._lines()]) + "\n"

    def _lines(self) -> Iterator[str]:
        for variable in (*self.inputs, *self.outputs):
            for scalar, unit in zip(variable.scalar_names, variable.units, strict=True):
                yield f"{variable.causality} {scalar} {'switch' if variable.boolean else unit}"

    @cached_property
    def key(self) -> int:
        """What packets tell the layout by: the first 8 bytes of the SHA-256 of its `text`, little-endian."""
        return int.from_bytes(hashlib.sha256(self.text.encode()).digest()[:8], "little")

    def variables(self, kind: Kind) -> tuple[Variable, ...]:
        """The variables that packets of a kind carry."""
        return self.inputs if kind == "inputs" else self.outputs

    def count(self, kind: Kind) -> int:
        """Doubles of a packet."""
        return sum(v.size for v in self.variables(kind))

    def fields(self, kind: Kind) -> list[tuple[Any, ...]]:
        """What `dtype` is made of: the header's fields, then each variable under its name."""
        return [*HEADER, *((v.name, "<f8", (v.size,)) if v.size > 1 else (v.name, "<f8") for v in self.variables(kind))]

    def dtype(self, kind: Kind) -> np.dtype[np.void]:
        """A packet, without its seal, as a NumPy record: ``np.frombuffer(data, layout.dtype("outputs"))[0]``."""
        return np.dtype(self.fields(kind))

    def packet(self, kind: Kind) -> np.ndarray[tuple[int], np.dtype[np.void]]:
        """One packet to fill and send (``tobytes()``), an array of one record.

        What says that it is one of this layout is filled in, and the inputs have their start values: what a controller
        leaves alone stays as the model file has it.
        """
        packet = np.zeros(1, self.dtype(kind))
        for field, value in self.facts(kind).items():
            packet[field] = value
        if kind == "inputs":
            for variable in self.inputs:
                packet[variable.name] = variable.start or 0.0
        return packet

    def facts(self, kind: Kind) -> dict[str, int]:
        """What the header of all packets of a kind has."""
        names = {"magic": "MAGIC", "version": "VERSION", "kind": kind.upper()}
        said = {field: CONSTANTS[f"MBDY_PACKET_{name}"] for field, name in names.items()}
        return {**said, "layout": self.key, "count": self.count(kind)}
