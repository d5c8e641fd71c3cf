"""Values of variables as anyone gives them, to floats in SI: the one rule of all doors, before anything moves."""

from __future__ import annotations

import operator
from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbdy.engine.model.arrays import listed, symmetric_tensor
from mbdy.engine.model.faults import OptionError, RefusalError, nearest, shown
from mbdy.engine.model.frames import frame, is_turn
from mbdy.engine.model.units import quantity, real
from mbdy.engine.model.variables import UPPER, Variable

Array = NDArray[np.float64]

WORDS = {"true": 1.0, "yes": 1.0, "on": 1.0, "false": 0.0, "no": 0.0, "off": 0.0}
"""What a Boolean may be called besides 1 and 0."""
VECTORS = ("attitude", "omega", "at", "frame", "axis", "force", "torque")
"""Of a joint: elements of which each is to be given."""


def values_of(name: str, variable: Variable, part: slice, value: object) -> list[float]:
    """``value`` of the elements ``part`` of ``variable``, which is called ``name``, in SI.

    Taken are real numbers of any type and texts with unit, in any row of them; one for all degrees of freedom of a
    joint; three moments or three rows of an inertia. Numbers may be not finite, which the plant in C refuses in its
    words. Raises `RefusalError` with the name, the value and the remedy.
    """
    try:
        entries = elements(variable, part, listed(value))
        units = variable.units[part]
        if len(entries) != len(units):
            raise RefusalError(f"{len(units)} values are needed, got {len(entries)}", _remedy(variable, part))
        return [element(entry, unit, variable) for entry, unit in zip(entries, units, strict=True)]
    except RefusalError as refusal:
        raise RefusalError(f"{name!r}: {refusal.message}", refusal.remedy) from None


def element(entry: object, unit: str, variable: Variable, *, bare: bool = False) -> float:
    """One element of a ``variable`` in SI; ``bare`` as for `quantity`. Raises `RefusalError`."""
    if variable.boolean:
        if isinstance(entry, str) and entry.strip().lower() in WORDS:
            return WORDS[entry.strip().lower()]
        if isinstance(entry, bool | np.bool_):
            return float(entry)
    number = None if isinstance(entry, str) else real(entry)
    number = quantity(entry, unit, bare=bare) if number is None else number
    if variable.boolean and number not in (0.0, 1.0):
        raise RefusalError(f"must be 0 or 1, got {shown(entry)}", "give true or false")
    return number


def elements(variable: Variable, part: slice, entries: Any, *, bare: bool = False) -> list[Any]:
    """Entries for the elements ``part`` of ``variable`` from those that `listed` gives: one value is spread over all
    degrees of freedom of a joint or the modes of a body, an inertia's moments or rows over its six numbers; a table of
    angles or three rows are a quaternion."""
    count = part.stop - part.start
    if variable.quantity in ("attitude", "frame") and count == variable.size and is_turn(entries):
        return list(frame(entries))
    if not isinstance(entries, list):
        joint = variable.owner.kind in ("joint", "modes") and variable.quantity not in VECTORS
        spread = joint and not any("," in label for label in variable.labels)
        return [entries] * (count if spread else 1)
    if variable.quantity == "inertia" and count == len(UPPER) and len(entries) == 3:
        entries = _tensor(entries, variable.units[part][0], bare)
    if any(isinstance(entry, list) for entry in entries):
        message = f"{count} values in a row are needed, without more brackets, got {shown(entries)}"
        raise RefusalError(message, _remedy(variable, part))
    return entries


def array_of(what: str, value: object, unit: str = "", *, boolean: bool = False) -> Array:
    """``value``, one number or rows of them as `listed` takes them, as an array of floats of its shape, which may be
    not finite; texts with their unit where a ``unit`` is given. Raises `RefusalError` that names ``what``."""
    if type(value) is np.ndarray and value.dtype.kind in ("fiub" if boolean else "fiu"):
        return np.ascontiguousarray(value, dtype=np.float64)
    try:
        entries = listed(value)
        if isinstance(entries, list) and all(type(entry) is float for entry in entries):
            return np.array(entries, dtype=np.float64)
        return np.array(_floats(entries, unit, boolean), dtype=np.float64)
    except RefusalError as refusal:
        raise RefusalError(f"{what}: {refusal.message}", refusal.remedy) from None
    except ValueError:
        message = f"{what}: rows of one length are needed, got {shown(value)}"
        raise RefusalError(message, "give as many values in each") from None


def _floats(entries: Any, unit: str, boolean: bool) -> Any:
    if isinstance(entries, list):
        return [_floats(entry, unit, boolean) for entry in entries]
    if unit and isinstance(entries, str):
        return quantity(entries, unit)
    number = float(entries) if boolean and isinstance(entries, bool | np.bool_) else real(entries)
    if number is None:
        raise RefusalError(f"real numbers are needed, got {shown(entries)}", "give numbers in SI")
    return number


def whole(what: str, value: object, least: int = 0, most: int | None = None) -> int:
    """``value``, a whole number of any type, from ``least`` to ``most``. Raises `OptionError`."""
    try:
        number = None if isinstance(value, bool | np.bool_) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None or number < least or (most is not None and number > most):
        range_of = f">= {least}" if most is None else f"from {least} to {most}"
        raise OptionError(f"{what}: must be a whole number {range_of}, got {shown(value)}")
    return number


def chosen(what: str, value: object, known: Collection[str]) -> str:
    """``value``, one of the ``known`` words. Raises `OptionError` with the nearest of them."""
    if not isinstance(value, str) or value not in known:
        near = nearest(value, known) if isinstance(value, str) else ""
        meant = f"; {near}" if near and not near.startswith("known") else ""
        raise OptionError(f"{what}: {shown(value)} is unknown{meant}; choose one of {', '.join(known)}")
    return value


def _tensor(entries: list[Any], unit: str, bare: bool) -> list[Any]:
    """Six entries of a tensor from its diagonal or its three rows, as a model file may have them."""
    if not any(isinstance(entry, list) for entry in entries):
        x, y, z = entries
        return [x, 0, 0, y, 0, z]
    if not all(isinstance(row, list) and len(row) == 3 for row in entries):
        raise RefusalError("an inertia has three rows of three numbers", "or give the three principal moments")
    x, y, z = (tuple(quantity(entry, unit, bare=bare) for entry in row) for row in entries)
    tensor = symmetric_tensor((x, y, z))  # type: ignore[arg-type]
    return [tensor[i][j] for i, j in UPPER]


def _remedy(variable: Variable, part: slice) -> str:
    names = variable.scalar_names[part]
    if len(names) == 1:
        return "give one number"
    if variable.quantity == "inertia":
        return f"give {len(names)}, three principal moments or a 3x3 tensor, or one such as {names[0]!r}"
    return f"give {len(names)} values in a row, or one element such as {names[0]!r}"
