"""The slave as pythonfmu 0.7 calls it: FMI 2.0."""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pythonfmu.enums import Fmi2Status
from pythonfmu.fmi2slave import Fmi2Slave

if TYPE_CHECKING:
    from mbdy.fmu.python.slave.instance import Instance


class Slave2(Fmi2Slave):
    """One instance."""

    instance: Instance

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.modelName = type(self).__module__
        if "visible" in arguments:  # else it is the builder, which only asks for the name
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(globals()))  # pythonfmu 0.7 drops one that it does not own
            parts = importlib.import_module(f"{__name__}_parts.instance")
            self.instance = parts.opened(self, Fmi2Status, "linux64", "GUID")

    def setup_experiment(
        self, start_time: float, stop_time: float | None = None, tolerance: float | None = None
    ) -> None:
        self.instance.setup_experiment("fmi2SetupExperiment", start_time, stop_time, tolerance)

    def enter_initialization_mode(self) -> None:
        self.instance.enter_initialization_mode("fmi2EnterInitializationMode")

    def exit_initialization_mode(self) -> None:
        self.instance.exit_initialization_mode("fmi2ExitInitializationMode")

    def terminate(self) -> None:
        self.instance.terminate("fmi2Terminate")

    def do_step(self, current_time: float, step_size: float) -> bool:
        return self.instance.do_step("fmi2DoStep", current_time, step_size)

    def get_real(self, vrs: Sequence[int]) -> list[float]:
        return self.instance.get(vrs, boolean=False)

    def get_boolean(self, vrs: Sequence[int]) -> list[bool]:
        return [value == 1.0 for value in self.instance.get(vrs, boolean=True)]

    def get_integer(self, vrs: Sequence[int]) -> list[int]:
        self.instance.refuse_type("fmi2GetInteger", "Integer", len(vrs))
        return [0] * len(vrs)

    def get_string(self, vrs: Sequence[int]) -> list[str]:
        self.instance.refuse_type("fmi2GetString", "String", len(vrs))
        return [""] * len(vrs)

    def set_real(self, vrs: Sequence[int], values: Sequence[float]) -> None:
        self.instance.set(vrs, values, boolean=False)

    def set_boolean(self, vrs: Sequence[int], values: Sequence[bool]) -> None:
        self.instance.set(vrs, values, boolean=True)

    def set_integer(self, vrs: Sequence[int], values: Sequence[int]) -> None:
        self.instance.refuse_type("fmi2SetInteger", "Integer", len(vrs))

    def set_string(self, vrs: Sequence[int], values: Sequence[str]) -> None:
        self.instance.refuse_type("fmi2SetString", "String", len(vrs))

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
