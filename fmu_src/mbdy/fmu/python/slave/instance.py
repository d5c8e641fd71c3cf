"""One instance of an FMU: phases of its life, values and steps, in no version's words of FMI."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import state
from .clock import Clock
from .contents import Contents, contents
from .host import DISCARD, ERROR, Host, end_in_order, forget_path
from .plant import Plant

NO_SUCH_VARIABLE = math.nan
INSTANTIATED, INITIALIZING, RUNNING, TERMINATED = state.PHASES


def opened(slave: Any, status: Callable[[int], Any], platform: str, real: str) -> Instance:
    """An instance behind pythonfmu's ``slave``, which tells whence its resources came.

    ``status`` is pythonfmu's enumeration of FMI's statuses, ``platform`` the folder of its library for Linux, ``real``
    what this version of FMI calls a real number.
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
    return Instance(name, known, Host(slave, status, library), real)


class Instance:
    """Value references count the scalars of ``ports.json``: inputs, parameters, outputs, then what follows from them.

    ``name`` tells the states of its FMU from others', ``real`` is the type of what is no Boolean.
    """

    def __init__(self, name: str, contents: Contents, host: Host, real: str) -> None:
        self.name, self.contents, self.host, self._real = name, contents, host, real
        self.plant = Plant(contents, host)
        self.clock = Clock(self.plant.h)
        self.phase = INSTANTIATED
        self._u, self._p = self.plant.u, self.plant.p
        self._outputs_at, self._calculated_at = contents.outputs_at, contents.calculated_at

    # Life cycle

    def setup_experiment(self, start: float, stop: float | None) -> None:
        """Times [s] of the run; the step is fixed, so a tolerance changes nothing."""
        if self.phase != INSTANTIATED:
            self._refuse_order("setupExperiment", "it comes before initialization mode")
        elif fault := self.clock.begin(start, stop):
            self.host.refuse(fault)

    def enter_initialization_mode(self, times: tuple[float, float | None] | None = None) -> None:
        """Start values can be set before and after this; ``times`` are those of the run, where FMI has them here."""
        if self.phase != INSTANTIATED:
            self._refuse_order("enterInitializationMode", "it comes once")
        elif times and (fault := self.clock.begin(*times)):
            self.host.refuse(fault)
        else:
            self.phase = INITIALIZING

    def exit_initialization_mode(self) -> None:
        """From here on start values are settled; a fault in them is said now and again by every step."""
        if self.phase != INITIALIZING:
            self._refuse_order("exitInitializationMode", "it comes after enterInitializationMode")
            return
        self.phase = RUNNING
        if fault := self.plant.start():
            self.host.log(ERROR, fault)

    def terminate(self) -> None:
        """No step is made after this; values can be read."""
        if self.phase == TERMINATED:
            self._refuse_order("terminate", "it comes once")
        self.phase = TERMINATED

    def _refuse_order(self, call: str, rule: str) -> None:
        self.host.refuse(f"{call} changes nothing, the FMU is {self.phase}: {rule}, reset the FMU for another run")

    def do_step(self, current_time: float, step_size: float) -> bool:
        """One communication step with inputs held; False (discard) and a message leaves the state as it was."""
        clock = self.clock
        fault = self._wrong_phase() or clock.wrong(current_time, step_size)
        if not fault:
            fault = self.plant.step(clock.whole(current_time, step_size))
        if fault:
            self.host.log(DISCARD, f"step from {current_time!r} s discarded, the state is as it was: {fault}")
            return False
        clock.time = current_time + step_size
        return True

    def _wrong_phase(self) -> str:
        if self.phase == RUNNING:
            return ""
        if self.phase == TERMINATED:
            return "the FMU is terminated: reset it for another run"
        return f"the FMU is {self.phase}: steps come after exitInitializationMode"

    # Values

    def get_reals(self, vrs: Sequence[int]) -> list[float]:
        """Values of real variables, those of arrays one element after the other; NaN where the call is refused."""
        return self._got(vrs, self._real) or [NO_SUCH_VARIABLE] * self.host.values(len(vrs))

    def get_booleans(self, vrs: Sequence[int]) -> list[bool]:
        """Values of Boolean variables; False where the call is refused."""
        return [value == 1.0 for value in self._got(vrs, "Boolean")] or [False] * self.host.values(len(vrs))

    def set_reals(self, vrs: Sequence[int], values: Sequence[float]) -> None:
        """Values of real variables, those of arrays one element after the other."""
        self._set_values(vrs, values, self._real)

    def set_booleans(self, vrs: Sequence[int], values: Sequence[bool]) -> None:
        self._set_values(vrs, [1.0 if value else 0.0 for value in values], "Boolean")

    def _places(self, vrs: Sequence[int], sort: str) -> Sequence[int]:
        """``vrs``, variables of the type ``sort``, with an array's elements in its place; none where one is no such."""
        if not self._known(sort).issuperset(vrs):
            self.refuse_reference(vrs, sort)
            return ()
        sizes = self.contents.sizes
        return [vr + k for vr in vrs for k in range(sizes.get(vr, 1))] if sizes else vrs

    def _got(self, vrs: Sequence[int], sort: str) -> list[float]:
        """Values of variables of the type ``sort``; none where the call is refused."""
        places = self._places(vrs, sort)
        asked = self.host.values(len(places))
        if places and asked != len(places):
            self._refuse_count(asked, len(places))
            return []
        y, at, end = self.plant.outputs(), self._outputs_at, self._calculated_at
        return [y[vr - at] if at <= vr < end else self._value(vr) for vr in places]

    def _value(self, vr: int) -> float:
        """An input, a parameter or a start value that is no output, as it was set; a calculated parameter; the time."""
        if vr < self._outputs_at:
            inputs = self.contents.inputs
            return self._u[vr] if vr < inputs else self._p[vr - inputs]
        if vr in self.contents.hidden:
            return self.plant.vector("s")[self.contents.hidden[vr]]
        calculated, k = self.contents.calculated, vr - self._calculated_at
        if k >= len(calculated):
            return self.clock.time or 0.0
        return self.plant.y[calculated[k]] if self.plant.initial is None else self.plant.initial[k]

    def _set_values(self, vrs: Sequence[int], values: Sequence[float], sort: str) -> None:
        places, inputs, plant = self._places(vrs, sort), self.contents.inputs, self.plant
        if len(places) != len(values):
            if places:
                self._refuse_count(len(values), len(places))
            return
        for vr, value in zip(places, values, strict=True):
            if vr < inputs:
                self._u[vr] = value
                plant.stale_outputs = True
                plant.stale_start |= sort == "Boolean" and not plant.started  # the start closes loops
            elif vr < self._outputs_at:
                self._p[vr - inputs] = value
                plant.stale_constants = plant.stale_outputs = True
            else:
                self._set_start(vr, value)

    def _set_start(self, vr: int, value: float) -> None:
        name, at = self.contents.names[vr], self.contents.starts.get(vr)
        if at is None:
            what = "an output" if vr < self._calculated_at else "calculated"
            self.host.refuse(f"'{name}' is {what} and cannot be set to {value!r}")
        elif self.plant.started:
            self.host.refuse(
                f"'{name}' not set to {value!r}: a state can be set only until initialization mode ends; "
                "reset the FMU first, or set a saved FMU state"
            )
        else:
            self.plant.vector("s")[at] = value
            self.plant.stale_start = self.plant.stale_outputs = True

    # Refusals

    def refuse_reference(self, vrs: Sequence[int], sort: str) -> None:
        """Refuses the first of ``vrs`` that is no variable of the type ``sort``."""
        known, names, elements = self._known(sort), self.contents.names, self.contents.elements
        for vr in vrs:
            if vr not in known:
                if vr in elements:
                    array = elements[vr]
                    self.host.refuse(f"value reference {vr} is an element, '{names[vr]}': use its array's, {array}")
                elif 0 <= vr < len(names):
                    own = "Boolean" if vr in self.contents.booleans else self._real
                    self.host.refuse(f"'{names[vr]}' is of type {own}: it can be neither set nor read as {sort}")
                else:  # pythonfmu passes references as signed numbers
                    self.host.refuse(f"there is no value reference {vr & 0xFFFFFFFF}: they end at {len(names) - 1}")
                return

    def _refuse_count(self, given: int, size: int) -> None:
        self.host.refuse(f"{given} values for variables that have {size} elements together")

    def _known(self, sort: str) -> frozenset[int]:
        """Value references of the type ``sort``."""
        if sort == self._real:
            return self.contents.reals
        return self.contents.booleans if sort == "Boolean" else frozenset()

    # State of the FMU

    def saved(self) -> dict[str, Any]:
        """All that the next step and the next reading depend on."""
        return state.saved(self.name, self.plant, self.clock, self.phase)

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Goes on from what `saved` gave. From another's or a damaged one no step is made until a good one is set."""
        fault = state.restored(saved, self.name, self.plant, self.clock)
        if fault:
            self.plant.refusal = f"{fault}: set one of its own"
            self.host.log(ERROR, self.plant.refusal)
        else:
            self.phase = saved["phase"]
