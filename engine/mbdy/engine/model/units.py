"""Numbers with units: text such as ``"1 deg/s"`` to a float in SI.

Units are spelled as in pint (``kg*m^2``, ``N*m/rad``) or as in FMI (``kg.m2``, ``N.m/rad``). Angle counts as
a dimension of its own: ``"5 Hz"`` is no angular velocity and ``"3 deg"`` no plain number. One exception: the
radian under a stiffness or damping may be left out, as it often is (``"40 N*m"`` for ``N*m/rad``).
"""

from __future__ import annotations

import math
import re
from functools import cache, partial
from typing import TYPE_CHECKING, Annotated, cast

from pydantic import BeforeValidator

from mbdy.engine.model.faults import RefusalError, shown

if TYPE_CHECKING:
    from pint import UnitRegistry

_NUMBER = re.compile(r"\s*([+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(.*?)\s*", re.DOTALL)
_NOT_FINITE = re.compile(r"\s*[+-]?(nan|inf|infinity)\b", re.IGNORECASE)
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
# One factor of a unit: a name with an exponent of one digit, a bracket, an operator or the 1 of "1/s".
# Nothing else reaches pint, which would work out any arithmetic it is given.
_FACTOR = re.compile(
    r"\s*(?:(?P<name>[^\W\d_]+(?:_\w+)*|°)|(?P<close>\))|(?P<other>1(?![\d.])|\(|\*(?!\*)|[./·⋅×]))"
    r"(?:\s*(?:\*\*|\^)?\s*(?P<power>-?\d)(?!\d))?"
)
_MOST_LETTERS = 60
TURN = 2 * math.pi
"""[rad] A plain number beyond a turn was probably meant in degrees."""
ROUNDING = 1e-15
"""A factor this near to one over a whole number divides by it: 3 us is 3e-6 s, not 2.9999999999999997e-06."""

EXAMPLES = {
    "kg": "500 kg", "m": "0.5 m", "rad": "30 deg", "s": "1 ms", "m/s": "2 m/s", "rad/s": "1 deg/s",
    "kg.m2": "12 kg*m^2", "kg.m": "2 g*cm", "m/s2": "9.81 m/s^2", "rad/s2": "1 deg/s^2", "N": "5 N", "N.m": "2 N*m",
    "N.m.s": "4 N*m*s", "N/m": "40 N/m", "N.m/rad": "40 N*m/rad", "N.s/m": "3 N*s/m",
    "N/m3": "3 N/m^3", "N.m/rad3": "3 N*m/rad^3",
    "N.m.s/rad": "0.8 N*m*s/rad", "m3/s2": "398600.4418 km^3/s^2",
    "kg/s": "0.1 kg/s", "kg/m3": "1010 kg/m^3", "m/rad": "5 mm/turn", "rad/m": "1 turn/mm",
}  # fmt: skip
"""For each unit of the model file, a value written with a unit."""


def quantity(value: object, unit: str, *, bare: bool = False) -> float:
    """The number that ``value`` means in ``unit``.

    ``value`` is a number of any type (`real`), which is in ``unit`` already, or text of a number and a unit
    (``"1 deg/s"``); text without a unit only where ``unit`` is ``"1"`` or with ``bare`` (a command line's numbers are
    all text).
    ``unit`` is an SI unit in FMI's spelling (``"kg.m2"``, ``"rad/s"``, ``"1"``).
    Raises `RefusalError`, a ValueError, for another dimension, an unknown unit, NaN, infinity, no number.
    """
    number = _from_text(value, unit, bare) if isinstance(value, str) else real(value)
    if number is None:
        sort = _described(unit).replace("a number", "a real number" if isinstance(value, complex) else "a number")
        raise RefusalError(f"must be {sort}, got {shown(value)}", _remedy(unit))
    if not math.isfinite(number):
        raise RefusalError(f"must be a finite number, got {shown(value)}", _remedy(unit))
    return number


def real(value: object) -> float | None:
    """The float nearest to ``value``, one real number of any type: float32, Decimal, an array without dimensions, ...

    None for all else: Booleans, complex and masked numbers, texts, dates, quantities of another library, several.
    """
    if type(value) is float:
        return value
    dtype = getattr(value, "dtype", None)
    if getattr(dtype, "kind", "f") == "O" and not getattr(value, "ndim", 0):
        return real(value.item())  # type: ignore[attr-defined]
    number = hasattr(value, "__float__") and not isinstance(value, bool | str)
    plain = getattr(dtype, "kind", "f") in "fiu" and not getattr(value, "ndim", 0)
    if not (number and plain) or getattr(value, "mask", False) or hasattr(value, "units") or hasattr(value, "unit"):
        return None
    try:
        return float(value)  # type: ignore[arg-type]
    except OverflowError:  # an integer beyond the range of floats
        return math.inf
    except Exception:  # whatever a foreign type raises
        return None


