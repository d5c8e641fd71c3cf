"""The laws of effort at joints: every file of this folder is one, called LAW; to add a law is to add its file.

Its second opinion stands in `mbdy.engine.verification.formulations.forces`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib import import_module
from pkgutil import iter_modules

from mbdy.engine.model.law import JointValue, Law

_FILES = [import_module(f"{__name__}.{file.name}") for file in iter_modules(__path__)]
LAWS: tuple[Law, ...] = tuple(sorted((file.LAW for file in _FILES), key=lambda law: (law.rank, law.name)))

JOINT_VALUES: Mapping[str, JointValue] = {value.name: value for law in LAWS for value in law.values}
"""The numbers of all laws by name."""


def resists(names: Collection[str]) -> bool:
    """Whether a joint with the laws called ``names`` has some that may be too steep for a step."""
    return any(law.resistance for law in laws_of(names))


def sticks(names: Collection[str]) -> bool:
    """Whether a joint with the laws called ``names`` has one that holds at rest."""
    return any(law.sticks for law in laws_of(names))


def laws_of(names: Collection[str]) -> tuple[Law, ...]:
    """The laws of a joint that has those called ``names`` besides spring and damper."""
    return tuple(law for law in LAWS if law.always or law.name in names)
