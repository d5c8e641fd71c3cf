"""Other equations than the engine's in the place of its derivatives, called back from C."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence

import numpy as np

from mbdy.engine import Dynamics, Model, Ports
from mbdy.engine.core.integrators import INTEGRATORS
from mbdy.engine.model.faults import OptionError
from mbdy.engine.model.values import chosen
from mbdy.engine.order_n.equations import Equations
from mbdy.engine.verification.formulations import FORMULATIONS, ORDER_N, formulation

Call = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p))
"""``mbdy_call`` of model.h."""


class SecondOpinion:
    """The derivatives ``f(x, u, p)`` of a formulation as the core calls them; behind ``p`` are the senses of friction
    that sticks, which are at the places ``senses`` of the constants.

    ``fault`` is what they raised in the last call, after which the derivatives are no numbers.
    """

    def __init__(self, derivatives: Callable[..., np.ndarray], ports: Ports, senses: Sequence[int]) -> None:
        self.fault: BaseException | None = None
        sizes = len(ports.state_names), len(ports.input_names), len(ports.parameter_names)

        def call(arg, res) -> None:
            rates = _vector(res[0], sizes[0])
            try:
                given = _vector(arg[3], sizes[2])
                if senses:
                    given = np.append(given, _vector(arg[2], senses[-1] + 1)[[*senses]])
                rates[:] = derivatives(_vector(arg[0], sizes[0]), _vector(arg[1], sizes[1]), given)
            except BaseException as fault:  # C cannot pass it on: who called C raises it
                self.fault = fault
                rates[:] = np.nan

        self._call = Call(call)
        self.address = ctypes.cast(self._call, ctypes.c_void_p).value


def second_opinion(
    model: Model, equations: Equations, name: str, integrator: str, dynamics: Dynamics | None
) -> SecondOpinion | None:
    """The formulation called ``name``; None for the engine's own equations.

    Raises ValueError for an unknown one and where it goes with neither ``integrator`` nor ``dynamics``, and
    `UncoveredError` where ``model`` is not of its domain.
    """
    if chosen("formulation", name, (ORDER_N, *FORMULATIONS)) == ORDER_N:
        return None
    other = formulation(name)
    if dynamics is not None:
        raise OptionError(f"formulation {name!r} has the full dynamics only; leave formulation or dynamics out")
    if INTEGRATORS[integrator].implicit:
        raise OptionError(
            f"integrator {integrator!r} needs derivatives that formulation {name!r} does not have; leave formulation "
            f"out ({ORDER_N!r}) or choose another integrator"
        )
    return SecondOpinion(other.derivatives(model), equations.ports, equations.resistances.senses)


def _vector(address: int, size: int) -> np.ndarray:
    return np.ctypeslib.as_array((ctypes.c_double * size).from_address(address))
