"""The FMUs of a system: read and checked, their variables by name, and what their units mean."""

from __future__ import annotations

import lzma
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from mbdy.engine.model.contents import BROKEN, contents, readable
from mbdy.fmu.export import ExportError

if TYPE_CHECKING:
    from fmpy.model_description import BaseUnit, ModelDescription, ModelVariable

FMI = "2.0"
"""The version that SSP 1.0 packages hold and their simulators run."""
DESCRIPTION = "modelDescription.xml"
MOST_DESCRIPTION = 1 << 26
"""Bytes of a description; the largest known have a quarter of that."""
BASE_UNITS = ("kg", "m", "s", "A", "K", "mol", "cd")
"""By which quantities are told apart; the radian too, where units have other names."""


@dataclass(frozen=True, eq=False)
class Component:
    """An FMU as a component: its ``name`` in the system, how messages call it, its bytes, and how it describes itself.

    ``found`` are start values that closing its loops finds: setting them would give them.
    """

    name: str
    label: str
    data: bytes
    description: ModelDescription
    variables: Mapping[str, ModelVariable]
    units: Mapping[str, BaseUnit]
    found: frozenset[str] = frozenset()

    def unit(self, variable: str) -> str:
        """Name of the unit of a variable; empty where it has none."""
        entry = self.variables[variable]
        return entry.unit or (entry.declaredType.unit if entry.declaredType else None) or ""

    def names(self, causality: str) -> list[str]:
        """Variables of that causality, in the FMU's order."""
        return [name for name, variable in self.variables.items() if variable.causality == causality]


def read(name: str, path: str | os.PathLike[str], label: str = "") -> Component:
    """The FMU at ``path`` as the part ``name``; raises `ExportError` for one that cannot be a component."""
    from fmpy.model_description import ValidationError, read_model_description

    file = Path(path)
    label = label or str(file)
    if not file.exists():
        raise ExportError(f"{label}: no such file; give the controller as an FMU (FMI {FMI}, co-simulation)")
    data = contents(file)
    if not zipfile.is_zipfile(BytesIO(data)):
        raise ExportError(f"{label}: is no FMU (no zip archive); give the controller as an FMU, its name ends in .fmu")
    _check_version(data, label)
    try:
        description = read_model_description(BytesIO(data))
    except ValidationError as fault:
        raise ExportError(f"{label}: its modelDescription.xml breaks the rules of FMI: {fault.problems[0]}") from fault
    except Exception as fault:  # FMPy has no finer class for what it finds wrong
        raise ExportError(f"{label}: its modelDescription.xml cannot be read: {fault}") from fault
    if description.coSimulation is None:
        raise ExportError(f"{label}: is for model exchange only; export it for co-simulation")
    return Component(
        name=name,
        label=label,
        data=data,
        description=description,
        variables={variable.name: variable for variable in description.modelVariables},
        units={unit.name: unit.baseUnit for unit in description.unitDefinitions if unit.name and unit.baseUnit},
    )


def _check_version(data: bytes, label: str) -> None:
    try:
        with zipfile.ZipFile(BytesIO(data)) as opened:
            size = opened.getinfo(DESCRIPTION).file_size
            if size > MOST_DESCRIPTION:
                raise ExportError(
                    f"{label}: its {DESCRIPTION} has {readable(size)}, more than the {readable(MOST_DESCRIPTION)} that "
                    "are read"
                )
            version = ElementTree.fromstring(opened.read(DESCRIPTION)).get("fmiVersion", "")
    except KeyError:
        raise ExportError(f"{label}: is no FMU, it holds no {DESCRIPTION}; give an FMU") from None
    except (*BROKEN, lzma.LZMAError, MemoryError) as fault:
        raise ExportError(f"{label}: is a damaged FMU ({fault}); export it again") from fault
    if version != FMI:
        raise ExportError(f"{label}: is of FMI {version or 'no version'}; export it as FMI {FMI}, co-simulation")


def defined_units(parts: tuple[Component, ...]) -> dict[str, BaseUnit]:
    """The units of all ``parts`` by name, those of the first where several define one.

    Raises `ExportError` where one name means different units.
    """
    units: dict[str, BaseUnit] = {}
    for part in parts:
        for name, unit in part.units.items():
            if not same(units.setdefault(name, unit), unit):
                raise ExportError(
                    f"unit {name!r} is {spelled(unit)} in {part.label} and {spelled(units[name])} in "
                    f"{parts[0].label}; give the units of {part.label} other names"
                )
    return units


def same(one: BaseUnit, other: BaseUnit) -> bool:
    """Whether two definitions of one name agree; FMUs need not count the radian, which is 1."""
    return _dimension(one) == _dimension(other) and (one.factor, one.offset) == (other.factor, other.offset)


def conversion(source: BaseUnit, target: BaseUnit) -> tuple[float, float] | None:
    """``(factor, offset)``: a value in ``target`` is factor * value in ``source`` + offset; None for two quantities."""
    if (_dimension(source), source.rad) != (_dimension(target), target.rad):
        return None
    return source.factor / target.factor, (source.offset - target.offset) / target.factor


def spelled(unit: BaseUnit) -> str:
    """``"0.0174533 rad.s-1"``."""
    powers = [(base, getattr(unit, base)) for base in (*BASE_UNITS, "rad")]
    text = ".".join(base + ("" if power == 1 else str(power)) for base, power in powers if power) or "1"
    offset = f" + {unit.offset:g}" if unit.offset else ""
    return f"{unit.factor:g} {text}{offset}"


def _dimension(unit: BaseUnit) -> tuple[int, ...]:
    return tuple(getattr(unit, base) for base in BASE_UNITS)
