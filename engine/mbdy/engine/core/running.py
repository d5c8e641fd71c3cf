"""`Core`: one system of compiled equations, its vectors as NumPy arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from mbdy.engine.core.binding import Owned, texts
from mbdy.engine.core.integrators import CODES, INTEGRATORS
from mbdy.engine.core.library import CONSTANTS, Compiled
from mbdy.engine.model.faults import OptionError
from mbdy.engine.order_n.equations import Equations

Array = NDArray[np.float64]
OK = CONSTANTS["MBDY_OK"]


class Core:
    """A system with the vectors of core.h: ``s``, ``x``, ``u``, ``u_mid``, ``u_end``, ``p``, ``y``, ``given``,
    ``s_closed``, ``k``, shared memory with C; they are zero at first.
    """

    def __init__(self, compiled: Compiled, integrator: str = "rk4") -> None:
        if INTEGRATORS[integrator].implicit and not compiled.implicit:
            raise OptionError(f"integrator {integrator!r} needs equations compiled with implicit=True")
        self.compiled = compiled
        functions = self.functions = compiled.functions
        self._owned = Owned(functions.mbdy_new(functions.mbdy_this(), CODES[integrator], None), functions.mbdy_free)
        self.handle = self._owned.handle
        self.s, self.x, self.u, self.u_end, self.p, self.y, self.u_mid, self.given, self.s_closed, self.k = (
            self._vector(name) for name in ("S", "X", "U", "U_END", "P", "Y", "U_MID", "GIVEN", "S_CLOSED", "K")
        )
        self._names = Names(compiled)

    def _vector(self, name: str) -> Array:
        which = CONSTANTS[f"MBDY_{name}"]
        size = self.functions.mbdy_size(self.handle, which)
        return np.ctypeslib.as_array(self._owned.doubles(self.functions.mbdy_vector(self.handle, which), size))

    def prepare(self) -> int:
        """Constants from ``p``."""
        return self.functions.mbdy_prepare(self.handle)

    def start(self) -> int:
        """``x`` from ``s``, with loops closed that are closed in ``u``: ``given`` ones stay if that can be."""
        return self.functions.mbdy_start(self.handle)

    def pivots(self) -> int:
        """Whether every speed that is free at ``x`` and ``u`` moves inertia."""
        return self.functions.mbdy_pivots(self.handle)

    def moves(self) -> list[str]:
        """The given start values that `start` has moved, each in words."""
        text, moved = ctypes.create_string_buffer(CONSTANTS["MBDY_TEXT"]), []
        for place in np.flatnonzero(self.s != self.s_closed).tolist():
            if self.functions.mbdy_moved(self.handle, place):
                self.functions.mbdy_tell_move(self.handle, self._names.address, place, text)
                moved.append(text.value.decode())
        return moved

    def lines(self) -> list[str]:
        """Which of two positions lines at a right angle took, each in words, once."""
        return self._told(self.functions.mbdy_tell_lines)

    def doubts(self) -> list[str]:
        """What is doubtful where loops are closed, in words, once."""
        return self._told(self.functions.mbdy_tell_closed)

    def _told(self, tell: Callable[..., int]) -> list[str]:
        text, told = ctypes.create_string_buffer(CONSTANTS["MBDY_TEXT"]), []
        while tell(self.handle, self._names.address, text):
            told.append(text.value.decode())
        return told

    def freedoms(self) -> tuple[int, int, int]:
        """Rows of closed loops, how many are independent at ``s_closed``, and the degrees of freedom left by them."""
        rows, rank = ctypes.c_int(), ctypes.c_int()
        left = self.functions.mbdy_freedoms(self.handle, ctypes.byref(rows), ctypes.byref(rank))
        return rows.value, rank.value, left

    def latch(self) -> bool:
        """Locked joints and what closed loops hold stop at once; whether something did."""
        return bool(self.functions.mbdy_latch(self.handle))

    def decided(self) -> tuple[float, ...]:
        """Senses with which friction that sticks acts at ``x`` and ``u``, 0 where it holds."""
        self.functions.mbdy_decide_there(self.handle, None, None)
        return tuple(self.k[[*self.compiled.equations.resistances.senses]].tolist())

    def outputs(self) -> Array:
        """``y`` at ``x`` and ``u``."""
        self.functions.mbdy_outputs(self.handle, None, None, None)
        return self.y

    def check(self) -> int:
        """Whether the inputs in ``u`` can be used."""
        return self.functions.mbdy_check(self.handle, None)

    def derivatives(self, x: int | None, u: int | None, dx: int) -> None:
        """State derivatives at addresses of vectors; the core's own where None."""
        self.functions.mbdy_derivatives(self.handle, x, u, dx)

    def advance(self, H: float, h: float, order: int = 0) -> int:
        """One communication step of ``H`` [s] in equal internal steps of at most ``h`` [s]."""
        return self.functions.mbdy_advance(self.handle, H, h, order)

    def explain(self, status: int) -> str:
        """What a status means, in words."""
        text = ctypes.create_string_buffer(CONSTANTS["MBDY_TEXT"])
        self.functions.mbdy_explain(self.handle, status, self._names.address, 0.0, 0.0, 0.0, text)
        return text.value.decode()


class _Rule(ctypes.Structure):
    """``mbdy_rule`` of core.h."""

    _fields_ = (
        ("constant", ctypes.c_int),
        ("name", ctypes.c_char_p),
        ("text", ctypes.c_char_p),
        ("place", ctypes.c_int),
        ("size", ctypes.c_int),
    )


class Names(ctypes.Structure):
    """The names of a model for what is wrong with it, as core.h has them (``mbdy_names``)."""

    _fields_ = (
        *(
            (name, ctypes.c_void_p)
            for name in ("inputs", "parameters", "states", "starts", "outputs", "rows", "strengths")
        ),
        ("n_rules", ctypes.c_int),
        ("rules", ctypes.c_void_p),
    )

    def __init__(self, compiled: Compiled) -> None:
        rules = compiled.equations.rules
        self._kept = {name: texts(some) for name, some in names_of(compiled.equations).items()}
        self._rules = (_Rule * len(rules))(
            *(_Rule(rule.constant, rule.name.encode(), rule.text.encode(), rule.place, rule.size) for rule in rules)
        )
        super().__init__(
            **{name: ctypes.addressof(some) for name, some in self._kept.items()},
            n_rules=len(rules),
            rules=ctypes.addressof(self._rules),
        )

    @property
    def address(self) -> int:
        return ctypes.addressof(self)


def names_of(equations: Equations) -> dict[str, Iterable[str]]:
    """The lists of names that ``mbdy_names`` has."""
    ports = equations.ports
    return {
        "inputs": ports.input_names, "parameters": ports.parameter_names, "states": ports.state_names,
        "starts": ports.start_names, "outputs": ports.output_names, "rows": equations.loop_rows,
        "strengths": equations.strengths.names,
    }  # fmt: skip
