"""`Rig`: a plant in real time, that takes inputs and gives outputs in packets; the loop runs in C."""

from __future__ import annotations

import ctypes
import secrets
import warnings
import weakref
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from os import PathLike
from typing import Any, Literal

import numpy as np

from mbdy.blocks.errors import StepError, VariableError
from mbdy.blocks.grids import seconds
from mbdy.blocks.plant.block import FAULTS, WARNING, WARNINGS, Plant
from mbdy.blocks.rig.doctor import PERMIT_LOCKING, PERMIT_PRIORITY
from mbdy.blocks.rig.evidence import FaultEvent, RigResult
from mbdy.blocks.rig.histogram import Histogram
from mbdy.blocks.rig.layout import PacketLayout
from mbdy.blocks.rig.library import CONSTANTS, rig_functions, structure
from mbdy.blocks.rig.on_purpose import RigFault
from mbdy.blocks.rig.peers import Peer, address, bound, peers
from mbdy.blocks.rig.running import RigLoop, release
from mbdy.blocks.rig.shared import SharedBlock
from mbdy.blocks.strides import refuse_strides
from mbdy.engine import Model
from mbdy.engine.files.write import model_hash
from mbdy.engine.model.faults import OptionError, RefusalError, shown
from mbdy.engine.model.units import quantity
from mbdy.engine.model.values import chosen, whole
from mbdy.engine.verification.formulations import ORDER_N

KEEPERS = {"wall": CONSTANTS["RIG_WALL"], "lockstep": CONSTANTS["RIG_LOCKSTEP"], "tick": CONSTANTS["RIG_TICK"]}
POLICIES = {name: CONSTANTS[f"RIG_{name.upper().replace('-', '_')}"] for name in ("hold", "skip", "catch-up", "stop")}
ENDS = {CONSTANTS["RIG_DONE"]: "done", CONSTANTS["RIG_ASKED"]: "asked", CONSTANTS["RIG_LATE"]: "late"} | {
    CONSTANTS["RIG_FAULT"]: "fault"
}
EFFORTS = ("torque", "force", "acceleration", "flow", "actuation")
"""Inputs that are zero under ``safe="zero"``, by their quantity; gravity, rests and switches stay."""
LACKS = {
    CONSTANTS["RIG_NO_PRIORITY"]: f"no real-time priority (SCHED_FIFO): {PERMIT_PRIORITY}",
    CONSTANTS["RIG_NO_LOCK"]: f"memory is not locked (mlockall): {PERMIT_LOCKING}",
}
"""What the machine did not permit, and how to permit it."""
FOREVER = 2.0**53
LEAST_KEY, LONGEST_KEY = 8, 4096
MOST_GRACE = 10_000
MOST_TICKS = 1_000_000
"""That are given at once."""


