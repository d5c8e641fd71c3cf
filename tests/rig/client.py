"""A controller's side of a rig, for tests: packets by UDP or shared memory, good ones and others."""

from __future__ import annotations

import ctypes
import hashlib
import hmac
import mmap
import platform
import secrets
import socket
import struct
import time
from pathlib import Path

import numpy as np

from mbdy.blocks.rig import PacketLayout

SYSTEM, FUTEX, FUTEX_WAKE = ctypes.CDLL(None), 202 if platform.machine() == "x86_64" else 98, 1
HEAD = struct.Struct("<IHHQQQQdqII")
MAGIC, VERSION, INPUTS, OUTPUTS, FAULT = 0x5944424D, 1, 1, 2, 3
WATCHDOG, LATE, HELD, ON_PURPOSE, STOPPED = 1, 2, 4, 8, 16


class Outputs:
    """A packet of outputs that came at ``arrived`` [ns]."""

    def __init__(self, data: bytes) -> None:
        self.arrived = time.monotonic_ns()
        (_, _, self.kind, self.layout, self.session, self.sequence, self.answers, self.time, self.sent, self.flags,
         self.count) = HEAD.unpack_from(data)  # fmt: skip
        self.values = np.frombuffer(data, np.float64, self.count, HEAD.size).copy()


class Client:
    """A controller, or what attacks a rig: makes packets and takes outputs."""

    def __init__(self, layout: PacketLayout, *, key: bytes = b"", timeout: float = 2.0) -> None:
        self.layout, self.key, self.timeout = layout, key, timeout
        self.session, self.sequence = secrets.randbits(64), 0
        self.heard: list[Outputs] = []

    @property
    def last(self) -> Outputs | None:
        return self.heard[-1] if self.heard else None

    def packet(self, values, *, kind: int = INPUTS, answers: int | None = None, **other: int) -> bytes:
        """The next packet of the session; ``other`` fields of the header as they are given."""
        self.sequence += 1
        if answers is None:
            answers = self.last.sequence if self.last else 0
        fields = {
            "magic": MAGIC, "version": VERSION, "kind": kind, "layout": self.layout.key, "session": self.session,
            "sequence": self.sequence, "answers": answers, "time": 0.0, "sent": time.monotonic_ns(), "flags": 0,
            "count": len(values), **other,
        }  # fmt: skip
        body = HEAD.pack(*fields.values()) + np.asarray(values, np.float64).tobytes()
        return body + hmac.new(self.key, body, hashlib.sha256).digest() if self.key else body

    def greet(self) -> Outputs:
        """The first outputs, for which it asks until they come."""
        end = time.monotonic() + 10
        while time.monotonic() < end:
            self.send(self.packet(np.zeros(self.layout.count("inputs")), answers=0))
            outputs = newer = self.receive(0.05)
            while newer is not None:  # answers to earlier greetings
                outputs, newer = newer, self.receive(0.0)
            if outputs is not None:
                return outputs
        raise TimeoutError("no rig answers")

    def send(self, data: bytes) -> None:
        raise NotImplementedError

    def receive(self, timeout: float | None = None) -> Outputs | None:
        raise NotImplementedError

    def latest(self, timeout: float | None = None) -> Outputs | None:
        """The newest outputs of those that came; None if none come in time."""
        outputs = newer = self.receive(timeout)
        while newer is not None:
            outputs, newer = newer, self.receive(0.0)
        return outputs

    def step(self, values) -> Outputs:
        """Send inputs, and take the outputs that follow; what is lost is sent again."""
        return self.exchanged(self.packet(values))

    def exchanged(self, data: bytes) -> Outputs:
        """The outputs that follow from a packet of inputs; what is lost is sent again."""
        for _ in range(20):
            self.send(data)
            before = self.last
            while (outputs := self.receive(self.timeout)) is not None:
                if before is None or outputs.sequence != before.sequence:
                    return outputs
        raise TimeoutError("no outputs come")


class UdpClient(Client):
    def __init__(self, layout: PacketLayout, address: tuple[str, int], *, at: str = "127.0.0.1", **options) -> None:
        super().__init__(layout, **options)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((at, 0))
        self.address = address

    def send(self, data: bytes) -> None:
        self.socket.sendto(data, self.address)

    def receive(self, timeout: float | None = None) -> Outputs | None:
        self.socket.settimeout(self.timeout if timeout is None else timeout)
        try:
            self.heard.append(Outputs(self.socket.recv(1 << 16)))
        except (TimeoutError, BlockingIOError):
            return None
        return self.last

    def close(self) -> None:
        self.socket.close()


class SharedClient(Client):
    """By shared memory, which it looks at again and again."""

    def __init__(self, layout: PacketLayout, name: str, **options) -> None:
        super().__init__(layout, **options)
        with (Path("/dev/shm") / name).open("r+b") as file:
            self.map = mmap.mmap(file.fileno(), 0)
        self.words = np.frombuffer(self.map, np.uint32)
        assert self.words[0] == MAGIC
        self.inputs, self.outputs = (int(self.words[i]) for i in (5, 6))
        self.stamp = 0

    def send(self, data: bytes) -> None:
        stamp = int(self.words[self.inputs // 4]) & ~1
        self.words[self.inputs // 4] = stamp + 1
        self.words[self.inputs // 4 + 1] = len(data)
        room = self.outputs - self.inputs - 16  # of what is longer the size alone is true
        self.map[self.inputs + 16 : self.inputs + 16 + min(len(data), room)] = data[:room]
        self.words[self.inputs // 4] = (stamp + 2) & 0xFFFFFFFF
        address = self.words.ctypes.data + self.inputs
        SYSTEM.syscall(FUTEX, ctypes.c_void_p(address), FUTEX_WAKE, 1, None, None, 0)

    def receive(self, timeout: float | None = None) -> Outputs | None:
        end = time.monotonic() + (self.timeout if timeout is None else timeout)
        while True:
            stamp = int(self.words[self.outputs // 4])
            if not stamp & 1 and stamp != self.stamp:
                size = int(self.words[self.outputs // 4 + 1])
                data = self.map[self.outputs + 16 : self.outputs + 16 + size]
                if int(self.words[self.outputs // 4]) == stamp:
                    self.stamp = stamp
                    self.heard.append(Outputs(data))
                    return self.last
            if time.monotonic() >= end:
                return None
            time.sleep(0)

    def close(self) -> None:
        del self.words
        self.map.close()
