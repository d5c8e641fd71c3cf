"""The folder terminalsAndIcons of FMI 3.0: variables that are connected together, and the icon.

Importers of FMI 2.0 read the folder too; for older ones that FMU has the icon as ``model.png`` besides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement

from mbdy.engine.model.owners import Owner, Quantity, points_of, wheels_of
from mbdy.engine.model.system import Model
from mbdy.fmu.description.markup import document
from mbdy.fmu.pages import icon
from mbdy.fmu.table import Array

FOLDER = "terminalsAndIcons"
MEMBERS: Mapping[str, frozenset[Quantity]] = {
    "input": frozenset({"force", "torque"}),
    "output": frozenset({
        "position", "velocity", "attitude", "omega", "displacement", "angle", "rate", "speed", "momentum",
        "specific_force",
    }),
}  # fmt: skip
"""Quantities: efforts go in, what they move and how fast comes out."""
EXTENT = {"x1": "-100", "y1": "-100", "x2": "100", "y2": "100"}


def terminal_files(model: Model, variables: Sequence[Array], fmi: str) -> Mapping[str, bytes]:
    """Files of an FMU of ``model`` by their paths in it; ``variables`` are those of its description."""
    drawn = icon.png(model)
    files = {
        f"{FOLDER}/terminalsAndIcons.xml": terminals(model, variables),
        f"{FOLDER}/icon.png": drawn,
        f"{FOLDER}/icon.svg": icon.svg(model),
    }
    return {**files, "model.png": drawn} if fmi == "2.0" else files


def terminals(model: Model, variables: Sequence[Array]) -> bytes:
    """terminalsAndIcons.xml: a terminal for each body, joint, wheel, node and set of modes that has such ports."""
    root = Element("fmiTerminalsAndIcons", fmiVersion="3.0")
    picture = SubElement(root, "GraphicalRepresentation")
    SubElement(picture, "CoordinateSystem", {**EXTENT, "suggestedScalingFactorTo_mm": "0.1"})
    SubElement(picture, "Icon", EXTENT)
    members: dict[Owner, list[tuple[str, str]]] = {}
    for v in variables:
        first = v.first
        if first.quantity in MEMBERS.get(first.causality, ()):
            member = f"{first.quantity}{'' if v.name == first.array else first.label}"
            members.setdefault(first.owner, []).append((member, v.name))
    node = SubElement(root, "Terminals")
    for owner, description in _owners(model):
        if owner in members:
            terminal = SubElement(node, "Terminal", name=str(owner), matchingRule="plug", description=description)
            for member, variable in members[owner]:
                attributes = {"variableName": variable, "memberName": member, "variableKind": "signal"}
                SubElement(terminal, "TerminalMemberVariable", attributes)
    return document(root)


def _owners(model: Model) -> Iterator[tuple[Owner, str]]:
    """What can be a terminal, and what it is."""
    for body in model.bodies:
        name, joint, (own, *nodes) = body.name, body.joint, points_of(body)
        yield own, f"Body {name}: loads at its mass centre, motion of its origin"
        if not joint.floating:
            yield Owner("joint", name), f"Joint of {name} on {joint.to} ({joint.kind})"
        if body.flex:
            yield Owner("modes", name), f"Modes of {name}"
        yield from ((wheel, f"Wheel {wheel.part} of {name}") for wheel in wheels_of(body))
        yield from ((node, f"Node {node.part} of {name}") for node in nodes)
