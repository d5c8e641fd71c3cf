"""A plant of the core whose constants, state and outputs follow what was set, when they are asked for."""

from __future__ import annotations

import math
import struct
import sys
from collections.abc import Iterator, Sequence
from typing import Protocol

from .contents import Contents
from .faults import Faults
from .host import WARNING, Host

TOP_BYTE = 7 if sys.byteorder == "little" else 0
"""Of a double's eight: it is 7f or ff in every number that is not finite, and in no other below 1e303."""


class Vector(Protocol):
    """A vector of the core: ctypes' array or NumPy's."""

    def __getitem__(self, place: int, /) -> float: ...
    def __setitem__(self, place: int, value: float, /) -> None: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[float]: ...


class Plant:
    """The vectors ``s``, ``x``, ``u``, ``p``, ``y`` by name; the numbers of the file to begin with.

    ``stale_constants``, ``stale_start`` and ``stale_outputs`` tell what does not follow yet, ``started`` that start
    values are settled. ``initial`` holds the calculated parameters from then on. ``refusal`` is why a foreign state
    forbids all steps. What the client is to be told goes to ``host``.
    """

    def __init__(self, contents: Contents, host: Host) -> None:
        self.contents, self.host = contents, host
        self.core = contents.core()
        self.faults = Faults(self.core, contents)
        self.u, self.p, self.y = self.core.u, self.core.p, self.core.y
        self.h: float = contents.ports["step"]
        self.integrator: int = contents.binding.INTEGRATORS[contents.ports["integrator"]]
        self.started = False
        self.stale_constants = self.stale_start = self.stale_outputs = True
        self.initial: list[float] | None = None
        self.refusal = ""
        for vector, values in contents.values.items():
            write(self.vector(vector), values)
        self._good = bytes(self.y)
        self._told = False

    def vector(self, name: str) -> Vector:
        return getattr(self.core, name)

    def outputs(self) -> Vector:
        """Outputs of the current state and inputs; the last good ones where a value set forbids new ones."""
        if self.stale_outputs and not self._settle() and all(map(math.isfinite, self.u)):
            self.core.outputs()
            self._keep_good()
        return self.y

    def start(self) -> str:
        """Settles for good: start values cannot be set from here on. What forbids it, or nothing."""
        fault = self._settle()
        self.started = self.started or not fault
        if self.started and self.initial is None:
            y = self.outputs()
            if not self.stale_outputs:  # else an input is no number: the first step with better ones comes here again
                self.initial = [y[place] for place in self.contents.calculated]
        return fault

    def step(self, size: float) -> str:
        """One communication step of ``size`` [s] with inputs held. What forbids it, or nothing."""
        if self.stale_constants or self.initial is None or self.refusal:
            fault = self.start()
            if fault:
                return fault
        status = self.core.step(size, self.h, self.integrator, 0)
        if status == self.contents.binding.OK:
            self._keep_good()
            return ""
        return self.faults.explained(status, size)

    def prepare(self) -> str:
        """Constants that follow from ``p``. What forbids them, or nothing."""
        return self.faults.out_of_limits() or self.faults.explained(self.core.prepare())

    def restored(self) -> None:
        """After its vectors were written: what they hold is good."""
        self._good, self.refusal, self._told = bytes(self.y), "", False

    def _settle(self) -> str:
        """Makes the constants, and the state as long as it has not started, follow what was set.

        What forbids it, or nothing.
        """
        if self.refusal:
            return self.refusal
        if self.stale_constants:
            if fault := self.prepare():
                return fault
            self.stale_constants = False
            self.stale_start = not self.started
        if self.stale_start:
            if fault := self.faults.explained(self.core.start()):
                return fault
            self.stale_start = False
        return ""

    def _keep_good(self) -> None:
        """After outputs were evaluated: the last good number in the place of each that is not finite."""
        self.stale_outputs = False
        new = bytes(self.y)
        tops = new[TOP_BYTE::8]
        bad: list[int] = []
        if b"\x7f" in tops or b"\xff" in tops:
            bad = [place for place, value in enumerate(self.y) if not math.isfinite(value)]
            for place in bad:
                (self.y[place],) = struct.unpack_from("d", self._good, 8 * place)
            new = bytes(self.y)
        self._good = new
        if bad and not self._told:
            self.host.log(
                WARNING,
                f"no finite number follows for {len(bad)} outputs, the first is "
                f"'{self.contents.names[self.contents.outputs_at + bad[0]]}': they keep their last good values until "
                "one does; look at inputs and parameters",
            )
        self._told = bool(bad)


def write(vector: Vector, values: Sequence[float]) -> None:
    """``values`` into ``vector``, which other code shares."""
    for place, value in enumerate(values):
        vector[place] = value
