"""The loop in C and its thread."""

from __future__ import annotations

import ctypes
import os
import time
from contextlib import suppress
from socket import socket
from threading import Event, Thread, current_thread
from types import SimpleNamespace
from typing import Any

from mbdy.blocks.plant.block import Plant
from mbdy.blocks.rig.library import structure
from mbdy.blocks.rig.shared import SharedBlock
from mbdy.engine.core.binding import Owned


class RigLoop:
    """A rig in C of a ``plant``, which is lent to it while it runs.

    ``kept`` is what its ``setup`` points at: that, ``port`` and ``blocks`` stay as long as its thread, whoever
    else lets go of them. A process that was forked has no such thread: there nothing is ended, waited for or removed.
    """

    def __init__(
        self, functions: SimpleNamespace, plant: Plant, setup: Any, port: socket | None, blocks: list[SharedBlock],
        *kept: object,
    ) -> None:  # fmt: skip
        self._functions, self._plant, self._port, self._blocks, self._kept = functions, plant, port, blocks, kept
        door = ctypes.cast(plant.compiled.functions.loaded.mbdy_door, ctypes.c_void_p)
        self.handle = functions.rig_new(plant._handle, door, ctypes.addressof(setup))
        self._memory = Owned(self.handle, functions.rig_free)
        self.view = structure("rig_view").from_address(functions.rig_view_of(self.handle))
        self.fault = self.topic = 0
        self._thread: Thread | None = None
        self._ended = Event()
        self._process = os.getpid()

    def start(self, steps: float) -> None:
        """Begin up to ``steps`` cycles and return when the first tick is to come."""
        give_back = self._plant._lend()
        self._functions.rig_begin(self.handle)
        self._ended.clear()
        self._thread = Thread(target=self._run, args=(steps, give_back), name="mbdy rig", daemon=True)
        try:
            self._thread.start()
            while not (self.view.began or self._ended.is_set()):
                time.sleep(1e-3)
        except BaseException:
            self.end()
            raise

    def _run(self, steps: float, give_back: Any) -> None:
        try:
            self._functions.rig_run(self.handle, steps)
            plant, handle = self._plant._functions, self._plant._memory.handle
            self.fault, self.topic = plant.plant_fault(handle), plant.plant_topic(handle)
        finally:
            give_back()
            self._ended.set()

    @property
    def begun(self) -> bool:
        """Whether this process has begun a run."""
        return self._thread is not None and os.getpid() == self._process

    @property
    def runs(self) -> bool:
        return self.begun and not self._ended.is_set()

    def wait(self) -> None:
        """Until the run has ended; an interrupt ends it."""
        try:
            self._ended.wait()  # a join that is interrupted takes a thread that runs for one that has ended
        except KeyboardInterrupt:
            self.end()

    def stop(self) -> None:
        """Have the run end after the cycle that is on its way."""
        self._functions.rig_stop(self.handle)

    def end(self) -> None:
        """End the run, and return when nothing runs any more, whatever interrupts."""
        while self.runs and current_thread() is not self._thread:
            self.stop()
            with suppress(KeyboardInterrupt):
                self._ended.wait()

    def close(self) -> None:
        """Ends the run, and gives back socket and shared memory."""
        self.end()
        release(self._port, self._blocks)


def release(port: socket | None, blocks: list[SharedBlock]) -> None:
    """Gives back what a rig has of the system."""
    if port is not None:
        port.close()
    for block in blocks:
        block.close()