class Rig:
    """A plant in real time: each tick it acts on the inputs that came, steps, and sends its outputs.

    ``model``     a `Model`, the path of a model file, or a `Plant` with held inputs as it stands.
    ``rate``      ticks in a second of the plant, a number [Hz] or a text (``"1 kHz"``).
    ``step``, ``integrator``  of the plant, as `Plant` has them, where ``model`` is none.
    ``keeper``    of the time: ``"wall"``: the monotonic clock; ``"lockstep"``: inputs that answer the last outputs are
                  the tick; ``"tick"``: `tick`, or another process by shared memory.
    ``factor``    how much faster than the clock the plant's time goes.
    ``policy``    for cycles that end after the next tick: ``"catch-up"`` makes all missed cycles as fast as can be,
                  ``"skip"`` makes their steps at once without packets, ``"hold"`` lets the plant stand still for them,
                  ``"stop"`` ends the run.
    ``udp``       where it listens, ``"127.0.0.1:5001"``; port 0 takes a free one (`address` has it).
    ``shared``    name of a block under /dev/shm by which packets go too.
    ``allow``     who may send: IPv4 addresses, networks, or addresses with a port. This machine where left out; a rig
                  that is open to the network needs it, or a key.
    ``key``       8 bytes or letters at least; packets then end with their HMAC-SHA256, and others are forged.
    ``watchdog``  [s] without inputs that act, by the clock, after which the ``safe`` inputs act and another controller
                  is taken; None for none.
    ``safe``      ``"hold"``, ``"zero"`` (forces, torques, accelerations and flows are 0) or inputs by name.
    ``grace``     outputs that may have been sent since those that inputs answer; more and they are late.
    ``faults``    faults on purpose, such as `Freeze` and `Jam`.
    ``record``    name of a ring under /dev/shm that another process drains.
    ``priority``  of SCHED_FIFO, None for none; ``lock`` locks memory. Both where a clock or ticks keep the time.

    While a run goes on the plant is the loop's: look at counters, histograms and packets, not at the plant.
    Raises ValueError for an argument that cannot be used, `CompilerError` without a C compiler.
    """

    def __init__(
        self,
        model: Model | Plant | str | PathLike[str],
        *,
        rate: float | str,
        step: float | str = 1e-3,
        integrator: str = "rk4",
        keeper: Literal["wall", "lockstep", "tick"] = "wall",
        factor: float = 1.0,
        policy: Literal["hold", "skip", "catch-up", "stop"] = "catch-up",
        udp: str | None = None,
        shared: str | None = None,
        allow: Iterable[str] = (),
        key: bytes | str | None = None,
        watchdog: float | str | None = "100 ms",
        safe: Literal["hold", "zero"] | Mapping[str, object] = "hold",
        grace: int = 0,
        faults: Sequence[RigFault] = (),
        record: str | None = None,
        priority: int | None = 50,
        lock: bool = True,
    ) -> None:
        functions = self._functions = rig_functions()
        refuse_strides(
            getattr(model, "integrator", integrator),
            "a rig takes equal ones, so that each tick takes as long as the last",
        )
        self.plant = model if isinstance(model, Plant) else Plant(model, step=step, integrator=integrator)
        if self.plant.interpolation != "held" or self.plant.formulation != ORDER_N:
            raise OptionError("rig: a plant with held inputs and the equations that are compiled is needed")
        ports = self.plant.ports
        self.layout = PacketLayout(
            self.plant.model.name, model_hash(self.plant.model), tuple(ports.inputs), tuple(ports.outputs)
        )
        self.faults = tuple(faults)
        hertz = Fraction(_positive("rate", rate, "Hz"))
        self.period = float(1 / hertz)
        tick, part = clock(1 / hertz / Fraction(_positive("factor", factor, "1")))
        self.keeper = chosen("keeper", keeper, KEEPERS)
        if keeper == "lockstep" and (udp is None) == (shared is None):
            raise OptionError("keeper: 'lockstep' takes its ticks from packets: give udp or shared, one of them")
        secret = _key(key)
        key_bytes = ctypes.create_string_buffer(secret)
        marks, values = self._safe_inputs(safe)
        paced, first = keeper != "lockstep", 0 if priority is None else whole("priority", priority, 1, 99)
        schedule = self._schedule()
        self._blocks: list[SharedBlock] = []
        self._socket = None
        allowed: list[Peer] = []
        try:
            if udp is not None:
                listens, port = address("udp", udp)
                allowed = peers(allow, listens, keyed=bool(secret))
                self._socket = bound(listens, port)
            allowing = (structure("rig_peer") * len(allowed))(
                *((int(one.network.network_address), int(one.network.netmask), one.port) for one in allowed)
            )
            setup = structure("rig_setup")(
                period=self.period, tick=tick, part=part, keeper=KEEPERS[keeper],
                policy=POLICIES[chosen("policy", policy, POLICIES)],
                layout=self.layout.key, session=secrets.randbits(63) | 1, first=secrets.randbits(52) | 1 << 40,
                watchdog=0 if watchdog is None else _silence(watchdog),
                grace=whole("grace", grace, most=MOST_GRACE), safe=int(safe != "hold"), safe_values=values.ctypes.data,
                safe_marks=marks.ctypes.data, socket=self._socket.fileno() if self._socket else -1,
                allowed=ctypes.addressof(allowing), n_allowed=len(allowed),
                key=ctypes.addressof(key_bytes), key_size=len(secret),
                shared=self._shared(shared), ring=self._ring(record), mailboxes=int(shared is not None),
                room=self._room(),
                faults=ctypes.addressof(schedule), n_faults=len(self.faults),
                priority=first if paced else 0, lock=int(lock and paced),
            )  # fmt: skip
            self._loop = RigLoop(
                functions, self.plant, setup, self._socket, self._blocks, key_bytes, allowing, schedule, marks, values
            )
        except BaseException:
            release(self._socket, self._blocks)
            raise
        self._closed = False
        self._view = self._loop.view
        self._began_at = self.plant.time
        weakref.finalize(self, self._loop.close)

    def _room(self) -> int:
        """Bytes of a mailbox for any packet."""
        doubles = max(self.layout.count("inputs"), self.layout.count("outputs"), 2)
        frame = sum(CONSTANTS[name] for name in ("RIG_MAILBOX_HEAD", "MBDY_PACKET_HEADER", "MBDY_PACKET_SEAL"))
        return -(-(frame + 8 * doubles) // 64) * 64

    def _shared(self, name: str | None) -> int:
        """The block of ticks, offsets and mailboxes (``struct shared_head``)."""
        head, room = CONSTANTS["RIG_SHARED_HEAD"], self._room()
        block = SharedBlock("shared", name, head + 2 * room)
        self._blocks.append(block)
        words = np.ctypeslib.as_array((ctypes.c_uint32 * 16).from_address(block.address))
        words[5:8] = head, head + room, room
        words[2:4] = self.layout.key & 0xFFFFFFFF, self.layout.key >> 32
        words[1] = CONSTANTS["MBDY_PACKET_VERSION"]
        words[0] = CONSTANTS["MBDY_PACKET_MAGIC"]  # at last: who finds it finds the rest
        return block.address

    def _ring(self, name: str | None) -> int | None:
        """The ring of records (``struct ring_head``): time, inputs, outputs, flags, lateness [s]."""
        if name is None:
            return None
        width, head = 3 + self.layout.count("inputs") + self.layout.count("outputs"), CONSTANTS["RIG_RING_HEAD"]
        rows = CONSTANTS["RIG_ROWS"]
        block = SharedBlock("record", name, head + 8 * width * rows)
        self._blocks.append(block)
        np.ctypeslib.as_array((ctypes.c_uint32 * 6).from_address(block.address))[4:6] = width, rows
        return block.address

    def _safe_inputs(self, safe: str | Mapping[str, object]) -> tuple[np.ndarray, np.ndarray]:
        """Which inputs take safe values under the watchdog, and those."""
        ports = self.plant.ports
        marks, values = np.zeros((2, len(ports.input_names) + 1))
        if not isinstance(safe, Mapping):
            chosen("safe", safe, ("hold", "zero"))
            for variable in ports.inputs if safe == "zero" else ():
                marks[variable.offset : variable.offset + variable.size] = variable.quantity in EFFORTS
            return marks, values
        for name, value in safe.items():
            variable, part = ports.find(name)
            if variable.causality != "input":
                raise VariableError(f"safe: {name!r} is no input")
            where = slice(variable.offset + part.start, variable.offset + part.stop)
            given = self.plant.inputs.values[where].copy()
            try:
                self.plant[name] = value
                values[where] = self.plant.inputs.values[where]
            except VariableError as fault:
                raise VariableError(f"safe: {fault}") from None
            finally:
                self.plant.inputs.values[where] = given
            marks[where] = 1.0
        return marks, values

    def _schedule(self) -> Any:
        """The faults as C has them, with the cycles from which and until which they act."""
        rows = []
        for fault in self.faults:
            if not isinstance(fault, RigFault):
                raise OptionError(f"faults: Freeze, Bias, Jam and the like are needed, got {shown(fault)}")
            try:
                begin, end = (-1 if time is None else self._cycle(time) for time in (fault.at, fault.until))
                if fault.until is not None and end <= begin:
                    raise RefusalError("until must come after at")
                rows.append((*fault.act(self.plant.ports), begin, end))
            except RefusalError as refusal:
                raise OptionError(f"{fault}: {refusal}") from None
        return (structure("rig_fault") * max(1, len(rows)))(*rows)

    def _cycle(self, time: float | str) -> int:
        """The cycle that begins at a ``time`` [s] of the plant."""
        cycle = round((quantity(time, "s") - self.plant.time) / self.period)
        if cycle < 0:
            raise RefusalError(f"{shown(time)} lies before the plant's time, {self.plant.time:g} s")
        return min(cycle, int(FOREVER))

    def __enter__(self) -> Rig:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the run that goes on, and gives back socket and shared memory."""
        self._loop.close()
        self._closed, self._socket = True, None

    @property
    def address(self) -> tuple[str, int] | None:
        """Where it listens by UDP."""
        return self._socket.getsockname() if self._socket is not None else None

    @property
    def where(self) -> str:
        """Where packets go, in words."""
        ports = [f"udp {self.address[0]}:{self.address[1]}"] if self.address else []
        return ", ".join([*ports, *(f"shared memory {one.path}" for one in self._blocks[:1] if one.path)]) or "nowhere"

    @property
    def counters(self) -> dict[str, int]:
        """Cycles, and packets by what became of them, until now; ``missed`` are ``late_cycles`` and ``overslept``."""
        found = {name: int(getattr(self._view.counters, name)) for name, *_ in self._view.counters._fields_}
        return {**found, "missed": found["late_cycles"] + found["overslept"]}

    @property
    def histograms(self) -> dict[str, Histogram]:
        """Times of waking, step and round trip until now."""
        views = {name: getattr(self._view, name) for name in ("wake", "step", "trip")}
        return {
            name: Histogram(np.ctypeslib.as_array(one.counts).copy(), int(one.lowest), int(one.highest), one.sum)
            for name, one in views.items()
        }

    @property
    def thread(self) -> int:
        """The loop's thread, as the system numbers it; 0 before it runs."""
        return int(self._view.thread)

    def run(self, until: float | str | None = None) -> RigResult:
        """The plant from now to ``until`` [s] of its time, or until `stop`; what the run has shown.

        Raises `StateError` or `VariableError` where the equations fail, `StepError` for an ``until`` that has passed.
        """
        self.start(until)
        return self.wait()

    def start(self, until: float | str | None = None) -> None:
        """Begin a `run` and return when the first tick is to come; `wait` has its result."""
        if self._loop.runs:
            raise OptionError("rig: a run goes on; wait for it first")
        steps = FOREVER
        if until is not None:
            steps = np.floor((seconds("until", until) - self.plant.time) / self.period + 1e-6)
            if not steps >= 1:
                raise StepError(f"until: the plant stands at {self.plant.time:g} s, one period more is the least")
        if self._closed:
            raise OptionError("rig: closed; make another")
        stands = self._began_at + self.period * self._view.counters.cycles
        if abs(self.plant.time - stands) > self.period / 2:
            where = f"the plant stands at {self.plant.time:g} s and the rig at {stands:g} s"
            raise StepError(f"rig: {where}; make the rig where the plant is")
        self.plant.outputs()  # says now what is to be said of the start
        self._loop.start(float(steps))

    def wait(self) -> RigResult:
        """The result of the run that `start` began, when it ends; an interrupt ends it."""
        if not self._loop.begun:
            raise OptionError("rig: no run goes on in this process; start one")
        self._loop.wait()
        words = self._view.words.decode(errors="replace")
        if self._view.end == CONSTANTS["RIG_FAULT"]:
            kind = FAULTS.get(self._loop.fault, VariableError)
            raise kind(f"at {self.plant.time:.9g} s: {words}")
        if self._view.status == WARNING:
            warnings.warn(words, WARNINGS[self._loop.topic], stacklevel=3)
        return self.result

    @property
    def result(self) -> RigResult:
        """What has been shown until now."""
        view = self._view
        events = (view.events[i] for i in range(view.n_events))
        return RigResult(
            ENDS.get(view.end, "running"), self.plant.time, self.period, int(view.began), 1e-9 * view.lateness,
            self.counters, self.histograms,
            tuple(FaultEvent(one.time, self.faults[one.fault], bool(one.on)) for one in events),
            tuple(text for bit, text in LACKS.items() if view.lack & bit),
        )  # fmt: skip

    def stop(self) -> None:
        """End the run after the cycle that is on its way; from any thread."""
        self._loop.stop()

    def tick(self, n: int = 1) -> None:
        """``n`` ticks of keeper ``"tick"``; from any thread."""
        if self.keeper != "tick":
            raise OptionError(f"tick: the time of this rig has keeper {self.keeper!r}; make one with keeper='tick'")
        self._functions.rig_tick(self._loop.handle, whole("n", n, most=MOST_TICKS))

    def discipline(self, offset: float | str) -> None:
        """Follow another clock: ``offset`` [s] is its time less ours, as distributed clocks or PTP measure it.

        The period is trimmed, by a hundredth at most, so that the offset goes; from any thread, as often as measured.
        10 s after the last measurement the clock is followed no more.
        """
        try:
            self._functions.rig_discipline(self._loop.handle, quantity(offset, "s"))
        except RefusalError as refusal:
            raise OptionError(f"offset: {refusal}") from None


def _positive(what: str, value: object, unit: str) -> float:
    try:
        found = quantity(value, unit)
    except RefusalError as refusal:
        raise OptionError(f"{what}: {refusal}") from None
    if not found > 0.0:
        raise OptionError(f"{what}: must be positive, got {shown(value)}")
    return found


def _silence(watchdog: float | str) -> int:
    """[ns]"""
    silence = seconds("watchdog", watchdog)
    if not 1e-9 <= silence <= 1e9:
        raise OptionError(f"watchdog: 1 ns to 1e9 s are needed, or None for none, got {shown(watchdog)}")
    return round(1e9 * silence)


def clock(period: Fraction) -> tuple[int, int]:
    """A period [s] as whole nanoseconds and what is beyond in 2^-64 of one. Raises `OptionError` for one too short."""
    whole_part, rest = divmod(period * 10**9, 1)
    if not 1000 <= whole_part < 1 << 62:
        raise OptionError(f"rate: ticks must come from 1 us to 100 years apart, got {float(period):g} s")
    return int(whole_part), int(rest * (1 << 64))


def _key(key: bytes | str | None) -> bytes:
    found = b"" if key is None else key.encode() if isinstance(key, str) else key
    if not isinstance(found, bytes) or (key is not None and not LEAST_KEY <= len(found) <= LONGEST_KEY):
        raise OptionError(f"key: {LEAST_KEY} to {LONGEST_KEY} bytes or letters are needed, got {shown(key)}")
    return found
