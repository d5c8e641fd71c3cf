"""Arguments of the report's subroutines, checked: each fault names the argument, the element and a remedy.

Indices in messages are the report's: they count from 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbdy.engine.model.faults import MbdyError

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

CONSTANTS = "its elements are I11, I22, I33, -I12, -I13, -I23 and the mass"


class ArgumentError(MbdyError, ValueError):
    """An argument that cannot be taken; nothing was changed."""


def hinges(nh: object) -> int:
    """The number of hinges."""
    if isinstance(nh, bool) or not isinstance(nh, int | np.integer) or nh < 0:
        raise ArgumentError(f"NH: must be the number of hinges, an integer >= 0, got {nh!r}")
    return int(nh)


def shaped(name: str, given: ArrayLike, shape: tuple[int, ...]) -> Array:
    """``given`` as an array of its own; its numbers may be anything."""
    try:
        values = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        what = f"an array {dimensions(shape)} of numbers" if shape else "a number"
        raise ArgumentError(f"{name}: must be {what}, got {given!r}") from None
    # An empty list has no second dimension to show.
    if values.shape != shape and not (values.size == 0 and 0 in shape):
        raise wrong_shape(name, values.shape, shape)
    return values.reshape(shape)


def wrong_shape(name: str, got: tuple[int, ...], shape: tuple[int, ...]) -> ArgumentError:
    """What to raise for an array of another shape."""
    wanted, found = (f"an array {dimensions(each)}" if each else "a single number" for each in (shape, got))
    return ArgumentError(f"{name}: must be {wanted}, got {found}")


def result(name: str, given: object, shape: tuple[int, ...]) -> None:
    """Refuse what a result cannot be written to as it is."""
    wanted = f"{name}: must be a writable NumPy array {dimensions(shape)} of float64"
    if not isinstance(given, np.ndarray):
        raise ArgumentError(f"{wanted}, got {given!r}; leave it out for a new array")
    if given.shape != shape or given.dtype != np.float64 or not given.flags.writeable:
        writable = "" if given.flags.writeable else ", read-only"
        raise ArgumentError(f"{wanted}, got one {dimensions(given.shape)} of {given.dtype}{writable}")


def dimensions(shape: tuple[int, ...]) -> str:
    """A shape as Fortran declares it."""
    return f"({','.join(map(str, shape))})" if shape else ""


def finite(name: str, values: Array) -> Array:
    """``values``, all of them finite."""
    for place in np.argwhere(~np.isfinite(values)):
        raise ArgumentError(f"{name}{index(place)}: must be finite, got {values[tuple(place)]}; give a number")
    return values


def index(place: Sequence[int] | Integers) -> str:
    """The index of an element as the report writes it."""
    return dimensions(tuple(int(i) + 1 for i in place))


def flags(name: str, given: ArrayLike, n: int) -> tuple[bool, ...]:
    """One flag for each hinge."""
    values = shaped(name, given, (n,))
    for i, value in enumerate(values):
        if value not in (0, 1):
            raise ArgumentError(
                f"{name}({i + 1}): must be 0 or 1, got {value:g}; {name} has a flag for each hinge, not their labels"
            )
    return tuple(bool(value) for value in values)


def inboard(given: ArrayLike, n: int) -> tuple[int, ...]:
    """``h_k`` of each body ``k`` from 1 to ``n``."""
    values = shaped("H", given, (n,))
    for i, value in enumerate(values):
        if not (float(value).is_integer() and 0 <= value <= n):
            raise ArgumentError(f"H({i + 1}): must be the index of a body, an integer from 0 to {i}, got {value:g}")
    parents = tuple(int(value) for value in values)
    for i, parent in enumerate(parents):
        if parent > i:
            raise ArgumentError(f"H({i + 1}): must be less than {i + 1}, got {parent}; {_why(parents, i + 1)}")
    return parents


def _why(parents: tuple[int, ...], body: int) -> str:
    """Why a body cannot hang on one that has no smaller label."""
    path = [body]
    while path[-1] and path[-1] not in path[:-1]:
        path.append(parents[path[-1] - 1])
    if path[-1]:
        cycle = " -> ".join(map(str, path[path.index(path[-1]) :]))
        return f"there is a cycle of bodies, {cycle}; let one of them hang on a body outside it"
    return "labels rise outward from body 0; number the bodies so that each comes after the one it hangs on"


def inertial_constants(name: str, values: Array, row: tuple[int, ...] = ()) -> None:
    """Refuse constants (7) of a body that are not finite, and a negative mass; ``row`` is their place in an array."""
    for j, value in enumerate(values):
        at = f"{name}{index((*row, j))}"
        if not np.isfinite(value):
            raise ArgumentError(f"{at}: must be finite, got {value}; {CONSTANTS}")
    if values[6] < 0:
        raise ArgumentError(f"{name}{index((*row, 6))}: a mass must be >= 0 kg, got {values[6]:g}; {CONSTANTS}")
