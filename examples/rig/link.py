"""A controller's end of a rig's wire: outputs in, inputs out, over UDP; NumPy and the standard library alone.

It may start before the rig or after it, and be ended and started again while the rig runs.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import select
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import ModuleType
from typing import Any

import numpy as np


class Link:
    """The wire to the rig at ``(address, port)``, whose packets are those of ``layout``.

    ``layout``   the module that ``mbdy rig MODEL --header layout.py`` writes.
    ``key``      that of the rig, if it has one: then packets carry a seal, and none without it is believed.
    ``patience`` [s] until a packet is sent again; ``silences`` how often that is done before `outputs` ends.
    """

    def __init__(
        self,
        address: tuple[str, int],
        layout: ModuleType,
        *,
        key: bytes = b"",
        patience: float = 0.1,
        silences: int = 100,
    ) -> None:
        self.layout, self.key, self.patience, self.silences = layout, key, patience, silences
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect(address)
        self.socket.setblocking(False)
        self.packet = np.zeros(1, layout.INPUTS)
        said = {"magic": "PACKET_MAGIC", "version": "PACKET_VERSION", "kind": "PACKET_INPUTS", "layout": "LAYOUT"}
        for field, name in said.items():
            self.packet[field] = getattr(layout, name)
        for name, values in layout.START.items():  # what is left alone stays as the model file has it
            self.packet[name] = values
        self.packet["count"] = sum(map(len, layout.START.values()))
        self.packet["session"], self.packet["sequence"] = secrets.randbits(64), 1
        self.seen = (0, 0)

    def outputs(self) -> Iterator[Any]:
        """Each packet of outputs, the newest of those that are there, until the rig stops; answer each with `send`."""
        silent = 0
        self._send()
        while silent < self.silences:
            packet = self._newest()
            if packet is None:
                silent += 1
                self._send()  # the same again: one was lost, or nobody is there yet
                continue
            silent, self.seen = 0, (int(packet["session"]), int(packet["sequence"]))
            if packet["flags"] & self.layout.FLAG_STOPPED:
                return
            yield packet
        raise TimeoutError(f"no outputs for {self.silences * self.patience:g} s")

    def send(self, inputs: Mapping[str, Any]) -> None:
        """Answer the outputs that came last: ``inputs`` by name, in SI; those left out stay as they were sent last."""
        for name, values in inputs.items():
            self.packet[name] = values
        self.packet["answers"] = self.seen[1]
        self.packet["sequence"] += 1
        self._send()

    def _send(self) -> None:
        self.packet["sent"] = time.monotonic_ns()
        data = self.packet.tobytes()
        with suppress(ConnectionRefusedError):  # nobody is there yet, or any more
            self.socket.send(data + hmac.digest(self.key, data, hashlib.sha256) if self.key else data)

    def _newest(self) -> Any:
        newest = None
        select.select([self.socket], [], [], self.patience)
        try:
            while True:
                packet = self._checked(self.socket.recv(65536))
                newest = newest if packet is None else packet
        except ConnectionRefusedError:
            time.sleep(self.patience)
        except BlockingIOError:
            return newest

    def _checked(self, data: bytes) -> Any:
        """The outputs in ``data``; None for all else, and for what came before."""
        kind, seal = self.layout.OUTPUTS, self.layout.PACKET_SEAL if self.key else 0
        if len(data) != kind.itemsize + seal:
            return None
        body, sealed = data[: kind.itemsize], data[kind.itemsize :]
        if seal and not hmac.compare_digest(sealed, hmac.digest(self.key, body, hashlib.sha256)):
            return None
        packet = np.frombuffer(body, kind)[0]
        facts = (packet["magic"], packet["version"], packet["kind"], packet["layout"])
        layout = self.layout
        if facts != (layout.PACKET_MAGIC, layout.PACKET_VERSION, layout.PACKET_OUTPUTS, layout.LAYOUT):
            return None
        again = int(packet["session"]) == self.seen[0] and int(packet["sequence"]) <= self.seen[1]
        return None if again else packet


def layout_in(path: str) -> ModuleType:
    """The module of a layout in the file at ``path``."""
    module = ModuleType("layout")
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), path, "exec"), module.__dict__)
    return module
