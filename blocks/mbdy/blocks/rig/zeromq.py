"""A rig's packets over ZeroMQ: a process between its UDP socket and any number of subscribers and one controller.

Packets go through as they are, each a message of one frame: their layout, sequence and seal stay the rig's and the
controller's own, and what the rig does not take over UDP it does not take over ZeroMQ.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import socket
import time
from collections.abc import Callable
from typing import Any

from mbdy.blocks.rig.layout import PacketLayout
from mbdy.engine.model.faults import MissingPackageError, OptionError

GREET_EVERY = 2.0
"""[s] The rig forgets who is silent for ten."""
LOOK = 100
"""[ms] How often it is looked whether the bridge is to end."""
LONGEST = 1 << 16
"""Bytes of a datagram."""


class ZeroMQBridge:
    """Publishes (PUB) what the rig at ``rig``, an ``(address, port)``, sends; passes on what comes to a PULL socket.

    ``layout``            of the rig's packets, to ask for outputs where no controller does; ``key`` as the rig has it.
    ``outputs, inputs``   where ZeroMQ listens, such as ``"tcp://127.0.0.1:5556"``; port ``*`` takes a free one
                          (`endpoints` has it).

    Raises `MissingPackageError` without pyzmq, `OptionError` where ZeroMQ cannot listen there.
    """

    def __init__(
        self, layout: PacketLayout, rig: tuple[str, int], *, outputs: str, inputs: str, key: bytes = b""
    ) -> None:
        try:
            import zmq
        except ImportError:
            raise MissingPackageError("a bridge to ZeroMQ needs pyzmq: pip install mbdy[rig]") from None
        self.passed = {"outputs": 0, "inputs": 0}
        self._greeting, self._key = layout.packet("inputs"), key
        self._greeting["session"] = secrets.randbits(63)
        self._context = zmq.Context()
        self._out, self._in = self._context.socket(zmq.PUB), self._context.socket(zmq.PULL)
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            for place, end in ((self._out, outputs), (self._in, inputs)):
                place.setsockopt(zmq.LINGER, 0)
                place.bind(end)
            self._udp.connect(rig)
        except (zmq.ZMQError, OSError) as fault:
            self.close()
            raise OptionError(f"bridge from {rig} to {outputs} and {inputs}: {fault.strerror or fault}") from None
        self._udp.setblocking(False)
        self.endpoints = tuple(one.getsockopt_string(zmq.LAST_ENDPOINT) for one in (self._out, self._in))

    def run(self, ends: Callable[[], bool] = lambda: False) -> None:
        """Pass packets on until ``ends()``, which is asked ten times in a second."""
        import zmq

        poller, greeted = zmq.Poller(), float("-inf")
        poller.register(self._udp, zmq.POLLIN)
        poller.register(self._in, zmq.POLLIN)
        while not ends():
            if time.monotonic() - greeted > GREET_EVERY:
                self._greet()
                greeted = time.monotonic()
            ready: dict[Any, int] = dict(poller.poll(LOOK))
            if self._in in ready:
                self._send(self._in.recv())
                self.passed["inputs"] += 1
            if self._udp.fileno() in ready:
                self._publish()

    def _publish(self) -> None:
        try:
            self._out.send(self._udp.recv(LONGEST))
            self.passed["outputs"] += 1
        except (ConnectionRefusedError, BlockingIOError):
            return  # nobody is there yet, or any more

    def _greet(self) -> None:
        self._greeting["sequence"] += 1
        data = self._greeting.tobytes()
        self._send(data + hmac.digest(self._key, data, hashlib.sha256) if self._key else data)

    def _send(self, data: bytes) -> None:
        try:
            self._udp.send(data)
        except (ConnectionRefusedError, BlockingIOError):
            return  # as a datagram that is lost

    def close(self) -> None:
        """Give all sockets back."""
        self._udp.close()
        self._context.destroy(linger=0)

    def __enter__(self) -> ZeroMQBridge:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
