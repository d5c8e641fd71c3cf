"""modelDescription.xml from the table of scalars, for FMUs of either kind."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from xml.etree.ElementTree import Element, SubElement

from mbdy.fmu.description.capabilities import categories, interfaces
from mbdy.fmu.description.markup import clean, document, number
from mbdy.fmu.description.structure import model_structure
from mbdy.fmu.description.units import Unit, units
from mbdy.fmu.description.variables import model_variables
from mbdy.fmu.table import Scalar, arrays
from mbdy.fmu.versions import VERSIONS, Version

STOP_TIME = 10.0
TOLERANCE = 1e-8
"""Relative tolerance that solvers of model exchange take unless told: rates of 1e-3 rad/s stay good to 1e-5."""


@dataclass(frozen=True, kw_only=True)
class About:
    """What the description says of the whole FMU."""

    name: str
    description: str
    guid: str
    tool: str
    step: float


def description(
    about: About,
    table: Sequence[Scalar],
    *,
    identifier: str,
    fmi: str,
    kind: str,
    sources: Sequence[str] = (),
    scalars: bool = False,
) -> bytes:
    """modelDescription.xml of an FMU.

    ``table``       as its ``kind`` and version have it: derivatives in a native FMU, perhaps the time.
    ``identifier``  the model identifier, the name of its libraries.
    ``fmi``         a name of `VERSIONS`.
    ``kind``        ``"python"`` (co-simulation) or ``"native"`` (model exchange and co-simulation).
    ``sources``     the C files in ``sources/`` to be compiled, which some versions list here.
    ``scalars``     no arrays in any version.
    """
    version = VERSIONS[fmi]
    variables = arrays(table, scalars=scalars or not version.arrays)
    root = _head(about, version)
    root.extend(interfaces(version, kind, identifier=identifier, step=about.step, sources=sources))
    root.append(_unit_definitions(units(row.unit for row in table)))
    root.append(categories(kind))
    root.append(_experiment(about, kind))
    root.append(model_variables(version, variables, intermediate=version.intermediate(kind)))
    root.append(model_structure(version, variables))
    indicators = sum(row.vector == "z" for row in table)
    root.attrib |= {key: text.format(indicators=indicators) for key, text in version.root[kind].items()}
    return document(root)


def _head(about: About, version: Version) -> Element:
    return Element(
        "fmiModelDescription",
        {
            "fmiVersion": version.name,
            "modelName": clean(about.name) or "model",
            version.token: about.guid,
            "description": clean(about.description),
            "generationTool": about.tool,
            "generationDateAndTime": build_time().strftime("%Y-%m-%dT%H:%M:%SZ"),
            "variableNamingConvention": "structured",
        },
    )


def build_time() -> datetime:
    """Now, or the time that ``SOURCE_DATE_EPOCH`` gives for builds that can be repeated bit by bit."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    return datetime.fromtimestamp(int(epoch), UTC) if epoch.isdigit() else datetime.now(UTC)


def _unit_definitions(defined: Sequence[Unit]) -> Element:
    node = Element("UnitDefinitions")
    for unit in defined:
        child = SubElement(node, "Unit", name=unit.name)
        SubElement(child, "BaseUnit", {base: str(power) for base, power in unit.exponents.items()})
        for name, factor in unit.display.items():
            SubElement(child, "DisplayUnit", name=name, factor=repr(factor))
    return node


def _experiment(about: About, kind: str) -> Element:
    attributes = {"startTime": "0", "stopTime": number(max(STOP_TIME, about.step))}
    if kind == "native":
        attributes["tolerance"] = number(TOLERANCE)
    return Element("DefaultExperiment", {**attributes, "stepSize": number(about.step)})
