"""What forbids a start or a step, in words: the variable, its value and the remedy."""

from __future__ import annotations

import math
from typing import Any

from .contents import Contents


class Faults:
    """Looks at the vectors of ``core``, a plant of the FMU with ``contents``."""

    def __init__(self, core: Any, contents: Contents) -> None:
        self.core, self.contents = core, contents
        self.h: float = contents.ports["step"]

    def out_of_limits(self) -> str:
        """The first parameter below its minimum or above its maximum, or nothing."""
        p, names, first = self.core.p, self.contents.names, self.contents.inputs
        for place, minimum, maximum in self.contents.limits:
            if minimum is not None and p[place] < minimum:
                return f"parameter '{names[first + place]}' is {p[place]!r}: set it to at least {minimum!r}"
            if maximum is not None and p[place] > maximum:
                return f"parameter '{names[first + place]}' is {p[place]!r}: set it to at most {maximum!r}"
        return ""

    def explained(self, status: int, step_size: float = math.nan) -> str:
        """The core's ``status`` in words, with the variable that it points at; nothing if it is OK."""
        binding, contents, core, place = self.contents.binding, self.contents, self.core, self.core.fault
        if status == binding.OK:
            return ""
        if status == binding.BAD_INPUT:
            what = "another number" if math.isfinite(core.u[place]) else "a finite number"
            what = "0 or 1" if place in contents.booleans else what
            return f"input '{contents.names[place]}' is {core.u[place]!r}: set {what}"
        if status == binding.BAD_PARAMETER and place < contents.parameters:
            return f"parameter '{contents.names[contents.inputs + place]}' is {core.p[place]!r}: set a finite number"
        if status == binding.BAD_PARAMETER:
            return f"no system can have such parameters: {self._changed_parameters()}"
        if status == binding.BAD_START:
            return self._bad_start()
        if status == binding.UNCLOSED:
            row = contents.ports["rows"][place]
            return f"'{row}': its loop cannot be closed from the start values; start nearer to where it closes"
        if status == binding.TORN:
            row = contents.ports["rows"][place]
            return (
                f"'{row}': its loop came apart within {step_size!r} s: look at its time constant and at inputs, or "
                f"export with a smaller step than {self.h!r} s"
            )
        if status == binding.FAILED:
            return (
                f"state '{contents.ports['states'][place]}' left the finite numbers within {step_size!r} s: look at "
                f"inputs and parameters, or export with a smaller step than {self.h!r} s"
            )
        return f"the step size is {step_size!r} s, more than 1e9 internal steps of {self.h!r} s"

    def _changed_parameters(self) -> str:
        start, names, first = self.contents.values["p"], self.contents.names, self.contents.inputs
        changed = [f"'{names[first + i]}' = {value!r}" for i, value in enumerate(self.core.p) if value != start[i]]
        said = ", ".join(changed[:6]) + (", ..." if len(changed) > 6 else "")
        return (
            "a mass or principal moment (less the wheels' spin inertia) below zero, an axis or quaternion of length "
            f"zero, a friction rate, stops or a harness out of order? Changed from the file: {said or 'none'}"
        )

    def _bad_start(self) -> str:
        s, names = self.core.s, self.contents.start_names
        for place, value in enumerate(s):
            if not math.isfinite(value):
                return f"start value '{names[place]}' is {value!r}: set a finite number"
        for at in self.contents.ports["quaternions"]:
            if not any(s[at + i] for i in range(4)):
                return f"start value '{names[at][:-3]}' is a quaternion of zeros: set at least one of its four elements"
        return "no finite state follows from the start values and parameters: look at masses and inertias of zero"
