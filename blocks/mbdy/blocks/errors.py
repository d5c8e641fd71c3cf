"""What goes wrong while a block runs; each message names the variable, its value and what would be right."""

from __future__ import annotations

from mbdy.engine.model.faults import MbdyError


class VariableError(MbdyError, ValueError):
    """A value that a variable cannot take, or a variable set at the wrong time; nothing was changed."""


class RowError(VariableError):
    """``what`` is wrong in a ``row``, from 0, of a table of inputs."""

    def __init__(self, row: int, what: str) -> None:
        super().__init__(f"input table, row {row + 1}: {what}")
        self.row, self.what = row, what


class StepError(MbdyError, ValueError):
    """A communication or internal step that is not positive, finite and within reach; nothing was changed."""


class ThreadError(MbdyError, RuntimeError):
    """A plant that is called in another thread than the one that made it."""


class StateError(MbdyError, ArithmeticError):
    """The equations gave no finite state; the block is as it was before the step."""


class RecordError(MbdyError, RuntimeError):
    """A recording of a rig that did not become a file; the message says why."""