def odd_angle(value: object, unit: str) -> RefusalError | None:
    """A remark on ``value``, a number without a unit that means more than a turn in ``unit``: degrees were meant?"""
    match = _NUMBER.fullmatch(value) if isinstance(value, str) else None
    number = _float(match[1]) if match and match[2] == "" else value
    if unit != "rad" or isinstance(number, bool) or not isinstance(number, int | float):
        return None
    if not TURN < abs(_float(number)) < math.inf:
        return None
    return RefusalError(f"{number:g} rad is {math.degrees(number):.4g} deg", f'did you mean "{number:g} deg"?')


def pint_unit(fmi_unit: str) -> str:
    """A unit in FMI's spelling (``"kg.m2"``, ``"N.m.s/rad"``, ``"1"``, ``""``) in pint's (``"kg*m**2"``).

    Raises `RefusalError` for what is no unit in either spelling.
    """
    text = fmi_unit.translate(_SUPERSCRIPTS).strip()
    if text in ("", "1"):
        return "dimensionless"
    if len(text) > _MOST_LETTERS:
        raise RefusalError(f"{shown(fmi_unit)} is no unit")
    parts, at, operand = [], 0, False
    while at < len(text):
        match = _FACTOR.match(text, at)
        name = match and (match["name"] or match["close"])
        if match is None or (match["power"] and not name):
            raise RefusalError(f"{shown(fmi_unit)} is no unit")
        other = match["other"]
        if operand and (match["name"] or other in ("1", "(")):
            parts.append("*")
        parts.append("*" if other in (".", "·", "⋅", "×") else other or name or "")
        if match["power"]:
            parts.append(f"**{match['power']}")
        operand = bool(name) or other == "1"
        at = match.end()
    return "".join(parts)


def _from_text(text: str, unit: str, bare: bool) -> float:
    match = _NUMBER.fullmatch(text)
    if match is None:
        if _NOT_FINITE.match(text):
            return math.nan
        raise RefusalError(f"must be {_described(unit)}, got {shown(text)}", _remedy(unit))
    number = _float(match[1])
    if match[2] == "":
        if bare or unit in ("1", ""):
            return number
        raise RefusalError(f"{shown(text)} has no unit", f"give a unit, e.g. {EXAMPLES.get(unit, f'{text} {unit}')!r}")
    try:
        factor, divisor = _factor(match[2], unit)
    except RefusalError as refusal:
        raise RefusalError(f"{refusal.message}, got {shown(text)}", refusal.remedy) from None
    return number / divisor if divisor else number * factor


def _float(value: int | float | str) -> float:
    try:
        return float(value)
    except OverflowError:  # an integer beyond the range of floats
        return math.inf


@cache
def _factor(text: str, unit: str) -> tuple[float, int]:
    """What turns a number in ``text``, a unit, into ``unit``: a factor, or a whole divisor where exact."""
    try:
        scale, roots = _in_roots(text)
    except Exception as error:  # pint raises whatever its tokenizer and parser happen to
        raise RefusalError(f"unknown unit {shown(text)}", _remedy(unit)) from error
    for candidate in (unit, unit.removesuffix("/rad")):
        wanted, wanted_roots = _in_roots(candidate)
        if roots == wanted_roots:
            factor = scale / wanted
            divisor = round(1.0 / factor) if 0.0 < factor < 1.0 else 0
            return factor, divisor if divisor and abs(divisor * factor - 1.0) < ROUNDING else 0
    raise RefusalError(f"must be {_described(unit)}, but {shown(text)} is a unit of something else", _remedy(unit))


def _in_roots(text: str) -> tuple[float, object]:
    """A unit as a factor times powers of pint's root units; they know the radian, its dimensions do not."""
    registry = _registry()
    factor, roots = registry.get_root_units(registry.Unit(pint_unit(text)))
    return cast("float", factor), roots


@cache
def _registry() -> UnitRegistry:
    """pint's units; pint is slow to import, so only once a unit is met."""
    from pint import UnitRegistry

    registry = UnitRegistry()
    registry.define("newton_meter = newton * meter = Nm")
    registry.define("newton_meter_second = newton * meter * second = Nms")
    return registry


def _described(unit: str) -> str:
    return "a number" if unit in ("1", "") else f"a number in {unit}"


def _remedy(unit: str) -> str:
    if unit in ("1", ""):
        return "give a plain number"
    example = f", or text with its unit such as {EXAMPLES[unit]!r}" if unit in EXAMPLES else ""
    return f"give a number in {unit}{example}"


Number = Annotated[float, BeforeValidator(partial(quantity, unit="1"))]
Mass = Annotated[float, BeforeValidator(partial(quantity, unit="kg"))]
Length = Annotated[float, BeforeValidator(partial(quantity, unit="m"))]
Inertia = Annotated[float, BeforeValidator(partial(quantity, unit="kg.m2"))]
Acceleration = Annotated[float, BeforeValidator(partial(quantity, unit="m/s2"))]
