"""One instance of an FMU: pythonfmu's calls as calls of the plant in C, in no version's words of FMI."""

from __future__ import annotations

import ctypes
import math
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .contents import Contents, contents
from .host import Host, end_in_order, forget_path

Logger = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p)


def opened(slave: Any, status: Callable[[int], Any], platform: str, token: str) -> Instance:
    """An instance behind pythonfmu's ``slave``, which tells whence its resources came.

    ``status`` is pythonfmu's enumeration of FMI's statuses, ``platform`` the folder of its library for Linux,
    ``token`` what its version of FMI calls that. RuntimeError where the client asks for another FMU or variables.
    """
    name, resources = type(slave).__module__, slave.resources
    library = os.path.join(os.path.dirname(os.path.realpath(resources)), "binaries", platform, f"{name}.so")
    end_in_order(library)
    try:
        known = contents(resources)
    except Exception as error:  # many clients show no message of a failed instantiation
        print(f"{name}: {error}", file=sys.stderr)
        raise
    finally:
        forget_path(resources)
    return Instance(known, Host(slave, status, library), token)


class Instance:
    """A plant with the model's start values; ``host`` is told what the plant says, and what it refuses."""

    def __init__(self, contents: Contents, host: Host, token: str) -> None:
        self.host, self._constants = host, contents.constants
        functions = self._functions = contents.functions
        log = host.log
        self._logger = Logger(
            lambda _, status, category, text: log(status, category.decode(), text.decode(errors="replace"))
        )
        handle = functions.plant_new(functions.mbdy_this(), functions.plant_this(), None, 0, self._logger, None)
        self._memory = contents.binding.Owned(handle, functions.plant_free)
        self._handle = self._memory.handle
        asked = host.asked()
        if not asked:
            return
        if functions.plant_admit(self._handle, token.encode(), asked.token, asked.required, asked.n_required):
            raise RuntimeError(host.said)  # pythonfmu tells what it says, and makes no instance
        if asked.logging:
            functions.plant_set_categories(self._handle, 1, 0, None)

    def _answer(self, status: int) -> bool:
        """Whether a call is OK; else it is answered so."""
        if status:
            self.host.refuse(status)
        return not status

    def _allowed(self, call: str, *phases: str) -> bool:
        bits = sum(self._constants[f"PLANT_{phase}"] for phase in phases)
        return self._answer(self._functions.plant_allowed(self._handle, call.encode(), bits))

    # Life cycle

    def setup_experiment(self, call: str, start: float, stop: float | None, tolerance: float | None) -> bool:
        """Times [s] of the run; the step is fixed, so a tolerance changes nothing."""
        last = math.inf if stop is None else stop
        return self._allowed(call, "INSTANTIATED") and self._answer(
            self._functions.plant_set_experiment(self._handle, start, last, tolerance or 0.0)
        )

    def enter_initialization_mode(self, call: str) -> None:
        """Start values can be set before and after this."""
        if self._allowed(call, "INSTANTIATED"):
            self._answer(self._functions.plant_enter_initialization(self._handle))

    def exit_initialization_mode(self, call: str) -> None:
        """From here on start values are settled."""
        if self._allowed(call, "INITIALIZATION"):
            self._answer(self._functions.plant_exit_initialization(self._handle, self._constants["PLANT_STEP"]))

    def terminate(self, call: str) -> None:
        """No step is made after this; values can be read."""
        if self._allowed(call, "STEP"):
            self._answer(self._functions.plant_terminate(self._handle))

    def do_step(self, call: str, current_time: float, step_size: float) -> bool:
        """One communication step with inputs held; whether it was made."""
        last = ctypes.c_double()
        return self._allowed(call, "STEP") and self._answer(
            self._functions.plant_step(self._handle, current_time, step_size, None, None, ctypes.byref(last))
        )

    # Values

    def get(self, vrs: Sequence[int], *, boolean: bool) -> list[float]:
        """Values of variables, those of arrays one element after the other; no numbers where the call is refused."""
        refs = _references(vrs)
        size = self.host.values(self._functions.plant_size_of(self._handle, refs, len(vrs)))
        values = (ctypes.c_double * size)()
        good = self._answer(self._functions.plant_get(self._handle, refs, len(vrs), values, size, boolean))
        return list(values) if good else [math.nan] * size

    def set(self, vrs: Sequence[int], values: Sequence[float], *, boolean: bool) -> None:
        """Sets variables, arrays by their elements one after the other."""
        numbers = (ctypes.c_double * len(values))(*values)
        refs = _references(vrs)
        self._answer(self._functions.plant_set(self._handle, refs, len(vrs), numbers, len(values), boolean))

    def refuse_type(self, call: str, sort: str, count: int) -> None:
        """No variable is of the type ``sort``."""
        if count:
            self._answer(self._functions.plant_refuse_type(self._handle, call.encode(), sort.encode()))

    # State of the FMU

    def saved(self) -> dict[str, bytes]:
        """All that the next step and the next reading depend on."""
        data = ctypes.create_string_buffer(self._functions.plant_state_size(self._handle))
        self._answer(self._functions.plant_save(self._handle, data, len(data)))
        return {"state": data.raw}

    def restore(self, state: Mapping[str, bytes]) -> None:
        """Goes on from what `saved` gave; another's or a damaged one is refused."""
        data = state["state"]
        self._answer(self._functions.plant_restore(self._handle, data, len(data)))


def _references(vrs: Sequence[int]) -> ctypes.Array[ctypes.c_uint]:
    """Value references, which pythonfmu passes as signed numbers."""
    return (ctypes.c_uint * max(1, len(vrs)))(*(vr & 0xFFFFFFFF for vr in vrs))
