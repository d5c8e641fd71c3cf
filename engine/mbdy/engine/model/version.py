"""Which mbdy this is."""

from __future__ import annotations

from importlib import metadata


def version() -> str:
    """mbdy's version; ``0`` in a source tree that was never installed."""
    try:
        return metadata.version("mbdy")
    except metadata.PackageNotFoundError:
        return "0"
