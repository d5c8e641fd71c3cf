"""The slave inside an FMU: FMI's calls on one plant of the compiled core.

An FMU carries this file under a name that holds the hash of its contents, so that FMUs of different models can live
in one process. It needs the standard library and the pythonfmu that travels with it. Beside it lie ``ports.json``
(what each value reference means), ``binding.py`` (the core through ctypes), ``core-PLATFORM`` and ``model.toml``.

Nothing here raises once an instance exists: pythonfmu turns an exception into fmi2Fatal, after which the instance
cannot even be freed. A value that cannot be used is kept where it was set, `Slave.do_step` names it and discards
the step, and a good value in its place lets the next step go on.
"""

from __future__ import annotations

import _ctypes
import contextlib
import ctypes
import importlib.util
import json
import math
import os
import platform
import shutil
import struct
import sys
import sysconfig
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from pythonfmu.enums import Fmi2Status
from pythonfmu.fmi2slave import Fmi2Slave

NO_SUCH_VARIABLE = math.nan
INSTANTIATED, INITIALIZING, RUNNING, TERMINATED = "instantiated", "in initialization mode", "running", "terminated"
PHASES = (INSTANTIATED, INITIALIZING, RUNNING, TERMINATED)
TOP_BYTE = 7 if sys.byteorder == "little" else 0
"""Of a double's eight: it is 7f or ff in every number that is not finite, and in no other below 1e303."""
TIME_TOLERANCE = 1e-9
"""How far a caller's time may be off, of the time and of the step: sums of a million steps are this exact."""
ULPS = 4.0
"""Rounding in the difference of two of the caller's times; a step this near to whole internal steps is made of them."""


class Vector(Protocol):
    """A vector of the core: ctypes' array or NumPy's."""

    def __getitem__(self, place: int, /) -> float: ...
    def __setitem__(self, place: int, value: float, /) -> None: ...
    def __len__(self) -> int: ...


class Contents:
    """What an FMU carries, read once in a process: the table of ports and a source of plants."""

    def __init__(self, folder: str) -> None:
        with open(os.path.join(folder, "ports.json"), encoding="utf-8") as file:
            self.ports: dict[str, Any] = json.load(file)
        scalars: list[dict[str, Any]] = self.ports["scalars"]
        rows = {vector: [row for row in scalars if row["vector"] == vector] for vector in ("u", "p", "y")}
        states = sorted((row for row in rows["y"] if row["start_at"] is not None), key=lambda row: row["start_at"])
        self.names = [row["name"] for row in scalars]
        self.inputs, self.parameters = len(rows["u"]), len(rows["p"])
        self.outputs_at = self.inputs + self.parameters
        self.starts = {self.outputs_at + row["place"]: row["start_at"] for row in states}
        self.start_names = [row["name"] for row in states]
        self.values = {
            vector: [row["start"] for row in some]
            for vector, some in (("u", rows["u"]), ("p", rows["p"]), ("s", states))
        }
        self.booleans = frozenset(vr for vr, row in enumerate(scalars) if row["boolean"])
        self.reals = frozenset(range(len(scalars))) - self.booleans
        self.limits = [
            (row["place"], row["minimum"], row["maximum"])
            for row in rows["p"]
            if row["minimum"] is not None or row["maximum"] is not None
        ]
        self.binding = _module(f"{__name__}_binding", os.path.join(folder, "binding.py"))
        self._library, missing = self._load(folder)
        self._installed: Any = None if self._library else self._from_installed_mbdy(folder, missing)

    def core(self) -> Any:
        """A new plant, its vectors all zero."""
        return self.binding.Core(self._library) if self._library else self._installed.core()

    def _load(self, folder: str) -> tuple[Any, str]:
        """The compiled core for this platform, or None and why there is none."""
        name = core_name()
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            return None, f"this FMU carries no compiled core for this platform ({name})"
        try:
            return _loaded(self.binding, path), ""
        except OSError as error:
            return None, f"the compiled core {name} does not load here ({error})"

    def _from_installed_mbdy(self, folder: str, missing: str) -> Any:
        try:
            from mbdy.engine import compiled, loads
        except ImportError as error:
            raise RuntimeError(
                f"{missing} and mbdy is not installed in this Python ({sys.executable}): `pip install mbdy`, or "
                "export the FMU on a machine of this platform"
            ) from error
        with open(os.path.join(folder, "model.toml"), encoding="utf-8") as file:
            text = file.read()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is odd about the model was told at its export
            model = loads(text)
        made = compiled(model)
        table = made.equations.ports
        if [*table.input_names, *table.parameter_names, *table.output_names] != self.names:
            raise RuntimeError(
                f"{missing} and the installed mbdy makes other variables of this model than mbdy "
                f"{self.ports['version']}, which made the FMU: `pip install mbdy=={self.ports['version']}`"
            )
        return made


