"""Parts of a model as frozen data: fields that take what a model file takes, and are refused as there where set.

`fields` has the types, which the reader of files shares.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from types import MappingProxyType
from typing import Any, TypeVar, dataclass_transform

from pydantic import TypeAdapter, ValidationError

from mbdy.engine.model.arrays import listed
from mbdy.engine.model.faults import Findings, PartError, RefusalError, path_of, shown
from mbdy.engine.model.units import quantity

AnyPart = TypeVar("AnyPart")
_adapter = cache(TypeAdapter)


class Part:
    """What all parts are: their values are converted and judged as they are made."""

    __slots__ = ()

    def __post_init__(self) -> None:
        findings, name = Findings(), type(self).__name__
        for each in fields(self):  # type: ignore[arg-type]
            if converter := each.metadata.get("converter"):
                value = findings.attempt(f"{name}.{each.name}", converter, getattr(self, each.name))
                object.__setattr__(self, each.name, value)
        if not findings.faults:
            self._agree(findings)
        if findings.faults:
            raise PartError(findings.faults)

    def _agree(self, findings: Findings) -> None:
        """Refuse values that do not go together."""


def value(
    *, converter: Callable[[Any], Any], default: Any = MISSING, default_factory: Any = MISSING, compare: bool = True
) -> Any:
    """A field whose value ``converter`` makes of what is given; it raises `RefusalError` for what cannot be."""
    metadata = {"converter": converter}
    if default_factory is not MISSING:
        return field(metadata=metadata, default_factory=default_factory, compare=compare)
    return field(metadata=metadata, default=default, compare=compare)


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(value, field))
def part(*, slots: bool = True, repr: bool = True) -> Callable[[type[AnyPart]], type[AnyPart]]:
    """Makes frozen data of a class."""
    return dataclass(frozen=True, slots=slots, kw_only=True, repr=repr)


def taking(kind: Any) -> Callable[[Any], Any]:
    """A converter to a type of `mbdy.engine.model.fields`."""

    def convert(given: object) -> Any:
        try:
            return _adapter(kind).validate_python(given)
        except ValidationError as error:
            fault: Any = error.errors(include_url=False)[0]
            at = path_of(tuple(step for step in fault["loc"] if isinstance(step, int)))
            refusal = fault.get("ctx", {}).get("error")
            if isinstance(refusal, RefusalError):
                raise RefusalError(refusal.message, refusal.remedy, at + refusal.at) from None
            raise RefusalError(f"must be {fault['ctx']['expected']}, got {shown(fault['input'])}", at=at) from None

    return convert


def kept(value: Any) -> Any:
    """``value`` as it is, for fields that are judged together."""
    return value


def text(given: object) -> str:
    """A name. Raises `RefusalError` for what is no text."""
    if not isinstance(given, str):
        raise RefusalError(f"must be text, got {shown(given)}", "write it in quotes")
    return str(given)


def place_of(text: str) -> tuple[str, str]:
    """The body and the node, empty for its origin, that ``text`` names (``"boom.tip"``, ``"boom"``)."""
    body, _, node = text.partition(".")
    return (body, node) if node else (text, "")


def an(kind: type[AnyPart], *, optional: bool = False) -> Callable[[Any], Any]:
    """A converter that takes parts of one ``kind`` alone, or None too."""

    def check(given: object) -> object:
        if not (optional and given is None):
            _refuse_other(given, kind)
        return given

    return check


def _refuse_other(given: object, kind: type, at: str = "") -> None:
    if not isinstance(given, kind):
        raise RefusalError(f"must be a {kind.__name__}, got {shown(given)}", f"make it by {kind.__name__}(...)", at)


def several(kind: type[AnyPart]) -> Callable[[Any], tuple[AnyPart, ...]]:
    """A converter of a row of parts of one ``kind``."""

    def check(given: object) -> tuple[Any, ...]:
        if not isinstance(given, list | tuple):
            raise RefusalError(f"must be a list of {kind.__name__}, got {shown(given)}", "write them in brackets")
        for k, each in enumerate(given):
            _refuse_other(each, kind, f"[{k + 1}]")
        return tuple(given)

    return check


def named(kind: type[AnyPart]) -> Callable[[Any], Mapping[str, AnyPart]]:
    """A converter of parts of one ``kind`` by name."""

    def check(given: object) -> dict[str, Any]:
        if not isinstance(given, Mapping):
            raise RefusalError(f"must be a mapping of names to {kind.__name__}, got {shown(given)}")
        for name, each in given.items():
            text(name)
            _refuse_other(each, kind, f"[{name!r}]")
        return dict(given)

    return check


def starts(given: object) -> Mapping[str, Any]:
    """Start values by name, as they are given. Raises `RefusalError` for what is no mapping."""
    if not isinstance(given, Mapping):
        raise RefusalError(f"must be a mapping of names to values, got {shown(given)}")
    return MappingProxyType({text(name): value for name, value in given.items()})


def names(given: object) -> tuple[str, ...] | None:
    """Names or patterns, or None. Raises `RefusalError` for one text, which would be taken letter by letter."""
    if given is None:
        return None
    if not isinstance(given, list | tuple):
        raise RefusalError(f"must be a list of names and patterns, got {shown(given)}", "write them in brackets")
    return tuple(map(text, given))


def numbers(given: object) -> Any:
    """Rows of numbers of any depth as tuples in tuples of floats. Raises `RefusalError`."""
    if isinstance(given, list | tuple) or getattr(given, "ndim", 0):
        return _tuples(listed(given))
    raise RefusalError(f"must be rows of numbers, got {shown(given)}", "write them in brackets")


def _tuples(given: Any) -> Any:
    if isinstance(given, list):
        return tuple(map(_tuples, given))
    return quantity(given, "1")
