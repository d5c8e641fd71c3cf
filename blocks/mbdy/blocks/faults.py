"""What forbids a start or a step, in words: the variable, its value and the remedy."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mbdy.blocks.errors import StateError, StepError, VariableError
from mbdy.engine import Equations, Ports
from mbdy.engine.core.binding import BAD_INPUT, BAD_PARAMETER, BAD_START, BAD_STEP, FAILED, TORN, UNCLOSED, Core
from mbdy.engine.core.virtual import VirtualCore
from mbdy.engine.model.owners import Owner, name_of
from mbdy.engine.model.variables import ORBIT_POSITION
from mbdy.engine.order_n.loop_kernels import SHORTEST

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Faults:
    """Looks at the vectors of a plant's ``core``: inputs ``u`` and ``u_mid``, start values ``s``, parameters ``p``; its
    internal ``step`` [s]."""

    equations: Equations
    core: Core | VirtualCore
    u: Array
    u_mid: Array
    s: Array
    p: Array
    step: float

    @property
    def ports(self) -> Ports:
        return self.equations.ports

    def error(self, status: int, time: float, H: float = math.nan) -> Exception:
        """The core's ``status`` at ``time`` [s] as an exception, of a step of ``H`` [s] where it was one."""
        place = self.core.fault
        if status == BAD_INPUT:
            good = math.isfinite(self.u[place]) and not math.isfinite(self.u_mid[place])
            return self.bad_input(place, self.u_mid if good else self.u)
        if status == BAD_PARAMETER:
            names = self.ports.parameter_names
            if place < len(names):
                return VariableError(f"parameter {names[place]!r}: must be finite, got {self.p[place]}")
            return self._impossible(place - len(names))
        if status == BAD_START:
            return self._bad_start(place)
        if status in (UNCLOSED, TORN):
            return self._open_loop(status, time, H)
        if status == BAD_STEP:
            return StepError(f"communication step: must be positive, finite and below 1e9 internal ones, got {H} s")
        assert status == FAILED
        return StateError(
            f"state {self.ports.state_names[place]!r} left the finite numbers between {time} s and {time + H} s; the "
            f"plant is as it was at {time} s. A joint may move no inertia there, or the internal step {self.step} s "
            "may be too long"
        )

    def bad_input(self, place: int, given: Array) -> VariableError:
        """That the input at ``place`` of ``given`` (n_u) cannot be used."""
        name, value = self.ports.input_names[place], given[place]
        orbit = self.ports.orbit_position
        if orbit and orbit.start <= place < orbit.stop and math.isfinite(value):
            value = given[orbit].tolist()
            return VariableError(
                f"input {ORBIT_POSITION!r}: must lead away from the attracting centre, got {value} m; nothing was "
                "changed"
            )
        wanted = "0 or 1" if math.isfinite(value) else "finite"
        return VariableError(f"input {name!r}: must be {wanted}, got {value}; nothing was changed")

    def _impossible(self, constant: int) -> VariableError:
        owners = self.equations.constants.items()
        owner = next((owner for owner, at in owners if at.start <= constant < at.stop), None)
        if owner is None:
            return VariableError("parameters: no finite linear equations follow from them; look at the operating point")
        if owner.kind == "loop":
            return VariableError(f"parameter {name_of(owner, 'distance')!r}: must be at least {SHORTEST} m")
        return VariableError(
            f"parameters of body {owner.name!r}: no body can have them; its mass and the principal moments of its "
            "inertia (less its wheels' spin inertia) must not be negative, axes and quaternions must not be zero, "
            "rates of friction must be positive, stops and points of a harness in their order"
        )

    def _bad_start(self, place: int) -> VariableError:
        if math.isfinite(self.s[place]):  # a zero quaternion spoils what an attitude root's start is made into
            place = next((at for at in self.ports.quaternions if not self.s[at : at + 4].any()), place)
        quaternion = any(at <= place < at + 4 for at in self.ports.quaternions)
        what = "a quaternion must not be zero" if quaternion else f"must be finite, got {self.s[place]}"
        return VariableError(f"start value {self.ports.start_names[place]!r}: {what}")

    def _open_loop(self, status: int, time: float, H: float) -> Exception:
        row = self.equations.row_names[self.core.fault]
        owner = Owner("loop", self.equations.loop_rows[self.core.fault])
        loop = str(owner)
        if status == UNCLOSED:
            return VariableError(
                f"{loop!r}: cannot be closed from the start values, {row!r} stays; start nearer to where it closes"
            )
        constant = self.p[self.ports.by_name[name_of(owner, "time_constant")].offset]
        return StateError(
            f"{loop!r} came apart between {time} s and {time + H} s, {row!r} most; the plant is as it was at {time} s. "
            f"The internal step {self.step} s may be too long for its time constant {constant} s or for the motion, or "
            "the mechanism singular there"
        )