def core_name(system: str | None = None, machine: str | None = None) -> str:
    """File name of the compiled core for a platform (this one by default), such as ``core-linux-x86_64.so``."""
    system = system or ("linux" if sys.platform.startswith("linux") else sys.platform)
    machine = (machine or platform.machine()).lower()
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(machine, machine)
    if system == "win32" and sysconfig.get_platform() == "win32":  # 32-bit Python on 64-bit Windows
        machine = "x86"
    suffix = {"win32": ".dll", "darwin": ".dylib"}.get(system, ".so")
    return f"core-{system}-{machine}{suffix}"


def _loaded(binding: Any, path: str) -> Any:
    """The library at ``path``, loaded from a copy: the client may delete or overwrite its own at any time."""
    folder = tempfile.mkdtemp(prefix="mbdy-core-")
    try:
        return binding.load(shutil.copy(path, folder))
    except OSError:  # a temporary folder from which nothing may be run
        return binding.load(path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # on Windows the loaded copy stays


def _module(name: str, path: str) -> Any:
    """The module in the file ``path``, under ``name`` and once in a process."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise ImportError(f"{path} is no Python module")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[name] = module
    return sys.modules[name]


_contents: dict[str, Contents] = {}


def contents(resources: str) -> Contents:
    """What the FMU unpacked in ``resources`` carries; later calls need its files no more."""
    if __name__ not in _contents:
        here = os.path.dirname(os.path.abspath(__file__))
        folder = next((f for f in (resources, here) if os.path.exists(os.path.join(f, "ports.json"))), None)
        if folder is None:
            raise RuntimeError(f"ports.json is neither in {resources!r} nor in {here!r}: unpack the whole FMU")
        _contents[__name__] = Contents(folder)
    return _contents[__name__]


class Slave(Fmi2Slave):
    """One instance. Value references count the scalars of ``ports.json``: inputs, parameters, then outputs."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.modelName = type(self).__module__
        if "visible" not in given:  # the builder, which only asks for the name
            return
        _balance_references()
        folder = os.path.dirname(os.path.realpath(given["resources"]))
        self.library = os.path.join(folder, "binaries", "linux64", f"{type(self).__module__}.so")
        _end_in_order(self.library)
        _forget_path(given["resources"])
        try:
            self.contents = contents(given["resources"])
        except Exception as error:  # many clients show no message of a failed instantiation
            print(f"{type(self).__module__}: {error}", file=sys.stderr)
            raise
        self.core = self.contents.core()
        self._u, self._p, self._y = self.core.u, self.core.p, self.core.y
        self._outputs_at = self.contents.outputs_at
        self.binding = self.contents.binding
        self.h: float = self.contents.ports["step"]
        self.integrator: int = self.binding.INTEGRATORS[self.contents.ports["integrator"]]
        self.time: float | None = None
        self.stop: float | None = None
        self.phase = INSTANTIATED
        self.started = False
        self.refusal = ""
        self.told = False
        self._stale_constants = self._stale_start = self._stale_outputs = True
        for vector, values in self.contents.values.items():
            _write(getattr(self.core, vector), values)
        self._good = bytes(self._y)
        with_impulses = ("impulses",) if hasattr(self.core, "impulses") else ()
        self._vectors = ("s", "x", "u", "p", "y", *with_impulses)

    # Life cycle

    def setup_experiment(
        self, start_time: float, stop_time: float | None = None, tolerance: float | None = None
    ) -> None:
        """Times of the run; the step is fixed, so a tolerance changes nothing."""
        if self.phase != INSTANTIATED:
            self._refuse_order("setupExperiment", "it comes before initialization mode")
        elif not math.isfinite(start_time):
            self._refuse(f"the start time is {start_time!r} s: it must be finite")
        elif stop_time is not None and not stop_time >= start_time:
            self._refuse(f"the stop time is {stop_time!r} s: it must not be before the start time {start_time!r} s")
        else:
            self.time, self.stop = float(start_time), None if stop_time is None else float(stop_time)

    def enter_initialization_mode(self) -> None:
        """Start values can be set before and after this."""
        if self.phase == INSTANTIATED:
            self.phase = INITIALIZING
        else:
            self._refuse_order("enterInitializationMode", "it comes once")

    def exit_initialization_mode(self) -> None:
        """From here on start values are settled; a fault in them is said now and again by every step."""
        if self.phase != INITIALIZING:
            self._refuse_order("exitInitializationMode", "it comes after enterInitializationMode")
            return
        self.phase = RUNNING
        if fault := self._start():
            self.log(fault, Fmi2Status.error)

    def terminate(self) -> None:
        """No step is made after this; values can be read."""
        if self.phase == TERMINATED:
            self._refuse_order("terminate", "it comes once")
        self.phase = TERMINATED

    def _refuse_order(self, call: str, rule: str) -> None:
        self._refuse(f"{call} changes nothing, the FMU is {self.phase}: {rule}, reset the FMU for another run")

    def do_step(self, current_time: float, step_size: float) -> bool:
        """One communication step with inputs held; False (fmi2Discard) and a message leaves the state as it was."""
        fault = self._wrong_phase() or self._wrong_time(current_time, step_size)
        if not fault and (self._stale_constants or not self.started or self.refusal):
            fault = self._start()
        if not fault:
            status = self.core.step(self._whole(current_time, step_size), self.h, self.integrator, 0)
            if status == self.binding.OK:
                self.time = current_time + step_size
                self._keep_good()
                return True
            fault = self._explained(status, step_size)
        self.log(f"step from {current_time!r} s discarded, the state is as it was: {fault}", Fmi2Status.discard)
        return False

    # Values

    def get_real(self, vrs: Sequence[int]) -> list[float]:
        if not self.contents.reals.issuperset(vrs):
            self._refuse_reference(vrs, self.contents.reals, "Real")
            return [NO_SUCH_VARIABLE] * len(vrs)
        return self._values(vrs)

    def get_boolean(self, vrs: Sequence[int]) -> list[bool]:
        if not self.contents.booleans.issuperset(vrs):
            self._refuse_reference(vrs, self.contents.booleans, "Boolean")
            return [False] * len(vrs)
        return [value == 1.0 for value in self._values(vrs)]

    def get_integer(self, vrs: Sequence[int]) -> list[int]:
        self._refuse_reference(vrs, frozenset(), "Integer")
        return [0] * len(vrs)

    def get_string(self, vrs: Sequence[int]) -> list[str]:
        self._refuse_reference(vrs, frozenset(), "String")
        return [""] * len(vrs)

    def set_real(self, vrs: Sequence[int], values: Sequence[float]) -> None:
        self._set_values(vrs, values, self.contents.reals, "Real")

    def set_boolean(self, vrs: Sequence[int], values: Sequence[bool]) -> None:
        self._set_values(vrs, [1.0 if value else 0.0 for value in values], self.contents.booleans, "Boolean")

    def set_integer(self, vrs: Sequence[int], values: Sequence[int]) -> None:
        self._refuse_reference(vrs, frozenset(), "Integer")

    def set_string(self, vrs: Sequence[int], values: Sequence[str]) -> None:
        self._refuse_reference(vrs, frozenset(), "String")

    def _values(self, vrs: Sequence[int]) -> list[float]:
        if self._stale_outputs:
            self._refresh()
        y, at = self._y, self._outputs_at
        return [y[vr - at] if vr >= at else self._set_value(vr) for vr in vrs]

    def _set_values(self, vrs: Sequence[int], values: Sequence[float], known: frozenset[int], sort: str) -> None:
        inputs = self.contents.inputs
        for vr, value in zip(vrs, values, strict=True):
            if vr not in known:
                self._refuse_reference((vr,), known, sort)
            elif vr < inputs:
                self._u[vr] = value
                self._stale_outputs = True
            elif vr < self._outputs_at:
                self._p[vr - inputs] = value
                self._stale_constants = self._stale_outputs = True
            else:
                self._set_start(vr, value)

    def _set_value(self, vr: int) -> float:
        """An input or a parameter as it was set."""
        inputs = self.contents.inputs
        return self._u[vr] if vr < inputs else self._p[vr - inputs]

    def _set_start(self, vr: int, value: float) -> None:
        names = self.contents.names
        if vr not in self.contents.starts:
            self._refuse(f"'{names[vr]}' is an output and cannot be set to {value!r}")
        elif self.started:
            self._refuse(
                f"'{names[vr]}' not set to {value!r}: a state can be set only until initialization mode ends; "
                "reset the FMU first, or set a saved FMU state"
            )
        else:
            self.core.s[self.contents.starts[vr]] = value
            self._stale_start = self._stale_outputs = True

    def _refuse_reference(self, vrs: Sequence[int], known: frozenset[int], sort: str) -> None:
        """Refuses the first of ``vrs`` that is not ``known`` as a variable of the type ``sort``."""
        names = self.contents.names
        for vr in vrs:
            if vr not in known:
                if 0 <= vr < len(names):
                    own = "Boolean" if vr in self.contents.booleans else "Real"
                    self._refuse(f"'{names[vr]}' is of type {own}: it can be neither set nor read as {sort}")
                else:  # pythonfmu passes references as signed numbers
                    self._refuse(f"there is no value reference {vr & 0xFFFFFFFF}: they end at {len(names) - 1}")
                return

    def _refuse(self, message: str) -> None:
        """Logs an error and has the call at hand answered so, which pythonfmu alone cannot."""
        self.log(message, Fmi2Status.error)
        _on_host_library(self.library, lambda library: library.mbdy_refuse(Fmi2Status.error.value))

    # Keeping constants, state and outputs in step with what was set

    def _settle(self) -> str:
        """Makes the constants, and the state as long as it has not started, follow what was set.

        What forbids it, or nothing.
        """
        if self.refusal:
            return self.refusal
        if self._stale_constants:
            if fault := self._new_constants():
                return fault
            self._stale_constants = False
            self._stale_start = not self.started
        if self._stale_start:
            status = self.core.start()
            if status != self.binding.OK:
                return self._explained(status)
            self._stale_start = False
        return ""

    def _start(self) -> str:
        """Settles for good: start values cannot be set from here on."""
        fault = self._settle()
        self.started = self.started or not fault
        return fault

    def _refresh(self) -> None:
        """Outputs of the current state and inputs; the last good ones where a value set forbids new ones."""
        if not self._settle() and all(map(math.isfinite, self._u)):
            self.core.outputs()
            self._keep_good()

    def _keep_good(self) -> None:
        """After outputs were evaluated: the last good number in the place of each that is not finite."""
        self._stale_outputs = False
        new = bytes(self._y)
        tops = new[TOP_BYTE::8]
        bad: list[int] = []
        if b"\x7f" in tops or b"\xff" in tops:
            bad = [place for place, value in enumerate(self._y) if not math.isfinite(value)]
            for place in bad:
                (self._y[place],) = struct.unpack_from("d", self._good, 8 * place)
            new = bytes(self._y)
        self._good = new
        if bad and not self.told:
            self.log(
                f"no finite number follows for {len(bad)} outputs, the first is "
                f"'{self.contents.names[self._outputs_at + bad[0]]}': they keep their last good values until one does; "
                "look at inputs and parameters",
                Fmi2Status.warning,
            )
        self.told = bool(bad)

    def _new_constants(self) -> str:
        p, names, first = self._p, self.contents.names, self.contents.inputs
        for place, minimum, maximum in self.contents.limits:
            if minimum is not None and p[place] < minimum:
                return f"parameter '{names[first + place]}' is {p[place]!r}: set it to at least {minimum!r}"
            if maximum is not None and p[place] > maximum:
                return f"parameter '{names[first + place]}' is {p[place]!r}: set it to at most {maximum!r}"
        status = self.core.prepare()
        return "" if status == self.binding.OK else self._explained(status)

    def _explained(self, status: int, step_size: float = math.nan) -> str:
        """The core's status in words, with the variable that it points at."""
        binding, contents, place = self.binding, self.contents, self.core.fault
        if status == binding.BAD_INPUT:
            what = "another number" if math.isfinite(self._u[place]) else "a finite number"
            what = "0 or 1" if place in contents.booleans else what
            return f"input '{contents.names[place]}' is {self._u[place]!r}: set {what}"
        if status == binding.BAD_PARAMETER and place < contents.parameters:
            name = contents.names[contents.inputs + place]
            return f"parameter '{name}' is {self._p[place]!r}: set a finite number"
        if status == binding.BAD_PARAMETER:
            return f"no system can have such parameters: {self._changed_parameters()}"
        if status == binding.BAD_START:
            return self._bad_start()
        if status == binding.FAILED:
            return (
                f"state '{contents.ports['states'][place]}' left the finite numbers within {step_size!r} s: look at "
                f"inputs and parameters, or export with a smaller step than {self.h!r} s"
            )
        return f"the step size is {step_size!r} s, more than 1e9 internal steps of {self.h!r} s"

    def _changed_parameters(self) -> str:
        start, first = self.contents.values["p"], self.contents.inputs
        changed = [
            f"'{self.contents.names[first + i]}' = {value!r}" for i, value in enumerate(self._p) if value != start[i]
        ]
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

    # Time

    def _wrong_phase(self) -> str:
        if self.phase == RUNNING:
            return ""
        if self.phase == TERMINATED:
            return "the FMU is terminated: reset it for another run"
        return f"the FMU is {self.phase}: steps come after exitInitializationMode"

    def _wrong_time(self, current_time: float, step_size: float) -> str:
        if not 0.0 < step_size < math.inf:
            return f"the step size is {step_size!r} s: it must be positive and finite"
        if not math.isfinite(current_time):
            return f"the time is {current_time!r} s: it must be finite"
        slack = TIME_TOLERANCE * (max(1.0, abs(current_time)) + step_size)
        if self.time is not None and abs(current_time - self.time) > slack:
            way = "backwards" if current_time < self.time else "ahead"
            return f"the time goes {way} from {self.time!r} s: step from there, or set a saved FMU state or reset"
        if self.stop is not None and current_time + step_size > self.stop + slack:
            return f"the step of {step_size!r} s goes past the stop time {self.stop!r} s of the experiment"
        return ""

    def _whole(self, current_time: float, step_size: float) -> float:
        """The step's length without the rounding of the caller's clock, where it is of whole internal steps."""
        whole = round(step_size / self.h) * self.h
        return (
            whole if whole and abs(whole - step_size) <= ULPS * math.ulp(abs(current_time) + step_size) else step_size
        )

    # State of the FMU: everything that the next step and the next reading depend on

    def _get_fmu_state(self) -> dict[str, Any]:
        vectors = {vector: list(map(float, getattr(self.core, vector))) for vector in self._vectors}
        stale = [self._stale_constants, self._stale_start, self._stale_outputs]
        return {
            "of": type(self).__module__, "time": self.time, "stop": self.stop, "phase": self.phase,
            "started": self.started, "stale": stale, **vectors,
        }  # fmt: skip

    def _set_fmu_state(self, state: Mapping[str, Any]) -> None:
        mine = type(self).__module__
        if state.get("of") != mine:
            found = repr(state.get("of", "something else"))[:99]
            self._refuse_state(f"a state of {found} was set, this is {mine!r}")
            return
        if damage := self._damage(state):
            self._refuse_state(f"a damaged state was set ({damage})")
            return
        before = list(self._p)
        _write(self._p, state["p"])
        fault = self._new_constants()
        if fault and not state["stale"][0]:  # a bad parameter that was set and never used stays stale
            _write(self._p, before)
            self._refuse_state(f"a damaged state was set ({fault})")
            return
        for vector in self._vectors:
            _write(getattr(self.core, vector), state[vector])
        self.time, self.stop, self.phase, self.started = (state[key] for key in ("time", "stop", "phase", "started"))
        self._stale_constants, self._stale_start, self._stale_outputs = state["stale"]
        self._good, self.refusal, self.told = bytes(self._y), "", False

    def _refuse_state(self, why: str) -> None:
        """Steps are discarded until a good state is set; the core, time and phase stay as they were."""
        self.refusal = f"{why}: set one of its own"
        self.log(self.refusal, Fmi2Status.error)

    def _damage(self, state: Mapping[str, Any]) -> str:
        """What `_get_fmu_state` never gives, or nothing."""
        keys = {"of", "time", "stop", "phase", "started", "stale", *self._vectors}
        if state.keys() != keys:
            return "entries " + ", ".join(sorted(map(ascii, state.keys() ^ keys))[:6])
        for vector in self._vectors:
            values, size = state[vector], len(getattr(self.core, vector))
            if not isinstance(values, list) or len(values) != size or {*map(type, values)} - {float}:
                return f"'{vector}' is not a list of {size} real numbers"
            if vector in ("x", "y") and not all(map(math.isfinite, values)):  # others keep what was set
                return f"'{vector}' is not finite"
        time, stop, phase, started, stale = (state[key] for key in ("time", "stop", "phase", "started", "stale"))
        if time is not None and not (type(time) is float and math.isfinite(time)):
            return "'time' is no finite number"
        if stop is not None and not (type(stop) is float and not math.isnan(stop)):
            return "'stop' is no number"
        if not isinstance(stale, list) or len(stale) != 3 or {*map(type, stale)} != {bool}:
            return "'stale' is not a list of three truth values"
        if phase not in PHASES or type(started) is not bool or (started and (phase in PHASES[:2] or stale[1])):
            return "'phase', 'started' and 'stale' do not go together"
        quaternions = self.contents.ports["quaternions"]
        if not stale[1] and not all(any(state["x"][at : at + 4]) for at in quaternions):
            return "a quaternion of zeros in 'x'"
        return ""

    @staticmethod
    def _fmu_state_from_bytes(state: bytes) -> dict[str, Any]:
        try:
            found = json.loads(state)
        except (ValueError, RecursionError):
            found = None
        return found if isinstance(found, dict) else {}


def _balance_references() -> None:
    """Gives back the reference to this module's names that pythonfmu 0.7 drops, without owning it, at each instance."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(globals()))


def _on_host_library(path: str, use: Callable[[Any], object]) -> None:
    """``use`` on the library at ``path`` that the host runs, held no longer than that; nothing where it has no such."""
    try:
        library = ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_NOLOAD)
    except (OSError, AttributeError):  # Windows has no RTLD_NOLOAD
        return
    try:
        with contextlib.suppress(AttributeError):
            use(library)
    finally:
        _ctypes.dlclose(library._handle)  # else a client could not unpack the FMU into its folder again


_in_order: set[str] = set()


def _end_in_order(path: str) -> None:
    """Registers pythonfmu's end as the last of what it registered itself, as front.c does where the FMU carries it.

    pythonfmu 0.7 lets go of its interpreter's state twice as a process ends, the second time of freed memory; done
    before, both find nothing. On Linux, where its library never leaves a process.
    """
    if path not in _in_order:
        _in_order.add(path)
        exit_handler = ctypes.CDLL(None)["__cxa_atexit"] if sys.platform.startswith("linux") else None
        if exit_handler:
            _on_host_library(path, lambda library: exit_handler(library.finalizePythonInterpreter, None, None))


def _forget_path(resources: str) -> None:
    """Takes back the place on Python's path that pythonfmu gave to ``resources``: all is imported by now."""
    if resources in sys.path:
        sys.path.remove(resources)
    sys.path_importer_cache.pop(resources, None)


def _write(vector: Vector, values: Sequence[float]) -> None:
    for place, value in enumerate(values):
        vector[place] = value
