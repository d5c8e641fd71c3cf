"""A compiled core through ctypes; nothing here but the standard library.

The Python block loads cores with this file, and an FMU carries a copy of it, so both run the very same code.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_double, c_int, c_void_p

ABI = 5
OK, BAD_INPUT, BAD_PARAMETER, BAD_START, FAILED, BAD_STEP, UNCLOSED, TORN = range(8)
INTEGRATORS = {"rk4": 0, "euler-cromer": 1, "rosenbrock": 2}
IMPLICIT = ("rosenbrock",)
"""Integrators that need a core built for them."""
ORDERS = {"held": 0, "linear": 1, "quadratic": 2}
"""How inputs go over a communication step."""
S, X, U, U_END, P, Y, U_MID, LATCHED = range(8)


def load(path: str) -> ctypes.CDLL:
    """The core in the shared library at ``path``, its functions typed. OSError where it does not load."""
    library = ctypes.CDLL(path)
    library.mbdy_abi.restype = c_int
    if library.mbdy_abi() != ABI:
        raise OSError(f"{path}: a core of another version (interface {library.mbdy_abi()}, this is {ABI})")
    library.mbdy_size.argtypes, library.mbdy_size.restype = [c_int], c_int
    library.mbdy_new.argtypes, library.mbdy_new.restype = [], c_void_p
    library.mbdy_free.argtypes, library.mbdy_free.restype = [c_void_p], None
    library.mbdy_vector.argtypes, library.mbdy_vector.restype = [c_void_p, c_int], c_void_p
    for name in ("fault", "prepare", "start"):
        function = getattr(library, f"mbdy_{name}")
        function.argtypes, function.restype = [c_void_p], c_int
    for name in ("derivatives", "outputs"):
        function = getattr(library, f"mbdy_{name}")
        function.argtypes, function.restype = [c_void_p, c_void_p, c_void_p, c_void_p], None
    library.mbdy_step.argtypes = [c_void_p, c_double, c_double, c_int, c_int]
    library.mbdy_step.restype = c_int
    library.mbdy_run.argtypes = [
        c_void_p, c_int, c_double, c_double, c_int, c_int, c_void_p, c_void_p, c_int, c_void_p, POINTER(c_int),
    ]  # fmt: skip
    library.mbdy_run.restype = c_int
    return library


class _Plant:
    """Owns one plant's memory; whatever looks into it keeps this alive."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._free = library.mbdy_free
        self.handle = c_void_p(library.mbdy_new())
        if not self.handle:
            raise MemoryError("no memory for a plant")

    def __del__(self) -> None:
        if self.handle:
            self._free(self.handle)


class Core:
    """One plant of a loaded core. ``s``, ``x``, ``u``, ``u_mid``, ``u_end``, ``p``, ``y`` are its vectors, shared
    memory."""

    compiled = True

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library
        self._plant = _Plant(library)
        self.handle = self._plant.handle
        self.s, self.x, self.u, self.u_end = map(self._vector, (S, X, U, U_END))
        self.p, self.y, self.u_mid, self.impulses = map(self._vector, (P, Y, U_MID, LATCHED))
        self._done = c_int(0)

    def _vector(self, which: int) -> ctypes.Array:
        address = self.library.mbdy_vector(self.handle, which)
        vector = (c_double * self.library.mbdy_size(which)).from_address(address)
        vector.owner = self._plant
        return vector

    @property
    def fault(self) -> int:
        """Place of the offending number in its vector, after a status other than OK."""
        return self.library.mbdy_fault(self.handle)

    def prepare(self) -> int:
        """Constants from ``p``."""
        return self.library.mbdy_prepare(self.handle)

    def start(self) -> int:
        """``x`` from ``s``."""
        return self.library.mbdy_start(self.handle)

    def outputs(self, x: int | None = None, u: int | None = None, y: int | None = None) -> None:
        """Outputs at addresses of vectors; the plant's own where None."""
        self.library.mbdy_outputs(self.handle, x, u, y)

    def derivatives(self, x: int | None, u: int | None, dx: int) -> None:
        """State derivatives at addresses of vectors; the plant's own where None."""
        self.library.mbdy_derivatives(self.handle, x, u, dx)

    def step(self, H: float, h: float, integrator: int, order: int) -> int:
        """One communication step of ``H`` seconds in equal internal steps of at most ``h``."""
        return self.library.mbdy_step(self.handle, H, h, integrator, order)

    def run(
        self, rows: int, H: float, h: float, integrator: int, order: int,
        inputs: int | None, pick: int, picked: int, out: int,
    ) -> tuple[int, int]:  # fmt: skip
        """``rows`` communication steps in a row; status and how many were done (see core.h)."""
        status = self.library.mbdy_run(
            self.handle, rows, H, h, integrator, order, inputs, pick, picked, out, ctypes.byref(self._done)
        )
        return status, self._done.value
