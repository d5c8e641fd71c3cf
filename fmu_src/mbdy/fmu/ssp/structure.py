"""The XML of a package: SystemStructure.ssd, and a parameter set (.ssv) for each component (SSP 1.0)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement

from mbdy.fmu.description.markup import clean, document, number
from mbdy.fmu.description.model_description import build_time
from mbdy.fmu.ssp.links import Connection, End
from mbdy.fmu.ssp.parts import BASE_UNITS, Component

if TYPE_CHECKING:
    from fmpy.model_description import BaseUnit

NAMESPACE = "http://ssp-standard.org/SSP1/SystemStructure"
NAMESPACES = {
    "xmlns:ssc": f"{NAMESPACE}Common",
    "xmlns:ssd": f"{NAMESPACE}Description",
    "xmlns:ssv": f"{NAMESPACE}ParameterValues",
    "xmlns:osp": "http://opensimulationplatform.com/SSP/OSPAnnotations",
}
VALUES = ("Real", "Integer", "Boolean", "String")
"""Types of parameters that a parameter set gives; enumerations keep the value that their FMU has."""


@dataclass(frozen=True, kw_only=True)
class DefaultExperiment:
    """The default experiment: until ``stop`` [s], values exchanged every ``step`` [s]."""

    stop: float
    step: float


@dataclass(frozen=True, kw_only=True)
class SystemStructure:
    """All that a description of the system says; ``exposed`` are the outputs that it shows to the outside."""

    name: str
    tool: str
    parts: tuple[Component, ...]
    links: tuple[Connection, ...]
    exposed: tuple[End, ...]
    units: Mapping[str, BaseUnit]
    run: DefaultExperiment


def structure(system: SystemStructure) -> bytes:
    """SystemStructure.ssd."""
    name = clean(system.name) or "system"
    root = Element(
        "ssd:SystemStructureDescription", _namespaces("ssc", "ssd", "osp") | _head(system.tool) | {"name": name}
    )
    node = SubElement(root, "ssd:System", name=name)
    units = _units_of_ends(system)
    if system.exposed:
        connectors = SubElement(node, "ssd:Connectors")
        for end in system.exposed:
            _connector(connectors, end, "output", units[end], system.units)
    elements = SubElement(node, "ssd:Elements")
    for part in system.parts:
        elements.append(_component(part, units, system))
    connections = SubElement(node, "ssd:Connections")
    for link in system.links:
        connections.append(_connection(link))
    for end in system.exposed:
        attributes = {"startElement": end.part.name, "startConnector": end.name, "endConnector": end.name}
        SubElement(connections, "ssd:Connection", attributes)
    _define(root, "ssd:Units", units.values(), system.units)
    root.append(_experiment(system.run))
    return document(root)


def parameter_set(part: Component, tool: str) -> bytes | None:
    """The .ssv file of a component: its parameters but those that are found, values and units; None without any."""
    root = Element("ssv:ParameterSet", _namespaces("ssc", "ssv") | _head(tool) | {"name": part.name})
    node = SubElement(root, "ssv:Parameters")
    used = []
    for name in part.names("parameter"):
        variable = part.variables[name]
        if variable.type not in VALUES or variable.start is None or name in part.found:
            continue
        value = {"value": variable.start}
        if variable.type == "Real" and part.unit(name) in part.units:
            value["unit"] = part.unit(name)
            used.append(part.unit(name))
        attributes = {"name": name} | ({"description": variable.description} if variable.description else {})
        SubElement(SubElement(node, "ssv:Parameter", attributes), f"ssv:{variable.type}", value)
    _define(root, "ssv:Units", used, part.units)
    return document(root) if len(node) else None


def _namespaces(*prefixes: str) -> dict[str, str]:
    return {f"xmlns:{prefix}": NAMESPACES[f"xmlns:{prefix}"] for prefix in prefixes}


def _head(tool: str) -> dict[str, str]:
    return {
        "version": "1.0",
        "generationTool": tool,
        "generationDateAndTime": build_time().strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def _units_of_ends(system: SystemStructure) -> dict[End, str]:
    """The variables that have connectors, with their units."""
    ends = {end: end.part.unit(end.name) for end in system.exposed}
    for link in system.links:
        ends |= {link.source: link.source_unit, link.target: link.target_unit}
    return ends


def _component(part: Component, units: Mapping[End, str], system: SystemStructure) -> Element:
    """A component with the connectors that are in use: a simulator may set every connected input to zero first."""
    node = Element(
        "ssd:Component",
        name=part.name,
        type="application/x-fmu-sharedlibrary",
        source=fmu_source(part),
        implementation="CoSimulation",
    )
    if connected := [name for name in part.variables if End(part, name) in units]:
        connectors = SubElement(node, "ssd:Connectors")
        for name in connected:
            end = End(part, name)
            _connector(connectors, end, part.variables[name].causality, units[end], system.units)
    if parameter_set(part, system.tool) is not None:
        bindings = SubElement(node, "ssd:ParameterBindings")
        SubElement(bindings, "ssd:ParameterBinding", source=parameter_source(part))
    return node


def fmu_source(part: Component) -> str:
    """Where the package has the FMU of ``part``."""
    return f"resources/{part.name}.fmu"


def parameter_source(part: Component) -> str:
    """Where the package has the parameter set of ``part``."""
    return f"resources/{part.name}.ssv"


def _connector(parent: Element, end: End, kind: str, unit: str, known: Mapping[str, BaseUnit]) -> None:
    variable = end.part.variables[end.name]
    attributes = {"name": end.name, "kind": kind}
    if variable.description:
        attributes["description"] = variable.description
    node = SubElement(parent, "ssd:Connector", attributes)
    SubElement(node, f"ssc:{variable.type}", {"unit": unit} if unit in known else {})


def _connection(link: Connection) -> Element:
    node = Element(
        "ssd:Connection",
        startElement=link.source.part.name,
        startConnector=link.source.name,
        endElement=link.target.part.name,
        endConnector=link.target.name,
    )
    if link.converts:
        # The transformation is said outright, for simulators that do not look at units; those that do leave theirs out.
        node.set("suppressUnitConversion", "true")
        SubElement(node, "ssc:LinearTransformation", factor=number(link.factor), offset=number(link.offset))
    return node


def _define(root: Element, tag: str, names: Iterable[str], known: Mapping[str, BaseUnit]) -> None:
    """The definitions of the units that are used; no element where there are none."""
    used = [name for name in dict.fromkeys(names) if name in known]
    if not used:
        return
    node = SubElement(root, tag)
    for name in used:
        _base_unit(SubElement(node, "ssc:Unit", name=name), known[name])


def _base_unit(parent: Element, unit: BaseUnit) -> None:
    attributes = {base: str(power) for base in (*BASE_UNITS, "rad") if (power := getattr(unit, base))}
    if unit.factor != 1.0:
        attributes["factor"] = number(unit.factor)
    if unit.offset != 0.0:
        attributes["offset"] = number(unit.offset)
    SubElement(parent, "ssc:BaseUnit", attributes)


def _experiment(run: DefaultExperiment) -> Element:
    """SSP 1.0 has no place for the step, so it stands where the Open Simulation Platform looks for it."""
    node = Element("ssd:DefaultExperiment", startTime="0", stopTime=number(run.stop))
    annotations = SubElement(node, "ssd:Annotations")
    annotation = SubElement(annotations, "ssc:Annotation", type="com.opensimulationplatform")
    algorithm = SubElement(annotation, "osp:Algorithm")
    SubElement(algorithm, "osp:FixedStepAlgorithm", baseStepSize=number(run.step))
    return node
