"""Controllers that only describe themselves: enough of an FMU to be connected, not to be run."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

SENSED = {f"bus.omega[{k}]": "rad/s" for k in (1, 2, 3)}
DRIVEN = {f"bus.torque[{k}]": "N.m" for k in (1, 2, 3)}
BASE_UNITS: dict[str, dict[str, str]] = {
    "1": {}, "rad/s": {"rad": "1", "s": "-1"}, "N.m": {"kg": "1", "m": "2", "s": "-2"}, "m/s2": {"m": "1", "s": "-2"},
    "deg/s": {"rad": "1", "s": "-1", "factor": "0.017453292519943295"},
}  # fmt: skip


def described(
    path: Path,
    *,
    inputs: Mapping[str, str] = SENSED,
    outputs: Mapping[str, str] = DRIVEN,
    types: Mapping[str, str] | None = None,
    units: Mapping[str, dict[str, str] | None] = BASE_UNITS,
    version: str = "2.0",
    element: str = "CoSimulation",
) -> Path:
    """An FMU at ``path`` with variables by name and unit ("" for none); ``types`` of those that are not Real."""
    root = Element("fmiModelDescription", fmiVersion=version, modelName="c", guid="{c}")
    SubElement(root, element, modelIdentifier="c")
    definitions = SubElement(root, "UnitDefinitions")
    for name, base in units.items():
        unit = SubElement(definitions, "Unit", name=name)
        if base is not None:
            SubElement(unit, "BaseUnit", base)
    variables, structure = SubElement(root, "ModelVariables"), SubElement(root, "ModelStructure")
    known, initial = SubElement(structure, "Outputs"), SubElement(structure, "InitialUnknowns")
    for causality, some in (("input", inputs), ("output", outputs)):
        for name, unit in some.items():
            place = str(len(variables) + 1)
            kind = (types or {}).get(name, "Real")
            variability = "continuous" if kind == "Real" else "discrete"
            row = SubElement(variables, "ScalarVariable", name=name, valueReference=place, causality=causality)
            row.set("variability", variability)
            value = SubElement(row, kind, {"unit": unit} if unit else {})
            if causality == "input":
                value.set("start", "0" if kind == "Real" else "false")
            else:
                SubElement(known, "Unknown", index=place)
                SubElement(initial, "Unknown", index=place)
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("modelDescription.xml", ElementTree.tostring(root))
    return path
