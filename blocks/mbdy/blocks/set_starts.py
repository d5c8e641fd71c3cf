"""A warning where given start values contradict closed loops."""

from __future__ import annotations


class StartMovedWarning(UserWarning):
    """Start values that were given do not agree with the loops and were moved to close them."""
