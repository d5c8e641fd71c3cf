"""A plant's saved state in a file: a line that says what it is, a line of facts in JSON, the bytes of the plant in C.

Those bytes carry a sum against damage, and a token of the variables; nothing in the file is ever run.
"""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from os import PathLike
from types import MappingProxyType
from typing import Any

import numpy as np

from mbdy.blocks.errors import VariableError
from mbdy.engine import Dynamics, Model, __version__
from mbdy.engine.core.integrators import INTEGRATORS
from mbdy.engine.files.write import model_hash
from mbdy.engine.model.contents import contents
from mbdy.engine.model.faults import MbdyWarning
from mbdy.engine.model.whole_file import whole_file

FORMAT = b"mbdy state 1\n"


class ResumedWarning(MbdyWarning):
    """A state that is taken up by a plant that steps otherwise than the one it is of."""


@dataclass(frozen=True, slots=True)
class StateFile:
    """What a file of a state has beside it: ``facts`` by name, and the ``data`` of the plant in C.

    The facts: ``name`` of the model, ``time`` [s]; what must be alike, see `facts_of`; how the plant steps, ``step``
    [s] or None, ``integrator``, ``formulation``, its ``tolerance`` where it has any; and ``every`` [s], the period of
    the run's rows, or None.
    """

    facts: dict[str, Any]
    data: bytes


def facts_of(model: Model, *, interpolation: str, dynamics: Dynamics | None) -> dict[str, Any]:
    """What must be alike of the plant that saves a state and the one that takes it up."""
    return {"model": model_hash(model), "interpolation": interpolation, "dynamics": _plain(dynamics)}


def _plain(value: object) -> Any:
    """``value`` as JSON has it, however its numbers were written."""
    if is_dataclass(value) and not isinstance(value, type):
        return {"kind": type(value).__name__, **{f.name: _plain(getattr(value, f.name)) for f in fields(value)}}
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in sorted(value.items())}
    if isinstance(value, str) or value is None:
        return value
    if isinstance(value, tuple):
        return [_plain(entry) for entry in value]
    return np.asarray(value, dtype=float).tolist()


def write_state(path: str | PathLike[str], state: StateFile) -> None:
    """Write ``state`` to ``path``, whole or not at all. Raises `WriteError`."""
    facts = {"mbdy": __version__, **state.facts}
    with whole_file(path, binary=True) as file:
        file.write(FORMAT + json.dumps(facts).encode() + b"\n" + state.data)


def read_state(path: str | PathLike[str], alike: Mapping[str, Any] = MappingProxyType({})) -> StateFile:
    """The state in the file at ``path``, of a plant with the facts ``alike``.

    Raises `VariableError` for a file that cannot be read, holds no state, or one of another model or sort of plant.
    """
    try:
        bytes_read = contents(path)
    except OSError as fault:
        raise VariableError(f"{path}: cannot be read: {fault.strerror or fault}; give a file of save_state") from None
    head, _, rest = bytes_read.partition(b"\n")
    if head + b"\n" != FORMAT:
        raise VariableError(f"{path}: is no state of format {FORMAT.decode().strip()!r}; give a file of save_state")
    line, _, data = rest.partition(b"\n")
    facts: dict[str, Any] = {}
    try:
        facts = json.loads(line)
        periods = (1.0 if facts[name] is None else facts[name] for name in ("step", "every"))
        sound = {*alike, "name"} <= facts.keys() and facts["integrator"] in INTEGRATORS and math.isfinite(facts["time"])
        sound = sound and all(0 < period <= sys.float_info.max for period in periods)
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError):
        sound = False
    if not sound:
        raise VariableError(f"{path}: is damaged: its second line has no facts in JSON; save the state again")
    for name, value in alike.items():
        if facts[name] != value:
            what = (
                f"its model is another, {facts['name']!r}"
                if name == "model"
                else f"its {name} is {facts[name]!r}, not {value!r}"
            )
            raise VariableError(f"{path}: {what}; restore it in a plant of the same model and options")
    return StateFile(facts, data)


def warn_of_steps(path: str | PathLike[str], facts: Mapping[str, Any], now: Mapping[str, Any], stacklevel: int) -> None:
    """Warn where a plant steps as ``now`` has it, and the one of a state with ``facts`` otherwise."""
    if others := [name for name, value in now.items() if facts.get(name) != value]:
        was, has = (", ".join(f"{name} {known.get(name)}" for name in others) for known in (facts, now))
        text = f"{path}: is of a plant with {was}, this has {has}: bits will not be those of a run that is not cut"
        warnings.warn(text, ResumedWarning, stacklevel=stacklevel + 1)
