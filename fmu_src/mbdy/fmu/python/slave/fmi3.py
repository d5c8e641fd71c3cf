"""The slave as pythonfmu3 calls it: FMI 3.0."""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pythonfmu3.enums import Fmi3Status
from pythonfmu3.fmi3slave import Fmi3Slave, Fmi3StepResult

if TYPE_CHECKING:
    from mbdy.fmu.python.slave.instance import Instance

NO_TYPE = "another type"


class Slave3(Fmi3Slave):
    """One instance."""

    instance: Instance

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.modelName = type(self).__module__
        if "visible" in arguments:  # else it is the builder, which only asks for the name
            parts = importlib.import_module(f"{__name__}_parts.instance")
            self.instance = parts.opened(self, Fmi3Status, "x86_64-linux", "instantiation token")

    def enter_initialization_mode(self) -> None:
        call, times = "fmi3EnterInitializationMode", self.instance.host.times()
        if times is None or self.instance.setup_experiment(call, *times, None):
            self.instance.enter_initialization_mode(call)

    def exit_initialization_mode(self) -> None:
        self.instance.exit_initialization_mode("fmi3ExitInitializationMode")

    def terminate(self) -> None:
        self.instance.terminate("fmi3Terminate")

    def do_step(self, current_time: float, step_size: float) -> Fmi3StepResult:
        done = self.instance.do_step("fmi3DoStep", current_time, step_size)
        return Fmi3StepResult(Fmi3Status.ok if done else Fmi3Status.discard)

    def get_float64(self, vrs: Sequence[int]) -> list[float]:
        return self.instance.get(vrs, boolean=False)

    def get_boolean(self, vrs: Sequence[int]) -> list[bool]:
        return [value == 1.0 for value in self.instance.get(vrs, boolean=True)]

    def get_int32(self, vrs: Sequence[int]) -> list[int]:
        return self._refused("Get", vrs, 0)

    def get_int64(self, vrs: Sequence[int]) -> list[int]:
        return self._refused("Get", vrs, 0)

    def get_uint64(self, vrs: Sequence[int]) -> list[ctypes.c_uint64]:
        return self._refused("Get", vrs, ctypes.c_uint64(0))

    def get_string(self, vrs: Sequence[int]) -> list[str]:
        return self._refused("Get", vrs, "")

    def set_float64(self, vrs: Sequence[int], values: Sequence[float]) -> None:
        self.instance.set(vrs, values, boolean=False)

    def set_boolean(self, vrs: Sequence[int], values: Sequence[bool]) -> None:
        self.instance.set(vrs, values, boolean=True)

    def set_int32(self, vrs: Sequence[int], values: Sequence[int]) -> None:
        self._refused("Set", vrs, 0)

    def set_int64(self, vrs: Sequence[int], values: Sequence[int]) -> None:
        self._refused("Set", vrs, 0)

    def set_uint64(self, vrs: Sequence[int], values: Sequence[int]) -> None:
        self._refused("Set", vrs, 0)

    def set_string(self, vrs: Sequence[int], values: Sequence[str]) -> None:
        self._refused("Set", vrs, "")

    def _refused(self, call: str, vrs: Sequence[int], empty: Any) -> list[Any]:
        """``empty`` for each value: no variable is of a type like its."""
        self.instance.refuse_type(f"fmi3{call}", NO_TYPE, len(vrs))
        return [empty] * self.instance.host.values(len(vrs))

    def _get_fmu_state(self) -> dict[str, bytes]:
        return self.instance.saved()

    def _set_fmu_state(self, state: Mapping[str, bytes]) -> None:
        self.instance.restore(state)

    @staticmethod
    def _fmu_state_to_bytes(state: Mapping[str, bytes]) -> bytes:
        return state["state"]

    @staticmethod
    def _fmu_state_from_bytes(state: bytes) -> dict[str, bytes]:
        return {"state": bytes(state)}
