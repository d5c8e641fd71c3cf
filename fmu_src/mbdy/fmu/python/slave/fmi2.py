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


class Slave(Fmi2Slave):
    """One instance."""

    instance: Instance

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.modelName = type(self).__module__
        if "visible" in given:  # else it is the builder, which only asks for the name
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(globals()))  # pythonfmu 0.7 drops one that it does not own
            parts = importlib.import_module(f"{__name__}_parts.instance")
            self.instance = parts.opened(self, Fmi2Status, "linux64", "Real")

    def setup_experiment(
        self, start_time: float, stop_time: float | None = None, tolerance: float | None = None
    ) -> None:
        self.instance.setup_experiment(start_time, stop_time)

    def enter_initialization_mode(self) -> None:
        self.instance.enter_initialization_mode()

    def exit_initialization_mode(self) -> None:
        self.instance.exit_initialization_mode()

    def terminate(self) -> None:
        self.instance.terminate()

    def do_step(self, current_time: float, step_size: float) -> bool:
        return self.instance.do_step(current_time, step_size)

    def get_real(self, vrs: Sequence[int]) -> list[float]:
        return self.instance.get_reals(vrs)

    def get_boolean(self, vrs: Sequence[int]) -> list[bool]:
        return self.instance.get_booleans(vrs)

    def get_integer(self, vrs: Sequence[int]) -> list[int]:
        self.instance.refuse_reference(vrs, "Integer")
        return [0] * len(vrs)

    def get_string(self, vrs: Sequence[int]) -> list[str]:
        self.instance.refuse_reference(vrs, "String")
        return [""] * len(vrs)

    def set_real(self, vrs: Sequence[int], values: Sequence[float]) -> None:
        self.instance.set_reals(vrs, values)

    def set_boolean(self, vrs: Sequence[int], values: Sequence[bool]) -> None:
        self.instance.set_booleans(vrs, values)

    def set_integer(self, vrs: Sequence[int], values: Sequence[int]) -> None:
        self.instance.refuse_reference(vrs, "Integer")

    def set_string(self, vrs: Sequence[int], values: Sequence[str]) -> None:
        self.instance.refuse_reference(vrs, "String")

    def _get_fmu_state(self) -> dict[str, Any]:
        return self.instance.saved()

    def _set_fmu_state(self, state: Mapping[str, Any]) -> None:
        self.instance.restore(state)

    @staticmethod
    def _fmu_state_from_bytes(state: bytes) -> dict[str, Any]:
        return importlib.import_module(f"{__name__}_parts.state").from_bytes(state)
