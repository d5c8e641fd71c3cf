"""What goes into an FMU, and the name that its contents give it."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from mbdy.engine.core.integrators import INTEGRATORS
from mbdy.engine.model.system import Model
from mbdy.fmu.versions import VERSIONS

HASH_DIGITS = 12
MOST_NAME = 40


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What was chosen for an FMU: the version of FMI, the longest internal step [s], the integrator, whether arrays are
    taken apart in every version, and mbdy's version."""

    fmi: str
    step: float
    integrator: str
    scalars: bool
    version: str

    @property
    def flat(self) -> bool:
        """Whether there are no arrays."""
        return self.scalars or not VERSIONS[self.fmi].arrays

    @property
    def implicit(self) -> bool:
        """Whether the integrator needs a core built for it."""
        return INTEGRATORS[self.integrator].implicit


@dataclass(frozen=True)
class Package:
    """All that goes into an FMU but its description: files by their path inside, and the names they give it.

    ``guid`` is the token that FMI calls so too; ``sources`` are the C files to be compiled, of those in ``sources/``.
    """

    identifier: str
    guid: str
    files: Mapping[str, bytes]
    sources: tuple[str, ...] = ()


def source_list(model: Model) -> dict[str, bytes]:
    """The list of files that were read for ``model``, by its path in an FMU; nothing for one that came from none.

    It is no part of what names the FMU: another comment in a model file makes no other model.
    """
    if not model.files:
        return {}
    return {"resources/sources.json": json.dumps([file.facts() for file in model.files], indent=2).encode() + b"\n"}


def digest(files: Mapping[str, bytes]) -> bytes:
    """A hash of ``files``, their names and contents."""
    mark = hashlib.sha256()
    for part in (part for name, data in sorted(files.items()) for part in (name.encode(), data)):
        mark.update(len(part).to_bytes(8))
        mark.update(part)
    return mark.digest()


def identifier(name: str, mark: bytes) -> str:
    """The model identifier of a model called ``name`` whose contents have the hash ``mark``."""
    return f"mbdy_{_ascii(name)}_{mark.hex()[:HASH_DIGITS]}"


def _ascii(name: str) -> str:
    """``name`` in the letters that an identifier may have."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9]+", "_", plain).strip("_")[:MOST_NAME].strip("_") or "model"
