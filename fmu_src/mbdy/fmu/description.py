"""modelDescription.xml of FMI 2.0 from the table of scalars, around the element that pythonfmu's builder made."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from mbdy.fmu.table import Scalar
from mbdy.fmu.units import Unit, units

STOP_TIME = 10.0
MOST_DEPENDENCIES = 2_000_000
"""Index entries in ModelStructure (some 30 MB) beyond which ``dependencies`` is left out, which means all."""

_NOT_XML = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, kw_only=True)
class About:
    """What the description says of the whole FMU."""

    name: str
    description: str
    guid: str
    tool: str
    step: float


def completed(built: bytes, about: About, table: Sequence[Scalar]) -> bytes:
    """``built``, a modelDescription.xml with what pythonfmu knows, completed with what the port table knows."""
    root = ElementTree.fromstring(built)
    _head(root, about)
    simulation = root.find("CoSimulation")
    assert simulation is not None  # the builder makes co-simulation FMUs
    simulation.set("canGetAndSetFMUstate", "true")
    simulation.set("canSerializeFMUstate", "true")
    simulation.set("canHandleVariableCommunicationStepSize", "true")
    root.insert(list(root).index(simulation) + 1, _unit_definitions(units(row.unit for row in table)))
    for tag in ("DefaultExperiment", "ModelVariables", "ModelStructure"):
        for old in root.findall(tag):
            root.remove(old)
    root.append(_experiment(about))
    root.append(_variables(table))
    root.append(_structure(table))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="UTF-8", xml_declaration=True)


def _head(root: Element, about: About) -> None:
    root.set("modelName", clean(about.name) or "model")
    root.set("description", clean(about.description))
    root.set("guid", about.guid)
    root.set("generationTool", about.tool)
    root.set("generationDateAndTime", build_time().strftime("%Y-%m-%dT%H:%M:%SZ"))
    root.set("variableNamingConvention", "structured")


def build_time() -> datetime:
    """Now, or the time that ``SOURCE_DATE_EPOCH`` gives for builds that can be repeated bit by bit."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    return datetime.fromtimestamp(int(epoch), UTC) if epoch.isdigit() else datetime.now(UTC)


def clean(text: str) -> str:
    """``text`` without the characters that XML cannot hold."""
    return _NOT_XML.sub(" ", text).strip()


def _unit_definitions(defined: Sequence[Unit]) -> Element:
    node = Element("UnitDefinitions")
    for unit in defined:
        child = SubElement(node, "Unit", name=unit.name)
        SubElement(child, "BaseUnit", {base: str(power) for base, power in unit.exponents.items()})
        for name, factor in unit.display.items():
            SubElement(child, "DisplayUnit", name=name, factor=repr(factor))
    return node


def _experiment(about: About) -> Element:
    return Element(
        "DefaultExperiment", startTime="0", stopTime=_number(max(STOP_TIME, about.step)), stepSize=_number(about.step)
    )


def _variables(table: Sequence[Scalar]) -> Element:
    node = Element("ModelVariables")
    for vr, row in enumerate(table):
        attributes = {
            "name": row.name, "valueReference": str(vr), "description": clean(row.description),
            "causality": row.causality, "variability": _variability(row),
        }  # fmt: skip
        if initial := _initial(row):
            attributes["initial"] = initial
        child = SubElement(node, "ScalarVariable", attributes)
        if row.boolean:
            SubElement(child, "Boolean", start="true" if row.start else "false")
        else:
            SubElement(child, "Real", _real(row))
    return node


def _real(row: Scalar) -> dict[str, str]:
    attributes = {
        "unit": row.unit or None, "displayUnit": row.display_unit, "min": row.minimum, "max": row.maximum,
        "nominal": row.nominal, "start": row.start,
    }  # fmt: skip
    return {
        key: value if isinstance(value, str) else _number(value)
        for key, value in attributes.items()
        if value is not None
    }


def _variability(row: Scalar) -> str:
    if row.causality == "parameter":
        return "tunable" if row.tunable else "fixed"
    return "discrete" if row.boolean else "continuous"


def _initial(row: Scalar) -> str | None:
    if row.causality == "input":
        return None
    return "exact" if row.start is not None else "calculated"


def _structure(table: Sequence[Scalar]) -> Element:
    node = Element("ModelStructure")
    outputs = [(vr + 1, row) for vr, row in enumerate(table) if row.causality == "output"]
    spelled = sum(len(row.dependencies) for _, row in outputs) <= MOST_DEPENDENCIES
    texts: dict[tuple[int, ...], dict[str, str]] = {}
    known = SubElement(node, "Outputs")
    for index, row in outputs:
        on = row.dependencies
        if on not in texts:
            texts[on] = _dependencies(on) if spelled or not on else {}
        SubElement(known, "Unknown", {"index": str(index), **texts[on]})
    initial = SubElement(node, "InitialUnknowns")
    for index, row in outputs:
        if row.start is None:
            SubElement(initial, "Unknown", index=str(index))
    return node


def _dependencies(value_references: tuple[int, ...]) -> dict[str, str]:
    return {
        "dependencies": " ".join(str(vr + 1) for vr in value_references),
        "dependenciesKind": " ".join("dependent" for _ in value_references),
    }


def _number(value: float) -> str:
    """The shortest text that reads back as the same number."""
    return repr(float(value)).removesuffix(".0")
