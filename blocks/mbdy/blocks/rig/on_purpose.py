"""Faults on purpose, for which rigs are built: of sensors, of the wire, of joints, wheels and loops."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

from mbdy.blocks.errors import VariableError
from mbdy.blocks.rig.library import CONSTANTS
from mbdy.engine import Ports, UnknownNameError
from mbdy.engine.model.faults import OptionError, shown
from mbdy.engine.model.units import quantity

LARGEST = 1e100
"""Number of a sensor's errors, with which outputs stay finite."""


class Act(NamedTuple):
    """What a fault is to the loop in C (``struct rig_fault``), but for when."""

    kind: int
    first: int = 0
    size: int = 0
    amount: float = 0.0
    scale: float = 1.0
    deviation: float = 0.0
    resolution: float = 0.0


@dataclass(frozen=True, kw_only=True)
class RigFault(ABC):
    """A fault from ``at`` to ``until`` [s] of the plant's time, numbers or texts with unit.

    Without ``at`` only a packet sets it on, and another one off; without ``until`` it stays.
    """

    at: float | str | None = None
    until: float | str | None = None

    @abstractmethod
    def act(self, ports: Ports) -> Act:
        """What it does to a plant's variables; `VariableError` where it has none of them."""


def _place(ports: Ports, fault: RigFault, name: str, causality: str, remedy: str) -> tuple[int, int, bool]:
    """First place and size of a variable in the vector of inputs or outputs, and whether it is a switch."""
    try:
        variable, part = ports.find(name)
    except UnknownNameError as unknown:
        raise VariableError(f"{fault}: {unknown.args[0]}; {remedy}") from None
    if variable.causality != causality:
        raise VariableError(f"{fault}: {name!r} is no {causality}; {remedy}")
    return variable.offset + part.start, part.stop - part.start, variable.boolean


@dataclass(frozen=True)
class Freeze(RigFault):
    """An ``output`` stays what it is when the fault begins."""

    output: str

    def act(self, ports: Ports) -> Act:
        first, size, _ = _place(ports, self, self.output, "output", "name one that the plant has")
        return Act(CONSTANTS["RIG_FREEZE"], first, size)


@dataclass(frozen=True)
class Bias(RigFault):
    """An ``output`` has the errors of a sensor (SI): it is ``scale`` times itself plus ``bias`` and noise of a standard
    ``deviation``, drawn anew each cycle, as the nearest multiple of a ``resolution``; 0 for none."""

    output: str
    bias: float = 0.0
    scale: float = 1.0
    deviation: float = 0.0
    resolution: float = 0.0

    def act(self, ports: Ports) -> Act:
        first, size, _ = _place(ports, self, self.output, "output", "name one that the plant has")
        numbers = {name: quantity(getattr(self, name), "1") for name in ("scale", "deviation", "resolution")}
        for name in ("deviation", "resolution"):
            if not numbers[name] >= 0.0:
                raise OptionError(f"{self}: {name} must not be negative, got {numbers[name]:g}")
        bias = quantity(self.bias, "1")
        if max(abs(bias), *map(abs, numbers.values())) > LARGEST or 0.0 < numbers["resolution"] < 1.0 / LARGEST:
            raise OptionError(f"{self}: numbers up to {LARGEST:g} and no resolution below {1 / LARGEST:g} are needed")
        return Act(CONSTANTS["RIG_BIAS"], first, size, bias, **numbers)


@dataclass(frozen=True)
class _Packets(RigFault):
    packets: Literal["inputs", "outputs"]
    name: ClassVar[str]

    def _kind(self) -> int:
        if self.packets not in ("inputs", "outputs"):
            raise OptionError(f"{self}: packets are 'inputs' (to the plant) or 'outputs', got {shown(self.packets)}")
        return CONSTANTS[f"RIG_{self.name}_{self.packets.upper()}"]


@dataclass(frozen=True)
class DropPackets(_Packets):
    """A ``share`` of the packets of ``inputs`` or ``outputs`` is lost, by chance."""

    share: float = 1.0
    name: ClassVar[str] = "DROP"

    def act(self, ports: Ports) -> Act:
        share = quantity(self.share, "1")
        if not 0.0 <= share <= 1.0:
            raise OptionError(f"{self}: share must be from 0 to 1, got {share:g}")
        return Act(self._kind(), amount=share)


@dataclass(frozen=True)
class DelayPackets(_Packets):
    """What packets of ``inputs`` or ``outputs`` carry is ``cycles`` old."""

    cycles: int = 1
    name: ClassVar[str] = "DELAY"

    def act(self, ports: Ports) -> Act:
        cycles, most = quantity(self.cycles, "1"), CONSTANTS["RIG_DELAY"] - 1
        if not 1 <= cycles <= most or cycles != int(cycles):
            raise OptionError(f"{self}: cycles must be a whole number from 1 to {most}, got {shown(self.cycles)}")
        return Act(self._kind(), amount=cycles)


@dataclass(frozen=True)
class Force(RigFault):
    """An ``input`` is ``value`` (SI), whatever is commanded."""

    input: str
    value: float

    def act(self, ports: Ports) -> Act:
        return _forced(ports, self, self.input, quantity(self.value, "1"), "name one that the plant has")


@dataclass(frozen=True)
class Jam(RigFault):
    """A ``joint`` (``"panel.joint"``) is locked."""

    joint: str

    def act(self, ports: Ports) -> Act:
        return _forced(ports, self, f"{self.joint}.locked", 1.0, 'joints that can be locked have motion = "switchable"')


@dataclass(frozen=True)
class LoseWheel(RigFault):
    """The motor of a ``wheel`` (``"bus.x"``) gives no torque."""

    wheel: str

    def act(self, ports: Ports) -> Act:
        name, remedy = f"{self.wheel}.torque", "name a wheel as 'body.wheel'"
        act = _forced(ports, self, name, 0.0, remedy)
        if ports.find(name)[0].owner.kind != "wheel":
            raise VariableError(f"{self}: {self.wheel!r} is no wheel; {remedy}")
        return act


@dataclass(frozen=True)
class OpenLoop(RigFault):
    """A ``loop`` (its name) is open."""

    loop: str

    def act(self, ports: Ports) -> Act:
        return _forced(ports, self, f"loop.{self.loop}.closed", 0.0, "loops that can be opened have switchable = true")


def _forced(ports: Ports, fault: RigFault, name: str, value: float, remedy: str) -> Act:
    first, size, switch = _place(ports, fault, name, "input", remedy)
    if switch and value not in (0.0, 1.0):
        raise VariableError(f"{fault}: a switch is 0 or 1, got {value:g}")
    return Act(CONSTANTS["RIG_FORCE"], first, size, value)
